#include "web/resources/handlers.h"
#include "web/stream/trails.h"

void get_trajectory(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    size_t bytes = 0;
    const char *map = source->map(source->context, request->pair, &bytes);
    struct web_writer w;
    struct json_writer *json = web_write_start(&w, response);
    json_write_object(json, NULL);
    json_write_text(json, "pair", web_pair_params(request)->id);
    trails_write(request->context->trails, json, request->pair);
    if (map) {
        json_write_raw(json, "map", map, bytes);
    } else {
        json_write_null(json, "map");
    }
    json_write_close(json);
    web_write_end(&w);
    web_tag(response);
}
