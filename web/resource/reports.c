/* web/resource/reports.c - reports of a pair: travel times, clocks, machines, trajectories
 * and the arm. */
#include "twin/report/arm_links_report.h"
#include "twin/report/following_report.h"
#include "twin/report/forecast_report.h"
#include "twin/report/pair_report.h"
#include "web/http/rays.h"
#include "web/resource/handlers.h"
#include "web/stream/trails.h"

void get_travel_time(const struct web_request *request, struct web_response *response)
{
    const bool next = request->query.given & QUERY_BIT(QUERY_GOAL);
    struct pair_fits fits;
    if (next && !forecast_report_plans(request->params)) {
        (void)web_problem(request, response, PROBLEM_BAD_PARAMETER, "goal",
                          "goal: moves are planned for robots that turn and drive");
        return;
    }
    request->view->fits(request->view, request->pair, &fits);
    struct json_writer *json = web_tagged_json(response);
    json_write_object(json, NULL);
    pair_report_fits(json, &fits);
    if (next) {
        forecast_report_next_move(json, "next_move", request->shown, request->params, &fits,
                                  request->query.goal_ratio);
    }
    json_write_close(json);
}

void get_tracked(const struct web_request *request, struct web_response *response)
{
    pair_report_tracked(web_tagged_json(response), NULL, request->shown, request->params);
}

void get_clock(const struct web_request *request, struct web_response *response)
{
    pair_report_clock(web_tagged_json(response), NULL, request->shown);
}

static void write_robot(struct json_writer *json, const struct web_request *request,
                        enum side side)
{
    const struct web_source *source = request->context->source;
    char text[WEB_MACHINES_MAX];
    const size_t bytes = source->machines(source->context, request->pair, side, text);
    json_write_raw(json, side_name(side), text, bytes);
}

void get_machines(const struct web_request *request, struct web_response *response)
{
    struct json_writer *json = web_tagged_json(response);
    json_write_object(json, NULL);
    pair_report_machines(json, "tandem", request->shown, request->following, request->params);
    write_robot(json, request, SIDE_REAL);
    write_robot(json, request, SIDE_VIRTUAL);
    json_write_close(json);
}

void get_trajectory(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    size_t bytes = 0;
    const char *map = source->map(source->context, request->pair, &bytes);
    const struct view *view = request->view;
    const struct live_map *live = view->maps ? view->maps[request->pair] : NULL;
    struct json_writer *json = web_tagged_json(response);
    JSON_OPEN(json, NULL, JSON("pair", request->params->id));
    trails_write(request->context->trails, json, request->pair);
    rays_write(source->rays, json, request->pair);
    following_report_frame(json, "aligned", request->following);
    json_write_raw(json, "map", map, bytes);
    JSON_WRITE(json, live ? JSON("sweeps", live->sweeps) : JSON_NULL("sweeps"));
    json_write_close(json);
}

void get_arm(const struct web_request *request, struct web_response *response)
{
    arm_links_report(web_tagged_json(response), NULL, request->shown, request->params);
}
