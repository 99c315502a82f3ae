#include "identification/simulation/effort_residual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_vector.h>

#include "identification/numeric/local_polynomial.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/simulation/simulation_thresholds.def"

/* Two smoothings to either side: the smaller of both ratios counts. The short one sees fast
 * effects, the long one is less disturbed by noise that is not white. */
static const double SHORT_S = 0.02, LONG_S = 0.05;
enum { SHORT_MIN = 2, LONG_MIN = 5, HALF_MAX = LOCAL_POLYNOMIAL_MAX / 2 };
/* An effort is switched by this share of its range; responses to it have ended after that. */
static const double SWITCH_RATIO = 0.05, SETTLED_S = 0.1;
/* One that changes less from row to row holds: it ends behind a lag. */
static const double HELD_RATIO = 1e-3;
/* Columns of a regression: constant, direction and velocity; those of a cause; the residual. */
enum {
    TENTHS = 10,
    HARMONICS_MAX = 24,
    OWN = 3,
    EXTRA_MAX = TENTHS,
    COLUMNS = OWN + EXTRA_MAX + 1
};
/* Slower velocities, in standard deviations of their noise, have no direction. */
static const double NOISE_RATIO = 2.0;
static const double TURN_RAD = 6.283185307179586;
/* Rows that count at the least, for each column. */
static const double ROWS_PER_COLUMN = 10.0;

struct smoothing {
    size_t half;
    double value[LOCAL_POLYNOMIAL_MAX], slope[LOCAL_POLYNOMIAL_MAX];
};

struct residual_rows {
    const struct model *model;
    const struct data_set *set;
    const double *theta;
    double *place;      /* [n] position, or the integral of the velocity */
    double *counts;     /* [n] 1: no effort was switched around this row */
    double *residual;   /* [n] NaN: does not count */
    double *asked;      /* [n] effort that the motion requires */
    double *velocity;   /* [n] smoothed */
    double rms;         /* of the efforts */
    double noise;       /* mean square that noise of the velocity causes */
    bool held;          /* most efforts equal the previous one */
    size_t rows, every; /* count of rows; distance of independent ones */
};

static void find_places(const struct residual_rows *r)
{
    const struct data_set *set = r->set;
    r->place[0] = set->pose[0] ? set->pose[0][0] : 0.0;
    for (size_t k = 1; k < set->n; k++) {
        const double moved =
            0.5 * (set->nu[0][k] + set->nu[0][k - 1]) * (set->t_s[k] - set->t_s[k - 1]);
        r->place[k] = set->pose[0] ? set->pose[0][k] : r->place[k - 1] + moved;
    }
}

/* Marks the rows in whose window, and some time before it, no effort is switched. */
static void find_steady(struct residual_rows *r, size_t half)
{
    const struct data_set *set = r->set;
    const size_t after = half + (size_t)ceil(SETTLED_S / set->dt_s) + 1;
    const size_t before = half + 2; /* the change may lie between rows, or be smoothed */
    double lo = HUGE_VAL;
    double hi = -HUGE_VAL;
    size_t held = 0;
    for (size_t k = 0; k < set->n; k++) {
        lo = fmin(lo, set->tau[0][k]);
        hi = fmax(hi, set->tau[0][k]);
        r->counts[k] = 1.0;
    }
    for (size_t run = 0; run < set->run_count; run++) {
        const size_t begin = set->run_start[run];
        const size_t end = set->run_start[run + 1];
        for (size_t k = begin; k < end; k++) {
            const bool edge = k < begin + half + 1 || k + half + 1 >= end;
            const double change = k > begin ? fabs(set->tau[0][k] - set->tau[0][k - 1]) : 0.0;
            const bool switched = change > SWITCH_RATIO * (hi - lo);
            r->counts[k] = edge ? 0.0 : r->counts[k];
            held += k > begin && change <= HELD_RATIO * (hi - lo) ? 1 : 0;
            for (size_t j = switched ? (k > begin + before ? k - before : begin) : k;
                 switched && j < end && j < k + after; j++) {
                r->counts[j] = 0.0;
            }
        }
    }
    r->held = 2 * held > set->n;
}

static double find_required(const struct residual_rows *r, size_t k, double velocity,
                            double slope)
{
    double memory[MODEL_AXES_MAX];
    double effort = 0.0;
    r->model->inverse(r->model, r->theta, data_set_pose(r->set, k, memory), &velocity, &slope,
                      &effort);
    return effort;
}

/* Returns whether all rows of a window move in one direction. */
static bool keeps_direction(const struct data_set *set, size_t k, size_t half, double least)
{
    const double sign = set->nu[0][k] > 0.0 ? 1.0 : -1.0;
    bool keeps = true;
    for (size_t j = k - half; j <= k + half; j++) {
        keeps = keeps && sign * set->nu[0][j] > least;
    }
    return keeps;
}

static void compute_residuals(struct residual_rows *r, const struct smoothing *w)
{
    const struct data_set *set = r->set;
    const double least = NOISE_RATIO * set->noise_sd[0];
    double squares = 0.0;
    r->noise = 0.0;
    r->rows = 0;
    for (size_t k = 0; k < set->n; k++) {
        double effort = 0.0;
        double slope = 0.0;
        r->residual[k] = (double)NAN;
        r->velocity[k] = 0.0;
        squares += set->tau[0][k] * set->tau[0][k];
        if (!(r->counts[k] > 0.0) || !keeps_direction(set, k, w->half, least)) {
            continue;
        }
        for (size_t j = 0; j <= 2 * w->half; j++) {
            const size_t at = k - w->half + j;
            effort += w->value[j] * set->tau[0][at];
            r->velocity[k] += w->value[j] * set->nu[0][at];
            slope += w->slope[j] / set->dt_s * set->nu[0][at];
        }
        r->asked[k] = find_required(r, k, r->velocity[k], slope);
        r->residual[k] = effort - r->asked[k];
        /* A unit of noise in one row of the window acts through the value and the slope. */
        const double by_slope = find_required(r, k, r->velocity[k], slope + 1.0) - r->asked[k];
        const double by_value =
            (find_required(r, k, r->velocity[k] * 1.001, slope) - r->asked[k]) /
            (0.001 * r->velocity[k]);
        const double third = third_difference(&set->t_s[k - 2], &set->nu[0][k - 2]);
        /* Slopes of positions are smooth, whatever their noise. */
        const double known = set->derived[0] ? set->noise_sd[0] * set->noise_sd[0] : 0.0;
        double gain = 0.0;
        for (size_t j = 0; j <= 2 * w->half; j++) {
            const double by = by_slope * w->slope[j] / set->dt_s + by_value * w->value[j];
            gain += by * by;
        }
        r->noise += gain * fmax(third * third / 20.0, known);
        r->rows++;
    }
    r->rms = sqrt(squares / (double)set->n);
    r->noise /= fmax((double)r->rows, 1.0);
    r->every = w->half;
}

/* Writes the columns of a cause at row k; returns their number. */
static size_t write_cause(const struct residual_rows *r, enum effort_residual_cause cause,
                          size_t harmonic, size_t k, double *to)
{
    const double direction = r->velocity[k] > 0.0 ? 1.0 : -1.0;
    if (cause == EFFORT_RESIDUAL_TIME) {
        memset(to, 0, TENTHS * sizeof *to);
        to[TENTHS * k / r->set->n] = r->asked[k];
        return TENTHS;
    }
    if (cause == EFFORT_RESIDUAL_LOAD) {
        to[0] = direction * fabs(r->asked[k]);
        to[1] = r->asked[k];
        return 2;
    }
    const double angle = (double)harmonic * r->place[k];
    const double terms[] = {1.0, direction, r->asked[k]};
    for (size_t i = 0; i < COUNT(terms); i++) {
        to[2 * i] = terms[i] * cos(angle);
        to[2 * i + 1] = terms[i] * sin(angle);
    }
    return 2 * COUNT(terms);
}

/* Returns the squares that the model's own terms and a cause leave of the residuals, and the
 * number of columns of the cause. */
static double find_rest(const struct residual_rows *r, enum effort_residual_cause cause,
                        size_t harmonic, size_t *extra)
{
    struct qr_accumulator triangle;
    double row[COLUMNS];
    size_t counted = 0;
    *extra =
        cause == EFFORT_RESIDUAL_CAUSES ? 0 : write_cause(r, cause, harmonic, 0, row + OWN);
    const size_t columns = OWN + *extra + 1;
    qr_start(&triangle, columns);
    for (size_t k = 0; k < r->set->n; k++) {
        if (!isfinite(r->residual[k]) || counted++ % r->every > 0) {
            continue;
        }
        row[0] = 1.0;
        row[1] = r->velocity[k] > 0.0 ? 1.0 : -1.0;
        row[2] = r->velocity[k];
        if (*extra > 0) {
            (void)write_cause(r, cause, harmonic, k, row + OWN);
        }
        row[columns - 1] = r->residual[k];
        qr_add(&triangle, row);
    }
    qr_flush(&triangle);
    return triangle.r[columns - 1][columns - 1] * triangle.r[columns - 1][columns - 1];
}

/* Finds the cause that explains most of what noise does not. */
static void find_cause(const struct residual_rows *r, double rest, struct effort_residual *out)
{
    const double count = (double)(r->rows / r->every);
    const double unexplained = rest - count * r->noise;
    for (size_t c = 0; c < EFFORT_RESIDUAL_CAUSES; c++) {
        const bool by_place = c == EFFORT_RESIDUAL_PLACE;
        for (size_t harmonic = 1; harmonic <= (by_place ? (size_t)HARMONICS_MAX : 1);
             harmonic++) {
            size_t extra = 0;
            double left = find_rest(r, (enum effort_residual_cause)c, harmonic, &extra);
            left *= (count - OWN) / fmax(count - OWN - (double)extra, 1.0);
            const double share = (rest - left) / unexplained;
            if (share > fmax(out->share, CAUSE_SHARE)) {
                out->cause = (enum effort_residual_cause)c;
                out->share = fmin(share, 1.0);
                out->period = TURN_RAD / (double)harmonic;
            }
        }
    }
}

static enum status measure_smoothed(struct residual_rows *r, size_t half,
                                    struct effort_residual *out)
{
    struct smoothing w = {.half = half};
    size_t extra = 0;
    *out = (struct effort_residual){
        .ratio = (double)NAN, .seen_ratio = (double)NAN, .cause = EFFORT_RESIDUAL_CAUSES};
    const enum status st = local_polynomial(half, 2, w.value, w.slope);
    if (st != STATUS_OK) {
        return st;
    }
    find_steady(r, half);
    compute_residuals(r, &w);
    out->tried = true;
    out->held = r->held;
    out->rows = r->rows;
    const double count = (double)(r->rows / r->every);
    if (count < ROWS_PER_COLUMN * COLUMNS || !(r->rms > 0.0)) {
        return STATUS_OK;
    }
    const double rest = find_rest(r, EFFORT_RESIDUAL_CAUSES, 0, &extra);
    const double chance = r->noise * EFFORT_REST_ERRORS * sqrt(2.0 / count);
    const double excess = rest / (count - OWN) - r->noise;
    out->seen_ratio = fmax(EFFORT_REST, sqrt(chance) / r->rms);
    out->ratio = excess > chance ? sqrt(excess) / r->rms : 0.0;
    if (out->ratio > EFFORT_REST) {
        find_cause(r, rest, out);
    }
    return STATUS_OK;
}

enum status effort_residual_find(const struct model *model, const struct dynamics_fit *fit,
                                 const struct data_set *late, struct effort_residual *out)
{
    const double seconds[] = {SHORT_S, LONG_S};
    const size_t least[] = {SHORT_MIN, LONG_MIN};
    struct residual_rows r = {.model = model, .set = late, .theta = fit->estimate.value};
    gsl_vector *memory = gsl_vector_alloc(5 * late->n);
    *out = (struct effort_residual){.ratio = (double)NAN, .cause = EFFORT_RESIDUAL_CAUSES};
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    bool known = true;
    for (size_t i = 0; i < model->parameter_count; i++) {
        known = known && isfinite(r.theta[i]);
    }
    r.place = memory->data;
    r.counts = r.place + late->n;
    r.residual = r.counts + late->n;
    r.asked = r.residual + late->n;
    r.velocity = r.asked + late->n;
    find_places(&r);
    for (size_t i = 0; i < COUNT(seconds) && known; i++) {
        struct effort_residual one;
        const size_t half = (size_t)fmin(fmax(round(seconds[i] / late->dt_s), (double)least[i]),
                                         (double)HALF_MAX);
        const enum status st = measure_smoothed(&r, half, &one);
        if (st != STATUS_OK) {
            break;
        }
        if (i == 0 || !(one.ratio >= out->ratio)) {
            *out = one;
        }
    }
    gsl_vector_free(memory);
    return STATUS_OK;
}

static void name_cause(const struct effort_residual *residual, char *text, size_t size)
{
    static const char *const causes[] = {
        [EFFORT_RESIDUAL_TIME] = "the effect of an effort changes with time",
        [EFFORT_RESIDUAL_LOAD] = "friction depends on the size of the effort",
        [EFFORT_RESIDUAL_CAUSES] = "no cause that was tried explains half of it"};
    if (residual->cause == EFFORT_RESIDUAL_PLACE) {
        (void)snprintf(
            text, size,
            "friction, load or the effect of an effort depend on the position, with a "
            "period of %.3g",
            residual->period);
    } else {
        (void)snprintf(text, size, "%s", causes[residual->cause]);
    }
}

void effort_residual_judge(struct dynamics_fit *fit, const struct model *model,
                           const struct effort_residual *residual)
{
    struct estimate *e = &fit->estimate;
    const char *effort = model->axes[0].effort_words;
    char cause[ESTIMATE_TEXT_MAX];
    if (!residual->tried) {
        return;
    }
    if (isnan(residual->ratio)) {
        estimate_note(e, REASON_TRIED,
                      "the %s is hardly ever steady: friction by position or load, a gain that "
                      "changes and ripple were not looked for",
                      effort);
    } else if (!(residual->ratio > EFFORT_REST)) {
        estimate_note(e, REASON_TRIED,
                      "tried: a steady %s: less than %.2g %% of it is unexplained", effort,
                      100.0 * residual->seen_ratio);
    } else {
        const bool matters = residual->held || residual->cause != EFFORT_RESIDUAL_CAUSES;
        name_cause(residual, cause, sizeof cause);
        estimate_reason(e, REASON_UNMODELLED, matters ? ESTIMATE_MARGINAL : ESTIMATE_PASS,
                        "%.1f %% of a steady %s is unexplained, and not noise: %s",
                        100.0 * residual->ratio, effort, cause);
        if (!matters) {
            return;
        }
        estimate_advise(e, "%s",
                        residual->cause == EFFORT_RESIDUAL_TIME
                            ? "record again with a steady supply and a warm robot"
                            : "record parts of the range by themselves, and compare the fits");
    }
}
