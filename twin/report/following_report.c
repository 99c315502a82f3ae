#include "twin/report/following_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "identification/model/model.h"

/* Axis "u_mps" is state "u". */
void following_state_name(const struct model *model, size_t i, char out[32])
{
    const struct model_axis *axis = &model->axes[i % model->axis_count];
    const char *text = i < model->axis_count       ? axis->velocity
                       : i < 2 * model->axis_count ? axis->pose
                                                   : model->heading;
    (void)snprintf(out, 32, "%.*s", (int)strcspn(text, "_"), text);
}

static void write_parameters(struct json_writer *w, const struct pair_following *x)
{
    const struct model *model = pair_following_model(x);
    JSON_MAP(w, "parameters", enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (!json_write_known(w, side_name(s), x->known.side[s].source != FOLLOWING_NOWHERE)) {
            continue;
        }
        json_write_text(w, "source",
                        following_source_name((enum following_source)x->known.side[s].source));
        JSON_MAP(w, "values", size_t k = 0; k < model->parameter_count; k++) {
            json_write_real(w, model->parameters[k].name, x->known.side[s].theta[k]);
        }
        json_write_close(w);
    }
}

static void write_motion(struct json_writer *w, const struct pair_following *x)
{
    const struct model *model = pair_following_model(x);
    const struct follower_output *out = &x->f.output;
    JSON_MAP(w, "now", size_t i = 0; i < model->axis_count; i++) {
        JSON_WRITE_OBJECT(
            w, model->axes[i].velocity, JSON("reference", x->f.target.nu[i]),
            JSON("actual", x->f.driving ? x->f.target.nu[i] - out->error[i] : nan("")),
            JSON("error", x->f.driving ? out->error[i] : nan("")));
    }
    JSON_MAP(w, "efforts", size_t i = 0; i < model->axis_count; i++) {
        JSON_WRITE_OBJECT(w, model->axes[i].effort, JSON("sent", out->tau[i]),
                          JSON("unmatched", out->unmatched[i]),
                          JSON("disturbance", out->disturbance[i]));
    }
    JSON_WRITE(w, JSON("saturated", out->saturated), JSON("latency_s", x->f.real.latency_s));
}

void following_report_frame(struct json_writer *w, const char *key,
                            const struct pair_following *x)
{
    const bool known = x && x->f.aligned && following_in_plane(pair_following_model(x));
    JSON_WRITE(w, JSON_KNOWN(key, known, JSON_SECONDS("since_t", x->f.aligned_us),
                             JSON("x_m", x->f.frame[0]), JSON("y_m", x->f.frame[1]),
                             JSON("yaw_rad", x->f.frame[2])));
}

void following_report(struct json_writer *w, const char *key, const struct pair_following *x,
                      const struct pair_params *p)
{
    char hash[24];
    struct following_params setup;
    const struct follower_gains *const g = &setup.follower.gains;
    JSON_BLOCK(w, key, x != NULL) {
        pair_following_setup(x, p->following, &setup);
        (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)x->hash);
        JSON_WRITE(w, JSON("model", pair_following_model(x)->name), JSON("active", x->asked),
                   JSON("state", efsm_state_name(&following_table, x->f.machine.state)),
                   JSON("obstacle", x->obstacle[0] ? x->obstacle : NULL),
                   JSON("period_s", 1.0 / p->following->rate_hz),
                   JSON("method", shadow_method_name((enum shadow_method)p->following->method)),
                   JSON_OBJECT("gains", JSON("bandwidth_radps", g->bandwidth_radps[0]),
                               JSON("rejection", follower_rejection_name(g->rejection)),
                               JSON("observer_radps", g->observer_radps),
                               JSON("pose_per_s2", g->pose_per_s2),
                               JSON("blend_s", g->blend_s)));
        write_parameters(w, x);
        write_motion(w, x);
        JSON_WRITE(
            w, JSON("sent", x->sent), JSON("efforts_hash", hash),
            JSON_OBJECT("counts", JSON("periods", x->f.periods), JSON("held", x->f.held),
                        JSON_OF(x, stale, lost, resumed, missed)),
            JSON_OBJECT("telemetry", JSON_COUNTS("real", &shadow_gate_names, x->f.real.count),
                        JSON_COUNTS("virtual", &shadow_gate_names, x->f.simulated.count)));
    }
}

void fidelity_report_read(const struct pair_following *x, const struct pair_params *p,
                          struct fidelity_report *out)
{
    struct following_params setup;
    pair_following_setup(x, p->following, &setup);
    fidelity_read(&x->f.fidelity, &setup.fidelity, x->stepped_us, out);
}

void fidelity_report_write(struct json_writer *w, const char *key,
                           const struct pair_following *x, const struct pair_params *p)
{
    struct fidelity_report r;
    JSON_BLOCK(w, key, x != NULL) {
        const struct model *model = pair_following_model(x);
        const struct pair_following_params *const target = p->following;
        fidelity_report_read(x, p, &r);
        JSON_WRITE(w, JSON_SECONDS("t", x->stepped_us),
                   JSON_SECONDS("window_s", target->window_us), JSON("samples", r.n),
                   JSON("unpaired", x->f.fidelity.unpaired));
        JSON_MAP(w, "states", size_t i = 0; i < r.states; i++) {
            char name[32];
            following_state_name(model, i, name);
            JSON_WRITE_OBJECT(w, name, JSON("rmse", r.rmse[i]), JSON("mae", r.mae[i]),
                              JSON("r2", r.r2[i]));
        }
        JSON_WRITE(w,
                   JSON_IF(model->joints, JSON_OBJECT("tool", JSON("rmse_m", r.tool_rmse_m),
                                                      JSON("max_m", r.tool_max_m))),
                   JSON_KNOWN("target", target->target_m > 0.0,
                              JSON("distance_m", target->target_m),
                              JSON_SECONDS("time_s", target->target_us),
                              JSON("ratio", target->target_ratio)),
                   JSON("judged", r.judged), JSON("within_ratio", r.within_ratio),
                   JSON("missed", x->f.missed));
    }
}
