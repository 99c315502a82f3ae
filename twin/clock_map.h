/* twin/clock_map.h - maps one robot's clock onto lab time, with uncertainty.
 *
 * Every stamped message gives one pair (arrival on the lab's clock, stamp on the robot's).
 * Their difference is offset + drift + transport delay, and delay is never negative: the lower
 * envelope of arrival - source is the clock, what lies above it is transport. The window is as
 * long as the residuals of the envelope's line look random (runs test), shorter after a change.
 * Answered probes bound the constant part of the delay: offset within +- rtt/2. Model and
 * equations: docs/model/clock.md.
 *
 * Plain data without pointers. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_CLOCK_MAP_H
#define TWIN_CLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLOCK_MAP_BUCKETS = 48 };

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

enum clock_map_news {
    CLOCK_MAP_FINE,
    CLOCK_MAP_JUMPED, /* the source clock was set; the map has started anew */
};

struct clock_map_point {
    int64_t t_us;     /* arrival, lab time */
    int64_t delay_us; /* arrival - source: offset and transport together */
};

struct clock_map {
    uint8_t state;         /* enum clock_map_state */
    uint16_t count, first; /* ring of closed buckets */
    struct clock_map_point bucket[CLOCK_MAP_BUCKETS];
    struct clock_map_point open; /* lowest of the bucket being filled */
    int64_t open_since_us;
    uint32_t open_count;
    /* The line: offset(t) = offset_us + drift * (t - at_us), offset = lab - robot. */
    int64_t at_us;
    double offset_us;
    double drift;        /* s/s */
    double offset_us_sd; /* at at_us */
    double drift_sd;
    double jitter_us; /* 95 % of the transport above the envelope, exponentially weighted */
    uint16_t used;    /* buckets the line rests on */
    /* Probes: the smallest round trip of the recent ones. */
    int64_t rtt_us;         /* LAB_TIME_NONE before the first answer */
    double probe_offset_us; /* lab - robot of that round trip, symmetric */
    int64_t probe_at_us;
    /* Candidate for a jump back: consecutive samples far above the envelope. */
    uint16_t above_count;
    int64_t above_lowest_us;
    uint64_t samples, jumps, restarts, probes, refused;
    int64_t last_jump_us; /* size of the last jump, source later than expected > 0 */
    int64_t last_jump_at_us;
    int64_t last_source_us, last_arrival_us; /* raw, of the newest sample */
};

void clock_map_reset(struct clock_map *map);

/* The robot rebooted: forget the line, keep the counters. */
void clock_map_restart(struct clock_map *map);

/* One stamped message. Stamps that go back in arrival time are refused (counted). */
enum clock_map_news clock_map_sample(struct clock_map *map, const struct clock_map_params *p,
                                     int64_t arrival_us, int64_t source_us);

/* One answered probe: sent and arrived on the lab's clock, received and replied on the robot's.
 */
enum clock_map_news clock_map_probe(struct clock_map *map, const struct clock_map_params *p,
                                    int64_t sent_us, int64_t source_received_us,
                                    int64_t source_sent_us, int64_t arrived_us);

/* Lab time of a source stamp; LAB_TIME_NONE without a map. */
int64_t clock_map_to_lab(const struct clock_map *map, int64_t source_us);

/* One sigma of clock_map_to_lab() at lab time t_us, in microseconds: the line's own, and half
 * the smallest round trip when probes are answered. NaN without a map. */
double clock_map_sd_us(const struct clock_map *map, int64_t t_us);

/* Transport of a message beyond the fastest, in microseconds, >= 0; LAB_TIME_NONE without a
 * map. */
int64_t clock_map_transport_us(const struct clock_map *map, int64_t arrival_us,
                               int64_t source_us);

const char *clock_map_state_name(uint8_t state);

#endif
