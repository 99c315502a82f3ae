/* logger/codec/mapping_send.c - outgoing messages to robots with a mapping: a native payload in
 * their words.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/number.h"
#include "base/text/names.h"
#include "logger/codec/mapping.h"
#include "logger/message/json_write.h"

struct filling {
    const struct mapping_send *send;
    const struct codec_out *out;
    struct mapping_finding finding;
    char *to; /* [size] */
    size_t size, used;
};

static bool add_bytes(struct filling *f, const char *text, size_t bytes)
{
    if (f->used + bytes >= f->size) {
        return false;
    }
    memcpy(f->to + f->used, text, bytes);
    f->used += bytes;
    f->to[f->used] = '\0';
    return true;
}

/* ---- values, in the outgoing direction ---- */

/* A value of the native payload as text, and whether JSON writes it without quotes. */
struct word {
    char text[MESSAGE_TOPIC_MAX];
    bool bare;
};

/* Minus zero is written as zero. */
static void format_number(double number, int digits, char *out, size_t size)
{
    char text[JSON_WRITE_NUMBER_MAX];
    if (digits >= 0) {
        (void)snprintf(out, size, "%.*f", digits, number);
    } else {
        /* The unit's factor leaves rounding errors, which are removed: a quarter turn is 90
         * degrees. */
        const double round_off = nearbyint(number * 1e9) / 1e9;
        (void)json_format_real(isfinite(round_off) ? round_off : number, text);
        (void)snprintf(out, size, "%s", text);
    }
    if (out[0] == '-' && strspn(out + 1, "0.") == strlen(out + 1)) {
        memmove(out, out + 1, strlen(out));
    }
}

static bool format_found(const struct filling *f, size_t k, struct word *word)
{
    const struct mapping_source *source = &f->send->sources[k];
    const struct mapping_found *found = &f->finding.found[k];
    const bool missing = found->kind == JSON_KIND_NONE || found->kind == JSON_KIND_NULL;
    double number = missing ? 0.0 : found->number;
    word->bare = found->kind != JSON_KIND_TEXT;
    if (!missing && json_text_copy(&found->text, word->text, sizeof word->text, false) >=
                        sizeof word->text) {
        return false;
    }
    if (missing) { /* an absent size means 0 */
        (void)snprintf(word->text, sizeof word->text, "%s", source->numeric ? "0" : "");
    }
    for (size_t i = 0; i < source->map_count; i++) {
        if (strcmp(source->map[i].to, word->text) == 0) {
            (void)snprintf(word->text, sizeof word->text, "%s", source->map[i].from);
            word->bare = number_scan_json(word->text, word->text + strlen(word->text),
                                          &number) == word->text + strlen(word->text) &&
                         word->text[0] != '\0';
            return true;
        }
    }
    if (source->map) {
        return false;
    }
    if (source->numeric) {
        if (!missing && found->kind != JSON_KIND_NUMBER) {
            return false;
        }
        word->bare = true;
        format_number((number - source->offset) / source->scale, f->send->digits[k], word->text,
                      sizeof word->text);
    } else if (missing) {
        (void)snprintf(word->text, sizeof word->text, "%s", "");
    }
    return true;
}

/* ---- parts ---- */

static bool add_quoted(struct filling *f, const struct word *word, bool inner)
{
    char text[6 * MESSAGE_TOPIC_MAX + 2];
    struct json_writer w;
    if (word->bare) {
        const char *bare = word->text[0] || inner ? word->text : "null";
        return add_bytes(f, bare, strlen(bare));
    }
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_text(&w, NULL, word->text);
    if (!json_write_end(&w) || w.used < 2) {
        return false;
    }
    return inner ? add_bytes(f, text + 1, w.used - 2) : add_bytes(f, text, w.used);
}

/* Appends text that must fit one line; within a topic it must not add levels. */
static bool add_plain(struct filling *f, const char *text, bool in_topic)
{
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f || (in_topic && strchr("/+#", *c))) {
            return false;
        }
    }
    return (text[0] || !in_topic) && add_bytes(f, text, strlen(text));
}

static const char *call_side(const struct mapping_send *send, enum side side)
{
    const char *name = side_name(side);
    for (size_t k = 0; k < send->side_count; k++) {
        if (strcmp(send->sides[k].to, name) == 0) {
            return send->sides[k].from;
        }
    }
    return name;
}

static bool add_part(struct filling *f, const struct mapping_part *part, bool in_topic)
{
    struct word word;
    switch (part->kind) {
    case MAPPING_LITERAL:
        return add_bytes(f, part->text, part->bytes);
    case MAPPING_PAIR:
        return add_plain(f, f->out->pair, in_topic);
    case MAPPING_SIDE:
        return add_plain(f, call_side(f->send, f->out->side), in_topic);
    case MAPPING_FILLED:
        return format_found(f, part->source, &word) && add_plain(f, word.text, in_topic);
    case MAPPING_QUOTED:
    case MAPPING_INNER:
        return format_found(f, part->source, &word) &&
               add_quoted(f, &word, part->kind == MAPPING_INNER);
    }
    return false;
}

static bool add_parts(struct filling *f, const struct mapping_part *parts, size_t count,
                      bool in_topic, char *to, size_t size)
{
    f->to = to;
    f->size = size;
    f->used = 0;
    to[0] = '\0';
    for (size_t k = 0; k < count; k++) {
        if (!add_part(f, &parts[k], in_topic)) {
            return false;
        }
    }
    return true;
}

/* ---- rows ---- */

/* Does the native payload have this operation? */
static bool is_op(const struct codec_out *out, const char *op)
{
    static const struct mapping_node nodes[] = {
        {.token = "", .index = -1, .first = 1},
        {.token = "op", .bytes = 2, .index = -1, .leaves = 1}};
    struct mapping_finding finding;
    char text[EVENT_OP_MAX];
    finding.found[0].kind = JSON_KIND_NONE;
    return mapping_find_json(nodes, out->payload, out->bytes, NULL, &finding) &&
           finding.found[0].kind == JSON_KIND_TEXT &&
           json_text_copy(&finding.found[0].text, text, sizeof text, false) < sizeof text &&
           strcmp(text, op) == 0;
}

static bool fill_message(struct filling *f, struct codec_message *message)
{
    const struct mapping_send *send = f->send;
    for (size_t k = 0; k < send->source_count; k++) {
        f->finding.found[k].kind = JSON_KIND_NONE;
    }
    if ((send->source_count > 0 &&
         !mapping_find_json(send->nodes, f->out->payload, f->out->bytes, NULL, &f->finding)) ||
        !add_parts(f, send->topic, send->topic_count, true, message->topic,
                   sizeof message->topic) ||
        !add_parts(f, send->text, send->text_count, false, message->room,
                   sizeof message->room)) {
        return false;
    }
    message->payload = message->room;
    message->bytes = f->used;
    return true;
}

enum mapping_outcome mapping_encode(const struct mapping *mapping, const struct codec_out *out,
                                    struct codec_message *message)
{
    struct filling f;
    f.out = out;
    for (size_t k = 0; k < mapping->send_count; k++) {
        f.send = &mapping->sends[k];
        if (f.send->kind == out->kind &&
            (f.send->side == SIDE_COUNT || f.send->side == out->side) &&
            (!f.send->op || is_op(out, f.send->op))) {
            return fill_message(&f, message) ? MAPPING_DECODED : MAPPING_PASSED;
        }
    }
    return MAPPING_NOBODY;
}

void mapping_send_filter(const struct mapping_send *send, const char *pair, enum side side,
                         char filter[MESSAGE_TOPIC_MAX])
{
    size_t used = 0;
    filter[0] = '\0';
    for (size_t k = 0; k < send->topic_count && used < MESSAGE_TOPIC_MAX; k++) {
        const struct mapping_part *part = &send->topic[k];
        const char *text = part->kind == MAPPING_LITERAL ? part->text
                           : part->kind == MAPPING_PAIR  ? pair
                           : part->kind == MAPPING_SIDE  ? call_side(send, side)
                                                         : "+";
        const int n = snprintf(filter + used, MESSAGE_TOPIC_MAX - used, "%s", text);
        used += n > 0 ? (size_t)n : 0;
    }
}
