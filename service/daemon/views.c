#include "service/daemon/views.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"

/* What was computed from a pair's window, for as long as it stays. */
struct kept_fits {
    uint64_t window_version;
    struct pair_fits fits;
};

/* One part of one pair as it was; shared by all snapshots in which it has not changed. */
struct copy {
    _Atomic uint32_t holders;
    uint64_t version;
    _Alignas(max_align_t) unsigned char state[];
};

enum { PART_COUNT = 3 }; /* of a pair: itself, its dynamics, its following */

struct snapshot {
    struct view view; /* first member: what readers get */
    struct views *views;
    _Atomic uint32_t holders;
    /* [pair_count] the copies, as readers see them */
    const struct pair **pairs;
    const struct pair_dynamics **dynamics; /* the head without the samples */
    const struct pair_following **following;
    const struct crew **crews;
    struct copy *copies[]; /* [PART_COUNT * pair_count + team_count] NULL: none; the four lie
                            * behind it */
};

static size_t count_copies(const struct view *view)
{
    return PART_COUNT * view->pair_count + view->team_count;
}

struct views {
    const struct lab *lab;
    struct view base; /* what all snapshots have in common */
    pthread_mutex_t fits_lock;
    struct kept_fits **kept; /* [pair_count] under fits_lock; NULL: nobody has asked yet */
    pthread_mutex_t lock;
    struct snapshot *newest; /* under the lock */
    struct views_counts counts;
};

static void drop_copy(struct copy *copy)
{
    if (copy && atomic_fetch_sub_explicit(&copy->holders, 1, memory_order_acq_rel) == 1) {
        free(copy);
    }
}

static void drop_snapshot(struct snapshot *snapshot)
{
    if (atomic_fetch_sub_explicit(&snapshot->holders, 1, memory_order_acq_rel) == 1) {
        for (size_t k = 0; k < count_copies(&snapshot->view); k++) {
            drop_copy(snapshot->copies[k]);
        }
        free(snapshot);
    }
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

static void keep_fits(struct views *views, size_t pair, uint64_t version,
                      const struct pair_fits *fits)
{
    (void)pthread_mutex_lock(&views->fits_lock);
    struct kept_fits *kept = views->kept[pair];
    if (!kept) {
        kept = views->kept[pair] = calloc(1, sizeof *kept);
    }
    if (kept && kept->window_version <= version) {
        *kept = (struct kept_fits){version, *fits};
    }
    (void)pthread_mutex_unlock(&views->fits_lock);
}

/* A pair moves less often than it changes: what was computed from its moves still holds. Two
 * that ask at once may both compute. */
void views_fits(struct views *views, size_t index, const struct pair *pair,
                struct pair_fits *out)
{
    const uint64_t version = pair->window_version;
    (void)pthread_mutex_lock(&views->fits_lock);
    const struct kept_fits *kept = views->kept[index];
    const bool known = kept && kept->window_version == version;
    if (known) {
        *out = kept->fits;
    }
    (void)pthread_mutex_unlock(&views->fits_lock);
    if (!known) {
        pair_fit_window(pair, &views->base.params[index], out);
        keep_fits(views, index, version, out);
    }
}

static void read_fits(const struct view *view, size_t pair, struct pair_fits *out)
{
    views_fits(snapshot_of(view)->views, pair, view->pairs[pair], out);
}

/* State k as it is now, in the copy of before when it is of this version; NULL: no memory. */
static const void *take_copy(struct snapshot *snapshot, const struct snapshot *before, size_t k,
                             const void *state, uint64_t version, size_t bytes)
{
    struct copy *copy = before ? before->copies[k] : NULL;
    if (copy && copy->version == version) {
        atomic_fetch_add_explicit(&copy->holders, 1, memory_order_relaxed);
    } else {
        copy = malloc(sizeof *copy + bytes);
        if (!copy) {
            return NULL;
        }
        atomic_init(&copy->holders, 1);
        copy->version = version;
        memcpy(copy->state, state, bytes);
    }
    snapshot->copies[k] = copy;
    return copy->state;
}

/* False when memory ran out; what there is stands in the snapshot. */
static bool take_pair(struct snapshot *s, const struct snapshot *before, size_t i)
{
    const size_t n = s->view.pair_count;
    const struct lab *lab = s->views->lab;
    const struct pair *pair = lab_pair(lab, i);
    const struct pair_dynamics *dynamics = lab_dynamics(lab, i);
    const struct pair_following *following = lab_following(lab, i);
    s->pairs[i] = take_copy(s, before, i, pair, pair->version, pair_bytes(&s->view.params[i]));
    if (dynamics) {
        s->view.dynamics = s->dynamics;
        s->dynamics[i] =
            take_copy(s, before, n + i, dynamics, dynamics->version, sizeof *dynamics);
    }
    if (following) {
        s->view.following = s->following;
        s->following[i] =
            take_copy(s, before, 2 * n + i, following, following->version, sizeof *following);
    }
    return s->pairs[i] && (!dynamics || s->dynamics[i]) && (!following || s->following[i]);
}

static bool take_team(struct snapshot *s, const struct snapshot *before, size_t i)
{
    const struct crew *crew = lab_team(s->views->lab, i);
    s->crews[i] = take_copy(s, before, PART_COUNT * s->view.pair_count + i, crew, crew->version,
                            crew_bytes(&s->view.teams[i]));
    return s->crews[i] != NULL;
}

/* *copied: so many pairs are others than before. */
static struct snapshot *make_snapshot(struct views *views, const struct snapshot *before,
                                      uint64_t *copied)
{
    const size_t n = views->base.pair_count;
    const size_t copies = count_copies(&views->base);
    struct snapshot *s = calloc(1, sizeof *s + 2 * copies * sizeof s->copies[0]);
    if (!s) {
        return NULL;
    }
    s->view = views->base;
    s->views = views;
    s->pairs = (void *)(s->copies + copies);
    s->dynamics = (void *)(s->pairs + n);
    s->following = (void *)(s->dynamics + n);
    s->crews = (void *)(s->following + n);
    s->view.pairs = s->pairs;
    s->view.crews = s->crews;
    atomic_init(&s->holders, 1);
    for (size_t i = 0; i < n; i++) {
        if (!take_pair(s, before, i)) {
            drop_snapshot(s);
            return NULL;
        }
        *copied += !before || s->pairs[i] != before->pairs[i];
    }
    for (size_t i = 0; i < views->base.team_count; i++) {
        if (!take_team(s, before, i)) {
            drop_snapshot(s);
            return NULL;
        }
    }
    return s;
}

enum status views_create(const struct lab *lab, const char *lab_name, const char *prefix,
                         int64_t started_us, struct views **out)
{
    struct views *views = calloc(1, sizeof *views);
    if (!views) {
        return STATUS_E_NOMEM;
    }
    views->lab = lab;
    views->base = (struct view){.t_us = started_us,
                                .started_us = started_us,
                                .lab_name = lab_name,
                                .prefix = prefix,
                                .pair_count = lab_pair_count(lab),
                                .params = lab_pair_params(lab, 0),
                                .team_count = lab_team_count(lab),
                                .teams = lab_team_params(lab, 0),
                                .fits = read_fits};
    views->kept = calloc(views->base.pair_count, sizeof(void *));
    views->newest = views->kept ? make_snapshot(views, NULL, &views->counts.copied) : NULL;
    if (!views->newest) {
        free(views->kept);
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
        for (size_t i = 0; i < views->base.pair_count; i++) {
            free(views->kept[i]);
        }
        free(views->kept);
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

const struct view *views_acquire(void *context)
{
    struct views *views = context;
    (void)pthread_mutex_lock(&views->lock);
    struct snapshot *const snapshot = views->newest;
    atomic_fetch_add_explicit(&snapshot->holders, 1, memory_order_relaxed);
    (void)pthread_mutex_unlock(&views->lock);
    return &snapshot->view;
}

void views_release(void *views, const struct view *view)
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
