#include "service/sim/experiment/experiment_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/model/model_file.h"
#include "identification/model/models.h"
#include "identification/model/usv3.h"
#include "service/sim/experiment/experiment_lists.h"

/* --- keys of model following ---------------------------------------------------------- */

/* The option rows write to this struct. */
struct follow_values {
    struct experiment_file file;
    enum experiment_kind kind;
    char model[EXPERIMENT_NAME_MAX];
    enum shadow_method method;
    double current_n, current_rad, wind_n, wind_rad;
    size_t start_count, noise_count;
};

static void add_parameter(const struct option_reading *item, void *value, void *owner);
static void add_published(const struct option_reading *item, void *value, void *owner);

/* clang-format off */
#define AT(m)   OPTION_AT(struct follow_values, m), ""
#define GAIN(m) AT(file.trial.follower.gains.m)
#define EACH(items) OPTION_EACH(items), ""
#define FOLLOW_LIST(count)                                                                     \
    EXPERIMENT_LIST(experiment_number, 1, MODEL_AXES_MAX, offsetof(struct follow_values, count))

static const struct option_items start_items = FOLLOW_LIST(start_count);
static const struct option_items noise_items = FOLLOW_LIST(noise_count);
static const struct option_items parameter_items = {
    .shape = OPTION_NAMED, .value = &experiment_number, .bytes = sizeof(double), .later = true,
    .what = "numbers", .example = "{d1: 1.5}", .add = add_parameter};
static const struct option_items paper_items = {
    .shape = OPTION_NAMED, .value = &experiment_number, .bytes = sizeof(double), .later = true,
    .what = "numbers", .example = "{u: 0.1}", .add = add_published};

static const struct option_row follow_rows[] = {
    /* Kind of the experiment; joint_rows below, and arm_file.c, have the keys of the others. */
    {"kind", OPTION_CHOICE, "", "follow", 0.0, 0.0, "follow|joint|arm", AT(kind)},
    {"name", OPTION_TEXT, "", "experiment", 1.0, 0.0, "", AT(file.name)}, /* Name of the experiment. */
    /* Its purpose, in a sentence. */
    {"purpose", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.purpose)},
    /* Model of both robots, as `tandem identify` names it. */
    {"model", OPTION_TEXT, "", "usv3", 1.0, 0.0, "", AT(model)},
    /* Vessel with the parameters: wamv or iacquabot. */
    {"reference.vessel", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.reference.vessel)},
    {"reference.parameters", EACH(parameter_items)}, /* Parameters by name, in place of a vessel's. */
    {"reference.standard_errors", EACH(parameter_items)}, /* Their standard errors by name. */
    /* Draw new true parameters for each run? */
    {"reference.spread", OPTION_CHOICE, "", "none", 0.0, 0.0, "none|intervals", AT(file.reference.spread)},
    /* The simulated robot, with the same keys. */
    {"plant.vessel", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.plant.vessel)},
    {"plant.parameters", EACH(parameter_items)},
    {"plant.standard_errors", EACH(parameter_items)},
    {"plant.spread", OPTION_CHOICE, "", "none", 0.0, 0.0, "none|intervals", AT(file.plant.spread)},
    /* Its initial velocities, one per axis; the reference starts at rest. */
    {"plant.start", OPTION_ARRAY(start_items, struct follow_values, file.trial.start), ""},
    /* Number of runs, each with new parameters and noise. */
    {"runs", OPTION_INTEGER, "", "1", 1.0, EXPERIMENT_RUNS_MAX, "", AT(file.runs)},
    {"seed", OPTION_INTEGER, "", "1", 0.0, 1e15, "", AT(file.seed)}, /* Seed of the draws. */
    /* CSV of standard normal draws for the plant: a row per run, a column per parameter. */
    {"draws", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.draws_path)},
    /* CSV with t_s and commands or efforts, each held until the next row. */
    {"input.file", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.input_path)},
    /* Meaning of its columns. */
    {"input.columns", OPTION_CHOICE, "", "efforts", 0.0, 0.0, "efforts|left_right|surge_yaw", AT(file.sticks)},
    /* First-order lag of the hand on the sticks. */
    {"input.lag_s", OPTION_REAL, "s", "0", 0.0, 60.0, "", AT(file.lag_s)},
    /* Driver of the plant: the follower, the reference's efforts, or the same commands on its
     * own thrusters. */
    {"drive", OPTION_CHOICE, "", "follow", 0.0, 0.0, "follow|efforts|commands", AT(file.trial.drive)},
    /* Source of the reference's state: exact, or telemetry. */
    {"source", OPTION_CHOICE, "", "model", 0.0, 0.0, "model|shadow", AT(file.trial.source)},
    /* Control period, a multiple of 1 ms. */
    {"control.period_s", OPTION_REAL, "s", "0.01", 0.001, 1.0, "", AT(file.trial.follower.period_s)},
    /* Bandwidth of the velocity error on every axis. */
    {"control.bandwidth_radps", OPTION_REAL, "rad/s", "5", 0.001, 1000.0, "", GAIN(bandwidth_radps[0])},
    /* Method against forces and wrong parameters. */
    {"control.rejection", OPTION_CHOICE, "", "observer", 0.0, 0.0, "none|integral|observer", GAIN(rejection)},
    /* Bandwidth of the disturbance observer. */
    {"control.observer_radps", OPTION_REAL, "rad/s", "8", 0.001, 1000.0, "", GAIN(observer_radps)},
    /* Gain of pose feedback; 0: none. */
    {"control.pose_per_s2", OPTION_REAL, "1/s^2", "0", 0.0, 1000.0, "", GAIN(pose_per_s2)},
    /* An effort on every axis without limits, or the vessel's thrusters. */
    {"control.actuators", OPTION_CHOICE, "", "full", 0.0, 0.0, "full|thrusters", AT(file.actuators)},
    /* Steady force of a current on the plant. */
    {"force.current_n", OPTION_REAL, "N", "0", 0.0, 1e6, "", AT(current_n)},
    /* Its direction in the world, from the x axis counter-clockwise. */
    {"force.current_direction_rad", OPTION_REAL, "rad", "0", -7.0, 7.0, "", AT(current_rad)},
    {"force.wind_n", OPTION_REAL, "N", "0", 0.0, 1e6, "", AT(wind_n)}, /* The same for wind. */
    {"force.wind_direction_rad", OPTION_REAL, "rad", "0", -7.0, 7.0, "", AT(wind_rad)},
    /* Noise of the reference's measured velocities, one per axis. */
    {"telemetry.noise_sd", OPTION_ARRAY(noise_items, struct follow_values, file.trial.noise_sd), ""},
    /* Sample period, a multiple of 1 ms. */
    {"telemetry.sample_s", OPTION_REAL, "s", "0.02", 0.001, 10.0, "", AT(file.trial.sample_s)},
    /* Delay from the real robot to the follower. */
    {"telemetry.latency_s", OPTION_REAL, "s", "0", 0.0, 10.0, "", AT(file.trial.latency_s)},
    /* Method of estimating the state from telemetry. */
    {"telemetry.method", OPTION_CHOICE, "", "model", 0.0, 0.0, "model|efforts|raw|difference|alpha_beta|ramp",
     AT(method)},
    /* Count errors against noisy velocities instead of the true ones. */
    {"against_measured", OPTION_BOOL, "", "false", OPTION_NO_RANGE, AT(file.trial.against_measured)},
    /* Duration of a run. */
    {"duration_s", OPTION_REAL, "s", "60", 0.1, 86400.0, "", AT(file.trial.duration_s)},
    /* Period of error samples. */
    {"record_s", OPTION_REAL, "s", "0.05", 0.001, 60.0, "", AT(file.trial.record_s)},
    {"paper.rmse", EACH(paper_items)}, /* Published results by state, as in {u: 0.1}. */
    {"paper.mae", EACH(paper_items)},
    {"paper.r2", EACH(paper_items)},
};
/* clang-format on */

/* --- keys without effect -------------------------------------------------------------- */

/* A key in the file, and the condition under which it has no effect. */
struct idle_key {
    const char *key;
    bool idle;
    const char *why;
};

static void refuse_idle(const struct option_reading *reading, const struct idle_key *keys,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t node = option_node(reading, keys[i].key);
        if (keys[i].idle && node != TREE_NONE) {
            option_fault_at(reading, keys[i].key, FAULT_NOT_APPLICABLE,
                            "nothing comes of it %s", keys[i].why);
        }
    }
}

static void refuse_idle_follow(const struct option_reading *reading,
                               const struct follow_values *v)
{
    static const char own[] = "with vessel, which has its own";
    static const char exact[] = "without spread: intervals";
    static const char known[] = "without source: shadow";
    static const char open[] = "without drive: follow";
    const struct experiment_file *f = &v->file;
    const bool shadow = f->trial.source == TRIAL_SHADOW;
    const bool follows = f->trial.drive == TRIAL_FOLLOW;
    const struct idle_key keys[] = {
        {"reference.standard_errors", f->reference.vessel[0] != '\0', own},
        {"reference.standard_errors", !f->reference.vessel[0] && !f->reference.spread, exact},
        {"plant.standard_errors", f->plant.vessel[0] != '\0', own},
        {"plant.standard_errors", !f->plant.vessel[0] && !f->plant.spread, exact},
        {"reference.spread",
         f->reference.spread && !f->reference.vessel[0] &&
             option_node(reading, "reference.standard_errors") == TREE_NONE,
         "without standard_errors"},
        {"plant.spread",
         f->plant.spread && !f->plant.vessel[0] &&
             option_node(reading, "plant.standard_errors") == TREE_NONE,
         "without standard_errors"},
        {"draws", !f->plant.spread, "without plant.spread: intervals"},
        {"source", shadow && !follows, open},
        {"telemetry.noise_sd", !shadow && !f->trial.against_measured,
         "without source: shadow or against_measured"},
        {"telemetry.sample_s", !shadow, known},
        {"telemetry.latency_s", !shadow, known},
        {"telemetry.method", !shadow, known},
        {"control.bandwidth_radps", !follows, open},
        {"control.rejection", !follows, open},
        {"control.observer_radps", !follows, open},
        {"control.pose_per_s2", !follows, open},
        {"control.actuators", !follows, open},
        {"force.current_direction_rad", !(v->current_n > 0.0), "without current_n"},
        {"force.wind_direction_rad", !(v->wind_n > 0.0), "without wind_n"},
    };
    refuse_idle(reading, keys, COUNT(keys));
}

/* --- numbers --------------------------------------------------------------------------- */

/* One number per axis is wanted. */
static void check_axes(const struct option_reading *reading, const char *path,
                       const struct model *model, size_t count)
{
    if (count > 0 && count != model->axis_count) {
        option_fault_at(reading, path, FAULT_LIST_EXPECTED,
                        "%zu numbers were expected, one for each axis of %s", model->axis_count,
                        model->name);
    }
}

/* Numbers by the names of the model's parameters. */
struct parameter_values {
    const struct model *model;
    double *values;
    bool seen[MODEL_PARAMETERS_MAX];
};

static void add_parameter(const struct option_reading *item, void *value, void *owner)
{
    struct parameter_values *p = owner;
    const int k = model_parameter_find(p->model, option_name(item));
    if (k < 0) {
        option_fault_at(item, "", FAULT_UNKNOWN_NAME,
                        "%s has no such parameter, the first is '%s'", p->model->name,
                        p->model->parameters[0].name);
        return;
    }
    p->seen[k] = true;
    p->values[k] = *(const double *)value;
}

static void read_parameters(const struct option_reading *reading, const char *path,
                            const struct model *model, bool all, double *values)
{
    struct parameter_values p = {.model = model, .values = values};
    option_read_items(reading, path, &p);
    for (size_t k = 0; k < model->parameter_count && all; k++) {
        if (!p.seen[k]) {
            option_fault_at(reading, path, FAULT_MISSING_KEY, "'%s' is missing",
                            model->parameters[k].name);
        }
    }
}

/* --- published results ---------------------------------------------------------------- */

/* Published results of one figure or controller, for comparison. */
struct published {
    char names[TRIAL_STATES_MAX][EXPERIMENT_NAME_MAX];
    size_t count;
    double *values; /* [count] NaN: not published */
};

static void add_published(const struct option_reading *item, void *value, void *owner)
{
    const struct published *p = owner;
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->names[i], option_name(item)) == 0) {
            p->values[i] = *(const double *)value;
            return;
        }
    }
    option_fault_at(item, "", FAULT_UNKNOWN_KEY, "one like '%s' was expected", p->names[0]);
}

static void read_published(const struct option_reading *reading, const char *key,
                           struct published *p, double *values)
{
    char path[64];
    (void)snprintf(path, sizeof path, "paper.%s", key);
    p->values = values;
    for (size_t i = 0; i < p->count; i++) {
        values[i] = nan("");
    }
    option_read_items(reading, path, p);
}

/* --- the robots ------------------------------------------------------------------------- */

static void read_robot(const struct option_reading *reading, const char *name,
                       const struct model *model, struct experiment_robot *robot)
{
    char vessel_path[32];
    char path[32];
    (void)snprintf(vessel_path, sizeof vessel_path, "%s.vessel", name);
    (void)snprintf(path, sizeof path, "%s.parameters", name);
    const uint32_t vessel_at = option_node(reading, vessel_path);
    const uint32_t parameters_at = option_node(reading, path);
    if ((vessel_at == TREE_NONE) == (parameters_at == TREE_NONE)) {
        option_fault(reading->r, vessel_at, FAULT_CONFLICTING_KEYS,
                     "%s: either vessel or parameters is wanted", name);
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
        option_fault_at(reading, vessel_path, FAULT_UNKNOWN_NAME,
                        "'%.40s' is not known, wamv and iacquabot are, of model usv3",
                        robot->vessel);
        return;
    }
    memcpy(robot->theta, vessel->theta, sizeof vessel->theta);
    memcpy(robot->standard_error, vessel->theta_sd, sizeof vessel->theta_sd);
}

static void give_actuators(const struct option_reading *reading, struct follow_values *v)
{
    struct allocation *a = &v->file.trial.follower.allocation;
    const struct usv3_vessel *vessel = usv3_vessel_find(v->file.plant.vessel);
    allocation_direct(a, v->file.model->axis_count, NULL);
    if (v->file.actuators == EXPERIMENT_FULL) {
        return;
    }
    if (!vessel) {
        option_fault_at(reading, "control.actuators", FAULT_NEEDS_KEY,
                        "thrusters are those of plant.vessel, which is not given");
        return;
    }
    usv3_actuators(vessel, a);
}

void experiment_state_name(const struct model *model, size_t i, char *name, size_t bytes)
{
    const struct model_axis *axis = &model->axes[i % model->axis_count];
    const char *text = i < model->axis_count ? axis->velocity : axis->pose;
    (void)snprintf(name, bytes, "%.*s", (int)strcspn(text, "_"), text);
}

static void read_follow_paper(const struct option_reading *reading,
                              struct experiment_file *file)
{
    struct published p = {.count = 2 * file->model->axis_count};
    for (size_t i = 0; i < p.count; i++) {
        experiment_state_name(file->model, i, p.names[i], sizeof p.names[i]);
    }
    read_published(reading, "rmse", &p, file->paper.rmse);
    read_published(reading, "mae", &p, file->paper.mae);
    read_published(reading, "r2", &p, file->paper.r2);
}

/* --- the file ---------------------------------------------------------------------------- */

static void fill_trial(const struct option_reading *reading, struct follow_values *v)
{
    struct trial_params *t = &v->file.trial;
    const size_t axes = v->file.model->axis_count;
    t->model = v->file.model;
    memcpy(t->reference, v->file.reference.theta, sizeof t->reference);
    memcpy(t->plant, v->file.plant.theta, sizeof t->plant);
    t->follower.model = v->file.model;
    memcpy(t->follower.theta, v->file.plant.theta, sizeof t->follower.theta);
    t->follower.gains.blend_s = 0.5;
    t->input.step_s = 1e-3;
    for (size_t i = 1; i < axes; i++) {
        t->follower.gains.bandwidth_radps[i] = t->follower.gains.bandwidth_radps[0];
    }
    t->inertial_n[0] = v->current_n * cos(v->current_rad) + v->wind_n * cos(v->wind_rad);
    t->inertial_n[1] = v->current_n * sin(v->current_rad) + v->wind_n * sin(v->wind_rad);
    check_axes(reading, "telemetry.noise_sd", v->file.model, v->noise_count);
    check_axes(reading, "plant.start", v->file.model, v->start_count);
    shadow_params_default(&t->shadow);
    t->shadow.method = v->method;
    t->shadow.model = v->file.model;
    t->shadow.axes = axes;
    t->shadow.latency_s_max = fmax(t->shadow.latency_s_max, 2.0 * t->latency_s);
    t->shadow.stale_s = fmax(t->shadow.stale_s, 3.0 * t->sample_s + t->latency_s);
    memcpy(t->shadow.theta, v->file.reference.theta, sizeof t->shadow.theta);
}

/* Finds a model by name, or in a file next to the experiment; NULL with a fault when neither
 * exists. */
static const struct model *find_experiment_model(const struct option_reading *reading,
                                                 const char *name)
{
    char path[LAB_PATH_MAX];
    const struct model_row *row = NULL;
    struct err_list errors = {0};
    if (!model_file_is_path(name)) {
        const struct model *model = model_find(name);
        if (!model) {
            option_fault_at(reading, "model", FAULT_UNKNOWN_NAME, "'%.40s' is not known", name);
        }
        return model;
    }
    if (!text_file_sibling(reading->r->file, name, path, sizeof path) ||
        model_file_register(path, &row, &errors) != STATUS_OK) {
        option_fault_at(reading, "model", errors.items[0].fault, "'%.60s', line %u: %.160s",
                        name, errors.items[0].line, errors.items[0].text);
        return NULL;
    }
    return row->model;
}

static void finish_experiment(const struct option_reading *reading, void *values)
{
    struct follow_values *v = values;
    v->file.model = find_experiment_model(reading, v->model);
    if (!v->file.model) {
        return;
    }
    if (v->file.input_path[0] == '\0') {
        option_fault_at(reading, "input.file", FAULT_MISSING_KEY,
                        "it is missing: what the reference robot does");
    }
    if (v->file.sticks != EXPERIMENT_EFFORTS &&
        !(v->file.reference.vessel[0] && v->file.plant.vessel[0])) {
        option_fault_at(reading, "input.columns", FAULT_NEEDS_KEY,
                        "sticks need vessels, whose thrusters they command");
    }
    if (v->file.trial.drive == TRIAL_COMMANDS && v->file.sticks == EXPERIMENT_EFFORTS) {
        option_fault_at(reading, "drive", FAULT_NEEDS_KEY,
                        "commands need sticks (input.columns: left_right or surge_yaw)");
    }
    read_robot(reading, "reference", v->file.model, &v->file.reference);
    read_robot(reading, "plant", v->file.model, &v->file.plant);
    give_actuators(reading, v);
    read_follow_paper(reading, &v->file);
    fill_trial(reading, v);
    refuse_idle_follow(reading, v);
    experiment_path(reading, "input.file", v->file.input_path);
    experiment_path(reading, "draws", v->file.draws_path);
}

const struct option_file experiment_file = {
    .what = "an experiment",
    .empty = "the file is empty, an experiment has at least reference, plant and input",
    .table = OPTION_TABLE(follow_rows),
    .bytes = sizeof(struct follow_values),
    .out_bytes = sizeof(struct experiment_file),
    .finish = finish_experiment};

/* --- keys of a joint experiment ------------------------------------------------------- */

/* The option rows write to this struct. */
struct joint_values {
    struct joint_file file;
    enum experiment_kind kind;
    double margin_rad;
    double jerk; /* 0: none */
    double load_gain;
    size_t slow_count;
};

static void add_controller(const struct option_reading *item, void *value, void *owner);

/* clang-format off */
#define JOINT(m)      OPTION_AT(struct joint_values, m), ""
#define CONTROL(m) JOINT(file.trial.control.m)
#define JOINT_LIST(count)                                                                      \
    EXPERIMENT_LIST(experiment_size, 1, JOINT_LAGS_MAX, offsetof(struct joint_values, count))

static const struct option_items lag_items = JOINT_LIST(file.lag_count);
static const struct option_items slow_items = JOINT_LIST(slow_count);
static const struct option_items sum_items = {
    .shape = OPTION_NAMED, .value = &experiment_size, .bytes = sizeof(double), .later = true,
    .what = "numbers", .example = "{ise: 1}", .add = add_published};
static const struct option_row controller_value = {
    .type = OPTION_CHOICE, .choices = "p|fsm|profile|time_optimal", .unit = "", .size = sizeof(uint32_t)};
static const struct option_items controller_items = {
    .shape = OPTION_LIST, .value = &controller_value, .least = 1, .most = POSITION_KIND_COUNT,
    .bytes = sizeof(uint32_t), .fault = FAULT_LIST_EXPECTED, .what = "controllers", .example = "[p, fsm]",
    .add = add_controller};
_Static_assert(POSITION_KIND_COUNT == 4 && POSITION_TIME_OPTIMAL == 3, "controllers");

static const struct option_row joint_rows[] = {
    /* Kind of the experiment. */
    {"kind", OPTION_CHOICE, "", "joint", 0.0, 0.0, "joint", JOINT(kind)},
    {"name", OPTION_TEXT, "", "joint", 1.0, 0.0, "", JOINT(file.name)}, /* Name of the experiment. */
    /* Its purpose, in a sentence. */
    {"purpose", OPTION_TEXT, "", "", OPTION_NO_RANGE, JOINT(file.purpose)},
    /* Target of the joint, from rest at 0. */
    {"set_point_rad", OPTION_REAL, "rad", "25", -1e6, 1e6, "", JOINT(file.trial.set_point)},
    /* Lags of the speed behind its command, a list: one run each. */
    {"joint.lag_s", OPTION_ARRAY(lag_items, struct joint_values, file.lag_s), ""},
    /* Radians of the joint per radian of the drive. */
    {"joint.position_gain", OPTION_REAL, "", "1", 1e-6, 1e6, "", CONTROL(position_gain)},
    /* Constant load torque. */
    {"joint.load_nm", OPTION_REAL, "N m", "0", -1e6, 1e6, "", JOINT(file.trial.load)},
    /* Settled loss of speed per unit of load torque. */
    {"joint.load_gain_radpsnm", OPTION_REAL, "rad/(s N m)", "0", 0.0, 1e6, "", JOINT(load_gain)},
    /* How the joint is simulated. */
    {"joint.method", OPTION_CHOICE, "", "exact", 0.0, 0.0, "exact|euler", JOINT(file.trial.method)},
    /* Lag of a motor with a speed PID, tuned to each of joint.lag_s; 0: no such motor. */
    {"motor.lag_s", OPTION_REAL, "s", "0", 0.0, 1e3, "", JOINT(file.trial.motor_lag_s)},
    /* Settled speed at the PID's largest output; 0: no limit. */
    {"motor.max_radps", OPTION_REAL, "rad/s", "0", 0.0, 1e6, "", JOINT(file.trial.motor_max)},
    {"command.max_radps", OPTION_REAL, "rad/s", "10", 1e-6, 1e6, "", CONTROL(command_max)}, /* Largest speed command. */
    /* Smallest speed command that moves it, for p and fsm. */
    {"command.min_radps", OPTION_REAL, "rad/s", "0.1", 0.0, 1e6, "", CONTROL(command_min)},
    {"controllers", EACH(controller_items)}, /* A list of p, fsm, profile, time_optimal; all when absent. */
    {"control.period_s", OPTION_REAL, "s", "0.001", 1e-5, 1.0, "", CONTROL(period_s)}, /* Control period. */
    /* Gain of p, and of the last part of fsm. */
    {"control.gain_per_s", OPTION_REAL, "1/s", "1", 1e-3, 1e4, "", CONTROL(gain_per_s)},
    /* Error up to which p gives no command. */
    {"control.stop_rad", OPTION_REAL, "rad", "0.05", 0.0, 1e6, "", CONTROL(stop)},
    /* Range in which fsm is proportional; it rests within half of it. */
    {"control.near_rad", OPTION_REAL, "rad", "0.2", 1e-9, 1e6, "", CONTROL(near_by)},
    /* Margin that fsm adds to the coasting distance before it slows down. */
    {"control.margin_rad", OPTION_REAL, "rad", "0.1", 0.0, 1e6, "", JOINT(margin_rad)},
    /* That coasting distance, a list, one per lag. */
    {"control.slow_rad", OPTION_ARRAY(slow_items, struct joint_values, file.slow_rad), ""},
    /* Bandwidth of profile and time_optimal about their plan. */
    {"control.tracking_per_s", OPTION_REAL, "1/s", "20", 1e-3, 1e4, "", CONTROL(tracking_per_s)},
    /* Limits of the profile. */
    {"profile.speed_radps", OPTION_REAL, "rad/s", "10", 1e-6, 1e6, "", CONTROL(limits.speed)},
    {"profile.acceleration_radps2", OPTION_REAL, "rad/s^2", "200", 1e-6, 1e9, "", CONTROL(limits.acceleration)},
    /* The joint's lag may require a lower one. */
    {"profile.deceleration_radps2", OPTION_REAL, "rad/s^2", "200", 1e-6, 1e9, "", CONTROL(limits.deceleration)},
    /* Jerk limit; 0: none, a trapezoid. */
    {"profile.jerk_radps3", OPTION_REAL, "rad/s^3", "10000", 0.0, 1e12, "", JOINT(jerk)},
    /* Duration of a run. */
    {"duration_s", OPTION_REAL, "s", "20", 0.01, 86400.0, "", JOINT(file.trial.duration_s)},
    /* Period of the sums and of run.csv; a multiple of the control period. */
    {"sample_s", OPTION_REAL, "s", "0.02", 1e-5, 60.0, "", JOINT(file.trial.sample_s)},
    {"paper.p", EACH(sum_items)}, /* Published sums, as in {ise: 1, iae: 2, itae: 3}. */
    {"paper.fsm", EACH(sum_items)},
    {"paper.profile", EACH(sum_items)},
    {"paper.time_optimal", EACH(sum_items)},
};
/* clang-format on */

static const struct option_table joint_options = {joint_rows, COUNT(joint_rows)};

static void add_controller(const struct option_reading *item, void *value, void *owner)
{
    struct joint_values *v = owner;
    v->file.runs[*(const uint32_t *)value] =
        v->file.runs[*(const uint32_t *)value] || !item->failed;
}

static void read_joint_paper(const struct option_reading *reading, struct joint_file *file)
{
    struct published p = {.names = {"ise", "iae", "itae"}, .count = 3};
    _Static_assert(sizeof(struct joint_indices) == sizeof(double[3]), "as in names");
    for (int k = 0; k < POSITION_KIND_COUNT; k++) {
        read_published(reading, position_kind_name((enum position_kind)k), &p,
                       &file->paper[k].ise);
    }
}

/* --- the file ------------------------------------------------------------------------------
 */

static void fill_windows(const struct option_reading *reading, struct joint_values *v)
{
    struct joint_file *file = &v->file;
    if (option_node(reading, "control.slow_rad") == TREE_NONE) {
        for (size_t i = 0; i < file->lag_count; i++) {
            file->trial.control.lag_s = file->lag_s[i];
            file->slow_rad[i] = position_slow_window(&file->trial.control, v->margin_rad);
        }
        return;
    }
    for (size_t i = 0; i < v->slow_count && !reading->r->failed; i++) {
        if (!(file->slow_rad[i] >= file->trial.control.near_by)) {
            option_fault_at(reading, "control.slow_rad", FAULT_OUT_OF_RANGE, "%g is below %g",
                            file->slow_rad[i], file->trial.control.near_by);
        }
    }
    if (v->slow_count != file->lag_count && !reading->r->failed) {
        option_fault_at(reading, "control.slow_rad", FAULT_WRONG_COUNT,
                        "one for each of %zu lags was expected", file->lag_count);
    }
}

/* Refuses keys of controllers that do not run. */
static void refuse_idle_joint(const struct option_reading *reading,
                              const struct joint_file *file)
{
    const bool loaded = fabs(file->trial.load) > 0.0;
    const bool p = file->runs[POSITION_P];
    const bool fsm = file->runs[POSITION_FSM];
    const bool profile = file->runs[POSITION_PROFILE];
    const bool slow = option_node(reading, "control.slow_rad") != TREE_NONE;
    const struct idle_key keys[] = {
        {"joint.load_nm", !(file->trial.joint.load_gain > 0.0), "without load_gain_radpsnm"},
        {"joint.load_gain_radpsnm", !loaded, "without load_nm"},
        {"command.min_radps", !p && !fsm, "without p and fsm"},
        {"control.gain_per_s", !p && !fsm, "without p and fsm"},
        {"control.stop_rad", !p, "without p"},
        {"control.near_rad", !fsm, "without fsm"},
        {"control.margin_rad", !fsm, "without fsm"},
        {"control.margin_rad", fsm && slow, "with slow_rad"},
        {"control.slow_rad", !fsm, "without fsm"},
        {"control.tracking_per_s", !profile && !file->runs[POSITION_TIME_OPTIMAL],
         "without profile and time_optimal"},
        {"profile.speed_radps", !profile, "without profile"},
        {"profile.acceleration_radps2", !profile, "without profile"},
        {"profile.deceleration_radps2", !profile, "without profile"},
        {"profile.jerk_radps3", !profile, "without profile"},
    };
    refuse_idle(reading, keys, COUNT(keys));
}

static void check_runs(const struct option_reading *reading, const struct joint_file *file)
{
    for (size_t i = 0; i < file->lag_count && !reading->r->failed; i++) {
        for (int k = 0; k < POSITION_KIND_COUNT; k++) {
            struct joint_trial_params trial;
            struct err err = {0};
            joint_file_trial(file, i, (enum position_kind)k, &trial);
            if (file->runs[k] && joint_trial_check(&trial, &err) != STATUS_OK) {
                const struct option_row *row = option_find(&joint_options, err.where);
                option_fault(reading->r, row ? option_node(reading, row->path) : TREE_NONE,
                             err.fault, "%s: %s %s", position_kind_name((enum position_kind)k),
                             err.where, err.text);
                return;
            }
        }
    }
}

static void finish_joint(const struct option_reading *reading, void *values)
{
    struct joint_values *v = values;
    struct joint_trial_params *trial = &v->file.trial;
    trial->control.limits.jerk = v->jerk > 0.0 ? v->jerk : HUGE_VAL;
    trial->joint = (struct servo_joint_params){.speed_gain = 1.0,
                                               .load_gain = v->load_gain,
                                               .position_gain = trial->control.position_gain,
                                               .speed_radps_max = HUGE_VAL};
    fill_windows(reading, v);
    for (int k = 0; k < POSITION_KIND_COUNT; k++) {
        v->file.runs[k] = v->file.runs[k] || option_node(reading, "controllers") == TREE_NONE;
    }
    read_joint_paper(reading, &v->file);
    refuse_idle_joint(reading, &v->file);
    check_runs(reading, &v->file);
}

void joint_file_trial(const struct joint_file *file, size_t i, enum position_kind kind,
                      struct joint_trial_params *out)
{
    *out = file->trial;
    out->joint.lag_s = file->lag_s[i];
    out->control.lag_s = file->lag_s[i];
    out->control.slow = file->slow_rad[i];
    out->control.kind = kind;
}

const struct option_file joint_file = {.what = "an experiment",
                                       .empty = "the file is empty, joint.lag_s is missing",
                                       .table = &joint_options,
                                       .required = "joint.lag_s",
                                       .bytes = sizeof(struct joint_values),
                                       .out_bytes = sizeof(struct joint_file),
                                       .finish = finish_joint};

/* --- any kind ------------------------------------------------------------------------- */

/* Reads the kind from the file itself. */
static enum experiment_kind find_kind(const struct option_reader *r)
{
    const char *text = tree_scalar(r->tree, tree_child(r->tree, TREE_ROOT, "kind"));
    const size_t kind = names_value(&experiment_kind_names, text);
    return kind < EXPERIMENT_KIND_COUNT ? (enum experiment_kind)kind : EXPERIMENT_FOLLOW;
}

static void read_any(const struct option_reading *reading, void *values)
{
    struct option_reader *r = reading->r;
    struct any_experiment *any = values;
    any->kind = find_kind(r);
    if (any->kind == EXPERIMENT_JOINT) {
        option_file_read(&joint_file, r, TREE_ROOT, "", &any->of_joint);
    } else if (any->kind == EXPERIMENT_ARM) {
        option_file_read(&arm_file, r, TREE_ROOT, "", &any->of_arm);
    } else {
        option_file_read(&experiment_file, r, TREE_ROOT, "", &any->follow);
    }
}

ENUM_NAMES(experiment_kind, EXPERIMENT_KIND_COUNT, "follow", "joint", "arm");

const struct option_file any_experiment_file = {
    .what = "an experiment",
    .empty = "the file is empty, an experiment has at least reference, plant and input",
    .bytes = sizeof(struct any_experiment),
    .out_bytes = sizeof(struct any_experiment),
    .finish = read_any};
