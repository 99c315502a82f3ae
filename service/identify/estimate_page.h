/* service/identify/estimate_page.h - prints an estimate for people, in the same lines for
 * travel times, dynamics and odometry. A dash stands for an unknown number.
 */
#ifndef SERVICE_IDENTIFY_ESTIMATE_PAGE_H
#define SERVICE_IDENTIFY_ESTIMATE_PAGE_H

#include <stdio.h>

#include "identification/fit/estimate.h"

/* Print the verdict after the words of the first line, then the worst reason, notes and advice,
 * one a line. */
void estimate_page_verdict(FILE *out, const struct estimate *estimate);

/* Print the head of a parameter table, and below a line of it. */
void estimate_page_head(FILE *out);
void estimate_page_row(FILE *out, const char *symbol, const char *name, double value, double se,
                       double lo, double hi, const char *note);
/* Print parameter i of the estimate; note may be "". */
void estimate_page_parameter(FILE *out, const struct estimate *estimate, size_t i,
                             const char *note);

/* Print the head and all parameters without notes. */
void estimate_page_parameters(FILE *out, const struct estimate *estimate);

/* Print condition and rank, the free directions, and what is still determined. */
void estimate_page_rank(FILE *out, const struct estimate *estimate);

/* Print the verdict, all parameters, and the rank. */
void estimate_page_print(FILE *out, const struct estimate *estimate);

/* Print what these leave out: other reasons, and the correlation of the parameters. */
void estimate_page_details(FILE *out, const struct estimate *estimate);

#endif
