/* The whole stack, L2 on L1 on L0, in the example room: the differential-drive robot of the
 * simulator carries the example missions out, around what is on the map and what is not. */
#include "tests/support/check.h"

#include "config/options/option_file.h"
#include "service/sim/mission/mission_file.h"
#include "twin/sim/robot/robot_kinds.h"

enum { STEPS_MAX = 400000, PERIOD_US = 25000 };

struct lab {
    const struct robot_kind *kind;
    void *memory;
    struct mission_file file;
    struct mission mission;
    struct world world; /* the truth */
    int64_t now_us;
    unsigned commands, gos, blocked, rays, ends;
    enum l2_verdict verdict;
    struct event_command out[8]; /* commands on their way */
    size_t out_count;
    double clearance_m; /* least, of the robot's middle */
};

static void handle_effect(void *context, const struct mission_effect *effect)
{
    struct lab *lab = context;
    if (effect->kind == MISSION_COMMAND) {
        lab->commands++;
        lab->gos += strcmp(effect->command.op, "go") == 0;
        CU_ASSERT_FATAL(lab->out_count < COUNT(lab->out));
        lab->out[lab->out_count++] = effect->command;
    } else if (effect->kind == MISSION_END) {
        lab->ends++;
        lab->verdict = effect->verdict;
    } else if (effect->kind == MISSION_MESSAGE && effect->level != MISSION_ACK) {
        (void)printf("%8.2f s L%u %s\n", lab_s(effect->t_us), effect->layer, effect->text);
    }
}

static void handle_reply(void *context, const struct robot_reply *reply)
{
    struct lab *lab = context;
    struct event_reply r = {.status = reply->status, .value_count = reply->value_count};
    (void)snprintf(r.id, sizeof r.id, "%s", reply->id);
    for (size_t i = 0; i < reply->value_count; i++) {
        (void)snprintf(r.values[i].name, sizeof r.values[i].name, "%s", reply->values[i].name);
        r.values[i].number = reply->values[i].number;
    }
    lab->blocked += reply->status == REPLY_BLOCKED;
    lab->rays += reply->status == REPLY_DATA;
    mission_reply(&lab->mission, &r, lab->now_us, handle_effect, lab);
}

static void load_robot(struct lab *lab, const char *name)
{
    char path[256];
    struct err_list errors = {0};
    memset(lab, 0, sizeof *lab);
    (void)snprintf(path, sizeof path, "%s/config/missions/%s", TANDEM_SOURCE_DIR, name);
    CHECK_INT(name, option_file_load(&mission_file, path, &lab->file, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    lab->world = lab->file.plan.map;
    lab->kind = robot_kind_find("diffdrive");
    CU_ASSERT_PTR_NOT_NULL_FATAL(lab->kind);
}

static void run_robot(struct lab *lab)
{
    const struct robot_setup setup = {
        .world = &lab->world, .seed = 7, .period_us = PERIOD_US, .pose = {0.0, 0.0, 0.3}};
    lab->memory = malloc(lab->kind->bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(lab->memory);
    lab->kind->init(lab->memory, &setup);
    lab->clearance_m = (double)INFINITY;
    mission_init(&lab->mission, &lab->file.plan, "m", 0);
    mission_start(&lab->mission, 0, handle_effect, lab);
    for (int i = 0; i < STEPS_MAX && lab->ends == 0; i++) {
        struct robot_sample s = {0};
        lab->now_us += PERIOD_US;
        lab->world.t_s = lab_s(lab->now_us);
        for (size_t k = 0; k < lab->out_count; k++) {
            robot_command(lab->kind, lab->memory, &lab->out[k], handle_reply, lab);
        }
        lab->out_count = 0;
        lab->kind->step(lab->memory, handle_reply, lab);
        mission_tick(&lab->mission, lab->now_us, handle_effect, lab);
        lab->kind->sample(lab->memory, &s);
        lab->clearance_m =
            fmin(lab->clearance_m, world_clearance(&lab->world, s.pose[0], s.pose[1]));
    }
    CHECK_INT("ended once", lab->ends, 1);
    CHECK_INT("no fault", lab->mission.fault_count, 0);
}

static void end_robot(struct lab *lab, const char *name)
{
    struct robot_sample s = {0};
    lab->kind->sample(lab->memory, &s);
    (void)printf("%s: %u commands, %u moves, %u blocked, %u rays, %.1f s, least clearance "
                 "%.3f m, at %.3f %.3f\n",
                 name, lab->commands, lab->gos, lab->blocked, lab->rays, lab_s(lab->now_us),
                 lab->clearance_m, s.pose[0], s.pose[1]);
    CHECK(name, hypot(s.pose[0], s.pose[1]) < 0.1);
    free(lab->memory);
}

static void test_path(void)
{
    static struct lab lab;
    load_robot(&lab, "path.yaml");
    run_robot(&lab);
    CHECK_INT("done", lab.verdict, L2_VERDICT_DONE);
    CHECK_INT("asked, three legs, home", lab.gos, 5);
    CHECK("a sweep", lab.rays > 3);
    end_robot(&lab, "path");
}

static void test_goal(void)
{
    static struct lab lab;
    load_robot(&lab, "goal.yaml");
    run_robot(&lab);
    CHECK_INT("done", lab.verdict, L2_VERDICT_DONE);
    CHECK("no collision", lab.clearance_m > 0.15);
    end_robot(&lab, "goal");
}

/* A person stands in the planned path, and stays. */
static void test_detour(void)
{
    static struct lab lab;
    static const struct world_obstacle crate = {
        .name = "crate", .shape = WORLD_CIRCLE, .unmapped = true, .radius_m = 0.15};
    load_robot(&lab, "goal.yaml");
    const struct world_point from = {0.0, 0.0};
    struct route route;
    CHECK_INT("a way",
              route_plan(&lab.file.plan.map, &from, &lab.file.plan.points[0], 0.35, NULL, &route),
              STATUS_OK);
    const struct world_point middle = {0.6 * route.points[0].x_m, 0.6 * route.points[0].y_m};
    CHECK_INT("crate", world_add(&lab.world, &crate, &middle, 1), STATUS_OK);
    run_robot(&lab);
    CHECK_INT("done all the same", lab.verdict, L2_VERDICT_DONE);
    CHECK("it was in the way", lab.blocked > 0);
    CHECK("no collision", lab.clearance_m > 0.05);
    end_robot(&lab, "detour");
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("mission and robot", NULL, NULL);
    CU_add_test(suite, "path", test_path);
    CU_add_test(suite, "goal", test_goal);
    CU_add_test(suite, "detour", test_detour);
    return check_run();
}
