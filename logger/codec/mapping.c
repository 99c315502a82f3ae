#include "logger/codec/mapping.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/numbers/iso_time.h"
#include "base/numbers/number.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "logger/message/codec_native.h"
#include "logger/message/payload.h"

/* Bytes of the native payload made of a command or reply. */
enum { MAPPING_NATIVE_MAX = 8192 };

/* ---- members ---- */

#define IN(member)                                                                             \
    .at = offsetof(struct event, member), .size = sizeof((struct event *)0)->member
#define WITH_FLAG(member, flag) IN(member), .flag_at = offsetof(struct event, flag)

/* clang-format off */
const struct mapping_member mapping_members[] = {
    {EVENT_COMMAND, "id", MAPPING_PLAIN, IN(command.id)},
    {EVENT_COMMAND, "op", MAPPING_PLAIN, IN(command.op), .required = true},
    {EVENT_COMMAND, "rotation_rad", MAPPING_REAL, IN(command.rotation_rad), .quantity = MAPPING_RADIANS},
    {EVENT_COMMAND, "displacement_m", MAPPING_REAL, IN(command.displacement_m), .quantity = MAPPING_METRES},
    {EVENT_COMMAND, "target_x_m", MAPPING_TARGET, .at = 0, .quantity = MAPPING_METRES},
    {EVENT_COMMAND, "target_y_m", MAPPING_TARGET, .at = 1, .quantity = MAPPING_METRES},
    {EVENT_COMMAND, "target_psi_rad", MAPPING_TARGET, .at = 2, .quantity = MAPPING_RADIANS},
    {EVENT_COMMAND, "t", MAPPING_TIME, IN(command.source_us), .quantity = MAPPING_SECONDS},
    {EVENT_REPLY, "id", MAPPING_PLAIN, IN(reply.id)},
    {EVENT_REPLY, "status", MAPPING_NAME, IN(reply.status), .required = true, .names = &reply_status_names},
    {EVENT_REPLY, "t", MAPPING_TIME, IN(reply.source_us), .quantity = MAPPING_SECONDS},
    {EVENT_REPLY, "t_start", MAPPING_TIME, IN(reply.source_start_us), .quantity = MAPPING_SECONDS},
    {EVENT_REPLY, "detail", MAPPING_PLAIN, IN(reply.detail)},
    {EVENT_REPLY, "values", MAPPING_NAMED, .size = MAPPING_WORD_MAX},
    {EVENT_TELEMETRY, "t", MAPPING_TIME, IN(telemetry.source_us), .quantity = MAPPING_SECONDS},
    {EVENT_TELEMETRY, "seq", MAPPING_WHOLE, IN(telemetry.seq)},
    {EVENT_TELEMETRY, "boot", MAPPING_PLAIN, IN(telemetry.boot)},
    {EVENT_TELEMETRY, "sim_t", MAPPING_SIM, WITH_FLAG(telemetry.sim_us, telemetry.has_sim),
     .quantity = MAPPING_SECONDS},
    {EVENT_TELEMETRY, "pose", MAPPING_AXIS, WITH_FLAG(telemetry.pose, telemetry.pose_count)},
    {EVENT_TELEMETRY, "nu", MAPPING_AXIS, WITH_FLAG(telemetry.nu, telemetry.nu_count)},
    {EVENT_TELEMETRY, "tau", MAPPING_AXIS, WITH_FLAG(telemetry.tau, telemetry.tau_count)},
    {EVENT_CONNECTION, "state", MAPPING_NAME, IN(connection.online), .required = true,
        .names = &connection_state_names},
    {EVENT_CONNECTION, "boot", MAPPING_PLAIN, IN(connection.boot)},
    {EVENT_CONNECTION, "version", MAPPING_PLAIN, IN(connection.version)},
    {EVENT_CONNECTION, "t", MAPPING_TIME, IN(connection.source_us), .quantity = MAPPING_SECONDS},
};
/* clang-format on */
const size_t mapping_member_count = COUNT(mapping_members);
_Static_assert((int)EVENT_ID_MAX <= (int)MAPPING_WORD_MAX &&
                   (int)EVENT_DETAIL_MAX <= (int)MAPPING_WORD_MAX,
               "a word holds each text");

/* Reads the axis behind "pose."; false if there is none. */
static bool read_axis(const char *text, size_t *axis)
{
    *axis = (size_t)(text[0] - '0');
    return text[0] >= '0' && *axis < EVENT_AXES_MAX && text[1] == '\0';
}

const struct mapping_member *mapping_member_find(enum event_kind kind, const char *name,
                                                 size_t *axis)
{
    *axis = 0;
    for (size_t k = 0; k < mapping_member_count; k++) {
        const struct mapping_member *m = &mapping_members[k];
        const size_t n = strlen(m->name);
        const bool dotted = m->type == MAPPING_AXIS || m->type == MAPPING_NAMED;
        if (m->kind == kind && strncmp(name, m->name, n) == 0 &&
            name[n] == (dotted ? '.' : '\0')) {
            return !dotted || (m->type == MAPPING_NAMED ? name[n + 1] != '\0'
                                                        : read_axis(name + n + 1, axis))
                       ? m
                       : NULL;
        }
    }
    return NULL;
}

/* ---- a message being read ---- */

struct axes_given {
    unsigned given; /* bit mask of axes */
    const struct mapping_member *member;
};

/* A message while a row parses it. */
struct reading {
    const struct mapping_row *row;
    const struct mapping_receiver *to;
    const struct message *message;
    struct mapping_text level[MAPPING_LEVELS_MAX];
    struct mapping_finding finding;
    struct event *event;
    struct axes_given axes[3];   /* pose, nu, tau: adjacent rows of the table */
    unsigned targets;            /* bit mask of target[] */
    double target[3];            /* x, y, heading of where a move ends */
    struct json_writer native;   /* native payload of a command or reply */
    bool republished, in_values; /* a native payload is wanted; within its values */
    char detail[sizeof((struct event_malformed *)0)->detail];
    enum fault fault; /* kind of fault */
};

static bool refuse_value(struct reading *r, enum fault fault, const char *format, ...)
    PRINTF_LIKE(3, 4);
static bool refuse_value(struct reading *r, enum fault fault, const char *format, ...)
{
    r->fault = fault;
    TEXT_FORMAT(r->detail, sizeof r->detail, format);
    (void)utf8_tame(r->detail);
    return false;
}

/* ---- values in the form of an event ---- */

struct value {
    bool absent;
    bool is_text;
    double number;
    char text[MAPPING_WORD_MAX];
    struct mapping_text same; /* the number's own JSON text; no bytes: it was converted */
};

static size_t copy_found(const struct mapping_found *found, char *out, size_t size)
{
    return json_text_copy(&found->text, out, size, false);
}

static bool refuse_found(struct reading *r, const struct mapping_field *f,
                         const struct mapping_source *source, const char *expected,
                         const struct mapping_found *found)
{
    char text[48];
    (void)copy_found(found, text, sizeof text);
    return refuse_value(r, FAULT_UNEXPECTED_VALUE, "%s (%s): %s was expected, not '%s'",
                        source->place, f->name, expected, text);
}

static bool refuse_missing(struct reading *r, const struct mapping_field *f,
                           const struct mapping_source *source)
{
    return source->origin == MAPPING_AT
               ? refuse_value(r, FAULT_MISSING_KEY, "%s (%s): missing, the payload has %zu",
                              source->place, f->name, r->finding.columns)
               : refuse_value(r, FAULT_MISSING_KEY, "%s (%s): no such %s", source->place,
                              f->name, strstr(source->place, "/[") ? "item" : "member");
}

static bool is_number(const char *text, size_t bytes, double *number)
{
    return bytes > 0 && number_scan(text, text + bytes, number) == text + bytes &&
           isfinite(*number);
}

static bool is_textual(const struct mapping_member *member)
{
    return member->type == MAPPING_PLAIN || member->type == MAPPING_NAME;
}

/* A word is also read as a number, unless the member can only be a text. */
static void set_word(const struct mapping_field *f, struct value *value, const char *word)
{
    const size_t bytes = strlen(word);
    assert(bytes < sizeof value->text);
    memcpy(value->text, word, bytes + 1);
    value->is_text = is_textual(f->member) || !is_number(word, bytes, &value->number);
}

static bool map_found(struct reading *r, const struct mapping_field *f,
                      const struct mapping_source *source, const struct mapping_found *found,
                      struct value *value)
{
    char text[MAPPING_WORD_MAX];
    const size_t bytes = copy_found(found, text, sizeof text);
    for (size_t k = 0; k < source->map_count; k++) {
        if (bytes == strlen(source->map[k].from) && strcmp(text, source->map[k].from) == 0) {
            set_word(f, value, source->map[k].to);
            return true;
        }
    }
    char expected[96] = "one of ";
    for (size_t k = 0; k < source->map_count; k++) {
        const size_t used = strlen(expected);
        (void)snprintf(expected + used, sizeof expected - used, "%s%s", k > 0 ? ", " : "",
                       source->map[k].from);
    }
    return refuse_found(r, f, source, expected, found);
}

static bool read_text(struct reading *r, const struct mapping_field *f,
                      const struct mapping_source *source, const struct mapping_found *found,
                      struct value *value)
{
    char expected[48] = "a text";
    value->is_text = true;
    if (found->kind == JSON_KIND_OBJECT || found->kind == JSON_KIND_ARRAY ||
        found->kind == JSON_KIND_NULL) {
        return refuse_found(r, f, source, expected, found);
    }
    const size_t bytes = found->kind == JSON_KIND_NUMBER
                             ? number_write_plain(found->text.at, found->text.bytes,
                                                  value->text, sizeof value->text)
                             : copy_found(found, value->text, sizeof value->text);
    if (f->member->type != MAPPING_NAME && bytes >= f->member->size) {
        (void)snprintf(expected, sizeof expected, "a text of at most %zu bytes",
                       f->member->size - 1);
        return refuse_found(r, f, source, expected, found);
    }
    return bytes >= sizeof value->text || bytes == strlen(value->text) ||
           refuse_found(r, f, source, "a text without \\u0000", found);
}

static void hint_zone(const struct reading *r, const struct mapping_field *f,
                      const struct mapping_source *source)
{
    char text[256];
    if (r->to->hints && !source->has_zone) {
        (void)snprintf(text, sizeof text,
                       "%s (%s): a time without a zone was read as UTC; 'zone: +02:00' would "
                       "name another one",
                       source->place, f->name);
        r->to->hints->give(r->to->hints->context, text);
    }
}

static bool read_iso_time(struct reading *r, const struct mapping_field *f,
                          const struct mapping_source *source,
                          const struct mapping_found *found, struct value *value)
{
    char text[MAPPING_WORD_MAX];
    struct iso_time time;
    const size_t bytes = copy_found(found, text, sizeof text);
    if (found->kind != JSON_KIND_TEXT || bytes >= sizeof text) {
        return refuse_found(r, f, source, "an ISO 8601 time", found);
    }
    if (!iso_time_parse(text, bytes, &time)) {
        return refuse_value(r, FAULT_UNEXPECTED_VALUE,
                            "%s (%s): an ISO 8601 time was expected, not '%.40s': %s",
                            source->place, f->name, text, time.wanted);
    }
    if (!time.zoned) {
        time.us -= (int64_t)source->zone_s * 1000000;
        hint_zone(r, f, source);
    }
    value->number = lab_s(time.us);
    return true;
}

/* Heading about z, for an upright robot: x, y, z, w as in ROS geometry_msgs. */
static bool read_heading(struct reading *r, const struct mapping_field *f,
                         const struct mapping_source *source, const struct mapping_found *found,
                         struct value *value)
{
#define PART(name, leaf, behind, at)                                                           \
    {                                                                                          \
        .token = (name), .bytes = 1, .index = -1, .leaves = (leaf), .next = (behind),          \
        .rank = (at), .quoted = "\"" name "\":", .quoted_bytes = 4                             \
    }
    static const struct mapping_node nodes[] = {{.token = "", .index = -1, .first = 1},
                                                PART("x", 1, 2, 0),
                                                PART("y", 2, 3, 1),
                                                PART("z", 4, 4, 2),
                                                PART("w", 8, 0, 3)};
#undef PART
    enum { X, Y, Z, W, PARTS };
    struct mapping_finding finding;
    double q[PARTS];
    double squares = 0.0;
    bool whole = found->kind == JSON_KIND_OBJECT;
    for (size_t k = 0; k < PARTS; k++) {
        finding.found[k].kind = JSON_KIND_NONE;
    }
    whole =
        whole && mapping_find_json(nodes, found->text.at, found->text.bytes, NULL, &finding);
    for (size_t k = 0; whole && k < PARTS; k++) {
        whole = finding.found[k].kind == JSON_KIND_NUMBER;
        q[k] = finding.found[k].number;
        squares += q[k] * q[k];
    }
    if (!whole || !(squares > 0.25 && squares < 4.0)) { /* length 1, apart from rounding */
        return refuse_found(r, f, source, "an object of x, y, z, w", found);
    }
    value->number =
        atan2(2.0 * (q[W] * q[Z] + q[X] * q[Y]), squares - 2.0 * (q[Y] * q[Y] + q[Z] * q[Z]));
    value->number = value->number * source->scale + source->offset;
    return true;
}

/* A decimal comma becomes a point; "1.234,5" is no number. */
static void replace_comma(char *text)
{
    char *comma = strchr(text, ',');
    if (strchr(text, '.')) {
        text[0] = '\0';
    } else if (comma) {
        *comma = '.';
    }
}

static bool read_number(struct reading *r, const struct mapping_field *f,
                        const struct mapping_source *source, const struct mapping_found *found,
                        struct value *value)
{
    char text[NUMBER_SLOW_MAX + 1];
    value->number = found->number;
    if (found->kind == JSON_KIND_TEXT) {
        const size_t bytes = copy_found(found, text, sizeof text);
        const bool comma = memchr(text, ',', bytes < sizeof text ? bytes : 0) != NULL;
        if (r->row->comma) {
            replace_comma(text);
        }
        if (!is_number(text, bytes < sizeof text && text[0] ? bytes : 0, &value->number)) {
            return f->member->type == MAPPING_NAMED && !source->numeric
                       ? read_text(r, f, source, found, value)
                       : refuse_found(r, f, source,
                                      comma && !r->row->comma
                                          ? "a number with a point (decimal: comma reads 0,5)"
                                          : "a number",
                                      found);
        }
    } else if (found->kind != JSON_KIND_NUMBER) {
        return refuse_found(r, f, source, "a number", found);
    }
    value->number = value->number * source->scale + source->offset;
    if (!source->numeric && found->kind == JSON_KIND_NUMBER) {
        value->same = (struct mapping_text){found->text.at, found->text.bytes};
    }
    return true;
}

/* Reads one source of a field. */
static bool read_source(struct reading *r, const struct mapping_field *f, size_t k,
                        struct value *value)
{
    const struct mapping_source *source = &r->row->sources[k];
    const struct mapping_found *found = &r->finding.found[k];
    value->absent = false;
    value->is_text = false;
    value->same.bytes = 0;
    if (source->origin == MAPPING_VALUE) {
        set_word(f, value, source->value);
        return true;
    }
    if (found->kind == JSON_KIND_NONE || (found->kind == JSON_KIND_NULL && source->optional)) {
        value->absent = true;
        return source->optional || refuse_missing(r, f, source);
    }
    if (source->map) {
        return map_found(r, f, source, found, value);
    }
    if (is_textual(f->member)) {
        return read_text(r, f, source, found, value);
    }
    return source->iso8601      ? read_iso_time(r, f, source, found, value)
           : source->quaternion ? read_heading(r, f, source, found, value)
                                : read_number(r, f, source, found, value);
}

/* Adds up all sources of a field. Addends may be absent. */
static bool read_field(struct reading *r, const struct mapping_field *f, struct value *value)
{
    if (!read_source(r, f, f->source, value)) {
        return false;
    }
    for (size_t k = 1; !value->absent && k < f->count; k++) {
        struct value more;
        if (!read_source(r, f, f->source + k, &more)) {
            return false;
        }
        value->number += more.absent ? 0.0 : more.number;
        value->same.bytes = 0;
    }
    return value->absent || value->is_text || is_textual(f->member) ||
           isfinite(value->number) ||
           refuse_value(r, FAULT_OUT_OF_RANGE,
                        "%s (%s): a number within the range of a double was expected",
                        r->row->sources[f->source].place, f->name);
}

/* ---- into the event ---- */

static bool refuse_name(struct reading *r, const struct mapping_field *f, const char *text)
{
    char expected[96];
    names_list(f->member->names, expected, sizeof expected);
    return refuse_value(r, FAULT_UNKNOWN_VALUE,
                        "%s: one of %s was expected, not '%.32s' (map: turns words into them)",
                        f->name, expected, text);
}

static bool set_name(struct reading *r, const struct mapping_field *f, const char *text)
{
    const size_t value = names_value(f->member->names, text);
    void *to = (char *)r->event + f->member->at;
    if (value == f->member->names->count) {
        return refuse_name(r, f, text);
    }
    if (f->member->size == sizeof(bool)) {
        *(bool *)to = value != 0;
    } else {
        const uint32_t word = (uint32_t)value;
        memcpy(to, &word, sizeof word);
    }
    return true;
}

static bool set_time(struct reading *r, const struct mapping_field *f, double t_s)
{
    const int64_t t_us = lab_us(t_s);
    memcpy((char *)r->event + f->member->at, &t_us, sizeof t_us);
    if (f->member->type == MAPPING_SIM) {
        *((bool *)r->event + f->member->flag_at) = true;
    }
    return t_us != LAB_TIME_NONE ||
           refuse_value(r, FAULT_OUT_OF_RANGE,
                        "%s: a time in seconds within +-1e11 was expected, not %g", f->name,
                        t_s);
}

static bool set_whole(struct reading *r, const struct mapping_field *f, double number)
{
    static const double most = 9e15;
    const int64_t whole = number >= 0.0 && number <= most ? (int64_t)number : -1;
    memcpy((char *)r->event + f->member->at, &whole, sizeof whole);
    return whole >= 0 ||
           refuse_value(r, FAULT_OUT_OF_RANGE, "%s: a number of 0 or more was expected, not %g",
                        f->name, number);
}

static void add_value(struct reading *r, const struct mapping_field *f,
                      const struct value *value)
{
    struct event_reply *reply = &r->event->reply;
    if (reply->value_count == EVENT_VALUES_MAX) {
        reply->values_omitted++;
        return;
    }
    struct event_value *to = &reply->values[reply->value_count++];
    *to = (struct event_value){.place = f->place,
                               .kind = value->is_text ? VALUE_TEXT : VALUE_NUMBER};
    const char *name = mapping_value_name(f->name);
    memcpy(to->name, name, strlen(name) + 1); /* shorter than the field's maximum */
    if (value->is_text) {
        to->text = hash_text(value->text);
    } else {
        to->number = value->number;
    }
}

static void set_axis(struct reading *r, const struct mapping_field *f, double number)
{
    struct axes_given *axes = &r->axes[(size_t)(f->member - mapping_members) % COUNT(r->axes)];
    ((double *)(void *)((char *)r->event + f->member->at))[f->axis] = number;
    axes->member = f->member;
    axes->given |= 1U << f->axis;
}

static bool check_number(struct reading *r, const struct mapping_field *f, const char *name,
                         double number)
{
    const char *expected = event_number_fault(name, number);
    return !expected ||
           refuse_value(r, FAULT_OUT_OF_RANGE, "%s: %s, not %g", f->name, expected, number);
}

static bool set_field(struct reading *r, const struct mapping_field *f,
                      const struct value *value)
{
    void *to = (char *)r->event + f->member->at;
    switch (f->member->type) {
    case MAPPING_PLAIN:
        memcpy(to, value->text, strlen(value->text) + 1);
        return true;
    case MAPPING_NAME:
        return set_name(r, f, value->text);
    case MAPPING_TIME:
    case MAPPING_SIM:
        return set_time(r, f, value->number);
    case MAPPING_REAL:
        memcpy(to, &value->number, sizeof value->number);
        return true;
    case MAPPING_WHOLE:
        return set_whole(r, f, value->number);
    case MAPPING_AXIS:
        set_axis(r, f, value->number);
        return check_number(r, f, f->member->name, value->number);
    case MAPPING_TARGET:
        r->targets |= 1U << f->member->at;
        r->target[f->member->at] = value->number;
        return true;
    case MAPPING_NAMED:
        add_value(r, f, value);
        return value->is_text || check_number(r, f, mapping_value_name(f->name), value->number);
    }
    return false;
}

/* Writes the field natively, for L1 and the other robot. */
static void write_field(struct reading *r, const struct mapping_field *f,
                        const struct value *value)
{
    const char *key = f->member->name;
    if (f->member->type == MAPPING_NAMED) {
        if (!r->in_values) {
            json_write_object(&r->native, key);
        }
        r->in_values = true;
        key = mapping_value_name(f->name);
    }
    if (is_textual(f->member) || value->is_text) {
        json_write_text(&r->native, key, value->text);
    } else if (value->same.bytes > 0) {
        json_write_raw(&r->native, key, value->same.at, value->same.bytes);
    } else if (f->member->type == MAPPING_TIME) {
        json_write_seconds(&r->native, key, lab_us(value->number));
    } else {
        json_write_real(&r->native, key, value->number);
    }
}

static bool read_fields(struct reading *r)
{
    for (size_t k = 0; k < r->row->field_count; k++) {
        const struct mapping_field *f = &r->row->fields[k];
        struct value value;
        if (!read_field(r, f, &value) || (!value.absent && !set_field(r, f, &value))) {
            return false;
        }
        if (r->republished && !value.absent && f->member->type != MAPPING_TARGET) {
            write_field(r, f, &value);
        }
    }
    return true;
}

/* The sizes of a move to a target. */
static bool resolve_target(struct reading *r)
{
    struct event_command *c = &r->event->command;
    if (r->targets == 0) {
        return true;
    }
    const char *why = mapping_pose_move(r->to->poses, r->targets, r->target, &c->rotation_rad,
                                        &c->displacement_m);
    if (why) {
        return refuse_value(r, FAULT_NOT_ACCEPTED, "the target of a move: %s", why);
    }
    if (r->republished) {
        json_write_real(&r->native, "rotation_rad", c->rotation_rad);
        json_write_real(&r->native, "displacement_m", c->displacement_m);
    }
    return true;
}

/* Axes must be given without gaps, from the first one. */
static bool count_axes(struct reading *r)
{
    for (size_t k = 0; k < COUNT(r->axes); k++) {
        const unsigned given = r->axes[k].given;
        const struct mapping_member *m = r->axes[k].member;
        size_t count = 0;
        while (given >> count & 1U) {
            count++;
        }
        if (given >> count) {
            return refuse_value(r, FAULT_MISSING_KEY,
                                "%s.%zu: missing while later members are given", m->name,
                                count);
        }
        if (given) {
            memcpy((char *)r->event + m->flag_at, &count, sizeof count);
        }
    }
    return true;
}

/* ---- rows ---- */

static bool is_word(struct mapping_text text, const char *word)
{
    return text.bytes == strlen(word) && memcmp(text.at, word, text.bytes) == 0;
}

/* Is the message of this pair, by the row's pair? */
static bool is_of_pair(const struct reading *r, const char *pair)
{
    const struct mapping_row *row = r->row;
    if (row->pair || row->pair_level < 0) {
        return !row->pair || strcmp(row->pair, pair) == 0;
    }
    return is_word(r->level[row->pair_level], pair);
}

static bool find_side(struct reading *r)
{
    const struct mapping_row *row = r->row;
    r->event->side = row->side;
    if (row->side_level < 0) {
        return true;
    }
    const struct mapping_text called = r->level[row->side_level];
    for (int s = 0; s < SIDE_COUNT; s++) {
        const char *name = side_name((enum side)s);
        bool meant = is_word(called, name);
        for (size_t k = 0; !meant && k < row->side_count; k++) {
            meant = strcmp(row->sides[k].to, name) == 0 && is_word(called, row->sides[k].from);
        }
        if (meant) {
            r->event->side = (enum side)s;
            return true;
        }
    }
    return refuse_value(r, FAULT_UNKNOWN_VALUE,
                        "side: 'real' or 'virtual' was expected, the topic has '%.*s' (sides: "
                        "maps names)",
                        called.bytes < 32 ? (int)called.bytes : 32, called.at);
}

static void find_levels(struct reading *r)
{
    for (size_t k = 0; k < r->row->source_count; k++) {
        const struct mapping_source *source = &r->row->sources[k];
        r->finding.found[k].kind = JSON_KIND_NONE;
        if (source->origin == MAPPING_TOPIC) {
            const struct mapping_text level = r->level[source->at];
            r->finding.found[k] = (struct mapping_found){
                .kind = JSON_KIND_TEXT, .text = {.at = level.at, .bytes = level.bytes}};
        }
    }
}

static bool find_values(struct reading *r)
{
    const struct mapping_row *row = r->row;
    const struct message *m = r->message;
    find_levels(r);
    return mapping_is_json(row->format)
               ? mapping_find_json(row->nodes, m->payload, m->stored_bytes, r->to, &r->finding)
               : mapping_find_columns(row->sources, row->source_count, row->separator,
                                      m->payload, m->stored_bytes, &r->finding);
}

static bool check_columns(struct reading *r)
{
    return r->row->columns == 0 || r->finding.columns == r->row->columns ||
           refuse_value(r, FAULT_WRONG_COUNT, "%zu columns were expected, not %zu",
                        r->row->columns, r->finding.columns);
}

static bool read_row(struct reading *r)
{
    const struct message *m = r->message;
    if (!find_side(r)) {
        return false;
    }
    if (m->payload_bytes > m->stored_bytes) {
        return refuse_value(r, FAULT_TOO_LONG, "a payload of at most %d bytes was expected",
                            MESSAGE_PAYLOAD_MAX);
    }
    return (find_values(r) || refuse_value(r, FAULT_BAD_SYNTAX, "%s", r->finding.fault)) &&
           check_columns(r) && read_fields(r) && count_axes(r) && resolve_target(r);
}

/* Commands and replies carry a hash, so that a redelivery is recognised. */
static bool attach_payload(struct reading *r, const char *text)
{
    struct event *e = r->event;
    const struct message *m = r->message;
    if (e->kind == EVENT_COMMAND || e->kind == EVENT_REPLY) {
        e->hash = message_hash(m);
    }
    if (!r->republished) {
        return true;
    }
    if (r->in_values) {
        json_write_close(&r->native);
    }
    json_write_close(&r->native);
    *(e->kind == EVENT_COMMAND ? &e->command.raw : &e->reply.raw) = text;
    *(e->kind == EVENT_COMMAND ? &e->command.raw_bytes : &e->reply.raw_bytes) = r->native.used;
    return json_write_end(&r->native) ||
           refuse_value(r, FAULT_TOO_LONG, "a %s of at most %d bytes of JSON was expected",
                        event_kind_name(e->kind), MAPPING_NATIVE_MAX);
}

static void emit_malformed(struct reading *r)
{
    struct event *e = r->event;
    const enum event_kind kind = r->row->kind;
    char id[EVENT_ID_MAX] = "";
    if (kind == EVENT_COMMAND || kind == EVENT_REPLY) {
        memcpy(id, kind == EVENT_COMMAND ? e->command.id : e->reply.id, sizeof id);
    }
    payload_begin(e, r->message, EVENT_MALFORMED, e->side);
    e->malformed = (struct event_malformed){.what = ""};
    memcpy(e->malformed.id, id, sizeof id);
    (void)snprintf(e->malformed.what, sizeof e->malformed.what, "%s", event_kind_name(kind));
    memcpy(e->malformed.detail, r->detail, sizeof r->detail);
    e->malformed.fault = r->fault;
}

/* False: the message has no item of this pair. */
static bool decode_row(struct reading *r, event_emit *emit, void *context)
{
    struct event *e = r->event;
    char text[MAPPING_NATIVE_MAX];
    const struct mapping_row *row = r->row;
    /* An empty retained message only deletes the previous one: nothing happened. */
    if (row->kind == EVENT_CONNECTION && r->message->payload_bytes == 0) {
        return true;
    }
    payload_begin(e, r->message, row->kind, row->side);
    native_clear(e, row->kind);
    if (r->republished) {
        json_write_start(&r->native, text, sizeof text, NULL, NULL);
        json_write_object(&r->native, NULL);
    }
    const bool fine = read_row(r) && attach_payload(r, text);
    if (row->by_item && !r->finding.of_pair && (fine || r->fault == FAULT_MISSING_KEY)) {
        return false;
    }
    if (!fine) {
        emit_malformed(r);
    } else if (r->to->poses) {
        mapping_pose_update(r->to->poses, e);
    }
    emit(context, e);
    return true;
}

enum mapping_outcome mapping_decode(const struct mapping *mapping,
                                    const struct mapping_receiver *to,
                                    const struct message *message, event_emit *emit,
                                    void *context)
{
    enum mapping_outcome outcome = MAPPING_NOBODY;
    struct event event;
    struct reading r;
    for (size_t k = 0; k < mapping->row_count; k++) {
        r.row = &mapping->rows[k];
        if (!mapping_topic_fits(r.row->levels, r.row->level_count, message->topic, r.level) ||
            !is_of_pair(&r, to->pair)) {
            continue;
        }
        if (r.row->fits && !r.row->fits(r.row->only, message->payload, message->stored_bytes)) {
            outcome = MAPPING_PASSED;
            continue;
        }
        r.to = to;
        r.message = message;
        r.event = &event;
        r.finding.columns = 0;
        r.targets = 0;
        r.republished =
            to->republished && (r.row->kind == EVENT_COMMAND || r.row->kind == EVENT_REPLY);
        r.in_values = false;
        r.detail[0] = '\0';
        memset(r.axes, 0, sizeof r.axes);
        memcpy(event.pair, to->pair, strlen(to->pair) + 1);
        if (decode_row(&r, emit, context)) {
            return MAPPING_DECODED;
        }
        outcome = MAPPING_PASSED;
    }
    return outcome;
}

bool mapping_is_sample(const struct mapping *mapping, const char *topic)
{
    struct mapping_text level[MAPPING_LEVELS_MAX];
    bool sample = false;
    for (size_t k = 0; k < mapping->row_count; k++) {
        const struct mapping_row *row = &mapping->rows[k];
        if (mapping_topic_fits(row->levels, row->level_count, topic, level)) {
            if (row->kind != EVENT_TELEMETRY) {
                return false; /* the next row may match it */
            }
            sample = true;
        }
    }
    return sample;
}
