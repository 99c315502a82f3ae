#include "twin/sim/robot/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "twin/machine/machine.h"

#define VALUES_PER_UNIT 1000.0

const struct robot_kind *robot_kind_find(const char *name)
{
    for (size_t i = 0; i < robot_kind_count; i++) {
        if (strcmp(robot_kinds[i]->name, name) == 0) {
            return robot_kinds[i];
        }
    }
    return NULL;
}

int robot_parameter_find(const struct robot_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->parameter_count; i++) {
        if (strcmp(kind->parameters[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int robot_choice_find(const struct robot_parameter *parameter, const char *word)
{
    for (size_t i = 0; parameter->choices && i < (size_t)parameter->max + 1; i++) {
        if (strcmp(parameter->choices[i], word) == 0) {
            return (int)i;
        }
    }
    return -1;
}

void robot_presets(const struct robot_kind *kind, double parameters[ROBOT_PARAMETERS_MAX])
{
    for (size_t i = 0; i < kind->parameter_count; i++) {
        parameters[i] = kind->parameters[i].preset;
    }
}

bool robot_value_fits(const struct robot_parameter *parameter, double value)
{
    const bool within = value >= parameter->min && value <= parameter->max;
    return within && (!parameter->choices || !(fabs(value - floor(value)) > 0.0));
}

/* Appends the names of the ports of one direction to reason. */
static void list_ports(const struct robot_kind *kind, bool input, char *reason, size_t size)
{
    for (size_t i = 0; i < kind->port_count; i++) {
        const size_t used = strlen(reason);
        if (kind->ports[i].input == input) {
            (void)snprintf(reason + used, size - used, " %s", kind->ports[i].name);
        }
    }
}

static const struct robot_port *find_port(const struct robot_kind *kind, bool input,
                                          const char *name)
{
    for (size_t i = 0; i < kind->port_count; i++) {
        if (kind->ports[i].input == input && strcmp(kind->ports[i].name, name) == 0) {
            return &kind->ports[i];
        }
    }
    return NULL;
}

static bool accepts_port(const struct robot_kind *kind, const struct machine *machine,
                         const struct machine_port *port, bool input, char *reason, size_t size)
{
    const char *name = machine_name(machine, port->name);
    const struct robot_port *found = find_port(kind, input, name);
    if (!found && input) {
        (void)snprintf(reason, size,
                       "E-PORT  %s reads %s, which a %s robot does not provide; it provides",
                       machine->table.name, name, kind->name);
        list_ports(kind, true, reason, size);
        return false;
    }
    if (found && found->type != machine_type(machine, port->name)) {
        (void)snprintf(reason, size, "E-PORT  %s: %s is a %s of a %s robot",
                       machine->table.name, name,
                       found->type == EXPRESSION_TRUTH ? "truth" : "number", kind->name);
        return false;
    }
    return true;
}

bool robot_accepts_machine(const struct robot_kind *kind, const struct machine *machine,
                           char *reason, size_t size)
{
    bool tells = false;
    if (kind->port_count == 0) {
        (void)snprintf(reason, size, "a %s robot has no ports for a machine", kind->name);
        return false;
    }
    for (size_t i = 0; i < machine->input_count; i++) {
        if (!accepts_port(kind, machine, &machine->inputs[i], true, reason, size)) {
            return false;
        }
    }
    for (size_t i = 0; i < machine->output_count; i++) {
        if (!accepts_port(kind, machine, &machine->outputs[i], false, reason, size)) {
            return false;
        }
        tells |=
            find_port(kind, false, machine_name(machine, machine->outputs[i].name)) != NULL;
    }
    if (!tells) {
        (void)snprintf(reason, size,
                       "E-PORT  %s has no output that a %s robot accepts; it accepts",
                       machine->table.name, kind->name);
        list_ports(kind, false, reason, size);
    }
    return tells;
}

static size_t parameter_at(const struct robot_kind *kind, size_t index)
{
    return kind->parameters_at + index * sizeof(double);
}

double robot_get_parameter(const struct robot_kind *kind, const void *memory, size_t index)
{
    double value;
    memcpy(&value, (const char *)memory + parameter_at(kind, index), sizeof value);
    return value;
}

void robot_set_parameter(const struct robot_kind *kind, void *memory, size_t index,
                         double value)
{
    const double before = robot_get_parameter(kind, memory, index);
    memcpy((char *)memory + parameter_at(kind, index), &value, sizeof value);
    if (kind->changed) {
        kind->changed(memory, index, before);
    }
}

void robot_begin(const struct robot_kind *kind, void *memory, const struct robot_setup *setup)
{
    double presets[ROBOT_PARAMETERS_MAX];
    robot_presets(kind, presets);
    memset(memory, 0, kind->bytes);
    memcpy((char *)memory + kind->parameters_at,
           setup->parameters ? setup->parameters : presets,
           kind->parameter_count * sizeof(double));
}

enum status robot_set(const struct robot_kind *kind, void *memory, const char *name,
                      double value, char reason[ROBOT_REASON_MAX])
{
    const int index = robot_parameter_find(kind, name);
    if (index < 0) {
        (void)snprintf(reason, ROBOT_REASON_MAX, "a %s has no such parameter", kind->name);
        return STATUS_E_RANGE;
    }
    const struct robot_parameter *row = &kind->parameters[index];
    if (!robot_value_fits(row, value)) {
        (void)snprintf(reason, ROBOT_REASON_MAX, "%g to %g%s%s was expected", row->min,
                       row->max, row->unit[0] ? " " : "", row->unit);
        return STATUS_E_RANGE;
    }
    robot_set_parameter(kind, memory, (size_t)index, value);
    return STATUS_OK;
}

void robot_command(const struct robot_kind *kind, void *memory,
                   const struct event_command *command, robot_sink *sink, void *context)
{
    struct robot_sample now = {0};
    if (kind->command(memory, command)) {
        return;
    }
    kind->sample(memory, &now);
    struct robot_reply reply = {
        .status = REPLY_ERROR, .start_us = now.t_us, .end_us = now.t_us};
    (void)snprintf(reply.id, sizeof reply.id, "%s", command->id);
    (void)snprintf(reply.detail, sizeof reply.detail, "too many commands wait already");
    sink(context, &reply);
}

double robot_round(double value, double per_unit)
{
    const double whole = rint(value * per_unit) / per_unit;
    return fabs(whole) > 0.0 ? whole : 0.0;
}

void robot_reply_add(struct robot_reply *reply, const char *name, double value)
{
    reply->values[reply->value_count++] =
        (struct robot_value){name, robot_round(value, VALUES_PER_UNIT)};
}

void robot_reply_pose(struct robot_reply *reply, double x_m, double y_m, double psi_rad)
{
    robot_reply_add(reply, "x_m", x_m);
    robot_reply_add(reply, "y_m", y_m);
    robot_reply_add(reply, "psi_rad", psi_rad);
}

double robot_wrap_rad(double angle_rad)
{
    const double turn = remainder(angle_rad, 2.0 * PI);
    return turn <= -PI ? turn + 2.0 * PI : turn;
}
