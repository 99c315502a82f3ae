/* A position controller for Tandem's simulated arm, over Modbus TCP with libmodbus:
 * arm_controller.py in C (docs/modbus.md).
 *
 *     cc -std=gnu17 -O2 arm_controller.c -o arm_controller $(pkg-config --cflags --libs
 *     libmodbus) -lm
 *     tandem robot --kind arm6 --modbus 127.0.0.1:1502 &
 *     ./arm_controller 127.0.0.1 1502 1 -1.2 -1.6 -1.8 1.2 0.5 >arm.csv
 *
 * Each period it reads the joint angles (172 to 183), decides each joint's speed, and streams
 * the resulting set points (160 to 171). step_machine() decides: put your own there. A row of
 * CSV each period goes to stdout, the indices of each joint to stderr: ISE = h sum e^2, IAE = h
 * sum |e|, ITAE = h sum t |e|.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <modbus.h>

enum { JOINTS = 6, MODE = 150, STREAM = 160, ANGLES = 172, GOAL = 196, EXTERNAL = 4 };

static const double PERIOD_S = 0.008, PATIENCE_S = 30.0;
static const double SPEED = 1.5, SLOW_SPEED = 0.3;         /* rad/s */
static const double SLOW_WINDOW = 0.1, NEAR_WINDOW = 0.02; /* rad */
static const double GAIN = 4.0, STOP = 0.0005, LAG_S = 0.05;

enum state { REST, FAST, SLOW, NEAR };

struct joint {
    enum state state;
    double q, before, target, stream, speed; /* rad, rad/s */
    double ise, iae, itae;
};

/* Decides the speed, rad/s, from the error and the present speed. */
static double step_machine(enum state *state, double error, double speed)
{
    const double far = fabs(error);
    const double coasts = LAG_S * fabs(speed); /* it coasts this far */
    if (far > SLOW_WINDOW + coasts) {
        *state = FAST;
    } else if (far > NEAR_WINDOW) {
        *state = SLOW;
    } else if (*state != REST && !(far < STOP && coasts < STOP)) {
        *state = NEAR; /* it does not rest while it moves */
    } else if (far <= STOP) {
        *state = REST;
    } else if (*state == REST && far > 2.0 * STOP) {
        *state = NEAR;
    }
    const double speeds[] = {
        [REST] = 0.0, [FAST] = SPEED, [SLOW] = SLOW_SPEED, [NEAR] = GAIN * far};
    return copysign(speeds[*state], error);
}

static void give_up(const char *what)
{
    (void)fprintf(stderr, "arm_controller: %s: %s\n", what, modbus_strerror(errno));
    exit(EXIT_FAILURE);
}

static void read_angles(modbus_t *arm, struct joint joints[JOINTS])
{
    uint16_t words[2 * JOINTS];
    if (modbus_read_registers(arm, ANGLES, 2 * JOINTS, words) != 2 * JOINTS) {
        give_up("angles");
    }
    for (int j = 0; j < JOINTS; j++) {
        const uint32_t bits = (uint32_t)words[2 * j] << 16 | words[2 * j + 1];
        joints[j].before = joints[j].q;
        joints[j].q = 1e-6 * (int32_t)bits;
    }
}

/* Writes the set points, or the final goal. */
static void write_angles(modbus_t *arm, int address, const struct joint joints[JOINTS])
{
    uint16_t words[2 * JOINTS];
    for (int j = 0; j < JOINTS; j++) {
        const double q = address == STREAM ? joints[j].stream : joints[j].target;
        const uint32_t bits = (uint32_t)(int32_t)lround(1e6 * q);
        words[2 * j] = (uint16_t)(bits >> 16);
        words[2 * j + 1] = (uint16_t)bits;
    }
    if (modbus_write_registers(arm, address, 2 * JOINTS, words) != 2 * JOINTS) {
        give_up("angles to write");
    }
}

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_until(double t_s)
{
    const double left_s = t_s - now_s();
    const struct timespec pause = {.tv_nsec = (long)(1e9 * fmin(left_s, 0.999))};
    if (left_s > 0.0) {
        (void)nanosleep(&pause, NULL);
    }
}

/* One period of h seconds, t seconds after the beginning; do all joints rest? */
static bool step_joints(struct joint joints[JOINTS], double t_s, double h_s)
{
    /* Not further ahead of a joint than it can be asked to go. */
    const double ahead = SPEED * (LAG_S + 3.0 * PERIOD_S);
    bool all = true;
    (void)printf("%.6f", t_s);
    for (int j = 0; j < JOINTS; j++) {
        struct joint *x = &joints[j];
        const double error = x->target - x->q;
        x->speed = step_machine(&x->state, error, (x->q - x->before) / h_s);
        if (x->state != REST) {
            x->stream = fmin(fmax(x->stream + x->speed * h_s, x->q - ahead), x->q + ahead);
            all = false;
        }
        x->ise += h_s * error * error;
        x->iae += h_s * fabs(error);
        x->itae += h_s * t_s * fabs(error);
        (void)printf(",%.6f,%.6f,%.6f,%.6f", x->target, x->q, x->stream, x->speed);
    }
    (void)printf("\n");
    return all;
}

static void drive_arm(modbus_t *arm, struct joint joints[JOINTS])
{
    const double begin_s = now_s();
    double last_s = begin_s;
    double rested_s = 0.0;
    while (rested_s < 0.5) {
        sleep_until(last_s + PERIOD_S);
        const double h_s = now_s() - last_s;
        last_s += h_s;
        if (last_s - begin_s > PATIENCE_S) {
            errno = ETIMEDOUT;
            give_up("not there");
        }
        read_angles(arm, joints);
        rested_s = step_joints(joints, last_s - begin_s, h_s) ? rested_s + h_s : 0.0;
        write_angles(arm, STREAM, joints);
    }
}

static void print_indices(const struct joint joints[JOINTS])
{
    (void)fprintf(stderr, "joint      ISE      IAE     ITAE   rests off by, rad\n");
    for (int j = 0; j < JOINTS; j++) {
        const struct joint *x = &joints[j];
        (void)fprintf(stderr, "%5d %8.4f %8.4f %8.4f %12.6f\n", j + 1, x->ise, x->iae, x->itae,
                      x->target - x->q);
    }
}

int main(int argc, char **argv)
{
    struct joint joints[JOINTS] = {{.state = REST}};
    if (argc != 3 + JOINTS) {
        (void)fprintf(stderr, "usage: arm_controller HOST PORT Q1 Q2 Q3 Q4 Q5 Q6\n");
        return 2;
    }
    modbus_t *arm = modbus_new_tcp(argv[1], atoi(argv[2]));
    if (!arm || modbus_connect(arm) != 0) {
        give_up(argv[1]);
    }
    (void)modbus_set_response_timeout(arm, 5, 0); /* this machine may have other things to do */
    read_angles(arm, joints);
    (void)printf("t_s");
    for (int j = 0; j < JOINTS; j++) {
        joints[j].target = strtod(argv[3 + j], NULL);
        joints[j].stream = joints[j].before = joints[j].q;
        (void)printf(",target%d_rad,q%d_rad,com%d_rad,u%d_radps", j + 1, j + 1, j + 1, j + 1);
    }
    (void)printf("\n");
    write_angles(arm, STREAM, joints);
    if (modbus_write_register(arm, MODE, EXTERNAL) != 1) {
        give_up("mode");
    }
    write_angles(arm, GOAL, joints); /* the arm sums up the same indices */
    drive_arm(arm, joints);
    if (modbus_write_register(arm, MODE, 0) != 1) {
        give_up("mode");
    }
    print_indices(joints);
    modbus_close(arm);
    modbus_free(arm);
    return EXIT_SUCCESS;
}
