/* service/sim/mission/mission_message.h - a mission file as the message that orders it
 * (docs/protocol/mission.md).
 */
#ifndef SERVICE_SIM_MISSION_MISSION_MESSAGE_H
#define SERVICE_SIM_MISSION_MISSION_MESSAGE_H

#include "service/sim/mission/mission_file.h"
#include "twin/mission/mission_kind.h"

/* Writes it to text[size]; returns its bytes, 0: it is longer. */
size_t mission_message_write(const struct mission_file *file, const char *id, char *text,
                             size_t size);

#endif
