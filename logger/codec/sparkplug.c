#include "logger/codec/sparkplug.h"

#include <string.h>

ENUM_NAMES(sparkplug_kind, SPARKPLUG_KIND_COUNT, SPARKPLUG_KINDS(NAMES_TEXT));

static bool is_birth(enum sparkplug_kind kind)
{
    return kind == SPARKPLUG_NBIRTH || kind == SPARKPLUG_DBIRTH;
}

static bool is_command(enum sparkplug_kind kind)
{
    return kind == SPARKPLUG_NCMD || kind == SPARKPLUG_DCMD;
}

bool sparkplug_text_same(struct sparkplug_text a, struct sparkplug_text b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

static struct sparkplug_text text_of(const char *text)
{
    return (struct sparkplug_text){text, strlen(text)};
}

/* ---- topics ---- */

bool sparkplug_topic_read(const char *text, struct sparkplug_topic *topic)
{
    struct sparkplug_text level[5] = {{NULL, 0}};
    size_t count = 0;
    for (const char *at = text; at && count < 5; count++) {
        const char *slash = strchr(at, '/');
        level[count] = (struct sparkplug_text){at, slash ? (size_t)(slash - at) : strlen(at)};
        at = slash ? slash + 1 : NULL;
        if (count == 4 && at) {
            return false;
        }
    }
    enum sparkplug_kind kind = SPARKPLUG_NBIRTH;
    while (kind < SPARKPLUG_KIND_COUNT &&
           (count < 4 || !sparkplug_text_same(level[2], text_of(sparkplug_kind_name(kind))))) {
        kind++;
    }
    if (kind == SPARKPLUG_KIND_COUNT || !sparkplug_text_same(level[0], text_of("spBv1.0")) ||
        (count == 5) != (kind >= SPARKPLUG_DBIRTH) || (count == 5 && level[4].bytes == 0)) {
        return false;
    }
    *topic = (struct sparkplug_topic){kind, level[1], level[3], level[4]};
    return true;
}

/* ---- protobuf ---- */

/* Protobuf encoding, https://protobuf.dev/programming-guides/encoding: each field is a varint
 * of its number and wire type, followed by a varint (0), 8 bytes (1), a length and bytes (2) or
 * 4 bytes (5). */
enum wire { WIRE_VARINT = 0, WIRE_8 = 1, WIRE_BYTES = 2, WIRE_4 = 5 };

struct scan {
    const unsigned char *at, *end;
    const char *fault;
};

struct field {
    uint64_t number; /* field number */
    enum wire wire;
    uint64_t value; /* for varints, 8 or 4 bytes */
    struct sparkplug_text bytes;
};

static struct scan scan_bytes(const char *bytes, size_t n)
{
    const unsigned char *at = (const unsigned char *)bytes;
    return (struct scan){at, at + n, NULL};
}

static bool fail_scan(struct scan *s, const char *fault)
{
    s->fault = fault;
    return false;
}

static bool read_varint(struct scan *s, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (s->at == s->end) {
            return fail_scan(s, "the payload ends within a number");
        }
        const unsigned char byte = *s->at++;
        *value |= (uint64_t)(byte & 127U) << shift;
        if (byte < 128) {
            return true;
        }
    }
    return fail_scan(s, "a number of at most 10 bytes was expected");
}

static bool read_fixed(struct scan *s, size_t n, uint64_t *value)
{
    if ((size_t)(s->end - s->at) < n) {
        return fail_scan(s, "the payload ends within a number");
    }
    *value = 0;
    for (size_t k = n; k-- > 0;) {
        *value = *value << 8 | s->at[k];
    }
    s->at += n;
    return true;
}

/* Reads the next field; false at the end or, with s->fault, if there is no valid field. */
static bool next_field(struct scan *s, struct field *f)
{
    uint64_t key = 0;
    *f = (struct field){.number = 0};
    if (s->at == s->end || !read_varint(s, &key)) {
        return false;
    }
    f->number = key >> 3;
    f->wire = (enum wire)(key & 7U);
    switch (f->wire) {
    case WIRE_VARINT:
        return read_varint(s, &f->value);
    case WIRE_8:
        return read_fixed(s, 8, &f->value);
    case WIRE_4:
        return read_fixed(s, 4, &f->value);
    case WIRE_BYTES:
        if (!read_varint(s, &f->value)) {
            return false;
        }
        if (f->value > (uint64_t)(s->end - s->at)) {
            return fail_scan(s, "the payload ends within a text");
        }
        f->bytes = (struct sparkplug_text){(const char *)s->at, (size_t)f->value};
        s->at += f->value;
        return true;
    default:
        return fail_scan(s, "this is no payload of Sparkplug B: there is no such wire type");
    }
}

/* ---- metrics ---- */

/* Field numbers and data types of Sparkplug's protobuf schema. */
enum {
    PAYLOAD_TIMESTAMP = 1,
    PAYLOAD_METRIC = 2,
    PAYLOAD_SEQ = 3,
    PAYLOAD_UUID = 4,
    METRIC_NAME = 1,
    METRIC_ALIAS = 2,
    METRIC_TIMESTAMP = 3,
    METRIC_TYPE = 4,
    METRIC_HISTORICAL = 5,
    METRIC_NULL = 7,
    METRIC_INT = 10,
    METRIC_LONG = 11,
    METRIC_FLOAT = 12,
    METRIC_DOUBLE = 13,
    METRIC_TRUTH = 14,
    METRIC_TEXT = 15,
    TYPE_INT64 = 4, /* 1 to 4: signed, 8 to 64 bits; 5 to 8: unsigned */
    TYPE_UINT64 = 8,
    TYPE_DOUBLE = 10,
    TYPE_TRUTH = 11,
    TYPE_STRING = 12
};

/* A metric as encoded in a message. */
struct metric {
    struct sparkplug_text name; /* at NULL: absent */
    bool has_alias, historical, null;
    uint64_t alias, type; /* type 0: absent */
    int64_t stamp_ms;     /* -1: absent */
    struct field value;   /* number 0: absent */
};

static int64_t stamp_of(uint64_t ms)
{
    static const uint64_t last_ms = UINT64_C(253402300799999); /* end of the year 9999 */
    return ms <= last_ms ? (int64_t)ms : -1;
}

/* Checks that a field of a metric has its wire type. */
static bool is_fit(const struct field *f)
{
    static const enum wire wires[] = {
        [METRIC_NAME] = WIRE_BYTES,
        [METRIC_ALIAS] = WIRE_VARINT,
        [METRIC_TIMESTAMP] = WIRE_VARINT,
        [METRIC_TYPE] = WIRE_VARINT,
        [METRIC_HISTORICAL] = WIRE_VARINT,
        [METRIC_NULL] = WIRE_VARINT,
        [METRIC_INT] = WIRE_VARINT,
        [METRIC_LONG] = WIRE_VARINT,
        [METRIC_FLOAT] = WIRE_4,
        [METRIC_DOUBLE] = WIRE_8,
        [METRIC_TRUTH] = WIRE_VARINT,
        [METRIC_TEXT] = WIRE_BYTES,
        /* other fields are ignored */
        [6] = WIRE_VARINT,
        [8] = WIRE_BYTES,
        [9] = WIRE_BYTES,
    };
    return f->number == 0 || f->number > METRIC_TEXT || wires[f->number] == f->wire;
}

static bool read_metric(struct sparkplug_text bytes, struct metric *m, const char **fault)
{
    struct scan s = scan_bytes(bytes.at, bytes.bytes);
    struct field f;
    *m = (struct metric){.stamp_ms = -1};
    while (next_field(&s, &f)) {
        if (!is_fit(&f)) {
            (void)fail_scan(&s, "a metric has a field that is none of Sparkplug B's");
            break;
        }
        m->name = f.number == METRIC_NAME ? f.bytes : m->name;
        m->has_alias = m->has_alias || f.number == METRIC_ALIAS;
        m->alias = f.number == METRIC_ALIAS ? f.value : m->alias;
        m->type = f.number == METRIC_TYPE ? f.value : m->type;
        m->stamp_ms = f.number == METRIC_TIMESTAMP ? stamp_of(f.value) : m->stamp_ms;
        m->historical = f.number == METRIC_HISTORICAL ? f.value != 0 : m->historical;
        m->null = f.number == METRIC_NULL ? f.value != 0 : m->null;
        m->value = f.number >= METRIC_INT && f.number <= METRIC_TEXT ? f : m->value;
    }
    *fault = s.fault;
    return !s.fault;
}

static double real_of(const struct field *f)
{
    const uint32_t word = (uint32_t)f->value;
    float narrow = 0.0F;
    double wide = 0.0;
    memcpy(&narrow, &word, sizeof narrow);
    memcpy(&wide, &f->value, sizeof wide);
    return f->wire == WIRE_4 ? (double)narrow : wide;
}

/* Some encoders send a negative Int16 in 16 bits, others extend its sign to 32 or 64. Cutting
 * the number to its type and extending the sign reads all of them. */
static struct sparkplug_value whole_of(const struct field *f, uint64_t type)
{
    const bool typed = type >= 1 && type <= TYPE_UINT64;
    const unsigned bits = typed ? 8U << (type - 1) % 4 : f->number == METRIC_INT ? 32 : 64;
    const uint64_t most = UINT64_MAX >> (64 - bits);
    const uint64_t word = f->value & most;
    if (typed && type <= TYPE_INT64 && word > most >> 1) {
        return (struct sparkplug_value){.kind = SPARKPLUG_WHOLE,
                                        .whole = -(int64_t)(most - word) - 1};
    }
    return word <= INT64_MAX
               ? (struct sparkplug_value){.kind = SPARKPLUG_WHOLE, .whole = (int64_t)word}
               : (struct sparkplug_value){.kind = SPARKPLUG_REAL, .real = (double)word};
}

static struct sparkplug_value value_of(const struct metric *m, uint64_t type)
{
    const struct field *f = &m->value;
    if (m->null) {
        return (struct sparkplug_value){.kind = SPARKPLUG_NULL};
    }
    switch (f->number) {
    case METRIC_INT:
    case METRIC_LONG:
        return whole_of(f, type);
    case METRIC_FLOAT:
    case METRIC_DOUBLE:
        return (struct sparkplug_value){.kind = SPARKPLUG_REAL, .real = real_of(f)};
    case METRIC_TRUTH:
        return (struct sparkplug_value){.kind = SPARKPLUG_TRUTH, .whole = f->value != 0};
    case METRIC_TEXT:
        return (struct sparkplug_value){.kind = SPARKPLUG_TEXT, .text = f->bytes};
    default:
        return (struct sparkplug_value){.kind = SPARKPLUG_NULL};
    }
}

/* ---- the metrics of a birth ---- */

static struct sparkplug_known *find_alias(struct sparkplug_device *d, uint64_t alias)
{
    for (size_t k = 0; k < d->count; k++) {
        if (d->metric[k].has_alias && d->metric[k].alias == alias) {
            return &d->metric[k];
        }
    }
    return NULL;
}

static struct sparkplug_text name_of(const struct sparkplug_device *d,
                                     const struct sparkplug_known *known)
{
    return (struct sparkplug_text){d->names + known->name, known->name_bytes};
}

/* Encoders of proto3 leave out an alias of 0, in the birth and in data. Returns the only metric
 * that it can be; NULL: several have no alias, or none. */
static struct sparkplug_known *find_left_out(struct sparkplug_device *d)
{
    struct sparkplug_known *found = NULL;
    for (size_t k = 0; k < d->count; k++) {
        const struct sparkplug_text name = name_of(d, &d->metric[k]);
        const char *const slash = memchr(name.at, '/', name.bytes);
        const size_t node = slash ? (size_t)(slash - name.at) : name.bytes;
        const bool control =
            sparkplug_text_same((struct sparkplug_text){name.at, node}, text_of("bdSeq")) ||
            sparkplug_text_same((struct sparkplug_text){name.at, node},
                                text_of("Node Control")) ||
            sparkplug_text_same((struct sparkplug_text){name.at, node},
                                text_of("Device Control"));
        if (!d->metric[k].has_alias && !control) {
            if (found) {
                return NULL;
            }
            found = &d->metric[k];
        }
    }
    return found;
}

static struct sparkplug_known *find_name(struct sparkplug_device *d, struct sparkplug_text name)
{
    for (size_t k = 0; k < d->count; k++) {
        if (sparkplug_text_same(name_of(d, &d->metric[k]), name)) {
            return &d->metric[k];
        }
    }
    return NULL;
}

/* Adds a metric, or updates one that is declared again. NULL: no room. */
static struct sparkplug_known *learn_metric(struct sparkplug_device *d, const struct metric *m)
{
    struct sparkplug_known *known = find_name(d, m->name);
    if (!known) {
        if (d->count == SPARKPLUG_METRICS_MAX ||
            m->name.bytes > SPARKPLUG_NAMES_MAX - d->names_used) {
            d->overfull = true;
            return NULL;
        }
        known = &d->metric[d->count++];
        *known = (struct sparkplug_known){.name = d->names_used,
                                          .name_bytes = (uint32_t)m->name.bytes};
        memcpy(d->names + d->names_used, m->name.at, m->name.bytes);
        d->names_used += (uint32_t)m->name.bytes;
    }
    known->has_alias = m->has_alias;
    known->alias = m->alias;
    known->type = m->type <= UINT8_MAX ? (uint8_t)m->type : 0;
    return known;
}

static void hold_value(struct sparkplug_known *known, const struct sparkplug_value *value)
{
    known->kind = (uint8_t)value->kind;
    if (value->kind == SPARKPLUG_REAL) {
        known->real = value->real;
    } else if (value->kind == SPARKPLUG_WHOLE || value->kind == SPARKPLUG_TRUTH) {
        known->whole = value->whole;
    } else if (value->kind == SPARKPLUG_TEXT && value->text.bytes < sizeof known->text) {
        memcpy(known->text, value->text.at, value->text.bytes);
        known->text_bytes = (uint8_t)value->text.bytes;
    } else if (value->kind == SPARKPLUG_TEXT) {
        known->kind = SPARKPLUG_NONE;
    }
}

struct sparkplug_value sparkplug_held(const struct sparkplug_device *device,
                                      struct sparkplug_text name)
{
    for (size_t k = 0; k < device->count; k++) {
        const struct sparkplug_known *known = &device->metric[k];
        if (sparkplug_text_same(name_of(device, known), name)) {
            struct sparkplug_value value = {.kind = (enum sparkplug_value_kind)known->kind};
            value.real = value.kind == SPARKPLUG_REAL ? known->real : 0.0;
            value.whole = value.kind == SPARKPLUG_WHOLE || value.kind == SPARKPLUG_TRUTH
                              ? known->whole
                              : 0;
            value.text = (struct sparkplug_text){known->text, known->text_bytes};
            return value;
        }
    }
    return (struct sparkplug_value){.kind = SPARKPLUG_NONE};
}

/* ---- messages ---- */

/* The frame of a payload, after one complete pass over it. */
struct frame {
    int64_t stamp_ms; /* -1: absent */
    bool has_seq, has_bd_seq;
    uint64_t seq, bd_seq;
};

static void read_bd_seq(struct frame *frame, const struct metric *m)
{
    if (m->name.at && sparkplug_text_same(m->name, text_of("bdSeq")) &&
        (m->value.number == METRIC_INT || m->value.number == METRIC_LONG)) {
        frame->has_bd_seq = true;
        frame->bd_seq = m->value.value;
    }
}

static const char *read_frame(const char *payload, size_t bytes, struct frame *frame)
{
    struct scan s = scan_bytes(payload, bytes);
    struct field f;
    *frame = (struct frame){.stamp_ms = -1};
    while (next_field(&s, &f)) {
        struct metric m;
        const enum wire wire = f.number == PAYLOAD_METRIC ? WIRE_BYTES : WIRE_VARINT;
        if (f.number >= PAYLOAD_TIMESTAMP && f.number <= PAYLOAD_SEQ && f.wire != wire) {
            return "the payload has a field that is none of Sparkplug B's";
        }
        if (f.number == PAYLOAD_UUID && f.bytes.at &&
            sparkplug_text_same(f.bytes, text_of("SPBV1.0_COMPRESSED"))) {
            return "a payload that is not compressed was expected";
        }
        if (f.number == PAYLOAD_METRIC) {
            if (!read_metric(f.bytes, &m, &s.fault)) {
                return s.fault;
            }
            read_bd_seq(frame, &m);
        }
        frame->stamp_ms = f.number == PAYLOAD_TIMESTAMP ? stamp_of(f.value) : frame->stamp_ms;
        frame->has_seq = frame->has_seq || f.number == PAYLOAD_SEQ;
        frame->seq = f.number == PAYLOAD_SEQ ? f.value : frame->seq;
    }
    return s.fault ? s.fault : frame->seq > UINT8_MAX ? "a seq of 0 to 255 was expected" : NULL;
}

/* Finds the name of a metric, by its alias if it has no name itself. at NULL: no birth declared
 * the alias. */
static struct sparkplug_text find_metric(struct sparkplug_device *d, enum sparkplug_kind kind,
                                         const struct metric *m, struct sparkplug_known **known)
{
    *known = NULL;
    if (m->name.at) {
        *known = is_birth(kind) ? learn_metric(d, m) : find_name(d, m->name);
        return m->name;
    }
    *known = find_alias(d, m->alias);
    *known = *known || m->has_alias ? *known : find_left_out(d);
    return *known ? name_of(d, *known) : m->name;
}

static void apply_metric(struct sparkplug_device *d, enum sparkplug_kind kind,
                         const struct metric *m, int64_t stamp_ms,
                         struct sparkplug_metrics *out)
{
    struct sparkplug_known *known = NULL;
    const struct sparkplug_text name = find_metric(d, kind, m, &known);
    if (!name.at) {
        out->first_unknown = out->unknown == 0 ? m->alias : out->first_unknown;
        out->unknown += !d->overfull;
        return;
    }
    const uint64_t type = m->type > 0 ? m->type : known ? known->type : 0;
    const struct sparkplug_value value = value_of(m, type);
    if (known && !is_command(kind)) {
        hold_value(known, &value);
    }
    if (out->count == SPARKPLUG_METRICS_MAX) {
        out->left_out++;
        return;
    }
    out->metric[out->count++] =
        (struct sparkplug_metric){name, value, m->stamp_ms >= 0 ? m->stamp_ms : stamp_ms};
}

/* Decodes the metrics of a message that read_frame() has accepted. */
static void read_metrics(struct sparkplug_device *device, enum sparkplug_kind kind,
                         const char *payload, size_t bytes, int64_t stamp_ms,
                         struct sparkplug_metrics *out)
{
    struct scan s = scan_bytes(payload, bytes);
    struct field f;
    const char *fault = NULL;
    out->count = out->unknown = out->left_out = 0;
    out->first_unknown = 0;
    while (next_field(&s, &f)) {
        struct metric m;
        if (f.number == PAYLOAD_METRIC && read_metric(f.bytes, &m, &fault) && !m.historical) {
            apply_metric(device, kind, &m, stamp_ms, out);
        }
    }
}

const struct sparkplug_metric *sparkplug_find(const struct sparkplug_metrics *metrics,
                                              struct sparkplug_text name)
{
    for (size_t k = metrics->count; k-- > 0;) { /* the last of two equal names counts */
        if (sparkplug_text_same(metrics->metric[k].name, name)) {
            return &metrics->metric[k];
        }
    }
    return NULL;
}

/* A message and the receiver of its events. */
struct reception {
    const struct sparkplug_topic *topic;
    const struct sparkplug_place *places;
    size_t n, bytes;
    const char *payload;
    struct frame frame;
    void (*emit)(void *context, const struct sparkplug_event *event);
    void *context;
};

static struct sparkplug_event event_of(const struct reception *h, enum sparkplug_what what,
                                       size_t place)
{
    return (struct sparkplug_event){
        .what = what, .place = place, .bd_seq = h->frame.bd_seq, .stamp_ms = h->frame.stamp_ms};
}

static void emit_event(const struct reception *h, enum sparkplug_what what, size_t place,
                       size_t count)
{
    struct sparkplug_event event = event_of(h, what, place);
    event.count = count;
    h->emit(h->context, &event);
}

static void emit_metrics(const struct reception *h, size_t place)
{
    struct sparkplug_metrics metrics;
    struct sparkplug_device *device = h->places[place].device;
    struct sparkplug_event event = event_of(h, SPARKPLUG_UNKNOWN, place);
    read_metrics(device, h->topic->kind, h->payload, h->bytes, h->frame.stamp_ms, &metrics);
    if (metrics.unknown > 0) {
        event.count = metrics.unknown;
        event.alias = metrics.first_unknown;
        h->emit(h->context, &event);
    }
    if (metrics.left_out > 0) {
        emit_event(h, SPARKPLUG_TOO_MANY, place, metrics.left_out);
    }
    if (metrics.count > 0) {
        event.what = SPARKPLUG_VALUES;
        event.metrics = &metrics;
        h->emit(h->context, &event);
    }
}

static void emit_place(const struct reception *h, size_t place)
{
    const enum sparkplug_kind kind = h->topic->kind;
    if (is_birth(kind)) {
        emit_event(h, SPARKPLUG_ONLINE, place, 0);
    } else if (kind == SPARKPLUG_DDEATH) {
        emit_event(h, SPARKPLUG_OFFLINE, place, 0);
    }
    emit_metrics(h, place);
}

static void apply_death(const struct reception *h, struct sparkplug_node *node)
{
    if (!node->born || !h->frame.has_bd_seq || h->frame.bd_seq != node->bd_seq) {
        emit_event(h, SPARKPLUG_STALE, SIZE_MAX, 0);
        return;
    }
    node->born = false;
    for (size_t k = 0; k < h->n; k++) {
        emit_event(h, SPARKPLUG_OFFLINE, k, 0);
    }
}

/* A birth replaces everything that was known of its devices. */
static void apply_birth(const struct reception *h, struct sparkplug_node *node)
{
    node->born = true;
    node->counts = h->frame.has_seq;
    node->seq = (uint8_t)h->frame.seq;
    node->bd_seq = h->frame.bd_seq;
    for (size_t k = 0; k < h->n; k++) {
        memset(h->places[k].device, 0, sizeof *h->places[k].device);
    }
}

/* Does the message carry the node's count? Encoders of proto3 leave out a seq of 0, so an
 * absent one is 0, unless the node has never sent any. */
static bool is_counted(const struct frame *frame, const struct sparkplug_node *node)
{
    return frame->has_seq || node->counts;
}

static void count_message(const struct reception *h, struct sparkplug_node *node)
{
    const uint8_t missing = (uint8_t)(h->frame.seq - node->seq - 1U);
    if (!is_counted(&h->frame, node)) {
        return;
    }
    node->counts = true;
    node->seq = (uint8_t)h->frame.seq;
    if (missing > 0) {
        emit_event(h, SPARKPLUG_MISSING, SIZE_MAX, missing);
    }
}

void sparkplug_decode(struct sparkplug_node *node, const struct sparkplug_place *places,
                      size_t n, const struct sparkplug_topic *topic, const char *payload,
                      size_t bytes,
                      void (*emit)(void *context, const struct sparkplug_event *event),
                      void *context)
{
    struct reception h = {topic, places, n, bytes, payload, {.seq = 0}, emit, context};
    struct sparkplug_event malformed = {.what = SPARKPLUG_MALFORMED, .place = SIZE_MAX};
    const enum sparkplug_kind kind = topic->kind;
    malformed.fault = read_frame(payload, bytes, &h.frame);
    if (malformed.fault) {
        emit(context, &malformed);
        return;
    }
    if (kind == SPARKPLUG_NDEATH) {
        apply_death(&h, node);
        return;
    }
    if (kind == SPARKPLUG_NBIRTH) {
        apply_birth(&h, node);
    } else if (!is_command(kind) && node->born) {
        count_message(&h, node);
    } else if (!is_command(kind)) {
        emit_event(&h, SPARKPLUG_UNBORN, SIZE_MAX, 0);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        if (sparkplug_text_same(places[k].name, topic->device)) {
            if (kind == SPARKPLUG_DBIRTH) {
                memset(places[k].device, 0, sizeof *places[k].device);
            }
            emit_place(&h, k);
        }
    }
}

bool sparkplug_repeats(const struct sparkplug_node *node, enum sparkplug_kind kind,
                       const char *payload, size_t bytes)
{
    struct frame frame;
    return node->born && !is_command(kind) && kind != SPARKPLUG_NDEATH &&
           !read_frame(payload, bytes, &frame) && is_counted(&frame, node) &&
           frame.seq == node->seq;
}

/* ---- outgoing messages ---- */

static size_t append_varint(char *out, uint64_t value)
{
    size_t n = 0;
    while (value > 127) {
        out[n++] = (char)(value | 128U);
        value >>= 7;
    }
    out[n++] = (char)value;
    return n;
}

static size_t append_field(char *out, unsigned number, uint64_t value)
{
    const size_t n = append_varint(out, (uint64_t)number << 3 | WIRE_VARINT);
    return n + append_varint(out + n, value);
}

static size_t append_text(char *out, unsigned number, struct sparkplug_text text)
{
    size_t n = append_varint(out, (uint64_t)number << 3 | WIRE_BYTES);
    n += append_varint(out + n, text.bytes);
    memcpy(out + n, text.at, text.bytes);
    return n + text.bytes;
}

static void append_bytes(struct sparkplug_writer *w, const char *bytes, size_t n)
{
    w->failed = w->failed || n > w->capacity - w->used;
    if (!w->failed) {
        memcpy(w->out + w->used, bytes, n);
        w->used += n;
    }
}

void sparkplug_begin(struct sparkplug_writer *w, char *out, size_t capacity, int64_t t_us)
{
    char field[24];
    *w = (struct sparkplug_writer){.out = out, .capacity = capacity};
    append_bytes(w, field,
                 append_field(field, PAYLOAD_TIMESTAMP, t_us > 0 ? (uint64_t)t_us / 1000 : 0));
}

void sparkplug_append(struct sparkplug_writer *w, const char *name,
                      const struct sparkplug_value *value)
{
    enum { TEXTS_MAX = 1024 };
    char metric[TEXTS_MAX + 64];
    char head[24];
    const struct sparkplug_text called = text_of(name);
    const size_t text_bytes = value->kind == SPARKPLUG_TEXT ? value->text.bytes : 0;
    if (called.bytes + text_bytes > TEXTS_MAX) {
        w->failed = true;
        return;
    }
    size_t n = append_text(metric, METRIC_NAME, called);
    if (value->kind == SPARKPLUG_TEXT) {
        n += append_field(metric + n, METRIC_TYPE, TYPE_STRING);
        n += append_text(metric + n, METRIC_TEXT, value->text);
    } else if (value->kind == SPARKPLUG_TRUTH) {
        n += append_field(metric + n, METRIC_TYPE, TYPE_TRUTH);
        n += append_field(metric + n, METRIC_TRUTH, value->whole != 0);
    } else {
        const double real = value->kind == SPARKPLUG_WHOLE ? (double)value->whole : value->real;
        uint64_t bits = 0;
        memcpy(&bits, &real, sizeof bits);
        n += append_field(metric + n, METRIC_TYPE, TYPE_DOUBLE);
        metric[n++] = (char)(METRIC_DOUBLE << 3 | WIRE_8);
        for (unsigned k = 0; k < 8; k++) {
            metric[n++] = (char)(bits >> 8 * k & 255U);
        }
    }
    const size_t head_bytes = append_varint(head, PAYLOAD_METRIC << 3 | WIRE_BYTES);
    append_bytes(w, head, head_bytes + append_varint(head + head_bytes, n));
    append_bytes(w, metric, n);
}
