#include "twin/sim/robot/diffdrive_user.h"

#include <math.h>

#define IN(text, type, help)                                                                   \
    {                                                                                          \
        text, EXPRESSION_##type, true, help                                                    \
    }
#define OUT(text, type, help)                                                                  \
    {                                                                                          \
        text, EXPRESSION_##type, false, help                                                   \
    }

const struct robot_port diffdrive_ports[DIFFDRIVE_PORT_COUNT] = {
    [DIFFDRIVE_PORT_GO] = IN("go", TRUTH, "a go came: in the first cycle of its period only"),
    [DIFFDRIVE_PORT_LIDAR] = IN("lidar", TRUTH, "a lidar command came, likewise"),
    [DIFFDRIVE_PORT_RESUME] = IN("resume", TRUTH, "a resume came, likewise"),
    [DIFFDRIVE_PORT_HALT] = IN("halt", TRUTH, "a halt came, likewise"),
    [DIFFDRIVE_PORT_ANGLE] = IN("angle", NUMBER, "rad, of the last go, counter-clockwise"),
    [DIFFDRIVE_PORT_DISTANCE] = IN("distance", NUMBER, "m, of the last go"),
    [DIFFDRIVE_PORT_PERIOD] = IN("period", NUMBER, "s, of a period"),
    [DIFFDRIVE_PORT_OBSTACLE] =
        IN("obstacle", NUMBER, "m, distance ahead; the lidar's range if nothing is seen"),
    [DIFFDRIVE_PORT_U] = IN("u", TRUTH, "the requested reading is complete"),
    [DIFFDRIVE_PORT_AHEAD] = IN("ahead", TRUTH, "the lidar points ahead, and has a reading"),
    [DIFFDRIVE_PORT_X] = IN("x", NUMBER, "m, position by the robot's odometry"),
    [DIFFDRIVE_PORT_Y] = IN("y", NUMBER, "m"),
    [DIFFDRIVE_PORT_THETA] = IN("theta", NUMBER, "rad, counter-clockwise, within -pi and pi"),
    [DIFFDRIVE_PORT_DX] = IN("dx", NUMBER, "m, ahead in the last period; 0 in further cycles"),
    [DIFFDRIVE_PORT_DTHETA] = IN("dtheta", NUMBER, "rad, turned in the last period, likewise"),
    [DIFFDRIVE_PORT_LEFT] = OUT("L", NUMBER, "left motor, -1 .. 1 of control_max"),
    [DIFFDRIVE_PORT_RIGHT] = OUT("R", NUMBER, "right motor"),
    [DIFFDRIVE_PORT_TARGET] = OUT("P", NUMBER, "rad, where the lidar must point"),
    [DIFFDRIVE_PORT_REQUEST] = OUT("g", TRUTH, "request a reading there: u reports it"),
    [DIFFDRIVE_PORT_DONE] = OUT("done", TRUTH, "reply done to the running command"),
    [DIFFDRIVE_PORT_DATA] = OUT("data", TRUTH, "reply data, with the reading"),
    [DIFFDRIVE_PORT_BLOCKED] = OUT("blocked", TRUTH, "reply blocked"),
    [DIFFDRIVE_PORT_HALTED] = OUT("halted", TRUTH, "reply halted"),
    [DIFFDRIVE_PORT_ERROR] = OUT("error", TRUTH, "reply error"),
    [DIFFDRIVE_PORT_WARN] = OUT("warn", TRUTH, "the new command is ignored"),
};

void diffdrive_user_init(struct diffdrive_user *user, const struct machine *machine)
{
    *user = (struct diffdrive_user){.machine = machine, .in.machine = machine};
    for (size_t i = 0; machine && i < DIFFDRIVE_PORT_COUNT; i++) {
        const struct robot_port *port = &diffdrive_ports[i];
        user->places[i] = port->input ? machine_find_input(machine, port->name)
                                      : machine_find_output(machine, port->name);
    }
}

void diffdrive_user_reset(struct diffdrive_user *user, struct efsm *m, int64_t t_us)
{
    efsm_reset(&user->machine->table, m, t_us);
    machine_run_starts(user->machine, m, t_us);
    user->out.there = 0;
    user->answered = false;
}

static void give_input(struct diffdrive_user *user, enum diffdrive_port port, bool there,
                       double value)
{
    const uint8_t place = user->places[port];
    if (place == MACHINE_NONE) {
        return;
    }
    user->in.there |= (uint64_t)there << place;
    user->in.value[place] = value;
}

static void give_events(struct diffdrive_user *user, unsigned op)
{
    give_input(user, DIFFDRIVE_PORT_GO, true, op == L0MAIN_OP_GO);
    give_input(user, DIFFDRIVE_PORT_LIDAR, true, op == L0MAIN_OP_LIDAR);
    give_input(user, DIFFDRIVE_PORT_RESUME, true, op == L0MAIN_OP_RESUME);
    give_input(user, DIFFDRIVE_PORT_HALT, true, op == L0MAIN_OP_HALT);
}

void diffdrive_user_sense(struct diffdrive_user *user, const struct l0main_in *in,
                          const double odometry[3], const struct efsm *m, int64_t t_us)
{
    if (in->op == L0MAIN_OP_GO) {
        user->has_go = true;
        user->angle_rad = -in->angle_rad;
        user->distance_m = in->distance_m;
    }
    user->in.there = 0;
    give_input(user, DIFFDRIVE_PORT_ANGLE, user->has_go, user->angle_rad);
    give_input(user, DIFFDRIVE_PORT_DISTANCE, user->has_go, user->distance_m);
    give_input(user, DIFFDRIVE_PORT_PERIOD, true, in->period_s);
    give_input(user, DIFFDRIVE_PORT_OBSTACLE, true, in->obstacle_m);
    give_input(user, DIFFDRIVE_PORT_U, true, in->update);
    give_input(user, DIFFDRIVE_PORT_AHEAD, true, in->ahead);
    give_input(user, DIFFDRIVE_PORT_X, true, odometry[0]);
    give_input(user, DIFFDRIVE_PORT_Y, true, odometry[1]);
    give_input(user, DIFFDRIVE_PORT_THETA, true, odometry[2]);
    give_input(user, DIFFDRIVE_PORT_DX, true, in->moved.distance_m);
    give_input(user, DIFFDRIVE_PORT_DTHETA, true, in->moved.angle_rad);
    if (in->op != L0MAIN_OP_NONE) {
        struct efsm quiet = *m;
        give_events(user, L0MAIN_OP_NONE);
        efsm_plan(&user->machine->table, &quiet, &user->in, t_us);
        user->quiet_arc = quiet.next >= EFSM_INCOMPLETE ? EFSM_NO_ARC : quiet.fired_arc;
    }
    give_events(user, in->op);
}

/* ---- outputs ---- */

static double read_output(const struct diffdrive_user *user, enum diffdrive_port port)
{
    const uint8_t place = user->places[port];
    const bool there = place != MACHINE_NONE && (user->out.there >> place & 1U) != 0;
    const double value = there ? user->out.value[place] : 0.0;
    return isfinite(value) ? value : 0.0;
}

static bool is_set(const struct diffdrive_user *user, enum diffdrive_port port)
{
    return read_output(user, port) > 0.0;
}

/* Converts a share of the largest control to a motor's control. */
static double control_of(const struct diffdrive_user *user, enum diffdrive_port port,
                         double control_max)
{
    return fmin(fmax(read_output(user, port), -1.0), 1.0) * control_max;
}

static enum l0main_answer answer_of(const struct diffdrive_user *user)
{
    static const struct {
        enum diffdrive_port port;
        enum l0main_answer answer;
    } rows[] = {{DIFFDRIVE_PORT_ERROR, L0MAIN_ANSWER_LATE},
                {DIFFDRIVE_PORT_HALTED, L0MAIN_ANSWER_HALTED},
                {DIFFDRIVE_PORT_BLOCKED, L0MAIN_ANSWER_BLOCKED},
                {DIFFDRIVE_PORT_DATA, L0MAIN_ANSWER_DATA},
                {DIFFDRIVE_PORT_DONE, L0MAIN_ANSWER_DONE}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (is_set(user, rows[i].port)) {
            return rows[i].answer;
        }
    }
    return L0MAIN_ANSWER_NONE;
}

static enum l0main_notice notice_of(const struct diffdrive_user *user, const struct efsm *m,
                                    unsigned op)
{
    if (op == L0MAIN_OP_NONE || m->state >= EFSM_INCOMPLETE) {
        return L0MAIN_NOTICE_NONE; /* a fault answers all open commands */
    }
    if (op >= L0MAIN_OP_BAD) {
        return L0MAIN_NOTICE_WRONG;
    }
    if (is_set(user, DIFFDRIVE_PORT_WARN) || m->fired_arc == user->quiet_arc) {
        return L0MAIN_NOTICE_UNFIT;
    }
    return op == L0MAIN_OP_HALT ? L0MAIN_NOTICE_OBEYED : L0MAIN_NOTICE_ACCEPTED;
}

struct l0main_out diffdrive_user_outputs(struct diffdrive_user *user, const struct efsm *m,
                                         unsigned op, double control_max)
{
    if (m->state >= EFSM_INCOMPLETE) {
        user->out.there = 0; /* a sink has no outputs */
    }
    return (struct l0main_out){.left = control_of(user, DIFFDRIVE_PORT_LEFT, control_max),
                               .right = control_of(user, DIFFDRIVE_PORT_RIGHT, control_max),
                               .target_rad =
                                   robot_wrap_rad(read_output(user, DIFFDRIVE_PORT_TARGET)),
                               .request = is_set(user, DIFFDRIVE_PORT_REQUEST),
                               .answer = answer_of(user),
                               .notice = notice_of(user, m, op)};
}
