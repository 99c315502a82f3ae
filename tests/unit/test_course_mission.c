/* COURSE, the mission of a vessel, in the lab: a simulated vessel reports its motion and obeys
 * the efforts that come out. */
#include "tests/support/lab_script.h"

#include "base/numbers/constants.h"
#include "identification/model/usv3.h"
#include "tests/support/saved_lab.h"
#include "twin/sim/robot/robot_kinds.h"

enum { PERIOD_US = 10000, STEPS_A_SAMPLE = 10, START_US = 1000000000, STATUS_MAX = 32768 };

/* A lab with one pair, and its vessel. */
struct harbour {
    struct script s;
    const struct robot_kind *kind;
    void *vessel;
    int64_t t_us;
    char status[STATUS_MAX]; /* the newest, and all texts so far */
    char texts[4096];
    size_t efforts, mission_count;
    double tau[EVENT_AXES_MAX];
    size_t tau_count;
    uint64_t hash; /* of all effects */
    double nearest_m;
};

static void read_effort(struct harbour *h, const struct effect *e)
{
    const char *at = strstr(e->payload.text, "\"tau\":[");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    CHECK_INT("for the real vessel", e->side, SIDE_REAL);
    at += strlen("\"tau\":[") - 1;
    for (h->tau_count = 0; *at != ']' && h->tau_count < EVENT_AXES_MAX; h->tau_count++) {
        char *end = NULL;
        h->tau[h->tau_count] = strtod(at + 1, &end);
        at = end;
    }
    h->efforts++;
}

static void receive_effect(void *context, const struct effect *e)
{
    struct harbour *h = context;
    if (e->kind == EFFECT_CONTROL) {
        read_effort(h, e);
    } else if (e->kind == EFFECT_MISSION) {
        h->mission_count++;
        (void)snprintf(h->status, sizeof h->status, "%.*s", (int)e->payload.bytes,
                       e->payload.text);
        const char *text = strstr(h->status, "\"text\":");
        if (text) {
            (void)snprintf(h->texts + strlen(h->texts), sizeof h->texts - strlen(h->texts),
                           "%s\n", text);
        }
    }
    if (e->kind == EFFECT_CONTROL || e->kind == EFFECT_MISSION) {
        h->hash = hash_bytes(h->hash, e->payload.text, e->payload.bytes);
    }
}

static void set_vessel(struct harbour *h, const char *name, double value)
{
    char reason[ROBOT_REASON_MAX];
    CHECK_INT(name, robot_set(h->kind, h->vessel, name, value, reason), STATUS_OK);
}

static struct harbour *open_harbour(const struct world *map)
{
    struct harbour *h = calloc(1, sizeof *h);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    const struct robot_setup setup = {.seed = 11, .period_us = PERIOD_US};
    script_init(&h->s, 1);
    h->s.params[0].mode = PAIR_LINK;
    h->s.params[0].kind = PAIR_USV3;
    h->s.params[0].missions_max = 1;
    h->s.params[0].world = map;
    script_open(&h->s);
    h->s.fx = (struct effects){receive_effect, h};
    h->kind = robot_kind_find("usv3");
    h->vessel = malloc(h->kind->bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h->vessel);
    h->kind->init(h->vessel, &setup);
    h->t_us = START_US;
    h->hash = HASH_START;
    h->nearest_m = (double)INFINITY;
    set_vessel(h, "actuation", 1);
    return h;
}

static void close_harbour(struct harbour *h)
{
    script_close(&h->s);
    free(h->vessel);
    free(h);
}

static void send_mission(struct harbour *h, const char *id, const char *text)
{
    struct event e = script_event("r1", h->t_us, EVENT_MISSION, SIDE_COUNT);
    (void)snprintf(e.mission.id, sizeof e.mission.id, "%s", id);
    (void)snprintf(e.mission.kind, sizeof e.mission.kind, "COURSE");
    e.mission.raw = text;
    e.mission.raw_bytes = strlen(text);
    lab_step(h->s.lab, &e, &h->s.fx);
}

static void send_cancel(struct harbour *h, const char *id)
{
    struct event e = script_event("r1", h->t_us, EVENT_MISSION, SIDE_COUNT);
    (void)snprintf(e.mission.id, sizeof e.mission.id, "%s", id);
    e.mission.cancel = 1;
    e.mission.raw = "{}";
    e.mission.raw_bytes = 2;
    lab_step(h->s.lab, &e, &h->s.fx);
}

static void ignore_reply(void *context, const struct robot_reply *reply)
{
    (void)context;
    (void)reply;
}

/* The vessel obeys the newest effort for a tenth of a second, and reports its motion. */
static void drive_sample(struct harbour *h)
{
    struct robot_sample sample = {0};
    if (h->tau_count > 0) {
        CHECK_INT("it takes the effort", h->kind->effort(h->vessel, h->tau, h->tau_count),
                  STATUS_OK);
    }
    for (int k = 0; k < STEPS_A_SAMPLE; k++) {
        h->kind->step(h->vessel, ignore_reply, NULL);
    }
    h->t_us += (int64_t)STEPS_A_SAMPLE * PERIOD_US;
    h->kind->sample(h->vessel, &sample);
    h->nearest_m = fmin(h->nearest_m, hypot(sample.pose[0] - 20, sample.pose[1] - 1));
    struct event e = script_event("r1", h->t_us, EVENT_TELEMETRY, SIDE_REAL);
    e.telemetry.source_us = sample.t_us;
    e.telemetry.seq = -1;
    e.telemetry.nu_count = e.telemetry.pose_count = USV3_AXES;
    memcpy(e.telemetry.nu, sample.nu, sizeof sample.nu);
    memcpy(e.telemetry.pose, sample.pose, sizeof sample.pose);
    lab_step(h->s.lab, &e, &h->s.fx);
}

static bool has(const struct harbour *h, const char *text)
{
    return strstr(h->status, text) != NULL;
}

static void drive_to_end(struct harbour *h, int samples_max)
{
    for (int i = 0; i < samples_max && has(h, "\"state\":\"running\""); i++) {
        drive_sample(h);
    }
}

static double number_of(const struct harbour *h, const char *name)
{
    const char *at = strstr(h->status, name);
    return at ? strtod(at + strlen(name), NULL) : (double)NAN;
}

#define BUOY                                                                                   \
    "\"map\":{\"obstacles\":[{\"name\":\"buoy\",\"shape\":\"circle\","                         \
    "\"points_m\":[[20,1]],\"radius_m\":2}]}"

static uint64_t drive_trial(const char *vessel, int actuation)
{
    struct harbour *h = open_harbour(NULL);
    char text[512];
    const bool small = strcmp(vessel, "iacquabot") == 0;
    set_vessel(h, "vessel", small);
    set_vessel(h, "actuation", actuation);
    set_vessel(h, "current_force_n", 6.8); /* trial 2 of Table 8 */
    set_vessel(h, "current_direction_rad", 110 * RAD_PER_DEG);
    set_vessel(h, "wind_force_n", 6.2);
    set_vessel(h, "wind_direction_rad", 70 * RAD_PER_DEG);
    (void)snprintf(text, sizeof text,
                   "{\"course_m\":[[60,0],[60,50]],\"vessel\":\"%s\",\"actuation\":\"%s\",%s}",
                   vessel, actuation == 2 ? "thrusters" : "allocated", BUOY);
    send_mission(h, "m1", text);
    CHECK("it waits for a sample", has(h, "\"state\":\"running\"") && has(h, "\"waiting\""));
    CHECK_INT("nothing is sent blindly", h->efforts, 0);
    drive_sample(h);
    CHECK("under way", has(h, "\"steps\":2") && has(h, "\"driving\"") && has(h, "path_m\":[["));
    drive_to_end(h, 5000);
    CHECK("done", has(h, "\"state\":\"done\""));
    CHECK("both way-points are reported",
          strstr(h->texts, "way-point 1 of 2") && strstr(h->texts, "way-point 2 of 2"));
    CHECK(vessel, number_of(h, "\"rms_m\":") <= 0.10);
    CHECK(vessel, number_of(h, "\"largest_m\":") <= 0.30);
    CHECK("around the buoy", h->nearest_m > 2.5);
    CHECK_INT("one number a thruster", h->tau_count, actuation == 2 ? (small ? 4 : 2) : 3);
    for (size_t i = 0; i < h->tau_count; i++) {
        CHECK_NEAR("at rest", h->tau[i], 0, 0, 0);
    }
    const size_t efforts = h->efforts;
    drive_sample(h);
    CHECK_INT("none after the end", h->efforts, efforts);
    const uint64_t hash = h->hash;
    close_harbour(h);
    return hash;
}

static void test_trials(void)
{
    for (int actuation = 1; actuation <= 2; actuation++) {
        const uint64_t first = drive_trial("wamv", actuation);
        CHECK("the same samples give the same bytes", drive_trial("wamv", actuation) == first);
        (void)drive_trial("iacquabot", actuation);
    }
}

#define FAR "{\"course_m\":[[500,0]]}"

static struct harbour *open_far(void)
{
    struct harbour *h = open_harbour(NULL);
    send_mission(h, "m1", FAR);
    for (int i = 0; i < 50; i++) {
        drive_sample(h);
    }
    CHECK("it drives", has(h, "\"state\":\"running\"") && h->efforts == 50 && h->tau[0] > 0);
    return h;
}

static void check_stopped(const struct harbour *h, const char *state, const char *code)
{
    CHECK_TEXT(code, has(h, state) && has(h, code) ? "" : h->status, "");
    CHECK_NEAR("zero effort", h->tau[0], 0, 0, 0);
    CHECK_NEAR("zero effort", h->tau[2], 0, 0, 0);
}

static void test_silence(void)
{
    struct harbour *h = open_far();
    script_tick(&h->s, h->t_us + 1999999);
    CHECK("patient", has(h, "\"state\":\"running\""));
    script_tick(&h->s, h->t_us + 2000001);
    check_stopped(h, "\"state\":\"failed\"", "\"code\":\"no_telemetry\"");
    close_harbour(h);
    h = open_harbour(NULL);
    send_mission(h, "m1", FAR);
    script_tick(&h->s, h->t_us + 2000001);
    CHECK("never reported", has(h, "\"code\":\"no_telemetry\"") && has(h, "4 Hz"));
    CHECK_INT("nothing was sent", h->efforts, 0);
    close_harbour(h);
}

static void test_clock(void)
{
    struct harbour *h = open_far();
    struct event e = script_event("r1", h->t_us, EVENT_TELEMETRY, SIDE_REAL);
    e.telemetry.source_us = 0;
    e.telemetry.seq = -1;
    e.telemetry.nu_count = e.telemetry.pose_count = USV3_AXES;
    const size_t efforts = h->efforts;
    e.telemetry.nu_count = 2;
    lab_step(h->s.lab, &e, &h->s.fx);
    e.telemetry.nu_count = USV3_AXES;
    e.retained = true;
    lab_step(h->s.lab, &e, &h->s.fx);
    CHECK_INT("not a sample of a vessel, and an old one", h->efforts, efforts);
    e.retained = false;
    for (int i = 0; i < 20 && has(h, "\"state\":\"running\""); i++) { /* it began again */
        e.t_us += 100000;
        e.telemetry.source_us += 100000;
        lab_step(h->s.lab, &e, &h->s.fx);
    }
    check_stopped(h, "\"state\":\"failed\"", "\"code\":\"no_telemetry\"");
    close_harbour(h);
}

/* Sends a sample by this clock of the vessel each fifth of a second. */
static void repeat_sample(struct harbour *h, int count, int64_t source_us, int64_t step_us)
{
    struct event e = script_event("r1", h->t_us, EVENT_TELEMETRY, SIDE_REAL);
    e.telemetry.seq = -1;
    e.telemetry.nu[0] = 1.0; /* it does not come to rest */
    e.telemetry.nu_count = e.telemetry.pose_count = USV3_AXES;
    for (int i = 0; i < count; i++) {
        h->t_us = e.t_us += 200000;
        e.telemetry.source_us = source_us += step_us;
        lab_step(h->s.lab, &e, &h->s.fx);
    }
}

static void test_standing_clock(void)
{
    struct harbour *h = open_harbour(NULL);
    send_mission(h, "m1", FAR);
    repeat_sample(h, 10, 5000000, 0);
    CHECK("patient", has(h, "\"state\":\"running\"") && h->efforts == 1);
    repeat_sample(h, 2, 5000000, 0);
    check_stopped(h, "\"state\":\"failed\"", "\"code\":\"no_telemetry\"");
    CHECK("why", has(h, "stood still"));
    send_mission(h, "m2", FAR);
    repeat_sample(h, 1, 5000000, 0);
    send_cancel(h, "m2");
    repeat_sample(h, 12, 5000000, 0);
    check_stopped(h, "\"state\":\"cancelled\"", "\"id\":\"m2\"");
    send_mission(h, "m3", FAR);
    repeat_sample(h, 1, 5000000, 0);
    send_cancel(h, "m3");
    repeat_sample(h, 295, 5000000, 10000); /* twenty times too slow */
    CHECK("it brakes", has(h, "\"cancelling\":true"));
    repeat_sample(h, 10, 5000000 + 295 * 10000, 10000);
    check_stopped(h, "\"state\":\"cancelled\"", "\"id\":\"m3\"");
    close_harbour(h);
}

static void test_off_course(void)
{
    struct harbour *h = open_far();
    const double aside[USV3_AXES] = {5, 6, 0};
    CHECK_INT("placed", h->kind->place(h->vessel, aside), STATUS_OK);
    drive_to_end(h, 1000);
    check_stopped(h, "\"state\":\"failed\"", "\"code\":\"off_course\"");
    close_harbour(h);
    h = open_harbour(NULL);
    send_mission(h, "m1", "{\"course_m\":[[500,0]],\"patience_s\":5,\"vessel\":\"iacquabot\"}");
    for (int i = 0; i < 1000 && has(h, "\"state\":\"running\""); i++) {
        h->tau_count = 0; /* it obeys nobody */
        drive_sample(h);
    }
    check_stopped(h, "\"state\":\"failed\"", "\"code\":\"no_way\"");
    close_harbour(h);
}

static void test_cancel(void)
{
    struct harbour *h = open_far();
    send_mission(h, "m2", FAR);
    CHECK("its turn comes", has(h, "\"state\":\"queued\""));
    send_cancel(h, "m2");
    CHECK("dropped", has(h, "\"state\":\"cancelled\""));
    send_cancel(h, "m1");
    for (int i = 0;
         i < 500 && !has(h, "\"id\":\"m1\",\"kind\":\"COURSE\",\"state\":\"cancelled\""); i++) {
        drive_sample(h);
    }
    check_stopped(h, "\"state\":\"cancelled\"", "\"id\":\"m1\"");
    CHECK("it has braked", h->efforts > 51);
    send_mission(h, "m3", FAR);
    send_cancel(h, "m3");
    CHECK("before the first sample", has(h, "\"state\":\"cancelled\""));
    close_harbour(h);
}

static void test_owner(void)
{
    struct harbour *h = open_far();
    script_command_op(&h->s, "r1", h->t_us, "c1", "go");
    CHECK_INT("refused", lab_missions(h->s.lab, 0)->commands_refused, 1);
    CHECK("it drives on", has(h, "\"state\":\"running\""));
    script_command_op(&h->s, "r1", h->t_us, "c2", "halt");
    check_stopped(h, "\"state\":\"failed\"", "\"code\":\"halted\"");
    close_harbour(h);
}

static void test_start(void)
{
    struct harbour *h = open_far();
    const size_t efforts = h->efforts;
    const struct event start = script_event("$lab", h->t_us, EVENT_START, SIDE_COUNT);
    lab_step(h->s.lab, &start, &h->s.fx);
    CHECK("interrupted", has(h, "\"state\":\"failed\"") && has(h, "\"code\":\"interrupted\""));
    drive_sample(h);
    CHECK_INT("nothing drives on", h->efforts, efforts);
    close_harbour(h);
}

/* A state that is saved and loaded in the middle continues with the same bytes. */
static void test_checkpoint(void)
{
    struct harbour *h = open_far();
    struct harbour *other = open_harbour(NULL);
    size_t bytes = 0;
    void *state = saved_lab(h->s.lab, &bytes);
    CHECK_INT("loaded", lab_load(other->s.lab, state, bytes), STATUS_OK);
    memcpy(other->vessel, h->vessel, h->kind->bytes);
    memcpy(other->tau, h->tau, sizeof h->tau);
    other->tau_count = h->tau_count;
    other->t_us = h->t_us;
    other->hash = h->hash;
    for (int i = 0; i < 100; i++) {
        drive_sample(h);
        drive_sample(other);
    }
    send_cancel(h, "m1");
    send_cancel(other, "m1");
    CHECK("the same effects", other->efforts == 100 && other->hash == h->hash);
    free(state);
    close_harbour(other);
    close_harbour(h);
}

/* The map of the lab file counts if the message has none; a course from where the vessel is
 * must begin in free water. */
static void test_map(void)
{
    static struct world map;
    const struct world_obstacle pier = {.name = "pier", .shape = WORLD_CIRCLE, .radius_m = 3};
    CU_ASSERT_FATAL(world_add(&map, &pier, &(struct world_point){1, 0}, 1) == STATUS_OK);
    struct harbour *h = open_harbour(&map);
    send_mission(h, "m1", "{\"course_m\":[[2,0]]}");
    CHECK("refused", has(h, "\"code\":\"in_obstacle\"") && has(h, "around pier"));
    send_mission(h, "m2", "{\"course_m\":[[20,0]]}");
    drive_sample(h);
    CHECK("failed", has(h, "\"code\":\"no_route\"") && has(h, "the start") && has(h, "pier"));
    CHECK_INT("nothing was sent", h->efforts, 0);
    send_mission(h, "m3", "{\"course_m\":[[20,0]],\"map\":{\"obstacles\":[]}}");
    drive_sample(h);
    CHECK("it drives", h->efforts == 1);

    static _Alignas(max_align_t) unsigned char plan[MISSION_PLAN_BYTES];
    static const char text[] = "{\"course_m\":[[20,0]]}";
    struct pair_params p = h->s.params[0];
    struct err err = {0};
    p.costmap = (const void *)&map; /* of cells, which are not looked at */
    CHECK_INT("a map of cells is not ignored",
              pair_missions_check(&p, "COURSE", text, strlen(text), plan, &err),
              STATUS_E_PARSE);
    CHECK_INT(err.text, err.fault, FAULT_NEEDS_KEY);
    close_harbour(h);
}

static void test_bad_input(void)
{
    static const struct {
        const char *text, *code, *words;
    } rows[] = {
        {"{}", "missing_key", "course_m"},
        {"{\"course_m\":[]}", "too_few", ""},
        {"{\"course_m\":[[1]]}", "wrong_count", ""},
        {"{\"course_m\":[[1,0],[1e9,0]]}", "out_of_range", ""},
        {"{\"course_m\":[[60,0]],\"vessel\":\"raft\"}", "unknown_value", "wamv iacquabot"},
        {"{\"course_m\":[[60,0]],\"vessel\":1}", "text_expected", ""},
        {"{\"course_m\":[[60,0]],\"actuation\":\"sails\"}", "unknown_value", "thrusters"},
        {"{\"course_m\":[[60,0]],\"speed_mps\":0}", "out_of_range", "speed_mps"},
        {"{\"course_m\":[[60,0]],\"speed_mps\":9}", "out_of_range", "top speed 1.90 m/s"},
        {"{\"course_m\":[[60,0]],\"lookahead_m\":0}", "out_of_range", "lookahead_m"},
        {"{\"course_m\":[[60,0]],\"off_m\":0}", "out_of_range", "off_m"},
        {"{\"course_m\":[[60,0]],\"patience_s\":0}", "out_of_range", "patience_s"},
        {"{\"course_m\":[[60,0]],\"start_m\":[0]}", "wrong_count", ""},
        {"{\"course_m\":[[60,0]],\"path_m\":[[1,0]]}", "unknown_key", ""},
        {"{\"course_m\":[[0,0],[30,0],[0,2]]}", "out_of_range", "way-point 2"},
        {"{\"course_m\":[[0,0],[30,0],[0,2]]}", "out_of_range", "turns no tighter than 0.72 m"},
        {"{\"course_m\":[[0,0],[20,1]]," BUOY "}", "in_obstacle", "around buoy"},
        {"{\"course_m\":[[0,0],[60,0]],\"map\":{\"obstacles\":[{\"name\":\"quay\",\"shape\":"
         "\"wall\",\"points_m\":[[1,1],[2,2]],\"radius_m\":1}]}}",
         "out_of_range", "circle"},
        {"{\"course_m\":[[0,0],[60,0]],\"map\":{\"obstacles\":[{\"shape\":\"wall\","
         "\"points_m\":[[1,1],[2,2]]}]}}",
         "out_of_range", "obstacle 1: is a wall"},
        {"{\"course_m\":[[0,0],[60,0]],\"map\":{\"obstacles\":[{\"shape\":\"circle\","
         "\"points_m\":[[1,1]],\"radius_m\":1e300}]}}",
         "out_of_range", "of at most 1e6 was expected"},
    };
    char many[1024] = "{\"course_m\":[[0,0]";
    struct harbour *h = open_harbour(NULL);
    for (int i = 1; i < 64; i++) {
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), ",[%d,0]", i);
    }
    (void)snprintf(many + strlen(many), sizeof many - strlen(many), "]}");
    for (size_t i = 0; i < COUNT(rows); i++) {
        send_mission(h, "bad", rows[i].text);
        CHECK_TEXT(rows[i].text,
                   has(h, "\"state\":\"refused\"") && has(h, rows[i].code) &&
                           has(h, rows[i].words)
                       ? ""
                       : h->status,
                   "");
    }
    send_mission(h, "many", many);
    CHECK("too many", has(h, "\"code\":\"too_many\"") && has(h, "at most 63 way-points"));
    CHECK_INT("nothing is sent", h->efforts, 0);
    close_harbour(h);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("missions of vessels", NULL, NULL);
    CU_add_test(suite, "courses in wind and current", test_trials);
    CU_add_test(suite, "silence", test_silence);
    CU_add_test(suite, "the vessel's clock", test_clock);
    CU_add_test(suite, "a clock that stands still", test_standing_clock);
    CU_add_test(suite, "off the course", test_off_course);
    CU_add_test(suite, "cancelled", test_cancel);
    CU_add_test(suite, "one owner", test_owner);
    CU_add_test(suite, "a start of the daemon", test_start);
    CU_add_test(suite, "a checkpoint", test_checkpoint);
    CU_add_test(suite, "maps", test_map);
    CU_add_test(suite, "bad input", test_bad_input);
    return check_run();
}
