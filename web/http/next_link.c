#include "web/http/next_link.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/lab_time.h"
#include "logger/message/record.h"

/* One more "&name=value" when that parameter was given. */
static size_t put(const struct query *query, enum query_parameter parameter, const char *value,
                  char *out, size_t used, size_t size)
{
    if (!(query->given & QUERY_BIT(parameter)) || used >= size) {
        return used;
    }
    const int n =
        snprintf(out + used, size - used, "&%s=%s", query_parameter_name(parameter), value);
    return n > 0 ? used + (size_t)n : used;
}

void next_link(const struct web_request *request, const char *place, uint64_t salt,
               struct web_response *response)
{
    const struct query *q = &request->query;
    char since[JSON_WRITE_NUMBER_MAX];
    char until[JSON_WRITE_NUMBER_MAX];
    char limit[16];
    char out[256];
    size_t used = 0;
    char cursor[CURSOR_TEXT_MAX];
    cursor_write(place, salt, cursor);
    (void)json_format_seconds(q->since_us, since);
    (void)json_format_seconds(q->until_us, until);
    (void)snprintf(limit, sizeof limit, "%" PRIu32, q->limit);
    out[0] = '\0';
    used = put(q, QUERY_LIMIT, limit, out, used, sizeof out);
    used = put(q, QUERY_SINCE, since, out, used, sizeof out);
    used = put(q, QUERY_UNTIL, until, out, used, sizeof out);
    used = put(q, QUERY_ORDER, q->oldest ? "oldest" : "newest", out, used, sizeof out);
    used = put(q, QUERY_FORMAT, q->format == QUERY_FORMAT_CSV ? "csv" : "json", out, used,
               sizeof out);
    used = put(q, QUERY_VERDICT, verdict_name((enum verdict)q->verdict), out, used, sizeof out);
    used = put(q, QUERY_TYPE, alarm_type_name((enum alarm_type)q->type), out, used, sizeof out);
    /* Everything above is bounded and fits; a cut link would be a wrong one. */
    if (used < sizeof out) {
        (void)snprintf(response->link, sizeof response->link, "<%s?cursor=%s%s>; rel=\"next\"",
                       request->path, cursor, out);
    }
}
