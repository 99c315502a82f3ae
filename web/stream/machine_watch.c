#include "web/stream/machine_watch.h"

#include <stdlib.h>

#include "base/hash.h"
#include "logger/message/json_write.h"
#include "twin/report/pair_report.h"
#include "web/http/body.h"

struct seen {
    uint64_t transitions;           /* of Tandem's machines */
    uint64_t published[SIDE_COUNT]; /* hash of what the robot says */
};

struct machine_watch {
    bool begun;
    size_t pair_count;
    struct seen *seen; /* [pair_count] */
};

enum status machine_watch_create(struct machine_watch **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? STATUS_OK : STATUS_E_NOMEM;
}

void machine_watch_destroy(struct machine_watch *watch)
{
    if (watch) {
        free(watch->seen);
        free(watch);
    }
}

static uint64_t transitions_of(const struct view *view, size_t i)
{
    const struct pair_following *following = view->following ? view->following[i] : NULL;
    uint64_t sum = view->pairs[i]->trace.count;
    for (size_t k = 0; following && k < COUNT(following->f.stats.visits); k++) {
        sum += following->f.stats.visits[k];
    }
    return sum;
}

static struct json_writer *begin_event(struct json_writer *w, char *buffer, size_t size,
                                       struct body *body, const char *pair, const char *side)
{
    json_write_start(w, buffer, size, body_flush, body);
    json_write_object(w, NULL);
    json_write_text(w, "pair", pair);
    json_write_text(w, "side", side);
    return w;
}

static void publish_event(struct json_writer *w, struct body *body, struct event_hub *hub,
                          size_t pair)
{
    json_write_close(w);
    if (json_write_end(w) && !body->failed) {
        event_hub_publish(hub, EVENT_TYPE_MACHINES, pair, 0, body->text, body->bytes);
    }
    body_clear(body);
}

static void look_at_tandem(struct machine_watch *watch, const struct view *view, size_t i,
                           struct event_hub *hub)
{
    char buffer[1024];
    struct body body = {0};
    struct json_writer w;
    const uint64_t transitions = transitions_of(view, i);
    if (watch->begun && transitions != watch->seen[i].transitions) {
        begin_event(&w, buffer, sizeof buffer, &body, view->params[i].id, NULL);
        pair_report_machines(&w, "machines", view->pairs[i],
                             view->following ? view->following[i] : NULL, &view->params[i]);
        publish_event(&w, &body, hub, i);
    }
    watch->seen[i].transitions = transitions;
}

static void look_at_robot(struct machine_watch *watch, const struct view *view, size_t i,
                          enum side side, const struct web_source *source,
                          struct event_hub *hub)
{
    char text[WEB_MACHINES_MAX];
    char buffer[1024];
    struct body body = {0};
    struct json_writer w;
    const size_t bytes = source->machines(source->context, i, side, text);
    const uint64_t hash = hash_bytes(HASH_START, text, bytes);
    if (watch->begun && hash != watch->seen[i].published[side]) {
        begin_event(&w, buffer, sizeof buffer, &body, view->params[i].id, side_name(side));
        if (bytes > 0) {
            json_write_raw(&w, "machines", text, bytes);
        } else {
            json_write_null(&w, "machines");
        }
        publish_event(&w, &body, hub, i);
    }
    watch->seen[i].published[side] = hash;
}

void machine_watch_look(struct machine_watch *watch, const struct view *view,
                        const struct web_source *source, struct event_hub *hub)
{
    if (!watch->seen) {
        watch->pair_count = view->pair_count;
        watch->seen = calloc(view->pair_count, sizeof *watch->seen);
    }
    if (!watch->seen) {
        return;
    }
    for (size_t i = 0; i < watch->pair_count; i++) {
        look_at_tandem(watch, view, i, hub);
        look_at_robot(watch, view, i, SIDE_REAL, source, hub);
        look_at_robot(watch, view, i, SIDE_VIRTUAL, source, hub);
    }
    watch->begun = true;
}
