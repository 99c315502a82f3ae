/* service/sim/mission/mission_file.h - reads a mission on wheels from YAML: paths, sweeps and
 * goals for one pair; and what the files of all kinds of missions share.
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

/* The kinds of robots that carry missions out. */
#define MISSION_FILE_CHOICES "wheels|vessel|arm"
enum mission_file_kind { MISSION_FILE_WHEELS, MISSION_FILE_VESSEL, MISSION_FILE_ARM };

struct mission_file {
    uint8_t kind;
    char name[MISSION_NAME_MAX];
    char pair[EVENT_PAIR_MAX]; /* "": not given */
    struct mission_plan plan;
};

/* Fills a struct mission_file; the map's path is relative to the folder of the mission file. */
extern const struct option_file mission_file;

/* For the files of other kinds: reads the key `map`, the path of a file or the map itself, and
 * checks the key `pair`. */
void mission_read_map(const struct option_reading *reading, const char *ros_advice,
                      struct world *map);
void mission_check_pair(const struct option_reading *reading, const char *pair);

#endif
