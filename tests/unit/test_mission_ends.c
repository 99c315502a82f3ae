/* How missions end that nobody answers, or that the daemon leaves alone. */
#include "tests/support/lab_script.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)

static struct script s;

static const char follow[] = "{\"path_m\":[[1,0]],\"start\":[0,0,0],\"pose\":\"reckoned\"}";

static void open_lab(unsigned missions_max)
{
    script_init(&s, 1);
    s.params[0].mode = PAIR_LINK;
    s.params[0].missions_max = missions_max;
    script_open(&s);
}

static void send_follow(double t_s, const char *id, const char *text)
{
    struct event e = script_event("r1", AT(t_s), EVENT_MISSION, SIDE_COUNT);
    (void)snprintf(e.mission.id, sizeof e.mission.id, "%s", id);
    (void)snprintf(e.mission.kind, sizeof e.mission.kind, "FOLLOW");
    e.mission.raw = text;
    e.mission.raw_bytes = strlen(text);
    lab_step(s.lab, &e, &s.fx);
}

/* Has a status this text? */
static bool showed(const char *text)
{
    bool found = false;
    for (size_t k = 0; k < script_count(&s, EFFECT_MISSION); k++) {
        found = found || strstr(script_find(&s, EFFECT_MISSION, k)->payload, text);
    }
    return found;
}

/* Has the newest status this text? */
static bool state_has(const char *text)
{
    const size_t count = script_count(&s, EFFECT_MISSION);
    return count > 0 && strstr(script_find(&s, EFFECT_MISSION, count - 1)->payload, text);
}

/* The daemon was away for longer than a mission's patience: no mission fails or begins in the
 * meantime. */
static void test_long_outage(void)
{
    open_lab(2);
    send_follow(0, "m1", follow);
    send_follow(0, "m2", follow);
    script_clear(&s);
    const struct event start = script_event("$lab", AT(1000), EVENT_START, SIDE_COUNT);
    lab_step(s.lab, &start, &s.fx);
    const struct pair_missions *m = lab_missions(s.lab, 0);
    CHECK_INT("no command in the meantime", script_count(&s, EFFECT_COMMAND), 0);
    CHECK_INT("both are interrupted", m->failed[MISSION_INTERRUPTED], 2);
    CHECK_INT("m1 ends at the start", pair_missions_find(m, "m1")->ended_us, AT(1000));
    CHECK_INT("m2 never began", pair_missions_find(m, "m2")->began_us, LAB_TIME_NONE);
    script_clear(&s);
    lab_repeat_commands(s.lab, &s.fx);
    CHECK_INT("reported when somebody listens", script_count(&s, EFFECT_MISSION), 2);
    send_follow(1001, "m3", follow);
    CHECK("the robot is free", state_has("\"state\":\"running\""));
    script_close(&s);
}

/* A failure on the way home does not hide why the mission failed; there is no way home before
 * the robot has said where it is. */
static void test_reason(void)
{
    static const char map[] = "\"patience_s\":1,\"map\":{\"obstacles\":[{\"shape\":\"circle\","
                              "\"points_m\":[[0,0]],\"radius_m\":0.1}]}}";
    for (int known = 0; known <= 1; known++) {
        char text[512];
        (void)snprintf(text, sizeof text, "{\"path_m\":[[1,0]],%s%s",
                       known ? "\"start\":[0,0,0],\"pose\":\"reckoned\"," : "", map);
        open_lab(1);
        send_follow(0, "m1", text);
        CHECK("under way", state_has("\"state\":\"running\""));
        script_tick(&s, AT(5));
        CHECK("failed", state_has("\"state\":\"failed\""));
        CHECK("the first reason",
              state_has("\"code\":\"no_reply\"") && state_has("no reply in time"));
        CHECK_INT("a way home is tried", showed("home: the place is blocked"), known);
        script_close(&s);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("ends of missions", NULL, NULL);
    CU_add_test(suite, "a long outage", test_long_outage);
    CU_add_test(suite, "the reason of a failure", test_reason);
    return check_run();
}
