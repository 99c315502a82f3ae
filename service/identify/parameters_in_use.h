/* service/identify/parameters_in_use.h - parses the parameters in use, which a user gives for
 * comparison.
 *
 * The text is "name=value,name=value" with names or symbols of the fitted parameters, and
 * delay_s if the model has one. Or it names a JSON file with the parameters in "values",
 * standard errors in "se" if known, and "delay_s" as a number or as {"value"}. `tandem identify
 * --json` prints such a file, and a parameter set of the API is one. Parameters that are not
 * named are not compared.
 */
#ifndef SERVICE_IDENTIFY_PARAMETERS_IN_USE_H
#define SERVICE_IDENTIFY_PARAMETERS_IN_USE_H

#include <stdio.h>

#include "base/errors/err.h"
#include "identification/fit/reference.h"
#include "logger/message/json_write.h"

enum { PARAMETERS_IN_USE_PARTS_MAX = 6 };

/* The names that the text may use. */
struct parameters_in_use_form {
    const char *model;
    /* The separately fitted parts, with their names and symbols; NULL: no more parts. */
    struct estimate *part[PARAMETERS_IN_USE_PARTS_MAX];
    bool late; /* delay_s is allowed: it belongs to the first part */
};

/* current: one for each part. STATUS_E_PARSE, STATUS_E_IO with err filled; *current is written
 * only on STATUS_OK. */
MUST_USE enum status parameters_in_use_parse(const char *text,
                                             const struct parameters_in_use_form *form,
                                             struct reference_values *reference,
                                             struct err *err);

/* The same check before the recording is read, with wrong usage as STATUS_E_ARG. text may be
 * NULL. */
MUST_USE enum status parameters_in_use_check(const char *text,
                                             const struct parameters_in_use_form *form,
                                             struct err *err);

/* Parse before the fit, one result for each part; text may be NULL. Errors as of
 * parameters_in_use_parse(). */
MUST_USE enum status parameters_in_use_read(const char *text,
                                            const struct parameters_in_use_form *form,
                                            struct reference_check *in_use, struct err *err);

/* Compare after the fit. Values that the fit does not determine are ignored. */
void parameters_in_use_compare(struct reference_check *in_use, const struct estimate *e);

/* The same, and add a reason and advice to *e on a contradiction. */
void parameters_in_use_judge(struct reference_check *in_use, const char *model,
                             struct estimate *e);

/* Write the comparison into the document. */
void parameters_in_use_write(struct json_writer *w, const struct estimate *e,
                             const struct reference_check *in_use);

#endif
