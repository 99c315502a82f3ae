/* twin/pair/pair_params.h - the options of a pair from the lab file: plain data.
 *
 * Defaults, ranges, help and the fingerprint come from their table,
 * config/labfile/lab_options.c.
 */
#ifndef TWIN_PAIR_PAIR_PARAMS_H
#define TWIN_PAIR_PAIR_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers/number.h"
#include "base/text/names.h"
#include "identification/model/allocation.h"
#include "identification/travel/travel_kalman.h"
#include "identification/travel/travel_time.h"
#include "logger/message/codec.h"
#include "logger/message/event.h"
#include "twin/map/live_map.h"
#include "twin/pair/clock_map.h"

struct world;   /* twin/sim/robot/world.h */
struct costmap; /* twin/map/costmap.h */

enum {
    PAIR_OUTSTANDING_MAX = 64, /* maximum of simultaneously open commands */
    PAIR_WINDOW_MAX = 128,     /* moves stored for the batch fit */
    PAIR_TOLERANCES_MAX = 12,
    PAIR_MAP_MAX = 128,
    PAIR_MISSIONS_MAX = 16, /* missions that may wait */
    PAIR_ARM_MAX = 16,
    DYNAMICS_MODEL_NAME_MAX = 28,
    DYNAMICS_WINDOW_MIN = 100, /* samples */
    DYNAMICS_WINDOW_MAX = 20000,
    FOLLOWING_NAME_MAX = 24,
    FOLLOWING_TEXT_MAX = 256
};

enum pair_kind {
    PAIR_DIFFDRIVE,
    PAIR_USV3,
    PAIR_JOINT,
    PAIR_FIRST_ORDER,
    PAIR_GENERIC,
    PAIR_KIND_COUNT
};

enum pair_mode {
    PAIR_OBSERVE, /* L1 sends commands to both robots itself; Tandem only listens */
    PAIR_LINK,    /* Tandem receives L1's command, sends it to both and merges the replies */
    PAIR_MODE_COUNT
};

/* When is the simulator's pose corrected to the real robot's? */
enum pair_correct {
    PAIR_CORRECT_OFF,
    PAIR_CORRECT_AFTER_INCONSISTENCY, /* after a move whose final poses disagree */
    PAIR_CORRECT_EACH_MOVE,
    PAIR_CORRECT_COUNT
};

enum pair_record {
    PAIR_SMART, /* entries and alarms */
    PAIR_ALL,   /* every event as well */
    PAIR_RECORD_COUNT
};

/* Link mode: are commands sent to a side? */
enum pair_presence {
    PAIR_AUTO, /* unless its connection topic says offline */
    PAIR_ALWAYS,
    PAIR_NEVER,
    PAIR_PRESENCE_COUNT
};

/* Who activates a candidate? */
enum pair_promotion {
    PAIR_PROMOTE_MANUAL, /* a person, over HTTP */
    PAIR_PROMOTE_AUTO,   /* Tandem, if its checks pass and it differs from the active set */
    PAIR_PROMOTION_COUNT
};

/* Forecasts of open commands over MQTT. */
enum pair_forecast_publish {
    PAIR_FORECAST_NONE,
    PAIR_FORECAST_LATE, /* once a command is later than predicted */
    PAIR_FORECAST_EACH, /* of each command */
    PAIR_FORECAST_PUBLISH_COUNT
};

/* Meaning of a side's `t`. */
enum pair_clock {
    PAIR_CLOCK_WALL,       /* real time, by the robot's own clock */
    PAIR_CLOCK_SIMULATION, /* simulated time, which may run faster or slower */
    PAIR_CLOCK_COUNT
};

/* Sides whose dynamics are identified. */
enum dynamics_sides {
    DYNAMICS_SIDES_REAL,
    DYNAMICS_SIDES_VIRTUAL,
    DYNAMICS_SIDES_BOTH,
    DYNAMICS_SIDES_COUNT
};

struct pair_dynamics_params {
    char model[DYNAMICS_MODEL_NAME_MAX]; /* a model of identification/model/model.h; "": not
                                            identified */
    uint8_t sides;                       /* enum dynamics_sides */
    uint8_t method;                      /* enum dynamics_method, its COUNT: auto */
    uint8_t hold;                        /* enum input_interpolation */
    uint8_t promote;                     /* enum pair_promotion */
    bool biases;
    bool refit_on_drift;
    bool plausible;    /* also for travel times: report values that look like another unit's */
    uint32_t window;   /* DYNAMICS_WINDOW_MIN .. DYNAMICS_WINDOW_MAX samples */
    int64_t window_us; /* > 0: samples are stored at intervals of window_us / window */
    int64_t refit_us;  /* between two fits; 0: only the first, on drift and on request */
    int64_t fit_timeout_us; /* > 0: time after which a fit is given up */
    int64_t stale_us;       /* > 0 */
    int64_t gap_us;         /* > 0 */
    int64_t excitation_us;  /* > 0 */
    double gate_sd;         /* > 0 */
    double drift_ratio;     /* > 0 */
};

/* Is any side identified? */
static inline bool pair_dynamics_wanted(const struct pair_dynamics_params *p)
{
    return p->model[0] != '\0';
}

struct pair_following_params {
    char model[FOLLOWING_NAME_MAX]; /* a model of identification/model/model.h; "": no following
                                     */
    bool active;                    /* from the start; else on request */
    uint8_t method;                 /* enum shadow_method of twin/following */
    double rate_hz;                 /* 1 .. 1000 */
    uint8_t rejection;              /* enum follower_rejection of twin/following */
    double bandwidth_radps, observer_radps, pose_per_s2, blend_s;
    char vessel[FOLLOWING_NAME_MAX]; /* vessel whose thrusters drive the simulated robot; "":
                                        none */
    char limits[FOLLOWING_TEXT_MAX]; /* "180, 0, 120": limit per effort; 0: cannot be driven */
    char noise[FOLLOWING_TEXT_MAX];  /* "0.03, 0.01": sd per measured velocity */
    char arm[FOLLOWING_NAME_MAX];    /* arm whose lengths are used: the pair's own */
    /* "wamv", "iacquabot", "ur5" or "d1=124.6, d2=…"; "": to be identified. */
    char real[FOLLOWING_TEXT_MAX], simulated[FOLLOWING_TEXT_MAX];
    int64_t stale_us, hold_us, ramp_us, latency_us;
    double target_m, target_ratio;
    int64_t target_us, window_us;
    /* Parsed from the texts: config/labfile/following_text.c. */
    struct allocation allocation;
    double noise_sd[MODEL_AXES_MAX];
    bool known[SIDE_COUNT]; /* theta is given */
    double theta[SIDE_COUNT][MODEL_PARAMETERS_MAX];
};

/* NULL: no following. */
static inline bool pair_following_wanted(const struct pair_following_params *p)
{
    return p && p->model[0] != '\0';
}

/* Options that every command and reply needs come first, before the long ones. */
struct pair_params {
    char id[EVENT_PAIR_MAX]; /* [A-Za-z0-9_-]{1,31} */
    enum pair_kind kind;
    enum pair_mode mode;
    enum pair_record record;
    enum pair_presence expected[SIDE_COUNT];
    enum pair_clock source_clock[SIDE_COUNT];
    enum pair_correct correct;
    char arm[PAIR_ARM_MAX];    /* an arm of identification/geometry/arm_geometry.h; "": none */
    int64_t sync_tolerance_us; /* >= 0: |lag| up to this is SYNC */
    int64_t timeout_us;        /* > 0, from a side's command to its reply */
    /* Reply values agree within this; < 0: default, pair_value_tolerance(). */
    double value_tolerance_abs;
    double value_tolerance_ratio; /* >= 0: or within this share of the larger one */
    int64_t link_cycle_us;        /* > 0: cycle time for counting the virtual robot's lag */
    int64_t probe_interval_us;    /* 0: no clock probes */
    uint32_t outstanding_max;     /* 1..PAIR_OUTSTANDING_MAX */
    uint32_t queue_max;           /* 1..PAIR_OUTSTANDING_MAX: commands waiting at one side */
    uint32_t window;              /* 20..PAIR_WINDOW_MAX moves in the batch fit */
    uint32_t propose_every;       /* auto: >= 1 moves of the real robot between two proposals */
    uint32_t publish_every;       /* >= 1: entries between two calibration effects */
    enum pair_forecast_publish forecast_publish;
    enum pair_promotion promote;
    enum parameter_form form; /* its COUNT: as the simulator's ack says, else absolute */
    enum travel_method method;
    enum travel_motion motion; /* kinds of motion of its moves; ignored for arms */
    struct travel_kalman_params kalman;
    struct clock_map_params clock;
    /* Instead of both tolerances: by a value's name or, with a leading _, its unit;
     * docs/protocol/reply.md. */
    struct named_number tolerances[PAIR_TOLERANCES_MAX];
    struct pair_dynamics_params dynamics;
    /* Borrowed, and shared by most pairs; NULL: no following. */
    const struct pair_following_params *following;
    char codec[CODEC_NAME_MAX];    /* codec of its robots: a name of codecs.h, */
    struct codec_options speaks;   /* and the codec's options */
    char map[PAIR_MAP_MAX];        /* file of their world; "": none */
    const struct world *world;     /* that map, for missions; borrowed, NULL: none */
    const struct costmap *costmap; /* likewise, if it has cells */
    uint32_t missions_max;         /* 0..PAIR_MISSIONS_MAX that may wait; 0: it takes none */
    struct live_map_params live_map; /* a map of their sweeps */
    /* Versions of both programs while their connections name none; "": unknown. */
    char version[SIDE_COUNT][EVENT_VERSION_MAX];
};

/* Are its robots arms of six joints? */
static inline bool pair_is_arm(const struct pair_params *p)
{
    return p->arm[0] != '\0';
}

/* For an arm the filter tracks the ratio of actual to commanded durations. */
static inline struct travel_kalman_params pair_kalman_params(const struct pair_params *p)
{
    struct travel_kalman_params kalman = p->kalman;
    kalman.nominal_w_radps = pair_is_arm(p) ? 1.0 : kalman.nominal_w_radps;
    kalman.nominal_v_mps = pair_is_arm(p) ? 1.0 : kalman.nominal_v_mps;
    return kalman;
}

/* The default for arms: commands are given to a milliradian, poses to a millimetre. */
static inline double pair_value_tolerance(const struct pair_params *p)
{
    return p->value_tolerance_abs >= 0.0 ? p->value_tolerance_abs
           : pair_is_arm(p)              ? 0.002
                                         : 0.02;
}

ENUM_NAMES_DECLARED(pair_kind);
ENUM_NAMES_DECLARED(pair_mode);

#endif
