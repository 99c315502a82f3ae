#include "identification/servo/servo_fit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "identification/data/motion_test.h"
#include "identification/servo/servo_fit_parts.h"
#include "identification/servo/servo_thresholds.def"

/* Iterations that compare starts, and of the search of the best ones. */
enum { STARTS_MAX = 12, ITERATIONS_FEW = 6, ITERATIONS_MAX = 40, BEST = 2, ROUNDS = 3 };

/* A profile that leaves less than this of the unexplained is not compared with a torque limit.
 */
static const double LIMIT_REST = 0.2;

ENUM_NAMES(servo_parameter, SERVO_P, "natural_frequency_radps", "damping_ratio",
           "position_gain_per_s", "dead_band_rad", "droop_rad", "delay_s", "play_rad",
           "speed_limit_radps", "acceleration_limit_radps2", "droop_sin_rad", "droop_cos_rad");
ENUM_NAMES(servo_limit, SERVO_LIMITS, "none", "torque", "profile");

/* A model with further terms. */
struct extension {
    enum servo_term term[SERVO_PLACES];
    size_t terms;
    /* Writes start points from the fit without these terms; returns their number. */
    size_t (*begin)(const struct servo_problem *p, const struct servo_start *linear,
                    const struct servo_point *base, struct servo_point *points);
};

/* --- search ------------------------------------------------------------------------------- */

static bool has_limit(const struct servo_point *point)
{
    return point->free[TERM_SPEED] || point->free[TERM_TORQUE];
}

/* Limits bend the sum of squares: coarse differences lead out of its narrow minima. */
static bool search_end(struct servo_problem *p, struct servo_point *point)
{
    static const double ladder[] = {10.0, 3.0, 1.0};
    bool converged = false;
    for (size_t i = has_limit(point) ? 0 : COUNT(ladder) - 1; i < COUNT(ladder); i++) {
        p->difference = ladder[i];
        p->gain_enough = i + 1 < COUNT(ladder) ? 0.3 : 0.01;
        servo_accuracy_set(p, i + 1 < COUNT(ladder) ? SERVO_COARSE : SERVO_FINE);
        converged = servo_search_run(p, point, ITERATIONS_MAX);
    }
    return converged;
}

/* Searches from each start for some iterations, and from the best ones to the end. */
static bool search_starts(struct servo_problem *p, struct servo_point *points, size_t count,
                          size_t ends, struct servo_point *best)
{
    bool converged = false;
    best->sse = HUGE_VAL;
    servo_accuracy_set(p, SERVO_COARSE);
    for (size_t i = 0; i < count; i++) {
        p->difference = has_limit(&points[i]) ? 10.0 : 1.0;
        (void)servo_search_run(p, &points[i], ITERATIONS_FEW);
    }
    p->difference = 1.0;
    servo_accuracy_set(p, SERVO_FINE);
    for (size_t round = 0; round < ends && round < count; round++) {
        size_t first = 0;
        for (size_t i = 1; i < count; i++) {
            first = points[i].sse < points[first].sse ? i : first;
        }
        const bool done = search_end(p, &points[first]);
        if (points[first].sse < best->sse) {
            *best = points[first];
            converged = done;
        }
        points[first].sse = HUGE_VAL;
    }
    return converged;
}

/* A loop that saturates looks slower than it is, and a part of the lag may be delay. */
static size_t begin_plain(const struct servo_problem *p, const struct servo_start *linear,
                          struct servo_point *points)
{
    static const double shares[] = {0.15, 0.6}, gains[] = {1.0, 3.0};
    const double k = fmax(linear->gain_per_s, 0.5);
    size_t count = 0;
    for (size_t i = 0; i < COUNT(shares); i++) {
        for (size_t j = 0; j < COUNT(gains); j++) {
            struct servo_point *point = &points[count++];
            *point = (struct servo_point){.free = {true, true, true, true, true}};
            point->x[TERM_GAIN] = log(k * gains[j]);
            point->x[TERM_LAG] = log(shares[i] / k);
            point->x[TERM_DEAD_BAND] = 0.02 * p->set->range_rad;
            point->x[TERM_DROOP] = linear->droop_rad;
            point->x[TERM_DELAY] = fmax(0.005, linear->delay_s - shares[i] / k / 2.0);
        }
    }
    return count;
}

/* --- extended models ---------------------------------------------------------------------- */

static size_t begin_play(const struct servo_problem *p, const struct servo_start *linear,
                         const struct servo_point *base, struct servo_point *points)
{
    static const double shares[] = {0.1, 1.0};
    (void)linear;
    for (size_t i = 0; i < COUNT(shares); i++) {
        points[i] = *base;
        points[i].x[TERM_PLAY] =
            fmax(shares[i] * 2.0 * base->x[TERM_DEAD_BAND], 2e-3 * p->set->range_rad);
        points[i].x[TERM_DEAD_BAND] *= 1.0 - 0.9 * shares[i];
    }
    return COUNT(shares);
}

static size_t begin_scale(const struct servo_problem *p, const struct servo_start *linear,
                          const struct servo_point *base, struct servo_point *points)
{
    (void)p;
    (void)linear;
    points[0] = *base;
    points[0].x[TERM_SCALE] = 1.0;
    return 1;
}

/* Over less than a radian the angle's sine and cosine are a scale and a constant. */
static size_t begin_gravity(const struct servo_problem *p, const struct servo_start *linear,
                            const struct servo_point *base, struct servo_point *points)
{
    (void)linear;
    points[0] = *base;
    return p->set->range_rad > 1.0 ? 1 : 0;
}

static size_t begin_torque(const struct servo_problem *p, const struct servo_start *linear,
                           const struct servo_point *base, struct servo_point *points)
{
    static const double shares[] = {0.8, 1.2, 2.0};
    (void)p;
    for (size_t i = 0; i < COUNT(shares); i++) {
        points[i] = *base;
        points[i].x[TERM_TORQUE] = log(shares[i] * linear->speed_radps);
    }
    return COUNT(shares);
}

static size_t begin_profile(const struct servo_problem *p, const struct servo_start *linear,
                            const struct servo_point *base, struct servo_point *points)
{
    static const double gains[] = {1.0, 2.0}, ramps[] = {8.0, 25.0, 80.0};
    size_t count = 0;
    (void)p;
    for (size_t i = 0; i < COUNT(gains); i++) {
        for (size_t j = 0; j < COUNT(ramps); j++) {
            struct servo_point *point = &points[count++];
            *point = *base;
            point->x[TERM_GAIN] += log(gains[i]);
            point->x[TERM_SPEED] = log(linear->speed_radps);
            point->x[TERM_ACCELERATION] = log(ramps[j] * linear->speed_radps);
        }
    }
    return count;
}

static size_t begin_friction(const struct servo_problem *p, const struct servo_start *linear,
                             const struct servo_point *base, struct servo_point *points)
{
    (void)p;
    (void)linear;
    points[0] = *base;
    return 1;
}

/* The loop without the lag looks slower, and its delay longer. */
static size_t begin_lag(const struct servo_problem *p, const struct servo_start *linear,
                        const struct servo_point *base, struct servo_point *points)
{
    static const double rows[] = {1.0, 3.0};
    (void)linear;
    for (size_t i = 0; i < COUNT(rows); i++) {
        points[i] = *base;
        points[i].x[TERM_SENSOR_LAG] = rows[i] * p->set->period_s;
        points[i].x[TERM_DELAY] =
            fmax(base->x[TERM_DELAY] - 0.5 * points[i].x[TERM_SENSOR_LAG], p->lo[TERM_DELAY]);
    }
    return COUNT(rows);
}

/* Play comes first: it also tells how much of it the data exclude. */
static const struct extension extensions[] = {
    {{TERM_PLAY}, 1, begin_play},
    {{TERM_SCALE}, 1, begin_scale},
    {{TERM_DROOP_SIN, TERM_DROOP_COS}, 2, begin_gravity},
    {{TERM_SPEED, TERM_ACCELERATION}, 2, begin_profile},
    {{TERM_TORQUE}, 1, begin_torque},
    {{TERM_FRICTION_LOAD}, 1, begin_friction},
    {{TERM_FRICTION_REST}, 1, begin_friction},
    {{TERM_FRICTION_PLACE, TERM_FRICTION_PLACE + 1, TERM_FRICTION_PLACE + 2,
      TERM_FRICTION_PLACE + 3},
     SERVO_PLACES,
     begin_friction},
    {{TERM_SENSOR_LAG}, 1, begin_lag},
};

static bool is_limit(const struct extension *extension)
{
    return extension->term[0] == TERM_SPEED || extension->term[0] == TERM_TORQUE;
}

/* Friction that varies, and a lag, may leave less than a step of the encoder. */
static bool is_hidden(const struct extension *extension)
{
    return extension->term[0] >= TERM_FRICTION_LOAD;
}

static double compare_points(const struct servo_problem *p, const struct servo_point *less,
                             const struct servo_point *more)
{
    return p->count * log(less->sse / more->sse);
}

/* Does each half of the time predict the other one better with the further terms? */
static bool halves_agree(struct servo_problem *p, const struct servo_point *less,
                         const struct servo_point *more)
{
    const double *t_s = p->set->t_s;
    const double middle_s = t_s[p->set->n / 2];
    bool agree = true;
    for (int half = 0; half < 2 && agree; half++) {
        struct servo_point fits[] = {*less, *more};
        servo_weights_select(p, t_s, middle_s, half == 0);
        for (int i = 0; i < 2; i++) {
            (void)servo_search_run(p, &fits[i], ITERATIONS_FEW);
        }
        servo_weights_select(p, t_s, middle_s, half != 0);
        for (int i = 0; i < 2; i++) {
            servo_point_evaluate(p, &fits[i]);
        }
        agree = fits[1].sse < fits[0].sse;
    }
    servo_weights_restore(p);
    return agree;
}

/* Fits with further terms. Returns false if the fit has them, or cannot have them. */
static bool fit_extension(struct servo_problem *p, const struct servo_start *linear,
                          const struct extension *extension, bool every_start,
                          const struct servo_point *base, struct servo_point *best)
{
    struct servo_point points[STARTS_MAX];
    const bool limited = has_limit(base);
    if (base->free[extension->term[0]] || (limited && is_limit(extension))) {
        return false;
    }
    const size_t starts = extension->begin(p, linear, base, points);
    const size_t count = every_start || starts == 0 ? starts : 1;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < extension->terms; j++) {
            points[i].free[extension->term[j]] = true;
        }
    }
    if (count > 0) {
        (void)search_starts(p, points, count, is_limit(extension) ? BEST : 1, best);
    }
    return count > 0;
}

/* Does a fit determine the loop? */
static bool is_determined(struct servo_problem *p, const struct servo_point *point)
{
    enum { G = TERM_GAIN, L = TERM_LAG };
    struct servo_errors errors;
    if (servo_errors_compute(p, point, &errors) != STATUS_OK) {
        return false;
    }
    const double *v = errors.covariance;
    const double natural =
        0.25 * (v[G * TERMS + G] + v[L * TERMS + L] - 2.0 * v[G * TERMS + L]);
    return fmax(natural, v[G * TERMS + G]) < SLOW_SE_RATIO * SLOW_SE_RATIO;
}

/* Does a fit with further terms explain what the fit without them does not, and still determine
 * the loop? Play only has to be better than chance: it is the other cause of a dead band. */
static bool explains_residual(struct servo_problem *p, bool play, double coloured_rad,
                              const struct servo_point *less, const struct servo_point *more)
{
    const double gain = (less->sse - more->sse) / p->count;
    return compare_points(p, less, more) > TERM_CHI2 &&
           (play || gain > TERM_SHARE * coloured_rad * coloured_rad) &&
           halves_agree(p, less, more) && is_determined(p, more);
}

/* Is there a residual beyond noise and steps of the encoder? */
static bool has_residual(struct servo_problem *p, struct servo_point *point,
                         double *coloured_rad)
{
    servo_point_evaluate(p, point);
    const double ratio = servo_residuals_colour(p);
    *coloured_rad = ratio * p->set->position_sd;
    return servo_residuals_ask(p->set, ratio, 0.0);
}

/* Could friction that varies explain anything? All its terms together, linearly from the fit:
 * where they gain less than one of them must, none is searched. */
static bool may_vary(struct servo_problem *p, const struct servo_point *point)
{
    struct servo_point all = *point;
    for (size_t j = TERM_FRICTION_LOAD; j < TERM_SENSOR_LAG; j++) {
        all.x[j] = all.free[j] ? all.x[j] : 0.0;
        all.free[j] = true;
    }
    p->difference = 1.0;
    servo_accuracy_set(p, SERVO_FINE);
    return servo_search_promise(p, &all) > TERM_CHI2;
}

/* Finds the extension that explains most. Play is tried always, for its upper limit; others
 * while a residual is left. */
static struct servo_point find_extension(struct servo_problem *p,
                                         const struct servo_start *linear,
                                         struct servo_point *point,
                                         struct servo_point *with_play, struct servo_fit *fit)
{
    struct servo_point best = *point;
    double coloured_rad = 0.0;
    double rest_rad = 0.0;
    bool asks = has_residual(p, point, &coloured_rad);
    const bool varies = asks || (coloured_rad > 0.0 && may_vary(p, point));
    for (size_t i = 0; i < COUNT(extensions); i++) {
        struct servo_point more;
        const bool play = extensions[i].term[0] == TERM_PLAY;
        if (is_limit(&extensions[i])) { /* these cost most */
            asks = asks && has_residual(p, &best, &rest_rad) &&
                   (!has_limit(&best) || rest_rad > LIMIT_REST * coloured_rad);
        }
        const bool lag = extensions[i].term[0] == TERM_SENSOR_LAG;
        const bool tried = asks || play || (is_hidden(&extensions[i]) && varies) ||
                           (lag && coloured_rad > 0.0);
        if (!tried || !fit_extension(p, linear, &extensions[i], asks, point, &more)) {
            continue;
        }
        if (play) {
            fit->play_chi2 = compare_points(p, point, &more);
            *with_play = more;
        }
        if (more.sse < best.sse && explains_residual(p, play, coloured_rad, point, &more)) {
            best = more;
        }
    }
    return best;
}

/* Commands that change between rows act before the row that first shows them, by up to a row.
 * Such a delay must leave no more than the unknown phase of the commands. */
static void try_early(struct servo_problem *p, struct servo_point *point)
{
    struct servo_point early = *point;
    double rest_rad = 0.0;
    if (point->x[TERM_DELAY] > 0.0 || has_limit(point) || !has_residual(p, point, &rest_rad)) {
        return;
    }
    p->lo[TERM_DELAY] = -p->set->hold_s;
    (void)search_end(p, &early);
    const bool left = has_residual(p, &early, &rest_rad);
    const struct servo_law law = servo_point_law(&early);
    if (compare_points(p, point, &early) > TERM_CHI2 &&
        (!left || rest_rad <= PHASE_RATIO * servo_residuals_phase(p, &law))) {
        *point = early;
    } else {
        p->lo[TERM_DELAY] = 0.0;
    }
}

/* A limit that leaves a residual is not the servo's: then the fit without one is better, and
 * the report says at which speed the servo does not follow. */
static void extend_fit(struct servo_problem *p, const struct servo_start *linear,
                       struct servo_point *point, struct servo_point *with_play,
                       struct servo_fit *fit)
{
    struct servo_point plain = *point;
    double rest_rad = 0.0;
    for (int round = 0; round < ROUNDS && !servo_problem_is_exhausted(p); round++) {
        const struct servo_point best = find_extension(p, linear, point, with_play, fit);
        if (!(best.sse < point->sse)) {
            break;
        }
        plain = has_limit(&best) ? plain : best;
        *point = best;
    }
    if (has_limit(point) && has_residual(p, point, &rest_rad) &&
        rest_rad > COLOURED_SHARE * p->set->position_sd) {
        *point = plain;
    }
}

/* --- the fit ------------------------------------------------------------------------------ */

static void describe_check(const struct servo_problem *p, const struct servo_point *point,
                           struct servo_check *check)
{
    const struct servo_set *set = p->set;
    *check = (struct servo_check){.positions = (size_t)p->count,
                                  .rmse_rad = sqrt(point->sse / p->count),
                                  .delay_s = point->x[TERM_DELAY]};
    double mean = 0.0;
    double squares = 0.0;
    for (size_t k = 0; k < set->n; k++) {
        mean += p->weight[k] > 0.0 ? set->position_rad[k] / p->count : 0.0;
    }
    for (size_t k = 0; k < set->n; k++) {
        if (p->weight[k] > 0.0) {
            const double off = set->position_rad[k] - mean;
            squares += off * off;
            check->max_rad = fmax(check->max_rad, fabs(set->position_rad[k] - p->shown[k]));
        }
    }
    check->r2 = squares > 0.0 ? 1.0 - point->sse / squares : nan("");
}

/* Sets the interval of the play from the fit with it, and the open intervals. */
static enum status limit_play(struct servo_problem *p, const struct servo_point *with_play,
                              struct servo_fit *fit)
{
    struct servo_errors errors;
    const enum status st = servo_errors_compute(p, with_play, &errors);
    if (st == STATUS_OK) {
        const double se = sqrt(errors.covariance[TERM_PLAY * TERMS + TERM_PLAY]);
        servo_estimate_open(fit, with_play, &errors);
        fit->estimate.value[SERVO_PLAY] = 0.0;
        fit->estimate.lo[SERVO_PLAY] = 0.0;
        fit->estimate.identifiable[SERVO_PLAY] = true;
        fit->estimate.hi[SERVO_PLAY] =
            with_play->x[TERM_PLAY] + estimate_reach(errors.freedom) * se;
    }
    return st;
}

static enum status finish_fit(struct servo_problem *p, struct servo_point *point,
                              const struct servo_point *with_play, struct servo_fit *fit)
{
    struct servo_errors errors;
    enum status st = servo_errors_compute(p, point, &errors);
    if (st != STATUS_OK) {
        return st;
    }
    servo_estimate_set(fit, p->set, point, &errors);
    fit->law = servo_point_law(point);
    fit->law.substep_s = p->substep_s;
    fit->hac_share = errors.share;
    fit->limit = point->free[TERM_SPEED]    ? SERVO_PROFILE
                 : point->free[TERM_TORQUE] ? SERVO_TORQUE_LIMIT
                                            : SERVO_NO_LIMIT;
    if (!point->free[TERM_PLAY] && isfinite(fit->play_chi2)) {
        st = limit_play(p, with_play, fit);
    }
    servo_point_evaluate(p, point);
    describe_check(p, point, &fit->own);
    servo_residuals_describe(p, fit);
    if (st == STATUS_OK &&
        !isfinite(fit->fast_radps)) { /* else the parts differ for that cause */
        st = servo_judge_parts(p, point, fit);
        st = st == STATUS_OK ? servo_judge_times(p, point, fit) : st;
    }
    fit->steps = p->steps;
    return st;
}

/* Positions and the commands at their rows, as one run. */
static bool position_moves(struct servo_problem *p)
{
    const struct servo_set *set = p->set;
    struct data_set rows = {.axes = 1, .run_count = 1};
    double *q = p->spare;
    double *command = p->column[0];
    for (size_t k = 0; k < set->n; k++) {
        if (isfinite(set->position_rad[k])) {
            q[rows.n] = set->position_rad[k] - set->position_rad[0];
            command[rows.n++] = set->command_rad[k];
        }
    }
    rows.run_start[1] = rows.n;
    rows.nu[0] = q;
    rows.tau[0] = command;
    return motion_test_moves(&rows);
}

/* Adds the reasons for which nothing can be fitted. Returns whether there is one. */
static bool refuse_recording(struct servo_problem *p, const struct servo_start *linear,
                             struct servo_fit *fit)
{
    struct estimate *e = &fit->estimate;
    const bool other = linear->scaled_r2 > linear->r2 + OTHER_R2;
    if (!(p->set->range_rad > 0.0)) {
        estimate_reason(e, REASON_POOR_EXCITATION, ESTIMATE_FAIL, "the command never changes");
        estimate_advise(e, "command steps of several sizes, and slow and fast motion");
    } else if (!position_moves(p)) {
        estimate_reason(e, REASON_NO_MOTION, ESTIMATE_FAIL,
                        "nothing moves: the position does not exceed its noise");
        estimate_advise(e, "look whether the servo is on, and whether these are its columns");
    } else if (other && linear->scale < 0.0) {
        estimate_reason(e, REASON_WRONG_COLUMN, ESTIMATE_FAIL,
                        "sign: the position moves against its command");
        estimate_advise(e, "change the sign of one column: position=-NAME");
    } else if (other && fabs(log(linear->scale)) > log(SCALE_WRONG)) {
        estimate_reason(e, REASON_WRONG_UNIT, ESTIMATE_FAIL,
                        "the position moves %.3g times as far as its command: units?",
                        linear->scale);
        estimate_advise(e, "give the units: --columns position=NAME:deg");
    }
    return e->reason_count > 0;
}

static enum status run_fit(struct servo_problem *p, const struct servo_summary *summary,
                           struct servo_fit *fit)
{
    struct servo_start linear;
    struct servo_point points[STARTS_MAX];
    struct servo_point point;
    struct servo_point with_play;
    servo_start_find(p, &linear);
    fit->n = (size_t)p->count;
    fit->runs = p->set->run_count;
    if (refuse_recording(p, &linear, fit)) {
        return STATUS_OK;
    }
    const size_t count = begin_plain(p, &linear, points);
    fit->converged = search_starts(p, points, count, BEST, &point);
    extend_fit(p, &linear, &point, &with_play, fit);
    try_early(p, &point);
    fit->exhausted = servo_problem_is_exhausted(p);
    p->steps_max += p->steps_max / 5; /* errors and parts of a fit that used all */
    const enum status st = finish_fit(p, &point, &with_play, fit);
    fit->iterations = p->iterations;
    if (st == STATUS_OK) {
        servo_judge(fit, p->set, summary);
    }
    return st;
}

void servo_fit_start(struct servo_fit *fit)
{
    static const char *const symbols[SERVO_P] = {"wn", "zeta", "kp", "d",   "g",  "L",
                                                 "b",  "v",    "a",  "g_s", "g_c"};
    *fit = (struct servo_fit){.play_chi2 = NAN, .coloured_ratio = NAN, .fast_radps = NAN};
    estimate_start(&fit->estimate, SERVO_P);
    for (enum servo_parameter i = 0; i < SERVO_P; i++) {
        estimate_name(&fit->estimate, i, servo_parameter_name(i), symbols[i]);
    }
}

enum status servo_fit_run(const struct servo_set *set, const struct servo_summary *summary,
                          struct servo_fit *fit)
{
    assert(set && summary && fit);
    struct servo_fit out;
    struct servo_problem problem;
    servo_fit_start(&out);
    enum status st = servo_problem_init(&problem, set);
    st = st == STATUS_OK ? run_fit(&problem, summary, &out) : st;
    servo_problem_free(&problem);
    if (st == STATUS_OK) {
        *fit = out;
    }
    return st;
}

enum status servo_check_run(const struct servo_set *set, const struct servo_fit *fit,
                            struct servo_check *check)
{
    enum { DELAYS = 9 }; /* odd: the middle one is that of the fit */
    struct servo_problem problem;
    struct servo_point best = {.sse = HUGE_VAL};
    struct servo_law law = fit->law;
    if (!(fit->law.stiffness > 0.0)) {
        return STATUS_E_ARG;
    }
    const enum status st = servo_problem_init(&problem, set);
    if (st != STATUS_OK) {
        return st;
    }
    for (int i = 0; i < DELAYS; i++) {
        const double share = (double)(2 * i + 1 - DELAYS) / (double)(DELAYS - 1);
        law.delay_s = fmax(fit->law.delay_s + share * set->hold_s, fmin(fit->law.delay_s, 0.0));
        const double sse = servo_law_evaluate(&problem, &law);
        if (sse < best.sse) {
            best.sse = sse;
            best.x[TERM_DELAY] = law.delay_s;
        }
    }
    law.delay_s = best.x[TERM_DELAY];
    best.sse = servo_law_evaluate(&problem, &law);
    describe_check(&problem, &best, check);
    servo_problem_free(&problem);
    return STATUS_OK;
}
