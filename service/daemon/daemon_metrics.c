/* service/daemon/daemon_metrics.c - metrics of the process (docs/metrics.md lists them). The
 * web room adds metrics of pairs, verdicts, alarms and health from the snapshot. */
#include <sys/resource.h>

#include "service/daemon/daemon_parts.h"
#include "service/tool/log.h"

static void write_inbox(struct daemon *d, struct metrics *m)
{
    struct inbox_counts c;
    inbox_read_counts(d->inbox, &c);
    metrics_family(m, "tandem_inbox_messages_total",
                   "Messages accepted from the broker, and the daemon's own journal lines.");
    metrics_count(m, (struct metric_label[]){{"kind", "event"}}, 1, c.events);
    metrics_count(m, (struct metric_label[]){{"kind", "sample"}}, 1, c.samples);
    const struct metric_counter rows[] = {
        {"tandem_inbox_bytes_total", "Bytes of their journal lines.", c.bytes},
        {"tandem_inbox_refused_total",
         "Messages not acknowledged because the journal could not take them (disk full); the "
         "broker delivers them again.",
         c.refused},
        {"tandem_inbox_not_journalled_total",
         "The daemon's own journal lines that were refused and found no room to wait.",
         c.not_journalled},
        {"tandem_inbox_samples_dropped_total",
         "Telemetry dropped because the journal refused it, or the ring was full and it is not "
         "journalled.",
         c.samples_dropped},
        {"tandem_inbox_samples_thinned_total",
         "Telemetry samples dropped because the lab thread was behind; commands and replies "
         "come first.",
         c.samples_thinned},
        {"tandem_inbox_lost_total",
         "Refused events that are lost (QoS 0), and own lines without room in ring and "
         "journal.",
         c.lost},
        {"tandem_inbox_overflows_total",
         "Times the ring was full and the lab read on from the journal.", c.overflows},
        {"tandem_inbox_wakes_total", "Times the lab thread was woken.", c.wakes},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_gauge(m, "tandem_inbox_ring_bytes", "Bytes waiting in the ring.",
                  (double)c.buffer_used);
    metrics_gauge(m, "tandem_inbox_ring_high_water_bytes", "Most bytes that ever waited.",
                  (double)c.buffer_high_water);
    metrics_gauge(m, "tandem_inbox_ring_capacity_bytes", "Size of the ring.",
                  (double)DAEMON_BUFFER_BYTES);
}

static void write_journal(struct daemon *d, struct metrics *m)
{
    struct journal_stats s;
    journal_stats(d->journal, &s);
    const struct metric_counter rows[] = {
        {"tandem_journal_lines_total", "Lines written.", s.lines},
        {"tandem_journal_bytes_total", "Bytes written.", s.bytes},
        {"tandem_journal_lost_lines_total", "Lines that could not be written.", s.lost_lines},
        {"tandem_journal_errors_total", "Failed attempts to write.", s.errors},
        {"tandem_journal_torn_total", "Pieces of lines closed after a crash or error.", s.torn},
        {"tandem_journal_rotations_total", "Files begun after the first.", s.rotations},
        {"tandem_journal_removed_files_total", "Files removed by retention.", s.removed_files},
        {"tandem_journal_removed_total",
         "Times the journal's directory or present file was removed by others.", s.vanished},
        {"tandem_journal_syncs_total", "Times synced to the disk.", s.syncs},
        {"tandem_journal_sync_errors_total", "Failed syncs.", s.sync_errors},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_gauge(m, "tandem_journal_unsynced_seconds",
                  "Age of the oldest line that is not synced: a power cut would lose as much.",
                  lab_s(maintenance_unsynced_us(d)));
}

static void write_disks(struct daemon *d, struct metrics *m)
{
    metrics_family(m, "tandem_disk_free_bytes", "Space left where these files are.");
    for (size_t i = 0; i < MAINTENANCE_DISKS; i++) {
        metrics_count(m, (struct metric_label[]){{"file", maintenance_disks[i]}}, 1,
                      atomic_load(&d->maintenance.free_bytes[i]));
    }
    metrics_gauge(m, "tandem_disk_free_bytes_min", "Low space is reported below this.",
                  d->file->journal.min_free_mb * 1e6);
}

static void write_captures(struct daemon *d, struct metrics *m)
{
    struct capturer_counts c = {0};
    if (d->capturer) {
        capturer_read_counts(d->capturer, &c);
    }
    const struct metric_counter rows[] = {
        {"tandem_captures_begun_total", "Captures begun.", c.begun},
        {"tandem_captures_written_total", "Of them, written.", c.written},
        {"tandem_captures_failed_total", "Captures that could not be written.", c.failed},
        {"tandem_captures_suppressed_total",
         "Events that made no capture: too early after another, too many at once, or no space.",
         c.suppressed},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_gauge(m, "tandem_captures", "Captures on the disk.", (double)c.present);
    metrics_gauge(m, "tandem_captures_bytes", "Their size.", (double)c.bytes);
}

static void write_alarm_webhook(struct daemon *d, struct metrics *m)
{
    struct alarm_webhook_counts c;
    alarm_webhook_read_counts(d->alarm_webhook, &c);
    const struct metric_counter rows[] = {
        {"tandem_webhook_delivered_total", "Alarms that alarms.webhook.url accepted.",
         c.delivered},
        {"tandem_webhook_failures_total", "Attempts that failed or were refused.", c.failed},
        {"tandem_webhook_dropped_total",
         "Alarms refused, or dropped because 1000 newer ones waited.", c.dropped},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_gauge(m, "tandem_webhook_waiting_alarms", "Alarms not delivered yet.",
                  (double)c.waiting);
}

static void write_store(struct daemon *d, struct metrics *m)
{
    struct store_queue_stats s;
    store_queue_stats(d->queue, &s);
    const struct metric_counter rows[] = {
        {"tandem_store_pushed_total", "Records handed to the store.", s.pushed},
        {"tandem_store_committed_total", "Of them, committed.", s.committed},
        {"tandem_store_new_total", "Of these, not known before.", s.stored},
        {"tandem_store_dropped_total",
         "Records dropped because the queue was full; they are made again from the journal.",
         s.dropped},
        {"tandem_store_batches_total", "Transactions.", s.batches},
        {"tandem_store_failures_total", "Failed transactions; each is tried again.",
         s.failures},
        {"tandem_store_upkeep_failures_total",
         "Failures of work on the store that no record waits for; each is tried again.",
         s.upkeep_failures},
        {"tandem_store_removed_total", "Records removed by retention.", s.removed},
        {"tandem_store_reopened_total", "Times its file was removed or replaced by others.",
         s.reopened},
        {"tandem_store_lacks_total",
         "Times it came to lack records, which the journal then makes up.", s.lacks},
        {"tandem_store_backfilled_total", "Records rebuilt from the journal.", s.made_again},
        {"tandem_store_differing_total",
         "Records that the store has with another content; the stored ones stay.", s.differing},
        {"tandem_store_refused_total", "Records that the database cannot store; left out.",
         s.refused},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_gauge(m, "tandem_store_waiting_records", "Records waiting for their transaction.",
                  (double)s.waiting_rows);
}

static void write_lab(struct daemon *d, struct metrics *m)
{
    (void)pthread_mutex_lock(&d->lock);
    const struct lab_thread_counts c = d->thread.shown;
    (void)pthread_mutex_unlock(&d->lock);
    const struct metric_counter rows[] = {
        {"tandem_lab_lines_total", "Journal lines processed.", c.lines},
        {"tandem_lab_restored_lines_total", "Of them, read back at the start.", c.restored},
        {"tandem_lab_skipped_lines_total", "Lines that are no message.", c.skipped},
        {"tandem_lab_other_messages_total", "Messages the codec does not listen to.", c.other},
        {"tandem_lab_steps_total", "Steps of the lab: decoded events.", c.events},
        {"tandem_lab_malformed_total", "Of them, not of the protocol.", c.malformed},
        {"tandem_lab_deadline_steps_total", "Steps because only time had passed.",
         c.deadline_steps},
        {"tandem_lab_journal_faults_total", "Stretches of the journal not readable.", c.faults},
    };
    metrics_counters(m, rows, COUNT(rows));
    static const char *const duration_text[] = {"0.0001", "0.001", "0.01", "0.1", "1", "inf"};
    static const struct names durations = {duration_text, LAB_THREAD_DURATIONS};
    metrics_family(m, "tandem_lab_rounds_total",
                   "Rounds of the lab thread, by the seconds they took at most.");
    metrics_by_name(m, NULL, "took", &durations, c.durations);
    metrics_gauge(m, "tandem_lab_round_seconds_max",
                  "Longest round, snapshots and checkpoints included.",
                  lab_s(c.duration_us_max));
    metrics_gauge(m, "tandem_lab_chores_seconds_max",
                  "Longest time for which snapshots or checkpoints held up the lab.",
                  lab_s(c.chores_us_max));
    metrics_gauge(m, "tandem_lab_chores_cpu_seconds_max",
                  "The longest of these by what it took of the processor: the rest it waited "
                  "for that.",
                  lab_s(c.chores_cpu_us_max));
    if (c.restore_us >= 0) {
        metrics_gauge(m, "tandem_lab_restore_seconds", "Reading the journal's tail back.",
                      lab_s(c.restore_us));
    }
}

static void write_effects(struct daemon *d, struct metrics *m)
{
    static const char *const kind_text[] = {EFFECT_KINDS(NAMES_TEXT)};
    static const char *const late_text[] = {"0.0001", "0.00025", "0.0005", "0.001", "0.002",
                                            "0.005",  "0.01",    "0.1",    "inf"};
    static const struct names kinds = {kind_text, EFFECT_KIND_COUNT};
    static const struct names late = {late_text, EFFECT_EXECUTOR_LATENESS};
    (void)pthread_mutex_lock(&d->lock);
    const struct effect_executor_counts c = d->thread.shown_effect_counts;
    (void)pthread_mutex_unlock(&d->lock);
    metrics_family(m, "tandem_effects_total",
                   "What the lab wanted done, restored ones included.");
    metrics_by_name(m, NULL, "kind", &kinds, c.effects);
    const struct metric_counter rows[] = {
        {"tandem_messages_published_total", "Messages handed to the broker client.",
         c.published},
        {"tandem_messages_not_published_total", "Messages it refused.", c.not_published},
        {"tandem_records_not_stored_total", "Records the store's queue refused.", c.not_stored},
        {"tandem_records_already_stored_total", "Restored records that were stored already.",
         c.known},
        {"tandem_messages_held_back_total", "Restored messages, not sent a second time.",
         c.held_back},
        {"tandem_messages_stale_total", "Commands and probes too old to be sent.", c.stale},
        {"tandem_control_overruns_total",
         "Efforts that were a control period late and not sent: the next one replaces them.",
         c.overruns},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_family(m, "tandem_control_efforts_total",
                   "Efforts for simulated robots, by the seconds after their control period at "
                   "which they went out at most.");
    metrics_by_name(m, NULL, "late", &late, c.late);
    metrics_histogram(m, "tandem_team_grant_seconds",
                      "Grants that were waited for: from the arrival of what they follow from, "
                      "until the robot's command or answer is with the broker's client.",
                      effect_executor_lateness_s, c.granted, EFFECT_EXECUTOR_LATENESS - 1,
                      c.granted_s);
}

static void write_broker(struct daemon *d, struct metrics *m)
{
    struct mqtt_client_state s;
    struct mqtt_client_state other = {.connected = true, .subscribed = true};
    gateway_read_state(d, &s);
    if (d->gateway.telemetry) {
        mqtt_client_read_state(d->gateway.telemetry, &other);
    }
    const bool up = s.connected && s.subscribed && other.connected && other.subscribed;
    metrics_gauge(m, "tandem_broker_connected", "Connected and subscribed.", up ? 1.0 : 0.0);
    const struct metric_counter rows[] = {
        {"tandem_broker_connections_total", "Connections accepted by the broker.",
         s.connections},
        {"tandem_broker_failed_connections_total", "Attempts that failed.",
         s.failed_connections},
        {"tandem_broker_received_total", "Messages received.", s.received + other.received},
        {"tandem_broker_published_total", "Messages accepted for publishing.", s.published},
        {"tandem_broker_acknowledged_total", "Of them, acknowledged or sent.", s.acknowledged},
        {"tandem_broker_failed_total", "Of them, given up.", s.failed},
        {"tandem_broker_refused_total", "Not accepted: the buffer was full.", s.refused},
        {"tandem_broker_crowded_total", "Messages received with more than 64 properties.",
         s.crowded + other.crowded},
        {"tandem_broker_broken_writes_total",
         "Writes to the broker that failed; each ended its connection.", s.broken_writes},
        {"tandem_broker_oversized_total", "Payloads received that were too long.",
         atomic_load(&d->gateway.oversized)},
        {"tandem_broker_ignored_total", "Messages received on topics that cannot be.",
         atomic_load(&d->gateway.ignored)},
    };
    metrics_counters(m, rows, COUNT(rows));
    if (s.heartbeat_rtt_us >= 0) {
        metrics_gauge(m, "tandem_broker_heartbeat_seconds", "Round trip of the last heartbeat.",
                      lab_s(s.heartbeat_rtt_us));
    }
}

static void write_telemetry(struct daemon *d, struct metrics *m)
{
    struct mqtt_client_state s;
    if (!d->gateway.telemetry) {
        return;
    }
    mqtt_client_read_state(d->gateway.telemetry, &s);
    const struct metric_counter rows[] = {
        {"tandem_telemetry_connections_total",
         "Connections for telemetry accepted by the broker.", s.connections},
        {"tandem_telemetry_failed_connections_total", "Attempts that failed.",
         s.failed_connections},
    };
    metrics_counters(m, rows, COUNT(rows));
    if (s.heartbeat_rtt_us >= 0) {
        metrics_gauge(m, "tandem_telemetry_heartbeat_seconds",
                      "Round trip of the last heartbeat of the connection for telemetry.",
                      lab_s(s.heartbeat_rtt_us));
    }
}

static void write_maintenance(struct daemon *d, struct metrics *m)
{
    (void)pthread_mutex_lock(&d->lock);
    const uint64_t fits_dropped = d->pending_fits.dropped;
    const struct checkpoint_writer_counts saved = d->checkpoint_writer.counts;
    (void)pthread_mutex_unlock(&d->lock);
    struct snapshots_counts v;
    snapshots_read_counts(d->snapshots, &v);
    struct result_publisher_counts f;
    result_publisher_read_counts(d, &f);
    const struct metric_counter rows[] = {
        {"tandem_checkpoints_total", "Checkpoints written.", saved.written},
        {"tandem_checkpoints_whole_total", "Of them, of all pairs.", saved.whole},
        {"tandem_checkpoints_failed_total", "Checkpoints that could not be written.",
         saved.failed},
        {"tandem_calibrations_total", "Calibrations published.", f.published},
        {"tandem_calibrations_dropped_total", "Calibrations not published.", f.dropped},
        {"tandem_history_dropped_total", "Fits that are not in the history of a pair.",
         fits_dropped},
        {"tandem_snapshots_total", "Snapshots for readers.", v.published},
        {"tandem_snapshots_pairs_copied_total", "Pairs copied for them.", v.copied},
        {"tandem_snapshots_failed_total", "Snapshots for which there was no memory.", v.failed},
        {"tandem_log_suppressed_total", "Log lines left out by the rate limits.",
         log_suppressed()},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_family(m, "tandem_calibrations_seconds_total",
                   "Processor time that making and publishing them took.");
    metrics_sample(m, NULL, 0, lab_s(f.worked_us));
    metrics_gauge(
        m, "tandem_calibrations_waiting",
        "Pairs that wait for a calibration, including those that had one a moment ago.",
        (double)f.waiting);
    metrics_gauge(m, "tandem_calibrations_wait_seconds", "The longest wait of the others.",
                  lab_s(f.waits_us));
    metrics_gauge(m, "tandem_checkpoint_waiting_bytes",
                  "Copied for a checkpoint and not written yet.",
                  (double)atomic_load(&d->checkpoint_writer.waiting));
    if (saved.t_us != LAB_TIME_NONE) {
        metrics_gauge(m, "tandem_checkpoint_age_seconds", "Lab time since the last checkpoint.",
                      lab_s(inbox_now_us(d->inbox) - saved.t_us));
        metrics_gauge(m, "tandem_checkpoint_bytes", "Written of the last checkpoint.",
                      (double)saved.bytes);
        metrics_gauge(m, "tandem_checkpoint_duration_seconds", "Writing the last checkpoint.",
                      lab_s(saved.duration_us));
    }
}

static void write_fits(struct daemon *d, struct metrics *m)
{
    struct fits_counts c;
    fits_read_counts(d->fits, &c);
    const struct metric_counter rows[] = {
        {"tandem_fits_begun_total", "Batch fits of dynamics that went to the worker.", c.begun},
        {"tandem_fits_refused_total", "Batch fits that could not go there.", c.refused},
        {"tandem_fits_found_total", "Results that the lab took.", c.found},
        {"tandem_fits_forgotten_total", "Results that were no longer wanted.", c.forgotten},
    };
    metrics_counters(m, rows, COUNT(rows));
}

static void write_forecasts(struct daemon *d, struct metrics *m)
{
    struct forecasts_counts c = {0};
    if (d->forecasts) {
        forecasts_read_counts(d->forecasts, &c);
    }
    const struct metric_counter rows[] = {
        {"tandem_forecasts_total", "Forecasts of teams made.", c.made},
        {"tandem_forecasts_failed_total", "Forecasts for which there was no memory.", c.failed},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_family(m, "tandem_forecasts_seconds_total", "Time that forecasts took.");
    metrics_sample(m, NULL, 0, (double)c.duration_us * 1e-6);
}

static void write_worker(struct daemon *d, struct metrics *m)
{
    struct worker_counts c;
    worker_read_counts(d->worker, &c);
    metrics_family(m, "tandem_jobs_total", "Jobs that have ended.");
    for (enum job_class class = JOB_LAB; class < JOB_CLASS_COUNT; class ++) {
        struct metric_label labels[] = {{"kind", job_class_name(class)}, {"state", ""}};
        for (enum job_state state = JOB_DONE; state < JOB_STATE_COUNT; state++) {
            labels[1].value = job_state_name(state);
            metrics_count(m, labels, 2, c.ended[class][state]);
        }
    }
    metrics_family(m, "tandem_jobs_refused_total", "Jobs for which the queue had no room.");
    metrics_by_name(m, NULL, "kind", &job_class_names, c.refused);
    metrics_family(m, "tandem_jobs", "Jobs that wait or run.");
    for (enum job_class class = JOB_LAB; class < JOB_CLASS_COUNT; class ++) {
        struct metric_label labels[] = {{"kind", job_class_name(class)}, {"state", "queued"}};
        metrics_count(m, labels, 2, c.waiting[class]);
        labels[1].value = "running";
        metrics_count(m, labels, 2, c.running[class]);
    }
    metrics_counter(m, "tandem_jobs_let_through_total",
                    "Jobs of the lab carried out within an uploaded one.", c.let_through);
    metrics_family(m, "tandem_jobs_seconds_total", "Time taken by ended jobs.");
    metrics_sample(m, NULL, 0, lab_s(c.busy_us));
    metrics_gauge(m, "tandem_uploads", "Recordings in memory, those on their way included.",
                  (double)c.uploads);
}

static void write_process(struct daemon *d, struct metrics *m)
{
    struct rusage usage;
    metrics_gauge(m, "tandem_wall_clock_ahead_seconds", "The wall clock minus lab time.",
                  lab_s(atomic_load(&d->maintenance.wall_ahead_us)));
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        metrics_family(m, "tandem_process_cpu_seconds_total", "Processor time of the daemon.");
        metrics_sample(m, NULL, 0,
                       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6);
        metrics_gauge(m, "tandem_process_resident_bytes_max", "Most memory ever resident.",
                      (double)usage.ru_maxrss * 1024.0);
    }
}

static void write_standby(struct daemon *d, struct metrics *m)
{
    struct partition_report r;
    if (!standby_read_report(d, &r)) {
        return;
    }
    metrics_gauge(m, "tandem_owner", "1: this daemon owns the lab. 0: it follows.",
                  r.state == OWNERSHIP_OWNING ? 1.0 : 0.0);
    metrics_gauge(m, "tandem_owner_lines", "Durable lines of the lab's journal.", (double)r.n);
    metrics_gauge(m, "tandem_owner_lines_behind", "Of them, lines that this daemon lacks.",
                  r.n > r.own_n ? (double)(r.n - r.own_n) : 0.0);
    metrics_gauge(m, "tandem_owner_lines_waiting", "Lines that are not durable yet.",
                  (double)r.waiting);
    metrics_gauge(m, "tandem_owner_durable", "1: commits wait for the required standbys.",
                  r.durable ? 1.0 : 0.0);
    const struct metric_counter rows[] = {
        {"tandem_owner_takes_total", "Times that this daemon took the lab.", r.takes},
        {"tandem_owner_refused_total", "Lines that did not fit into the queue.", r.refused},
        {"tandem_owner_failures_total", "Statements of the lab's journal that failed.",
         r.failures},
    };
    metrics_counters(m, rows, COUNT(rows));
}

void daemon_write_metrics(void *daemon, struct metrics *metrics)
{
    static void (*const parts[])(struct daemon *, struct metrics *) = {
        write_inbox,       write_journal,       write_lab,     write_effects,
        write_store,       write_disks,         write_broker,  write_telemetry,
        write_maintenance, write_worker,        write_fits,    write_forecasts,
        write_captures,    write_alarm_webhook, write_process, write_standby};
    struct daemon *d = daemon;
    for (size_t i = 0; i < COUNT(parts) && atomic_load(&d->running); i++) {
        parts[i](d, metrics);
    }
}
