/* web/resource/maps.c - GET of the map that a pair's robots make: what it is, and a picture. */
#include <inttypes.h>
#include <stdio.h>

#include "base/numbers/hash.h"
#include "twin/report/map_report.h"
#include "web/http/png.h"
#include "web/resource/handlers.h"

static const struct live_map *map_of(const struct web_request *request,
                                     struct web_response *response)
{
    const struct view *view = request->view;
    const struct live_map *map = view->maps ? view->maps[request->pair] : NULL;
    if (!map) {
        web_problem(request, response, PROBLEM_NO_MAP, NULL,
                    "this pair makes no map of its sweeps; give it live_map.range_m in the lab "
                    "file");
    }
    return map;
}

void get_map(const struct web_request *request, struct web_response *response)
{
    const struct live_map *map = map_of(request, response);
    if (map) {
        struct json_writer *w = web_tagged_json(response);
        JSON_OPEN(w, NULL, JSON("pair", request->params->id));
        map_report(w, map, &request->params->live_map);
        json_write_close(w);
    }
}

struct shown_map {
    const int8_t *odds;
    struct grid_place place;
};

static uint8_t colour_at(const void *context, size_t x, size_t y)
{
    const struct shown_map *m = context;
    return (uint8_t)grid_state_of(m->odds[(m->place.height - 1 - y) * m->place.width + x]);
}

/* Colours that differ from a white page and from a black one; what is unknown is transparent. */
void get_map_picture(const struct web_request *request, struct web_response *response)
{
    static const struct png_colour colours[GRID_STATE_COUNT] = {
        [GRID_STATE_UNKNOWN] = {0, 0, 0, 0},
        [GRID_STATE_FREE] = {120, 150, 190, 90},
        [GRID_STATE_OCCUPIED] = {105, 115, 130, 255}};
    const struct live_map *map = map_of(request, response);
    if (!map) {
        return;
    }
    const struct shown_map shown = {live_map_odds(map),
                                    live_map_place(&request->params->live_map)};
    const struct png_picture picture = {.width = shown.place.width,
                                        .height = shown.place.height,
                                        .colours = colours,
                                        .colour_count = GRID_STATE_COUNT,
                                        .colour_at = colour_at,
                                        .context = &shown};
    response->media_type = "image/png";
    (void)snprintf(
        response->etag, sizeof response->etag, "\"%016" PRIx64 "\"",
        hash_bytes(HASH_START, shown.odds, shown.place.width * shown.place.height));
    png_write(&picture, &response->body);
}
