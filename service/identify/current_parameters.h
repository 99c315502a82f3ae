/* service/identify/current_parameters.h - the parameters in use, as a person gives them to be
 * compared.
 */
#ifndef SERVICE_IDENTIFY_CURRENT_PARAMETERS_H
#define SERVICE_IDENTIFY_CURRENT_PARAMETERS_H

#include "base/err.h"
#include "identification/dynamics/dynamics_compare.h"

/* Read "name=value,name=value" with the model's names or symbols, its biases' names and
 * delay_s; or else a file of JSON that has them in "values", with standard errors in "se" where
 * known and "delay_s" as a number or as {"value"}: what `tandem identify --json` prints, and a
 * parameter set of the API. What is not named is not given.
 *
 * STATUS_E_PARSE, STATUS_E_IO with err filled; *current is written only on STATUS_OK. */
MUST_USE enum status current_parameters_read(const char *text, const struct model *model,
                                             struct dynamics_current *current, struct err *err);

#endif
