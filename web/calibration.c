#include "twin/base/hash.h"
#include "twin/pair_report.h"
#include "web/handlers.h"
#include "web/report_cache.h"

static uint64_t hash_moves(uint64_t hash, const struct pair *pair, const struct pair_params *p,
                           enum side side)
{
    struct travel_move moves[PAIR_WINDOW_MAX];
    const size_t n = pair_moves(pair, p, side, moves);
    hash = hash_bytes(hash, &n, sizeof n);
    return hash_bytes(hash, moves, n * sizeof moves[0]);
}

/* What the report depends on: the moves and the filters. Not pair->version, which moves with
 * every sample of telemetry while the fit stays the same. */
static uint64_t key_of(const struct pair *pair, const struct pair_params *p)
{
    uint64_t hash = hash_text(p->id);
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct pair_side *s = &pair->side[side];
        hash = hash_moves(hash, pair, p, (enum side)side);
        hash = hash_bytes(hash, &s->kalman, sizeof s->kalman);
        hash = hash_bytes(hash, &s->moves, sizeof s->moves);
        hash = hash_bytes(hash, &s->moves_excluded, sizeof s->moves_excluded);
    }
    return hash;
}

void get_travel_time(const struct web_request *request, struct web_response *response)
{
    struct report_cache *reports = request->context->reports;
    const struct pair *pair = web_pair(request);
    const struct pair_params *p = web_pair_params(request);
    const struct report_name name = {(uint32_t)request->pair, request->route, key_of(pair, p)};
    if (!report_cache_get(reports, &name, &response->body, response->etag)) {
        struct web_writer w;
        pair_report_travel_time(web_write_start(&w, response), NULL, pair, p);
        web_write_end(&w);
        web_tag(response);
        report_cache_put(reports, &name, &response->body, response->etag);
    }
}

void get_tracked(const struct web_request *request, struct web_response *response)
{
    struct web_writer w;
    pair_report_tracked(web_write_start(&w, response), NULL, web_pair(request));
    web_write_end(&w);
    web_tag(response);
}

void get_clock(const struct web_request *request, struct web_response *response)
{
    struct web_writer w;
    pair_report_clock(web_write_start(&w, response), NULL, web_pair(request),
                      web_pair_params(request));
    web_write_end(&w);
    web_tag(response);
}

static void write_robot(struct json_writer *json, const struct web_request *request,
                        enum side side)
{
    const struct web_source *source = request->context->source;
    char text[WEB_MACHINES_MAX];
    const size_t bytes = source->machines(source->context, request->pair, side, text);
    if (bytes > 0) {
        json_write_raw(json, side_name(side), text, bytes);
    } else {
        json_write_null(json, side_name(side));
    }
}

void get_machines(const struct web_request *request, struct web_response *response)
{
    struct web_writer w;
    struct json_writer *json = web_write_start(&w, response);
    json_write_object(json, NULL);
    pair_report_machines(json, "tandem", web_pair(request), web_following(request),
                         web_pair_params(request));
    write_robot(json, request, SIDE_REAL);
    write_robot(json, request, SIDE_VIRTUAL);
    json_write_close(json);
    web_write_end(&w);
    web_tag(response);
}
