/* twin/pair/clock_map.h - maps one robot's clock to lab time, with uncertainty.
 *
 * Every stamped message gives one pair (arrival on the lab's clock, stamp on the robot's).
 * Their difference is offset + drift + transport delay, and the delay is never negative: the
 * lower envelope of arrival - source is the clock, and the excess over it is transport. The
 * window is as long as the residuals of the envelope's line look random (runs test), and
 * shorter after a change. One-way stamps cannot show the constant part of the delay; answered
 * probes bound it. Model and equations: docs/model/clock.md.
 *
 * Plain data without pointers. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_PAIR_CLOCK_MAP_H
#define TWIN_PAIR_CLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"

enum { CLOCK_MAP_BUCKETS = 48 }; /* maximum; the line needs 10 */

struct clock_map_params {
    int64_t bucket_us;    /* > 0: one lowest point is stored per bucket, e.g. 1 s */
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
    CLOCK_MAP_JUMPED, /* the source clock was set; the map has restarted */
};

struct clock_map_point {
    int64_t t_us;     /* arrival, lab time */
    int64_t delay_us; /* arrival - source: offset and transport together */
};

/* Zeroed memory is an empty map. Times in microseconds; the *_sd are one sigma. */
struct clock_map {
    uint8_t state;        /* enum clock_map_state */
    uint8_t above;        /* > 0: a run of samples above the margin; stages that it must last */
    uint8_t above_agreed; /* stages that agree so far */
    uint8_t above_denied; /* an answered probe contradicts a jump in that run */
    uint8_t probed;       /* rtt_us, probe_*, path_us are valid */
    uint16_t count, first; /* ring of closed buckets */
    uint16_t used;         /* buckets used by the line; 0: offset of the lowest sample only */
    uint16_t above_count;  /* samples in the present stage of the run */
    struct clock_map_point open; /* lowest point of the open bucket */
    int64_t open_since_us;
    uint32_t fresh_count; /* samples since the map (re)started, saturating */
    /* The line: offset(t) = offset_us + drift * (t - at_us), offset = lab - robot, the fastest
     * delay included. */
    int64_t at_us;
    double offset_us;
    double drift;        /* s/s */
    double offset_us_sd; /* at at_us */
    double drift_sd;
    double jitter_us; /* 95 % point of transport above the envelope, weighted */
    /* Probes: the smallest recent round trip. */
    int64_t rtt_us;         /* valid if probed, like the next three */
    double probe_offset_us; /* lab - robot of that round trip, if symmetric */
    int64_t probe_at_us;
    double path_us; /* the fastest delay lies in 0..path_us */
    /* A run of consecutive samples above the margin: a slow network or a clock set back. */
    int64_t above_since_us;
    int64_t above_lowest_us; /* smallest excess of the present stage */
    int64_t above_before_us; /* of the previous stage; 0: this is the first */
    struct clock_map_point bucket[CLOCK_MAP_BUCKETS];
    /* All that follows survives a restart of the map, because the network has not changed. */
    uint64_t samples, jumps, restarts, probes, refused;
    int64_t last_jump_us; /* size of the last jump, > 0: source later than expected */
    int64_t last_jump_at_us;
    int64_t last_source_us, last_arrival_us; /* raw, of the newest sample; valid if state > 0 */
    double shape_inv; /* lower tail of the delays: 1 a sharp edge, towards 0 none */
    uint16_t shapes;  /* windows averaged in shape_inv, saturating */
};

/* The robot rebooted: clears the line and the probes, keeps the counters. */
void clock_map_restart(struct clock_map *map);

/* Adds one stamped message. Refused and counted are a missing or absurd stamp (LAB_TIME_NONE,
 * beyond +-LAB_TIME_S_LIMIT) and an arrival before the last one. Stamps of the robot may come
 * in any order. O(1); O(CLOCK_MAP_BUCKETS) if the sample closes a bucket. */
enum clock_map_outcome clock_map_sample(struct clock_map *map, const struct clock_map_params *p,
                                        int64_t arrival_us, int64_t source_us);

/* Adds one answered probe: sent and arrived on the lab's clock, received and replied on the
 * robot's. The answer counts as a sample, too: do not pass it to clock_map_sample(). Refused
 * are absurd stamps, and round trips below zero. */
enum clock_map_outcome clock_map_probe(struct clock_map *map, const struct clock_map_params *p,
                                       int64_t sent_us, int64_t source_received_us,
                                       int64_t source_sent_us, int64_t arrived_us);

/* Returns lab - robot at lab time t_us, in microseconds: the line, minus half of path_us if
 * probes are answered. NaN without a map. */
double clock_map_offset_us(const struct clock_map *map, int64_t t_us);

/* Returns the lab time of a source stamp; LAB_TIME_NONE without a map or for an absurd stamp.
 * Without probes it is late by the fastest delay, which one-way stamps cannot show. */
int64_t clock_map_to_lab(const struct clock_map *map, int64_t source_us);

/* Returns one sigma of clock_map_to_lab() at lab time t_us, in microseconds: that of the line,
 * and that of the fastest delay within 0..path_us if probes are answered. NaN without a map. */
double clock_map_sd_us(const struct clock_map *map, int64_t t_us);

/* Returns the transport of a message beyond the fastest, in microseconds, >= 0, with or without
 * probes; LAB_TIME_NONE without a map or for absurd stamps. */
int64_t clock_map_transport_us(const struct clock_map *map, int64_t arrival_us,
                               int64_t source_us);

/* Was the newest sample later than jump_us allows? A slow network, or a clock that was set
 * back; it is still undecided which. */
bool clock_map_is_implausible(const struct clock_map *map);

/* "none", "warming", "locked"; "unknown" for anything else. Never NULL. */
ENUM_NAMES_DECLARED(clock_map_state);

/* ---- the line of the map alone: the lower envelope of a window of points ----
 *
 * The points are the lowest (arrival - source) of each bucket of time; their noise is
 * one-sided. Equations 4 to 9 of docs/model/clock.md. */

enum {
    CLOCK_LINE_POINTS_MIN = 10 /* with fewer, a slope shows noise rather than the clock */
};

/* Stamps are whole microseconds: residuals of this size are rounding, not a pattern. */
#define CLOCK_LINE_QUANTUM_US 1.0

struct clock_line_points {
    size_t n;                       /* CLOCK_LINE_POINTS_MIN .. CLOCK_MAP_BUCKETS */
    double x_us[CLOCK_MAP_BUCKETS]; /* strictly ascending */
    double y_us[CLOCK_MAP_BUCKETS];
};

struct clock_line {
    size_t from, n;  /* it uses the points from .. from + n - 1, the newest included */
    double mid_us;   /* their mean x */
    double span_us;  /* last x - first x, > 0 */
    double level_us; /* at mid_us */
    double slope;
    double quartile_us, median_us; /* of the residuals, which are >= 0 */
};

/* Fits the line below the points with the smallest mean residual and |slope| <= slope_max. The
 * oldest points are dropped until the residuals look random, or CLOCK_LINE_POINTS_MIN are left.
 * Insertion sort: O(n^2), once per dropped point. */
void clock_line_fit(const struct clock_line_points *p, double slope_max,
                    struct clock_line *line);

/* ---- the speed of a simulator's time against lab time: its real-time factor ----
 *
 *     (1)  source = a + pace * lab + jitter
 *
 * Least squares over one point per second of the last PACE_POINTS seconds, short enough to
 * follow a change of the simulator's speed. Robots in real time have pace 1. docs/model/pair.md
 * section 5. */

enum { PACE_POINTS = 12 };

struct pace {       /* All zero is empty. */
    uint32_t count; /* total; ring */
    struct {
        int64_t t_us, source_us;
    } point[PACE_POINTS];
};

/* Adds a stamp of simulated time that arrived at lab time t_us. A stamp that goes back restarts
 * it. */
void pace_sample(struct pace *p, int64_t t_us, int64_t source_us);

/* Returns the slope and its standard error, widened as Student's interval is against the normal
 * one; false before seven seconds of data. O(PACE_POINTS). */
bool pace_read(const struct pace *p, double *ratio, double *se);

#endif
