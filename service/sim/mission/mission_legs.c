#include "service/sim/mission/mission_legs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/options/option_file.h"
#include "service/tool/commands.h"

/* The mission's own machines command the robot. */
struct walk {
    struct mission_file file;
    struct mission mission;
    bool (*add)(void *context, double rotation_rad, double displacement_m);
    void *context;
    size_t legs;
    bool open, full;
    double pose[3];
};

static void follow_command(void *context, const struct mission_effect *effect)
{
    struct walk *walk = context;
    const struct event_command *c = &effect->command;
    if (effect->kind != MISSION_COMMAND) {
        return;
    }
    walk->open = true;
    if (fabs(c->rotation_rad) > 0.0 || fabs(c->displacement_m) > 0.0) {
        walk->legs++;
        walk->full = !walk->add(walk->context, c->rotation_rad, c->displacement_m);
    }
    walk->pose[2] += c->rotation_rad;
    walk->pose[0] += c->displacement_m * cos(walk->pose[2]);
    walk->pose[1] += c->displacement_m * sin(walk->pose[2]);
}

static void add_value(struct event_reply *reply, const char *name, double number)
{
    struct event_value *value = &reply->values[reply->value_count++];
    (void)snprintf(value->name, sizeof value->name, "%s", name);
    value->kind = VALUE_NUMBER;
    value->number = number;
}

static void walk_mission(struct walk *walk)
{
    mission_init(&walk->mission, &walk->file.plan, "legs", 0);
    memcpy(walk->pose, walk->file.plan.start, sizeof walk->pose);
    mission_start(&walk->mission, 0, follow_command, walk);
    while (walk->open && !walk->full) {
        struct event_reply reply = {.status = REPLY_DONE};
        add_value(&reply, "x_m", walk->pose[0]);
        add_value(&reply, "y_m", walk->pose[1]);
        add_value(&reply, "psi_rad", walk->pose[2]);
        memcpy(reply.id, walk->mission.id, sizeof reply.id);
        walk->open = false;
        mission_reply(&walk->mission, &reply, 0, follow_command, walk);
    }
}

static const char *find_fault(struct walk *walk)
{
    for (size_t i = 0; i < walk->file.plan.step_count; i++) {
        if (walk->file.plan.steps[i].kind != L2_STEP_PATH) {
            return "only path_m: the legs of goal_m and sweep are not known before";
        }
    }
    walk_mission(walk);
    return walk->full ? "more than 256 moves" : walk->legs == 0 ? "no moves" : NULL;
}

bool mission_legs_read(const char *command, const char *path,
                       bool (*add)(void *context, double rotation_rad, double displacement_m),
                       void *context)
{
    struct err_list errors = {0};
    struct walk *walk = calloc(1, sizeof *walk);
    const char *fault = "not enough memory";
    bool read = false;
    if (walk) {
        walk->add = add;
        walk->context = context;
        read = option_file_load(&mission_file, path, &walk->file, &errors) == STATUS_OK;
        err_list_print(&errors, stderr);
        fault = read ? find_fault(walk) : NULL;
    }
    if (fault) {
        complain("%s: %s: %s", command, path, fault);
    }
    free(walk);
    return read && !fault;
}
