#include "identification/online/online_drift.h"

#include <math.h>
#include <string.h>

#include "identification/online/online_kalman.h"

/* Innovations further off say no more than one at this distance. */
static const double SQUARE_MAX = 16.0;
/* A suspicion; what confirms it; what is no change at all. */
static const double SUM_MAX = 15.0;
static const double DRIFT_Z = 4.0;
static const double SAME_Z = 2.0;
static const double OUTLIER_SHARE_MAX = 0.1;
/* A value is known when its error is below this share of a change that matters. */
static const double KNOWN_RATIO = 0.2;
static const double RENEW_RATIO = 0.5;
static const double SETTLE_RATIO = 2.0;
/* A suspicion is looked at for so many times excitation_s, at most and at least, with
 * parameters free to move by so many times what matters. */
static const double LOOK_RATIO_MAX = 3.0;
static const double LOOK_RATIO_MIN = 0.5;
static const double OPEN_RATIO = 3.0;

void online_drift_weigh(const struct online_filter *f, size_t i, double e, double variance,
                        struct online_evidence *out)
{
    double apart = e + f->offset[i];
    const double most = sqrt(SQUARE_MAX * variance);
    apart = fmin(fmax(apart, -most), most);
    for (size_t j = 0; j < f->p; j++) {
        const double y = f->sensitivity[i][j] / variance;
        out->score[j] += y * apart;
        out->information[j] += y * f->sensitivity[i][j];
    }
}

static double change_that_matters(const struct online_filter *f, const struct online_params *p,
                                  size_t j)
{
    return p->drift_ratio * fmax(fabs(f->reference[j]), 1e-3 * f->scale[j]);
}

static bool is_known(const struct online_filter *f, const struct online_params *p, size_t j,
                     double se)
{
    return se <= KNOWN_RATIO * change_that_matters(f, p, j);
}

/* A reference that is only a guess follows the filter; one that the filter knows much better by
 * now, and does not contradict, gives way to it. */
static void renew_reference(struct online_filter *f, const struct online_params *p)
{
    for (size_t j = 0; j < f->p; j++) {
        const double se = online_filter_se(f, j);
        const double change = f->theta[j] - f->reference[j];
        const double sum = fmax(f->sum[j][0], f->sum[j][1]);
        const bool better = se < RENEW_RATIO * f->reference_se[j] &&
                            fabs(change) < 3.0 * f->reference_se[j] && sum < 0.2 * SUM_MAX;
        if (is_known(f, p, j, f->reference_se[j]) && !better) {
            continue;
        }
        /* Early on the filter is surer than it should be. */
        const double owned_se =
            f->learnt_s < SETTLE_RATIO * p->excitation_s ? f->reference_se[j] : se;
        for (size_t i = 0; i < f->n; i++) {
            f->offset[i] -= f->sensitivity[i][j] * change;
        }
        f->reference[j] = f->theta[j];
        f->reference_se[j] = owned_se;
    }
}

/* The drift test (docs/model/online.md). Page's sum: for each parameter and direction the log
 * likelihood ratio of "it is another one by what matters" against "it is what it was" is added
 * up, and starts again at zero whenever it falls below: it stays near zero while nothing
 * changes, and climbs from the moment on when something does, which also dates the change. A
 * sum beyond its limit is a suspicion only, for parameters act alike: the filter opens up for a
 * while, and what its parameters do then confirms it or not. */

/* Sums of log likelihood ratios of a change that matters, for each parameter and direction. */
static bool suspect_change(struct online_filter *f, const struct online_params *p,
                           const struct online_evidence *evidence)
{
    double most = SUM_MAX;
    bool found = false;
    for (size_t j = 0; j < f->p; j++) {
        const double change = change_that_matters(f, p, j);
        const bool tells = f->excited[j] && is_known(f, p, j, f->reference_se[j]);
        for (int way = 0; way < 2 && tells; way++) {
            double *sum = &f->sum[j][way];
            if (*sum <= 0.0) {
                f->since_us[j][way] = f->lab_us;
            }
            *sum += (way == 0 ? change : -change) * evidence->score[j] -
                    0.5 * change * change * evidence->information[j];
            *sum = *sum > 0.0 ? *sum : 0.0;
            if (*sum > most) {
                most = *sum;
                found = true;
                f->suspect = (uint8_t)j;
                f->suspect_us = f->since_us[j][way];
            }
        }
    }
    return found;
}

/* Let the parameters move freely, to see where they go. */
static void open_up(struct online_filter *f, const struct online_params *p)
{
    for (size_t j = 0; j < f->p; j++) {
        const double sd = OPEN_RATIO * change_that_matters(f, p, j);
        double *variance = &f->covariance[f->n + j][f->n + j];
        *variance += sd * sd;
    }
    f->opened = true;
    f->opened_s = 0.0;
    f->opened_used = 0;
    f->opened_outliers = 0;
    f->openings++;
}

static bool is_settled(const struct online_filter *f, const struct online_params *p)
{
    const double look_s = f->opened_s / p->excitation_s;
    return look_s > LOOK_RATIO_MAX ||
           (look_s > LOOK_RATIO_MIN &&
            is_known(f, p, f->suspect, online_filter_se(f, f->suspect)));
}

/* How far entry j is from its reference, in standard errors. */
static double distance_in_errors(const struct online_filter *f, size_t j)
{
    return fabs(f->theta[j] - f->reference[j]) /
           hypot(online_filter_se(f, j), f->reference_se[j]);
}

/* The parameter that is furthest from its reference; false when none is far enough. */
static bool confirm_change(const struct online_filter *f, const struct online_params *p,
                           struct online_drift *drift)
{
    double most = DRIFT_Z;
    bool found = false;
    /* Where much is far off, not a parameter is another one, but the model is wrong. */
    if (f->opened_outliers > OUTLIER_SHARE_MAX * f->opened_used) {
        return false;
    }
    for (size_t j = 0; j < f->p; j++) {
        const double z = distance_in_errors(f, j);
        const double change = f->theta[j] - f->reference[j];
        if (is_known(f, p, j, f->reference_se[j]) && z >= most &&
            fabs(change) >= 0.5 * change_that_matters(f, p, j)) {
            most = z;
            found = true;
            *drift = (struct online_drift){.parameter = j,
                                           .since_us = f->suspect_us,
                                           .found_us = f->lab_us,
                                           .before = f->reference[j],
                                           .after = f->theta[j],
                                           .before_se = f->reference_se[j],
                                           .after_se = online_filter_se(f, j),
                                           .change_ratio = change / f->reference[j],
                                           .z = z};
        }
    }
    return found;
}

/* What did not change is what it was. */
static void close_up(struct online_filter *f)
{
    bool all[DYNAMICS_P_MAX];
    double gain[ONLINE_STATES_MAX];
    memset(all, true, sizeof all);
    for (size_t j = 0; j < f->p; j++) {
        const size_t c = f->n + j;
        if (distance_in_errors(f, j) < SAME_Z) {
            const double variance =
                f->covariance[c][c] + f->reference_se[j] * f->reference_se[j];
            online_kalman_absorb(f, c, f->reference[j] - f->theta[j], variance, all, gain);
        }
    }
    f->opened = false;
}

bool online_drift_watch(struct online_filter *f, const struct online_params *p,
                        const struct online_evidence *evidence, double h_s,
                        struct online_drift *drift)
{
    double se[DYNAMICS_P_MAX];
    if (!f->opened) {
        renew_reference(f, p);
        if (suspect_change(f, p, evidence)) {
            open_up(f, p);
        }
        return false;
    }
    f->opened_s += h_s;
    f->opened_used++;
    if (!is_settled(f, p)) {
        return false;
    }
    const bool found = confirm_change(f, p, drift);
    close_up(f);
    memset(f->sum, 0, sizeof f->sum);
    if (found) {
        f->drifts++;
        f->last = *drift;
        for (size_t j = 0; j < f->p; j++) {
            se[j] = online_filter_se(f, j);
        }
        online_filter_refer(f, f->theta, se);
    }
    return found;
}
