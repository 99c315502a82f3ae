#include "service/evidence/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/message/json_scan.h"
#include "service/replay/replay_read.h"
#include "service/tool/array.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/temporary_file.h"
#include "twin/page/report_scan.h"

ENUM_NAMES(compared_time, TIME_COUNT, COMPARED_TIMES(NAMES_TEXT));

enum { DEPTH = 24 };

struct member {
    char id[EVENT_PAIR_MAX];
    const char *text; /* its object */
    size_t bytes;
    bool has_commands;
};

struct recording {
    char path[ERR_WHERE_MAX];
    const char *text; /* [bytes] mapped */
    size_t bytes;
    struct member *pairs; /* [count] */
    size_t count, room;
};

/* ---- the document -------------------------------------------------------------------------
 */

/* Maps a regular file, which may then be closed. */
static bool map_file(int fd, struct recording *d)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        return false;
    }
    void *mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped != MAP_FAILED) {
        d->text = mapped;
        d->bytes = (size_t)st.st_size;
    }
    return mapped != MAP_FAILED;
}

static void unmap_file(struct recording *d)
{
    if (d->text) {
        (void)munmap((void *)(uintptr_t)d->text, d->bytes);
    }
    d->text = NULL;
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

/* Maps a file that is a document. */
static bool map_document(struct recording *d, const char *path)
{
    struct json_scan s;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_one = map_file(fd, d) && begin_pairs(&s, d->text, d->bytes);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!is_one) {
        unmap_file(d);
    }
    return is_one;
}

static bool find_commands(const struct member *pair)
{
    struct json_scan s;
    json_scan_start(&s, pair->text, pair->bytes, DEPTH);
    return json_scan_enter(&s, JSON_KIND_OBJECT) && find_member(&s, "entries") &&
           json_scan_enter(&s, JSON_KIND_ARRAY) && json_scan_next_item(&s);
}

static enum status complain_document(const struct recording *d, struct json_scan *s,
                                     struct err *err)
{
    char text[128];
    (void)json_scan_fail(s, FAULT_BAD_FORMAT, "something else is there");
    return err_set(err, STATUS_E_PARSE, FAULT_BAD_SYNTAX, d->path,
                   "no whole document of tandem replay --json: character %zu: %s",
                   (size_t)(s->at - d->text) + 1, json_scan_explain(s, text, sizeof text));
}

static enum status index_pairs(struct recording *d, struct err *err)
{
    struct json_scan s;
    struct json_text key;
    bool found = begin_pairs(&s, d->text, d->bytes) && json_scan_enter(&s, JSON_KIND_OBJECT);
    while (found && json_scan_next_member(&s, &key)) {
        struct member pair = {0};
        (void)json_text_copy(&key, pair.id, sizeof pair.id, false);
        if (json_scan_peek(&s) != JSON_KIND_OBJECT) {
            (void)json_scan_fail(&s, FAULT_OBJECT_EXPECTED, "an object for each pair");
        }
        found = json_scan_skip(&s, &pair.text, &pair.bytes);
        pair.has_commands = found && find_commands(&pair);
        if (found &&
            !array_append((void **)&d->pairs, &d->count, &d->room, &pair, sizeof pair)) {
            return err_no_memory(err, d->path, "out of memory");
        }
    }
    while (found && json_scan_next_member(&s, &key)) {
        found = json_scan_skip(&s, NULL, NULL);
    }
    return json_scan_finish(&s) ? STATUS_OK : complain_document(d, &s, err);
}

/* Writes the document of a replay to a file that is only mapped. */
static enum status map_run(struct recording *d, struct replay_run *run, struct err *err)
{
    FILE *out = temporary_file_open(err);
    if (!out) {
        return STATUS_E_IO;
    }
    replay_document(run, NULL, out);
    const bool mapped = fflush(out) == 0 && map_file(fileno(out), d);
    const enum status status = mapped ? STATUS_OK : temporary_file_fail("written", err);
    (void)fclose(out);
    return status;
}

/* Replays a journal. */
static enum status map_journal(struct recording *d, const char *path,
                               const struct lab_file *file, struct err *err)
{
    struct replay_run run = {.file = file};
    if (!file && strcmp(path, "-") != 0 && access(path, R_OK) != 0) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path, "cannot be read: %s",
                       strerrordesc_np(errno));
    }
    if (!file) {
        return err_set(err, STATUS_E_ARG, FAULT_MISSING_VALUE, "-c LAB.yaml is needed",
                       "%s is a journal", path);
    }
    enum status status = replay_run_files(&run, &path, 1);
    if (status == STATUS_OK && run.replay->counts.torn > 0) {
        complain("%s: torn: the part before the cut is used", path);
    }
    if (status == STATUS_OK && !replay_report_left_out(run.replay, false)) {
        status = err_set(&run.err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path,
                         "not all of it could be read");
    }
    status = status == STATUS_OK ? map_run(d, &run, &run.err) : status;
    if (status != STATUS_OK) {
        *err = run.err;
    }
    replay_run_free(&run);
    return status;
}

enum status recording_open(const char *path, const struct lab_file *file,
                           struct replay_run *run, struct recording **out, struct err *err)
{
    struct recording *d = calloc(1, sizeof *d);
    if (!d) {
        return err_no_memory(err, path, "out of memory");
    }
    (void)snprintf(d->path, sizeof d->path, "%s", path);
    enum status status = run                     ? map_run(d, run, err)
                         : map_document(d, path) ? STATUS_OK
                                                 : map_journal(d, path, file, err);
    status = status == STATUS_OK ? index_pairs(d, err) : status;
    if (status != STATUS_OK) {
        recording_close(d);
        return status;
    }
    *out = d;
    return STATUS_OK;
}

void recording_close(struct recording *recording)
{
    if (recording) {
        unmap_file(recording);
        free(recording->pairs);
        free(recording);
    }
}

size_t recording_pair_count(const struct recording *recording)
{
    return recording->count;
}

const char *recording_pair_id(const struct recording *recording, size_t i)
{
    return recording->pairs[i].id;
}

size_t recording_find_pair(const struct recording *recording, const char *id)
{
    size_t i = 0;
    while (i < recording->count && strcmp(recording->pairs[i].id, id) != 0) {
        i++;
    }
    return i;
}

bool recording_has_commands(const struct recording *recording, size_t i)
{
    return recording->pairs[i].has_commands;
}

/* ---- records ------------------------------------------------------------------------------
 */

static int64_t time_of(const struct report_value *t)
{
    return llround(t->number * 1e6);
}

static double size_of(const struct report_value *size)
{
    return isfinite(size->number) ? size->number : 0.0;
}

static void copy_text(char *to, size_t room, const struct report_value *from)
{
    (void)snprintf(to, room, "%.*s", (int)room - 1, from->text);
}

static bool has_side(const struct report_value *late, enum side side)
{
    return strcmp(late->text, side_name(side)) == 0 || strcmp(late->text, "both") == 0;
}

/* Finds or adds the version of a side's command. The last ones are the most likely. False: out
 * of memory. */
static bool read_version(const struct report_value *value, enum side side,
                         struct recorded_command *c, struct recorded_pair *pair)
{
    struct recorded_version version = {.side = side};
    copy_text(version.text, sizeof version.text, value);
    size_t k = version.text[0] ? pair->version_count : 0;
    while (k > 0 && (pair->versions[k - 1].side != side ||
                     strcmp(pair->versions[k - 1].text, version.text) != 0)) {
        k--;
    }
    const bool known = k > 0 || !version.text[0];
    const bool kept = known || array_append((void **)&pair->versions, &pair->version_count,
                                            &pair->version_room, &version, sizeof version);
    c->version[side] = (uint32_t)(known ? k : pair->version_count);
    return kept;
}

static bool read_command(struct json_scan *s, struct recorded_pair *pair)
{
    enum { T, N, ID, OP, TURN, DRIVE, VERDICT, AGREES, LATE, LAG, LAPS, VERSIONS = LAPS + 2 };
    /* clang-format off */
    static const char *const names[] = {
        "t", "n", "id", "op", "rotation_rad", "displacement_m", "verdict", "consistent", "timeout_side",
        "lag_s", "real_lap_s", "virtual_lap_s", "real_version", "virtual_version"};
    /* clang-format on */
    struct report_value v[COUNT(names)];
    if (!report_read_next(s, names, COUNT(names), v) || !isfinite(v[T].number)) {
        return false;
    }
    struct recorded_command c = {
        .t_us = time_of(&v[T]),
        .n = (uint64_t)size_of(&v[N]),
        .rotation_rad = size_of(&v[TURN]),
        .displacement_m = size_of(&v[DRIVE]),
        .time_s = {[TIME_LAG] = v[LAG].number, [TIME_ABS_LAG] = fabs(v[LAG].number)},
        .verdict = (enum verdict)names_value(&verdict_names, v[VERDICT].text),
        .consistency = v[AGREES].kind == JSON_KIND_TRUE    ? CONSISTENT
                       : v[AGREES].kind == JSON_KIND_FALSE ? INCONSISTENT
                                                           : CONSISTENCY_UNKNOWN};
    copy_text(c.id, sizeof c.id, &v[ID]);
    copy_text(c.op, sizeof c.op, &v[OP]);
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        c.time_s[TIME_REAL_LAP + side] = v[LAPS + side].number;
        c.timed_out[side] = has_side(&v[LATE], side);
        if (!read_version(&v[VERSIONS + side], side, &c, pair)) {
            return false;
        }
    }
    return c.verdict < VERDICT_COUNT &&
           array_append((void **)&pair->commands, &pair->count, &pair->room, &c, sizeof c);
}

static bool read_alarm(struct json_scan *s, struct recorded_pair *pair)
{
    static const char *const names[] = {"t", "type", "id"};
    struct report_value v[COUNT(names)];
    if (!report_read_next(s, names, COUNT(names), v)) {
        return false;
    }
    const size_t type = names_value(&alarm_type_names, v[1].text);
    struct recorded_alarm a = {time_of(&v[0]), (enum alarm_type)type, ""};
    copy_text(a.id, sizeof a.id, &v[2]);
    return type < ALARM_TYPE_COUNT && array_append((void **)&pair->alarms, &pair->alarm_count,
                                                   &pair->alarm_room, &a, sizeof a);
}

static bool read_change(struct json_scan *s, struct recorded_pair *pair)
{
    static const char *const names[] = {"t", "n"};
    struct report_value v[COUNT(names)];
    if (!report_read_next(s, names, COUNT(names), v) || !(v[1].number > 0.0)) {
        return false;
    }
    const struct recorded_change c = {time_of(&v[0]), (uint64_t)v[1].number};
    return array_append((void **)&pair->changes, &pair->change_count, &pair->change_room, &c,
                        sizeof c);
}

static void read_fit(const json_t *object, struct recorded_fit *fit)
{
    const char *name = NULL;
    json_t *value = NULL;
    const json_int_t n = json_integer_value(json_object_get(object, "n"));
    fit->n = n > 0 ? (size_t)n : 0;
    json_object_foreach(json_object_get(object, "values"), name, value) {
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

static bool read_list(struct json_scan *s, struct recorded_pair *pair,
                      bool (*read)(struct json_scan *, struct recorded_pair *))
{
    bool good = json_scan_enter(s, JSON_KIND_ARRAY);
    while (good && json_scan_next_item(s)) {
        good = read(s, pair);
    }
    return good;
}

/* Reads the object of a member: fits, or counts. */
static bool read_object(struct json_scan *s, struct recorded_state *state,
                        void (*read)(const json_t *, struct recorded_state *))
{
    const char *text = NULL;
    size_t bytes = 0;
    json_t *object = json_scan_skip(s, &text, &bytes) ? json_loadb(text, bytes, 0, NULL) : NULL;
    const bool is_one = json_is_object(object);
    if (is_one) {
        read(object, state);
    }
    json_decref(object);
    return is_one;
}

static bool read_pair(struct json_scan *s, struct recorded_pair *pair)
{
    struct json_text key;
    bool read = json_scan_enter(s, JSON_KIND_OBJECT);
    while (read && json_scan_next_member(s, &key)) {
        read = json_text_is(&key, "entries")        ? read_list(s, pair, read_command)
               : json_text_is(&key, "alarms")       ? read_list(s, pair, read_alarm)
               : json_text_is(&key, "changes")      ? read_list(s, pair, read_change)
               : json_text_is(&key, "alarm_counts") ? read_object(s, &pair->state, read_counts)
               : json_text_is(&key, "travel_time")  ? read_object(s, &pair->state, read_fits)
                                                    : json_scan_skip(s, NULL, NULL);
    }
    return read && json_scan_finish(s);
}

enum status recording_load(const struct recording *recording, size_t i,
                           struct recorded_pair *out, struct err *err)
{
    struct json_scan s;
    *out = (struct recorded_pair){0};
    json_scan_start(&s, recording->pairs[i].text, recording->pairs[i].bytes, DEPTH);
    if (read_pair(&s, out)) {
        return STATUS_OK;
    }
    recorded_pair_free(out);
    return complain_document(recording, &s, err);
}

const char *recorded_pair_next_version(const struct recorded_pair *pair, enum side side,
                                       size_t *at)
{
    for (; *at <= pair->version_count; (*at)++) {
        for (size_t i = 0; i < pair->count; i++) {
            if (pair->commands[i].version[side] == *at) {
                const size_t k = (*at)++;
                return k > 0 ? pair->versions[k - 1].text : "";
            }
        }
    }
    return NULL;
}

void recorded_pair_free(struct recorded_pair *pair)
{
    free(pair->commands);
    free(pair->alarms);
    free(pair->changes);
    free(pair->versions);
    *pair = (struct recorded_pair){0};
}
