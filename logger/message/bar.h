/* logger/message/bar.h - a bar of a team's chart: what a robot did, waited for or held, from
 * when to when.
 *
 * Names are texts, so that a bar keeps its meaning in the store, over HTTP and in a chart after
 * the team's file has changed. Pure. docs/model/teams.md.
 */
#ifndef LOGGER_MESSAGE_BAR_H
#define LOGGER_MESSAGE_BAR_H

#include "base/text/names.h"
#include "logger/message/event.h"
#include "logger/message/json_write.h"

/* clang-format off */
#define BAR_KINDS(X)                                                                           \
    X(BAR_TASK, "task")     /* an activity of the robot */                                     \
    X(BAR_FAILED, "failed") /* one that failed or was halted */                                \
    X(BAR_WAIT, "wait")     /* the robot waited for the resource */                            \
    X(BAR_MEET, "meet")     /* the robot waited for others at a meeting */                     \
    X(BAR_HOLD, "hold")     /* the robot held the resource */                                  \
    X(BAR_AHEAD, "ahead")   /* a predicted activity that has not begun */
/* clang-format on */

enum bar_kind { BAR_KINDS(NAMES_VALUE) BAR_KIND_COUNT };

enum { BAR_NAME_MAX = 32 };

struct bar {
    enum bar_kind kind;
    char robot[BAR_NAME_MAX];
    char resource[BAR_NAME_MAX]; /* WAIT, HOLD; else "" */
    char task[BAR_NAME_MAX];     /* TASK, FAILED, AHEAD; of MEET the meeting; else "" */
    char arg[BAR_NAME_MAX];      /* "" : none */
    uint64_t number;             /* number of the activity; HOLD, WAIT: fence; 0: none yet */
    int64_t from_us, to_us;      /* from <= to */
    bool open;                   /* it continues: to_us is the present */
    /* Predicted begin (median) and end of an activity. */
    bool has_forecast;
    int64_t predicted_from_us, predicted_p05_us, predicted_p95_us;
};

/* Writes {"kind":"task","robot":…,"from":…,"to":…}; empty members are omitted. */
void bar_write_json(struct json_writer *w, const char *key, const struct bar *bar);

ENUM_NAMES_DECLARED(bar_kind);

#endif
