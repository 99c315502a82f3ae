#include "twin/report/arm_report.h"

#include "twin/report/fit_report.h"

/* ---- friction ---- */

static void write_check(struct json_writer *w, const char *key,
                        const struct arm_friction_check *check, bool known)
{
    JSON_WRITE(w, JSON_KNOWN(key, known, JSON_OF(check, n, rmse_a, r2)));
}

static void write_joint(struct json_writer *w, const struct arm_friction_fit *fit,
                        const struct reference_check *checks, size_t j)
{
    const struct arm_friction_joint *joint = &fit->joint[j];
    const size_t at = joint->missing.joint < ARM_JOINTS ? joint->missing.joint : j;
    json_write_object(w, NULL);
    json_write_int(w, "joint", (int64_t)j + 1);
    estimate_report(w, &joint->estimate);
    JSON_WRITE(
        w, JSON_OF(joint, speed_max_radps, current_max_a, rate_ratio, rate_r2, residual_rho));
    write_check(w, "fit", &joint->own, true);
    write_check(w, "held_out", &joint->held_out, fit->is_held_out);
    JSON_WRITE(w, JSON_KNOWN("missing", joint->missing.term != NULL,
                             JSON("term", joint->missing.term), JSON_WHOLE("joint", at + 1),
                             JSON("share", joint->missing.share)));
    reference_report(w, &joint->estimate, &checks[j].values,
                     checks[j].given ? &checks[j].comparison : NULL);
    json_write_close(w);
}

static void write_values(struct json_writer *w, const char *key,
                         const struct arm_friction_fit *fit, bool errors)
{
    json_write_object(w, key);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const struct estimate *e = &fit->joint[j].estimate;
        for (size_t i = 0; i < e->p; i++) {
            json_write_real(w, e->name[i], errors ? e->se[i] : e->value[i]);
        }
    }
    json_write_close(w);
}

static void write_intervals(struct json_writer *w, const struct arm_friction_fit *fit)
{
    json_write_object(w, "ci95");
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const struct estimate *e = &fit->joint[j].estimate;
        for (size_t i = 0; i < e->p; i++) {
            json_write_two(w, e->name[i], e->lo[i], e->hi[i]);
        }
    }
    json_write_close(w);
}

/* Writes which values are compared, and the result for all of them together. */
static void write_comparison(struct json_writer *w, const struct arm_friction_fit *fit,
                             const struct reference_check *checks,
                             const struct reference_comparison *whole)
{
    if (!json_write_known(w, "comparison", checks[0].given)) {
        return;
    }
    json_write_array(w, "contradicted");
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        for (size_t i = 0; i < fit->joint[j].estimate.p; i++) {
            if (checks[j].comparison.contradicted[i]) {
                json_write_text(w, NULL, fit->joint[j].estimate.name[i]);
            }
        }
    }
    json_write_close(w);
    JSON_WRITE(w, JSON("chi_squared", whole->statistic), JSON_OF(whole, df, p, contradicts));
    json_write_close(w);
}

void arm_report_friction(struct json_writer *w, const struct arm_friction_fit *fit,
                         const struct reference_check *checks,
                         const struct reference_comparison *whole)
{
    json_write_text(w, "model", "arm_friction");
    json_write_array(w, "parameters");
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        for (size_t i = 0; i < fit->joint[j].estimate.p; i++) {
            json_write_text(w, NULL, fit->joint[j].estimate.name[i]);
        }
    }
    json_write_close(w);
    write_values(w, "values", fit, false);
    write_values(w, "se", fit, true);
    write_intervals(w, fit);
    estimate_report_verdict(w, &fit->whole);
    write_comparison(w, fit, checks, whole);
    json_write_array(w, "joints");
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        write_joint(w, fit, checks, j);
    }
    json_write_close(w);
}

void arm_report_friction_summary(struct json_writer *w,
                                 const struct arm_friction_summary *summary)
{
    JSON_WRITE(w, JSON_OF(summary, rows, used, incomplete, back_rows, gaps, short_rows, runs,
                          duration_s, rate_hz, uneven_ratio));
}

/* ---- kinematics ---- */

static void write_distances(struct json_writer *w, const char *key,
                            const struct arm_kinematics_check *check, bool known)
{
    JSON_WRITE(
        w, JSON_KNOWN(key, known, JSON_OF(check, n, mean_m, rms_m, max_m, rms_rad, max_rad)));
}

void arm_report_kinematics(struct json_writer *w, const struct arm_kinematics_fit *fit)
{
    const bool known = fit->converged;
    json_write_text(w, "model", "arm_kinematics");
    JSON_WRITE(w, JSON_OF(fit, n, outliers, iterations, converged));
    estimate_report(w, &fit->estimate);
    if (known) {
        JSON_WRITE(w, JSON_OF(fit, noise_m, noise_rad, tool_se_m, room_se_m, neighbour_rho));
    }
    json_write_array(w, "corrections");
    for (size_t i = 0; i < ARM_JOINTS && known; i++) {
        json_write_numbers(w, NULL, &fit->correction[6 * i], 6);
    }
    json_write_close(w);
    write_distances(w, "nominal", &fit->nominal, true);
    write_distances(w, "fit", &fit->own, known);
    write_distances(w, "crossed", &fit->crossed, known);
    write_distances(w, "held_out", &fit->held_out, fit->is_held_out && known);
}
