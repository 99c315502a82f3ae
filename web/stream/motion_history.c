#include "web/stream/motion_history.h"

#include <pthread.h>
#include <stdlib.h>

#include "logger/storage/lock.h"
#include "twin/following/pair_following.h"

static const int64_t SPACING_US = 500000;

struct motion_point {
    int64_t t_us;
    float reference[MODEL_AXES_MAX], actual[MODEL_AXES_MAX];
};

struct motion {
    size_t added_count; /* points ever added; the newest are in the ring */
    struct motion_point points[MOTION_POINTS_MAX];
};

struct motion_history {
    pthread_mutex_t lock;
    size_t pair_count, used;
    struct motion **of; /* [pair_count] owned, NULL: none; NULL before the first look */
};

enum status motion_history_create(struct motion_history **out)
{
    struct motion_history *history = calloc(1, sizeof *history);
    if (!history) {
        return STATUS_E_NOMEM;
    }
    lock_init(&history->lock);
    *out = history;
    return STATUS_OK;
}

void motion_history_destroy(struct motion_history *history)
{
    if (!history) {
        return;
    }
    for (size_t i = 0; i < history->pair_count; i++) {
        free(history->of[i]);
    }
    free(history->of);
    (void)pthread_mutex_destroy(&history->lock);
    free(history);
}

static struct motion *find_motion(struct motion_history *history, size_t i)
{
    if (!history->of[i] && history->used < MOTION_PAIRS_MAX) {
        history->of[i] = calloc(1, sizeof *history->of[i]);
        history->used += history->of[i] ? 1 : 0;
    }
    return history->of[i];
}

static void add_point(struct motion *motion, const struct pair_following *x, int64_t t_us)
{
    const size_t last = motion->added_count - 1;
    if (motion->added_count > 0 &&
        t_us - motion->points[last % MOTION_POINTS_MAX].t_us < SPACING_US) {
        return;
    }
    struct motion_point *point = &motion->points[motion->added_count++ % MOTION_POINTS_MAX];
    point->t_us = t_us;
    for (size_t a = 0; a < pair_following_model(x)->axis_count; a++) {
        point->reference[a] = (float)x->f.target.nu[a];
        point->actual[a] = (float)(x->f.target.nu[a] - x->f.output.error[a]);
    }
}

void motion_history_look(struct motion_history *history, const struct view *view)
{
    lock_acquire(&history->lock);
    if (!history->of) {
        history->of = calloc(view->pair_count, sizeof(struct motion *));
        history->pair_count = history->of ? view->pair_count : 0;
    }
    for (size_t i = 0; i < history->pair_count; i++) {
        const struct pair_following *x = view_following(view, i);
        struct motion *motion = x && x->f.driving ? find_motion(history, i) : NULL;
        if (motion) {
            add_point(motion, x, view->t_us);
        }
    }
    lock_release(&history->lock);
}

/* Which value of a point is written. */
enum motion_value { MOTION_TIME, MOTION_REFERENCE, MOTION_ACTUAL };

static void write_list(struct json_writer *w, const char *key, const struct motion *motion,
                       enum motion_value value, size_t axis)
{
    const size_t n = motion ? motion->added_count : 0;
    JSON_LIST(w, key, size_t k = n > MOTION_POINTS_MAX ? n - MOTION_POINTS_MAX : 0; k < n;
              k++) {
        const struct motion_point *point = &motion->points[k % MOTION_POINTS_MAX];
        if (value == MOTION_TIME) {
            json_write_seconds(w, NULL, point->t_us);
        } else {
            json_write_float(w, NULL,
                             value == MOTION_REFERENCE ? point->reference[axis]
                                                       : point->actual[axis]);
        }
    }
}

void motion_history_write(struct motion_history *history, struct json_writer *w,
                          const struct view *view, size_t pair)
{
    const struct model *model = pair_following_model(view_following(view, pair));
    lock_acquire(&history->lock);
    const struct motion *motion = history->of ? history->of[pair] : NULL;
    write_list(w, "t", motion, MOTION_TIME, 0);
    JSON_MAP(w, "velocities", size_t a = 0; a < model->axis_count; a++) {
        json_write_object(w, model->axes[a].velocity);
        write_list(w, "reference", motion, MOTION_REFERENCE, a);
        write_list(w, "actual", motion, MOTION_ACTUAL, a);
        json_write_close(w);
    }
    lock_release(&history->lock);
}
