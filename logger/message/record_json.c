#include "logger/message/record_json.h"

#include <math.h>

#include "base/errors/status.h"

/* clang-format off */
static const char *const ENTRY_COLUMNS[] = {
    "pair", "n", "id", "t", "op", "rotation_rad", "displacement_m", "real_lap_s",
    "virtual_lap_s", "lag_s", "verdict", "timeout_side", "interrupted_s", "virtual_pace", "explained_by",
        "lag_uncertainty_s", "real_motion_s",
    "virtual_motion_s", "real_transport_s", "virtual_transport_s", "real_wait_s",
    "virtual_wait_s", "real_status", "virtual_status", "consistent", "differs",
    "correction", "correction_m", "correction_rad", "ambiguous", "tool_gap_end_mm", "tool_gap_max_mm",
    "real_path_error_mm", "virtual_path_error_mm", "team", "job", "task", "excluded",
};
static const char *const ALARM_COLUMNS[] = {
    "pair", "n", "t", "type", "side", "id", "detail", "suppressed", "code",
};
static const char *const LOG_COLUMNS[] = {
    "pair", "n", "t", "kind", "side", "id", "op", "rotation_rad", "displacement_m", "status",
    "source_t", "seq", "nu", "tau", "pose", "state", "probe", "detail", "code",
};
static const char *const CHANGE_COLUMNS[] = {
    "pair", "n", "t", "action", "by", "version", "detail", "code_version", "set", "fit", "checks",
};
static const char *const FIT_COLUMNS[] = {
    "pair", "n", "t", "side", "model", "method", "samples", "values", "se", "ci95", "verdict", "reasons",
};
static const char *const BAR_COLUMNS[] = {
    "kind", "robot", "resource", "task", "meeting", "arg", "n", "fence", "from", "to", "open",
    "predicted_from", "predicted_p05", "predicted_p95",
};
/* clang-format on */

const struct record_table record_entries = {"entries", ENTRY_COLUMNS, COUNT(ENTRY_COLUMNS)};
const struct record_table record_alarms = {"alarms", ALARM_COLUMNS, COUNT(ALARM_COLUMNS)};
const struct record_table record_log = {"log", LOG_COLUMNS, COUNT(LOG_COLUMNS)};
const struct record_table record_changes = {"changes", CHANGE_COLUMNS, COUNT(CHANGE_COLUMNS)};
const struct record_table record_fits = {"fits", FIT_COLUMNS, COUNT(FIT_COLUMNS)};
const struct record_table record_bars = {"bars", BAR_COLUMNS, COUNT(BAR_COLUMNS)};

static const char *timeout_side(const struct entry *e)
{
    if (e->timed_out[SIDE_REAL]) {
        return e->timed_out[SIDE_VIRTUAL] ? "both" : "real";
    }
    return e->timed_out[SIDE_VIRTUAL] ? "virtual" : NULL;
}

static void write_optional_seconds(struct json_writer *w, const char *key, int64_t us)
{
    if (us != LAB_TIME_NONE) {
        json_write_seconds(w, key, us);
    }
}

void consistency_write_json(struct json_writer *w, const char *key,
                            enum consistency consistency)
{
    if (consistency == CONSISTENCY_UNKNOWN) {
        json_write_text(w, key, NULL);
    } else {
        json_write_bool(w, key, consistency == CONSISTENT);
    }
}

/* Writes only the known members. */
static void write_arm(struct json_writer *w, const struct entry_arm *arm)
{
    const struct {
        const char *key;
        double mm;
    } rows[] = {{"tool_gap_end_mm", arm->gap_end_mm},
                {"tool_gap_max_mm", arm->gap_max_mm},
                {"real_path_error_mm", arm->path_error_mm[SIDE_REAL]},
                {"virtual_path_error_mm", arm->path_error_mm[SIDE_VIRTUAL]}};
    for (size_t i = 0; i < COUNT(rows) && arm->known; i++) {
        if (isfinite(rows[i].mm)) {
            json_write_real(w, rows[i].key, rows[i].mm);
        }
    }
}

void entry_write_json(struct json_writer *w, const char *key, const struct entry *entry,
                      const char *pair)
{
    json_write_object(w, key);
    json_write_text(w, "pair", pair);
    json_write_int(w, "n", (int64_t)entry->n);
    json_write_text(w, "id", entry->id[0] ? entry->id : NULL);
    json_write_seconds(w, "t", entry->t_us);
    json_write_text(w, "op", entry->op);
    json_write_real(w, "rotation_rad", entry->rotation_rad);
    json_write_real(w, "displacement_m", entry->displacement_m);
    json_write_seconds(w, "real_lap_s", entry->lap_us[SIDE_REAL]);
    json_write_seconds(w, "virtual_lap_s", entry->lap_us[SIDE_VIRTUAL]);
    json_write_seconds(w, "lag_s", entry->lag_us);
    json_write_text(w, "verdict", verdict_name(entry->verdict));
    if (timeout_side(entry)) {
        json_write_text(w, "timeout_side", timeout_side(entry));
    }
    if (entry->interrupted_us > 0) {
        json_write_seconds(w, "interrupted_s", entry->interrupted_us);
    }
    if (isfinite(entry->virtual_pace)) {
        json_write_real(w, "virtual_pace", entry->virtual_pace);
    }
    if (entry->explained_by_pace) {
        json_write_text(w, "explained_by", "pace");
    }
    write_optional_seconds(w, "lag_uncertainty_s", entry->lag_uncertainty_us);
    write_optional_seconds(w, "real_motion_s", entry->motion_us[SIDE_REAL]);
    write_optional_seconds(w, "virtual_motion_s", entry->motion_us[SIDE_VIRTUAL]);
    write_optional_seconds(w, "real_transport_s", entry->transport_us[SIDE_REAL]);
    write_optional_seconds(w, "virtual_transport_s", entry->transport_us[SIDE_VIRTUAL]);
    write_optional_seconds(w, "real_wait_s", entry->wait_us[SIDE_REAL]);
    write_optional_seconds(w, "virtual_wait_s", entry->wait_us[SIDE_VIRTUAL]);
    if (entry->answered[SIDE_REAL]) {
        json_write_text(w, "real_status", reply_status_name(entry->status[SIDE_REAL]));
    }
    if (entry->answered[SIDE_VIRTUAL]) {
        json_write_text(w, "virtual_status", reply_status_name(entry->status[SIDE_VIRTUAL]));
    }
    if (entry->uncalibrated[SIDE_REAL] || entry->uncalibrated[SIDE_VIRTUAL]) {
        json_write_text(w, "excluded",
                        !entry->uncalibrated[SIDE_VIRTUAL] ? "real"
                        : !entry->uncalibrated[SIDE_REAL]  ? "virtual"
                                                           : "both");
    }
    consistency_write_json(w, "consistent", entry->consistency);
    if (entry->consistency == INCONSISTENT) {
        json_write_text(w, "differs", entry->differs);
    }
    if (entry->correction > 0) {
        json_write_int(w, "correction", (int64_t)entry->correction);
        json_write_real(w, "correction_m", entry->correction_m);
        json_write_real(w, "correction_rad", entry->correction_rad);
    }
    if (entry->ambiguous != ENTRY_SURE) {
        json_write_text(w, "ambiguous", entry_ambiguity_name(entry->ambiguous));
    }
    write_arm(w, &entry->arm);
    if (entry->team[0]) {
        json_write_text(w, "team", entry->team);
        json_write_text(w, "job", entry->job[0] ? entry->job : NULL);
        json_write_text(w, "task", entry->task);
    }
    json_write_close(w);
}

void alarm_write_json(struct json_writer *w, const char *key, const struct alarm *alarm,
                      const char *pair)
{
    json_write_object(w, key);
    json_write_text(w, "pair", pair);
    json_write_int(w, "n", (int64_t)alarm->n);
    json_write_seconds(w, "t", alarm->t_us);
    json_write_text(w, "type", alarm_type_name(alarm->type));
    json_write_text(w, "code", alarm->code);
    json_write_text(w, "side", alarm->side < SIDE_COUNT ? side_name(alarm->side) : NULL);
    json_write_text(w, "id", alarm->id[0] ? alarm->id : NULL);
    json_write_text(w, "detail", alarm->detail);
    if (alarm->suppressed > 0) {
        json_write_int(w, "suppressed", (int64_t)alarm->suppressed);
    }
    json_write_close(w);
}

static void write_details(struct json_writer *w, const struct event *event)
{
    switch (event->kind) {
    case EVENT_COMMAND:
        json_write_text(w, "id", event->command.id[0] ? event->command.id : NULL);
        json_write_text(w, "op", event->command.op);
        json_write_real(w, "rotation_rad", event->command.rotation_rad);
        json_write_real(w, "displacement_m", event->command.displacement_m);
        break;
    case EVENT_REPLY:
        json_write_text(w, "id", event->reply.id[0] ? event->reply.id : NULL);
        json_write_text(w, "status", reply_status_name(event->reply.status));
        write_optional_seconds(w, "source_t", event->reply.source_us);
        break;
    case EVENT_TELEMETRY:
        write_optional_seconds(w, "source_t", event->telemetry.source_us);
        json_write_int(w, "seq", event->telemetry.seq);
        json_write_axes(w, "nu", event->telemetry.nu, event->telemetry.nu_count);
        json_write_axes(w, "tau", event->telemetry.tau, event->telemetry.tau_count);
        json_write_axes(w, "pose", event->telemetry.pose, event->telemetry.pose_count);
        break;
    case EVENT_CONNECTION:
        json_write_text(w, "state", event->connection.online ? "online" : "offline");
        break;
    case EVENT_ECHO:
        json_write_int(w, "probe", event->echo.probe);
        break;
    case EVENT_ACK:
        json_write_int(w, "version", event->ack.version);
        json_write_text(w, "detail", event->ack.reason);
        break;
    case EVENT_POSE_ACK:
        json_write_int(w, "correction", event->ack.version);
        json_write_text(w, "detail", event->ack.reason);
        break;
    case EVENT_REQUEST:
        json_write_text(w, "op", request_action_name(event->request.action));
        json_write_int(w, "version", event->request.version);
        break;
    case EVENT_FIT:
        json_write_int(w, "job", event->fit.job);
        json_write_text(w, "outcome", fit_outcome_name(event->fit.outcome));
        break;
    case EVENT_MALFORMED:
        json_write_text(w, "code", fault_name(event->malformed.fault));
        json_write_text(w, "detail", event->malformed.detail);
        break;
    case EVENT_FAULT:
        json_write_text(w, "op", fault_kind_name(event->fault.kind));
        json_write_text(w, "detail", event->fault.detail);
        break;
    case EVENT_NOTE:
        json_write_text(w, "op", note_kind_name(event->note.kind));
        json_write_text(w, "id", event->note.id[0] ? event->note.id : NULL);
        write_optional_seconds(w, "source_t", event->note.source_us);
        break;
    case EVENT_TEAM:
        json_write_text(w, "op", team_op_name(event->team.op));
        break;
    case EVENT_FORECAST: /* teams have no log, so these do not occur */
    case EVENT_TICK:
    case EVENT_AWAY:
    case EVENT_SESSION:
    case EVENT_START:
    case EVENT_STOP:
    case EVENT_KIND_COUNT:
        break;
    }
}

void event_write_json(struct json_writer *w, const char *key, const struct event *event,
                      uint64_t n)
{
    json_write_object(w, key);
    json_write_text(w, "pair", event->pair);
    json_write_int(w, "n", (int64_t)n);
    json_write_seconds(w, "t", event->t_us);
    json_write_text(w, "kind", event_kind_name(event->kind));
    json_write_text(w, "side", event->side < SIDE_COUNT ? side_name(event->side) : NULL);
    write_details(w, event);
    json_write_close(w);
}
