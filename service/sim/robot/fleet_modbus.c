/* service/sim/robot/fleet_modbus.c - connects the fleet's arm to Modbus TCP: clients' requests
 * and displayed registers, period by period.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identification/geometry/arm_indices.h"
#include "service/sim/robot/fleet_parts.h"

struct fleet_modbus {
    struct modbus_server *server;
    struct modbus_program program;
    struct robot_reply reply; /* answer to the program's command; "" in id: none yet */
    struct modbus_orders orders;
    struct arm_indices indices;
    uint32_t moves; /* commands that had moved the arm when the goal of the indices was set */
    bool external, has_goal; /* external: a streaming client drives, and the goal is its own */
    uint16_t words[MODBUS_REGISTERS];
};

bool fleet_modbus_start(struct fleet *f)
{
    struct err err = {0};
    const char *where = f->options.modbus.listen.where;
    if (!where) {
        return true;
    }
    f->modbus = calloc(1, sizeof *f->modbus);
    const enum status st =
        f->modbus ? modbus_server_start(&f->modbus->server, &f->options.modbus, &err)
                  : err_no_memory(&err, where, "no memory");
    if (st != STATUS_OK) {
        return fleet_refuse_server("modbus", &err);
    }
    fleet_modbus_show(f, &f->robots[0]);
    fleet_print_server("Modbus TCP", modbus_server_where(f->modbus->server),
                       modbus_server_accepts_writes(f->modbus->server));
    return true;
}

void fleet_modbus_stop(struct fleet *f)
{
    struct modbus_counts c;
    if (f->modbus && f->modbus->server) {
        modbus_server_counts(f->modbus->server, &c);
        (void)printf("Modbus: %" PRIu64 " clients, %" PRIu64 " requests, %" PRIu64 " refused",
                     c.tcp.clients, c.requests, c.refused);
        fleet_print_clients(&c.tcp);
        modbus_server_stop(f->modbus->server);
    }
    free(f->modbus);
    f->modbus = NULL;
}

static void apply_order(struct fleet *f, struct fleet_robot *r, robot_sink *reply,
                        const struct modbus_order *order)
{
    struct fleet_modbus *m = f->modbus;
    struct event_command command;
    bool whole = true;
    if (order->command) {
        struct arm6_state arm;
        arm6_read(r->memory, &arm);
        m->reply.id[0] = '\0';
        whole = modbus_map_command(order->words, arm.cartesian, &m->program, &command);
    } else {
        modbus_map_mode(order->words[MODBUS_MODE - MODBUS_COMMAND], &command);
    }
    if (whole) {
        f->counts.commands += order->command;
        robot_command(f->options.kind, r->memory, &command, reply, f);
    }
}

void fleet_modbus_apply(struct fleet *f, struct fleet_robot *r, robot_sink *reply)
{
    if (!f->modbus) {
        return;
    }
    struct modbus_orders *orders = &f->modbus->orders;
    modbus_server_pop_orders(f->modbus->server, orders);
    for (size_t i = 0; i < orders->count; i++) {
        apply_order(f, r, reply, &orders->order[i]);
    }
    if (orders->stream) {
        /* Refused if no client may stream, or beyond a joint's range. The arm then keeps its
         * set point, and brakes if nothing valid follows. */
        (void)!arm6_stream(r->memory, orders->stream_rad);
    }
    if (orders->goal) {
        arm_indices_begin(&f->modbus->indices, orders->goal_rad);
        f->modbus->has_goal = true;
    }
    if (orders->alive) {
        arm6_refresh_stream(r->memory);
    }
}

/* Each command that moves the arm has its own goal. A streaming client may have sent one; else
 * there is none.
 */
static void update_goal(struct fleet_modbus *m, const struct arm6_state *arm)
{
    if (arm->external && !m->external && !m->has_goal) {
        m->indices = (struct arm_indices){.begun = false};
    } else if (!arm->external && arm->commands != m->moves) {
        arm_indices_begin(&m->indices, arm->q_r_rad);
        m->has_goal = false;
    }
    m->external = arm->external;
    m->moves = arm->commands;
}

void fleet_modbus_show(struct fleet *f, const struct fleet_robot *r)
{
    struct fleet_modbus *m = f->modbus;
    if (m) {
        struct arm6_state arm;
        arm6_read(r->memory, &arm);
        update_goal(m, &arm);
        arm_indices_step(&m->indices, arm.q_rad, lab_s(f->period_us));
        modbus_map_answer(&m->program, &arm, &m->reply);
        modbus_map_show(&arm, &m->program, m->words);
        modbus_server_show(m->server, m->words);
    }
}

bool fleet_modbus_answer(struct fleet *f, const struct robot_reply *reply)
{
    if (!f->modbus || !modbus_is_ours(reply->id)) {
        return false;
    }
    if (strcmp(reply->id, f->modbus->program.id) == 0) {
        f->modbus->reply = *reply;
    }
    return true;
}

/* Writes Modbus as a machine of the robot: its state, its driver and its quality
 * (docs/modbus.md). */
void fleet_modbus_write(const struct fleet *f, struct json_writer *w)
{
    const struct fleet_modbus *m = f->modbus;
    if (!m) {
        return;
    }
    const struct arm_indices *x = &m->indices;
    JSON_OPEN(w, "modbus",
              JSON("state", m->external ? "external" : arm6_phase_name(m->program.phase)),
              JSON_WHOLE("counter", m->program.counter),
              JSON("index_t_s", x->begun ? x->t_s : nan("")));
    for (int j = 0; j < ARM_JOINTS; j++) {
        const struct {
            const char *name, *unit;
            double value;
        } rows[] = {{"ise", "rad2s", x->ise[j]},
                    {"iae", "rads", x->iae[j]},
                    {"itae", "rads2", x->itae[j]}};
        for (size_t k = 0; k < COUNT(rows); k++) {
            char name[32];
            (void)snprintf(name, sizeof name, "%s%d_%s", rows[k].name, j + 1, rows[k].unit);
            json_write_real(w, name, x->begun ? rows[k].value : nan(""));
        }
    }
    json_write_close(w);
}
