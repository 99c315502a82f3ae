/* Missions of a pair in the lab: every state and its effects, owners, bad input, a start of the
 * daemon and a checkpoint in the middle. */
#include "tests/support/lab_script.h"

#include "base/numbers/constants.h"
#include "logger/message/codec_native.h"
#include "tests/support/saved_lab.h"
#include "twin/map/costmap.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)

static struct script s;

static void open_lab(unsigned missions_max)
{
    script_init(&s, 2);
    s.params[0].mode = PAIR_LINK;
    s.params[0].missions_max = missions_max;
    script_open(&s);
}

static void send_text(double t_s, const char *pair, const char *id, const char *kind,
                      const char *text)
{
    struct event e = script_event(pair, AT(t_s), EVENT_MISSION, SIDE_COUNT);
    (void)snprintf(e.mission.id, sizeof e.mission.id, "%s", id);
    (void)snprintf(e.mission.kind, sizeof e.mission.kind, "%s", kind);
    e.mission.raw = text;
    e.mission.raw_bytes = strlen(text);
    lab_step(s.lab, &e, &s.fx);
}

static void send_cancel(double t_s, const char *id)
{
    struct event e = script_event("r1", AT(t_s), EVENT_MISSION, SIDE_COUNT);
    (void)snprintf(e.mission.id, sizeof e.mission.id, "%s", id);
    e.mission.cancel = 1;
    e.mission.raw = "{}";
    e.mission.raw_bytes = 2;
    lab_step(s.lab, &e, &s.fx);
}

static const char follow[] =
    "{\"kind\":\"FOLLOW\",\"path_m\":[[1,0],[1,1]],\"start\":[0,0,0],\"pose\":\"reckoned\","
    "\"return\":\"never\"}";

/* Both robots answer the newest command; false: none was sent. */
static bool send_answer(double t_s, enum reply_status status)
{
    const size_t count = script_count(&s, EFFECT_COMMAND);
    char id[EVENT_ID_MAX] = "";
    if (count == 0 ||
        sscanf(strstr(script_find(&s, EFFECT_COMMAND, count - 1)->payload, "\"id\""),
               "\"id\":\"%47[^\"]", id) != 1) {
        return false;
    }
    script_clear(&s);
    script_reply(&s, "r1", AT(t_s), SIDE_REAL, id, status);
    script_reply(&s, "r1", AT(t_s), SIDE_VIRTUAL, id, status);
    return true;
}

/* Has the newest status this text? */
static bool state_has(const char *text)
{
    const size_t count = script_count(&s, EFFECT_MISSION);
    return count > 0 && strstr(script_find(&s, EFFECT_MISSION, count - 1)->payload, text);
}

static bool showed(const char *text)
{
    bool found = false;
    for (size_t k = 0; k < script_count(&s, EFFECT_MISSION); k++) {
        found = found || strstr(script_find(&s, EFFECT_MISSION, k)->payload, text);
    }
    return found;
}

static void test_path(void)
{
    open_lab(2);
    send_text(0, "r1", "m1", "FOLLOW", follow);
    CHECK("queued first", showed("\"state\":\"queued\""));
    CHECK("then running", state_has("\"state\":\"running\""));
    CHECK_INT("a command to both", script_count(&s, EFFECT_COMMAND), 2);
    CHECK("done", send_answer(1, REPLY_DONE));
    CHECK("the second leg", showed("\"rotation_rad\":1.57"));
    CHECK("done", send_answer(2, REPLY_DONE));
    CHECK("the end", state_has("\"state\":\"done\""));
    CHECK_INT("no further command", script_count(&s, EFFECT_COMMAND), 0);
    CHECK_INT("both legs have entries", lab_pair(s.lab, 0)->counts.entries, 2);
    script_close(&s);
}

static void test_once(void)
{
    open_lab(1);
    send_text(0, "r1", "m1", "FOLLOW", follow);
    script_clear(&s);
    send_text(0.1, "r1", "m1", "FOLLOW", follow);
    CHECK_INT("no second mission", script_count(&s, EFFECT_COMMAND), 0);
    CHECK("it is reported", state_has("\"state\":\"running\""));
    send_text(0.2, "r1", "m1", "SWEEP", "{\"kind\":\"SWEEP\"}");
    CHECK("another content", state_has("\"code\":\"duplicate_name\""));
    CHECK_TEXT("the first is not touched",
               mission_state_name(pair_missions_find(lab_missions(s.lab, 0), "m1")->state),
               "running");
    send_text(0.3, "r1", "m2", "SWEEP", "{}");
    CHECK("it waits", state_has("\"state\":\"queued\""));
    send_text(0.4, "r1", "m3", "SWEEP", "{}");
    CHECK("full", state_has("\"code\":\"too_many\""));
    send_cancel(0.5, "m2");
    CHECK("dropped", state_has("\"state\":\"cancelled\""));
    send_text(0.6, "r1", "m3", "SWEEP", "{}");
    CHECK("a refused id may come again", state_has("\"state\":\"queued\""));
    send_cancel(0.7, "m9");
    CHECK("unknown", state_has("\"code\":\"unknown_name\""));
    script_clear(&s);
    send_cancel(0.8, "m1");
    CHECK("it halts", strstr(script_find(&s, EFFECT_COMMAND, 0)->payload, "\"halt\""));
    CHECK("not over yet", state_has("\"cancelling\":true"));
    send_answer(0.9, REPLY_DONE);
    CHECK("cancelled", showed("\"state\":\"cancelled\""));
    CHECK_INT("the next waits until the robot is free", script_count(&s, EFFECT_COMMAND), 0);
    script_close(&s);
}

/* Wrong messages displace no mission, so that an id is carried out once. */
static void test_garbage(void)
{
    struct event bad = script_event("r1", AT(3), EVENT_MALFORMED, SIDE_COUNT);
    open_lab(1);
    send_text(0, "r1", "m1", "FOLLOW", follow);
    CHECK("both legs", send_answer(1, REPLY_DONE) && send_answer(2, REPLY_DONE));
    (void)snprintf(bad.malformed.what, sizeof bad.malformed.what, "mission");
    (void)snprintf(bad.malformed.id, sizeof bad.malformed.id, "m1");
    for (int i = 0; i < 2 * MISSIONS_KEPT; i++) {
        char id[EVENT_ID_MAX];
        (void)snprintf(id, sizeof id, "bad%d", i);
        send_text(3, "r1", id, "FLY", "{}");
        send_cancel(3, "nobody");
        script_clear(&s);
        lab_step(s.lab, &bad, &s.fx);
        CHECK("answered", state_has("\"state\":\"refused\""));
    }
    CHECK("no record of an unknown id", !pair_missions_find(lab_missions(s.lab, 0), "nobody"));
    CHECK("the last refused ones are known",
          pair_missions_find(lab_missions(s.lab, 0), "bad79"));
    script_clear(&s);
    send_text(4, "r1", "m1", "FOLLOW", follow);
    CHECK("reported again", state_has("\"state\":\"done\""));
    CHECK_INT("not carried out again", script_count(&s, EFFECT_COMMAND), 0);
    script_close(&s);
}

/* A recording that begins later gives the same commands. */
static void test_later_recording(void)
{
    struct script_effect whole;
    open_lab(1);
    send_text(0, "r1", "early", "FOLLOW", follow);
    CHECK("both legs", send_answer(1, REPLY_DONE) && send_answer(2, REPLY_DONE));
    script_clear(&s);
    send_text(3, "r1", "late", "FOLLOW", follow);
    whole = *script_find(&s, EFFECT_COMMAND, 0);
    script_close(&s);
    open_lab(1);
    send_text(3, "r1", "late", "FOLLOW", follow);
    CHECK("an id", strstr(whole.payload, "\"id\":\"late-1\""));
    CHECK_TEXT("the same command", script_find(&s, EFFECT_COMMAND, 0)->payload, whole.payload);
    script_reply(&s, "r1", AT(4), SIDE_REAL, "late-1", REPLY_DONE);
    script_reply(&s, "r1", AT(4), SIDE_VIRTUAL, "late-1", REPLY_DONE);
    CHECK_INT("its recorded replies fit", lab_pair(s.lab, 0)->counts.entries, 1);
    CHECK("the second leg", showed("\"id\":\"late-2\""));
    script_close(&s);
}

/* An id that the pair no longer remembers may come again, but the ids of its commands are new.
 */
static void test_forgotten_id(void)
{
    char id[EVENT_ID_MAX];
    open_lab(1);
    for (int i = 0; i <= MISSIONS_KEPT; i++) {
        (void)snprintf(id, sizeof id, "m%d", i);
        send_text(3.0 * i, "r1", id, "FOLLOW", follow);
        CHECK("both legs",
              send_answer(3.0 * i + 1, REPLY_DONE) && send_answer(3.0 * i + 2, REPLY_DONE));
    }
    CHECK("forgotten", !pair_missions_find(lab_missions(s.lab, 0), "m0"));
    script_clear(&s);
    send_text(900, "r1", "m0", "FOLLOW", follow);
    const struct script_effect *command = script_find(&s, EFFECT_COMMAND, 0);
    CHECK("a new id", command && strstr(command->payload, "\"id\":\"m0~42-1\""));
    script_command(&s, "r1", AT(900.1), "c1");
    CHECK("it owns the robot",
          strstr(script_find(&s, EFFECT_REPLY, 0)->payload, "mission m0 "));
    CHECK("the second leg", send_answer(901, REPLY_DONE) && showed("\"id\":\"m0~42-2\""));
    script_close(&s);
}

/* A mission that ends as it begins may have planned for all of a step's time. */
static void test_pause(void)
{
    static const char closed[] =
        "{\"goal_m\":[3,0],\"start\":[0,0,0],\"return\":\"never\",\"map\":{\"bounds_m\":[-1,-1,"
        "5,1],\"obstacles\":[{\"shape\":\"wall\",\"points_m\":[[2,-1],[2,1]]}]}}";
    open_lab(4);
    send_text(0, "r1", "m1", "FOLLOW", follow);
    send_text(0, "r1", "n1", "NAVIGATE", closed);
    send_text(0, "r1", "n2", "NAVIGATE", closed);
    send_text(0, "r1", "m2", "FOLLOW", follow);
    CHECK("both legs", send_answer(1, REPLY_DONE) && send_answer(2, REPLY_DONE));
    const struct pair_missions *m = lab_missions(s.lab, 0);
    CHECK_INT("one at a time", m->failed[MISSION_NO_ROUTE], 1);
    script_tick(&s, AT(2) + MISSIONS_PAUSE_US - 1);
    CHECK_INT("the next waits", m->failed[MISSION_NO_ROUTE], 1);
    script_tick(&s, AT(2) + MISSIONS_PAUSE_US + 1);
    CHECK_INT("and fails", m->failed[MISSION_NO_ROUTE], 2);
    CHECK_INT("no command yet", script_count(&s, EFFECT_COMMAND), 0);
    script_tick(&s, AT(3));
    CHECK("the last runs",
          pair_missions_running(m) && strcmp(pair_missions_running(m)->id, "m2") == 0);
    CHECK_INT("at its time", script_find(&s, EFFECT_COMMAND, 0)->t_us,
              AT(2) + 2 * MISSIONS_PAUSE_US);
    script_close(&s);
}

static void test_owner(void)
{
    open_lab(1);
    script_command(&s, "r1", AT(0), "c1");
    send_text(0.1, "r1", "m1", "SWEEP", "{}");
    CHECK("a user owns it", state_has("\"code\":\"owned\"") && state_has("command c1"));
    script_reply(&s, "r1", AT(0.2), SIDE_REAL, "c1", REPLY_DONE);
    script_reply(&s, "r1", AT(0.2), SIDE_VIRTUAL, "c1", REPLY_DONE);
    send_text(0.3, "r1", "m1", "FOLLOW", follow);
    script_clear(&s);
    script_command(&s, "r1", AT(0.4), "c2");
    const struct script_effect *reply = script_find(&s, EFFECT_REPLY, 0);
    CHECK("the mission owns it", reply && strstr(reply->payload, "\"code\":\"owned\"") &&
                                     strstr(reply->payload, "mission m1"));
    CHECK_INT("it is not sent", script_count(&s, EFFECT_COMMAND), 0);
    script_command_op(&s, "r1", AT(0.5), "h", "halt");
    CHECK_INT("a halt is", script_count(&s, EFFECT_COMMAND), 2);
    char id[EVENT_ID_MAX];
    (void)snprintf(id, sizeof id, "m1-1");
    script_clear(&s);
    script_reply(&s, "r1", AT(0.6), SIDE_REAL, id, REPLY_HALTED);
    CHECK("halted", state_has("\"state\":\"failed\"") && state_has("\"code\":\"halted\""));
    CHECK_INT("it does not drive on", script_count(&s, EFFECT_COMMAND), 0);
    struct missions_run run = {.m = calloc(1, pair_missions_bytes(&s.params[0])),
                               .pair = lab_pair(s.lab, 1),
                               .p = &s.params[0],
                               .team = "cell",
                               .fx = &s.fx};
    const struct event e = {
        .kind = EVENT_MISSION,
        .mission = {.id = "m2", .kind = "SWEEP", .raw = "{}", .raw_bytes = 2}};
    pair_missions_apply(&run, &e);
    CHECK("a team owns it", state_has("\"code\":\"owned\"") && state_has("team cell"));
    free(run.m);
    script_close(&s);
}

/* An obstacle pushes a plan, and the new route pops it; all of it is reported. */
static void test_obstacle(void)
{
    open_lab(1);
    send_text(0, "r1", "m1", "NAVIGATE",
              "{\"goal_m\":[3,0],\"start\":[0,0,0],\"pose\":\"reckoned\",\"return\":\"never\","
              "\"map\":{\"bounds_m\":[-1,-3,5,3],\"obstacles\":[]}}");
    CHECK("under way", state_has("\"stack\":[\"END\",\"STEP\"]"));
    CHECK("blocked", send_answer(1, REPLY_BLOCKED));
    CHECK("pushed", showed("\"stack\":[\"END\",\"STEP\",\"FOLLOW\"],\"machines\":{\"L1\":{"
                           "\"state\":\"IDLE\""));
    CHECK("popped",
          state_has("\"stack\":[\"END\",\"STEP\"]") && state_has("\"obstacles_found\":1"));
    for (int i = 2; i < 9 && send_answer(i, REPLY_DONE); i++) {
    }
    CHECK("done", state_has("\"state\":\"done\""));
    script_close(&s);
}

/* A room of 6 m x 4 m: a wall across with a door, and a closet without one. */
static struct costmap *make_room(void)
{
    enum { WIDTH = 60, HEIGHT = 40 };
    struct costmap *map = calloc(1, sizeof *map + WIDTH * HEIGHT);
    *map = (struct costmap){
        .cell_m = 0.1, .origin = {-1.0, -1.0, 0.0}, .width = WIDTH, .height = HEIGHT};
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
        const size_t x = i % WIDTH, y = i / WIDTH;
        const bool wall = x == 30 && (y < 25 || y > 35);
        const bool closet = (x == 48 && y <= 12) || (x >= 48 && y == 12);
        map->cell[i] = wall || closet ? COSTMAP_OCCUPIED
                       : y == 39      ? COSTMAP_UNKNOWN
                                      : COSTMAP_FREE;
    }
    return map;
}

static void open_room(const struct costmap *map)
{
    script_init(&s, 2);
    s.params[0].mode = PAIR_LINK;
    s.params[0].missions_max = 2;
    s.params[0].costmap = map;
    script_open(&s);
}

#define FROM_HERE "\"start\":[0,0,0],\"pose\":\"reckoned\",\"return\":\"never\"}"

/* The refusal of a robot inside of an obstacle says so, and not that there is no route. */
static void test_start_blocked(void)
{
    open_lab(1);
    send_text(
        0, "r1", "m1", "NAVIGATE",
        "{\"goal_m\":[4,1.5],\"map\":{\"bounds_m\":null,\"obstacles\":[{\"name\":\"pillar\","
        "\"shape\":\"circle\",\"points_m\":[[0,0.1]],\"radius_m\":0.5}]}," FROM_HERE);
    CHECK("why",
          state_has("\"code\":\"no_route\"") &&
              state_has("goal: the robot stands in an obstacle of the map, or out of its "
                        "bounds, from x 0.000 m, y 0.000 m"));
    script_close(&s);
}

/* A goal is planned on the map of cells: through the door, and around what is found there. */
static void test_cells(void)
{
    struct costmap *map = make_room();
    open_room(map);
    send_text(0, "r1", "m1", "NAVIGATE", "{\"goal_m\":[4,1.5]," FROM_HERE);
    CHECK("a route", showed("goal: a route of 4.9") && state_has("\"path_m\":[["));
    size_t legs = 0;
    double x = 0.0, y = 0.0;
    const struct script_effect *status =
        script_find(&s, EFFECT_MISSION, script_count(&s, EFFECT_MISSION) - 1);
    for (const char *at = strstr(status->payload, "path_m\":[[") + 9;
         sscanf(at, "[%lf,%lf]", &x, &y) == 2; at = strchr(at, ']') + 2) {
        CHECK("through the door", x < 1.7 || x > 2.4 || (y > 1.8 && y < 2.3));
        legs++;
    }
    CHECK("bends", legs >= 2);
    CHECK("blocked", send_answer(1, REPLY_BLOCKED));
    CHECK("around it", state_has("\"obstacles_found\":1"));
    for (int i = 2; i < 9 && send_answer(i, REPLY_DONE); i++) {
    }
    CHECK("there", state_has("\"state\":\"done\""));
    send_text(20, "r1", "m2", "NAVIGATE",
              "{\"goal_m\":[4.6,-0.5],\"clearance_m\":0.2," FROM_HERE);
    CHECK("why",
          state_has("\"code\":\"no_route\"") && state_has("there is no route: with a ") &&
              state_has("clearance_m of 0.2 it can reach 1") && state_has("m2 of the map"));
    script_close(&s);
    free(map);
}

static void test_bad_cells(void)
{
    static const struct {
        const char *kind, *text, *words;
    } rows[] = {
        {"NAVIGATE", "{\"goal_m\":[9,0]," FROM_HERE, "[9, 0] is off the map"},
        {"NAVIGATE", "{\"goal_m\":[2.05,0]," FROM_HERE, "in an occupied cell"},
        {"NAVIGATE", "{\"goal_m\":[1.85,0]," FROM_HERE, "nearer than clearance_m"},
        {"NAVIGATE", "{\"goal_m\":[0,2.95]," FROM_HERE, "in an unknown cell"},
        {"FOLLOW", "{\"path_m\":[[1,0],[2.05,0]]," FROM_HERE, "in an occupied cell"},
    };
    struct costmap *map = make_room();
    open_room(map);
    for (size_t i = 0; i < COUNT(rows); i++) {
        script_clear(&s);
        send_text((double)i, "r1", "bad", rows[i].kind, rows[i].text);
        CHECK(rows[i].words, state_has("\"code\":\"in_obstacle\"") && state_has(rows[i].words));
    }
    send_text(20, "r1", "m1", "NAVIGATE",
              "{\"map\":{\"obstacles\":[]},\"goal_m\":[9,0]," FROM_HERE);
    CHECK("a message has its own map", state_has("\"state\":\"running\""));
    script_close(&s);
    map->unknown_factor = 3.0;
    open_room(map);
    send_text(0, "r1", "m1", "NAVIGATE", "{\"goal_m\":[0,2.95]," FROM_HERE);
    CHECK("the map allows unknown cells", state_has("\"state\":\"running\""));
    script_close(&s);
    free(map);
}

/* The map is the caller's: a state that is loaded plans on it as the first would have. */
static void test_cells_checkpoint(void)
{
    struct costmap *map = make_room();
    struct script_effect first;
    size_t bytes = 0;
    open_room(map);
    send_text(0, "r1", "m1", "NAVIGATE", "{\"goal_m\":[4,1.5]," FROM_HERE);
    void *state = saved_lab(s.lab, &bytes);
    CHECK("blocked", send_answer(1, REPLY_BLOCKED));
    first = *script_find(&s, EFFECT_COMMAND, 0);
    script_close(&s);
    open_room(map);
    CHECK_INT("loaded", lab_load(s.lab, state, bytes), STATUS_OK);
    script_reply(&s, "r1", AT(1), SIDE_REAL, "m1-1", REPLY_BLOCKED);
    script_reply(&s, "r1", AT(1), SIDE_VIRTUAL, "m1-1", REPLY_BLOCKED);
    CHECK_TEXT("the same way", script_find(&s, EFFECT_COMMAND, 0)->payload, first.payload);
    free(state);
    script_close(&s);
    free(map);
}

static void test_late(void)
{
    open_lab(1);
    send_text(0, "r1", "m1", "FOLLOW",
              "{\"path_m\":[[1,0]],\"start\":[0,0,0],\"patience_s\":2,\"return\":\"never\"}");
    script_clear(&s);
    script_tick(&s, AT(1.9));
    CHECK_INT("patient", script_count(&s, EFFECT_COMMAND), 0);
    script_tick(&s, AT(2.1));
    CHECK_INT("halted", script_count(&s, EFFECT_COMMAND), 2);
    CHECK("failed", state_has("\"code\":\"no_reply\""));
    CHECK_INT("at its time", script_find(&s, EFFECT_COMMAND, 0)->t_us, AT(2));
    send_text(2.2, "r1", "m2", "FOLLOW", follow);
    CHECK("its command is nobody else's", state_has("owned") && state_has("command m1-"));
    script_close(&s);
}

/* The pair's timeout ends the command before the mission's patience. */
static void test_unanswered(void)
{
    open_lab(1);
    send_text(0, "r1", "m1", "FOLLOW", follow);
    script_clear(&s);
    script_tick(&s, AT(11));
    CHECK("failed", state_has("\"state\":\"failed\"") && state_has("\"code\":\"no_reply\""));
    CHECK("in words", state_has("no reply in time"));
    script_close(&s);
}

static void test_start(void)
{
    open_lab(2);
    send_text(0, "r1", "m1", "FOLLOW", follow);
    send_text(0, "r1", "m2", "FOLLOW", follow);
    script_clear(&s);
    const struct event start = script_event("$lab", AT(1), EVENT_START, SIDE_COUNT);
    lab_step(s.lab, &start, &s.fx);
    CHECK_INT("both are over", script_count(&s, EFFECT_MISSION), 2);
    CHECK("interrupted",
          state_has("\"state\":\"failed\"") && state_has("\"code\":\"interrupted\""));
    script_clear(&s);
    lab_repeat_commands(s.lab, &s.fx);
    CHECK_INT("reported when somebody listens", script_count(&s, EFFECT_MISSION), 2);
    script_clear(&s);
    script_tick(&s, AT(300));
    CHECK_INT("nothing drives on", script_count(&s, EFFECT_COMMAND), 0);
    script_close(&s);
}

/* A state that is saved and loaded in the middle continues with the same bytes. */
static void test_checkpoint(void)
{
    static struct script first;
    size_t bytes = 0;
    open_lab(2);
    send_text(0, "r1", "m1", "FOLLOW", follow);
    send_text(0, "r1", "m2", "SWEEP", "{}");
    void *state = saved_lab(s.lab, &bytes);
    send_answer(1, REPLY_DONE);
    first = s;
    s.lab = NULL;
    script_open(&s);
    CHECK_INT("loaded", lab_load(s.lab, state, bytes), STATUS_OK);
    s.count = 2; /* the command before */
    memset(s.effect, 0, sizeof s.effect);
    s.effect[1].kind = EFFECT_COMMAND;
    (void)snprintf(s.effect[1].payload, sizeof s.effect[1].payload, "{\"id\":\"m1-1\"");
    send_answer(1, REPLY_DONE);
    CHECK_INT("as many effects", s.count, first.count);
    for (size_t i = 0; i < s.count; i++) {
        CHECK_TEXT("the same", s.effect[i].payload, first.effect[i].payload);
    }
    free(state);
    script_close(&first);
    script_close(&s);
}

static void test_bad_input(void)
{
    static const struct {
        const char *kind, *text, *code;
    } rows[] = {
        {"FLY", "{}", "unknown_value"},
        {"SWEEP", "{\"goal_m\":[1,1]}", "unknown_key"},
        {"SWEEP", "{\"return\":\"maybe\"}", "unknown_value"},
        {"SWEEP", "{\"rays_max\":0}", "out_of_range"},
        {"SWEEP", "{\"tries_max\":1.5}", "out_of_range"},
        {"FOLLOW", "{}", "missing_key"},
        {"FOLLOW", "{\"path_m\":[]}", "too_few"},
        {"FOLLOW", "{\"path_m\":[[1]]}", "wrong_count"},
        {"FOLLOW", "{\"path_m\":[[1e7,0]]}", "out_of_range"},
        {"FOLLOW", "{\"path_m\":[[NaN,0]]}", "not_a_number"},
        {"FOLLOW", "{\"path_m\":[[1,0]],\"clearence_m\":1}", "unknown_key"},
        {"FOLLOW", "{\"path_m\":[[1,0]],\"map\":{\"bounds_m\":[0,0,1,1]}}", "in_obstacle"},
        {"NAVIGATE", "{\"goal_m\":[1,0]}", "needs_key"},
        {"NAVIGATE",
         "{\"goal_m\":[1,0],\"map\":{\"obstacles\":[{\"shape\":\"circle\",\"points_m\":[[1,0]],"
         "\"radius_m\":0.5}]}}",
         "in_obstacle"},
        {"NAVIGATE", "{\"goal_m\":[1,0],\"map\":{\"obstacles\":[{\"shape\":\"ball\"}]}}",
         "unknown_value"},
        {"NAVIGATE", "{\"goal_m\":[1,0],\"map\":{\"obstacle\":[]}}", "unknown_key"},
        {"NAVIGATE", "{\"goal_m\":[1,0],\"map\":{\"obstacles\":[{\"mappd\":true}]}}",
         "unknown_key"},
        {"NAVIGATE",
         "{\"goal_m\":[1,0],\"map\":{\"bounds_m\":null,\"obstacles\":[],\"cells\":{\"cell_m\":"
         "0.1}}}",
         "not_applicable"},
        {"STEPS", "{\"steps\":[{\"sweep\":true,\"goal_m\":[1,1]}]}", "conflicting_keys"},
        {"STEPS", "{\"steps\":[{}]}", "conflicting_keys"},
    };
    char path[4096] = "{\"path_m\":[[0,0]";
    open_lab(1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        script_clear(&s);
        send_text((double)i, "r1", "bad", rows[i].kind, rows[i].text);
        const struct script_effect *e = script_find(&s, EFFECT_MISSION, 0);
        CHECK(rows[i].text, state_has("\"state\":\"refused\"") && state_has(rows[i].code));
        CHECK_TEXT(rows[i].text, e && strstr(e->payload, rows[i].code) ? "" : e->payload, "");
        CHECK_INT("nothing is sent", script_count(&s, EFFECT_COMMAND), 0);
    }
    for (int i = 0; i < 128; i++) {
        (void)snprintf(path + strlen(path), sizeof path - strlen(path), ",[%d,0]", i);
    }
    (void)snprintf(path + strlen(path), sizeof path - strlen(path), "]}");
    send_text(100, "r1", "long", "FOLLOW", path);
    CHECK("too long", state_has("too_many") && state_has("a path of at most 128 points"));
    send_text(101, "r2", "m", "SWEEP", "{}");
    CHECK("it takes none", state_has("not_applicable") && state_has("missions_max"));
    s.params[0].kind = PAIR_USV3;
    send_text(102, "r1", "m", "SWEEP", "{}");
    CHECK("no wheels", state_has("not_applicable") && state_has("a robot with wheels"));
    script_close(&s);
}

/* Both robots answer the newest command with these values. */
static void answer_values(double t_s, enum reply_status status, const char *const *names,
                          const double *values, size_t value_count)
{
    const size_t count = script_count(&s, EFFECT_COMMAND);
    struct event_reply reply = {.status = status, .value_count = (uint8_t)value_count};
    char raw[512];
    struct json_writer w;
    CU_ASSERT_FATAL(count > 0);
    (void)sscanf(strstr(script_find(&s, EFFECT_COMMAND, count - 1)->payload, "\"id\""),
                 "\"id\":\"%47[^\"]", reply.id);
    reply.source_us = reply.source_start_us = LAB_TIME_NONE;
    for (size_t i = 0; i < value_count; i++) {
        (void)snprintf(reply.values[i].name, sizeof reply.values[i].name, "%s", names[i]);
        reply.values[i].kind = VALUE_NUMBER;
        reply.values[i].number = values[i];
        reply.values[i].place = native_value_place(reply.values[i].name);
    }
    json_write_start(&w, raw, sizeof raw, NULL, NULL);
    native_write(&w, EVENT_REPLY, &reply);
    CU_ASSERT_FATAL(json_write_end(&w));
    script_clear(&s);
    for (enum side side = SIDE_REAL; side <= SIDE_VIRTUAL; side++) {
        struct event e = script_event("r1", AT(t_s), EVENT_REPLY, side);
        e.reply = reply;
        e.reply.raw = raw;
        e.reply.raw_bytes = w.used;
        e.hash = hash_text(raw);
        lab_step(s.lab, &e, &s.fx);
    }
}

/* Both robots have done the newest command, the arm is at q1_rad 0.5. */
static void answer_arm(double t_s)
{
    static const char *const names[] = {"q1_rad", "q2_rad", "q3_rad",
                                        "q4_rad", "q5_rad", "q6_rad"};
    static const double q[] = {0.5, -1.5708, -1.5708, -1.5708, 1.5708, 0};
    answer_values(t_s, REPLY_DONE, names, q, COUNT(q));
}

/* ---- a map made on the way ---- */

enum { RAYS = 300, SWEEPS = 4 };

/* A wall across with a way round at its upper end, in a room. */
static void make_world(struct world *w)
{
    static const struct world_point room[] = {{-1, -2}, {5, -2}, {5, 2}, {-1, 2}, {-1, -2}};
    static const struct world_point wall[] = {{1.5, -2}, {1.5, 0.5}};
    const struct world_obstacle what = {.shape = WORLD_WALL, .name = "wall"};
    CHECK_INT("room", world_add(w, &what, room, COUNT(room)), STATUS_OK);
    CHECK_INT("wall", world_add(w, &what, wall, COUNT(wall)), STATUS_OK);
}

static void answer_sweep(double t_s, const struct world *w)
{
    static const char *const names[] = {"angle_rad", "range_m", "x_m", "y_m", "psi_rad"};
    for (int k = 0; k < RAYS; k++) {
        const double angle = 2.0 * PI * k / RAYS;
        const double values[] = {angle, world_range(w, 0.0, 0.0, angle, 6.0), 0.0, 0.0, 0.0};
        answer_values(t_s + 0.01 * k, REPLY_DATA, names, values, COUNT(values));
    }
    answer_values(t_s + 0.01 * RAYS, REPLY_DONE, names + 2, (const double[]){0.0, 0.0, 0.0}, 3);
}

static void open_unmapped(double unknown_factor)
{
    script_init(&s, 2);
    s.params[0].mode = PAIR_LINK;
    s.params[0].missions_max = 2;
    s.params[0].live_map = (struct live_map_params){.range_m = 6.0,
                                                    .cell_m = 0.1,
                                                    .x_min_m = -2.0,
                                                    .y_min_m = -3.0,
                                                    .x_max_m = 6.0,
                                                    .y_max_m = 3.0,
                                                    .every_us = 100000,
                                                    .poses = SWEEP_POSE_REPLIES,
                                                    .unknown_factor = unknown_factor,
                                                    .angle = "angle_rad",
                                                    .range = "range_m"};
    script_open(&s);
}

/* A robot looks around, then drives around the wall that it has seen. What the wall hides is
 * unknown. */
static void test_live_map(void)
{
    static const char look[] = "{\"steps\":[{\"sweep\":true},{\"sweep\":true},{\"sweep\":true},"
                               "{\"sweep\":true},{\"goal_m\":[3,1.4]}],"
                               "\"clearance_m\":0.2," FROM_HERE;
    static const char hidden[] = "{\"goal_m\":[2.5,-1.5],\"clearance_m\":0.2," FROM_HERE;
    struct world world = {0};
    make_world(&world);
    open_unmapped(0.0);
    send_text(0, "r1", "m1", "STEPS", look);
    for (int i = 0; i < SWEEPS; i++) { /* a cell is free after as many */
        answer_sweep(1 + 4 * i, &world);
    }
    CHECK_INT("a map", lab_map(s.lab, 0)->robot[SIDE_REAL].added, SWEEPS);
    CHECK("a route", showed("goal: a route of 3.") && state_has("\"path_m\":[["));
    for (int i = 20; i < 29 && send_answer(i, REPLY_DONE); i++) {
    }
    CHECK("there", state_has("\"state\":\"done\""));
    send_text(40, "r1", "m2", "NAVIGATE", hidden);
    CHECK("not seen yet",
          state_has("\"code\":\"goal_blocked\"") && state_has("the map forbids unknown cells"));
    script_close(&s);
    open_unmapped(2.0);
    send_text(0, "r1", "m1", "NAVIGATE", hidden);
    CHECK("unknown cells may be crossed", state_has("\"state\":\"running\""));
    script_close(&s);
}

#define HOME "\"q_rad\":[0,-1.5708,-1.5708,-1.5708,1.5708,0]"

static void open_arm(void)
{
    script_init(&s, 2);
    s.params[0].mode = PAIR_LINK;
    s.params[0].missions_max = 1;
    (void)snprintf(s.params[0].arm, sizeof s.params[0].arm, "ur5");
    script_open(&s);
}

static void test_moves(void)
{
    open_arm();
    send_text(0, "r1", "m1", "MOVES",
              "{\"steps\":[{\"movej\":{" HOME "}},{\"wait_s\":2},"
              "{\"output\":{\"pin\":3,\"on\":true}}]}");
    CHECK("the arm is asked", strstr(script_find(&s, EFFECT_COMMAND, 0)->payload, "\"stopj\""));
    CHECK("not known", showed("\"op\":\"movej\",\"state\":\"waiting\",\"duration_s\":0"));
    answer_arm(1);
    CHECK("moves", strstr(script_find(&s, EFFECT_COMMAND, 0)->payload, HOME));
    CHECK("where it is", state_has("\"q_rad\":[0.5,-1.5708"));
    CHECK("live", state_has("\"op\":\"movej\",\"state\":\"running\",\"duration_s\":1.19"));
    answer_arm(3);
    CHECK_INT("a wait", script_count(&s, EFFECT_COMMAND), 0);
    script_tick(&s, AT(4.9));
    CHECK_INT("not yet", script_count(&s, EFFECT_COMMAND), 0);
    script_tick(&s, AT(5.1));
    CHECK("output",
          strstr(script_find(&s, EFFECT_COMMAND, 0)->payload, "\"pin\":3,\"on\":true"));
    CHECK_INT("at its time", script_find(&s, EFFECT_COMMAND, 0)->t_us, AT(5));
    answer_arm(6);
    CHECK("done", state_has("\"state\":\"done\"") &&
                      state_has("\"op\":\"digital_out\",\"state\":\"done\""));
    send_text(7, "r1", "m2", "MOVES", "{\"steps\":[{\"movej\":{" HOME "}}],\"patience_s\":2}");
    struct event paused = script_event("r1", AT(7), EVENT_TELEMETRY, SIDE_REAL);
    paused.telemetry =
        (struct event_telemetry){.source_us = LAB_TIME_NONE, .seq = -1, .paused = 1};
    for (int k = 0; k < 6; k++) {
        paused.t_us = AT(7 + k);
        lab_step(s.lab, &paused, &s.fx);
    }
    CHECK("a pause does not end the patience", state_has("\"state\":\"running\""));
    script_clear(&s);
    send_cancel(13, "m2");
    CHECK("halts", strstr(script_find(&s, EFFECT_COMMAND, 0)->payload, "\"halt\""));
    answer_arm(14);
    CHECK("cancelled", showed("\"state\":\"cancelled\""));
    script_close(&s);
}

static void test_bad_moves(void)
{
    static const struct {
        const char *text, *code, *words;
    } rows[] = {
        {"{}", "missing_key", "steps"},
        {"{\"steps\":[]}", "missing_key", "steps"},
        {"{\"steps\":[{}]}", "conflicting_keys", "one member"},
        {"{\"steps\":[{\"wait_s\":1,\"movej\":{" HOME "}}]}", "conflicting_keys", "one member"},
        {"{\"steps\":[{\"fly\":1}]}", "unknown_key", "movej"},
        {"{\"steps\":[{\"wait_s\":0}]}", "out_of_range", "wait_s"},
        {"{\"steps\":[{\"movej\":1}]}", "object_expected", "object"},
        {"{\"steps\":[{\"movej\":{" HOME ",\"speed\":1}}]}", "unknown_key", "to an arm"},
        {"{\"steps\":[{\"movej\":{" HOME ",\"pin\":1}}]}", "unknown_key", "to an arm"},
        {"{\"steps\":[{\"movej\":{" HOME "," HOME "}}]}", "duplicate_name", "once"},
        {"{\"steps\":[{\"movej\":{" HOME ",\"v_radps\":1e-300}}]}", "out_of_range", "rates"},
        {"{\"steps\":[{\"output\":{\"pin\":8,\"on\":true}}]}", "out_of_range", "step 1"},
        {"{\"steps\":[{\"movej\":{\"q_rad\":[7,0,0,0,0,0]}}]}", "out_of_range", "joint_limit"},
        {"{\"arm\":\"kuka\",\"steps\":[{\"wait_s\":1}]}", "unknown_value", "ur5e"},
        {"{\"start_q_rad\":[1],\"steps\":[{\"wait_s\":1}]}", "wrong_count", "6"},
        {"{\"floor_m\":11,\"steps\":[{\"wait_s\":1}]}", "out_of_range", "floor_m"},
        {"{\"goal_m\":[1,1],\"steps\":[{\"wait_s\":1}]}", "unknown_key", "kind of mission"},
    };
    char many[65 * 16 + 16] = "{\"steps\":[{\"wait_s\":1}";
    open_arm();
    for (size_t i = 0; i < COUNT(rows); i++) {
        script_clear(&s);
        send_text((double)i, "r1", "bad", "MOVES", rows[i].text);
        const struct script_effect *e = script_find(&s, EFFECT_MISSION, 0);
        CHECK_TEXT(rows[i].text,
                   e && strstr(e->payload, rows[i].code) && strstr(e->payload, rows[i].words)
                       ? ""
                       : e->payload,
                   "");
        CHECK_INT("nothing is sent", script_count(&s, EFFECT_COMMAND), 0);
    }
    for (int i = 0; i < 64; i++) {
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), ",{\"wait_s\":1}");
    }
    (void)snprintf(many + strlen(many), sizeof many - strlen(many), "]}");
    send_text(100, "r1", "many", "MOVES", many);
    CHECK("too many", state_has("too_many"));
    send_text(101, "r1", "m", "SWEEP", "{}");
    CHECK("no wheels", state_has("not_applicable") && state_has("a robot with wheels"));
    script_close(&s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("missions", NULL, NULL);
    CU_add_test(suite, "a path", test_path);
    CU_add_test(suite, "an id is one mission", test_once);
    CU_add_test(suite, "wrong messages displace nothing", test_garbage);
    CU_add_test(suite, "a later recording", test_later_recording);
    CU_add_test(suite, "an id used again", test_forgotten_id);
    CU_add_test(suite, "a pause between plans", test_pause);
    CU_add_test(suite, "one owner", test_owner);
    CU_add_test(suite, "an obstacle", test_obstacle);
    CU_add_test(suite, "a start inside of an obstacle", test_start_blocked);
    CU_add_test(suite, "a map of cells", test_cells);
    CU_add_test(suite, "points that are not free", test_bad_cells);
    CU_add_test(suite, "cells and a checkpoint", test_cells_checkpoint);
    CU_add_test(suite, "a map made on the way", test_live_map);
    CU_add_test(suite, "a late reply", test_late);
    CU_add_test(suite, "no reply within the pair's timeout", test_unanswered);
    CU_add_test(suite, "a start of the daemon", test_start);
    CU_add_test(suite, "a checkpoint", test_checkpoint);
    CU_add_test(suite, "bad input", test_bad_input);
    CU_add_test(suite, "moves of an arm", test_moves);
    CU_add_test(suite, "bad moves", test_bad_moves);
    return check_run();
}
