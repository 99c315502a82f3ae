/* service/evidence/compare_print.h - a comparison as text for people and as JSON. */
#ifndef SERVICE_EVIDENCE_COMPARE_PRINT_H
#define SERVICE_EVIDENCE_COMPARE_PRINT_H

#include <stdio.h>

#include "logger/message/json_write.h"
#include "service/evidence/comparison.h"

/* id: of the pair in A, with that in B if it differs. all: also rows without a difference.
 * Prints nothing if nothing differs. */
void compare_print_text(const char *id, const struct recorded_pair *a,
                        const struct recorded_pair *b, const struct comparison *c, bool all,
                        FILE *out);

void compare_print_json(struct json_writer *w, const char *id, const struct recorded_pair *a,
                        const struct recorded_pair *b, const struct comparison *c);

/* Numbers of documents have nine decimals, so that tests can compare them. */
double compare_round(double value);

/* Rows of JSON: such a number, an interval, counts in A and in B. */
/* clang-format off */
#define COMPARE_REAL(key, x)    JSON(key, compare_round(x))
#define COMPARE_TWO(key, lo, hi) JSON_TWO(key, compare_round(lo), compare_round(hi))
#define COMPARE_COUNTS(key, n)  JSON_TWO(key, (double)(n)[IN_A], (double)(n)[IN_B])
/* clang-format on */

#endif
