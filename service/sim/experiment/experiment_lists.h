/* service/sim/experiment/experiment_lists.h - shared by experiment files: lists of numbers, and
 * paths. */
#ifndef SERVICE_SIM_EXPERIMENT_EXPERIMENT_LISTS_H
#define SERVICE_SIM_EXPERIMENT_EXPERIMENT_LISTS_H

#include "config/labfile/lab_file.h"
#include "config/options/option_file.h"

/* Read a list of min to max numbers, each at least `least`. Returns their number, 0 when the
 * list is absent or wrong; then the fault includes `expected`. */
size_t experiment_numbers(const struct option_reading *reading, const char *path, size_t min,
                          size_t max, double least, const char *expected, double *values);

/* Make a path from the file relative to the file's folder, in/out. */
void experiment_path(const struct option_reading *reading, const char *key,
                     char path[LAB_PATH_MAX]);

#endif
