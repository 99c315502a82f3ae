/* twin/team/live/team_live.h - a team at work in the lab: its robots are pairs in link mode.
 *
 * The team decides (twin/team/step/team.h). Here its starts become commands to the pairs, as L1
 * would send them. The pairs' merged replies and signs of life become events of the team.
 * Requests of clients and people are applied and answered once each. The team's results are
 * emitted as effects. docs/model/teams.md, "Execution". The state is one block without
 * pointers, part of the lab's (checkpoint). Pure.
 */
#ifndef TWIN_TEAM_LIVE_TEAM_LIVE_H
#define TWIN_TEAM_LIVE_TEAM_LIVE_H

#include "base/text/names.h"
#include "logger/message/team_forecast.h"
#include "twin/pair/effect.h"
#include "twin/pair/pair.h"
#include "twin/team/step/team.h"
#include "twin/team/step/team_laps.h"

enum {
    TEAM_LIVE_COMMANDS = PAIR_OUTSTANDING_MAX, /* per robot, until their entries come */
    TEAM_LIVE_ANSWERS = 64,                    /* retained requests, plus two per robot */
    TEAM_LIVE_DETAIL_MAX = 160,
    TEAM_LIVE_BEHIND = 16, /* robots named in an answer */
    TEAM_LIVE_JOBS = 32,   /* per course, and */
    TEAM_LIVE_LAPS = 2048, /* activities per course; longer ones are not repeated */
    TEAM_LIVE_LAWS = 24,   /* kinds of activities per robot with stored durations */
    TEAM_LIVE_PAST = 64,   /* retained jobs, the latest */
    TEAM_LIVE_WORDS = TEAM_ROBOTS_MAX / 64
};

#define TEAM_LIVE_NO_PAIR UINT32_MAX

/* Purpose of a robot's command. An activity may need several commands in sequence. */
enum team_live_leg {
    TEAM_LIVE_LEG_NONE,
    TEAM_LIVE_LEG_LOCATE, /* a zero move, to learn the pose */
    TEAM_LIVE_LEG_GO,     /* turn, then distance */
    TEAM_LIVE_LEG_TURN,   /* to the heading of the position */
    TEAM_LIVE_LEG_OP      /* the task's own operation */
};

/* A sent command, retained for its entry. */
struct team_live_command {
    uint64_t id_hash;
    uint32_t n;               /* number of the activity; 0: a halt */
    bool arrived[SIDE_COUNT]; /* per side: the broker has the command for this robot */
    uint16_t task, arg;
    char job[EVENT_ID_MAX];
};

/* Durations of one kind of activity of a robot, and the turn and distance of moves. */
struct team_live_law {
    uint16_t task, arg;
    struct team_laps laps, turns, distances;
};

struct team_live_robot {
    uint32_t pair;     /* in the lab; TEAM_LIVE_NO_PAIR: it has none */
    uint64_t commands; /* ever sent: the last part of their ids, and what was skipped */
    uint32_t n;        /* of the activity in work; 0: none */
    uint16_t task, arg;
    uint8_t leg;             /* enum team_live_leg: of the running command */
    bool virtual_only;       /* the pair has no real robot, so its twin is the robot */
    bool over;               /* the activity has failed, but its command still runs */
    bool leg_due;            /* the next leg must begin */
    bool halt_due;           /* a halt must be sent now */
    bool halt_owed;          /* the robot has not confirmed the halt yet */
    bool gone;               /* the connection is lost */
    bool posed;              /* pose is known */
    double pose[3];          /* x_m, y_m, heading_rad from its last reply */
    int64_t start_us;        /* time to begin its sequence; LAB_TIME_MAX: none */
    char id[EVENT_ID_MAX];   /* running command; "": none */
    char halt[EVENT_ID_MAX]; /* running halt; "": none */
    char job[EVENT_ID_MAX];  /* present job; "": none, or one without id */
    struct team_live_command sent[TEAM_LIVE_COMMANDS]; /* ring */
    uint64_t doing;                                    /* number of the present job; 0: none */
    uint32_t law_count;
    struct team_live_law law[TEAM_LIVE_LAWS];
};

/* clang-format off */
#define TEAM_LIVE_GRANTS(X)                                                                         \
    X(TEAM_LIVE_OPEN, "")              /* not decided yet */                                        \
    X(TEAM_LIVE_QUEUED, "QUEUED")                                                                   \
    X(TEAM_LIVE_GRANTED, "GRANTED")                                                                 \
    X(TEAM_LIVE_REVOKED, "REVOKED")    /* the resources have been taken away */                     \
    X(TEAM_LIVE_REJECTED, "REJECTED")  /* nothing was done; see detail */                           \
    X(TEAM_LIVE_RELEASED, "RELEASED")  /* the unlock was done: the grant is over */                 \
    X(TEAM_LIVE_DONE, "DONE")          /* another request was done */
/* clang-format on */

/* The first five have the names of VDA 5050 3.0 (responses to zone requests). */
enum team_live_grant { TEAM_LIVE_GRANTS(NAMES_VALUE) TEAM_LIVE_GRANT_COUNT };

/* A request and its answer. */
struct team_live_answer {
    char id[EVENT_ID_MAX];
    uint64_t content; /* hash of the request */
    uint8_t op;       /* enum team_op */
    uint8_t grant;    /* enum team_live_grant */
    bool stale;       /* REJECTED: the fence is not the present one */
    uint16_t robot;   /* TEAM_NONE: none */
    uint16_t count;
    uint16_t resources[TEAM_WANT_MAX];
    uint16_t behind_count;             /* QUEUED: number of robots before it, */
    uint16_t behind[TEAM_LIVE_BEHIND]; /* and the first of them */
    uint64_t fences[TEAM_WANT_MAX];    /* fences of the grants; 0: not granted */
    int64_t t_us;
    int64_t lease_until_us; /* GRANTED: earliest end; LAB_TIME_MAX: no lease */
    char detail[TEAM_LIVE_DETAIL_MAX];
};

/* An activity and its duration on the robot's twin. */
struct team_live_lap {
    uint32_t n;
    uint16_t robot, task, arg;
    bool unknown; /* the twin did not answer */
    int64_t virtual_us;
};

/* The team's work since it was last idle. */
struct team_live_course {
    bool open;
    bool disturbed; /* an error, a loss or a person interfered, so it is not repeatable */
    int64_t began_us, ended_us;
    uint32_t owed; /* commands whose entry is still missing */
    uint32_t activities, laps, jobs;
    uint64_t first_job;  /* first job begun in it; the next number, if none was */
    uint32_t jobs_known; /* number of jobs at the time of the forecast, */
    bool learnt;         /* a duration became known meanwhile: predict again */
    bool has_forecast;   /* and the forecast: */
    struct forecast_range predicted;
    int64_t late_us; /* time from the beginning until it was made; 0: at the beginning */
    struct {
        int64_t t_us;
        struct team_job job;
    } job[TEAM_LIVE_JOBS]; /* jobs that came meanwhile */
    struct team_live_lap lap[TEAM_LIVE_LAPS];
};

/* Duration of a job, or of a course that has ended (the team is idle, and every twin has
 * answered). */
struct team_live_result {
    uint64_t number;  /* from 1; 0: none */
    int64_t began_us; /* a job: time of its assignment */
    int64_t real_us;  /* its makespan */
    /* Makespan with the twins' times; LAB_TIME_NONE: unknown. */
    int64_t virtual_us;
    uint32_t activities;
    /* Not comparable to the forecast: an error, a loss, a person, or a later job interfered. */
    bool disturbed;
    bool has_forecast;               /* forecast at its beginning: */
    struct forecast_range predicted; /* of the makespan */
    int64_t late_us; /* time from the beginning until it was made; above 0: not judged */
};

/* A running or completed job. */
struct team_live_job {
    struct team_live_result result;
    bool over;
    uint16_t robot;
    struct team_job job;
    /* During the repetition with the twins' times: its robot (TEAM_NONE: none) and begin. */
    uint16_t again_by;
    int64_t again_us;
};

/* A future activity by the last forecast before it began. Lab times. */
struct team_live_bar {
    uint32_t n;
    uint16_t robot, task, arg;
    int64_t from_us, p05_us, p95_us;
};

/* The team's forecast (team_live_predict.h). */
struct team_live_forecast {
    bool due;          /* something has begun in this step */
    uint64_t asked;    /* number of requested forecasts, */
    int64_t t_us;      /* time of the last request, */
    uint64_t received; /* and number of received ones */
    char detail[96];   /* why the newest has no end; "" */
    uint32_t bar_count;
    struct team_live_bar bar[TEAM_FORECAST_BARS];
};

/* How often forecasts were right. */
struct team_live_judged {
    uint64_t predicted, inside;
};

struct team_live_counts {
    uint64_t requests, repeated, rejected, malformed;
    uint64_t activities, commands, halts;
    uint64_t effects; /* effects of the team */
    uint64_t effect[TEAM_EFFECT_COUNT];
    uint64_t alarm[TEAM_ALARM_COUNT];
    uint64_t alarms;          /* recorded */
    uint64_t numbers_skipped; /* of alarms, and of commands in their ids */
};

/* Longest text of a life in ids, with its NUL. */
enum { TEAM_LIVE_LIFE_MAX = 20 };

/* The head of the state; robots, answers and the team itself are behind it. */
struct team_live {
    uint32_t index;      /* index of the team in the lab */
    uint32_t named;      /* index in effects: number of pairs of the lab, plus index */
    uint64_t version;    /* changes with every step */
    int64_t deadline_us; /* next deadline; LAB_TIME_MAX: none */
    uint64_t answers;    /* answers ever begun; ring */
    int64_t life_us;     /* first start of the daemon with this state, for ids; 0: none */
    bool leases;         /* some resource has a lease */
    int64_t start_us;    /* earliest start of a robot */
    uint64_t due[TEAM_LIVE_WORDS]; /* bit k: robot k has something to send */
    struct team_live_counts counts;
    struct team_live_result result; /* of the last course */
    struct team_live_course course;
    uint64_t jobs_begun;
    struct team_live_job job[TEAM_LIVE_PAST]; /* ring: number n at n % TEAM_LIVE_PAST */
    struct team_live_judged judged_courses, judged_jobs;
    struct team_live_forecast forecast;
    struct pair_alarm_rate alarm_rate[TEAM_ALARM_COUNT];
};

/* A step in progress. */
struct team_live_run {
    struct team_live *live;
    const struct team_params *p;
    const struct effects *fx;
    int64_t t_us;
    /* Sends a command to a pair, as if L1 had. Its effects return by
     * team_live_apply_reply(). */
    void (*command)(void *context, uint32_t pair, const struct event *event);
    void *context;
    void *scratch; /* team_live_scratch_bytes(), during the call; NULL: none */
};

/* Size of the state, a multiple of 64. */
size_t team_live_state_bytes(const struct team_params *p);
/* Size of the scratch memory that any of these teams needs while it works. */
size_t team_live_scratch_bytes(const struct team_params *teams, size_t count);
/* live: team_live_state_bytes(p) bytes, aligned to 64; p is borrowed as long as it exists. */
void team_live_init(struct team_live *live, const struct team_params *p, uint32_t index,
                    uint32_t named);
/* Assigns a pair, or only its virtual robot, to robot `robot`. */
void team_live_set_pair(struct team_live *live, const struct team_params *p, uint16_t robot,
                        uint32_t pair, bool virtual_only);
/* Numbers up to count may be known outside and are lost: alarms, ids of commands and fences go
 * on behind them. */
void team_live_skip_numbers(struct team_live *live, const struct team_params *p,
                            uint64_t count);
/* The daemon started. The first time ids get its time: robots may know those of an earlier
 * life, whose journal and checkpoint are lost. */
void team_live_mark_start(struct team_live *live, int64_t t_us);
/* The block was moved as bytes. */
void team_live_rebind(struct team_live *live, const struct team_params *p);

/* ---- events; call team_live_flush() after each of them ---- */

/* Applies EVENT_TEAM, EVENT_FORECAST, or EVENT_MALFORMED on a topic of the team. */
void team_live_apply_request(const struct team_live_run *run, const struct event *event);
/* Applies a message of the robot itself, not of its twin, before the pair receives it. */
void team_live_receive(const struct team_live_run *run, uint16_t robot,
                       const struct event *event);
/* Applies EFFECT_REPLY of the robot's pair. */
void team_live_apply_reply(const struct team_live_run *run, uint16_t robot,
                           const struct effect *effect);
/* Applies EFFECT_ENTRY of the robot's pair: labels the entry with its job and task. Entries of
 * other commands stay unchanged. */
void team_live_label_entry(const struct team_live_run *run, uint16_t robot,
                           struct entry *entry);
/* Fires what is due at live->deadline_us; call again until that is later than wanted. */
void team_live_fire(const struct team_live_run *run);
/* Sends the due commands and finds the next deadline. */
void team_live_flush(const struct team_live_run *run);

/* ---- reading ---- */

/* Re-emits this robot's commands that may not have reached the broker, because it has not
 * acknowledged them. */
void team_live_resend(const struct team_live *live, const struct team_params *p, uint16_t robot,
                      const struct pair *pair, const struct effects *fx);

const struct team *team_live_team(const struct team_live *live, const struct team_params *p);
const struct team_live_robot *team_live_robot(const struct team_live *live,
                                              const struct team_params *p, uint16_t robot);
/* Finds job number n; NULL: no longer retained. */
const struct team_live_job *team_live_find_job(const struct team_live *live, uint64_t number);
/* Has the entry a lap of this side from which durations can be learnt? */
bool team_live_lap_counts(const struct entry *entry, enum side side);
/* Was the makespan within P05 .. P95? 1, 0, or -1: no forecast, or not comparable. */
int team_live_result_inside(const struct team_live_result *result);
/* Finds the forecast of this activity; NULL: none. */
const struct team_live_bar *team_live_find_bar(const struct team_live *live, uint16_t robot,
                                               uint32_t n);
/* Finds the newest request with this id; NULL: no longer retained. */
const struct team_live_answer *team_live_find_answer(const struct team_live *live,
                                                     const struct team_params *p,
                                                     const char *id);

ENUM_NAMES_DECLARED(team_live_grant);

#endif
