/* service/sim/mission/mission_legs.h - the commands of a mission before it is driven: those to
 * a robot that obeys exactly.
 */
#ifndef SERVICE_SIM_MISSION_MISSION_LEGS_H
#define SERVICE_SIM_MISSION_MISSION_LEGS_H

#include "service/sim/mission/mission_file.h"

/* Read the mission file and pass each leg that moves to add, which returns false for one too
 * many. False after a message on stderr: also for steps whose legs are not known before. */
bool mission_legs_read(const char *command, const char *path,
                       bool (*add)(void *context, double rotation_rad, double displacement_m),
                       void *context);

#endif
