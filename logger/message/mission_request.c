#include "logger/message/mission_request.h"

#include <string.h>

const char mission_request_topic[] = "+/mission";

/* An id stands in paths and in the ids of commands. */
static bool is_fit(const char *id)
{
    const size_t n = strlen(id);
    return n > 0 && n <= MISSION_ID_LENGTH_MAX &&
           strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-") ==
               n;
}

static bool check_head(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    (void)seen;
    if (!is_fit(e->mission.id)) {
        return json_scan_fail(s, FAULT_BAD_NAME,
                              "an \"id\" of 1 to 40 characters out of A-Z a-z 0-9 _ . : - was "
                              "expected");
    }
    return e->mission.cancel == 1 || e->mission.kind[0] != '\0' ||
           json_scan_fail(s, FAULT_MISSING_KEY,
                          "a \"kind\", or \"cancel\": true, was expected");
}

static bool check_message(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    e->mission.raw = s->begin;
    e->mission.raw_bytes = (size_t)(s->end - s->begin);
    return check_head(s, e, seen);
}

/* clang-format off */
static const struct payload_member head_members[] = {
    {.name = "id", .required = true, .type = PAYLOAD_ID, PAYLOAD_IN(mission.id),
     .expected = "an \"id\" of at most 40 bytes was expected"},
    {.name = "kind", .type = PAYLOAD_WORD, PAYLOAD_IN(mission.kind),
     .expected = "a \"kind\" of at most 11 bytes was expected"},
    {.name = "cancel", .type = PAYLOAD_FLAG, PAYLOAD_IN(mission.cancel)},
    {.name = "by", .type = PAYLOAD_WORD, PAYLOAD_IN(mission.by),
     .expected = "a \"by\" of at most 23 bytes was expected"},
};
/* clang-format on */

static const struct payload_kind head_kind = {"mission", EVENT_MISSION,
                                              PAYLOAD_PART(mission, head_members),
                                              "an \"id\" was expected", check_head};
static const struct payload_kind message_kind = {"mission", EVENT_MISSION,
                                                 PAYLOAD_PART(mission, head_members),
                                                 "an \"id\" was expected", check_message};

/* ---- in a line of the daemon ---- */

static bool scan_mission(struct json_scan *s, struct event *e)
{
    struct json_scan inner;
    const char *text = NULL;
    size_t bytes = 0;
    if (json_scan_peek(s) != JSON_KIND_OBJECT) {
        return json_scan_fail(s, FAULT_OBJECT_EXPECTED,
                              "a \"mission\", an object, was expected");
    }
    if (!json_scan_skip(s, &text, &bytes)) {
        return false;
    }
    json_scan_start(&inner, text, bytes, PAYLOAD_DEPTH_MAX);
    e->mission.raw = text;
    e->mission.raw_bytes = bytes;
    return payload_scan_more(&inner, e, &head_kind) ||
           json_scan_fail(s, inner.fault, inner.error);
}

/* clang-format off */
static const struct payload_member order_members[] = {
    {.name = "pair", .required = true, .type = PAYLOAD_WORD, PAYLOAD_IN(pair),
     .expected = "a \"pair\" of at most 31 bytes was expected"},
    {.name = "mission", .required = true, .type = PAYLOAD_OTHER, .scan = scan_mission},
    {.name = "by", .type = PAYLOAD_WORD, PAYLOAD_IN(mission.by),
     .expected = "a \"by\" of at most 23 bytes was expected"},
};
/* clang-format on */

const struct payload_kind mission_order_kind = {"mission", EVENT_MISSION,
                                                PAYLOAD_PART(mission, order_members),
                                                "\"pair\" and \"mission\" were expected", NULL};

/* ---- topics ---- */

bool mission_request_decode(const char *prefix, const struct message *m, event_emit *emit,
                            void *context)
{
    const char *slash = strrchr(m->topic, '/');
    struct event e = {.pair = ""};
    if (!slash || strcmp(slash, mission_request_topic + 1) != 0 ||
        !payload_topic_pair(prefix, m->topic, slash, &e)) {
        return false;
    }
    (void)payload_decode(&message_kind, SIDE_COUNT, m, &e, emit, context);
    return true;
}
