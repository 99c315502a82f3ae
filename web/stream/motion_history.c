#include "web/stream/motion_history.h"

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

enum status motion_history_create(struct pair_rings **out)
{
    return pair_rings_create(MOTION_PAIRS_MAX, sizeof(struct motion), out);
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

void motion_history_look(struct pair_rings *history, const struct view *view)
{
    pair_rings_begin(history, view);
    for (size_t i = 0; i < history->pair_count; i++) {
        const struct pair_following *x = view_following(view, i);
        struct motion *motion = x && x->f.driving ? pair_rings_make(history, i) : NULL;
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

void motion_history_write(struct pair_rings *history, struct json_writer *w,
                          const struct view *view, size_t pair)
{
    const struct model *model = pair_following_model(view_following(view, pair));
    lock_acquire(&history->lock);
    const struct motion *motion = pair_rings_find(history, pair);
    write_list(w, "t", motion, MOTION_TIME, 0);
    JSON_MAP(w, "velocities", size_t a = 0; a < model->axis_count; a++) {
        json_write_object(w, model->axes[a].velocity);
        write_list(w, "reference", motion, MOTION_REFERENCE, a);
        write_list(w, "actual", motion, MOTION_ACTUAL, a);
        json_write_close(w);
    }
    lock_release(&history->lock);
}
