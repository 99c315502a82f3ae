#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/pair_parts.h"

/* Fewer moves say nothing about held-out error. */
enum { PROPOSE_MOVES_MIN = 20 };

static void emit_change(const struct pair_run *run, struct parameter_change *change)
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
    emit_change(
        run, &(struct parameter_change){
                 .action = PARAMETERS_DECLINED, .by = by, .version = version, .detail = why});
}

static void send_parameters(const struct pair_run *run, const struct parameter_set *set)
{
    char text[512];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    parameters_write_payload(&w, set);
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
    emit_change(
        run, &(struct parameter_change){.action = action,
                                        .by = by,
                                        .detail = set ? "" : "the simulator's own parameters",
                                        .version = set ? set->version : 0,
                                        .set = set});
    send_parameters(run, set);
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
    if (checks.verdict == TRAVEL_FAIL) {
        change.action = PARAMETERS_REJECTED;
        for (size_t k = 0; k < PARAMETERS_CHECKS; k++) {
            if (checks.check[k].verdict == TRAVEL_FAIL) {
                change.detail = checks.check[k].detail;
                break;
            }
        }
        emit_change(run, &change);
        return NULL;
    }
    change.action = PARAMETERS_PROPOSED;
    change.set = parameters_propose(&run->pair->parameters, &data, &fit, &checks, run->t_us);
    change.version = change.set->version;
    emit_change(run, &change);
    return change.set;
}

void pair_request(const struct pair_run *run)
{
    const struct event_request *r = &run->event->request;
    const char *by = r->by[0] ? r->by : "http";
    const struct parameter_set *set = NULL;
    const char *why = "";
    switch (r->action) {
    case REQUEST_PROPOSE:
        (void)propose(run, by);
        break;
    case REQUEST_PROMOTE:
        set = parameters_promote(&run->pair->parameters, r->version, &why);
        if (set) {
            put_in_force(run, PARAMETERS_PROMOTED, by, set);
        } else {
            decline(run, by, r->version, why);
        }
        break;
    case REQUEST_ROLLBACK:
        if (parameters_rollback(&run->pair->parameters, &set, &why)) {
            put_in_force(run, PARAMETERS_ROLLED_BACK, by, set);
        } else {
            decline(run, by, 0, why);
        }
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
    emit_change(run, &(struct parameter_change){.action = PARAMETERS_ACKNOWLEDGED,
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
    if (set && set->verdict == (uint8_t)TRAVEL_PASS &&
        parameters_is_news(&run->pair->parameters, set)) {
        set = parameters_promote(&run->pair->parameters, set->version, &why);
        put_in_force(run, PARAMETERS_PROMOTED, "auto", set);
    }
}
