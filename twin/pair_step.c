/* twin/pair_step.c - applies one event or one deadline to all parts of a pair. */
#include "twin/lab.h"

static int64_t earliest_deadline(const struct pair_parts *x)
{
    const int64_t fit_us = x->dynamics ? pair_dynamics_deadline(x->dynamics) : LAB_TIME_MAX;
    const int64_t control_us =
        x->following ? pair_following_deadline(x->following) : LAB_TIME_MAX;
    const int64_t mission_us = x->missions ? pair_missions_deadline(x->missions) : LAB_TIME_MAX;
    const int64_t first_us = fit_us < control_us ? fit_us : control_us;
    return mission_us < first_us ? mission_us : first_us;
}

static void learn_parameters(const struct pair_parts *x, const struct pair_run *run)
{
    if (x->following) {
        pair_following_learn(x->following, run->p->following, x->dynamics);
    }
}

static void route_changes(const struct pair_parts *x, const struct pair_run *run)
{
    const enum side side = run->event->side;
    if (x->dynamics && (run->changes->restarted || run->changes->clock_set)) {
        pair_dynamics_restarted(x->dynamics, side);
    }
    if (x->following && run->changes->restarted) {
        pair_following_restarted(x->following, side);
    }
}

static void route_telemetry(const struct pair_parts *x, const struct pair_run *run)
{
    if (x->dynamics) {
        pair_dynamics_sample(x->dynamics, run);
    }
    if (x->following) {
        pair_following_sample(x->following, run);
    }
}

static void request_fit(const struct pair_parts *x, const struct pair_run *run)
{
    const char *why = x->dynamics ? pair_dynamics_request(x->dynamics, run)
                                  : "the dynamics of this pair are not followed";
    if (why) {
        pair_decline(run, why);
    }
}

static void request_following(const struct pair_parts *x, const struct pair_run *run)
{
    if (x->following) {
        pair_following_request(x->following, run, x->dynamics);
    } else {
        pair_alarm(run, ALARM_FOLLOWING_UNCONFIGURED, SIDE_COUNT, "",
                   "asked to follow, but the lab file says nothing of following");
    }
}

static void route_request(const struct pair_parts *x, const struct pair_run *run)
{
    const enum request_action action = run->event->request.action;
    bool dynamics = false;
    if (!pair_request_model(run, &dynamics)) {
        return;
    }
    if (action == REQUEST_FOLLOWING) {
        request_following(x, run);
    } else if (action == REQUEST_IDENTIFY || (action == REQUEST_PROPOSE && dynamics)) {
        request_fit(x, run);
    } else if (action == REQUEST_PROPOSE) {
        pair_propose(run);
    } else if (pair_change_set(run, dynamics) && dynamics) {
        pair_dynamics_apply_set(x->dynamics);
    }
}

void pair_step(const struct pair_parts *x, const struct pair_params *p,
               const struct event *event, const struct effects *fx)
{
    struct pair_changes changes = {0};
    const struct pair_run run = {x->pair,  p,
                                 fx,       event->t_us,
                                 event,    x->dynamics ? &x->dynamics->sets : NULL,
                                 &changes, x->deliveries, x->map};
    if (x->map) {
        live_map_apply(x->map, &p->live_map, event);
    }
    pair_apply(&run);
    route_changes(x, &run);
    if (event->kind == EVENT_TELEMETRY) {
        route_telemetry(x, &run);
        return; /* samples are frequent and change only their own deadline */
    }
    if (event->kind == EVENT_REQUEST) {
        route_request(x, &run);
        learn_parameters(x, &run);
    } else if (event->kind == EVENT_FIT) {
        if (x->dynamics) {
            pair_dynamics_fitted(x->dynamics, &run);
        }
        learn_parameters(x, &run);
    } else if (event->kind == EVENT_ACK && x->following) {
        pair_following_acknowledged(x->following, &run, x->dynamics);
    }
    pair_publish_eta(&run);
    pair_update_deadline(&run, earliest_deadline(x));
}

bool pair_answer_known(const struct pair_parts *x, const struct pair_params *p,
                       const struct event *event, const struct effects *fx)
{
    struct pair_changes changes = {0};
    const struct pair_run run = {x->pair, p,    fx,       event->t_us,
                                 event,   NULL, &changes, x->deliveries, x->map};
    return x->deliveries && pair_link_answer_known(&run);
}

void pair_fire(const struct pair_parts *x, const struct pair_params *p,
               const struct effects *fx)
{
    const struct pair_run run = {x->pair, p,
                                 fx,      x->pair->deadline_us,
                                 NULL,    x->dynamics ? &x->dynamics->sets : NULL,
                                 NULL,    x->deliveries, x->map};
    x->pair->version++;
    pair_fire_probes(&run);
    if (x->dynamics) {
        pair_dynamics_fire(x->dynamics, &run);
    }
    if (x->following) {
        pair_following_fire(x->following, &run);
    }
    pair_correct_fire(&run);
    pair_fire_timeouts(&run);
    pair_publish_eta(&run);
    pair_update_deadline(&run, earliest_deadline(x));
}

void pair_find_deadline(const struct pair_parts *x, const struct pair_params *p)
{
    const struct pair_run run = {.pair = x->pair, .p = p};
    pair_update_deadline(&run, earliest_deadline(x));
}

void pair_refuse_owned(const struct pair_parts *x, const struct pair_params *p,
                       const struct event *event, const char *why, const struct effects *fx)
{
    const struct pair_run run = {
        .pair = x->pair, .p = p, .fx = fx, .t_us = event->t_us, .event = event};
    pair_link_refuse(&run, event->command.id, fault_name(FAULT_OWNED), why);
}
