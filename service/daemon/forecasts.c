#include "service/daemon/forecasts.h"

#include <pthread.h>
#include <stdlib.h>

#include "logger/message/json_write.h"
#include "logger/storage/lock.h"
#include "service/tool/lab_clock.h"
#include "twin/team/live/team_live_predict.h"

enum { LOOK_US = 20000 }; /* snapshots come every 50 ms */

struct forecasts {
    struct snapshots *snapshots;
    struct inbox *inbox;
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
    struct forecasts_counts counts; /* under the lock */
    bool live;                      /* the journal's tail was processed at the last look */
    uint64_t done[TEAMS_MAX];       /* number of the newest forecast made, by team */
};

/* ---- one forecast ---- */

static bool record_forecast(const struct forecasts *f, const char *team,
                            const struct team_forecast *what)
{
    char *text = malloc(TEAM_FORECAST_TEXT_MAX);
    struct json_writer w;
    if (!text) {
        return false;
    }
    json_write_start(&w, text, TEAM_FORECAST_TEXT_MAX, NULL, NULL);
    team_forecast_write(&w, team, what);
    const bool whole = json_write_end(&w);
    if (whole) {
        inbox_record(f->inbox, TEAM_FORECAST_LINE, text, w.used);
    }
    free(text);
    return whole;
}

static bool make_forecast(const struct forecasts *f, const struct view *view, size_t team)
{
    const struct team_params *p = &view->teams[team];
    void *memory = malloc(team_live_predict_bytes(p));
    struct team_forecast *what = malloc(sizeof *what);
    bool made = memory && what;
    if (made) {
        team_live_predict(memory, view->live_teams[team], p, view->t_us, view_read_pair, &view,
                          what);
        made = record_forecast(f, p->name, what);
    }
    free(memory);
    free(what);
    return made;
}

/* ---- the thread ---- */

static void count_forecast(struct forecasts *f, bool made, int64_t duration_us)
{
    (void)pthread_mutex_lock(&f->lock);
    f->counts.made += made;
    f->counts.failed += !made;
    f->counts.duration_us += (uint64_t)duration_us;
    (void)pthread_mutex_unlock(&f->lock);
}

static void update_forecasts(struct forecasts *f)
{
    const struct view *view = snapshots_acquire(f->snapshots);
    for (size_t i = 0; view->health.restored && i < view->team_count; i++) {
        const struct team_live_forecast *wanted = &view->live_teams[i]->forecast;
        if (!f->live) {
            f->done[i] = wanted->asked;
        } else if (wanted->asked > f->done[i]) {
            const int64_t began_us = lab_clock_monotonic_us();
            f->done[i] = wanted->asked;
            const bool made = make_forecast(f, view, i);
            count_forecast(f, made, lab_clock_monotonic_us() - began_us);
        }
    }
    f->live = view->health.restored;
    snapshots_release(f->snapshots, view);
}

static void *run_forecasts(void *context)
{
    struct forecasts *f = context;
    (void)pthread_setname_np(pthread_self(), "tandem-forecast");
    for (bool stop = false; !stop;) {
        update_forecasts(f);
        (void)pthread_mutex_lock(&f->lock);
        if (!f->stop) {
            lock_wait(&f->changed, &f->lock, lab_clock_monotonic_us() + LOOK_US);
        }
        stop = f->stop;
        (void)pthread_mutex_unlock(&f->lock);
    }
    return NULL;
}

enum status forecasts_start(struct snapshots *snapshots, struct inbox *inbox,
                            struct forecasts **out)
{
    struct forecasts *f = calloc(1, sizeof *f);
    if (!f) {
        return STATUS_E_NOMEM;
    }
    f->snapshots = snapshots;
    f->inbox = inbox;
    lock_init(&f->lock);
    lock_init_condition(&f->changed);
    const struct view *view = snapshots_acquire(snapshots);
    const bool teams = view->team_count > 0;
    snapshots_release(snapshots, view);
    f->runs = teams && pthread_create(&f->thread, NULL, run_forecasts, f) == 0;
    *out = f;
    return f->runs || !teams ? STATUS_OK : STATUS_E_IO;
}

void forecasts_stop(struct forecasts *f)
{
    if (!f) {
        return;
    }
    (void)pthread_mutex_lock(&f->lock);
    f->stop = true;
    (void)pthread_cond_signal(&f->changed);
    (void)pthread_mutex_unlock(&f->lock);
    if (f->runs) {
        (void)pthread_join(f->thread, NULL);
    }
    (void)pthread_cond_destroy(&f->changed);
    (void)pthread_mutex_destroy(&f->lock);
    free(f);
}

void forecasts_read_counts(struct forecasts *f, struct forecasts_counts *out)
{
    (void)pthread_mutex_lock(&f->lock);
    *out = f->counts;
    (void)pthread_mutex_unlock(&f->lock);
}
