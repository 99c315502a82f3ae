/* service/robots/map_file.h - the map of a lab: bounds and obstacles, from YAML into a struct
 * world.
 *
 * docs/model/missions.md section 1. All faults of a file are reported at once, with line and
 * column.
 */
#ifndef SERVICE_ROBOTS_MAP_FILE_H
#define SERVICE_ROBOTS_MAP_FILE_H

#include "config/err_list.h"
#include "config/option.h"
#include "twin/robots/world.h"

/* Read and check a map.
 *
 * Returns STATUS_E_IO, STATUS_E_PARSE or STATUS_E_NOMEM with at least one fault in *errors;
 * *out is written only on STATUS_OK. Cold path: allocates. */
MUST_USE enum status map_file_load(const char *path, struct world *out,
                                   struct err_list *errors);

/* The same from memory; name stands for the path in the faults. */
MUST_USE enum status map_file_parse(const char *text, size_t bytes, const char *name,
                                    struct world *out, struct err_list *errors);

/* The same of a map within another file: node is its value, shown stands before its keys in
 * messages ("map."). */
void map_file_read(struct option_reader *r, uint32_t node, const char *shown,
                   struct world *out);

#endif
