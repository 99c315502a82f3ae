#include "service/daemon/capturer.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/codec/codecs.h"
#include "logger/message/message.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/journal_reader.h"
#include "service/daemon/capture_slot.h"
#include "service/evidence/slice_file.h"
#include "service/mqtt/topic_list.h"
#include "service/tool/array.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"

enum {
    OFFERS_MAX = 1024,
    MARKS = 256,
    WORK_US = 20000,    /* longest copy in one round of the maintenance thread */
    SETTLE_US = 500000, /* lines stamped before the end may be written after it */
    BYTES_PER_MB = 1000000,
    LENGTHEN = 10 /* a capture lasts this many times capture.after_s at most */
};

/* An event of the lab that fits a trigger. */
struct offer {
    uint32_t pair;
    uint64_t n;
    int64_t t_us, from_us; /* from: where its capture begins */
    size_t trigger;
    char version[SIDE_COUNT][EVENT_VERSION_MAX]; /* of the programs then */
};

/* A place of the journal: every line stamped at t_us or later is behind it. */
struct mark {
    int64_t t_us;
    struct journal_position at;
};

struct capturer {
    const struct lab_file *file;
    struct journal *journal;
    char folder[LAB_PATH_MAX + 16];
    struct capture_trigger triggers[CAPTURE_ON_MAX];

    pthread_mutex_t lock; /* for offers, counts and captures */
    struct offer offers[OFFERS_MAX];
    size_t offer_count;
    struct capturer_counts counts;
    struct capture_slot **captures; /* [count] oldest first */
    size_t count, room;

    /* Used by the maintenance thread only. */
    int64_t *begun_us; /* [pairs] begin of each pair's last capture */
    struct mark marks[MARKS];
    size_t mark_count;
    int64_t mark_every_us;
    struct capture_slot *copied; /* being copied; NULL: none */
    const char *lacks;           /* why it is not complete; NULL: it is */
    struct journal_reader *reader;
    FILE *raw;
    uint64_t raw_bytes;
    char scratch[MESSAGE_PAYLOAD_MAX + 1];
};

/* --- offers
 * ----------------------------------------------------------------------------------- */

/* Counts one more, for other threads. */
static void count_one(struct capturer *c, uint64_t *count)
{
    (void)pthread_mutex_lock(&c->lock);
    (*count)++;
    (void)pthread_mutex_unlock(&c->lock);
}

static void add_offer(struct capturer *c, const struct offer *offer)
{
    (void)pthread_mutex_lock(&c->lock);
    if (c->offer_count < OFFERS_MAX) {
        c->offers[c->offer_count++] = *offer;
    } else {
        c->counts.suppressed++;
    }
    (void)pthread_mutex_unlock(&c->lock);
}

void capturer_offer(struct capturer *c, const struct lab *lab, const struct effect *effect)
{
    const bool entry = effect->kind == EFFECT_ENTRY;
    const struct capture_options *o = c ? &c->file->capture : NULL;
    size_t i = 0;
    while (c && i < o->on_count &&
           !(entry ? capture_trigger_is_entry(&c->triggers[i], effect->entry)
                   : capture_trigger_is_alarm(&c->triggers[i], effect->alarm))) {
        i++;
    }
    if (!c || i == o->on_count || effect->pair >= c->file->pair_count) {
        return;
    }
    struct offer offer = {.pair = effect->pair,
                          .n = entry ? effect->entry->n : effect->alarm->n,
                          .t_us = entry ? effect->t_us : effect->alarm->t_us,
                          .trigger = i};
    offer.from_us = offer.t_us - o->before_us;
    if (entry && effect->entry->t_us < offer.from_us) { /* with its command */
        offer.from_us = effect->entry->t_us;
    }
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        (void)snprintf(offer.version[s], sizeof offer.version[s], "%s",
                       pair_version_at(lab_pair(lab, offer.pair),
                                       lab_pair_params(lab, offer.pair), s, offer.from_us - 1));
    }
    add_offer(c, &offer);
}

/* --- captures
 * --------------------------------------------------------------------------------- */

static void report_failure(struct capturer *c, const struct capture_slot *slot,
                           const char *what)
{
    count_one(c, &c->counts.failed);
    log_write(LOG_CAPTURE_FAILED, slot->pair, "%s: %s", slot->id, what);
}

static bool add_slot(struct capturer *c, const struct capture_slot *slot)
{
    struct capture_slot *copy = malloc(sizeof *copy);
    if (!copy ||
        !array_append((void **)&c->captures, &c->count, &c->room, &copy, sizeof(void *))) {
        free(copy);
        return false;
    }
    *copy = *slot;
    c->counts.present++;
    c->counts.bytes += copy->bytes;
    return true;
}

/* The caller has the lock. */
static void drop_slot(struct capturer *c, size_t i)
{
    struct capture_slot *slot = c->captures[i];
    capture_slot_unlink(slot, c->folder);
    c->counts.present--;
    c->counts.bytes -= slot->bytes;
    memmove(&c->captures[i], &c->captures[i + 1], (c->count - i - 1) * sizeof(void *));
    c->count--;
    free(slot);
}

/* Returns a pair's open capture that is not being copied yet; NULL: none. Open ones are removed
 * by nobody else. */
static struct capture_slot *find_open(struct capturer *c, const char *pair, size_t *open_count)
{
    struct capture_slot *found = NULL;
    *open_count = 0;
    (void)pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->count; i++) {
        struct capture_slot *slot = c->captures[i];
        *open_count += slot->open;
        if (slot->open && slot != c->copied && strcmp(slot->pair, pair) == 0) {
            found = slot;
        }
    }
    (void)pthread_mutex_unlock(&c->lock);
    return found;
}

/* The newest mark before a time; file 0: none is known. */
static struct journal_position find_mark(const struct capturer *c, int64_t t_us)
{
    struct journal_position at = {0, 0};
    for (size_t i = 0; i < c->mark_count && c->marks[i].t_us <= t_us; i++) {
        at = c->marks[i].at;
    }
    return at;
}

/* A capture ends before its time, but the message of the event itself is in it. */
static int64_t time_after(const struct capture_options *o)
{
    return o->after_us > 0 ? o->after_us : 1;
}

static void begin_capture(struct capturer *c, const struct offer *offer)
{
    const struct capture_options *o = &c->file->capture;
    const struct pair_params *pair = &c->file->pairs[offer->pair];
    struct capture_slot slot = {.n = offer->n,
                                .t_us = offer->t_us,
                                .from_us = offer->from_us,
                                .until_us = offer->t_us + time_after(o),
                                .open = true};
    slot.start = find_mark(c, slot.from_us - pair->timeout_us);
    (void)snprintf(slot.pair, sizeof slot.pair, "%s", pair->id);
    (void)snprintf(slot.trigger, sizeof slot.trigger, "%s", o->on[offer->trigger]);
    memcpy(slot.version, offer->version, sizeof slot.version);
    (void)snprintf(slot.id, sizeof slot.id, "%s-%llu-%lld", pair->id,
                   (unsigned long long)offer->n, (long long)(offer->t_us / 1000000));
    /* An entry and an alarm of one second may have the same number. */
    const size_t bytes = strlen(slot.id);
    for (unsigned k = 2; access(capture_slot_path(c->folder, slot.id, "json").text, F_OK) == 0;
         k++) {
        (void)snprintf(slot.id + bytes, sizeof slot.id - bytes, "-%u", k);
    }
    if (!capture_slot_save(&slot, c->folder)) {
        report_failure(c, &slot, strerrordesc_np(errno));
        return;
    }
    c->begun_us[offer->pair] = offer->t_us;
    (void)pthread_mutex_lock(&c->lock);
    c->counts.begun += add_slot(c, &slot);
    (void)pthread_mutex_unlock(&c->lock);
}

static void handle_offer(struct capturer *c, const struct offer *offer, bool has_space)
{
    const struct capture_options *o = &c->file->capture;
    const int64_t last_us = c->begun_us[offer->pair];
    size_t open_count = 0;
    struct capture_slot *open = find_open(c, c->file->pairs[offer->pair].id, &open_count);
    if (open && offer->t_us <= open->until_us) {
        const int64_t most_us = open->t_us + LENGTHEN * time_after(o);
        const int64_t until_us = offer->t_us + time_after(o);
        (void)pthread_mutex_lock(&c->lock);
        open->until_us = until_us < most_us ? until_us : most_us;
        (void)pthread_mutex_unlock(&c->lock);
        (void)capture_slot_save(open, c->folder); /* else a restart makes it shorter */
        return;
    }
    const bool early = last_us != LAB_TIME_NONE && offer->t_us - last_us < o->every_us;
    if (!has_space || early || open_count >= CAPTURES_OPEN || open_count >= o->keep) {
        count_one(c, &c->counts.suppressed);
    } else {
        begin_capture(c, offer);
    }
}

static void handle_offers(struct capturer *c, bool has_space)
{
    static struct offer offers[OFFERS_MAX]; /* of the only maintenance thread */
    (void)pthread_mutex_lock(&c->lock);
    const size_t count = c->offer_count;
    memcpy(offers, c->offers, count * sizeof offers[0]);
    c->offer_count = 0;
    (void)pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < count; i++) {
        handle_offer(c, &offers[i], has_space);
    }
}

/* Removes the oldest captures beyond the bounds, but none that is open. more: bytes that will
 * be written. False: they do not fit. */
static bool remove_old(struct capturer *c, uint64_t more)
{
    const struct capture_options *o = &c->file->capture;
    const uint64_t bytes_max = (uint64_t)o->keep_mb * BYTES_PER_MB;
    (void)pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->count;) {
        const bool much = c->count > o->keep || c->counts.bytes + more > bytes_max;
        if (much && !c->captures[i]->open) {
            drop_slot(c, i);
        } else {
            i++;
        }
    }
    const bool fits = c->counts.bytes + more <= bytes_max;
    (void)pthread_mutex_unlock(&c->lock);
    return fits;
}

/* --- copying
 * ---------------------------------------------------------------------------------- */

/* The lab with this pair alone, without the fits that a replay would make. */
static struct lab_file one_pair(const struct lab_file *file, const char *id,
                                struct pair_params *pair)
{
    struct lab_file one = *file;
    const struct pair_params *found = lab_find_params(file->pairs, file->pair_count, id);
    *pair = found ? *found : file->pairs[0];
    pair->following = NULL;
    pair->dynamics.model[0] = '\0';
    one.pairs = pair;
    one.pair_count = 1;
    one.teams = (struct team_file){0};
    return one;
}

/* Writes the slice of a capture's file from a time on. */
static enum status write_slice(const struct capturer *c, const struct capture_slot *slot,
                               const char *end, int64_t since_us, enum slice_format format,
                               FILE *to, struct slice_found *found, struct err *err)
{
    struct pair_params pair;
    const struct lab_file one = one_pair(c->file, slot->pair, &pair);
    const struct capture_path path = capture_slot_path(c->folder, slot->id, end);
    const struct slice_request request = {.lab = &one,
                                          .paths = (const char *const[]){path.text},
                                          .path_count = 1,
                                          .pairs = (const char *const[]){slot->pair},
                                          .pair_count = 1,
                                          .version = slot->version,
                                          .since_us = since_us,
                                          .until_us = slot->until_us};
    return slice_file_write(&request, format, slot->trigger, to, found, err);
}

/* Writes ID.jsonl of ID.raw: the window, moved back to a command that was open then. */
static enum status cut_window(struct capturer *c, struct capture_slot *slot, struct err *err)
{
    const struct capture_path path = capture_slot_path(c->folder, slot->id, "jsonl");
    struct slice_found found = {0};
    struct stat about = {0};
    FILE *to = fopen(path.text, "w");
    if (!to) {
        return journal_fail(path.text, FAULT_FILE_UNWRITABLE, "cannot be made", err);
    }
    enum status status =
        write_slice(c, slot, "raw", slot->from_us, SLICE_LINES, to, &found, err);
    status = status == STATUS_E_EMPTY ? STATUS_OK : status;
    const bool synced = fdatasync(fileno(to)) == 0;
    const bool closed = fclose(to) == 0;
    if (!(synced && closed) && status == STATUS_OK) {
        status = journal_fail(path.text, FAULT_FILE_UNWRITABLE, "cannot be written", err);
    }
    (void)pthread_mutex_lock(&c->lock);
    slot->from_us = found.from_us < slot->from_us ? found.from_us : slot->from_us;
    slot->bytes = stat(path.text, &about) == 0 ? (uint64_t)about.st_size : 0;
    c->counts.bytes += slot->bytes;
    (void)pthread_mutex_unlock(&c->lock);
    return status;
}

/* Others may remove the capture once it is shown as written, so that comes last. */
static void end_copy(struct capturer *c, enum status status, struct err *err)
{
    struct capture_slot *slot = c->copied;
    if (c->raw && fclose(c->raw) != 0 && status == STATUS_OK) {
        status = journal_fail(slot->id, FAULT_FILE_UNWRITABLE, "cannot be written", err);
    }
    status = status == STATUS_OK ? cut_window(c, slot, err) : status;
    (void)unlink(capture_slot_path(c->folder, slot->id, "raw").text);
    journal_reader_close(c->reader);
    c->reader = NULL;
    c->raw = NULL;
    struct capture_slot written = *slot;
    written.open = false;
    written.complete = status == STATUS_OK && !c->lacks;
    if (status != STATUS_OK) {
        report_failure(c, &written, err->text);
    } else {
        log_write(LOG_CAPTURED, written.pair, "%s, %s: %llu bytes%s%s", written.id,
                  written.trigger, (unsigned long long)written.bytes, c->lacks ? "; " : "",
                  c->lacks ? c->lacks : "");
    }
    if (!capture_slot_save(&written, c->folder)) {
        report_failure(c, &written, strerrordesc_np(errno));
    }
    (void)pthread_mutex_lock(&c->lock);
    *slot = written;
    c->counts.written += status == STATUS_OK;
    c->copied = NULL;
    (void)pthread_mutex_unlock(&c->lock);
}

/* The last journal file that begins before a time; file 0: none reaches back so far. */
static struct journal_position find_file(const char *directory, int64_t t_us)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    struct journal_position at = {0, 0};
    if (journal_files_list(directory, &starts_us, &n, NULL) == STATUS_OK) {
        for (size_t i = 0; i < n && starts_us[i] <= t_us; i++) {
            at = (struct journal_position){starts_us[i], 0};
        }
    }
    free(starts_us);
    return at;
}

static void begin_copy(struct capturer *c, struct capture_slot *slot)
{
    const struct capture_path raw = capture_slot_path(c->folder, slot->id, "raw");
    const char *directory = c->file->journal.dir;
    struct err err = {0};
    enum status status = STATUS_E_STALE;
    c->copied = slot;
    c->lacks = NULL;
    c->raw_bytes = 0;
    if (slot->start.file != 0) {
        status = journal_reader_open_directory(directory, slot->start, &c->reader, NULL);
    }
    if (status != STATUS_OK) { /* after a restart, or the file was removed meanwhile */
        const struct journal_position at = find_file(directory, slot->from_us);
        c->lacks = at.file == 0 ? "the journal no longer has its begin" : NULL;
        status = journal_reader_open_directory(directory, at, &c->reader, &err);
    }
    c->raw = status == STATUS_OK ? fopen(raw.text, "w") : NULL;
    if (status == STATUS_OK && !c->raw) {
        status = journal_fail(raw.text, FAULT_FILE_UNWRITABLE, "cannot be made", &err);
    }
    if (status != STATUS_OK) {
        end_copy(c, status, &err);
    }
}

/* Fits and requests of the lab's own lines are left out: no fit is repeated in a capture. */
static bool is_lab_line(const char *rest)
{
    static const char *const words[] = {"start",   "stop", "time",   "away",
                                        "session", "gap",  "version"};
    bool found = false;
    for (size_t i = 0; i < COUNT(words) && strncmp(rest, "$lab/", 5) == 0; i++) {
        found = found || strcmp(rest + 5, words[i]) == 0;
    }
    return found;
}

/* Is the topic one of the pair, by its place below the prefix or by its codec? */
static bool is_topic_of(const struct lab_file *file, const char *id, const char *topic)
{
    const struct pair_params *pair = lab_find_params(file->pairs, file->pair_count, id);
    const size_t prefix = strlen(file->broker.prefix);
    const size_t n = strlen(id);
    struct codec_place place;
    if (strncmp(topic, file->broker.prefix, prefix) == 0 && topic[prefix] == '/') {
        const char *rest = topic + prefix + 1;
        return (strncmp(rest, id, n) == 0 && rest[n] == '/') || is_lab_line(rest);
    }
    const struct codec *codec = pair ? lab_codec_of(pair) : NULL;
    bool found = false;
    for (size_t k = 0;
         codec && codec->receive && !found && codec->place(&pair->speaks, k, &place); k++) {
        found = topic_filters_meet(place.filter, topic);
    }
    return found;
}

static bool is_line_of(struct capturer *c, const struct journal_line *line)
{
    struct message message;
    return (message_parse_plain(line->text, line->bytes, &message) ||
            message_parse(line->text, line->bytes, c->scratch, &message, NULL) == STATUS_OK) &&
           is_topic_of(c->file, c->copied->pair, message.topic);
}

/* Copies lines for some milliseconds; false: the end is reached, or reading failed. */
static bool copy_lines(struct capturer *c, enum status *status, struct err *err)
{
    const struct capture_slot *slot = c->copied;
    const int64_t end_us = lab_clock_monotonic_us() + WORK_US;
    struct journal_line line;
    for (uint64_t i = 0; i % 256 != 255 || lab_clock_monotonic_us() < end_us; i++) {
        *status = journal_reader_next(c->reader, &line, err);
        if (*status != STATUS_OK) {
            *status = *status == STATUS_E_EMPTY ? STATUS_OK : *status;
            return false;
        }
        const int64_t t_us = journal_line_us(line.text, line.bytes);
        if (t_us != LAB_TIME_NONE && t_us >= slot->until_us) {
            return false;
        }
        if (t_us == LAB_TIME_NONE || !is_line_of(c, &line)) {
            continue;
        }
        c->raw_bytes += line.bytes + 1;
        if (!remove_old(c, 2 * c->raw_bytes)) { /* while it is copied, it is there twice */
            c->lacks = "it would need more than half of capture.keep_mb";
            return false;
        }
        if (fwrite(line.text, 1, line.bytes, c->raw) != line.bytes ||
            fputc('\n', c->raw) == EOF) {
            *status = journal_fail(slot->id, FAULT_FILE_UNWRITABLE, "cannot be written", err);
            return false;
        }
    }
    return true;
}

static void copy_due(struct capturer *c, int64_t now_us)
{
    enum status status = STATUS_OK;
    struct err err = {0};
    struct capture_slot *due = NULL;
    (void)pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->count && !c->copied && !due; i++) {
        struct capture_slot *s = c->captures[i];
        due = s->open && s->until_us + SETTLE_US <= now_us ? s : NULL;
    }
    (void)pthread_mutex_unlock(&c->lock);
    if (due) {
        begin_copy(c, due);
    }
    if (c->copied && !copy_lines(c, &status, &err)) {
        end_copy(c, status, &err);
    }
}

/* --- the maintenance thread
 * --------------------------------------------------------------------- */

/* Remembers where the journal is now, so that a copy need not search. */
static void add_mark(struct capturer *c, int64_t now_us)
{
    if (c->mark_count > 0 && now_us - c->marks[c->mark_count - 1].t_us < c->mark_every_us) {
        return;
    }
    if (c->mark_count == MARKS) {
        memmove(&c->marks[0], &c->marks[1], (MARKS - 1) * sizeof c->marks[0]);
        c->mark_count--;
    }
    c->marks[c->mark_count++] = (struct mark){now_us, journal_end(c->journal)};
}

void capturer_work(struct capturer *c, int64_t now_us, bool has_space)
{
    if (c) {
        handle_offers(c, has_space);
        copy_due(c, now_us);
        (void)remove_old(c, 0);
        add_mark(c, now_us);
    }
}

/* --- begin and end
 * ------------------------------------------------------------------------------ */

static int compare_slots(const void *one, const void *other)
{
    const struct capture_slot *a = *(struct capture_slot *const *)one;
    const struct capture_slot *b = *(struct capture_slot *const *)other;
    return (a->t_us > b->t_us) - (a->t_us < b->t_us);
}

static void load_folder(struct capturer *c)
{
    DIR *folder = opendir(c->folder);
    struct capture_slot slot;
    for (const struct dirent *item = folder ? readdir(folder) : NULL; item;
         item = readdir(folder)) {
        if (capture_slot_load(&slot, c->folder, item->d_name)) {
            (void)add_slot(c, &slot);
        }
    }
    if (folder) {
        (void)closedir(folder);
    }
    if (c->count > 0) {
        qsort(c->captures, c->count, sizeof(void *), compare_slots);
    }
}

static void start_capturer(struct capturer *c, const struct lab_file *file)
{
    const struct capture_options *o = &file->capture;
    const char *slash = strrchr(file->journal.dir, '/');
    int64_t longest_us = 0;
    (void)snprintf(c->folder, sizeof c->folder, "%.*scaptures",
                   slash ? (int)(slash + 1 - file->journal.dir) : 0, file->journal.dir);
    for (size_t i = 0; i < o->on_count; i++) {
        const enum status parsed = capture_trigger_parse(o->on[i], &c->triggers[i], NULL);
        (void)parsed; /* the lab file was checked */
    }
    for (size_t i = 0; i < file->pair_count; i++) {
        const int64_t timeout_us = file->pairs[i].timeout_us;
        c->begun_us[i] = LAB_TIME_NONE;
        longest_us = timeout_us > longest_us ? timeout_us : longest_us;
    }
    c->mark_every_us = (o->before_us + 2 * longest_us) / (MARKS / 2) + 1;
    if (mkdir(c->folder, 0750) != 0 && errno != EEXIST) {
        log_write(LOG_CAPTURE_FAILED, NULL, "%s: %s", c->folder, strerrordesc_np(errno));
    }
    if (file->journal.record == JOURNAL_EVENTS) {
        log_write(LOG_CAPTURE_FAILED, NULL,
                  "journal.record is events: telemetry is not in captures");
    }
    load_folder(c);
}

enum status capturer_open(const struct lab_file *file, struct journal *journal,
                          struct capturer **out)
{
    *out = NULL;
    if (file->capture.on_count == 0) {
        return STATUS_OK;
    }
    struct capturer *c = calloc(1, sizeof *c);
    int64_t *begun_us = calloc(file->pair_count, sizeof *begun_us);
    if (!c || !begun_us || pthread_mutex_init(&c->lock, NULL) != 0) {
        free(c);
        free(begun_us);
        return STATUS_E_NOMEM;
    }
    c->file = file;
    c->journal = journal;
    c->begun_us = begun_us;
    start_capturer(c, file);
    *out = c;
    return STATUS_OK;
}

void capturer_close(struct capturer *c)
{
    if (!c) {
        return;
    }
    if (c->raw) {
        (void)fclose(c->raw);
    }
    journal_reader_close(c->reader);
    for (size_t i = 0; i < c->count; i++) {
        free(c->captures[i]);
    }
    (void)pthread_mutex_destroy(&c->lock);
    free(c->captures);
    free(c->begun_us);
    free(c);
}

/* --- any thread
 * ----------------------------------------------------------------------------------- */

void capturer_read_counts(struct capturer *c, struct capturer_counts *out)
{
    (void)pthread_mutex_lock(&c->lock);
    *out = c->counts;
    (void)pthread_mutex_unlock(&c->lock);
}

void capturer_list(void *capturer, struct json_writer *w)
{
    struct capturer *c = capturer;
    if (!c) {
        return;
    }
    (void)pthread_mutex_lock(&c->lock);
    for (size_t i = c->count; i > 0; i--) {
        json_write_object(w, NULL);
        capture_slot_write(c->captures[i - 1], w);
        json_write_close(w);
    }
    (void)pthread_mutex_unlock(&c->lock);
}

/* Copies the capture with this id, if it was written, and removes it if that is asked for. */
static bool get_written(struct capturer *c, const char *id, bool remove,
                        struct capture_slot *out)
{
    size_t i = 0;
    (void)pthread_mutex_lock(&c->lock);
    while (i < c->count && (strcmp(c->captures[i]->id, id) != 0 || c->captures[i]->open)) {
        i++;
    }
    const bool found = i < c->count;
    if (found) {
        *out = *c->captures[i];
    }
    if (found && remove) {
        drop_slot(c, i);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return found;
}

static enum status read_lines(const char *path, struct body *out)
{
    char piece[65536];
    FILE *from = fopen(path, "r");
    if (!from) {
        return STATUS_E_EMPTY; /* it was removed a moment ago */
    }
    size_t n = 0;
    while (!out->failed && (n = fread(piece, 1, sizeof piece, from)) > 0) {
        body_append(out, piece, n);
    }
    (void)fclose(from);
    return out->failed ? STATUS_E_FULL : STATUS_OK;
}

static enum status read_mcap(const struct capturer *c, const struct capture_slot *slot,
                             struct body *out)
{
    struct slice_found found;
    struct err err = {0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to) {
        return STATUS_E_NOMEM;
    }
    enum status status =
        write_slice(c, slot, "jsonl", LAB_TIME_NONE, SLICE_MCAP, to, &found, &err);
    status = fclose(to) == 0 ? status : STATUS_E_NOMEM;
    if (status == STATUS_OK) {
        body_append(out, text, bytes);
        status = out->failed ? STATUS_E_FULL : STATUS_OK;
    }
    free(text);
    return status;
}

enum status capturer_read(void *capturer, const char *id, bool mcap, struct body *out)
{
    struct capturer *c = capturer;
    struct capture_slot slot;
    if (!c || !get_written(c, id, false, &slot)) {
        return STATUS_E_EMPTY;
    }
    return mcap ? read_mcap(c, &slot, out)
                : read_lines(capture_slot_path(c->folder, id, "jsonl").text, out);
}

enum status capturer_remove(void *capturer, const char *id)
{
    struct capture_slot slot;
    return capturer && get_written(capturer, id, true, &slot) ? STATUS_OK : STATUS_E_EMPTY;
}
