#include "identification/dynamics/dynamics_agreement.h"

#include <math.h>
#include <stdio.h>

#include <gsl/gsl_cdf.h>

#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/fit/fit_thresholds.def"
#include "identification/simulation/simulation_thresholds.def"

static double largest_apart(const struct stability_test *test, size_t *from, size_t *to)
{
    double most = -1.0;
    for (size_t a = 1; a < test->parts; a++) {
        for (size_t b = 0; b < a; b++) {
            if (fabs(test->value[a] - test->value[b]) > most) {
                most = fabs(test->value[a] - test->value[b]);
                *from = b;
                *to = a;
            }
        }
    }
    return most;
}

/* A joint's constant effort may be near zero: then its share of the efforts decides. */
static bool test_matters(const struct stability_test *test, const struct model *model,
                         const struct data_summary *summary, const struct dynamics_fit *fit)
{
    size_t from = 0;
    size_t to = 0;
    const size_t i = test->entry;
    const double apart = largest_apart(test, &from, &to);
    const double effort = hypot(summary->tau[0].mean, summary->tau[0].sd);
    const bool any =
        model->sticks && i < model->parameter_count && model->parameters[i].sign == MODEL_ANY;
    return apart > STABILITY_MATTERS * fabs(fit->estimate.value[i]) &&
           !(any && apart * fit->regressor_rms[i] < EFFORT_REST * effort);
}

/* Describes the effect of an effort's size, from the entry's values at both ends. */
static const char *level_words(const struct stability_test *test)
{
    const double first = fabs(test->value[0]);
    const double last = fabs(test->value[test->parts - 1]);
    const double middle = fabs(test->value[test->parts / 2]);
    if (test->parts > 2 && first > 1.02 * middle && last < 1.02 * middle) {
        return "small efforts have too little effect: a dead band or dry friction";
    }
    return last > first ? "large efforts have too little effect: it saturates"
                        : "the law bends: it is not proportional to the effort";
}

static void report_time(struct dynamics_fit *fit, const struct stability_test *test,
                        const char *name)
{
    static const char *const halves[] = {"the first half", "the second half"};
    static const char *const thirds[] = {"the first third", "the second third",
                                         "the last third"};
    const char *const *words = test->parts == 2 ? halves : thirds;
    size_t from = 0;
    size_t to = 1;
    (void)largest_apart(test, &from, &to);
    estimate_reason(&fit->estimate, REASON_CHANGES_WITH_TIME, ESTIMATE_MARGINAL,
                    "it changes with time: %s is %.4g +- %.2g in %s of the recording, %.4g +- "
                    "%.2g in %s",
                    name, test->value[from], test->se[from], words[from], test->value[to],
                    test->se[to], words[to]);
    estimate_advise(&fit->estimate,
                    "it changes with time: record again with a warm robot, a full battery and "
                    "the same load; then fit one recording and --validate the other");
}

static void report_recordings(struct dynamics_fit *fit, const struct stability_test *test,
                              const char *name)
{
    size_t from = 0;
    size_t to = 1;
    (void)largest_apart(test, &from, &to);
    estimate_reason(&fit->estimate, REASON_PARTS_DIFFER, ESTIMATE_MARGINAL,
                    "the recordings differ: %s is %.4g +- %.2g in the %zu. of %zu, %.4g +- "
                    "%.2g in the %zu.",
                    name, test->value[from], test->se[from], from + 1, test->parts,
                    test->value[to], test->se[to], to + 1);
    estimate_advise(&fit->estimate,
                    "fit each recording for itself: another robot, another load, or one that "
                    "was not warm yet?");
}

static void advise_levels(struct dynamics_fit *fit, const struct model_axis *axis)
{
    estimate_advise(
        &fit->estimate,
        "record the %s in steps of a third, two thirds and all of its range, fit each one "
        "separately, and compare the fits; stay in the range in which they agree",
        axis->effort_words);
}

static void advise_directions(struct dynamics_fit *fit, const struct model_axis *axis)
{
    estimate_advise(&fit->estimate,
                    "drive the same %s forwards and backwards, and fit each way for itself",
                    axis->effort_words);
}

static void report_effort(struct dynamics_fit *fit, const struct model *model,
                          const struct stability_test *test, const char *name)
{
    const struct model_axis *axis = &model->axes[test->axis];
    const size_t last = test->parts - 1;
    if (test->cut == STABILITY_LEVEL) {
        estimate_reason(&fit->estimate, REASON_EFFORT_NONLINEAR, ESTIMATE_MARGINAL,
                        "it depends on the size of the %s: %s is %.4g +- %.2g at small ones, "
                        "%.4g +- %.2g at large ones; %s",
                        axis->effort_words, name, test->value[0], test->se[0],
                        test->value[last], test->se[last], level_words(test));
        advise_levels(fit, axis);
        return;
    }
    estimate_reason(&fit->estimate, REASON_EFFORT_NONLINEAR, ESTIMATE_MARGINAL,
                    "it is asymmetric: %s is %.4g +- %.2g where the %s is below zero, %.4g +- "
                    "%.2g above",
                    name, test->value[0], test->se[0], axis->effort_words, test->value[last],
                    test->se[last]);
    advise_directions(fit, axis);
}

/* Ratio of a large effort's effect to that of a third of it, and of a negative effort's
 * effect to that of a positive one; 1 if only one of the two was recorded. */
static void compare_worths(const struct stability_shape *shape, double *level,
                           double *direction)
{
    const double *worth = shape->worth;
    const double back = worth[0] / worth[1];
    const double ahead = worth[3] / worth[2];
    *level = isnan(back) ? ahead : isnan(ahead) ? back : 0.5 * (back + ahead);
    *level = isnan(*level) ? 1.0 : *level;
    /* Compares full efforts if both were recorded, else thirds. */
    *direction = worth[0] / worth[3];
    *direction = isnan(*direction) ? worth[1] / worth[2] : *direction;
    *direction = isnan(*direction) ? 1.0 : *direction;
}

/* Returns the axis whose effort acts least linearly; axis_count: none. */
static size_t bent_axis(const struct model *model, const struct stability *s, double chance)
{
    size_t found = model->axis_count;
    double most = 0.0;
    for (size_t a = 0; a < model->axis_count && s->tested; a++) {
        const struct stability_shape *shape = &s->shape[a];
        double level;
        double direction;
        compare_worths(shape, &level, &direction);
        if (shape->p < chance && shape->statistic / shape->df > most &&
            fmax(fabs(level - 1.0), fabs(direction - 1.0)) > STABILITY_MATTERS) {
            most = shape->statistic / shape->df;
            found = a;
        }
    }
    return found;
}

static void report_shape(struct dynamics_fit *fit, const struct model_axis *axis,
                         const struct stability_shape *shape)
{
    double level;
    double direction;
    compare_worths(shape, &level, &direction);
    if (fabs(level - 1.0) < fabs(direction - 1.0)) {
        estimate_reason(&fit->estimate, REASON_EFFORT_NONLINEAR, ESTIMATE_MARGINAL,
                        "it is asymmetric: a unit of the %s below zero has %.0f %% of the "
                        "effect of one above",
                        axis->effort_words, 100.0 * direction);
        advise_directions(fit, axis);
        return;
    }
    estimate_reason(&fit->estimate, REASON_EFFORT_NONLINEAR, ESTIMATE_MARGINAL,
                    "it depends on the size of the %s: a unit at full size has %.0f %% of the "
                    "effect of one at a third of it; %s",
                    axis->effort_words, 100.0 * level,
                    level < 1.0 ? "large efforts have too little effect: it saturates"
                                : "small efforts have too little effect: a dead band or dry "
                                  "friction");
    advise_levels(fit, axis);
}

/* Adds a variance with its degrees of freedom to an error and widens the interval. The
 * interval's factor is at least its present one. */
static void widen_error(struct dynamics_fit *fit, size_t i, double variance, double freedom)
{
    struct estimate *e = &fit->estimate;
    const double all = e->covariance[i][i] + variance;
    /* Satterthwaite's degrees of freedom for a sum in which one part is known well. */
    const double t = gsl_cdf_tdist_Pinv(0.975, freedom * (all / variance) * (all / variance));
    const double reach = fmax((e->hi[i] - e->value[i]) / e->se[i], t);
    e->covariance[i][i] = all;
    e->se[i] = sqrt(all);
    e->lo[i] = e->value[i] - reach * e->se[i];
    e->hi[i] = e->value[i] + reach * e->se[i];
}

/* If recordings differ, the common value is as uncertain as their number allows. If parts of
 * one recording differ, the next recording will differ as much. */
static void widen_errors(struct dynamics_fit *fit, const struct model *model,
                         const struct stability *stability)
{
    const bool several = stability->recording_count > 1;
    char name[128];
    size_t most = fit->estimate.p;
    double least_share = 0.0;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        const struct stability_between *between =
            several ? &stability->recordings[i] : &stability->in_time[i];
        const double share = between->sd / fit->estimate.se[i];
        if (!(between->sd > 0.0) || !(fit->estimate.se[i] > 0.0)) {
            continue;
        }
        widen_error(fit, i, several ? between->mean_variance : between->sd * between->sd,
                    several ? (double)(stability->recording_count - 1) : HUGE_VAL);
        if (share > least_share) {
            least_share = share;
            most = i;
        }
    }
    if (most < fit->estimate.p) {
        estimate_reason(&fit->estimate, REASON_PARTS_DIFFER, ESTIMATE_PASS,
                        "%s differ by more than their errors, %s by %.2g from one to the next "
                        "(standard deviation): errors are widened accordingly",
                        several ? "the recordings" : "parts of the recording",
                        dynamics_parameter_both(model, most, name, sizeof name),
                        several ? stability->recordings[most].sd : stability->in_time[most].sd);
    }
}

/* Root mean square of the force that an axis' effort exerts. */
static double force_size(const struct data_summary *summary, const struct dynamics_check *own,
                         size_t axis)
{
    return isnan(own->force_rms[axis]) ? hypot(summary->tau[axis].mean, summary->tau[axis].sd)
                                       : own->force_rms[axis];
}

/* Returns the axis of a constant effort that matters; axis_count: none. */
static size_t constant_axis(const struct model *model, const struct data_summary *summary,
                            const struct dynamics_check *own)
{
    const struct stability *s = &own->stability;
    size_t found = model->axis_count;
    double most = CONSTANT_ERRORS;
    for (size_t a = 0; a < model->axis_count && s->constant_p < FALSE_ALARMS; a++) {
        const double errors = fabs(s->constant[a]) / s->constant_se[a];
        if (errors > most &&
            fabs(s->constant[a]) > CONSTANT_RATIO * force_size(summary, own, a)) {
            most = errors;
            found = a;
        }
    }
    return found;
}

static void report_constant(struct dynamics_fit *fit, const char *force, double value,
                            double se)
{
    estimate_reason_first(
        &fit->estimate, REASON_UNMODELLED, ESTIMATE_MARGINAL,
        "a constant additional %s of %.3g +- %.2g would explain the residuals", force, value,
        se);
    estimate_advise(&fit->estimate,
                    "fit a constant %s too: --biases; and look for what makes it: a slope, "
                    "wind, a current, the zero of a sensor",
                    force);
}

/* Recordings that differ also differ in time. They are the more likely cause, unless time
 * explains far more. */
static double weigh_test(const struct stability_test *test)
{
    return test->statistic / test->df * (test->cut == STABILITY_RECORDINGS ? OF_CAUSE : 1.0);
}

/* Returns the parameter that a term moves furthest, as a share of its interval; p: none
 * moves visibly. */
static size_t find_term_moves(const struct dynamics_fit *fit, const struct model *model,
                              const struct stability_term *term)
{
    size_t moved = fit->estimate.p;
    double reach = TERM_REACH;
    for (size_t i = 0; i < model->parameter_count; i++) {
        const double shift = fabs(term->shift[i]);
        const double by = 2.0 * shift / (fit->estimate.hi[i] - fit->estimate.lo[i]);
        if (by > reach && model->parameters[i].sign != MODEL_ANY &&
            shift > SHIFT_MATTERS * fabs(fit->estimate.value[i])) {
            reach = by;
            moved = i;
        }
    }
    return moved;
}

/* Judges a term of the extended model. Returns true if its absence makes values wrong. Its
 * size is not reported, because one step from a fit without the term gives only an
 * approximate value. */
static bool judge_term(struct dynamics_fit *fit, const struct model *model,
                       const struct stability_term *term)
{
    size_t most = 0;
    if (!term->model || !(term->p < FALSE_ALARMS)) {
        return false;
    }
    for (size_t k = 1; k < term->count; k++) {
        most = term->value[k] / term->se[k] > term->value[most] / term->se[most] ? k : most;
    }
    if (!(term->value[most] > TERM_ERRORS * term->se[most])) {
        return false; /* negative friction has another cause */
    }
    const struct model_parameter *found = &term->model->parameters[term->entry[most]];
    const size_t moved = find_term_moves(fit, model, term);
    const bool matters = moved < fit->estimate.p;
    if (matters) {
        estimate_reason_first(&fit->estimate, REASON_UNMODELLED, ESTIMATE_MARGINAL,
                              "%s (%s), which the model lacks, explains some of the residuals, "
                              "and %s (%s) is wrong without it",
                              found->words, found->name, model->parameters[moved].words,
                              model->parameters[moved].name);
    } else {
        estimate_reason(&fit->estimate, REASON_UNMODELLED, ESTIMATE_PASS,
                        "%s (%s) is there, and moves no parameter far within its interval",
                        found->words, found->name);
    }
    estimate_advise(&fit->estimate, "fit --model %s, which has %s", term->model->name,
                    found->words);
    return matters;
}

/* Reports a while in which an effort has another effect. Joints that stick have forces of their
 * own at rest: unmodelled_term.h finds their terms. */
static void judge_episode(struct dynamics_fit *fit, const struct model *model,
                          const struct stability *stability)
{
    const struct gain_episode *worst = NULL;
    for (size_t a = 0; a < model->axis_count && !model->sticks && stability->tested; a++) {
        const struct gain_episode *episode = &stability->episode[a];
        if (episode->errors > EPISODE_ERRORS && fabs(episode->change) > STABILITY_MATTERS &&
            (!worst || episode->errors > worst->errors)) {
            worst = episode;
        }
    }
    if (worst && stability->recording_count < 2) {
        const size_t a = (size_t)(worst - stability->episode);
        estimate_reason(&fit->estimate, REASON_CHANGES_WITH_TIME, ESTIMATE_MARGINAL,
                        "from %.0f to %.0f %% of the recording a unit of the %s has %.2g %% %s "
                        "effect",
                        100.0 * worst->from, 100.0 * worst->to, model->axes[a].effort_words,
                        100.0 * fabs(worst->change), worst->change < 0.0 ? "less" : "more");
        estimate_advise(&fit->estimate,
                        "look what happened there: supply, load, floor, another source of "
                        "commands; fit without that part");
    }
}

bool dynamics_judge_parts(struct dynamics_fit *fit, const struct model *model,
                          const struct data_summary *summary, const struct dynamics_check *own)
{
    const struct stability *stability = &own->stability;
    const double chance = FALSE_ALARMS / (double)(stability->count + model->axis_count);
    const struct stability_test *worst = NULL;
    const size_t bent = bent_axis(model, stability, chance);
    const size_t pushed =
        stability->tested ? constant_axis(model, summary, own) : model->axis_count;
    const bool lacks = judge_term(fit, model, &stability->term);
    double weight = 0.0; /* weight of the most likely cause so far */
    for (size_t i = 0; stability->tested && i < stability->count; i++) {
        const struct stability_test *test = &stability->tests[i];
        if (!(test->p < chance)) {
            continue;
        }
        if (test_matters(test, model, summary, fit) && weigh_test(test) > weight) {
            weight = weigh_test(test);
            worst = test;
        }
    }
    if (stability->tested) {
        widen_errors(fit, model, stability);
    }
    /* A constant effort looks like asymmetry, and vice versa: report the more likely cause. */
    if (pushed < model->axis_count &&
        weight < stability->constant_statistic / stability->constant_df) {
        report_constant(fit, model_force_words(model, pushed), stability->constant[pushed],
                        stability->constant_se[pushed]);
        return true;
    }
    /* Missing friction looks like a nonlinear effect of the effort. */
    if (bent < model->axis_count && !lacks &&
        weight < stability->shape[bent].statistic / stability->shape[bent].df) {
        report_shape(fit, &model->axes[bent], &stability->shape[bent]);
        return false;
    }
    if (!worst || (lacks && worst->cut == STABILITY_LEVEL)) {
        if (!worst && !lacks) {
            judge_episode(fit, model, stability);
        }
        return false;
    }
    char name[128];
    (void)dynamics_parameter_both(model, worst->entry, name, sizeof name);
    if (worst->cut == STABILITY_HALVES || worst->cut == STABILITY_THIRDS) {
        report_time(fit, worst, name);
    } else if (worst->cut == STABILITY_RECORDINGS) {
        report_recordings(fit, worst, name);
    } else {
        report_effort(fit, model, worst, name);
    }
    return false;
}

void dynamics_judge_forces(struct dynamics_fit *fit, const struct model *model,
                           const struct data_summary *summary, const struct dynamics_check *own)
{
    for (size_t a = 0; a < model->axis_count; a++) {
        const double effort = force_size(summary, own, a);
        const double ratio = fit->force_sd[a] / effort;
        if (fit->method == DYNAMICS_PEM && effort > 0.0 && ratio > FORCE_RATIO_MAX) {
            estimate_reason(
                &fit->estimate, REASON_UNMODELLED, ESTIMATE_MARGINAL,
                "unmeasured forces are %.0f %% of the %s: much of the motion has another cause",
                100.0 * ratio, model_force_words(model, a));
            estimate_advise(
                &fit->estimate,
                "look for other forces (wind, slope, cable), or for a %s that is commanded but "
                "does not act; record with larger efforts, on a calm day",
                model->axes[a].effort_words);
        }
    }
}

/* Judges one axis. Residuals are those of velocities, simulated, or of efforts by the fit's
 * equation. If unmeasured forces act and a simulation is no better than they are, velocities
 * are predicted one step ahead. */
static void judge_axis(struct dynamics_fit *fit, const char *channel,
                       const struct residual_summary *own, const struct residual_summary *held,
                       double expected)
{
    const double ratio = held->rmse / (own->rmse * sqrt(fmax(expected, 1.0)));
    /* Number of neighbouring residuals that count as one independent value; the spread is
     * known from n residuals only. */
    const double as_one = (1.0 + fmin(fmax(held->correlation, 0.0), 0.99)) /
                          (1.0 - fmin(fmax(held->correlation, 0.0), 0.99));
    const double count = fmax((double)held->n / as_one, 2.0);
    const double chance = gsl_cdf_chisq_Q(count * ratio * ratio, count);
    if (ratio > HELD_OUT_MARGINAL && chance < FALSE_ALARMS) {
        estimate_reason_first(&fit->estimate, REASON_HELD_OUT,
                              ratio > HELD_OUT_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                              "the held-out recording contradicts the fit: the residual of %s "
                              "is %.3g there, %.3g on the fitted recording",
                              channel, held->rmse, own->rmse);
    }
    if (fabs(held->mean) > BIAS_RATIO * held->rmse &&
        fabs(held->mean) > 4.0 * held->rmse / sqrt(count) &&
        fabs(held->mean) > BIAS_RATIO * own->rmse) {
        estimate_reason(&fit->estimate, REASON_HELD_OUT, ESTIMATE_MARGINAL,
                        "on the held-out recording %s is off by %.3g in the mean", channel,
                        held->mean);
    }
}

/* Reports the parameter that moved most relative to both errors. */
static void judge_moved(struct dynamics_fit *fit, const struct model *model,
                        const struct stability *held)
{
    size_t worst = fit->estimate.p;
    double most = 0.0;
    if (!held->tested || !(held->moved_p < FALSE_ALARMS)) {
        return;
    }
    for (size_t i = 0; i < fit->estimate.p; i++) {
        const double error = hypot(held->moved_se[i], fit->estimate.se[i]);
        if (fabs(held->moved[i]) / error > most &&
            fabs(held->moved[i]) > STABILITY_MATTERS * fabs(fit->estimate.value[i])) {
            most = fabs(held->moved[i]) / error;
            worst = i;
        }
    }
    if (most < 3.0) {
        return;
    }
    char name[128];
    estimate_reason_first(
        &fit->estimate, REASON_HELD_OUT, ESTIMATE_MARGINAL,
        "the held-out recording gives another %s: %.4g +- %.2g, not %.4g +- %.2g",
        dynamics_parameter_both(model, worst, name, sizeof name),
        fit->estimate.value[worst] + held->moved[worst], held->moved_se[worst],
        fit->estimate.value[worst], fit->estimate.se[worst]);
}

/* A regression of efforts on the motion simulated nothing, so held-out efforts judge it. */
void dynamics_judge_held_out(struct dynamics_fit *fit, const struct model *model,
                             const struct dynamics_check *own,
                             const struct dynamics_check *held_out)
{
    const size_t before = fit->estimate.reason_count;
    if (!own->simulated || !held_out->simulated) {
        return;
    }
    const bool pem = fit->method == DYNAMICS_PEM;
    const double expected =
        held_out->stability.tested ? held_out->stability.expected_ratio : 1.0;
    judge_moved(fit, model, &held_out->stability);
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct dynamics_axis_check *mine = &own->axis[a];
        const struct dynamics_axis_check *theirs = &held_out->axis[a];
        if (fit->method < DYNAMICS_OUTPUT_ERROR && own->effort_residual.n > 0 &&
            held_out->effort_residual.n > 0) {
            judge_axis(fit, model->axes[a].effort, &own->effort_residual,
                       &held_out->effort_residual, expected);
            continue;
        }
        /* A joint simulated without its controller deviates even on its own recording. Its
         * deviation then says nothing about the model, but its efforts do. */
        if (own->axis[a].run.r2 < R2_MARGINAL && own->effort_r2 >= R2_MARGINAL) {
            continue;
        }
        judge_axis(fit, model->axes[a].velocity, pem ? &mine->one_step : &mine->run,
                   pem ? &theirs->one_step : &theirs->run, expected);
        if (dynamics_check_has_start(fit) && mine->run.white && !theirs->run.white &&
            !residual_has_trace(&theirs->run)) {
            estimate_reason(&fit->estimate, REASON_HELD_OUT, ESTIMATE_MARGINAL,
                            "the residual of %s is white on the fitted recording, but not on "
                            "the held-out one (correlation of neighbours %.2f)",
                            model->axes[a].velocity, theirs->run.correlation);
        }
    }
    if (fit->estimate.reason_count > before) {
        estimate_advise(&fit->estimate,
                        "the robot of the held-out recording is not the one that was fitted: "
                        "fit each by itself and compare the parameters, or look for what "
                        "changed between them (load, battery, floor, water)");
    }
}
