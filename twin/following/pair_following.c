#include "twin/following/pair_following.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/numbers/lab_time.h"
#include "identification/model/models.h"
#include "twin/following/following_thresholds.def"

/* --- the machine ---------------------------------------------------------------------------
 */

/* Its events are the reception state of the real robot (enum shadow_state), idle also while the
 * simulated one is silent; or: */
enum { UNWANTED = SHADOW_STOPPED + 1 };
#define ANY_BUT(event) (BIT(UNWANTED) - 1 - BIT(event))

static const struct efsm_state states[] = {FOLLOWING_STATES(EFSM_STATE)};

/* clang-format off */
#define ON(from, to, events, label) {from, to, NULL, NULL, label, .on = (events), .waits = true}
#define FROM(state)                                                                            \
    ON(state, FOLLOWING_OFF,      BIT(UNWANTED),        "!wanted"),                            \
    ON(state, FOLLOWING_TRACKING, BIT(SHADOW_TRACKING), "real sends"),                         \
    ON(state, FOLLOWING_HOLDING,  BIT(SHADOW_HOLDING),  "real silent"),                        \
    ON(state, FOLLOWING_STOPPING, BIT(SHADOW_STOPPING), "for longer"),                         \
    ON(state, FOLLOWING_STOPPED,  BIT(SHADOW_STOPPED),  "at rest"),                            \
    ON(state, FOLLOWING_LOST,     BIT(SHADOW_IDLE),     "simulated silent")

static const struct efsm_arc arcs[] = {
    ON(FOLLOWING_OFF,     FOLLOWING_OFF,      BIT(UNWANTED),            "!wanted"),
    ON(FOLLOWING_OFF,     FOLLOWING_WAITING,  BIT(UNWANTED) - 1,        "wanted"),
    ON(FOLLOWING_WAITING, FOLLOWING_OFF,      BIT(UNWANTED),            "!wanted"),
    ON(FOLLOWING_WAITING, FOLLOWING_WAITING,  ANY_BUT(SHADOW_TRACKING), "not both send"),
    ON(FOLLOWING_WAITING, FOLLOWING_TRACKING, BIT(SHADOW_TRACKING),     "both send"),
    FROM(FOLLOWING_TRACKING),
    FROM(FOLLOWING_HOLDING),
    FROM(FOLLOWING_STOPPING),
    FROM(FOLLOWING_STOPPED),
    FROM(FOLLOWING_LOST),
};
/* clang-format on */

const struct efsm_table following_table = {
    .name = "following",
    .purpose = "Decides whether the simulated robot is driven after the real one, held or "
               "stopped.",
    EFSM_STATES(states),
    EFSM_ARCS(arcs),
    .initial = FOLLOWING_OFF,
};

/* --- frames --------------------------------------------------------------------------------
 */

/* A pose in the plane is turned as a whole; other coordinates are shifted one by one. */
bool following_in_plane(const struct model *model)
{
    return model_pose_count(model) == 3 && follower_is_angle(model, 2) &&
           !follower_is_angle(model, 0);
}

void following_align(const struct following *f, const struct model *model, const double *pose,
                     double *out)
{
    double turned[MODEL_AXES_MAX];
    memcpy(turned, pose, model_pose_count(model) * sizeof pose[0]);
    if (following_in_plane(model)) {
        const double c = cos(f->frame[2]);
        const double s = sin(f->frame[2]);
        turned[0] = c * pose[0] - s * pose[1];
        turned[1] = s * pose[0] + c * pose[1];
    }
    for (size_t i = 0; i < model_pose_count(model); i++) {
        out[i] = turned[i] + f->frame[i];
    }
}

/* Aligns the frames so that both poses coincide now; joint angles need no alignment. */
static void align_frames(struct following *f, const struct model *model, const double *real,
                         const double *simulated)
{
    double turned[MODEL_AXES_MAX] = {0};
    memset(f->frame, 0, sizeof f->frame);
    f->aligned = true;
    fidelity_reframe(&f->fidelity);
    if (model->joints) {
        return;
    }
    if (following_in_plane(model)) {
        f->frame[2] = simulated[2] - real[2];
    }
    following_align(f, model, real, turned);
    for (size_t i = 0; i < model_pose_count(model); i++) {
        if (!following_in_plane(model) || i < 2) {
            f->frame[i] = simulated[i] - turned[i];
        }
    }
}

/* --- samples
 * ------------------------------------------------------------------------------- */

void following_init(struct following *f, int64_t t_us)
{
    *f = (struct following){0};
    efsm_reset(&following_table, &f->machine, t_us);
}

void following_want(struct following *f, bool wanted_now)
{
    if (wanted_now && !f->wanted) {
        f->aligned = false;
    }
    f->wanted = wanted_now;
}

void following_restarted(struct following *f, bool real)
{
    f->aligned = false;
    if (real) {
        shadow_restart(&f->real);
        follower_smooth(&f->follower);
    } else {
        shadow_restart(&f->simulated);
        f->driving = false;
    }
}

static bool is_accepted(enum shadow_gate gate)
{
    return gate == SHADOW_ACCEPTED || gate == SHADOW_CLAMPED;
}

enum shadow_gate following_real(struct following *f, const struct following_params *p,
                                int64_t t_us, int64_t arrival_us, const double *nu,
                                const double *tau, const double *pose)
{
    static const double none[MODEL_AXES_MAX] = {0};
    const enum shadow_gate gate =
        shadow_sample(&f->real, &p->real, t_us, arrival_us, nu, tau ? tau : none, pose);
    if (is_accepted(gate)) {
        double there[MODEL_AXES_MAX] = {0};
        if (pose && f->aligned) {
            following_align(f, p->follower.model, pose, there);
        }
        fidelity_real(&f->fidelity, &p->fidelity, f->real.at_us, nu,
                      pose && f->aligned ? there : NULL);
    }
    return gate;
}

enum shadow_gate following_simulated(struct following *f, const struct following_params *p,
                                     int64_t t_us, int64_t arrival_us, const double *nu,
                                     const double *pose)
{
    const enum shadow_gate gate =
        shadow_sample(&f->simulated, &p->simulated, t_us, arrival_us, nu, f->output.tau, pose);
    if (is_accepted(gate)) {
        if (pose && !f->aligned && f->real.state == SHADOW_TRACKING && !f->real.restart) {
            double real[MODEL_AXES_MAX]; /* at the same time */
            shadow_pose(&f->real, &p->real, f->simulated.at_us, real);
            align_frames(f, p->follower.model, real, pose);
            f->aligned_us = arrival_us;
        }
        fidelity_virtual(&f->fidelity, &p->fidelity, f->simulated.at_us, nu, pose);
    }
    return gate;
}

/* --- a tick --------------------------------------------------------------------------------
 */

/* Returns whether the simulated robot is driven. */
static bool run_machine(struct following *f, int64_t now_us)
{
    const bool tracks = f->simulated.state == SHADOW_TRACKING;
    const unsigned event = !f->wanted ? (unsigned)UNWANTED
                           : tracks   ? (unsigned)f->real.state
                                      : (unsigned)SHADOW_IDLE;
    efsm_plan(&following_table, &f->machine, &event, now_us);
    efsm_update(&following_table, &f->machine, now_us, 0, &f->stats, NULL);
    return f->machine.state >= FOLLOWING_TRACKING && f->machine.state <= FOLLOWING_STOPPED;
}

static unsigned detect_silence(struct following *f, uint8_t before)
{
    const uint8_t state = f->machine.state;
    unsigned changes = 0;
    if (state == FOLLOWING_HOLDING && before == FOLLOWING_TRACKING) {
        changes |= FOLLOWING_CHANGE_STALE;
    }
    if (state == FOLLOWING_LOST && before != FOLLOWING_LOST) {
        changes |= FOLLOWING_CHANGE_LOST;
    }
    if (state == FOLLOWING_TRACKING && f->was_down) {
        changes |= FOLLOWING_CHANGE_RESUMED;
    }
    f->was_down =
        state != FOLLOWING_TRACKING &&
        (f->was_down || (changes & (FOLLOWING_CHANGE_STALE | FOLLOWING_CHANGE_LOST)) != 0);
    return changes;
}

/* Judged once per bucket, and not before half a window is filled. */
static unsigned judge_fidelity(struct following *f, const struct following_params *p,
                               int64_t now_us)
{
    const int64_t every_us = p->fidelity.window_us / FIDELITY_BUCKETS;
    const int64_t period_us = (int64_t)(p->follower.period_s * 1e6);
    if (!(p->fidelity.target_m > 0.0) || f->machine.state != FOLLOWING_TRACKING ||
        now_us % every_us >= period_us ||
        now_us - f->machine.entered_us < p->fidelity.window_us / 2) {
        return 0;
    }
    struct fidelity_report report;
    fidelity_read(&f->fidelity, &p->fidelity, now_us, &report);
    if (!f->missed && report.within_ratio < p->fidelity.target_ratio) {
        f->missed = true;
        return FOLLOWING_CHANGE_MISSED;
    }
    if (f->missed &&
        report.within_ratio >= fmin(p->fidelity.target_ratio + TARGET_HYSTERESIS, 1.0)) {
        f->missed = false;
        return FOLLOWING_CHANGE_MET;
    }
    return 0;
}

static void control_robot(struct following *f, const struct following_params *p,
                          const struct follower_target *simulated)
{
    struct follower_target target = f->target;
    if (!f->driving) { /* starts from zero effort, with blending */
        f->follower = (struct follower){.running = true, .smooth = true};
        memcpy(f->follower.nu, simulated->nu, sizeof f->follower.nu);
        memcpy(f->follower.nu_hat, simulated->nu, sizeof f->follower.nu_hat);
    }
    if (f->aligned) {
        following_align(f, p->follower.model, f->target.pose, target.pose);
    } else { /* no target yet */
        memcpy(target.pose, simulated->pose, sizeof target.pose);
    }
    if (follower_step(&f->follower, &p->follower, &target, simulated->nu, simulated->pose,
                      &f->output)) {
        f->held_in_a_row = 0;
    } else {
        f->held++;
        f->held_in_a_row++;
    }
}

/* Motions that were not finite have been reset; if the effort is still not finite, the
 * parameters are at fault. */
static unsigned detect_resets(struct following *f)
{
    const uint64_t resets = f->real.resets + f->simulated.resets;
    const unsigned changes = (resets > f->resets ? FOLLOWING_CHANGE_RESET : 0) |
                             (f->held_in_a_row > 1 ? FOLLOWING_CHANGE_STUCK : 0);
    f->resets = resets;
    return changes;
}

bool following_tick(struct following *f, const struct following_params *p, int64_t now_us,
                    unsigned *changes)
{
    const double period_s = p->follower.period_s;
    const uint8_t before = f->machine.state;
    struct follower_target simulated;
    f->periods++;
    (void)shadow_target(&f->real, &p->real, now_us, period_s, &f->target);
    (void)shadow_target(&f->simulated, &p->simulated, now_us, period_s, &simulated);
    const bool driving = run_machine(f, now_us);
    *changes = detect_silence(f, before) | judge_fidelity(f, p, now_us);
    const bool ends = f->driving && !driving;
    if (f->machine.state != before) {
        follower_smooth(&f->follower);
    }
    if (driving) {
        control_robot(f, p, &simulated);
    } else {
        f->output = (struct follower_output){0};
        f->follower = (struct follower){0};
        f->held_in_a_row = 0;
    }
    *changes |= detect_resets(f);
    f->driving = driving;
    return driving || ends;
}

/* ---- of a pair ------------------------------------------------------------------------------
 */

/* Publication period of the fidelity. */
static const int64_t PUBLISH_US = 1000000;
/* The simulated robot's samples are used without filtering. */
static const double SIMULATED_DRIFT_PER_S = 1e4;
static const double STANDING_SD = 5.0;

const struct model *pair_following_model(const struct pair_following *x)
{
    return model_at(x->model);
}

/* ---- the block ------------------------------------------------------------------------------
 */

size_t pair_following_bytes(const struct pair_following_params *p)
{
    return pair_following_wanted(p) ? (sizeof(struct pair_following) + 63) / 64 * 64 : 0;
}

void pair_following_setup(const struct pair_following *x, const struct pair_following_params *p,
                          struct following_params *out)
{
    const struct model *model = pair_following_model(x);
    *out = (struct following_params){0};
    out->follower.model = model;
    out->follower.allocation = p->allocation;
    out->follower.gains = x->gains;
    out->follower.gains.slow_mps = STANDING_SD * p->noise_sd[0];
    out->follower.period_s = 1.0 / p->rate_hz;
    follower_gains_complete(&out->follower);
    memcpy(out->follower.theta, x->known.side[SIDE_VIRTUAL].theta, sizeof out->follower.theta);
    out->real = (struct shadow_params){.method = (enum shadow_method)p->method,
                                       .model = model,
                                       .axes = model->axis_count,
                                       .drift_per_s = 0.2,
                                       .latency_s_max = lab_s(p->latency_us),
                                       .stale_s = lab_s(p->stale_us),
                                       .hold_s = lab_s(p->hold_us),
                                       .ramp_s = lab_s(p->ramp_us),
                                       .blend_s = p->blend_s};
    out->simulated = out->real;
    out->simulated.method = SHADOW_MODEL;
    out->simulated.drift_per_s = SIMULATED_DRIFT_PER_S;
    out->simulated.blend_s = 0.0;
    memcpy(out->real.noise_sd, p->noise_sd, sizeof out->real.noise_sd);
    memcpy(out->real.theta, x->known.side[SIDE_REAL].theta, sizeof out->real.theta);
    memcpy(out->simulated.theta, x->known.side[SIDE_VIRTUAL].theta,
           sizeof out->simulated.theta);
    out->real.unknown = x->known.side[SIDE_REAL].source == FOLLOWING_NOWHERE;
    out->simulated.unknown = x->known.side[SIDE_VIRTUAL].source == FOLLOWING_NOWHERE;
    out->fidelity = (struct fidelity_params){.model = model,
                                             .window_us = p->window_us,
                                             .target_m = p->target_m,
                                             .target_us = p->target_us,
                                             .target_ratio = p->target_ratio};
    out->fidelity.has_arm = model->joints && arm_geometry_find(p->arm, &out->fidelity.arm);
}

/* ---- knowledge of the robots
 * ---------------------------------------------------------------- */

/* Returns the dynamics of the pair if they have this model. */
static const struct pair_dynamics *same_model(const struct pair_following *x,
                                              const struct pair_dynamics *d)
{
    return d && pair_dynamics_model(d) == pair_following_model(x) ? d : NULL;
}

/* Writes why it cannot run now to x->obstacle; "" if it can. */
static void find_obstacle(struct pair_following *x, const struct pair_following_params *p,
                          const struct pair_dynamics *d)
{
    struct following_params setup;
    struct err err = {0};
    (void)snprintf(x->obstacle, sizeof x->obstacle, "%s", x->stuck);
    for (int s = SIDE_COUNT - 1; s >= SIDE_REAL; s--) {
        if (x->known.side[s].source == FOLLOWING_NOWHERE &&
            (s == SIDE_VIRTUAL || p->method == SHADOW_MODEL || p->method == SHADOW_EFFORTS ||
             p->method == SHADOW_RAMP)) {
            known_parameters_obstacle(&x->known, same_model(x, d), (enum side)s, x->obstacle,
                                      sizeof x->obstacle);
            return;
        }
    }
    pair_following_setup(x, p, &setup);
    if (follower_check(&setup.follower, &err) != STATUS_OK) {
        (void)snprintf(x->obstacle, sizeof x->obstacle, "%.48s: %.100s", err.where, err.text);
    }
}

void pair_following_init(struct pair_following *x, const struct pair_following_params *p)
{
    const struct model *model = model_find(p->model);
    assert(model);
    memset(x, 0, sizeof *x);
    x->model = (uint32_t)model_place(model);
    following_init(&x->f, LAB_TIME_NONE);
    x->asked = p->active;
    x->gains = (struct follower_gains){.rejection = (enum follower_rejection)p->rejection,
                                       .observer_radps = p->observer_radps,
                                       .pose_per_s2 = p->pose_per_s2,
                                       .blend_s = p->blend_s};
    for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
        x->gains.bandwidth_radps[i] = p->bandwidth_radps;
    }
    x->next_us = LAB_TIME_MAX;
    x->published_us = LAB_TIME_NONE;
    x->stepped_us = LAB_TIME_NONE;
    x->hash = HASH_START;
    known_parameters_init(&x->known, p);
    pair_following_learn(x, p, NULL);
}

/* The known parameters may have changed; the effort then continues without a jump. */
static void detect_known_change(struct pair_following *x, const struct known_parameters *before)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const struct known_theta *old = &before->side[s];
        const struct known_theta *new = &x->known.side[s];
        if (old->source != new->source ||
            memcmp(old->theta, new->theta, sizeof old->theta) != 0) {
            follower_smooth(&x->f.follower);
            x->version++;
        }
    }
}

void pair_following_learn(struct pair_following *x, const struct pair_following_params *p,
                          const struct pair_dynamics *d)
{
    const struct known_parameters before = x->known;
    known_parameters_fit(&x->known, pair_following_model(x), same_model(x, d));
    detect_known_change(x, &before);
    x->stuck[0] = '\0'; /* new parameters: try again */
    find_obstacle(x, p, d);
    following_want(&x->f, x->asked && x->obstacle[0] == '\0');
}

void pair_following_acknowledged(struct pair_following *x, const struct pair_run *run,
                                 const struct pair_dynamics *d)
{
    const struct known_parameters before = x->known;
    const struct event_ack *ack = &run->event->ack;
    if (!same_model(x, d) || ack->version != pair_parameters_version(run->pair, &d->sets)) {
        return; /* an answer to a set that is no longer in force */
    }
    known_parameters_acknowledge(&x->known, pair_following_model(x), d, ack);
    detect_known_change(x, &before);
    pair_following_learn(x, run->p->following, d);
}

/* ---- telemetry ------------------------------------------------------------------------------
 */

static int64_t period_us(const struct pair_following_params *p)
{
    const int64_t us = (int64_t)llround(1e6 / p->rate_hz);
    return us > 0 ? us : 1;
}

/* Control periods begin on a grid, strictly after t. */
static void arm_period(struct pair_following *x, const struct pair_run *run)
{
    const int64_t period = period_us(run->p->following);
    if (x->next_us == LAB_TIME_MAX && (x->f.wanted || x->f.driving)) {
        x->next_us = (run->t_us / period + 1) * period;
    }
    if (x->next_us < run->pair->deadline_us) {
        run->pair->deadline_us = x->next_us;
    }
}

/* The machine's time begins with the first sample. */
static void begin_machine(struct pair_following *x, const struct pair_run *run)
{
    struct efsm *machine = &x->f.machine;
    if (machine->entered_us == LAB_TIME_NONE) {
        machine->entered_us = run->t_us;
    }
}

/* Returns the time of measurement in lab time. */
static int64_t measured_us(const struct pair_run *run)
{
    const struct event_telemetry *m = &run->event->telemetry;
    const enum side side = run->event->side;
    if (m->has_sim || m->source_us == LAB_TIME_NONE ||
        run->p->source_clock[side] != PAIR_CLOCK_WALL) {
        return run->t_us;
    }
    const int64_t t_us = clock_map_to_lab(&run->pair->side[side].clock, m->source_us);
    return t_us == LAB_TIME_NONE ? run->t_us : t_us;
}

static void publish_fidelity(struct pair_following *x, const struct pair_run *run)
{
    if (x->published_us == LAB_TIME_NONE || run->t_us - x->published_us >= PUBLISH_US) {
        x->published_us = run->t_us;
        pair_emit(run, (struct effect){.kind = EFFECT_FIDELITY, .side = SIDE_COUNT});
    }
}

/* Numbers beyond the model's axes are ignored, except for motion in the plane. */
static bool lies_on_axes(const struct pair_following *x, const double *values, size_t count,
                         double axes[MODEL_AXES_MAX])
{
    const struct model *model = pair_following_model(x);
    const size_t n = model->axis_count;
    const bool planar = model->planar && count == 3;
    return count >= n &&
           model_axes_map(model, values, planar ? count : n, axes) == MODEL_AXES_FIT;
}

/* Returns the pose on the model's axes. For a pose in space that is its part in the plane; the
 * last number is the heading. NULL: no pose. */
static const double *find_pose(const struct pair_following *x, const struct event_telemetry *m,
                               double plane[MODEL_AXES_MAX])
{
    const struct model *model = pair_following_model(x);
    memcpy(plane, m->pose, sizeof m->pose);
    if (following_in_plane(model) && m->pose_count > 3) {
        plane[2] = m->pose[m->pose_count - 1];
    }
    return m->pose_count >= model_pose_count(model) ? plane : NULL;
}

void pair_following_sample(struct pair_following *x, const struct pair_run *run)
{
    const struct event_telemetry *m = &run->event->telemetry;
    double nu[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
    if (run->event->retained || !lies_on_axes(x, m->nu, m->nu_count, nu)) {
        return;
    }
    begin_machine(x, run);
    struct following_params setup;
    double place[MODEL_AXES_MAX];
    const int64_t t_us = measured_us(run);
    const double *pose = find_pose(x, m, place);
    pair_following_setup(x, run->p->following, &setup);
    if (run->event->side == SIDE_REAL) {
        const bool on_axes = lies_on_axes(x, m->tau, m->tau_count, tau);
        const enum shadow_gate gate =
            following_real(&x->f, &setup, t_us, run->t_us, nu, on_axes ? tau : NULL, pose);
        if (is_accepted(gate) && on_axes &&
            lies_on_axes(x, m->tau_dot, m->tau_dot_count, tau)) {
            shadow_set_rate(&x->f.real, &setup.real, tau);
        }
    } else {
        (void)following_simulated(&x->f, &setup, t_us, run->t_us, nu, pose);
    }
    x->version++;
    x->stepped_us = run->t_us;
    arm_period(x, run);
    publish_fidelity(x, run);
}

void pair_following_restarted(struct pair_following *x, enum side side)
{
    following_restarted(&x->f, side == SIDE_REAL);
    if (side == SIDE_VIRTUAL) {
        const struct known_parameters before = x->known;
        known_parameters_restart(&x->known, pair_following_model(x));
        detect_known_change(x, &before);
    }
}

/* ---- a control period -----------------------------------------------------------------------
 */

static void send_effort(struct pair_following *x, const struct pair_run *run)
{
    const size_t axes = pair_following_model(x)->axis_count;
    char text[256];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    JSON_OPEN(&w, NULL, JSON_SECONDS("t", run->t_us));
    JSON_LIST(&w, "tau", size_t i = 0; i < axes; i++) {
        json_write_real(&w, NULL, x->f.output.tau[i]);
    }
    json_write_close(&w);
    if (!json_write_end(&w)) {
        return;
    }
    x->sent++;
    x->hash = hash_bytes(x->hash, text, w.used);
    pair_emit_payload(run, EFFECT_CONTROL, SIDE_VIRTUAL, text, w.used);
}

/* Describes the distance of the tools of arms, and the joint with the largest error; "" for
 * other robots. */
static const char *describe_arms(const struct fidelity_params *p,
                                 const struct fidelity_report *report, char *text, size_t size)
{
    const size_t axes = p->model->axis_count;
    size_t worst = 0;
    for (size_t i = 1; i < axes; i++) {
        worst = report->rmse[axes + i] > report->rmse[axes + worst] ? i : worst;
    }
    (void)snprintf(text, size, "; tools %.1f mm apart, joint %zu by %.3f rad",
                   1e3 * report->tool_rmse_m, worst + 1, report->rmse[axes + worst]);
    return p->has_arm ? text : "";
}

static void report_changes(struct pair_following *x, const struct pair_run *run,
                           unsigned changes)
{
    const struct pair_following_params *p = run->p->following;
    if (changes & FOLLOWING_CHANGE_STALE) {
        x->stale++;
        pair_alarm(run, ALARM_REAL_TELEMETRY_STALE, SIDE_REAL, "",
                   "no telemetry of the real robot for %g s: its velocity is held, then ramped "
                   "down",
                   lab_s(p->stale_us));
    }
    if (changes & FOLLOWING_CHANGE_LOST) {
        x->lost++;
        pair_alarm(run, ALARM_VIRTUAL_TELEMETRY_STALE, SIDE_VIRTUAL, "",
                   "no telemetry of the virtual robot for %g s: no effort is sent",
                   lab_s(p->stale_us));
    }
    if (changes & FOLLOWING_CHANGE_RESET) {
        pair_alarm(run, ALARM_MODEL_RESET, SIDE_COUNT, "",
                   "a model's motion was not finite: it restarted at the last sample");
    }
    if (changes & FOLLOWING_CHANGE_RESUMED) {
        x->resumed++;
        pair_alarm(run, ALARM_FOLLOWING_RESUMED, SIDE_COUNT, "", "following again");
    }
    if (changes & (FOLLOWING_CHANGE_MISSED | FOLLOWING_CHANGE_MET)) {
        struct following_params setup;
        struct fidelity_report report;
        pair_following_setup(x, p, &setup);
        fidelity_read(&x->f.fidelity, &setup.fidelity, run->t_us, &report);
        const bool missed = (changes & FOLLOWING_CHANGE_MISSED) != 0;
        x->missed += missed ? 1 : 0;
        char arms[96];
        pair_alarm(run, missed ? ALARM_FIDELITY_MISSED : ALARM_FIDELITY_MET, SIDE_VIRTUAL, "",
                   "within %g m and %g s for %.1f %% of the last %g s; %s%s", p->target_m,
                   lab_s(p->target_us), 100.0 * report.within_ratio, lab_s(p->window_us),
                   missed ? "the target is missed" : "the target is met again",
                   describe_arms(&setup.fidelity, &report, arms, sizeof arms));
    }
}

/* With these parameters no effort can be sent. */
static void give_up(struct pair_following *x, const struct pair_run *run)
{
    (void)snprintf(x->stuck, sizeof x->stuck,
                   "the models give no finite effort: identify the robots again");
    (void)snprintf(x->obstacle, sizeof x->obstacle, "%s", x->stuck);
    following_want(&x->f, false);
    pair_alarm(run, ALARM_FOLLOWING_ENDED, SIDE_VIRTUAL, "", "following ends: %s", x->stuck);
}

/* With no robot driven and both silent, the next sample starts again. */
static bool goes_on(const struct pair_following *x)
{
    const uint8_t state = x->f.machine.state;
    return x->f.driving || (x->f.wanted && state == FOLLOWING_TRACKING);
}

void pair_following_fire(struct pair_following *x, const struct pair_run *run)
{
    if (x->next_us > run->t_us) {
        return;
    }
    struct following_params setup;
    unsigned changes = 0;
    pair_following_setup(x, run->p->following, &setup);
    const bool sends = following_tick(&x->f, &setup, run->t_us, &changes);
    x->version++;
    x->stepped_us = run->t_us;
    x->next_us = goes_on(x) ? x->next_us + period_us(run->p->following) : LAB_TIME_MAX;
    if (sends) {
        send_effort(x, run);
    }
    report_changes(x, run, changes);
    if (changes & FOLLOWING_CHANGE_STUCK) {
        give_up(x, run);
    }
}

int64_t pair_following_deadline(const struct pair_following *x)
{
    return x->next_us;
}

/* ---- requests
 * ------------------------------------------------------------------------------- */

static void set_gains(struct follower_gains *gains, const struct event_following *desired)
{
    for (size_t i = 0; i < MODEL_AXES_MAX && desired->bandwidth_radps > 0.0; i++) {
        gains->bandwidth_radps[i] = desired->bandwidth_radps;
    }
    if (desired->observer_radps > 0.0) {
        gains->observer_radps = desired->observer_radps;
    }
    if (desired->pose_per_s2 >= 0.0) {
        gains->pose_per_s2 = desired->pose_per_s2;
    }
    if (desired->rejection >= 0 && desired->rejection < FOLLOWER_REJECTION_COUNT) {
        gains->rejection = (enum follower_rejection)desired->rejection;
    }
}

enum status pair_following_check_request(const struct pair_following *x,
                                         const struct pair_following_params *p,
                                         const struct event_following *desired, struct err *err)
{
    struct following_params setup;
    pair_following_setup(x, p, &setup);
    set_gains(&setup.follower.gains, desired);
    follower_gains_complete(&setup.follower);
    /* A robot without known parameters is checked once it has some. */
    return x->known.side[SIDE_VIRTUAL].source == FOLLOWING_NOWHERE
               ? STATUS_OK
               : follower_check(&setup.follower, err);
}

void pair_following_request(struct pair_following *x, const struct pair_run *run,
                            const struct pair_dynamics *d)
{
    const struct event_following *desired = &run->event->request.following;
    begin_machine(x, run);
    struct err err = {0};
    if (pair_following_check_request(x, run->p->following, desired, &err) != STATUS_OK) {
        pair_alarm(run, ALARM_GAINS_REFUSED, SIDE_COUNT, "", "gains refused: %.40s: %.120s",
                   err.where, err.text);
        return;
    }
    set_gains(&x->gains, desired);
    follower_smooth(&x->f.follower);
    if (desired->active >= 0) {
        x->asked = desired->active != 0;
    }
    pair_following_learn(x, run->p->following, d);
    x->version++;
    if (x->asked && x->obstacle[0]) {
        pair_alarm(run, ALARM_FOLLOWING_NOT_READY, SIDE_COUNT, "", "cannot follow yet: %s",
                   x->obstacle);
    }
    arm_period(x, run);
}
