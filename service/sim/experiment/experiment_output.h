/* service/sim/experiment/experiment_output.h - what an experiment showed: a page or JSON, tables
 * and a picture, of whatever kind it is.
 */
#ifndef SERVICE_SIM_EXPERIMENT_EXPERIMENT_OUTPUT_H
#define SERVICE_SIM_EXPERIMENT_EXPERIMENT_OUTPUT_H

#include <stdio.h>

#include "logger/message/json_write.h"
#include "service/tool/csv_tables.h"
#include "service/tool/gnuplot.h"

/* How a kind of experiment is told; study is its own struct. */
struct experiment_output {
    void (*page)(const void *study, FILE *out);
    void (*members)(const void *study, struct json_writer *w); /* of the JSON document */
    const struct csv_table *tables;
    size_t table_count;
    gnuplot_script *script;
};

#endif
