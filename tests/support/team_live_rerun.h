/* tests/support/team_live_rerun.h - how long robots take by a golden trace, and another lab
 * that gets the messages of a rig (team_live_rig.h) again. */
#ifndef TESTS_SUPPORT_TEAM_LIVE_RERUN_H
#define TESTS_SUPPORT_TEAM_LIVE_RERUN_H

#include "tests/support/saved_lab.h"
#include "tests/support/team_live_rig.h"

static const char TEAM_LIVE_START[] = "{\"team\":\"cell\",\"op\":\"start\",\"id\":\"s1\"}";

/* {"R1": {"Move IB": 6230, "Go": ["fail", 3000], "Wait": null}} */
static inline bool golden_lap(struct rig *rig, uint16_t robot, const struct team_step *step,
                              int64_t *us, const char **status)
{
    const struct team_params *p = &rig->spec.p;
    const json_t *own =
        json_object_get(json_object_get(rig->head, "durations_ms"), p->robots[robot].name);
    const char *task = p->tasks[step->task].name;
    char key[2 * TEAM_NAME_MAX + 2];
    (void)snprintf(key, sizeof key, "%s %s", task, team_name(p, step->arg));
    const json_t *value = step->arg == TEAM_NONE ? NULL : json_object_get(own, key);
    value = value ? value : json_object_get(own, task);
    if (json_is_array(value)) {
        *status = "error";
        value = json_array_get(value, 1);
    }
    *us = 1000 * json_integer_value(value);
    return json_is_integer(value);
}

static inline void check_same(const char *row, const char *ours, const char *theirs)
{
    size_t at = 0;
    while (ours[at] && ours[at] == theirs[at]) {
        at++;
    }
    while (at > 0 && ours[at - 1] != '\n') {
        at--;
    }
    if (strcmp(ours, theirs) != 0) {
        (void)fprintf(stderr, "[%s]\n  ours:   %.300s\n  theirs: %.300s\n", row, ours + at,
                      theirs + at);
    }
    CHECK(row, strcmp(ours, theirs) == 0);
}

/* Another lab that gets the same messages: with ticks between them or without, and with its
 * state moved to a third lab before message `cut`. */
static inline void check_again(const struct rig *rig, bool ticks, size_t cut)
{
    static struct rig again;
    again = *rig;
    again.plain = true;
    again.log = malloc(RIG_TEXT);
    again.trace = malloc(RIG_TEXT);
    again.log_used = again.trace_used = 0;
    CU_ASSERT_FATAL(again.log && again.trace);
    rig_open_lab(&again);
    for (size_t k = 0; k < rig->journal_count; k++) {
        if (k == cut) {
            size_t bytes = 0;
            void *state = saved_lab(again.lab, &bytes);
            struct lab *old = again.lab;
            rig_open_lab(&again);
            CHECK_INT("load", lab_load(again.lab, state, bytes), STATUS_OK);
            free(old);
            free(state);
        }
        rig_step(&again, &rig->journal[k]);
        const int64_t next_us =
            k + 1 < rig->journal_count ? rig->journal[k + 1].t_us : LAB_TIME_MAX;
        if (ticks && rig->journal[k].t_us + 3 < next_us) {
            rig_tick(&again, rig->journal[k].t_us + 1);
            rig_tick(&again, rig->journal[k].t_us + 2);
        }
    }
    rig_tick(&again, lab_time(rig->lab));
    check_same("the same messages", again.log, rig->log);
    free(again.lab);
    free(again.log);
    free(again.trace);
}

#endif
