#include "service/daemon/views.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"

/* What a snapshot holds of a pair. */
enum part { PART_PAIR, PART_DYNAMICS, PART_FOLLOWING, PART_COUNT };

/* What was computed from a pair's window, for as long as it stays. */
struct kept_fits {
    _Atomic uint32_t holders;
    struct pair_fits fits;
};

/* One part of one pair as it was; shared by all snapshots in which it has not changed. */
struct copy {
    _Atomic uint32_t holders;
    uint64_t version;
    struct kept_fits *fits; /* of a pair: once somebody has asked; under fits_lock */
    _Alignas(max_align_t) unsigned char state[];
};

struct snapshot {
    struct view view; /* first member: what readers get */
    struct views *views;
    _Atomic uint32_t holders;
    struct copy **copies[PART_COUNT]; /* [pair_count], NULL: none; NULL when no pair has one */
    /* [pair_count] the same, as readers see them */
    const struct pair **pairs;
    const struct pair_dynamics **dynamics; /* the head without the samples */
    const struct pair_following **following;
};

struct views {
    const struct lab *lab;
    struct view base;     /* what all snapshots have in common */
    bool has[PART_COUNT]; /* of any pair */
    pthread_mutex_t fits_lock;
    pthread_mutex_t lock;
    struct snapshot *newest; /* under the lock */
    struct views_counts counts;
};

static void drop_fits(struct kept_fits *fits)
{
    if (fits && atomic_fetch_sub_explicit(&fits->holders, 1, memory_order_acq_rel) == 1) {
        free(fits);
    }
}

static void drop_copy(struct copy *copy)
{
    if (copy && atomic_fetch_sub_explicit(&copy->holders, 1, memory_order_acq_rel) == 1) {
        drop_fits(copy->fits);
        free(copy);
    }
}

static void drop_snapshot(struct snapshot *snapshot)
{
    if (atomic_fetch_sub_explicit(&snapshot->holders, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (int part = 0; part < PART_COUNT; part++) {
        for (size_t i = 0; snapshot->copies[part] && i < snapshot->view.pair_count; i++) {
            drop_copy(snapshot->copies[part][i]);
        }
        free(snapshot->copies[part]);
    }
    free(snapshot->pairs);
    free(snapshot->dynamics);
    free(snapshot->following);
    free(snapshot);
}

/* The view is the snapshot's first member, and no snapshot was made const. */
static struct snapshot *snapshot_of(const struct view *view)
{
    union {
        const struct view *view;
        struct snapshot *snapshot;
    } held = {.view = view};
    return held.snapshot;
}

/* Any thread. Two that ask at once may both compute; one result is kept. */
static void read_fits(const struct view *view, size_t pair, struct pair_fits *out)
{
    struct snapshot *snapshot = snapshot_of(view);
    struct copy *copy = snapshot->copies[PART_PAIR][pair];
    pthread_mutex_t *lock = &snapshot->views->fits_lock;
    (void)pthread_mutex_lock(lock);
    const struct kept_fits *kept = copy->fits;
    (void)pthread_mutex_unlock(lock);
    if (kept) {
        *out = kept->fits;
        return;
    }
    pair_fit_window(view->pairs[pair], &view->params[pair], out);
    struct kept_fits *made = malloc(sizeof *made);
    if (!made) {
        return;
    }
    atomic_init(&made->holders, 1);
    made->fits = *out;
    (void)pthread_mutex_lock(lock);
    if (!copy->fits) {
        copy->fits = made;
        made = NULL;
    }
    (void)pthread_mutex_unlock(lock);
    free(made);
}

/* The part as it stands; NULL: the pair has none. */
static const void *find_part(const struct lab *lab, enum part part, size_t i, uint64_t *version,
                             size_t *bytes)
{
    const struct pair_dynamics *dynamics = NULL;
    const struct pair_following *following = NULL;
    switch (part) {
    case PART_DYNAMICS:
        dynamics = lab_dynamics(lab, i);
        *version = dynamics ? dynamics->version : 0;
        *bytes = sizeof *dynamics;
        return dynamics;
    case PART_FOLLOWING:
        following = lab_following(lab, i);
        *version = following ? following->version : 0;
        *bytes = sizeof *following;
        return following;
    case PART_PAIR:
    case PART_COUNT:
        break;
    }
    *version = lab_pair(lab, i)->version;
    *bytes = pair_bytes(lab_pair_params(lab, i));
    return lab_pair(lab, i);
}

/* A holder of before when it is of this version, else a new one; NULL: no memory. */
static struct copy *take_copy(const void *state, uint64_t version, size_t bytes,
                              struct copy *before, uint64_t *copied)
{
    if (before && before->version == version) {
        atomic_fetch_add_explicit(&before->holders, 1, memory_order_relaxed);
        return before;
    }
    struct copy *copy = malloc(sizeof *copy + bytes);
    if (copy) {
        atomic_init(&copy->holders, 1);
        copy->version = version;
        copy->fits = NULL;
        memcpy(copy->state, state, bytes);
        (*copied)++;
    }
    return copy;
}

static uint64_t window_version(const struct copy *copy)
{
    return ((const struct pair *)(const void *)copy->state)->window_version;
}

/* A pair moves less often than it changes: what was computed from its moves still holds. */
static void share_fits(struct views *views, const struct copy *before, struct copy *copy)
{
    if (before && copy != before && window_version(before) == window_version(copy)) {
        (void)pthread_mutex_lock(&views->fits_lock);
        copy->fits = before->fits;
        if (copy->fits) {
            atomic_fetch_add_explicit(&copy->fits->holders, 1, memory_order_relaxed);
        }
        (void)pthread_mutex_unlock(&views->fits_lock);
    }
}

static void show_part(struct snapshot *snapshot, enum part part, size_t i)
{
    const void *state = snapshot->copies[part][i]->state;
    if (part == PART_PAIR) {
        snapshot->pairs[i] = state;
    } else if (part == PART_DYNAMICS) {
        snapshot->dynamics[i] = state;
    } else {
        snapshot->following[i] = state;
    }
}

/* False when memory ran out; what there is stands in the snapshot. */
static bool add_part(struct views *views, const struct snapshot *before,
                     struct snapshot *snapshot, enum part part, uint64_t *copied)
{
    const size_t n = views->base.pair_count;
    uint64_t others = 0; /* copies of pairs are counted */
    if (!views->has[part]) {
        return true;
    }
    snapshot->copies[part] = calloc(n, sizeof(void *));
    for (size_t i = 0; snapshot->copies[part] && i < n; i++) {
        uint64_t version = 0;
        size_t bytes = 0;
        const void *state = find_part(views->lab, part, i, &version, &bytes);
        if (!state) {
            continue;
        }
        snapshot->copies[part][i] =
            take_copy(state, version, bytes, before ? before->copies[part][i] : NULL,
                      part == PART_PAIR ? copied : &others);
        if (!snapshot->copies[part][i]) {
            return false;
        }
        if (part == PART_PAIR) {
            share_fits(views, before ? before->copies[part][i] : NULL,
                       snapshot->copies[part][i]);
        }
        show_part(snapshot, part, i);
    }
    return snapshot->copies[part] != NULL;
}

static bool make_room(const struct views *views, struct snapshot *snapshot)
{
    const size_t n = views->base.pair_count;
    snapshot->pairs = calloc(n, sizeof(void *));
    snapshot->dynamics = views->has[PART_DYNAMICS] ? calloc(n, sizeof(void *)) : NULL;
    snapshot->following = views->has[PART_FOLLOWING] ? calloc(n, sizeof(void *)) : NULL;
    snapshot->view.pairs = snapshot->pairs;
    snapshot->view.dynamics = snapshot->dynamics;
    snapshot->view.following = snapshot->following;
    return snapshot->pairs && !(views->has[PART_DYNAMICS] && !snapshot->dynamics) &&
           !(views->has[PART_FOLLOWING] && !snapshot->following);
}

static struct snapshot *make_snapshot(struct views *views, const struct snapshot *before,
                                      uint64_t *copied)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot) {
        return NULL;
    }
    snapshot->view = views->base;
    snapshot->views = views;
    atomic_init(&snapshot->holders, 1);
    bool whole = make_room(views, snapshot);
    for (enum part part = PART_PAIR; whole && part < PART_COUNT; part++) {
        whole = add_part(views, before, snapshot, part, copied);
    }
    if (!whole) {
        drop_snapshot(snapshot);
        return NULL;
    }
    return snapshot;
}

static void find_parts(const struct lab *lab, bool has[PART_COUNT])
{
    for (size_t i = 0; i < lab_pair_count(lab); i++) {
        has[PART_DYNAMICS] = has[PART_DYNAMICS] || lab_dynamics(lab, i);
        has[PART_FOLLOWING] = has[PART_FOLLOWING] || lab_following(lab, i);
    }
    has[PART_PAIR] = true;
}

enum status views_create(const struct lab *lab, const char *lab_name, const char *prefix,
                         int64_t started_us, struct views **out)
{
    struct views *views = calloc(1, sizeof *views);
    if (!views) {
        return STATUS_E_NOMEM;
    }
    views->lab = lab;
    find_parts(lab, views->has);
    views->base = (struct view){.t_us = started_us,
                                .started_us = started_us,
                                .lab_name = lab_name,
                                .prefix = prefix,
                                .pair_count = lab_pair_count(lab),
                                .params = lab_pair_params(lab, 0),
                                .fits = read_fits};
    views->newest = make_snapshot(views, NULL, &views->counts.copied);
    if (!views->newest) {
        free(views);
        return STATUS_E_NOMEM;
    }
    lock_init(&views->lock);
    lock_init(&views->fits_lock);
    *out = views;
    return STATUS_OK;
}

void views_destroy(struct views *views)
{
    if (views) {
        assert(atomic_load(&views->newest->holders) == 1);
        drop_snapshot(views->newest);
        (void)pthread_mutex_destroy(&views->lock);
        (void)pthread_mutex_destroy(&views->fits_lock);
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
    drop_snapshot(snapshot_of(view));
}

void views_read_counts(struct views *views, struct views_counts *out)
{
    (void)pthread_mutex_lock(&views->lock);
    *out = views->counts;
    (void)pthread_mutex_unlock(&views->lock);
}
