#include "twin/team/check/team_untimed.h"

#include <stdlib.h>
#include <string.h>

#include "twin/team/step/team_parts.h"

/* Later than any step of the model checker, but not "never". */
#define FAR_US (INT64_C(1) << 60)

/* A head start, and the distance of an instant from the previous one if nothing is near. */
#define HEAD_START_US (INT64_C(1) << 44)
#define STRIDE_US     (INT64_C(1) << 24)
/* The next instant is this fraction of the distance to the nearest time. */
enum { GAP_PARTS = 16 };

/* Copies count items, so that they can be changed. */
static bool copy_items(struct checker_memory *memory, struct team_array *array,
                       const void *items, size_t count, size_t item_bytes)
{
    if (!team_array_reserve(memory, array, count + 1, item_bytes)) {
        return false;
    }
    if (count > 0) {
        memcpy(array->items, items, count * item_bytes);
    }
    array->count = count;
    return true;
}

/* ---- head starts ---- */

static bool add_start(struct team_untimed *u, int64_t start)
{
    for (size_t i = 0; i < u->start_count; i++) {
        if (u->starts[i] == start) {
            return true;
        }
    }
    if (u->start_count == TEAM_STARTS_MAX) {
        u->inexact = true;
        return false;
    }
    u->starts[u->start_count++] = start;
    return true;
}

/* A request of priority q, made at time a, is overtaken by one of priority p until a + (p - q)
 * h, with p and q the priorities. Which of two such times comes first is decided when the later
 * request comes: at p - (r - q), for each r above its priority q. */
static void list_starts(struct team_untimed *u)
{
    const struct team_params *p = &u->p;
    int64_t low = INT64_MAX;
    int64_t high = 0;
    for (size_t i = 0; i < p->robot_count; i++) {
        low = p->robots[i].priority < low ? p->robots[i].priority : low;
        high = p->robots[i].priority > high ? p->robots[i].priority : high;
    }
    if (p->head_start_us == 0 || low >= high) {
        u->p.head_start_us = 0;
        return;
    }
    u->p.head_start_us = HEAD_START_US < FAR_US / 4 / high ? HEAD_START_US : FAR_US / 4 / high;
    for (size_t i = 0; i < p->robot_count && add_start(u, p->robots[i].priority); i++) {
    }
    const size_t own = u->start_count;
    for (size_t i = 0; i < own * own * own && !u->inexact; i++) {
        const int64_t q = u->starts[i % own];
        const int64_t r = u->starts[i / own % own];
        const int64_t start = u->starts[i / own / own] - (r - q);
        if (r > q && start > low) {
            (void)add_start(u, start);
        }
    }
}

/* The end of a head start of a waiting request. */
struct due {
    int64_t at_us;
    uint16_t robot;
    uint8_t start;
};

static int compare_dues(const void *a, const void *b)
{
    const struct due *x = a;
    const struct due *y = b;
    if (x->at_us != y->at_us) {
        return x->at_us < y->at_us ? -1 : 1;
    }
    return x->robot != y->robot ? x->robot - y->robot : x->start - y->start;
}

/* Lists the future ends in order into dues[TEAM_TIMES_MAX]; returns their number. */
static size_t list_dues(const struct team_untimed *u, const struct team_work *w, int64_t now_us,
                        struct due *dues)
{
    size_t count = 0;
    for (uint16_t r = 0; r < u->p.robot_count && u->start_count > 0; r++) {
        const struct team_member *m = &w->members[r];
        for (size_t i = 0; m->phase == TEAM_PHASE_WAITING && i < u->start_count; i++) {
            const int64_t at_us = m->request.key_us + u->starts[i] * u->p.head_start_us;
            if (at_us > now_us) {
                dues[count++] = (struct due){at_us, r, (uint8_t)i};
            }
        }
    }
    if (count > 1) {
        qsort(dues, count, sizeof *dues, compare_dues);
    }
    return count;
}

size_t team_untimed_times(const struct team_untimed *u, const struct team *team, int64_t now_us,
                          int64_t *times, bool *inexact)
{
    const struct team_work w = team_at_work(team);
    struct due dues[TEAM_TIMES_MAX];
    const size_t due_count = list_dues(u, &w, now_us, dues);
    size_t count = 0;
    int64_t at_us = now_us;
    for (size_t i = 0; i < due_count; i++) {
        const int64_t gap_us = dues[i].at_us - at_us;
        if (gap_us == 0) {
            continue;
        }
        if (gap_us > 1) {
            const int64_t part_us = gap_us / GAP_PARTS < 1 ? 1 : gap_us / GAP_PARTS;
            times[count++] = at_us + (part_us < STRIDE_US ? part_us : STRIDE_US);
        } else {
            *inexact = true;
        }
        at_us = dues[i].at_us;
        times[count++] = at_us;
    }
    times[count++] = at_us + (u->start_count > 0 ? STRIDE_US : 1);
    return count;
}

bool team_untimed_make(struct checker_memory *memory, const struct team_params *p, bool leases,
                       struct team_untimed *u)
{
    *u = (struct team_untimed){.p = *p};
    if (!copy_items(memory, &u->tasks, p->tasks, p->task_count, sizeof *p->tasks) ||
        !copy_items(memory, &u->resources, p->resources, p->resource_count,
                    sizeof *p->resources) ||
        !copy_items(memory, &u->steps, p->steps, p->step_count, sizeof *p->steps)) {
        return false;
    }
    struct team_task_params *tasks = u->tasks.items;
    struct team_resource_params *resources = u->resources.items;
    struct team_step *steps = u->steps.items;
    for (size_t i = 0; i < p->task_count; i++) {
        tasks[i].window = (struct team_window){.max_us = LAB_TIME_MAX};
    }
    for (size_t i = 0; i < p->resource_count; i++) {
        resources[i].delay_us = resources[i].delay_us > 0 ? FAR_US : 0;
        resources[i].lease_us = leases && resources[i].lease_us > 0 ? FAR_US : 0;
    }
    for (size_t i = 0; i < p->step_count; i++) {
        steps[i].retry_us = steps[i].retry_us > 0 ? FAR_US : 0;
    }
    u->p.tasks = tasks;
    u->p.resources = resources;
    u->p.steps = steps;
    list_starts(u);
    return true;
}

void team_untimed_free(struct checker_memory *memory, struct team_untimed *u)
{
    team_array_free(memory, &u->tasks, sizeof(struct team_task_params));
    team_array_free(memory, &u->resources, sizeof(struct team_resource_params));
    team_array_free(memory, &u->steps, sizeof(struct team_step));
}

size_t team_used_bytes(const struct team_params *p, const struct team *team)
{
    return team->jobs_at + p->job_count * sizeof(struct team_job);
}

/* ---- due events
 * --------------------------------------------------------------------------- */

void team_hurry_delay(struct team *team, uint16_t resource, int64_t t_us)
{
    const struct team_work w = team_at_work(team);
    w.places[resource].free_at_us = t_us;
    team_set_timer(&w, team_slot_of_delay(&w, resource), TEAM_DUE_DELAY, t_us);
}

void team_hurry_retry(struct team *team, uint16_t robot, int64_t t_us)
{
    const struct team_work w = team_at_work(team);
    team_set_timer(&w, team_slot_of_robot(&w, robot), TEAM_DUE_RETRY, t_us);
}

/* Is the resource held under a lease that has not ended? */
static bool has_lease(const struct team_work *w, uint32_t hold)
{
    return w->slots[team_slot_of_lease(w, hold)] != 0;
}

void team_hurry_leases(struct team *team, uint16_t robot, int64_t t_us)
{
    const struct team_work w = team_at_work(team);
    struct team_member *m = &w.members[robot];
    m->last_message_us = t_us - FAR_US;
    for (uint32_t h = m->first_hold; h != TEAM_NO_HOLD; h = w.holds[h].next) {
        if (has_lease(&w, h)) {
            team_set_timer(&w, team_slot_of_lease(&w, h), TEAM_DUE_LEASE, t_us);
        }
    }
}

bool team_has_lease(const struct team *team, uint16_t robot)
{
    const struct team_work w = team_at_work(team);
    bool has = false;
    for (uint32_t h = w.members[robot].first_hold; h != TEAM_NO_HOLD && !has;
         h = w.holds[h].next) {
        has = has_lease(&w, h);
    }
    return has;
}

/* ---- the key ---- */

struct writer {
    uint8_t *at;
};

static void write_u16(struct writer *k, uint16_t value)
{
    memcpy(k->at, &value, sizeof value);
    k->at += sizeof value;
}

static void write_u32(struct writer *k, uint32_t value)
{
    memcpy(k->at, &value, sizeof value);
    k->at += sizeof value;
}

enum {
    ROBOT_BYTES = 40 + 8 * TEAM_LOOPS_MAX,
    RESOURCE_BYTES = 8,
    JOB_BYTES = 6,
    DUE_BYTES = 4
};

size_t team_key_max(const struct team_untimed *u)
{
    const struct team_params *p = &u->p;
    size_t units = 0;
    for (size_t i = 0; i < p->resource_count; i++) {
        units += p->resources[i].capacity;
    }
    return p->robot_count * (ROBOT_BYTES + 2 * TEAM_WANT_MAX) + 3 * units +
           p->resource_count * RESOURCE_BYTES + p->list_count + TEAM_JOBS_MAX * JOB_BYTES +
           16 * p->name_count + DUE_BYTES * p->robot_count * u->start_count + 64;
}

static void write_robot(struct writer *k, const struct team_work *w, uint16_t robot)
{
    const struct team_member *m = &w->members[robot];
    *k->at++ = (uint8_t)(m->online | m->silent << 1 | m->seen << 2 | m->again << 3);
    write_u16(k, m->part);
    write_u16(k, m->tool);
    write_u16(k, m->sequence);
    write_u32(k, m->step);
    write_u32(k, m->cycles);
    *k->at++ = m->loop_depth;
    for (size_t i = 0; i < m->loop_depth; i++) {
        write_u32(k, m->loops[i].step);
        write_u32(k, m->loops[i].rounds);
    }
    write_u16(k, m->phase == TEAM_PHASE_WAITING || m->again ? m->request.got : 0);
    write_u16(k, m->phase == TEAM_PHASE_ACTIVE || m->phase == TEAM_PHASE_JOINED ? m->partner
                                                                                : TEAM_NONE);
}

/* Writes the owners in the order of robots, each with or without lease, and the queue in
 * order. */
static void write_resource(struct writer *k, const struct team_work *w, uint16_t resource)
{
    const struct team_place *place = &w->places[resource];
    *k->at++ = place->free_at_us > w->team->t_us;
    write_u16(k, place->held);
    for (uint16_t r = 0, remaining = place->held; remaining > 0 && r < w->p->robot_count; r++) {
        const uint32_t hold = team_find_hold(w, r, resource);
        if (hold != TEAM_NO_HOLD) {
            write_u16(k, r);
            *k->at++ = has_lease(w, hold);
            remaining--;
        }
    }
    uint16_t queue[TEAM_ROBOTS_MAX];
    const size_t length = team_queue(w->team, resource, queue, COUNT(queue));
    write_u16(k, (uint16_t)length);
    for (size_t i = 0; i < length; i++) {
        write_u16(k, queue[i]);
    }
}

/* If a Lock takes its resources one after the other, the time of the request decides the place
 * in queues not yet joined. So the key has the order of all waiting requests. */
static void write_waiting(struct writer *k, const struct team_work *w)
{
    uint16_t order[TEAM_ROBOTS_MAX];
    size_t count = 0;
    bool more = false;
    TEAM_EACH(r, &w->team->waiting)
    {
        const struct team_request *q = &w->members[r].request;
        const unsigned all = (1U << q->count) - 1;
        size_t at = count++;
        for (; at > 0; at--) {
            const struct team_request *before = &w->members[order[at - 1]].request;
            if (before->key_us <= q->key_us) {
                break;
            }
            order[at] = order[at - 1];
        }
        order[at] = r;
        more = more || ((q->got | team_queued(w, q)) & all) != all;
    }
    for (size_t i = 0; i < count && more; i++) {
        write_u16(k, order[i]);
    }
    *k->at++ = more;
}

/* Writes the order in which waiting requests will be overtaken. */
static void write_dues(struct writer *k, const struct team_untimed *u,
                       const struct team_work *w)
{
    struct due dues[TEAM_TIMES_MAX];
    const size_t count = list_dues(u, w, w->team->t_us, dues);
    write_u16(k, (uint16_t)count);
    for (size_t i = 0; i < count; i++) {
        write_u16(k, dues[i].robot);
        *k->at++ = dues[i].start;
        *k->at++ = i > 0 && dues[i].at_us == dues[i - 1].at_us;
    }
}

static void write_meetings(struct writer *k, const struct team_work *w)
{
    for (uint16_t m = w->team->first_meeting; m != TEAM_NONE; m = w->meetings[m].behind) {
        write_u16(k, m);
        write_u16(k, w->meetings[m].count);
        for (uint16_t r = w->meetings[m].first; r != TEAM_NONE; r = w->members[r].behind_here) {
            write_u16(k, r);
        }
    }
    write_u16(k, TEAM_NONE);
}

size_t team_key(const struct team_untimed *u, const struct team *team, uint8_t *key)
{
    const struct team_work w = team_at_work(team);
    const struct team_params *p = w.p;
    struct writer k = {key};
    for (uint16_t r = 0; r < p->robot_count; r++) {
        *k.at++ = w.members[r].phase;
    }
    for (uint16_t r = 0; r < p->robot_count; r++) {
        write_robot(&k, &w, r);
    }
    for (uint16_t i = 0; i < p->resource_count; i++) {
        write_resource(&k, &w, i);
    }
    write_waiting(&k, &w);
    if (u->start_count > 0) {
        write_dues(&k, u, &w);
    }
    write_meetings(&k, &w);
    if (p->buffer_count > 0) {
        memcpy(k.at, (const uint8_t *)team + team->gone_at, p->list_count);
        k.at += p->list_count;
    }
    write_u16(&k, (uint16_t)team->job_count);
    for (uint32_t i = 0; i < team->job_count; i++) {
        write_u16(&k, w.jobs[i].part);
        write_u16(&k, w.jobs[i].sequence);
        write_u16(&k, w.jobs[i].home);
    }
    return (size_t)(k.at - key);
}
