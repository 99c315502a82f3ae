#include "service/evidence/slice_mcap.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/text/text.h"
#include "config/labfile/lab_secrets.h"
#include "logger/message/json_scan.h"
#include "logger/message/message.h"
#include "logger/mcap/mcap_writer.h"
#include "service/evidence/message_schema.h"
#include "service/replay/rows.h"
#include "service/tool/version.h"

enum { NS_PER_US = 1000 };

/* Ends of topics, behind "<prefix>/<pair>/" and the side, and their schemas. */
static const struct topic_schema {
    const char *end, *name;
    const unsigned char *text;
    const size_t *bytes;
} schemas[] = {
    {"command", "tandem.command", schema_command, &schema_command_bytes},
    {"reply", "tandem.reply", schema_reply, &schema_reply_bytes},
    {"telemetry", "tandem.telemetry", schema_telemetry, &schema_telemetry_bytes},
    {"connection", "tandem.connection", schema_connection, &schema_connection_bytes},
    {"echo", "tandem.echo", schema_echo, &schema_echo_bytes},
    {"parameters/ack", "tandem.ack", schema_ack, &schema_ack_bytes},
    {"pose/ack", "tandem.pose_ack", schema_pose_ack, &schema_pose_ack_bytes},
    {"entry", "tandem.entry", schema_entry, &schema_entry_bytes},
    {"alarm", "tandem.alarm", schema_alarm, &schema_alarm_bytes},
};

/* The form of a payload. */
enum form { FORM_RAW, FORM_JSON, FORM_OBJECT, FORM_LIST };

struct slice_mcap {
    const struct slice_request *request;
    struct mcap_writer *writer;
    uint16_t schema[COUNT(schemas)]; /* ids */
    json_t *channels;                /* ids by topic and properties */
    uint32_t lists;
};

enum status slice_mcap_open(const struct slice_request *request, FILE *to,
                            struct slice_mcap **out)
{
    struct slice_mcap *m = calloc(1, sizeof *m);
    json_t *channels = json_object();
    struct mcap_writer *writer = NULL;
    if (!m || !channels ||
        mcap_writer_open(to, "tandem " TANDEM_VERSION, &writer) != STATUS_OK) {
        free(m);
        json_decref(channels);
        return STATUS_E_NOMEM;
    }
    *m = (struct slice_mcap){.request = request, .writer = writer, .channels = channels};
    for (size_t i = 0; i < COUNT(schemas); i++) {
        m->schema[i] =
            mcap_add_schema(writer, schemas[i].name, schemas[i].text, *schemas[i].bytes);
    }
    *out = m;
    return STATUS_OK;
}

void slice_mcap_close(struct slice_mcap *mcap)
{
    if (mcap) {
        mcap_writer_close(mcap->writer);
        json_decref(mcap->channels);
        free(mcap);
    }
}

/* --- channels -------------------------------------------------------------------------------
 */

/* The properties that all messages of a channel share. */
struct properties {
    const char *topic, *pair, *side; /* pair "", side NULL: none */
    size_t schema;                   /* COUNT(schemas): none */
    enum form form;
    int qos;
    bool retained, dup;
    bool made; /* by the replay, so it is no line of the journal */
};

static uint16_t add_channel(struct slice_mcap *m, const struct properties *p)
{
    static const char *const digits[] = {"0", "1", "2"};
    const struct {
        bool has;
        struct mcap_pair pair;
    } rows[] = {{p->pair[0], {"pair", p->pair}},      {p->side, {"side", p->side}},
                {p->made, {"made_by", "replay"}},     {!p->made, {"qos", digits[p->qos]}},
                {p->retained, {"retain", "1"}},       {p->dup, {"dup", "1"}},
                {p->form == FORM_LIST, {"list", "1"}}};
    struct mcap_pair pairs[COUNT(rows) + 1];
    size_t n = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        pairs[n] = rows[i].pair;
        n += rows[i].has;
    }
    pairs[n] = (struct mcap_pair){NULL, NULL};
    const struct mcap_channel channel = {
        .schema = p->schema < COUNT(schemas) ? m->schema[p->schema] : 0,
        .topic = p->topic,
        .encoding = p->form == FORM_RAW ? "" : "json",
        .metadata = pairs};
    return mcap_add_channel(m->writer, &channel);
}

static uint16_t find_channel(struct slice_mcap *m, const struct properties *p)
{
    char key[MESSAGE_TOPIC_MAX + 32];
    (void)snprintf(key, sizeof key, "%d %d %d %d %d %s", (int)p->form, p->qos, p->retained,
                   p->dup, p->made, p->topic);
    const json_t *known = json_object_get(m->channels, key);
    if (known) {
        return (uint16_t)json_integer_value(known);
    }
    const uint16_t channel = add_channel(m, p);
    return json_object_set_new_nocheck(m->channels, key, json_integer(channel)) == 0
               ? channel
               : MCAP_IDS_MAX; /* the writer fails then */
}

/* --- messages -------------------------------------------------------------------------------
 */

static size_t find_schema(const char *end)
{
    size_t i = 0;
    while (i < COUNT(schemas) && strcmp(schemas[i].end, end) != 0) {
        i++;
    }
    return i;
}

/* Finds the schema of a topic of Tandem's own: "<prefix>/<pair>/[<side>/]<end>". */
static size_t schema_of(const char *prefix, const char *pair, const char *topic)
{
    const size_t n = strlen(prefix);
    const size_t m = strlen(pair);
    if (m == 0 || strncmp(topic, prefix, n) != 0 || topic[n] != '/' ||
        strncmp(topic + n + 1, pair, m) != 0 || topic[n + 1 + m] != '/') {
        return COUNT(schemas);
    }
    const char *end = topic + n + m + 2;
    const char *slash = strchr(end, '/');
    const size_t found = find_schema(end);
    return found < COUNT(schemas) || !slash ? found : find_schema(slash + 1);
}

static enum form form_of(const struct message *message)
{
    struct json_scan s;
    json_scan_start(&s, message->payload, message->stored_bytes, JSON_SCAN_DEPTH_MAX);
    const enum json_kind kind = json_scan_peek(&s);
    if (!json_scan_skip(&s, NULL, NULL) || !json_scan_finish(&s)) {
        return FORM_RAW;
    }
    return kind == JSON_KIND_OBJECT  ? FORM_OBJECT
           : kind == JSON_KIND_ARRAY ? FORM_LIST
                                     : FORM_JSON;
}

/* Is it a list of objects, one at least? */
static bool is_list_of_objects(const struct message *message)
{
    struct json_scan s;
    bool objects = false;
    json_scan_start(&s, message->payload, message->stored_bytes, JSON_SCAN_DEPTH_MAX);
    if (json_scan_enter(&s, JSON_KIND_ARRAY)) {
        while (json_scan_next_item(&s)) {
            if (json_scan_peek(&s) != JSON_KIND_OBJECT) {
                return false;
            }
            objects = json_scan_skip(&s, NULL, NULL);
        }
    }
    return objects;
}

static uint64_t to_ns(int64_t t_us)
{
    return t_us > 0 ? (uint64_t)t_us * NS_PER_US : 0;
}

/* The time of sending of a line's i-th message; unknown: that of its arrival. */
static uint64_t sent_ns(const struct slice_line *line, size_t i)
{
    const bool known = i < line->sent_count && line->sent_us[i] != LAB_TIME_NONE;
    return to_ns(known ? line->sent_us[i] : line->message->t_us);
}

static void write_items(struct slice_mcap *m, uint16_t channel, const struct slice_line *line)
{
    struct json_scan s;
    const char *from = NULL;
    size_t bytes = 0;
    size_t i = 0;
    m->lists++;
    json_scan_start(&s, line->message->payload, line->message->stored_bytes,
                    JSON_SCAN_DEPTH_MAX);
    if (json_scan_enter(&s, JSON_KIND_ARRAY)) {
        while (json_scan_next_item(&s) && json_scan_skip(&s, &from, &bytes)) {
            mcap_write(m->writer, channel, m->lists, to_ns(line->message->t_us),
                       sent_ns(line, i++), from, bytes);
        }
    }
}

void slice_mcap_line(void *context, const struct slice_line *line)
{
    struct slice_mcap *m = context;
    const struct message *message = line->message;
    if (!message) {
        return;
    }
    struct properties p = {
        .topic = message->topic,
        .pair = line->pair,
        .side = line->side < SIDE_COUNT ? side_name(line->side) : NULL,
        .schema = schema_of(m->request->lab->broker.prefix, line->pair, message->topic),
        .form = form_of(message),
        .qos = message->qos,
        .retained = message->retained,
        .dup = message->dup};
    const bool split =
        p.form == FORM_LIST && p.schema < COUNT(schemas) && is_list_of_objects(message);
    p.form = p.form == FORM_LIST && !split ? FORM_JSON : p.form;
    p.schema = p.form >= FORM_OBJECT ? p.schema : COUNT(schemas);
    const uint16_t channel = find_channel(m, &p);
    if (split) {
        write_items(m, channel, line);
    } else {
        mcap_write(m->writer, channel, message->packet_id, to_ns(message->t_us),
                   sent_ns(line, 0), message->payload, message->stored_bytes);
    }
}

void slice_mcap_record(void *context, const struct effect *effect, const char *pair)
{
    struct slice_mcap *m = context;
    struct record_row row;
    char topic[MESSAGE_TOPIC_MAX];
    const bool entry = effect->kind == EFFECT_ENTRY;
    if (entry) {
        row_of_entry(&row, effect->entry, pair);
    } else {
        row_of_alarm(&row, effect->alarm, pair);
    }
    (void)snprintf(topic, sizeof topic, "%s/%s/%s", m->request->lab->broker.prefix, pair,
                   entry ? "entry" : "alarm");
    const struct properties p = {.topic = topic,
                                 .pair = pair,
                                 .schema = find_schema(entry ? "entry" : "alarm"),
                                 .form = FORM_OBJECT,
                                 .made = true};
    const uint64_t t_ns = to_ns(effect->t_us);
    mcap_write(m->writer, find_channel(m, &p), 0, t_ns, t_ns, row.json, row.row.json_bytes);
}

/* --- the end --------------------------------------------------------------------------------
 */

static void format_bound(int64_t t_us, char text[40])
{
    if (t_us == LAB_TIME_NONE || t_us == LAB_TIME_MAX) {
        text[0] = '\0';
    } else {
        (void)snprintf(text, 40, "%.6f", lab_s(t_us));
    }
}

static void join_pairs(const struct slice_request *request, char *text, size_t room)
{
    (void)snprintf(text, room, "%s", request->pair_count > 0 ? "" : "all");
    for (size_t i = 0; i < request->pair_count; i++) {
        text_append(text, room, "%s%s", i > 0 ? "," : "", request->pairs[i]);
    }
}

enum status slice_mcap_end(struct slice_mcap *m, const char *trigger,
                           const struct slice_found *found)
{
    char from[40];
    char until[40];
    char pairs[256];
    char *lab = lab_secrets_public_text(m->request->lab);
    if (!lab) {
        return STATUS_E_NOMEM;
    }
    format_bound(found->from_us, from);
    format_bound(found->until_us, until);
    join_pairs(m->request, pairs, sizeof pairs);
    const struct mcap_pair metadata[] = {
        {"tandem_version", TANDEM_VERSION},
        {"pair", pairs},
        {"trigger", trigger ? trigger : "asked for"},
        {"from", from},
        {"until", until},
        {"numbering",
         "entries and alarms are numbered from the begin of the recording that was "
         "exported; a replay of this file numbers and calibrates anew"},
        {NULL, NULL}};
    const enum status status =
        mcap_writer_end(m->writer, &(struct mcap_end){.metadata_name = "tandem.capture",
                                                      .metadata = metadata,
                                                      .attachment_name = "lab.yaml",
                                                      .media_type = "application/yaml",
                                                      .attachment = lab,
                                                      .attachment_bytes = strlen(lab)});
    free(lab);
    return status;
}
