/* service/sim/experiment/experiment_output.h - output of an experiment of any kind: a page or
 * JSON, tables and a plot.
 */
#ifndef SERVICE_SIM_EXPERIMENT_EXPERIMENT_OUTPUT_H
#define SERVICE_SIM_EXPERIMENT_EXPERIMENT_OUTPUT_H

#include "logger/message/json_write.h"
#include "service/tool/csv_tables.h"
#include "service/tool/gnuplot.h"

/* The output functions of a kind; study is its own struct. */
struct experiment_output {
    /* writes members of the JSON document, from which the page is made, too */
    void (*members)(const void *study, struct json_writer *w);
    const struct csv_table *tables;
    size_t table_count;
    gnuplot_script *script;
};

#endif
