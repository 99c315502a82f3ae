/* The plain robot of twin/robots/kinematic.h as a robot kind: commands wait in a queue, moves
 * take what their travel times say. */
#include <stdio.h>
#include <string.h>

#include "twin/robots/kinematic.h"
#include "twin/robots/robot_kinds.h"

enum parameter { ANGULAR_SPEED, LINEAR_SPEED, T0, TA, TR, NOISE, PARAMETER_COUNT };

struct plain {
    struct kinematic k;
    int64_t now_us, period_us;
    double noise_s;
    struct random_source random;
};

/* clang-format off */
static const struct robot_parameter parameters[PARAMETER_COUNT] = {
    [ANGULAR_SPEED] = {"angular_speed_radps", "rad/s", 1.0, 1e-3, 1e3, "while turning", NULL},
    [LINEAR_SPEED]  = {"linear_speed_mps", "m/s", 0.2, 1e-3, 1e3, "while driving", NULL},
    [T0]            = {"t0_s", "s", 0.05, 0, 3600, "of every command", NULL},
    [TA]            = {"ta_s", "s", 0, 0, 3600, "before each rotation", NULL},
    [TR]            = {"tr_s", "s", 0, 0, 3600, "before each displacement", NULL},
    [NOISE]         = {"noise_s", "s", 0, 0, 3600, "standard deviation of a lap", NULL},
};
/* clang-format on */

static double *place(struct plain *p, size_t index)
{
    switch ((enum parameter)index) {
    case ANGULAR_SPEED:
        return &p->k.params.angular_speed_radps;
    case LINEAR_SPEED:
        return &p->k.params.linear_speed_mps;
    case T0:
        return &p->k.params.t0_s;
    case TA:
        return &p->k.params.ta_s;
    case TR:
        return &p->k.params.tr_s;
    case NOISE:
    case PARAMETER_COUNT:
    default:
        return &p->noise_s;
    }
}

static void set_parameter(void *memory, size_t index, double value)
{
    *place(memory, index) = value;
}

static double get_parameter(const void *memory, size_t index)
{
    struct plain copy = *(const struct plain *)memory;
    return *place(&copy, index);
}

static void init(void *memory, const struct robot_setup *setup)
{
    struct plain *p = memory;
    const struct kinematic_params none = {.t0_s = 0.0};
    memset(p, 0, sizeof *p);
    kinematic_init(&p->k, &none);
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        set_parameter(p, i, setup->parameters ? setup->parameters[i] : parameters[i].preset);
    }
    p->k.x_m = setup->pose[0];
    p->k.y_m = setup->pose[1];
    p->k.psi_rad = setup->pose[2];
    p->now_us = setup->start_us;
    p->period_us = setup->period_us;
    p->random.state = setup->seed;
}

static bool command(void *memory, const struct event_command *c)
{
    struct plain *p = memory;
    const double noise_s = p->noise_s > 0.0 ? p->noise_s * random_normal(&p->random) : 0.0;
    return kinematic_command(&p->k, p->now_us, c, noise_s);
}

/* The names outlive the reply. */
static const char *name_of(const char *name)
{
    static const char *const names[] = {"x_m",    "y_m",      "psi_rad", "ahead_m",
                                        "left_m", "behind_m", "right_m"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(names[i], name) == 0) {
            return names[i];
        }
    }
    return "value";
}

static void tell(const struct kinematic_done *done, robot_sink *sink, void *context)
{
    struct robot_reply reply = {.status = done->status,
                                .start_us = done->start_us,
                                .end_us = done->end_us,
                                .value_count = done->value_count};
    (void)snprintf(reply.id, sizeof reply.id, "%s", done->id);
    for (size_t i = 0; i < done->value_count; i++) {
        reply.values[i] =
            (struct robot_value){name_of(done->values[i].name), done->values[i].number};
    }
    if (done->status == REPLY_IGNORED) {
        (void)snprintf(reply.detail, sizeof reply.detail, "go, lidar or halt was expected");
    }
    sink(context, &reply);
}

static void step(void *memory, robot_sink *sink, void *context)
{
    struct plain *p = memory;
    struct kinematic_done done;
    p->now_us += p->period_us;
    while (kinematic_step(&p->k, p->now_us, &done)) {
        tell(&done, sink, context);
    }
}

static void sample(const void *memory, struct robot_sample *out)
{
    const struct plain *p = memory;
    memset(out, 0, sizeof *out);
    out->t_us = p->now_us;
    out->nu_count = out->pose_count = KINEMATIC_AXES;
    kinematic_sample(&p->k, p->now_us, out->nu, out->pose);
}

const struct robot_kind kinematic_kind = {
    .name = "kinematic",
    .purpose = "turns, then drives, at constant speeds; commands wait in a queue",
    .bytes = sizeof(struct plain),
    .period_us = 2000,
    .parameters = parameters,
    .parameter_count = PARAMETER_COUNT,
    .operations = "go, lidar, halt",
    .init = init,
    .command = command,
    .effort = NULL,
    .set_parameter = set_parameter,
    .get_parameter = get_parameter,
    .step = step,
    .sample = sample,
    .machines = NULL,
};
