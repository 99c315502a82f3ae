/* tests/support/moves_file.h - a table of moves from a file. */
#ifndef TESTS_SUPPORT_MOVES_FILE_H
#define TESTS_SUPPORT_MOVES_FILE_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "identification/travel/travel_time.h"
#include "logger/message/csv.h"
#include "service/tool/csv_file.h"
#include "tests/support/recording.h"

enum { MOVES_FILE_MAX = 4096 };

struct moves_file {
    const char *lap, *rotation, *displacement; /* column names */
    const char *late_lap, *state; /* or NULL; late_lap counts when state is AHEAD */
    double rotation_factor, displacement_factor;
    struct travel_move moves[MOVES_FILE_MAX];
    size_t count;
};

static inline enum status moves_file_row(void *context, const struct csv *csv, struct err *err)
{
    struct moves_file *file = context;
    struct travel_move move = {.lap_s = 0.0};
    const char *lap = file->lap;
    size_t column = 0;
    if (file->count == MOVES_FILE_MAX) {
        return STATUS_E_FULL;
    }
    if (file->state && csv_require(csv, file->state, &column, err) == STATUS_OK &&
        strcmp(csv_text(csv, column), "AHEAD") == 0) {
        lap = file->late_lap;
    }
    enum status st = csv_require(csv, lap, &column, err);
    st = st == STATUS_OK ? csv_number(csv, column, &move.lap_s, err) : st;
    st = st == STATUS_OK ? csv_require(csv, file->rotation, &column, err) : st;
    st = st == STATUS_OK ? csv_number(csv, column, &move.rotation_rad, err) : st;
    st = st == STATUS_OK ? csv_require(csv, file->displacement, &column, err) : st;
    st = st == STATUS_OK ? csv_number(csv, column, &move.displacement_m, err) : st;
    move.rotation_rad *= file->rotation_factor;
    move.displacement_m *= file->displacement_factor;
    if (st == STATUS_OK) {
        file->moves[file->count++] = move;
    }
    return st;
}

/* Appends the moves of path. Returns false when there is no such file. */
static inline int moves_file_read(struct moves_file *file, const char *path, struct err *err)
{
    if (access(path, R_OK) != 0) {
        return 0;
    }
    const struct csv_lines lines = {.row = moves_file_row, .context = file};
    if (csv_file_read(&(struct csv_source){.path = path}, &lines, NULL, err) != STATUS_OK &&
        err) {
        err->code = STATUS_E_PARSE;
    }
    return 1;
}

/* The moves of a recording; if it is not available, it prints that and returns false. */
static inline bool moves_file_find(struct moves_file *file, const char *name)
{
    char path[1024];
    struct err err = {.code = STATUS_OK};
    if (!moves_file_read(file, recording_path(name, path, sizeof path), &err)) {
        (void)printf("SKIPPED: no %s; set TANDEM_DATA to the recordings\n", path);
        return false;
    }
    if (err.code != STATUS_OK) {
        (void)fprintf(stderr, "%s:%u: %s\n", path, err.line, err.text);
        exit(EXIT_FAILURE);
    }
    return true;
}

#endif
