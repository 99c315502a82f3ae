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

/* ---- members ------------------------------------------------------------------------------
 */

/* Reads a number, or null as NaN. */
static bool scan_number(struct json_scan *s, double *value)
{
    *value = (double)NAN;
    return json_scan_peek(s) == JSON_KIND_NULL ? json_scan_null(s) : json_scan_number(s, value);
}

/* Reads a text, or null as "". */
static bool scan_text(struct json_scan *s, char *out, size_t size)
{
    struct json_text text;
    out[0] = '\0';
    if (json_scan_peek(s) == JSON_KIND_NULL) {
        return json_scan_null(s);
    }
    if (!json_scan_text(s, &text)) {
        return false;
    }
    (void)json_text_copy(&text, out, size, false);
    return true;
}

static bool scan_name(struct json_scan *s, const struct names *names, unsigned *value)
{
    char text[64];
    if (!scan_text(s, text, sizeof text)) {
        return false;
    }
    *value = (unsigned)names_value(names, text);
    return *value < names->count || json_scan_fail(s, FAULT_UNKNOWN_NAME, "a known name");
}

static bool scan_time(struct json_scan *s, int64_t *t_us)
{
    double t = 0.0;
    if (!json_scan_number(s, &t) || !(fabs(t) < 1e12)) {
        return json_scan_fail(s, FAULT_TIME_EXPECTED, "a time in seconds");
    }
    *t_us = llround(t * 1e6);
    return true;
}

static bool scan_sides(struct json_scan *s, bool timed_out[SIDE_COUNT])
{
    char side[16];
    const bool read = scan_text(s, side, sizeof side);
    const bool both = strcmp(side, "both") == 0;
    timed_out[SIDE_REAL] = both || strcmp(side, "real") == 0;
    timed_out[SIDE_VIRTUAL] = both || strcmp(side, "virtual") == 0;
    return read;
}

static bool scan_consistency(struct json_scan *s, enum consistency *out)
{
    bool consistent = false;
    *out = CONSISTENCY_UNKNOWN;
    if (json_scan_peek(s) != JSON_KIND_TRUE && json_scan_peek(s) != JSON_KIND_FALSE) {
        return json_scan_skip(s, NULL, NULL);
    }
    const bool read = json_scan_bool(s, &consistent);
    *out = consistent ? CONSISTENT : INCONSISTENT;
    return read;
}

static bool scan_command_member(struct json_scan *s, const struct json_text *key,
                                struct recorded_command *c,
                                char version[SIDE_COUNT][EVENT_VERSION_MAX])
{
    double n = 0.0;
    unsigned verdict = 0;
    bool read = true;
    for (enum compared_time t = TIME_LAG; t < TIME_COUNT; t++) {
        if (t != TIME_ABS_LAG && json_text_is(key, compared_time_name(t))) {
            return scan_number(s, &c->time_s[t]);
        }
    }
    if (json_text_is(key, "n")) {
        read = json_scan_number(s, &n) && n >= 0.0;
        c->n = read ? (uint64_t)n : 0;
    } else if (json_text_is(key, "t")) {
        read = scan_time(s, &c->t_us);
    } else if (json_text_is(key, "id")) {
        read = scan_text(s, c->id, sizeof c->id);
    } else if (json_text_is(key, "op")) {
        read = scan_text(s, c->op, sizeof c->op);
    } else if (json_text_is(key, "rotation_rad")) {
        read = scan_number(s, &c->rotation_rad);
    } else if (json_text_is(key, "displacement_m")) {
        read = scan_number(s, &c->displacement_m);
    } else if (json_text_is(key, "verdict")) {
        read = scan_name(s, &verdict_names, &verdict);
        c->verdict = verdict;
    } else if (json_text_is(key, "timeout_side")) {
        read = scan_sides(s, c->timed_out);
    } else if (json_text_is(key, "consistent")) {
        read = scan_consistency(s, &c->consistency);
    } else if (json_text_is(key, "real_version")) {
        read = scan_text(s, version[SIDE_REAL], EVENT_VERSION_MAX);
    } else if (json_text_is(key, "virtual_version")) {
        read = scan_text(s, version[SIDE_VIRTUAL], EVENT_VERSION_MAX);
    } else {
        read = json_scan_skip(s, NULL, NULL);
    }
    return read || json_scan_fail(s, FAULT_BAD_FORMAT, "an entry as tandem replay writes it");
}

static bool scan_command(struct json_scan *s, struct recorded_row *row)
{
    struct json_text key;
    struct recorded_command *c = &row->command;
    *c = (struct recorded_command){.verdict = VERDICT_COUNT,
                                   .time_s = {NAN, NAN, NAN, NAN},
                                   .consistency = CONSISTENCY_UNKNOWN};
    while (json_scan_next_member(s, &key)) {
        if (!scan_command_member(s, &key, c, row->version)) {
            return false;
        }
    }
    c->time_s[TIME_ABS_LAG] = fabs(c->time_s[TIME_LAG]);
    c->rotation_rad = isfinite(c->rotation_rad) ? c->rotation_rad : 0.0;
    c->displacement_m = isfinite(c->displacement_m) ? c->displacement_m : 0.0;
    return c->verdict < VERDICT_COUNT || json_scan_fail(s, FAULT_MISSING_KEY, "a verdict");
}

static bool scan_alarm(struct json_scan *s, struct recorded_row *row)
{
    struct json_text key;
    unsigned type = ALARM_TYPE_COUNT;
    bool read = true;
    row->alarm = (struct recorded_alarm){0};
    while (read && json_scan_next_member(s, &key)) {
        read = json_text_is(&key, "t")      ? scan_time(s, &row->alarm.t_us)
               : json_text_is(&key, "id")   ? scan_text(s, row->alarm.id, sizeof row->alarm.id)
               : json_text_is(&key, "type") ? scan_name(s, &alarm_type_names, &type)
                                            : json_scan_skip(s, NULL, NULL);
    }
    row->alarm.type = type;
    return read && (type < ALARM_TYPE_COUNT ||
                    json_scan_fail(s, FAULT_MISSING_KEY, "an alarm with a type"));
}

static bool scan_change(struct json_scan *s, struct recorded_row *row)
{
    struct json_text key;
    double n = 0.0;
    bool read = true;
    row->change = (struct recorded_change){0};
    while (read && json_scan_next_member(s, &key)) {
        read = json_text_is(&key, "t")   ? scan_time(s, &row->change.t_us)
               : json_text_is(&key, "n") ? json_scan_number(s, &n) && n >= 0.0
                                         : json_scan_skip(s, NULL, NULL);
    }
    row->change.n = read ? (uint64_t)n : 0;
    return read;
}

/* Reads {"term": number, …} into values, by the names that are there, or by new ones. */
static bool scan_terms(struct json_scan *s, struct recorded_fit *fit, double *values)
{
    struct json_text key;
    bool read = json_scan_enter(s, JSON_KIND_OBJECT);
    while (read && json_scan_next_member(s, &key)) {
        size_t i = 0;
        while (i < fit->terms && !json_text_is(&key, fit->name[i])) {
            i++;
        }
        if (i == fit->terms && i < RECORDED_TERMS_MAX) {
            (void)json_text_copy(&key, fit->name[i], sizeof fit->name[i], false);
            fit->value[i] = fit->se[i] = (double)NAN;
            fit->terms++;
        }
        read =
            i < RECORDED_TERMS_MAX ? scan_number(s, &values[i]) : json_scan_skip(s, NULL, NULL);
    }
    return read;
}

static bool scan_fit(struct json_scan *s, struct recorded_fit *fit)
{
    struct json_text key;
    double n = 0.0;
    if (json_scan_peek(s) == JSON_KIND_NULL) {
        return json_scan_null(s);
    }
    bool read = json_scan_enter(s, JSON_KIND_OBJECT);
    while (read && json_scan_next_member(s, &key)) {
        read = json_text_is(&key, "n")        ? json_scan_number(s, &n) && n >= 0.0
               : json_text_is(&key, "values") ? scan_terms(s, fit, fit->value)
               : json_text_is(&key, "se")     ? scan_terms(s, fit, fit->se)
                                              : json_scan_skip(s, NULL, NULL);
    }
    fit->n = read ? (size_t)n : 0;
    return read;
}

static bool scan_fits(struct json_scan *s, struct recorded_state *state)
{
    struct json_text key;
    bool read = json_scan_enter(s, JSON_KIND_OBJECT);
    while (read && json_scan_next_member(s, &key)) {
        read = json_text_is(&key, "real")      ? scan_fit(s, &state->fit[SIDE_REAL])
               : json_text_is(&key, "virtual") ? scan_fit(s, &state->fit[SIDE_VIRTUAL])
                                               : json_scan_skip(s, NULL, NULL);
    }
    return read;
}

static bool scan_counts(struct json_scan *s, uint64_t counts[ALARM_TYPE_COUNT])
{
    struct json_text key;
    char name[64];
    bool read = json_scan_enter(s, JSON_KIND_OBJECT);
    while (read && json_scan_next_member(s, &key)) {
        double n = 0.0;
        (void)json_text_copy(&key, name, sizeof name, false);
        const size_t type = names_value(&alarm_type_names, name);
        read = json_scan_number(s, &n) && n >= 0.0;
        if (read && type < ALARM_TYPE_COUNT) {
            counts[type] = (uint64_t)n;
        }
    }
    return read;
}

/* ---- a pair -------------------------------------------------------------------------------
 */

/* Reads a list of records. */
static bool scan_list(struct json_scan *s, enum recorded_kind kind,
                      bool (*scan)(struct json_scan *s, struct recorded_row *row),
                      struct recorded_pair *pair, enum status *status)
{
    bool read = json_scan_enter(s, JSON_KIND_ARRAY);
    while (read && *status == STATUS_OK && json_scan_next_item(s)) {
        struct recorded_row row = {.kind = kind};
        read = json_scan_enter(s, JSON_KIND_OBJECT) && scan(s, &row);
        *status = read ? recorded_pair_add(pair, &row) : STATUS_OK;
        for (enum side side = SIDE_REAL; side < SIDE_COUNT && read; side++) {
            if (row.version[side][0]) {
                memcpy(pair->state.version[side], row.version[side], EVENT_VERSION_MAX);
            }
        }
    }
    return read && *status == STATUS_OK;
}

enum status document_load(const struct document *document, size_t i, struct recorded_pair *out,
                          struct err *err)
{
    struct json_scan s;
    struct json_text key;
    enum status status = STATUS_OK;
    json_scan_start(&s, document->pairs[i].text, document->pairs[i].bytes, DEPTH);
    bool read = json_scan_enter(&s, JSON_KIND_OBJECT);
    while (read && json_scan_next_member(&s, &key)) {
        read = json_text_is(&key, "entries")
                   ? scan_list(&s, RECORDED_COMMAND, scan_command, out, &status)
               : json_text_is(&key, "alarms")
                   ? scan_list(&s, RECORDED_ALARM, scan_alarm, out, &status)
               : json_text_is(&key, "changes")
                   ? scan_list(&s, RECORDED_CHANGE, scan_change, out, &status)
               : json_text_is(&key, "alarm_counts") ? scan_counts(&s, out->state.alarms)
               : json_text_is(&key, "travel_time")  ? scan_fits(&s, &out->state)
                                                    : json_scan_skip(&s, NULL, NULL);
    }
    if (status != STATUS_OK) {
        return err_no_memory(err, document->path, "out of memory");
    }
    return json_scan_finish(&s) && read ? STATUS_OK : complain_document(document, &s, err);
}
