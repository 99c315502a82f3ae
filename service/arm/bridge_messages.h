/* service/arm/bridge_messages.h - writes the payloads of the bridge to a real arm. No I/O. */
#ifndef SERVICE_ARM_BRIDGE_MESSAGES_H
#define SERVICE_ARM_BRIDGE_MESSAGES_H

#include "logger/message/json_write.h"
#include "service/arm/drive.h"
#include "service/wire/rtde.h"
#include "twin/arm/arm_watch.h"

/* A move of the real arm, on its way to the lab. */
struct bridge_move {
    char id[48];
    struct arm_watched seen;
    int64_t end_us;   /* end of the move, monotonic clock */
    double rest_q[6]; /* measured after the end, while the arm comes to rest */
    double rest_pose[6];
};

void bridge_write_telemetry(struct json_writer *w, const struct rtde_outputs *v,
                            bool has_target_qdd, bool paused, int64_t seq, const char *boot);
/* reason: "" when online. */
void bridge_write_connection(struct json_writer *w, bool online, const char *boot,
                             const char *reason);
/* Write the command that makes another arm repeat the move; t_us: lab time. */
void bridge_write_command(struct json_writer *w, const struct bridge_move *m, int64_t t_us);
/* held_us: deliberate delay since the move's end; 0: none. */
void bridge_write_reply(struct json_writer *w, const struct bridge_move *m, int64_t held_us);
/* The reply to a command of the lab, at the place where the arm is now. */
void bridge_write_drive_reply(struct json_writer *w, const struct drive_reply *r,
                              const struct rtde_outputs *now);

#endif
