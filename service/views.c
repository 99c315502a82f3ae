#include "service/views.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* One pair as it was; shared by all snapshots in which it has not changed. */
struct pair_copy {
    _Atomic uint32_t holders;
    struct pair pair;
};

/* Likewise its dynamics, the head without the samples. */
struct dynamics_copy {
    _Atomic uint32_t holders;
    struct pair_dynamics dynamics;
};

struct snapshot {
    struct view view; /* first member: what readers get */
    _Atomic uint32_t holders;
    struct pair_copy **copies; /* [pair_count] */
    const struct pair **pairs; /* [pair_count] the same, as readers see them */
    struct dynamics_copy *
        *dynamics_copies; /* [pair_count], NULL: none; NULL when no pair has */
    const struct pair_dynamics **dynamics;
};

struct views {
    const struct lab *lab;
    struct view base;  /* what all snapshots have in common */
    bool has_dynamics; /* of any pair */
    pthread_mutex_t lock;
    struct snapshot *newest; /* under the lock */
    struct views_counts counts;
};

static void drop_copy(struct pair_copy *copy)
{
    if (copy && atomic_fetch_sub_explicit(&copy->holders, 1, memory_order_acq_rel) == 1) {
        free(copy);
    }
}

static void drop_dynamics(struct dynamics_copy *copy)
{
    if (copy && atomic_fetch_sub_explicit(&copy->holders, 1, memory_order_acq_rel) == 1) {
        free(copy);
    }
}

static void drop_snapshot(struct snapshot *snapshot)
{
    if (atomic_fetch_sub_explicit(&snapshot->holders, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < snapshot->view.pair_count; i++) {
        drop_copy(snapshot->copies[i]);
    }
    for (size_t i = 0; snapshot->dynamics_copies && i < snapshot->view.pair_count; i++) {
        drop_dynamics(snapshot->dynamics_copies[i]);
    }
    free(snapshot->dynamics_copies);
    free(snapshot->dynamics);
    free(snapshot->copies);
    free(snapshot->pairs);
    free(snapshot);
}

static struct pair_copy *copy_pair(const struct pair *pair)
{
    struct pair_copy *copy = malloc(sizeof *copy);
    if (copy) {
        atomic_init(&copy->holders, 1);
        copy->pair = *pair;
    }
    return copy;
}

static struct dynamics_copy *copy_dynamics(const struct pair_dynamics *dynamics,
                                           struct dynamics_copy *before)
{
    if (before && before->dynamics.version == dynamics->version) {
        atomic_fetch_add_explicit(&before->holders, 1, memory_order_relaxed);
        return before;
    }
    struct dynamics_copy *copy = malloc(sizeof *copy);
    if (copy) {
        atomic_init(&copy->holders, 1);
        copy->dynamics = *dynamics;
    }
    return copy;
}

static bool has_dynamics(const struct lab *lab)
{
    for (size_t i = 0; i < lab_pair_count(lab); i++) {
        if (lab_dynamics(lab, i)) {
            return true;
        }
    }
    return false;
}

/* False when memory ran out; what there is stands in the snapshot. */
static bool add_dynamics(const struct views *views, const struct snapshot *before,
                         struct snapshot *snapshot)
{
    const size_t n = views->base.pair_count;
    bool whole = true;
    if (!views->has_dynamics) {
        return true;
    }
    snapshot->dynamics_copies = calloc(n, sizeof(void *));
    snapshot->dynamics = calloc(n, sizeof(void *));
    snapshot->view.dynamics = snapshot->dynamics;
    whole = snapshot->dynamics_copies && snapshot->dynamics;
    for (size_t i = 0; whole && i < n; i++) {
        const struct pair_dynamics *now = lab_dynamics(views->lab, i);
        if (now) {
            snapshot->dynamics_copies[i] =
                copy_dynamics(now, before ? before->dynamics_copies[i] : NULL);
            whole = snapshot->dynamics_copies[i] != NULL;
            snapshot->dynamics[i] = whole ? &snapshot->dynamics_copies[i]->dynamics : NULL;
        }
    }
    return whole;
}

static struct snapshot *make_snapshot(const struct views *views, const struct snapshot *before,
                                      uint64_t *copied)
{
    const size_t n = views->base.pair_count;
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot) {
        return NULL;
    }
    snapshot->view = views->base;
    atomic_init(&snapshot->holders, 1);
    snapshot->copies = calloc(n, sizeof(void *));
    snapshot->pairs = calloc(n, sizeof(void *));
    snapshot->view.pairs = snapshot->pairs;
    bool whole = snapshot->copies && snapshot->pairs;
    for (size_t i = 0; whole && i < n; i++) {
        const struct pair *now = lab_pair(views->lab, i);
        if (before && before->copies[i]->pair.version == now->version) {
            snapshot->copies[i] = before->copies[i];
            atomic_fetch_add_explicit(&snapshot->copies[i]->holders, 1, memory_order_relaxed);
        } else {
            snapshot->copies[i] = copy_pair(now);
            (*copied)++;
        }
        whole = snapshot->copies[i] != NULL;
        snapshot->pairs[i] = whole ? &snapshot->copies[i]->pair : NULL;
    }
    whole = whole && add_dynamics(views, before, snapshot);
    if (whole) {
        return snapshot;
    }
    if (!snapshot->copies) {
        snapshot->view.pair_count = 0;
    }
    drop_snapshot(snapshot);
    return NULL;
}

enum status views_create(const struct lab *lab, const char *lab_name, const char *prefix,
                         int64_t started_us, struct views **out)
{
    struct views *views = calloc(1, sizeof *views);
    if (!views) {
        return STATUS_E_NOMEM;
    }
    views->lab = lab;
    views->has_dynamics = has_dynamics(lab);
    views->base = (struct view){.t_us = started_us,
                                .started_us = started_us,
                                .lab_name = lab_name,
                                .prefix = prefix,
                                .pair_count = lab_pair_count(lab),
                                .params = lab_pair_params(lab, 0)};
    views->newest = make_snapshot(views, NULL, &views->counts.copied);
    if (!views->newest) {
        free(views);
        return STATUS_E_NOMEM;
    }
    (void)pthread_mutex_init(&views->lock, NULL);
    *out = views;
    return STATUS_OK;
}

void views_destroy(struct views *views)
{
    if (views) {
        assert(atomic_load(&views->newest->holders) == 1);
        drop_snapshot(views->newest);
        (void)pthread_mutex_destroy(&views->lock);
        free(views);
    }
}

void views_publish(struct views *views, int64_t t_us, const struct view_health *health)
{
    /* Only this thread replaces newest, so it may read it without the lock. */
    struct snapshot *const before = views->newest;
    uint64_t copied = 0;
    struct snapshot *const snapshot = make_snapshot(views, before, &copied);
    if (snapshot) {
        snapshot->view.t_us = t_us;
        snapshot->view.counts = *lab_counts(views->lab);
        snapshot->view.health = *health;
    }
    (void)pthread_mutex_lock(&views->lock);
    views->counts.copied += copied;
    if (snapshot) {
        views->newest = snapshot;
        views->counts.published++;
    } else {
        views->counts.failed++;
    }
    (void)pthread_mutex_unlock(&views->lock);
    if (snapshot) {
        drop_snapshot(before);
    }
}

const struct view *views_acquire(struct views *views)
{
    (void)pthread_mutex_lock(&views->lock);
    struct snapshot *const snapshot = views->newest;
    atomic_fetch_add_explicit(&snapshot->holders, 1, memory_order_relaxed);
    (void)pthread_mutex_unlock(&views->lock);
    return &snapshot->view;
}

void views_release(struct views *views, const struct view *view)
{
    (void)views;
    /* The view is the snapshot's first member, and no snapshot was made const. */
    union {
        const struct view *view;
        struct snapshot *snapshot;
    } held = {.view = view};
    drop_snapshot(held.snapshot);
}

void views_read_counts(struct views *views, struct views_counts *out)
{
    (void)pthread_mutex_lock(&views->lock);
    *out = views->counts;
    (void)pthread_mutex_unlock(&views->lock);
}
