/* Plans of random teams: valid, never below the bound, and near the optimum. */
#include "twin/team/check/team_plan.h"

#include "tests/support/check.h"

enum { TEAMS = 200, SECOND_US = 1000000 };

struct gaps {
    double sum, worst;
    int above; /* teams with a gap */
};

static size_t whole(struct random_source *source, size_t least, size_t most)
{
    return least + (size_t)random_between(source, 0.0, (double)(most - least + 1));
}

/* 4 to 8 tasks of 2 to 4 robots; a fifth needs two robots, a task follows an earlier one of
 * every four. */
static size_t make_team(unsigned seed, size_t least, size_t most, struct team_plan_task *tasks)
{
    struct random_source source = random_stream(seed, 0);
    const size_t robots = whole(&source, 2, 4);
    const size_t count = whole(&source, least, most);
    for (size_t i = 0; i < count; i++) {
        struct team_plan_task *t = &tasks[i];
        *t = (struct team_plan_task){.lap_us = (int64_t)whole(&source, 1, 20) * SECOND_US};
        t->robot_count = random_uniform(&source) < 0.2 ? 2 : 1;
        t->robots[0] = (uint16_t)whole(&source, 0, robots - 1);
        t->robots[1] = (uint16_t)((t->robots[0] + whole(&source, 1, robots - 1)) % robots);
        for (size_t k = 0; k < i; k++) {
            t->after |= random_uniform(&source) < 0.25 ? UINT64_C(1) << k : 0;
        }
    }
    return count;
}

static bool share_a_robot(const struct team_plan_task *a, const struct team_plan_task *b)
{
    for (size_t i = 0; i < a->robot_count; i++) {
        for (size_t k = 0; k < b->robot_count; k++) {
            if (a->robots[i] == b->robots[k]) {
                return true;
            }
        }
    }
    return false;
}

/* Reads the plan as a person would: no two tasks of one robot at a time, none too early. */
static void check_plan(const char *row, const struct team_plan_task *tasks, size_t count,
                       const struct team_plan *plan)
{
    int64_t end_us = 0;
    uint64_t seen = 0;
    CHECK_INT(row, plan->task_count, count);
    for (size_t i = 0; i < count; i++) {
        const int64_t i_end_us = plan->start_us[i] + tasks[i].lap_us;
        CHECK(row, plan->start_us[i] >= 0);
        CHECK(row, (tasks[plan->order[i]].after & ~seen) == 0);
        seen |= UINT64_C(1) << plan->order[i];
        end_us = i_end_us > end_us ? i_end_us : end_us;
        for (size_t k = 0; k < count; k++) {
            if ((tasks[i].after >> k & 1U) != 0) {
                CHECK(row, plan->start_us[k] + tasks[k].lap_us <= plan->start_us[i]);
            }
            if (k != i && share_a_robot(&tasks[i], &tasks[k])) {
                CHECK(row, plan->start_us[k] >= i_end_us ||
                               plan->start_us[k] + tasks[k].lap_us <= plan->start_us[i]);
            }
        }
    }
    CHECK(row, seen == (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1));
    CHECK_INT(row, plan->length_us, end_us);
}

static void add_gap(struct gaps *gaps, int64_t length_us, int64_t least_us)
{
    const double gap = (double)(length_us - least_us) / (double)least_us;
    gaps->sum += gap;
    gaps->worst = fmax(gaps->worst, gap);
    gaps->above += gap > 0.0;
}

static void test_gap(void)
{
    struct gaps to_optimum = {0};
    struct gaps to_bound = {0};
    for (unsigned seed = 1; seed <= TEAMS; seed++) {
        struct team_plan_task tasks[TEAM_PLAN_TASKS_MAX];
        const size_t count = make_team(seed, 4, TEAM_PLAN_OPTIMUM_MAX, tasks);
        char row[32];
        struct team_plan plan;
        struct team_plan best;
        (void)snprintf(row, sizeof row, "team %u", seed);
        CHECK_INT(row, team_plan_circle(tasks, count), count);
        team_plan_list(tasks, count, &plan);
        team_plan_optimum(tasks, count, &best);
        check_plan(row, tasks, count, &plan);
        check_plan(row, tasks, count, &best);
        CHECK(row, team_plan_bound(tasks, count) <= best.length_us);
        CHECK(row, best.length_us <= plan.length_us);
        add_gap(&to_optimum, plan.length_us, best.length_us);
        add_gap(&to_bound, best.length_us, team_plan_bound(tasks, count));
    }
    (void)printf(
        "list to optimum: mean %.2f %%, worst %.1f %%, %d of %d above; optimum to bound: "
        "mean %.1f %%, worst %.1f %%\n",
        100.0 * to_optimum.sum / TEAMS, 100.0 * to_optimum.worst, to_optimum.above, TEAMS,
        100.0 * to_bound.sum / TEAMS, 100.0 * to_bound.worst);
    CHECK("mean gap", to_optimum.sum / TEAMS <= 0.05);
}

/* The optimum of small teams, by trying every order without bounds. */
static int64_t try_orders(const struct team_plan_task *tasks, size_t count)
{
    size_t order[5] = {0};
    int64_t least_us = INT64_MAX;
    for (size_t code = 0; code < 3125; code++) { /* 5^5 */
        int64_t free_us[4] = {0};
        int64_t end_us[5] = {0};
        int64_t length_us = 0;
        uint64_t done = 0;
        bool valid = true;
        for (size_t i = 0, rest = code; i < count; i++, rest /= 5) {
            order[i] = rest % 5;
            const size_t at = order[i];
            valid =
                valid && at < count && (done >> at & 1U) == 0 && (tasks[at].after & ~done) == 0;
            if (!valid) {
                break;
            }
            int64_t start_us = 0;
            for (size_t k = 0; k < count; k++) {
                const bool before = (tasks[at].after >> k & 1U) != 0;
                start_us = before && end_us[k] > start_us ? end_us[k] : start_us;
            }
            for (size_t r = 0; r < tasks[at].robot_count; r++) {
                const int64_t robot_us = free_us[tasks[at].robots[r]];
                start_us = robot_us > start_us ? robot_us : start_us;
            }
            end_us[at] = start_us + tasks[at].lap_us;
            for (size_t r = 0; r < tasks[at].robot_count; r++) {
                free_us[tasks[at].robots[r]] = end_us[at];
            }
            length_us = end_us[at] > length_us ? end_us[at] : length_us;
            done |= UINT64_C(1) << at;
        }
        least_us = valid && length_us < least_us ? length_us : least_us;
    }
    return least_us;
}

static void test_optimum(void)
{
    for (unsigned seed = 1; seed <= TEAMS; seed++) {
        struct team_plan_task tasks[TEAM_PLAN_TASKS_MAX];
        const size_t count = make_team(1000 + seed, 3, 5, tasks);
        struct team_plan best;
        team_plan_optimum(tasks, count, &best);
        CHECK_INT("every order", best.length_us, try_orders(tasks, count));
    }
}

static void test_many_tasks(void)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct team_plan_task tasks[TEAM_PLAN_TASKS_MAX];
        const size_t count =
            make_team(2000 + seed, TEAM_PLAN_TASKS_MAX, TEAM_PLAN_TASKS_MAX, tasks);
        struct team_plan plan;
        team_plan_list(tasks, count, &plan);
        check_plan("64 tasks", tasks, count, &plan);
        CHECK("64 tasks", team_plan_bound(tasks, count) <= plan.length_us);
    }
}

static void test_circle(void)
{
    struct team_plan_task tasks[4] = {
        {.lap_us = 1}, {.lap_us = 1}, {.lap_us = 1}, {.lap_us = 1}};
    tasks[0].after = 1U << 1;
    tasks[2].after = 1U << 3;
    tasks[1].after = 1U << 3;
    CHECK_INT("a tree", team_plan_circle(tasks, 4), 4);
    tasks[3].after = 1U << 2;
    const size_t at = team_plan_circle(tasks, 4);
    CHECK("2 and 3", at == 2 || at == 3);
    tasks[3].after = 1U << 3;
    CHECK_INT("itself", team_plan_circle(tasks, 4), 3);
    CHECK_INT("nothing", team_plan_circle(tasks, 0), 0);
}

/* Two robots meet after 10 s of work each. Who comes first waits for the other. */
static void test_draw(void)
{
    const struct team_plan_task tasks[] = {
        {.lap_us = 10 * SECOND_US, .robots = {0}, .robot_count = 1},
        {.lap_us = 10 * SECOND_US, .robots = {1}, .robot_count = 1},
        {.lap_us = 5 * SECOND_US, .robots = {0, 1}, .robot_count = 2, .after = 3}};
    struct team_plan plan;
    team_plan_list(tasks, 3, &plan);
    CHECK_INT("plan", plan.length_us, 15 * SECOND_US);
    for (uint64_t k = 0; k < 200; k++) {
        struct random_source source = random_stream(1, k);
        struct random_source same = random_stream(1, k);
        struct team_plan_course course;
        team_plan_draw(tasks, &plan, 0.2, &source, &course);
        const double first_s = 10.0 * random_between(&same, 0.8, 1.2);
        const double second_s = 10.0 * random_between(&same, 0.8, 1.2);
        const double third_s = 5.0 * random_between(&same, 0.8, 1.2);
        /* Until 10 s nobody is late. */
        const double waited_s = fabs(fmax(10.0, first_s) - fmax(10.0, second_s));
        CHECK_NEAR("waited", lab_s(course.waited_us), waited_s, 0, 2e-6);
        CHECK_NEAR("length", lab_s(course.length_us),
                   fmax(10.0, fmax(first_s, second_s)) + third_s, 0, 3e-6);
        team_plan_draw(tasks, &plan, 0.0, &source, &course);
        CHECK_INT("as planned", course.waited_us, 0);
        CHECK_INT("as planned", course.length_us, plan.length_us);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team plan", NULL, NULL);
    CU_add_test(suite, "gap", test_gap);
    CU_add_test(suite, "optimum", test_optimum);
    CU_add_test(suite, "many tasks", test_many_tasks);
    CU_add_test(suite, "circle", test_circle);
    CU_add_test(suite, "draw", test_draw);
    return check_run();
}
