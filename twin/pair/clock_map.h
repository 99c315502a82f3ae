/* twin/pair/clock_map.h - maps one robot's clock onto lab time, with uncertainty.
 *
 * Every stamped message gives one pair (arrival on the lab's clock, stamp on the robot's).
 * Their difference is offset + drift + transport delay, and delay is never negative: the lower
 * envelope of arrival - source is the clock, what lies above it is transport. The window is as
 * long as the residuals of the envelope's line look random (runs test), shorter after a change.
 * One-way stamps cannot show the constant part of the delay; answered probes bound it. Model
 * and equations: docs/model/clock.md.
 *
 * Plain data without pointers. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_PAIR_CLOCK_MAP_H
#define TWIN_PAIR_CLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"

enum { CLOCK_MAP_BUCKETS = 48 }; /* at most; the line needs 10 */

struct clock_map_params {
    int64_t bucket_us;    /* > 0: one lowest point is kept per bucket, e.g. 1 s */
    int64_t jump_us;      /* > 0: a step of the source clock larger than this is a jump */
    double drift_ppm_max; /* > 0: prior bound of the drift, e.g. 500 */
};

enum clock_map_state {
    CLOCK_MAP_NONE,    /* no stamps yet */
    CLOCK_MAP_WARMING, /* offset only; drift unknown */
    CLOCK_MAP_LOCKED   /* offset and drift */
};

enum clock_map_outcome {
    CLOCK_MAP_FINE,
    CLOCK_MAP_JUMPED, /* the source clock was set; the map has started anew */
};

struct clock_map_point {
    int64_t t_us;     /* arrival, lab time */
    int64_t delay_us; /* arrival - source: offset and transport together */
};

/* Zeroed memory is an empty map. Times in microseconds; the *_sd are one sigma. */
struct clock_map {
    uint8_t state;         /* enum clock_map_state */
    uint8_t above;         /* > 0: a run of samples above the margin; stages it must last */
    uint8_t above_agreed;  /* stages that agree so far */
    uint8_t above_denied;  /* an answered probe speaks against that run being a jump */
    uint8_t probed;        /* rtt_us, probe_*, path_us are valid */
    uint16_t count, first; /* ring of closed buckets */
    uint16_t used;         /* buckets the line rests on; 0: offset of the lowest sample only */
    uint16_t above_count;  /* samples in the present stage of the run */
    struct clock_map_point open; /* lowest of the bucket being filled */
    int64_t open_since_us;
    uint32_t fresh_count; /* samples since the map (re)started, saturating */
    /* The line: offset(t) = offset_us + drift * (t - at_us), offset = lab - robot, the fastest
     * delay included. */
    int64_t at_us;
    double offset_us;
    double drift;        /* s/s */
    double offset_us_sd; /* at at_us */
    double drift_sd;
    double jitter_us; /* 95 % of the transport above the envelope, exponentially weighted */
    /* Probes: the smallest round trip of the recent ones. */
    int64_t rtt_us;         /* valid when probed, as the next three */
    double probe_offset_us; /* lab - robot of that round trip, symmetric */
    int64_t probe_at_us;
    double path_us; /* the fastest delay lies in 0..path_us */
    /* A run of consecutive samples above the margin: a slow network or a clock set back. */
    int64_t above_since_us;
    int64_t above_lowest_us; /* smallest excess of the present stage */
    int64_t above_before_us; /* of the stage before; 0: this is the first */
    struct clock_map_point bucket[CLOCK_MAP_BUCKETS];
    /* What follows stays when the map starts anew; the network has not changed. */
    uint64_t samples, jumps, restarts, probes, refused;
    int64_t last_jump_us; /* size of the last jump, source later than expected > 0 */
    int64_t last_jump_at_us;
    int64_t last_source_us,
        last_arrival_us; /* raw, of the newest sample; valid when state > 0 */
    double shape_inv;    /* of the lower tail of the delays: 1 a sharp edge, towards 0 none */
    uint16_t shapes;     /* windows that shape_inv averages, saturating */
};

/* The robot rebooted: forget the line and the probes, keep the counters. */
void clock_map_restart(struct clock_map *map);

/* One stamped message. Refused, and counted as such: a missing or absurd stamp (LAB_TIME_NONE,
 * beyond +-LAB_TIME_S_LIMIT) and an arrival before the last one. Stamps of the robot may come
 * in any order. O(1); O(CLOCK_MAP_BUCKETS) when the sample closes a bucket. */
enum clock_map_outcome clock_map_sample(struct clock_map *map, const struct clock_map_params *p,
                                        int64_t arrival_us, int64_t source_us);

/* One answered probe: sent and arrived on the lab's clock, received and replied on the robot's.
 * The answer is a sample too and is taken as one: do not hand it to clock_map_sample() again.
 * Refused: absurd stamps, and round trips below zero. */
enum clock_map_outcome clock_map_probe(struct clock_map *map, const struct clock_map_params *p,
                                       int64_t sent_us, int64_t source_received_us,
                                       int64_t source_sent_us, int64_t arrived_us);

/* lab - robot at lab time t_us, in microseconds: the line, less half of path_us when probes are
 * answered. NaN without a map. */
double clock_map_offset_us(const struct clock_map *map, int64_t t_us);

/* Lab time of a source stamp; LAB_TIME_NONE without a map or for an absurd stamp. Without
 * probes it is late by the fastest delay, which nothing in one-way stamps can show. */
int64_t clock_map_to_lab(const struct clock_map *map, int64_t source_us);

/* One sigma of clock_map_to_lab() at lab time t_us, in microseconds: the line's own, and that
 * of the fastest delay within 0..path_us when probes are answered. NaN without a map. */
double clock_map_sd_us(const struct clock_map *map, int64_t t_us);

/* Transport of a message beyond the fastest, in microseconds, >= 0, with probes or without;
 * LAB_TIME_NONE without a map or for absurd stamps. */
int64_t clock_map_transport_us(const struct clock_map *map, int64_t arrival_us,
                               int64_t source_us);

/* The newest sample was later than jump_us allows: a slow network, or a clock that was set
 * back; which of the two is not known yet. */
bool clock_map_is_implausible(const struct clock_map *map);

/* "none", "warming", "locked"; "unknown" for anything else. Never NULL. */
extern const struct names clock_map_state_names;
const char *clock_map_state_name(enum clock_map_state state);

/* ---- the line of the map alone: the lower envelope of a window of points ----
 *
 * The points are the lowest (arrival - source) of each bucket of time; their noise is
 * one-sided. Equations 4 to 9 of docs/model/clock.md. */

enum {
    CLOCK_LINE_POINTS_MIN = 10 /* below, a slope says more about noise than about the clock */
};

/* Stamps are whole microseconds: residuals of this size are rounding, not a pattern. */
#define CLOCK_LINE_QUANTUM_US 1.0

struct clock_line_points {
    size_t n;                       /* CLOCK_LINE_POINTS_MIN .. CLOCK_MAP_BUCKETS */
    double x_us[CLOCK_MAP_BUCKETS]; /* strictly ascending */
    double y_us[CLOCK_MAP_BUCKETS];
};

struct clock_line {
    size_t from, n;  /* it rests on the points from .. from + n - 1, the newest included */
    double mid_us;   /* mean x of these */
    double span_us;  /* last x - first x, > 0 */
    double level_us; /* at mid_us */
    double slope;
    double quartile_us, median_us; /* of the residuals, which are >= 0 */
};

/* Line below the points with the smallest mean residual and |slope| <= slope_max. The oldest
 * points are dropped until the residuals look random, or CLOCK_LINE_POINTS_MIN are left.
 * Sorts by insertion: O(n^2), once per point that is dropped. */
void clock_line_fit(const struct clock_line_points *p, double slope_max,
                    struct clock_line *line);

/* ---- how fast a simulator's time runs against lab time: its real-time factor ----
 *
 *     (1)  source = a + pace * lab + jitter
 *
 * Least squares over one point per second of the last PACE_POINTS seconds, as fresh as a change
 * of the simulator's speed needs. Robots that live in real time have pace 1. docs/model/pair.md
 * section 5. */

enum { PACE_POINTS = 12 };

struct pace {       /* all zero is empty */
    uint32_t count; /* ever; ring */
    struct {
        int64_t t_us, source_us;
    } point[PACE_POINTS];
};

/* One stamp of simulated time, arrived at lab time t_us. A stamp that goes back starts anew. */
void pace_sample(struct pace *p, int64_t t_us, int64_t source_us);

/* The slope and its standard error, wider by as much as Student's interval is than the normal
 * one; false until seven seconds were seen. O(PACE_POINTS). */
bool pace_read(const struct pace *p, double *ratio, double *se);

#endif
