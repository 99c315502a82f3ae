/* A team in the lab: its robots are pairs in link mode that answer their commands; ids,
 * entries, replay, checkpoints, requests. */
#include "tests/support/team_live_rerun.h"

#define AT(s) (RIG_T0_US + (int64_t)((s)*1e6))

/* ---- commands, halts and what may have been lost ---- */

static const char ONE[] =
    "{\"team\":{\"locking\":\"ordered\",\"resources\":{\"T\":{\"lease\":4000,\"on_lost\":"
    "\"release\"}},\"sequences\":{\"s\":[[\"lock\",[\"T\"]],[\"do\",\"Go\"],[\"unlock\",[\"T\"]"
    "]]},"
    "\"robots\":{\"R1\":{\"prog\":\"s\"}}},\"durations_ms\":{\"R1\":{\"Go\":9000}}}";

static void open_one(struct rig *rig)
{
    rig_init_text(rig, ONE);
    rig->lap = golden_lap;
}

/* A robot whose lease has ended is halted; an absent one gets the halt when it is back. */
static void test_halts(void)
{
    static const struct {
        const char *row;
        bool leaves;
        double sent_s;
    } rows[] = {{"silent", false, 4.0}, {"gone, and back", true, 6.0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct rig rig;
        open_one(&rig);
        rig_open_lab(&rig);
        rig_queue(&rig, RIG_T0_US, "$lab/request", TEAM_LIVE_START);
        if (rows[i].leaves) {
            rig_queue(&rig, AT(0.001), "p0/real/connection", "{\"state\":\"offline\"}");
            rig_queue(&rig, AT(6), "p0/real/connection", "{\"state\":\"online\"}");
        }
        rig_run_until(&rig, AT(rows[i].sent_s) - 1000);
        CHECK_INT(rows[i].row, rig.halts, 0);
        rig_run_until(&rig, AT(rows[i].sent_s + 0.5));
        CHECK_INT(rows[i].row, rig.halts, 1);
        CHECK(rows[i].row,
              strstr(rig.trace, "\"type\":\"halt\",\"robot\":\"R1\",\"because\":\"lease\""));
        rig_run(&rig, 200);
        CHECK_INT(rows[i].row, rig.halts, 1);
        check_again(&rig, true, 2);
        rig_close(&rig);
    }
}

/* The twin alone answers for a pair without a real robot, and for no other. */
static void test_twin_alone(void)
{
    static const struct {
        const char *row;
        enum pair_presence real;
        const char *wanted;
    } rows[] = {{"there is no real robot", PAIR_NEVER, "\"type\":\"finish\""},
                {"the real robot is away", PAIR_AUTO, "\"alarm\":\"task_error\""}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct rig rig;
        open_one(&rig);
        rig.pairs[0].expected[SIDE_REAL] = rows[i].real;
        rig.lap = NULL;
        rig.plain = true;
        rig_open_lab(&rig);
        rig_queue(&rig, AT(-1), "p0/real/connection", "{\"state\":\"offline\"}");
        rig_queue(&rig, RIG_T0_US, "$lab/request", TEAM_LIVE_START);
        rig_queue(&rig, AT(1), "p0/virtual/reply",
                  "{\"id\":\"cell-R1-1\",\"status\":\"done\"}");
        rig_run_until(&rig, AT(2));
        CHECK(rows[i].row, strstr(rig.trace, rows[i].wanted) != NULL);
        CHECK_INT(rows[i].row,
                  rig_count(&rig, "\"payload\":{\"id\":\"cell-R1-1\",\"op\":\"work\""), 1);
        rig_close(&rig);
    }
}

static void count_command(void *context, const struct effect *effect)
{
    unsigned *sides = context;
    *sides |= effect->kind == EFFECT_COMMAND ? 1U << effect->side : 0;
}

/* After a start a command is sent again, under its id, to robots for which the broker does not
 * have it; until it is answered. */
static void test_sent_again(void)
{
    static const char sent[] =
        "{\"team\":\"cell\",\"op\":\"sent\",\"robot\":\"R1\",\"id\":\"%s\",\"side\":\"%s\"}";
    static struct rig rig;
    char text[200];
    unsigned sides = 0;
    const struct effects fx = {count_command, &sides};
    open_one(&rig);
    rig.plain = true;
    rig_open_lab(&rig);
    lab_repeat_commands(rig.lab, &fx);
    CHECK_INT("nothing was sent", sides, 0);
    rig_queue(&rig, RIG_T0_US, "$lab/request", TEAM_LIVE_START);
    rig_run_until(&rig, AT(0.1));
    lab_repeat_commands(rig.lab, &fx);
    CHECK_INT("to both", sides, 3);
    (void)snprintf(text, sizeof text, sent, "cell-R1-7", "real");
    rig_queue(&rig, AT(0.2), "$lab/request", text);
    (void)snprintf(text, sizeof text, sent, "cell-R1-1", "real");
    rig_queue(&rig, AT(0.3), "$lab/request", text);
    rig_run_until(&rig, AT(0.25));
    sides = 0;
    lab_repeat_commands(rig.lab, &fx);
    CHECK_INT("another command has arrived", sides, 3);
    rig_run_until(&rig, AT(0.4));
    sides = 0;
    lab_repeat_commands(rig.lab, &fx);
    CHECK_INT("to the twin alone", sides, 2);
    rig_queue(&rig, AT(1), "p0/real/reply", "{\"id\":\"cell-R1-1\",\"status\":\"done\"}");
    rig_run_until(&rig, AT(2));
    sides = 0;
    lab_repeat_commands(rig.lab, &fx);
    CHECK_INT("though the team has gone on", sides, 2);
    rig_queue(&rig, AT(3), "p0/virtual/reply", "{\"id\":\"cell-R1-1\",\"status\":\"done\"}");
    rig_run_until(&rig, AT(4));
    sides = 0;
    lab_repeat_commands(rig.lab, &fx);
    CHECK_INT("answered", sides, 0);
    rig_close(&rig);
}

/* Robots know commands by their ids and clients grants by their fences: those that a run may
 * have given and lost are not given again. */
static void test_numbers_skipped(void)
{
    for (int stopped = 0; stopped < 2; stopped++) {
        static struct rig rig;
        open_one(&rig);
        rig.plain = true;
        rig_open_lab(&rig);
        rig_queue(&rig, RIG_T0_US, "$lab/request", TEAM_LIVE_START);
        rig_run_until(&rig, AT(1));
        CHECK_INT("the first", rig_count(&rig, "\"id\":\"cell-R1-1\""), 2);
        if (stopped) {
            rig_queue(&rig, AT(1), "$lab/stop", "{}");
        }
        rig_queue(&rig, AT(1.1), "$lab/start", "{\"number_gap\":1000}");
        rig_queue(&rig, AT(2), "p0/real/reply", "{\"id\":\"cell-R1-1\",\"status\":\"done\"}");
        rig_queue(&rig, AT(2), "p0/virtual/reply",
                  "{\"id\":\"cell-R1-1\",\"status\":\"done\"}");
        rig_run_until(&rig, AT(3));
        rig_queue(&rig, AT(3), "$lab/request", "{\"team\":\"cell\",\"op\":\"start\"}");
        rig_run_until(&rig, AT(4));
        CHECK_INT("the second", rig_count(&rig, "\"id\":\"cell-R1-2\"") > 0, stopped);
        CHECK_INT("the second", rig_count(&rig, "\"id\":\"cell-R1-1002\"") > 0, !stopped);
        CHECK_INT("fence", team_fence(team_live_team(lab_team(rig.lab, 0), &rig.spec.p)),
                  stopped ? 2 : 1002);
        rig_close(&rig);
    }
}

/* Names that are too long for an id, arguments within a payload, and a text that is too long
 * for a link. */
static void test_commands(void)
{
    static struct rig rig;
    rig_init(&rig, "tests/golden/team/class3.jsonl");
    rig.plain = true;
    (void)snprintf(rig.spec.p.name, sizeof rig.spec.p.name, "a_cell_with_a_rather_long_name");
    (void)snprintf(rig.spec.robots[0].name, sizeof rig.spec.robots[0].name,
                   "the_robot_at_the_left_of_it");
    for (size_t k = 0; k < rig.spec.p.task_count; k++) {
        (void)snprintf(rig.spec.tasks[k].payload, sizeof rig.spec.tasks[k].payload,
                       "{\"to\": \"{arg}\", \"v\": [1, {\"of\": \"{arg}\"}]}");
    }
    rig_open_lab(&rig);
    rig_queue(&rig, RIG_T0_US, "$lab/request",
              "{\"team\":\"a_cell_with_a_rather_long_name\",\"op\":\"start\"}");
    rig_run_until(&rig, AT(1));
    CHECK_INT("payload",
              rig_count(&rig, "\"op\":\"work\",\"to\": \"IB\", \"v\": [1, {\"of\": \"IB\"}]}"),
              2);
    CHECK_INT("id", rig_count(&rig, "\"payload\":{\"id\":\"a_cell_w-"), 2);
    rig_close(&rig);
    rig_init(&rig, "tests/golden/team/class3.jsonl");
    rig.plain = true;
    for (size_t k = 0; k < rig.spec.p.task_count; k++) {
        (void)snprintf(rig.spec.tasks[k].payload, sizeof rig.spec.tasks[k].payload,
                       "{\"to\": \"%0*d\"}", 240, 7);
    }
    rig_open_lab(&rig);
    rig_queue(&rig, RIG_T0_US, "$lab/request", TEAM_LIVE_START);
    rig_run_until(&rig, AT(1));
    CHECK("too long", strstr(rig.trace, "task_error") != NULL);
    CHECK_INT("not sent", rig_count(&rig, "\"op\":\"work\""), 0);
    rig_close(&rig);
}

/* ---- requests ---- */

static const char CLIENTS[] =
    "{\"team\":{\"locking\":\"ordered\",\"resources\":{\"IB\":{},\"T\":{\"lease\":4000,"
    "\"delay\":1000,\"on_lost\":\"release\"}},\"sequences\":{\"j\":[[\"do\",\"Go\"]]},"
    "\"robots\":{\"R1\":{},\"R2\":{},\"R3\":{}}},\"durations_ms\":{}}";

/* Say it at t, let the instant pass, and look for each of the texts among what came of it, in
 * this order. */
struct asked {
    const char *row;
    double t_s;
    const char *rest, *payload;
    const char *wanted[3];
    const char *unwanted;
};

static void ask_one(struct rig *rig, const struct asked *a)
{
    const size_t before = rig->log_used;
    rig_run_until(rig, AT(a->t_s) - 1);
    const size_t from = a->wanted[0] && a->wanted[0][0] == '<' ? before : rig->log_used;
    rig_queue(rig, AT(a->t_s), a->rest, a->payload);
    rig_run_until(rig, AT(a->t_s));
    const char *at = rig->log + from;
    for (size_t k = 0; k < COUNT(a->wanted) && a->wanted[k]; k++) {
        const char *text = a->wanted[k] + (a->wanted[k][0] == '<');
        const char *found = strstr(at, text);
        if (!found) {
            (void)fprintf(stderr, "[%s] no %s in\n%s\n", a->row, text, rig->log + from);
        }
        CHECK(a->row, found != NULL);
        at = found ? found : at;
    }
    CHECK(a->row, !a->unwanted || !strstr(rig->log + from, a->unwanted));
}

#define LOCK(id, robot, what)                                                                  \
    "{\"id\":\"" id "\",\"op\":\"lock\",\"robot\":\"" robot "\",\"resources\":[" what "]}"
#define UNLOCK(id, robot, what, fence)                                                         \
    "{\"id\":\"" id "\",\"op\":\"unlock\",\"robot\":\"" robot "\",\"resources\":[\"" what      \
    "\"],\"fence\":" fence "}"
#define ORDER(rest) "{\"team\":\"cell\"," rest "}"

static void test_clients(void)
{
    static const struct asked rows[] = {
        {"granted",
         1,
         "cell/request",
         LOCK("z1", "R1", "\"IB\""),
         {"\"type\":\"grant\"", "\"response\":{\"id\":\"z1\",\"robot\":\"R1\"",
          "\"grant\":\"GRANTED\",\"fences\":{\"IB\":1},\"lease_expiry\":null"},
         NULL},
        {"delivered again: the same answer, nothing else",
         1.1,
         "cell/request",
         LOCK("z1", "R1", "\"IB\""),
         {"\"t\":1001,\"grant\":\"GRANTED\",\"fences\":{\"IB\":1}"},
         "\"effect\""},
        {"another request under its id",
         1.2,
         "cell/request",
         LOCK("z1", "R1", "\"T\""),
         {"\"id\":\"z1\",\"robot\":\"R1\"", "REJECTED", "use a new one"},
         "\"effect\""},
        {"another robot's id may be the same",
         2,
         "cell/request",
         LOCK("z1", "R2", "\"IB\""),
         {"\"robot\":\"R2\"", "\"grant\":\"QUEUED\",\"behind\":[\"R1\"]"},
         "GRANTED"},
        {"queued still",
         2.5,
         "cell/request",
         LOCK("z1", "R2", "\"IB\""),
         {"QUEUED"},
         "\"effect\""},
        {"stale fence",
         3,
         "cell/request",
         UNLOCK("z2", "R1", "IB", "7"),
         {"\"id\":\"z2\"", "REJECTED"},
         "GRANTED"},
        {"unlock, and the hand-over in the same instant",
         4,
         "cell/request",
         UNLOCK("z3", "R1", "IB", "1"),
         {"\"id\":\"z3\",\"robot\":\"R1\",\"t\":1004,\"released\":{\"IB\":1}",
          "\"id\":\"z1\",\"robot\":\"R2\"", "\"fences\":{\"IB\":2}"},
         "REJECTED"},
        {"unlocked before",
         4.5,
         "cell/request",
         UNLOCK("z3", "R1", "IB", "1"),
         {"\"released\":{\"IB\":1}"},
         "\"effect\""},
        {"that grant is over",
         4.6,
         "cell/request",
         LOCK("z1", "R1", "\"IB\""),
         {"REVOKED"},
         "\"effect\""},
        {"no such resource",
         5,
         "cell/request",
         LOCK("z4", "R1", "\"XX\""),
         {"REJECTED", "there is no resource XX"},
         "\"effect\""},
        {"no such robot",
         5.1,
         "cell/request",
         LOCK("z4", "R9", "\"IB\""),
         {"REJECTED"},
         "\"effect\""},
        {"against the order",
         6,
         "cell/request",
         LOCK("z5", "R3", "\"T\""),
         {"GRANTED"},
         "REJECTED"},
        {"against the order",
         6.1,
         "cell/request",
         LOCK("z6", "R3", "\"IB\""),
         {"REJECTED"},
         "QUEUED"},
        {"a sign of life renews the lease",
         9,
         "cell/request",
         "{\"op\":\"alive\",\"robot\":\"R3\"}",
         {NULL},
         "expire"},
        {"the lease has ended at 13",
         13.5,
         "cell/request",
         LOCK("z7", "R1", "\"T\""),
         {"<\"type\":\"expire\",\"robot\":\"R3\"",
          "\"id\":\"z5\",\"robot\":\"R3\",\"t\":1013,\"grant\":\"REVOKED\"", "QUEUED"},
         NULL},
        {"free after its delay, higher fence",
         14.5,
         "cell/request",
         "{\"op\":\"alive\",\"robot\":\"R1\"}",
         {"<\"t\":1014,\"grant\":\"GRANTED\",\"fences\":{\"T\":4}"},
         NULL},
        {"the old fence",
         15,
         "cell/request",
         UNLOCK("z8", "R3", "T", "3"),
         {"stale_fence", "REJECTED"},
         NULL},
        {"stale release",
         16,
         "$lab/request",
         ORDER("\"op\":\"release\",\"resource\":\"IB\",\"fence\":1,\"id\":\"h1\""),
         {"stale_release"},
         "\"why\":\"operator\""},
        {"release by a person",
         16.1,
         "$lab/request",
         ORDER("\"op\":\"release\",\"resource\":\"IB\",\"fence\":2,\"id\":\"h2\",\"reason\":"
               "\"seen\""),
         {"\"id\":\"z1\",\"robot\":\"R2\"", "REVOKED"},
         "stale"},
        {"release again",
         16.2,
         "$lab/request",
         ORDER("\"op\":\"release\",\"resource\":\"IB\",\"fence\":2,\"id\":\"h2\",\"reason\":"
               "\"seen\""),
         {NULL},
         "\"effect\""},
        {"reset of a robot that is not in Error",
         17,
         "$lab/request",
         ORDER("\"op\":\"reset\",\"robot\":\"R1\",\"id\":\"h3\""),
         {"REJECTED", "not in Error"},
         "\"type\":\"reset\""},
        {"no lock op",
         18,
         "cell/request",
         "{\"id\":\"z9\",\"op\":\"release\",\"robot\":\"R1\"}",
         {"\"id\":\"z9\"", "REJECTED", "out of lock unlock alive start stop"},
         "\"effect\""},
        {"a job without its part",
         18.1,
         "cell/job",
         "{\"id\":\"j1\",\"seq\":\"j\"}",
         {"\"id\":\"j1\"", "REJECTED"},
         "\"effect\""},
        {"an unknown job",
         18.2,
         "cell/job",
         "{\"id\":\"j1\",\"part\":\"a\",\"seq\":\"walk\"}",
         {"\"id\":\"j1\"", "REJECTED"},
         "\"effect\""},
    };
    static struct rig rig;
    rig_init_text(&rig, CLIENTS);
    rig.lap = golden_lap;
    rig_open_lab(&rig);
    for (size_t i = 0; i < COUNT(rows); i++) {
        ask_one(&rig, &rows[i]);
    }
    rig_run_until(&rig, AT(20));
    check_again(&rig, false, SIZE_MAX);
    check_again(&rig, true, 7);
    rig_close(&rig);
}

/* A Lock of several continues with its remaining resources. */
static void test_part_of_a_lock(void)
{
    static const char both[] = LOCK("z1", "R1", "\"IB\",\"T\"");
    static const struct asked rows[] = {
        {"both",
         1,
         "cell/request",
         both,
         {"\"fences\":{\"IB\":1,\"T\":2},\"lease_expiry\":1005"},
         NULL},
        {"one is given back",
         2,
         "cell/request",
         UNLOCK("z2", "R1", "IB", "1"),
         {"\"released\":{\"IB\":1}"},
         "REVOKED"},
        {"the other is held",
         2.5,
         "cell/request",
         both,
         {"\"grant\":\"GRANTED\",\"fences\":{\"T\":2}"},
         "\"effect\""},
        {"and revoked",
         3,
         "$lab/request",
         ORDER("\"op\":\"release\",\"resource\":\"T\",\"fence\":2,\"id\":\"h1\""),
         {"\"id\":\"z1\",\"robot\":\"R1\",\"t\":1003,\"grant\":\"REVOKED\",\"fences\":{\"T\":"
          "2}"},
         NULL},
        {"nothing is left", 3.5, "cell/request", both, {"REVOKED"}, "\"effect\""},
        {"both again",
         5,
         "cell/request",
         LOCK("z3", "R2", "\"IB\",\"T\""),
         {"\"fences\":{\"IB\":3,\"T\":4}"},
         NULL},
        {"one is revoked",
         6,
         "$lab/request",
         ORDER("\"op\":\"release\",\"resource\":\"IB\",\"fence\":3,\"id\":\"h2\""),
         {"\"id\":\"z3\",\"robot\":\"R2\",\"t\":1006,\"grant\":\"REVOKED\",\"fences\":{\"IB\":"
          "3}"},
         "\"T\":4"},
        {"the other is held",
         6.5,
         "cell/request",
         LOCK("z3", "R2", "\"IB\",\"T\""),
         {"\"grant\":\"GRANTED\",\"fences\":{\"T\":4}"},
         "\"effect\""},
        {"and given back",
         7,
         "cell/request",
         UNLOCK("z4", "R2", "T", "4"),
         {"\"released\":{\"T\":4}"},
         "REVOKED"},
        {"nothing is left",
         7.5,
         "cell/request",
         LOCK("z3", "R2", "\"IB\",\"T\""),
         {"REVOKED"},
         "\"effect\""},
    };
    static struct rig rig;
    rig_init_text(&rig, CLIENTS);
    rig.lap = golden_lap;
    rig_open_lab(&rig);
    for (size_t i = 0; i < COUNT(rows); i++) {
        ask_one(&rig, &rows[i]);
    }
    rig_run_until(&rig, AT(20));
    check_again(&rig, true, 5);
    rig_close(&rig);
}

static const char BOTH[] =
    "{\"team\":{\"locking\":\"ordered\",\"resources\":{\"A\":{},\"B\":{}},\"sequences\":{\"s\":"
    "[[\"lock\",[\"A\",\"B\"]],[\"do\",\"Go\"],[\"unlock\",[\"A\",\"B\"]]]},\"robots\":{\"R1\":"
    "{\"prog\":\"s\"}}},\"durations_ms\":{\"R1\":{\"Go\":5000}}}";

/* A robot from which a place was revoked locks it again before it continues; if it may not, the
 * operator gets advice. */
static void test_revoked(void)
{
    static const char refused[] = "A was taken away and may not be locked while it holds B: "
                                  "release that, too";
    static const struct asked rows[] = {
        {"abort",
         1,
         "$lab/request",
         ORDER("\"op\":\"abort\",\"robot\":\"R1\",\"id\":\"h1\""),
         {"task_error"},
         NULL},
        {"carried away",
         2,
         "$lab/request",
         ORDER("\"op\":\"release\",\"resource\":\"A\",\"fence\":1,\"id\":\"h2\""),
         {"operator"},
         NULL},
        {"reset",
         3,
         "$lab/request",
         ORDER("\"op\":\"reset\",\"robot\":\"R1\",\"id\":\"h3\""),
         {"REJECTED", refused},
         "\"effect\""},
        {"that, too",
         4,
         "$lab/request",
         ORDER("\"op\":\"release\",\"resource\":\"B\",\"fence\":2,\"id\":\"h4\""),
         {"operator"},
         NULL},
        {"reset again",
         5,
         "$lab/request",
         ORDER("\"op\":\"reset\",\"robot\":\"R1\",\"id\":\"h5\""),
         {"\"resource\":\"A\",\"fence\":3", "\"resource\":\"B\",\"fence\":4",
          "\"type\":\"start\""},
         "REJECTED"},
    };
    static struct rig rig;
    rig_init_text(&rig, BOTH);
    rig.lap = golden_lap;
    rig_open_lab(&rig);
    rig_queue(&rig, RIG_T0_US, "$lab/request", TEAM_LIVE_START);
    for (size_t i = 0; i < COUNT(rows); i++) {
        ask_one(&rig, &rows[i]);
    }
    rig_run_until(&rig, AT(20));
    CHECK("at its end", strstr(rig.trace, "finish") != NULL);
    check_again(&rig, true, 3);
    rig_close(&rig);
}

/* R1 has its own sequence, R2 handles a, R3 b; locks alone is a step of others. */
static const char WORKERS[] =
    "{\"team\":{\"locking\":\"ordered\",\"resources\":{\"IB\":{}},\"buffers\":{\"box\":"
    "[\"b\"],\"bin\":[]},\"sequences\":{\"own\":[[\"do\",\"Go\"]],\"j\":[[\"do\",\"Go\"]],"
    "\"locks\":[[\"lock\",[\"IB\"]],[\"do\",\"Go\"]],\"fetch\":[[\"id\",\"box\"],[\"do\","
    "\"Go\"]],\"empty\":[[\"id\",\"bin\"],[\"do\",\"Go\"]],\"arm\":[[\"tool\",\"Fit\","
    "\"d\"]]},\"robots\":{\"R1\":{\"prog\":\"own\",\"handles\":[\"a\",\"c\"]},\"R2\":{"
    "\"handles\":[\"a\"]},\"R3\":{\"handles\":[\"b\"]}}},\"durations_ms\":{\"R1\":{},\"R2\":"
    "{\"Go\":100,\"Fit\":100},\"R3\":{\"Go\":100}}}";

/* An impossible request is refused with a reason, over MQTT and over HTTP, and does not affect
 * the team. */
static void test_jobs(void)
{
    static const struct {
        const char *row, *rest;
        const char *refused; /* NULL: accepted */
    } rows[] = {
        {"fine", "\"part\":\"a\",\"seq\":\"j\"", NULL},
        {"of one home", "\"part\":\"b\",\"seq\":\"j\",\"home\":\"R3\"", NULL},
        {"a step of others", "\"part\":\"a\",\"seq\":\"locks\"",
         "locks is a step of other sequences only: alone it breaks the locking rule"},
        {"home has work", "\"part\":\"a\",\"seq\":\"j\",\"home\":\"R1\"",
         "home R1 has a sequence of its own and takes no jobs"},
        {"home cannot", "\"part\":\"a\",\"seq\":\"j\",\"home\":\"R3\"",
         "home R3 cannot handle a; add it to its handles, or name another home"},
        {"only one with work can", "\"part\":\"c\",\"seq\":\"j\"",
         "no robot without a sequence of its own can handle c"},
        {"by a tool", "\"part\":\"d\",\"seq\":\"arm\",\"home\":\"R2\"", NULL},
        {"nothing there for its home", "\"part\":\"a\",\"seq\":\"fetch\",\"home\":\"R2\"",
         "fetch takes parts from box, of which R2 handles none"},
        {"nothing there for anybody", "\"part\":\"a\",\"seq\":\"fetch\"",
         "fetch takes parts from a buffer of which no robot that could do it handles any"},
        {"there for one", "\"part\":\"b\",\"seq\":\"fetch\"", NULL},
        {"from an empty one", "\"part\":\"a\",\"seq\":\"empty\"", NULL},
    };
    static struct rig rig;
    rig_init_text(&rig, WORKERS);
    rig.spec.sequences[2].part = true;
    rig.lap = golden_lap;
    rig_open_lab(&rig);
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        const bool order = i >= COUNT(rows);
        const size_t k = i % COUNT(rows);
        char text[RIG_PAYLOAD], id[16];
        (void)snprintf(id, sizeof id, "%c%zu", order ? 'w' : 'j', k);
        (void)snprintf(text, sizeof text, "{\"id\":\"%s\",%s%s}", id,
                       order ? "\"team\":\"cell\",\"op\":\"job\"," : "", rows[k].rest);
        const struct asked one = {rows[k].row,
                                  1.0 + (double)i,
                                  order ? "$lab/request" : "cell/job",
                                  text,
                                  {rows[k].refused ? "REJECTED" : "\"type\":\"job\"",
                                   rows[k].refused ? rows[k].refused : "\"type\":\"assign\""},
                                  rows[k].refused ? "\"effect\"" : "REJECTED"};
        /* A tool that a robot could fetch: the job waits for it, and this is reported. */
        struct asked waits = one;
        waits.wanted[1] = "nobody_can";
        ask_one(&rig, strcmp(rows[k].row, "by a tool") == 0 ? &waits : &one);
    }
    rig_run_until(&rig, AT(60));
    check_again(&rig, true, 9);
    rig_close(&rig);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("crew", NULL, NULL);
    CU_add_test(suite, "halts", test_halts);
    CU_add_test(suite, "the twin alone", test_twin_alone);
    CU_add_test(suite, "sent again", test_sent_again);
    CU_add_test(suite, "numbers skipped", test_numbers_skipped);
    CU_add_test(suite, "commands", test_commands);
    CU_add_test(suite, "clients", test_clients);
    CU_add_test(suite, "part of a lock", test_part_of_a_lock);
    CU_add_test(suite, "jobs", test_jobs);
    CU_add_test(suite, "revoked", test_revoked);
    return check_run();
}
