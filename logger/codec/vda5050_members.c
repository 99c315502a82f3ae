/* logger/codec/vda5050_members.c - parses the members of VDA 5050 objects from JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/text/text.h"
#include "logger/codec/vda5050_parts.h"

static void clear_members(const struct vda_member *members, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        void *at = (char *)out + members[i].at;
        switch (members[i].form) {
        case VDA_TEXT:
            *(struct json_text *)at = (struct json_text){NULL, 0, false};
            break;
        case VDA_REAL:
            *(double *)at = nan("");
            break;
        case VDA_WHOLE:
            *(int64_t *)at = -1;
            break;
        case VDA_TRUTH:
            *(int8_t *)at = -1;
            break;
        case VDA_PART:
            ((struct json_scan *)at)->begin = NULL;
            break;
        }
    }
}

static bool read_value(struct json_scan *s, enum vda_form form, void *at)
{
    static const double most = 9007199254740992.0; /* beyond it doubles skip integers */
    double number = 0.0;
    bool truth = false;
    switch (form) {
    case VDA_TEXT:
        return json_scan_text(s, at);
    case VDA_REAL:
        return json_scan_number(s, at);
    case VDA_WHOLE:
        if (!json_scan_number(s, &number)) {
            return false;
        }
        if (!(number >= 0.0 && number < most)) {
            return json_scan_fail(s, FAULT_WHOLE_NUMBER_EXPECTED,
                                  "a whole number of 0 or more was expected");
        }
        *(int64_t *)at = (int64_t)number;
        return true;
    case VDA_TRUTH:
        if (!json_scan_bool(s, &truth)) {
            return false;
        }
        *(int8_t *)at = truth;
        return true;
    case VDA_PART:
        *(struct json_scan *)at = *s;
        return json_scan_skip(s, NULL, NULL);
    }
    return false;
}

bool vda_read(const struct vda_run *run, struct json_scan *s, const struct vda_member *members,
              size_t count, void *out)
{
    struct json_text key;
    clear_members(members, count, out);
    if (json_scan_peek(s) != JSON_KIND_OBJECT || !json_scan_enter(s, JSON_KIND_OBJECT)) {
        return vda_fail(run, FAULT_OBJECT_EXPECTED, "%s: a JSON object was expected",
                        run->kind);
    }
    while (json_scan_next_member(s, &key)) {
        const struct vda_member *member = NULL;
        for (size_t i = 0; i < count && !member; i++) {
            member = json_text_is(&key, members[i].name) ? &members[i] : NULL;
        }
        if (!member || json_scan_peek(s) == JSON_KIND_NULL) {
            (void)json_scan_skip(s, NULL, NULL);
        } else if (!read_value(s, member->form, (char *)out + member->at)) {
            return vda_fail(run, s->fault, "member '%s': %s", member->name, s->error);
        }
    }
    return true;
}

bool vda_enter(struct json_scan *list)
{
    return list->begin && json_scan_peek(list) == JSON_KIND_ARRAY &&
           json_scan_enter(list, JSON_KIND_ARRAY);
}

bool vda_next(struct json_scan *list)
{
    return json_scan_next_item(list);
}

bool vda_fail(const struct vda_run *run, enum fault fault, const char *format, ...)
{
    char why[128];
    TEXT_FORMAT(why, sizeof why, format);
    codec_malformed(run->pair, run->message, run->side, run->kind, run->sink, fault, "%s", why);
    return false;
}

void vda_contradict(const struct vda_run *run, const char *id, const char *what)
{
    struct event e;
    codec_begin_event(&e, run->pair, run->message, EVENT_NOTE, run->side);
    e.note.kind = NOTE_CONTRADICTION;
    (void)snprintf(e.note.id, sizeof e.note.id, "%s", id);
    (void)snprintf(e.note.detail, sizeof e.note.detail, "%s", what);
    codec_emit(run->pair, &e, run->sink);
}

uint64_t vda_hash(const struct json_text *text)
{
    struct json_text rest = *text;
    uint64_t hash = HASH_START;
    char one[4];
    if (!text->at) {
        return 0;
    }
    for (size_t n = json_text_next(&rest, one); n > 0; n = json_text_next(&rest, one)) {
        hash = hash_bytes(hash, one, n);
    }
    return hash;
}

void vda_copy(const struct json_text *text, char *out, size_t size)
{
    out[0] = '\0';
    if (text->at) {
        (void)json_text_copy(text, out, size, false);
    }
}

int64_t vda_stamp(const struct json_text *text)
{
    return text->at ? message_parse_time(text->at, text->bytes) : LAB_TIME_NONE;
}
