/* web/resource/captures.c - saved recordings of pairs around alarms and verdicts. */
#include <stdio.h>
#include <string.h>

#include "web/resource/handlers.h"

enum { ID_MAX = 80 };

static const struct {
    const char *end, *media_type;
} forms[] = {{".mcap", "application/octet-stream"}, {".jsonl", "application/jsonl"}};

void get_captures(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    struct json_writer *json = web_tagged_json(response);
    json_write_array(json, NULL);
    if (source->list_captures) {
        source->list_captures(source->captures, json);
    }
    json_write_close(json);
}

static void refuse_unknown(const struct web_request *request, struct web_response *response)
{
    web_problem(request, response, PROBLEM_NO_SUCH_CAPTURE, NULL,
                "there is no such capture, or it is still open; /api/v1/captures lists them");
}

/* Gets the last word of the path without its end; false: it has another one. */
static bool find_id(const struct web_request *request, const char *end, char id[ID_MAX])
{
    const char *word = strrchr(request->path, '/') + 1;
    const size_t n = strlen(word);
    const size_t m = strlen(end);
    if (n < m || n - m >= ID_MAX || strcmp(word + n - m, end) != 0) {
        return false;
    }
    (void)snprintf(id, ID_MAX, "%.*s", (int)(n - m), word);
    return true;
}

void get_capture(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    char id[ID_MAX];
    size_t form = 0;
    while (form < COUNT(forms) && !find_id(request, forms[form].end, id)) {
        form++;
    }
    if (form == COUNT(forms) || !source->read_capture) {
        refuse_unknown(request, response);
        return;
    }
    response->media_type = forms[form].media_type;
    const enum status status =
        source->read_capture(source->captures, id, form == 0, &response->body);
    if (status == STATUS_E_FULL) {
        web_problem(request, response, PROBLEM_INTERNAL, NULL,
                    "too large for one answer: copy it from the folder captures");
    } else if (status != STATUS_OK) {
        refuse_unknown(request, response);
    }
}

void delete_capture(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    char id[ID_MAX];
    if (!source->remove_capture || !find_id(request, "", id) ||
        source->remove_capture(source->captures, id) != STATUS_OK) {
        refuse_unknown(request, response);
        return;
    }
    JSON_WRITE_OBJECT(web_json(response), NULL, JSON("id", id));
}
