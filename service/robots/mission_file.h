/* service/robots/mission_file.h - a mission: paths, sweeps and goals for one pair, from YAML.
 *
 * docs/model/missions.md section 5. All faults of the file, and of the map it names, are
 * reported at once, with line and column.
 */
#ifndef SERVICE_ROBOTS_MISSION_FILE_H
#define SERVICE_ROBOTS_MISSION_FILE_H

#include "config/err_list.h"
#include "logger/message/event.h"
#include "twin/robots/mission.h"

enum { MISSION_NAME_MAX = 64 };

struct mission_file {
    char name[MISSION_NAME_MAX];
    char pair[EVENT_PAIR_MAX]; /* "": not given */
    struct mission_plan plan;
};

/* Read and check a mission; the map's path counts from the folder of the mission file.
 *
 * Returns STATUS_E_IO, STATUS_E_PARSE or STATUS_E_NOMEM with at least one fault in *errors;
 * *out is written only on STATUS_OK. Cold path: allocates. */
MUST_USE enum status mission_file_load(const char *path, struct mission_file *out,
                                       struct err_list *errors);

/* The same from memory; name stands for the path in the faults and for the folder. */
MUST_USE enum status mission_file_parse(const char *text, size_t bytes, const char *name,
                                        struct mission_file *out, struct err_list *errors);

#endif
