/* service/evidence/gate_print.h - the result of a gate as text, JSON and JUnit's XML. */
#ifndef SERVICE_EVIDENCE_GATE_PRINT_H
#define SERVICE_EVIDENCE_GATE_PRINT_H

#include <stdio.h>

#include "service/evidence/gate.h"

struct gate_report {
    const char *a, *b; /* names of the recordings */
    const struct gate_options *options;
    const struct gate_pair *pairs;
    const char *const *ids; /* [count] */
    size_t count;
    struct gate_result result;
};

void gate_print_text(const struct gate_report *report, FILE *out);
void gate_print_json(const struct gate_report *report, FILE *out);
void gate_print_junit(const struct gate_report *report, FILE *out);

#endif
