/* tests/support/motion_file.h - columns of a recording, by name, one file after the other. */
#ifndef TESTS_SUPPORT_MOTION_FILE_H
#define TESTS_SUPPORT_MOTION_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/recording.h"

enum { MOTION_ROWS_MAX = 20000, MOTION_COLUMNS_MAX = 8 };

struct motion_file {
    size_t n;
    double column[MOTION_COLUMNS_MAX][MOTION_ROWS_MAX];
};

static inline size_t motion_file_place(const char *header, const char *name)
{
    size_t place = 0;
    const size_t length = strlen(name);
    for (const char *at = header; at; place++) {
        if (strncmp(at, name, length) == 0 && strcspn(at, ",\r\n") == length) {
            return place;
        }
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    (void)fprintf(stderr, "no column %s in: %s\n", name, header);
    exit(EXIT_FAILURE);
}

/* Appends the rows of a file. Without one it prints that and returns false. */
static inline bool motion_file_add(struct motion_file *file, const char *name,
                                   const char *const *columns, size_t count)
{
    char path[1024];
    char line[1024] = "";
    size_t place[MOTION_COLUMNS_MAX];
    FILE *in = fopen(recording_path(name, path, sizeof path), "r");
    if (!in || !fgets(line, sizeof line, in)) {
        (void)printf("SKIPPED: no %s; set TANDEM_DATA to the recordings\n", path);
        if (in) {
            (void)fclose(in);
        }
        return false;
    }
    for (size_t c = 0; c < count; c++) {
        place[c] = motion_file_place(line, columns[c]);
    }
    while (file->n < MOTION_ROWS_MAX && fgets(line, sizeof line, in)) {
        size_t at_place = 0;
        for (const char *at = line; at; at_place++) {
            for (size_t c = 0; c < count; c++) {
                if (place[c] == at_place) {
                    file->column[c][file->n] = strtod(at, NULL);
                }
            }
            at = strchr(at, ',');
            at = at ? at + 1 : NULL;
        }
        file->n++;
    }
    (void)fclose(in);
    return true;
}

#endif
