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
    JSON_OPEN(w, NULL, JSON_WHOLE("joint", (int64_t)j + 1));
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
    JSON_MAP(w, key, size_t j = 0; j < ARM_JOINTS; j++) {
        const struct estimate *e = &fit->joint[j].estimate;
        for (size_t i = 0; i < e->p; i++) {
            json_write_real(w, e->name[i], errors ? e->se[i] : e->value[i]);
        }
    }
}

static void write_intervals(struct json_writer *w, const struct arm_friction_fit *fit)
{
    JSON_MAP(w, "ci95", size_t j = 0; j < ARM_JOINTS; j++) {
        const struct estimate *e = &fit->joint[j].estimate;
        for (size_t i = 0; i < e->p; i++) {
            json_write_two(w, e->name[i], e->lo[i], e->hi[i]);
        }
    }
}

/* Writes which values are compared, and the result for all of them together. */
static void write_comparison(struct json_writer *w, const struct arm_friction_fit *fit,
                             const struct reference_check *checks,
                             const struct reference_comparison *whole)
{
    JSON_BLOCK(w, "comparison", checks[0].given) {
        JSON_LIST(w, "contradicted", size_t j = 0; j < ARM_JOINTS; j++) {
            for (size_t i = 0; i < fit->joint[j].estimate.p; i++) {
                if (checks[j].comparison.contradicted[i]) {
                    json_write_text(w, NULL, fit->joint[j].estimate.name[i]);
                }
            }
        }
        JSON_WRITE(w, JSON("chi_squared", whole->statistic),
                   JSON_OF(whole, df, p, contradicts));
    }
}

void arm_report_friction(struct json_writer *w, const struct arm_friction_fit *fit,
                         const struct reference_check *checks,
                         const struct reference_comparison *whole)
{
    json_write_text(w, "model", "arm_friction");
    JSON_LIST(w, "parameters", size_t j = 0; j < ARM_JOINTS; j++) {
        for (size_t i = 0; i < fit->joint[j].estimate.p; i++) {
            json_write_text(w, NULL, fit->joint[j].estimate.name[i]);
        }
    }
    write_values(w, "values", fit, false);
    write_values(w, "se", fit, true);
    write_intervals(w, fit);
    estimate_report_verdict(w, &fit->whole);
    write_comparison(w, fit, checks, whole);
    JSON_LIST(w, "joints", size_t j = 0; j < ARM_JOINTS; j++) {
        write_joint(w, fit, checks, j);
    }
}

void arm_report_friction_summary(struct json_writer *w, const char *key,
                                 const struct arm_friction_summary *summary)
{
    JSON_WRITE(w, JSON_KNOWN(key, summary,
                             JSON_OF(summary, rows, used, incomplete, back_rows, gaps,
                                     short_rows, runs, duration_s, rate_hz, uneven_ratio)));
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
    JSON_WRITE(w, JSON("model", "arm_kinematics"),
               JSON_OF(fit, n, outliers, iterations, converged));
    estimate_report(w, &fit->estimate);
    if (known) {
        JSON_WRITE(w, JSON_OF(fit, noise_m, noise_rad, tool_se_m, room_se_m, neighbour_rho));
    }
    JSON_LIST(w, "corrections", size_t i = 0; i < ARM_JOINTS && known; i++) {
        json_write_numbers(w, NULL, &fit->correction[6 * i], 6);
    }
    write_distances(w, "nominal", &fit->nominal, true);
    write_distances(w, "fit", &fit->own, known);
    write_distances(w, "crossed", &fit->crossed, known);
    write_distances(w, "held_out", &fit->held_out, fit->is_held_out && known);
}
