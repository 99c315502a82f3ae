#include "identification/dynamics/dynamics_verdict.h"

#include <math.h>
#include <string.h>

#include "identification/data/data_thresholds.def"
#include "identification/dynamics/dynamics_agreement.h"
#include "identification/dynamics/dynamics_thresholds.def"
#include "identification/fit/fit_thresholds.def"
#include "identification/fit/plausible.h"

/* A unit that a channel may have instead of the expected one. */
struct other_unit {
    const char *end;  /* ending of the channel's name */
    const char *unit; /* unit that it may have */
    double ratio;     /* factor of its values in that unit */
};

static const struct other_unit other_units[] = {
    {"_radps", "deg/s", 57.29577951308232},
    {"_mps", "km/h", 3.6},
    {"_mps", "cm/s", 100.0},
    {"_mps", "mm/s", 1000.0},
};

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name);
    const size_t m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* Reports a velocity that is too large, with the unit in which it would be usual. */
static void judge_magnitude(struct estimate *e, const struct model_axis *axis,
                            const struct data_channel *nu, double limit)
{
    const char *name = axis->velocity;
    const char *words = axis->velocity_words;
    const double most = fmax(fabs(nu->min), fabs(nu->max));
    if (!(limit > 0.0 && most > limit)) {
        return;
    }
    /* Only a few samples are out of range, the others are well inside. */
    if (fabs(nu->mean) + 3.0 * nu->sd < limit) {
        estimate_reason_first(e, REASON_OUTLIERS, ESTIMATE_FAIL,
                              "%s reaches %.4g, which no such robot does, while most of it "
                              "stays below %.2g: wild samples",
                              name, most, fabs(nu->mean) + 3.0 * nu->sd);
        estimate_advise(e, "remove the wrong samples of the %s, or leave their fields empty",
                        words);
        return;
    }
    for (size_t k = 0; k < COUNT(other_units); k++) {
        const struct other_unit *other = &other_units[k];
        /* Compares with a typical speed, not with the fastest. */
        if (ends_with(name, other->end) && most / other->ratio <= 0.2 * limit) {
            estimate_reason_first(e, REASON_WRONG_UNIT, ESTIMATE_FAIL,
                                  "%s reaches %.4g, which no such robot does: is it in %s, or "
                                  "another unit than its name says?",
                                  name, most, other->unit);
            estimate_advise(e, "give the %s in SI units: divide it by %.6g if it is in %s",
                            words, other->ratio, other->unit);
            return;
        }
    }
    estimate_reason_first(
        e, REASON_WRONG_UNIT, ESTIMATE_FAIL,
        "%s reaches %.4g, which no such robot does: another unit than its name says?", name,
        most);
    estimate_advise(e, "give the %s in SI units", words);
}

/* Times in another unit make the robot far too slow or too fast. */
static void judge_time(struct estimate *e, const struct model_limits *limits,
                       const struct data_summary *summary, double motion)
{
    const double run_s = summary->duration_s / (double)summary->runs;
    if (limits->motion_s_max > 0.0 && motion > limits->motion_s_max) {
        estimate_reason_first(e, REASON_WRONG_UNIT, ESTIMATE_FAIL,
                              "velocities take %.3g s to change, far slower than such a robot: "
                              "are the times in ms? They must be in seconds",
                              motion);
        estimate_advise(e, "give times in seconds: divide them by 1000 if they are in ms");
    }
    if (limits->motion_s_min > 0.0 && motion < limits->motion_s_min &&
        motion * TIMED_RUN < run_s) {
        estimate_reason_first(e, REASON_WRONG_UNIT, ESTIMATE_FAIL,
                              "velocities change within %.2g s, far faster than such a robot: "
                              "are the times in minutes? They must be in seconds",
                              motion);
        estimate_advise(e, "give times in seconds: multiply them by 60 if they are in minutes");
    }
}

static void judge_channel(struct estimate *e, const struct model_axis *axis,
                          const struct data_channel *nu, const struct data_channel *tau,
                          double limit)
{
    judge_magnitude(e, axis, nu, limit);
    if (nu->sd > 0.0 && nu->signal_ratio < SIGNAL_RATIO_MIN) {
        estimate_note(e, REASON_POOR_EXCITATION, "%s moves only %.1f times its noise of %.3g",
                      axis->velocity, nu->signal_ratio, nu->noise_sd);
    }
    const double apart = tau->max - tau->min;
    /* An effort with two values uses both limits; it is not saturated. */
    if (tau->saturation_ratio > SATURATED_RATIO &&
        fmin(tau->mean - tau->min, tau->max - tau->mean) <= ONE_SIDED * apart) {
        estimate_reason(e, REASON_POOR_EXCITATION, ESTIMATE_MARGINAL,
                        "%s stands at its limits %.0f %% of the time", axis->effort,
                        100.0 * tau->saturation_ratio);
        estimate_advise(e, "drive below the limits of the %s as well", axis->effort_words);
    }
}

static void judge_summary(struct estimate *e, const struct model *model,
                          const struct data_summary *summary, const struct model_limits *limits)
{
    const size_t refused = summary->incomplete + summary->back_rows + summary->short_rows;
    if ((double)refused > INCOMPLETE_RATIO * (double)summary->rows) {
        estimate_reason(e, REASON_ROWS_UNUSABLE, ESTIMATE_MARGINAL,
                        "%zu of %zu rows could not be used", refused, summary->rows);
    }
    if (summary->jitter_ratio > JITTER_RATIO) {
        estimate_note(e, REASON_UNEVEN_SAMPLING,
                      "sampling is uneven: periods differ by %.0f %%",
                      100.0 * summary->jitter_ratio);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        judge_channel(e, &model->axes[a], &summary->nu[a], &summary->tau[a], limits->nu_max[a]);
    }
}

/* A nearly constant velocity has little variance, so that its R2 says little. */
static void judge_steady(struct estimate *e, const struct model_axis *axis,
                         const struct data_channel *nu)
{
    if (nu->sd < STEADY_RATIO * fabs(nu->mean)) {
        estimate_reason(e, REASON_POOR_EXCITATION, ESTIMATE_MARGINAL,
                        "%s hardly changes: it stays around %.3g and varies by %.2g",
                        axis->velocity, nu->mean, nu->sd);
        estimate_advise(e,
                        "let the %s step between rest and several values, in both directions",
                        axis->effort_words);
    }
}

static void explain_score(struct estimate *e, const char *what, const char *velocity, double r2)
{
    if (r2 < 0.0) {
        estimate_reason(
            e, REASON_POOR_FIT, ESTIMATE_FAIL,
            "simulated over %s, the model predicts %s worse than its mean does (R2 %.2g)", what,
            velocity, r2);
    } else {
        estimate_reason(e, REASON_POOR_FIT, r2 < R2_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                        "simulated over %s, the model explains %.0f %% of the variance of %s",
                        what, 100.0 * r2, velocity);
    }
}

/* Returns whether the efforts judge the fit instead of the velocities. A joint that is
 * simulated without its controller deviates however right its model is. The controller
 * reacts, so that the deviation is correlated with efforts. The efforts that the model
 * computes from the motion are not affected. A regression simulates nothing either. */
static bool judged_by_effort(const struct dynamics_fit *fit, const struct dynamics_check *check,
                             double velocity_r2)
{
    return (velocity_r2 < R2_MARGINAL || fit->method < DYNAMICS_OUTPUT_ERROR) &&
           check->effort_r2 >= R2_MARGINAL;
}

static void report_effort_score(struct estimate *e, const struct model_axis *axis,
                                const char *what, const struct dynamics_check *check,
                                double velocity_r2)
{
    const bool poor = check->effort_r2 < EFFORT_GOOD;
    if (velocity_r2 < R2_MARGINAL) {
        estimate_reason(e, REASON_POOR_FIT, poor ? ESTIMATE_MARGINAL : ESTIMATE_PASS,
                        "judged by efforts: over %s the model explains %.0f %% of the variance "
                        "of %s, and %s, simulated without a controller, deviates (R2 %.2g)",
                        what, 100.0 * check->effort_r2, axis->effort, axis->velocity,
                        velocity_r2);
    } else if (poor) {
        estimate_reason(e, REASON_POOR_FIT, ESTIMATE_MARGINAL,
                        "judged by efforts: over %s the model explains %.0f %% of the "
                        "variance of %s",
                        what, 100.0 * check->effort_r2, axis->effort);
    }
}

static void judge_scores(struct dynamics_fit *fit, const struct model *model, const char *what,
                         const struct dynamics_check *check, const struct data_summary *summary)
{
    for (size_t a = 0; a < model->axis_count && check->simulated; a++) {
        const double r2 = check->axis[a].run.r2;
        /* The model need not explain the noise of an axis that hardly moves. */
        const double ratio = summary->nu[a].signal_ratio;
        const bool still = ratio < SIGNAL_RATIO_MIN && summary->nu[a].noise_sd > 0.0;
        const double noise = still ? 1.0 / (ratio * ratio) : 0.0;
        const bool poor = r2 < R2_MARGINAL - noise;
        if (noise > 0.0 && !poor) {
            continue;
        }
        const bool by_effort = judged_by_effort(fit, check, r2);
        if (by_effort) {
            report_effort_score(&fit->estimate, &model->axes[a], what, check, r2);
        } else if (poor) {
            explain_score(&fit->estimate, what, model->axes[a].velocity, r2);
            judge_steady(&fit->estimate, &model->axes[a], &summary->nu[a]);
        }
        if (by_effort ? check->effort_r2 < EFFORT_GOOD : poor) {
            estimate_advise(
                &fit->estimate,
                "%s: look for %sefforts that are commanded and not measured, or for forces "
                "from outside (current, wind, slope)",
                model->axes[a].velocity_words,
                isfinite(fit->delay_s) ? "" : "a delay (a fit by simulation finds it), for ");
        }
    }
}

/* Reports outliers of a model that explains the other samples, unless a robust fit already
 * replaced them. */
static void judge_outliers(struct dynamics_fit *fit, const struct model *model,
                           const struct dynamics_check *own)
{
    for (size_t a = 0; a < model->axis_count && own->simulated && !fit->robust; a++) {
        const struct dynamics_axis_check *axis = &own->axis[a];
        const double by_chance = OUTLIERS_MIN + OUTLIER_RATIO * (double)axis->run.n;
        if ((double)axis->outliers > by_chance && fabs(axis->run.correlation) < NEARLY_WHITE) {
            estimate_note(
                &fit->estimate, REASON_OUTLIERS,
                "%zu of %zu samples of %s lie beyond 4 standard deviations of the residuals",
                axis->outliers, axis->run.n, model->axes[a].velocity);
        }
    }
}

static bool follows_efforts(const struct dynamics_axis_check *axis)
{
    const double left = sqrt(fmax(0.0, 1.0 - axis->run.r2));
    return axis->input_correlation > fmax(FOLLOWS, axis->input_correlation_bound) &&
           axis->input_correlation * left > FELT;
}

/* Advises to look for forces, unless a constant force explains the residuals. */
static void advise_forces(struct dynamics_fit *fit, const struct model *model,
                          const struct dynamics_check *own)
{
    for (size_t a = 0; a < model->axis_count && own->simulated; a++) {
        if (follows_efforts(&own->axis[a]) &&
            !judged_by_effort(fit, own, own->axis[a].run.r2)) {
            estimate_advise(&fit->estimate,
                            "%s: forces depend on more than the efforts given (a rudder's on "
                            "the square of the speed): give the force itself, or keep to one "
                            "speed",
                            model->axes[a].velocity_words);
        }
    }
}

/* Judges a misfit by its size: with many samples, even the smallest misfit is significant. */
static void judge_misfit(struct dynamics_fit *fit, const struct model *model,
                         const struct dynamics_check *own)
{
    struct estimate *e = &fit->estimate;
    for (size_t a = 0; a < model->axis_count && own->simulated; a++) {
        const struct dynamics_axis_check *axis = &own->axis[a];
        const char *velocity = model->axes[a].velocity;
        const double left = sqrt(fmax(0.0, 1.0 - axis->run.r2));
        const double far_out = (double)axis->outliers / (double)axis->run.n;
        const double follows = axis->input_correlation;
        if (judged_by_effort(fit, own, axis->run.r2)) {
            continue;
        }
        if (follows_efforts(axis)) {
            estimate_reason(e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
                            "the simulated residual of %s is correlated with efforts (%.2f): "
                            "they have an effect that the model lacks",
                            velocity, follows);
        }
        /* Outliers of a model with otherwise white residuals are wrong samples: see
         * judge_outliers(). */
        if (far_out > FAR_RATIO && left > FELT &&
            !(fabs(axis->run.correlation) < NEARLY_WHITE)) {
            estimate_reason(e, REASON_OUTLIERS, ESTIMATE_MARGINAL,
                            "%zu of %zu samples of %s lie beyond 4 standard deviations of the "
                            "simulated residuals: the model does not hold there",
                            axis->outliers, axis->run.n, velocity);
        }
    }
}

static void judge_plausible(struct dynamics_fit *fit, const struct model *model,
                            const struct model_limits *limits)
{
    const double *theta = fit->estimate.value;
    for (const struct plausible_range *r = limits->plausible; r && r->name; r++) {
        const int i = model_parameter_find(model, r->name);
        /* A negative value that must be positive has no other unit. */
        if (i >= 0 && (theta[i] >= 0.0 || model->parameters[i].sign == MODEL_ANY)) {
            (void)plausible_judge(&fit->estimate, r, theta[i], model->parameters[i].unit);
        }
        for (size_t d = 0; i < 0 && d < model->derived_count; d++) {
            struct dynamics_derived derived;
            if (strcmp(model->derived[d].name, r->name) == 0) {
                dynamics_derive(fit, model, d, &derived);
                (void)plausible_judge(&fit->estimate, r, derived.value, model->derived[d].unit);
            }
        }
    }
    if (limits->form && limits->form_of(theta) >= 0.0) {
        (void)plausible_judge(&fit->estimate, limits->form, limits->form_of(theta), "");
    }
}

/* No sample lies within a response that ends within one sampling period. Its delay and its
 * duration then cannot be distinguished. */
static void judge_lag(struct dynamics_fit *fit, const struct model *model,
                      const struct data_summary *summary, const struct dynamics_check *own)
{
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct dynamics_lag *lag = &own->lag[a];
        const struct model_axis *axis = &model->axes[a];
        if (!lag->untold) {
            continue;
        }
        estimate_reason(&fit->estimate, REASON_WITHIN_SAMPLE, ESTIMATE_FAIL,
                        "%s responds to %s within a sample: a time constant of %.2g s cannot "
                        "be estimated from samples %.2g s apart, nor can the inertia",
                        axis->velocity, axis->effort, fmax(lag->time_s, 0.0), summary->dt_s);
        estimate_advise(&fit->estimate,
                        "log ten times as fast, to see how the %s follows the %s, or do "
                        "without its inertia: gain, and delay to a sample, hold as they are",
                        axis->velocity_words, axis->effort_words);
    }
}

/* The loop of the robot reads a command, makes a step and then reports both. The fit allows for
 * it: a note, no reason. */
static void report_late_efforts(struct dynamics_fit *fit, const struct data_summary *summary)
{
    /* Rounded to half a row: efforts that are later still have another cause. */
    if (isfinite(fit->delay_s) && lround(2.0 * fit->delay_s / summary->dt_s) == -2 &&
        fit->delay_s + 2.0 * fit->delay_se_s < -0.5 * summary->dt_s) {
        estimate_note(&fit->estimate, REASON_EFFORT_LATE,
                      "efforts are reported one sample late (by %.3g s): each acts before its "
                      "row, not after it; the fit allows for that",
                      -fit->delay_s);
    }
}

void dynamics_check_judge(struct dynamics_fit *fit, const struct model *model,
                          const struct data_summary *summary, const struct model_limits *limits,
                          const struct dynamics_check *own,
                          const struct dynamics_check *held_out)
{
    static const struct model_limits none;
    const bool doubts = limits != NULL;
    limits = doubts ? limits : &none;
    judge_plausible(fit, model, limits);
    judge_lag(fit, model, summary, own);
    report_late_efforts(fit, summary);
    judge_summary(&fit->estimate, model, summary, limits);
    if (summary->used >= TIMED_MIN) {
        judge_time(&fit->estimate, limits, summary, own->motion_s);
    }
    if (doubts && summary->counted) {
        plausible_doubt(&fit->estimate,
                        "times are 0, 1, 2 and so on: row numbers? They must be seconds");
    }
    if (!own->simulated) {
        estimate_reason(&fit->estimate, REASON_NOT_SIMULATED, ESTIMATE_FAIL,
                        "the model cannot be simulated with these values");
        estimate_advise(&fit->estimate,
                        "look for exchanged columns and wrong signs, and whether forces depend "
                        "on more than the efforts given (a rudder's on the square of the "
                        "speed)");
    }
    judge_scores(fit, model, "the recording", own, summary);
    /* A cause that is named has these consequences. */
    if (!estimate_has_reason(&fit->estimate, REASON_CAUSE)) {
        judge_outliers(fit, model, own);
        judge_misfit(fit, model, own);
        if (!dynamics_judge_parts(fit, model, summary, own)) {
            advise_forces(fit, model, own);
        }
        dynamics_judge_forces(fit, model, summary, own);
    }
    if (held_out) {
        judge_scores(fit, model, "held-out data", held_out, summary);
        dynamics_judge_held_out(fit, model, own, held_out);
    }
    estimate_advise_worst(&fit->estimate);
}

/* ---- what a PASS rests on ---- */

/* A change between halves is found from this many errors of the whole on: each half has twice
 * its variance, and 3.5 errors are beyond chance. */
static const double FOUND_ERRORS = 7.0;

static void add_tried(char text[ESTIMATE_TEXT_MAX], const char *what)
{
    const size_t used = strlen(text);
    (void)snprintf(text + used, ESTIMATE_TEXT_MAX - used, "%s%s", used > 0 ? ", " : "", what);
}

static void list_tried(const struct dynamics_fit *fit, const struct model *model,
                       const struct dynamics_check *own, char text[ESTIMATE_TEXT_MAX])
{
    static const char *const cuts[STABILITY_CUTS] = {"halves", "thirds", "recordings", "levels",
                                                     "directions"};
    bool listed[STABILITY_CUTS] = {false};
    size_t terms = 0;
    for (size_t i = 0; i < own->stability.count; i++) {
        const enum stability_cut cut = own->stability.tests[i].cut;
        if (!listed[cut]) {
            add_tried(text, cuts[cut]);
        }
        listed[cut] = true;
    }
    for (size_t k = 0; k < COUNT(model->extended); k++) {
        terms += model->extended[k] ? 1 : 0;
    }
    if (isfinite(fit->delay_s)) {
        add_tried(text, "delay");
    }
    if (fit->method == DYNAMICS_OUTPUT_ERROR) {
        add_tried(text, model->channels ? "10 effects of a channel"
                        : model->sticks ? "lag, 3 drifts"
                                        : "lag, drift of efforts");
    }
    if (terms > 0) {
        char count[64];
        (void)snprintf(count, sizeof count, "%zu unmodelled terms", terms);
        add_tried(text, count);
    }
}

void dynamics_note_tried(struct dynamics_fit *fit, const struct model *model,
                         const struct dynamics_check *own, bool held_out)
{
    struct estimate *e = &fit->estimate;
    char text[ESTIMATE_TEXT_MAX] = "";
    double most = 0.0;
    size_t at = 0;
    if (e->verdict != ESTIMATE_PASS) {
        return;
    }
    list_tried(fit, model, own, text);
    if (held_out) {
        add_tried(text, "held-out data");
    }
    for (size_t i = 0; i < model->parameter_count; i++) {
        const double ratio = FOUND_ERRORS * e->se[i] / fabs(e->value[i]);
        if (model->parameters[i].sign == MODEL_POSITIVE && e->identifiable[i] && ratio > most) {
            most = ratio;
            at = i;
        }
    }
    if (text[0] != '\0' && most > 0.0) {
        estimate_note(e, REASON_TRIED, "tried: %s: nothing found above %.2g %% of %s", text,
                      100.0 * most, model->parameters[at].name);
    }
}
