#include "twin/report/servo_report.h"

#include "twin/report/fit_report.h"

void servo_report_fit(struct json_writer *w, const struct servo_fit *fit)
{
#define FIT(field) JSON_MEMBER(struct servo_fit, field)
    static const struct json_member found[] = {FIT(n), FIT(runs), FIT(iterations),
                                               FIT(converged), FIT(exhausted)};
    static const struct json_member residuals[] = {FIT(play_chi2), FIT(coloured_ratio),
                                                   FIT(fast_radps)};
    JSON_WRITE(w, JSON("model", "position_servo"), JSON_FIELDS(found, fit),
               JSON("limit", servo_limit_name(fit->limit)));
    estimate_report(w, &fit->estimate);
    json_write_members(w, residuals, COUNT(residuals), fit);
}

void servo_report_check(struct json_writer *w, const struct servo_check *check)
{
#define CHECK(field) JSON_MEMBER(struct servo_check, field)
    static const struct json_member members[] = {CHECK(rmse_rad), CHECK(max_rad), CHECK(r2),
                                                 CHECK(delay_s)};
    JSON_WRITE(w, JSON("n", check->positions), JSON_FIELDS(members, check));
}

void servo_report_summary(struct json_writer *w, const struct servo_summary *summary)
{
#define FIELD(field) JSON_MEMBER(struct servo_summary, field)
    static const struct json_member members[] = {FIELD(rows),
                                                 FIELD(used),
                                                 FIELD(positions),
                                                 FIELD(runs),
                                                 FIELD(incomplete),
                                                 FIELD(duplicates),
                                                 FIELD(back_rows),
                                                 FIELD(gaps),
                                                 FIELD(wraps),
                                                 FIELD(short_rows),
                                                 FIELD(duration_s),
                                                 FIELD(rate_hz),
                                                 FIELD(gap_s_max),
                                                 FIELD(step_rad),
                                                 FIELD(command_min_rad),
                                                 FIELD(command_max_rad),
                                                 FIELD(position_min_rad),
                                                 FIELD(position_max_rad),
                                                 FIELD(stale),
                                                 FIELD(hold_rows)};
    json_write_members(w, members, COUNT(members), summary);
}
