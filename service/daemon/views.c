#include "service/daemon/views.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"
#include "service/cli/lab_clock.h"

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
    struct snapshot *older; /* of those that are not the newest any more */
    size_t taken;           /* pairs, then teams; while it is made */
    uint64_t copied;        /* pairs that are others than before */
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
    struct snapshot *newest;  /* under the lock, as is: */
    struct snapshot *retired; /* held for views_tidy(): freeing takes its time, too */
    struct snapshot *making;  /* the lab thread's */
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

static long find_pair(const struct view *view, const char *id)
{
    return lab_find(snapshot_of(view)->views->lab, id);
}

/* State k in the copy of before, when it is of this version; else NULL. */
static const void *keep_copy(struct snapshot *snapshot, const struct snapshot *before, size_t k,
                             uint64_t version)
{
    struct copy *copy = before ? before->copies[k] : NULL;
    if (!copy || copy->version != version) {
        return NULL;
    }
    atomic_fetch_add_explicit(&copy->holders, 1, memory_order_relaxed);
    snapshot->copies[k] = copy;
    return copy->state;
}

/* Room for state k; NULL: no memory. */
static void *make_copy(struct snapshot *snapshot, size_t k, uint64_t version, size_t bytes)
{
    struct copy *copy = malloc(sizeof *copy + bytes);
    if (!copy) {
        return NULL;
    }
    atomic_init(&copy->holders, 1);
    copy->version = version;
    snapshot->copies[k] = copy;
    return copy->state;
}

/* State k as it is now, in the copy of before when it is of this version; NULL: no memory. */
static const void *take_copy(struct snapshot *snapshot, const struct snapshot *before, size_t k,
                             const void *state, uint64_t version, size_t bytes)
{
    const void *kept = keep_copy(snapshot, before, k, version);
    if (kept) {
        return kept;
    }
    void *copy = make_copy(snapshot, k, version, bytes);
    if (copy) {
        memcpy(copy, state, bytes);
    }
    return copy;
}

static const void *take_pair_copy(struct snapshot *snapshot, const struct snapshot *before,
                                  size_t i)
{
    const struct pair *pair = lab_pair(snapshot->views->lab, i);
    const struct pair_params *p = &snapshot->view.params[i];
    const void *kept = keep_copy(snapshot, before, i, pair->version);
    if (kept) {
        return kept;
    }
    void *copy = make_copy(snapshot, i, pair->version, pair_copy_bytes(pair, p));
    if (copy) {
        pair_copy(copy, pair, p);
    }
    return copy;
}

/* False when memory ran out; what there is stands in the snapshot. */
static bool take_pair(struct snapshot *s, const struct snapshot *before, size_t i)
{
    const size_t n = s->view.pair_count;
    const struct lab *lab = s->views->lab;
    const struct pair_dynamics *dynamics = lab_dynamics(lab, i);
    const struct pair_following *following = lab_following(lab, i);
    s->pairs[i] = take_pair_copy(s, before, i);
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

/* Nothing is taken into it yet; NULL: no memory. */
static struct snapshot *begin_snapshot(struct views *views)
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
    return s;
}

/* The next pair or team. False: no memory. */
static bool take_next(struct snapshot *s, const struct snapshot *before)
{
    const size_t i = s->taken++;
    const size_t n = s->view.pair_count;
    if (i >= n) {
        return take_team(s, before, i - n);
    }
    const bool taken = take_pair(s, before, i);
    s->copied += !before || s->pairs[i] != before->pairs[i];
    return taken;
}

static bool is_whole(const struct snapshot *s)
{
    return s->taken == s->view.pair_count + s->view.team_count;
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
                                .fits = read_fits,
                                .find = find_pair};
    views->kept = calloc(views->base.pair_count, sizeof(void *));
    views->newest = views->kept ? begin_snapshot(views) : NULL;
    bool made = views->newest != NULL;
    while (made && !is_whole(views->newest)) {
        made = take_next(views->newest, NULL);
    }
    if (!made) {
        if (views->newest) {
            drop_snapshot(views->newest);
        }
        free(views->kept);
        free(views);
        return STATUS_E_NOMEM;
    }
    views->counts.copied = views->newest->copied;
    lock_init(&views->lock);
    lock_init(&views->fits_lock);
    *out = views;
    return STATUS_OK;
}

void views_destroy(struct views *views)
{
    if (views) {
        views_tidy(views);
        assert(atomic_load(&views->newest->holders) == 1);
        drop_snapshot(views->newest);
        if (views->making) {
            drop_snapshot(views->making);
        }
        for (size_t i = 0; i < views->base.pair_count; i++) {
            free(views->kept[i]);
        }
        free(views->kept);
        (void)pthread_mutex_destroy(&views->lock);
        (void)pthread_mutex_destroy(&views->fits_lock);
        free(views);
    }
}

/* NULL: there was no memory for it, and readers keep the older one. */
static void put_newest(struct views *views, struct snapshot *snapshot)
{
    (void)pthread_mutex_lock(&views->lock);
    if (snapshot) {
        views->counts.copied += snapshot->copied;
        views->counts.published++;
        views->newest->older = views->retired;
        views->retired = views->newest;
        views->newest = snapshot;
    } else {
        views->counts.failed++;
    }
    (void)pthread_mutex_unlock(&views->lock);
}

/* Takes in parts for so long. False: no memory. */
static bool take_some(struct views *views, int64_t slice_us)
{
    enum { LOOK = 16 }; /* parts between two looks at the clock */
    struct snapshot *const s = views->making;
    const int64_t until_us =
        slice_us < INT64_MAX ? lab_clock_monotonic_us() + slice_us : INT64_MAX;
    bool goes_on = true;
    while (goes_on && !is_whole(s)) {
        /* Only this thread replaces newest, so it may read it without the lock. */
        if (!take_next(s, views->newest)) {
            return false;
        }
        goes_on = s->taken % LOOK != 0 || lab_clock_monotonic_us() < until_us;
    }
    return true;
}

bool views_publish_some(struct views *views, int64_t t_us, const struct view_health *health,
                        int64_t slice_us)
{
    if (!views->making) {
        views->making = begin_snapshot(views);
    }
    struct snapshot *const s = views->making;
    if (!s || !take_some(views, slice_us)) {
        if (s) {
            drop_snapshot(s);
        }
        views->making = NULL;
        put_newest(views, NULL);
        return true;
    }
    if (!is_whole(s)) {
        return false;
    }
    s->view.t_us = t_us;
    s->view.counts = *lab_counts(views->lab);
    s->view.health = *health;
    views->making = NULL;
    put_newest(views, s);
    return true;
}

void views_publish(struct views *views, int64_t t_us, const struct view_health *health)
{
    while (!views_publish_some(views, t_us, health, INT64_MAX)) {
    }
}

void views_tidy(struct views *views)
{
    (void)pthread_mutex_lock(&views->lock);
    struct snapshot *s = views->retired;
    views->retired = NULL;
    (void)pthread_mutex_unlock(&views->lock);
    while (s) {
        struct snapshot *const older = s->older;
        drop_snapshot(s);
        s = older;
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
