#include "twin/following/fidelity.h"

#include <math.h>
#include <string.h>

#include "twin/following/follower.h"
#include "twin/following/following_thresholds.def"

static int64_t track_spacing(const struct fidelity_params *p)
{
    const int64_t of_target = p->target_us / 16;
    return of_target > SPACING_US ? of_target : SPACING_US;
}

/* Velocities, then the pose. */
static size_t count_states(const struct fidelity_params *p)
{
    return p->model->axis_count + model_pose_count(p->model);
}

/* Returns to - from, the short way round for angles. */
static double state_step(const struct fidelity_params *p, size_t state, double from, double to)
{
    const size_t axes = p->model->axis_count;
    return state < axes ? to - from : follower_pose_step(p->model, state - axes, from, to);
}

static const struct fidelity_sample *track_at(const struct fidelity *f, uint32_t k)
{
    return &f->track[(f->track_first + k) % FIDELITY_TRACK];
}

static struct fidelity_sample make_sample(const struct fidelity_params *p, int64_t t_us,
                                          const double *nu, const double *pose)
{
    const size_t axes = p->model->axis_count;
    struct fidelity_sample s = {.t_us = t_us, .has_pose = pose != NULL};
    memcpy(s.state, nu, axes * sizeof nu[0]);
    if (pose) {
        memcpy(s.state + axes, pose, model_pose_count(p->model) * sizeof pose[0]);
    }
    return s;
}

/* --- one comparison ---------------------------------------------------------------------- */

/* Finds the newest sample of the virtual robot not after t; track_count if there is none. */
static uint32_t find_before(const struct fidelity *f, int64_t t_us)
{
    uint32_t k = f->track_count;
    while (k > 0 && track_at(f, k - 1)->t_us > t_us) {
        k--;
    }
    return k == 0 ? f->track_count : k - 1;
}

static void interpolate_samples(const struct fidelity_params *p,
                                const struct fidelity_sample *a,
                                const struct fidelity_sample *b, int64_t t_us,
                                struct fidelity_sample *out)
{
    const double share =
        b->t_us > a->t_us ? (double)(t_us - a->t_us) / (double)(b->t_us - a->t_us) : 0.0;
    *out = (struct fidelity_sample){.t_us = t_us, .has_pose = a->has_pose && b->has_pose};
    for (size_t i = 0; i < count_states(p); i++) {
        out->state[i] = a->state[i] + share * state_step(p, i, a->state[i], b->state[i]);
    }
}

enum { PLACE_MAX = 3 };

/* Reads the place in up to PLACE_MAX coordinates: an arm's tool, else x and y, or the only one.
 * Returns their number. */
static size_t read_place(const struct fidelity_params *p, const struct fidelity_sample *s,
                         double place[PLACE_MAX])
{
    const double *pose = s->state + p->model->axis_count;
    const bool flat = p->model->axis_count >= 2 && !follower_is_angle(p->model, 0) &&
                      !follower_is_angle(p->model, 1);
    if (p->has_arm) {
        const struct rigid tool = arm_forward(&p->arm, pose);
        memcpy(place, tool.at_m, sizeof tool.at_m);
        return PLACE_MAX;
    }
    memcpy(place, pose, 2 * sizeof place[0]);
    return flat ? 2 : 1;
}

/* Returns to - from of a place's coordinate. */
static double place_step(const struct fidelity_params *p, size_t i, double from, double to)
{
    return p->has_arm ? to - from : state_step(p, p->model->axis_count + i, from, to);
}

/* Returns the distance of a place to a segment of the virtual robot's path. */
static double distance_to_path(const struct fidelity_params *p, const double *place,
                               const struct fidelity_sample *begin,
                               const struct fidelity_sample *end)
{
    double a[PLACE_MAX];
    double b[PLACE_MAX];
    const size_t n = read_place(p, begin, a);
    (void)read_place(p, end, b);
    double along = 0.0;
    double length2 = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double delta = place_step(p, i, a[i], b[i]);
        along += delta * place_step(p, i, a[i], place[i]);
        length2 += delta * delta;
    }
    const double share = length2 > 0.0 ? fmin(fmax(along / length2, 0.0), 1.0) : 0.0;
    double d2 = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double delta = place_step(p, i, a[i], b[i]);
        const double d = place_step(p, i, a[i], place[i]) - share * delta;
        d2 += d * d;
    }
    return sqrt(d2);
}

static bool is_within(const struct fidelity *f, const struct fidelity_params *p,
                      const struct fidelity_sample *real)
{
    double place[PLACE_MAX];
    (void)read_place(p, real, place);
    double nearest = INFINITY;
    for (uint32_t k = 0; k + 1 < f->track_count; k++) {
        const struct fidelity_sample *a = track_at(f, k);
        const struct fidelity_sample *b = track_at(f, k + 1);
        if (b->t_us >= real->t_us - p->target_us && a->t_us <= real->t_us + p->target_us &&
            a->has_pose && b->has_pose) {
            const int64_t from = real->t_us - p->target_us;
            const int64_t to = real->t_us + p->target_us;
            struct fidelity_sample begin;
            struct fidelity_sample end;
            interpolate_samples(p, a, b, a->t_us > from ? a->t_us : from, &begin);
            interpolate_samples(p, a, b, b->t_us < to ? b->t_us : to, &end);
            nearest = fmin(nearest, distance_to_path(p, place, &begin, &end));
        }
    }
    return nearest <= p->target_m;
}

static int64_t bucket_number(const struct fidelity_params *p, int64_t t_us)
{
    const int64_t length = p->window_us / FIDELITY_BUCKETS;
    return t_us / (length > 0 ? length : 1);
}

static struct fidelity_bucket *bucket_at(struct fidelity *f, const struct fidelity_params *p,
                                         int64_t t_us)
{
    const int64_t number = bucket_number(p, t_us);
    struct fidelity_bucket *b = &f->bucket[(uint64_t)number % FIDELITY_BUCKETS];
    if (b->number != number) {
        *b = (struct fidelity_bucket){.number = number};
    }
    return b;
}

static void compare_samples(struct fidelity *f, const struct fidelity_params *p,
                            const struct fidelity_sample *real,
                            const struct fidelity_sample *actual)
{
    const bool posed = real->has_pose && actual->has_pose;
    struct fidelity_bucket *b = bucket_at(f, p, real->t_us);
    if (!f->has_origin) {
        memcpy(f->origin, real->state, sizeof f->origin);
        f->has_origin = true;
    }
    b->n++;
    b->posed += posed ? 1 : 0;
    for (size_t i = 0; i < (posed ? count_states(p) : p->model->axis_count); i++) {
        const double e = state_step(p, i, real->state[i], actual->state[i]);
        const double off = real->state[i] - f->origin[i];
        b->square[i] += e * e;
        b->absolute[i] += fabs(e);
        b->sum[i] += off;
        b->sum2[i] += off * off;
    }
    if (p->has_arm && posed) {
        double place[PLACE_MAX];
        (void)read_place(p, real, place);
        const double gap_m = distance_to_path(p, place, actual, actual);
        b->tool_square += gap_m * gap_m;
        b->tool_max_m = fmax(b->tool_max_m, gap_m);
    }
    if (p->target_m > 0.0 && posed) {
        b->judged++;
        b->within += is_within(f, p, real) ? 1 : 0;
    }
}

/* Compares the waiting samples that the virtual robot's track covers now. */
static void compare_waiting(struct fidelity *f, const struct fidelity_params *p)
{
    while (f->waiting_count > 0 && f->track_count > 0) {
        const struct fidelity_sample *real = &f->waiting[f->waiting_first];
        const int64_t newest = track_at(f, f->track_count - 1)->t_us;
        if (newest < real->t_us + p->target_us) {
            return;
        }
        const uint32_t k = find_before(f, real->t_us);
        if (k + 1 < f->track_count) {
            struct fidelity_sample actual;
            interpolate_samples(p, track_at(f, k), track_at(f, k + 1), real->t_us, &actual);
            compare_samples(f, p, real, &actual);
        } else {
            f->unpaired++; /* before the first stored sample, or the track has moved past it */
        }
        f->waiting_first = (f->waiting_first + 1) % FIDELITY_WAITING;
        f->waiting_count--;
    }
}

/* --- the samples -------------------------------------------------------------------------- */

/* Appends a sample to a ring[room] unless it comes too soon after the last one. A full ring
 * drops the oldest; true then. */
static bool push_sample(struct fidelity_sample *ring, uint32_t room, uint32_t *first,
                        uint32_t *count, int64_t spacing_us, const struct fidelity_sample *s)
{
    const int64_t last_us = ring[(*first + *count + room - 1) % room].t_us;
    if (*count > 0 && s->t_us < last_us - BACK_US) {
        *count = 0;
    }
    if (*count > 0 && s->t_us < last_us + spacing_us) {
        return false;
    }
    const bool full = *count == room;
    if (full) {
        *first = (*first + 1) % room;
        (*count)--;
    }
    ring[(*first + (*count)++) % room] = *s;
    return full;
}

void fidelity_virtual(struct fidelity *f, const struct fidelity_params *p, int64_t t_us,
                      const double *nu, const double *pose)
{
    const struct fidelity_sample s = make_sample(p, t_us, nu, pose);
    (void)push_sample(f->track, FIDELITY_TRACK, &f->track_first, &f->track_count,
                      track_spacing(p), &s);
    compare_waiting(f, p);
}

void fidelity_real(struct fidelity *f, const struct fidelity_params *p, int64_t t_us,
                   const double *nu, const double *pose)
{
    const struct fidelity_sample s = make_sample(p, t_us, nu, pose);
    f->unpaired += push_sample(f->waiting, FIDELITY_WAITING, &f->waiting_first,
                               &f->waiting_count, track_spacing(p), &s);
    compare_waiting(f, p);
}

void fidelity_reframe(struct fidelity *f)
{
    f->waiting_count = 0;
    f->track_count = 0;
    f->has_origin = false;
    memset(f->bucket, 0, sizeof f->bucket);
}

/* --- the figures -------------------------------------------------------------------------- */

void fidelity_read(const struct fidelity *f, const struct fidelity_params *p, int64_t now_us,
                   struct fidelity_report *out)
{
    const size_t axes = p->model->axis_count;
    const int64_t newest = bucket_number(p, now_us);
    struct fidelity_bucket all = {0};
    *out = (struct fidelity_report){.states = count_states(p), .within_ratio = nan("")};
    for (size_t k = 0; k < FIDELITY_BUCKETS; k++) {
        const struct fidelity_bucket *b = &f->bucket[k];
        if (b->number <= newest - FIDELITY_BUCKETS || b->number > newest) {
            continue;
        }
        all.n += b->n;
        all.posed += b->posed;
        all.judged += b->judged;
        all.within += b->within;
        all.tool_square += b->tool_square;
        all.tool_max_m = fmax(all.tool_max_m, b->tool_max_m);
        for (size_t i = 0; i < out->states; i++) {
            all.square[i] += b->square[i];
            all.absolute[i] += b->absolute[i];
            all.sum[i] += b->sum[i];
            all.sum2[i] += b->sum2[i];
        }
    }
    out->n = all.n;
    out->judged = all.judged;
    const bool placed = p->has_arm && all.posed > 0;
    out->tool_rmse_m = placed ? sqrt(all.tool_square / (double)all.posed) : nan("");
    out->tool_max_m = placed ? all.tool_max_m : nan("");
    if (all.judged > 0) {
        out->within_ratio = (double)all.within / (double)all.judged;
    }
    for (size_t i = 0; i < out->states; i++) {
        const double n = (double)(i < axes ? all.n : all.posed);
        const double spread = n > 0.0 ? all.sum2[i] - all.sum[i] * all.sum[i] / n : 0.0;
        out->rmse[i] = n > 0.0 ? sqrt(all.square[i] / n) : nan("");
        out->mae[i] = n > 0.0 ? all.absolute[i] / n : nan("");
        out->r2[i] = spread > 0.0 ? 1.0 - all.square[i] / spread : nan("");
    }
}

/* --- all samples with equal weight -------------------------------------------------------- */

void tracking_add(struct tracking *t, double reference, double actual)
{
    const double e = actual - reference;
    if (!isfinite(e)) {
        return;
    }
    t->n++;
    t->square += e * e;
    t->absolute += fabs(e);
    t->largest = fmax(t->largest, fabs(e));
    const double off = reference - t->mean;
    t->mean += off / (double)t->n;
    t->spread += off * (reference - t->mean);
}

double tracking_rmse(const struct tracking *t)
{
    return t->n > 0 ? sqrt(t->square / (double)t->n) : nan("");
}

double tracking_mae(const struct tracking *t)
{
    return t->n > 0 ? t->absolute / (double)t->n : nan("");
}

double tracking_r2(const struct tracking *t)
{
    return t->spread > 0.0 ? 1.0 - t->square / t->spread : nan("");
}
