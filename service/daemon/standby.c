/* service/daemon/standby.c - the daemon as one of several that can own its lab: the calls of
 * its partition, the take and the hand-over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "logger/message/json_write.h"
#include "service/daemon/daemon_parts.h"
#include "service/engine/own_journal.h"
#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"
#include "service/tool/version.h"

enum {
    FOLLOW_US = 50000,  /* between two reads of a follower */
    STORE_US = 100000,  /* between two attempts to write the own journal */
    NUMBERS_MS = 500,   /* to read the newest numbers of the store */
    HAND_OVER_MS = 5000 /* for the lines that wait, and the answer of the database */
};

/* ---- calls of the partition, on its thread ---- */

/* A line that is durable in the database must be in the own journal, too. If the disk refuses
 * it, nothing goes on here: the lease runs out, and another daemon takes over. */
static void store_line(void *context, int64_t n, struct postgresql_text line,
                       enum partition_origin origin)
{
    struct daemon *d = context;
    struct journal_position after;
    const bool own = origin != PARTITION_FOLLOWED;
    d->standby.taken = d->standby.taken || origin == PARTITION_TAKEN;
    if (d->standby.taken && !own) {
        return; /* it was handed over: the next start reads this line from the database */
    }
    while (!inbox_store(d->inbox, line.at, line.bytes, !own, &after)) {
        if (atomic_load(&d->standby.stops)) {
            return;
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + STORE_US);
    }
    (void)n;
    own_journal_add(d->standby.own, after, line.bytes + 1);
}

static size_t read_own(void *context, int64_t n, char *out)
{
    struct daemon *d = context;
    struct err err = {0};
    size_t bytes = 0;
    const enum status status =
        own_journal_read(d->standby.own, n, out, PARTITION_LINE_MAX, &bytes, &err);
    if (status != STATUS_OK) {
        log_write(LOG_PARTITION, NULL, "line %" PRId64 " of the own journal: %s", n,
                  err.text[0] ? err.text : status_name(status));
        return 0; /* it is no line of the database: nothing is taken */
    }
    return bytes;
}

/* The numbers of records continue above all that the last owner can have stored. */
static uint64_t find_stream_number(struct daemon *d)
{
    static const enum store_kind kinds[] = {STORE_ENTRIES, STORE_ALARMS, STORE_CHANGES};
    struct store_params params = d->store_params;
    struct store_reader *reader = NULL;
    uint64_t newest = d->stream_number;
    params.busy_timeout_ms = NUMBERS_MS;
    if (store_reader_open(&params, &reader, NULL) == STATUS_OK) {
        for (size_t k = 0; k < COUNT(kinds); k++) {
            uint64_t seq = 0;
            if (store_last_seq(reader, kinds[k], &seq, NULL) == STATUS_OK && seq > newest) {
                newest = seq;
            }
        }
    }
    store_reader_close(reader);
    return newest + LAB_NUMBER_GAP;
}

/* It is a start: laps across it stay open, and commands that wait are not sent. */
static size_t format_take(void *context, int64_t t_us, char *out)
{
    struct daemon *d = context;
    uint64_t token = 0;
    char payload[512];
    char mark[20];
    struct message m = {.qos = 1, .payload = payload, .t_us = t_us};
    (void)(getrandom(&token, sizeof token, 0) == (ssize_t)sizeof token);
    (void)snprintf(mark, sizeof mark, "%016" PRIx64, token);
    d->stream_number = find_stream_number(d);
    m.stored_bytes = m.payload_bytes =
        JSON_FORMAT(payload, sizeof payload, JSON("version", TANDEM_VERSION),
                    JSON("lab", d->file->name), JSON("instance", d->file->engine.instance),
                    JSON("token", mark), JSON("stream_number", d->stream_number));
    lab_line_topic(d->file->broker.prefix, "start", m.topic);
    /* No message that follows may be older, whatever the clock of the last owner was. */
    inbox_raise_time(d->inbox, t_us);
    const size_t bytes = message_format(&m, out, PARTITION_LINE_MAX);
    return bytes > 0 ? bytes - 1 : 0;
}

/* Ends at once: nothing is acknowledged, and no message that waits goes out. The supervisor
 * starts the daemon again, and it follows then. */
static void leave_lab(const char *why)
{
    log_write(LOG_PARTITION_LOST, NULL, "%s", why);
    log_flush();
    _exit(EXIT_FAILED);
}

static void connect_broker(void *context, bool open)
{
    struct daemon *d = context;
    struct err err = {0};
    if (open) {
        while (!d->standby.partition) { /* standby_start() is about to return */
            lab_clock_sleep_until_us(lab_clock_monotonic_us() + STORE_US);
        }
        if (gateway_connect(d, &err) != STATUS_OK) {
            leave_lab(err.text);
        }
    } else if (atomic_load(&d->standby.hands_over)) {
        inbox_release(d->inbox); /* messages that still wait go to the next owner */
        gateway_leave(d, 0);
    } else if (gateway_client(d)) {
        leave_lab("this daemon no longer owns the lab: it ends without acknowledging more, and "
                  "follows after its next start");
    }
}

/* Only an owner's lab can be ahead of what is durable, and that one has ended. */
static void roll_back(void *context)
{
    (void)context;
}

static void raise_alarm(void *context, enum ownership_alarm alarm)
{
    static const char *const texts[OWNERSHIP_ALARM_COUNT] = {
        [OWNERSHIP_TAKEN_FROM_US] = "another daemon has taken the lab",
        [OWNERSHIP_WENT_BACK] =
            "the database is in an older state than it was; its owner gives the lines back",
        [OWNERSHIP_LINES_DIFFER] =
            "the database and the own journal have different lines: nothing is taken here; "
            "compare both, and empty journal.dir of the daemon that is wrong",
        [OWNERSHIP_NOT_DURABLE] = "commits do not wait for a standby of the database: nothing "
                                  "is acknowledged or sent",
        [OWNERSHIP_NO_FOLLOWER] = "no follower has caught up, so nothing is handed over"};
    struct daemon *d = context;
    log_write(LOG_PARTITION, NULL, "%s", texts[alarm]);
    if (standby_is_live(d) && alarm == OWNERSHIP_WENT_BACK) {
        lab_alarm_raise(d, ALARM_ENGINE_WENT_BACK, "%s", texts[alarm]);
    } else if (standby_is_live(d) && alarm == OWNERSHIP_NOT_DURABLE) {
        lab_alarm_raise(d, ALARM_ENGINE_NOT_DURABLE, "%s", texts[alarm]);
    }
}

static int64_t read_lab_us(void *context)
{
    const struct daemon *d = context;
    return inbox_now_us(d->inbox);
}

/* ---- start and end ---- */

/* Lines that the others do not have would make this lab another one. */
static enum status open_own_journal(struct daemon *d, const struct fence_journal_params *p,
                                    struct err *err)
{
    const char *directory = d->file->journal.dir;
    const struct journal_position end = journal_end(d->journal);
    struct fence_journal *fence = NULL;
    char numbers[LAB_PATH_MAX + 16];
    int64_t database = 0;
    (void)snprintf(numbers, sizeof numbers, "%s/numbers", directory);
    if ((end.file != 0 || end.offset != 0) && access(numbers, F_OK) != 0) {
        return err_set(err, STATUS_E_STALE, FAULT_WRONG_FILE, "journal.dir",
                       "%.200s has lines from before engine.role: owner; give an empty folder, "
                       "and another checkpoint.file",
                       directory);
    }
    if (end.file == 0 && end.offset == 0 && d->resumes) {
        return err_set(err, STATUS_E_STALE, FAULT_WRONG_FILE, "checkpoint.file",
                       "%.200s belongs to a journal that is gone; remove it, so that the lab "
                       "begins with the lines of the database",
                       d->file->checkpoint.file);
    }
    enum status status = fence_journal_create(p, &fence, err);
    status = status == STATUS_OK ? fence_journal_identify(fence, &database, err) : status;
    fence_journal_destroy(fence);
    return status == STATUS_OK
               ? own_journal_open(directory, end, database, &d->standby.own, err)
               : status;
}

enum status standby_start(struct daemon *d, struct err *err)
{
    const struct engine_options *engine = &d->file->engine;
    if (!standby_is_shared(d)) {
        return STATUS_OK;
    }
    struct partition_params p = {.journal = {.target = engine_session_target(d->engine),
                                             .partition = d->file->name,
                                             .owner = engine->instance,
                                             .require_sync = engine->postgresql.require_sync,
                                             .limit_ms = engine->safe_us / 1000},
                                 .times = {.renew_us = engine->renew_us,
                                           .safe_us = engine->safe_us,
                                           .take_us = engine->take_us,
                                           .follow_us = FOLLOW_US},
                                 .calls = {.context = d,
                                           .store = store_line,
                                           .read_own = read_own,
                                           .format_take = format_take,
                                           .connect = connect_broker,
                                           .roll_back = roll_back,
                                           .raise_alarm = raise_alarm,
                                           .read_lab_us = read_lab_us}};
    struct partition *partition = NULL;
    enum status status = open_own_journal(d, &p.journal, err);
    if (status == STATUS_OK) {
        p.own_n = own_journal_count(d->standby.own);
        status = partition_start(&p, &partition, err);
    }
    if (status == STATUS_OK) {
        atomic_store(&d->standby.partition, partition);
        log_write(LOG_FOLLOWING, NULL, "instance %s, %" PRId64 " lines in the own journal",
                  engine->instance, p.own_n);
    }
    return status;
}

bool standby_hand_over(struct daemon *d)
{
    if (!d->standby.partition || !standby_is_live(d)) {
        return false;
    }
    atomic_store(&d->standby.hands_over, true);
    const enum status status =
        partition_hand_over(d->standby.partition, HAND_OVER_MS * INT64_C(1000));
    if (status == STATUS_OK) {
        log_write(LOG_PARTITION, NULL, "handed over to a follower");
        return true;
    }
    if (status == STATUS_E_IO) {
        leave_lab("the database did not answer while the lab was handed over");
    }
    atomic_store(&d->standby.hands_over, false);
    return false;
}

void standby_stop(struct daemon *d)
{
    atomic_store(&d->standby.stops, true);
    if (d->standby.partition) {
        partition_stop(d->standby.partition);
        d->standby.partition = NULL;
    }
    own_journal_close(d->standby.own);
    d->standby.own = NULL;
}

/* ---- taking over ---- */

static void publish_record(struct daemon *d, const struct store_row *row)
{
    const char *what = row->kind == STORE_ENTRIES   ? "entry"
                       : row->kind == STORE_ALARMS  ? "alarm"
                       : row->kind == STORE_CHANGES ? "change"
                                                    : NULL;
    if (what && row->kind == STORE_ALARMS) {
        alarm_webhook_offer(d->alarm_webhook, row->json, row->json_bytes);
    }
    if (what && lab_find(d->lab, row->pair) >= 0) {
        char rest[MESSAGE_TOPIC_MAX];
        (void)snprintf(rest, sizeof rest, "%s/%s", row->pair, what);
        const enum status status =
            gateway_send(d, rest, row->json, row->json_bytes, GATEWAY_SURE);
        (void)status; /* it is in the store */
    }
}

/* Publishes a record that the last owner may not have published: the store lacks it. */
struct unknown_records {
    struct daemon *d;
    struct store_reader *reader; /* NULL: the store cannot be read, so all are published */
};

static void publish_unknown(void *context, const struct store_row *row)
{
    struct unknown_records *u = context;
    bool holds = false;
    if (u->reader && store_holds(u->reader, row, &holds, NULL) == STATUS_OK && holds) {
        return;
    }
    publish_record(u->d, row);
}

void standby_go_live(struct daemon *d)
{
    if (!standby_is_shared(d)) {
        return;
    }
    /* Until then the last owner committed all but the newest results. */
    const int64_t within_us = 1000000 + 2000 * (int64_t)d->file->store.commit_ms;
    struct unknown_records unknown = {.d = d};
    struct partition_report report;
    partition_get_report(d->standby.partition, &report);
    if (store_reader_open(&d->store_params, &unknown.reader, NULL) != STATUS_OK) {
        unknown.reader = NULL;
    }
    store_queue_list_held(d->queue, within_us, publish_unknown, &unknown);
    store_reader_close(unknown.reader);
    if (d->standby.lean_us != LAB_TIME_NONE &&
        d->standby.newest_us - d->standby.lean_us < STORE_QUEUE_HOLD_US) {
        struct err lack = {0};
        (void)err_set(&lack, STATUS_E_STALE, FAULT_OUTDATED_COPY, "store",
                      "the last owner may have left records out");
        store_queue_lack(d->queue, &lack);
    }
    store_queue_release(d->queue);
    atomic_store(&d->standby.live, true);
    log_write(LOG_OWNING, NULL, "instance %s from line %" PRId64 " on, epoch %" PRId64,
              d->file->engine.instance, report.own_n, report.epoch);
    if (report.own_n > 1) {
        lab_alarm_raise(d, ALARM_ENGINE_TAKEN, "the daemon %s took the lab over",
                        d->file->engine.instance);
    }
}
