/* service/sim/mission/mission_file.h - reads a mission from YAML: paths, sweeps and goals for
 * one pair.
 *
 * docs/model/missions.md. All faults of the file, and of the map that it names, are reported at
 * once, with line and column.
 */
#ifndef SERVICE_SIM_MISSION_MISSION_FILE_H
#define SERVICE_SIM_MISSION_MISSION_FILE_H

#include "config/options/option_file.h"
#include "logger/message/event.h"
#include "twin/sim/robot/mission.h"

enum { MISSION_NAME_MAX = 64 };

struct mission_file {
    char name[MISSION_NAME_MAX];
    char pair[EVENT_PAIR_MAX]; /* "": not given */
    struct mission_plan plan;
};

/* Fills a struct mission_file; the map's path is relative to the folder of the mission file. */
extern const struct option_file mission_file;

#endif
