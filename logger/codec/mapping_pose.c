/* logger/codec/mapping_pose.c - moves to a target: the sizes of a move are the target minus the
 * pose that the robot reported last.
 */
#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "logger/codec/mapping.h"
#include "logger/message/codec_native.h"

enum { AXES = 3 };

/* A pose with fewer axes than the present one does not replace it. */
static void set_pose(struct mapping_pose *pose, const double *axis, size_t count)
{
    if (count > 0 && (int64_t)count >= pose->count) {
        pose->count = (int64_t)count;
        memcpy(pose->axis, axis, count * sizeof *axis);
    }
}

static void update_from_reply(struct mapping_pose *pose, const struct event_reply *reply)
{
    const double axis[AXES] = {native_reply_number(reply, "x_m"),
                               native_reply_number(reply, "y_m"),
                               native_reply_number(reply, "psi_rad")};
    size_t count = 0;
    while (count < AXES && isfinite(axis[count])) {
        count++;
    }
    set_pose(pose, axis, count);
}

void mapping_pose_update(struct mapping_pose *poses, const struct event *event)
{
    if (event->side >= SIDE_COUNT) {
        return;
    }
    if (event->kind == EVENT_TELEMETRY) {
        const struct event_telemetry *t = &event->telemetry;
        set_pose(&poses[event->side], t->pose, t->pose_count < AXES ? t->pose_count : AXES);
    } else if (event->kind == EVENT_REPLY) {
        update_from_reply(&poses[event->side], &event->reply);
    }
}

const char *mapping_pose_move(const struct mapping_pose *poses, unsigned given,
                              const double target[3], double *rotation_rad,
                              double *displacement_m)
{
    enum { X = 1, Y = 2, HEADING = 4 };
    const int64_t wanted = given == X ? 1 : AXES;
    const struct mapping_pose *from = NULL;
    for (int side = 0; poses && !from && side < SIDE_COUNT; side++) {
        from = poses[side].count >= wanted ? &poses[side] : NULL;
    }
    if (given != X && given != (X | Y) && given != HEADING) {
        return "a target is x, x and y, or a heading";
    }
    if (!from) {
        return wanted == 1 ? "no robot has reported where it is yet"
                           : "no robot has reported x, y and heading yet";
    }
    const double dx = target[0] - from->axis[0];
    const double dy = target[1] - from->axis[1];
    const double distance = given == X ? dx : hypot(dx, dy);
    const bool turns = given == HEADING || (given != X && distance > 0.0);
    const double heading = given == HEADING ? target[2] : atan2(dy, dx);
    *displacement_m = given == HEADING ? 0.0 : distance;
    *rotation_rad = turns ? remainder(heading - from->axis[2], 2.0 * PI) : 0.0;
    return NULL;
}
