#include "service/daemon/snapshots.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"
#include "service/tool/lab_clock.h"

/* Cached fits of a pair's window, until the window changes or another pair needs the place.
 * They have 40 kB each, and computing one takes a fraction of a millisecond. */
enum { CACHED_MAX = 512 };

struct cached_fits {
    size_t pair;
    uint64_t window_version;
    struct pair_fits fits;
};

/* A copy of one state of a pair or team, shared by all snapshots in which it has not
 * changed. */
struct copy {
    _Atomic uint32_t holders;
    uint64_t version;
    size_t room; /* bytes allocated for the state */
    _Alignas(max_align_t) unsigned char state[];
};

enum { STATE_COUNT = 5 }; /* of a pair: itself, its dynamics, following, missions, map */

struct snapshot {
    struct view view; /* first member: readers get a pointer to it */
    struct snapshots *snapshots;
    _Atomic uint32_t holders;
    size_t gathered; /* pairs, then teams copied so far, while it is made */
    /* [pair_count] the copies for readers */
    const struct pair **pairs;
    const struct pair_dynamics **dynamics; /* the heads without samples */
    const struct pair_following **following;
    const struct pair_missions **missions;
    const struct live_map **maps;
    const struct team_live **live_teams;
    /* [STATE_COUNT * pair_count + team_count] NULL: none; the six arrays follow it in
     * memory */
    struct copy *copies[];
};

static size_t count_copies(const struct view *view)
{
    return STATE_COUNT * view->pair_count + view->team_count;
}

/* Counts pairs and teams. */
static size_t count_parts(const struct view *view)
{
    return view->pair_count + view->team_count;
}

struct snapshots {
    const struct lab *lab;
    struct view base; /* members common to all snapshots */
    pthread_mutex_t fits_lock;
    struct cached_fits *cached[CACHED_MAX]; /* under fits_lock; NULL: not requested yet */
    pthread_mutex_t lock;
    struct snapshot *newest;  /* under the lock */
    struct snapshot *retired; /* used by the lab thread: the previous one, freed in slices; */
    size_t dropped;           /* its copies freed so far; */
    struct snapshot *making;  /* the next one, made in slices; */
    size_t renewed;           /* parts of the newest brought up to date, when none is made, */
    unsigned blocked;         /* and how often in a row a reader prevented that */
    struct snapshots_counts counts;
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

/* The view is the snapshot's first member, and snapshots are never const objects. */
static struct snapshot *snapshot_of(const struct view *view)
{
    union {
        const struct view *view;
        struct snapshot *snapshot;
    } held = {.view = view};
    return held.snapshot;
}

static void cache_fits(struct snapshots *snapshots, size_t pair, uint64_t version,
                       const struct pair_fits *fits)
{
    (void)pthread_mutex_lock(&snapshots->fits_lock);
    struct cached_fits **place = &snapshots->cached[pair % CACHED_MAX];
    if (!*place) {
        *place = calloc(1, sizeof **place);
    }
    if (*place && ((*place)->pair != pair || (*place)->window_version <= version)) {
        **place = (struct cached_fits){pair, version, *fits};
    }
    (void)pthread_mutex_unlock(&snapshots->fits_lock);
}

/* A pair changes more often than it moves, so fits are cached by its moves. Two threads that
 * ask at once may both compute them. */
void snapshots_read_fits(struct snapshots *snapshots, size_t index, const struct pair *pair,
                         struct pair_fits *out)
{
    const uint64_t version = pair->window_version;
    (void)pthread_mutex_lock(&snapshots->fits_lock);
    const struct cached_fits *cached = snapshots->cached[index % CACHED_MAX];
    const bool known = cached && cached->pair == index && cached->window_version == version;
    if (known) {
        *out = cached->fits;
    }
    (void)pthread_mutex_unlock(&snapshots->fits_lock);
    if (!known) {
        pair_fit_window(pair, &snapshots->base.params[index], out);
        cache_fits(snapshots, index, version, out);
    }
}

static void read_fits(const struct view *view, size_t pair, struct pair_fits *out)
{
    snapshots_read_fits(snapshot_of(view)->snapshots, pair, view->pairs[pair], out);
}

static long find_pair(const struct view *view, const char *id)
{
    return lab_find(snapshot_of(view)->snapshots->lab, id);
}

/* A state of the lab. The order is: all pairs, their dynamics, following, missions, maps, all
 * teams. */
struct state {
    const void *at; /* NULL: none */
    uint64_t version;
};

static struct state read_state(const struct snapshot *s, size_t k)
{
    const struct lab *lab = s->snapshots->lab;
    const size_t n = s->view.pair_count;
    if (k < n) {
        const struct pair *pair = lab_pair(lab, k);
        return (struct state){pair, pair->version};
    }
    if (k < 2 * n) {
        const struct pair_dynamics *dynamics = lab_dynamics(lab, k - n);
        return (struct state){dynamics, dynamics ? dynamics->version : 0};
    }
    if (k < 3 * n) {
        const struct pair_following *following = lab_following(lab, k - 2 * n);
        return (struct state){following, following ? following->version : 0};
    }
    if (k < 4 * n) {
        const struct pair_missions *missions = lab_missions(lab, k - 3 * n);
        return (struct state){missions, missions ? missions->version : 0};
    }
    if (k < STATE_COUNT * n) {
        const struct live_map *map = lab_map(lab, k - 4 * n);
        return (struct state){map, map ? map->version : 0};
    }
    const struct team_live *live = lab_team(lab, k - STATE_COUNT * n);
    return (struct state){live, live->version};
}

static size_t state_bytes(const struct snapshot *s, size_t k, const struct state *state)
{
    const size_t n = s->view.pair_count;
    return k < n                 ? pair_copy_bytes(state->at, &s->view.params[k])
           : k < 2 * n           ? sizeof(struct pair_dynamics)
           : k < 3 * n           ? sizeof(struct pair_following)
           : k < 4 * n           ? pair_missions_bytes(&s->view.params[k - 3 * n])
           : k < STATE_COUNT * n ? live_map_shown_bytes(&s->view.params[k - 4 * n].live_map)
                                 : team_live_state_bytes(&s->view.teams[k - STATE_COUNT * n]);
}

static void show_copy(struct snapshot *s, size_t k)
{
    const size_t n = s->view.pair_count;
    const void *const state = s->copies[k]->state;
    if (k < n) {
        s->pairs[k] = state;
    } else if (k < 2 * n) {
        s->dynamics[k - n] = state;
        s->view.dynamics = s->dynamics;
    } else if (k < 3 * n) {
        s->following[k - 2 * n] = state;
        s->view.following = s->following;
    } else if (k < 4 * n) {
        s->missions[k - 3 * n] = state;
    } else if (k < STATE_COUNT * n) {
        s->maps[k - 4 * n] = state;
        s->view.maps = s->maps;
    } else {
        s->live_teams[k - STATE_COUNT * n] = state;
    }
}

/* Copies state k into the snapshot's own memory; false: no memory. */
static bool fill_copy(struct snapshot *s, size_t k, const struct state *state)
{
    /* room for an open command and some moves, because a pair's moves grow in number */
    enum { MORE = 1024 };
    const size_t bytes = state_bytes(s, k, state);
    struct copy *copy = s->copies[k];
    if (!copy || copy->room < bytes) {
        const size_t room = k < s->view.pair_count ? bytes + MORE : bytes;
        copy = realloc(copy, sizeof *copy + room);
        if (!copy) {
            return false;
        }
        copy->room = room;
        atomic_init(&copy->holders, 1);
        s->copies[k] = copy;
    }
    if (k < s->view.pair_count) {
        pair_copy(copy->state, state->at, &s->view.params[k]);
        s->snapshots->counts.copied++;
    } else {
        memcpy(copy->state, state->at, bytes);
    }
    copy->version = state->version;
    show_copy(s, k);
    return true;
}

/* Sets state k: shares the previous copy if its version is current, else makes one. False: no
 * memory. */
static bool copy_state(struct snapshot *s, const struct snapshot *before, size_t k)
{
    const struct state state = read_state(s, k);
    struct copy *copy = before ? before->copies[k] : NULL;
    if (!state.at) {
        return true;
    }
    if (!copy || copy->version != state.version) {
        return fill_copy(s, k, &state);
    }
    atomic_fetch_add_explicit(&copy->holders, 1, memory_order_relaxed);
    s->copies[k] = copy;
    show_copy(s, k);
    return true;
}

/* Part i has the states k, k + n … below the end, so that a pair's states are all of one
 * instant. */
struct column_space {
    size_t k, end;
};

static struct column_space find_states(const struct view *view, size_t i)
{
    const size_t n = view->pair_count;
    const size_t team = (STATE_COUNT - 1) * n + i;
    return i < n ? (struct column_space){i, STATE_COUNT * n}
                 : (struct column_space){team, team + 1};
}

/* False when memory ran out; the finished copies are in the snapshot. */
static bool copy_part(struct snapshot *s, const struct snapshot *before, size_t i)
{
    const struct column_space states = find_states(&s->view, i);
    bool gathered = true;
    for (size_t k = states.k; gathered && k < states.end; k += s->view.pair_count) {
        gathered = copy_state(s, before, k);
    }
    return gathered;
}

/* Returns whether it has no reader. The lock prevents new ones. */
static bool is_unread(const struct snapshot *s)
{
    return atomic_load_explicit(&s->holders, memory_order_acquire) == 1;
}

static bool is_renewable(const struct snapshot *s, size_t k)
{
    const struct state state = read_state(s, k);
    const struct copy *copy = s->copies[k];
    return !state.at || copy->version == state.version ||
           (is_unread(s) && atomic_load_explicit(&copy->holders, memory_order_acquire) == 1);
}

/* Updates part i of the newest snapshot in its own memory; false: it may have a reader. */
static bool renew_part(struct snapshot *s, size_t i)
{
    const size_t n = s->view.pair_count;
    const struct column_space states = find_states(&s->view, i);
    bool renewed = true;
    for (size_t k = states.k; renewed && k < states.end; k += n) {
        renewed = is_renewable(s, k);
    }
    for (size_t k = states.k; renewed && k < states.end; k += n) {
        const struct state state = read_state(s, k);
        renewed =
            !state.at || s->copies[k]->version == state.version || fill_copy(s, k, &state);
    }
    return renewed;
}

/* Begins an empty snapshot; NULL: no memory. */
static struct snapshot *begin_snapshot(struct snapshots *snapshots)
{
    const size_t n = snapshots->base.pair_count;
    const size_t copies = count_copies(&snapshots->base);
    struct snapshot *s = calloc(1, sizeof *s + 2 * copies * sizeof s->copies[0]);
    if (!s) {
        return NULL;
    }
    s->view = snapshots->base;
    s->snapshots = snapshots;
    s->pairs = (void *)(s->copies + copies);
    s->dynamics = (void *)(s->pairs + n);
    s->following = (void *)(s->dynamics + n);
    s->missions = (void *)(s->following + n);
    s->maps = (void *)(s->missions + n);
    s->live_teams = (void *)(s->maps + n);
    s->view.missions = s->missions;
    s->view.pairs = s->pairs;
    s->view.live_teams = s->live_teams;
    atomic_init(&s->holders, 1);
    return s;
}

static bool is_whole(const struct snapshot *s)
{
    return s->gathered == count_parts(&s->view);
}

enum status snapshots_create(const struct lab *lab, const char *lab_name, const char *prefix,
                             int64_t started_us, struct snapshots **out)
{
    struct snapshots *snapshots = calloc(1, sizeof *snapshots);
    if (!snapshots) {
        return STATUS_E_NOMEM;
    }
    snapshots->lab = lab;
    snapshots->base = (struct view){.t_us = started_us,
                                    .started_us = started_us,
                                    .lab_name = lab_name,
                                    .prefix = prefix,
                                    .pair_count = lab_pair_count(lab),
                                    .params = lab_pair_params(lab, 0),
                                    .team_count = lab_team_count(lab),
                                    .teams = lab_team_params(lab, 0),
                                    .fits = read_fits,
                                    .find = find_pair};
    snapshots->newest = begin_snapshot(snapshots);
    bool made = snapshots->newest != NULL;
    while (made && !is_whole(snapshots->newest)) {
        made = copy_part(snapshots->newest, NULL, snapshots->newest->gathered++);
    }
    if (!made) {
        if (snapshots->newest) {
            drop_snapshot(snapshots->newest);
        }
        free(snapshots);
        return STATUS_E_NOMEM;
    }
    lock_init(&snapshots->lock);
    lock_init(&snapshots->fits_lock);
    *out = snapshots;
    return STATUS_OK;
}

void snapshots_destroy(struct snapshots *snapshots)
{
    if (snapshots) {
        if (snapshots->retired) {
            drop_snapshot(snapshots->retired);
        }
        assert(atomic_load(&snapshots->newest->holders) == 1);
        drop_snapshot(snapshots->newest);
        if (snapshots->making) {
            drop_snapshot(snapshots->making);
        }
        for (size_t i = 0; i < CACHED_MAX; i++) {
            free(snapshots->cached[i]);
        }
        (void)pthread_mutex_destroy(&snapshots->lock);
        (void)pthread_mutex_destroy(&snapshots->fits_lock);
        free(snapshots);
    }
}

static void stamp_view(struct snapshot *s, int64_t t_us, const struct view_health *health)
{
    s->view.t_us = t_us;
    s->view.counts = *lab_counts(s->snapshots->lab);
    s->view.health = *health;
}

/* NULL: there was no memory for it, and readers keep the older one. */
static void set_newest(struct snapshots *snapshots, struct snapshot *snapshot)
{
    if (snapshot) {
        snapshots->counts.published++;
        snapshots->retired = snapshots->newest;
        snapshots->newest = snapshot;
    } else {
        snapshots->counts.failed++;
    }
}

/* Checks the clock after every few parts. */
static bool is_over(size_t parts, int64_t until_us)
{
    enum { LOOK = 16 };
    return parts % LOOK == 0 && until_us < INT64_MAX && lab_clock_monotonic_us() >= until_us;
}

/* Updates the newest snapshot in place. False: it has a reader, or another snapshot shares
 * changed parts. */
static bool renew_some(struct snapshots *snapshots, int64_t until_us)
{
    const size_t parts = count_parts(&snapshots->base);
    bool renewed = snapshots->renewed > 0 || is_unread(snapshots->newest);
    bool over = false;
    while (renewed && !over && snapshots->renewed < parts) {
        renewed = renew_part(snapshots->newest, snapshots->renewed);
        snapshots->renewed += renewed;
        over = is_over(snapshots->renewed, until_us);
    }
    return renewed && (snapshots->renewed < parts || is_unread(snapshots->newest));
}

/* Frees some of the previous snapshot. Returns whether all is freed; its readers free the
 * rest. */
static bool drop_some(struct snapshots *snapshots, int64_t until_us)
{
    struct snapshot *const s = snapshots->retired;
    bool over = false;
    if (!s) {
        return true;
    }
    while (is_unread(s) && !over && snapshots->dropped < count_copies(&s->view)) {
        drop_copy(s->copies[snapshots->dropped]);
        s->copies[snapshots->dropped++] = NULL;
        over = is_over(snapshots->dropped, until_us);
    }
    if (!over) {
        drop_snapshot(s);
        snapshots->retired = NULL;
        snapshots->dropped = 0;
    }
    return !over;
}

/* Copies parts for this time, and shares those that the newest snapshot has already. False: no
 * memory. */
static bool copy_slice(struct snapshots *snapshots, int64_t until_us)
{
    struct snapshot *const s = snapshots->making;
    bool gathered = s != NULL;
    bool over = false;
    while (gathered && !over && !is_whole(s)) {
        (void)renew_part(snapshots->newest, s->gathered);
        gathered = copy_part(s, snapshots->newest, s->gathered++);
        over = is_over(s->gathered, until_us);
    }
    return gathered;
}

/* Decides whether to begin another snapshot because the newest has a reader. Most readers
 * finish within these slices. Once a first slice was updated in place, the update must be
 * completed. */
static bool is_another_wanted(struct snapshots *snapshots, size_t from)
{
    enum { PATIENCE = 100 };
    const bool waits = (from > 0 || snapshots->renewed == 0) && ++snapshots->blocked < PATIENCE;
    snapshots->blocked = waits ? snapshots->blocked : 0;
    return !waits;
}

/* Makes a slice of a snapshot. */
static bool make_slice(struct snapshots *snapshots, int64_t t_us,
                       const struct view_health *health, int64_t until_us)
{
    struct snapshot *const s = snapshots->making;
    const bool gathered = copy_slice(snapshots, until_us);
    if (gathered && !is_whole(s)) {
        return false;
    }
    if (gathered) {
        stamp_view(s, t_us, health);
    } else if (s) {
        drop_snapshot(s);
    }
    snapshots->making = NULL;
    set_newest(snapshots, gathered ? s : NULL);
    return true;
}

/* Under the lock, so that a reader sees a whole slice or nothing of it. */
static bool publish_slice(struct snapshots *snapshots, int64_t t_us,
                          const struct view_health *health, int64_t until_us)
{
    const size_t from = snapshots->renewed;
    bool done = false;
    if (!drop_some(snapshots, until_us)) {
        return false;
    }
    const bool renewed = !snapshots->making && renew_some(snapshots, until_us);
    if (renewed) {
        snapshots->blocked = 0;
        done = snapshots->renewed == count_parts(&snapshots->base);
        snapshots->counts.published += done;
    } else {
        if (!snapshots->making && !is_another_wanted(snapshots, from)) {
            return false;
        }
        if (!snapshots->making) {
            snapshots->making = begin_snapshot(snapshots);
        }
        done = make_slice(snapshots, t_us, health, until_us);
    }
    if (is_unread(snapshots->newest)) {
        stamp_view(snapshots->newest, t_us, health);
    }
    snapshots->renewed = done ? 0 : snapshots->renewed;
    return done;
}

bool snapshots_publish_slice(struct snapshots *snapshots, int64_t t_us,
                             const struct view_health *health, int64_t slice_us)
{
    const int64_t until_us =
        slice_us < INT64_MAX ? lab_clock_monotonic_us() + slice_us : INT64_MAX;
    (void)pthread_mutex_lock(&snapshots->lock);
    const bool done = publish_slice(snapshots, t_us, health, until_us);
    (void)pthread_mutex_unlock(&snapshots->lock);
    return done;
}

const struct view *snapshots_acquire(void *context)
{
    struct snapshots *snapshots = context;
    (void)pthread_mutex_lock(&snapshots->lock);
    struct snapshot *const snapshot = snapshots->newest;
    atomic_fetch_add_explicit(&snapshot->holders, 1, memory_order_relaxed);
    (void)pthread_mutex_unlock(&snapshots->lock);
    return &snapshot->view;
}

void snapshots_release(void *snapshots, const struct view *view)
{
    (void)snapshots;
    drop_snapshot(snapshot_of(view));
}

void snapshots_read_counts(struct snapshots *snapshots, struct snapshots_counts *out)
{
    (void)pthread_mutex_lock(&snapshots->lock);
    *out = snapshots->counts;
    (void)pthread_mutex_unlock(&snapshots->lock);
}
