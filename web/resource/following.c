/* web/resource/following.c - a pair's following and fidelity: their state, and requests to
 * start, stop or change it. */
#include <assert.h>
#include <stdio.h>

#include <jansson.h>

#include "logger/codec/codecs.h"
#include "twin/report/following_report.h"
#include "web/resource/handlers.h"
#include "web/stream/motion_history.h"

enum { REQUEST_MAX = 512 };

static const struct pair_following *find_following(const struct web_request *request,
                                                   struct web_response *response)
{
    return find_part(request, response, request->following, PROBLEM_NO_FOLLOWING,
                     "this pair does not follow", "following");
}

void get_following(const struct web_request *request, struct web_response *response)
{
    const struct pair_following *x = find_following(request, response);
    if (x) {
        following_report(web_tagged_json(response), NULL, x, request->params);
    }
}

void get_following_motion(const struct web_request *request, struct web_response *response)
{
    if (find_following(request, response)) {
        struct json_writer *w = web_tagged_json(response);
        JSON_OPEN(w, NULL, JSON("pair", request->params->id));
        motion_history_write(request->context->motions, w, request->view, request->pair);
        json_write_close(w);
    }
}

void get_fidelity(const struct web_request *request, struct web_response *response)
{
    const struct pair_following *x = find_following(request, response);
    if (x) {
        fidelity_report_write(web_tagged_json(response), NULL, x, request->params);
    }
}

/* Converts the body to a request to the lab; 0 after a problem document. */
static size_t make_request(const struct web_request *request, struct web_response *response,
                           char out[REQUEST_MAX])
{
    json_error_t error;
    int active = 0;
    const char *rejection = NULL;
    double gain[3];
    size_t bytes = 0;
    json_t *body =
        json_loadb(request->body, request->body_bytes, JSON_REJECT_DUPLICATES, &error);
    if (json_object_size(body) > 0 &&
        json_unpack_ex(body, &error, JSON_STRICT, "{s?:b, s?:s, s?:F, s?:F, s?:F}", "active",
                       &active, "rejection", &rejection, "bandwidth_radps", &gain[0],
                       "observer_radps", &gain[1], "pose_per_s2", &gain[2]) == 0) {
        json_t *request_json = json_pack(
            "{s:s, s:s, s:s, s:O*, s:O*, s:O*, s:O*, s:O*}", "pair", request->id, "action",
            request_action_name(REQUEST_FOLLOWING), "by", "http", "active",
            json_object_get(body, "active"), "rejection", json_object_get(body, "rejection"),
            "bandwidth_radps", json_object_get(body, "bandwidth_radps"), "observer_radps",
            json_object_get(body, "observer_radps"), "pose_per_s2",
            json_object_get(body, "pose_per_s2"));
        bytes = json_dumpb(request_json, out, REQUEST_MAX, JSON_COMPACT);
        assert(bytes <=
               REQUEST_MAX); /* escapes need no more room than in a body of 256 bytes */
        json_decref(request_json);
    } else {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    "an object was expected, of \"active\": true or false, \"rejection\": "
                    "\"none\", \"integral\" or \"observer\", and the numbers "
                    "\"bandwidth_radps\", \"observer_radps\" and \"pose_per_s2\"");
    }
    json_decref(body);
    return bytes;
}

/* The codec and the control law check it, as they will when the lab processes it. */
static bool check_request(const struct web_request *request, struct web_response *response,
                          const struct pair_following *x, const char *text, size_t bytes)
{
    struct message message = {.payload = text, .stored_bytes = bytes, .payload_bytes = bytes};
    struct event event = {.kind = EVENT_KIND_COUNT};
    struct err err = {0};
    lab_line_topic(request->view->prefix, "request", message.topic);
    (void)codec_decode(NULL, request->view->prefix, &message, codec_copy_event, &event);
    if (event.kind != EVENT_REQUEST) {
        return web_problem_malformed(request, response, &event);
    }
    if (pair_following_check_request(x, request->params->following, &event.request.following,
                                     &err) != STATUS_OK) {
        return web_problem_err(request, response, PROBLEM_BAD_BODY, &err);
    }
    return true;
}

void put_following(const struct web_request *request, struct web_response *response)
{
    char text[REQUEST_MAX];
    const struct pair_following *x = find_following(request, response);
    const size_t bytes = x ? make_request(request, response, text) : 0;
    if (bytes > 0 && check_request(request, response, x, text, bytes)) {
        web_submit(request, response, request_action_name(REQUEST_FOLLOWING), text, bytes);
    }
}
