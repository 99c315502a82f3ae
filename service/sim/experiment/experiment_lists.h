/* service/sim/experiment/experiment_lists.h - shared by experiment files: lists of numbers, and
 * paths. */
#ifndef SERVICE_SIM_EXPERIMENT_EXPERIMENT_LISTS_H
#define SERVICE_SIM_EXPERIMENT_EXPERIMENT_LISTS_H

#include "config/labfile/lab_file.h"
#include "config/options/option_file.h"

/* Values of lists of numbers: any, and from 0 on. */
extern const struct option_row experiment_number, experiment_size;

/* The items of a list of `least` to `most` numbers in an array, with its count at `count`. */
#define EXPERIMENT_LIST(number, lowest, highest, count)                                        \
    {                                                                                          \
        .shape = OPTION_LIST, .value = &(number), .least = (lowest), .most = (highest),        \
        .bytes = sizeof(double), .count_at = (count), .fault = FAULT_LIST_EXPECTED,            \
        .what = "numbers"                                                                      \
    }

/* Make a path from the file relative to the file's folder, in/out. */
void experiment_path(const struct option_reading *reading, const char *key,
                     char path[LAB_PATH_MAX]);

#endif
