/* twin/page/report_page.h - a report as one HTML file: what ran, verdicts, lags, fits with
 * plots, alarms, changes, and how to make it again.
 *
 * The page has no script, loads nothing and prints on paper. Equal input gives equal bytes: its
 * times are those of the data. It prints and computes nothing but shares with intervals. Pure:
 * the text is passed on in pieces; GSL allocates in the predictions of fits.
 */
#ifndef TWIN_PAGE_REPORT_PAGE_H
#define TWIN_PAGE_REPORT_PAGE_H

#include "twin/page/report_pair.h"
#include "twin/page/report_scan.h"
#include "twin/report/svg_text.h"

/* The first bytes of every report contain this. */
#define REPORT_PAGE_MARK "<meta name=\"generator\" content=\"tandem report"

/* A count of what is in no result. */
struct report_count {
    const char *what;
    uint64_t count;
};

struct report_input {
    char name[256]; /* of a file */
    uint64_t bytes;
    char sha256[65];
};

/* How a report was made. */
struct report_origin {
    const char *version;               /* of Tandem */
    const char *command;               /* that makes it again */
    const char *note;                  /* a sentence about the inputs; NULL: none */
    const struct report_input *inputs; /* [input_count] */
    size_t input_count;
    const struct report_count *left_out; /* [left_out_count]; those of 0 are not shown */
    size_t left_out_count;
    const char *lab; /* the lab file, without secrets */
};

/* Write head, pairs and end, in this order. */
void report_page_begin(const struct svg_text *h, const char *version, const char *title);
/* scan: memory for the pair's entries. Returns what each() returned. */
MUST_USE enum status report_page_pair(const struct svg_text *h, const struct report_pair *pair,
                                      struct report_scan *scan);
void report_page_end(const struct svg_text *h, const struct report_origin *origin);

#endif
