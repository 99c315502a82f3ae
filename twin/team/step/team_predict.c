#include "twin/team/step/team_predict.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_eigen.h>

#include "base/numbers/constants.h"
#include "twin/team/step/team_memory.h"

/* Duration of one kind of activity of one robot. */
struct team_activity_law {
    enum team_law_kind kind; /* MEASURED, NOMINAL or NONE */
    bool like;               /* MEASURED: it has precedence over the fit */
    uint32_t freedom;        /* degrees of freedom of the deviation; 0: it is known */
    size_t n;                /* number of laps in the mean; 0: it is known */
    double mean_s, sd_s;
};

/* Duration of a robot's moves. */
struct team_move_law {
    bool known, whole; /* whole: covers any move; otherwise ask the fit */
    uint32_t freedom;
    double root[TRAVEL_P][TRAVEL_P]; /* root root' is the covariance of beta */
    double noise_s;
    enum travel_motion motion;
    struct robust_ls_fit ls;
    bool forecasts; /* the forecasts of its pair come first: */
    enum forecast_quantity side;
    struct forecast forecast;
    struct forecast_move past[FORECAST_WINDOW_MAX];
    size_t past_count;
    struct forecast_law law;
    double common_sd;
};

struct team_drawn_robot {
    struct random_source random;
    struct team_pose pose;
    double beta[TRAVEL_P], noise_s;
    double common;               /* error of all moves by forecasts, in spreads */
    struct forecast_ahead ahead; /* without chance: these moves */
};

/* A robot this close (m, rad) needs no command. */
static const double NO_MOVE = 1e-3;

size_t team_legs(struct team_pose *pose, const struct team_position *to,
                 struct team_leg legs[TEAM_LEGS_MAX])
{
    const double dx = to->x_m - pose->x_m;
    const double dy = to->y_m - pose->y_m;
    const double way_m = hypot(dx, dy);
    size_t count = 0;
    if (!(way_m <= NO_MOVE)) {
        const double bearing = atan2(dy, dx);
        legs[count++] =
            (struct team_leg){remainder(bearing - pose->heading_rad, 2.0 * PI), way_m};
        pose->heading_rad = bearing;
    }
    pose->x_m = to->x_m;
    pose->y_m = to->y_m;
    if (!isnan(to->heading_rad)) {
        const double turn_rad = remainder(to->heading_rad - pose->heading_rad, 2.0 * PI);
        if (!(fabs(turn_rad) <= NO_MOVE)) {
            legs[count++] = (struct team_leg){turn_rad, 0.0};
        }
        pose->heading_rad = to->heading_rad;
    }
    return count;
}

/* ---- memory ---- */

/* An upper bound of the kinds of activities. */
static size_t count_steps(const struct team_params *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->step_count; i++) {
        n += team_step_acts(&p->steps[i]);
    }
    return n;
}

static size_t lay_out(const struct team_params *p, char *block, struct team_prediction *tp)
{
    const size_t kinds = count_steps(p);
    const size_t robots = p->robot_count;
    size_t used = 0;
    (void)team_memory_cut(block, &used, sizeof *tp);
    tp->law = team_memory_cut(block, &used, robots * kinds * sizeof *tp->law);
    tp->moves = team_memory_cut(block, &used, robots * sizeof *tp->moves);
    tp->start = team_memory_cut(block, &used, robots * sizeof *tp->start);
    tp->speed = team_memory_cut(block, &used, robots * sizeof *tp->speed);
    tp->activity = team_memory_cut(block, &used, kinds * sizeof *tp->activity);
    tp->to = team_memory_cut(block, &used, robots * kinds * sizeof *tp->to);
    tp->kind_of = team_memory_cut(block, &used, p->step_count * sizeof *tp->kind_of);
    return used;
}

size_t team_prediction_bytes(const struct team_params *p)
{
    struct team_prediction none;
    return lay_out(p, NULL, &none);
}

/* ---- known laws ---- */

static uint16_t find_kind(struct team_prediction *tp, const struct team_step *step)
{
    for (size_t k = 0; k < tp->kind_count; k++) {
        if (tp->activity[k].task == step->task && tp->activity[k].arg == step->arg) {
            return (uint16_t)k;
        }
    }
    tp->activity[tp->kind_count] = (struct team_activity){TEAM_NONE, step->task, step->arg};
    return (uint16_t)tp->kind_count++;
}

static struct team_activity_law *law_of(const struct team_prediction *tp, size_t robot,
                                        size_t kind)
{
    return &tp->law[robot * tp->kind_count + kind];
}

struct team_prediction *team_prediction_init(void *memory, const struct team_params *p)
{
    struct team_prediction *tp = memory;
    *tp = (struct team_prediction){.params = p};
    const size_t bytes = lay_out(p, memory, tp);
    memset((char *)memory + sizeof *tp, 0, bytes - sizeof *tp);
    for (size_t i = 0; i < p->step_count; i++) {
        tp->kind_of[i] = team_step_acts(&p->steps[i]) ? find_kind(tp, &p->steps[i]) : TEAM_NONE;
    }
    for (size_t r = 0; r < p->robot_count; r++) {
        tp->start[r] = (struct team_pose){(double)NAN, (double)NAN, (double)NAN};
        tp->speed[r] = 1.0;
        for (size_t k = 0; k < tp->kind_count; k++) {
            const struct team_activity a = tp->activity[k];
            const struct team_nominal *n = team_nominal(p, (uint16_t)r, a.task, a.arg);
            tp->to[r * tp->kind_count + k] =
                p->tasks[a.task].to_position ? team_position(p, (uint16_t)r, a.arg) : NULL;
            *law_of(tp, r, k) = n ? (struct team_activity_law){.kind = TEAM_LAW_NOMINAL,
                                                               .mean_s = lab_s(n->mean_us),
                                                               .sd_s = lab_s(n->sd_us)}
                                  : (struct team_activity_law){.kind = TEAM_LAW_NONE};
        }
    }
    return tp;
}

size_t team_activity_kind(const struct team_prediction *tp, const struct team_step *step)
{
    return tp->kind_of[step - tp->params->steps];
}

/* Computes a root of the covariance, which may be rank-deficient. */
static enum status find_root(const struct robust_ls_fit *ls, double root[TRAVEL_P][TRAVEL_P])
{
    enum { P = TRAVEL_P };
    double square[P * P];
    double value[P];
    double vector[P * P];
    for (size_t i = 0; i < P * P; i++) {
        square[i] = ls->covariance[i / P][i % P];
        if (!isfinite(square[i])) {
            return STATUS_E_MATH;
        }
    }
    gsl_matrix_view c = gsl_matrix_view_array(square, P, P);
    gsl_vector_view v = gsl_vector_view_array(value, P);
    gsl_matrix_view q = gsl_matrix_view_array(vector, P, P);
    gsl_eigen_symmv_workspace *work = gsl_eigen_symmv_alloc(P);
    if (!work) {
        return STATUS_E_NOMEM;
    }
    const int failed = gsl_eigen_symmv(&c.matrix, &v.vector, &q.matrix, work);
    gsl_eigen_symmv_free(work);
    for (size_t i = 0; i < P * P; i++) {
        root[i / P][i % P] = vector[i] * sqrt(fmax(value[i % P], 0.0));
    }
    return failed ? STATUS_E_MATH : STATUS_OK;
}

/* Returns 0 if the errors are treated as known and need no draw. */
static uint32_t count_freedom(size_t freedom)
{
    return freedom < TEAM_LAW_FREEDOM_KNOWN ? (uint32_t)freedom : 0;
}

enum status team_predict_moves(struct team_prediction *tp, uint16_t robot,
                               const struct travel_fit *fit)
{
    struct team_move_law law = {.known = true, .motion = fit->motion};
    if (fit->n == 0 || fit->freedom < TEAM_LAW_FREEDOM_MIN) {
        return STATUS_E_EMPTY;
    }
    const enum status status = find_root(&fit->ls, law.root);
    if (status != STATUS_OK) {
        return status;
    }
    size_t terms = 0;
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        terms += travel_motion_has(fit->motion, j);
    }
    law.ls = fit->ls;
    law.whole = fit->ls.rank == terms;
    law.freedom = count_freedom(fit->freedom);
    /* RMSE over all moves: late replies that the robust fit rejected are noise of future moves,
     * too. */
    const double all_s = fit->rmse_s * sqrt((double)fit->n / (double)(fit->n - fit->ls.rank));
    law.noise_s = fmax(fit->residual_s_sd, all_s);
    tp->moves[robot] = law;
    return STATUS_OK;
}

void team_predict_forecasts(struct team_prediction *tp, uint16_t robot,
                            const struct forecast_past *past, enum forecast_quantity side)
{
    struct team_move_law *law = &tp->moves[robot];
    law->forecasts = forecast_find_law(past->forecast, side, &law->law);
    law->side = side;
    law->forecast = *past->forecast;
    law->past_count = past->n;
    memcpy(law->past, past->moves, past->n * sizeof *law->past);
}

bool team_predict_finish(struct team_prediction *tp, const struct team_draw *draw)
{
    bool again = false;
    for (size_t r = 0; r < tp->params->robot_count; r++) {
        struct team_move_law *law = &tp->moves[r];
        const struct forecast_past past = {&law->forecast, law->past, law->past_count};
        if (law->forecasts) {
            law->common_sd =
                forecast_common_sd(&past, law->side, &law->law, &draw->robot[r].ahead);
            law->forecasts = !isnan(law->common_sd);
            again = again || !law->forecasts;
        }
    }
    return again;
}

enum status team_predict_measured(struct team_prediction *tp,
                                  const struct team_activity *activity, size_t n, double mean_s,
                                  double sd_s, bool like)
{
    if (n <= TEAM_LAW_FREEDOM_MIN) {
        return STATUS_E_EMPTY;
    }
    if (!(mean_s >= 0.0) || !(sd_s >= 0.0) || !isfinite(mean_s) || !isfinite(sd_s)) {
        return STATUS_E_RANGE;
    }
    for (size_t k = 0; k < tp->kind_count; k++) {
        if (tp->activity[k].task == activity->task && tp->activity[k].arg == activity->arg) {
            *law_of(tp, activity->robot, k) =
                (struct team_activity_law){.kind = TEAM_LAW_MEASURED,
                                           .like = like,
                                           .freedom = count_freedom(n - 1),
                                           .n = n,
                                           .mean_s = mean_s,
                                           .sd_s = sd_s};
            return STATUS_OK;
        }
    }
    return STATUS_E_RANGE;
}

void team_predict_pose(struct team_prediction *tp, uint16_t robot, const struct team_pose *at)
{
    tp->start[robot] = *at;
}

void team_predict_speed(struct team_prediction *tp, uint16_t robot, double ratio)
{
    assert(ratio > 0.0);
    tp->speed[robot] = ratio;
}

/* ---- draws ---- */

static size_t lay_out_draw(size_t robots, size_t kinds, void *block, struct team_draw *d)
{
    size_t used = 0;
    (void)team_memory_cut(block, &used, sizeof *d);
    d->robot = team_memory_cut(block, &used, robots * sizeof *d->robot);
    d->laps = team_memory_cut(block, &used, robots * kinds * sizeof *d->laps);
    return used;
}

size_t team_draw_bytes(const struct team_params *p)
{
    struct team_draw none;
    return lay_out_draw(p->robot_count, count_steps(p), NULL, &none);
}

struct team_draw *team_draw_init(void *memory, const struct team_prediction *tp)
{
    struct team_draw *d = memory;
    *d = (struct team_draw){.tp = tp};
    (void)lay_out_draw(tp->params->robot_count, tp->kind_count, memory, d);
    return d;
}

/* Draws the ratio S / s, which scales both the parameters' and the noise's deviation. */
static double draw_scale(struct random_source *random, uint32_t freedom)
{
    return freedom == 0 ? 1.0 : sqrt((double)freedom / random_chi_square(random, freedom));
}

static void draw_moves(struct team_drawn_robot *robot, const struct team_move_law *law)
{
    const double scale = draw_scale(&robot->random, law->freedom);
    double z[TRAVEL_P];
    for (size_t k = 0; k < TRAVEL_P; k++) {
        z[k] = scale * random_normal(&robot->random);
    }
    for (size_t j = 0; j < TRAVEL_P; j++) {
        robot->beta[j] = law->ls.beta[j];
        for (size_t k = 0; k < TRAVEL_P; k++) {
            robot->beta[j] += law->root[j][k] * z[k];
        }
    }
    robot->noise_s = scale * law->noise_s;
}

static struct team_drawn_lap draw_mean(struct random_source *random,
                                       const struct team_activity_law *law)
{
    if (law->n == 0) {
        return (struct team_drawn_lap){.mean_s = law->mean_s, .sd_s = law->sd_s};
    }
    const double sd_s = draw_scale(random, law->freedom) * law->sd_s;
    const double error_s = sd_s / sqrt((double)law->n);
    return (struct team_drawn_lap){.mean_s = law->mean_s + error_s * random_normal(random),
                                   .sd_s = sd_s};
}

void team_draw_begin(struct team_draw *d, uint64_t seed, uint64_t run)
{
    const struct team_prediction *tp = d->tp;
    d->expect = d->guessed = false;
    d->unknown.robot = TEAM_NONE;
    for (size_t r = 0; r < tp->params->robot_count; r++) {
        struct team_drawn_robot *robot = &d->robot[r];
        robot->random = random_stream(seed, run * TEAM_ROBOTS_MAX + r);
        robot->pose = tp->start[r];
        if (tp->moves[r].known) {
            draw_moves(robot, &tp->moves[r]);
        }
        if (tp->moves[r].forecasts) {
            robot->common = tp->moves[r].common_sd * random_normal(&robot->random);
        }
        for (size_t k = 0; k < tp->kind_count; k++) {
            d->laps[r * tp->kind_count + k] = draw_mean(&robot->random, law_of(tp, r, k));
        }
    }
}

void team_draw_expect(struct team_draw *d)
{
    const struct team_prediction *tp = d->tp;
    d->expect = true;
    d->guessed = false;
    d->unknown.robot = TEAM_NONE;
    for (size_t r = 0; r < tp->params->robot_count; r++) {
        struct team_drawn_robot *robot = &d->robot[r];
        *robot = (struct team_drawn_robot){.pose = tp->start[r]};
        memcpy(robot->beta, tp->moves[r].ls.beta, sizeof robot->beta);
        for (size_t k = 0; k < tp->kind_count; k++) {
            d->laps[r * tp->kind_count + k] =
                (struct team_drawn_lap){.mean_s = law_of(tp, r, k)->mean_s};
        }
    }
}

static bool are_known(const struct team_leg *legs, size_t count)
{
    bool known = true;
    for (size_t i = 0; i < count; i++) {
        known = known && !isnan(legs[i].rotation_rad) && !isnan(legs[i].displacement_m);
    }
    return known;
}

/* Predicts the legs together, without noise; NAN: the fit does not cover them. */
static double expect_legs(const struct team_draw *d, size_t r, const struct team_leg *legs,
                          size_t count)
{
    const struct team_move_law *law = &d->tp->moves[r];
    double lap_s = 0.0;
    for (size_t i = 0; i < count; i++) {
        double row[TRAVEL_P];
        travel_motion_row(law->motion, legs[i].rotation_rad, legs[i].displacement_m, row);
        if (!law->whole && !robust_ls_estimable(&law->ls, row)) {
            return (double)NAN;
        }
        row[TRAVEL_INV_W] /= d->tp->speed[r];
        row[TRAVEL_INV_V] /= d->tp->speed[r];
        for (size_t j = 0; j < TRAVEL_P; j++) {
            lap_s += row[j] * d->robot[r].beta[j];
        }
    }
    return lap_s;
}

/* Draws the legs by the pair's forecasts; without chance it counts them. NAN: the forecasts do
 * not cover them. */
static double draw_by_forecasts(const struct team_draw *d, size_t r,
                                const struct team_leg *legs, size_t count)
{
    const struct forecast_law *law = &d->tp->moves[r].law;
    struct team_drawn_robot *robot = &d->robot[r];
    double rows[TEAM_LEGS_MAX][TRAVEL_P];
    double spread_s[TEAM_LEGS_MAX];
    double lap_s = 0.0;
    for (size_t i = 0; i < count; i++) {
        travel_row(legs[i].rotation_rad, legs[i].displacement_m, rows[i]);
        rows[i][TRAVEL_INV_W] /= d->tp->speed[r];
        rows[i][TRAVEL_INV_V] /= d->tp->speed[r];
        lap_s += forecast_law_lap(law, rows[i], &spread_s[i]);
    }
    for (size_t i = 0; i < count && i < TEAM_LEGS_MAX && !isnan(lap_s); i++) {
        if (d->expect) {
            forecast_add_ahead(&robot->ahead, rows[i], spread_s[i]);
        } else {
            const double at = random_between(&robot->random, 0.0, (double)law->count);
            lap_s += spread_s[i] * (law->score[(size_t)at] + robot->common);
        }
    }
    return lap_s;
}

/* No law has the duration: the run without chance goes on with one second, to find all of
 * these, and others end. */
static bool mark_unknown(struct team_draw *d, const struct team_effect *start,
                         struct team_drawn_lap *drawn)
{
    drawn->unknown = true;
    if (d->unknown.robot == TEAM_NONE) {
        d->unknown = (struct team_activity){start->robot, start->step->task, start->step->arg};
    }
    return d->expect;
}

bool team_draw_lap(void *context, const struct team_effect *start, struct team_lap *lap)
{
    struct team_draw *d = context;
    const struct team_prediction *tp = d->tp;
    const size_t r = start->robot;
    const size_t k = team_activity_kind(tp, start->step);
    struct team_drawn_robot *robot = &d->robot[r];
    struct team_drawn_lap law = d->laps[r * tp->kind_count + k];
    struct team_leg legs[TEAM_LEGS_MAX];
    const bool moves = tp->params->tasks[start->step->task].to_position;
    const struct team_position *to = tp->to[r * tp->kind_count + k];
    const size_t leg_count = to ? team_legs(&robot->pose, to, legs) : 0;
    const bool like = law_of(tp, r, k)->kind == TEAM_LAW_MEASURED && law_of(tp, r, k)->like;
    d->law = law_of(tp, r, k)->kind;
    if (!like && to && are_known(legs, leg_count)) {
        const struct team_move_law *m = &tp->moves[r];
        struct team_drawn_lap fitted = {.mean_s = (double)NAN};
        if (m->forecasts) {
            fitted.mean_s = draw_by_forecasts(d, r, legs, leg_count);
        }
        if (isnan(fitted.mean_s) && m->known) {
            fitted = (struct team_drawn_lap){.mean_s = expect_legs(d, r, legs, leg_count),
                                             .sd_s = robot->noise_s * sqrt((double)leg_count)};
        }
        if (!isnan(fitted.mean_s)) {
            d->law = TEAM_LAW_FITTED;
            law = fitted;
        }
    }
    if (moves && d->law != TEAM_LAW_FITTED) {
        law.mean_s /= tp->speed[r];
        law.sd_s /= tp->speed[r];
    }
    if (d->law == TEAM_LAW_NONE) {
        law.mean_s = 1.0;
        if (!mark_unknown(d, start, &d->laps[r * tp->kind_count + k])) {
            return false;
        }
    }
    d->guessed = d->guessed || d->law == TEAM_LAW_NOMINAL;
    const double noise_s = d->expect ? 0.0 : law.sd_s * random_normal(&robot->random);
    d->lap_us = lab_us(fmax(law.mean_s + noise_s, 0.0));
    *lap = (struct team_lap){.answers = true, .lap_us = d->lap_us};
    return true;
}

ENUM_NAMES(team_law_kind, TEAM_LAW_COUNT, TEAM_LAWS(NAMES_TEXT));
