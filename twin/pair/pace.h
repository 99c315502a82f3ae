/* twin/pair/pace.h - how fast a simulator's time runs against lab time: its real-time factor.
 *
 *     (1)  source = a + pace * lab + jitter
 *
 * Least squares over one point per second of the last PACE_POINTS seconds, as fresh as a change
 * of the simulator's speed needs. Robots that live in real time have pace 1. docs/model/pair.md
 * section 5. Plain data without pointers. Pure.
 */
#ifndef TWIN_PAIR_PACE_H
#define TWIN_PAIR_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { PACE_POINTS = 12 };

struct pace {       /* all zero is empty */
    uint32_t count; /* ever; ring */
    struct {
        int64_t t_us, source_us;
    } point[PACE_POINTS];
};

/* One stamp of simulated time, arrived at lab time t_us. A stamp that goes back starts anew. */
void pace_sample(struct pace *p, int64_t t_us, int64_t source_us);

/* The slope and its standard error; false until some seconds were seen. O(PACE_POINTS). */
bool pace_read(const struct pace *p, double *ratio, double *se);

#endif
