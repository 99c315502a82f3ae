#include "logger/message/team_request.h"

#include <string.h>

/* ---- members ---- */

static bool add_resource(struct json_scan *s, struct event_team *t,
                         const struct json_text *name)
{
    if (t->resource_count == EVENT_TEAM_WANT_MAX) {
        return json_scan_fail(s, FAULT_TOO_MANY, "at most 16 resources were expected");
    }
    char *to = t->resources[t->resource_count];
    const size_t n = json_text_copy(name, to, EVENT_TEAM_NAME_MAX, false);
    if (n == 0 || n >= EVENT_TEAM_NAME_MAX || strlen(to) < n) {
        return json_scan_fail(s, FAULT_TOO_LONG,
                              "a resource's name of 1 to 31 bytes was expected");
    }
    for (size_t i = 0; i < t->resource_count; i++) {
        if (strcmp(t->resources[i], to) == 0) {
            return json_scan_fail(s, FAULT_DUPLICATE_NAME,
                                  "each resource may be named once only");
        }
    }
    t->resource_count++;
    return true;
}

static bool scan_resource(struct json_scan *s, struct event *e)
{
    struct json_text name;
    return json_scan_text(s, &name) && add_resource(s, &e->team, &name);
}

static bool scan_resources(struct json_scan *s, struct event *e)
{
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        if (!scan_resource(s, e)) {
            return false;
        }
    }
    return !s->error;
}

static bool scan_number(struct json_scan *s, int64_t *fence)
{
    static const double most = 9007199254740992.0; /* beyond it doubles skip integers */
    double value = 0.0;
    if (!json_scan_number(s, &value)) {
        return false;
    }
    *fence = value >= 1.0 && value < most ? (int64_t)value : 0;
    return (*fence > 0 && (double)*fence >= value) ||
           json_scan_fail(s, FAULT_WHOLE_NUMBER_EXPECTED,
                          "a fence, a whole number of 1 or more, was expected");
}

/* The fence of the only resource. */
static bool scan_fence(struct json_scan *s, struct event *e)
{
    return scan_number(s, &e->team.fences[0]);
}

/* Parses {"IB": 17, …}: resources with their fences. */
static bool scan_fences(struct json_scan *s, struct event *e)
{
    struct json_text name;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_member(s, &name)) {
        if (!add_resource(s, &e->team, &name) ||
            !scan_number(s, &e->team.fences[e->team.resource_count - 1])) {
            return false;
        }
    }
    return !s->error;
}

/* ---- members that must occur together ---- */

static bool fail_unless(struct json_scan *s, bool fine, const char *expected)
{
    return fine || json_scan_fail(s, FAULT_UNEXPECTED_VALUE, expected);
}

static bool check_fences(struct json_scan *s, const struct event_team *t)
{
    bool all = t->resource_count > 0;
    for (size_t i = 0; i < t->resource_count; i++) {
        all = all && t->fences[i] > 0;
    }
    return fail_unless(s, all,
                       "\"resources\": [one] with its \"fence\", or \"fences\": {name: fence}, "
                       "was expected");
}

static bool check_request(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    const struct event_team *t = &e->team;
    (void)seen;
    const bool of_all = t->op == TEAM_OP_START || t->op == TEAM_OP_STOP;
    if (t->op > TEAM_OP_ALIVE && !of_all) {
        return json_scan_fail(s, FAULT_UNKNOWN_VALUE,
                              "an \"op\" out of lock unlock alive start stop was expected "
                              "here");
    }
    if (!fail_unless(s, of_all || t->robot[0], "a \"robot\" was expected")) {
        return false;
    }
    if (t->op == TEAM_OP_ALIVE) {
        return true;
    }
    if (of_all) {
        return fail_unless(s, t->id[0] != '\0', "an \"id\" was expected");
    }
    return fail_unless(s, t->id[0] != '\0', "an \"id\" was expected: it is answered by it") &&
           (t->op == TEAM_OP_UNLOCK
                ? check_fences(s, t)
                : fail_unless(s, t->resource_count > 0, "\"resources\" were expected"));
}

static bool check_job(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    (void)seen;
    e->team.op = TEAM_OP_JOB;
    return fail_unless(s, e->team.id[0] != '\0', "an \"id\" was expected: it names the job");
}

static bool check_operation(struct json_scan *s, struct event *e,
                            const struct payload_seen *seen)
{
    const struct event_team *t = &e->team;
    switch (t->op) {
    case TEAM_OP_LOCK:
    case TEAM_OP_UNLOCK:
    case TEAM_OP_ALIVE:
        return check_request(s, e, seen);
    case TEAM_OP_RESET:
    case TEAM_OP_SKIP:
    case TEAM_OP_ABORT:
        return fail_unless(s, t->robot[0] != '\0', "a \"robot\" was expected");
    case TEAM_OP_RELEASE:
        return fail_unless(s, t->resource_count == 1, "one \"resource\" was expected") &&
               check_fences(s, t);
    case TEAM_OP_JOB:
        return check_job(s, e, seen) && fail_unless(s, t->part[0] && t->sequence[0],
                                                    "a \"part\" and a \"seq\" were expected");
    case TEAM_OP_SENT:
        return fail_unless(s, t->robot[0] && t->id[0] && e->side < SIDE_COUNT,
                           "\"robot\", \"id\" and \"side\" were expected");
    case TEAM_OP_START:
    case TEAM_OP_STOP:
    case TEAM_OP_COUNT:
        break;
    }
    return true;
}

/* ---- the tables ---- */

/* clang-format off */
#define ID_ROW(needed) \
    {.name = "id", .required = (needed), .type = PAYLOAD_ID, PAYLOAD_IN(team.id), \
     .expected = "an \"id\" of at most 47 bytes was expected"}
#define NAME_ROW(word, member, needed, text) \
    {.name = word, .required = (needed), .type = PAYLOAD_WORD, PAYLOAD_IN(team.member), .expected = (text)}
#define OP_ROW \
    {.name = "op", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(team.op), .names = &team_op_names, \
     .expected = "an \"op\" out of lock unlock alive job release reset skip abort start stop was expected"}
#define PLACE_ROWS \
    {.name = "resources", .type = PAYLOAD_OTHER, .scan = scan_resources}, \
    {.name = "resource", .type = PAYLOAD_OTHER, .scan = scan_resource}, \
    {.name = "fence", .type = PAYLOAD_OTHER, .scan = scan_fence}, \
    {.name = "fences", .type = PAYLOAD_OTHER, .scan = scan_fences}
#define JOB_ROWS(needed) \
    NAME_ROW("part", part, needed, "a \"part\" of at most 31 bytes was expected"), \
    NAME_ROW("seq", sequence, needed, "a \"seq\" of at most 31 bytes was expected"), \
    NAME_ROW("home", home, false, "a \"home\" of at most 31 bytes was expected")

static const struct payload_member request_members[] = {
    ID_ROW(false), OP_ROW,
    NAME_ROW("robot", robot, false, "a \"robot\" of at most 31 bytes was expected"),
    PLACE_ROWS,
};

static const struct payload_member job_members[] = {ID_ROW(true), JOB_ROWS(true)};

static const struct payload_member order_members[] = {
    {.name = "team", .required = true, .type = PAYLOAD_WORD, PAYLOAD_IN(pair),
     .expected = "a \"team\" of at most 31 bytes was expected"},
    ID_ROW(false), OP_ROW,
    NAME_ROW("robot", robot, false, "a \"robot\" of at most 31 bytes was expected"),
    PLACE_ROWS, JOB_ROWS(false),
    NAME_ROW("by", by, false, "a \"by\" of at most 23 bytes was expected"),
    NAME_ROW("reason", reason, false, "a \"reason\" of at most 95 bytes was expected"),
    {.name = "side", .type = PAYLOAD_NAME, PAYLOAD_IN(side), .names = &side_names,
     .expected = "a \"side\" out of real virtual was expected"},
};
/* clang-format on */

const struct payload_kind team_request_kind = {"request", EVENT_TEAM,
                                               PAYLOAD_PART(team, request_members),
                                               "\"op\" was expected", check_request};
const struct payload_kind team_job_kind = {"job", EVENT_TEAM, PAYLOAD_PART(team, job_members),
                                           "\"id\", \"part\" and \"seq\" were expected",
                                           check_job};
const struct payload_kind team_order_kind = {
    "request", EVENT_TEAM, PAYLOAD_PART(team, order_members),
    "\"team\" and \"op\" were expected", check_operation};

bool team_request_has(const struct message *message, const char *member)
{
    struct json_scan s;
    struct json_text key;
    json_scan_start(&s, message->payload, message->stored_bytes, PAYLOAD_DEPTH_MAX);
    if (!json_scan_enter(&s, JSON_KIND_OBJECT)) {
        return false;
    }
    while (json_scan_next_member(&s, &key)) {
        if (json_text_is(&key, member)) {
            return true;
        }
        (void)json_scan_skip(&s, NULL, NULL);
    }
    return false;
}

/* ---- topics ---- */

static const struct topic_row {
    const char *filter; /* "+" and a word */
    const struct payload_kind *kind;
} topic_rows[] = {{"+/request", &team_request_kind}, {"+/job", &team_job_kind}};

const char *const team_request_topics[] = {"+/request", "+/job"};
_Static_assert(COUNT(team_request_topics) == COUNT(topic_rows), "a topic for each row");
const size_t team_request_topic_count = COUNT(team_request_topics);

bool team_request_decode(const char *prefix, const struct message *m, event_emit *emit,
                         void *context)
{
    const char *slash = strrchr(m->topic, '/');
    struct event e = {.pair = ""};
    size_t k = 0;
    while (k < COUNT(topic_rows) && !(slash && strcmp(slash, topic_rows[k].filter + 1) == 0)) {
        k++;
    }
    if (k == COUNT(topic_rows) || !payload_topic_pair(prefix, m->topic, slash, &e)) {
        return false;
    }
    (void)payload_decode(topic_rows[k].kind, SIDE_COUNT, m, &e, emit, context);
    return true;
}
