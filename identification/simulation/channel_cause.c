#include "identification/simulation/channel_cause.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/numeric/curve_fit.h"
#include "identification/numeric/residual_colour.h"
#include "identification/simulation/input_phase.h"
#include "identification/simulation/output_error.h"
#include "identification/simulation/simulation_thresholds.def"

enum { GAIN, LAG, DELAY, START, SIZE, UNKNOWNS };
/* Fewest pairs of blocks that show a gain that varies, and rows of a block. */
enum { PAIRS_MIN = 20, BLOCK_ROWS_MIN = 4 };
enum { BASE_ITERATIONS = 40, FIRST_ITERATIONS = 3, ITERATIONS = 25 };
/* Lags below this share of a row are not searched. */
static const double LAG_SHARE_MIN = 0.02;
/* Longest delay of the search, beyond the one it starts from, in lags and in rows. */
static const double DELAY_LAGS = 5.0;
static const double DELAY_ROWS = 20.0;
static const double DIFFERENCE = 1e-4;
/* Refits go on from this significance of the first steps. */
static const double WORTH_CHI2 = 20.0;

/* A search in a channel, with or without an effect. */
struct search {
    double step_share; /* noise of rounding to steps, relative to the sd of the motion */
    struct channel_response channel;
    struct channel_values values; /* with the effect that is fitted */
    double command_max, velocity_sd;
    gsl_vector *room;         /* slopes and residuals of curve_fit, and the rows below */
    double *residual, *tried; /* of the base, of an effect */
    double squares, white;    /* of the base: sum of squares, and variance of its white part */
};

static void compute_residuals(void *context, const double *x, double *residual)
{
    struct search *s = context;
    struct channel_values values = s->values;
    values.gain = x[GAIN];
    values.lag_s = x[LAG];
    values.delay_s = x[DELAY];
    values.start = x[START];
    values.size = x[SIZE];
    channel_residual(&s->channel, &values, residual);
}

/* Two starts, the bounds and a typical change of an effect's size. */
struct size_range {
    double starts[2], lower, upper, scale;
};

static struct size_range find_range(const struct search *s, enum channel_effect effect,
                                    const struct channel_values *base)
{
    const double lag = base->lag_s;
    const double most = s->command_max;
    const double sd = s->velocity_sd;
    const double shortest = LAG_SHARE_MIN * s->channel.set->dt_s;
    switch (effect) {
    case CHANNEL_SECOND_LAG:
        return (struct size_range){{lag / 10.0, lag / 3.0}, 1e-3 * lag, 5.0 * lag, lag};
    case CHANNEL_RATE_LIMIT:
        return (struct size_range){{2.0 * most / lag, 0.5 * most / lag},
                                   0.02 * most / lag,
                                   50.0 * most / lag,
                                   most / lag};
    case CHANNEL_OTHER_LAG:
        return (struct size_range){{0.8 * lag, 1.25 * lag}, shortest, 10.0 * lag, lag};
    case CHANNEL_PLAY:
        return (struct size_range){{0.05 * sd, 0.2 * sd}, 1e-4 * sd, 2.0 * sd, sd};
    case CHANNEL_DELAY_GROWS:
        return (struct size_range){
            {0.1 * lag, -0.1 * lag}, -fmax(1.0, 3.0 * lag), fmax(1.0, 3.0 * lag), lag};
    case CHANNEL_GAIN_DRIFTS:
        return (struct size_range){{0.02, -0.02}, -1.0, 1.0, 1.0};
    case CHANNEL_CLIP:
        return (struct size_range){{0.9 * most, 0.7 * most}, 0.3 * most, most, most};
    case CHANNEL_DEAD_BAND:
        return (struct size_range){{0.05 * most, 0.02 * most}, 0.0, 0.6 * most, most};
    case CHANNEL_GAIN_BY_SIZE:
        return (struct size_range){
            {0.1 / most, -0.1 / most}, -0.5 / most, 1.0 / most, 1.0 / most};
    case CHANNEL_EFFECTS:
        break;
    }
    return (struct size_range){{0.0, 0.0}, 0.0, 0.0, 1.0};
}

static struct curve_fit describe_search(struct search *s, const struct channel_values *from,
                                        const struct size_range *size)
{
    const struct data_set *set = s->channel.set;
    const bool one_run = set->run_count == 1;
    struct curve_fit fit = {.n = set->n, .p = UNKNOWNS, .residuals = compute_residuals};
    fit.context = s;
    fit.memory = s->room->data;
    const double lower[UNKNOWNS] = {-HUGE_VAL, LAG_SHARE_MIN * set->dt_s, -set->dt_s,
                                    one_run ? -HUGE_VAL : from->start, size->lower};
    const double upper[UNKNOWNS] = {HUGE_VAL, s->channel.span_s,
                                    fmax(from->delay_s, 0.0) + DELAY_LAGS * from->lag_s +
                                        DELAY_ROWS * set->dt_s,
                                    one_run ? HUGE_VAL : from->start, size->upper};
    const double scale[UNKNOWNS] = {fabs(from->gain), from->lag_s, fmax(from->lag_s, set->dt_s),
                                    s->velocity_sd, size->scale};
    for (size_t j = 0; j < UNKNOWNS; j++) {
        fit.lower[j] = lower[j];
        fit.upper[j] = upper[j];
        fit.step[j] = DIFFERENCE * scale[j];
    }
    return fit;
}

/* Searches from `values`, in/out. Returns the sum of squares. */
static double run_search(struct search *s, const struct size_range *size, size_t iterations,
                         struct channel_values *values, double *residual)
{
    const struct curve_fit fit = describe_search(s, values, size);
    double x[UNKNOWNS] = {values->gain, values->lag_s, values->delay_s, values->start,
                          values->size};
    for (size_t j = 0; j < UNKNOWNS; j++) {
        x[j] = fmin(fmax(x[j], fit.lower[j]), fit.upper[j]);
    }
    s->values = *values;
    const double squares = curve_fit_run(&fit, iterations, x, residual);
    values->gain = x[GAIN];
    values->lag_s = x[LAG];
    values->delay_s = x[DELAY];
    values->start = x[START];
    values->size = x[SIZE];
    return squares;
}

static struct residual_colour find_colour(const struct search *s, const double *residual)
{
    struct residual_colour colour;
    residual_colour_find(residual, s->channel.set->run_start, s->channel.set->run_count,
                         &colour);
    return colour;
}

/* Standard deviation of the simulated motion. */
static double find_motion_sd(const struct search *s)
{
    const size_t n = s->channel.set->n;
    for (size_t k = 0; k < n; k++) {
        s->tried[k] = s->channel.velocity[k] - s->residual[k];
    }
    return gsl_stats_sd(s->tried, 1, n);
}

static double find_chi2(const struct search *s, double squares, double extra)
{
    return (s->squares - squares) * (double)s->channel.set->n / squares - extra;
}

/* Share of the colour that an extension explains, with a correction for its unknowns. */
static double find_share(const struct search *s, double squares, double extra)
{
    const double freedom = (double)s->channel.set->n - (double)SIZE;
    const double room = s->squares - s->white * (double)s->channel.set->n;
    return (s->squares - squares * freedom / fmax(1.0, freedom - extra)) /
           fmax(room, 1e-12 * s->squares);
}

/* Fits one effect from both starts; a start that gains little after a few steps is left. */
static double fit_effect(struct search *s, enum channel_effect effect,
                         const struct channel_values *base, struct channel_values *with)
{
    const struct size_range size = find_range(s, effect, base);
    double least = HUGE_VAL;
    for (size_t i = 0; i < COUNT(size.starts); i++) {
        struct channel_values values = *base;
        values.effect = effect;
        values.size = size.starts[i];
        double squares = run_search(s, &size, FIRST_ITERATIONS, &values, s->tried);
        if (find_chi2(s, squares, 1.0) > WORTH_CHI2) {
            squares = run_search(s, &size, ITERATIONS, &values, s->tried);
        }
        if (squares < least) {
            least = squares;
            *with = values;
        }
    }
    return least;
}

static void try_effects(struct search *s, struct channel_cause *cause)
{
    cause->share = -HUGE_VAL;
    for (size_t e = 0; e < CHANNEL_EFFECTS; e++) {
        struct channel_values with = cause->base;
        const double squares = fit_effect(s, (enum channel_effect)e, &cause->base, &with);
        const double share = find_share(s, squares, 1.0);
        if (share > cause->share) {
            cause->share = share;
            cause->chi2 = find_chi2(s, squares, 1.0);
            cause->with = with;
        }
    }
}

/* Names what explains a coloured residual best: an effect, or the times of the commands. Many
 * times can imitate one effect. If both explain the same, the effect has the larger chi2, which
 * is linear in the ratio of the squares, and that of the times is logarithmic. */
static void decide_finding(const struct search *s, const struct input_phases *phases,
                           struct channel_cause *cause)
{
    const bool varies = phases->count > 0 && phases->chi2 > cause->chi2;
    const bool named = varies ? phases->within_row || phases->vary
                              : cause->share >= CAUSE_SHARE && cause->chi2 > CAUSE_CHI2;
    if (named && varies) {
        cause->finding = phases->within_row ? CHANNEL_ROW_PHASE : CHANNEL_DELAY_VARIES;
    } else if (named) {
        cause->finding = CHANNEL_EFFECT;
    } else {
        cause->finding = cause->coloured_share <= fmax(COLOURED_SHARE_MAX, s->step_share)
                             ? CHANNEL_SMALL
                             : CHANNEL_UNNAMED;
    }
}

/* Makes pairs of blocks of a lag each: the products of their mean residuals, and of their mean
 * simulated motions. Noise has no expected product, whatever it grows with. */
static size_t make_pairs(const struct search *s, double lag_s, const double *motion,
                         double *product, double *moved)
{
    const struct data_set *set = s->channel.set;
    const double rows = rint(lag_s / set->dt_s);
    const size_t each = rows > BLOCK_ROWS_MIN ? (size_t)rows : BLOCK_ROWS_MIN;
    size_t count = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r]; k + 2 * each <= set->run_start[r + 1];
             k += 2 * each) {
            product[count] = gsl_stats_mean(s->residual + k, 1, each) *
                             gsl_stats_mean(s->residual + k + each, 1, each);
            moved[count++] = gsl_stats_mean(motion + k, 1, each) *
                             gsl_stats_mean(motion + k + each, 1, each);
        }
    }
    return count;
}

/* Removes from the residual what goes with the motion of each direction: a gain that differs
 * between forwards and backwards is another cause, which the directions show. */
static void remove_directions(const double *motion, double *residual, size_t n)
{
    double product[2] = {0.0, 0.0};
    double squares[2] = {0.0, 0.0};
    for (size_t k = 0; k < n; k++) {
        product[motion[k] > 0.0] += residual[k] * motion[k];
        squares[motion[k] > 0.0] += motion[k] * motion[k];
    }
    for (size_t k = 0; k < n; k++) {
        const bool forwards = motion[k] > 0.0;
        residual[k] -=
            squares[forwards] > 0.0 ? product[forwards] / squares[forwards] * motion[k] : 0.0;
    }
}

/* If the gain varies, products of residuals grow with those of the motion; those of forces do
 * not. Sets the normal score of the products' ranks, and the sd of the gain. */
static void find_gain_spread(const struct search *s, struct channel_cause *cause)
{
    const size_t n = s->channel.set->n;
    double *motion = s->room->data; /* the search is over */
    double *product = motion + n;
    double *moved = product + n;
    for (size_t k = 0; k < n; k++) {
        motion[k] = s->channel.velocity[k] - s->residual[k];
    }
    remove_directions(motion, s->residual, n);
    const size_t m = make_pairs(s, cause->base.lag_s, motion, product, moved);
    if (m < PAIRS_MIN) {
        return;
    }
    gsl_sort2(product, 1, moved, 1, m);
    const double mean = gsl_stats_mean(moved, 1, m);
    double ranks = 0.0;
    double products = 0.0;
    for (size_t i = 0; i < m; i++) {
        ranks += (moved[i] - mean) * ((double)i - 0.5 * (double)(m - 1));
        products += (moved[i] - mean) * product[i];
    }
    const double squares = (double)(m - 1) * gsl_stats_variance(moved, 1, m);
    /* sum of squared ranks from their mean, divided by m - 1 */
    const double of_ranks = (double)m * (double)(m + 1) / 12.0;
    cause->gain_varies_z = ranks / sqrt(squares * of_ranks);
    cause->gain_varies = sqrt(fmax(products / squares, 0.0));
}

static void search_cause(struct search *s, const struct input_phases *phases,
                         struct channel_cause *cause)
{
    static const struct size_range none = {{0.0, 0.0}, 0.0, 0.0, 1.0};
    const size_t n = s->channel.set->n;
    double *rows = s->room->data + (UNKNOWNS + 1) * n;
    s->residual = rows;
    s->tried = rows + n;
    s->velocity_sd = gsl_stats_sd(s->channel.velocity, 1, n);
    for (size_t k = 0; k < n; k++) {
        s->command_max = fmax(s->command_max, fabs(s->channel.command[k]));
    }
    cause->command_max = s->command_max;
    s->squares = run_search(s, &none, BASE_ITERATIONS, &cause->base, s->residual);
    const struct residual_colour colour = find_colour(s, s->residual);
    const double motion_sd = find_motion_sd(s);
    for (size_t a = 0; a < s->channel.set->axes; a++) {
        const bool own = s->channel.set->tau[a] == s->channel.command;
        s->step_share =
            own ? s->channel.set->quantum[a] / sqrt(12.0) / motion_sd : s->step_share;
    }
    s->white = colour.white;
    cause->coloured_share = residual_colour_share(&colour, motion_sd);
    /* an effect may hide in a residual whose colour chance could explain */
    try_effects(s, cause);
    cause->finding = cause->share >= CAUSE_SHARE && cause->chi2 > CAUSE_CHI2 ? CHANNEL_EFFECT
                                                                             : CHANNEL_WHITE;
    if (cause->coloured_share > 0.0) {
        decide_finding(s, phases, cause);
    }
    if (cause->finding == CHANNEL_UNNAMED) {
        find_gain_spread(s, cause);
        cause->finding =
            cause->gain_varies_z > GAIN_VARIES_Z ? CHANNEL_GAIN_VARIES : CHANNEL_UNNAMED;
    }
}

/* Analyses a channel from values near its best fit. */
static enum status find_cause(const struct data_set *set, const double *command,
                              const double *velocity, const struct channel_values *near,
                              const struct input_phases *phases, struct channel_cause *cause)
{
    struct search s = {.step_share = 0.0};
    struct channel_cause out = {.base = *near, .with = *near, .dt_s = set->dt_s};
    out.base.effect = CHANNEL_EFFECTS;
    out.base.size = 0.0;
    enum status st = channel_init(&s.channel, set, command, velocity, near->lag_s);
    if (st == STATUS_OK) {
        /* slopes and a residual of the search, and its results */
        s.room = gsl_vector_alloc((UNKNOWNS + 1 + 2) * set->n);
        st = s.room ? STATUS_OK : STATUS_E_NOMEM;
    }
    if (st == STATUS_OK) {
        search_cause(&s, phases, &out);
        *cause = out;
    }
    gsl_vector_free(s.room);
    channel_free(&s.channel);
    return st;
}

/* ---- fits ---- */

static struct channel_values read_values(const struct model_channel *axis,
                                         const struct dynamics_fit *fit, size_t a)
{
    const double *theta = fit->estimate.value;
    return (struct channel_values){
        .gain = 1.0 / theta[axis->by_velocity],
        .lag_s = theta[axis->by_acceleration] / theta[axis->by_velocity],
        .delay_s = isfinite(fit->delay_s) ? fit->delay_s : 0.0,
        .start = isfinite(fit->initial[0][a]) ? fit->initial[0][a] : 0.0,
        .dead_band = axis->dead_band == MODEL_ONE ? 0.0 : theta[axis->dead_band],
        .effect = CHANNEL_EFFECTS};
}

/* Response of the channel alone plus the residual of the whole model, so that coupled terms do
 * not look like effects of the channel. */
static enum status add_residuals(const struct data_set *set, const double *command,
                                 const struct channel_values *values, const double *residual,
                                 double *velocity)
{
    struct channel_response channel;
    const enum status st = channel_init(&channel, set, command, velocity, values->lag_s);
    if (st == STATUS_OK) {
        channel_simulate(&channel, values, velocity);
        for (size_t k = 0; k < set->n; k++) {
            velocity[k] += isfinite(residual[k]) ? residual[k] : 0.0;
        }
    }
    channel_free(&channel);
    return st;
}

static enum status find_axes(const struct model *model, const struct data_set *set,
                             const struct dynamics_fit *fit, const struct input_phases *phases,
                             double *const *residual, double *velocity,
                             struct channel_causes *causes)
{
    enum status st = STATUS_OK;
    for (size_t a = 0; a < model->axis_count && st == STATUS_OK; a++) {
        struct channel_values values = read_values(&model->channels[a], fit, a);
        const double moved = gsl_stats_variance(set->nu[a], 1, set->n);
        if (!(isfinite(values.gain) && isfinite(values.lag_s) && values.lag_s > 0.0) ||
            !(fit->residual_sd[a] * fit->residual_sd[a] < (1.0 - CAUSE_R2_MIN) * moved)) {
            return STATUS_OK;
        }
        memcpy(velocity, set->nu[a], set->n * sizeof *velocity);
        if (model->axis_count > 1) {
            st = add_residuals(set, set->tau[a], &values, residual[a], velocity);
        }
        st = st == STATUS_OK
                 ? find_cause(set, set->tau[a], velocity, &values, phases, &causes->axis[a])
                 : st;
    }
    causes->count = st == STATUS_OK ? model->axis_count : 0;
    return st;
}

enum status channel_causes_find(const struct model *model, const struct data_set *set,
                                const struct dynamics_fit *fit, struct channel_causes *causes)
{
    double *residual[MODEL_AXES_MAX];
    struct search_report report;
    struct input_phases phases;
    *causes = (struct channel_causes){.count = 0};
    if (!model->channels || fit->method != DYNAMICS_OUTPUT_ERROR ||
        fit->stop != DYNAMICS_STOP_CONVERGED) {
        return STATUS_OK;
    }
    gsl_vector *room = gsl_vector_alloc((set->axes + 1) * set->n);
    if (!room) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 0; a < set->axes; a++) {
        residual[a] = room->data + (a + 1) * set->n;
    }
    /* the times go into the room for the residuals, and are not needed */
    enum status st = input_phases_find(model, set, fit, true, NULL, residual[0], &phases);
    if (st == STATUS_OK) {
        st = output_error_validate(model, set, fit->estimate.value, fit->bias_count > 0,
                                   isfinite(fit->delay_s) ? fit->delay_s : 0.0, residual,
                                   &report);
    }
    if (st == STATUS_OK) {
        st = find_axes(model, set, fit, &phases, residual, room->data, causes);
    }
    gsl_vector_free(room);
    return st == STATUS_E_NOMEM ? st : STATUS_OK;
}

bool channel_causes_unnamed(const struct channel_causes *causes)
{
    bool unnamed = causes->count == 0;
    for (size_t a = 0; a < causes->count; a++) {
        unnamed = unnamed || causes->axis[a].finding == CHANNEL_UNNAMED;
    }
    return unnamed;
}

/* Describes an effect with its size in the units of the data. */
static void describe_effect(const struct channel_cause *cause, char text[ESTIMATE_TEXT_MAX])
{
    const struct channel_values *with = &cause->with;
    const double size = with->size;
    const size_t bytes = ESTIMATE_TEXT_MAX;
    text[0] = '\0';
    switch (with->effect) {
    case CHANNEL_SECOND_LAG: /* both orders of two lags have the same response */
        (void)snprintf(text, bytes, "a second lag of %.2g s (sensor filter, actuator)",
                       fmin(size, with->lag_s));
        break;
    case CHANNEL_RATE_LIMIT:
        (void)snprintf(text, bytes,
                       "the command is limited to %.3g per s: larger steps take longer", size);
        break;
    case CHANNEL_OTHER_LAG:
        (void)snprintf(text, bytes, "lag %.2g s when speeding up, %.2g s when slowing down",
                       with->lag_s, size);
        break;
    case CHANNEL_PLAY:
        (void)snprintf(text, bytes,
                       "play: after a change of direction nothing moves for %.2g units", size);
        break;
    case CHANNEL_DELAY_GROWS:
        (void)snprintf(text, bytes, "the delay %s by %.2g s during the recording: two clocks",
                       size > 0.0 ? "grows" : "shrinks", fabs(size));
        break;
    case CHANNEL_GAIN_DRIFTS:
        (void)snprintf(text, bytes, "the gain %s by %.2g %% during the recording",
                       size > 0.0 ? "rises" : "falls", 100.0 * fabs(size));
        break;
    case CHANNEL_CLIP:
        (void)snprintf(text, bytes, "the command is clipped at %.3g", size);
        break;
    case CHANNEL_DEAD_BAND:
        (void)snprintf(text, bytes, "a dead band: commands below %.2g do not act", size);
        break;
    case CHANNEL_GAIN_BY_SIZE:
        (void)snprintf(text, bytes,
                       "the gain changes with the command: by %+.2g %% at the largest one",
                       100.0 * size * cause->command_max);
        break;
    case CHANNEL_EFFECTS:
        break;
    }
}

/* Returns whether axis a has the same effect as an earlier axis. */
static bool is_repeated(const struct channel_causes *causes, size_t a)
{
    bool repeated = false;
    for (size_t b = 0; b < a; b++) {
        const struct channel_cause *other = &causes->axis[b];
        repeated = repeated || (other->finding == causes->axis[a].finding &&
                                (other->finding != CHANNEL_EFFECT ||
                                 other->with.effect == causes->axis[a].with.effect));
    }
    return repeated;
}

static void judge_effect(struct estimate *e, const struct model *model, const char *velocity,
                         const struct channel_cause *cause)
{
    char text[ESTIMATE_TEXT_MAX];
    describe_effect(cause, text);
    const bool lag = cause->with.effect == CHANNEL_SECOND_LAG;
    if (lag && fmin(cause->with.size, cause->with.lag_s) <= ROW_LAG_MAX * cause->dt_s) {
        /* the mean or the difference of two rows */
        estimate_note(e, REASON_AUTOCORRELATED, "%s: %s, within a row", velocity, text);
        return;
    }
    /* Other tests name friction better where a model has it. */
    const bool friction = model->extended[0] && (cause->with.effect == CHANNEL_DEAD_BAND ||
                                                 cause->with.effect == CHANNEL_GAIN_BY_SIZE);
    estimate_reason_first(e, friction ? REASON_UNMODELLED : REASON_CAUSE, ESTIMATE_MARGINAL,
                          "%s: %s", velocity, text);
    if (!friction) {
        estimate_advise(e, "remove this effect from the robot, or use a model that has it; the "
                           "values suit this recording only");
    }
}

static void judge_axis(struct estimate *e, const struct model *model, const char *velocity,
                       const struct channel_cause *cause)
{
    switch (cause->finding) {
    case CHANNEL_EFFECT:
        judge_effect(e, model, velocity, cause);
        break;
    case CHANNEL_SMALL:
        estimate_note(e, REASON_AUTOCORRELATED,
                      "%s: the residual is autocorrelated, by %.2g %% of the motion: errors "
                      "allow for that",
                      velocity, 100.0 * cause->coloured_share);
        break;
    case CHANNEL_UNNAMED:
        estimate_reason(e, REASON_AUTOCORRELATED, ESTIMATE_MARGINAL,
                        "%s: the residual is autocorrelated, by %.2g %% of the motion: "
                        "something acts that the model does not have",
                        velocity, 100.0 * cause->coloured_share);
        break;
    case CHANNEL_GAIN_VARIES:
        estimate_reason_first(e, REASON_CAUSE, ESTIMATE_MARGINAL,
                              "%s: the gain varies during the recording, by %.2g %% (sd): the "
                              "residual grows with the motion",
                              velocity, 100.0 * cause->gain_varies);
        estimate_advise(e, "look for what changes the gain: supply, load, floor, another "
                           "source of commands; the values are means of this recording");
        break;
    case CHANNEL_ROW_PHASE: /* input_phases_judge() reports the times */
    case CHANNEL_DELAY_VARIES:
    case CHANNEL_WHITE:
        break;
    }
}

void channel_causes_judge(const struct model *model, const struct channel_causes *causes,
                          struct dynamics_fit *fit)
{
    if (fit->method != DYNAMICS_OUTPUT_ERROR) {
        return; /* pem explains colour by forces */
    }
    const bool unknown = model->channels && fit->method == DYNAMICS_OUTPUT_ERROR &&
                         causes->count == 0 && fit->hac_share > 0.0;
    if (unknown) {
        estimate_reason(&fit->estimate, REASON_AUTOCORRELATED, ESTIMATE_MARGINAL,
                        "residuals are not white, and no cause was sought in a fit that "
                        "explains so little");
    }
    for (size_t a = 0; a < causes->count; a++) {
        if (!is_repeated(causes, a)) {
            judge_axis(&fit->estimate, model, model->axes[a].velocity, &causes->axis[a]);
        }
    }
}
