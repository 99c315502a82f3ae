#include "identification/dynamics/dynamics_change.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "identification/numeric/svd.h"

/* More fits than these do not make a reference surer: robots wear, and models are not exact. */
enum { FITS_MAX = 8, DIRECTIONS_MAX = DYNAMICS_PAYLOAD + 1 };
/* What is left after the named ones has this chance at most, or one more is named. */
static const double LEFT_LEVEL = 0.01;
static const double RANK_RATIO = 1e-12;

struct search {
    size_t p;
    const struct dynamics_reference *reference;
    double w[DYNAMICS_P_MAX * DYNAMICS_P_MAX];
    double left[DYNAMICS_P_MAX]; /* of the difference, beside what was taken out */
    size_t open;                 /* directions that may explain it */
    bool is_open[DIRECTIONS_MAX];
    double u[DIRECTIONS_MAX][DYNAMICS_P_MAX]; /* beside what was taken out */
    size_t taken;
    size_t order[DIRECTIONS_MAX];
    double size[DIRECTIONS_MAX], se[DIRECTIONS_MAX]; /* by order, along u */
    double share[DIRECTIONS_MAX][DIRECTIONS_MAX];    /* [order][direction] that was taken out */
};

/* Of the sum of both covariances. */
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

/* a' W b. */
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

/* Each parameter alone; all masses by one factor, where there are several. */
static void open_directions(struct search *s, const struct model *model)
{
    size_t masses = 0;
    for (size_t i = 0; i < s->p; i++) {
        s->u[i][i] = 1.0;
        s->is_open[i] = true;
        if (i < model->parameter_count && model->parameters[i].sign == MODEL_POSITIVE) {
            s->u[DYNAMICS_PAYLOAD][i] = s->reference->value[i];
            masses++;
        }
    }
    s->is_open[DYNAMICS_PAYLOAD] = masses > 1;
    s->open = s->p + (masses > 1 ? 1 : 0);
}

/* The change along a direction, and the square of it in standard errors. */
static double score_direction(const struct search *s, size_t c, double *size)
{
    const double own = weigh_both(s, s->u[c], s->u[c]);
    *size = weigh_both(s, s->u[c], s->left) / own;
    return *size * *size * own;
}

static double find_best(const struct search *s, size_t *best)
{
    double most = -1.0;
    double size;
    for (size_t c = 0; c < DIRECTIONS_MAX; c++) {
        const double score = s->is_open[c] ? score_direction(s, c, &size) : -1.0;
        if (score > most) {
            most = score;
            *best = c;
        }
    }
    return most;
}

/* What this direction explains is explained. */
static void take_out(struct search *s, size_t c)
{
    const size_t at = s->taken++;
    const double own = weigh_both(s, s->u[c], s->u[c]);
    s->order[at] = c;
    s->se[at] = 1.0 / sqrt(own);
    (void)score_direction(s, c, &s->size[at]);
    s->is_open[c] = false;
    s->open--;
    for (size_t i = 0; i < s->p; i++) {
        s->left[i] -= s->size[at] * s->u[c][i];
    }
    for (size_t other = 0; other < DIRECTIONS_MAX; other++) {
        if (!s->is_open[other]) {
            continue;
        }
        const double before = weigh_both(s, s->u[other], s->u[other]);
        s->share[at][other] = weigh_both(s, s->u[c], s->u[other]) / own;
        for (size_t i = 0; i < s->p; i++) {
            s->u[other][i] -= s->share[at][other] * s->u[c][i];
        }
        /* The last mass beside the others and a payload. */
        if (weigh_both(s, s->u[other], s->u[other]) < 1e-9 * before) {
            s->is_open[other] = false;
            s->open--;
        }
    }
}

/* The chance of as much or more without a change, of what is left: in all, or along any one
 * direction. */
static double chance_of_left(const struct search *s, size_t *best)
{
    const double df = (double)s->p - (double)s->taken;
    if (df < 1.0 || s->open == 0) {
        return 1.0;
    }
    const double all = gsl_cdf_chisq_Q(weigh_both(s, s->left, s->left), df);
    const double one = (double)s->open * gsl_cdf_chisq_Q(find_best(s, best), 1.0);
    return fmin(1.0, 2.0 * fmin(all, one));
}

static void settle_moved(struct search *s, const signed char *moved)
{
    double size;
    for (size_t c = 0; moved && c < DIRECTIONS_MAX; c++) {
        if (moved[c] == 0 || !s->is_open[c]) {
            continue;
        }
        (void)score_direction(s, c, &size);
        if (size * moved[c] > 0.0) {
            take_out(s, c);
        }
    }
}

/* Along the directions themselves, of which the later ones lie partly along the earlier. */
static void solve_sizes(struct search *s)
{
    for (size_t k = s->taken; k-- > 0;) {
        for (size_t later = k + 1; later < s->taken; later++) {
            s->size[k] -= s->share[k][s->order[later]] * s->size[later];
        }
    }
}

static void note_changes(struct search *s, size_t from, double ratio,
                         struct dynamics_change *out)
{
    double z[DIRECTIONS_MAX];
    for (size_t k = from; k < s->taken; k++) {
        z[k] = fabs(s->size[k]) / s->se[k];
    }
    solve_sizes(s);
    for (size_t k = from; k < s->taken && out->count < DYNAMICS_CHANGES_MAX; k++) {
        const size_t c = s->order[k];
        const double before = c == DYNAMICS_PAYLOAD ? 1.0 : s->reference->value[c];
        if (fabs(s->size[k]) >= ratio * fabs(before)) {
            const size_t i = out->count++;
            out->parameter[i] = c;
            out->before[i] = before;
            out->after[i] = before + s->size[k];
            out->after_se[i] = s->se[k];
            out->z[i] = z[k];
        }
    }
}

bool dynamics_change_find(const struct model *model, const struct dynamics_reference *reference,
                          const struct dynamics_reference *newer, const signed char *moved,
                          double level, double ratio, struct dynamics_change *out)
{
    struct search s;
    size_t best = 0;
    memset(&s, 0, sizeof s);
    memset(out, 0, sizeof *out);
    s.p = newer->p;
    s.reference = reference;
    if (!invert_sum(reference, newer, s.w)) {
        return false;
    }
    for (size_t i = 0; i < s.p; i++) {
        s.left[i] = newer->value[i] - reference->value[i];
    }
    open_directions(&s, model);
    settle_moved(&s, moved);
    const size_t from = s.taken;
    out->statistic = weigh_both(&s, s.left, s.left);
    out->df = s.p - s.taken;
    double chance = chance_of_left(&s, &best);
    for (double most = level; chance < most && s.taken < from + DYNAMICS_CHANGES_MAX;) {
        take_out(&s, best);
        chance = chance_of_left(&s, &best);
        most = LEFT_LEVEL;
    }
    note_changes(&s, from, ratio, out);
    return true;
}

void dynamics_reference_take(struct dynamics_reference *reference, const struct estimate *e)
{
    memset(reference, 0, sizeof *reference);
    reference->count = 1;
    reference->p = e->p;
    for (size_t i = 0; i < e->p; i++) {
        reference->value[i] = e->value[i];
        memcpy(reference->covariance[i], e->covariance[i], e->p * sizeof e->covariance[i][0]);
        if (!isfinite(e->value[i]) || !(e->covariance[i][i] > 0.0)) {
            reference->count = 0;
        }
    }
}

/* theta_0 + C_0 W d, C_0 - C_0 W C_0. */
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
