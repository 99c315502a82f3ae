/* service/identify/parameters_in_use.h - the parameters in use, as a person gives them to be
 * compared.
 *
 * "name=value,name=value" with the names or symbols of what is fitted, and delay_s where there
 * is one; or else a file of JSON that has them in "values", with standard errors in "se" where
 * known and "delay_s" as a number or as {"value"}: what `tandem identify --json` prints, and a
 * parameter set of the API. What is not named is not given.
 */
#ifndef SERVICE_IDENTIFY_PARAMETERS_IN_USE_H
#define SERVICE_IDENTIFY_PARAMETERS_IN_USE_H

#include <stdio.h>

#include "base/errors/err.h"
#include "identification/fit/reference.h"
#include "logger/message/json_write.h"

enum { PARAMETERS_IN_USE_PARTS_MAX = 6 };

/* What can be named. */
struct parameters_in_use_form {
    const char *model;
    /* Names and symbols, by the parts that are fitted each by itself; NULL: no more parts. */
    const struct estimate *part[PARAMETERS_IN_USE_PARTS_MAX];
    bool late; /* delay_s, too: the first part's */
};

/* current: one for each part. STATUS_E_PARSE, STATUS_E_IO with err filled; *current is written
 * only on STATUS_OK. */
MUST_USE enum status parameters_in_use_parse(const char *text,
                                             const struct parameters_in_use_form *form,
                                             struct reference_values *reference,
                                             struct err *err);

/* The same as wrong usage, for before the recording is read: STATUS_E_ARG. text may be NULL. */
MUST_USE enum status parameters_in_use_check(const char *text,
                                             const struct parameters_in_use_form *form,
                                             struct err *err);

/* Before the fit, one for each part; text may be NULL. As parameters_in_use_parse(). */
MUST_USE enum status parameters_in_use_read(const char *text,
                                            const struct parameters_in_use_form *form,
                                            struct reference_check *in_use, struct err *err);

/* After it: compare. A value that the fit does not determine is not the one they mean. */
void parameters_in_use_compare(struct reference_check *in_use, const struct estimate *e);

/* The same, and a reason and advice in *e where they contradict. */
void parameters_in_use_judge(struct reference_check *in_use, const char *model,
                             struct estimate *e);

/* Into the document, and on the page. */
void parameters_in_use_write(struct json_writer *w, const struct estimate *e,
                             const struct reference_check *in_use);
void parameters_in_use_print(FILE *out, const struct estimate *e,
                             const struct reference_check *in_use);

#endif
