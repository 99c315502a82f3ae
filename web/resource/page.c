#include "web/resource/page.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "web/resource/handlers.h"

const struct page_file *page_find(const char *name)
{
    for (size_t i = 0; i < page_file_count; i++) {
        if (strcmp(page_files[i].name, name) == 0) {
            return &page_files[i];
        }
    }
    return NULL;
}

void get_page(const struct web_request *request, struct web_response *response)
{
    const struct page_file *file = page_find(request->id[0] ? request->id : "index.html");
    if (!file) {
        web_problem(request, response, PROBLEM_NOT_FOUND, NULL,
                    "the page has no such file; '/' is where it begins");
        return;
    }
    response->page = true;
    response->gzip = request->gzip;
    response->media_type = file->media_type;
    response->fixed = (const char *)(request->gzip ? file->gzip : file->bytes);
    response->fixed_bytes = request->gzip ? file->gzip_size : file->size;
    (void)snprintf(response->etag, sizeof response->etag, "%s",
                   request->gzip ? file->gzip_etag : file->etag);
}

void get_openapi(const struct web_request *request, struct web_response *response)
{
    /* The text is long and never changes, so its hash is computed once. */
    static atomic_uint_least64_t known;
    uint64_t hash = atomic_load(&known);
    (void)request;
    if (hash == 0) {
        hash = hash_bytes(HASH_START, openapi_json, openapi_json_bytes);
        atomic_store(&known, hash);
    }
    response->fixed = (const char *)openapi_json;
    response->fixed_bytes = openapi_json_bytes;
    (void)snprintf(response->etag, sizeof response->etag, "\"%016" PRIx64 "\"", hash);
}
