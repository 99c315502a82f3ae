/* service/sim/mission/mission_dispatch.h - runs a mission file by the row of its kind.
 */
#ifndef SERVICE_SIM_MISSION_MISSION_DISPATCH_H
#define SERVICE_SIM_MISSION_MISSION_DISPATCH_H

#include "service/sim/mission/mission_files.h"

/* Finds the kind that a mission file names; wheels by default. Faults of the file are reported
 * when it is read. */
enum mission_file_kind mission_file_kind_of(const char *path);

/* Runs a mission of a kind with a row; returns the exit status. */
int mission_file_run(const struct mission_file_row *row, const struct mission_arguments *a);

#endif
