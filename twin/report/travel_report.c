#include "twin/report/travel_report.h"

#include "twin/report/estimate_report.h"

void travel_report_members(struct json_writer *w, const struct travel_fit *fit)
{
    json_write_int(w, "n", (int64_t)fit->n);
    json_write_text(w, "method", travel_method_name(fit->method));
    estimate_report(w, &fit->estimate);
    json_write_real(w, "rmse_s", fit->rmse_s);
    json_write_real(w, "r2", fit->r2);
    json_write_real(w, "residual_s_sd", fit->residual_s_sd);
    json_write_int(w, "outliers", (int64_t)fit->outliers);
    json_write_int(w, "refused", (int64_t)fit->refused);
}

void travel_report_write(struct json_writer *w, const char *key, const struct travel_fit *fit)
{
    json_write_object(w, key);
    travel_report_members(w, fit);
    json_write_close(w);
}
