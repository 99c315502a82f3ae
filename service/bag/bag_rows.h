/* service/bag/bag_rows.h - a ROS 2 bag as the table that a fit reads: CSV in memory.
 *
 * One row per message of the motion's topic, at its header's stamp, shifted to the bag's log
 * time by the smallest difference of both. Messages without a stamp have their log time. Values
 * of other topics are those of their last message before; a command ends after its timeout.
 * Columns have the names that models know, by type (v_cmd_mps ...), or are paths of --columns
 * ("/odom.twist.twist.linear.x").
 */
#ifndef SERVICE_BAG_BAG_ROWS_H
#define SERVICE_BAG_BAG_ROWS_H

#include <stdio.h>

#include "service/tool/column_map.h"
#include "service/tool/csv_file.h"

struct bag_request { /* everything is borrowed */
    const struct column_map *columns;
    const char *topics; /* "command=/cmd_vel,motion=/odom"; NULL: by type */
    const char *clock;  /* "stamps" or "log"; NULL: stamps */
    double command_timeout_s;
    bool needs_command, needs_motion; /* the model reads such columns, --columns has none */
};

/* Replaces each bag among inputs[count] by its table. Prints on standard error what was left
 * out. STATUS_E_ARG: --topics is wrong or needed. STATUS_E_EMPTY: no topic for a role. As
 * bag_topics_read(). */
MUST_USE enum status bag_rows_load(const struct bag_request *request, struct csv_source *inputs,
                                   size_t count, struct err *err);

/* Frees the tables that bag_rows_load() has made. */
void bag_rows_free(struct csv_source *inputs, size_t count);

/* Prints the topics of each input. STATUS_E_PARSE for a file that is no bag. */
MUST_USE enum status bag_rows_list(const struct csv_source *inputs, size_t count, FILE *out,
                                   struct err *err);

#endif
