/* tests/support/sample_machine.h - a small machine whose input, an int, chooses the arc: one
 * for every kind that the engine's tests need. */
#ifndef TESTS_SUPPORT_SAMPLE_MACHINE_H
#define TESTS_SUPPORT_SAMPLE_MACHINE_H

#include <string.h>

#include "twin/efsm/efsm.h"

enum { A, B, LAST };
enum { X, Y };
enum {
    STAY,
    MOVE,
    LOOP,
    BOTH,
    READ_X,
    SET_X_READ_Y,
    PUSH,
    POP_ONE,
    GO_TOP,
    TO_LAST,
    NONE,
    PUSH_8,
    ADD,
    REPLACE
};

static int asked(const struct efsm_view *v)
{
    return *(const int *)v->in;
}

static bool if_stay(const struct efsm_view *v)
{
    return asked(v) == STAY;
}

static bool if_move(const struct efsm_view *v)
{
    return asked(v) == MOVE || asked(v) == BOTH;
}

static bool if_loop(const struct efsm_view *v)
{
    return asked(v) == LOOP || asked(v) == BOTH;
}

static bool if_x_positive(const struct efsm_view *v)
{
    return asked(v) == READ_X && efsm_get(v, X) > 0.0;
}

static bool if_x_not_positive(const struct efsm_view *v)
{
    return asked(v) == READ_X && efsm_is_defined(v, X) && !(efsm_get(v, X) > 0.0);
}

static bool if_set_x(const struct efsm_view *v)
{
    return asked(v) == SET_X_READ_Y;
}

static bool if_push(const struct efsm_view *v)
{
    return asked(v) == PUSH;
}

static bool if_push_8(const struct efsm_view *v)
{
    return asked(v) == PUSH_8;
}

static bool if_pop(const struct efsm_view *v)
{
    return asked(v) == POP_ONE;
}

static bool if_top(const struct efsm_view *v)
{
    return asked(v) == GO_TOP;
}

static bool if_last(const struct efsm_view *v)
{
    return asked(v) == TO_LAST;
}

static bool if_add(const struct efsm_view *v)
{
    return asked(v) == ADD;
}

static bool if_replace(const struct efsm_view *v)
{
    return asked(v) == REPLACE;
}

static void set_x_read_y(const struct efsm_view *v)
{
    efsm_set(v, X, 5.0);
    efsm_set(v, X, efsm_get(v, Y));
}

static void set_x(const struct efsm_view *v)
{
    efsm_set(v, X, 5.0);
}

static void add_to_x(const struct efsm_view *v)
{
    efsm_set(v, X, efsm_get(v, X) + 1.0);
}

static void show_b(const struct efsm_view *v)
{
    int *out = v->out;
    (*out)++;
}

static const struct efsm_state states[] = {
    {.name = "A"}, {.name = "B", .output = show_b}, {.name = "LAST", .final = true}};
static const char *const cells[] = {"x", "y"};

/* clang-format off */
static const struct efsm_arc arcs[] = {
    {A, A,        if_stay,           NULL,         .label = "stay", .waits = true},
    {A, B,        if_move,           NULL,         .label = "move"},
    {A, A,        if_loop,           NULL,         .label = "loop"},
    {A, B,        if_x_positive,     NULL,         .label = "x > 0"},
    {A, A,        if_x_not_positive, NULL,         .label = "x <= 0"},
    {A, B,        if_set_x,          set_x_read_y, .label = "x+ = y"},
    {A, A,        if_push,           set_x,        .label = "push", .push_count = 1, .push = {B}},
    {A, A,        if_push_8,         NULL,         .label = "push 8", .push_count = 8, .push = {A, B, A, B, A, B, A, B}},
    {A, A,        if_pop,            set_x,        .label = "pop", .pops = 1},
    {A, EFSM_POP, if_top,            set_x,        .label = "top"},
    {A, LAST,     if_last,           NULL,         .label = "last"},
    {A, A,        if_add,            add_to_x,     .label = "add"},
    {A, A,        if_replace,        NULL,         .label = "replace", .pops = 1, .push_count = 1, .push = {A}},
    {B, B,        if_stay,           NULL,         .label = "stay", .waits = true},
    {B, A,        if_move,           NULL,         .label = "move"},
};
/* clang-format on */

static const struct efsm_table table = {.name = "Sample",
                                        .purpose = "has every kind of arc",
                                        .states = states,
                                        .state_count = COUNT(states),
                                        .arcs = arcs,
                                        .arc_count = COUNT(arcs),
                                        .cells = cells,
                                        .cell_count = COUNT(cells),
                                        .initial = A};

static inline void run(struct efsm *m, int ask, int64_t t_us)
{
    efsm_plan(&table, m, &ask, t_us);
    efsm_update(&table, m, t_us, 0, NULL, NULL);
}

static inline bool same_bytes(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n) == 0;
}

/* No padding: the engine asserts it. */
static inline bool is_same(const struct efsm *a, const struct efsm *b)
{
    return same_bytes(a, b, sizeof *a);
}

#endif
