/* Who drives the lab, and what goes wrong in it: controllers, robots, faults; all drawn. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/daemon/simulation.h"

static const char *const pair_names[PAIRS] = {"r1", "r2", "o1"};
static const char *const side_names[SIDES] = {"real", "virtual"};

static int64_t after_s(double s)
{
    return world->t_us + (int64_t)(s * SECOND_US);
}

/* Returns the robot's clock s seconds ago. */
static double clock_s(const struct robot *r, double s)
{
    return 1763600000.0 + r->clock_s +
           (1.0 + r->clock_drift) * ((double)world->t_us / SECOND_US - s);
}

/* ---- controllers ---- */

/* Each time the same message. */
static void publish_command(int32_t index)
{
    const struct command *c = &world->commands[index];
    char topic[TOPIC_MAX];
    char text[PAYLOAD_MAX];
    (void)snprintf(topic, sizeof topic, "tandem/v1/%s/command", pair_names[c->pair]);
    (void)snprintf(text, sizeof text,
                   "{\"id\":\"c%d\",\"t\":%.6f,\"op\":\"go\",\"rotation_rad\":%.2f,"
                   "\"displacement_m\":%.2f,\"seq\":%u}",
                   index, 1763600000.0 + (double)c->sent_us / SECOND_US,
                   index * 37 % 600 / 100.0 - 3.0, index * 17 % 200 / 100.0, c->seq);
    broker_publish(topic, text, 1, false, index);
}

static void run_controller(int pair)
{
    struct controller *c = &world->controllers[pair];
    const bool may = world->broker.up && broker_has_room();
    if (c->again >= 0 && world->t_us >= c->again_us) {
        c->again_us = after_s(1.0);
        if (may) { /* the sender saw no acknowledgement */
            publish_command(c->again);
            c->again = -1;
        }
    }
    if (world->t_us < c->at_us || world->t_us >= world->end_us) {
        return;
    }
    c->at_us = after_s(may ? draw_mean(c->mean_s) : 0.5);
    if (!may || world->command_count == COMMANDS_MAX) {
        return;
    }
    c->burst = c->burst > 0 ? c->burst - 1 : chance(0.01) ? 10 + draw_index(15) : 0;
    c->at_us = c->burst > 0 ? after_s(draw(0.0, 0.1)) : c->at_us;
    const int32_t index = (int32_t)world->command_count++;
    world->commands[index] =
        (struct command){.pair = (uint8_t)pair, .seq = ++c->seq, .sent_us = world->t_us};
    publish_command(index);
    /* In observe mode a copy that comes 30 s late counts as a new command. */
    if (pair < LINK_PAIRS && c->again < 0 && c->burst == 0 && chance(0.03)) {
        c->again = index;
        c->again_us = after_s(draw(0.05, 8.0));
        c->at_us = c->at_us > c->again_us ? c->at_us : c->again_us + SECOND_US;
    }
}

/* ---- robots ---- */

static void publish_of(int robot, const char *what, const char *text, int qos, bool retained)
{
    char topic[TOPIC_MAX];
    (void)snprintf(topic, sizeof topic, "tandem/v1/%s/%s/%s", pair_names[robot / SIDES],
                   side_names[robot % SIDES], what);
    broker_publish(topic, text, qos, retained, -1);
}

static void publish_connection(int robot)
{
    const struct robot *r = &world->robots[robot];
    char text[PAYLOAD_MAX];
    (void)snprintf(text, sizeof text, "{\"state\":\"%s\",\"boot\":\"b%u\"}",
                   r->alive ? "online" : "offline", r->boots);
    publish_of(robot, "connection", text, 1, true);
}

void actors_command_arrives(int robot)
{
    struct robot *r = &world->robots[robot];
    r->at_us = min_us(r->at_us, world->t_us + 200 + (int64_t)draw_mean(1000.0));
}

static void receive_commands(int robot)
{
    struct robot *r = &world->robots[robot];
    int32_t command = 0;
    while (r->waiting_count < WAITING_MAX && broker_receive_robot(robot, &command)) {
        bool *known = &world->commands[command].known[robot % SIDES];
        if (!*known) {
            r->waiting[r->waiting_count++] = command;
        }
        *known = true;
    }
}

static void begin_next(struct robot *r)
{
    r->doing = r->waiting[0];
    r->waiting_count--;
    memmove(&r->waiting[0], &r->waiting[1], r->waiting_count * sizeof r->waiting[0]);
    r->began_us = world->t_us;
    const double lap_s = world->temper.lap_s * draw(0.7, 1.3);
    r->at_us = after_s(chance(0.02) ? 30.0 + draw_mean(10.0) : chance(0.02) ? 0.0 : lap_s);
}

/* The reply to an executed command; sometimes none, or twice. */
static void end_command(int robot)
{
    static const char *const others[] = {"blocked", "ignored", "error", "halted"};
    struct robot *r = &world->robots[robot];
    struct sim_message *again = &r->again;
    char text[PAYLOAD_MAX];
    if (!world->broker.up) {
        r->at_us = after_s(0.3);
        return;
    }
    const int n = snprintf(
        text, sizeof text,
        "{\"id\":\"c%d\",\"t_start\":%.6f,\"t\":%.6f,\"status\":\"%s\",\"values\":{\"x_m\":%."
        "3f}}",
        r->doing, clock_s(r, (double)(world->t_us - r->began_us) / SECOND_US), clock_s(r, 0.0),
        chance(0.97) ? "done" : others[draw_index(4)], draw(0.0, 1.0));
    r->doing = -1;
    r->at_us = world->t_us;
    if (chance(0.02)) {
        return;
    }
    publish_of(robot, "reply", text, 1, false);
    if (r->again_us == INT64_MAX && chance(0.03)) {
        memcpy(again->payload, text, (size_t)n + 1);
        r->again_us = after_s(draw(0.0, 5.0));
    }
}

static void publish_sample(int robot)
{
    struct robot *r = &world->robots[robot];
    char text[PAYLOAD_MAX];
    r->sample_us = after_s(draw(1.0, 3.0));
    if (world->broker.up && r->alive) {
        (void)snprintf(text, sizeof text,
                       "{\"t\":%.6f,\"seq\":%u,\"nu\":[%.3f,0,0],\"tau\":[%.3f,0,0]}",
                       clock_s(r, 0.0), r->samples++, draw(0.0, 1.0), draw(0.0, 1.0));
        publish_of(robot, "telemetry", text, 0, false);
    }
}

static void run_robot(int robot)
{
    struct robot *r = &world->robots[robot];
    if (world->t_us >= r->sample_us) {
        publish_sample(robot);
    }
    if (world->t_us >= r->again_us) {
        r->again_us = world->broker.up ? INT64_MAX : after_s(0.5);
        if (world->broker.up) {
            publish_of(robot, "reply", r->again.payload, 1, false);
        }
    }
    if (world->t_us < r->at_us) {
        return;
    }
    r->at_us = INT64_MAX;
    if (!r->alive) {
        r->alive = world->broker.up;
        r->boots += r->alive;
        if (r->alive) {
            publish_connection(robot);
        }
        r->at_us = after_s(r->alive ? 0.001 : 0.5);
        return;
    }
    if (r->doing >= 0) {
        end_command(robot);
    }
    receive_commands(robot);
    if (r->doing < 0 && r->waiting_count > 0) {
        begin_next(r);
    } else if (r->doing >= 0) {
        r->at_us = r->at_us == INT64_MAX ? after_s(0.1) : r->at_us;
    } else {
        r->at_us = INT64_MAX;
    }
}

static void kill_robot(int robot)
{
    struct robot *r = &world->robots[robot];
    r->alive = false;
    r->doing = -1;
    r->waiting_count = 0;
    r->at_us = after_s(draw_mean(20.0));
    if (world->broker.up) {
        publish_connection(robot);
    }
}

/* ---- faults ---- */

static void fault_link(void)
{
    if (chance(0.5)) {
        const int link = chance(0.2) ? LINK_TELEMETRY : LINK_MAIN;
        const double noticed_s = chance(0.7) ? draw_mean(0.05) : draw_mean(8.0);
        sim_log("link %d cut, noticed after %.3f s", link, noticed_s);
        world->cuts++;
        link_cut(link, after_s(noticed_s));
        if (chance(0.3)) {
            link_cut(1 - link, after_s(noticed_s));
        }
    } else if (chance(0.4)) {
        const double s = draw(0.1, 5.0);
        sim_log("acknowledgements of %.3f s are lost", s);
        link_mute(LINK_MAIN, after_s(s));
    } else {
        const double s = chance(0.5) ? draw(0.01, 1.5) : draw_mean(10.0);
        sim_log("link hangs for %.3f s", s);
        link_hang(chance(0.2) ? LINK_TELEMETRY : LINK_MAIN, after_s(s));
    }
}

static void fault_disk(void)
{
    struct disk *d = &world->disk;
    const double s = chance(0.5) ? draw_mean(3.0) : draw_mean(30.0);
    const uint32_t kind = draw_index(3);
    *(kind == 0   ? &d->full_until_us
      : kind == 1 ? &d->failing_until_us
                  : &d->slow_until_us) = after_s(s);
    static const char *const names[] = {"full", "failing to sync", "slow"};
    sim_log("disk %s for %.3f s", names[kind], s);
}

static void fault_clock(void)
{
    const double s = chance(0.5) ? draw(-2.0, 2.0) : draw(-3600.0, 3600.0);
    world->wall_us += (int64_t)(s * SECOND_US);
    world->clock_steps++;
    sim_log("wall clock stepped by %.3f s", s);
}

static void freeze_process(void)
{
    const double s = chance(0.5) ? draw(0.0, 2.0) : draw_mean(20.0);
    world->frozen_until_us = after_s(s);
    world->suspends = world->temper.clock && chance(0.4);
    sim_log("%s for %.3f s", world->suspends ? "suspended" : "frozen", s);
}

static void run_faults(void)
{
    const struct temper *t = &world->temper;
    if (world->t_us < world->fault_us) {
        return;
    }
    world->fault_us = world->t_us < world->end_us ? after_s(draw_mean(t->fault_s)) : INT64_MAX;
    if (world->fault_us == INT64_MAX) {
        return;
    }
    const uint32_t kind = draw_index(12);
    if (kind < 4 && t->link) {
        fault_link();
    } else if (kind < 6 && t->disk) {
        fault_disk();
    } else if (kind == 6 && t->clock) {
        fault_clock();
    } else if (kind == 7 && schedule_runs()) {
        freeze_process();
    } else if (kind < 10 && t->robots) {
        kill_robot((int)draw_index(ROBOTS));
    } else if (t->broker && world->broker.up) {
        const bool killed = chance(0.6);
        broker_stop(killed, killed && chance(0.2), (int64_t)(draw_mean(5.0) * SECOND_US));
    }
}

/* ---- all of them ---- */

void actors_make(void)
{
    for (int pair = 0; pair < PAIRS; pair++) {
        struct controller *c = &world->controllers[pair];
        c->mean_s = world->temper.lap_s * draw(0.8, 6.0);
        c->at_us = after_s(draw(0.0, 5.0));
        c->again = -1;
    }
    for (int i = 0; i < ROBOTS; i++) {
        world->robots[i] = (struct robot){.doing = -1,
                                          .again_us = INT64_MAX,
                                          .sample_us = i == 0 ? SECOND_US : INT64_MAX,
                                          .at_us = after_s(draw(0.0, 1.0)),
                                          .clock_s = draw(-1e6, 1e3),
                                          .clock_drift = draw(-1e-4, 1e-4)};
    }
    world->fault_us = after_s(draw_mean(world->temper.fault_s));
}

int64_t actors_next_us(void)
{
    int64_t next_us = world->fault_us;
    for (int pair = 0; pair < PAIRS; pair++) {
        const struct controller *c = &world->controllers[pair];
        next_us = world->t_us < world->end_us ? min_us(next_us, c->at_us) : next_us;
        next_us = c->again >= 0 ? min_us(next_us, c->again_us) : next_us;
    }
    for (int i = 0; i < ROBOTS; i++) {
        const struct robot *r = &world->robots[i];
        next_us = min_us(next_us, min_us(r->at_us, min_us(r->again_us, r->sample_us)));
    }
    return next_us;
}

void actors_run(void)
{
    run_faults();
    for (int pair = 0; pair < PAIRS; pair++) {
        run_controller(pair);
    }
    for (int i = 0; i < ROBOTS; i++) {
        run_robot(i);
    }
}

bool actors_are_done(void)
{
    bool done = true;
    for (int pair = 0; pair < PAIRS; pair++) {
        done = done && world->controllers[pair].again < 0;
    }
    for (int i = 0; i < ROBOTS; i++) {
        const struct robot *r = &world->robots[i];
        done = done && r->alive && r->doing < 0 && r->waiting_count == 0 &&
               r->again_us == INT64_MAX;
    }
    return done && broker_waiting() == 0;
}
