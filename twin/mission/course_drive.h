/* twin/mission/course_drive.h - drives a vessel with two or more thrusters along its course, in
 * wind and current: guidance, and the efforts that it takes.
 *
 * Two thrusters push no vessel sideways, so its course turns only with the drag of a hull that
 * slips: several seconds after its heading. With U the speed, c the direction of motion over
 * ground (heading psi plus crab angle beta = atan2(v, u)), c_p and k_p direction and curvature
 * of the course, e the distance to the left of it:
 *
 *   c_d  = c_p - atan(e / lookahead)                                             (2)
 *   c_d' = k_p U - (e' / lookahead) / (1 + (e / lookahead)^2) + 0.5 (c_d - c)    (3)
 *   d6 v_d + d7 |v_d| v_d = F_v - d2 U c_d',   beta_d = asin(v_d / U)            (4)
 *   psi_d = c - beta_d,   r_d = c_d' + 1.0 (psi_d - psi)                         (5)
 *
 * F_v is the side force that the observer of twin/following/follower.h finds; k_p is taken a
 * second ahead. On a steady course (5) is the known law with crab compensation,
 * psi_d = c_p - atan(e / lookahead) - beta. Surge and yaw follow (u_d, r_d) by the follower's
 * law, within the limits of the thrusters. docs/model/course.md. SI units. Plain data; pure.
 */
#ifndef TWIN_MISSION_COURSE_DRIVE_H
#define TWIN_MISSION_COURSE_DRIVE_H

#include "twin/following/follower.h"
#include "twin/mission/course.h"

/* Control periods that the gains are made for, s. */
#define COURSE_PERIOD_MIN_S 0.004
#define COURSE_PERIOD_MAX_S 0.25

enum course_state {
    COURSE_DRIVING,
    COURSE_BRAKING, /* past the last way-point, or to the end of a failed course */
    COURSE_DONE,    /* at rest; no effort any more */
    COURSE_FAILED,
    COURSE_STATE_COUNT
};

enum course_failure {
    COURSE_FINE,
    COURSE_OFF,   /* too far from the course */
    COURSE_STUCK, /* no way made for patience_s */
    COURSE_GAP,   /* samples come too seldom, or their clock went back */
    COURSE_QUIT,  /* ordered to end */
    COURSE_FAILURE_COUNT
};
ENUM_NAMES_DECLARED(course_failure); /* for people; "" for none */

struct course_limits {
    double off_m;      /* > 0: a course is failed when the vessel is further from it */
    double patience_s; /* > 0: … or makes no way for this time */
};

/* A vessel takes as an effort a wrench, or the thrust of each thruster. The words are those of
 * its parameter `actuation`. */
/* clang-format off */
#define COURSE_ACTUATIONS(X)                                                                   \
    X(COURSE_WRENCH, "wrench")                                                                 \
    X(COURSE_ALLOCATED, "allocated")                                                           \
    X(COURSE_THRUSTERS, "thrusters")
/* clang-format on */
enum course_actuation { COURSE_ACTUATIONS(NAMES_VALUE) COURSE_ACTUATION_COUNT };
extern const struct names course_actuation_names;

struct course_drive {
    const struct course *course; /* borrowed */
    const struct usv3_vessel *vessel;
    double speed_mps, lookahead_m;
    struct course_limits limits;
    struct follower_params params;
    struct follower follower;
    double thrust_n[ALLOCATION_ACTUATORS_MAX]; /* of each thruster, since the last step */
    struct course_place place;
    enum course_state state;
    enum course_failure failure;
    bool started;
    double t_s;               /* of the last sample */
    unsigned late_count;      /* samples in turn that came too late */
    double way_m, way_t_s;    /* the furthest way made, and when */
    double passed_m;          /* lengths of the pieces behind */
    double settled_m2, off_m; /* sum of e^2 and largest |e|, from 20 m behind a turn on lines */
    double largest_m;         /* largest |e| anywhere */
    size_t settled_count;
};

/* A sample of a vessel's telemetry. */
struct course_sample {
    double t_s;                            /* its clock */
    double nu[USV3_AXES], pose[USV3_AXES]; /* u v r; x y psi */
};

void course_drive_init(struct course_drive *d, const struct course_plan *plan,
                       const struct course *course, const struct course_limits *limits);

/* Makes one control period of a sample: the effort of surge, sway and yaw that the thrusters
 * hold until the next sample. Zero when the course is done or failed and the vessel has come to
 * rest. False: the sample came too soon after the last one, whose effort is held. */
bool course_drive_step(struct course_drive *d, const struct course_sample *sample,
                       double tau[USV3_AXES]);

/* Ends the course: the vessel brakes. */
void course_drive_quit(struct course_drive *d);

/* Returns the root mean square of the distance from the lines of the course, from 20 m behind
 * each turn on; NaN: no such sample yet. */
double course_drive_rms_m(const struct course_drive *d);

/* Returns the heading wanted by (2) and (5) of a vessel that moves steadily. */
double course_heading_rad(double course_rad, double across_m, double lookahead_m,
                          double crab_rad);

/* Returns the crab angle of (4): at this speed, with side force and rate of the course. */
double course_crab_rad(const double theta[USV3_PARAMETERS], double speed_mps, double force_n,
                       double rate_radps);

#endif
