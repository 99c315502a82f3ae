/* service/evidence/compare_print.h - a comparison as text for people and as JSON. */
#ifndef SERVICE_EVIDENCE_COMPARE_PRINT_H
#define SERVICE_EVIDENCE_COMPARE_PRINT_H

#include <stdio.h>

#include "logger/message/json_write.h"
#include "service/evidence/comparison.h"

/* id: of the pair in A, with that in B if it differs. all: also rows without a difference.
 * Prints nothing if nothing differs. */
void compare_print_text(const char *id, const struct comparison *c, bool all, FILE *out);

void compare_print_json(struct json_writer *w, const char *id, const struct recorded_pair *a,
                        const struct recorded_pair *b, const struct comparison *c);

/* Numbers of documents have nine decimals, so that tests can compare them. */
double compare_round(double value);

#endif
