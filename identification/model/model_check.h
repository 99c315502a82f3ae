/* identification/model/model_check.h - check of the rows in the table of models. Pure.
 *
 * Rows are written by hand. A row that lacks a function, or reads the pose without needs_pose,
 * would crash in the middle of a fit.
 */
#ifndef IDENTIFICATION_MODEL_MODEL_CHECK_H
#define IDENTIFICATION_MODEL_MODEL_CHECK_H

#include <stdbool.h>

#include "identification/model/model.h"

enum { MODEL_PROBLEM_MAX = 160 };

/* Checks a row. If it returns false, *problem says what is wrong and what would be right. */
MUST_USE bool model_row_check(const struct model_row *row, char problem[MODEL_PROBLEM_MAX]);

/* Checks each row, built in or loaded, up to the first wrong one. */
MUST_USE bool model_rows_check(char problem[MODEL_PROBLEM_MAX]);

#endif
