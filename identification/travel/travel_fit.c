#include "identification/travel/travel_fit.h"

#include <math.h>

#include "identification/travel/travel_resolution.h"

/* A larger number is a fault, not a move. These limits also prevent an overflow of squares. */
static const double ROTATION_RAD_MAX = 1e6;
static const double DISPLACEMENT_M_MAX = 1e9;
static const double LAP_S_MAX = 1e9;

void travel_row(double rotation_rad, double displacement_m, double row[TRAVEL_P])
{
    const double a = fabs(rotation_rad);
    const double r = fabs(displacement_m);
    const bool turns = a > TRAVEL_NO_MOVE;
    const bool drives = r > TRAVEL_NO_MOVE;
    row[TRAVEL_T0] = 1.0;
    row[TRAVEL_TA] = turns ? 1.0 : 0.0;
    row[TRAVEL_TR] = drives ? 1.0 : 0.0;
    row[TRAVEL_INV_W] = turns ? a : 0.0;
    row[TRAVEL_INV_V] = drives ? r : 0.0;
}

bool travel_motion_has(enum travel_motion motion, enum travel_term term)
{
    switch (motion) {
    case TRAVEL_TURNS:
        return term == TRAVEL_T0 || term == TRAVEL_INV_W;
    case TRAVEL_DRIVES:
        return term == TRAVEL_T0 || term == TRAVEL_INV_V;
    case TRAVEL_TURNS_AND_DRIVES:
    default:
        return true;
    }
}

void travel_motion_row(enum travel_motion motion, double rotation_rad, double displacement_m,
                       double row[TRAVEL_P])
{
    travel_row(rotation_rad, displacement_m, row);
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        row[j] = travel_motion_has(motion, j) ? row[j] : 0.0;
    }
}

void travel_fit_row(const struct travel_fit *fit, const struct travel_move *move,
                    double row[TRAVEL_P])
{
    const bool turns = fabs(move->rotation_rad) > fit->least_rad;
    const bool drives = fabs(move->displacement_m) > fit->least_m;
    travel_motion_row(fit->motion, turns ? move->rotation_rad : 0.0,
                      drives ? move->displacement_m : 0.0, row);
}

void travel_fit_start(struct travel_fit *fit, enum travel_motion motion)
{
    static const char *const symbols[TRAVEL_P] = {"t0", "ta", "tr", "w", "v"};
    *fit = (struct travel_fit){
        .motion = motion,
        .least_rad = TRAVEL_NO_MOVE,
        .least_m = TRAVEL_NO_MOVE,
        .not_excluded = {.effect = TRAVEL_EFFECTS, .lap_s = NAN, .lap_ratio = NAN}};
    estimate_start(&fit->estimate, TRAVEL_P);
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        estimate_name(&fit->estimate, j, travel_term_name(j), symbols[j]);
        fit->beta[j] = fit->beta_se[j] = fit->beta_lo[j] = fit->beta_hi[j] = (double)NAN;
    }
    fit->residual_s_sd = fit->rmse_s = fit->r2 = (double)NAN;
    fit->residual_s_p05 = fit->residual_s_p95 = (double)NAN;
}

bool travel_move_usable(const struct travel_move *move)
{
    return fabs(move->rotation_rad) <= ROTATION_RAD_MAX &&
           fabs(move->displacement_m) <= DISPLACEMENT_M_MAX && move->lap_s > 0.0 &&
           move->lap_s <= LAP_S_MAX;
}

ENUM_NAMES(travel_method, TRAVEL_METHOD_COUNT, "ols", "huber", "tukey", "auto");

ENUM_NAMES(travel_effect, TRAVEL_EFFECTS, "short_turns", "short_turns", "short_drives",
           "short_drives", "laps_with_time", "turns_with_time", "drives_with_time");

ENUM_NAMES(travel_term, TRAVEL_P, "t0_s", "ta_s", "tr_s", "angular_speed_radps",
           "linear_speed_mps");
