/* tests/support/odometry_file.h - wheel angles and poses from a file. */
#ifndef TESTS_SUPPORT_ODOMETRY_FILE_H
#define TESTS_SUPPORT_ODOMETRY_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "identification/odometry/odometry.h"
#include "logger/message/csv.h"
#include "service/tool/csv_file.h"

enum { ODOMETRY_FILE_MAX = 16384, ODOMETRY_FILE_COLUMNS = 6 };

struct odometry_file {
    double at[ODOMETRY_FILE_COLUMNS][ODOMETRY_FILE_MAX]; /* t left right x y theta */
    size_t count;
};

static inline enum status odometry_file_row(void *context, const struct csv *csv,
                                            struct err *err)
{
    static const char *const names[ODOMETRY_FILE_COLUMNS] = {
        "t_s", "wheel_left_rad", "wheel_right_rad", "cam_x_m", "cam_y_m", "cam_theta_rad"};
    struct odometry_file *file = context;
    if (file->count == ODOMETRY_FILE_MAX) {
        return STATUS_E_FULL;
    }
    for (size_t c = 0; c < ODOMETRY_FILE_COLUMNS; c++) {
        size_t column = 0;
        enum status st = csv_require(csv, names[c], &column, err);
        st = st == STATUS_OK ? csv_number(csv, column, &file->at[c][file->count], err) : st;
        if (st != STATUS_OK) {
            return st;
        }
    }
    file->count++;
    return STATUS_OK;
}

/* Rows of file as one recording. */
static inline struct odometry_raw odometry_file_raw(const struct odometry_file *file)
{
    return (struct odometry_raw){.n = file->count,
                                 .t_s = file->at[0],
                                 .wheel_left_rad = file->at[1],
                                 .wheel_right_rad = file->at[2],
                                 .x_m = file->at[3],
                                 .y_m = file->at[4],
                                 .theta_rad = file->at[5],
                                 .part_count = 1,
                                 .part_start = {0, file->count}};
}

/* Returns false when there is no such file; ends the program when it cannot be read. */
static inline bool odometry_file_read(struct odometry_file *file, const char *path)
{
    struct err err = {.code = STATUS_OK};
    if (access(path, R_OK) != 0) {
        return false;
    }
    file->count = 0;
    const struct csv_lines lines = {.row = odometry_file_row, .context = file};
    const enum status st =
        csv_file_read(&(struct csv_source){.path = path}, &lines, NULL, &err);
    if (st != STATUS_OK) {
        (void)fprintf(stderr, "%s:%u: %s\n", path, err.line, err.text);
        exit(EXIT_FAILURE);
    }
    return true;
}

#endif
