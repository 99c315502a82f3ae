#include "service/experiments/experiment_file.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/option_file.h"
#include "service/experiments/paper.h"
#include "twin/models/models.h"
#include "twin/models/usv3.h"

enum kind { KIND_FOLLOW, KIND_JOINT };
enum spread { SPREAD_NONE, SPREAD_INTERVALS };

/* What the rows write to. */
struct values {
    struct experiment_file file;
    enum kind kind;
    char model[EXPERIMENT_NAME_MAX];
    enum spread reference_spread, plant_spread;
    enum shadow_method method;
    double bandwidth_radps;
    double current_n, current_rad, wind_n, wind_rad;
};

/* clang-format off */
#define AT(m) OPTION_AT(struct values, m)

static const struct option_row rows[] = {
    {"kind", OPTION_CHOICE, "", "follow", 0.0, 0.0, "follow|joint", AT(kind),
     "What kind of experiment it is; service/experiments/joint_file.c knows the keys of a joint."},
    {"name", OPTION_TEXT, "", "experiment", 1.0, 0.0, "", AT(file.name), "Name of the experiment."},
    {"purpose", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.purpose), "What it shows, in a sentence."},
    {"model", OPTION_TEXT, "", "usv3", 1.0, 0.0, "", AT(model), "Model of both robots, as `tandem identify` names it."},
    {"reference.vessel", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.reference.vessel),
     "Whose parameters: wamv or iacquabot."},
    {"reference.parameters", OPTION_MAP, "", "", OPTION_BY_HAND, "Parameters by name, in place of a vessel's."},
    {"reference.standard_errors", OPTION_MAP, "", "", OPTION_BY_HAND, "Their standard errors by name."},
    {"reference.spread", OPTION_CHOICE, "", "none", 0.0, 0.0, "none|intervals", AT(reference_spread),
     "Are its true parameters drawn anew for each run?"},
    {"plant.vessel", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.plant.vessel), "The simulated robot, likewise."},
    {"plant.parameters", OPTION_MAP, "", "", OPTION_BY_HAND, ""},
    {"plant.standard_errors", OPTION_MAP, "", "", OPTION_BY_HAND, ""},
    {"plant.spread", OPTION_CHOICE, "", "none", 0.0, 0.0, "none|intervals", AT(plant_spread), ""},
    {"plant.start", OPTION_MAP, "", "", OPTION_BY_HAND,
     "Its velocities at the start, one an axis; the reference starts at rest."},
    {"runs", OPTION_INTEGER, "", "1", 1.0, EXPERIMENT_RUNS_MAX, "", AT(file.runs), "Draws of parameters and noise."},
    {"seed", OPTION_INTEGER, "", "1", 0.0, 1e15, "", AT(file.seed), "Of the draws."},
    {"draws", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.draws_path),
     "CSV of standard normal draws for the plant: a row a run, a column a parameter."},
    {"input.file", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.input_path),
     "CSV with t_s and commands or efforts, each held until the next row."},
    {"input.columns", OPTION_CHOICE, "", "efforts", 0.0, 0.0, "efforts|left_right|surge_yaw", AT(file.sticks),
     "What its columns are."},
    {"input.lag_s", OPTION_REAL, "s", "0", 0.0, 60.0, "", AT(file.lag_s), "First-order lag of the hand on the sticks."},
    {"drive", OPTION_CHOICE, "", "follow", 0.0, 0.0, "follow|efforts|commands", AT(file.trial.drive),
     "What drives the plant: the follower, the reference's efforts, or the same commands on its own thrusters."},
    {"source", OPTION_CHOICE, "", "model", 0.0, 0.0, "model|shadow", AT(file.trial.source),
     "How the reference is known: exactly, or by telemetry."},
    {"control.period_s", OPTION_REAL, "s", "0.01", 0.001, 1.0, "", AT(file.trial.follower.period_s),
     "Control period, a multiple of 1 ms."},
    {"control.bandwidth_radps", OPTION_REAL, "rad/s", "5", 0.001, 1000.0, "", AT(bandwidth_radps),
     "Of the velocity error on every axis."},
    {"control.rejection", OPTION_CHOICE, "", "observer", 0.0, 0.0, "none|integral|observer",
     AT(file.trial.follower.gains.rejection), "Against forces and wrong parameters."},
    {"control.observer_radps", OPTION_REAL, "rad/s", "8", 0.001, 1000.0, "",
     AT(file.trial.follower.gains.observer_radps), "Of the disturbance observer."},
    {"control.pose_per_s2", OPTION_REAL, "1/s^2", "0", 0.0, 1000.0, "", AT(file.trial.follower.gains.pose_per_s2),
     "Pose feedback; 0 is none."},
    {"control.actuators", OPTION_CHOICE, "", "full", 0.0, 0.0, "full|thrusters", AT(file.actuators),
     "An effort on every axis without limits, or the vessel's thrusters."},
    {"force.current_n", OPTION_REAL, "N", "0", 0.0, 1e6, "", AT(current_n), "Steady force of a current on the plant."},
    {"force.current_direction_rad", OPTION_REAL, "rad", "0", -7.0, 7.0, "", AT(current_rad),
     "Its direction in the world, from the x axis counter-clockwise."},
    {"force.wind_n", OPTION_REAL, "N", "0", 0.0, 1e6, "", AT(wind_n), "The same of a wind."},
    {"force.wind_direction_rad", OPTION_REAL, "rad", "0", -7.0, 7.0, "", AT(wind_rad), ""},
    {"telemetry.noise_sd", OPTION_MAP, "", "", OPTION_BY_HAND, "Of measured velocities of the reference, one an axis."},
    {"telemetry.sample_s", OPTION_REAL, "s", "0.02", 0.001, 10.0, "", AT(file.trial.sample_s),
     "A sample so often, a multiple of 1 ms."},
    {"telemetry.latency_s", OPTION_REAL, "s", "0", 0.0, 10.0, "", AT(file.trial.latency_s),
     "From the real robot to the follower."},
    {"telemetry.method", OPTION_CHOICE, "", "model", 0.0, 0.0, "model|efforts|raw|difference|alpha_beta", AT(method),
     "What is made of it."},
    {"against_measured", OPTION_BOOL, "", "false", OPTION_NO_RANGE, AT(file.trial.against_measured),
     "Count errors against noisy velocities instead of the true ones."},
    {"duration_s", OPTION_REAL, "s", "60", 0.1, 86400.0, "", AT(file.trial.duration_s), "Of a run."},
    {"record_s", OPTION_REAL, "s", "0.05", 0.001, 60.0, "", AT(file.trial.record_s), "An error sample so often."},
    {"paper", OPTION_MAP, "", "", OPTION_BY_HAND, "What was published: {rmse: {u: …}, mae: {…}, r2: {…}}."},
};
/* clang-format on */

static const struct option_table table = {rows, COUNT(rows)};

/* --- numbers --------------------------------------------------------------------------- */

/* One number an axis. */
static void read_axes(const struct option_reading *reading, const char *path,
                      const struct model *model, double *values)
{
    struct option_reader *r = reading->r;
    const uint32_t node = option_node(reading, path);
    if (node == TREE_NONE) {
        return;
    }
    const struct tree_node *list = &r->tree->nodes[node];
    if (list->kind != TREE_LIST || list->count != model->axis_count) {
        option_fault(r, node, "%s: a list of %zu numbers was expected, one for each axis of %s",
                     path, model->axis_count, model->name);
        return;
    }
    size_t i = 0;
    for (uint32_t at = list->first; at != TREE_NONE; at = r->tree->nodes[at].next) {
        (void)option_number(r, at, path, &values[i++]);
    }
}

/* Numbers by the names of the model's parameters. */
static void read_parameters(const struct option_reading *reading, const char *path,
                            const struct model *model, bool all, double *values)
{
    struct option_reader *r = reading->r;
    const uint32_t node = option_node(reading, path);
    bool seen[MODEL_PARAMETERS_MAX] = {false};
    if (node == TREE_NONE) {
        return;
    }
    if (r->tree->nodes[node].kind != TREE_MAP) {
        option_fault(r, node, "%s: a map was expected, as in {%s: 1.5}", path,
                     model->parameters[0].name);
        return;
    }
    for (uint32_t at = r->tree->nodes[node].first; at != TREE_NONE;
         at = r->tree->nodes[at].next) {
        const char *key = tree_key(r->tree, at);
        const int k = model_parameter_find(model, key);
        if (k < 0) {
            option_fault(r, at, "%s: %s has no parameter '%.40s', the first is '%s'", path,
                         model->name, key, model->parameters[0].name);
            continue;
        }
        seen[k] = true;
        (void)option_number(r, at, path, &values[k]);
    }
    for (size_t k = 0; k < model->parameter_count && all; k++) {
        if (!seen[k]) {
            option_fault(r, node, "%s: '%s' is missing", path, model->parameters[k].name);
        }
    }
}

/* --- the robots ------------------------------------------------------------------------- */

static void read_robot(const struct option_reading *reading, const char *name,
                       const struct model *model, struct experiment_robot *robot)
{
    char path[OPTION_PREFIX_MAX];
    struct option_reader *r = reading->r;
    (void)snprintf(path, sizeof path, "%s.vessel", name);
    const uint32_t vessel_at = option_node(reading, path);
    (void)snprintf(path, sizeof path, "%s.parameters", name);
    const uint32_t parameters_at = option_node(reading, path);
    if ((vessel_at == TREE_NONE) == (parameters_at == TREE_NONE)) {
        option_fault(r, vessel_at, "%s: either vessel or parameters is wanted", name);
        return;
    }
    if (parameters_at != TREE_NONE) {
        read_parameters(reading, path, model, true, robot->theta);
        (void)snprintf(path, sizeof path, "%s.standard_errors", name);
        read_parameters(reading, path, model, false, robot->standard_error);
        return;
    }
    const struct usv3_vessel *vessel = usv3_vessel_find(robot->vessel);
    if (!vessel || model != &usv3_model) {
        option_fault(r, vessel_at,
                     "%s.vessel: '%.40s' is not known, wamv and iacquabot are, of model usv3",
                     name, robot->vessel);
        return;
    }
    memcpy(robot->theta, vessel->theta, sizeof vessel->theta);
    memcpy(robot->standard_error, vessel->theta_sd, sizeof vessel->theta_sd);
}

static void give_actuators(const struct option_reading *reading, struct values *v)
{
    struct allocation *a = &v->file.trial.follower.allocation;
    const struct usv3_vessel *vessel = usv3_vessel_find(v->file.plant.vessel);
    allocation_direct(a, v->file.model->axis_count, NULL);
    if (v->file.actuators == EXPERIMENT_FULL) {
        return;
    }
    if (!vessel) {
        option_fault(reading->r, option_node(reading, "control.actuators"),
                     "control.actuators: thrusters are those of plant.vessel, which is not "
                     "given");
        return;
    }
    usv3_actuators(vessel, a);
}

/* --- what was published ------------------------------------------------------------------ */

void experiment_state_name(const struct model *model, size_t i, char *name, size_t bytes)
{
    const struct model_axis *axis = &model->axes[i % model->axis_count];
    const char *text = i < model->axis_count ? axis->velocity : axis->pose;
    (void)snprintf(name, bytes, "%.*s", (int)strcspn(text, "_"), text);
}

static void read_follow_paper(const struct option_reading *reading,
                              struct experiment_file *file)
{
    static const char *const figures[] = {"rmse", "mae", "r2"};
    char names[TRIAL_STATES_MAX][EXPERIMENT_NAME_MAX];
    const char *states[TRIAL_STATES_MAX];
    char fault[EXPERIMENT_NAME_MAX + 32];
    const size_t count = 2 * file->model->axis_count;
    for (size_t i = 0; i < count; i++) {
        experiment_state_name(file->model, i, names[i], sizeof names[i]);
        states[i] = names[i];
    }
    (void)snprintf(fault, sizeof fault, "paper: %s has no state", file->model->name);
    _Static_assert(sizeof(struct experiment_paper) ==
                       sizeof(double[COUNT(figures)][TRIAL_STATES_MAX]),
                   "as in figures");
    paper_read(reading, &(struct paper){.rows = &(struct names){figures, COUNT(figures)},
                                        .columns = &(struct names){states, count},
                                        .values = file->paper.rmse,
                                        .stride = TRIAL_STATES_MAX,
                                        .least = -HUGE_VAL,
                                        .row_fault = "paper: maps rmse, mae and r2 were "
                                                     "expected, as in {rmse: {u: 0.1}}",
                                        .column_fault = fault});
}

/* --- the file ---------------------------------------------------------------------------- */

/* A path in the file, as seen from the file's folder. */
static void join_path(const struct option_reading *reading, const char *key,
                      char path[LAB_PATH_MAX])
{
    char joined[LAB_PATH_MAX];
    if (path[0] == '\0') {
        return;
    }
    if (!text_file_beside(reading->r->file, path, joined, sizeof joined)) {
        option_fault(reading->r, option_node(reading, key), "%s: the path is too long", key);
        return;
    }
    memcpy(path, joined, strlen(joined) + 1);
}

static void fill_trial(const struct option_reading *reading, struct values *v)
{
    struct trial_params *t = &v->file.trial;
    const size_t axes = v->file.model->axis_count;
    double noise_sd[MODEL_AXES_MAX] = {0};
    t->model = v->file.model;
    memcpy(t->reference, v->file.reference.theta, sizeof t->reference);
    memcpy(t->plant, v->file.plant.theta, sizeof t->plant);
    t->follower.model = v->file.model;
    memcpy(t->follower.theta, v->file.plant.theta, sizeof t->follower.theta);
    t->follower.gains.blend_s = 0.5;
    t->input.step_s = 1e-3;
    for (size_t i = 0; i < axes; i++) {
        t->follower.gains.bandwidth_radps[i] = v->bandwidth_radps;
    }
    t->inertial_n[0] = v->current_n * cos(v->current_rad) + v->wind_n * cos(v->wind_rad);
    t->inertial_n[1] = v->current_n * sin(v->current_rad) + v->wind_n * sin(v->wind_rad);
    read_axes(reading, "telemetry.noise_sd", v->file.model, noise_sd);
    read_axes(reading, "plant.start", v->file.model, t->start);
    shadow_params_default(&t->shadow);
    t->shadow.method = v->method;
    t->shadow.model = v->file.model;
    t->shadow.axes = axes;
    t->shadow.latency_s_max = fmax(t->shadow.latency_s_max, 2.0 * t->latency_s);
    t->shadow.stale_s = fmax(t->shadow.stale_s, 3.0 * t->sample_s + t->latency_s);
    memcpy(t->shadow.theta, v->file.reference.theta, sizeof t->shadow.theta);
    memcpy(t->noise_sd, noise_sd, sizeof noise_sd);
}

static void finish_experiment(const struct option_reading *reading, void *values)
{
    struct values *v = values;
    struct option_reader *r = reading->r;
    if (v->kind == KIND_JOINT) {
        option_fault(r, option_node(reading, "kind"),
                     "kind: an experiment with a joint has other keys");
        return;
    }
    v->file.model = model_find(v->model);
    if (!v->file.model) {
        option_fault(r, option_node(reading, "model"), "model: '%.40s' is not known", v->model);
        return;
    }
    if (v->file.input_path[0] == '\0') {
        option_fault(r, option_node(reading, "input.file"),
                     "input.file is missing: what the reference robot does");
    }
    if (v->file.sticks != EXPERIMENT_EFFORTS &&
        !(v->file.reference.vessel[0] && v->file.plant.vessel[0])) {
        option_fault(r, option_node(reading, "input.columns"),
                     "input.columns: sticks need vessels, whose thrusters they command");
    }
    if (v->file.trial.drive == TRIAL_COMMANDS && v->file.sticks == EXPERIMENT_EFFORTS) {
        option_fault(r, option_node(reading, "drive"),
                     "drive: commands need sticks (input.columns: left_right or surge_yaw)");
    }
    v->file.reference.spread = v->reference_spread == SPREAD_INTERVALS;
    v->file.plant.spread = v->plant_spread == SPREAD_INTERVALS;
    read_robot(reading, "reference", v->file.model, &v->file.reference);
    read_robot(reading, "plant", v->file.model, &v->file.plant);
    give_actuators(reading, v);
    read_follow_paper(reading, &v->file);
    fill_trial(reading, v);
    join_path(reading, "input.file", v->file.input_path);
    join_path(reading, "draws", v->file.draws_path);
}

const struct option_file experiment_file = {
    .what = "an experiment",
    .empty = "the file is empty, an experiment has at least reference, plant and input",
    .table = &table,
    .bytes = sizeof(struct values),
    .out_bytes = sizeof(struct experiment_file),
    .finish = finish_experiment};
