#include "twin/dynamics/pair_dynamics.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "twin/dynamics/pair_dynamics_parts.h"
#include "twin/models/models.h"

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

struct window pair_dynamics_window(struct pair_dynamics *d,
                                   const struct pair_dynamics_params *p, enum side side,
                                   bool frozen)
{
    const size_t each = window_bytes(p, pair_dynamics_model(d));
    const size_t place = (side == SIDE_VIRTUAL && p->sides == DYNAMICS_SIDES_BOTH ? 2U : 0U) +
                         (frozen ? 1U : 0U);
    char *at = (char *)d + align_bytes(sizeof *d) + place * each;
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
        side->taken_us = LAB_TIME_NONE;
        side->kept_us = LAB_TIME_NONE;
        side->pushed_us = LAB_TIME_NONE;
        side->driven_us = LAB_TIME_NONE;
        side->next_fit_us = LAB_TIME_MAX;
        side->give_up_us = LAB_TIME_MAX;
        side->fitted_us = LAB_TIME_NONE;
        side->published_us = LAB_TIME_NONE;
        online_filter_reset(&side->filter, model, &filter);
    }
}

/* ---- the window ---------------------------------------------------------------------------
 */

void pair_dynamics_cut(struct dynamics_side *side)
{
    online_filter_cut(&side->filter);
    side->counts.cut += side->count > 0 ? 1 : 0;
    side->first = 0;
    side->count = 0;
    side->taken_us = LAB_TIME_NONE;
    side->kept_us = LAB_TIME_NONE;
    side->thinning = false;
    side->out_of_order_in_a_row = 0;
    side->effort_count = 0;
    side->pushed_us = LAB_TIME_NONE;
    side->driven_us = LAB_TIME_NONE;
    side->waits = false;
}

static void put_sample(struct dynamics_side *side, const struct window *w,
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
    side->kept_us = s->t_us;
    side->thinning = false;
    memset(side->effort_sum, 0, sizeof side->effort_sum);
}

void pair_dynamics_keep(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                        enum side which, const struct online_sample *s)
{
    struct dynamics_side *side = &d->side[which];
    const size_t n = pair_dynamics_model(d)->axis_count;
    const struct window w = pair_dynamics_window(d, p, which, false);
    const int64_t apart_us = p->window_us / p->window;
    if (side->taken_us != LAB_TIME_NONE) {
        for (size_t i = 0; i < n; i++) {
            side->effort_sum[i] += side->held[i] * (double)(s->t_us - side->taken_us);
        }
    }
    memcpy(side->held, s->tau, n * sizeof side->held[0]);
    side->taken_us = s->t_us;
    /* A stamp's jitter is not a reason to wait for the next sample. */
    if (side->count > 0 && 8 * (s->t_us - side->kept_us) < 7 * apart_us) {
        side->thinning = true;
        side->counts.thinned++;
        return;
    }
    if (side->thinning) {
        /* What acted since the last one kept is the mean of what was passed over. */
        const uint32_t last = (side->first + side->count - 1) % p->window;
        for (size_t i = 0; i < n; i++) {
            w.values[last * 3 * n + n + i] =
                (float)(side->effort_sum[i] / (double)(s->t_us - side->kept_us));
        }
    }
    put_sample(side, &w, p, s, n);
}

void pair_dynamics_drop_before(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                               enum side which, int64_t t_us)
{
    struct dynamics_side *side = &d->side[which];
    const struct window w = pair_dynamics_window(d, p, which, false);
    while (side->count > 0 && w.t_us[side->first] < t_us) {
        side->first = (side->first + 1) % p->window;
        side->count--;
    }
}

int64_t pair_dynamics_span_us(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                              enum side which)
{
    const struct dynamics_side *side = &d->side[which];
    const struct window w = pair_dynamics_window(d, p, which, false);
    return side->count == 0 ? 0 : side->kept_us - w.t_us[side->first];
}

void pair_dynamics_freeze(struct pair_dynamics *d, const struct pair_dynamics_params *p,
                          enum side which)
{
    struct dynamics_side *side = &d->side[which];
    const size_t row = 3 * pair_dynamics_model(d)->axis_count;
    const struct window from = pair_dynamics_window(d, p, which, false);
    const struct window to = pair_dynamics_window(d, p, which, true);
    pair_dynamics_drop_before(d, p, which, side->kept_us - p->window_us);
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
    const struct model *model = pair_dynamics_model(d);
    const size_t place = (side == SIDE_VIRTUAL && p->sides == DYNAMICS_SIDES_BOTH ? 3U : 1U);
    const char *at = (const char *)d + align_bytes(sizeof *d) + place * window_bytes(p, model);
    *task = (struct dynamics_task){.model = model,
                                   .biases = p->biases,
                                   .has_pose = s->frozen_has_pose,
                                   .method = p->method,
                                   .n = s->running ? s->frozen : 0,
                                   .t_us = (const void *)at,
                                   .values = (const void *)(at + times_bytes(p))};
}
