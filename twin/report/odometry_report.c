#include "twin/report/odometry_report.h"

#include "twin/report/estimate_report.h"

void odometry_report_fit(struct json_writer *w, const struct odometry_fit *fit)
{
    json_write_text(w, "model", "odometry");
    json_write_int(w, "n", (int64_t)fit->n);
    json_write_int(w, "outliers", (int64_t)fit->outliers);
    json_write_int(w, "runs", (int64_t)fit->runs);
    json_write_int(w, "iterations", (int64_t)fit->iterations);
    json_write_bool(w, "converged", fit->converged);
    estimate_report(w, &fit->estimate);
    json_write_real(w, "noise_m", fit->noise_m);
    json_write_real(w, "noise_rad", fit->noise_rad);
    json_write_real(w, "slip_m", fit->slip_m);
    json_write_real(w, "slip_rad", fit->slip_rad);
}

void odometry_report_check(struct json_writer *w, const struct odometry_check *check)
{
    json_write_int(w, "n", (int64_t)check->poses);
    json_write_real(w, "position_rmse_m", check->position_rmse_m);
    json_write_real(w, "position_max_m", check->position_max_m);
    json_write_real(w, "heading_rmse_rad", check->heading_rmse_rad);
    json_write_real(w, "position_r2", check->position_r2);
    json_write_real(w, "heading_r2", check->heading_r2);
    json_write_real(w, "path_m", check->path_m);
}

void odometry_report_card(struct json_writer *w, const struct odometry_card *card)
{
    json_write_int(w, "rows", (int64_t)card->rows);
    json_write_int(w, "used", (int64_t)card->used);
    json_write_int(w, "poses", (int64_t)card->poses);
    json_write_int(w, "runs", (int64_t)card->runs);
    json_write_int(w, "incomplete", (int64_t)card->incomplete);
    json_write_int(w, "held", (int64_t)card->held);
    json_write_int(w, "pose_missing", (int64_t)card->pose_missing);
    json_write_int(w, "stale", (int64_t)card->stale);
    json_write_int(w, "duplicates", (int64_t)card->duplicates);
    json_write_int(w, "back_steps", (int64_t)card->back_steps);
    json_write_int(w, "back_rows", (int64_t)card->back_rows);
    json_write_int(w, "gaps", (int64_t)card->gaps);
    json_write_int(w, "cuts", (int64_t)card->cuts);
    json_write_int(w, "wheel_jumps", (int64_t)card->wheel_jumps);
    json_write_int(w, "short_rows", (int64_t)card->short_rows);
    json_write_real(w, "duration_s", card->duration_s);
    json_write_real(w, "rate_hz", card->rate_hz);
    json_write_real(w, "gap_s_max", card->gap_s_max);
    json_write_real(w, "turn_left_rad", card->turn_left_rad);
    json_write_real(w, "turn_right_rad", card->turn_right_rad);
}
