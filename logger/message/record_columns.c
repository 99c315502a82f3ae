#include "logger/message/record_columns.h"

#include "base/status.h"

/* clang-format off */
static const char *const ENTRY_COLUMNS[] = {
    "pair", "n", "id", "t", "op", "rotation_rad", "displacement_m", "real_lap_s",
    "virtual_lap_s", "lag_s", "verdict", "timeout_side", "interrupted_s", "virtual_pace", "explained_by",
        "lag_uncertainty_s", "real_motion_s",
    "virtual_motion_s", "real_transport_s", "virtual_transport_s", "real_wait_s",
    "virtual_wait_s", "real_status", "virtual_status",
};
static const char *const ALARM_COLUMNS[] = {
    "pair", "n", "t", "type", "side", "id", "detail", "suppressed",
};
static const char *const LOG_COLUMNS[] = {
    "pair", "n", "t", "kind", "side", "id", "op", "rotation_rad", "displacement_m", "status",
    "source_t", "seq", "nu", "tau", "pose", "state", "probe", "detail",
};
static const char *const CHANGE_COLUMNS[] = {
    "pair", "n", "t", "action", "by", "version", "detail", "code_version", "set", "fit", "checks",
};
/* clang-format on */

const struct record_table record_entries = {"entries", ENTRY_COLUMNS, COUNT(ENTRY_COLUMNS)};
const struct record_table record_alarms = {"alarms", ALARM_COLUMNS, COUNT(ALARM_COLUMNS)};
const struct record_table record_log = {"log", LOG_COLUMNS, COUNT(LOG_COLUMNS)};
const struct record_table record_changes = {"changes", CHANGE_COLUMNS, COUNT(CHANGE_COLUMNS)};
