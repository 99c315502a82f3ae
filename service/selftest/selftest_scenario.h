/* service/selftest/selftest_scenario.h - a world of the self test, and what may be said of it.
 */
#ifndef SERVICE_SELFTEST_SELFTEST_SCENARIO_H
#define SERVICE_SELFTEST_SELFTEST_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

/* What may be said of a recording of such a world. */
enum selftest_claim {
    CLAIM_RIGHT, /* PASS, and the intervals hold the truth */
    CLAIM_HELD,  /* the intervals hold the truth; any verdict */
    CLAIM_WRONG  /* not PASS */
};

/* How a recording strays from its model; 0: not at all. Shares are of an effort's effect, or of
 * the speeds of moves. */
struct selftest_scenario {
    const char *name, *model, *words;
    const char *robot; /* the model that moves, of the same columns; NULL: the one fitted */
    enum selftest_claim claim;
    bool held_out;  /* so bent is a second recording, for --validate; the first is right */
    size_t samples; /* 0: of the model's trial */
    double off;     /* share by which it is another all the time */
    double at_half; /* from half time on */
    double trend;   /* more and more up to the end */
    double warm;    /* with a time constant of a third of the recording */
    double clip;    /* of the largest effort: no more has an effect */
    double dead;    /* of the largest effort: what has none */
    double backed;  /* share by which efforts below zero are worth another */
    double gusts;   /* of the largest effort: sd of forces that nobody measures, of 1 s */
    double drag;    /* share by which the parameters `dragged` are others */
    const char *dragged[2];
    double quick;  /* factor of the first inertia; 0: 1 */
    double gentle; /* factor of all efforts; 0: 1 */
    /* Of a joint: dry friction holds it to the last digit, by (1 + at_rest) times that of
     * motion, to which it falls as exp(-(w / falls)^2), in velocities; falls 0: as modelled. */
    double at_rest, falls;
    double jitter;    /* sd of the time between rows, in periods */
    double swings;    /* damping ratio of a robot of second order, whose effort steps once */
    bool counted;     /* row numbers for times */
    double factor[3]; /* of times, efforts, velocities; rotations, displacements, laps;
                       * times, angles, currents; angles, positions, rotation vectors */
    /* Of moves only. */
    double mixed;  /* share by which every other move, at random, is of another robot */
    double varies; /* sd of a move's 1/w and 1/v */
    double late;   /* share of replies that are late by 0.5 to 3 s */
    bool accelerates;
    bool exchanged; /* columns of rotation and displacement; of joints 2 and 3 */
    /* Of poses of an arm only: drag is of its corrections, gentle of its joints' reach. */
    const char *arm;              /* another kind; NULL: ur5 */
    double tool_m;                /* poses of a tool so far from the flange */
    double leans_rad, turned_rad; /* the base */
    double eccentric_rad;         /* its encoders */
};

#endif
