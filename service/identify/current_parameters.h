/* service/identify/current_parameters.h - the parameters in use, as a person gives them to be
 * compared.
 *
 * "name=value,name=value" with the names or symbols of what is fitted, and delay_s where there
 * is one; or else a file of JSON that has them in "values", with standard errors in "se" where
 * known and "delay_s" as a number or as {"value"}: what `tandem identify --json` prints, and a
 * parameter set of the API. What is not named is not given.
 */
#ifndef SERVICE_IDENTIFY_CURRENT_PARAMETERS_H
#define SERVICE_IDENTIFY_CURRENT_PARAMETERS_H

#include "base/err.h"
#include "identification/current.h"

/* What can be named. */
struct current_form {
    const char *model;
    const struct estimate *estimate; /* its names and symbols */
    bool late;                       /* delay_s, too */
};

/* STATUS_E_PARSE, STATUS_E_IO with err filled; *current is written only on STATUS_OK. */
MUST_USE enum status current_parameters_read(const char *text, const struct current_form *form,
                                             struct current_values *current, struct err *err);

/* The same as wrong usage, for before the recording is read: STATUS_E_ARG. text may be NULL. */
MUST_USE enum status current_parameters_check(const char *text, const struct current_form *form,
                                              struct err *err);

#endif
