/* service/robots/fleet_tell.h - what the fleet says: messages that wait until their transport
 * delay is over.
 */
#ifndef SERVICE_ROBOTS_FLEET_TELL_H
#define SERVICE_ROBOTS_FLEET_TELL_H

#include "service/robots/fleet_parts.h"

MUST_USE enum status fleet_outbox_create(struct fleet *f);
void fleet_outbox_destroy(struct fleet *f);

/* Lab time at which the next message leaves; LAB_TIME_MAX: none waits. */
int64_t fleet_outbox_due_us(const struct fleet *f);
void fleet_send_due(struct fleet *f, int64_t now_us);

void fleet_tell_reply(struct fleet *f, uint32_t robot, const struct robot_reply *reply);
void fleet_tell_telemetry(struct fleet *f, uint32_t robot);
void fleet_tell_echo(struct fleet *f, uint32_t robot, const struct incoming *in,
                     int64_t now_us);
/* Publish the machines when they changed and the last time is long enough ago. */
void fleet_tell_machines(struct fleet *f, uint32_t robot, int64_t now_us);
void fleet_tell_presence(struct fleet *f, const struct fleet_robot *r, bool online);
void fleet_write_presence(const struct fleet_robot *r, bool online, char text[128]);

/* Apply a parameter set and say what was applied and what refused. */
void fleet_apply_parameters(struct fleet *f, uint32_t robot, const struct incoming *in,
                            int64_t now_us);

#endif
