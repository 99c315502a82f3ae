#include "twin/arm/arm_watch.h"

#include <math.h>
#include <string.h>

#include "identification/geometry/rigid.h"
#include "twin/arm/arm_motion_thresholds.def"

static double largest_of(const double v[ARM_JOINTS], size_t *which)
{
    double most = 0.0;
    *which = 0;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        if (fabs(v[i]) > most) {
            most = fabs(v[i]);
            *which = i;
        }
    }
    return most;
}

static double speed_of(const struct arm_watch_sample *s)
{
    size_t which;
    return largest_of(s->qd_radps, &which);
}

/* Returns the time between rest at q[] and the sample, with uniform acceleration; at most twice
 * the time to the sample at rest. */
static double time_to_rest(const struct arm_watch_sample *s, const double q[ARM_JOINTS],
                           double most_s)
{
    size_t j;
    const double v = largest_of(s->qd_radps, &j);
    const double tau_s = 2.0 * fabs(s->q_rad[j] - q[j]) / v;
    return tau_s < most_s ? tau_s : most_s;
}

/* ---- the path -----------------------------------------------------------------------------
 */

/* Drops every second stored sample; the first stays. */
static void thin_samples(struct arm_watch *w)
{
    for (size_t i = 0; 2 * i < w->count; i++) {
        w->stored[i] = w->stored[2 * i];
    }
    w->count = (w->count + 1) / 2;
    w->stride *= 2;
}

static void store_sample(struct arm_watch *w, const struct arm_watch_sample *s, bool always)
{
    if (!always && ++w->skipped < w->stride) {
        return;
    }
    w->skipped = 0;
    if (w->count == ARM_WATCH_SAMPLES) {
        thin_samples(w);
    }
    w->stored[w->count].t_s = s->t_s;
    memcpy(w->stored[w->count].q_rad, s->q_rad, sizeof s->q_rad);
    memcpy(w->stored[w->count].pose, s->pose, sizeof s->pose);
    w->count++;
}

/* Computes each sample's share of the line of joint angles; returns the largest deviation from
 * the line, rad. */
static double measure_joints(const struct arm_watch *w, const struct arm_watched *m,
                             double share[])
{
    double square = 0.0;
    double off = 0.0;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        square += pow(m->to_q[j] - m->from_q[j], 2);
    }
    for (size_t i = 0; i < w->count; i++) {
        share[i] = 0.0;
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            share[i] += (w->stored[i].q_rad[j] - m->from_q[j]) * (m->to_q[j] - m->from_q[j]);
        }
        share[i] /= square;
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            const double there = m->from_q[j] + share[i] * (m->to_q[j] - m->from_q[j]);
            off = fmax(off, fabs(w->stored[i].q_rad[j] - there));
        }
    }
    return off;
}

/* Computes the share of the line that a pose is at, and its deviation. */
static double share_of_line(const struct arm_move *line, const double pose[6], double *off_m,
                            double *off_rad)
{
    const struct rigid here = rigid_from_pose(pose);
    const struct rigid back = rigid_invert(&line->from);
    const struct rigid motion = rigid_multiply(&back, &here);
    double turned[3];
    double share = 0.0;
    double aside[3];
    rotation_log(&motion, turned);
    const bool by_length = line->length_m >= LINE_LEAST_M;
    for (int i = 0; i < 3; i++) {
        share += by_length ? (here.at_m[i] - line->from.at_m[i]) * line->shift_m[i]
                           : turned[i] * line->turn_rad[i];
    }
    share /= by_length ? line->length_m * line->length_m : line->angle_rad * line->angle_rad;
    for (int i = 0; i < 3; i++) {
        aside[i] = here.at_m[i] - line->from.at_m[i] - share * line->shift_m[i];
        turned[i] -= share * line->turn_rad[i];
    }
    *off_m = rigid_length(aside);
    *off_rad = rigid_length(turned);
    return share;
}

/* Does the same as measure_joints() for the tool's line; returns whether it stays within
 * tolerance, and the deviation as a share of it. */
static bool measure_line(const struct arm_watch *w, const struct arm_move *line, double share[],
                         double *part)
{
    *part = 0.0;
    if (!(line->length_m >= LINE_LEAST_M || line->angle_rad >= TURN_LEAST_RAD)) {
        return false;
    }
    for (size_t i = 0; i < w->count; i++) {
        double off_m;
        double off_rad;
        share[i] = share_of_line(line, w->stored[i].pose, &off_m, &off_rad);
        *part = fmax(*part, fmax(off_m / TOOL_OFF_M, off_rad / TURN_OFF_RAD));
    }
    return *part <= 1.0;
}

/* ---- the profile --------------------------------------------------------------------------
 */

/* Computes the sum of squares and the maximum of the samples' deviations from the trapezoid
 * with this ramp. */
static double measure_ramp(const struct arm_watch *w, const double share[],
                           const struct arm_watched *m, double ramp_s, double *off)
{
    const double duration_s = m->t_end_s - m->t_start_s;
    const double v = 1.0 / (duration_s - ramp_s);
    double sum = 0.0;
    *off = 0.0;
    for (size_t i = 0; i < w->count; i++) {
        const double t_s = w->stored[i].t_s - m->t_start_s;
        double rate;
        const double by = fabs(share[i] - arm_share_at(v, v / ramp_s, duration_s, t_s, &rate));
        sum += by * by;
        *off = fmax(*off, by);
    }
    return sum;
}

/* Fits the ramp of a trapezoid of this duration to the samples (golden section). False if the
 * deviations remain too large, or no arm accelerates like that. */
static bool fit_trapezoid(const struct arm_watch *w, const double share[],
                          struct arm_watched *m)
{
    static const double GOLDEN = 0.6180339887498949;
    const double duration_s = m->t_end_s - m->t_start_s;
    double low_s = 1e-6 * duration_s;
    double high_s = 0.5 * duration_s;
    double off = 0.0;
    while (high_s - low_s > 1e-5 * duration_s) {
        const double a_s = high_s - GOLDEN * (high_s - low_s);
        const double b_s = low_s + GOLDEN * (high_s - low_s);
        if (measure_ramp(w, share, m, a_s, &off) < measure_ramp(w, share, m, b_s, &off)) {
            high_s = b_s;
        } else {
            low_s = a_s;
        }
    }
    const double ramp_s = 0.5 * (low_s + high_s);
    (void)measure_ramp(w, share, m, ramp_s, &off);
    m->speed = 1.0 / (duration_s - ramp_s);
    m->acceleration = m->speed / ramp_s;
    return off <= SHAPE_OFF && m->acceleration * m->size_rad < CUT_RADPS2;
}

/* ---- moves --------------------------------------------------------------------------------
 */

static const char *name_lack(const struct arm_watch *w, const struct arm_watched *m,
                             bool is_trapezoid)
{
    return m->end == ARM_WATCHED_STOPPED          ? "stopped by a safety function"
           : w->headless                          ? "its beginning was not seen"
           : w->gap                               ? "samples are missing"
           : fabs(m->scaling - 1.0) > SCALING_OFF ? "speeds were scaled"
           : m->end == ARM_WATCHED_CUT            ? "cut off by the next move"
           : m->path == ARM_WATCHED_OTHER ? "neither a line of joint angles nor of the tool"
           : !is_trapezoid                ? "its speed is no trapezoid"
                                          : NULL;
}

static bool describe_move(struct arm_watch *w, double end_s, enum arm_watched_end end,
                          struct arm_watched *m)
{
    double joint_share[ARM_WATCH_SAMPLES];
    double line_share[ARM_WATCH_SAMPLES];
    double turn[ARM_JOINTS];
    double part = 0.0;
    size_t which;
    const size_t last = w->count - 1;
    *m = (struct arm_watched){
        .t_start_s = w->start_s, .t_end_s = end_s, .end = end, .scaling = w->scaling};
    memcpy(m->from_q, w->stored[0].q_rad, sizeof m->from_q);
    memcpy(m->to_q, w->stored[last].q_rad, sizeof m->to_q);
    memcpy(m->to_pose, w->stored[last].pose, sizeof m->to_pose);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        turn[j] = m->to_q[j] - m->from_q[j];
    }
    m->size_rad = largest_of(turn, &which);
    if (!(m->size_rad > NO_MOVE_RAD) || !(end_s > w->start_s)) {
        return false;
    }
    struct arm_move line = {.from = rigid_from_pose(w->stored[0].pose)};
    const struct rigid end_pose = rigid_from_pose(m->to_pose);
    arm_move_set_line(&line, &end_pose);
    m->length_m = line.length_m;
    m->angle_rad = line.angle_rad;
    const double off_rad = measure_joints(w, m, joint_share);
    const bool joints = off_rad <= JOINTS_OFF_RAD;
    const bool straight = measure_line(w, &line, line_share, &part);
    /* A short move satisfies both; the better one is used. */
    const bool by_line = straight && (!joints || part < off_rad / JOINTS_OFF_RAD);
    m->path = by_line ? ARM_WATCHED_LINE : joints ? ARM_WATCHED_JOINTS : ARM_WATCHED_OTHER;
    const bool fits = fit_trapezoid(w, by_line ? line_share : joint_share, m);
    m->lacks = name_lack(w, m, fits);
    w->moves++;
    return true;
}

static void begin_move(struct arm_watch *w, const struct arm_watch_sample *rest,
                       const struct arm_watch_sample *first)
{
    const double apart_s = first->t_s - rest->t_s;
    w->moving = true;
    w->gap = false;
    w->stopped = false;
    w->start_s = first->t_s - time_to_rest(first, rest->q_rad, 2.0 * apart_s);
    w->scaling = 1.0;
    w->count = 0;
    w->stride = 1;
    w->skipped = 0;
    store_sample(w, rest, true);
}

static void update_extremes(struct arm_watch *w, const struct arm_watch_sample *s)
{
    w->stopped = w->stopped || s->stopped;
    if (!(fabs(s->scaling - 1.0) <= fabs(w->scaling - 1.0))) {
        w->scaling = s->scaling;
    }
}

static bool is_cut(const struct arm_watch *w, const struct arm_watch_sample *s)
{
    const double before = speed_of(&w->last);
    const double now = speed_of(s);
    return before - now > CUT_RADPS2 * (s->t_s - w->last.t_s) && now < 0.5 * before;
}

/* The move ended with the sample at rest; the last one before it still moved. */
static bool end_move(struct arm_watch *w, const struct arm_watch_sample *rest,
                     struct arm_watched *out)
{
    const double apart_s = rest->t_s - w->last.t_s;
    const double end_s = w->last.t_s + time_to_rest(&w->last, rest->q_rad, apart_s);
    const enum arm_watched_end end = w->stopped || rest->stopped ? ARM_WATCHED_STOPPED
                                     : is_cut(w, rest)           ? ARM_WATCHED_CUT
                                                                 : ARM_WATCHED_DONE;
    store_sample(w, rest, true);
    w->moving = false;
    const bool complete = describe_move(w, end_s, end, out);
    w->headless = false;
    return complete;
}

void arm_watch_forget(struct arm_watch *w)
{
    w->known = false;
    w->moving = false;
}

static bool is_finite(const struct arm_watch_sample *s)
{
    double sum = s->t_s + s->scaling;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        sum += s->q_rad[i] + s->qd_radps[i] + s->pose[i];
    }
    return isfinite(sum);
}

/* The sample continues the move, or cuts it off. */
static bool go_on(struct arm_watch *w, const struct arm_watch_sample *s,
                  struct arm_watched *out)
{
    if (!is_cut(w, s)) {
        update_extremes(w, s);
        store_sample(w, s, false);
        return false;
    }
    store_sample(w, s, true);
    const bool complete = describe_move(w, s->t_s, ARM_WATCHED_CUT, out);
    w->headless = false;
    begin_move(w, s, s);
    update_extremes(w, s);
    return complete;
}

bool arm_watch_step(struct arm_watch *w, const struct arm_watch_sample *sample,
                    struct arm_watched *out)
{
    bool complete = false;
    if (!is_finite(sample)) {
        w->gaps++;
        w->gap = true;
        return false;
    }
    const bool moves = speed_of(sample) > REST_RADPS;
    const double apart_s = sample->t_s - w->last.t_s;
    if (w->known && apart_s <= 0.0) {
        return false; /* repeated, or older */
    }
    if (w->known && apart_s > GAP_PERIODS * w->period_s) {
        w->gaps++;
        w->gap = true;
    }
    if (w->moving) {
        complete = moves ? go_on(w, sample, out) : end_move(w, sample, out);
    } else if (moves) {
        const bool gap = w->known && apart_s > GAP_PERIODS * w->period_s;
        w->headless = !w->known;
        begin_move(w, w->known ? &w->last : sample, sample);
        w->gap = gap;
        update_extremes(w, sample);
        store_sample(w, sample, false);
    }
    w->last = *sample;
    w->known = true;
    return complete;
}
