#include "web/stream/machine_watch.h"

#include <stdlib.h>

#include "base/hash.h"
#include "logger/message/json_write.h"
#include "twin/report/pair_report.h"
#include "web/http/body.h"

/* Of Tandem's machines. */
static uint64_t count_transitions(const struct view *view, size_t i)
{
    const struct pair_following *following = view_following(view, i);
    uint64_t sum = view->pairs[i]->trace.count;
    for (size_t k = 0; following && k < COUNT(following->f.stats.visits); k++) {
        sum += following->f.stats.visits[k];
    }
    return sum;
}

/* {"pair", "side", "machines"}; side SIDE_COUNT: Tandem's own, not published[bytes]. */
static void publish_machines(const struct view *view, size_t i, enum side side,
                             const char *published, size_t bytes, struct event_hub *hub)
{
    char buffer[1024];
    struct body body = {0};
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, body_flush, &body);
    json_write_object(&w, NULL);
    json_write_text(&w, "pair", view->params[i].id);
    json_write_text(&w, "side", side == SIDE_COUNT ? NULL : side_name(side));
    if (side == SIDE_COUNT) {
        pair_report_machines(&w, "machines", view->pairs[i], view_following(view, i),
                             &view->params[i]);
    } else if (bytes > 0) {
        json_write_raw(&w, "machines", published, bytes);
    } else {
        json_write_null(&w, "machines");
    }
    json_write_close(&w);
    if (json_write_end(&w) && !body.failed) {
        event_hub_publish(hub, EVENT_TYPE_MACHINES, i, 0, body.text, body.bytes);
    }
    body_clear(&body);
}

void machine_watch_look(machine_marks **seen, const struct view *view,
                        const struct web_source *source, struct event_hub *hub)
{
    const bool begun = *seen != NULL;
    if (!begun) {
        *seen = calloc(view->pair_count, sizeof **seen);
    }
    for (size_t i = 0; *seen && i < view->pair_count; i++) {
        for (int side = 0; side <= SIDE_COUNT; side++) {
            char text[WEB_MACHINES_MAX];
            const size_t bytes =
                side < SIDE_COUNT ? source->machines(source->context, i, (enum side)side, text)
                                  : 0;
            const uint64_t mark = side < SIDE_COUNT ? hash_bytes(HASH_START, text, bytes)
                                                    : count_transitions(view, i);
            if (begun && mark != (*seen)[i][side]) {
                publish_machines(view, i, (enum side)side, text, bytes, hub);
            }
            (*seen)[i][side] = mark;
        }
    }
}
