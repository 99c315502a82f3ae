#include "web/http/next_link.h"

#include <stdio.h>
#include <string.h>

#include "web/http/percent.h"

static bool is_cursor(const char *parameter)
{
    char name[8];
    return percent_decode(parameter, strcspn(parameter, "=&"), name, sizeof name) &&
           strcmp(name, query_parameter_name(QUERY_CURSOR)) == 0;
}

void next_link(const struct web_request *request, const char *place, uint64_t salt,
               struct web_response *response)
{
    char *const link = response->link;
    const size_t size = sizeof response->link;
    char cursor[CURSOR_TEXT_MAX];
    cursor_write(place, salt, cursor);
    /* WEB_LINK_MAX has room for all of it. */
    int used = snprintf(link, size, "<%s?cursor=%s", request->path, cursor);
    for (const char *p = request->query_text; *p; p += *p == '&') {
        const int n = (int)strcspn(p, "&");
        if (n > 0 && !is_cursor(p)) {
            used += snprintf(link + used, size - (size_t)used, "&%.*s", n, p);
        }
        p += n;
    }
    (void)snprintf(link + used, size - (size_t)used, ">; rel=\"next\"");
}
