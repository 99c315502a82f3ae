/* config/drawing/drawing_paths.c - turns every path from state to state, through decisions and
 * boxes, into one arc of the machine. */
#include <math.h>
#include <string.h>

#include "base/text/names.h"
#include "config/drawing/drawing_parts.h"
#include "config/drawing/drawing_text.h"

/* A path while it is followed. */
struct path {
    const char *from;
    size_t length; /* shapes */
    uint16_t when; /* the conditions of all its arrows; 0: none */
    bool empties;
    unsigned pops;
    struct machine_acts acts;
};

/* The end of a path. */
struct path_end {
    const char *to; /* NULL: the state on top of the stack */
    const char *push[EFSM_PUSH_MAX];
    size_t push_count;
};

/* ---- bubbles at the head, in the order in which they are drawn ---- */

struct chain {
    struct drawing_cell *seen[EFSM_PUSH_MAX + 2];
    size_t count;
};

struct next {
    struct drawing_cell *cell;
    double distance;
};

/* Goes straight on: first to pushed states, then to the cell farthest from the chain's
 * start. */
static void try_next(const struct chain *chain, struct drawing_cell *cell,
                     struct drawing_point back, struct next *best)
{
    if (drawing_has(chain->seen, chain->count, cell) || best->cell == cell) {
        return;
    }
    const struct drawing_point p = drawing_centre(cell);
    const double distance = hypot(p.x - back.x, p.y - back.y);
    const bool push = cell->role == ROLE_PUSH;
    const bool has_push = best->cell && best->cell->role == ROLE_PUSH;
    if (!best->cell || (push && !has_push) || (push == has_push && distance > best->distance)) {
        *best = (struct next){cell, distance};
    }
}

static struct drawing_cell *find_next(const struct chain *chain, struct drawing_cell *bubble,
                                      const struct drawing_cell *arrow)
{
    struct next best = {NULL, 0.0};
    const struct drawing_point back = chain->count > 1
                                          ? drawing_centre(chain->seen[chain->count - 2])
                                          : arrow->path[arrow->path_count - 2];
    for (size_t i = 0; i < bubble->touching_count; i++) {
        if (bubble->touching[i]->role != ROLE_POP) {
            try_next(chain, bubble->touching[i], back, &best);
        }
    }
    for (struct drawing_cell *e = bubble->first_out; e; e = e->next_out) {
        e->walked = true;
        if (e->to && e->label[0] == '\0') {
            try_next(chain, e->to, back, &best);
        }
    }
    return best.cell;
}

static bool find_end(struct drawing_page *page, const struct drawing_cell *arrow,
                     struct path_end *end)
{
    struct drawing_cell *cell = arrow->to;
    struct chain chain = {.count = 0};
    while (cell->role == ROLE_PUSH) {
        if (end->push_count == EFSM_PUSH_MAX) {
            return drawing_blame(page, "E-PUSH", cell,
                                 "more than %d states pushed by one arrow", EFSM_PUSH_MAX);
        }
        chain.seen[chain.count++] = cell;
        end->push[end->push_count++] = drawing_draft_name(page, cell);
        struct drawing_cell *next = find_next(&chain, cell, arrow);
        if (!next) {
            return drawing_blame(
                page, "E-PUSH", cell,
                "a pushed state that no state follows: bubbles touch each other and "
                "the last one touches (or points to) the next state");
        }
        cell = next;
    }
    if (cell->role == ROLE_BAD_NAME) {
        return false; /* its name is reported */
    }
    if (cell->role != ROLE_STATE && cell->role != ROLE_FINAL && cell->role != ROLE_HEXAGON) {
        return drawing_blame(
            page, "E-TARGET", arrow,
            "leads to '%s', a %s: a state, a decision, a box with assignments, a "
            "bubble or a hexagon is wanted",
            drawing_line(page->m, cell->text, 0),
            names_text(&drawing_role_names, (size_t)cell->role));
    }
    end->to = cell->role == ROLE_HEXAGON ? NULL
              : cell->role == ROLE_FINAL ? DRAWING_END_STATE
                                         : drawing_draft_name(page, cell);
    return true;
}

/* ---- arcs ---- */

static void add_arc(struct drawing_page *page, struct drawing_cell *arrow,
                    const struct path *path)
{
    struct machine_draft *draft = page->draft;
    struct path_end end = {.push_count = 0};
    if (!find_end(page, arrow, &end)) {
        return;
    }
    const size_t at = draft->arc_count;
    struct machine_draft_arc *arc = machine_draft_add_arc(draft, drawing_place(page, arrow));
    if (!arc) {
        page->stopped = true;
        return;
    }
    arc->from = path->from;
    arc->to = end.to;
    arc->when = path->when;
    arc->acts = machine_draft_add_acts(draft, &path->acts);
    arc->empties = path->empties;
    arc->pops = path->pops;
    arc->push_count = end.push_count;
    memcpy(arc->push, end.push, sizeof end.push);
    arc->waits = drawing_style_is(arrow, "dashed", "1") && !draft->clocked
                     ? MACHINE_WAITS
                     : MACHINE_WAITS_UNSAID;
    page->arc_arrows[at] = arrow;
}

static void join_guard(struct drawing_page *page, struct path *path, uint16_t when)
{
    if (when > 0) {
        path->when = path->when == 0 ? when
                                     : expression_make(&page->draft->pool, EXPRESSION_AND,
                                                       path->when, when, 0);
    }
}

static void join_acts(struct drawing_page *page, struct path *path,
                      const struct drawing_label *label)
{
    for (size_t i = 0; i < label->count; i++) {
        (void)machine_draft_act(page->draft, &path->acts, &label->acts[i]);
    }
}

/* ---- from arrow to arrow ---- */

/* Each step costs budget, so that a drawing with many loops ends. */
static bool may_follow(struct drawing_page *page, const struct drawing_cell *arrow,
                       const struct path *path)
{
    if (page->stopped) {
        return false;
    }
    if (path->length > DRAWING_PATH_MAX) {
        return drawing_blame(page, "E-LOOP", arrow,
                             "decisions in a circle: between two states a way must end");
    }
    if (page->walks == 0) {
        drawing_blame(page, "E-TOO-MANY", arrow, "more than %d ways between states",
                      MACHINE_ARCS_MAX);
        page->stopped = true;
        return false;
    }
    page->walks--;
    return true;
}

static void report_dangling(const struct drawing_page *page, const struct drawing_cell *arrow,
                            const char *nearest)
{
    drawing_blame(page, "E-DANGLING", arrow,
                  "points into the air: drag its head onto a shape (nearest: %s)", nearest);
}

/* Follows all paths that continue with this arrow. A path's length bounds the depth. */
static void follow_arrow(struct drawing_page *page, struct drawing_cell *arrow,
                         const struct path *before)
{
    struct path path = *before;
    const bool again = arrow->walked;
    arrow->walked = true;
    if (!may_follow(page, arrow, &path)) {
        return;
    }
    if (!arrow->to) {
        if (!again) {
            report_dangling(page, arrow, drawing_nearest(page, arrow, DRAWING_HEAD_TO_TARGET));
        }
        return;
    }
    const struct drawing_label *label = drawing_label_of(page, arrow);
    if (label->failed) {
        return;
    }
    join_guard(page, &path, label->when);
    join_acts(page, &path, label);
    path.length++;
    const bool box = arrow->to->role == ROLE_ACTION;
    if (arrow->to->role != ROLE_DECISION && !box) {
        add_arc(page, arrow, &path);
        return;
    }
    const struct drawing_label *inside = box ? drawing_box_of(page, arrow->to) : NULL;
    if (inside && inside->failed) {
        return;
    }
    if (inside) {
        join_acts(page, &path, inside);
    }
    if (!arrow->to->first_out) {
        drawing_blame(page, box ? "E-ACTION" : "E-DECISION", arrow->to, "no arrow leaves it");
    }
    for (struct drawing_cell *e = arrow->to->first_out; e; e = e->next_out) {
        follow_arrow(page, e, &path);
    }
}

static void follow_all(struct drawing_page *page, struct drawing_cell *from,
                       const struct path *path)
{
    for (struct drawing_cell *e = from->first_out; e; e = e->next_out) {
        follow_arrow(page, e, path);
    }
}

/* ---- bubbles and hexagons that arrows begin at ---- */

/* Bubbles in a row: all that touch the arrow's first bubble, directly or through others. The
 * first one need not touch the state. One state is popped for each bubble. */
static bool count_pops(struct drawing_cell *bubble, const struct drawing_cell *state,
                       unsigned *count)
{
    struct drawing_cell *row[EFSM_STACK_MAX + 2] = {bubble};
    size_t n = 1;
    const bool touched = drawing_has(bubble->touching, bubble->touching_count, state);
    bool touches_state = false;
    bool others = false;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < row[i]->touching_count; k++) {
            struct drawing_cell *cell = row[i]->touching[k];
            touches_state = touches_state || cell == state;
            others = others || (i == 0 && cell->role == ROLE_STATE);
            if (cell->role == ROLE_POP && n < COUNT(row) && !drawing_has(row, n, cell)) {
                row[n++] = cell;
            }
        }
    }
    *count = (unsigned)n;
    return touched || (touches_state && !others);
}

static void follow_stackers(struct drawing_page *page, const struct drawing_cell *state,
                            const char *name)
{
    for (size_t i = 0; i < page->stackers.count; i++) {
        struct drawing_cell *bubble = page->stackers.items[i];
        struct path path = {.from = name, .length = 2};
        const bool begins = bubble->first_out && !bubble->entered;
        bool belongs = false;
        if (begins && bubble->role == ROLE_HEXAGON) {
            path.empties = true;
            belongs = drawing_has(bubble->touching, bubble->touching_count, state);
        } else if (begins && bubble->role == ROLE_POP) {
            belongs = count_pops(bubble, state, &path.pops);
        }
        if (belongs) {
            follow_all(page, bubble, &path);
        }
    }
}

/* ---- arrows that no way has ---- */

static void report_unreached(struct drawing_page *page, struct drawing_cell *arrow)
{
    if (!arrow->to) {
        report_dangling(page, arrow, drawing_nearest(page, arrow, DRAWING_HEAD));
        return;
    }
    const enum drawing_role role = arrow->from ? arrow->from->role : ROLE_PUSH;
    const char *name = names_text(&drawing_role_names, (size_t)role);
    if (role == ROLE_DECISION || role == ROLE_ACTION) {
        drawing_blame(page, "E-UNREACHED", arrow,
                      "leaves the %s '%s', which no arrow from a state leads to", name,
                      drawing_line(page->m, arrow->from->text, 0));
    } else if (role != ROLE_BAD_NAME && role != ROLE_PUSH) {
        drawing_blame(page, "E-ARROW", arrow, "begins at a %s, not at a state", name);
    }
}

void drawing_find_paths(struct drawing_page *page)
{
    for (size_t i = 0; i < page->nodes.count && !page->stopped; i++) {
        struct drawing_cell *state = page->nodes.items[i];
        if (state->role != ROLE_STATE) {
            continue;
        }
        const struct path path = {.from = drawing_draft_name(page, state), .length = 1};
        follow_all(page, state, &path);
        follow_stackers(page, state, path.from);
    }
    for (size_t i = 0; i < page->arrows.count && !page->stopped; i++) {
        if (!page->arrows.items[i]->walked) {
            report_unreached(page, page->arrows.items[i]);
        }
    }
    if (page->draft->pool.full) {
        drawing_blame(page, "E-TOO-MANY", NULL, "all of its conditions together are too long");
    }
}
