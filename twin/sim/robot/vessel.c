/* twin/sim/robot/vessel.c - a simulated surface vessel: the model of
 * identification/model/usv3.h driven by efforts over MQTT.
 *
 * An effort is held until the next one; the step is integrated in substeps of at most
 * SUBSTEP_US. docs/model/usv3.md sections 3 to 5.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "identification/model/usv3.h"
#include "twin/sim/robot/robot_kinds.h"
#include "twin/sim/robot/world.h"

enum { SUBSTEP_US = 12500, HALTS_MAX = 16 };

enum actuation {
    ACTUATION_WRENCH, /* the whole wrench, without limits, also sideways: for a virtual twin */
    ACTUATION_ALLOCATED, /* a wrench, as far as the thrusters can produce it */
    ACTUATION_THRUSTERS  /* the thrust of each thruster */
};

enum parameter {
#define PARAMETER(value, ...) value,
#include "twin/sim/robot/vessel_params.def"
#undef PARAMETER
    VESSEL_PARAMETER_COUNT,
    THETA = SURGE_MASS
};

struct vessel {
    const struct world *world;
    int64_t t_us, period_us;
    double values[VESSEL_PARAMETER_COUNT];
    bool is_own[USV3_PARAMETERS]; /* this model parameter is the hull's own */
    double nu[USV3_AXES], pose[USV3_AXES];
    double effort[EVENT_AXES_MAX]; /* as given */
    int64_t effort_us;             /* time of the effort */
    double tau[USV3_AXES];         /* resulting wrench */
    double gust[USV3_AXES];        /* process noise, body frame */
    double noise[USV3_AXES];       /* on nu in this period's telemetry */
    struct random_source random;
    size_t halt_count;
    struct robot_reply halts[HALTS_MAX]; /* answered at the end of the step */
};

static const char *const vessel_words[] = {"wamv", "iacquabot"};
static const char *const actuation_words[] = {"wrench", "allocated", "thrusters"};

#define OWN 0.0, 0.0, 1e6 /* 0 means the vessel's own value */
static const struct robot_parameter vessel_parameters[VESSEL_PARAMETER_COUNT] = {
#define PARAMETER(value, ...) {__VA_ARGS__},
#include "twin/sim/robot/vessel_params.def"
#undef PARAMETER
};

static const struct usv3_vessel *hull_of(const struct vessel *v)
{
    return &usv3_vessels[(size_t)v->values[VESSEL]];
}

static enum actuation actuation_of(const struct vessel *v)
{
    return (enum actuation)(int)v->values[ACTUATION];
}

static size_t effort_count(const struct vessel *v)
{
    return actuation_of(v) == ACTUATION_THRUSTERS ? hull_of(v)->thruster_count : USV3_AXES;
}

static void apply_effort(struct vessel *v)
{
    double thrust_n[ALLOCATION_ACTUATORS_MAX];
    struct allocation thrusters;
    usv3_actuators(hull_of(v), &thrusters);
    switch (actuation_of(v)) {
    case ACTUATION_THRUSTERS:
        memcpy(thrust_n, v->effort, sizeof v->effort);
        (void)allocation_limit(&thrusters, thrust_n, v->tau);
        break;
    case ACTUATION_ALLOCATED:
        (void)allocation_share(&thrusters, v->effort, thrust_n, v->tau);
        break;
    case ACTUATION_WRENCH:
    default:
        memcpy(v->tau, v->effort, sizeof v->tau);
        break;
    }
}

static void apply_parameters(struct vessel *v)
{
    for (size_t i = 0; i < USV3_PARAMETERS; i++) {
        v->values[THETA + i] = v->is_own[i] ? hull_of(v)->theta[i] : v->values[THETA + i];
    }
    apply_effort(v);
}

static void init_vessel(void *memory, const struct robot_setup *setup)
{
    struct vessel *v = memory;
    robot_begin(&usv3_kind, memory, setup);
    v->world = setup->world;
    v->t_us = setup->start_us;
    v->period_us = setup->period_us;
    v->effort_us = setup->start_us;
    v->random.state = setup->seed;
    memcpy(v->pose, setup->pose, sizeof v->pose);
    for (size_t i = 0; i < USV3_PARAMETERS; i++) {
        v->is_own[i] = !(v->values[THETA + i] > 0.0);
    }
    apply_parameters(v);
}

static bool queue_command(void *memory, const struct event_command *command)
{
    struct vessel *v = memory;
    if (v->halt_count == HALTS_MAX) {
        return false;
    }
    struct robot_reply *reply = &v->halts[v->halt_count++];
    *reply = (struct robot_reply){.status = REPLY_DONE, .start_us = v->t_us};
    (void)snprintf(reply->id, sizeof reply->id, "%s", command->id);
    if (strcmp(command->op, "halt") == 0) {
        memset(v->effort, 0, sizeof v->effort);
        apply_effort(v);
    } else {
        reply->status = REPLY_IGNORED;
        (void)snprintf(reply->detail, sizeof reply->detail,
                       "a vessel obeys efforts, and of the commands halt only");
    }
    return true;
}

static enum status set_effort(void *memory, const double *tau, size_t count)
{
    struct vessel *v = memory;
    if (count != effort_count(v)) {
        return STATUS_E_RANGE;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(tau[i])) {
            return STATUS_E_RANGE;
        }
    }
    memcpy(v->effort, tau, count * sizeof tau[0]);
    v->effort_us = v->t_us;
    apply_effort(v);
    return STATUS_OK;
}

/* It continues to drift from there. */
static enum status place_vessel(void *memory, const double pose[USV3_AXES])
{
    struct vessel *v = memory;
    memcpy(v->pose, pose, sizeof v->pose);
    return STATUS_OK;
}

static void update_parameter(void *memory, size_t index, double before)
{
    struct vessel *v = memory;
    if (index >= THETA && index < THETA + USV3_PARAMETERS) {
        v->is_own[index - THETA] = !(v->values[index] > 0.0);
    }
    const bool other_thrusters =
        index == VESSEL && actuation_of(v) == ACTUATION_THRUSTERS &&
        usv3_vessels[(size_t)before].thruster_count != hull_of(v)->thruster_count;
    if (other_thrusters || index == ACTUATION) {
        memset(v->effort, 0, sizeof v->effort); /* its numbers have another meaning now */
    }
    apply_parameters(v);
}

/* Random forces with memory: a first-order process of the set variance. */
static void draw_gust(struct vessel *v)
{
    const double sd[USV3_AXES] = {v->values[GUST_N], v->values[GUST_N], v->values[GUST_NM]};
    const double decay = exp(-(double)v->period_us * 1e-6 / v->values[GUST_S]);
    for (size_t i = 0; i < USV3_AXES; i++) {
        v->gust[i] = sd[i] > 0.0 ? decay * v->gust[i] + sqrt(1.0 - decay * decay) * sd[i] *
                                                            random_normal(&v->random)
                                 : 0.0;
    }
}

static void draw_noise(struct vessel *v)
{
    for (size_t i = 0; i < USV3_AXES; i++) {
        const double sd = v->values[NOISE_U + i];
        v->noise[i] = sd > 0.0 ? sd * random_normal(&v->random) : 0.0;
    }
}

static void move_hull(struct vessel *v)
{
    const int64_t substeps = (v->period_us + SUBSTEP_US - 1) / SUBSTEP_US;
    const double h_s = (double)v->period_us * 1e-6 / (double)substeps;
    const double force_n[2] = {v->values[CURRENT_N] * cos(v->values[CURRENT_RAD]) +
                                   v->values[WIND_N] * cos(v->values[WIND_RAD]),
                               v->values[CURRENT_N] * sin(v->values[CURRENT_RAD]) +
                                   v->values[WIND_N] * sin(v->values[WIND_RAD])};
    double tau[USV3_AXES];
    for (size_t i = 0; i < USV3_AXES; i++) {
        tau[i] = v->tau[i] + v->gust[i];
    }
    for (int64_t k = 0; k < substeps; k++) {
        model_step(&usv3_model, &v->values[THETA], v->nu, v->pose, tau, force_n, h_s);
    }
}

/* A vessel that would hit an obstacle stays where it was and stops. If an obstacle appears
 * around it, it may leave. */
static void stop_at_obstacle(struct vessel *v, const double before[USV3_AXES])
{
    const double radius_m = v->values[RADIUS_M];
    if (v->world && world_blocked(v->world, v->pose[0], v->pose[1], radius_m) &&
        !world_blocked(v->world, before[0], before[1], radius_m)) {
        v->pose[0] = before[0];
        v->pose[1] = before[1];
        v->nu[0] = 0.0;
        v->nu[1] = 0.0;
    }
}

static void step_vessel(void *memory, robot_sink *sink, void *context)
{
    struct vessel *v = memory;
    const double timeout_s = v->values[EFFORT_TIMEOUT_S];
    double before[USV3_AXES];
    if (timeout_s > 0.0 && (double)(v->t_us - v->effort_us) * 1e-6 >= timeout_s) {
        memset(v->effort, 0, sizeof v->effort);
        apply_effort(v);
    }
    memcpy(before, v->pose, sizeof before);
    draw_gust(v);
    move_hull(v);
    stop_at_obstacle(v, before);
    draw_noise(v);
    v->t_us += v->period_us;
    for (size_t i = 0; i < v->halt_count; i++) {
        v->halts[i].end_us = v->t_us;
        sink(context, &v->halts[i]);
    }
    v->halt_count = 0;
}

static void sample_vessel(const void *memory, struct robot_sample *out)
{
    const struct vessel *v = memory;
    out->t_us = v->t_us;
    out->nu_count = USV3_AXES;
    out->tau_count = USV3_AXES;
    out->pose_count = USV3_AXES;
    for (size_t i = 0; i < USV3_AXES; i++) {
        out->nu[i] = v->nu[i] + v->noise[i];
        out->tau[i] = v->tau[i];
        out->pose[i] = v->pose[i];
    }
    out->pose[2] = remainder(v->pose[2], 2.0 * PI);
}

const struct robot_kind usv3_kind = {
    .name = "usv3",
    .purpose = "a surface vessel in surge, sway and yaw, driven by efforts",
    .bytes = sizeof(struct vessel),
    .period_us = 10000,
    .parameters = vessel_parameters,
    .parameter_count = VESSEL_PARAMETER_COUNT,
    .parameters_at = offsetof(struct vessel, values),
    .operations = "halt, and efforts",
    .init = init_vessel,
    .command = queue_command,
    .effort = set_effort,
    .place = place_vessel,
    .changed = update_parameter,
    .step = step_vessel,
    .sample = sample_vessel,
};
