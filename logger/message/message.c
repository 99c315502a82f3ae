#include "logger/message/message.h"

#include <math.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/numbers/iso_time.h"
#include "base/text/utf8.h"
#include "logger/message/json_scan.h"
#include "logger/message/json_write.h"

/* Nesting of a payload: the line adds one level. */
enum { LINE_DEPTH_MAX = JSON_SCAN_DEPTH_MAX - 1 };

/* Can the payload be stored in the line unchanged? JSON can, except a string, which readers of
 * the line would take for a plain-text payload. */
static bool is_plain_json(const char *text, size_t bytes)
{
    struct json_scan s;
    json_scan_start(&s, text, bytes, LINE_DEPTH_MAX);
    return bytes > 0 && json_scan_peek(&s) != JSON_KIND_TEXT &&
           json_scan_skip(&s, NULL, NULL) && json_scan_finish(&s);
}

/* Writes a JSON payload unchanged, except for line breaks between its tokens (strings have
 * none). */
static void write_payload(struct json_writer *w, const struct message *m)
{
    if (m->payload_bytes == 0) {
        json_write_null(w, "payload");
        return;
    }
    if (m->payload_bytes != m->stored_bytes || !is_plain_json(m->payload, m->stored_bytes)) {
        json_write_text(w, "encoding", "latin1");
        json_write_bytes(w, "payload", m->payload, m->stored_bytes, true);
        return;
    }
    const size_t from = w->used;
    json_write_raw(w, "payload", m->payload, m->stored_bytes);
    for (char *p = w->text + from; p < w->text + w->used; p++) {
        if (*p == '\n' || *p == '\r') {
            *p = ' ';
        }
    }
}

size_t message_format(const struct message *message, char *out, size_t capacity)
{
    struct json_writer w;
    char time[28];
    message_format_time(message->t_us, time);
    json_write_start(&w, out, capacity, NULL, NULL);
    json_write_object(&w, NULL);
    json_write_text(&w, "tst", time);
    json_write_bytes(&w, "topic", message->topic, strlen(message->topic), false);
    json_write_int(&w, "qos", message->qos);
    json_write_int(&w, "retain", message->retained);
    if (message->dup) {
        json_write_int(&w, "dup", 1);
    }
    if (message->packet_id > 0) {
        json_write_int(&w, "mid", message->packet_id);
    }
    json_write_int(&w, "payloadlen", (int64_t)message->payload_bytes);
    write_payload(&w, message);
    json_write_close(&w);
    if (!json_write_end(&w) || w.used == capacity) {
        return 0;
    }
    out[w.used] = '\n';
    return w.used + 1;
}

/* Values of the members of a line. */
struct line {
    bool has_time, has_topic, has_payload, latin1;
    enum json_kind kind; /* kind of the payload */
    struct json_text text;
    const char *raw;
    size_t raw_bytes;
    double payload_bytes; /* -1: absent */
};

static bool scan_flag(struct json_scan *s, bool *flag)
{
    double number = 0.0;
    const enum json_kind kind = json_scan_peek(s);
    if (kind == JSON_KIND_TRUE || kind == JSON_KIND_FALSE) {
        return json_scan_bool(s, flag);
    }
    const bool is_number = json_scan_number(s, &number);
    *flag = number > 0.0;
    return is_number;
}

bool message_scan_time(struct json_scan *s, int64_t *t_us)
{
    static const double end_s = 253402300800.0; /* of the year 9999 */
    struct json_text text;
    double t_s = 0.0;
    *t_us = LAB_TIME_NONE;
    if (json_scan_peek(s) != JSON_KIND_NUMBER) {
        if (json_scan_text(s, &text)) {
            *t_us = message_parse_time(text.at, text.bytes);
        }
    } else if (json_scan_number(s, &t_s) && t_s >= 0.0 && t_s < end_s) {
        *t_us = llround(t_s * 1e6);
    }
    return *t_us != LAB_TIME_NONE ||
           json_scan_fail(s, FAULT_TIME_EXPECTED,
                          "\"tst\" must be a time such as 2026-11-20T05:55:55.599953Z, or "
                          "seconds since 1970");
}

static bool scan_time(struct json_scan *s, struct message *m, struct line *line)
{
    line->has_time = message_scan_time(s, &m->t_us);
    return line->has_time;
}

static bool scan_topic(struct json_scan *s, struct message *m, struct line *line)
{
    struct json_text text;
    if (!json_scan_text(s, &text)) {
        return false;
    }
    line->has_topic = true;
    return json_text_copy(&text, m->topic, sizeof m->topic, false) < sizeof m->topic ||
           json_scan_fail(s, FAULT_TOO_LONG, "a topic of at most 255 bytes was expected");
}

static bool scan_payload(struct json_scan *s, struct message *m, struct line *line)
{
    (void)m;
    line->has_payload = true;
    line->kind = json_scan_peek(s);
    if (line->kind == JSON_KIND_TEXT) {
        return json_scan_text(s, &line->text);
    }
    return json_scan_skip(s, &line->raw, &line->raw_bytes);
}

static bool scan_packet_id(struct json_scan *s, struct message *m, struct line *line)
{
    double number = 0.0;
    (void)line;
    if (!json_scan_number(s, &number)) {
        return false;
    }
    m->packet_id = number >= 1.0 && number <= UINT16_MAX ? (uint16_t)number : 0;
    return true;
}

static bool scan_qos(struct json_scan *s, struct message *m, struct line *line)
{
    double number = 0.0;
    (void)line;
    if (!json_scan_number(s, &number)) {
        return false;
    }
    m->qos = number >= 2.0 ? 2 : number >= 1.0 ? 1 : 0;
    return true;
}

static bool scan_retain(struct json_scan *s, struct message *m, struct line *line)
{
    (void)line;
    return scan_flag(s, &m->retained);
}

static bool scan_dup(struct json_scan *s, struct message *m, struct line *line)
{
    (void)line;
    return scan_flag(s, &m->dup);
}

static bool scan_length(struct json_scan *s, struct message *m, struct line *line)
{
    (void)m;
    return json_scan_number(s, &line->payload_bytes);
}

static bool scan_encoding(struct json_scan *s, struct message *m, struct line *line)
{
    struct json_text text;
    (void)m;
    if (!json_scan_text(s, &text)) {
        return false;
    }
    line->latin1 = json_text_is(&text, "latin1");
    return true;
}

/* In the order of writing, which makes the search short. */
static const struct member {
    char name[JSON_NAME_MAX];
    bool (*scan)(struct json_scan *s, struct message *m, struct line *line);
} members[] = {
    {"tst", scan_time},          {"topic", scan_topic},       {"qos", scan_qos},
    {"retain", scan_retain},     {"dup", scan_dup},           {"mid", scan_packet_id},
    {"payloadlen", scan_length}, {"encoding", scan_encoding}, {"payload", scan_payload},
};
enum { PAYLOAD = COUNT(members) - 1 };

/* Scans the next member; COUNT(members): unknown. False: no more. */
static bool next_member(struct json_scan *s, size_t *k)
{
    struct json_text key;
    return json_scan_next_row(s, members, sizeof members[0], COUNT(members), k, &key);
}

static bool scan_member(struct json_scan *s, size_t k, struct message *m, struct line *line)
{
    return k < COUNT(members) ? members[k].scan(s, m, line) : json_scan_skip(s, NULL, NULL);
}

static enum status read_payload(const struct line *line, char *scratch, struct message *m,
                                struct err *err)
{
    if (line->kind == JSON_KIND_TEXT) {
        const size_t n =
            json_text_copy(&line->text, scratch, MESSAGE_PAYLOAD_MAX + 1, line->latin1);
        if (n > MESSAGE_PAYLOAD_MAX) {
            return err_set(err, STATUS_E_PARSE, FAULT_TOO_LONG, "payload",
                           "payload text is longer than %d bytes", MESSAGE_PAYLOAD_MAX);
        }
        m->payload = scratch;
        m->stored_bytes = n;
    } else if (line->kind == JSON_KIND_NULL && !(line->payload_bytes > 0.0)) {
        m->payload = "";
        m->stored_bytes = 0;
    } else {
        m->payload = line->raw;
        m->stored_bytes =
            line->raw_bytes <= MESSAGE_PAYLOAD_MAX ? line->raw_bytes : MESSAGE_PAYLOAD_MAX;
    }
    /* mosquitto_sub prints the original length but respaces the payload. So only a length
     * beyond the limit shows that the payload was cut. */
    m->payload_bytes = m->stored_bytes;
    if (line->payload_bytes > (double)MESSAGE_PAYLOAD_MAX && line->payload_bytes < 1e15) {
        m->payload_bytes = (size_t)line->payload_bytes;
    } else if (line->kind != JSON_KIND_TEXT && line->raw_bytes > MESSAGE_PAYLOAD_MAX) {
        m->payload_bytes = line->raw_bytes;
    }
    return STATUS_OK;
}

enum status message_parse(const char *line_text, size_t bytes, char *scratch,
                          struct message *message, struct err *err)
{
    struct json_scan s;
    size_t k = COUNT(members);
    struct message m = {.t_us = LAB_TIME_NONE};
    struct line line = {.payload_bytes = -1.0};
    size_t blank = utf8_mark(line_text, bytes);
    line_text += blank;
    bytes -= blank;
    blank = 0;
    while (blank < bytes && strchr(" \t\r\n", line_text[blank]) && line_text[blank] != '\0') {
        blank++;
    }
    if (blank == bytes) {
        return STATUS_E_EMPTY;
    }
    json_scan_start(&s, line_text, bytes, JSON_SCAN_DEPTH_MAX);
    if (json_scan_enter(&s, JSON_KIND_OBJECT)) {
        while (next_member(&s, &k) && scan_member(&s, k, &m, &line)) {
        }
    }
    if (!json_scan_finish(&s)) {
        char why[128];
        return err_set_at(err, STATUS_E_PARSE, s.fault, "journal line", 0,
                          (unsigned)json_scan_column(&s), "%s",
                          json_scan_explain(&s, why, sizeof why));
    }
    if (!line.has_time || !line.has_topic || !line.has_payload) {
        return err_set_at(err, STATUS_E_PARSE, FAULT_MISSING_KEY, "journal line", 0, 1,
                          "\"%s\" is missing; a line of mosquitto_sub -F %%J was expected",
                          !line.has_time    ? "tst"
                          : !line.has_topic ? "topic"
                                            : "payload");
    }
    const enum status st = read_payload(&line, scratch, &m, err);
    if (st == STATUS_OK) {
        *message = m;
    }
    return st;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Finds the object at s that ends before the line's closing bracket; [*from, *from + bytes) is
 * its text. */
static bool slice_last_object(const struct json_scan *s, struct message *m)
{
    const char *end = s->end;
    for (int bracket = 0; bracket < 2; bracket++) {
        while (end > s->at && is_space(end[-1])) {
            end--;
        }
        if (end - s->at < 2 || end[-1] != '}') {
            return false;
        }
        end -= bracket == 0;
    }
    m->payload = s->at;
    m->stored_bytes = m->payload_bytes = (size_t)(end - s->at);
    return m->stored_bytes <= MESSAGE_PAYLOAD_MAX;
}

bool message_parse_plain(const char *line_text, size_t bytes, struct message *message)
{
    struct json_scan s;
    size_t k = COUNT(members);
    struct line line = {.payload_bytes = -1.0};
    message->t_us = LAB_TIME_NONE;
    message->qos = 0;
    message->retained = message->dup = false;
    message->packet_id = 0;
    json_scan_start(&s, line_text, bytes, JSON_SCAN_DEPTH_MAX);
    bool good = json_scan_enter(&s, JSON_KIND_OBJECT);
    while (good && next_member(&s, &k) && k != PAYLOAD) {
        good = scan_member(&s, k, message, &line);
    }
    return good && !s.error && s.depth > 0 && line.has_time && line.has_topic &&
           !(line.payload_bytes > (double)MESSAGE_PAYLOAD_MAX) &&
           json_scan_peek(&s) == JSON_KIND_OBJECT && slice_last_object(&s, message);
}

uint64_t message_hash(const struct message *message)
{
    const uint64_t topic = hash_long(HASH_START, message->topic, strlen(message->topic));
    return hash_long(topic, message->payload, message->stored_bytes);
}

/* Converts days since 1970-01-01 to a date of the proleptic Gregorian calendar. Years begin in
 * March, so that the leap day is the last of its year; 400 years have 146097 days. */
static void date_from_days(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    days += 719468;
    const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const int64_t day_of_era = days - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted = (5 * day_of_year + 2) / 153;
    *day = day_of_year - (153 * shifted + 2) / 5 + 1;
    *month = shifted + (shifted < 10 ? 3 : -9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

static void write_digits(char *out, int64_t value, int width)
{
    for (int k = width; k-- > 0;) {
        out[k] = (char)('0' + value % 10);
        value /= 10;
    }
}

void message_format_time(int64_t t_us, char out[28])
{
    static const int64_t last_us = INT64_C(253402300799999999); /* 9999-12-31T23:59:59.999999 */
    t_us = t_us < 0 ? 0 : t_us > last_us ? last_us : t_us;
    const int64_t seconds = t_us / 1000000;
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;
    date_from_days(seconds / 86400, &year, &month, &day);
    memcpy(out, "0000-00-00T00:00:00.000000Z", 28);
    write_digits(out, year, 4);
    write_digits(out + 5, month, 2);
    write_digits(out + 8, day, 2);
    write_digits(out + 11, seconds / 3600 % 24, 2);
    write_digits(out + 14, seconds / 60 % 60, 2);
    write_digits(out + 17, seconds % 60, 2);
    write_digits(out + 20, t_us % 1000000, 6);
}

int64_t message_parse_time(const char *text, size_t bytes)
{
    struct iso_time time;
    (void)iso_time_parse(text, bytes, &time);
    return time.us;
}
