/* A document of `tandem replay --json`. It is mapped, and only the pair that is loaded is
 * parsed into records, so that its size does not matter. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/message/json_scan.h"
#include "service/compare/recorded_rows.h"
#include "service/tool/json_file.h"

enum { DEPTH = 24 };

struct document_pair {
    char id[EVENT_PAIR_MAX];
    const char *text; /* its object */
    size_t bytes;
    bool has_commands;
};

struct document {
    char path[ERR_WHERE_MAX];
    const char *text; /* mapped */
    size_t bytes;
    struct document_pair *pairs; /* [count] */
    size_t count;
};

/* ---- the file -----------------------------------------------------------------------------
 */

/* Maps a regular file that begins with '{'. */
static bool map_file(const char *path, const char **text, size_t *bytes)
{
    struct stat st;
    void *mapped = MAP_FAILED;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (mapped == MAP_FAILED) {
        return false;
    }
    *text = mapped;
    *bytes = (size_t)st.st_size;
    return true;
}

/* Goes to the member in the open object. */
static bool find_member(struct json_scan *s, const char *name)
{
    struct json_text key;
    while (json_scan_next_member(s, &key)) {
        if (json_text_is(&key, name)) {
            return true;
        }
        if (!json_scan_skip(s, NULL, NULL)) {
            return false;
        }
    }
    return false;
}

static bool begin_pairs(struct json_scan *s, const char *text, size_t bytes)
{
    json_scan_start(s, text, bytes, DEPTH);
    return json_scan_peek(s) == JSON_KIND_OBJECT && json_scan_enter(s, JSON_KIND_OBJECT) &&
           find_member(s, "pairs") && json_scan_peek(s) == JSON_KIND_OBJECT;
}

bool recording_is_document(const char *path)
{
    struct json_scan s;
    const char *text = NULL;
    size_t bytes = 0;
    if (!map_file(path, &text, &bytes)) {
        return false;
    }
    const bool is_one = begin_pairs(&s, text, bytes);
    (void)munmap((void *)(uintptr_t)text, bytes);
    return is_one;
}

static bool find_commands(const struct document_pair *pair)
{
    struct json_scan s;
    json_scan_start(&s, pair->text, pair->bytes, DEPTH);
    return json_scan_enter(&s, JSON_KIND_OBJECT) && find_member(&s, "entries") &&
           json_scan_enter(&s, JSON_KIND_ARRAY) && json_scan_next_item(&s);
}

static enum status complain_document(const struct document *d, struct json_scan *s,
                                     struct err *err)
{
    char text[128];
    (void)json_scan_fail(s, FAULT_BAD_FORMAT, "what tandem replay --json writes");
    return err_set(err, STATUS_E_PARSE, FAULT_BAD_SYNTAX, d->path,
                   "no whole document of tandem replay --json: character %zu: %s",
                   (size_t)(s->at - d->text) + 1, json_scan_explain(s, text, sizeof text));
}

static enum status index_pairs(struct document *d, struct err *err)
{
    struct json_scan s;
    struct json_text key;
    bool found = begin_pairs(&s, d->text, d->bytes) && json_scan_enter(&s, JSON_KIND_OBJECT);
    while (found && json_scan_next_member(&s, &key)) {
        struct document_pair pair = {0};
        struct document_pair *grown = realloc(d->pairs, (d->count + 1) * sizeof *d->pairs);
        if (!grown) {
            return err_no_memory(err, d->path, "out of memory");
        }
        d->pairs = grown;
        (void)json_text_copy(&key, pair.id, sizeof pair.id, false);
        if (json_scan_peek(&s) != JSON_KIND_OBJECT) {
            (void)json_scan_fail(&s, FAULT_OBJECT_EXPECTED, "an object for each pair");
        }
        found = json_scan_skip(&s, &pair.text, &pair.bytes);
        if (found) {
            pair.has_commands = find_commands(&pair);
            d->pairs[d->count++] = pair;
        }
    }
    while (found && json_scan_next_member(&s, &key)) {
        found = json_scan_skip(&s, NULL, NULL);
    }
    return json_scan_finish(&s) ? STATUS_OK : complain_document(d, &s, err);
}

enum status document_open(const char *path, struct document **out, struct err *err)
{
    struct document *d = calloc(1, sizeof *d);
    if (!d) {
        return err_no_memory(err, path, "out of memory");
    }
    (void)snprintf(d->path, sizeof d->path, "%s", path);
    enum status status = map_file(path, &d->text, &d->bytes)
                             ? index_pairs(d, err)
                             : err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path,
                                       "cannot be read: %s", strerrordesc_np(errno));
    if (status != STATUS_OK) {
        document_close(d);
        return status;
    }
    *out = d;
    return STATUS_OK;
}

void document_close(struct document *document)
{
    if (document) {
        if (document->text) {
            (void)munmap((void *)(uintptr_t)document->text, document->bytes);
        }
        free(document->pairs);
        free(document);
    }
}

size_t document_pair_count(const struct document *document)
{
    return document->count;
}

const char *document_pair_id(const struct document *document, size_t i)
{
    return document->pairs[i].id;
}

bool document_has_commands(const struct document *document, size_t i)
{
    return document->pairs[i].has_commands;
}

/* ---- records ------------------------------------------------------------------------------
 */

static int64_t read_time(const json_t *object)
{
    return llround(json_file_real(object, "t") * 1e6);
}

static bool has_side(const json_t *object, const char *side)
{
    const char *late = json_file_text(object, "timeout_side");
    return strcmp(late, side) == 0 || strcmp(late, "both") == 0;
}

static double read_size(const json_t *object, const char *key)
{
    const double size = json_file_real(object, key);
    return isfinite(size) ? size : 0.0;
}

static bool read_command(const json_t *object, struct recorded_row *row)
{
    struct recorded_command *c = &row->command;
    const json_t *consistent = json_object_get(object, "consistent");
    *c = (struct recorded_command){
        .t_us = read_time(object),
        .n = (uint64_t)json_integer_value(json_object_get(object, "n")),
        .rotation_rad = read_size(object, "rotation_rad"),
        .displacement_m = read_size(object, "displacement_m"),
        .verdict = (enum verdict)names_value(&verdict_names, json_file_text(object, "verdict")),
        .consistency = json_is_true(consistent)    ? CONSISTENT
                       : json_is_false(consistent) ? INCONSISTENT
                                                   : CONSISTENCY_UNKNOWN,
        .timed_out = {[SIDE_REAL] = has_side(object, "real"),
                      [SIDE_VIRTUAL] = has_side(object, "virtual")}};
    for (enum compared_time t = TIME_LAG; t < TIME_COUNT; t++) {
        c->time_s[t] = json_file_real(object, compared_time_name(t));
    }
    c->time_s[TIME_ABS_LAG] = fabs(c->time_s[TIME_LAG]);
    (void)snprintf(c->id, sizeof c->id, "%s", json_file_text(object, "id"));
    (void)snprintf(c->op, sizeof c->op, "%s", json_file_text(object, "op"));
    (void)snprintf(row->version[SIDE_REAL], EVENT_VERSION_MAX, "%s",
                   json_file_text(object, "real_version"));
    (void)snprintf(row->version[SIDE_VIRTUAL], EVENT_VERSION_MAX, "%s",
                   json_file_text(object, "virtual_version"));
    return c->verdict < VERDICT_COUNT && isfinite(json_file_real(object, "t"));
}

static bool read_alarm(const json_t *object, struct recorded_row *row)
{
    const size_t type = names_value(&alarm_type_names, json_file_text(object, "type"));
    row->alarm = (struct recorded_alarm){read_time(object), (enum alarm_type)type, ""};
    (void)snprintf(row->alarm.id, sizeof row->alarm.id, "%s", json_file_text(object, "id"));
    return type < ALARM_TYPE_COUNT;
}

static bool read_change(const json_t *object, struct recorded_row *row)
{
    const json_int_t n = json_integer_value(json_object_get(object, "n"));
    row->change = (struct recorded_change){read_time(object), (uint64_t)n};
    return n > 0;
}

static void read_fit(const json_t *object, struct recorded_fit *fit)
{
    const char *name = NULL;
    json_t *value = NULL;
    const json_int_t n = json_integer_value(json_object_get(object, "n"));
    fit->n = n > 0 ? (size_t)n : 0;
    json_object_foreach(json_object_get(object, "values"), name, value)
    {
        if (fit->terms < RECORDED_TERMS_MAX) {
            const size_t i = fit->terms++;
            (void)snprintf(fit->name[i], sizeof fit->name[i], "%s", name);
            fit->value[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
            fit->se[i] = json_file_real(json_object_get(object, "se"), name);
        }
    }
}

static void read_fits(const json_t *object, struct recorded_state *state)
{
    read_fit(json_object_get(object, "real"), &state->fit[SIDE_REAL]);
    read_fit(json_object_get(object, "virtual"), &state->fit[SIDE_VIRTUAL]);
}

static void read_counts(const json_t *object, struct recorded_state *state)
{
    for (enum alarm_type i = 0; i < ALARM_TYPE_COUNT; i++) {
        const json_int_t n = json_integer_value(json_object_get(object, alarm_type_name(i)));
        state->alarms[i] = n > 0 ? (uint64_t)n : 0;
    }
}

/* ---- a pair -------------------------------------------------------------------------------
 */

/* Parses the next value of the scan. NULL: it is none, or there is no memory. */
static json_t *parse_value(struct json_scan *s)
{
    const char *text = NULL;
    size_t bytes = 0;
    return json_scan_skip(s, &text, &bytes) ? json_loadb(text, bytes, JSON_DECODE_ANY, NULL)
                                            : NULL;
}

/* Reads a list, one record in memory at a time. */
static bool read_list(struct json_scan *s, enum recorded_kind kind, struct recorded_pair *pair)
{
    static bool (*const readers[])(const json_t *,
                                   struct recorded_row *) = {[RECORDED_COMMAND] = read_command,
                                                             [RECORDED_ALARM] = read_alarm,
                                                             [RECORDED_CHANGE] = read_change};
    bool read = json_scan_enter(s, JSON_KIND_ARRAY);
    while (read && json_scan_next_item(s)) {
        struct recorded_row row = {.kind = kind};
        json_t *object = parse_value(s);
        read = json_is_object(object) && readers[kind](object, &row) &&
               recorded_pair_add(pair, &row) == STATUS_OK;
        json_decref(object);
        for (enum side side = SIDE_REAL; read && side < SIDE_COUNT; side++) {
            if (row.version[side][0]) {
                memcpy(pair->state.version[side], row.version[side], EVENT_VERSION_MAX);
            }
        }
    }
    return read;
}

/* Reads the object of a member: fits, or counts. */
static bool read_object(struct json_scan *s, struct recorded_state *state,
                        void (*read)(const json_t *, struct recorded_state *))
{
    json_t *object = parse_value(s);
    const bool is_one = json_is_object(object);
    if (is_one) {
        read(object, state);
    }
    json_decref(object);
    return is_one;
}

enum status document_load(const struct document *document, size_t i, struct recorded_pair *out,
                          struct err *err)
{
    struct json_scan s;
    struct json_text key;
    json_scan_start(&s, document->pairs[i].text, document->pairs[i].bytes, DEPTH);
    bool read = json_scan_enter(&s, JSON_KIND_OBJECT);
    while (read && json_scan_next_member(&s, &key)) {
        read = json_text_is(&key, "entries")        ? read_list(&s, RECORDED_COMMAND, out)
               : json_text_is(&key, "alarms")       ? read_list(&s, RECORDED_ALARM, out)
               : json_text_is(&key, "changes")      ? read_list(&s, RECORDED_CHANGE, out)
               : json_text_is(&key, "alarm_counts") ? read_object(&s, &out->state, read_counts)
               : json_text_is(&key, "travel_time")  ? read_object(&s, &out->state, read_fits)
                                                    : json_scan_skip(&s, NULL, NULL);
    }
    return read && json_scan_finish(&s) ? STATUS_OK : complain_document(document, &s, err);
}
