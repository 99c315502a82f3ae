/* service/selftest/selftest_scenario.h - a scenario of the self test, and the reports that it
 * allows.
 */
#ifndef SERVICE_SELFTEST_SELFTEST_SCENARIO_H
#define SERVICE_SELFTEST_SELFTEST_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

/* The claim that reports on a scenario must satisfy. */
enum selftest_claim {
    CLAIM_RIGHT, /* PASS, and the intervals contain the truth */
    CLAIM_HELD,  /* the intervals contain the truth; any verdict */
    CLAIM_WRONG  /* never PASS */
};

/* Which moves are those of another robot. */
enum selftest_mix { MIX_RANDOM, MIX_NEGATIVE, MIX_BLOCKS };

/* Deviations of a recording from its model; 0: none. Ratios refer to an effort's effect, or to
 * the speeds of moves. */
struct selftest_scenario {
    const char *name, *model, *words;
    /* model that is simulated, with the same columns; NULL: the fitted one */
    const char *robot;
    enum selftest_claim claim;
    bool held_out;  /* only a second recording, for --validate, deviates; the first is right */
    size_t samples; /* rows or moves; 0: as in the model's trial */
    double passes;  /* of CLAIM_WRONG: ratio that may pass; 0: 1 % */
    /* Code of a reason that nearly all reports which are not PASS have, or of a note that
     * nearly all reports have if the claim is another one; NULL: any. */
    const char *code;
    /* Intervals that are judged: ci95_open, which may contain the truth more often, of
     * CLAIM_WRONG those of PASS; those of the parameters from this one on. */
    bool open;
    size_t judged_from;
    double off;     /* ratio of a constant deviation */
    double at_half; /* ratio of a deviation from half time on */
    double trend;   /* ratio of a deviation that grows until the end */
    double sways;   /* ratio of a deviation that comes and goes six times */
    double warm;    /* ratio of a deviation with a time constant of a third of the recording */
    double clip;    /* ratio of the largest effort above which more has no effect */
    double dead;    /* ratio of the largest effort below which it has no effect */
    double backed;  /* ratio by which negative efforts differ */
    /* sd of unmeasured forces with 1 s correlation, as a ratio of the largest effort */
    double gusts;
    double early;     /* ratio of a row: commands act up to this long before their row */
    double clock_s;   /* growth of the delay until the end */
    double scatter_s; /* range of the delay, which differs from command to command */
    double late_s;    /* delay of an arm's currents */
    double lag_s;     /* time constant of the efforts, or of an arm's currents */
    double rate;      /* limit of rate of the efforts, in the largest effort per second */
    double warms;     /* ratio by which the second parameter changes until the end */
    double memory;    /* correlation of the noise of neighbouring rows; its sd is a quarter */
    double grows;     /* noise in proportion to the velocity, ratio */
    double drag;      /* ratio by which the `dragged` parameters differ */
    const char *dragged[2];
    double quick;  /* factor of the first inertia; 0: 1 */
    double gentle; /* factor of all efforts; 0: 1 */
    /* For a joint: stiction is (1 + at_rest) times the dry friction in motion and falls to it
     * as exp(-(w / falls)^2); falls is a velocity, 0: as modelled. */
    double at_rest, falls;
    /* For a joint that sticks, or a servo: ratio by which dry friction changes with the sine of
     * the angle (of a servo: of three times the angle). For a servo: dry friction by the error.
     * For a joint: ratio by which the effect of an effort changes seven times in a turn. */
    double by_place, by_load, ripple;
    /* ratio of a deviation in the middle of the recording, for this share of it (0: a fifth) */
    double dips, dip_share;
    double sensor_s; /* time constant of the measurements of a joint or a servo */
    double lost;     /* ratio of rows that are missing */
    double jitter;   /* sd of the time between rows, ratio of the period */
    double swings;   /* damping ratio of a second-order robot, whose effort steps once */
    bool counted;    /* row numbers in place of times */
    /* Columns. Commands are always the largest; or the largest, none, or the negative one. */
    bool constant, one_size;
    size_t stale;    /* rows that a velocity stays; 0: 1 */
    double scaled;   /* factor of the positions; 0: 1 */
    bool reversed;   /* velocities have the wrong sign */
    double track_m;  /* wheel speeds in place of speed and turn; 0: not */
    bool rows_apart; /* commands have rows of their own, between those of velocities */
    /* unit factors of times, efforts, velocities; rotations, displacements, laps; times,
     * angles, currents; angles, positions, rotation vectors */
    double factor[3];
    /* For moves only. */
    double mixed; /* ratio of another robot's speed, in a half of the moves */
    enum selftest_mix mix;
    size_t mixed_sizes; /* 0: both speeds differ, 1: turns only, 2: drives only */
    double varies;      /* sd of a move's 1/w and 1/v */
    double late;        /* ratio of replies that are late by 0.5 to 3 s */
    double queue_s;     /* mean of an exponential delay */
    double creep_s;     /* longest additional time of a drive, which falls with its length */
    /* Commands that come before the last move has ended: ratio of its lap that they wait at
     * most; their period. */
    double overlaps, every_s;
    double waiting;       /* ratio of commands that wait so; 0: all */
    double stops, stop_s; /* stops per metre of a drive, and their mean time */
    double slowed;        /* ratio of drives that take half as long again */
    double step_s;        /* laps are multiples of it; rounded to the nearest one, or up */
    bool steps_up;
    double measured_rad, measured_m; /* noise of all sizes, those of zero too */
    double accelerates; /* acceleration of drives, m/s^2; of turns four times that, rad/s^2 */
    /* exchanged columns: rotation and displacement, joints 2 and 3, or two velocities */
    bool exchanged;
    /* For wheels under a camera only: ratio of the way that the right wheel loses in left
     * turns, ratio of the way that is lost at full speed, ratio by
     * which x is too large, growth of the scale per metre of x, fall of the scale at a metre
     * from the middle; ticks of a turn, rows of one pose. at_half applies to the right wheel.
     */
    double drags, slips, stretched, tilted, distorts, ticks, rare;
    /* For poses of an arm only: drag applies to its corrections, gentle to its joints'
     * range. */
    double play_rad; /* rad, backlash behind a servo; clip: its commands have two values */
    const char *arm; /* another kind of arm; NULL: ur5 */
    double tool_m;   /* m, distance of the tool from the flange */
    double leans_rad, turned_rad; /* rad, tilt and rotation of the base */
    double eccentric_rad;         /* rad, eccentricity of the encoders */
};

#endif
