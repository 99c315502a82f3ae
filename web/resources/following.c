#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "logger/message/lab_line.h"
#include "twin/report/following_report.h"
#include "web/resources/handlers.h"

enum { WISH_MAX = 512 };

/* What the codec made of a wish. */
struct decoded {
    bool taken;
    struct event_following wish;
    char fault[sizeof((struct event_malformed *)0)->detail];
};

/* NULL after a problem document. */
static const struct pair_following *find_following(const struct web_request *request,
                                                   struct web_response *response)
{
    const struct pair_following *x = web_following(request);
    if (!x) {
        web_problem(
            request, response, PROBLEM_NO_FOLLOWING, NULL,
            "nobody follows in this pair: give it 'following: {model: usv3}' in the lab "
            "file");
    }
    return x;
}

void get_following(const struct web_request *request, struct web_response *response)
{
    struct web_writer w;
    const struct pair_following *x = find_following(request, response);
    if (x) {
        following_report(web_write_start(&w, response), NULL, x, web_pair_params(request));
        web_write_end(&w);
        web_tag(response);
    }
}

void get_fidelity(const struct web_request *request, struct web_response *response)
{
    struct web_writer w;
    const struct pair_following *x = find_following(request, response);
    if (x) {
        fidelity_report_write(web_write_start(&w, response), NULL, x, web_pair_params(request));
        web_write_end(&w);
        web_tag(response);
    }
}

static void write_number(struct json_writer *w, const char *key, double value)
{
    if (!isnan(value)) {
        json_write_real(w, key, value);
    }
}

/* The body's members as the lab's request; 0 after a problem document. */
static size_t make_request(const struct web_request *request, struct web_response *response,
                           char out[WISH_MAX])
{
    json_error_t error;
    int active = -1;
    const char *rejection = NULL;
    double bandwidth = nan("");
    double observer = nan("");
    double pose = nan("");
    struct json_writer w;
    json_t *body =
        json_loadb(request->body, request->body_bytes, JSON_REJECT_DUPLICATES, &error);
    if (json_object_size(body) == 0 ||
        json_unpack_ex(body, &error, JSON_STRICT, "{s?:b, s?:s, s?:F, s?:F, s?:F}", "active",
                       &active, "rejection", &rejection, "bandwidth_radps", &bandwidth,
                       "observer_radps", &observer, "pose_per_s2", &pose) != 0) {
        json_decref(body);
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    "an object was expected, of \"active\": true or false, \"rejection\": "
                    "\"none\", \"integral\" or \"observer\", and the numbers "
                    "\"bandwidth_radps\", \"observer_radps\" and \"pose_per_s2\"");
        return 0;
    }
    json_write_start(&w, out, WISH_MAX, NULL, NULL);
    json_write_object(&w, NULL);
    json_write_text(&w, "pair", request->id);
    json_write_text(&w, "action", request_action_name(REQUEST_FOLLOWING));
    json_write_text(&w, "by", "http");
    if (active >= 0) {
        json_write_bool(&w, "active", active != 0);
    }
    if (rejection) {
        json_write_text(&w, "rejection", rejection);
    }
    write_number(&w, "bandwidth_radps", bandwidth);
    write_number(&w, "observer_radps", observer);
    write_number(&w, "pose_per_s2", pose);
    json_write_close(&w);
    json_decref(body);
    const bool whole = json_write_end(&w);
    assert(whole); /* escapes need no more room than in a body of 256 bytes */
    return whole ? w.used : 0;
}

static void keep_wish(void *context, const struct event *event)
{
    struct decoded *d = context;
    if (event->kind == EVENT_REQUEST) {
        d->taken = true;
        d->wish = event->request.following;
    } else if (event->kind == EVENT_MALFORMED) {
        memcpy(d->fault, event->malformed.detail, sizeof d->fault);
    }
}

/* The codec and the law judge, as they will when the lab takes it in. */
static bool check_wish(const struct web_request *request, struct web_response *response,
                       const struct pair_following *x, const char *text, size_t bytes)
{
    struct message message = {.payload = text, .kept_bytes = bytes, .payload_bytes = bytes};
    struct decoded d = {.taken = false};
    struct err err = {0};
    lab_line_topic(request->view->prefix, "request", message.topic);
    (void)lab_line_decode(request->view->prefix, &message, keep_wish, &d);
    if (!d.taken) {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL, d.fault);
        return false;
    }
    if (pair_following_check_wish(x, &web_pair_params(request)->following, &d.wish, &err) !=
        STATUS_OK) {
        web_problem_err(request, response, PROBLEM_BAD_BODY, &err);
        return false;
    }
    return true;
}

void put_following(const struct web_request *request, struct web_response *response)
{
    char text[WISH_MAX];
    const struct pair_following *x = find_following(request, response);
    const size_t bytes = x ? make_request(request, response, text) : 0;
    if (bytes > 0 && check_wish(request, response, x, text, bytes)) {
        web_submit(request, response, REQUEST_FOLLOWING, text, bytes);
    }
}
