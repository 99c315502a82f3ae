#include "twin/dynamics/pair_dynamics.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "identification/model/models.h"
#include "twin/dynamics/pair_dynamics_parts.h"
#include "twin/dynamics/pair_dynamics_thresholds.def"

ENUM_NAMES(fit_cause, FIT_CAUSE_COUNT, "start", "time", "drift", "request");

const struct model *pair_dynamics_model(const struct pair_dynamics *d)
{
    return model_at(d->model);
}

/* ---- the block ----------------------------------------------------------------------------
 */

static size_t align_bytes(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static bool follows_side(const struct pair_dynamics_params *p, enum side side)
{
    return p->sides == DYNAMICS_SIDES_BOTH ||
           (side == SIDE_REAL) == (p->sides == DYNAMICS_SIDES_REAL);
}

static size_t times_bytes(const struct pair_dynamics_params *p)
{
    return align_bytes(p->window * sizeof(int64_t));
}

static size_t window_bytes(const struct pair_dynamics_params *p, const struct model *model)
{
    return times_bytes(p) + align_bytes(p->window * 3 * model->axis_count * sizeof(float));
}

size_t pair_dynamics_bytes(const struct pair_dynamics_params *p)
{
    if (!pair_dynamics_wanted(p)) {
        return 0;
    }
    const struct model *model = model_find(p->model);
    assert(model);
    const size_t sides = p->sides == DYNAMICS_SIDES_BOTH ? 2 : 1;
    return align_bytes(sizeof(struct pair_dynamics)) + 2 * sides * window_bytes(p, model);
}

/* Returns the offset of these samples in the block. */
static size_t window_offset(const struct pair_dynamics *d, const struct pair_dynamics_params *p,
                            enum side side, bool frozen)
{
    const size_t place = (side == SIDE_VIRTUAL && p->sides == DYNAMICS_SIDES_BOTH ? 2U : 0U) +
                         (frozen ? 1U : 0U);
    return align_bytes(sizeof *d) + place * window_bytes(p, pair_dynamics_model(d));
}

/* Samples: t_us [window], values [window][3 axes]. */
struct window {
    int64_t *t_us;
    float *values;
};

static struct window find_window(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                                 enum side side, bool frozen)
{
    char *at = (char *)d + window_offset(d, p, side, frozen);
    return (struct window){(void *)at, (void *)(at + times_bytes(p))};
}

void pair_dynamics_init(struct pair_dynamics *d, const struct pair_dynamics_params *p)
{
    const struct model *model = model_find(p->model);
    const struct online_params filter = {.biases = p->biases};
    assert(model);
    memset(d, 0, pair_dynamics_bytes(p));
    d->model = (uint32_t)model_place(model);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        struct dynamics_side *side = &d->side[s];
        side->followed = follows_side(p, s);
        side->sampled_us = LAB_TIME_NONE;
        side->stored_us = LAB_TIME_NONE;
        side->pushed_us = LAB_TIME_NONE;
        side->driven_us = LAB_TIME_NONE;
        side->next_fit_us = LAB_TIME_MAX;
        side->give_up_us = LAB_TIME_MAX;
        side->fitted_us = LAB_TIME_NONE;
        side->published_us = LAB_TIME_NONE;
        side->drifted_us = LAB_TIME_NONE;
        side->suspected_us = LAB_TIME_NONE;
        side->changed_us = LAB_TIME_NONE;
        online_filter_reset(&side->filter, model, &filter);
    }
}

/* Samples for the estimate of a robot's period. */
enum { PERIODS_MAX = 32 };

/* ---- the window ---------------------------------------------------------------------------
 */

void pair_dynamics_cut(struct dynamics_side *side)
{
    online_filter_cut(&side->filter);
    side->counts.cut += side->count > 0 ? 1 : 0;
    side->first = 0;
    side->count = 0;
    side->sampled_us = LAB_TIME_NONE;
    side->stored_us = LAB_TIME_NONE;
    side->thinning = false;
    side->periods = 0;
    side->out_of_order_in_a_row = 0;
    side->effort_count = 0;
    side->pushed_us = LAB_TIME_NONE;
    side->driven_us = LAB_TIME_NONE;
    side->waits = false;
}

static void store_sample(struct dynamics_side *side, const struct window *w,
                         const struct pair_dynamics_params *p, const struct online_sample *s,
                         size_t n)
{
    const uint32_t at = (side->first + side->count) % p->window;
    float *row = w->values + at * 3 * n;
    side->has_pose = (side->count == 0 || side->has_pose) && s->pose_count >= n;
    w->t_us[at] = s->t_us;
    for (size_t i = 0; i < n; i++) {
        row[i] = (float)s->nu[i];
        row[n + i] = (float)s->tau[i];
        row[2 * n + i] = s->pose_count >= n ? (float)s->pose[i] : 0.0F;
    }
    if (side->count < p->window) {
        side->count++;
    } else {
        side->first = (side->first + 1) % p->window;
    }
    side->stored_us = s->t_us;
    side->thinning = false;
    memset(side->effort_sum, 0, sizeof side->effort_sum);
}

/* Updates the mean time between recent samples. */
static void update_period(struct dynamics_side *side, int64_t t_us)
{
    const double most_us = side->periods > 0 ? GAP_PERIODS * side->period_us : HUGE_VAL;
    const double since_us = fmin((double)(t_us - side->sampled_us), most_us);
    side->periods += side->periods < PERIODS_MAX ? 1 : 0;
    side->period_us = side->periods == 1
                          ? since_us
                          : side->period_us + (since_us - side->period_us) / side->periods;
}

/* Does a sample come too soon after the last stored one? All samples are stored, or every
 * second or third …, according to the robot's period, so that they stay as even as its timer,
 * despite jitter. */
static bool comes_too_soon(const struct dynamics_side *side,
                           const struct pair_dynamics_params *p, int64_t t_us)
{
    const double apart_us = (double)(p->window_us / p->window);
    const double tolerance = PERIOD_RATIO + PERIOD_RATIO_FIRST / side->periods;
    const double every = fmax(ceil(apart_us / side->period_us - tolerance), 1.0);
    return every > 1.0 && (double)(t_us - side->stored_us) < (every - 0.5) * side->period_us;
}

void pair_dynamics_store(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                         enum side which, const struct online_sample *s)
{
    struct dynamics_side *side = &d->side[which];
    const size_t n = pair_dynamics_model(d)->axis_count;
    const struct window w = find_window(d, p, which, false);
    if (side->sampled_us != LAB_TIME_NONE) {
        update_period(side, s->t_us);
        for (size_t i = 0; i < n; i++) {
            side->effort_sum[i] += side->held[i] * (double)(s->t_us - side->sampled_us);
        }
    }
    memcpy(side->held, s->tau, n * sizeof side->held[0]);
    side->sampled_us = s->t_us;
    if (side->count > 0 && comes_too_soon(side, p, s->t_us)) {
        side->thinning = true;
        side->counts.thinned++;
        return;
    }
    if (side->thinning) {
        /* The effort since the last stored sample is the mean over the skipped ones. */
        const uint32_t last = (side->first + side->count - 1) % p->window;
        for (size_t i = 0; i < n; i++) {
            w.values[last * 3 * n + n + i] =
                (float)(side->effort_sum[i] / (double)(s->t_us - side->stored_us));
        }
    }
    store_sample(side, &w, p, s, n);
}

void pair_dynamics_drop_before(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                               enum side which, int64_t t_us)
{
    struct dynamics_side *side = &d->side[which];
    const struct window w = find_window(d, p, which, false);
    while (side->count > 0 && w.t_us[side->first] < t_us) {
        side->first = (side->first + 1) % p->window;
        side->count--;
    }
}

int64_t pair_dynamics_span_us(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                              enum side which)
{
    const struct dynamics_side *side = &d->side[which];
    const struct window w = find_window(d, p, which, false);
    return side->count == 0 ? 0 : side->stored_us - w.t_us[side->first];
}

int64_t pair_dynamics_since_us(const struct dynamics_side *side)
{
    return side->began_us - (side->result.until_us - side->result.since_us);
}

void pair_dynamics_freeze(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                          enum side which)
{
    struct dynamics_side *side = &d->side[which];
    const size_t row = 3 * pair_dynamics_model(d)->axis_count;
    const struct window from = find_window(d, p, which, false);
    const struct window to = find_window(d, p, which, true);
    pair_dynamics_drop_before(d, p, which, side->stored_us - p->window_us);
    for (uint32_t k = 0; k < side->count; k++) {
        const uint32_t at = (side->first + k) % p->window;
        to.t_us[k] = from.t_us[at];
        memcpy(to.values + k * row, from.values + at * row, row * sizeof *to.values);
    }
    side->frozen = side->count;
    side->frozen_has_pose = side->has_pose;
}

void pair_dynamics_task(const struct pair_dynamics *d, const struct pair_dynamics_params *p,
                        enum side side, struct dynamics_task *task)
{
    const struct dynamics_side *s = &d->side[side];
    const char *at = (const char *)d + window_offset(d, p, side, true);
    *task = (struct dynamics_task){.model = pair_dynamics_model(d),
                                   .biases = p->biases,
                                   .plausible = p->plausible,
                                   .has_pose = s->frozen_has_pose,
                                   .method = p->method,
                                   .hold = p->hold,
                                   .n = s->running ? s->frozen : 0,
                                   .t_us = (const void *)at,
                                   .values = (const void *)(at + times_bytes(p))};
}

/* ---- does telemetry fit the model?
 * -------------------------------------------------------- */

enum {
    RECEIVED_MAX = 50 /* samples that count at most */
};

static enum dynamics_misfit misfit_of(const struct model *model,
                                      const struct event_telemetry *m, struct online_sample *s)
{
    const enum model_axes_match nu = model_axes_map(model, m->nu, m->nu_count, s->nu);
    const enum model_axes_match tau = model_axes_map(model, m->tau, m->tau_count, s->tau);
    s->nu_count = nu == MODEL_AXES_FIT ? model->axis_count : 0;
    s->tau_count = tau == MODEL_AXES_FIT ? model->axis_count : 0;
    if (nu != MODEL_AXES_FIT) {
        return nu == MODEL_AXES_SIDEWAYS ? DYNAMICS_NU_SIDEWAYS : DYNAMICS_NU_COUNT;
    }
    if (m->tau_count == 0) {
        return DYNAMICS_NO_TAU;
    }
    if (tau != MODEL_AXES_FIT) {
        return tau == MODEL_AXES_SIDEWAYS ? DYNAMICS_TAU_SIDEWAYS : DYNAMICS_TAU_COUNT;
    }
    return model->needs_pose && m->pose_count < model_pose_count(model) ? DYNAMICS_NO_POSE
                                                                        : DYNAMICS_FITS;
}

static void record_misfit(struct dynamics_shape *shape, const struct event_telemetry *m,
                          enum dynamics_misfit misfit)
{
    shape->received += shape->received < RECEIVED_MAX ? 1 : 0;
    shape->miss_ratio +=
        ((misfit == DYNAMICS_FITS ? 0.0 : 1.0) - shape->miss_ratio) / (double)shape->received;
    if (misfit == DYNAMICS_FITS) {
        return;
    }
    const bool of_nu = misfit == DYNAMICS_NU_COUNT || misfit == DYNAMICS_NU_SIDEWAYS;
    shape->misfit = (uint8_t)misfit;
    shape->count = (uint8_t)(of_nu ? m->nu_count : m->tau_count);
    shape->sideways = misfit == DYNAMICS_NU_SIDEWAYS    ? m->nu[1]
                      : misfit == DYNAMICS_TAU_SIDEWAYS ? m->tau[1]
                                                        : 0.0;
}

void pair_dynamics_check_shape(struct pair_dynamics *d, const struct pair_run *run,
                               struct online_sample *s)
{
    const enum side which = run->event->side;
    const struct event_telemetry *m = &run->event->telemetry;
    struct dynamics_shape *shape = &d->side[which].shape;
    char text[DYNAMICS_OBSTACLE_MAX];
    record_misfit(shape, m, misfit_of(pair_dynamics_model(d), m, s));
    if (shape->wrong) {
        shape->wrong = shape->miss_ratio > RIGHT_RATIO;
    } else if (shape->received >= RECEIVED_MIN && shape->miss_ratio > WRONG_RATIO) {
        shape->wrong = true;
        pair_dynamics_obstacle(d, which, text);
        pair_alarm(run, ALARM_TELEMETRY_MISMATCH, which, "",
                   "nothing is learnt of the %s robot's dynamics: %s", side_name(which), text);
    }
}

/* ---- texts
 * -------------------------------------------------------------------------------- */

/* Lists the axes: "[v_mps, w_radps]", or those of the plane. */
static void list_axes(const struct model *model, bool efforts, char *text, size_t size)
{
    const char *planar[3] = {"0", "0", "0"};
    text[0] = '\0';
    for (size_t i = 0; i < model->axis_count; i++) {
        const struct model_axis *axis = &model->axes[i];
        const char *name = efforts ? axis->effort : axis->velocity;
        text_append(text, size, "%s%s", i ? ", " : "[", name);
        if (model->planar) {
            planar[model->planar[i]] = name;
        }
    }
    text_append(text, size, model->planar ? "] or [%s, %s, %s]" : "]", planar[0], planar[1],
                planar[2]);
}

static void format_misfit(const struct model *model, const struct dynamics_shape *shape,
                          char text[DYNAMICS_OBSTACLE_MAX])
{
    const enum dynamics_misfit misfit = (enum dynamics_misfit)shape->misfit;
    const bool efforts = misfit >= DYNAMICS_NO_TAU;
    const char *vector = efforts ? "tau" : "nu";
    char axes[96];
    list_axes(model, efforts, axes, sizeof axes);
    if (misfit == DYNAMICS_NO_POSE) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "telemetry has no pose, %s needs it: pose must begin with %s",
                       model->name, model->axes[0].pose);
    } else if (misfit == DYNAMICS_NO_TAU) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "telemetry has no efforts, %s needs tau as %s", model->name, axes);
    } else if (misfit == DYNAMICS_NU_SIDEWAYS || misfit == DYNAMICS_TAU_SIDEWAYS) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "%s[1] of telemetry is %.3g, but a robot of model %s does not move "
                       "sideways: %s must be %s, in the robot's own axes",
                       vector, shape->sideways, model->name, vector, axes);
    } else {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "%s of telemetry has %d number%s, %s wants it as %s", vector,
                       shape->count, shape->count == 1 ? "" : "s", model->name, axes);
    }
}

void pair_dynamics_obstacle(const struct pair_dynamics *d, enum side which,
                            char text[DYNAMICS_OBSTACLE_MAX])
{
    const struct dynamics_side *side = &d->side[which];
    const uint64_t *gate = side->filter.gate;
    const uint64_t passed =
        gate[ONLINE_DUPLICATE] + gate[ONLINE_OUT_OF_ORDER] + gate[ONLINE_STALE];
    text[0] = '\0';
    if (!side->followed) {
        return;
    }
    if (side->shape.wrong) {
        format_misfit(pair_dynamics_model(d), &side->shape, text);
    } else if (side->shape.received <= 1 && passed >= RECEIVED_MIN) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "samples are passed over (%llu repeat the seq of one before, %llu are "
                       "older, %llu retained or too long in transit): seq and t must increase",
                       (unsigned long long)gate[ONLINE_DUPLICATE],
                       (unsigned long long)gate[ONLINE_OUT_OF_ORDER],
                       (unsigned long long)gate[ONLINE_STALE]);
    } else if (side->shape.received == 0) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "no telemetry of the %s robot has come since it started",
                       side_name(which));
    } else if (side->count >= DYNAMICS_WINDOW_MIN && side->pushed_us == LAB_TIME_NONE) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "no effort of the %s robot has changed yet: drive it", side_name(which));
    } else if (side->waits) {
        (void)snprintf(
            text, DYNAMICS_OBSTACLE_MAX,
            "the %s robot has hardly been driven yet: the first fit waits for a quarter "
            "of dynamics.window_s of it",
            side_name(which));
    }
}
