/* service/robots/mission_log.h - what a mission did, leg by leg: replies as they come, then
 * laps and verdicts from the entries of the daemon; as lines, table and JSON. One thread. */
#ifndef SERVICE_ROBOTS_MISSION_LOG_H
#define SERVICE_ROBOTS_MISSION_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "logger/message/event.h"
#include "twin/robots/mission.h"

enum {
    MISSION_LOG_LEGS_MAX = 20000,
    MISSION_LOG_NOTES_MAX = 5000,
    MISSION_FROM_MAX = 12,
    MISSION_VERDICT_MAX = 16,
    MISSION_DETAIL_MAX = 128
};

/* A message of the merged reply. */
struct mission_answer {
    struct event_reply reply;
    char from[MISSION_FROM_MAX];
    char detail[MISSION_DETAIL_MAX];
};

/* The part of an entry that a leg takes over. */
struct mission_entry {
    char id[EVENT_ID_MAX];
    char verdict[MISSION_VERDICT_MAX];
    double real_lap_s, virtual_lap_s, lag_s;
};

/* One command and what came of it. */
struct mission_leg {
    struct event_command command;
    unsigned step; /* see struct mission_effect */
    int64_t sent_us;
    int64_t reply_us; /* LAB_TIME_NONE: there was none */
    enum reply_status status;
    char from[MISSION_FROM_MAX]; /* "real", "virtual", "tandem" */
    char detail[MISSION_DETAIL_MAX];
    double angle_rad, range_m;  /* of a ray, else NaN */
    double pose[3];             /* after it */
    bool compared;              /* its entry came */
    struct mission_entry entry; /* laps that do not exist are NaN */
};

/* An acknowledgement, a warning or an error of L1 or L2. */
struct mission_note {
    int64_t t_us;
    unsigned step, layer;
    enum mission_level level;
    char text[MISSION_TEXT_MAX];
};

struct mission_log { /* all zero is empty and may be freed */
    struct mission_leg *legs;
    size_t leg_count;
    struct mission_note *notes;
    size_t note_count;
    size_t left_out; /* what found no room */
    bool show;       /* lines on stdout as it happens */
};

void mission_log_free(struct mission_log *log);

void mission_log_effect(struct mission_log *log, const struct mission_effect *effect);

/* After the mission took it in: pose is the robot's from then on. */
void mission_log_answer(struct mission_log *log, const struct mission_answer *answer,
                        int64_t t_us, const double pose[3]);
void mission_log_entry(struct mission_log *log, const struct mission_entry *entry);

/* Has every leg that was answered its entry? */
bool mission_log_is_complete(const struct mission_log *log);

/* What stands over the report. */
struct mission_head {
    const char *name, *pair;
    const char *verdict; /* "done", "failed", "quit" or "unanswered" */
    int64_t start_us, end_us;
    uint64_t foreign_count; /* commands of somebody else */
    const struct mission *mission;
};

void mission_log_print(const struct mission_log *log, const struct mission_head *head);
void mission_log_write_json(const struct mission_log *log, const struct mission_head *head);

#endif
