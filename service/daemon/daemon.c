#include "service/daemon/daemon.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "config/labfile/lab_secrets.h"
#include "config/model/model_file.h"
#include "config/options/option_file.h"
#include "logger/message/json_write.h"
#include "logger/storage/journal_reader.h"
#include "logger/storage/lock.h"
#include "logger/storage/store.h"
#include "service/daemon/daemon_parts.h"
#include "service/replay/replay.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"
#include "service/tool/version.h"
#include "web/http/rays.h"
#include "web/server/server.h"

enum {
    BYTES_PER_MB = 1000000,
    LEAVE_MS = 2000, /* to disconnect from the broker */
    SAVE_MS = 10000, /* for the store and the last checkpoint in total, */
    STUCK_MS = 3500, /* and if they cannot be written */
    FLUSH_MS = 100,
    WEB_STORE_MS = 2000, /* the same for a reader over HTTP */
    STORE_MS = 5000,     /* to wait for its file's lock, or for an answer of PostgreSQL */
    BEHIND_US =
        4000, /* work that may wait; beyond it telemetry is dropped: a reply waits 8 ms */
    TOKEN_MAX = 512
};

/* Added to the clock, so that lab time is never behind the journal. Set before threads start.
 */
static int64_t clock_shift_us;

static int64_t now_us(void)
{
    return lab_clock_now_us() + clock_shift_us;
}

static enum status read_token(const char *path, char token[TOKEN_MAX], struct err *err)
{
    if (!text_file_first_line(path, token, TOKEN_MAX)) {
        return err_set(err, STATUS_E_ARG, FAULT_FILE_UNREADABLE, path,
                       "the token cannot be read (errno %d)", errno);
    }
    return token[0] ? STATUS_OK
                    : err_set_at(err, STATUS_E_ARG, FAULT_EMPTY_FILE, path, 1, 0,
                                 "the first line is empty, the bearer token was expected");
}

/* Names the part that did not start, and the reason. */
static enum status name_fault(enum status status, const char *part, enum fault fault,
                              const char *why, struct err *err)
{
    return status == STATUS_OK ? status : err_set(err, status, fault, part, "%s", why);
}

/* Reads the newest record numbers of the store, so that the event stream continues after a
 * restart. */
static bool read_records(const struct store_params *params, uint64_t record[EVENT_RECORDS])
{
    static const enum store_kind kinds[EVENT_RECORDS] = {STORE_ENTRIES, STORE_ALARMS,
                                                         STORE_CHANGES};
    struct store_reader *reader = NULL;
    bool read = store_reader_open(params, &reader, NULL) == STATUS_OK;
    for (int k = 0; read && k < EVENT_RECORDS; k++) {
        read = store_last_seq(reader, kinds[k], &record[k], NULL) == STATUS_OK;
    }
    store_reader_close(reader);
    return read;
}

static enum status make_events(struct daemon *d, struct err *err)
{
    struct event_hub_params p = {.pairs = d->params.pairs,
                                 .pair_count = d->params.pair_count,
                                 .run_us = d->started_us,
                                 .bytes = EVENT_HUB_BYTES,
                                 .events = EVENT_HUB_EVENTS};
    p.numbered = read_records(&d->store_params, p.record);
    for (int k = 0; k < EVENT_RECORDS; k++) {
        d->stream_number = p.record[k] > d->stream_number ? p.record[k] : d->stream_number;
    }
    enum status status = event_hub_create(&p, &d->events);
    status = status == STATUS_OK ? rays_create(d->params.pair_count, &d->rays) : status;
    return name_fault(status, "events", FAULT_NO_MEMORY, "no memory", err);
}

static void report_room(const struct http_options *http, const struct web_room *room)
{
    if (room->connections < http->connections_max || room->listeners < http->listeners_max) {
        log_write(LOG_FEW_DESCRIPTORS, NULL, "%u: %u connections, %u listeners",
                  room->descriptors, room->connections, room->listeners);
    }
}

static enum status start_web(struct daemon *d, struct err *err)
{
    const struct http_options *http = &d->file->http;
    if (!http->enabled) {
        return STATUS_OK;
    }
    if (make_events(d, err) != STATUS_OK) {
        return STATUS_E_NOMEM;
    }
    char token[TOKEN_MAX] = "";
    if (http->token_file[0]) {
        const enum status status = read_token(http->token_file, token, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
    struct web_options options = {
        .bind = http->bind,
        .port = http->port,
        .token = token[0] ? token : NULL,
        .threads = http->threads,
        .connections_max = http->connections_max,
        .listeners_max = http->listeners_max,
        .client_connections_max = http->client_connections_max,
        .client_requests_per_s = http->client_requests_per_s,
        .hosts = http->hosts,
        .tls_certificate = http->tls_certificate,
        .tls_key = http->tls_key,
        .upload_bytes_max = http->upload_mb * (size_t)BYTES_PER_MB,
        .store = d->store_params,
    };
    options.store.all = true; /* lists and charts are of all daemons of the database */
    options.store.busy_timeout_ms = WEB_STORE_MS;
    d->public_lab = lab_secrets_public_text(d->file);
    const struct web_source source = web_calls_source(d);
    const enum status status = web_start(&options, &source, &d->web, err);
    if (status == STATUS_OK) {
        report_room(http, web_room(d->web));
    }
    return status;
}

/* ---- starting ---- */

static enum status make_lab(struct daemon *d, struct err *err)
{
    d->params = lab_file_params(d->file);
    d->lab = lab_memory_create(&d->params);
    if (!d->lab) {
        return err_no_memory(err, d->file->name, "no memory for %zu pairs (%zu bytes)",
                             d->params.pair_count, lab_bytes(&d->params));
    }
    d->fingerprint = lab_fingerprint(&d->params);
    for (size_t i = 0; i < lab_pair_count(d->lab); i++) {
        d->thread.follows = d->thread.follows || lab_following(d->lab, i);
    }
    return STATUS_OK;
}

static enum status open_journal(struct daemon *d, struct err *err)
{
    const struct journal_options *o = &d->file->journal;
    struct journal_params p;
    journal_params_init(&p);
    p.directory = o->dir;
    p.rotate_bytes = o->rotate_mb * (uint64_t)BYTES_PER_MB;
    p.rotate_us = o->rotate_us;
    p.retain_bytes = o->retain_mb * (uint64_t)BYTES_PER_MB;
    p.fsync_us = o->fsync_us;
    const enum status status = journal_open(&p, &d->journal, err);
    struct journal_stats s = {0};
    if (status == STATUS_OK) {
        journal_stats(d->journal, &s);
    }
    if (s.cut_bytes > 0) {
        log_write(LOG_JOURNAL_CUT, NULL, "%llu bytes", (unsigned long long)s.cut_bytes);
    }
    return status;
}

/* Checks that the position is still in the journal. */
static enum status find_position(const char *directory, struct journal_position position,
                                 struct err *err)
{
    struct journal_reader *reader = NULL;
    const enum status status = journal_reader_open_directory(directory, position, &reader, err);
    journal_reader_close(reader);
    return status;
}

/* A changed model file makes the checkpoint unusable, so the log names the model. */
static void log_model_changes(const char *path)
{
    char note_text[JOURNAL_NOTE_MAX];
    char *rest = note_text;
    if (journal_checkpoint_read_note(path, note_text, NULL) != STATUS_OK) {
        return;
    }
    for (char *one = strtok_r(note_text, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(one, '=');
        const uint64_t was = equals ? strtoull(equals + 1, NULL, 16) : 0;
        *(equals ? equals : one) = '\0';
        const uint64_t is = model_file_hash(one);
        if (was != 0 && is != 0 && is != was) {
            log_write(LOG_MODEL_CHANGED, NULL,
                      "%s: its file has hash %016llx, the checkpoint's had %016llx: results of "
                      "the old file are computed again from the journal",
                      one, (unsigned long long)is, (unsigned long long)was);
        }
    }
}

/* On STATUS_OK the lab has the state of the checkpoint. */
static enum status apply_checkpoint(struct daemon *d, struct journal_checkpoint *checkpoint,
                                    bool with_changes, bool journal_is_empty)
{
    const char *path = d->file->checkpoint.file;
    struct err err = {0};
    journal_checkpoint_free(checkpoint);
    *checkpoint = (struct journal_checkpoint){0};
    enum status status = journal_checkpoint_read(path, CHECKPOINT_VERSION, d->fingerprint,
                                                 with_changes, checkpoint, &err);
    /* If somebody removed the journal but kept the checkpoint, the checkpoint is all that is
     * known. */
    if (status == STATUS_OK && !journal_is_empty) {
        status = find_position(d->file->journal.dir, checkpoint->position, &err);
    }
    if (status == STATUS_OK) {
        status = lab_load(d->lab, checkpoint->payload, checkpoint->bytes);
    } else if (status == STATUS_E_EMPTY && !checkpoint->payload) {
        return status; /* no checkpoint */
    }
    if (status != STATUS_OK) {
        log_write(LOG_CHECKPOINT_UNUSED, NULL, "%s%s: %s", path,
                  with_changes && journal_checkpoint_has_changes(path)
                      ? ", with what has changed since"
                      : "",
                  err.text[0] ? err.text : "it is of another lab file or program");
    }
    return status;
}

/* Loads the whole checkpoint with the partial one on top, or else without it, because the
 * journal is retained from the whole one on. Returns whether the lab has that state now. */
static bool load_checkpoint(struct daemon *d, struct journal_checkpoint *checkpoint,
                            bool journal_is_empty)
{
    const char *path = d->file->checkpoint.file;
    enum status status = apply_checkpoint(d, checkpoint, true, journal_is_empty);
    if (status != STATUS_OK && status != STATUS_E_STALE &&
        journal_checkpoint_has_changes(path)) {
        status = apply_checkpoint(d, checkpoint, false, journal_is_empty);
    }
    if (status != STATUS_OK) {
        log_model_changes(path);
    }
    return status == STATUS_OK;
}

/* Restores the lab as it was when the last daemon ended, however that happened. The checkpoint
 * is loaded if its fingerprint matches the lab and its position is still in the journal.
 * Otherwise the lab begins with the journal's first line. The log says why a checkpoint was not
 * used. */
static enum status restore_lab(struct daemon *d, struct err *err)
{
    bool is_empty = true;
    const enum status status =
        journal_last_us(d->file->journal.dir, &d->last_us, &is_empty, err);
    if (status != STATUS_OK) {
        return status;
    }
    struct journal_checkpoint checkpoint = {0};
    if (load_checkpoint(d, &checkpoint, is_empty)) {
        d->tail = is_empty ? (struct journal_position){0, 0} : checkpoint.position;
        d->last_us = checkpoint.t_us > d->last_us ? checkpoint.t_us : d->last_us;
        d->mark = checkpoint.store;
        d->resumes = true;
    }
    d->is_first = is_empty && !d->resumes;
    journal_checkpoint_free(&checkpoint);
    return STATUS_OK;
}

/* An update of the store may take minutes without any answers, so the supervisor gets a
 * limit. */
static void report_store_update(const char *path)
{
    const int64_t entries = store_outdated_entries(path);
    if (entries > 0) {
        const int64_t most_us = entries * STORE_UPDATE_ROW_US;
        log_write(LOG_STORE_UPDATE, NULL, "%s: %lld entries, %.0f s at most", path,
                  (long long)entries, ceil(lab_s(most_us)));
        (void)sd_notifyf(0, "STATUS=bringing the store up to date\nEXTEND_TIMEOUT_USEC=%lld",
                         (long long)most_us + 60000000LL);
    }
}

/* The store's thread calls this: after a power cut the journal must have every line that the
 * store's rows come from. */
static bool sync_journal(void *context, struct err *err)
{
    struct daemon *d = context;
    if (!inbox_owes(d->inbox) && journal_sync(d->journal, LAB_TIME_MAX) == STATUS_OK) {
        return true;
    }
    (void)err_set(err, STATUS_E_IO, FAULT_JOURNAL_FAILED, d->store_name,
                  "records wait until the journal has their lines on the disk");
    return false;
}

static enum status open_engine(struct daemon *d, struct err *err)
{
    return d->file->engine.postgresql.server_count == 0
               ? STATUS_OK
               : engine_session_open(d->file, &d->params, d->fingerprint, &d->engine, err);
}

/* Opens the file or the database that has the results. */
static enum status connect_store(struct daemon *d, struct err *err)
{
    const char *path = d->file->store.file;
    d->store_params = (struct store_params){.path = path, .busy_timeout_ms = STORE_MS};
    d->store_name = path;
    if (d->engine) {
        d->store_params.target = engine_session_target(d->engine);
        d->store_params.partition = d->file->name;
        d->store_name = "PostgreSQL";
    } else {
        d->effect_executor.republishes = d->resumes || access(path, F_OK) == 0;
        report_store_update(path);
    }
    const enum status status = store_open(&d->store_params, &d->store, err);
    if (status == STATUS_OK && d->engine && !standby_is_shared(d)) {
        d->effect_executor.republishes = d->resumes || store_read_mark(d->store).run != 0;
    }
    return status;
}

static enum status open_store(struct daemon *d, struct err *err)
{
    const struct store_options *o = &d->file->store;
    enum status status = connect_store(d, err);
    if (status != STATUS_OK) {
        return status;
    }
    /* Without a checkpoint the whole journal is read, and missing rows are stored. */
    struct err lack = {0};
    status = d->resumes ? store_check_mark(d->store, &d->mark, &lack) : STATUS_OK;
    if (status != STATUS_OK && status != STATUS_E_STALE) {
        *err = lack;
        return status;
    }
    struct store_queue_params q;
    store_queue_params_init(&q);
    q.commit_ms = (int)o->commit_ms;
    q.retain_s = o->retain_days * 86400.0;
    q.before_commit = sync_journal;
    q.context = d;
    q.holds = standby_is_shared(d);
    d->standby.lean_us = d->resumes && d->mark.run == 0 ? lab_time(d->lab) : LAB_TIME_NONE;
    d->standby.newest_us = d->standby.lean_us;
    const enum status started = store_queue_start(&q, d->store, &d->queue, err);
    if (started == STATUS_OK && status == STATUS_E_STALE) {
        store_queue_lack(d->queue, &lack);
    }
    return started;
}

/* Lab time begins after the latest time in journal, checkpoint and store. */
static void set_clock(struct daemon *d)
{
    for (int kind = 0; kind < STORE_KIND_COUNT; kind++) {
        const int64_t newest_us = d->effect_executor.newest_us[kind];
        d->last_us = newest_us > d->last_us ? newest_us : d->last_us;
    }
    const int64_t wall_us = lab_clock_now_us();
    const int64_t last_us = d->last_us;
    clock_shift_us = last_us != LAB_TIME_NONE && last_us >= wall_us ? last_us + 1 - wall_us : 0;
    if (clock_shift_us > 1000000) {
        log_write(LOG_CLOCK_BEHIND, NULL, "by %.3f s", lab_s(clock_shift_us));
    }
}

static enum status make_inbox(struct daemon *d, struct err *err)
{
    effect_executor_open(d);
    set_clock(d);
    const struct inbox_params p = {
        .buffer_bytes = DAEMON_BUFFER_BYTES,
        .journal = d->journal,
        .directory = d->file->journal.dir,
        .prefix = d->file->broker.prefix,
        .journal_samples = d->file->journal.record == JOURNAL_ALL,
        /* Otherwise the lab thread would write, and could wait for the disk when efforts are
         * due. */
        .samples_together = !d->thread.follows,
        .sync_each = d->file->journal.fsync_us == 0,
        .now_us = now_us,
        .last_us = d->last_us == LAB_TIME_NONE ? 0 : d->last_us,
        .behind_us = BEHIND_US,
        .partition = standby_is_shared(d) ? &d->standby.partition : NULL,
    };
    return name_fault(inbox_create(&p, &d->inbox), "inbox", FAULT_NO_MEMORY,
                      "no memory for its buffers", err);
}

enum { MAPS_NOTE_MAX = 1024 };

/* A line of the daemon's own. A start says by its gap which numbers are not used again. */
static void append_own_line(struct daemon *d, const char *what, int64_t gap)
{
    char payload[512 + JOURNAL_NOTE_MAX + 2 * MAPS_NOTE_MAX];
    char maps[MAPS_NOTE_MAX];
    char models[JOURNAL_NOTE_MAX];
    char fingerprint[20];
    model_file_format_hashes(models, sizeof models);
    lab_format_maps(d->file, maps, sizeof maps);
    (void)snprintf(fingerprint, sizeof fingerprint, "%016llx",
                   (unsigned long long)d->fingerprint);
    const size_t bytes = JSON_FORMAT(
        payload, sizeof payload, JSON("version", TANDEM_VERSION), JSON("lab", d->file->name),
        JSON("fingerprint", fingerprint), JSON("models", models),
        JSON_IF(maps[0], JSON("maps", maps)),
        JSON_IF(gap > 0, JSON_GROUP(JSON("number_gap", gap),
                                    JSON("stream_number", (int64_t)d->stream_number + gap))));
    inbox_record(d->inbox, what, payload, bytes);
}

/* From here on messages are received and threads run. */
static enum status start_threads(struct daemon *d, struct err *err)
{
    inbox_retain_from(d->inbox, d->tail);
    inbox_restore(d->inbox, d->tail, journal_end(d->journal));
    enum status status = gateway_open(d, err);
    if (status == STATUS_OK && !standby_is_shared(d)) {
        append_own_line(d, "start", d->is_first ? 0 : LAB_NUMBER_GAP);
        status = gateway_connect(d, err);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (!result_publisher_open(d) || !checkpoint_writer_open(d)) {
        return err_no_memory(err, "lab", "no memory");
    }
    status = maintenance_start(d);
    if (status != STATUS_OK) {
        return err_set(err, status, FAULT_NOT_STARTED, "maintenance", "not started");
    }
    status = name_fault(lab_thread_start(d), "lab", FAULT_NOT_STARTED, "not started", err);
    if (status == STATUS_OK) {
        status = name_fault(forecasts_start(d->snapshots, d->inbox, &d->forecasts), "forecasts",
                            FAULT_NOT_STARTED, "not started", err);
    }
    return status == STATUS_OK ? standby_start(d, err) : status;
}

static enum status start_worker(struct daemon *d, struct err *err)
{
    struct worker_params p;
    worker_params_init(&p);
    p.queue_max[JOB_UPLOAD] = d->file->http.uploads_max;
    p.now_us = web_calls_now;
    p.now_context = d;
    p.lab = d->file;
    enum status status = worker_start(&p, &d->worker);
    status = status == STATUS_OK ? fits_create(d->lab, d->worker, d->inbox, &d->fits) : status;
    return name_fault(status, "worker", FAULT_NOT_STARTED, "not started", err);
}

static enum status load_maps(struct daemon *d, struct err *err)
{
    return maps_load(d->file, &d->maps, err);
}

static enum status make_shown(struct daemon *d, struct err *err)
{
    d->started_us = inbox_now_us(d->inbox);
    enum status status = snapshots_create(d->lab, d->file->name, d->file->broker.prefix,
                                          d->started_us, &d->snapshots);
    d->gateway.robots = calloc(d->params.pair_count, sizeof *d->gateway.robots);
    if (!d->gateway.robots || capturer_open(d->file, d->journal, &d->capturer) != STATUS_OK) {
        status = STATUS_E_NOMEM;
    }
    return name_fault(status, "views", FAULT_NO_MEMORY, "no memory", err);
}

static enum status start_alarm_webhook(struct daemon *d, struct err *err)
{
    return alarm_webhook_start(d->file, &d->alarm_webhook, err);
}

static enum status start_parts(struct daemon *d, struct err *err)
{
    /* The web comes before any publication, because its address may be in use. */
    static enum status (*const steps[])(struct daemon *, struct err *) = {
        load_maps,  make_lab,   open_journal, open_engine, restore_lab,         open_store,
        make_inbox, make_shown, start_worker, start_web,   start_alarm_webhook, start_threads};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < COUNT(steps) && status == STATUS_OK; i++) {
        status = steps[i](d, err);
    }
    return status;
}

/* ---- stopping ---- */

/* Time limits of stopping, on the monotonic clock. */
struct patience {
    int64_t stuck_us; /* limit while the disk cannot be written */
    int64_t until_us; /* limit in every case */
};

static int left_ms(int64_t until_us)
{
    const int64_t left_us = until_us - lab_clock_monotonic_us();
    return left_us > 0 ? (int)(left_us / 1000) : 0;
}

static bool flush_store(struct daemon *d, const struct patience *p)
{
    struct store_queue_stats s = {0};
    bool done = false;
    do {
        done = store_queue_flush(d->queue, FLUSH_MS) == STATUS_OK;
        store_queue_stats(d->queue, &s);
    } while (!done && left_ms(s.failing ? p->stuck_us : p->until_us) > 0);
    return done && !s.behind;
}

static bool copy_rest(struct daemon *d, const struct patience *p)
{
    while (!checkpoint_writer_copy_slice(d, INT64_MAX)) {
        if (left_ms(p->until_us) == 0) {
            return false;
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + 1000);
    }
    return true;
}

static bool save_last_checkpoint(struct daemon *d, const struct patience *p)
{
    /* a checkpoint whose copy has begun */
    bool copied = inbox_is_placed(d->inbox) && copy_rest(d, p);
    while (copied && !checkpoint_writer_begin(d)) {
        if (left_ms(p->until_us) == 0) {
            return false;
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + 5000);
    }
    return copied && copy_rest(d, p);
}

/* Processes everything received and writes it to the disk. */
static bool stop_threads(struct daemon *d, const struct patience *p)
{
    bool complete = true;
    (void)pthread_mutex_lock(&d->lock);
    d->maintenance.leaves_broker = true;
    (void)pthread_mutex_unlock(&d->lock);
    /* Its rows would delay those of the lab, and the next run makes them again. */
    atomic_store(&d->backfill.stop, true);
    /* Whoever takes over stores the results that wait here. */
    const bool handed_over = standby_hand_over(d);
    const bool relieved = handed_over || !standby_is_live(d);
    if (!handed_over) {
        inbox_release(d->inbox);
        gateway_leave(d, LEAVE_MS);
    }
    if (d->thread.runs) {
        if (!standby_is_shared(d)) {
            append_own_line(d, "stop", 0);
        }
        lab_thread_stop(d);
        complete = relieved || (flush_store(d, p) && save_last_checkpoint(d, p));
    }
    if (d->maintenance.runs) {
        complete = maintenance_stop(d, complete ? left_ms(p->until_us) : 0) && complete;
    }
    backfill_stop(d);
    standby_stop(d);
    return complete || relieved;
}

/* Logs what is not on the disk and where it can be recovered from. */
static void report_incomplete(struct daemon *d)
{
    struct store_queue_stats s;
    struct journal_stats j;
    struct inbox_counts c;
    const bool synced = journal_sync(d->journal, LAB_TIME_MAX) == STATUS_OK;
    store_queue_stats(d->queue, &s);
    journal_stats(d->journal, &j);
    inbox_read_counts(d->inbox, &c);
    log_write(LOG_STOP_INCOMPLETE, NULL,
              "%zu records wait for the store%s, the last checkpoint is an older one: %s%s",
              s.waiting_rows, s.behind ? ", which lacks others" : "",
              synced ? "the journal has what they lack"
                     : "the journal has what they lack, but is not synced: a power failure now "
                       "would lose its end: ",
              synced ? "" : j.error);
    if (j.failing) {
        log_write(LOG_STOP_INCOMPLETE, NULL,
                  "%llu messages that the journal could not take were not acknowledged: the "
                  "broker has them%s",
                  (unsigned long long)c.refused, c.lost > 0 ? ", except those of QoS 0" : "");
    }
}

static bool finish_daemon(struct daemon *d)
{
    atomic_store(&d->running, false);
    web_stop(d->web);
    if (d->fits) {
        fits_stop(d->fits);
    }
    worker_stop(d->worker);
    forecasts_stop(d->forecasts);
    const int64_t now_us = lab_clock_monotonic_us();
    const struct patience patience = {now_us + STUCK_MS * INT64_C(1000),
                                      now_us + SAVE_MS * INT64_C(1000)};
    bool complete = stop_threads(d, &patience);
    if (!complete && d->thread.runs) {
        report_incomplete(d);
    }
    alarm_webhook_stop(d->alarm_webhook);
    gateway_close(d);
    store_reader_close(d->effect_executor.reader);
    snapshots_destroy(d->snapshots);
    maps_destroy(d->maps);
    worker_destroy(d->worker);
    fits_destroy(d->fits);
    const bool relieved = atomic_load(&d->standby.hands_over);
    complete =
        (store_queue_stop(d->queue, complete ? left_ms(patience.until_us) : 0) == STATUS_OK ||
         relieved) &&
        complete;
    inbox_destroy(d->inbox);
    store_close(d->store);
    engine_session_close(d->engine);
    capturer_close(d->capturer);
    journal_close(d->journal);
    event_hub_destroy(d->events);
    rays_destroy(d->rays);
    lab_memory_destroy(d->lab);
    (void)pthread_cond_destroy(&d->maintenance.changed);
    (void)pthread_cond_destroy(&d->thread.changed);
    (void)pthread_mutex_destroy(&d->lock);
    checkpoint_writer_close(d);
    free(d->pending_fits.fit);
    free(d->public_lab);
    result_publisher_free(d);
    free(d->thread.scratch);
    free(d);
    return complete;
}

enum status daemon_start(const struct lab_file *lab, struct daemon **out, struct err *err)
{
    struct daemon *d = calloc(1, sizeof *d);
    if (!d) {
        return err_no_memory(err, "daemon", "no memory");
    }
    d->file = lab;
    lock_init(&d->lock);
    lock_init_condition(&d->maintenance.changed);
    lock_init_condition(&d->thread.changed);
    const enum status status = start_parts(d, err);
    if (status != STATUS_OK) {
        (void)finish_daemon(d);
        return status;
    }
    atomic_store(&d->running, true);
    *out = d;
    return STATUS_OK;
}

enum status daemon_renew_tls(struct daemon *d, bool *changed, struct err *err)
{
    const struct http_options *http = &d->file->http;
    *changed = false;
    return d->web ? web_renew_tls(d->web, http->tls_certificate, http->tls_key, changed, err)
                  : STATUS_OK;
}

enum status daemon_renew_webhook_key(struct daemon *d, bool *changed, struct err *err)
{
    return alarm_webhook_renew_key(d->alarm_webhook, d->file, changed, err);
}

uint16_t daemon_http_port(const struct daemon *d)
{
    return d->web ? web_port(d->web) : 0;
}

bool daemon_has_tried_broker(const struct daemon *d)
{
    struct mqtt_client_state s;
    gateway_read_state(d, &s);
    return standby_is_shared(d) || s.connections + s.failed_connections > 0;
}

bool daemon_stop(struct daemon *d)
{
    return finish_daemon(d);
}
