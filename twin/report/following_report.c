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

static void write_gains(struct json_writer *w, const struct follower_gains *g)
{
    json_write_object(w, "gains");
    json_write_real(w, "bandwidth_radps", g->bandwidth_radps[0]);
    json_write_text(w, "rejection", follower_rejection_name(g->rejection));
    json_write_real(w, "observer_radps", g->observer_radps);
    json_write_real(w, "pose_per_s2", g->pose_per_s2);
    json_write_real(w, "blend_s", g->blend_s);
    json_write_close(w);
}

static void write_parameters(struct json_writer *w, const struct pair_following *x)
{
    const struct model *model = pair_following_model(x);
    json_write_object(w, "parameters");
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (!json_write_known(w, side_name(s), x->known.side[s].source != FOLLOWING_NOWHERE)) {
            continue;
        }
        json_write_text(w, "source",
                        following_source_name((enum following_source)x->known.side[s].source));
        json_write_object(w, "values");
        for (size_t k = 0; k < model->parameter_count; k++) {
            json_write_real(w, model->parameters[k].name, x->known.side[s].theta[k]);
        }
        json_write_close(w);
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_motion(struct json_writer *w, const struct pair_following *x)
{
    const struct model *model = pair_following_model(x);
    const struct follower_output *out = &x->f.output;
    json_write_object(w, "now");
    for (size_t i = 0; i < model->axis_count; i++) {
        json_write_object(w, model->axes[i].velocity);
        json_write_real(w, "reference", x->f.target.nu[i]);
        json_write_real(w, "actual",
                        x->f.driving ? x->f.target.nu[i] - out->error[i] : nan(""));
        json_write_real(w, "error", x->f.driving ? out->error[i] : nan(""));
        json_write_close(w);
    }
    json_write_close(w);
    json_write_object(w, "efforts");
    for (size_t i = 0; i < model->axis_count; i++) {
        json_write_object(w, model->axes[i].effort);
        json_write_real(w, "sent", out->tau[i]);
        json_write_real(w, "unmatched", out->unmatched[i]);
        json_write_real(w, "disturbance", out->disturbance[i]);
        json_write_close(w);
    }
    json_write_close(w);
    json_write_bool(w, "saturated", out->saturated);
    json_write_real(w, "latency_s", x->f.real.latency_s);
}

void following_report_frame(struct json_writer *w, const char *key,
                            const struct pair_following *x)
{
    const bool known = x && x->f.aligned && following_in_plane(pair_following_model(x));
    if (!json_write_known(w, key, known)) {
        return;
    }
    json_write_seconds(w, "since_t", x->f.aligned_us);
    json_write_real(w, "x_m", x->f.frame[0]);
    json_write_real(w, "y_m", x->f.frame[1]);
    json_write_real(w, "yaw_rad", x->f.frame[2]);
    json_write_close(w);
}

void following_report(struct json_writer *w, const char *key, const struct pair_following *x,
                      const struct pair_params *p)
{
#define TIMES(field) JSON_MEMBER(struct pair_following, field)
    static const struct json_member times[] = {TIMES(stale), TIMES(lost), TIMES(resumed),
                                               TIMES(missed)};
    char hash[24];
    struct following_params setup;
    if (!json_write_known(w, key, x != NULL)) {
        return;
    }
    pair_following_setup(x, p->following, &setup);
    (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)x->hash);
    json_write_text(w, "model", pair_following_model(x)->name);
    json_write_bool(w, "active", x->asked);
    json_write_text(w, "state", efsm_state_name(&following_table, x->f.machine.state));
    json_write_text(w, "obstacle", x->obstacle[0] ? x->obstacle : NULL);
    json_write_real(w, "period_s", 1.0 / p->following->rate_hz);
    json_write_text(w, "method", shadow_method_name((enum shadow_method)p->following->method));
    write_gains(w, &setup.follower.gains);
    write_parameters(w, x);
    write_motion(w, x);
    json_write_int(w, "sent", (int64_t)x->sent);
    json_write_text(w, "efforts_hash", hash);
    json_write_object(w, "counts");
    json_write_int(w, "periods", (int64_t)x->f.periods);
    json_write_int(w, "held", (int64_t)x->f.held);
    json_write_members(w, times, COUNT(times), x);
    json_write_close(w);
    json_write_object(w, "telemetry");
    json_write_counts(w, "real", &shadow_gate_names, x->f.real.count);
    json_write_counts(w, "virtual", &shadow_gate_names, x->f.simulated.count);
    json_write_close(w);
    json_write_close(w);
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
    if (!json_write_known(w, key, x != NULL)) {
        return;
    }
    const struct model *model = pair_following_model(x);
    fidelity_report_read(x, p, &r);
    json_write_seconds(w, "t", x->stepped_us);
    json_write_seconds(w, "window_s", p->following->window_us);
    json_write_int(w, "samples", (int64_t)r.n);
    json_write_int(w, "unpaired", (int64_t)x->f.fidelity.unpaired);
    json_write_object(w, "states");
    for (size_t i = 0; i < r.states; i++) {
        char name[32];
        following_state_name(model, i, name);
        json_write_object(w, name);
        json_write_real(w, "rmse", r.rmse[i]);
        json_write_real(w, "mae", r.mae[i]);
        json_write_real(w, "r2", r.r2[i]);
        json_write_close(w);
    }
    json_write_close(w);
    if (model->joints) {
        json_write_object(w, "tool");
        json_write_real(w, "rmse_m", r.tool_rmse_m);
        json_write_real(w, "max_m", r.tool_max_m);
        json_write_close(w);
    }
    if (json_write_known(w, "target", p->following->target_m > 0.0)) {
        json_write_real(w, "distance_m", p->following->target_m);
        json_write_seconds(w, "time_s", p->following->target_us);
        json_write_real(w, "ratio", p->following->target_ratio);
        json_write_close(w);
    }
    json_write_int(w, "judged", (int64_t)r.judged);
    json_write_real(w, "within_ratio", r.within_ratio);
    json_write_bool(w, "missed", x->f.missed);
    json_write_close(w);
}
