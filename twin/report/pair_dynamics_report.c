#include "twin/report/pair_dynamics_report.h"

#include <math.h>

#include "twin/report/pair_report.h"

static void write_parameters(struct json_writer *w, const struct model *model)
{
    JSON_LIST(w, "parameters", size_t j = 0; j < model->parameter_count; j++) {
        JSON_WRITE_OBJECT(w, NULL, JSON_OF(&model->parameters[j], name, symbol, unit));
    }
}

/* ---- the filter ---------------------------------------------------------------------------
 */

/* Reads the filter's estimates, with intervals of a normal error. */
static void read_filter(const struct model *model, const struct online_filter *f,
                        struct estimate *e)
{
    estimate_start(e, f->p);
    for (size_t j = 0; j < f->p; j++) {
        (void)dynamics_parameter_name(model, j, e->name[j], ESTIMATE_NAME_MAX);
        estimate_set(e, j, f->theta[j], online_filter_se(f, j), INFINITY);
    }
}

static void write_estimate(struct json_writer *w, const struct estimate *e,
                           const struct online_filter *f)
{
    JSON_BLOCK(w, "estimate", f->running) {
        estimate_report_column(w, "values", e, e->value);
        estimate_report_column(w, "se", e, e->se);
        estimate_report_intervals(w, e);
        estimate_report_marked(w, "excited", e, f->excited);
        json_write_real(w, "learnt_s", f->learnt_s);
    }
}

static void write_innovations(struct json_writer *w, const struct model *model,
                              const struct online_filter *f)
{
    JSON_OPEN(w, "innovations", JSON_BOOL("consistent", online_filter_consistent(f)));
    for (size_t i = 0; i < f->n; i++) {
        JSON_WRITE_OBJECT(w, model->axes[i].velocity,
                          JSON("mean_square", f->running ? f->nis[i] : nan("")),
                          JSON("correlation", f->running ? f->correlation[i] : nan("")),
                          JSON("noise_sd", f->running ? sqrt(f->noise_var[i]) : nan("")),
                          JSON("disturbance_sd", f->running ? sqrt(f->walk_var[i]) : nan("")));
    }
    json_write_close(w);
}

static void write_drift(struct json_writer *w, const struct model *model,
                        const struct dynamics_side *side)
{
    char name[ESTIMATE_NAME_MAX];
    const struct online_drift *drift = &side->drift;
    JSON_WRITE_OBJECT(
        w, "drift", JSON("suspected", side->filter.openings), JSON("found", side->drifts),
        JSON("looking", side->filter.opened),
        JSON_KNOWN(
            "last", side->drifts > 0,
            JSON("parameter", dynamics_change_name(model, drift->parameter, name, sizeof name)),
            JSON_SECONDS("since_t", drift->since_us), JSON_SECONDS("found_t", drift->found_us),
            JSON_OF(drift, before, before_se, after, after_se, change_ratio, z)));
}

/* Writes the distance of the filter from the set in force, in standard errors of both. */
static void write_distance(struct json_writer *w, const struct pair_dynamics *d,
                           const struct estimate *e, const struct online_filter *f)
{
    const struct parameter_set *set = parameters_find(&d->sets, PARAMETERS_ACTIVE);
    JSON_BLOCK(w, "z_active", set && f->running) {
        for (size_t j = 0; j < set->count; j++) {
            json_write_real(w, e->name[j],
                            (e->value[j] - set->value[j]) / hypot(e->se[j], set->se[j]));
        }
    }
}

/* ---- fits ---------------------------------------------------------------------------------
 */

static void write_job(struct json_writer *w, const struct dynamics_side *side)
{
    JSON_WRITE(w, JSON_KNOWN("job", side->running, JSON("number", side->job),
                             JSON("cause", fit_cause_name((enum fit_cause)side->cause)),
                             JSON("by", side->by), JSON("samples", side->frozen),
                             JSON_SECONDS("began_t", side->began_us)));
}

static void write_fit(struct json_writer *w, const struct model *model,
                      const struct dynamics_side *side)
{
    const struct dynamics_result *r = &side->result;
    JSON_BLOCK(w, "fit", side->fitted) {
        JSON_WRITE(w, JSON("number", side->result_job),
                   JSON("cause", fit_cause_name((enum fit_cause)side->result_cause)),
                   JSON_SECONDS("t", side->fitted_us),
                   side->result_version > 0 ? JSON("version", side->result_version)
                                            : JSON_NULL("version"),
                   JSON("checked", estimate_verdict_name(r->checks.verdict)));
        parameters_report_checks(w, "checks", &r->checks);
        json_write_text(w, "hold", names_text(&input_interpolation_names, r->hold.hold));
        dynamics_report_axes(w, "held_out_r2", model, false, r->held_out_r2);
        dynamics_report_fit(w, model, &r->fit);
        json_write_object(w, "data");
        dynamics_report_summary(w, model, &r->summary);
        json_write_close(w);
    }
}

static const char *state_of(const struct dynamics_side *side)
{
    if (side->running && !side->filter.running) {
        return "fitting";
    }
    if (!side->filter.running) {
        return "collecting";
    }
    return side->filter.opened ? "suspicious" : "following";
}

static void write_side(struct json_writer *w, const struct pair_dynamics *d, enum side which)
{
    const struct model *model = pair_dynamics_model(d);
    const struct dynamics_side *side = &d->side[which];
    char obstacle[DYNAMICS_OBSTACLE_MAX];
    struct estimate e;
    JSON_BLOCK(w, side_name(which), side->followed) {
        json_write_text(w, "state", state_of(side));
        read_filter(model, &side->filter, &e);
        pair_dynamics_obstacle(d, which, obstacle);
        json_write_text(w, "obstacle", obstacle[0] ? obstacle : NULL);
        write_estimate(w, &e, &side->filter);
        write_distance(w, d, &e, &side->filter);
        write_innovations(w, model, &side->filter);
        json_write_counts(w, "gates", &online_gate_names, side->filter.gate);
        write_drift(w, model, side);
        json_write_int(w, "window_samples", side->count);
        write_job(w, side);
        write_fit(w, model, side);
        JSON_WRITE_OBJECT(w, "counts",
                          JSON_OF(&side->counts, started, done, failed, cancelled, lost, stray,
                                  declined, thinned, cut, waited));
    }
}

/* ---- the pair -----------------------------------------------------------------------------
 */

void pair_dynamics_report(struct json_writer *w, const char *key, const struct pair_dynamics *d,
                          const struct pair_params *p)
{
    JSON_BLOCK(w, key, d != NULL) {
        const struct model *model = pair_dynamics_model(d);
        const bool is_auto = p->dynamics.method == DYNAMICS_METHOD_COUNT;
        JSON_WRITE(
            w, JSON("model", model->name),
            JSON("method",
                 is_auto ? "auto"
                         : dynamics_method_name((enum dynamics_method)p->dynamics.method)),
            JSON("hold", names_text(&input_interpolation_names, p->dynamics.hold)),
            JSON("biases", p->dynamics.biases),
            JSON("promote", p->dynamics.promote == PAIR_PROMOTE_AUTO ? "auto" : "manual"));
        write_parameters(w, model);
        write_side(w, d, SIDE_REAL);
        write_side(w, d, SIDE_VIRTUAL);
        parameters_report_book(w, &d->sets);
    }
}

/* ---- measured and simulated motion
 * -------------------------------------------------------- */

static void write_column(struct json_writer *w, const char *key, const float *values, size_t n)
{
    JSON_LIST(w, key, size_t i = 0; i < n; i++) {
        json_write_float(w, NULL, values[i]);
    }
}

static void write_predicted_axis(struct json_writer *w, const struct model *model, size_t i,
                                 const struct dynamics_result *r)
{
    const struct model_axis *axis = &model->axes[i];
    const double speed = hypot(r->summary.nu[i].mean, r->summary.nu[i].sd);
    struct dynamics_derived gain;
    struct dynamics_derived time_s;
    dynamics_derive_response(&r->fit, model, i, speed, &gain, &time_s);
    JSON_OPEN(w, axis->velocity, JSON("words", axis->velocity_words),
              JSON("effort", axis->effort), JSON("effort_words", axis->effort_words));
    write_column(w, "measured", r->trace.measured[i], r->trace.n);
    write_column(w, "simulated", r->trace.simulated[i], r->trace.n);
    write_column(w, "effort_values", r->trace.effort[i], r->trace.n);
    JSON_WRITE(w, JSON("rmse", r->run_rmse[i]), JSON("speed", speed));
    dynamics_report_derived(w, "gain", &gain);
    dynamics_report_derived(w, "time_constant_s", &time_s);
    json_write_close(w);
}

static void write_prediction(struct json_writer *w, const struct pair_dynamics *d,
                             enum side which)
{
    const struct model *model = pair_dynamics_model(d);
    const struct dynamics_side *side = &d->side[which];
    const struct dynamics_result *r = &side->result;
    JSON_BLOCK(w, side_name(which), side->fitted && r->trace.n > 0) {
        JSON_WRITE(w, JSON("fit", side->result_job), JSON_SECONDS("t", side->fitted_us));
        write_column(w, "t_s", r->trace.t_s, r->trace.n);
        JSON_MAP(w, "axes", size_t i = 0; i < model->axis_count; i++) {
            write_predicted_axis(w, model, i, r);
        }
    }
}

void pair_dynamics_prediction(struct json_writer *w, const char *key,
                              const struct pair_dynamics *d, const struct pair_params *p)
{
    JSON_OPEN(w, key, JSON("pair", p->id), JSON("model", pair_dynamics_model(d)->name));
    write_prediction(w, d, SIDE_REAL);
    write_prediction(w, d, SIDE_VIRTUAL);
    json_write_close(w);
}

struct fit_record pair_dynamics_last_fit(const struct pair_dynamics *d, enum side side)
{
    const struct dynamics_side *s = &d->side[side];
    const struct dynamics_fit *fit = &s->result.fit;
    return (struct fit_record){.side = side,
                               .model = pair_dynamics_model(d)->name,
                               .method = dynamics_method_name(fit->method),
                               .samples = fit->n,
                               .estimate = &fit->estimate,
                               .since_us = pair_dynamics_since_us(s),
                               .until_us = s->began_us};
}
