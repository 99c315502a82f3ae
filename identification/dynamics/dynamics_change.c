#include "identification/dynamics/dynamics_change.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/numeric/svd.h"

/* More fits than this do not make a reference more certain: robots wear, and models are not
 * exact. */
enum { FITS_MAX = 8 };
static const double RANK_RATIO = 1e-12;

struct search {
    size_t p;
    const struct dynamics_reference *reference;
    double freedom;
    double w[DYNAMICS_P_MAX * DYNAMICS_P_MAX];
    double residual[DYNAMICS_P_MAX]; /* difference that is not yet explained */
    size_t open;                     /* number of directions that may explain it */
    bool is_open[DYNAMICS_DIRECTIONS];
    /* directions, without the part that is already explained */
    double u[DYNAMICS_DIRECTIONS][DYNAMICS_P_MAX];
    size_t explained;
    size_t order[DYNAMICS_DIRECTIONS], rival[DYNAMICS_DIRECTIONS];
    /* changes along u, in order of discovery */
    double size[DYNAMICS_DIRECTIONS], se[DYNAMICS_DIRECTIONS];
    double share[DYNAMICS_DIRECTIONS]
                /* part of each direction removed with each change, [order][direction] */
                [DYNAMICS_DIRECTIONS];
};

/* Inverts the sum of both covariances. */
static bool invert_sum(const struct dynamics_reference *a, const struct dynamics_reference *b,
                       double *inverse)
{
    struct svd svd;
    double sum[DYNAMICS_P_MAX * DYNAMICS_P_MAX];
    double scale[DYNAMICS_P_MAX];
    if (a->count == 0 || b->count == 0 || a->p != b->p) {
        return false;
    }
    for (size_t i = 0; i < a->p; i++) {
        for (size_t j = 0; j < a->p; j++) {
            sum[i * a->p + j] = a->covariance[i][j] + b->covariance[i][j];
        }
        scale[i] = sqrt(sum[i * a->p + i]);
    }
    if (svd_find(sum, a->p, scale, scale, RANK_RATIO, &svd) != STATUS_OK || svd.rank < a->p) {
        return false;
    }
    memcpy(inverse, svd.inverse, a->p * a->p * sizeof *inverse);
    return true;
}

/* Degrees of freedom of a sum of two covariances (Satterthwaite). share: part of the second
 * one. */
static double join_freedom(const struct dynamics_reference *a,
                           const struct dynamics_reference *b, double share)
{
    return 1.0 / ((1.0 - share) * (1.0 - share) / a->freedom + share * share / b->freedom);
}

/* Share of the newer fit in the summed covariance, averaged over all directions. */
static double share_of_sum(const struct dynamics_reference *newer, const double *w)
{
    double sum = 0.0;
    for (size_t i = 0; i < newer->p; i++) {
        for (size_t j = 0; j < newer->p; j++) {
            sum += w[i * newer->p + j] * newer->covariance[j][i];
        }
    }
    return sum / (double)newer->p;
}

/* Computes a' W b. */
static double weigh_both(const struct search *s, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->p; i++) {
        for (size_t j = 0; j < s->p; j++) {
            sum += a[i] * s->w[i * s->p + j] * b[j];
        }
    }
    return sum;
}

/* Finds the parameters that occur on each axis, and the masses among them: those that
 * multiply accelerations. */
static void find_roles(const struct model *model, bool knows[][MODEL_PARAMETERS_MAX],
                       bool *is_mass)
{
    static const double motion[MODEL_AXES_MAX] = {0.9, 0.7, 0.5, 0.8, 0.6, 0.4};
    static const double rest[MODEL_AXES_MAX] = {0.0};
    double moved[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double even[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    const size_t p = model->parameter_count;
    model_regressor(model, motion, motion, motion, motion, moved);
    model_regressor(model, motion, motion, rest, motion, even);
    for (size_t j = 0; j < p; j++) {
        is_mass[j] = false;
        for (size_t i = 0; i < model->axis_count; i++) {
            const double entry = moved[i * p + j];
            knows[i][j] = fabs(entry) > 0.0;
            is_mass[j] = is_mass[j] || (model->parameters[j].sign == MODEL_POSITIVE &&
                                        fabs(entry - even[i * p + j]) > 0.0);
        }
    }
}

/* Opens a direction in which several parameters change by one factor. A single parameter
 * already has its own direction. */
static void open_together(struct search *s, size_t c, const bool *in, size_t p)
{
    size_t count = 0;
    for (size_t j = 0; j < p; j++) {
        s->u[c][j] = in[j] ? s->reference->value[j] : 0.0;
        count += in[j] ? 1 : 0;
    }
    s->is_open[c] = count > 1;
    s->open += count > 1 ? 1 : 0;
}

static void open_directions(struct search *s, const struct model *model)
{
    bool knows[MODEL_AXES_MAX][MODEL_PARAMETERS_MAX];
    bool in[MODEL_PARAMETERS_MAX];
    const size_t p = model->parameter_count;
    for (size_t i = 0; i < s->p; i++) {
        s->u[i][i] = 1.0;
        s->is_open[i] = true;
    }
    s->open = s->p;
    find_roles(model, knows, in);
    open_together(s, DYNAMICS_PAYLOAD, in, p);
    for (size_t axis = 0; axis < model->axis_count; axis++) {
        for (size_t j = 0; j < p; j++) {
            in[j] = knows[axis][j];
            for (size_t other = 0; other < model->axis_count; other++) {
                in[j] = in[j] && (other == axis || !knows[other][j]);
            }
        }
        open_together(s, DYNAMICS_EFFECT + axis, in, p);
    }
}

/* Returns the squared change along a direction in standard errors; *size is the change. */
static double score_direction(const struct search *s, size_t c, double *size)
{
    const double own = weigh_both(s, s->u[c], s->u[c]);
    *size = weigh_both(s, s->u[c], s->residual) / own;
    return *size * *size * own;
}

/* Finds the direction that explains most, and its rival, if any. A single parameter is
 * preferred to several that change by one factor. */
static double find_best(const struct search *s, size_t *best, size_t *rival)
{
    double score[DYNAMICS_DIRECTIONS];
    double size;
    size_t most = 0;
    size_t next = DYNAMICS_DIRECTIONS;
    for (size_t c = 0; c < DYNAMICS_DIRECTIONS; c++) {
        score[c] = s->is_open[c] ? score_direction(s, c, &size) : -1.0;
        most = score[c] > score[most] ? c : most;
    }
    for (size_t c = 0; c < DYNAMICS_DIRECTIONS; c++) {
        const bool better = next == DYNAMICS_DIRECTIONS || score[c] > score[next];
        const bool near = score[c] >= 0.0 && score[c] >= score[most] - RIVAL_MARGIN;
        next = c != most && near && better ? c : next;
    }
    const bool simpler = most >= DYNAMICS_PAYLOAD && next < DYNAMICS_PAYLOAD;
    *best = simpler ? next : most;
    *rival = simpler ? most : next;
    return score[*best];
}

/* Removes what this direction explains from the difference and from the other directions. */
static void remove_direction(struct search *s, size_t c, size_t rival)
{
    const size_t at = s->explained++;
    const double own = weigh_both(s, s->u[c], s->u[c]);
    s->order[at] = c;
    s->rival[at] = rival;
    s->se[at] = 1.0 / sqrt(own);
    (void)score_direction(s, c, &s->size[at]);
    s->is_open[c] = false;
    s->open--;
    for (size_t i = 0; i < s->p; i++) {
        s->residual[i] -= s->size[at] * s->u[c][i];
    }
    for (size_t other = 0; other < DYNAMICS_DIRECTIONS; other++) {
        if (!s->is_open[other]) {
            continue;
        }
        const double before = weigh_both(s, s->u[other], s->u[other]);
        s->share[at][other] = weigh_both(s, s->u[c], s->u[other]) / own;
        for (size_t i = 0; i < s->p; i++) {
            s->u[other][i] -= s->share[at][other] * s->u[c][i];
        }
        /* Such a direction is a combination of the removed ones, as the last mass after a
         * payload and the other masses. */
        if (weigh_both(s, s->u[other], s->u[other]) < 1e-9 * before) {
            s->is_open[other] = false;
            s->open--;
        }
    }
}

/* Probability of the unexplained rest without a change, in total or along any single
 * direction, with Bonferroni's factor of 2. */
static double residual_chance(const struct search *s, size_t *best, size_t *rival)
{
    const double df = (double)s->p - (double)s->explained;
    if (df < 1.0 || s->open == 0) {
        return 1.0;
    }
    const double residual = weigh_both(s, s->residual, s->residual) / df;
    const double all = gsl_cdf_fdist_Q(residual, df, s->freedom);
    const double one =
        (double)s->open * gsl_cdf_fdist_Q(find_best(s, best, rival), 1.0, s->freedom);
    return fmin(1.0, 2.0 * fmin(all, one));
}

/* Accepts further changes in the reported directions. Parameters that changed by one factor
 * may now change individually. */
static void accept_moved(struct search *s, const signed char *moved)
{
    bool member[DYNAMICS_P_MAX] = {false};
    double size;
    for (size_t c = 0; moved && c < DYNAMICS_DIRECTIONS; c++) {
        for (size_t i = 0; c >= DYNAMICS_PAYLOAD && moved[c] != 0 && i < s->p; i++) {
            member[i] = member[i] || fabs(s->u[c][i]) > 0.0;
        }
    }
    for (size_t c = 0; moved && c < DYNAMICS_DIRECTIONS; c++) {
        if (!s->is_open[c] || (moved[c] == 0 && !(c < s->p && member[c]))) {
            continue;
        }
        (void)score_direction(s, c, &size);
        const double sign = c >= DYNAMICS_EFFECT ? -1.0 : 1.0;
        if ((c < s->p && member[c]) || size * moved[c] * sign > 0.0) {
            remove_direction(s, c, DYNAMICS_DIRECTIONS);
        }
    }
}

/* Converts the sizes to the original directions, because later ones overlap with earlier
 * ones. */
static void solve_sizes(struct search *s)
{
    for (size_t k = s->explained; k-- > 0;) {
        for (size_t later = k + 1; later < s->explained; later++) {
            s->size[k] -= s->share[k][s->order[later]] * s->size[later];
        }
    }
}

/* An effort's effect falls by the factor by which its parameters rise, so that the factor is
 * inverted. */
static void record_change(const struct search *s, size_t k, double z,
                          struct dynamics_change *out)
{
    const size_t c = s->order[k];
    const size_t i = out->count++;
    const double size = s->size[k];
    out->parameter[i] = c;
    out->rival[i] = s->rival[k];
    out->z[i] = z;
    out->before[i] = c < DYNAMICS_PAYLOAD ? s->reference->value[c] : 1.0;
    out->after[i] = out->before[i] + size;
    out->after_se[i] = s->se[k];
    if (c >= DYNAMICS_EFFECT) {
        const double more = fmax(1.0 + size, 1e-3);
        out->after[i] = 1.0 / more;
        out->after_se[i] = s->se[k] / (more * more);
    }
}

static void record_changes(struct search *s, size_t from, double ratio,
                           struct dynamics_change *out)
{
    double z[DYNAMICS_DIRECTIONS];
    for (size_t k = from; k < s->explained; k++) {
        z[k] = fabs(s->size[k]) / s->se[k];
    }
    solve_sizes(s);
    for (size_t k = from; k < s->explained && out->count < DYNAMICS_CHANGES_MAX; k++) {
        const size_t c = s->order[k];
        const double before = c < DYNAMICS_PAYLOAD ? s->reference->value[c] : 1.0;
        if (fabs(s->size[k]) >= ratio * fabs(before)) {
            record_change(s, k, z[k], out);
        }
    }
}

const char *dynamics_change_name(const struct model *model, size_t parameter, char *text,
                                 size_t text_bytes)
{
    if (parameter < DYNAMICS_PAYLOAD) {
        return dynamics_parameter_name(model, parameter, text, text_bytes);
    }
    if (parameter == DYNAMICS_PAYLOAD) {
        return "payload";
    }
    (void)snprintf(text, text_bytes, "effect of %s",
                   model->axes[parameter - DYNAMICS_EFFECT].effort);
    return text;
}

bool dynamics_change_find(const struct model *model, const struct dynamics_reference *reference,
                          const struct dynamics_reference *newer, const signed char *moved,
                          double level, double ratio, struct dynamics_change *out)
{
    struct search s;
    size_t best = 0;
    size_t rival = DYNAMICS_DIRECTIONS;
    memset(&s, 0, sizeof s);
    memset(out, 0, sizeof *out);
    s.p = newer->p;
    s.reference = reference;
    if (!invert_sum(reference, newer, s.w)) {
        return false;
    }
    for (size_t i = 0; i < s.p; i++) {
        s.residual[i] = newer->value[i] - reference->value[i];
    }
    s.freedom = join_freedom(reference, newer, share_of_sum(newer, s.w));
    open_directions(&s, model);
    accept_moved(&s, moved);
    const size_t from = s.explained;
    double chance = residual_chance(&s, &best, &rival);
    for (double most = level; chance < most && s.explained < from + DYNAMICS_CHANGES_MAX;) {
        remove_direction(&s, best, rival);
        chance = residual_chance(&s, &best, &rival);
        most = RESIDUAL_LEVEL;
    }
    record_changes(&s, from, ratio, out);
    return true;
}

void dynamics_reference_from_fit(struct dynamics_reference *reference,
                                 const struct dynamics_fit *fit)
{
    const struct estimate *e = &fit->estimate;
    const double p = (double)e->p;
    const bool pem = fit->method == DYNAMICS_PEM;
    memset(reference, 0, sizeof *reference);
    reference->p = e->p;
    reference->freedom = pem ? fit->noise_freedom : (double)fit->rows - p;
    reference->count = reference->freedom > 0.0 ? 1 : 0;
    for (size_t i = 0; i < e->p; i++) {
        const double given_back = pem ? exp(p / reference->freedom) : 1.0;
        reference->value[i] = e->value[i];
        for (size_t j = 0; j < e->p; j++) {
            reference->covariance[i][j] = given_back * e->covariance[i][j];
        }
        if (!isfinite(e->value[i]) || !(e->covariance[i][i] > 0.0)) {
            reference->count = 0;
        }
    }
}

/* Combines both estimates: theta_0 + C_0 W d, C_0 - C_0 W C_0. */
void dynamics_reference_join(struct dynamics_reference *reference,
                             const struct dynamics_reference *newer)
{
    double w[DYNAMICS_P_MAX * DYNAMICS_P_MAX];
    double c[DYNAMICS_P_MAX * DYNAMICS_P_MAX];
    double gain[DYNAMICS_P_MAX * DYNAMICS_P_MAX];
    double less[DYNAMICS_P_MAX * DYNAMICS_P_MAX];
    const size_t p = newer->p;
    if (reference->count >= FITS_MAX) {
        reference->count = FITS_MAX - 1;
        for (size_t i = 0; i < p; i++) {
            for (size_t j = 0; j < p; j++) {
                reference->covariance[i][j] *= (double)FITS_MAX / (FITS_MAX - 1);
            }
        }
    }
    if (!invert_sum(reference, newer, w)) {
        return;
    }
    /* The more certain estimate has the larger share of the mean. */
    reference->freedom = join_freedom(reference, newer, 1.0 - share_of_sum(newer, w));
    for (size_t i = 0; i < p; i++) {
        memcpy(c + i * p, reference->covariance[i], p * sizeof *c);
    }
    square_multiply(c, w, false, p, gain);
    square_multiply(gain, c, false, p, less);
    for (size_t i = 0; i < p; i++) {
        double change = 0.0;
        for (size_t j = 0; j < p; j++) {
            change += gain[i * p + j] * (newer->value[j] - reference->value[j]);
            reference->covariance[i][j] -= less[i * p + j];
        }
        w[i] = change;
    }
    for (size_t i = 0; i < p; i++) {
        reference->value[i] += w[i];
    }
    reference->count++;
}
