/* service/sim/experiment/experiment_lists.h - what files of experiments have in common: lists of
 * numbers, and paths. */
#ifndef SERVICE_SIM_EXPERIMENT_EXPERIMENT_LISTS_H
#define SERVICE_SIM_EXPERIMENT_EXPERIMENT_LISTS_H

#include "config/labfile/lab_file.h"
#include "config/options/option_file.h"

/* A list of min to max numbers of at least least; how many there are, 0 when it is not given or
 * wrong: then expected is said. */
size_t experiment_numbers(const struct option_reading *reading, const char *path, size_t min,
                          size_t max, double least, const char *expected, double *values);

/* A path that the key gave, in/out: as seen from the file's folder. */
void experiment_path(const struct option_reading *reading, const char *key,
                     char path[LAB_PATH_MAX]);

#endif
