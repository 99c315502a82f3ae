/* twin/team/live/team_live.h - a team at work in the lab: its robots are pairs in link mode.
 *
 * The team decides (twin/team/step/team.h); here its starts become commands to the pairs, as L1
 * would send them, the pairs' merged replies and signs of life become its events, requests of
 * clients and people are taken in and answered, once each, and what it did goes out as effects.
 * docs/model/teams.md, "Execution". The state is one block without pointers, part of the
 * lab's (checkpoint). Pure.
 */
#ifndef TWIN_TEAM_LIVE_TEAM_LIVE_H
#define TWIN_TEAM_LIVE_TEAM_LIVE_H

#include "logger/message/team_forecast.h"
#include "twin/pair/effect.h"
#include "twin/pair/pair.h"
#include "twin/team/step/team.h"
#include "twin/team/step/team_laps.h"

enum {
    TEAM_LIVE_COMMANDS = PAIR_OUTSTANDING_MAX, /* of a robot, remembered for their entries */
    TEAM_LIVE_ANSWERS = 64,                    /* requests remembered, and two a robot more */
    TEAM_LIVE_DETAIL_MAX = 160,
    TEAM_LIVE_BEHIND = 16, /* robots named in an answer */
    TEAM_LIVE_JOBS = 32,   /* of a course, and */
    TEAM_LIVE_LAPS = 2048, /* activities; longer ones are not run again with the twins' times */
    TEAM_LIVE_LAWS = 24,   /* kinds of activities of a robot whose laps are known by heart */
    TEAM_LIVE_PAST = 64,   /* jobs that were begun last */
    TEAM_LIVE_WORDS = TEAM_ROBOTS_MAX / 64
};

#define TEAM_LIVE_NO_PAIR UINT32_MAX

/* What a robot's command is for: an activity may take several, one after the other. */
enum team_live_leg {
    TEAM_LIVE_LEG_NONE,
    TEAM_LIVE_LEG_LOCATE, /* a move of nothing: where does it stand? */
    TEAM_LIVE_LEG_GO,     /* turn, then way */
    TEAM_LIVE_LEG_TURN,   /* to the heading of the position */
    TEAM_LIVE_LEG_OP      /* the task's own operation */
};

/* A command that was sent, for the entry that comes of it. */
struct team_live_command {
    uint64_t id_hash;
    uint32_t n;               /* of the activity; 0: a halt */
    bool arrived[SIDE_COUNT]; /* the broker has what was sent to this robot */
    uint16_t task, arg;
    char job[EVENT_ID_MAX];
};

/* How long one kind of activity took a robot, and of moves how far they turned and went. */
struct team_live_law {
    uint16_t task, arg;
    struct team_laps laps, turns, distances;
};

struct team_live_robot {
    uint32_t pair;     /* in the lab; TEAM_LIVE_NO_PAIR: it has none */
    uint64_t commands; /* ever sent: the last part of their ids, and what was skipped */
    uint32_t n;        /* of the activity in work; 0: none */
    uint16_t task, arg;
    uint8_t leg;             /* enum team_live_leg: of the command in work */
    bool virtual_only;       /* the pair has no real robot: its twin stands for it */
    bool over;               /* the activity has failed, though its command is in work */
    bool leg_due;            /* the next leg is to begin */
    bool halt_due;           /* a halt is to be sent now */
    bool halt_owed;          /* and was not answered by the robot yet */
    bool gone;               /* its connection said so */
    bool posed;              /* pose is known */
    double pose[3];          /* x_m, y_m, heading_rad by its last reply */
    int64_t start_us;        /* it is to begin its sequence then; LAB_TIME_MAX: no */
    char id[EVENT_ID_MAX];   /* of the command in work; "": none */
    char halt[EVENT_ID_MAX]; /* of the halt in work; "": none */
    char job[EVENT_ID_MAX];  /* that it does; "": none, or one without id */
    struct team_live_command sent[TEAM_LIVE_COMMANDS]; /* ring */
    uint64_t doing;         /* number of the job that it does; 0: none */
    struct team_laps extra; /* by which laps of moves are longer than the motion */
    uint32_t law_count;
    struct team_live_law law[TEAM_LIVE_LAWS];
};

/* clang-format off */
#define TEAM_LIVE_GRANTS(X)                                                                         \
    X(TEAM_LIVE_OPEN, "")              /* not decided yet */                                        \
    X(TEAM_LIVE_QUEUED, "QUEUED")                                                                   \
    X(TEAM_LIVE_GRANTED, "GRANTED")                                                                 \
    X(TEAM_LIVE_REVOKED, "REVOKED")    /* the resources are another's from now on, or nobody's */   \
    X(TEAM_LIVE_REJECTED, "REJECTED")  /* nothing was done; detail says why */                      \
    X(TEAM_LIVE_RELEASED, "RELEASED")  /* an unlock was done: the grant is over */                  \
    X(TEAM_LIVE_DONE, "DONE")          /* another request was done */
/* clang-format on */

/* The first five in VDA 5050's words (3.0, responses to zone requests). */
enum team_live_grant { TEAM_LIVE_GRANTS(NAMES_VALUE) TEAM_LIVE_GRANT_COUNT };

/* A request, and what it was answered. */
struct team_live_answer {
    char id[EVENT_ID_MAX];
    uint64_t content; /* hash of what was asked */
    uint8_t op;       /* enum team_op */
    uint8_t grant;    /* enum team_live_grant */
    bool stale;       /* REJECTED: its fence is not the present one */
    uint16_t robot;   /* TEAM_NONE: none */
    uint16_t count;
    uint16_t resources[TEAM_WANT_MAX];
    uint16_t behind_count;             /* QUEUED: behind so many robots, */
    uint16_t behind[TEAM_LIVE_BEHIND]; /* the first of them */
    uint64_t fences[TEAM_WANT_MAX];    /* of the grants; 0: not granted */
    int64_t t_us;
    int64_t lease_until_us; /* of GRANTED: the earliest; LAB_TIME_MAX: no lease */
    char detail[TEAM_LIVE_DETAIL_MAX];
};

/* An activity, and how long its robot's twin took for it. */
struct team_live_lap {
    uint32_t n;
    uint16_t robot, task, arg;
    bool unknown; /* the twin did not answer */
    int64_t virtual_us;
};

/* What the team has done since somebody began when nobody was at work. */
struct team_live_course {
    bool open;
    bool disturbed; /* by an error, a loss, a person: it would not go so again */
    int64_t began_us, ended_us;
    uint32_t owed; /* commands without their entry yet */
    uint32_t activities, laps, jobs;
    uint64_t first_job;  /* begun in it; the next one's number, if none was */
    uint32_t jobs_known; /* when it was foretold, */
    bool has_forecast;   /* and how: */
    struct forecast_range predicted;
    struct {
        int64_t t_us;
        struct team_job job;
    } job[TEAM_LIVE_JOBS]; /* that came meanwhile */
    struct team_live_lap lap[TEAM_LIVE_LAPS];
};

/* How long something took: a course of the team, which has ended (nobody is at work, every twin
 * has answered), or a job. */
struct team_live_result {
    uint64_t number;  /* from 1; 0: none */
    int64_t began_us; /* a job: when a robot got it */
    int64_t real_us;  /* its makespan */
    /* What it would have been, had the robots been their twins; LAB_TIME_NONE: not known. */
    int64_t virtual_us;
    uint32_t activities;
    /* Not what was foretold: by an error, a loss, a person, a job that came later. */
    bool disturbed;
    bool has_forecast;               /* at its beginning: */
    struct forecast_range predicted; /* the makespan */
};

/* A job that a robot does, or has done. */
struct team_live_job {
    struct team_live_result result;
    bool over;
    uint16_t robot;
    struct team_job job;
    /* While it is run again with the twins' times: who does it, TEAM_NONE: nobody; since when.
     */
    uint16_t again_by;
    int64_t again_us;
};

/* An activity ahead, as it was foretold last before it began. Lab times. */
struct team_live_bar {
    uint32_t n;
    uint16_t robot, task, arg;
    int64_t from_us, p05_us, p95_us;
};

/* What was foretold of the team (team_live_predict.h). */
struct team_live_forecast {
    bool due;          /* something has begun in this step */
    uint64_t asked;    /* forecasts wanted so far, */
    int64_t t_us;      /* the last one since then, */
    uint64_t received; /* and the newest that came */
    char detail[96];   /* why that one does not say when the team will end; "" */
    uint32_t bar_count;
    struct team_live_bar bar[TEAM_FORECAST_BARS];
};

/* How often what was foretold was so. */
struct team_live_judged {
    uint64_t predicted, inside;
};

struct team_live_counts {
    uint64_t requests, repeated, rejected, malformed;
    uint64_t activities, commands, halts;
    uint64_t effects; /* of the team */
    uint64_t effect[TEAM_EFFECT_COUNT];
    uint64_t alarm[TEAM_ALARM_COUNT];
    uint64_t alarms;          /* recorded */
    uint64_t numbers_skipped; /* of alarms, and of commands in their ids */
};

/* The head of the state; robots, answers and the team itself stand behind it. */
struct team_live {
    uint32_t index;                /* of the team in the lab */
    uint32_t named;                /* in effects: number of pairs of the lab, and index */
    uint64_t version;              /* changes with every step */
    int64_t deadline_us;           /* the next one; LAB_TIME_MAX: none */
    uint64_t answers;              /* ever given room; ring */
    bool leases;                   /* there are resources with one */
    int64_t start_us;              /* the earliest of its robots' */
    uint64_t due[TEAM_LIVE_WORDS]; /* bit k: something is to be sent to robot k */
    struct team_live_counts counts;
    struct team_live_result result; /* the last course's */
    struct team_live_course course;
    uint64_t jobs_begun;
    struct team_live_job job[TEAM_LIVE_PAST]; /* ring: number n at n % TEAM_LIVE_PAST */
    struct team_live_judged judged_courses, judged_jobs;
    struct team_live_forecast forecast;
    struct {
        double tokens;
        int64_t t_us;
        uint64_t suppressed;
    } alarm_rate[TEAM_ALARM_COUNT];
};

/* A step in progress. */
struct team_live_run {
    struct team_live *live;
    const struct team_params *p;
    const struct effects *fx;
    int64_t t_us;
    /* A command for a pair, as if L1 had sent it; its effects come back by
     * team_live_apply_reply().
     */
    void (*command)(void *context, uint32_t pair, const struct event *event);
    void *context;
    void *scratch; /* team_live_scratch_bytes(), for the time of the call; NULL: none */
};

/* Bytes of its state, a multiple of 64. */
size_t team_live_state_bytes(const struct team_params *p);
/* Of what any of these teams needs while it works; not of its state. */
size_t team_live_scratch_bytes(const struct team_params *teams, size_t count);
/* crew: team_live_state_bytes(p) bytes, aligned to 64; p is borrowed as long as it lives. */
void team_live_init(struct team_live *live, const struct team_params *p, uint32_t index,
                    uint32_t named);
/* Robot `robot` is this pair, or only its virtual robot. */
void team_live_set_pair(struct team_live *live, const struct team_params *p, uint16_t robot,
                        uint32_t pair, bool virtual_only);
/* Numbers up to count may be known outside and are lost: alarms, ids of commands and fences go
 * on behind them. */
void team_live_skip_numbers(struct team_live *live, const struct team_params *p,
                            uint64_t count);
/* The block was moved as bytes. */
void team_live_rebind(struct team_live *live, const struct team_params *p);

/* ---- what happens; team_live_flush() after each of them ---- */

/* EVENT_TEAM, EVENT_FORECAST, or EVENT_MALFORMED on one of the team's topics. */
void team_live_apply_request(const struct team_live_run *run, const struct event *event);
/* A message of the robot itself, not of its twin (crew_hears()), before the pair takes it in.
 */
void team_live_receive(const struct team_live_run *run, uint16_t robot,
                       const struct event *event);
/* EFFECT_REPLY of the robot's pair. */
void team_live_apply_reply(const struct team_live_run *run, uint16_t robot,
                           const struct effect *effect);
/* EFFECT_ENTRY of the robot's pair: for which job and task its command was is written into it;
 * others are left alone. */
void team_live_label_entry(const struct team_live_run *run, uint16_t robot,
                           struct entry *entry);
/* Fire what is due at crew->deadline_us; call again until that is later than wanted. */
void team_live_fire(const struct team_live_run *run);
/* Send the commands that are due, and find the next deadline. */
void team_live_flush(const struct team_live_run *run);

/* ---- reading ---- */

/* Say again which commands of this robot are to be sent to its pair that may never have left:
 * the broker has not said that it has them. */
void team_live_resend(const struct team_live *live, const struct team_params *p, uint16_t robot,
                      const struct pair *pair, const struct effects *fx);

const struct team *team_live_team(const struct team_live *live, const struct team_params *p);
const struct team_live_robot *team_live_robot(const struct team_live *live,
                                              const struct team_params *p, uint16_t robot);
/* Job number n; NULL: it is not remembered. */
const struct team_live_job *team_live_find_job(const struct team_live *live, uint64_t number);
/* Was the makespan within P05 .. P95? 1, 0, or -1: nothing was foretold, or it went another way
 * than was foretold. */
int team_live_result_inside(const struct team_live_result *result);
/* How this activity was foretold; NULL: it was not. */
const struct team_live_bar *team_live_find_bar(const struct team_live *live, uint16_t robot,
                                               uint32_t n);
/* The newest request with this id; NULL: it is not remembered. */
const struct team_live_answer *team_live_find_answer(const struct team_live *live,
                                                     const struct team_params *p,
                                                     const char *id);

extern const struct names team_live_grant_names;
const char *team_live_grant_name(enum team_live_grant grant);

#endif
