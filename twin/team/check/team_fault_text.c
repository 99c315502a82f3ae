/* twin/team/check/team_fault_text.c - faults of a team's sequences as texts for people: both
 * steps, and what would be right.
 */
#include "twin/team/check/team_static_check.h"

#include <stdio.h>
#include <string.h>

enum { PLACE_MAX = 80 };

static void write_place(const struct team_params *p, uint32_t at, char out[PLACE_MAX])
{
    if (at >= p->step_count) {
        (void)snprintf(out, PLACE_MAX, "the end");
        return;
    }
    const struct team_step *step = &p->steps[at];
    const char *sequence = p->sequences[step->sequence].name;
    const int n = snprintf(out, PLACE_MAX, "step %u of %s", (unsigned)step->place, sequence);
    if (step->line > 0 && n > 0 && n < PLACE_MAX) {
        (void)snprintf(out + n, (size_t)(PLACE_MAX - n), ", line %u", (unsigned)step->line);
    }
}

static void write_resource(const struct team_params *p, uint16_t resource, char out[PLACE_MAX])
{
    const char *name = resource < p->resource_count ? p->resources[resource].name : "";
    (void)snprintf(out, PLACE_MAX, "%s", name);
}

/* Writes "Move IB", "Meet m". */
static void write_task(const struct team_params *p, uint32_t at, char out[PLACE_MAX])
{
    const struct team_step *step = &p->steps[at];
    if (step->kind == TEAM_STEP_MEET) {
        (void)snprintf(out, PLACE_MAX, "Meet %s", team_name(p, step->meeting));
    } else {
        const char *arg = team_name(p, step->arg);
        (void)snprintf(out, PLACE_MAX, "%s%s%s%s",
                       step->kind == TEAM_STEP_TOGETHER ? "Together " : "",
                       p->tasks[step->task].name, arg[0] ? " " : "", arg);
    }
}

static const struct {
    enum team_fault_kind kind;
    const char *text; /* %S and %O: the two steps; %R and %H: the resource, and the held one */
} fault_rows[] = {
    {TEAM_FAULT_ORDER,
     "Lock of %R (%S) while %H is held (%O): %R precedes %H under resources; lock it first"},
    {TEAM_FAULT_NESTED,
     "Lock of %R (%S) while %H is held (%O): with locking: at_once lock all in one Lock"},
    {TEAM_FAULT_MEETING, "%T (%S) while %H is held (%O): another robot of the meeting may need "
                         "it; UnLock it before"},
    {TEAM_FAULT_DOUBLE_LOCK, "Lock of %R (%S), which is held already (%O); UnLock it before"},
    {TEAM_FAULT_NOT_OWNER, "UnLock of %R (%S), which is not held there; Lock it before"},
    {TEAM_FAULT_ZERO_TIME, "%S to %O loop in zero time; a task is needed between them"},
    {TEAM_FAULT_NOT_LEFT, "UnLock of %R (%S) follows %T (%O): the robot may still be there; "
                          "leave first, and say safe: true of that position or task"},
    {TEAM_FAULT_NOT_REACHED, "%S is never reached: the steps before it loop for ever"},
};

static const char *find_text(const struct team_params *p, const struct team_fault *fault)
{
    const struct team_step *at = fault->other < p->step_count ? &p->steps[fault->other] : NULL;
    for (size_t i = 0; i < COUNT(fault_rows); i++) {
        if (fault_rows[i].kind == fault->kind) {
            return fault_rows[i].text;
        }
    }
    if (fault->kind == TEAM_FAULT_DEADLOCK) {
        return at ? "Lock of %R (%S) while %H is held (%O) can end in a deadlock with a robot "
                    "that locks them otherwise; locking: ordered or at_once excludes it"
                  : "Lock of %R (%S) together with %H can end in a deadlock with a robot that "
                    "locks them one by one; locking: ordered or at_once excludes it";
    }
    if (!at) {
        return "Lock of %R (%S) is never released: UnLock it before the sequence ends or loops "
               "for ever";
    }
    return at->kind == TEAM_STEP_TAKE && at->retry_us == 0
               ? "Lock of %R (%S) is still held at %O, where the sequence ends when there is "
                 "no "
                 "part: UnLock it before"
               : "Lock of %R (%S) still holds at %O when it is reached on one way, and not on "
                 "another: UnLock it on all";
}

void team_fault_text(const struct team_params *p, const struct team_fault *fault,
                     char out[TEAM_FAULT_TEXT_MAX])
{
    static const char marks[] = "SORHT";
    char words[COUNT(marks) - 1][PLACE_MAX] = {""};
    size_t used = 0;
    if (fault->kind == TEAM_FAULT_TOO_LARGE) {
        (void)snprintf(out, TEAM_FAULT_TEXT_MAX,
                       "sequence %s cannot be checked: at most %d steps times parts of "
                       "conditions and %d resources held at once are",
                       p->sequences[fault->sequence].name, TEAM_PATH_STATES_MAX, TEAM_HELD_MAX);
        return;
    }
    write_place(p, fault->step, words[0]);
    write_place(p, fault->other, words[1]);
    write_resource(p, fault->resource, words[2]);
    write_resource(p, fault->held, words[3]);
    if (fault->kind == TEAM_FAULT_MEETING || fault->kind == TEAM_FAULT_NOT_LEFT) {
        write_task(p, fault->kind == TEAM_FAULT_MEETING ? fault->step : fault->other, words[4]);
    }
    for (const char *c = find_text(p, fault); *c; c++) {
        const char *word = *c == '%' ? words[strchr(marks, *++c) - marks] : c;
        const int bytes = word == c ? 1 : (int)strlen(word);
        (void)snprintf(out + used, TEAM_FAULT_TEXT_MAX - used, "%.*s", bytes, word);
        used += strlen(out + used);
    }
}
