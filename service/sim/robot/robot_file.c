#include "service/sim/robot/robot_file.h"

#include <stdio.h>

#include "base/text/text.h"

enum { BLOCKS = 1 + SIDE_COUNT, CHOICES_MAX = 256, PATH_MAX_BYTES = 64 };

/* The option rows write to this struct: parameters of both robots, then of each alone. */
struct slots {
    double number[BLOCKS][ROBOT_PARAMETERS_MAX];
    uint32_t choice[BLOCKS][ROBOT_PARAMETERS_MAX];
};

/* A kind's parameters as rows of an option table: "kp", "real.kp", "virtual.kp". They may
 * exceed OPTION_ROWS_MAX, so readers allocate room for all. */
struct rows {
    size_t count;
    struct option_row row[BLOCKS * ROBOT_PARAMETERS_MAX];
    char paths[BLOCKS * ROBOT_PARAMETERS_MAX][PATH_MAX_BYTES];
    char choices[BLOCKS * ROBOT_PARAMETERS_MAX][CHOICES_MAX];
};

static void join_choices(const struct robot_parameter *p, char out[CHOICES_MAX])
{
    out[0] = '\0';
    for (size_t i = 0; i <= (size_t)p->max; i++) {
        text_append(out, CHOICES_MAX, "%s%s", i > 0 ? "|" : "", p->choices[i]);
    }
}

static void add_row(struct rows *rows, size_t block, const struct robot_parameter *p, size_t i)
{
    const size_t k = rows->count++;
    const size_t at = block * ROBOT_PARAMETERS_MAX + i;
    (void)snprintf(rows->paths[k], PATH_MAX_BYTES, "%s%s%s",
                   block > 0 ? side_name((enum side)(block - 1)) : "", block > 0 ? "." : "",
                   p->name);
    rows->row[k] =
        (struct option_row){.path = rows->paths[k],
                            .type = OPTION_REAL,
                            .unit = p->unit,
                            .fallback = "",
                            .min = p->min,
                            .max = p->max,
                            .choices = "",
                            .offset = offsetof(struct slots, number) + at * sizeof(double),
                            .size = sizeof(double)};
    if (p->choices) {
        join_choices(p, rows->choices[k]);
        rows->row[k].type = OPTION_CHOICE;
        rows->row[k].choices = rows->choices[k];
        rows->row[k].offset = offsetof(struct slots, choice) + at * sizeof(uint32_t);
        rows->row[k].size = sizeof(uint32_t);
    }
}

static void read_parameters(const struct option_reading *reading, void *values)
{
    struct robot_file *file = values;
    const struct robot_kind *kind = file->kind;
    struct rows rows = {0};
    struct slots slots = {0};
    uint32_t given[BLOCKS * ROBOT_PARAMETERS_MAX] = {0};
    for (size_t block = 0; block < BLOCKS; block++) {
        for (size_t i = 0; i < kind->parameter_count; i++) {
            add_row(&rows, block, &kind->parameters[i], i);
        }
    }
    const struct option_table table = {rows.row, rows.count};
    option_read(
        &(struct option_reading){reading->r, &table, given, reading->node, "", 0, false}, NULL,
        &slots);
    for (size_t k = 0; k < rows.count; k++) {
        const size_t block = k / kind->parameter_count;
        const size_t i = k % kind->parameter_count;
        for (size_t side = 0; side < SIDE_COUNT && given[k] != TREE_NONE; side++) {
            if (block == 0 || block == side + 1) {
                file->values[side][i] = kind->parameters[i].choices
                                            ? (double)slots.choice[block][i]
                                            : slots.number[block][i];
            }
        }
    }
}

const struct option_file robot_file = {.what = "a parameter file",
                                       .bytes = sizeof(struct robot_file),
                                       .out_bytes = sizeof(struct robot_file),
                                       .finish = read_parameters};
