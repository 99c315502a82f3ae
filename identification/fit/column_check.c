#include "identification/fit/column_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_vector.h>

#include "identification/data/column_steps.h"
#include "identification/data/data_thresholds.def"
#include "identification/data/moving_samples.h"

static enum status find_levels(const struct model *model, const struct data_set *set,
                               struct column_check *check)
{
    struct data_set moving = *set;
    gsl_vector *columns = NULL;
    gsl_vector *scratch = gsl_vector_alloc(COMMAND_LEVELS_ROOM);
    enum status st = scratch ? STATUS_OK : STATUS_E_NOMEM;
    if (st == STATUS_OK && model->sticks) {
        st = moving_samples_copy(set, &moving, &columns);
    }
    for (size_t a = 0; a < set->axes && st == STATUS_OK; a++) {
        command_levels_find(moving.tau[a], moving.n, scratch->data, &check->levels[a]);
    }
    gsl_vector_free(columns);
    gsl_vector_free(scratch);
    return st == STATUS_E_EMPTY ? STATUS_OK : st; /* nothing moves: no levels */
}

enum status column_check_run(const struct model *model, const struct data_set *set,
                             struct column_check *check)
{
    memset(check, 0, sizeof *check);
    enum status st = find_levels(model, set, check);
    /* Efforts that act through terms of a file may move any channel. */
    if (st == STATUS_OK && set->axes > 1 && !model->rows_under) {
        st = channel_match_find(set, &check->match);
        check->matched = st == STATUS_OK;
    }
    return st;
}

/* Is the pose of this axis the integral of its velocity? That of a vehicle is not, except for
 * its heading. */
static bool is_integral(const struct model *model, size_t axis)
{
    const double pose[MODEL_AXES_MAX + 1] = {0.0, 0.0, 0.7};
    double nu[MODEL_AXES_MAX];
    double rate[MODEL_AXES_MAX + 1] = {0.0};
    for (size_t a = 0; a < MODEL_AXES_MAX; a++) {
        nu[a] = 1.0 + 0.3 * (double)a;
    }
    if (model->kinematics) {
        model->kinematics(model, pose, nu, rate);
    }
    return !model->kinematics || !(fabs(rate[axis] - nu[axis]) > 0.0);
}

static void refuse_rate(struct estimate *e, const struct model_axis *axis, double factor)
{
    const char *words = column_rate_words(factor);
    const char *sign = factor < 0.0 ? "the sign of one of them" : "";
    const char *comma = *sign && *words ? ", and " : "";
    estimate_reason(e, REASON_COLUMNS_CONTRADICT, ESTIMATE_FAIL,
                    "%s moves %.3g times as far as %s says%s%s%s%s", axis->pose, factor,
                    axis->velocity, *sign || *words ? ": " : "", sign, comma, words);
    estimate_advise(e,
                    "name the columns with their units (--columns position=NAME:deg), and give "
                    "times in seconds: the %s must be the rate of the position",
                    axis->velocity_words);
}

static bool refuse_rates(struct estimate *e, const struct model *model,
                         const struct data_summary *summary)
{
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct column_rate *rate = &summary->rate[a];
        if (column_rate_judge(rate) == COLUMN_RATE_FACTOR && is_integral(model, a)) {
            refuse_rate(e, &model->axes[a], rate->factor);
            return true;
        }
    }
    return false;
}

/* Names two channels that follow each other's command. */
static void refuse_exchange(struct estimate *e, const struct model *model,
                            const struct channel_match *match)
{
    size_t i = 0;
    while (match->best[i] == i) {
        i++;
    }
    const struct model_axis *one = &model->axes[i];
    const struct model_axis *other = &model->axes[match->best[i]];
    estimate_reason(e, REASON_WRONG_COLUMN, ESTIMATE_FAIL,
                    "%s and %s are exchanged: then commands explain %.1f %% of them, as named "
                    "%.1f %%",
                    one->velocity, other->velocity, 100.0 * match->best_r2,
                    100.0 * match->named_r2);
    estimate_advise(e, "exchange the columns of %s and %s, or those of %s and %s",
                    one->velocity, other->velocity, one->effort, other->effort);
}

static bool refuse_match(struct estimate *e, const struct model *model,
                         const struct column_check *check)
{
    /* A hull's sway follows its turn, whatever its own effort does. */
    const bool own = !(model->planar && model->axis_count > 2) && !model->program;
    const bool wheels = model->planar && model->axis_count == 2;
    size_t at = 0;
    switch (channel_match_judge(&check->match, model->axis_count, wheels, own, &at)) {
    case CHANNEL_MATCH_EXCHANGED:
        refuse_exchange(e, model, &check->match);
        return true;
    case CHANNEL_MATCH_MIXED:
        estimate_reason(e, REASON_WRONG_COLUMN, ESTIMATE_FAIL,
                        "each channel follows both commands: wheel speeds in place of %s and "
                        "%s?",
                        model->axes[0].velocity, model->axes[1].velocity);
        estimate_advise(e,
                        "give the %s and the %s of the robot: half the sum of both wheel "
                        "speeds, and their difference over the track",
                        model->axes[0].velocity_words, model->axes[1].velocity_words);
        return true;
    case CHANNEL_MATCH_SIGN:
        estimate_reason(e, REASON_WRONG_COLUMN, ESTIMATE_FAIL,
                        "%s moves against %s: the sign of one of them",
                        model->axes[at].velocity, model->axes[at].effort);
        estimate_advise(e, "turn the sign of one column: --columns ROLE=-NAME");
        return true;
    case CHANNEL_MATCH_AS_NAMED:
    default:
        return false;
    }
}

static void advise_more_levels(struct estimate *e, const struct model_axis *axis)
{
    estimate_advise(e,
                    "record the %s at three values and more: to both sides, a third, two "
                    "thirds and all of the range",
                    axis->effort_words);
}

/* A joint that moves under one effort only: any friction may be offset or damping. */
static bool refuse_level(struct estimate *e, const struct model *model,
                         const struct column_check *check)
{
    for (size_t a = 0; a < model->axis_count; a++) {
        if (model->sticks && check->levels[a].levels == 1) {
            estimate_reason(e, REASON_FEW_LEVELS, ESTIMATE_FAIL,
                            "%s never changes while it moves (%.4g): friction, damping and a "
                            "constant effort cannot be told apart",
                            model->axes[a].effort, check->levels[a].shown[0]);
            advise_more_levels(e, &model->axes[a]);
            return true;
        }
    }
    return false;
}

bool column_check_refuse(const struct column_check *check, const struct model *model,
                         const struct data_set *set, const struct data_summary *summary,
                         struct dynamics_fit *fit)
{
    struct dynamics_fit none;
    struct estimate *e = &none.estimate;
    dynamics_fit_start(&none, model, DYNAMICS_WEAK_IV, false);
    none.n = set->n;
    const bool refused = refuse_rates(e, model, summary) ||
                         (check->matched && refuse_match(e, model, check)) ||
                         refuse_level(e, model, check);
    if (refused) {
        *fit = none;
    }
    return refused;
}

/* "-40, 0, 40" */
static const char *list_levels(const struct command_levels *levels, char text[64])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < COMMAND_LEVELS_SHOWN && i < levels->levels && used < 64; i++) {
        const double value = levels->shown[i];
        const int wrote = snprintf(text + used, 64 - used, "%s%.4g", i > 0 ? ", " : "", value);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return text;
}

static void judge_levels(struct estimate *e, const struct model_axis *axis,
                         const struct command_levels *levels)
{
    char list[64];
    (void)list_levels(levels, list);
    if (levels->levels == 0 || (levels->levels >= (size_t)LEVELS_MIN &&
                                levels->magnitudes >= (size_t)MAGNITUDES_MIN)) {
        return;
    }
    if (levels->levels == 1) {
        estimate_reason_first(e, REASON_FEW_LEVELS, ESTIMATE_MARGINAL,
                              "%s never changes (%s): the gain is only the ratio at this "
                              "value, and the delay is unknown",
                              axis->effort, list);
    } else if (levels->levels < (size_t)LEVELS_MIN) {
        estimate_reason(e, REASON_FEW_LEVELS, ESTIMATE_MARGINAL,
                        "%s has only %zu values (%s): values between them were not tried",
                        axis->effort, levels->levels, list);
    } else {
        estimate_reason(e, REASON_FEW_LEVELS, ESTIMATE_MARGINAL,
                        "%s has only one magnitude (%s): half of it was not tried",
                        axis->effort, list);
    }
    advise_more_levels(e, axis);
}

/* A sensor that is slower than the rows: its values were measured some time before. */
static void judge_repeats(struct estimate *e, const char *name,
                          const struct data_channel *channel,
                          const struct data_summary *summary)
{
    const double every = 1.0 / (1.0 - channel->repeat_ratio);
    const bool left_out = summary->repeated > 0;
    const double rate_hz = summary->rate_hz / (left_out ? 1.0 : every);
    if (channel->hold_rows >= STALE_ROWS_MIN) {
        estimate_reason(e, REASON_REPEATS, ESTIMATE_MARGINAL,
                        "%s is new in 1 of %.3g rows (%.3g Hz)%s: it may be up to %.2g s old",
                        name, round(every), rate_hz, left_out ? ", only these are fitted" : "",
                        1.0 / rate_hz);
        estimate_advise(e,
                        "read the sensor of %s at each row, or log only its new values, with "
                        "the times at which they were measured",
                        name);
    } else {
        estimate_note(e, REASON_REPEATS, "%s is new in 1 of %.3g rows%s", name, every,
                      left_out ? ": only these are fitted" : "");
    }
}

/* Multiplies all variances. */
static void widen_errors(struct dynamics_fit *fit, double ratio)
{
    struct estimate *e = &fit->estimate;
    const double root = sqrt(ratio);
    for (size_t i = 0; i < e->p; i++) {
        for (size_t j = 0; j < e->p; j++) {
            e->covariance[i][j] *= ratio;
        }
        e->se[i] *= root;
        e->lo[i] = e->value[i] - root * (e->value[i] - e->lo[i]);
        e->hi[i] = e->value[i] + root * (e->hi[i] - e->value[i]);
        fit->delay_covariance[i] *= ratio;
    }
    fit->delay_se_s *= root;
}

/* Errors of rounding to steps are not independent of each other, so they count once more.
 * Returns the ratio of the variances with and without. */
static double judge_steps(struct dynamics_fit *fit, const char *name, double step, double sd)
{
    if (!(step > STEP_NOISE_RATIO * sd && sd > 0.0)) {
        return 1.0;
    }
    estimate_note(&fit->estimate, REASON_STEPS, "%s comes in steps of %.4g, a noise of %.3g",
                  name, step, step / sqrt(12.0));
    return 1.0 + step * step / (12.0 * sd * sd);
}

static void describe_wrap(struct estimate *e, const struct model_axis *axis,
                          const struct column_wrap *wrap)
{
    if (wrap->count > 0) {
        estimate_note(e, REASON_WRAPPED, "%s jumps by %.6g at row %zu: unwrapped", axis->pose,
                      wrap->turn, wrap->first + 1);
    }
}

void copied_rows_judge(struct estimate *e, const struct copied_rows *copied, size_t rows)
{
    const bool few = (double)copied->total <= COPIED_RATIO_MAX * (double)rows;
    if (copied->total > 0) {
        estimate_reason_first(e, REASON_COPIED, few ? ESTIMATE_PASS : ESTIMATE_MARGINAL,
                              "%zu of %zu rows repeat earlier ones to the bit: rows %zu to %zu "
                              "are those from %zu on",
                              copied->total, rows, copied->to + 1, copied->to + copied->rows,
                              copied->from + 1);
    }
}

enum status copied_values_judge(struct estimate *e, const struct copied_values *values,
                                size_t count, size_t n)
{
    struct copied_column columns[COPIED_VALUES_MAX];
    struct copied_rows copied;
    gsl_vector *memory = gsl_vector_alloc(count * n + COLUMN_STEPS_ROOM);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    for (size_t c = 0; c < count; c++) {
        double *x = memory->data + c * n;
        size_t m = 0;
        for (size_t k = 0; k < n; k++) {
            x[m] = values[c].x[k * values[c].stride];
            m += isfinite(x[m]) ? 1 : 0;
        }
        struct column_steps steps;
        column_steps_find(x, m, memory->data + count * n, &steps);
        for (size_t k = 0; k < n; k++) {
            x[k] = values[c].x[k * values[c].stride];
        }
        columns[c] = (struct copied_column){x, values[c].sd, steps.step};
    }
    const enum status st = copied_rows_find(columns, count, n, &copied);
    if (st == STATUS_OK) {
        copied_rows_judge(e, &copied, n);
    }
    gsl_vector_free(memory);
    return st;
}

/* A simulation without noise may come back to the bit; its residuals are rounding only. */
static bool has_noise(const struct dynamics_fit *fit, const struct model *model,
                      const struct data_summary *summary)
{
    bool noise = fit->method < DYNAMICS_OUTPUT_ERROR;
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct data_channel *nu = &summary->nu[a];
        noise = noise || fit->residual_sd[a] > copied_step(nu->quantum, nu->max - nu->min);
    }
    return noise;
}

void column_check_judge(const struct column_check *check, const struct model *model,
                        const struct data_summary *summary, struct dynamics_fit *fit)
{
    struct estimate *e = &fit->estimate;
    double ratio = 1.0;
    if (has_noise(fit, model, summary)) {
        copied_rows_judge(e, &summary->copied, summary->rows);
    }
    if (summary->joined) {
        estimate_note(
            e, REASON_JOINED,
            "%zu of %zu rows have both commands and velocities: a command holds until "
            "its next row",
            summary->rows_with_both, summary->rows);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct model_axis *axis = &model->axes[a];
        const bool derived = summary->derived_window[a] > 0;
        judge_levels(e, axis, &check->levels[a]);
        const char *name = derived ? axis->pose : axis->velocity;
        const struct data_channel *channel = derived ? &summary->pose[a] : &summary->nu[a];
        if (summary->stale_rows[a] > 0) {
            judge_repeats(e, name, channel, summary);
        }
        const bool simulated = fit->method >= DYNAMICS_OUTPUT_ERROR && !derived;
        const double sd = simulated ? fit->residual_sd[a] : channel->noise_sd;
        const double more = judge_steps(fit, name, channel->quantum, sd);
        ratio = simulated ? fmax(ratio, more) : ratio;
        if (is_integral(model, a) && (derived || !model->planar)) {
            describe_wrap(e, axis, &summary->wrap[a]);
        }
        if (is_integral(model, a) &&
            column_rate_judge(&summary->rate[a]) == COLUMN_RATE_NO_RATE &&
            !(summary->nu[a].signal_ratio < RATE_SIGNAL_MIN)) {
            estimate_reason(e, REASON_COLUMNS_CONTRADICT, ESTIMATE_MARGINAL,
                            "%s is not the rate of this %s (correlation %.2f)", axis->velocity,
                            axis->pose, summary->rate[a].correlation);
            estimate_advise(e, "look whether both columns belong to the same axis");
        }
    }
    if (ratio > 1.0) {
        widen_errors(fit, ratio);
    }
}
