/* service/sim/mission/moves_file.h - reads a mission of an arm from YAML: moves, waits and
 * outputs; writes it as a message and as a plan.
 *
 * docs/model/missions.md. All faults of the file are reported at once, with line and column;
 * then the first step that the arm could not carry out.
 */
#ifndef SERVICE_SIM_MISSION_MOVES_FILE_H
#define SERVICE_SIM_MISSION_MOVES_FILE_H

#include "service/sim/mission/mission_file.h"
#include "twin/mission/arm_mission.h"

struct moves_file {
    char name[MISSION_NAME_MAX];
    char pair[EVENT_PAIR_MAX]; /* "": not given */
    uint8_t kind, arm;
    double floor_m, clearance_m;
    struct arm_mission_plan plan;
    double planned_s[ARM_STEPS_MAX]; /* from start_q_rad; NaN: not known */
};

extern const struct option_file moves_file;

/* Writes the message that orders it (docs/protocol/mission.md) to text[size]; returns its
 * bytes, 0: it is longer. */
size_t moves_message_write(const struct moves_file *file, const char *id, char *text,
                           size_t size);

/* Prints the steps with their durations, as JSON or a table. */
void moves_plan_print(const struct moves_file *file, bool json);

#endif
