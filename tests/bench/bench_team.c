/* Measures the step of a team: 1000 robots, 200 places, a million tasks, in simulated time. The
 * driver is only a heap of ends; its own cost is printed too, and the cost of the same with
 * team_simulate(). Then ten thousand random runs of the cell of two robots, as `tandem team
 * simulate` makes them. Prints one JSON line for each. */
#include "tests/bench/bench.h"

#include "service/team/team_runs.h"
#include "tests/support/team_cell.h"

enum {
    ROBOTS = 1000,
    PLACES = 200,
    SEQUENCES = 200,
    TASKS_EACH = 20, /* of a sequence, at least */
    TASKS = 1000000,
    STEPS_MAX = SEQUENCES * TASKS_EACH * 4
};

struct end {
    int64_t t_us;
    uint32_t robot, n;
};

struct bench_team {
    struct team_params p;
    struct team_robot_params robots[ROBOTS];
    struct team_resource_params places[PLACES];
    struct team_sequence sequences[SEQUENCES];
    struct team_step steps[STEPS_MAX];
    uint16_t lists[3 * STEPS_MAX];
    struct team_task_params task;
    struct end ends[ROBOTS + 1];
    size_t end_count;
    uint64_t draws;
    uint64_t started, effects, grants, waits;
};

static bool is_before(const struct end *a, const struct end *b)
{
    return a->t_us != b->t_us ? a->t_us < b->t_us : a->robot < b->robot;
}

static void push_end(struct bench_team *b, struct end end)
{
    size_t at = b->end_count++;
    while (at > 0 && is_before(&end, &b->ends[(at - 1) / 2])) {
        b->ends[at] = b->ends[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    b->ends[at] = end;
}

static struct end pop_end(struct bench_team *b)
{
    const struct end first = b->ends[0];
    const struct end last = b->ends[--b->end_count];
    size_t at = 0;
    for (size_t child = 1; child < b->end_count; child = 2 * at + 1) {
        child += child + 1 < b->end_count && is_before(&b->ends[child + 1], &b->ends[child]);
        if (!is_before(&b->ends[child], &last)) {
            break;
        }
        b->ends[at] = b->ends[child];
        at = child;
    }
    b->ends[at] = last;
    return first;
}

static int64_t draw_us(struct bench_team *b)
{
    return 1000 * (1 + (int64_t)(bench_draw(&b->draws) % 5000));
}

static void handle_effect(void *context, const struct team_effect *effect)
{
    struct bench_team *b = context;
    b->effects++;
    b->grants += effect->kind == TEAM_GRANT;
    b->waits += effect->kind == TEAM_WAIT;
    if (effect->kind == TEAM_START) {
        b->started++;
        push_end(b, (struct end){effect->t_us + draw_us(b), effect->robot, effect->n});
    }
}

/* ---- the team -----------------------------------------------------------------------------
 */

static struct team_step *add_step(struct bench_team *b, enum team_step_kind kind)
{
    struct team_step *step = &b->steps[b->p.step_count++];
    *step = (struct team_step){.kind = kind, .arg = TEAM_NONE, .meeting = TEAM_NONE};
    return step;
}

/* A place that is not in the list yet, into its order. */
static void add_place(struct bench_team *b, uint32_t first)
{
    uint16_t place;
    bool known;
    do {
        place = (uint16_t)(bench_draw(&b->draws) % PLACES);
        known = false;
        for (size_t k = first; k < b->p.list_count; k++) {
            known |= b->lists[k] == place;
        }
    } while (known);
    size_t at = b->p.list_count++;
    for (; at > first && b->lists[at - 1] > place; at--) {
        b->lists[at] = b->lists[at - 1];
    }
    b->lists[at] = place;
}

/* A way, then one place, or two or three in one Lock. */
static void add_section(struct bench_team *b)
{
    const size_t count = bench_draw(&b->draws) % 10 < 4 ? 2 + bench_draw(&b->draws) % 2 : 1;
    const uint32_t first = (uint32_t)b->p.list_count;
    for (size_t k = 0; k < count; k++) {
        add_place(b, first);
    }
    (void)add_step(b, TEAM_STEP_TASK);
    struct team_step *lock = add_step(b, TEAM_STEP_LOCK);
    (void)add_step(b, TEAM_STEP_TASK);
    struct team_step *unlock = add_step(b, TEAM_STEP_UNLOCK);
    lock->first_resource = unlock->first_resource = first;
    lock->resource_count = unlock->resource_count = (uint32_t)count;
}

static void make_team(struct bench_team *b, enum team_locking locking)
{
    memset(b, 0, sizeof *b);
    b->draws = 7;
    b->task.window = (struct team_window){0, LAB_TIME_MAX, 0};
    for (size_t i = 0; i < PLACES; i++) {
        b->places[i].capacity = 1 + (bench_draw(&b->draws) % 5 == 0);
    }
    for (size_t i = 0; i < SEQUENCES; i++) {
        b->sequences[i].first = (uint32_t)b->p.step_count;
        for (size_t k = 0; k < TASKS_EACH; k += 2) {
            add_section(b);
        }
        b->sequences[i].count = (uint32_t)b->p.step_count - b->sequences[i].first;
    }
    for (size_t i = 0; i < ROBOTS; i++) {
        b->robots[i] = (struct team_robot_params){.sequence = (uint16_t)(i % SEQUENCES),
                                                  .cycles = TASKS / ROBOTS / TASKS_EACH,
                                                  .priority = bench_draw(&b->draws) % 3,
                                                  .handles_all = true};
    }
    b->p.locking = locking;
    b->p.head_start_us = 5000000;
    b->p.robot_count = ROBOTS;
    b->p.resource_count = PLACES;
    b->p.task_count = 1;
    b->p.sequence_count = SEQUENCES;
    b->p.robots = b->robots;
    b->p.resources = b->places;
    b->p.tasks = &b->task;
    b->p.sequences = b->sequences;
    b->p.steps = b->steps;
    b->p.lists = b->lists;
}

/* ---- runs ---------------------------------------------------------------------------------
 */

static void run_team(struct bench_team *b, struct team *team)
{
    const struct team_effects fx = {handle_effect, b};
    struct team_event event = {.kind = TEAM_EVENT_START};
    for (event.robot = 0; event.robot < ROBOTS; event.robot++) {
        if (!team_add_event(team, 0, &event)) {
            bench_fail("the bag is full");
        }
    }
    team_fire(team, &fx);
    event.kind = TEAM_EVENT_DONE;
    while (b->end_count > 0) {
        const int64_t t_us = b->ends[0].t_us;
        while (b->end_count > 0 && b->ends[0].t_us == t_us) {
            const struct end end = pop_end(b);
            event.robot = (uint16_t)end.robot;
            event.n = end.n;
            if (!team_add_event(team, t_us, &event)) {
                bench_fail("the bag is full");
            }
        }
        team_fire(team, &fx);
    }
    if (!team_finished(team)) {
        bench_fail("the team did not come to its end");
    }
}

/* The driver without robots: each end begins the next activity. */
static double run_floor(struct bench_team *b)
{
    const double from_s = bench_cpu_s();
    b->end_count = 0;
    for (uint32_t i = 0; i < ROBOTS; i++) {
        push_end(b, (struct end){draw_us(b), i, 0});
    }
    for (uint32_t k = 0; k < TASKS; k++) {
        const struct end end = pop_end(b);
        push_end(b, (struct end){end.t_us + draw_us(b), end.robot, end.n + 1});
    }
    return bench_cpu_s() - from_s;
}

/* ---- by the simulator ---------------------------------------------------------------------
 */

static bool ask_lap(void *context, const struct team_effect *start, struct team_lap *lap)
{
    struct bench_team *b = context;
    (void)start;
    b->started++;
    *lap = (struct team_lap){.answers = true, .lap_us = draw_us(b)};
    return true;
}

static void bench_simulator(struct bench_team *b)
{
    const size_t bytes = team_simulator_bytes(&b->p);
    void *memory = malloc(bytes);
    if (!memory) {
        bench_fail("no memory");
    }
    struct team_simulator *s = team_simulator_init(memory, &b->p);
    const struct team_scenario scenario = {
        .params = &b->p, .ask = ask_lap, .context = b, .horizon_us = LAB_TIME_MAX - 1};
    const struct team_effects nobody = {NULL, NULL};
    struct team_run run;
    const double from_s = bench_cpu_s();
    team_simulate(s, &scenario, &nobody, &run);
    const double cpu_s = bench_cpu_s() - from_s;
    if (run.end != TEAM_RUN_FINISHED) {
        bench_fail("the team did not come to its end");
    }
    (void)printf("{\"bench\":\"team\",\"what\":\"team_simulate\",\"locking\":\"%s\","
                 "\"tasks\":%llu,\"cpu_s\":%.3f,\"ns_per_task\":%.0f,\"goal_s\":0.35,"
                 "\"bytes\":%zu}\n",
                 team_locking_name(b->p.locking), (unsigned long long)run.activities, cpu_s,
                 1e9 * cpu_s / (double)run.activities, bytes);
    free(memory);
}

/* Two robots that learnt their moves, ten parts each. */
static void bench_runs(void)
{
    static struct cell cell;
    cell_transport(&cell, 2, false);
    struct team_prediction *tp =
        team_prediction_init(malloc(team_prediction_bytes(&cell.p)), &cell.p);
    for (uint16_t r = 0; r < 2; r++) {
        const struct team_pose origin = {0.0, 0.0, 0.0};
        struct travel_move moves[60];
        struct travel_fit fit;
        struct random_source random = {.state = r};
        for (size_t i = 0; i < COUNT(moves); i++) {
            const double turn = i % 3 == 1 ? 0.0 : random_between(&random, 0.3, 3.1);
            const double way = i % 3 == 0 ? 0.0 : random_between(&random, 0.2, 1.5);
            moves[i] = (struct travel_move){
                turn, way, 0.1 + turn / 1.2 + way / 0.2 + 0.05 * random_normal(&random)};
        }
        if (travel_time_fit(moves, COUNT(moves), TRAVEL_TURNS_AND_DRIVES, TRAVEL_OLS, &fit) !=
                STATUS_OK ||
            team_predict_moves(tp, r, &fit) != STATUS_OK) {
            bench_fail("no fit");
        }
        team_predict_pose(tp, r, &origin);
    }
    const struct team_runs_options options = {
        .runs = 10000, .seed = 1, .threads = 1, .horizon_us = INT64_C(86400) * 1000000};
    struct err_list errors = {0};
    struct team_runs runs;
    const double from_s = bench_cpu_s();
    if (team_runs_make(tp, &options, &runs, &errors) != STATUS_OK) {
        bench_fail("no runs");
    }
    const double cpu_s = bench_cpu_s() - from_s;
    (void)printf("{\"bench\":\"team\",\"what\":\"runs with chance\",\"runs\":10000,"
                 "\"tasks\":%d,\"cpu_s\":%.3f,\"us_per_run\":%.1f,\"goal_s\":1,"
                 "\"p95_s\":%.3f}\n",
                 100, cpu_s, 1e6 * cpu_s / 10000, runs.makespan_s.p95.value);
    team_runs_free(&runs);
    free(tp);
}

int main(void)
{
    static struct bench_team b;
    for (enum team_locking locking = TEAM_ORDERED; locking < TEAM_LOCKING_COUNT; locking++) {
        if (locking == TEAM_FREE) {
            continue; /* may deadlock */
        }
        make_team(&b, locking);
        const size_t bytes = team_bytes(&b.p);
        void *memory = malloc(bytes);
        if (!memory) {
            bench_fail("no memory");
        }
        struct team *team = team_init(memory, &b.p);
        const double from_s = bench_cpu_s();
        run_team(&b, team);
        const double cpu_s = bench_cpu_s() - from_s;
        (void)printf("{\"bench\":\"team\",\"locking\":\"%s\",\"robots\":%d,\"places\":%d,"
                     "\"tasks\":%llu,\"grants\":%llu,\"waits\":%llu,\"effects\":%llu,"
                     "\"cpu_s\":%.3f,\"ns_per_task\":%.0f,\"driver_s\":%.3f,\"bytes\":%zu}\n",
                     team_locking_name(locking), ROBOTS, PLACES, (unsigned long long)b.started,
                     (unsigned long long)b.grants, (unsigned long long)b.waits,
                     (unsigned long long)b.effects, cpu_s, 1e9 * cpu_s / (double)b.started,
                     run_floor(&b), bytes);
        free(memory);
        make_team(&b, locking);
        bench_simulator(&b);
    }
    bench_runs();
    return EXIT_SUCCESS;
}
