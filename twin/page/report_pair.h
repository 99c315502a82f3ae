/* twin/page/report_pair.h - what a report shows of one pair: its state, and its records,
 * which a function passes on. */
#ifndef TWIN_PAGE_REPORT_PAIR_H
#define TWIN_PAGE_REPORT_PAIR_H

#include "twin/dynamics/pair_dynamics.h"
#include "twin/following/pair_following.h"
#include "twin/pair/pair.h"

enum report_list { REPORT_ENTRIES, REPORT_ALARMS, REPORT_CHANGES };

/* Receives a record, as JSON. Returns false to stop. */
typedef bool report_row_fn(void *context, const char *json, size_t bytes);

struct report_pair {
    const struct pair_params *p;
    const struct pair *pair;
    const struct pair_fits *fits;
    const struct pair_dynamics *dynamics;   /* NULL: not identified */
    const struct pair_following *following; /* NULL: it does not follow */
    uint64_t entries;                       /* that each() will pass on */
    const char *state; /* moment that fits and clocks show: "the end of the recording" */
    /* Passes on the records of a list, oldest first. */
    enum status (*each)(void *context, enum report_list list, report_row_fn *row,
                        void *row_context);
    void *context;
};

#endif
