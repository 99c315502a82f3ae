/* The simulator receives the real robot's pose when and only when it should, and the outcome is
 * recorded. */
#include "tests/support/check.h"

#include "tests/support/lab_script.h"

#define AT(s) ((int64_t)(s)*1000000)

static const char *const names[] = {"x_m", "y_m", "psi_rad"};

struct setting {
    enum pair_correct correct;
    enum pair_mode mode;
};

static void open_lab(struct script *s, struct setting setting)
{
    script_init(s, 1);
    s->params[0].correct = setting.correct;
    s->params[0].mode = setting.mode;
    script_open(s);
}

/* A reply that reports `count` of the names, each with this value. */
static void reply_values(struct script *s, int64_t t_us, enum side side, const char *id,
                         size_t count, const double *values)
{
    struct event e = script_reply_event("r1", t_us, side, id, REPLY_DONE);
    for (size_t i = 0; i < count; i++) {
        struct event_value *v = &e.reply.values[e.reply.value_count++];
        *v = (struct event_value){
            .place = hash_text(names[i]), .kind = VALUE_NUMBER, .number = values[i]};
        (void)snprintf(v->name, sizeof v->name, "%s", names[i]);
    }
    lab_step(s->lab, &e, &s->fx);
}

static void reply_pose(struct script *s, int64_t t_us, enum side side, const char *id,
                       double x_m, double psi_rad)
{
    reply_values(s, t_us, side, id, 3, (const double[]){x_m, 2.0, psi_rad});
}

/* One move that both answer; the real robot first, or not. */
static void make_move(struct script *s, int64_t t_us, const char *op, double virtual_x_m,
                      bool real_first)
{
    script_command_op(s, "r1", t_us, "c", op);
    if (!real_first) {
        reply_pose(s, t_us + AT(1), SIDE_VIRTUAL, "c", virtual_x_m, 3.14);
    }
    reply_pose(s, t_us + AT(2), SIDE_REAL, "c", 1.0, -3.14);
    if (real_first) {
        reply_pose(s, t_us + AT(3), SIDE_VIRTUAL, "c", virtual_x_m, 3.14);
    }
}

static void send_answer(struct script *s, int64_t t_us, int64_t number, uint32_t refused)
{
    struct event e = script_event("r1", t_us, EVENT_POSE_ACK, SIDE_VIRTUAL);
    e.ack = (struct event_ack){.version = number,
                               .applied = refused ? 0 : 3,
                               .refused = refused,
                               .reason = "pose: it is in work"};
    lab_step(s->lab, &e, &s->fx);
}

static void test_when(void)
{
    static const struct {
        const char *row, *op;
        enum pair_correct correct;
        double virtual_x_m;
        size_t sent;
    } rows[] = {
        {"off", "go", PAIR_CORRECT_OFF, 1.5, 0},
        {"each", "go", PAIR_CORRECT_EACH_MOVE, 1.5, 1},
        {"each, though they agree", "go", PAIR_CORRECT_EACH_MOVE, 1.0, 1},
        {"after a halt", "halt", PAIR_CORRECT_EACH_MOVE, 1.5, 1},
        {"not after an op without a move", "lidar", PAIR_CORRECT_EACH_MOVE, 1.5, 0},
        {"they differ", "go", PAIR_CORRECT_AFTER_INCONSISTENCY, 1.5, 1},
        {"they agree, on the circle", "go", PAIR_CORRECT_AFTER_INCONSISTENCY, 1.01, 0},
    };
    static struct script s;
    for (size_t i = 0; i < 4 * COUNT(rows); i++) {
        const size_t k = i / 4;
        open_lab(&s, (struct setting){rows[k].correct, i % 2 ? PAIR_LINK : PAIR_OBSERVE});
        make_move(&s, AT(1), rows[k].op, rows[k].virtual_x_m, i / 2 % 2 == 0);
        CHECK_INT(rows[k].row, script_count(&s, EFFECT_POSE), rows[k].sent);
        const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
        CHECK_INT(rows[k].row, entry->entry.correction, rows[k].sent);
        if (rows[k].sent > 0) {
            CHECK(rows[k].row, strstr(script_find(&s, EFFECT_POSE, 0)->payload,
                                      "{\"correction\":1,\"id\":\"c\",\"t\":"));
            CHECK(rows[k].row, strstr(script_find(&s, EFFECT_POSE, 0)->payload,
                                      ",\"x_m\":1,\"y_m\":2,\"psi_rad\":-3.14}"));
            CHECK_NEAR(rows[k].row, entry->entry.correction_m, rows[k].virtual_x_m - 1.0, 0,
                       1e-12);
            CHECK_NEAR(rows[k].row, entry->entry.correction_rad, 2.0 * 3.141592653589793 - 6.28,
                       0, 1e-12);
        }
        script_close(&s);
    }
}

/* A robot that does not report the whole pose cannot be corrected, nor correct another. */
static void test_half_a_pose(void)
{
    static struct script s;
    const double pose[] = {1.0, 2.0, 3.0};
    const double other[] = {1.5, 2.0, 3.0};
    for (size_t real = 0; real <= 3; real++) {
        open_lab(&s, (struct setting){PAIR_CORRECT_EACH_MOVE, PAIR_OBSERVE});
        script_command(&s, "r1", AT(1), "c");
        reply_values(&s, AT(2), SIDE_REAL, "c", real, pose);
        reply_values(&s, AT(3), SIDE_VIRTUAL, "c", 6 - real > 3 ? 3 : 6 - real, other);
        CHECK_INT("whole poses", script_count(&s, EFFECT_POSE), real == 3);
        script_close(&s);
    }
    open_lab(&s, (struct setting){PAIR_CORRECT_EACH_MOVE, PAIR_OBSERVE});
    script_command(&s, "r1", AT(1), "c");
    reply_values(&s, AT(2), SIDE_REAL, "c", 3, pose);
    script_tick(&s, AT(60));
    CHECK_INT("a twin that timed out", script_count(&s, EFFECT_ENTRY), 1);
    CHECK_INT("is not at its reported place", script_count(&s, EFFECT_POSE), 0);
    script_close(&s);
}

/* Observe: both received the next command while the first was open. */
static void test_open_in_observe(void)
{
    static struct script s;
    open_lab(&s, (struct setting){PAIR_CORRECT_EACH_MOVE, PAIR_OBSERVE});
    script_command(&s, "r1", AT(1), "a");
    script_command(&s, "r1", AT(2), "b");
    reply_pose(&s, AT(3), SIDE_VIRTUAL, "a", 1.5, 0.0);
    reply_pose(&s, AT(4), SIDE_VIRTUAL, "b", 1.5, 0.0);
    reply_pose(&s, AT(5), SIDE_REAL, "a", 1.0, 0.0);
    CHECK_INT("b is open", script_count(&s, EFFECT_POSE), 0);
    reply_pose(&s, AT(6), SIDE_REAL, "b", 1.0, 0.0);
    CHECK_INT("none is", script_count(&s, EFFECT_POSE), 1);
    script_command(&s, "r1", AT(11), "c");
    script_command(&s, "r1", AT(12), "d");
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        reply_pose(&s, AT(13 + side), side, "d", 1.0 + (double)side, 0.0);
    }
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        reply_pose(&s, AT(15 + side), side, "c", 1.0 + (double)side, 0.0);
    }
    CHECK_INT("d was closed before the older c", script_count(&s, EFFECT_POSE), 1);
    script_close(&s);
}

/* Link: the next command waits for the virtual robot, and goes out behind the pose; a halt that
 * overtook is at work. */
static void test_open_in_link(void)
{
    static struct script s;
    open_lab(&s, (struct setting){PAIR_CORRECT_EACH_MOVE, PAIR_LINK});
    script_command(&s, "r1", AT(1), "a");
    reply_pose(&s, AT(2), SIDE_REAL, "a", 1.0, 0.0);
    script_command(&s, "r1", AT(3), "b");
    script_clear(&s);
    reply_pose(&s, AT(4), SIDE_VIRTUAL, "a", 1.5, 0.0);
    size_t pose = SIZE_MAX;
    size_t command = SIZE_MAX;
    for (size_t i = 0; i < s.count; i++) {
        pose = s.effect[i].kind == EFFECT_POSE ? i : pose;
        command = s.effect[i].kind == EFFECT_COMMAND ? i : command;
    }
    CHECK("the pose, then the command", pose < command && command < s.count);
    script_command_op(&s, "r1", AT(5), "h", "halt");
    script_clear(&s);
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        reply_pose(&s, AT(6), side, "b", 1.0 + (double)side, 0.0);
    }
    CHECK_INT("the halt is at work", script_count(&s, EFFECT_POSE), 0);
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        reply_pose(&s, AT(7), side, "h", 1.0 + (double)side, 0.0);
    }
    CHECK_INT("now it rests", script_count(&s, EFFECT_POSE), 1);
    script_close(&s);
}

static size_t count_alarms(const struct script *s, const char *code)
{
    size_t n = 0;
    for (size_t k = 0; script_find(s, EFFECT_ALARM, k); k++) {
        n += strcmp(script_alarm(s, k), code) == 0;
    }
    return n;
}

static void test_answers(void)
{
    static struct script s;
    open_lab(&s, (struct setting){PAIR_CORRECT_EACH_MOVE, PAIR_OBSERVE});
    const struct pair_correction *c = &lab_pair(s.lab, 0)->correction;
    make_move(&s, AT(0), "go", 1.5, true);
    send_answer(&s, AT(4), 1, 0);
    send_answer(&s, AT(4), 1, 0);
    send_answer(&s, AT(4), 9, 0);
    CHECK_INT("applied once", c->applied, 1);
    make_move(&s, AT(100), "go", 1.5, true);
    send_answer(&s, AT(104), 2, 1);
    CHECK_INT("refused", c->refused, 1);
    CHECK_INT("is reported", count_alarms(&s, "pose_refused"), 1);
    make_move(&s, AT(150), "go", 1.5, true);
    send_answer(&s, AT(154), 3, 1);
    CHECK_INT("once", count_alarms(&s, "pose_refused"), 1);
    make_move(&s, AT(160), "go", 1.5, true);
    send_answer(&s, AT(164), 4, 0);
    script_clear(&s);
    for (int k = 0; k < 5; k++) { /* by the deadline, then by the next move */
        make_move(&s, AT(200 + (k < 3 ? 100 * k : 400 + 5 * k)), "go", 1.5, true);
    }
    script_tick(&s, AT(900));
    CHECK_INT("unanswered", c->unanswered, 5);
    CHECK_INT("never sent again", script_count(&s, EFFECT_POSE), 5);
    CHECK_INT("reported once", count_alarms(&s, "pose_unanswered"), 1);
    make_move(&s, AT(1000), "go", 1.5, true);
    send_answer(&s, AT(1004), (int64_t)c->sent, 0);
    make_move(&s, AT(1100), "go", 1.5, true);
    script_tick(&s, AT(1200));
    CHECK_INT("and again after an answer", count_alarms(&s, "pose_unanswered"), 2);
    CHECK_INT("all are accounted for", c->sent, c->applied + c->refused + c->unanswered);
    script_close(&s);
}

/* Replies that waited while nobody listened have an unknown time. */
static void test_away(void)
{
    static struct script s;
    open_lab(&s, (struct setting){PAIR_CORRECT_EACH_MOVE, PAIR_OBSERVE});
    struct event e = script_event("", AT(1), EVENT_AWAY, SIDE_COUNT);
    e.away_us = AT(5);
    lab_step(s.lab, &e, &s.fx);
    script_command(&s, "r1", AT(1), "c");
    reply_pose(&s, AT(1), SIDE_REAL, "c", 1.0, 0.0);
    reply_pose(&s, AT(1), SIDE_VIRTUAL, "c", 1.5, 0.0);
    CHECK_INT("closed", script_count(&s, EFFECT_ENTRY), 1);
    CHECK_INT("nothing sent", script_count(&s, EFFECT_POSE), 0);
    script_close(&s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("correct", NULL, NULL);
    CU_add_test(suite, "when", test_when);
    CU_add_test(suite, "half a pose", test_half_a_pose);
    CU_add_test(suite, "open, observe", test_open_in_observe);
    CU_add_test(suite, "open, link", test_open_in_link);
    CU_add_test(suite, "answers", test_answers);
    CU_add_test(suite, "away", test_away);
    return check_run();
}
