/* service/daemon/web_calls.c - the daemon's functions for the HTTP server. */

#include "logger/message/json_write.h"
#include "service/daemon/daemon_parts.h"
#include "service/job/plan_call.h"
#include "service/job/upload_jobs.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"
#include "service/tool/version.h"

enum {
    COMMIT_MS = 250, /* for the store to commit what a reader waits for */
    REFIT_MS = 1000  /* for the lab to begin a fit */
};

int64_t web_calls_now(void *context)
{
    struct daemon *d = context;
    return inbox_now_us(d->inbox);
}

static enum status source_command(void *context, const char *pair, const char *payload,
                                  size_t bytes, struct err *err)
{
    struct daemon *d = context;
    if (!atomic_load(&d->running)) {
        return err_set(err, STATUS_E_IO, FAULT_NOT_RUNNING, "broker", "starting or stopping");
    }
    struct mqtt_client_state state;
    gateway_read_state(d, &state);
    if (!state.connected || !state.subscribed) {
        return err_set(err, STATUS_E_IO, FAULT_NOT_CONNECTED, "broker", "%s",
                       state.error[0] ? state.error : "not connected");
    }
    const long index = lab_find(d->lab, pair);
    const struct codec_out out = {.kind = CODEC_COMMAND,
                                  .pair = pair,
                                  .side = SIDE_COUNT,
                                  .payload = payload,
                                  .bytes = bytes};
    struct codec_message m;
    /* A robot with a foreign protocol gets its commands from Tandem or from another master. */
    const struct codec *codec = index < 0 ? NULL : lab_codec(d->lab, (size_t)index);
    const bool listens =
        codec && (!codec->receive || lab_pair_params(d->lab, (size_t)index)->mode == PAIR_LINK);
    if (!listens || !codec_encode(codec, &out, &m)) {
        return err_set(err, STATUS_E_ARG, FAULT_ACCEPTS_NO_COMMANDS, "pair",
                       "takes no commands");
    }
    const enum status status = gateway_send(d, m.topic, m.payload, m.bytes, GATEWAY_SURE);
    return status == STATUS_OK ? status
                               : err_set(err, status, FAULT_NOT_ACCEPTED, "broker",
                                         "not taken over: %s", status_name(status));
}

static void source_catch_up(void *context, bool stored)
{
    struct daemon *d = context;
    struct store_queue_stats stats;
    if (!atomic_load(&d->running)) {
        return;
    }
    lab_thread_catch_up(d);
    if (!stored || !standby_is_live(d)) {
        return;
    }
    store_queue_stats(d->queue, &stats);
    if (stats.pushed > stats.committed && !stats.failing &&
        store_queue_flush(d->queue, COMMIT_MS) != STATUS_OK) {
        /* The answer uses what is stored already; the maintenance thread reports the disk. */
        return;
    }
}

static const char *source_map(void *context, size_t pair, size_t *bytes)
{
    const struct daemon *d = context;
    return maps_find(d->maps, pair, bytes);
}

static const char *source_picture(void *context, const char *machine, size_t *bytes)
{
    const struct daemon *d = context;
    return machine_pictures_find(&d->file->pictures, machine, bytes);
}

static enum status source_request(void *context, const char *payload, size_t bytes,
                                  struct err *err)
{
    struct daemon *d = context;
    if (!atomic_load(&d->running)) {
        return err_set(err, STATUS_E_IO, FAULT_NOT_RUNNING, "lab", "starting or stopping");
    }
    const enum status status = inbox_offer(d->inbox, "request", payload, bytes);
    return status == STATUS_OK
               ? status
               : err_set(err, status, FAULT_JOURNAL_FAILED, "journal",
                         standby_is_live(d) ? "cannot be written: no input is accepted"
                                            : "this daemon follows; ask the owner of the lab");
}

/* The fit begins when the lab thread reads the line, some milliseconds later. */
static enum status source_refit(void *context, size_t pair, enum side side, uint64_t *job,
                                struct err *err)
{
    struct daemon *d = context;
    char payload[256];
    const uint64_t before = fits_job(d->fits, (uint32_t)pair, side);
    const size_t bytes =
        JSON_FORMAT(payload, sizeof payload, JSON("pair", d->params.pairs[pair].id),
                    JSON("action", request_action_name(REQUEST_IDENTIFY)),
                    JSON("side", side_name(side)), JSON("by", "http"));
    const enum status status = source_request(d, payload, bytes, err);
    if (status != STATUS_OK) {
        return status;
    }
    const int64_t until_us = lab_clock_monotonic_us() + REFIT_MS * INT64_C(1000);
    do {
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + 2000);
        *job = fits_job(d->fits, (uint32_t)pair, side);
    } while ((*job == 0 || *job == before) && lab_clock_monotonic_us() < until_us);
    return *job != 0 && *job != before ? STATUS_OK
                                       : err_set(err, STATUS_E_EMPTY, FAULT_NOT_ACCEPTED, "lab",
                                                 "the lab began no fit");
}

static void source_refused(void *context, const char *text)
{
    (void)context;
    log_write(LOG_HTTP_REFUSED, NULL, "%s", text);
}

static bool source_find_owner(void *context, const char *pair, struct web_owner *out)
{
    const struct daemon *d = context;
    struct engine_pair found;
    if (!engine_session_find_pair(d->engine, pair, &found)) {
        return false;
    }
    (void)snprintf(out->lab, sizeof out->lab, "%s", found.lab);
    (void)snprintf(out->address, sizeof out->address, "%s", found.address);
    out->running = found.running;
    out->unreachable =
        !found.running      ? "which does not run"
        : !found.address[0] ? "which has no engine.advertise"
        : strcmp(found.address, d->file->engine.advertise) == 0
            ? "which has the engine.advertise of this one: correct it in both lab files"
            : NULL;
    return true;
}

static void write_other(void *context, const struct engine_pair *other)
{
    struct json_writer *w = context;
    JSON_OPEN(w, NULL, JSON("pair", other->pair), JSON("lab", other->lab),
              JSON("address", other->address[0] ? other->address : NULL),
              JSON_BOOL("running", other->running));
    json_write_close(w);
}

static void source_list_others(void *context, struct json_writer *w)
{
    const struct daemon *d = context;
    engine_session_list_pairs(d->engine, write_other, w);
}

struct web_source web_calls_source(struct daemon *d)
{
    return (struct web_source){
        .context = d,
        .version = TANDEM_VERSION,
        .lab = d->public_lab,
        .snapshots = d->snapshots,
        .catch_up = source_catch_up,
        .acquire = snapshots_acquire,
        .release = snapshots_release,
        .command = source_command,
        .request = source_request,
        .machines = gateway_read_robot,
        .map = source_map,
        .picture = source_picture,
        .refit = source_refit,
        .jobs = d->worker,
        .check_identify = identify_jobs_check,
        .claim_upload = worker_claim,
        .release_upload = worker_release,
        .identify = identify_jobs_submit,
        .check_simulate = simulate_jobs_check,
        .simulate = simulate_jobs_submit,
        .plan = plan_call_write,
        .check_replay = replay_jobs_check,
        .replay = replay_jobs_submit,
        .cancel_job = worker_cancel,
        .read_job = worker_read,
        .list_jobs = worker_list,
        .metrics = daemon_write_metrics,
        .now = web_calls_now,
        .events = d->events,
        .rays = d->rays,
        .refused = source_refused,
        .find_owner = source_find_owner,
        .list_others = source_list_others,
        .captures = d->capturer,
        .list_captures = capturer_list,
        .read_capture = capturer_read,
        .remove_capture = capturer_remove,
    };
}
