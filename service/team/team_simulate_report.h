/* service/team/team_simulate_report.h - reports many runs of a team: for people, as JSON, as
 * tables and as a plot. */
#ifndef SERVICE_TEAM_TEAM_SIMULATE_REPORT_H
#define SERVICE_TEAM_TEAM_SIMULATE_REPORT_H

#include <stdio.h>

#include <jansson.h>

#include "service/team/team_measured.h"
#include "service/team/team_runs.h"
#include "service/tool/csv_tables.h"

struct team_study {
    const struct team_prediction *tp;
    const struct team_runs *runs;
    const struct team_measured *measured; /* NULL: nominal durations only */
    size_t run_count;
    uint64_t seed;
    const char *from;       /* the recording; NULL: none */
    const json_t *document; /* of team_study_document(); not for team_study_json() */
};

/* Write one JSON document on a line. */
void team_study_json(const struct team_study *study, FILE *out);
/* The same, parsed; NULL: out of memory. */
json_t *team_study_document(const struct team_study *study);
/* The document or a page on standard output, as document_page_show(). */
MUST_USE bool team_study_show(const struct team_study *study, bool json);

/* Tables for csv_tables_write(); `what` is a struct team_study. */
enum { TEAM_STUDY_TABLES = 5 };
extern const struct csv_table team_study_tables[TEAM_STUDY_TABLES];

/* A gnuplot_script: makespans, and how the robots spent their time. */
void team_study_script(FILE *to, const void *study);

#endif
