#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/pair/pair_parts.h"

/* Fewer moves say nothing about held-out error. */
enum { PROPOSE_MOVES_MIN = 20 };

void pair_emit_change(const struct pair_run *run, struct parameter_change *change)
{
    change->n = ++run->pair->changes;
    change->t_us = run->t_us;
    const struct effect effect = {.kind = EFFECT_CHANGE,
                                  .pair = run->pair->index,
                                  .t_us = run->t_us,
                                  .side = SIDE_COUNT,
                                  .change = change};
    run->fx->emit(run->fx->context, &effect);
}

static void decline(const struct pair_run *run, const char *by, uint32_t version,
                    const char *why)
{
    pair_emit_change(
        run, &(struct parameter_change){
                 .action = PARAMETERS_DECLINED, .by = by, .version = version, .detail = why});
}

bool pair_write_parameters(struct json_writer *w, const struct pair *pair,
                           const struct pair_dynamics *d)
{
    const struct parameter_set *travel = parameters_find(&pair->parameters, PARAMETERS_ACTIVE);
    const struct parameter_set *dynamics =
        d ? parameters_find(&d->sets.book, PARAMETERS_ACTIVE) : NULL;
    struct parameter_terms of_travel = {0};
    struct parameter_terms of_dynamics = {0};
    if (travel) {
        of_travel = parameters_travel_terms(travel);
    }
    if (dynamics) {
        of_dynamics = pair_dynamics_terms(d, dynamics);
        /* Constant efforts are the lab's, not the simulator's. */
        of_dynamics.count = of_dynamics.model->parameter_count;
    }
    if (dynamics && (d->sets_last || !travel)) {
        parameters_write_payload(w, dynamics, &of_dynamics, travel ? &of_travel : NULL);
    } else {
        parameters_write_payload(w, travel, &of_travel, dynamics ? &of_dynamics : NULL);
    }
    return pair->parameters.promotions > 0 || (d && d->sets.book.promotions > 0);
}

void pair_send_parameters(const struct pair_run *run)
{
    char text[PAIR_PARAMETERS_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    (void)pair_write_parameters(&w, run->pair, run->dynamics);
    if (json_write_end(&w)) {
        const struct effect effect = {.kind = EFFECT_PARAMETERS,
                                      .pair = run->pair->index,
                                      .t_us = run->t_us,
                                      .side = SIDE_VIRTUAL,
                                      .payload = {text, w.used}};
        run->fx->emit(run->fx->context, &effect);
    }
}

/* The simulator moves otherwise from now on: what was learnt about it is past. */
static void forget_virtual(const struct pair_run *run)
{
    struct pair *pair = run->pair;
    for (uint32_t k = 0; k < pair->window_count; k++) {
        pair->window[(pair->window_first + k) % run->p->window].lap_s[SIDE_VIRTUAL] = nanf("");
    }
    travel_kalman_reset(&pair->side[SIDE_VIRTUAL].kalman, &run->p->kalman);
}

static void put_in_force(const struct pair_run *run, enum parameter_action action,
                         const char *by, const struct parameter_set *set)
{
    pair_emit_change(
        run, &(struct parameter_change){.action = action,
                                        .by = by,
                                        .detail = set ? "" : "the simulator's own parameters",
                                        .version = set ? set->version : 0,
                                        .set = set});
    if (run->dynamics) {
        run->dynamics->sets_last = false;
    }
    pair_send_parameters(run);
    forget_virtual(run);
}

/* The real robot's moves of the window, oldest first. */
static size_t gather(const struct pair_run *run, struct travel_move moves[PAIR_WINDOW_MAX],
                     struct parameter_data *data)
{
    const struct pair *pair = run->pair;
    *data = (struct parameter_data){moves, 0, LAB_TIME_NONE, LAB_TIME_NONE};
    data->n = pair_moves(pair, run->p, SIDE_REAL, moves);
    for (uint32_t k = 0; k < pair->window_count; k++) {
        const struct pair_move *row = &pair->window[(pair->window_first + k) % run->p->window];
        if (!isnan(row->lap_s[SIDE_REAL])) {
            data->since_us = data->since_us == LAB_TIME_NONE ? row->t_us : data->since_us;
            data->until_us = row->t_us;
        }
    }
    return data->n;
}

/* Returns the candidate, or NULL after saying why there is none. */
static const struct parameter_set *propose(const struct pair_run *run, const char *by)
{
    struct travel_move moves[PAIR_WINDOW_MAX];
    struct parameter_data data;
    struct travel_fit fit;
    struct parameter_checks checks;
    if (gather(run, moves, &data) < PROPOSE_MOVES_MIN) {
        char why[96];
        (void)snprintf(why, sizeof why, "the real robot made %zu usable moves, %d are needed",
                       data.n, PROPOSE_MOVES_MIN);
        decline(run, by, 0, why);
        return NULL;
    }
    if (parameters_examine(&data, run->p->method, &fit, &checks) != STATUS_OK) {
        decline(run, by, 0, "the fit could not be computed");
        return NULL;
    }
    struct parameter_change change = {.by = by, .fit = &fit, .checks = &checks, .detail = ""};
    if (checks.verdict == ESTIMATE_FAIL) {
        change.action = PARAMETERS_REJECTED;
        for (size_t k = 0; k < PARAMETERS_CHECKS; k++) {
            if (checks.check[k].verdict == ESTIMATE_FAIL) {
                change.detail = checks.check[k].detail;
                break;
            }
        }
        pair_emit_change(run, &change);
        return NULL;
    }
    change.action = PARAMETERS_PROPOSED;
    change.set = parameters_propose(&run->pair->parameters, &data, &fit, &checks, run->t_us);
    change.version = change.set->version;
    pair_emit_change(run, &change);
    return change.set;
}

static void promote(const struct pair_run *run, const char *by, bool dynamics)
{
    const uint32_t version = run->event->request.version;
    const char *why = "";
    const struct parameter_set *set = parameters_promote(
        dynamics ? &run->dynamics->sets.book : &run->pair->parameters, version, &why);
    if (!set) {
        decline(run, by, version, why);
    } else if (dynamics) {
        pair_dynamics_put_in_force(run, PARAMETERS_PROMOTED, by, set);
    } else {
        put_in_force(run, PARAMETERS_PROMOTED, by, set);
    }
}

static void roll_back(const struct pair_run *run, const char *by, bool dynamics)
{
    const struct parameter_set *set = NULL;
    const char *why = "";
    if (!parameters_rollback(dynamics ? &run->dynamics->sets.book : &run->pair->parameters,
                             &set, &why)) {
        decline(run, by, 0, why);
    } else if (dynamics) {
        pair_dynamics_put_in_force(run, PARAMETERS_ROLLED_BACK, by, set);
    } else {
        put_in_force(run, PARAMETERS_ROLLED_BACK, by, set);
    }
}

static void identify(const struct pair_run *run, const char *by)
{
    const char *why = pair_dynamics_request(run, run->event->request.side, by);
    if (why) {
        decline(run, by, 0, why);
    }
}

void pair_request(const struct pair_run *run)
{
    const struct event_request *r = &run->event->request;
    const char *by = r->by[0] ? r->by : "http";
    const bool dynamics = pair_dynamics_is_meant(run);
    if (r->model[0] && !dynamics && strcmp(r->model, "travel_time") != 0) {
        decline(run, by, r->version, "no sets of this model are kept for the pair");
        return;
    }
    switch (r->action) {
    case REQUEST_PROPOSE:
        if (dynamics) {
            identify(run, by);
        } else {
            (void)propose(run, by);
        }
        break;
    case REQUEST_PROMOTE:
        promote(run, by, dynamics);
        break;
    case REQUEST_ROLLBACK:
        roll_back(run, by, dynamics);
        break;
    case REQUEST_FOLLOWING:
        pair_following_request(run);
        break;
    case REQUEST_IDENTIFY:
        identify(run, by);
        break;
    case REQUEST_ACTION_COUNT:
        break;
    }
}

void pair_acknowledge(const struct pair_run *run)
{
    const struct event_ack *a = &run->event->ack;
    char detail[PARAMETERS_DETAIL_MAX];
    if (a->refused > 0) {
        pair_alarm(run, ALARM_PARAMETERS, SIDE_VIRTUAL, "",
                   "the simulator refused %u of version %lld's parameters: %s", a->refused,
                   (long long)a->version, a->reason);
        (void)snprintf(detail, sizeof detail, "%u applied, %u refused: %s", a->applied,
                       a->refused, a->reason);
    } else {
        (void)snprintf(detail, sizeof detail, "%u applied", a->applied);
    }
    pair_emit_change(run, &(struct parameter_change){.action = PARAMETERS_ACKNOWLEDGED,
                                                     .by = "virtual",
                                                     .version = (uint32_t)a->version,
                                                     .detail = detail});
}

void pair_consider_parameters(const struct pair_run *run)
{
    if (run->p->promote != PAIR_PROMOTE_AUTO ||
        ++run->pair->since_proposed < run->p->propose_every ||
        run->pair->side[SIDE_REAL].moves < PROPOSE_MOVES_MIN) {
        return;
    }
    run->pair->since_proposed = 0;
    const struct parameter_set *set = propose(run, "auto");
    const char *why = "";
    if (set && set->verdict == (uint8_t)ESTIMATE_PASS &&
        parameters_is_news(&run->pair->parameters, set)) {
        set = parameters_promote(&run->pair->parameters, set->version, &why);
        put_in_force(run, PARAMETERS_PROMOTED, "auto", set);
    }
}
