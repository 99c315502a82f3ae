#include "twin/mission/course_drive.h"

#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"

NAMES(course_actuation_names, COURSE_ACTUATION_COUNT, COURSE_ACTUATIONS(NAMES_TEXT));
ENUM_NAMES(course_failure, COURSE_FAILURE_COUNT, "", "too far from the course",
           "no way was made in time", "telemetry came too seldom, or its clock went back",
           "quit");

/* Gains in rad/s: direction of the course, heading, and the follower's axes. The slowest,
 * U / lookahead of (2), is 0.13 rad/s for the WAM-V; each inner loop is two to four times as
 * fast as the one around it. */
#define COURSE_RADPS  0.5
#define HEADING_RADPS 1.0
static const double axis_radps[USV3_AXES] = {1.0, 1.0, 2.5};
#define OBSERVER_RADPS 1.0

/* The heading follows the curvature about a second later: its loop's lag. */
#define AHEAD_S 1.0

/* This share of the vessel's fastest turn leaves the thrusters room to correct it. */
#define TURN_RATIO 0.9
/* A hull that slips by more than asin(0.75) = 49 deg loses its speed. */
#define SLIP_RATIO 0.75
/* At less speed than this share of U the direction of motion says nothing. */
#define SLOW_RATIO 0.25
/* The figures of a course begin this far behind a turn. */
#define SETTLED_M 20.0
#define REST_MPS  0.05
#define REST_S    30.0
/* Late samples in turn that end a course, and a clock that was set back. */
enum { LATE_MAX = 8 };
#define BACK_S 1.0

static double wrap_angle(double angle_rad)
{
    return remainder(angle_rad, 2.0 * PI);
}

static double limit_size(double value, double most)
{
    return fmin(fmax(value, -most), most);
}

void course_drive_init(struct course_drive *d, const struct course_plan *plan,
                       const struct course *course, const struct course_limits *limits)
{
    *d = (struct course_drive){.course = course,
                               .vessel = plan->vessel,
                               .speed_mps = plan->speed_mps,
                               .lookahead_m = plan->lookahead_m,
                               .limits = *limits};
    d->params.model = &usv3_model;
    d->params.gains.rejection = FOLLOWER_OBSERVER;
    d->params.gains.observer_radps = OBSERVER_RADPS;
    memcpy(d->params.gains.bandwidth_radps, axis_radps, sizeof axis_radps);
    memcpy(d->params.theta, plan->vessel->theta, sizeof plan->vessel->theta);
    usv3_actuators(plan->vessel, &d->params.allocation);
}

/* --- guidance ------------------------------------------------------------------------- */

double course_heading_rad(double course_rad, double across_m, double lookahead_m,
                          double crab_rad)
{
    return wrap_angle(course_rad - atan(across_m / lookahead_m) - crab_rad);
}

double course_crab_rad(const double theta[USV3_PARAMETERS], double speed_mps, double force_n,
                       double rate_radps)
{
    const double side_n = force_n - theta[1] * speed_mps * rate_radps;
    const double linear = theta[5];
    const double sway_mps =
        2.0 * side_n / (linear + sqrt(linear * linear + 4.0 * theta[6] * fabs(side_n)));
    return asin(limit_size(sway_mps / speed_mps, SLIP_RATIO));
}

/* Equations (2) to (5): the velocities that the vessel must follow. */
static void guide_vessel(const struct course_drive *d, const struct course_sample *s,
                         double nu_d[USV3_AXES])
{
    const double moving_mps = hypot(s->nu[0], s->nu[1]);
    const double speed_mps = fmax(moving_mps, 0.5 * d->speed_mps);
    const double beta =
        moving_mps > SLOW_RATIO * d->speed_mps ? atan2(s->nu[1], s->nu[0]) : 0.0;
    const double motion_rad = s->pose[2] + beta;
    const double rate = d->place.across_m / d->lookahead_m;
    const double drift_mps = speed_mps * sin(motion_rad - d->place.heading_rad);
    const double sight_rad =
        course_heading_rad(d->place.heading_rad, d->place.across_m, d->lookahead_m, 0.0);
    const double curvature = course_curvature_ahead(d->course, &d->place, AHEAD_S * speed_mps);
    const double turn_radps = curvature * speed_mps -
                              drift_mps / d->lookahead_m / (1.0 + rate * rate) +
                              COURSE_RADPS * wrap_angle(sight_rad - motion_rad);
    const double crab_rad =
        course_crab_rad(d->vessel->theta, speed_mps, d->follower.d_hat[1], turn_radps);
    const double off_rad = wrap_angle(motion_rad - crab_rad - s->pose[2]);
    const double most_radps = TURN_RATIO * course_turn_limit_radps(d->vessel);
    nu_d[2] = limit_size(turn_radps + HEADING_RADPS * off_rad, most_radps);
    nu_d[1] = s->nu[1];
    /* It turns before it drives away from the course. */
    nu_d[0] = sqrt(fmax(d->speed_mps * d->speed_mps - s->nu[1] * s->nu[1],
                        0.36 * d->speed_mps * d->speed_mps)) *
              fmax(cos(off_rad), 0.0);
}

/* --- state ---------------------------------------------------------------------------- */

static void end_course(struct course_drive *d, enum course_failure failure)
{
    d->state = COURSE_BRAKING;
    d->failure = failure;
    d->way_t_s = d->t_s;
}

void course_drive_quit(struct course_drive *d)
{
    if (d->state == COURSE_DRIVING) {
        end_course(d, COURSE_QUIT);
    }
}

static void count_error(struct course_drive *d)
{
    const struct course_piece *piece = &d->course->pieces[d->place.piece];
    const double off_m = fabs(d->place.across_m);
    d->largest_m = fmax(d->largest_m, off_m);
    if (piece->turn == 0 && d->place.along_m >= SETTLED_M) {
        d->settled_m2 += off_m * off_m;
        d->settled_count++;
        d->off_m = fmax(d->off_m, off_m);
    }
}

/* A vessel whose first sample lies far past the end was never on the course. Later it may be
 * past it by as much as it drives between two samples. */
static bool is_off(const struct course_drive *d)
{
    const double past_m = d->place.along_m - d->course->pieces[d->place.piece].length_m;
    return fabs(d->place.across_m) > d->limits.off_m ||
           (!d->started && past_m > d->limits.off_m);
}

static void watch_course(struct course_drive *d, const struct course_sample *s)
{
    const size_t before = d->place.piece;
    course_find(d->course, &(struct world_point){s->pose[0], s->pose[1]}, d->limits.off_m,
                &d->place);
    for (size_t k = before; k < d->place.piece; k++) {
        d->passed_m += d->course->pieces[k].length_m;
    }
    count_error(d);
    if (d->passed_m + d->place.along_m > d->way_m + 1.0 || !d->started) {
        d->way_m = d->passed_m + d->place.along_m;
        d->way_t_s = s->t_s;
    }
    if (is_off(d)) {
        end_course(d, COURSE_OFF);
    } else if (d->place.ended) {
        end_course(d, COURSE_FINE);
    } else if (s->t_s - d->way_t_s > d->limits.patience_s) {
        end_course(d, COURSE_STUCK);
    }
}

double course_drive_rms_m(const struct course_drive *d)
{
    return d->settled_count > 0 ? sqrt(d->settled_m2 / (double)d->settled_count) : nan("");
}

bool course_drive_step(struct course_drive *d, const struct course_sample *sample,
                       double tau[USV3_AXES])
{
    const double period_s = sample->t_s - d->t_s;
    const bool back = d->started && period_s < -BACK_S;
    const bool late = back || (d->started && period_s > COURSE_PERIOD_MAX_S);
    struct follower_target target = {0};
    struct follower_output out = {0};
    memset(tau, 0, USV3_AXES * sizeof tau[0]);
    if (d->started && !late && period_s < COURSE_PERIOD_MIN_S) {
        memcpy(tau, d->follower.tau, USV3_AXES * sizeof tau[0]); /* held */
        return false;
    }
    d->params.period_s = d->started && !late ? period_s : COURSE_PERIOD_MAX_S;
    d->t_s = sample->t_s;
    d->late_count = late ? d->late_count + 1 : 0;
    if (late) {
        memset(&d->follower, 0, sizeof d->follower); /* its forces are not known any more */
    }
    if (d->state == COURSE_DRIVING && (back || d->late_count > LATE_MAX)) {
        end_course(d, COURSE_GAP);
    } else if (d->state == COURSE_DRIVING) {
        watch_course(d, sample);
    }
    d->started = true;
    if (d->state == COURSE_DRIVING) {
        guide_vessel(d, sample, target.nu);
    } else if (d->state == COURSE_BRAKING) {
        target.nu[1] = sample->nu[1];
        if (fabs(sample->nu[0]) < REST_MPS || d->t_s - d->way_t_s > REST_S) {
            d->state = d->failure == COURSE_FINE ? COURSE_DONE : COURSE_FAILED;
        }
    }
    if (d->state == COURSE_DRIVING || d->state == COURSE_BRAKING) {
        (void)follower_step(&d->follower, &d->params, &target, sample->nu, sample->pose, &out);
        memcpy(tau, out.tau, USV3_AXES * sizeof tau[0]);
    }
    memcpy(d->thrust_n, out.force, sizeof d->thrust_n);
    return true;
}
