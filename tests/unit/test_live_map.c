/* The live map of a pair: from events of the lab to poses on one map, its bounds, and the same
 * bytes after a checkpoint. */
#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "base/numbers/hash.h"
#include "base/numbers/random.h"
#include "config/labfile/lab_file.h"
#include "twin/lab.h"
#include "twin/sim/robot/world.h"

enum { RAYS = 90, STATE_MAX = 4000000 };
static const double RANGE_M = 12.0;

/* A room of 10 x 6 m with two cupboards. */
static void make_room(struct world *w)
{
    static const struct world_point walls[] = {{0, 0}, {10, 0}, {10, 6}, {0, 6}, {0, 0}};
    static const struct world_point left[] = {{2, 4.5}, {3.5, 4.5}, {3.5, 5.5}, {2, 5.5}};
    static const struct world_point right[] = {{6, 0.3}, {7, 0.3}, {7, 1.0}, {6, 1.0}};
    const struct world_obstacle wall = {.shape = WORLD_WALL, .name = "walls"};
    const struct world_obstacle a = {.shape = WORLD_POLYGON, .name = "left"};
    const struct world_obstacle b = {.shape = WORLD_POLYGON, .name = "right"};
    CHECK_INT("walls", world_add(w, &wall, walls, 5), STATUS_OK);
    CHECK_INT("left", world_add(w, &a, left, 4), STATUS_OK);
    CHECK_INT("right", world_add(w, &b, right, 4), STATUS_OK);
}

static void measure_rays(const struct world *w, const struct plane_pose *at, size_t count,
                         struct grid_ray *rays)
{
    for (size_t k = 0; k < count; k++) {
        const double angle = 2.0 * PI * (double)k / (double)count;
        rays[k] = (struct grid_ray){
            angle, world_range(w, at->x_m, at->y_m, at->yaw_rad + angle, RANGE_M)};
    }
}

/* ---- one move with an error of odometry, as large as it may be ---- */

static struct map_track track_move(const struct plane_pose *stated,
                                   const struct plane_pose *truth, bool restarted)
{
    static const struct plane_pose start = {2.0, 2.5, 0.2};
    struct world w = {0};
    struct map_track track = {0};
    struct grid_ray rays[2 * RAYS];
    const struct grid_sweep sweep = {rays, 2 * RAYS, RANGE_M};
    const struct grid_place place = {0.05, -1.0, -1.0, 240, 160};
    struct grid grid;
    void *memory = malloc(grid_bytes(&place));
    CHECK_INT("grid", grid_init(&grid, &place, memory), STATUS_OK);
    make_room(&w);
    measure_rays(&w, &start, sweep.count, rays);
    CHECK("begins the map", map_track_sweep(&track, &grid, &start, &sweep, true));
    if (restarted) {
        map_track_restart(&track, true);
    }
    measure_rays(&w, truth, sweep.count, rays);
    (void)map_track_sweep(&track, &grid, stated, &sweep, true);
    free(memory);
    return track;
}

static void check_found(const char *row, const struct map_track *t,
                        const struct plane_pose *truth)
{
    CHECK_INT(row, t->match.outcome, SCAN_MATCHED);
    CHECK_NEAR(row, t->belief.at.x_m, truth->x_m, 0.0, 0.03);
    CHECK_NEAR(row, t->belief.at.y_m, truth->y_m, 0.0, 0.03);
    CHECK_NEAR(row, t->belief.at.yaw_rad, truth->yaw_rad, 0.0, 0.02);
}

static void test_moves(void)
{
    static const struct {
        const char *row;
        bool restarted;
        struct plane_pose stated, truth;
    } moves[] = {
        {"8 % too far", false, {6.275, 3.367, 0.2}, {5.92, 3.295, 0.2}},
        {"half a turn, 16 degrees off", false, {2.0, 2.5, -2.94}, {2.0, 2.5, -2.66}},
        {"2 m, 15 degrees off", false, {3.960, 2.897, 0.2}, {3.891, 3.150, 0.462}},
        {"restarted and pushed aside", true, {0.0, 0.0, 0.0}, {2.2, 2.5, 0.2}},
        {"restarted and turned", true, {0.0, 0.0, 0.0}, {2.0, 2.5, 0.329}},
    };
    for (size_t i = 0; i < COUNT(moves); i++) {
        const struct map_track t =
            track_move(&moves[i].stated, &moves[i].truth, moves[i].restarted);
        check_found(moves[i].row, &t, &moves[i].truth);
    }
}

/* ---- the lab ---- */

struct bench {
    struct world world;
    struct pair_params pair;
    struct lab_params params;
    void *memory;
    struct lab *lab;
    int64_t t_us;
    int number; /* of replies */
    char pose[256];
};

/* Keeps the last pose for the simulator. */
static void keep_pose(void *context, const struct effect *effect)
{
    struct bench *b = context;
    if (effect->kind == EFFECT_POSE) {
        (void)snprintf(b->pose, sizeof b->pose, "%.*s", (int)effect->payload.bytes,
                       effect->payload.text);
    }
}

static void open_lab(struct bench *b)
{
    const size_t bytes = (lab_bytes(&b->params) + 63) / 64 * 64;
    b->memory = aligned_alloc(64, bytes);
    CU_ASSERT_FATAL(b->memory != NULL);
    memset(b->memory, 0, bytes);
    b->lab = lab_init(b->memory, &b->params);
}

static struct bench *make_bench(void)
{
    struct bench *b = calloc(1, sizeof *b);
    CU_ASSERT_FATAL(b != NULL);
    make_room(&b->world);
    lab_pair_defaults(&b->pair, "r1");
    b->pair.live_map.range_m = RANGE_M;
    b->pair.live_map.x_min_m = b->pair.live_map.y_min_m = -1.0;
    b->pair.live_map.x_max_m = 11.0;
    b->pair.live_map.y_max_m = 7.0;
    b->params = (struct lab_params){.pair_count = 1, .pairs = &b->pair};
    b->t_us = 1700000000000000;
    open_lab(b);
    return b;
}

static void free_bench(struct bench *b)
{
    free(b->memory);
    free(b);
}

static void step_lab(struct bench *b, struct event *event)
{
    const struct effects fx = {keep_pose, b};
    event->t_us = b->t_us += 2000;
    event->hash = hash_bytes(HASH_START, &event->t_us, sizeof event->t_us);
    (void)snprintf(event->pair, sizeof event->pair, "r1");
    lab_step(b->lab, event, &fx);
}

static void add_value(struct event_reply *reply, const char *name, double number)
{
    struct event_value *v = &reply->values[reply->value_count++];
    *v = (struct event_value){
        .kind = VALUE_NUMBER, .number = number, .place = hash_text(name)};
    (void)snprintf(v->name, sizeof v->name, "%s", name);
}

static void send_reply(struct bench *b, enum side side, enum reply_status status,
                       const char *const *names, const double *numbers, size_t count)
{
    struct event event = {.kind = EVENT_REPLY,
                          .side = side,
                          .reply = {.status = status,
                                    .source_us = LAB_TIME_NONE,
                                    .source_start_us = LAB_TIME_NONE,
                                    .raw = "{}",
                                    .raw_bytes = 2}};
    (void)snprintf(event.reply.id, sizeof event.reply.id, "c%d", b->number++);
    for (size_t i = 0; i < count; i++) {
        add_value(&event.reply, names[i], numbers[i]);
    }
    step_lab(b, &event);
}

static void send_pose(struct bench *b, enum side side, const struct plane_pose *at,
                      const char *boot)
{
    struct event event = {.kind = EVENT_TELEMETRY,
                          .side = side,
                          .telemetry = {.source_us = LAB_TIME_NONE,
                                        .seq = -1,
                                        .pose_count = 3,
                                        .pose = {at->x_m, at->y_m, at->yaw_rad}}};
    (void)snprintf(event.telemetry.boot, sizeof event.telemetry.boot, "%s", boot);
    step_lab(b, &event);
}

/* A sweep at `truth` by a robot that states `stated`, and states it `creep` further on while it
 * lasts. */
static void send_sweep(struct bench *b, enum side side, const struct plane_pose *truth,
                       const struct plane_pose *stated, const struct plane_pose *creep)
{
    static const char *const ray_names[] = {"angle_rad", "range_m"};
    static const char *const pose_names[] = {"x_m", "y_m", "psi_rad"};
    struct grid_ray rays[RAYS];
    measure_rays(&b->world, truth, RAYS, rays);
    for (size_t k = 0; k < RAYS; k++) {
        send_reply(b, side, REPLY_DATA, ray_names,
                   (const double[]){rays[k].angle_rad, rays[k].range_m}, 2);
        if (k == 0) {
            send_pose(b, side, stated, "");
        }
    }
    send_reply(b, side, REPLY_DONE, pose_names,
               (const double[]){stated->x_m + creep->x_m, stated->y_m + creep->y_m,
                                stated->yaw_rad + creep->yaw_rad},
               3);
}

static const struct plane_pose AT_REST = {0.0, 0.0, 0.0};

/* Six stops a metre apart along x; the real robot's wheels err by 3 %, the virtual one's by as
 * much the other way. */
static void drive_both(struct bench *b, int from, int to)
{
    for (int k = from; k < to; k++) {
        const struct plane_pose truth = {2.0 + k, 2.5, 0.1};
        const struct plane_pose real = {2.0 + 1.03 * k, 2.5, 0.1};
        const struct plane_pose virtual = {2.0 + 0.97 * k, 2.5, 0.1};
        send_sweep(b, SIDE_REAL, &truth, &real, &AT_REST);
        send_sweep(b, SIDE_VIRTUAL, &truth, &virtual, &AT_REST);
        b->t_us += 1000000;
    }
}

static void test_pair(void)
{
    struct bench *b = make_bench();
    drive_both(b, 0, 6);
    const struct live_map *map = lab_map(b->lab, 0);
    const struct live_map_robot *real = &map->robot[SIDE_REAL];
    const struct live_map_robot *virtual = &map->robot[SIDE_VIRTUAL];
    CHECK_INT("sweeps in the map", map->sweeps, 6);
    CHECK_INT("added", real->added, 6);
    CHECK_INT("matched", real->track.outcomes[SCAN_MATCHED], 5);
    CHECK_INT("the virtual robot's are matched", virtual->track.outcomes[SCAN_MATCHED], 6);
    CHECK_INT("and not added", virtual->added, 0);
    CHECK_NEAR("real", real->track.belief.at.x_m, 7.0, 0.0, 0.05);
    CHECK_NEAR("virtual", virtual->track.belief.at.x_m, 7.0, 0.0, 0.05);
    struct plane_pose now = {7.15 + 0.5, 2.5, 0.1};
    CHECK("located", live_map_locate(map, SIDE_REAL, &now, &now));
    CHECK_NEAR("half a metre further", now.x_m, 7.5, 0.0, 0.05);
    CHECK_NEAR("apart: the virtual one has not driven its last metre yet", map->apart_m, 1.0,
               0.0, 0.06);
    free_bench(b);
}

static void test_refusals(void)
{
    struct bench *b = make_bench();
    const struct live_map *map = lab_map(b->lab, 0);
    const struct live_map_robot *real = &map->robot[SIDE_REAL];
    const struct plane_pose at = {2.0, 2.5, 0.1};
    static const struct plane_pose creeps[] = {{0.004, 0, 0.25 * RAD_PER_DEG},
                                               {0.006, 0, 0},
                                               {0, 0, 0.35 * RAD_PER_DEG}};
    for (size_t k = 0; k < COUNT(creeps); k++) {
        send_sweep(b, SIDE_REAL, &at, &at, &creeps[k]);
        b->t_us += 1000000;
    }
    CHECK_INT("a creep is no motion", map->sweeps, 1);
    CHECK_INT("more is", real->collector.refused[SWEEP_MOTION], 2);
    const struct plane_pose nowhere = {1e200, -1e200, 0.1};
    send_pose(b, SIDE_REAL, &nowhere, "");
    send_sweep(b, SIDE_REAL, &at, &at, &AT_REST);
    send_sweep(b, SIDE_REAL, &at, &at, &AT_REST);
    CHECK_INT("the second comes too soon", real->early, 1);
    CHECK_INT("one more", map->sweeps, 2);
    b->t_us += 1000000;
    send_sweep(b, SIDE_REAL, &at, &nowhere, &AT_REST);
    CHECK_NEAR("a pose out of this world is none", real->track.odometry.x_m, 2.0, 0.0, 1e-9);
    b->t_us += 1000000;
    send_pose(b, SIDE_REAL, &at, "first");
    const uint64_t version = map->version;
    send_pose(b, SIDE_REAL, &AT_REST, "second"); /* its program has restarted */
    CHECK_INT("readers are told", map->version, version + 1);
    struct plane_pose now = AT_REST;
    CHECK("not located until the next sweep", !live_map_locate(map, SIDE_REAL, &now, &now));
    send_sweep(b, SIDE_REAL, &at, &AT_REST, &AT_REST);
    CHECK("located again", live_map_locate(map, SIDE_REAL, &now, &now));
    CHECK_NEAR("where it stood", now.x_m, 2.0, 0.0, 0.03);
    free_bench(b);
}

/* A map begins with a sweep that shows its place; a bad first one leaves it empty. */
static void test_first_sweep(void)
{
    struct bench *b = make_bench();
    const struct live_map *map = lab_map(b->lab, 0);
    const struct live_map_robot *real = &map->robot[SIDE_REAL];
    const struct plane_pose at = {2.0, 2.5, 0.1}, outside = {200.0, 2.5, 0.1};
    send_sweep(b, SIDE_REAL, &at, &outside, &AT_REST);
    b->t_us += 1000000;
    CHECK_INT("none inside the corners", map->sweeps, 0);
    CHECK_INT("counted", real->track.outcomes[SCAN_FEW_RAYS], 1);
    drive_both(b, 0, 3);
    CHECK_INT("the next ones make the map", map->sweeps, 3);
    CHECK_NEAR("where they say", real->track.belief.at.x_m, 4.0, 0.0, 0.05);
    free_bench(b);
}

/* ---- the simulator's pose ---- */

static void drive_once(struct bench *b, double real_x_m, double virtual_x_m)
{
    static const char *const names[] = {"x_m", "y_m", "psi_rad"};
    struct event event = {.kind = EVENT_COMMAND,
                          .side = SIDE_COUNT,
                          .command = {.op = "go",
                                      .source_us = LAB_TIME_NONE,
                                      .seq = -1,
                                      .raw = "{}",
                                      .raw_bytes = 2}};
    (void)snprintf(event.command.id, sizeof event.command.id, "c%d", b->number);
    b->pose[0] = '\0';
    step_lab(b, &event);
    send_reply(b, SIDE_REAL, REPLY_DONE, names, (const double[]){real_x_m, 2.5, 0.1}, 3);
    b->number--; /* the same command */
    send_reply(b, SIDE_VIRTUAL, REPLY_DONE, names, (const double[]){virtual_x_m, 2.5, 0.1}, 3);
}

static double sent_x_m(const struct bench *b)
{
    const char *x = strstr(b->pose, "\"x_m\":");
    return x ? strtod(x + strlen("\"x_m\":"), NULL) : (double)NAN;
}

/* After six stops the real robot's odometry is 15 cm too far. The simulator gets its place on
 * the map, and whether the poses agree is judged there. */
static void test_correction(void)
{
    struct bench *b = make_bench();
    b->pair.correct = PAIR_CORRECT_AFTER_INCONSISTENCY;
    b->pair.value_tolerance_abs = 0.08;
    drive_both(b, 0, 6);
    drive_once(b, 7.15, 7.15);
    CHECK("what they state agrees", b->pose[0] == '\0');
    b->pair.live_map.correct = true;
    drive_once(b, 7.15, 7.15);
    CHECK_NEAR("on the map", sent_x_m(b), 7.0, 0.0, 0.05);
    drive_once(b, 7.15, 7.0);
    CHECK("they agree on the map", b->pose[0] == '\0');
    free_bench(b);
}

/* ---- checkpoint ---- */

static void save_bytes(void *context, size_t at, const void *bytes, size_t n)
{
    CU_ASSERT_FATAL(at + n <= STATE_MAX);
    memcpy((char *)context + at, bytes, n);
}

/* A lab that was saved and loaded in mid-tour goes on with the same bytes as one that was not;
 * a later save needs no more than the cells that changed since. */
static void test_checkpoint(void)
{
    struct bench *b = make_bench(), *other = make_bench();
    struct lab_save save = {.write_part = save_bytes, .context = calloc(1, STATE_MAX)};
    CU_ASSERT_FATAL(save.context != NULL);
    for (int round = 0; round < 2; round++) { /* the second save goes over the first */
        drive_both(b, 2 * round, 2 * round + 2);
        lab_save_begin(b->lab, &save);
        lab_save_part(b->lab, &save, 0);
    }
    CHECK_INT("loaded", lab_load(other->lab, save.context, save.used), STATUS_OK);
    other->t_us = b->t_us;
    other->number = b->number;
    drive_both(b, 4, 6);
    drive_both(other, 4, 6);
    const struct live_map *a = lab_map(b->lab, 0), *z = lab_map(other->lab, 0);
    CHECK_INT("sweeps", z->sweeps, 6);
    CHECK("the same head and odds",
          memcmp(a, z, live_map_shown_bytes(&b->pair.live_map)) == 0);
    for (size_t k = 0;; k++) {
        const void *part = NULL, *same = NULL;
        const size_t bytes = live_map_piece(a, &b->pair.live_map, k, &part);
        CHECK_INT("piece", live_map_piece(z, &b->pair.live_map, k, &same), bytes);
        if (bytes == 0) {
            break;
        }
        CHECK("the same piece", memcmp(part, same, bytes) == 0);
    }
    free(save.context);
    free_bench(b);
    free_bench(other);
}

/* ---- the lab file ---- */

static void test_options(void)
{
    static const struct {
        const char *text;
        unsigned line, column;
        const char *code;
    } rows[] = {
        {"pairs: {r1: {live_map: {range_m: 12, x_max_m: -11}}}\n", 1, 47, "wrong_order"},
        {"pairs: {r1: {live_map: {range_m: 12, x_max_m: 100}}}\n", 1, 47, "too_large"},
        {"pairs: {r1: {live_map: {cell_m: 0.1}}}\n", 1, 33, "not_applicable"},
        {"pairs: {r1: {live_map: {range_m: 12, correct: true}}}\n", 1, 47, "needs_key"},
        {"pairs: {r1: {arm: ur5, live_map: {range_m: 12}}}\n", 1, 44, "not_applicable"},
        {"journal: {record: events}\npairs: {r1: {live_map: {range_m: 12}}}\n", 1, 19,
         "inconsistent"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct lab_file lab = {0};
        struct err_list errors = {0};
        CHECK_INT(rows[i].text,
                  lab_file_parse(rows[i].text, strlen(rows[i].text), "t.yaml", &lab, &errors),
                  STATUS_E_PARSE);
        CHECK_INT(rows[i].text, errors.count, 1);
        CHECK_INT(rows[i].text, errors.items[0].line, rows[i].line);
        CHECK_INT(rows[i].text, errors.items[0].column, rows[i].column);
        CHECK_TEXT(rows[i].text, fault_name(errors.items[0].fault), rows[i].code);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("live map", NULL, NULL);
    CU_add_test(suite, "moves", test_moves);
    CU_add_test(suite, "a pair", test_pair);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "the first sweep", test_first_sweep);
    CU_add_test(suite, "correction", test_correction);
    CU_add_test(suite, "options", test_options);
    CU_add_test(suite, "checkpoint", test_checkpoint);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
