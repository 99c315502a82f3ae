#include "identification/travel/profile_fit.h"

#include <math.h>

/* A larger number is a fault, not a move. */
static const double RATE_MAX = 1e6;
static const double LAP_S_MAX = 1e9;

ENUM_NAMES(profile_term, PROFILE_P, "joint_t0_s", "joint_speed_ratio",
           "joint_acceleration_ratio", "line_t0_s", "line_speed_ratio",
           "line_acceleration_ratio");

double profile_duration_s(double speed, double acceleration)
{
    return speed * speed < acceleration ? 1.0 / speed + speed / acceleration
                                        : 2.0 / sqrt(acceleration);
}

bool profile_move_usable(const struct profile_move *move)
{
    return move->speed > 0.0 && move->speed < RATE_MAX && move->acceleration > 0.0 &&
           move->acceleration < RATE_MAX && move->lap_s > 0.0 && move->lap_s <= LAP_S_MAX;
}

void profile_fit_start(struct profile_fit *fit)
{
    static const char *const symbols[PROFILE_P] = {"t0", "sv", "sa", "l0", "lv", "la"};
    *fit = (struct profile_fit){.method = TRAVEL_OLS};
    estimate_start(&fit->estimate, PROFILE_P);
    for (size_t j = 0; j < PROFILE_P; j++) {
        estimate_name(&fit->estimate, j, profile_term_name((enum profile_term)j), symbols[j]);
    }
    for (size_t k = 0; k < PROFILE_CLASSES; k++) {
        fit->law[k].residual_s_sd = (double)NAN;
    }
    fit->residual_s_sd = fit->rmse_s = fit->r2 = (double)NAN;
}

double profile_lap_s(const double q[PROFILE_TERMS], const struct profile_move *move,
                     double row[PROFILE_TERMS])
{
    const double v = move->speed * exp(q[PROFILE_SPEED]);
    const double a = move->acceleration * exp(q[PROFILE_ACCELERATION]);
    const bool full = v * v < a;
    row[PROFILE_T0] = 1.0;
    row[PROFILE_SPEED] = full ? v / a - 1.0 / v : 0.0;
    row[PROFILE_ACCELERATION] = full ? -v / a : -1.0 / sqrt(a);
    return q[PROFILE_T0] + profile_duration_s(v, a);
}

double profile_time_predict(const struct profile_fit *fit, const struct profile_move *move)
{
    double row[PROFILE_TERMS];
    const struct profile_law *law = &fit->law[move->kind];
    const double lap_s = profile_lap_s(law->q, move, row);
    return law->slopes.p > 0 && robust_ls_estimable(&law->slopes, row) ? lap_s : (double)NAN;
}
