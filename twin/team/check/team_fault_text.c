/* twin/team/check/team_fault_text.c - faults of a team's sequences as texts for people: both
 * steps, and what would be right.
 */
#include "twin/team/check/team_static_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PLACE_MAX = 80 };

struct fault_words {
    const struct team_params *p;
    const struct team_fault *fault;
    char step[PLACE_MAX], other[PLACE_MAX]; /* "step 4 of cycle, line 12" */
    const char *resource, *held;
};

static void write_line(char *out, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

static void write_line(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(out, size, format, args);
    va_end(args);
}

static void write_place(const struct team_params *p, uint32_t at, char out[PLACE_MAX])
{
    if (at >= p->step_count) {
        write_line(out, PLACE_MAX, "the end");
        return;
    }
    const struct team_step *step = &p->steps[at];
    const char *sequence = p->sequences[step->sequence].name;
    const int n = snprintf(out, PLACE_MAX, "step %u of %s", (unsigned)step->place, sequence);
    if (step->line > 0 && n > 0 && n < PLACE_MAX) {
        write_line(out + n, (size_t)(PLACE_MAX - n), ", line %u", (unsigned)step->line);
    }
}

static const char *resource_name(const struct team_params *p, uint16_t resource)
{
    return resource < p->resource_count ? p->resources[resource].name : "";
}

/* Writes "Move IB", "Meet m". */
static void write_task(const struct team_params *p, uint32_t at, char out[PLACE_MAX])
{
    const struct team_step *step = &p->steps[at];
    if (step->kind == TEAM_STEP_MEET) {
        write_line(out, PLACE_MAX, "Meet %s", team_name(p, step->meeting));
    } else {
        const char *arg = team_name(p, step->arg);
        write_line(out, PLACE_MAX, "%s%s%s%s",
                   step->kind == TEAM_STEP_TOGETHER ? "Together " : "",
                   p->tasks[step->task].name, arg[0] ? " " : "", arg);
    }
}

static void write_never_released(const struct fault_words *w, char out[TEAM_FAULT_TEXT_MAX])
{
    const uint32_t at = w->fault->other;
    const bool takes_part = at != TEAM_NO_STEP && w->p->steps[at].kind == TEAM_STEP_TAKE;
    if (at == TEAM_NO_STEP) {
        write_line(out, TEAM_FAULT_TEXT_MAX,
                   "Lock of %s (%s) is never released: UnLock it before the sequence ends or "
                   "loops for ever",
                   w->resource, w->step);
    } else if (takes_part && w->p->steps[at].retry_us == 0) {
        write_line(
            out, TEAM_FAULT_TEXT_MAX,
            "Lock of %s (%s) is still held at %s, where the sequence ends when there is no "
            "part: UnLock it before",
            w->resource, w->step, w->other);
    } else {
        write_line(
            out, TEAM_FAULT_TEXT_MAX,
            "Lock of %s (%s) still holds at %s when it is reached on one way, and not on "
            "another: UnLock it on all",
            w->resource, w->step, w->other);
    }
}

static void write_cycle(const struct fault_words *w, char out[TEAM_FAULT_TEXT_MAX])
{
    const bool nested = w->fault->other != TEAM_NO_STEP;
    write_line(out, TEAM_FAULT_TEXT_MAX,
               nested
                   ? "Lock of %s (%s) while %s is held (%s) can end in a deadlock with a robot "
                     "that locks them otherwise; locking: ordered or at_once excludes it"
                   : "Lock of %s (%s) together with %s%.0s can end in a deadlock with a robot "
                     "that locks them one by one; locking: ordered or at_once excludes it",
               w->resource, w->step, w->held, w->other);
}

static void write_words(const struct fault_words *w, char out[TEAM_FAULT_TEXT_MAX])
{
    const size_t size = TEAM_FAULT_TEXT_MAX;
    char task[PLACE_MAX];
    switch (w->fault->kind) {
    case TEAM_FAULT_ORDER:
        write_line(out, size,
                   "Lock of %s (%s) while %s is held (%s): %s precedes %s under resources; "
                   "lock it first",
                   w->resource, w->step, w->held, w->other, w->resource, w->held);
        break;
    case TEAM_FAULT_NESTED:
        write_line(
            out, size,
            "Lock of %s (%s) while %s is held (%s): with locking: at_once lock all in one Lock",
            w->resource, w->step, w->held, w->other);
        break;
    case TEAM_FAULT_MEETING:
        write_task(w->p, w->fault->step, task);
        write_line(out, size,
                   "%s (%s) while %s is held (%s): another robot of the meeting may need it; "
                   "UnLock it "
                   "before",
                   task, w->step, w->held, w->other);
        break;
    case TEAM_FAULT_DOUBLE_LOCK:
        write_line(out, size, "Lock of %s (%s), which is held already (%s); UnLock it before",
                   w->resource, w->step, w->other);
        break;
    case TEAM_FAULT_NOT_OWNER:
        write_line(out, size, "UnLock of %s (%s), which is not held there; Lock it before",
                   w->resource, w->step);
        break;
    case TEAM_FAULT_NEVER_RELEASED:
        write_never_released(w, out);
        break;
    case TEAM_FAULT_ZERO_TIME:
        write_line(out, size, "%s to %s loop in zero time; a task is needed between them",
                   w->step, w->other);
        break;
    case TEAM_FAULT_NOT_LEFT:
        write_task(w->p, w->fault->other, task);
        write_line(out, size,
                   "UnLock of %s (%s) follows %s (%s): the robot may still be there; leave "
                   "first, and say safe: true of that position or task",
                   w->resource, w->step, task, w->other);
        break;
    case TEAM_FAULT_NOT_REACHED:
        write_line(out, size, "%s is never reached: the steps before it loop for ever",
                   w->step);
        break;
    case TEAM_FAULT_DEADLOCK:
        write_cycle(w, out);
        break;
    case TEAM_FAULT_TOO_LARGE:
        write_line(out, size,
                   "sequence %s cannot be checked: at most %d steps times parts of conditions "
                   "and %d resources held at once are",
                   w->p->sequences[w->fault->sequence].name, TEAM_PATH_STATES_MAX,
                   TEAM_HELD_MAX);
        break;
    }
}

void team_fault_text(const struct team_params *p, const struct team_fault *fault,
                     char out[TEAM_FAULT_TEXT_MAX])
{
    struct fault_words w = {.p = p,
                            .fault = fault,
                            .resource = resource_name(p, fault->resource),
                            .held = resource_name(p, fault->held)};
    write_place(p, fault->step, w.step);
    write_place(p, fault->other, w.other);
    write_words(&w, out);
}
