/* logger/codec/vda5050_motion.c - the time that a vehicle moves between two nodes: without
 * actions, waits and pauses, and with a turn where the lab file says so.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "logger/codec/vda5050_parts.h"

#include "logger/codec/vda5050_thresholds.def"

/* ---- actions at nodes and edges ---- */

bool vda_next_action(const struct vda_run *run, struct json_scan *list,
                     struct vda_action_state *reported)
{
    static const struct vda_member action_members[] = {
        {"actionId", VDA_TEXT, offsetof(struct vda_action_state, id)},
        {"actionType", VDA_TEXT, offsetof(struct vda_action_state, type)},
        {"actionStatus", VDA_TEXT, offsetof(struct vda_action_state, status)},
    };
    return vda_next(list) &&
           vda_read(run, list, action_members, COUNT(action_members), reported);
}

/* Has the action ended, by this state or an earlier one? */
static bool has_ended(const struct vda_run *run, const struct vda_state *st,
                      const struct vda_action *a)
{
    struct json_scan list = st->actions;
    struct vda_action_state reported;
    bool ended = strcmp(a->status, "FINISHED") == 0 || strcmp(a->status, "FAILED") == 0;
    for (bool any = vda_enter(&list); any && vda_next_action(run, &list, &reported);) {
        ended = ended || (vda_hash(&reported.id) == a->action && reported.status.at &&
                          (json_text_is(&reported.status, "FINISHED") ||
                           json_text_is(&reported.status, "FAILED")));
    }
    return ended;
}

/* Must the vehicle still stand at this node for an action? */
static bool is_blocked(const struct vda_run *run, const struct vda_state *st, int64_t node)
{
    bool blocked = false;
    for (size_t i = 0; i < VDA_ACTIONS_MAX && !blocked; i++) {
        const struct vda_action *a = &run->v->action[i];
        blocked = a->blocks && a->at == node && !has_ended(run, st, a);
    }
    return blocked;
}

/* A node's action that was at work in an earlier state, or has ended in this one, began before
 * this state: so the vehicle had arrived before. */
bool vda_has_stop(const struct vda_run *run, const struct vda_state *st, int64_t edge)
{
    static const char *const before[] = {"", "WAITING", "INITIALIZING"};
    bool stop = false;
    for (size_t i = 0; i < VDA_ACTIONS_MAX && !stop; i++) {
        const struct vda_action *a = &run->v->action[i];
        bool begun = true;
        for (size_t k = 0; k < COUNT(before); k++) {
            begun = begun && strcmp(a->status, before[k]) != 0;
        }
        stop = (a->blocks && a->at == edge) ||
               (a->at == edge + 1 && (begun || (a->blocks && has_ended(run, st, a))));
    }
    return stop;
}

/* ---- departures, stops and pauses ---- */

/* Is the vehicle still where it was when it said that it drives? */
static bool is_still(const struct vda_vehicle *v, const struct vda_state *st)
{
    return st->placed &&
           hypot(st->at.x_m - v->leave_x_m, st->at.y_m - v->leave_y_m) < STILL_M &&
           fabs(remainder(st->at.theta_rad - v->leave_rad, 2.0 * acos(-1.0))) < STILL_RAD;
}

static void record_departure(struct vda_vehicle *v, const struct vda_state *st)
{
    v->departed_us = st->stamp_us;
    v->leave_x_m = st->placed ? st->at.x_m : nan("");
    v->leave_y_m = st->placed ? st->at.y_m : nan("");
    v->leave_rad = st->placed ? st->at.theta_rad : nan("");
}

/* A vehicle may say `driving` when it arrives, and then stand for an action or a release. */
void vda_update_motion(const struct vda_run *run, const struct vda_state *st, bool gap)
{
    struct vda_vehicle *v = run->v;
    const bool paused = st->paused == 1;
    const bool moving = st->driving == 1 && !paused;
    if (v->last < 0) {
        return;
    }
    v->vague = v->vague || gap; /* a departure or a pause may have been lost */
    if (v->departed_us == LAB_TIME_NONE) {
        if (moving && !is_blocked(run, st, v->last)) {
            record_departure(v, st);
        }
    } else if (paused && v->stopped_us == LAB_TIME_NONE) {
        v->stopped_us = st->stamp_us;
    } else if (moving) {
        v->paused_us += v->stopped_us != LAB_TIME_NONE ? st->stamp_us - v->stopped_us : 0;
        v->stopped_us = LAB_TIME_NONE;
        v->vague = v->vague || v->stood;
    } else if (!paused && v->stopped_us == LAB_TIME_NONE) {
        v->stood = !is_still(v, st);
        v->departed_us = v->stood ? v->departed_us : LAB_TIME_NONE;
    }
}

/* ---- does it turn as the lab file says? ---- */

/* Nothing turns on the spot faster than this. A faster heading change is a jump and proves
 * nothing. */
static const double TURN_RADPS = 10.0;

/* Did the vehicle come so far that no time was left for the turn, even at its highest reported
 * speed? */
static bool had_no_time(const struct vda_run *run, double moved_m, double since_s)
{
    const struct vda_vehicle *v = run->v;
    const struct vda_step *edge = vda_find_step(run->v, v->last + 1, true);
    const double turn_rad = edge ? fabs(vda_turn_of(run, edge)) : 0.0;
    return turn_rad > 0.5 && moved_m > 0.2 && since_s < 3.0 && v->fastest_mps > 0.0 &&
           (since_s - moved_m / v->fastest_mps) * TURN_RADPS < turn_rad;
}

void vda_watch_turn(const struct vda_run *run, const struct vda_state *st)
{
    struct vda_vehicle *v = run->v;
    const double moved_m = hypot(st->at.x_m - v->leave_x_m, st->at.y_m - v->leave_y_m);
    const double turned_rad =
        fabs(remainder(st->at.theta_rad - v->leave_rad, 2.0 * acos(-1.0)));
    const bool on_spot = vda_options(run->pair->options)->turns == VDA_TURNS_ON_SPOT;
    v->fastest_mps = st->speed_mps > v->fastest_mps ? st->speed_mps : v->fastest_mps;
    if (v->departed_us == LAB_TIME_NONE || st->stamp_us <= v->departed_us || v->vague ||
        v->stopped_us != LAB_TIME_NONE || v->paused_us > 0 || v->against ||
        v->against_count == VDA_AGAINST) {
        return;
    }
    const double since_s = lab_s(st->stamp_us - v->departed_us);
    if (on_spot ? had_no_time(run, moved_m, since_s)
                : turned_rad > 0.3 && moved_m < STILL_M && since_s * TURN_RADPS >= turned_rad) {
        v->against = true;
        if (++v->against_count == VDA_AGAINST) {
            vda_contradict(run, "",
                           on_spot ? "no time is left for turns: it needs turns: none"
                                   : "it turns on the spot: it needs turns: on_spot");
        }
    }
}
