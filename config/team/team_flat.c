/* config/team/team_flat.c - flattens sequences: nested sequences, conditions and loops become
 * steps and jumps. A nested sequence does exactly what its steps would do if written one after
 * another. */
#include <string.h>

#include "config/team/team_values.h"

enum { WITHIN_MAX = 64 }; /* sequences within sequences */

struct laying {      /* position in the nesting */
    uint32_t start;  /* first step of the sequence, at which Repeat restarts */
    unsigned within; /* depth of nested sequences */
    unsigned loops;  /* depth of counted loops, over all nested sequences */
    bool counted;    /* Repeat would leave a counted loop of this sequence */
};

static const struct written_step *written_at(const struct team_build *b, uint32_t i)
{
    return TEAM_AT(b, TEAM_OF_WRITTEN, struct written_step, i);
}

static struct written_sequence *sequence_at(const struct team_build *b, size_t i)
{
    return TEAM_AT(b, TEAM_OF_WRITTEN_SEQUENCES, struct written_sequence, i);
}

/* --- circles ----------------------------------------------------------------------------- */

static bool find_circle(struct team_build *b, size_t sequence, unsigned within);

/* Visits a list's sequences one by one; true: a circle was found and reported. */
// NOLINTNEXTLINE(misc-no-recursion)
static bool visit_uses(struct team_build *b, uint32_t first, unsigned within)
{
    for (uint32_t i = first; i > 0; i = written_at(b, i)->next) {
        const struct written_step *step = written_at(b, i);
        if (step->kind == WRITTEN_SEQUENCE) {
            struct written_sequence *used = sequence_at(b, step->used);
            if (used->open || within == WITHIN_MAX) {
                option_fault(b->r, step->node,
                             used->open ? FAULT_CIRCULAR_SEQUENCE : FAULT_TOO_DEEP,
                             used->open ? "%s%s uses %s, which uses it: a sequence cannot be a "
                                          "step of itself; Repeat goes round"
                                        : "%s%s uses %s: sequences are nested too deeply",
                             b->shown, team_nth(b, TEAM_OF_SEQUENCES, step->step.sequence),
                             team_nth(b, TEAM_OF_SEQUENCES, step->used));
                return true;
            }
            if (!used->closed && find_circle(b, step->used, within + 1)) {
                return true;
            }
        } else if (visit_uses(b, step->first, within) || visit_uses(b, step->other, within)) {
            return true;
        }
    }
    return false;
}

// NOLINTNEXTLINE(misc-no-recursion)
static bool find_circle(struct team_build *b, size_t sequence, unsigned within)
{
    struct written_sequence *s = sequence_at(b, sequence);
    s->open = true;
    const bool found = visit_uses(b, s->first, within);
    s->open = false;
    s->closed = true;
    return found;
}

/* --- laying ------------------------------------------------------------------------------ */

static uint32_t count_laid(const struct team_build *b)
{
    return (uint32_t)TEAM_COUNT(b, TEAM_OF_STEPS);
}

/* Adds a flat step of this kind, with the place of `from`. Returns its index, or that of a
 * dummy when there is no room. */
static uint32_t lay_step(struct team_build *b, const struct written_step *from,
                         enum team_step_kind kind, uint32_t to)
{
    const uint32_t at = count_laid(b);
    if (at == TEAM_FLAT_STEPS_MAX) {
        if (!b->r->failed) {
            option_fault(b->r, from->node, FAULT_TOO_MANY,
                         "%ssequences: laid flat they have more than %d steps", b->shown,
                         TEAM_FLAT_STEPS_MAX);
        }
        return at - 1;
    }
    struct team_step *step = TEAM_ADD(b, TEAM_OF_STEPS, struct team_step);
    *step = from->step;
    step->kind = kind;
    step->to = to;
    step->times = from->times;
    *TEAM_ADD(b, TEAM_OF_STEP_NODES, uint32_t) = from->node;
    return at;
}

static void set_jump(struct team_build *b, uint32_t at, uint32_t to)
{
    if (at < count_laid(b)) {
        TEAM_AT(b, TEAM_OF_STEPS, struct team_step, at)->to = to;
    }
}

static void lay_list(struct team_build *b, uint32_t first, const struct laying *in);

// NOLINTNEXTLINE(misc-no-recursion)
static void lay_loop(struct team_build *b, const struct written_step *w,
                     const struct laying *in)
{
    const bool counted = w->times > 1;
    const struct laying within = {in->start, in->within, in->loops + (counted ? 1 : 0),
                                  in->counted || counted};
    const uint32_t start = count_laid(b);
    if (w->first == 0) { /* an endless Repeat without a list */
        if (in->counted) {
            option_fault(b->r, w->node, FAULT_BAD_STEP,
                         "%ssequences.%s: Repeat alone restarts the sequence, which is "
                         "impossible within Repeat: {times: ...}",
                         b->shown, team_nth(b, TEAM_OF_SEQUENCES, w->step.sequence));
        }
        (void)lay_step(b, w, TEAM_STEP_GOTO, in->start);
        return;
    }
    if (within.loops > TEAM_LOOPS_MAX) {
        option_fault(b->r, w->node, FAULT_TOO_DEEP,
                     "%ssequences.%s: more than %d counted loops are nested", b->shown,
                     team_nth(b, TEAM_OF_SEQUENCES, w->step.sequence), TEAM_LOOPS_MAX);
        return;
    }
    lay_list(b, w->first, &within);
    if (w->times != 1) {
        (void)lay_step(b, w, counted ? TEAM_STEP_LOOP : TEAM_STEP_GOTO, start);
    }
}

/* Layout: UNLESS part else; then; GOTO end; else. With several parts, each but the last jumps
 * to `then` when its part is held and otherwise falls to the next question. */
// NOLINTNEXTLINE(misc-no-recursion)
static void lay_if(struct team_build *b, const struct written_step *w, const struct laying *in)
{
    uint32_t hits[TEAM_WANT_MAX];
    uint32_t ask = 0;
    size_t hit_count = 0;
    for (uint32_t i = w->parts; i < w->part_end; i++) {
        ask = lay_step(b, w, TEAM_STEP_UNLESS, 0);
        if (ask < count_laid(b)) {
            TEAM_AT(b, TEAM_OF_STEPS, struct team_step, ask)->arg =
                *TEAM_AT(b, TEAM_OF_LISTS, uint16_t, i);
        }
        if (i + 1 < w->part_end) {
            hits[hit_count++] = lay_step(b, w, TEAM_STEP_GOTO, 0);
            set_jump(b, ask, count_laid(b));
        }
    }
    for (size_t i = 0; i < hit_count; i++) {
        set_jump(b, hits[i], count_laid(b));
    }
    lay_list(b, w->first, in);
    if (w->other == 0) {
        set_jump(b, ask, count_laid(b));
        return;
    }
    const uint32_t over = lay_step(b, w, TEAM_STEP_GOTO, 0);
    set_jump(b, ask, count_laid(b));
    lay_list(b, w->other, in);
    set_jump(b, over, count_laid(b));
}

// NOLINTNEXTLINE(misc-no-recursion)
static void lay_list(struct team_build *b, uint32_t first, const struct laying *in)
{
    for (uint32_t i = first; i > 0 && !b->r->failed && !b->no_memory;
         i = written_at(b, i)->next) {
        const struct written_step *w = written_at(b, i);
        switch (w->kind) {
        case WRITTEN_STEP:
            (void)lay_step(b, w, w->step.kind, 0);
            break;
        case WRITTEN_SEQUENCE: {
            const struct laying within = {count_laid(b), in->within + 1, in->loops, false};
            lay_list(b, sequence_at(b, w->used)->first, &within);
            break;
        }
        case WRITTEN_REPEAT:
            lay_loop(b, w, in);
            break;
        case WRITTEN_IF:
            lay_if(b, w, in);
            break;
        }
    }
}

void team_build_flat(struct team_build *b)
{
    for (size_t i = 0; i < TEAM_COUNT(b, TEAM_OF_SEQUENCES); i++) {
        if (!sequence_at(b, i)->closed && find_circle(b, i, 0)) {
            return;
        }
    }
    for (size_t i = 0; i < TEAM_COUNT(b, TEAM_OF_SEQUENCES) && !b->r->failed; i++) {
        const struct laying whole = {.start = count_laid(b)};
        lay_list(b, sequence_at(b, i)->first, &whole);
        struct team_sequence *sequence = TEAM_AT(b, TEAM_OF_SEQUENCES, struct team_sequence, i);
        sequence->first = whole.start;
        sequence->count = count_laid(b) - whole.start;
    }
}
