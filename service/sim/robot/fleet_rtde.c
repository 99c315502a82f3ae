/* service/sim/robot/fleet_rtde.c - connects the fleet's arm to RTDE: publishes its state period
 * by period, and applies the clients' speed slider.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identification/geometry/arm_geometry.h"
#include "service/sim/robot/fleet_parts.h"
#include "twin/sim/robot/arm6.h"

/* s: UR's C++ client assumes a finished boot when the controller's clock is past 40 s. */
static const double CLOCK_BEGINS_S = 100.0;
/* smallest ratio that a slider allows */
static const double SLIDER_LEAST = 0.01;

static const double SUPPLY_V = 48.0;
static const double WARM_C = 30.0;

enum { STATUS_POWER_ON = 1, STATUS_PROGRAM_RUNS = 2, SAFETY_NORMAL = 1, SAFETY_STOPPED = 4 };
enum { TOOL_RUNNING = 253, CONFIGURABLE_AT = 8, TOOL_AT = 16 };

struct fleet_rtde {
    struct rtde_server *server;
    struct rtde_inputs inputs;
    double slider;    /* slider in force, 1: none */
    uint64_t digital; /* outputs set by clients: standard 0 .. 7, configurable 8 .. 15, tool */
};

bool fleet_rtde_start(struct fleet *f)
{
    struct err err = {0};
    const struct fleet_options *o = &f->options;
    if (!o->rtde.where) {
        return true;
    }
    const bool writes = o->rtde_writes || tcp_listen_is_loopback(&o->rtde);
    f->rtde = calloc(1, sizeof *f->rtde);
    const enum status st = f->rtde ? rtde_server_start(&f->rtde->server, &o->rtde,
                                                       lab_s(f->period_us), writes, &err)
                                   : err_no_memory(&err, o->rtde.where, "no memory");
    if (st != STATUS_OK) {
        return fleet_refuse_server("rtde", &err);
    }
    f->rtde->slider = 1.0;
    fleet_print_server("RTDE", rtde_server_where(f->rtde->server), writes);
    return true;
}

void fleet_rtde_stop(struct fleet *f)
{
    struct rtde_counts c;
    if (f->rtde && f->rtde->server) {
        rtde_server_counts(f->rtde->server, &c);
        (void)printf("RTDE: %" PRIu64 " clients, %" PRIu64 " frames of theirs, %" PRIu64
                     " malformed",
                     c.tcp.clients, c.frames, c.malformed);
        fleet_print_clients(&c.tcp);
        rtde_server_stop(f->rtde->server);
    }
    free(f->rtde);
    f->rtde = NULL;
}

static double wanted_slider(const struct rtde_inputs *in)
{
    const double wanted = in->speed_slider_mask & 1 ? in->speed_slider_fraction : 1.0;
    return isnan(wanted) ? 1.0 : fmax(SLIDER_LEAST, fmin(wanted, 1.0));
}

static void scale_parameter(struct fleet *f, struct fleet_robot *r, const char *name,
                            double factor)
{
    const struct robot_kind *kind = f->options.kind;
    const int index = robot_parameter_find(kind, name);
    const double value = factor * robot_get_parameter(kind, r->memory, (size_t)index);
    if (robot_value_fits(&kind->parameters[index], value)) {
        robot_set_parameter(kind, r->memory, (size_t)index, value);
    }
}

/* Scales time: speeds by the slider, accelerations by its square. Moves are planned as a whole,
 * so a change takes effect between them. */
void fleet_rtde_apply(struct fleet *f, struct fleet_robot *r, robot_sink *reply)
{
    struct fleet_rtde *m = f->rtde;
    struct arm6_state arm;
    if (!m) {
        return;
    }
    const double ratio = wanted_slider(&m->inputs) / m->slider;
    arm6_read(r->memory, &arm);
    fleet_ur_apply(f, r, reply, &m->inputs, arm.t_us);
    if (fabs(ratio - 1.0) > 1e-9 && arm.phase != ARM6_MOVING) {
        scale_parameter(f, r, "speed_ratio", ratio);
        scale_parameter(f, r, "acceleration_ratio", ratio * ratio);
        m->slider *= ratio;
    }
}

static void fill_six(double out[6], double value)
{
    for (size_t i = 0; i < 6; i++) {
        out[i] = value;
    }
}

static void write_joints(const struct arm6_state *arm, struct rtde_outputs *v)
{
    memcpy(v->target_q, arm->q_sp_rad, sizeof v->target_q);
    memcpy(v->target_qd, arm->qd_sp_radps, sizeof v->target_qd);
    memcpy(v->target_qdd, arm->qdd_sp_radps2, sizeof v->target_qdd);
    memcpy(v->target_current, arm->current_a, sizeof v->target_current);
    memcpy(v->actual_q, arm->q_rad, sizeof v->actual_q);
    memcpy(v->actual_qd, arm->qd_radps, sizeof v->actual_qd);
    memcpy(v->actual_current, arm->current_a, sizeof v->actual_current);
    memcpy(v->joint_control_output, arm->current_a, sizeof v->joint_control_output);
    memcpy(v->actual_TCP_pose, arm->tcp, sizeof v->actual_TCP_pose);
    memcpy(v->actual_TCP_speed, arm->tcp_speed, sizeof v->actual_TCP_speed);
    memcpy(v->target_TCP_pose, arm->tcp_sp, sizeof v->target_TCP_pose);
    memcpy(v->target_TCP_speed, arm->tcp_sp_speed, sizeof v->target_TCP_speed);
    rigid_to_pose(&arm->arm.tool, v->tcp_offset);
    fill_six(v->joint_temperatures, WARM_C);
    fill_six(v->actual_joint_voltage, SUPPLY_V);
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        v->joint_mode[i] = RTDE_JOINT_RUNNING;
        v->actual_robot_current += fabs(arm->current_a[i]);
    }
}

/* The elbow is the origin of the third joint: two joints move it. */
static void write_elbow(const struct arm6_state *arm, struct rtde_outputs *v)
{
    struct rigid frames[ARM_JOINTS + 1];
    arm_frames(&arm->arm, arm->q_rad, frames);
    const double *elbow_m = frames[2].at_m;
    memcpy(v->elbow_position, elbow_m, sizeof v->elbow_position);
    for (size_t j = 0; j < 2; j++) {
        for (size_t i = 0; i < 3; i++) {
            const size_t k = (i + 1) % 3;
            const size_t l = (i + 2) % 3;
            v->elbow_velocity[i] +=
                arm->qd_radps[j] * (frames[j].turn[k][2] * (elbow_m[l] - frames[j].at_m[l]) -
                                    frames[j].turn[l][2] * (elbow_m[k] - frames[j].at_m[k]));
        }
    }
}

static void set_bits(uint64_t *bits, unsigned at, uint8_t mask, uint8_t values)
{
    *bits = (*bits & ~((uint64_t)mask << at)) | (uint64_t)(mask & values) << at;
}

static uint64_t digital_outputs(struct fleet_rtde *m)
{
    const struct rtde_inputs *in = &m->inputs;
    set_bits(&m->digital, 0, in->standard_digital_output_mask, in->standard_digital_output);
    set_bits(&m->digital, CONFIGURABLE_AT, in->configurable_digital_output_mask,
             in->configurable_digital_output);
    set_bits(&m->digital, TOOL_AT, in->tool_digital_output_mask & 3, in->tool_digital_output);
    return m->digital;
}

void fleet_rtde_show(struct fleet *f, const struct fleet_robot *r)
{
    struct fleet_rtde *m = f->rtde;
    struct arm6_state arm;
    if (!m) {
        return;
    }
    arm6_read(r->memory, &arm);
    const bool moves = arm.phase == ARM6_MOVING;
    const int32_t safety =
        arm.protective_stop ? RTDE_SAFETY_PROTECTIVE_STOP : RTDE_SAFETY_NORMAL;
    struct rtde_outputs v = {
        .timestamp = CLOCK_BEGINS_S + lab_s(arm.t_us - f->start_us),
        .robot_mode = RTDE_ROBOT_RUNNING,
        .safety_mode = safety,
        .safety_status = safety,
        .speed_scaling = m->slider,
        .target_speed_fraction = wanted_slider(&m->inputs),
        .actual_main_voltage = SUPPLY_V,
        .actual_robot_voltage = SUPPLY_V,
        .actual_digital_output_bits = digital_outputs(m) | arm.outputs,
        .tool_mode = TOOL_RUNNING,
        .tool_temperature = WARM_C,
        .runtime_state = moves ? RTDE_RUNTIME_PLAYING : RTDE_RUNTIME_STOPPED,
        .robot_status_bits = STATUS_POWER_ON | (moves ? STATUS_PROGRAM_RUNS : 0),
        .safety_status_bits = arm.protective_stop ? SAFETY_STOPPED : SAFETY_NORMAL};
    write_joints(&arm, &v);
    write_elbow(&arm, &v);
    const struct fleet_ur_registers *own = fleet_ur_registers(f);
    rtde_server_publish(m->server, &v, own ? &own->taken : NULL, &m->inputs);
}
