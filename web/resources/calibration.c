#include "twin/report/pair_report.h"
#include "web/resources/handlers.h"

void get_travel_time(const struct web_request *request, struct web_response *response)
{
    struct web_writer w;
    struct pair_fits fits;
    request->view->fits(request->view, request->pair, &fits);
    pair_report_travel_time(web_write_start(&w, response), NULL, &fits);
    web_write_end(&w);
    web_tag(response);
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
    pair_report_clock(web_write_start(&w, response), NULL, web_pair(request));
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
