#include "web/resources/contract.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/hash.h"
#include "web/resources/handlers.h"

void get_openapi(const struct web_request *request, struct web_response *response)
{
    static atomic_uint_least64_t known; /* it is long, and never changes */
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
