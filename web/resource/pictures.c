/* web/resource/pictures.c - GET of a machine's drawing as SVG. */
#include <inttypes.h>
#include <stdio.h>

#include "base/numbers/hash.h"
#include "web/resource/handlers.h"

void get_picture(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    size_t bytes = 0;
    const char *svg =
        source->picture ? source->picture(source->context, request->id, &bytes) : NULL;
    if (!svg) {
        web_problem(
            request, response, PROBLEM_NOT_FOUND, NULL,
            "the lab has no picture of such a machine; the lab file's machines are those "
            "that it has");
        return;
    }
    response->media_type = "image/svg+xml";
    response->fixed = svg;
    response->fixed_bytes = bytes;
    (void)snprintf(response->etag, sizeof response->etag, "\"%016" PRIx64 "\"",
                   hash_bytes(HASH_START, svg, bytes));
}
