/* service/experiments/experiment_output.h - what an experiment showed: a page or JSON, tables
 * and a picture, of whatever kind it is.
 */
#ifndef SERVICE_EXPERIMENTS_EXPERIMENT_OUTPUT_H
#define SERVICE_EXPERIMENTS_EXPERIMENT_OUTPUT_H

#include <stdio.h>

#include "logger/message/json_write.h"
#include "service/cli/csv_tables.h"
#include "service/cli/gnuplot.h"

/* How a kind of experiment is told; study is its own struct. */
struct experiment_output {
    void (*page)(const void *study, FILE *out);
    void (*members)(const void *study, struct json_writer *w); /* of the JSON document */
    const struct csv_table *tables;
    size_t table_count;
    gnuplot_script *script;
};

struct experiment_places {
    bool json;              /* one line on stdout in place of the page */
    const char *csv_folder; /* NULL: no tables; it is made when it is not there */
    const char *plot_path;  /* NULL: no picture */
};

/* Write all. STATUS_E_IO with err filled. */
MUST_USE enum status experiment_output_write(const struct experiment_output *output,
                                             const void *study,
                                             const struct experiment_places *to,
                                             struct err *err);

/* One line of JSON. */
void experiment_output_json(const struct experiment_output *output, const void *study,
                            FILE *out);

/* For tables of a page: the number by a printf format, "-" for one that is not known. */
enum { EXPERIMENT_CELL_BYTES = 32 };
const char *experiment_cell(double value, int digits, char style,
                            char cell[EXPERIMENT_CELL_BYTES]);

/* The first line of a page. */
void experiment_title(const char *name, const char *purpose, FILE *out);

#endif
