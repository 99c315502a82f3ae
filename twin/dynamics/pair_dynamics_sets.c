#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/dynamics/pair_dynamics_parts.h"

/* What a simulator that was just told its parameters is believed to be off by. */
static const double TOLD_SE_RATIO = 0.02;

struct parameter_terms pair_dynamics_terms(const struct pair_dynamics *d,
                                           const struct parameter_set *set)
{
    const size_t place = (size_t)(set - d->sets.book.set);
    return (struct parameter_terms){pair_dynamics_model(d), d->side[SIDE_REAL].filter.p,
                                    d->sets.value[place], d->sets.se[place]};
}

/* ---- from a fit ---------------------------------------------------------------------------
 */

static const struct parameter_set *add_set(const struct pair_run *run)
{
    struct pair_dynamics *d = run->dynamics;
    struct dynamics_side *side = &d->side[SIDE_REAL];
    const struct dynamics_result *r = &side->result;
    /* Versions are those of the pair, whatever the model. */
    const uint32_t version = ++run->pair->parameters.last_version;
    struct parameter_set *set = parameters_add(&d->sets.book, version, run->t_us);
    const size_t place = (size_t)(set - d->sets.book.set);
    set->method = (uint8_t)r->fit.method;
    set->verdict = r->verdict;
    set->n = (uint16_t)(r->card.used < UINT16_MAX ? r->card.used : UINT16_MAX);
    /* The window's stamps are the robot's; what was frozen ended when the fit began. */
    set->until_us = side->began_us;
    set->since_us = side->began_us - (r->until_us - r->since_us);
    set->data_hash = r->data_hash;
    for (size_t j = 0; j < side->filter.p; j++) {
        d->sets.value[place][j] = r->fit.estimate.value[j];
        d->sets.se[place][j] = sqrt(r->fit.estimate.covariance[j][j]);
    }
    side->result_version = version;
    return set;
}

static const char *first_failure(const struct parameter_checks *checks)
{
    for (size_t k = 0; k < PARAMETERS_CHECKS; k++) {
        if (checks->check[k].verdict == ESTIMATE_FAIL) {
            return checks->check[k].detail;
        }
    }
    return "";
}

static bool is_news(const struct pair_dynamics *d, const struct parameter_set *set)
{
    const struct parameter_set *active = parameters_find(&d->sets.book, PARAMETERS_ACTIVE);
    if (!active) {
        return true;
    }
    const struct parameter_terms now = pair_dynamics_terms(d, set);
    const struct parameter_terms before = pair_dynamics_terms(d, active);
    return parameters_differ(&now, &before);
}

void pair_dynamics_propose(const struct pair_run *run, const char *by)
{
    struct pair_dynamics *d = run->dynamics;
    const struct dynamics_result *r = &d->side[SIDE_REAL].result;
    struct parameter_checks checks;
    struct parameter_terms terms = {.model = pair_dynamics_model(d)};
    struct parameter_change change = {
        .by = by, .detail = "", .checks = &checks, .terms = &terms, .dynamics = &r->fit};
    dynamics_result_checks(r, &checks);
    if (r->verdict == (uint8_t)ESTIMATE_FAIL) {
        change.action = PARAMETERS_REJECTED;
        change.detail = first_failure(&checks);
        pair_emit_change(run, &change);
        return;
    }
    const struct parameter_set *set = add_set(run);
    terms = pair_dynamics_terms(d, set);
    change.action = PARAMETERS_PROPOSED;
    change.set = set;
    change.version = set->version;
    pair_emit_change(run, &change);
    if (run->p->dynamics.promote == PAIR_PROMOTE_AUTO && r->verdict == (uint8_t)ESTIMATE_PASS &&
        is_news(d, set)) {
        const char *why = "";
        set = parameters_promote(&d->sets.book, set->version, &why);
        pair_dynamics_put_in_force(run, PARAMETERS_PROMOTED, "auto", set);
    }
}

/* ---- in force -----------------------------------------------------------------------------
 */

/* The simulator moves otherwise from now on, and the real robot is held against the set. */
static void take_over(const struct pair_run *run, const struct parameter_terms *terms)
{
    struct pair_dynamics *d = run->dynamics;
    struct dynamics_side *real = &d->side[SIDE_REAL];
    struct dynamics_side *virtual = &d->side[SIDE_VIRTUAL];
    double se[DYNAMICS_P_MAX];
    if (virtual->followed) {
        pair_dynamics_cut(virtual);
        virtual->filter.running = false;
    }
    if (!terms) {
        return;
    }
    if (real->followed && real->filter.running) {
        online_filter_refer(&real->filter, terms->value, terms->se);
    }
    for (size_t j = 0; j < terms->count; j++) {
        se[j] = TOLD_SE_RATIO * fabs(terms->value[j]);
    }
    if (virtual->followed && virtual->fitted) {
        (void)pair_dynamics_begin(run, SIDE_VIRTUAL, terms->value, se);
    }
}

void pair_dynamics_put_in_force(const struct pair_run *run, enum parameter_action action,
                                const char *by, const struct parameter_set *set)
{
    struct pair_dynamics *d = run->dynamics;
    struct parameter_terms terms = {.model = pair_dynamics_model(d)};
    if (set) {
        terms = pair_dynamics_terms(d, set);
    }
    d->sets_last = true;
    d->version++;
    pair_emit_change(
        run, &(struct parameter_change){.action = action,
                                        .by = by,
                                        .detail = set ? "" : "the simulator's own parameters",
                                        .version = set ? set->version : 0,
                                        .set = set,
                                        .terms = &terms});
    pair_send_parameters(run);
    take_over(run, set ? &terms : NULL);
}

/* ---- wishes -------------------------------------------------------------------------------
 */

static bool has_version(const struct parameter_book *book, uint32_t version)
{
    for (size_t k = 0; k < PARAMETERS_KEPT; k++) {
        if (book->set[k].version == version) {
            return true;
        }
    }
    return false;
}

bool pair_dynamics_is_meant(const struct pair_run *run)
{
    const struct event_request *r = &run->event->request;
    const struct pair_dynamics *d = run->dynamics;
    if (!d) {
        return false;
    }
    if (r->model[0]) {
        return strcmp(r->model, pair_dynamics_model(d)->name) == 0;
    }
    const struct parameter_set *mine = parameters_find(&d->sets.book, PARAMETERS_CANDIDATE);
    const struct parameter_set *others =
        parameters_find(&run->pair->parameters, PARAMETERS_CANDIDATE);
    switch (r->action) {
    case REQUEST_PROMOTE:
        return r->version > 0 ? has_version(&d->sets.book, r->version)
                              : mine && (!others || mine->version > others->version);
    case REQUEST_ROLLBACK:
        return d->sets_last;
    case REQUEST_PROPOSE:
    case REQUEST_IDENTIFY:
    case REQUEST_FOLLOWING:
    case REQUEST_ACTION_COUNT:
        break;
    }
    return false;
}
