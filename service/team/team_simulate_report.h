/* service/team/team_simulate_report.h - what many runs of a team came to: for people, as JSON,
 * as tables and as a picture. */
#ifndef SERVICE_TEAM_TEAM_SIMULATE_REPORT_H
#define SERVICE_TEAM_TEAM_SIMULATE_REPORT_H

#include <stdio.h>

#include "service/tool/csv_tables.h"
#include "service/team/team_measured.h"
#include "service/team/team_runs.h"

struct team_study {
    const struct team_prediction *tp;
    const struct team_runs *runs;
    const struct team_measured *measured; /* NULL: nominal times alone */
    size_t run_count;
    uint64_t seed;
    const char *from; /* the recording; NULL */
};

void team_study_print(const struct team_study *study, FILE *out);
/* One JSON document, and the end of a line. */
void team_study_json(const struct team_study *study, FILE *out);

/* For csv_tables_write(); what is a struct team_study. */
enum { TEAM_STUDY_TABLES = 5 };
extern const struct csv_table team_study_tables[TEAM_STUDY_TABLES];

/* A gnuplot_script: makespans, and what the robots did with their time. */
void team_study_script(FILE *to, const void *study);

#endif
