/* twin/dynamics/pair_dynamics_step.c - the step of a pair's dynamics: samples, the start and
 * end of fits, and the parameter sets made of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/dynamics/pair_dynamics_parts.h"
#include "twin/dynamics/pair_dynamics_thresholds.def"

/* Period of publishing the estimates. */
static const int64_t PUBLISH_US = 10000000;
/* No parameter is known better than to this share. */
static const double SE_RATIO_MIN = 0.005;
/* Default noise, as a share of the velocity's spread; initial disturbances, as a share of the
 * noise. */
static const double NOISE_MIN_RATIO = 1e-3;
static const double WALK_RATIO = 0.1;
/* Assumed relative standard error of parameters that a simulator has just received. */
static const double REPORTED_SE_RATIO = 0.02;

static struct online_params filter_params(const struct pair_dynamics_params *p)
{
    struct online_params f = online_params_defaults();
    f.biases = p->biases;
    f.gate_sd = p->gate_sd;
    f.gap_s = lab_s(p->gap_us);
    f.excitation_s = lab_s(p->excitation_us);
    f.drift_ratio = p->drift_ratio;
    return f;
}

static void publish_dynamics(struct pair_dynamics *d, const struct pair_run *run,
                             enum side side)
{
    d->side[side].published_us = run->t_us;
    pair_emit(run, (struct effect){.kind = EFFECT_DYNAMICS, .side = side});
}

/* ---- fits ---------------------------------------------------------------------------------
 */

/* Explains why a fit cannot begin now; NULL if it can. */
static const char *fit_obstacle(const struct dynamics_side *side)
{
    if (!side->followed) {
        return "the dynamics of this side are not followed";
    }
    if (side->running) {
        return "a fit of this side is running";
    }
    if (side->shape.wrong) {
        return "telemetry does not fit the model";
    }
    return side->count < DYNAMICS_WINDOW_MIN ? "the window holds too few samples" : NULL;
}

static void start_fit(struct pair_dynamics *d, const struct pair_run *run, enum side which,
                      enum fit_cause cause, const char *by)
{
    struct dynamics_side *side = &d->side[which];
    const struct pair_dynamics_params *p = &run->p->dynamics;
    pair_dynamics_freeze(d, p, which);
    side->running = true;
    side->cause = (uint8_t)cause;
    side->job++;
    side->began_us = run->t_us;
    side->give_up_us = run->t_us + p->fit_timeout_us;
    side->next_fit_us = LAB_TIME_MAX;
    side->counts.started++;
    (void)snprintf(side->by, sizeof side->by, "%s", by);
    if (side->give_up_us < run->pair->deadline_us) {
        run->pair->deadline_us = side->give_up_us;
    }
    pair_emit(run, (struct effect){.kind = EFFECT_FIT, .side = which, .job = side->job});
}

const char *pair_dynamics_request(struct pair_dynamics *d, const struct pair_run *run)
{
    const struct event_request *r = &run->event->request;
    const char *why = fit_obstacle(&d->side[r->side]);
    if (why) {
        d->side[r->side].counts.declined++;
    } else {
        start_fit(d, run, r->side, FIT_BY_REQUEST, r->by[0] ? r->by : "http");
    }
    return why;
}

/* Starts the first fit with half a window; later ones when they are due. */
static void consider_fit(struct pair_dynamics *d, const struct pair_run *run, enum side which)
{
    struct dynamics_side *side = &d->side[which];
    const struct pair_dynamics_params *p = &run->p->dynamics;
    if (fit_obstacle(side)) {
        return;
    }
    const int64_t span_us = pair_dynamics_span_us(d, p, which);
    /* A robot at rest gives no information. */
    if (side->pushed_us == LAB_TIME_NONE || side->stored_us - side->pushed_us > span_us) {
        side->driven_us = LAB_TIME_NONE;
        return;
    }
    const bool wide = span_us >= p->window_us / 2 || side->count == p->window;
    /* A robot that has only just begun to move gives too little information. */
    side->waits = side->counts.started == 0 && wide &&
                  side->stored_us - side->driven_us < p->window_us / 4;
    if (side->waits) {
        side->counts.waited++;
    } else if (side->counts.started == 0 && wide) {
        start_fit(d, run, which, FIT_BY_START, "auto");
    } else if (run->t_us >= side->next_fit_us && (wide || span_us >= p->window_us / 4)) {
        start_fit(d, run, which, side->drift_waits ? FIT_BY_DRIFT : FIT_BY_TIME, "auto");
        side->drift_waits = false;
    }
}

/* Schedules the next fit. */
static void plan_fit(const struct pair_run *run, struct dynamics_side *side)
{
    const struct pair_dynamics_params *p = &run->p->dynamics;
    const int64_t again_us = p->window_us / 2;
    if (p->refit_us > 0) {
        side->next_fit_us = side->began_us + p->refit_us;
    }
    if (!side->filter.running && side->next_fit_us > side->began_us + again_us) {
        side->next_fit_us = side->began_us + again_us;
    }
    if (side->next_fit_us <= run->t_us) {
        side->next_fit_us = run->t_us;
    }
}

/* Sets the filter's noise from the samples. The rest of the fit's residual becomes
 * disturbances, which decay as fast as velocities do. */
static void set_noise(const struct model *model, const struct dynamics_result *r,
                      const double *theta, struct online_start *start)
{
    double nu[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
    double pose[MODEL_AXES_MAX] = {0.0};
    double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
    const size_t n = model->axis_count;
    for (size_t i = 0; i < n; i++) {
        nu[i] = r->summary.nu[i].sd;
        tau[i] = r->summary.tau[i].mean;
    }
    model->slope(model, theta, pose, nu, model->rows_under ? tau : NULL, slope);
    for (size_t i = 0; i < n; i++) {
        const double noise = fmax(r->summary.nu[i].noise_sd, NOISE_MIN_RATIO * nu[i]);
        const double residual = fmax(r->run_rmse[i], noise);
        const double rate_hz = fabs(slope[i * n + i]);
        const double walk = sqrt(2.0 * rate_hz * (residual * residual - noise * noise));
        start->noise_sd[i] = noise > 0.0 ? noise : NOISE_MIN_RATIO;
        start->walk_sd[i] = fmax(walk, WALK_RATIO * start->noise_sd[i]);
    }
}

/* Starts this side's filter at these values; se: standard errors if they are not known
 * better. */
static bool begin_filter(struct pair_dynamics *d, enum side which, const double *theta,
                         const double *se)
{
    struct dynamics_side *side = &d->side[which];
    const struct model *model = pair_dynamics_model(d);
    struct online_start start;
    for (size_t j = 0; j < side->filter.p; j++) {
        start.theta[j] = theta[j];
        start.se[j] = fmax(se[j], fmax(SE_RATIO_MIN * fabs(theta[j]), 1e-9));
    }
    set_noise(model, &side->result, theta, &start);
    return online_filter_start(&side->filter, model, &start);
}

/* Is the filter off by more than chance, and by a relevant amount? */
static bool filter_is_far(const struct dynamics_side *side, double drift_ratio)
{
    const struct estimate *e = &side->result.fit.estimate;
    for (size_t j = 0; j < side->filter.p; j++) {
        const double away = fabs(side->filter.theta[j] - e->value[j]);
        const double sd = hypot(e->se[j], online_filter_se(&side->filter, j));
        if (!(away <= FILTER_Z_MAX * sd || away <= 0.5 * drift_ratio * fabs(e->value[j]))) {
            return true;
        }
    }
    return false;
}

/* Does nothing if values are missing or not physical. */
static void begin_at_fit(struct pair_dynamics *d, enum side which)
{
    const struct estimate *e = &d->side[which].result.fit.estimate;
    (void)begin_filter(d, which, e->value, e->se);
}

/* After a passed fit the filter starts there, or is compared with it. */
static void use_fit(struct pair_dynamics *d, const struct pair_run *run, enum side which)
{
    struct dynamics_side *side = &d->side[which];
    const struct estimate *e = &side->result.fit.estimate;
    if (!side->filter.running || filter_is_far(side, run->p->dynamics.drift_ratio)) {
        begin_at_fit(d, which);
    } else if (which == SIDE_VIRTUAL || !parameters_find(&d->sets, PARAMETERS_ACTIVE)) {
        online_filter_refer(&side->filter, e->value, e->se);
    }
}

/* ---- parameter sets -----------------------------------------------------------------------
 */

static const struct parameter_set *add_set(struct pair_dynamics *d, const struct pair_run *run)
{
    struct dynamics_side *side = &d->side[SIDE_REAL];
    const struct dynamics_result *r = &side->result;
    /* Versions count per pair, whatever the model. */
    const uint32_t version = ++run->pair->parameters.last_version;
    struct parameter_set *set =
        parameters_add(&d->sets, pair_dynamics_model(d), version, run->t_us);
    set->method = (uint8_t)r->fit.method;
    set->verdict = (uint8_t)r->checks.verdict;
    set->n = (uint16_t)(r->summary.used < UINT16_MAX ? r->summary.used : UINT16_MAX);
    set->count = (uint8_t)side->filter.p;
    /* The window's stamps are the robot's clock; the frozen window ended when the fit began. */
    set->until_us = side->began_us;
    set->since_us = pair_dynamics_since_us(side);
    set->data_hash = r->data_hash;
    memcpy(set->value, r->fit.estimate.value, set->count * sizeof set->value[0]);
    memcpy(set->se, r->fit.estimate.se, set->count * sizeof set->se[0]);
    side->result_version = version;
    return set;
}

/* Makes a candidate or a rejection of the real robot's fit. */
static void propose_fit(struct pair_dynamics *d, const struct pair_run *run, const char *by)
{
    const struct dynamics_result *r = &d->side[SIDE_REAL].result;
    struct parameter_change change = {.by = by,
                                      .detail = "",
                                      .checks = &r->checks,
                                      .model = pair_dynamics_model(d),
                                      .dynamics = &r->fit};
    if (r->checks.verdict == ESTIMATE_FAIL) {
        change.action = PARAMETERS_REJECTED;
        change.detail = parameters_first_failure(&r->checks);
        pair_emit_change(run, &change);
        return;
    }
    const bool promotes = run->p->dynamics.promote == PAIR_PROMOTE_AUTO;
    const bool automatic = promotes && strcmp(by, "auto") == 0;
    const struct parameter_set *set =
        automatic
            ? parameters_find_same(&d->sets, (uint8_t)r->checks.verdict, r->fit.estimate.value,
                                   r->fit.estimate.se, d->side[SIDE_REAL].filter.p)
            : NULL;
    if (set && set->state == PARAMETERS_ACTIVE) {
        return;
    }
    const bool repeated = set != NULL;
    set = repeated ? set : add_set(d, run);
    const char *why = parameters_hold_back(set, parameters_differ(&d->sets, set, NULL));
    if (!repeated) {
        change.action = PARAMETERS_PROPOSED;
        change.detail = automatic && why ? why : "";
        change.set = set;
        change.version = set->version;
        pair_emit_change(run, &change);
    }
    if (promotes && !why) {
        set = parameters_promote(&d->sets, set->version, &why);
        pair_activate_set(run, PARAMETERS_PROMOTED, "auto", set, true);
        pair_dynamics_apply_set(d);
    }
}

void pair_dynamics_apply_set(struct pair_dynamics *d)
{
    const struct parameter_set *set = parameters_find(&d->sets, PARAMETERS_ACTIVE);
    struct dynamics_side *real = &d->side[SIDE_REAL];
    struct dynamics_side *virtual = &d->side[SIDE_VIRTUAL];
    double se[DYNAMICS_P_MAX];
    d->version++;
    if (virtual->followed) {
        pair_dynamics_cut(virtual);
        virtual->filter.running = false;
        virtual->reference.count = 0;
        virtual->other_job = virtual->running ? virtual->job : 0;
    }
    if (!set) {
        return;
    }
    if (real->followed && real->filter.running) {
        online_filter_refer(&real->filter, set->value, set->se);
    }
    for (size_t j = 0; j < set->count; j++) {
        se[j] = REPORTED_SE_RATIO * fabs(set->value[j]);
    }
    if (virtual->followed && virtual->fitted) {
        (void)begin_filter(d, SIDE_VIRTUAL, set->value, se);
    }
}

/* ---- ends of fits -------------------------------------------------------------------------
 */

static void apply_result(struct pair_dynamics *d, const struct pair_run *run, enum side which)
{
    struct dynamics_side *side = &d->side[which];
    side->fitted = true;
    side->fitted_us = run->t_us;
    side->result_cause = side->cause;
    side->result_job = side->job;
    side->result_version = 0;
    side->counts.done++;
    pair_emit_history(run, which);
    if (side->result.checks.verdict != ESTIMATE_FAIL) {
        use_fit(d, run, which);
        pair_dynamics_compare(d, run, which);
    } else if (!side->filter.running &&
               side->result.checks.check[CHECK_HELD_OUT].verdict != ESTIMATE_FAIL) {
        /* It is too weak to promote, but good enough as a start of the filter. */
        begin_at_fit(d, which);
    }
    if (which == SIDE_REAL) {
        propose_fit(d, run, side->by);
    }
}

static void fail_fit(struct pair_dynamics *d, const struct pair_run *run, enum side which,
                     const char *why)
{
    d->side[which].counts.failed++;
    pair_alarm(run, ALARM_FIT_FAILED, which, "",
               "the fit of the %s robot's dynamics failed: %s", side_name(which), why);
}

void pair_dynamics_fitted(struct pair_dynamics *d, const struct pair_run *run)
{
    const struct event_fit *e = &run->event->fit;
    const enum side which = run->event->side;
    struct dynamics_side *side = &d->side[which];
    if (!side->running || side->job != e->job) {
        side->counts.stray++;
        return;
    }
    struct dynamics_task task;
    struct err err = {0};
    pair_dynamics_task(d, &run->p->dynamics, which, &task);
    side->running = false;
    side->give_up_us = LAB_TIME_MAX;
    if (e->outcome == FIT_CANCELLED) {
        side->counts.cancelled++;
        pair_alarm(run, ALARM_FIT_CANCELLED, which, "",
                   "the fit of the %s robot's dynamics was cancelled", side_name(which));
    } else if (e->outcome != FIT_DONE) {
        fail_fit(d, run, which, e->detail);
    } else if (e->result) {
        side->result = *e->result;
        apply_result(d, run, which);
    } else if (dynamics_task_run(&task, &side->result, &err) == STATUS_OK) {
        apply_result(d, run, which);
    } else {
        fail_fit(d, run, which, err.text);
    }
    const int64_t wanted_us = side->next_fit_us; /* due because a change was reported */
    plan_fit(run, side);
    side->next_fit_us = wanted_us < side->next_fit_us ? wanted_us : side->next_fit_us;
    d->version++;
    publish_dynamics(d, run, which);
}

int64_t pair_dynamics_deadline(const struct pair_dynamics *d)
{
    const int64_t real_us = d->side[SIDE_REAL].give_up_us;
    const int64_t virtual_us = d->side[SIDE_VIRTUAL].give_up_us;
    return real_us < virtual_us ? real_us : virtual_us;
}

void pair_dynamics_fire(struct pair_dynamics *d, const struct pair_run *run)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        struct dynamics_side *side = &d->side[s];
        if (side->running && side->give_up_us <= run->t_us) {
            side->running = false;
            side->give_up_us = LAB_TIME_MAX;
            side->counts.lost++;
            plan_fit(run, side);
            pair_alarm(run, ALARM_FIT_TIMEOUT, s, "",
                       "the fit of the %s robot's dynamics did not end within %g s",
                       side_name(s), lab_s(run->p->dynamics.fit_timeout_us));
        }
    }
}

/* ---- samples ------------------------------------------------------------------------------
 */

/* Returns the robot's own time if the sample has one. */
static int64_t sample_time(const struct pair_run *run)
{
    const struct event_telemetry *m = &run->event->telemetry;
    if (m->has_sim) {
        return m->sim_us;
    }
    return m->source_us != LAB_TIME_NONE ? m->source_us : run->t_us;
}

static bool is_stale(const struct pair_run *run)
{
    const struct event_telemetry *m = &run->event->telemetry;
    const enum side side = run->event->side;
    if (run->event->retained) {
        return true;
    }
    if (m->source_us == LAB_TIME_NONE || run->p->source_clock[side] != PAIR_CLOCK_WALL) {
        return false;
    }
    const int64_t transport_us =
        clock_map_transport_us(&run->pair->side[side].clock, run->t_us, m->source_us);
    return transport_us != LAB_TIME_NONE && transport_us > run->p->dynamics.stale_us;
}

/* Records the effort of a sample newer than the last. */
static void record_effort(struct dynamics_side *side, const struct online_sample *s)
{
    const uint32_t before = (side->effort_count - 1) % DYNAMICS_EFFORTS_MAX;
    if (side->effort_count > 0 && s->t_us <= side->effort_us[before]) {
        return;
    }
    if (side->effort_count > 0 &&
        memcmp(side->effort[before], s->tau, sizeof side->effort[before]) != 0) {
        side->pushed_us = s->t_us;
        side->driven_us = side->driven_us == LAB_TIME_NONE ? s->t_us : side->driven_us;
    }
    const uint32_t at = side->effort_count++ % DYNAMICS_EFFORTS_MAX;
    side->effort_us[at] = s->t_us;
    memcpy(side->effort[at], s->tau, sizeof side->effort[at]);
}

/* Computes the mean effort from from_us to to_us, as far as known. With an input delay an
 * earlier effort acts; if efforts are reported late, a later one does. */
static void average_effort(struct dynamics_side *side, size_t n, int64_t from_us, int64_t to_us)
{
    double sum[MODEL_AXES_MAX] = {0.0};
    int64_t end_us = to_us;
    const uint32_t available =
        side->effort_count < DYNAMICS_EFFORTS_MAX ? side->effort_count : DYNAMICS_EFFORTS_MAX;
    for (uint32_t back = 1; back <= available && end_us > from_us; back++) {
        const uint32_t at = (side->effort_count - back) % DYNAMICS_EFFORTS_MAX;
        /* The oldest effort also represents earlier times. */
        const int64_t begin_us =
            side->effort_us[at] < from_us || back == available ? from_us : side->effort_us[at];
        if (begin_us >= end_us) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            sum[i] += side->effort[at][i] * (double)(end_us - begin_us);
        }
        end_us = begin_us;
    }
    if (available > 0 && to_us > from_us) {
        for (size_t i = 0; i < n; i++) {
            sum[i] /= (double)(to_us - from_us);
        }
        online_filter_hold(&side->filter, sum);
    }
}

static enum online_gate filter_sample(struct pair_dynamics *d, const struct pair_run *run,
                                      const struct online_sample *s)
{
    const enum side which = run->event->side;
    struct dynamics_side *side = &d->side[which];
    const struct model *model = pair_dynamics_model(d);
    const struct online_params params = filter_params(&run->p->dynamics);
    double delay_s = side->fitted ? side->result.fit.delay_s : nan("");
    bool drifted = false;
    struct online_drift drift;
    struct dynamics_reference before;
    if (s->tau_count == model->axis_count) {
        record_effort(side, s);
    }
    if (side->fitted && side->result.hold.hold == INPUT_INTERPOLATION_LINEAR &&
        side->filter.placed) {
        /* The mean of two samples acts half a period before its stamp. */
        delay_s =
            (isfinite(delay_s) ? delay_s : 0.0) - 0.5 * lab_s(s->t_us - side->filter.t_us);
    }
    if (fabs(delay_s) > 0.0 && side->filter.placed) {
        const int64_t delay_us = lab_us(delay_s);
        average_effort(side, model->axis_count, side->filter.t_us - delay_us,
                       s->t_us - delay_us);
    }
    /* A reported change moves the reference. */
    if (side->filter.opened) {
        pair_dynamics_refer_filter(&side->filter, side->filter.reference,
                                   side->filter.reference_se, &before);
    }
    const enum online_gate gate =
        online_filter_step(&side->filter, model, &params, s, &drifted, &drift);
    if (drifted) {
        pair_dynamics_report_drift(d, run, which, &drift, &before);
    }
    return gate;
}

/* May the sample be part of a batch fit? */
static bool is_good(const struct dynamics_side *side, const struct online_sample *s,
                    enum online_gate gate, size_t n)
{
    const bool fits = gate == ONLINE_USED || gate == ONLINE_NOT_EXCITED ||
                      gate == ONLINE_WAITING || gate == ONLINE_GAP;
    return fits && s->tau_count == n &&
           (side->sampled_us == LAB_TIME_NONE || s->t_us > side->sampled_us);
}

static enum online_gate apply_sample(struct pair_dynamics *d, const struct pair_run *run)
{
    const struct event_telemetry *m = &run->event->telemetry;
    const enum side which = run->event->side;
    struct dynamics_side *side = &d->side[which];
    const size_t n = pair_dynamics_model(d)->axis_count;
    enum online_gate gate = run->changes->repeated ? ONLINE_DUPLICATE : ONLINE_OUT_OF_ORDER;
    struct online_sample s = {
        .t_us = sample_time(run), .lab_us = run->t_us, .pose_count = m->pose_count};
    if (run->changes->old || is_stale(run)) {
        gate = run->changes->old ? gate : ONLINE_STALE;
        online_filter_pass_over(&side->filter, gate);
        return gate;
    }
    memcpy(s.pose, m->pose, m->pose_count * sizeof s.pose[0]);
    pair_dynamics_check_shape(d, run, &s);
    gate = filter_sample(d, run, &s);
    if (is_good(side, &s, gate, n)) {
        pair_dynamics_store(d, &run->p->dynamics, which, &s);
    }
    return gate;
}

void pair_dynamics_sample(struct pair_dynamics *d, const struct pair_run *run)
{
    const enum side which = run->event->side;
    if (!d->side[which].followed) {
        return;
    }
    struct dynamics_side *side = &d->side[which];
    const enum online_gate gate = apply_sample(d, run);
    d->version++;
    side->out_of_order_in_a_row =
        gate == ONLINE_OUT_OF_ORDER && !run->changes->old ? side->out_of_order_in_a_row + 1 : 0;
    if (side->out_of_order_in_a_row > OUT_OF_ORDER_MAX) {
        pair_dynamics_cut(side);
    }
    consider_fit(d, run, which);
    if (side->published_us == LAB_TIME_NONE || run->t_us - side->published_us >= PUBLISH_US) {
        publish_dynamics(d, run, which);
    }
}

void pair_dynamics_restarted(struct pair_dynamics *d, enum side side)
{
    if (d->side[side].followed) {
        pair_dynamics_cut(&d->side[side]);
        d->side[side].shape = (struct dynamics_shape){0};
        d->version++;
    }
}
