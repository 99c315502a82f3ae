/* service/sim/robot/fleet_ur.c - the fleet's arm takes the program of `tandem bridge --drive`,
 * as a controller of Universal Robots does: it is started over the primary interface, and the
 * dashboard answers. It runs no URScript: it recognises that program by its mark, and does what
 * ur_resident.script says, period by period.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"
#include "service/sim/robot/fleet_parts.h"
#include "service/tool/commands.h"

/* s: the watchdog of the program wants 10 beats a second. */
static const double WATCHDOG_S = 0.1;

enum { NUMBER = 24, OPERATION, BEAT, STOP };
enum { TARGET = 24, VIA = 30, SPEED = 36, ACCELERATION, TIME, BRAKE };
enum { RESULT_DONE = 1, RESULT_STOPPED, RESULT_REFUSED };

static const char own_ids[] = "ur-program-";
static const char mark_words[] = "write_output_integer_register(27, ";

struct fleet_ur {
    struct tcp_server *primary, *dashboard;
    pthread_mutex_t mutex;
    uint32_t uploaded; /* mark of a program that was uploaded; 0: none. Under the mutex */

    bool running, moving;
    double deceleration; /* rad/s^2, while the move is being stopped; else 0 */
    int32_t beat;
    int64_t beat_us; /* robot time of the last new beat */
    struct fleet_ur_registers registers;
};

/* State of a client of the primary interface. */
struct upload {
    uint32_t mark;
};

/* The last line of a program is an `end` without indent. */
static bool receive_program(struct fleet_ur *u, struct tcp_client *client, const char *line,
                            size_t length)
{
    struct upload *upload = tcp_client_state(client);
    const char *words = memmem(line, length, mark_words, strlen(mark_words));
    if (words && words[strlen(mark_words)] > '0') {
        upload->mark = (uint32_t)strtoul(words + strlen(mark_words), NULL, 10);
    }
    if (length == 3 && memcmp(line, "end", 3) == 0) {
        (void)pthread_mutex_lock(&u->mutex);
        u->uploaded = upload->mark;
        (void)pthread_mutex_unlock(&u->mutex);
        upload->mark = 0;
    }
    return true;
}

static bool receive_order(struct fleet_ur *u, struct tcp_client *client, const char *line,
                          size_t length)
{
    static const struct {
        const char *order, *answer;
    } rows[] = {{"is in remote control", "true\n"},
                {"close safety popup", "closing safety popup\n"},
                {"unlock protective stop", "Protective stop releasing\n"}};
    const char *answer = "could not understand\n";
    (void)u;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (length == strlen(rows[i].order) && memcmp(line, rows[i].order, length) == 0) {
            answer = rows[i].answer;
        }
    }
    return tcp_client_send(client, answer, strlen(answer));
}

static ssize_t receive_lines(struct fleet_ur *u, struct tcp_client *client,
                             const uint8_t *bytes, size_t count,
                             bool (*receive)(struct fleet_ur *u, struct tcp_client *client,
                                             const char *line, size_t length))
{
    const char *text = (const char *)bytes;
    size_t done = 0;
    const char *newline = NULL;
    while ((newline = memchr(text + done, '\n', count - done))) {
        const size_t length = (size_t)(newline - text) - done;
        if (!receive(u, client, text + done, length)) {
            return -1;
        }
        done += length + 1;
    }
    return (ssize_t)done;
}

static ssize_t receive_primary(void *context, struct tcp_client *client, const uint8_t *bytes,
                               size_t count)
{
    return receive_lines(context, client, bytes, count, receive_program);
}

static ssize_t receive_dashboard(void *context, struct tcp_client *client, const uint8_t *bytes,
                                 size_t count)
{
    return receive_lines(context, client, bytes, count, receive_order);
}

static bool start_server(struct fleet_ur *u, struct tcp_server **server,
                         const struct tcp_listen *listen, const char *option, bool primary)
{
    struct err err = {0};
    const struct tcp_service service = {.name = option,
                                        .context = u,
                                        .client_bytes = sizeof(struct upload),
                                        .receive =
                                            primary ? receive_primary : receive_dashboard};
    if (!listen->where) {
        return true;
    }
    if (tcp_server_start(server, listen, &service, &err) != STATUS_OK) {
        return fleet_refuse_server(option, &err);
    }
    fleet_print_server(option, tcp_server_where(*server), true);
    return true;
}

bool fleet_ur_start(struct fleet *f)
{
    const struct fleet_options *o = &f->options;
    if (!o->primary.where && !o->dashboard.where) {
        return true;
    }
    f->ur = calloc(1, sizeof *f->ur);
    if (!f->ur) {
        return complain("out of memory");
    }
    (void)pthread_mutex_init(&f->ur->mutex, NULL);
    return start_server(f->ur, &f->ur->primary, &o->primary, "primary", true) &&
           start_server(f->ur, &f->ur->dashboard, &o->dashboard, "dashboard", false);
}

void fleet_ur_stop(struct fleet *f)
{
    if (f->ur) {
        tcp_server_stop(f->ur->primary);
        tcp_server_stop(f->ur->dashboard);
        (void)pthread_mutex_destroy(&f->ur->mutex);
    }
    free(f->ur);
    f->ur = NULL;
}

/* --- the program ------------------------------------------------------------------------- */

static struct event_command begin_command(const struct fleet_ur *u, const char *op)
{
    struct event_command c = {.source_us = LAB_TIME_NONE, .seq = -1};
    (void)snprintf(c.id, sizeof c.id, "%s%d", own_ids, (int)u->registers.taken);
    (void)snprintf(c.op, sizeof c.op, "%s", op);
    return c;
}

static void give_number(struct event_command *c, enum event_arm_member member, double *to,
                        double value)
{
    *to = value;
    c->arm.present |= 1U << member;
}

/* Makes the arm's own command of the registers. */
static struct event_command read_move(const struct fleet_ur *u, const struct rtde_inputs *in)
{
    static const char *const ops[] = {"movej", "movel", "movec", "speedj", "speedl"};
    const int32_t op = in->input_int_register[OPERATION];
    const double *v = in->input_double_register;
    struct event_command c =
        begin_command(u, op >= 1 && op <= (int32_t)COUNT(ops) ? ops[op - 1] : "none");
    struct event_arm *a = &c.arm;
    const bool joints = op == 1 || op == 4;
    memcpy(op == 1   ? a->q_rad
           : op == 4 ? a->qd_radps
           : op == 5 ? a->twist
                     : a->pose,
           v + TARGET, sizeof a->pose);
    memcpy(a->via, v + VIA, sizeof a->via);
    a->q_count = a->pose_count = a->via_count = a->qd_count = a->twist_count = 6;
    a->present = 1U << (op == 1 ? EVENT_ARM_Q : EVENT_ARM_POSE);
    if (v[TIME] > 0.0) {
        give_number(&c, EVENT_ARM_TIME_S, &a->time_s, v[TIME]);
    } else {
        give_number(&c, joints ? EVENT_ARM_V_RADPS : EVENT_ARM_V_MPS,
                    joints ? &a->v_radps : &a->v_mps, v[SPEED]);
    }
    if (v[TIME] <= 0.0 || op >= 4) {
        give_number(&c, joints ? EVENT_ARM_A_RADPS2 : EVENT_ARM_A_MPS2,
                    joints ? &a->a_radps2 : &a->a_mps2, v[ACCELERATION]);
    }
    return c;
}

static void stop_arm(struct fleet *f, struct fleet_robot *r, robot_sink *reply,
                     double brake_radps2)
{
    struct event_command c = begin_command(f->ur, "stopj");
    (void)snprintf(c.id, sizeof c.id, "%sstop%d", own_ids, (int)f->ur->registers.taken);
    give_number(&c, EVENT_ARM_A_RADPS2, &c.arm.a_radps2, brake_radps2);
    robot_command(f->options.kind, r->memory, &c, reply, f);
}

static void start_uploaded(struct fleet_ur *u, const struct rtde_inputs *in, int64_t now_us)
{
    (void)pthread_mutex_lock(&u->mutex);
    const uint32_t mark = u->uploaded;
    u->uploaded = 0;
    (void)pthread_mutex_unlock(&u->mutex);
    if (mark != 0) {
        const int32_t number = in->input_int_register[NUMBER];
        u->running = true;
        u->moving = false;
        u->beat_us = now_us;
        u->registers = (struct fleet_ur_registers){number, number, 0, (int32_t)mark, 0};
    }
}

static void run_program(struct fleet *f, struct fleet_robot *r, robot_sink *reply,
                        const struct rtde_inputs *in)
{
    struct fleet_ur *u = f->ur;
    const int32_t number = in->input_int_register[NUMBER];
    const bool stop = in->input_int_register[STOP] == u->registers.taken;
    u->registers.beat = in->input_int_register[BEAT];
    if (!u->moving && number != u->registers.taken) {
        u->registers.taken = number;
        u->moving = true;
        f->counts.commands++;
        const struct event_command c = read_move(u, in);
        robot_command(f->options.kind, r->memory, &c, reply, f);
        u->deceleration = 0.0;
    } else if (u->moving && stop && in->input_double_register[BRAKE] > u->deceleration) {
        u->deceleration = in->input_double_register[BRAKE];
        stop_arm(f, r, reply, u->deceleration);
    }
}

void fleet_ur_apply(struct fleet *f, struct fleet_robot *r, robot_sink *reply,
                    const struct rtde_inputs *in, int64_t now_us)
{
    struct fleet_ur *u = f->ur;
    if (!u) {
        return;
    }
    start_uploaded(u, in, now_us);
    if (in->input_int_register[BEAT] != u->beat) {
        u->beat = in->input_int_register[BEAT];
        u->beat_us = now_us;
    }
    if (u->running && lab_s(now_us - u->beat_us) > WATCHDOG_S) {
        u->running = false;
        stop_arm(f, r, reply, 0.0);
    }
    if (u->running) {
        run_program(f, r, reply, in);
    }
}

const struct fleet_ur_registers *fleet_ur_registers(const struct fleet *f)
{
    return f->ur && f->ur->registers.mark != 0 ? &f->ur->registers : NULL;
}

static void end_move(struct fleet_ur *u, int32_t result)
{
    u->moving = false;
    u->registers.result = result;
    u->registers.ended = u->registers.taken;
}

bool fleet_ur_answer(struct fleet *f, const struct robot_reply *reply)
{
    struct fleet_ur *u = f->ur;
    char move[EVENT_ID_MAX], stop[EVENT_ID_MAX];
    if (!u || strncmp(reply->id, own_ids, strlen(own_ids)) != 0) {
        return false;
    }
    (void)snprintf(move, sizeof move, "%s%d", own_ids, (int)u->registers.taken);
    (void)snprintf(stop, sizeof stop, "%sstop%d", own_ids, (int)u->registers.taken);
    const bool halted = reply->status == REPLY_HALTED;
    /* A move that is stopped ends when the stop does, unless a harder one took its place. */
    if (u->moving && strcmp(reply->id, stop) == 0 && !halted) {
        end_move(u, RESULT_STOPPED);
    } else if (u->moving && strcmp(reply->id, move) == 0 &&
               !(halted && u->deceleration > 0.0)) {
        end_move(u, reply->status == REPLY_DONE ? RESULT_DONE
                    : halted                    ? RESULT_STOPPED
                                                : RESULT_REFUSED);
    }
    return true;
}
