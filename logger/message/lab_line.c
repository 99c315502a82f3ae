#include "logger/message/lab_line.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "logger/message/payload.h"

static const char MARK[] = "/$lab/";

static const struct payload_member away_members[] = {
    {.name = "away_s", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(away_us)},
};

static bool scan_away(struct json_scan *s, struct event *e)
{
    e->away_us = LAB_TIME_NONE;
    return payload_scan(s, e, away_members, COUNT(away_members), "\"away_s\" is missing") &&
           (e->away_us >= 0 || json_scan_fail(s, "an \"away_s\" of 0 or more was expected"));
}

static bool scan_active(struct json_scan *s, struct event *e)
{
    bool active = false;
    if (!json_scan_bool(s, &active)) {
        return false;
    }
    e->request.following.active = active ? 1 : 0;
    return true;
}

/* clang-format off */
static const struct payload_member request_members[] = {
    {.name = "pair", .required = true, .type = PAYLOAD_WORD, PAYLOAD_IN(pair),
     .expected = "a \"pair\" of at most 31 bytes was expected"},
    {.name = "action", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(request.action),
     .names = &request_action_names,
     .expected = "an \"action\" out of propose promote rollback identify following was expected"},
    {.name = "version", .type = PAYLOAD_WHOLE, PAYLOAD_IN(request.version), .max = UINT32_MAX,
     .expected = "a \"version\" of 0 or more was expected"},
    {.name = "by", .type = PAYLOAD_WORD, PAYLOAD_IN(request.by),
     .expected = "a \"by\" of at most 23 bytes was expected"},
    {.name = "side", .type = PAYLOAD_NAME, PAYLOAD_IN(request.side), .names = &side_names,
     .expected = "a \"side\" out of real virtual was expected"},
    {.name = "model", .type = PAYLOAD_WORD, PAYLOAD_IN(request.model),
     .expected = "a \"model\" of at most 31 bytes was expected"},
    {.name = "active", .type = PAYLOAD_OTHER, .scan = scan_active},
    {.name = "rejection", .type = PAYLOAD_NAME, PAYLOAD_IN(request.following.rejection),
     .names = &follower_rejection_names,
     .expected = "a \"rejection\" out of none integral observer was expected"},
    {.name = "bandwidth_radps", .type = PAYLOAD_REAL, PAYLOAD_IN(request.following.bandwidth_radps),
     .min = DBL_TRUE_MIN, .max = DBL_MAX, .expected = "a number above 0 was expected"},
    {.name = "observer_radps", .type = PAYLOAD_REAL, PAYLOAD_IN(request.following.observer_radps),
     .min = DBL_TRUE_MIN, .max = DBL_MAX, .expected = "a number above 0 was expected"},
    {.name = "pose_per_s2", .type = PAYLOAD_REAL, PAYLOAD_IN(request.following.pose_per_s2),
     .min = 0.0, .max = DBL_MAX, .expected = "a number of 0 or more was expected"},
};

static const struct payload_member fit_members[] = {
    {.name = "pair", .required = true, .type = PAYLOAD_WORD, PAYLOAD_IN(pair),
     .expected = "a \"pair\" of at most 31 bytes was expected"},
    {.name = "side", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(side), .names = &side_names,
     .expected = "a \"side\" out of real virtual was expected"},
    {.name = "job", .required = true, .type = PAYLOAD_WHOLE, PAYLOAD_IN(fit.job), .min = 1, .max = UINT32_MAX,
     .expected = "a \"job\" of 1 or more was expected"},
    {.name = "outcome", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(fit.outcome), .names = &fit_outcome_names,
     .expected = "an \"outcome\" out of done failed cancelled was expected"},
    {.name = "detail", .type = PAYLOAD_WORD, PAYLOAD_IN(fit.detail),
     .expected = "a \"detail\" of at most 103 bytes was expected"},
};
/* clang-format on */

static bool scan_request(struct json_scan *s, struct event *e)
{
    e->request = (struct event_request){.following = {.active = -1,
                                                      .rejection = -1,
                                                      .bandwidth_radps = -1.0,
                                                      .observer_radps = -1.0,
                                                      .pose_per_s2 = -1.0}};
    return payload_scan(s, e, request_members, COUNT(request_members),
                        "\"pair\" and \"action\" were expected");
}

static bool scan_fit(struct json_scan *s, struct event *e)
{
    e->fit = (struct event_fit){0};
    return payload_scan(s, e, fit_members, COUNT(fit_members),
                        "\"pair\", \"side\", \"job\" and \"outcome\" were expected");
}

/* What stands behind the mark; NULL when it is another topic. */
static const char *find_rest(const char *prefix, const char *topic)
{
    const size_t n = strlen(prefix);
    return strncmp(topic, prefix, n) == 0 && strncmp(topic + n, MARK, sizeof MARK - 1) == 0
               ? topic + n + sizeof MARK - 1
               : NULL;
}

bool lab_line_is(const char *prefix, const char *topic)
{
    return find_rest(prefix, topic) != NULL;
}

void lab_line_topic(const char *prefix, const char *what, char topic[MESSAGE_TOPIC_MAX])
{
    (void)snprintf(topic, MESSAGE_TOPIC_MAX, "%s%s%s", prefix, MARK, what);
}

size_t lab_line_decode(const char *prefix, const struct message *message, event_emit *emit,
                       void *context)
{
    static const struct payload_kind kinds[] = {
        {"start", EVENT_START, SIDE_COUNT, NULL},
        {"stop", EVENT_STOP, SIDE_COUNT, NULL},
        {"away", EVENT_AWAY, SIDE_COUNT, scan_away},
        {"request", EVENT_REQUEST, SIDE_COUNT, scan_request},
        {"fit", EVENT_FIT, SIDE_COUNT, scan_fit},
    };
    const char *rest = find_rest(prefix, message->topic);
    for (size_t i = 0; rest && i < COUNT(kinds); i++) {
        if (strcmp(rest, kinds[i].what) == 0) {
            struct event e = {.pair = "$lab"};
            return payload_decode(&kinds[i], message, &e, emit, context);
        }
    }
    return 0;
}
