#include "twin/team/check/team_plan.h"

#include <math.h>
#include <string.h>

/* A plan while it grows. */
struct growth {
    const struct team_plan_task *tasks;
    size_t count;
    uint64_t done;                         /* tasks in the plan */
    int64_t chain_us[TEAM_PLAN_TASKS_MAX]; /* from a task's start to the end of its chain */
    int64_t end_us[TEAM_PLAN_TASKS_MAX];   /* of tasks in the plan */
    int64_t free_us[TEAM_ROBOTS_MAX];      /* when each robot has done its tasks */
    int64_t work_us[TEAM_ROBOTS_MAX];      /* its tasks that are not in the plan */
    struct team_plan plan;
};

static int64_t pick_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool set_contains(uint64_t set, size_t task)
{
    return (set >> task & 1U) != 0;
}

/* Removes tasks without successors until none is left; each then knows its chain. Returns the
 * set of the tasks that remain: circles, and what comes before them. */
static uint64_t find_chains(const struct team_plan_task *tasks, size_t count,
                            int64_t chain_us[TEAM_PLAN_TASKS_MAX])
{
    uint64_t open = count == 0 ? 0 : UINT64_MAX >> (64 - count);
    bool moved = true;
    while (moved) {
        moved = false;
        for (size_t i = 0; i < count; i++) {
            bool last = set_contains(open, i);
            int64_t behind_us = 0;
            for (size_t k = 0; k < count; k++) {
                if (set_contains(tasks[k].after, i)) {
                    last = last && !set_contains(open, k);
                    behind_us = pick_later(behind_us, chain_us[k]);
                }
            }
            if (last) {
                chain_us[i] = tasks[i].lap_us + behind_us;
                open &= ~(UINT64_C(1) << i);
                moved = true;
            }
        }
    }
    return open;
}

size_t team_plan_circle(const struct team_plan_task *tasks, size_t count)
{
    int64_t chain_us[TEAM_PLAN_TASKS_MAX] = {0};
    const uint64_t open = find_chains(tasks, count, chain_us);
    size_t at = 0;
    while (at < count && !set_contains(open, at)) {
        at++;
    }
    /* Each open task is before another open one, so count steps end in a circle. */
    for (size_t steps = 0; at < count && steps < count; steps++) {
        size_t next = 0;
        while (!set_contains(open, next) || !set_contains(tasks[next].after, at)) {
            next++;
        }
        at = next;
    }
    return at;
}

static void start_growth(struct growth *g, const struct team_plan_task *tasks, size_t count)
{
    memset(g, 0, sizeof *g);
    g->tasks = tasks;
    g->count = count;
    g->plan.task_count = count;
    (void)find_chains(tasks, count, g->chain_us);
    for (size_t i = 0; i < count; i++) {
        for (size_t r = 0; r < tasks[i].robot_count; r++) {
            g->work_us[tasks[i].robots[r]] += tasks[i].lap_us;
        }
    }
}

/* Can the task follow what is in the plan? */
static bool is_ready(const struct growth *g, size_t task)
{
    return !set_contains(g->done, task) && (g->tasks[task].after & ~g->done) == 0;
}

static int64_t first_start(const struct growth *g, size_t task)
{
    const struct team_plan_task *t = &g->tasks[task];
    int64_t start_us = 0;
    for (size_t i = 0; i < g->count; i++) {
        start_us = set_contains(t->after, i) ? pick_later(start_us, g->end_us[i]) : start_us;
    }
    for (size_t r = 0; r < t->robot_count; r++) {
        start_us = pick_later(start_us, g->free_us[t->robots[r]]);
    }
    return start_us;
}

static void append_task(struct growth *g, size_t task, size_t place)
{
    const struct team_plan_task *t = &g->tasks[task];
    const int64_t start_us = first_start(g, task);
    g->plan.order[place] = task;
    g->plan.start_us[task] = start_us;
    g->end_us[task] = start_us + t->lap_us;
    g->plan.length_us = pick_later(g->plan.length_us, g->end_us[task]);
    g->done |= UINT64_C(1) << task;
    for (size_t r = 0; r < t->robot_count; r++) {
        g->free_us[t->robots[r]] = g->end_us[task];
        g->work_us[t->robots[r]] -= t->lap_us;
    }
}

int64_t team_plan_bound(const struct team_plan_task *tasks, size_t count)
{
    struct growth g;
    int64_t bound_us = 0;
    start_growth(&g, tasks, count);
    for (size_t i = 0; i < count; i++) {
        bound_us = pick_later(bound_us, g.chain_us[i]);
    }
    for (size_t r = 0; r < TEAM_ROBOTS_MAX; r++) {
        bound_us = pick_later(bound_us, g.work_us[r]);
    }
    return bound_us;
}

/* The time that must still pass once the task begins: its chain, or the work of its robots. */
static int64_t find_urgency(const struct growth *g, size_t task)
{
    int64_t us = g->chain_us[task];
    for (size_t r = 0; r < g->tasks[task].robot_count; r++) {
        us = pick_later(us, g->work_us[g->tasks[task].robots[r]]);
    }
    return us;
}

/* No plan that begins like this is shorter. */
static int64_t bound_rest(const struct growth *g)
{
    int64_t bound_us = g->plan.length_us;
    for (size_t i = 0; i < g->count; i++) {
        if (set_contains(g->done, i)) {
            continue;
        }
        bound_us = pick_later(bound_us, first_start(g, i) + g->chain_us[i]);
        for (size_t r = 0; r < g->tasks[i].robot_count; r++) {
            const uint16_t robot = g->tasks[i].robots[r];
            bound_us = pick_later(bound_us, g->free_us[robot] + g->work_us[robot]);
        }
    }
    return bound_us;
}

/* Needed to take the last task away again. */
struct undo {
    int64_t free_us[TEAM_PLAN_ROBOTS_MAX], length_us;
};

static struct undo save_state(const struct growth *g, size_t task)
{
    struct undo undo = {.length_us = g->plan.length_us};
    for (size_t r = 0; r < g->tasks[task].robot_count; r++) {
        undo.free_us[r] = g->free_us[g->tasks[task].robots[r]];
    }
    return undo;
}

static void drop_task(struct growth *g, size_t task, const struct undo *undo)
{
    const struct team_plan_task *t = &g->tasks[task];
    g->done &= ~(UINT64_C(1) << task);
    g->plan.length_us = undo->length_us;
    for (size_t r = 0; r < t->robot_count; r++) {
        g->free_us[t->robots[r]] = undo->free_us[r];
        g->work_us[t->robots[r]] += t->lap_us;
    }
}

/* ---- list scheduling ---- */

static int64_t bound_with(struct growth *g, size_t task, size_t place)
{
    const struct undo undo = save_state(g, task);
    append_task(g, task, place);
    const int64_t bound_us = bound_rest(g);
    drop_task(g, task, &undo);
    return bound_us;
}

/* The next task: with foresight the one that leaves the lowest bound; then the one that can
 * begin first, which leaves no robot idle now; then the most urgent one. */
static size_t choose_next(struct growth *g, size_t place, bool foresight)
{
    size_t best = g->count;
    int64_t best_us[3] = {0};
    for (size_t i = 0; i < g->count; i++) {
        if (!is_ready(g, i)) {
            continue;
        }
        const int64_t us[3] = {foresight ? bound_with(g, i, place) : 0, first_start(g, i),
                               -find_urgency(g, i)};
        size_t k = 0;
        while (k < 2 && us[k] == best_us[k]) {
            k++;
        }
        if (best == g->count || us[k] < best_us[k]) {
            best = i;
            memcpy(best_us, us, sizeof us);
        }
    }
    return best;
}

static void make_list(const struct team_plan_task *tasks, size_t count, bool foresight,
                      struct team_plan *plan)
{
    struct growth g;
    start_growth(&g, tasks, count);
    for (size_t place = 0; place < count; place++) {
        append_task(&g, choose_next(&g, place, foresight), place);
    }
    *plan = g.plan;
}

void team_plan_list(const struct team_plan_task *tasks, size_t count, struct team_plan *plan)
{
    struct team_plan foreseen;
    make_list(tasks, count, false, plan);
    make_list(tasks, count, true, &foreseen);
    if (foreseen.length_us < plan->length_us) {
        *plan = foreseen;
    }
}

/* ---- branch and bound ---- */

/* Every plan in which no task could begin earlier is met by some order of appending. */
// NOLINTNEXTLINE(misc-no-recursion)
static void search_rest(struct growth *g, size_t place, struct team_plan *best)
{
    if (bound_rest(g) >= best->length_us) {
        return;
    }
    if (place == g->count) {
        *best = g->plan;
        return;
    }
    for (size_t i = 0; i < g->count; i++) {
        if (is_ready(g, i)) {
            const struct undo undo = save_state(g, i);
            append_task(g, i, place);
            search_rest(g, place + 1, best);
            drop_task(g, i, &undo);
        }
    }
}

void team_plan_optimum(const struct team_plan_task *tasks, size_t count, struct team_plan *plan)
{
    struct growth g;
    team_plan_list(tasks, count, plan);
    start_growth(&g, tasks, count);
    search_rest(&g, 0, plan);
}

/* ---- other durations ---- */

void team_plan_draw(const struct team_plan_task *tasks, const struct team_plan *plan,
                    double spread, struct random_source *source,
                    struct team_plan_course *course)
{
    struct growth g;
    start_growth(&g, tasks, plan->task_count);
    *course = (struct team_plan_course){0};
    for (size_t place = 0; place < plan->task_count; place++) {
        const size_t task = plan->order[place];
        const struct team_plan_task *t = &tasks[task];
        const int64_t planned_us = plan->start_us[task];
        const int64_t start_us = pick_later(planned_us, first_start(&g, task));
        const double ratio = random_between(source, 1.0 - spread, 1.0 + spread);
        g.end_us[task] = start_us + llround((double)t->lap_us * ratio);
        for (size_t r = 0; r < t->robot_count; r++) {
            int64_t *free_us = &g.free_us[t->robots[r]];
            course->waited_us += start_us - pick_later(planned_us, *free_us);
            *free_us = g.end_us[task];
        }
        course->length_us = pick_later(course->length_us, g.end_us[task]);
    }
}
