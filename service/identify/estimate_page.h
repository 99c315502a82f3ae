/* service/identify/estimate_page.h - an estimate as a page for people: the same lines for
 * travel times, dynamics and odometry. A number that is not known is a dash.
 */
#ifndef SERVICE_IDENTIFY_ESTIMATE_PAGE_H
#define SERVICE_IDENTIFY_ESTIMATE_PAGE_H

#include <stdio.h>

#include "identification/fit/reference.h"

/* A number in a column: significant digits, decimals, or decimals with a sign. */
enum page_form { PAGE_DIGITS, PAGE_DECIMALS, PAGE_SIGNED };
void estimate_page_cell(FILE *out, int width, enum page_form form, int places, double value);

/* What is behind "…: PASS": reasons and advice, one a line. */
void estimate_page_verdict(FILE *out, const struct estimate *estimate);

/* The head of a table of parameters, and a line of it. */
void estimate_page_head(FILE *out);
void estimate_page_row(FILE *out, const char *symbol, const char *name, double value, double se,
                       double lo, double hi, const char *note);
/* Parameter i of the estimate; note may be "". */
void estimate_page_parameter(FILE *out, const struct estimate *estimate, size_t i,
                             const char *note);

/* The values in use beside an estimate's, a line each, and all together. */
void estimate_page_reference(FILE *out, const struct estimate *e,
                             const struct reference_values *reference,
                             const struct reference_comparison *found);

/* Lower triangle. */
void estimate_page_correlation(FILE *out, const struct estimate *estimate);
/* Condition and rank with `more` behind them, what is left free, and what is determined all the
 * same. */
void estimate_page_rank(FILE *out, const struct estimate *estimate, const char *more);

#endif
