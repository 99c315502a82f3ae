#include "web/contract.h"

#include <inttypes.h>
#include <stdio.h>

#include "twin/base/hash.h"
#include "web/handlers.h"

void get_openapi(const struct web_request *request, struct web_response *response)
{
    (void)request;
    const uint64_t hash = hash_bytes(HASH_START, openapi_json, openapi_json_bytes);
    response->fixed = (const char *)openapi_json;
    response->fixed_bytes = openapi_json_bytes;
    (void)snprintf(response->etag, sizeof response->etag, "\"%016" PRIx64 "\"", hash);
}
