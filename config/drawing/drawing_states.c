/* config/drawing/drawing_states.c - adds states with the shapes that touch them, and finds the
 * start of the machine. */
#include <string.h>

#include "config/drawing/drawing_parts.h"

static bool is_final(const struct drawing_cell *cell)
{
    return cell->kind == DRAWING_ELLIPSE &&
           (strstr(cell->style, "doubleEllipse") || drawing_style_is(cell, "double", "1"));
}

/* Reads the outputs below a state's name. */
static void read_state_text(struct drawing_page *page, struct drawing_cell *cell,
                            struct machine_acts *acts)
{
    struct machine_words rest = drawing_text_words(cell->text + strcspn(cell->text, "\n"));
    struct machine_words part;
    while (machine_words_next(&rest, &part)) {
        struct machine_assignment_words found;
        if (!machine_words_assignment(part, &found) || found.delayed) {
            drawing_blame(page, "E-STATE-TEXT", cell,
                          "'%.*s' below the name: only outputs, name = value, stand here",
                          (int)(part.bytes < 240 ? part.bytes : 240), part.text);
        } else {
            (void)machine_draft_assign(page->draft, part, drawing_place(page, cell),
                                       "E-STATE-TEXT", "", acts);
        }
    }
}

/* All shapes of one name, from the first one on, are one state. */
static bool add_state(struct drawing_page *page, size_t first)
{
    struct drawing_cell *cell = page->nodes.items[first];
    struct machine_acts acts = {.count = 0};
    bool final = false;
    if (drawing_draft_name(page, cell)[0] != '\0') {
        return true;
    }
    struct machine_draft_state *state =
        machine_draft_add_state(page->draft, drawing_place(page, cell));
    if (!state || !drawing_spend(page, page->nodes.count)) {
        return false;
    }
    state->name = machine_draft_store_text(page->draft, cell->name, strlen(cell->name));
    for (size_t i = first; i < page->nodes.count; i++) {
        struct drawing_cell *other = page->nodes.items[i];
        if (other->role == ROLE_STATE && strcmp(other->name, cell->name) == 0) {
            final = final || is_final(other);
            read_state_text(page, other, &acts);
        }
    }
    state->final = final;
    state->outputs = machine_draft_add_acts(page->draft, &acts);
    return true;
}

static bool add_end(struct drawing_page *page, struct drawing_cell *cell)
{
    if (machine_draft_find_state(page->draft, DRAWING_END_STATE)) {
        return true;
    }
    struct machine_draft_state *state =
        machine_draft_add_state(page->draft, drawing_place(page, cell));
    if (state) {
        state->name = DRAWING_END_STATE;
        state->final = true;
    }
    return state != NULL;
}

bool drawing_find_states(struct drawing_page *page)
{
    bool fine = true;
    for (size_t i = 0; fine && i < page->nodes.count; i++) {
        struct drawing_cell *cell = page->nodes.items[i];
        fine = cell->role == ROLE_STATE   ? add_state(page, i)
               : cell->role == ROLE_FINAL ? add_end(page, cell)
                                          : true;
    }
    if (fine && page->draft->state_count == 0) {
        drawing_blame(page, "E-NO-STATE", NULL,
                      "there is no state: ellipses or rounded boxes with a name");
        fine = false;
    }
    return fine;
}

/* ---- bubbles and hexagons ---- */

static void find_touching(struct drawing_page *page, struct drawing_cell *cell)
{
    struct drawing_list touching = {0};
    for (size_t i = 0; i < page->nodes.count; i++) {
        struct drawing_cell *other = page->nodes.items[i];
        if (other != cell && (drawing_is_stacker(other) || other->role == ROLE_STATE) &&
            drawing_gap(cell, other) <= DRAWING_TOUCH) {
            drawing_append(page, &touching, other);
        }
    }
    cell->touching = touching.items;
    cell->touching_count = touching.count;
}

static void link_arrow(struct drawing_cell *arrow)
{
    struct drawing_cell *from = arrow->from;
    if (arrow->to) {
        arrow->to->entered = true;
    }
    if (from && !from->first_out) {
        from->first_out = from->last_out = arrow;
    } else if (from) {
        from->last_out->next_out = arrow;
        from->last_out = arrow;
    }
}

bool drawing_find_stackers(struct drawing_page *page)
{
    for (size_t i = 0; i < page->nodes.count; i++) {
        struct drawing_cell *cell = page->nodes.items[i];
        if (drawing_is_stacker(cell)) {
            if (!drawing_spend(page, page->nodes.count)) {
                return false;
            }
            find_touching(page, cell);
            drawing_append(page, &page->stackers, cell);
        }
    }
    for (size_t i = 0; i < page->arrows.count; i++) {
        link_arrow(page->arrows.items[i]);
    }
    return true;
}

/* ---- the start ---- */

static void read_start(struct drawing_page *page, struct drawing_cell *arrow)
{
    struct machine_draft *draft = page->draft;
    struct machine_acts acts = {.count = 0};
    struct machine_words rest = drawing_text_words(arrow->label);
    struct machine_words part;
    if (!arrow->to || arrow->to->role != ROLE_STATE) {
        drawing_blame(page, "E-DANGLING", arrow,
                      "the initial arrow points to no state (nearest to its head: %s)",
                      drawing_nearest(page, arrow, DRAWING_HEAD));
        return;
    }
    draft->initial = drawing_draft_name(page, arrow->to);
    draft->initial_place = drawing_place(page, arrow);
    while (machine_words_next(&rest, &part)) {
        (void)machine_draft_assign(draft, part, draft->initial_place, "E-START-LABEL",
                                   ": the initial arrow carries assignments only", &acts);
    }
    for (size_t i = 0; i < acts.count; i++) {
        acts.items[i].delayed = true; /* initial values are never delayed, however drawn */
    }
    draft->starts = machine_draft_add_acts(draft, &acts);
}

/* An arrow from nowhere is misplaced when others begin at a black dot, or when it joins
 * nothing. */
static bool is_misplaced(const struct drawing_page *page, const struct drawing_cell *arrow,
                         bool dotted)
{
    if (!arrow->from && !arrow->to) {
        drawing_blame(page, "E-DANGLING", arrow, "is attached to no shape at either end");
        return true;
    }
    if (!arrow->from && dotted) {
        drawing_blame(page, "E-DANGLING", arrow,
                      "begins in the air: drag its tail onto a state (nearest: %s)",
                      drawing_nearest(page, arrow, DRAWING_TAIL));
        return true;
    }
    return false;
}

static void refuse_starts(const struct drawing_page *page, const struct drawing_list *starts)
{
    for (size_t i = 0; i < starts->count; i++) {
        const struct drawing_cell *arrow = starts->items[i];
        const char *others = starts->count == 2
                                 ? "does one other"
                                 : drawing_format(page->m, "do %zu others", starts->count - 1);
        drawing_blame(page, "E-TWO-STARTS", arrow,
                      "begins in the air, and so %s: one arrow marks the initial state, the "
                      "others want their tails on a state (nearest: %s)",
                      others, drawing_nearest(page, arrow, DRAWING_TAIL));
    }
}

void drawing_find_start(struct drawing_page *page)
{
    struct drawing_list starts = {0};
    bool dotted = false;
    for (size_t i = 0; i < page->arrows.count; i++) {
        const struct drawing_cell *arrow = page->arrows.items[i];
        dotted = dotted || (arrow->from && arrow->from->role == ROLE_START);
    }
    for (size_t i = 0; i < page->arrows.count; i++) {
        struct drawing_cell *arrow = page->arrows.items[i];
        const bool start = !arrow->from || arrow->from->role == ROLE_START;
        if (start && !is_misplaced(page, arrow, dotted)) {
            arrow->walked = true;
            drawing_append(page, &starts, arrow);
        }
    }
    if (starts.count == 0) {
        drawing_blame(
            page, "E-NO-START", NULL,
            "no initial state: an arrow that begins in the air, or at a black dot, must "
            "point to it");
    } else if (starts.count == 1) {
        read_start(page, starts.items[0]);
    } else {
        refuse_starts(page, &starts);
    }
}
