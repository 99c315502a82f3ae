/* twin/pair/pair_forecast.c - forecasts of a pair's laps: made when a command is sent, judged
 * and learned from when its entry is made. docs/forecast.md
 */
#include <math.h>
#include <string.h>

#include "twin/pair/pair_run.h"

void pair_move_sizes(const struct pair_params *p, const struct pair_move *row, double *turn,
                     double *drive)
{
    *turn = fabs(row->rotation_rad);
    *drive = fabs(row->displacement_m);
    if (pair_is_arm(p)) {
        const double time_s = profile_duration_s((double)row->speed, (double)row->acceleration);
        *turn = row->kind == PROFILE_JOINTS ? time_s : 0.0;
        *drive = row->kind == PROFILE_JOINTS ? 0.0 : time_s;
    }
}

bool pair_forecast_sizes(double turn, double drive)
{
    return travel_move_usable(&(struct travel_move){turn, drive, 1.0}) &&
           (fabs(turn) > 0.0 || fabs(drive) > 0.0);
}

void pair_forecast_sent(const struct pair_run *run, struct pair_slot *slot, unsigned sides)
{
    struct pair_move row = {.rotation_rad = slot->rotation_rad,
                            .displacement_m = slot->displacement_m};
    double turn = 0.0;
    double drive = 0.0;
    const bool moves = pair_is_arm(run->p) ? pair_arm_move(run->pair, run->p, slot, &row)
                                           : strcmp(slot->op, "go") == 0;
    if (!moves) {
        return;
    }
    pair_move_sizes(run->p, &row, &turn, &drive);
    if (pair_forecast_sizes(turn, drive)) {
        forecast_predict(&run->pair->forecast, turn, drive, sides, &slot->forecast, NULL);
    }
}

/* Returns how the command ended on a side. A virtual robot that has changed meanwhile was
 * another one. */
static struct forecast_outcome find_outcome(const struct pair *pair,
                                            const struct pair_slot *slot, const struct entry *e,
                                            enum side s)
{
    const bool changed = s == SIDE_VIRTUAL && slot->sent_us[s] < pair->virtual_since_us;
    struct forecast_outcome out = {FORECAST_NOT_ASKED, (double)NAN};
    if (changed || !slot->expected[s]) {
        return out;
    }
    out.end = e->timed_out[s]  ? FORECAST_TIMEOUT
              : e->answered[s] ? (e->status[s] == REPLY_DONE ? FORECAST_DONE : FORECAST_CUT)
                               : FORECAST_NOT_ASKED;
    if (e->answered[s]) {
        out.lap_s = lab_s(e->lap_us[s]);
    }
    return out;
}

bool pair_forecast_learn(const struct pair_run *run, const struct pair_slot *slot,
                         const struct entry *e, struct pair_move *row, unsigned *started)
{
    struct forecast *f = &run->pair->forecast;
    struct forecast_outcome outcome[SIDE_COUNT];
    double lap_s[SIDE_COUNT];
    double turn = 0.0;
    double drive = 0.0;
    *started = 0;
    row->arrival_lap_s[SIDE_REAL] = row->arrival_lap_s[SIDE_VIRTUAL] = nanf("");
    pair_move_sizes(run->p, row, &turn, &drive);
    if (!pair_forecast_sizes(turn, drive) ||
        (!pair_is_arm(run->p) && strcmp(slot->op, "go") != 0)) {
        return false;
    }
    if (e->ambiguous != ENTRY_SURE || e->interrupted_us > 0 || e->uncalibrated[SIDE_REAL] ||
        e->uncalibrated[SIDE_VIRTUAL]) {
        f->left_out++;
        return false;
    }
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        outcome[s] = find_outcome(run->pair, slot, e, s);
    }
    *started = forecast_learn(f, &slot->forecast, turn, drive, outcome, lap_s);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        row->arrival_lap_s[s] = (float)lap_s[s];
    }
    return !isnan(lap_s[SIDE_REAL]) || !isnan(lap_s[SIDE_VIRTUAL]);
}

/* A float holds whole microseconds of a lap up to 16 s. */
static double read_lap(float lap_s)
{
    return isfinite(lap_s) ? lab_s(lab_us((double)lap_s)) : (double)lap_s;
}

size_t pair_forecast_moves(const struct pair *pair, const struct pair_params *p,
                           struct forecast_move moves[PAIR_WINDOW_MAX])
{
    size_t n = 0;
    for (uint32_t k = 0; k < pair->window_count; k++) {
        const struct pair_move *row = &pair->window[(pair->window_first + k) % p->window];
        struct forecast_move *move = &moves[n];
        pair_move_sizes(p, row, &move->turn, &move->drive);
        move->lap_s[SIDE_REAL] = read_lap(row->arrival_lap_s[SIDE_REAL]);
        move->lap_s[SIDE_VIRTUAL] = read_lap(row->arrival_lap_s[SIDE_VIRTUAL]);
        n += !isnan(move->lap_s[SIDE_REAL]) || !isnan(move->lap_s[SIDE_VIRTUAL]);
    }
    return n;
}

size_t pair_recent_lags(const struct pair *pair, const struct pair_params *p,
                        double lags_s[PAIR_LAGS])
{
    size_t n = 0;
    for (uint32_t k = pair->window_count; k > 0 && n < PAIR_LAGS; k--) {
        const struct pair_move *row = &pair->window[(pair->window_first + k - 1) % p->window];
        const double lag_s =
            (double)row->arrival_lap_s[SIDE_REAL] - (double)row->arrival_lap_s[SIDE_VIRTUAL];
        if (isfinite(lag_s)) {
            lags_s[PAIR_LAGS - ++n] = lag_s;
        }
    }
    memmove(lags_s, lags_s + PAIR_LAGS - n, n * sizeof *lags_s);
    return n;
}

void pair_forecast_start(const struct pair_run *run, unsigned sides)
{
    struct forecast_move moves[PAIR_WINDOW_MAX];
    if (sides != 0) {
        const size_t n = pair_forecast_moves(run->pair, run->p, moves);
        forecast_start(&run->pair->forecast, sides, moves, n);
    }
}

static int64_t end_us(double s)
{
    return isfinite(s) ? lab_us(s) : LAB_TIME_NONE;
}

void pair_forecast_fill(const struct pair_slot *slot, struct entry *e)
{
    static const enum forecast_quantity quantities[ENTRY_FORECASTS] = {FORECAST_REAL_LAP,
                                                                       FORECAST_LAG};
    for (size_t i = 0; i < ENTRY_FORECASTS; i++) {
        const struct forecast_interval made =
            forecast_interval(&slot->forecast, quantities[i], FORECAST_95);
        e->forecast[i] = (struct entry_forecast){end_us(made.expected_s), end_us(made.low_s),
                                                 end_us(made.high_s)};
    }
}

/* Finds by how much a term of the virtual robot's laps changes from one acknowledged state to
 * the next; false: it cannot be known, because only one of them is a value. */
static bool find_change(const struct parameter_force *before,
                        const struct parameter_force *after, enum travel_term j, double present,
                        double *change)
{
    const bool rate = j == TRAVEL_INV_W || j == TRAVEL_INV_V;
    const struct parameter_force *const both[2] = {before, after};
    double value[2];
    bool absolute[2];
    for (size_t i = 0; i < 2; i++) {
        const bool applied = both[i]->applied >> j & 1U;
        absolute[i] = applied && !(both[i]->relative >> j & 1U);
        value[i] = applied ? both[i]->sent[j] : rate ? 1.0 : 0.0;
    }
    if (absolute[0] != absolute[1]) {
        return false;
    }
    /* The ratio of two speeds also holds for wheels that slip. */
    *change = rate ? present * (value[0] / value[1] - 1.0) : value[1] - value[0];
    return isfinite(*change);
}

void pair_forecast_change(const struct pair_run *run, const struct parameter_force *before)
{
    struct pair *pair = run->pair;
    double present[TRAVEL_P];
    double change[TRAVEL_P];
    bool known = !pair_is_arm(run->p); /* an arm's laps are not linear in its terms */
    forecast_terms(&pair->forecast, FORECAST_VIRTUAL_LAP, present);
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P && known; j++) {
        known = find_change(before, &pair->force, j, present[j], &change[j]);
    }
    forecast_change_virtual(&pair->forecast, known ? change : NULL);
    for (uint32_t k = 0; k < pair->window_count; k++) {
        pair->window[(pair->window_first + k) % run->p->window].arrival_lap_s[SIDE_VIRTUAL] =
            nanf("");
    }
}
