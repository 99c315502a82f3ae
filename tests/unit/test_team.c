/* What the golden traces of teams do not show: loops, conditions, steps without end, a Lock
 * aborted halfway, a step skipped, robots that lock by themselves. Every activity takes 1 s. */
#include "tests/support/check.h"

#include "tests/support/team_drive.h"
#include "tests/support/team_spec.h"

enum { TEXT = 4096 };

struct notes {
    char text[TEXT];
    const struct team_params *p;
};

/* "1 done R1 x; 2 alarm livelock; " … */
static void note_effect(void *context, const struct team_effect *e)
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

static bool take_second(void *context, uint16_t robot, const struct team_step *step, uint32_t n,
                        int64_t *took_us, enum team_event_kind *event)
{
    (void)context, (void)robot, (void)step, (void)n, (void)event;
    *took_us = 1000000;
    return true;
}

/* Runs the team with these events, of which times are told in seconds. */
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
                               .duration = take_second,
                               .emit = note_effect,
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

/* A Lock of A and B that has A and waits for B is aborted: A stays, the reset goes on with B.
 */
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

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team", NULL, NULL);
    CU_ADD_TEST(suite, test_loops);
    CU_ADD_TEST(suite, test_conditions);
    CU_ADD_TEST(suite, test_livelock);
    CU_ADD_TEST(suite, test_abort);
    CU_ADD_TEST(suite, test_clients);
    return check_run();
}
