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
    "not_compared", "judged_lag_s", "network_lag_s", "real_version", "virtual_version",
    "real_expected_s", "real_low_s", "real_high_s", "lag_expected_s", "lag_low_s", "lag_high_s",
    "lag_excess_s", "lag_transport_s", "lag_waiting_s", "lag_motion_s", "lag_pace_s", "lag_rest_s",
};
static const char *const ALARM_COLUMNS[] = {
    "pair", "n", "t", "type", "side", "id", "detail", "suppressed", "code", "since_t",
};
static const char *const LOG_COLUMNS[] = {
    "pair", "n", "t", "kind", "side", "id", "op", "rotation_rad", "displacement_m", "status",
    "source_t", "seq", "nu", "tau", "pose", "state", "probe", "detail", "code",
    "robot_version",
};
static const char *const CHANGE_COLUMNS[] = {
    "pair", "n", "t", "action", "by", "version", "detail", "code_version", "set", "fit", "checks",
    "real_version", "virtual_version", "previous_version",
};
static const char *const FIT_COLUMNS[] = {
    "pair", "n", "t", "side", "model", "method", "samples", "data_since_t", "data_until_t",
    "values", "se", "ci95", "verdict", "reasons", "robot_version",
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

/* Rows that are absent if unknown. */
#define OPTIONAL_SECONDS(key, us) JSON_IF((us) != LAB_TIME_NONE, JSON_SECONDS(key, us))
#define OPTIONAL_AXES(key, x, n)  JSON_IF((n) > 0, JSON_NUMBERS(key, x, n))
#define OPTIONAL_REAL(key, x)     JSON_IF(isfinite(x), JSON(key, x))
#define FORECAST_ROW(name, f)                                                                  \
    JSON_IF((f).expected_us != LAB_TIME_NONE,                                                  \
            JSON_GROUP(JSON_SECONDS(name "_expected_s", (f).expected_us),                      \
                       JSON_SECONDS(name "_low_s", (f).low_us),                                \
                       JSON_SECONDS(name "_high_s", (f).high_us)))
#define STATUS(key, e, side)                                                                   \
    JSON_IF((e)->answered[side], JSON(key, reply_status_name((e)->status[side])))

static const char *excluded_side(const struct entry *e)
{
    return !e->uncalibrated[SIDE_VIRTUAL] ? "real"
           : !e->uncalibrated[SIDE_REAL]  ? "virtual"
                                          : "both";
}

/* A pace that explains the whole lag comes first: it may be what is usual. */
static enum entry_explained find_cause(const struct entry *e)
{
    return e->explained_by_pace ? ENTRY_BY_PACE : e->parts.explained;
}

void entry_write_json(struct json_writer *w, const char *key, const struct entry *e,
                      const char *pair)
{
    const struct entry_arm *const arm = &e->arm;
    JSON_WRITE_OBJECT(
        w, key, JSON("pair", pair), JSON("n", e->n), JSON("id", e->id[0] ? e->id : NULL),
        JSON_SECONDS("t", e->t_us), JSON("op", e->op), JSON("rotation_rad", e->rotation_rad),
        JSON("displacement_m", e->displacement_m),
        JSON_SECONDS("real_lap_s", e->lap_us[SIDE_REAL]),
        JSON_SECONDS("virtual_lap_s", e->lap_us[SIDE_VIRTUAL]),
        JSON_SECONDS("lag_s", e->lag_us), JSON("verdict", verdict_name(e->verdict)),
        JSON_IF(timeout_side(e), JSON("timeout_side", timeout_side(e))),
        JSON_IF(e->interrupted_us > 0, JSON_SECONDS("interrupted_s", e->interrupted_us)),
        OPTIONAL_REAL("virtual_pace", e->virtual_pace),
        JSON_IF(find_cause(e) != ENTRY_UNDECIDED,
                JSON("explained_by", entry_explained_name(find_cause(e)))),
        JSON_IF(e->judged_lag_us != LAB_TIME_NONE,
                JSON_GROUP(JSON_SECONDS("judged_lag_s", e->judged_lag_us),
                           JSON_SECONDS("network_lag_s", e->lag_us - e->judged_lag_us))),
        OPTIONAL_SECONDS("lag_uncertainty_s", e->lag_uncertainty_us),
        OPTIONAL_SECONDS("real_motion_s", e->motion_us[SIDE_REAL]),
        OPTIONAL_SECONDS("virtual_motion_s", e->motion_us[SIDE_VIRTUAL]),
        OPTIONAL_SECONDS("real_transport_s", e->transport_us[SIDE_REAL]),
        OPTIONAL_SECONDS("virtual_transport_s", e->transport_us[SIDE_VIRTUAL]),
        OPTIONAL_SECONDS("real_wait_s", e->wait_us[SIDE_REAL]),
        OPTIONAL_SECONDS("virtual_wait_s", e->wait_us[SIDE_VIRTUAL]),
        STATUS("real_status", e, SIDE_REAL), STATUS("virtual_status", e, SIDE_VIRTUAL),
        JSON_OPTIONAL("real_version", e->version[SIDE_REAL]),
        JSON_OPTIONAL("virtual_version", e->version[SIDE_VIRTUAL]),
        JSON_IF(e->uncalibrated[SIDE_REAL] || e->uncalibrated[SIDE_VIRTUAL],
                JSON("excluded", excluded_side(e))),
        CONSISTENCY_ROW("consistent", e->consistency),
        JSON_IF(e->consistency == INCONSISTENT, JSON("differs", e->differs)),
        JSON_OPTIONAL("not_compared", e->not_compared),
        FORECAST_ROW("real", e->forecast[ENTRY_FORECAST_REAL]),
        FORECAST_ROW("lag", e->forecast[ENTRY_FORECAST_LAG]),
        JSON_IF(
            e->parts.known,
            JSON_GROUP(JSON_SECONDS("lag_excess_s", e->parts.excess_us),
                       OPTIONAL_SECONDS("lag_transport_s", e->parts.part_us[ENTRY_TRANSPORT]),
                       OPTIONAL_SECONDS("lag_waiting_s", e->parts.part_us[ENTRY_WAITING]),
                       OPTIONAL_SECONDS("lag_motion_s", e->parts.part_us[ENTRY_MOTION]),
                       OPTIONAL_SECONDS("lag_pace_s", e->parts.part_us[ENTRY_PACE]),
                       JSON_SECONDS("lag_rest_s", e->parts.rest_us))),
        JSON_IF(e->correction > 0, JSON_GROUP(JSON("correction", e->correction),
                                              JSON("correction_m", e->correction_m),
                                              JSON("correction_rad", e->correction_rad))),
        JSON_IF(e->ambiguous != ENTRY_SURE,
                JSON("ambiguous", entry_ambiguity_name(e->ambiguous))),
        JSON_IF(arm->known,
                JSON_GROUP(
                    OPTIONAL_REAL("tool_gap_end_mm", arm->gap_end_mm),
                    OPTIONAL_REAL("tool_gap_max_mm", arm->gap_max_mm),
                    OPTIONAL_REAL("real_path_error_mm", arm->path_error_mm[SIDE_REAL]),
                    OPTIONAL_REAL("virtual_path_error_mm", arm->path_error_mm[SIDE_VIRTUAL]))),
        JSON_IF(e->team[0],
                JSON_GROUP(JSON("team", e->team), JSON("job", e->job[0] ? e->job : NULL),
                           JSON("task", e->task))));
}

void alarm_write_json(struct json_writer *w, const char *key, const struct alarm *alarm,
                      const char *pair)
{
    JSON_WRITE_OBJECT(
        w, key, JSON("pair", pair), JSON("n", alarm->n), JSON_SECONDS("t", alarm->t_us),
        JSON("type", alarm_type_name(alarm->type)), JSON("code", alarm->code),
        JSON("side", alarm->side < SIDE_COUNT ? side_name(alarm->side) : NULL),
        JSON("id", alarm->id[0] ? alarm->id : NULL), JSON("detail", alarm->detail),
        JSON_IF(alarm->since_us != 0, JSON_SECONDS("since_t", alarm->since_us)),
        JSON_IF(alarm->suppressed > 0, JSON("suppressed", alarm->suppressed)));
}

static void write_details(struct json_writer *w, const struct event *event)
{
    const struct event_telemetry *const m = &event->telemetry;
    switch (event->kind) {
    case EVENT_COMMAND:
        JSON_WRITE(w, JSON("id", event->command.id[0] ? event->command.id : NULL),
                   JSON("op", event->command.op),
                   JSON("rotation_rad", event->command.rotation_rad),
                   JSON("displacement_m", event->command.displacement_m));
        break;
    case EVENT_REPLY:
        JSON_WRITE(w, JSON("id", event->reply.id[0] ? event->reply.id : NULL),
                   JSON("status", reply_status_name(event->reply.status)),
                   OPTIONAL_SECONDS("source_t", event->reply.source_us));
        break;
    case EVENT_TELEMETRY:
        JSON_WRITE(w, OPTIONAL_SECONDS("source_t", m->source_us), JSON_WHOLE("seq", m->seq),
                   OPTIONAL_AXES("nu", m->nu, m->nu_count),
                   OPTIONAL_AXES("tau", m->tau, m->tau_count),
                   OPTIONAL_AXES("pose", m->pose, m->pose_count));
        break;
    case EVENT_CONNECTION:
    case EVENT_VERSION:
        JSON_WRITE(w, JSON_IF(event->kind == EVENT_CONNECTION,
                              JSON("state", event->connection.online ? "online" : "offline")),
                   JSON_OPTIONAL("robot_version", event->connection.version));
        break;
    case EVENT_ECHO:
        json_write_int(w, "probe", event->echo.probe);
        break;
    case EVENT_ACK:
    case EVENT_POSE_ACK:
        JSON_WRITE(
            w, JSON(event->kind == EVENT_ACK ? "version" : "correction", event->ack.version),
            JSON("detail", event->ack.reason));
        break;
    case EVENT_REQUEST:
        JSON_WRITE(w, JSON("op", request_action_name(event->request.action)),
                   JSON("version", event->request.version));
        break;
    case EVENT_FIT:
        JSON_WRITE(w, JSON("job", event->fit.job),
                   JSON("outcome", fit_outcome_name(event->fit.outcome)));
        break;
    case EVENT_MALFORMED:
        JSON_WRITE(w, JSON("code", fault_name(event->malformed.fault)),
                   JSON("detail", event->malformed.detail));
        break;
    case EVENT_FAULT:
        JSON_WRITE(w, JSON("op", fault_kind_name(event->fault.kind)),
                   JSON("detail", event->fault.detail));
        break;
    case EVENT_NOTE:
        JSON_WRITE(w, JSON("op", note_kind_name(event->note.kind)),
                   JSON("id", event->note.id[0] ? event->note.id : NULL),
                   OPTIONAL_SECONDS("source_t", event->note.source_us));
        break;
    case EVENT_TEAM:
        json_write_text(w, "op", team_op_name(event->team.op));
        break;
    case EVENT_MISSION: /* missions and teams have no log, so these do not occur */
    case EVENT_FORECAST:
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
    JSON_OPEN(w, key, JSON("pair", event->pair), JSON("n", n), JSON_SECONDS("t", event->t_us),
              JSON("kind", event_kind_name(event->kind)),
              JSON("side", event->side < SIDE_COUNT ? side_name(event->side) : NULL));
    write_details(w, event);
    json_write_close(w);
}
