/* Commands to a real arm (service/arm/drive.h): what is sent, what it waits for, and what ends
 * a move, against a program that the test plays register by register.
 */
#include "tests/support/check.h"

#include <math.h>

#include "service/arm/drive.h"

static const double work[ARM_JOINTS] = {0.0, -1.2, 1.2, -1.5, -1.5, 0.0};

struct lab {
    struct drive d;
    struct drive_sample s;
};

/* A sample 8 ms later; the program, if it runs, echoes the beat. */
static void pass_samples(struct lab *l, int samples, bool runs)
{
    for (int i = 0; i < samples; i++) {
        l->s.now_us += 8000;
        l->s.t_s += 0.008;
        if (runs) {
            l->s.mark = (int32_t)l->d.mark;
            l->s.beat = l->d.inputs.input_int_register[26];
        }
        drive_step(&l->d, &l->s);
    }
}

static void begin_lab(struct lab *l)
{
    struct arm_geometry arm;
    CHECK("ur5e", arm_geometry_find("ur5e", &arm));
    memset(l, 0, sizeof *l);
    drive_begin(&l->d, &arm, 1000);
    drive_set_control(&l->d, DRIVE_CONTROL_REMOTE);
    l->s = (struct drive_sample){.now_us = 1, .t_s = 50.0, .scaling = 1.0};
    memcpy(l->s.q, work, sizeof work);
    pass_samples(l, 1, false);
    CHECK("uploads", l->d.upload);
    l->d.upload = false;
    pass_samples(l, 10, true);
    CHECK_INT("ready", l->d.state, DRIVE_READY);
}

static struct event_command make_command(const char *id, const char *op)
{
    struct event_command c = {0};
    (void)snprintf(c.id, sizeof c.id, "%s", id);
    (void)snprintf(c.op, sizeof c.op, "%s", op);
    c.arm.present = 1U << EVENT_ARM_Q;
    c.arm.q_count = ARM_JOINTS;
    memcpy(c.arm.q_rad, work, sizeof work);
    c.arm.q_rad[0] = 0.5;
    return c;
}

static void give_command(struct lab *l, const char *id, const char *op)
{
    const struct event_command c = make_command(id, op);
    drive_command(&l->d, &c, l->s.now_us);
}

static void begin_move(struct lab *l)
{
    l->s.taken = l->d.inputs.input_int_register[24];
    pass_samples(l, 1, true);
}

static void finish_move(struct lab *l, int32_t result)
{
    l->s.result = result;
    l->s.ended = l->s.taken;
    pass_samples(l, 1, true);
}

static void expect_reply(struct lab *l, const char *id, enum reply_status status,
                         const char *word)
{
    CU_ASSERT_EQUAL_FATAL(l->d.reply_count > 0, true);
    const struct drive_reply r = l->d.replies[0];
    l->d.reply_count--;
    memmove(&l->d.replies[0], &l->d.replies[1], l->d.reply_count * sizeof r);
    CHECK_TEXT(id, r.id, id);
    CHECK_INT(id, r.status, status);
    CHECK(id, strstr(r.detail, word) != NULL);
}

static void test_order(void)
{
    struct lab l;
    begin_lab(&l);
    give_command(&l, "a", "movej");
    give_command(&l, "b", "movej");
    CHECK_INT("operation", l.d.inputs.input_int_register[25], 1);
    CHECK_INT("number", l.d.inputs.input_int_register[24], 1001);
    CHECK_NEAR("target", l.d.inputs.input_double_register[24], 0.5, 0.0, 0.0);
    CHECK("sent", l.d.send[DRIVE_MOVE] && l.d.send[DRIVE_NUMBER]);
    /* An old end is none: it has to be taken first. */
    l.s.ended = 1001;
    pass_samples(&l, 1, true);
    CHECK_INT("no reply", l.d.reply_count, 0);
    l.s.result = 1;
    begin_move(&l);
    expect_reply(&l, "a", REPLY_DONE, "");
    CHECK_INT("the next", l.d.inputs.input_int_register[24], 1002);
    begin_move(&l);
    give_command(&l, "c", "halt");
    expect_reply(&l, "b", REPLY_HALTED, "stopped by halt");
    CHECK_INT("to stop", l.d.inputs.input_int_register[27], 1002);
    CHECK_INT("not at rest yet", l.d.reply_count, 0);
    finish_move(&l, 2);
    expect_reply(&l, "c", REPLY_DONE, "");
    for (int i = 0; i < DRIVE_WAITING_MAX + 1; i++) {
        give_command(&l, "q", "movej");
    }
    give_command(&l, "full", "movej");
    expect_reply(&l, "full", REPLY_IGNORED, "busy");
}

static void test_no_end(void)
{
    struct lab l;
    begin_lab(&l);
    give_command(&l, "a", "movej");
    begin_move(&l);
    l.s.scaling = 0.0;
    pass_samples(&l, 5000, true);
    CHECK("a pause", !l.d.stopping);
    l.s.scaling = 1.0;
    pass_samples(&l, 1000, true);
    CHECK("too long", l.d.stopping);
    CHECK_INT("it is stopped", l.d.inputs.input_int_register[27], 1001);
    finish_move(&l, 2);
    expect_reply(&l, "a", REPLY_ERROR, "longer");
    give_command(&l, "b", "movej");
    begin_move(&l);
    pass_samples(&l, 6000, true);
    expect_reply(&l, "b", REPLY_ERROR, "by hand");
    CHECK_INT("nothing more", l.d.state, DRIVE_LATCHED);
}

/* In the order of the simulated arm: the move, what waited, then the stop, at rest. */
static void test_slow_stop(void)
{
    struct lab l;
    begin_lab(&l);
    struct event_command halt = make_command("h", "halt");
    halt.arm.present = 1U << EVENT_ARM_A_RADPS2;
    halt.arm.a_radps2 = 0.01;
    give_command(&l, "a", "movej");
    give_command(&l, "b", "movej");
    begin_move(&l);
    l.s.qd[0] = 1.0;
    pass_samples(&l, 1, true);
    drive_command(&l.d, &halt, l.s.now_us);
    expect_reply(&l, "a", REPLY_HALTED, "stopped by halt");
    expect_reply(&l, "b", REPLY_HALTED, "had not begun");
    give_command(&l, "next", "movej");
    pass_samples(&l, 12000, true); /* 96 s of the 100 s that it takes */
    CHECK_INT("it brakes", l.d.state, DRIVE_STOPPING);
    finish_move(&l, 2);
    pass_samples(&l, 10, true);
    CHECK_INT("not at rest", l.d.reply_count, 0);
    CHECK_INT("the next waits", l.d.inputs.input_int_register[24], 1001);
    l.s.qd[0] = 0.0;
    pass_samples(&l, 1, true);
    expect_reply(&l, "h", REPLY_DONE, "");
    CHECK_INT("the next", l.d.inputs.input_int_register[24], 1002);
    begin_move(&l);
    give_command(&l, "s", "stopj");
    expect_reply(&l, "next", REPLY_HALTED, "stopped by stopj");
    drive_command(&l.d, &halt, l.s.now_us);
    expect_reply(&l, "s", REPLY_HALTED, "stopped by halt");
    l.s.stop = "emergency stop";
    pass_samples(&l, 1, true);
    expect_reply(&l, "h", REPLY_BLOCKED, "emergency stop");
    drive_command(&l.d, &halt, l.s.now_us);
    expect_reply(&l, "h", REPLY_IGNORED, "emergency stop");
}

static void test_unlock(void)
{
    struct lab l;
    begin_lab(&l);
    give_command(&l, "u", "unlock");
    expect_reply(&l, "u", REPLY_IGNORED, "nothing is locked");
    CHECK_INT("ready", l.d.state, DRIVE_READY);
    l.s.stop = "emergency stop";
    pass_samples(&l, 1, true);
    give_command(&l, "u", "unlock");
    expect_reply(&l, "u", REPLY_ERROR, "emergency stop: end it");
    CHECK_INT("still", l.d.state, DRIVE_LATCHED);
    l.s.stop = NULL;
    pass_samples(&l, 1, true);
    give_command(&l, "u", "unlock");
    expect_reply(&l, "u", REPLY_DONE, "");
    drive_lost(&l.d, "the connection was lost");
    give_command(&l, "u", "unlock");
    expect_reply(&l, "u", REPLY_IGNORED, "the connection was lost");
}

static void test_nobody(void)
{
    struct lab l;
    begin_lab(&l);
    give_command(&l, "a", "movej");
    begin_move(&l);
    drive_stop(&l.d, "the broker is away");
    CHECK("it is stopped", l.d.stopping && drive_is_busy(&l.d));
    finish_move(&l, 2);
    expect_reply(&l, "a", REPLY_HALTED, "the broker is away");
    CHECK("at rest", !drive_is_busy(&l.d));
}

static void test_stops(void)
{
    struct lab l;
    begin_lab(&l);
    give_command(&l, "a", "movej");
    give_command(&l, "b", "movej");
    begin_move(&l);
    l.s.stop = "protective stop";
    l.s.protective = true;
    pass_samples(&l, 1, false);
    expect_reply(&l, "a", REPLY_BLOCKED, "protective stop");
    expect_reply(&l, "b", REPLY_HALTED, "had not begun");
    give_command(&l, "u", "unlock");
    expect_reply(&l, "u", REPLY_ERROR, "5 s");
    pass_samples(&l, 700, false);
    CHECK("not by itself", !l.d.upload && !l.d.unlock);
    drive_set_control(&l.d, DRIVE_CONTROL_UNKNOWN);
    give_command(&l, "u", "unlock");
    expect_reply(&l, "u", REPLY_ERROR, "on the pendant");
    drive_set_control(&l.d, DRIVE_CONTROL_REMOTE);
    give_command(&l, "u", "unlock");
    expect_reply(&l, "u", REPLY_DONE, "");
    CHECK("unlocks", l.d.unlock);
    l.s.stop = NULL;
    l.s.protective = false;
    pass_samples(&l, 1, false);
    CHECK("uploads", l.d.upload);
    pass_samples(&l, 1, false);
    give_command(&l, "early", "movej");
    expect_reply(&l, "early", REPLY_ERROR, "being started");
    pass_samples(&l, 10, true);
    CHECK_INT("ready", l.d.state, DRIVE_READY);
}

static void test_gone(void)
{
    struct lab l;
    begin_lab(&l);
    l.d.upload = false;
    give_command(&l, "a", "movej");
    begin_move(&l);
    pass_samples(&l, 200, false); /* no echo of a beat */
    expect_reply(&l, "a", REPLY_ERROR, "stopped or replaced");
    pass_samples(&l, 1000, false);
    CHECK("it ends nobody's program", !l.d.upload);
    drive_lost(&l.d, "the connection was lost");
    pass_samples(&l, 1, false);
    CHECK("starts after a new connection", l.d.upload);
    pass_samples(&l, 10, true);
    give_command(&l, "b", "movej");
    drive_set_control(&l.d, DRIVE_CONTROL_LOCAL);
    expect_reply(&l, "b", REPLY_HALTED, "local mode");
    give_command(&l, "c", "movej");
    expect_reply(&l, "c", REPLY_ERROR, "local mode");
    l.d.upload = false;
    pass_samples(&l, 500, false);
    CHECK("nothing in local mode", !l.d.upload);
    drive_set_control(&l.d, DRIVE_CONTROL_REMOTE);
    CHECK("connects again", l.d.connect);
}

static void test_jogs(void)
{
    struct lab l;
    struct event_command c = {.op = "speedj"};
    begin_lab(&l);
    c.arm.qd_count = ARM_JOINTS;
    c.arm.qd_radps[0] = 0.2;
    c.arm.time_s = 1.0;
    (void)snprintf(c.id, sizeof c.id, "a");
    drive_command(&l.d, &c, l.s.now_us);
    begin_move(&l);
    CHECK_INT("operation", l.d.inputs.input_int_register[25], 4);
    (void)snprintf(c.id, sizeof c.id, "b");
    drive_command(&l.d, &c, l.s.now_us);
    CHECK("one takes the other's place", l.d.stopping);
    finish_move(&l, 2);
    expect_reply(&l, "a", REPLY_HALTED, "another command took its place");
    CHECK_INT("the next", l.d.inputs.input_int_register[24], 1002);
    c.arm.time_s = 6.0;
    begin_move(&l);
    finish_move(&l, 1);
    expect_reply(&l, "b", REPLY_DONE, "");
    drive_command(&l.d, &c, l.s.now_us);
    expect_reply(&l, "b", REPLY_ERROR,
                 "bad_value: \"qd_radps\" with 6 numbers, \"time_s\" of 0 to 5 s");
    c.arm.time_s = 1.0;
    c.arm.qd_radps[0] = 9.0;
    drive_command(&l.d, &c, l.s.now_us);
    expect_reply(&l, "b", REPLY_ERROR, "too_fast: ");
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("drive", NULL, NULL);
    CU_ADD_TEST(suite, test_order);
    CU_ADD_TEST(suite, test_no_end);
    CU_ADD_TEST(suite, test_slow_stop);
    CU_ADD_TEST(suite, test_unlock);
    CU_ADD_TEST(suite, test_nobody);
    CU_ADD_TEST(suite, test_stops);
    CU_ADD_TEST(suite, test_gone);
    CU_ADD_TEST(suite, test_jogs);
    return check_run();
}
