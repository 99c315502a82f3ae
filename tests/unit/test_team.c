/* Cases beyond the golden traces of teams: loops, conditions, endless steps, a Lock aborted
 * halfway, a step skipped, robots that lock by themselves, locks revoked from a sequence,
 * silent robots. Every activity takes 1 s, those with a z 9 s. */
#include "tests/support/check.h"

#include "tests/support/team_drive.h"
#include "tests/support/team_spec.h"

enum { TEXT = 4096 };

struct notes {
    char text[TEXT];
    const struct team_params *p;
};

/* "1 done R1 x; 2 alarm livelock; " … */
static void record_effect(void *context, const struct team_effect *e)
{
    struct notes *n = context;
    const size_t used = strlen(n->text);
    const bool task = e->step && e->step->task != TEAM_NONE;
    (void)snprintf(
        n->text + used, TEXT - used, "%d %s%s%s%s%s%s%s; ", (int)(e->t_us / 1000000),
        e->kind == TEAM_ALARM ? team_alarm_name(e->alarm) : team_effect_name(e->kind),
        e->robot == TEAM_NONE ? "" : " ",
        e->robot == TEAM_NONE ? "" : n->p->robots[e->robot].name, task ? " " : "",
        task ? n->p->tasks[e->step->task].name : "", e->resource == TEAM_NONE ? "" : " ",
        e->resource == TEAM_NONE ? "" : n->p->resources[e->resource].name);
}

static bool last_one_second(void *context, uint16_t robot, const struct team_step *step,
                            uint32_t n, int64_t *took_us, enum team_event_kind *event)
{
    const struct notes *notes = context;
    (void)robot, (void)n, (void)event;
    *took_us = notes->p->tasks[step->task].name[0] == 'z' ? 9000000 : 1000000;
    return true;
}

/* Runs the team with these events, whose times are in seconds. */
static void check_team(const char *row, const char *json, const struct team_due_event *events,
                       size_t count, const char *want)
{
    struct team_spec spec;
    json_t *head = json_loads(json, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(head);
    team_spec_read(&spec, head);
    void *memory = malloc(team_bytes(&spec.p));
    struct notes notes = {.p = &spec.p};
    struct team_drive drive = {.team = team_init(memory, &spec.p),
                               .p = &spec.p,
                               .duration = last_one_second,
                               .emit = record_effect,
                               .context = &notes};
    team_drive_start(&drive);
    for (size_t k = 0; k < count; k++) {
        team_drive_add(&drive, 1000000 * events[k].t_us, &events[k].event);
    }
    for (unsigned k = 0; k < 1000 && team_drive_step(&drive); k++) {
    }
    CHECK_TEXT(row, notes.text, want);
    free(drive.queue);
    free(memory);
    team_spec_free(&spec);
    json_decref(head);
}

static void test_loops(void)
{
    check_team("twice three times",
               "{\"sequences\": {\"s\": [[\"do\", \"x\"], [\"loop\", 0, 2], [\"do\", \"y\"], "
               "[\"loop\", 0, 2]]}, \"robots\": {\"R\": {\"prog\": \"s\"}}}",
               NULL, 0,
               "0 start R x; 1 done R x; 1 start R x; 2 done R x; 2 start R y; 3 done R y; 3 "
               "start R x; "
               "4 done R x; 4 start R x; 5 done R x; 5 start R y; 6 done R y; 6 finish R; ");
    check_team("out of a loop by a jump",
               "{\"buffers\": {\"b\": [\"p\"]}, \"sequences\": {\"s\": [[\"id\", \"b\"], "
               "[\"unless\", \"q\", 4], "
               "[\"do\", \"x\"], [\"loop\", 1, 9], [\"do\", \"y\"], [\"loop\", 4, 2]]}, "
               "\"robots\": {\"R\": {\"prog\": \"s\"}}}",
               NULL, 0,
               "0 done R; 0 start R y; 1 done R y; 1 start R y; 2 done R y; 2 finish R; ");
}

static void test_conditions(void)
{
    check_team(
        "the part in hand decides",
        "{\"buffers\": {\"b\": [\"p\", \"q\"]}, \"sequences\": {\"s\": [[\"id\", \"b\"], "
        "[\"unless\", \"p\", 3], "
        "[\"do\", \"x\"], [\"do\", \"y\"]]}, \"robots\": {\"R\": {\"prog\": \"s\", \"cycles\": "
        "2}}}",
        NULL, 0,
        "0 done R; 0 start R x; 1 done R x; 1 start R y; 2 done R y; 2 done R; 2 start R y; "
        "3 done R y; 3 finish R; ");
}

static void test_livelock(void)
{
    check_team("a circle that takes no time",
               "{\"sequences\": {\"s\": [[\"goto\", 0]], \"t\": [[\"do\", \"x\"]]}, "
               "\"robots\": {\"R\": {\"prog\": \"s\"}, \"Q\": {\"prog\": \"t\"}}}",
               NULL, 0,
               "0 start Q x; 0 livelock; 0 error R; 0 task_error R; 1 done Q x; 1 finish Q; ");
}

/* A Lock of A and B that has A and waits for B is aborted: A stays, the reset continues with
 * B. */
static void test_abort(void)
{
    static const struct team_due_event events[] = {
        {0, {.kind = TEAM_EVENT_ABORT, .robot = 1, .n = 0}},
    };
    struct team_due_event later[3] = {events[0], events[0], events[0]};
    later[0].t_us = 1;
    later[1].t_us = 1; /* once more in the same instant: it is in Error already */
    later[1].event.id[0] = 'z';
    later[2].t_us = 2;
    later[2].event.kind = TEAM_EVENT_RESET;
    check_team(
        "aborted halfway",
        "{\"locking\": \"ordered\", \"resources\": {\"A\": {}, \"B\": {}}, \"sequences\": {"
        "\"s\": [[\"lock\", [\"B\"]], [\"do\", \"x\"], [\"do\", \"x\"], [\"do\", \"x\"], "
        "[\"unlock\", [\"B\"]]], "
        "\"t\": [[\"lock\", [\"A\", \"B\"]], [\"unlock\", [\"A\", \"B\"]]]}, "
        "\"robots\": {\"R\": {\"prog\": \"s\"}, \"Q\": {\"prog\": \"t\"}}}",
        later, COUNT(later),
        "0 grant R B; 0 done R; 0 grant Q A; 0 wait Q; 0 start R x; 1 done R x; 1 error Q; 1 "
        "task_error Q; "
        "1 out_of_context Q; 1 start R x; 2 done R x; 2 reset Q; 2 start R x; 2 wait Q; 3 done "
        "R x; "
        "3 release R B; 3 done R; 3 grant Q B; 3 done Q; 3 finish R; 3 release Q A; 3 release "
        "Q B; "
        "3 done Q; 3 finish Q; ");
}

static void test_clients(void)
{
    struct team_due_event events[] = {
        {0,
         {.kind = TEAM_EVENT_LOCK,
          .robot = 1,
          .resource_count = 1,
          .resources = {1},
          .id = "a"}},
        {1,
         {.kind = TEAM_EVENT_LOCK,
          .robot = 1,
          .resource_count = 1,
          .resources = {0},
          .id = "b"}},
        {2, {.kind = TEAM_EVENT_UNLOCK, .robot = 1, .resource = 1, .fence = 7, .id = "c"}},
        {3, {.kind = TEAM_EVENT_UNLOCK, .robot = 1, .resource = 1, .fence = 1, .id = "d"}},
        {4,
         {.kind = TEAM_EVENT_LOCK,
          .robot = 1,
          .resource_count = 1,
          .resources = {9},
          .id = "e"}},
        {5,
         {.kind = TEAM_EVENT_LOCK,
          .robot = 0,
          .resource_count = 1,
          .resources = {0},
          .id = "f"}},
    };
    check_team("a robot that asks by itself",
               "{\"locking\": \"ordered\", \"resources\": {\"A\": {}, \"B\": {}}, "
               "\"sequences\": {\"s\": [[\"do\", \"x\"]]}, \"robots\": {\"R\": {\"prog\": "
               "\"s\"}, \"C\": {}}}",
               events, COUNT(events),
               "0 start R x; 0 grant C B; 0 done C; 1 done R x; 1 finish R; 1 reject C; 2 "
               "stale_fence C B; "
               "2 reject C; 3 release C B; 4 reject C; 5 reject R; ");
}

#define HAPPENS(t, what, who)                                                                  \
    {                                                                                          \
        t,                                                                                     \
        {                                                                                      \
            .kind = TEAM_EVENT_##what, .robot = who                                            \
        }                                                                                      \
    }
#define RELEASES(t, which, f)                                                                  \
    {                                                                                          \
        t,                                                                                     \
        {                                                                                      \
            .kind = TEAM_EVENT_RELEASE, .robot = TEAM_NONE, .resource = which, .fence = f      \
        }                                                                                      \
    }

/* A place that was revoked from a robot is locked again before its sequence continues there,
 * with a new fence and after the waiting robots. */
static void test_revoked(void)
{
    static const char door[] =
        "{\"locking\": \"ordered\", \"resources\": {\"A\": {}, \"B\": {}}, \"sequences\": {"
        "\"s\": [[\"lock\", [\"A\"]], [\"do\", \"z\"], [\"do\", \"x\"], [\"unlock\", "
        "[\"A\"]]], "
        "\"t\": [[\"lock\", [\"A\"]], [\"do\", \"x\"], [\"unlock\", [\"A\"]]]}, "
        "\"robots\": {\"R\": {\"prog\": \"s\"}, \"Q\": {\"prog\": \"t\"}}}";
    static const struct team_due_event again[] = {HAPPENS(1, ABORT, 0), RELEASES(2, 0, 1),
                                                  HAPPENS(2, RESET, 0)};
    check_team("reset", door, again, COUNT(again),
               "0 grant R A; 0 done R; 0 wait Q; 0 start R z; 1 error R z; 1 task_error R; 1 "
               "blocked Q; 2 release R A; 2 reset R; 2 grant Q A; 2 done Q; 2 wait R; 2 start "
               "Q x; 3 done Q x; 3 release Q A; 3 done Q; 3 grant R A; 3 done R; 3 start R z; "
               "3 finish Q; 9 out_of_context R; 12 done R z; 12 start R x; 13 done R x; 13 "
               "release R A; 13 done R; 13 finish R; ");
    static const struct team_due_event skipped[] = {HAPPENS(1, ABORT, 0), RELEASES(2, 0, 1),
                                                    HAPPENS(2, SKIP, 0),  HAPPENS(2, ABORT, 0),
                                                    HAPPENS(5, ABORT, 0), HAPPENS(6, SKIP, 0)};
    check_team("skip", door, skipped, COUNT(skipped),
               "0 grant R A; 0 done R; 0 wait Q; 0 start R z; 1 error R z; 1 task_error R; 1 "
               "blocked Q; 2 release R A; 2 reset R; 2 out_of_context R; 2 grant Q A; 2 done "
               "Q; 2 wait R; 2 start Q x; 3 done Q x; 3 release Q A; 3 done Q; 3 grant R A; 3 "
               "done R; 3 start R x; 3 finish Q; 4 done R x; 4 release R A; 4 done R; 4 finish "
               "R; 5 out_of_context R; 6 out_of_context R; 9 out_of_context R; ");
    static const struct team_due_event at_work[] = {RELEASES(2, 0, 1), HAPPENS(11, RESET, 0)};
    check_team("while it works", door, at_work, COUNT(at_work),
               "0 grant R A; 0 done R; 0 wait Q; 0 start R z; 2 release R A; 2 grant Q A; 2 "
               "done Q; 2 start Q x; 3 done Q x; 3 release Q A; 3 done Q; 3 finish Q; 9 done R "
               "z; 9 error R x; 9 task_error R; 11 reset R; 11 grant R A; 11 done R; 11 start "
               "R x; 12 done R x; 12 release R A; 12 done R; 12 finish R; ");
    static const char both[] =
        "{\"locking\": \"ordered\", \"resources\": {\"A\": {}, \"B\": {}}, \"sequences\": {"
        "\"s\": [[\"lock\", [\"A\", \"B\"]], [\"do\", \"z\"], [\"unlock\", [\"A\", \"B\"]]]}, "
        "\"robots\": {\"R\": {\"prog\": \"s\"}}}";
    static const struct team_due_event order[] = {HAPPENS(1, ABORT, 0), RELEASES(2, 0, 1),
                                                  HAPPENS(3, RESET, 0), RELEASES(4, 1, 2),
                                                  HAPPENS(5, RESET, 0)};
    check_team("against the order", both, order, COUNT(order),
               "0 grant R A; 0 grant R B; 0 done R; 0 start R z; 1 error R z; 1 task_error R; "
               "2 release R A; 3 reset R; 3 order R; 4 release R B; 5 reset R; 5 grant R A; 5 "
               "grant R B; 5 done R; 5 start R z; 9 out_of_context R; 14 done R z; 14 release "
               "R A; 14 release R B; 14 done R; 14 finish R; ");
    static const struct team_due_event late[] = {HAPPENS(1, ABORT, 0), RELEASES(2, 1, 2),
                                                 HAPPENS(3, RESET, 0)};
    check_team("the later one alone", both, late, COUNT(late),
               "0 grant R A; 0 grant R B; 0 done R; 0 start R z; 1 error R z; 1 task_error R; "
               "2 release R B; 3 reset R; 3 grant R B; 3 done R; 3 start R z; 9 out_of_context "
               "R; 12 done R z; 12 release R A; 12 release R B; 12 done R; 12 finish R; ");
    static const struct team_due_event gone[] = {HAPPENS(1, ABORT, 0), RELEASES(2, 0, 1),
                                                 HAPPENS(3, SKIP, 0)};
    check_team(
        "over to the UnLock of both", both, gone, COUNT(gone),
        "0 grant R A; 0 grant R B; 0 done R; 0 start R z; 1 error R z; 1 task_error R; 2 "
        "release R A; 3 reset R; 3 release R B; 3 done R; 3 finish R; 9 out_of_context R; ");
    check_team("an error that releases",
               "{\"resources\": {\"A\": {\"on_error\": \"release\", \"delay\": 3000}}, "
               "\"sequences\": {\"s\": [[\"lock\", [\"A\"]], [\"do\", \"z\"], [\"unlock\", "
               "[\"A\"]]]}, \"robots\": {\"R\": {\"prog\": \"s\"}}}",
               order, 3,
               "0 grant R A; 0 done R; 0 start R z; 1 error R z; 1 task_error R; 1 release R "
               "A; 2 stale_release A; 3 reset R; 3 wait R; 4 grant R A; 4 done R; 4 start R z; "
               "9 out_of_context R; 13 done R z; 13 release R A; 13 done R; 13 finish R; ");
    check_team("a lease that releases",
               "{\"resources\": {\"A\": {\"on_lost\": \"release\", \"lease\": 1000}}, "
               "\"sequences\": {\"s\": [[\"lock\", [\"A\"]], [\"do\", \"z\"], [\"unlock\", "
               "[\"A\"]]]}, \"robots\": {\"R\": {\"prog\": \"s\"}}}",
               &order[2], 1,
               "0 grant R A; 0 done R; 0 start R z; 1 expire R A; 1 lease_expired R A; 1 halt "
               "R z; 1 release R A; 3 reset R; 3 wait R; 9 out_of_context R; 9 grant R A; 9 "
               "done R; 9 start R z; 10 expire R A; 10 lease_expired R A; 10 halt R z; 10 "
               "release R A; 18 out_of_context R; ");
}

/* R1 holds A, waits for B, and falls silent: the robots after it are served; when it sends
 * again it is the first one. */
static void test_silence(void)
{
    static const struct team_due_event received[] = {HAPPENS(17, ALIVE, 1)};
    check_team(
        "passed",
        "{\"locking\": \"ordered\", \"resources\": {\"A\": {\"lease\": 3000}, \"B\": {}}, "
        "\"sequences\": {\"r\": [[\"lock\", [\"A\"]], [\"do\", \"x\"], [\"lock\", [\"B\"]], "
        "[\"do\", \"x\"], [\"unlock\", [\"A\", \"B\"]]], \"q\": [[\"lock\", [\"B\"]], [\"do\", "
        "\"z\"], [\"unlock\", [\"B\"]]], \"s\": [[\"do\", \"x\"], [\"do\", \"x\"], [\"lock\", "
        "[\"B\"]], [\"do\", \"z\"], [\"unlock\", [\"B\"]]]}, \"robots\": {\"Q\": {\"prog\": "
        "\"q\"}, \"R\": {\"prog\": \"r\"}, \"S\": {\"prog\": \"s\"}, \"T\": {\"prog\": "
        "\"s\"}}}",
        received, COUNT(received),
        "0 start S x; 0 start T x; 0 grant Q B; 0 done Q; 0 grant R A; 0 done R; 0 start Q z; "
        "0 start R x; 1 done R x; 1 done S x; 1 done T x; 1 start S x; 1 start T x; 1 wait R; "
        "2 done S x; 2 done T x; 2 wait S; 2 wait T; 4 expire R A; 4 lease_expired R A; 9 done "
        "Q z; 9 release Q B; 9 done Q; 9 grant S B; 9 done S; 9 finish Q; 9 start S z; 18 done "
        "S z; 18 release S B; 18 done S; 18 grant R B; 18 done R; 18 start R x; 18 finish S; "
        "19 done R x; 19 release R A; 19 release R B; 19 done R; 19 grant T B; 19 done T; 19 "
        "finish R; 19 start T z; 28 done T z; 28 release T B; 28 done T; 28 finish T; ");
    static const struct team_due_event back[] = {HAPPENS(12, ALIVE, 0)};
    check_team(
        "back in a circle",
        "{\"locking\": \"free\", \"resources\": {\"A\": {\"lease\": 3000}, \"B\": {}}, "
        "\"sequences\": {\"r\": [[\"lock\", [\"A\"]], [\"do\", \"x\"], [\"lock\", [\"B\"]], "
        "[\"unlock\", [\"A\", \"B\"]]], \"q\": [[\"lock\", [\"B\"]], [\"do\", \"z\"], "
        "[\"lock\", "
        "[\"A\"]], [\"unlock\", [\"A\", \"B\"]]]}, \"robots\": {\"R\": {\"prog\": \"r\"}, "
        "\"Q\": "
        "{\"prog\": \"q\"}}}",
        back, COUNT(back),
        "0 grant R A; 0 done R; 0 grant Q B; 0 done Q; 0 start R x; 0 start Q z; 1 done R x; 1 "
        "wait R; 4 expire R A; 4 lease_expired R A; 9 done Q z; 9 wait Q; 9 blocked R; 9 "
        "blocked Q; 12 deadlock; 15 expire R A; 15 lease_expired R A; ");
    check_team(
        "may still come to the meeting",
        "{\"locking\": \"ordered\", \"resources\": {\"A\": {\"lease\": 3000}}, "
        "\"sequences\": {\"p\": [[\"meet\", \"m\", 2], [\"meet\", \"n\", 2]], \"q\": "
        "[[\"meet\", \"n\", 2], [\"meet\", \"m\", 2]], \"r\": [[\"lock\", [\"A\"]], "
        "[\"do\", \"z\"], [\"unlock\", [\"A\"]], [\"meet\", \"n\", 2], [\"meet\", \"m\", "
        "2]]}, \"robots\": {\"P\": {\"prog\": \"p\"}, \"Q\": {\"prog\": \"q\"}, \"R\": "
        "{\"prog\": \"r\"}}}",
        NULL, 0,
        "0 grant R A; 0 done R; 0 start R z; 3 expire R A; 3 lease_expired R A; 3 blocked P; 3 "
        "blocked Q; 9 done R z; 9 release R A; 9 done R; 9 meet; 9 meet; 9 finish Q; 9 blocked "
        "P; 9 blocked R; ");
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team", NULL, NULL);
    CU_ADD_TEST(suite, test_loops);
    CU_ADD_TEST(suite, test_conditions);
    CU_ADD_TEST(suite, test_livelock);
    CU_ADD_TEST(suite, test_abort);
    CU_ADD_TEST(suite, test_clients);
    CU_ADD_TEST(suite, test_revoked);
    CU_ADD_TEST(suite, test_silence);
    return check_run();
}
