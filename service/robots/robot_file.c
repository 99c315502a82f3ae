#include "service/robots/robot_file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHOICES_MAX = 256 };

/* What the rows write to. */
struct slots {
    double number[ROBOT_PARAMETERS_MAX];
    uint32_t choice[ROBOT_PARAMETERS_MAX];
};

/* A kind's parameters as rows of an option table, and two more for the sides. */
struct rows {
    struct option_row row[OPTION_ROWS_MAX];
    char choices[ROBOT_PARAMETERS_MAX][CHOICES_MAX];
    struct option_table table;
};

static void join_choices(const struct robot_parameter *p, char out[CHOICES_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i <= (size_t)p->max && used < CHOICES_MAX; i++) {
        const int n =
            snprintf(out + used, CHOICES_MAX - used, "%s%s", i > 0 ? "|" : "", p->choices[i]);
        used += (size_t)n;
    }
}

static void make_rows(const struct robot_kind *kind, bool sides, struct rows *rows)
{
    size_t count = 0;
    assert(kind->parameter_count + SIDE_COUNT <= OPTION_ROWS_MAX);
    memset(rows, 0, sizeof *rows);
    for (size_t i = 0; i < kind->parameter_count; i++) {
        const struct robot_parameter *p = &kind->parameters[i];
        struct option_row *row = &rows->row[count++];
        *row = (struct option_row){.path = p->name,
                                   .type = p->choices ? OPTION_CHOICE : OPTION_REAL,
                                   .unit = p->unit,
                                   .fallback = "",
                                   .min = p->min,
                                   .max = p->max,
                                   .choices = "",
                                   .help = p->help};
        if (p->choices) {
            join_choices(p, rows->choices[i]);
            row->choices = rows->choices[i];
            row->offset = offsetof(struct slots, choice) + i * sizeof(uint32_t);
            row->size = sizeof(uint32_t);
        } else {
            row->offset = offsetof(struct slots, number) + i * sizeof(double);
            row->size = sizeof(double);
        }
    }
    for (enum side side = SIDE_REAL; sides && side < SIDE_COUNT; side++) {
        rows->row[count++] = (struct option_row){.path = side_name(side),
                                                 .type = OPTION_MAP,
                                                 .unit = "",
                                                 .fallback = "",
                                                 .choices = "",
                                                 .help = "Of this robot of the pair only."};
    }
    rows->table = (struct option_table){rows->row, count};
}

/* Where a map's values go. */
struct goal {
    const struct robot_kind *kind;
    enum side first, last;
    double (*values)[ROBOT_PARAMETERS_MAX]; /* [SIDE_COUNT] */
    uint32_t *nested;                       /* [SIDE_COUNT] the maps within; NULL: not here */
};

static void read_map(struct option_reader *r, uint32_t node, const char *shown,
                     const struct goal *goal)
{
    struct rows *rows = malloc(sizeof *rows);
    struct slots slots = {.number = {0.0}};
    uint32_t given[OPTION_ROWS_MAX] = {0};
    const struct robot_kind *kind = goal->kind;
    if (!rows) {
        option_fault(r, TREE_NONE, "not enough memory to read it");
        return;
    }
    make_rows(kind, goal->nested != NULL, rows);
    option_read(r, &rows->table, "", node, shown, &slots, given);
    for (size_t i = 0; i < kind->parameter_count; i++) {
        const double value =
            kind->parameters[i].choices ? (double)slots.choice[i] : slots.number[i];
        for (enum side side = goal->first; given[i] != TREE_NONE && side <= goal->last;
             side++) {
            goal->values[side][i] = value;
        }
    }
    for (size_t side = 0; goal->nested && side < SIDE_COUNT; side++) {
        goal->nested[side] = given[kind->parameter_count + side];
    }
    free(rows);
}

static void read_sides(const struct option_reading *reading, void *values)
{
    struct robot_file *file = values;
    struct option_reader *r = reading->r;
    const struct robot_kind *kind = file->kind;
    uint32_t nested[SIDE_COUNT] = {TREE_NONE};
    char shown[EVENT_NAME_MAX];
    read_map(r, reading->node, "",
             &(struct goal){kind, SIDE_REAL, SIDE_VIRTUAL, file->values, nested});
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        const uint32_t at = nested[side];
        if (at == TREE_NONE || r->tree->nodes[at].kind == TREE_SKIPPED) {
            continue;
        }
        (void)snprintf(shown, sizeof shown, "%s.", side_name(side));
        read_map(r, at, shown, &(struct goal){kind, side, side, file->values, NULL});
    }
}

const struct option_file robot_file = {.what = "a parameter file",
                                       .bytes = sizeof(struct robot_file),
                                       .out_bytes = sizeof(struct robot_file),
                                       .finish = read_sides};
