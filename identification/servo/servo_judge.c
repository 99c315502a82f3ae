#include "identification/servo/servo_fit_parts.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "identification/numeric/dot.h"
#include "identification/numeric/hac_covariance.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/servo/servo_thresholds.def"

/* Seconds over which residuals may be autocorrelated; of a block of rows with one speed; and
 * over which the speed of the command is measured. */
static const double HAC_S = 1.0, BLOCK_S = 1.0, SPEED_S = 0.04;
static const double SIDES_RANK = 1e-9;  /* sin q is nearly q in short motions */
static const double DIFFERENCES = 10.0; /* of the Jacobian: smooths the encoder's steps */
enum { LAGS = 8, PART_ITERATIONS = 10 };

/* --- errors ------------------------------------------------------------------------------- */

/* Returns the number of positions over which residuals may be autocorrelated. */
static double find_reach(const struct servo_problem *p)
{
    const struct servo_set *set = p->set;
    double lasts_s = 0.0;
    for (size_t r = 0; r < set->run_count; r++) {
        lasts_s += set->t_s[set->run_start[r + 1] - 1] - set->t_s[set->run_start[r]];
    }
    return HAC_S * p->count / lasts_s;
}

/* Adds the moments of all rows that count, and the triangle of the Jacobian. */
static void add_moments(const struct servo_problem *p, const struct servo_point *point,
                        struct hac_covariance *hac, struct qr_accumulator *triangle)
{
    const struct servo_set *set = p->set;
    qr_start(triangle, TERMS);
    hac_start(hac, TERMS, (size_t)find_reach(p), false);
    for (size_t k = 0; k < set->n; k++) {
        double row[TERMS];
        double moment[TERMS];
        if (isnan(set->position_rad[k])) {
            continue; /* neighbours have positions */
        }
        if (!(p->weight[k] > 0.0)) {
            hac_break(hac);
            continue;
        }
        for (size_t j = 0; j < TERMS; j++) {
            row[j] = point->free[j] ? p->column[j][k] : 0.0;
            moment[j] = row[j] * (set->position_rad[k] - p->shown[k]);
        }
        qr_add(triangle, row);
        hac_add(hac, moment);
    }
    hac_break(hac);
    qr_flush(triangle);
}

enum status servo_errors_compute(struct servo_problem *problem, const struct servo_point *point,
                                 struct servo_errors *errors)
{
    static const double RANK_RATIO = 1e-10;
    struct hac_covariance hac;
    struct qr_accumulator triangle;
    struct servo_point here = *point;
    struct svd svd;
    double lengths[TERMS];
    double products[TERMS * TERMS];
    double terms = 0.0;
    servo_point_evaluate(problem, &here);
    servo_search_differentiate(problem, point, DIFFERENCES);
    add_moments(problem, point, &hac, &triangle);
    qr_lengths(&triangle, TERMS, lengths);
    const enum status st = qr_decompose(&triangle, TERMS, lengths, RANK_RATIO, &svd);
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t j = 0; j < TERMS; j++) {
        terms += point->free[j] ? 1.0 : 0.0;
    }
    /* The inverse of R gives (R'R)^-1 = R^-1 R^-T. */
    square_multiply(svd.inverse, svd.inverse, true, TERMS, products);
    square_sandwich(products, hac.robust, TERMS, errors->covariance);
    const double variance = here.sse / fmax(problem->count - terms, 1.0);
    for (size_t i = 0; i < (size_t)TERMS * TERMS; i++) {
        errors->white[i] = variance * products[i];
        errors->covariance[i] *= problem->count / fmax(problem->count - terms, 1.0);
    }
    errors->share = fmin(find_reach(problem) / problem->count, 1.0);
    errors->freedom = fmin(problem->count - terms, hac_freedom(errors->share));
    errors->rank = svd.rank;
    errors->condition = svd.rank == (size_t)terms ? svd.s[0] / svd.s[svd.rank - 1] : HUGE_VAL;
    return STATUS_OK;
}

void servo_point_values(const struct servo_point *point, double values[SERVO_P])
{
    const struct servo_law law = servo_point_law(point);
    const double natural = sqrt(law.stiffness);
    const bool profile = point->free[TERM_SPEED];
    const double gain = law.stiffness / law.damping;
    values[SERVO_NATURAL_FREQUENCY] = natural;
    values[SERVO_DAMPING_RATIO] = law.damping / (2.0 * natural);
    values[SERVO_POSITION_GAIN] = gain;
    values[SERVO_DEAD_BAND] = law.dead_band_rad;
    values[SERVO_DROOP] = law.droop_rad;
    values[SERVO_DELAY] = law.delay_s;
    values[SERVO_PLAY] = point->free[TERM_PLAY] ? law.play_rad : nan("");
    values[SERVO_SPEED_LIMIT] = profile                    ? law.speed_radps
                                : point->free[TERM_TORQUE] ? law.error_max_rad * gain
                                                           : nan("");
    values[SERVO_ACCELERATION_LIMIT] = profile ? law.acceleration_radps2 : nan("");
    values[SERVO_DROOP_SIN] = point->free[TERM_DROOP_SIN] ? law.droop_sin_rad : nan("");
    values[SERVO_DROOP_COS] = point->free[TERM_DROOP_COS] ? law.droop_cos_rad : nan("");
}

/* Computes the derivatives of the parameters by the terms; zero where there is no value. */
static void differentiate_values(const struct servo_point *point, double by[SERVO_P][TERMS])
{
    static const double STEP = 1e-5;
    for (size_t j = 0; j < TERMS; j++) {
        double low[SERVO_P];
        double high[SERVO_P];
        struct servo_point moved = *point;
        moved.x[j] = point->x[j] - STEP;
        servo_point_values(&moved, low);
        moved.x[j] = point->x[j] + STEP;
        servo_point_values(&moved, high);
        for (size_t i = 0; i < SERVO_P; i++) {
            const double slope = (high[i] - low[i]) / (2.0 * STEP);
            by[i][j] = point->free[j] && isfinite(slope) ? slope : 0.0;
        }
    }
}

void servo_estimate_set(struct servo_fit *fit, const struct servo_set *set,
                        const struct servo_point *point, const struct servo_errors *errors)
{
    struct estimate *e = &fit->estimate;
    double by[SERVO_P][TERMS];
    double values[SERVO_P];
    servo_point_values(point, values);
    differentiate_values(point, by);
    for (size_t i = 0; i < SERVO_P; i++) {
        if (!isfinite(values[i])) {
            continue;
        }
        const double se = sqrt(square_form(by[i], errors->covariance, TERMS, TERMS));
        estimate_set(e, i, values[i], se, errors->freedom);
        e->se_white[i] = sqrt(square_form(by[i], errors->white, TERMS, TERMS));
        e->identifiable[i] = i > SERVO_DEAD_BAND || se < SLOW_SE_RATIO * fabs(values[i]);
        for (size_t k = 0; k < SERVO_P; k++) {
            double sum = 0.0;
            for (size_t a = 0; a < TERMS && isfinite(values[k]); a++) {
                for (size_t b = 0; b < TERMS; b++) {
                    sum += by[i][a] * errors->covariance[a * TERMS + b] * by[k][b];
                }
            }
            e->covariance[i][k] = isfinite(values[k]) ? sum : nan("");
        }
    }
    /* A command that is first read in a row changed within the time before it. */
    e->hi[SERVO_DELAY] += set->hold_s;
    e->rank = errors->rank;
    e->condition = errors->condition;
}

void servo_estimate_open(struct servo_fit *fit, const struct servo_point *with_play,
                         const struct servo_errors *errors)
{
    struct estimate *e = &fit->estimate;
    double by[SERVO_P][TERMS];
    double values[SERVO_P];
    servo_point_values(with_play, values);
    differentiate_values(with_play, by);
    for (size_t i = 0; i < SERVO_P; i++) {
        const double se = sqrt(square_form(by[i], errors->covariance, TERMS, TERMS));
        const double half = estimate_reach(errors->freedom) * se;
        if (isfinite(e->lo[i]) && isfinite(values[i]) && isfinite(half)) {
            e->lo_open[i] = fmin(e->lo[i], values[i] - half);
            e->hi_open[i] = fmax(e->hi[i], values[i] + half);
        }
    }
}

/* --- parts of the recording --------------------------------------------------------------- */

/* Measures the root mean square of the command's speed, and of its distance from its mean, in
 * blocks of a second; each row gets those of its block. */
static void measure_blocks(const struct servo_set *set, double *speed, double *amplitude)
{
    const size_t wide = (size_t)fmax(1.0, round(SPEED_S / set->period_s));
    const size_t block = (size_t)fmax(2.0, round(BLOCK_S / set->period_s));
    double mean = 0.0;
    for (size_t k = 0; k < set->n; k++) {
        mean += set->command_rad[k] / (double)set->n;
    }
    for (size_t r = 0; r < set->run_count; r++) {
        const size_t begin = set->run_start[r];
        const size_t end = set->run_start[r + 1];
        for (size_t from = begin; from < end; from += block) {
            const size_t to = from + block < end ? from + block : end;
            double squares[2] = {0.0, 0.0};
            for (size_t k = from; k < to; k++) {
                const size_t past = k >= begin + wide ? k - wide : begin;
                const double lasts_s = fmax(set->t_s[k] - set->t_s[past], set->period_s);
                const double v = (set->command_rad[k] - set->command_rad[past]) / lasts_s;
                const double off = set->command_rad[k] - mean;
                squares[0] += v * v;
                squares[1] += off * off;
            }
            for (size_t k = from; k < to; k++) {
                speed[k] = sqrt(squares[0] / (double)(to - from));
                amplitude[k] = sqrt(squares[1] / (double)(to - from));
            }
        }
    }
}

struct part {
    double values[SERVO_P], se[SERVO_P];
};

/* Fits the rows that count at present. Returns whether the fit is a basis for a comparison. */
static bool fit_part(struct servo_problem *p, struct servo_point point, struct part *part)
{
    struct servo_errors errors;
    double by[SERVO_P][TERMS];
    const bool converged = p->count > 50.0 && servo_search_run(p, &point, PART_ITERATIONS);
    if (!converged || servo_errors_compute(p, &point, &errors) != STATUS_OK) {
        return false;
    }
    servo_point_values(&point, part->values);
    differentiate_values(&point, by);
    for (size_t i = 0; i < SERVO_P; i++) {
        part->se[i] = sqrt(square_form(by[i], errors.covariance, TERMS, TERMS)) *
                      estimate_reach(errors.freedom) / NORMAL_95;
    }
    return true;
}

/* Returns the parameter that differs most, SERVO_P if none does. */
static enum servo_parameter find_difference(const struct servo_set *set,
                                            const struct part parts[2], bool lags,
                                            const struct estimate *e)
{
    static const enum servo_parameter compared[] = {
        SERVO_NATURAL_FREQUENCY, SERVO_POSITION_GAIN, SERVO_DEAD_BAND, SERVO_DROOP};
    enum servo_parameter most = SERVO_P;
    double z_max = PART_Z;
    for (size_t i = 0; i < COUNT(compared); i++) {
        const enum servo_parameter c = compared[i];
        const double off = fabs(parts[0].values[c] - parts[1].values[c]);
        const double z = off / hypot(parts[0].se[c], parts[1].se[c]);
        const double enough =
            c == SERVO_DROOP       ? fmax(PART_RATIO * 0.2 * set->range_rad, set->step_rad)
            : c == SERVO_DEAD_BAND ? fmax(PART_RATIO * e->value[c], set->step_rad)
                                   : PART_RATIO * e->value[c];
        const bool alike = lags && c == SERVO_NATURAL_FREQUENCY; /* a sensor's lag is like it */
        if (!alike && off > enough && z > z_max) {
            z_max = z;
            most = c;
        }
    }
    return most;
}

enum status servo_judge_parts(struct servo_problem *problem, const struct servo_point *point,
                              struct servo_fit *fit)
{
    const struct servo_set *set = problem->set;
    double *speed = problem->column[0];
    double *sorted = problem->column[1];
    for (int by_speed = 0; by_speed < 2; by_speed++) {
        struct part parts[2];
        bool fitted = true;
        for (int i = 0; i < 2 && fitted; i++) {
            measure_blocks(set, speed, sorted);
            memcpy(sorted, speed, set->n * sizeof *sorted);
            gsl_sort(sorted, 1, set->n);
            servo_weights_select(problem, by_speed ? speed : set->t_s,
                                 by_speed ? sorted[set->n / 2] : set->t_s[set->n / 2], i == 1);
            fitted = fit_part(problem, *point, &parts[i]);
        }
        servo_weights_restore(problem);
        const enum servo_parameter c =
            fitted ? find_difference(set, parts, point->free[TERM_SENSOR_LAG], &fit->estimate)
                   : SERVO_P;
        if (c != SERVO_P) {
            estimate_reason(
                &fit->estimate, by_speed ? REASON_UNMODELLED : REASON_CHANGES_WITH_TIME,
                ESTIMATE_MARGINAL, "%s is %.4g %s and %.4g %s", fit->estimate.name[c],
                parts[0].values[c], by_speed ? "for slow commands" : "in the first half",
                parts[1].values[c], by_speed ? "for fast ones" : "in the second");
            estimate_advise(&fit->estimate,
                            by_speed ? "record slow and fast commands separately, and use the "
                                       "fit of those that are needed"
                                     : "record again: load, temperature or supply changed");
        }
    }
    return STATUS_OK;
}

/* --- residuals ---------------------------------------------------------------------------- */

bool servo_residuals_ask(const struct servo_set *set, double coloured_ratio, double least)
{
    return coloured_ratio > least &&
           coloured_ratio * set->position_sd > set->step_rad / sqrt(12.0);
}

/* An autoregression of order 8 predicts residuals from earlier ones. */
double servo_residuals_colour(const struct servo_problem *problem)
{
    const struct servo_problem *p = problem;
    const struct servo_set *set = p->set;
    struct qr_accumulator triangle;
    double past[LAGS + 1] = {0.0};
    double squares = 0.0;
    size_t known = 0;
    double n = 0.0;
    qr_start(&triangle, LAGS + 1);
    for (size_t k = 0; k < set->n; k++) {
        if (isnan(set->position_rad[k])) {
            continue;
        }
        if (!(p->weight[k] > 0.0)) {
            known = 0;
            continue;
        }
        memmove(past, past + 1, LAGS * sizeof *past);
        past[LAGS] = set->position_rad[k] - p->shown[k];
        if (++known > LAGS) {
            qr_add(&triangle, past);
            squares += past[LAGS] * past[LAGS];
            n += 1.0;
        }
    }
    qr_flush(&triangle);
    const double white = triangle.r[LAGS][LAGS] * triangle.r[LAGS][LAGS];
    const bool chance = !(n * log(squares / white) > TERM_CHI2);
    return chance ? 0.0 : sqrt(fmax(squares - white, 0.0) / n) / fmax(set->position_sd, 1e-300);
}

double servo_residuals_phase(struct servo_problem *problem, const struct servo_law *law)
{
    enum { DRAWS = 4 };
    const struct servo_set *set = problem->set;
    struct servo_set drawn = *set;
    struct servo_law later = *law;
    struct random_source draws = {.state = 1};
    double *change_s = problem->spare;
    double *shown[] = {problem->column[0], problem->column[1]};
    double squares = 0.0;
    drawn.change_s = change_s;
    later.delay_s += 0.5 * set->hold_s;
    problem->steps += servo_simulate(set, law, shown[0], NULL);
    for (int i = 0; i < DRAWS; i++) {
        for (size_t k = 0; k < set->n; k++) {
            const double row_s = k > 0 ? fmin(set->t_s[k] - set->t_s[k - 1], set->hold_s) : 0.0;
            change_s[k] = set->t_s[k] - random_between(&draws, 0.0, fmax(row_s, 0.0));
        }
        problem->steps += servo_simulate(&drawn, &later, shown[1], NULL);
        for (size_t k = 0; k < set->n; k++) {
            const double off = shown[1][k] - shown[0][k];
            squares += problem->weight[k] > 0.0 ? off * off : 0.0;
        }
    }
    return sqrt(squares / DRAWS / problem->count);
}

/* R2 of the rows whose command is as fast as a limit, or slower, about the mean of all. */
static double explain_rows(const struct servo_problem *p, const double *speed, double limit,
                           bool above)
{
    const struct servo_set *set = p->set;
    double sums[4] = {0.0};
    for (size_t k = 0; k < set->n; k++) {
        if (p->weight[k] > 0.0 && (speed[k] >= limit) == above) {
            const double q = set->position_rad[k] - set->position_rad[0];
            const double e = set->position_rad[k] - p->shown[k];
            sums[0] += 1.0;
            sums[1] += q;
            sums[2] += q * q;
            sums[3] += e * e;
        }
    }
    return 1.0 - sums[3] / (sums[2] - sums[1] * sums[1] / sums[0]);
}

/* Finds the lowest speed of commands above which the servo does not follow. */
static void describe_fast(struct servo_problem *p, struct servo_fit *fit)
{
    const struct servo_set *set = p->set;
    double *speed = p->column[0];
    double *amplitude = p->column[1];
    double *sorted = p->column[2];
    measure_blocks(set, speed, amplitude);
    memcpy(sorted, speed, set->n * sizeof *sorted);
    gsl_sort(sorted, 1, set->n);
    for (size_t i = 6; i < 19 && isnan(fit->fast_radps); i++) { /* 30 % .. 90 % of the rows */
        const double limit = sorted[i * set->n / 20];
        if (explain_rows(p, speed, limit, true) < FAST_R2 &&
            explain_rows(p, speed, limit, false) > FAST_R2) {
            double sum = 0.0;
            double count = 0.0;
            for (size_t k = 0; k < set->n; k++) {
                const bool near = speed[k] >= limit && speed[k] < 1.2 * limit;
                sum += near ? amplitude[k] : 0.0;
                count += near ? 1.0 : 0.0;
            }
            fit->fast_amplitude_rad = sqrt(2.0) * sum / count;
            fit->fast_radps = sqrt(2.0) * limit;
            fit->fast_hz = fit->fast_radps / fit->fast_amplitude_rad / (2.0 * PI);
        }
    }
}

/* Terms of the droop, the bend at zero, and the residual of a row. */
static void set_side_row(const struct servo_problem *p, size_t k, double *row)
{
    const double q = p->shown[k];
    const double terms[] = {1.0, q, sin(q), cos(q), fabs(q), p->set->position_rad[k] - q};
    memcpy(row, terms, sizeof terms);
}

/* Commands that are worth less below zero than above bend the response at zero. The droop of
 * the fit hides most of that bend, so the residual is regressed on the terms of the droop as
 * well:
 *
 *   e = b0 + b1 q + b2 sin q + b3 cos q + c |q|
 *
 * 2 c is how much more a radian is worth above zero. Its error is that of sums over blocks, in
 * which residuals may be alike, of what the other terms do not explain of |q|. */
static void measure_sides(const struct servo_problem *p, struct servo_fit *fit)
{
    enum { OTHERS = 4, ALL };
    const struct servo_set *set = p->set;
    struct qr_accumulator triangle;
    struct svd svd;
    double with[ALL];  /* the coefficients above */
    double hides[ALL]; /* |q| by the other terms */
    double sum = 0.0;  /* of the present block */
    double variance = 0.0;
    double squares = 0.0;
    double began_s = -HUGE_VAL;
    qr_start(&triangle, ALL + 1);
    for (size_t k = 0; k < set->n; k++) {
        if (p->weight[k] > 0.0) {
            double row[ALL + 1];
            set_side_row(p, k, row);
            qr_add(&triangle, row);
        }
    }
    qr_flush(&triangle);
    if (qr_solve(&triangle, ALL, SIDES_RANK, &svd, with) != STATUS_OK ||
        qr_solve(&triangle, OTHERS, SIDES_RANK, &svd, hides) != STATUS_OK) {
        return;
    }
    for (size_t k = 0; k < set->n; k++) {
        double row[ALL + 1];
        if (!(p->weight[k] > 0.0)) {
            continue;
        }
        if (fabs(set->t_s[k] - began_s) > BLOCK_S) {
            began_s = set->t_s[k];
            variance += sum * sum;
            sum = 0.0;
        }
        set_side_row(p, k, row);
        const double bend = row[OTHERS] - dot_product(row, hides, OTHERS);
        sum += bend * (row[ALL] - dot_product(row, with, ALL));
        squares += bend * bend;
    }
    fit->sides_ratio = 2.0 * with[OTHERS];
    fit->sides_se = 2.0 * sqrt(variance + sum * sum) / squares;
}

void servo_residuals_describe(struct servo_problem *problem, struct servo_fit *fit)
{
    measure_sides(problem, fit);
    fit->coloured_ratio = servo_residuals_colour(problem);
    fit->phase_rad = servo_residuals_phase(problem, &fit->law);
    describe_fast(problem, fit);
}

/* --- verdict ------------------------------------------------------------------------------ */

static void judge_command(struct servo_fit *fit, const struct servo_set *set)
{
    struct estimate *e = &fit->estimate;
    const double dead = e->value[SERVO_DEAD_BAND];
    if (set->levels < 3 || set->magnitudes < 2) {
        estimate_reason(e, REASON_POOR_EXCITATION, ESTIMATE_MARGINAL,
                        "the command has %zu values of %zu sizes only: others were not tried",
                        set->levels, set->magnitudes);
        estimate_advise(e, "command steps of several sizes, in both directions");
    }
    if (set->range_rad < 2.0 * RANGE_BANDS * dead) {
        estimate_reason(
            e, REASON_POOR_EXCITATION, ESTIMATE_MARGINAL,
            "the command hardly exceeds the dead band: it moves by %.3g, the band is "
            "%.3g wide",
            set->range_rad, 2.0 * dead);
        estimate_advise(e, "command larger motion: six times the dead band at least");
    }
    if (set->range_rad < RANGE_STEPS * set->step_rad) {
        estimate_reason(e, REASON_POOR_EXCITATION, ESTIMATE_MARGINAL,
                        "the command spans %.0f steps of the encoder only",
                        set->range_rad / set->step_rad);
        estimate_advise(e, "command larger motion");
    }
    if (isfinite(fit->fast_radps)) {
        estimate_reason_first(
            e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
            "above %.2g rad/s (%.2g Hz at %.2g rad) the servo does not follow: "
            "speed or acceleration limit",
            fit->fast_radps, fit->fast_hz, fit->fast_amplitude_rad);
        estimate_advise(e, "fit the slower part of the recording");
    }
}

/* Reports dry friction that is not constant, and a lag of the position. */
static void judge_hidden(struct servo_fit *fit, const struct servo_set *set)
{
    struct estimate *e = &fit->estimate;
    struct servo_law by_place = fit->law;
    double least = HUGE_VAL;
    double most = 0.0;
    by_place.friction_load = 0.0;
    for (size_t k = 0; k < set->n; k++) {
        if (isfinite(set->position_rad[k])) {
            const double dead =
                servo_law_dead_band(&by_place, set->position_rad[k], HUGE_VAL, 0.0);
            least = fmin(least, dead);
            most = fmax(most, dead);
        }
    }
    if (fabs(fit->law.friction_load) > 0.0) {
        estimate_reason_first(
            e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
            "dry friction depends on the load: the dead band changes by %.2g of "
            "the error",
            fit->law.friction_load);
        estimate_advise(e, "look for the load of the gear; the other values allow for it");
    }
    if (fabs(fit->law.friction_rest_rad) > 0.0) {
        estimate_reason_first(e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
                              "dry friction changes near rest: the dead band is %.2g rad wider",
                              fit->law.friction_rest_rad);
        estimate_advise(e, "command motion without stops; the other values allow for it");
    }
    if (most > least) {
        estimate_reason_first(e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
                              "dry friction depends on the position: the dead band is %.2g to "
                              "%.2g rad",
                              least, most);
        estimate_advise(
            e, "look for dirt, a bent shaft or a cable; the other values allow for it");
    }
    if (fit->law.sensor_lag_s > SENSOR_ROWS * set->period_s) {
        estimate_reason_first(e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
                              "positions come through a lag of %.2g s: a filter",
                              fit->law.sensor_lag_s);
        estimate_advise(e, "record positions without a filter; the other values allow for it");
    } else if (fit->law.sensor_lag_s > 0.0) {
        estimate_note(e, REASON_VARIANT_CHOSEN, "a lag of %.2g s in the position: fitted",
                      fit->law.sensor_lag_s);
    }
}

static void judge_values(struct servo_fit *fit)
{
    struct estimate *e = &fit->estimate;
    const bool slow =
        !e->identifiable[SERVO_NATURAL_FREQUENCY] || !e->identifiable[SERVO_POSITION_GAIN];
    if (slow) {
        estimate_reason(
            e, REASON_POOR_EXCITATION, ESTIMATE_MARGINAL,
            "the command is too slow to separate lag and gain: errors of %.0f %% and "
            "%.0f %%",
            100.0 * e->se[SERVO_NATURAL_FREQUENCY] / e->value[SERVO_NATURAL_FREQUENCY],
            100.0 * e->se[SERVO_POSITION_GAIN] / e->value[SERVO_POSITION_GAIN]);
        estimate_advise(e, "command steps, or motion up to the speed that the servo reaches");
    }
    if (fabs(fit->law.scale - 1.0) > SCALE_OFF) {
        estimate_reason(
            e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
            "the position moves %.3g times as far as its command: scale, or a spring",
            fit->law.scale);
        estimate_advise(e, "check the scales of command and position");
    }
    if (fabs(fit->sides_ratio) > fmax(PART_RATIO, SIDES_Z * fit->sides_se)) {
        estimate_reason(e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
                        "commands %s zero move the servo %.0f %% less than those %s",
                        fit->sides_ratio > 0.0 ? "below" : "above",
                        100.0 * fabs(fit->sides_ratio),
                        fit->sides_ratio > 0.0 ? "above" : "below");
        estimate_advise(e, "check the scale of the command in both directions");
    }
    if (!fit->converged) {
        estimate_reason(e, REASON_SEARCH_FAILED, ESTIMATE_MARGINAL, "the search ended early");
        estimate_advise(e, "record again, with steps and motion of several speeds");
    } else if (fit->exhausted) {
        estimate_note(e, REASON_SEARCH_FAILED,
                      "the search of extended models stopped at its limit of steps");
    }
    if (e->value[SERVO_DEAD_BAND] < PLAY_ERRORS * e->se[SERVO_DEAD_BAND]) {
        estimate_note(e, REASON_NOT_DETERMINED,
                      "friction and play are not determined: the dead band is near zero");
    }
}

static void judge_residuals(struct servo_fit *fit, const struct servo_set *set)
{
    struct estimate *e = &fit->estimate;
    if (!(fit->own.r2 >= R2_MARGINAL)) {
        estimate_reason(e, REASON_POOR_FIT,
                        fit->own.r2 >= R2_FAIL ? ESTIMATE_MARGINAL : ESTIMATE_FAIL,
                        "the model explains %.1f %% of the motion only (off by %.3g rad)",
                        100.0 * fmax(fit->own.r2, 0.0), fit->own.rmse_rad);
        estimate_advise(
            e, "look for loads, for other joints that move, and for clocks that differ");
    }
    const double coloured_rad = fit->coloured_ratio * set->position_sd;
    const bool asks = servo_residuals_ask(set, fit->coloured_ratio, COLOURED_SHARE);
    if (asks && coloured_rad <= PHASE_RATIO * fit->phase_rad) {
        estimate_note(e, REASON_AUTOCORRELATED,
                      "commands may change between rows: this explains a residual of %.2g rad",
                      coloured_rad);
    } else if (e->verdict == ESTIMATE_PASS && asks) {
        estimate_reason(e, REASON_AUTOCORRELATED, ESTIMATE_MARGINAL,
                        "%.1f %% of the motion is unexplained and not noise",
                        100.0 * fit->coloured_ratio);
        estimate_advise(e, "look for loads, for other joints that move, and for friction that "
                           "depends on the place");
    }
}

/* Adds notes on what was found beyond a loop with friction. */
static void describe_terms(struct servo_fit *fit)
{
    struct estimate *e = &fit->estimate;
    if (fit->limit != SERVO_NO_LIMIT) {
        estimate_note(e, REASON_VARIANT_CHOSEN, "%s limits the speed to %.3g rad/s",
                      fit->limit == SERVO_PROFILE ? "a profile" : "the torque",
                      e->value[SERVO_SPEED_LIMIT]);
    }
    if (e->value[SERVO_PLAY] > 0.0) {
        estimate_note(e, REASON_VARIANT_CHOSEN, "a play of %.3g rad behind the motor",
                      e->value[SERVO_PLAY]);
    }
    if (fabs(e->value[SERVO_DELAY]) <= 0.0) {
        estimate_note(e, REASON_AT_BOUND, "the delay is at its bound, 0");
    } else if (e->value[SERVO_DELAY] < 0.0) {
        estimate_note(e, REASON_UNEVEN_SAMPLING,
                      "commands change up to %.2g s before the row that shows them",
                      -e->value[SERVO_DELAY]);
    }
}

void servo_judge(struct servo_fit *fit, const struct servo_set *set,
                 const struct servo_summary *summary)
{
    struct estimate *e = &fit->estimate;
    judge_values(fit);
    judge_hidden(fit, set);
    judge_command(fit, set);
    judge_residuals(fit, set);
    describe_terms(fit);
    if (summary->wraps > 0) {
        estimate_note(e, REASON_ROWS_UNUSABLE,
                      "the position jumps by a turn %zu times: unwrapped", summary->wraps);
    }
    if (summary->stale > 0) {
        estimate_note(e, REASON_ROWS_UNUSABLE,
                      "the position is new in 1 of %.0f rows (%.3g Hz)", summary->hold_rows,
                      summary->rate_hz / summary->hold_rows);
    }
    if (summary->gaps > 0) {
        estimate_note(e, REASON_RECORDING_CUT, "the recording was cut at %zu gaps",
                      summary->gaps);
    }
}

void servo_judge_units(struct servo_fit *fit, const struct servo_summary *summary)
{
    const double span = summary->command_max_rad - summary->command_min_rad;
    if (span > SPAN_RAD_MAX) {
        estimate_reason(&fit->estimate, REASON_WRONG_UNIT, ESTIMATE_MARGINAL,
                        "commands span %.4g rad: degrees?", span);
        estimate_advise(&fit->estimate, "give the unit: --columns command=NAME:deg");
    }
}

void servo_judge_held_out(struct servo_fit *fit, const struct servo_check *held_out)
{
    if (held_out->rmse_rad > HELD_OUT_MARGINAL * fit->own.rmse_rad) {
        estimate_reason(
            &fit->estimate, REASON_HELD_OUT,
            held_out->r2 >= HELD_OUT_FAIL ? ESTIMATE_MARGINAL : ESTIMATE_FAIL,
            "held-out positions are predicted to %.3g rad (R2 %.4f), the fit's own to "
            "%.3g rad (R2 %.4f)",
            held_out->rmse_rad, held_out->r2, fit->own.rmse_rad, fit->own.r2);
        estimate_advise(&fit->estimate,
                        "fit both recordings together, or look for what changed "
                        "between them: load, speed, supply");
    }
}
