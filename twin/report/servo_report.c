#include "twin/report/servo_report.h"

#include "twin/report/fit_report.h"

void servo_report_fit(struct json_writer *w, const struct servo_fit *fit)
{
    JSON_WRITE(w, JSON("model", "position_servo"),
               JSON_OF(fit, n, runs, iterations, converged, exhausted),
               JSON("limit", servo_limit_name(fit->limit)));
    estimate_report(w, &fit->estimate);
    JSON_WRITE(w, JSON_OF(fit, play_chi2, coloured_ratio, fast_radps));
}

void servo_report_check(struct json_writer *w, const struct servo_check *check)
{
    JSON_WRITE(w, JSON("n", check->positions), JSON_OF(check, rmse_rad, max_rad, r2, delay_s));
}

void servo_report_summary(struct json_writer *w, const char *key,
                          const struct servo_summary *summary)
{
    JSON_WRITE_OBJECT(w, key,
                      JSON_OF(summary, rows, used, positions, runs, incomplete, duplicates,
                              back_rows, gaps, wraps, short_rows, duration_s, rate_hz),
                      JSON_OF(summary, gap_s_max, step_rad, command_min_rad, command_max_rad,
                              position_min_rad, position_max_rad, stale, hold_rows));
}
