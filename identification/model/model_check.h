/* identification/model/model_check.h - a check of the rows of the table of models. Pure.
 *
 * A row is written by hand. One that lacks a function, or that reads the pose without saying
 * so, would end the program by a signal in the middle of a fit.
 */
#ifndef IDENTIFICATION_MODEL_MODEL_CHECK_H
#define IDENTIFICATION_MODEL_MODEL_CHECK_H

#include <stdbool.h>

#include "identification/model/model.h"

enum { MODEL_PROBLEM_MAX = 160 };

/* False: *problem says what is wrong with the row and what would be right. */
MUST_USE bool model_row_check(const struct model_row *row, char problem[MODEL_PROBLEM_MAX]);

/* The same for each row, built in and loaded, up to the first that is wrong. */
MUST_USE bool model_rows_check(char problem[MODEL_PROBLEM_MAX]);

#endif
