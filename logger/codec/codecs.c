#include "logger/codec/codecs.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "logger/message/codec_native.h"
#include "logger/message/mission_request.h"
#include "logger/message/team_forecast.h"
#include "logger/message/team_request.h"

#define CODEC(row) &(row),
const struct codec *const codecs[] = {
#include "logger/codec/codecs.def"
};
#undef CODEC
const size_t codec_count = COUNT(codecs);
_Static_assert(COUNT(codecs) <= CODECS_MAX, "room for a set of them all");

const struct codec *codec_find(const char *name)
{
    for (size_t i = 0; i < codec_count; i++) {
        if (strcmp(codecs[i]->name, name) == 0) {
            return codecs[i];
        }
    }
    return NULL;
}

size_t codec_own_at(const struct codec *codec)
{
    const size_t unit = _Alignof(max_align_t);
    size_t at = 0;
    for (size_t i = 0; i < codec_count && codecs[i] != codec; i++) {
        at += (codecs[i]->option_bytes + unit - 1) / unit * unit;
    }
    return at;
}

/* ---- the daemon's own lines ---- */

static const char MARK[] = "/$lab/";

static const struct payload_member away_members[] = {
    {.name = "away_s", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(away_us)},
};

static bool check_away(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    (void)seen;
    return e->away_us >= 0 ||
           json_scan_fail(s, FAULT_OUT_OF_RANGE, "an \"away_s\" of 0 or more was expected");
}

static const struct payload_member start_members[] = {
    {.name = "number_gap",
     .type = PAYLOAD_WHOLE,
     PAYLOAD_IN(start.number_gap),
     .max = UINT32_MAX,
     .expected = "a \"number_gap\" of 0 or more was expected"},
    {.name = "stream_number",
     .type = PAYLOAD_WHOLE,
     PAYLOAD_IN(start.stream_number),
     .max = 0x1p53,
     .expected = "a \"stream_number\" of 0 or more was expected"},
};

static const struct payload_member session_members[] = {
    {.name = "resumed", .required = true, .type = PAYLOAD_FLAG, PAYLOAD_IN(session.resumed)},
    {.name = "persistent", .type = PAYLOAD_FLAG, PAYLOAD_IN(session.persistent)},
    {.name = "away_s", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(session.away_us)},
    {.name = "unsure_s", .type = PAYLOAD_STAMP, PAYLOAD_IN(session.unsure_us)},
};

static bool check_session(struct json_scan *s, struct event *e, const struct payload_seen *seen)
{
    (void)seen;
    return e->session.away_us >= 0 ||
           json_scan_fail(s, FAULT_OUT_OF_RANGE, "an \"away_s\" of 0 or more was expected");
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
    {.name = "accept", .type = PAYLOAD_NAME, PAYLOAD_IN(request.accept), .names = &request_accept_names,
     .expected = "an \"accept\" out of any pass marginal was expected"},
    {.name = "active", .type = PAYLOAD_FLAG, PAYLOAD_IN(request.following.active), .absent = -1.0},
    {.name = "rejection", .type = PAYLOAD_NAME, PAYLOAD_IN(request.following.rejection),
     .names = &follower_rejection_names, .absent = -1.0,
     .expected = "a \"rejection\" out of none integral observer was expected"},
    {.name = "bandwidth_radps", .type = PAYLOAD_REAL, PAYLOAD_IN(request.following.bandwidth_radps), .absent = -1.0,
     .min = DBL_TRUE_MIN, .max = DBL_MAX, .expected = "a number above 0 was expected"},
    {.name = "observer_radps", .type = PAYLOAD_REAL, PAYLOAD_IN(request.following.observer_radps), .absent = -1.0,
     .min = DBL_TRUE_MIN, .max = DBL_MAX, .expected = "a number above 0 was expected"},
    {.name = "pose_per_s2", .type = PAYLOAD_REAL, PAYLOAD_IN(request.following.pose_per_s2), .absent = -1.0,
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

static const struct payload_member version_members[] = {
    {.name = "pair", .required = true, .type = PAYLOAD_WORD, PAYLOAD_IN(pair),
     .expected = "a \"pair\" of at most 31 bytes was expected"},
    {.name = "side", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(side), .names = &side_names,
     .expected = "a \"side\" out of real virtual was expected"},
    {.name = "version", .required = true, .type = PAYLOAD_WORD, PAYLOAD_IN(connection.version),
     .expected = "a \"version\" of at most 64 bytes was expected"},
};
/* clang-format on */

/* Returns the part of the topic behind "$lab/", or NULL if it is another topic. */
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

/* Returns the number of events; 0 for a line that has no event for the lab ("gap"). */
static size_t decode_lab_line(const char *prefix, const struct message *message,
                              event_emit *emit, void *context)
{
    static const struct payload_kind kinds[] = {
        {"start", EVENT_START, PAYLOAD_PART(start, start_members), NULL, NULL},
        {.what = "stop", .kind = EVENT_STOP},
        {.what = "time", .kind = EVENT_TICK},
        {"away", EVENT_AWAY, PAYLOAD_PART(away_us, away_members), "\"away_s\" is missing",
         check_away},
        {"session", EVENT_SESSION, PAYLOAD_PART(session, session_members),
         "\"resumed\" and \"away_s\" were expected", check_session},
        {"request", EVENT_REQUEST, PAYLOAD_PART(request, request_members),
         "\"pair\" and \"action\" were expected", NULL},
        {"fit", EVENT_FIT, PAYLOAD_PART(fit, fit_members),
         "\"pair\", \"side\", \"job\" and \"outcome\" were expected", NULL},
        {"version", EVENT_VERSION, PAYLOAD_PART(connection, version_members),
         "\"pair\", \"side\" and \"version\" were expected", NULL},
    };
    const char *rest = find_rest(prefix, message->topic);
    struct event e = {.pair = "$lab"};
    if (rest && strcmp(rest, team_order_kind.what) == 0 && team_request_has(message, "team")) {
        return payload_decode(&team_order_kind, SIDE_COUNT, message, &e, emit, context);
    }
    if (rest && strcmp(rest, "request") == 0 && team_request_has(message, "mission")) {
        return payload_decode(&mission_order_kind, SIDE_COUNT, message, &e, emit, context);
    }
    if (rest && strcmp(rest, TEAM_FORECAST_LINE) == 0) {
        return team_forecast_decode(message, emit, context);
    }
    for (size_t i = 0; rest && i < COUNT(kinds); i++) {
        if (strcmp(rest, kinds[i].what) == 0) {
            return payload_decode(&kinds[i], SIDE_COUNT, message, &e, emit, context);
        }
    }
    return 0;
}

/* ---- decoding ---- */

/* Passes on the events of one codec and drops those of pairs that speak another one. */
struct filter {
    const struct codec_set *set;
    const struct codec *codec;
    event_emit *emit;
    void *context;
    size_t count;
};

static void emit_filtered(void *context, const struct event *event)
{
    struct filter *f = context;
    const struct codec *spoken = f->set->speaks(f->set->context, event);
    /* An unknown pair is reported once, by the first codec. */
    if (spoken == f->codec || (!spoken && f->codec == f->set->codec[0])) {
        f->emit(f->context, event);
        f->count++;
    }
}

/* The pairs with a foreign codec that may own a topic. */
struct addressed {
    const struct codec_set *set;
    bool known; /* only the hits; else all pairs */
    struct topic_hits hits;
};

static void find_addressed(const struct codec_set *set, const char *topic, struct addressed *a)
{
    a->set = set;
    a->known = set->foreign && set->addressed && set->addressed(set->context, topic, &a->hits);
}

/* Gets the k-th pair; false if there are no more. */
static bool get_addressed(const struct addressed *a, size_t k, struct codec_pair *pair)
{
    return a->set->foreign && (!a->known || k < a->hits.count) &&
           a->set->foreign(a->set->context, a->known ? a->hits.whose[k] : k, pair);
}

/* Several pairs can share a topic: one twin can belong to more than one robot. */
static bool receive_foreign(const struct codec_set *set, const struct message *message,
                            event_emit *emit, void *context)
{
    struct codec_sink sink = set->sink;
    struct addressed addressed;
    struct codec_pair pair;
    bool received = false;
    sink.emit = emit;
    sink.context = context;
    find_addressed(set, message->topic, &addressed);
    for (size_t k = 0; get_addressed(&addressed, k, &pair); k++) {
        received = pair.codec->receive(&pair, message, &sink) || received;
    }
    return received;
}

size_t codec_decode(const struct codec_set *set, const char *prefix,
                    const struct message *message, event_emit *emit, void *context)
{
    if (lab_line_is(prefix, message->topic)) {
        return decode_lab_line(prefix, message, emit, context);
    }
    if (team_request_decode(prefix, message, emit, context) ||
        mission_request_decode(prefix, message, emit, context)) {
        return 1;
    }
    if (set && set->foreign && receive_foreign(set, message, emit, context)) {
        return 1;
    }
    if (set && set->count == 1 && !set->foreign) {
        return set->codec[0]->decode(prefix, message, emit, context);
    }
    if (set) {
        struct filter filter = {.set = set, .emit = emit, .context = context};
        for (size_t i = 0; i < set->count; i++) {
            filter.codec = set->codec[i];
            (void)filter.codec->decode(prefix, message, emit_filtered, &filter);
        }
        return filter.count;
    }
    size_t count = 0;
    for (size_t i = 0; count == 0 && i < codec_count; i++) {
        count = codecs[i]->decode ? codecs[i]->decode(prefix, message, emit, context) : 0;
    }
    return count;
}

/* Passes on sound events. A malformed one may be the line's own fault, and "$lab" is not a
 * pair, so both are left to the full parser. */
struct plain_sink {
    event_emit *emit;
    void *context;
    bool emitted;
};

static void emit_sound(void *context, const struct event *event)
{
    struct plain_sink *sink = context;
    if (event->kind != EVENT_MALFORMED && event->pair[0] != '$') {
        sink->emitted = true;
        sink->emit(sink->context, event);
    }
}

bool codec_read_plain(const struct codec_set *set, const char *prefix, const char *line,
                      size_t bytes, event_emit *emit, void *context)
{
    struct message m;
    struct plain_sink sink = {emit, context, false};
    const bool alone = set->count == 1 && !set->foreign && set->codec[0]->reads_whole;
    if (alone && message_parse_plain(line, bytes, &m)) {
        (void)set->codec[0]->decode(prefix, &m, emit_sound, &sink);
    }
    return sink.emitted;
}

bool codec_is_sample(const struct codec_set *set, const char *prefix, const char *topic)
{
    struct addressed addressed;
    struct codec_pair pair;
    bool sample = false;
    for (size_t i = 0; !sample && i < set->count; i++) {
        sample = set->codec[i]->is_sample(prefix, topic);
    }
    find_addressed(set, topic, &addressed);
    for (size_t k = 0; !sample && get_addressed(&addressed, k, &pair); k++) {
        sample = pair.codec->streams && pair.codec->streams(pair.options, topic);
    }
    return sample;
}

bool codec_encode(const struct codec *codec, const struct codec_out *out,
                  struct codec_message *message)
{
    const bool to_l1 = out->kind == CODEC_REPLY || out->kind == CODEC_NOTICE ||
                       (out->kind == CODEC_COMMAND && out->side == SIDE_COUNT);
    const struct codec *words = codec->receive && to_l1 ? &codec_native : codec;
    message->whole = words->receive != NULL;
    return words->encode && words->encode(out, message);
}
