/* twin/pair/pair_parameters.c - parameter sets of travel times: proposes, promotes, rolls back
 * and judges them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/pair/pair_run.h"
#include "twin/pair/pair_thresholds.def"
#include "twin/pair/parameter_laps.h"

void pair_emit_change(const struct pair_run *run, struct parameter_change *change)
{
    change->n = ++run->pair->changes + run->pair->counts.numbers_skipped;
    change->t_us = run->t_us;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        change->robot_version[s] = pair_version_at(run->pair, run->p, s, run->t_us);
    }
    pair_emit(run,
              (struct effect){.kind = EFFECT_CHANGE, .side = SIDE_COUNT, .change = change});
}

static const char *asked_by(const struct pair_run *run)
{
    return run->event->request.by[0] ? run->event->request.by : "http";
}

static void decline_request(const struct pair_run *run, const char *by, uint32_t version,
                            const char *why)
{
    pair_emit_change(
        run, &(struct parameter_change){
                 .action = PARAMETERS_DECLINED, .by = by, .version = version, .detail = why});
}

void pair_decline(const struct pair_run *run, const char *why)
{
    decline_request(run, asked_by(run), 0, why);
}

/* Gets the sets in force: [0] the latest one, [1] the other. */
static void find_sets(const struct pair *pair, const struct parameter_book *dynamics,
                      const struct parameter_set *set[2])
{
    const struct parameter_set *travel = parameters_find(&pair->parameters, PARAMETERS_ACTIVE);
    const struct parameter_set *model =
        dynamics ? parameters_find(dynamics, PARAMETERS_ACTIVE) : NULL;
    const bool model_first = model && (pair->dynamics_sets_last || !travel);
    set[0] = model_first ? model : travel;
    set[1] = model_first ? travel : model;
}

uint32_t pair_parameters_version(const struct pair *pair, const struct parameter_book *dynamics)
{
    const struct parameter_set *set[2];
    find_sets(pair, dynamics, set);
    return set[0] ? set[0]->version : 0;
}

bool pair_write_parameters(struct json_writer *w, const struct pair *pair,
                           const struct pair_params *p, const struct parameter_book *dynamics)
{
    const struct parameter_set *set[2];
    find_sets(pair, dynamics, set);
    parameters_write_payload(w, set[0], set[1], p->form != PARAMETERS_ABSOLUTE);
    return pair->parameters.promotions > 0 || (dynamics && dynamics->promotions > 0);
}

static void send_parameters(const struct pair_run *run)
{
    char text[PAIR_PARAMETERS_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    (void)pair_write_parameters(&w, run->pair, run->p, run->dynamics);
    if (json_write_end(&w)) {
        pair_emit_payload(run, EFFECT_PARAMETERS, SIDE_VIRTUAL, text, w.used);
    }
}

/* The simulator behaves differently from now on, so what was learnt about it since that lab
 * time is discarded. */
static void forget_virtual(const struct pair_run *run, int64_t from_us)
{
    struct pair *pair = run->pair;
    bool any = from_us == LAB_TIME_NONE;
    for (uint32_t k = 0; k < pair->window_count; k++) {
        struct pair_move *row = &pair->window[(pair->window_first + k) % run->p->window];
        if (row->t_us >= from_us) {
            any = any || !isnan(row->lap_s[SIDE_VIRTUAL]);
            row->lap_s[SIDE_VIRTUAL] = nanf("");
        }
    }
    pair->virtual_since_us = run->t_us;
    if (any) {
        pair->window_version++;
        const struct travel_kalman_params kalman = pair_kalman_params(run->p);
        travel_kalman_reset(&pair->side[SIDE_VIRTUAL].kalman, &kalman);
    }
}

static void mark_virtual_unsure(const struct pair_run *run)
{
    if (run->pair->virtual_unsure_us == LAB_TIME_NONE) {
        run->pair->virtual_unsure_us = run->t_us;
    }
}

void pair_resend_parameters(const struct pair_run *run)
{
    if (run->pair->parameters.promotions > 0 ||
        (run->dynamics && run->dynamics->promotions > 0)) {
        mark_virtual_unsure(run);
        send_parameters(run);
    }
}

/* Describes a pace of the virtual robot under which its laps do not show its parameters: a
 * starved simulator is slow. "": it runs in real time. */
static const char *describe_pace(const struct pair *pair, char text[PARAMETERS_DETAIL_MAX])
{
    double ratio = 1.0;
    double se = 0.0;
    if (!pace_read(&pair->side[SIDE_VIRTUAL].pace, &ratio, &se)) {
        return "the virtual robot's pace is unknown: it sends no sim_t";
    }
    if (!pair_pace_is_off(ratio, se)) {
        return "";
    }
    (void)snprintf(text, PARAMETERS_DETAIL_MAX,
                   "the virtual robot runs at %.3g times real time: its laps show that, too",
                   ratio);
    return text;
}

void pair_activate_set(const struct pair_run *run, enum parameter_action action, const char *by,
                       const struct parameter_set *set, bool dynamics)
{
    char pace[PARAMETERS_DETAIL_MAX];
    const bool automatic = action == PARAMETERS_PROMOTED && strcmp(by, "auto") == 0;
    pair_emit_change(
        run, &(struct parameter_change){.action = action,
                                        .by = by,
                                        .detail = !set        ? "the simulator's own parameters"
                                                  : automatic ? describe_pace(run->pair, pace)
                                                              : "",
                                        .version = set ? set->version : 0,
                                        .set = set});
    run->pair->dynamics_sets_last = dynamics;
    send_parameters(run);
    if (!dynamics) {
        forget_virtual(run, LAB_TIME_NONE);
        mark_virtual_unsure(run);
    }
}

enum simulator_state pair_simulator_state(const struct pair *pair)
{
    const struct parameter_force *force = &pair->force;
    if (pair->parameters.promotions > 0 && pair->virtual_unsure_us != LAB_TIME_NONE) {
        return SIMULATOR_SENT;
    }
    if (force->applied == 0) {
        return SIMULATOR_OWN;
    }
    return force->judged == PARAMETERS_UNJUDGED   ? SIMULATOR_SETTLING
           : force->judged == PARAMETERS_AS_ASKED ? SIMULATOR_AS_ASKED
                                                  : SIMULATOR_MISSES;
}

static const struct parameter_terms *terms_of(const struct pair_run *run)
{
    return parameter_terms_of(pair_is_arm(run->p));
}

/* The usable moves of a side, of either kind. */
struct side_moves {
    union {
        struct travel_move travel[PAIR_WINDOW_MAX];
        struct profile_move commanded[PAIR_WINDOW_MAX];
    };
};

static void read_moves(const struct pair_run *run, enum side side, struct side_moves *moves,
                       struct parameter_data *data)
{
    int64_t t_us[2] = {LAB_TIME_NONE, LAB_TIME_NONE};
    *data = (struct parameter_data){.motion = run->p->motion};
    if (pair_is_arm(run->p)) {
        data->commanded = moves->commanded;
        data->n = pair_commanded_moves(run->pair, run->p, side, moves->commanded, t_us);
    } else {
        data->moves = moves->travel;
        data->n = pair_moves(run->pair, run->p, side, moves->travel, t_us);
    }
    data->since_us = t_us[0];
    data->until_us = t_us[1];
}

/* Judges an arm's laps per class: against the values aimed at, if these are in force
 * completely, and the law that the laps follow. */
static void judge_laps(const struct parameter_force *force, const struct laps_fitted *laps,
                       enum laps_match match[PARAMETER_GROUPS_MAX], double law[PROFILE_P])
{
    enum { ALL = (1 << PROFILE_TERMS) - 1 };
    for (enum profile_class c = PROFILE_JOINTS; c < PROFILE_CLASSES; c++) {
        const size_t first = (size_t)c * PROFILE_TERMS;
        const double *aimed = &force->aimed[first];
        if (!parameter_fit_asks(laps->fit, c)) {
            continue;
        }
        if (((unsigned)force->applied >> first & ALL) == ALL) {
            match[c] = parameter_laps_match(laps, c, aimed, laps->fit->n);
        }
        parameter_laps_terms(&laps->fit->law[c], &law[first]);
        if (match[c] == LAPS_MATCHED) {
            memcpy(&law[first], aimed, PROFILE_TERMS * sizeof *law);
        }
    }
}

/* Judges the virtual robot under the sets in force; unknown until they are acknowledged. */
static void judge_virtual(const struct pair_run *run, struct parameter_virtual *out)
{
    struct side_moves moves;
    struct parameter_data data;
    struct parameter_fit fit;
    double does[PARAMETER_TERMS_MAX];
    double se[PARAMETER_TERMS_MAX];
    enum laps_match match[PARAMETER_GROUPS_MAX] = {LAPS_UNTESTED};
    struct parameter_force *force = &run->pair->force;
    read_moves(run, SIDE_VIRTUAL, &moves, &data);
    const bool sure = run->pair->virtual_unsure_us == LAB_TIME_NONE;
    const bool known = sure && data.n >= PAIR_VIRTUAL_MOVES_MIN &&
                       parameters_fit(&data, run->p->method, &fit) == STATUS_OK;
    for (size_t j = 0; j < PARAMETER_TERMS_MAX; j++) {
        out->law[j] = nan("");
    }
    if (known) {
        parameter_fit_terms(&fit, true, does, se);
    }
    if (known && fit.commanded) {
        judge_laps(force, &(struct laps_fitted){data.commanded, data.n, &fit.profile}, match,
                   out->law);
    }
    parameters_judge_virtual(terms_of(run), force, known ? does : NULL, se, match, out);
    const size_t most = VIRTUAL_MOVES_MAX * (data.commanded ? (size_t)PROFILE_CLASSES : 1);
    if (force->applied != 0 && (out->sent || (known && data.n >= most))) {
        force->judged = out->missed ? PARAMETERS_MISSED : PARAMETERS_AS_ASKED;
    }
}

/* Does a set request other times than the one in force or, without one, than the virtual
 * robot's own? For an arm its laps decide, if they can. */
static bool asks_others(const struct pair_run *run, const struct parameter_set *set,
                        const double *se, const struct parameter_virtual *virtual,
                        const struct laps_fitted *real)
{
    const struct parameter_book *book = &run->pair->parameters;
    const struct parameter_set *active = parameters_find(book, PARAMETERS_ACTIVE);
    struct parameter_virtual other = *virtual;
    /* The virtual arm has made about as many moves as the real one. */
    const size_t others = active ? active->n : set->n;
    double value[PARAMETER_TERMS_MAX];
    if (active && !set->commanded) {
        return parameters_differ(book, set, se);
    }
    if (active) {
        memcpy(other.does, active->value, sizeof other.does);
        memcpy(other.se, active->se, sizeof other.se);
        memcpy(other.law, active->value, sizeof other.law);
    }
    memcpy(value, set->value, sizeof value);
    for (size_t first = 0; first < set->count && set->commanded; first += PROFILE_TERMS) {
        const enum profile_class c = (enum profile_class)(first / PROFILE_TERMS);
        const enum laps_match match =
            isfinite(value[first + PROFILE_SPEED])
                ? parameter_laps_match(real, c, &other.law[first], others)
                : LAPS_UNTESTED;
        if (match == LAPS_OTHERS) {
            return true;
        }
        for (size_t j = first; j < first + PROFILE_TERMS && match == LAPS_MATCHED; j++) {
            value[j] = nan(""); /* it need not be requested separately */
        }
    }
    return parameters_virtual_differs(terms_of(run), &other, value, set->se);
}

static bool is_automatic(const char *by)
{
    return strcmp(by, "auto") == 0;
}

/* Should it be put in force? Not if the simulator agrees with the real robot without any set:
 * one that adds time of its own to every command would get worse. */
static bool is_worth_it(const struct parameter_set *set, bool differs)
{
    return set->refined > 0 ? set->refined <= REFINED_MAX /* it requests what is in force */
                            : !parameters_hold_back(set, differs);
}

/* Returns why an automatic candidate waits for a request; detail: of one that does not. */
static const char *explain_waiting(const struct pair_run *run, const char *by,
                                   const struct parameter_set *set, bool differs,
                                   const char *detail)
{
    if (!is_automatic(by) || run->p->promote != PAIR_PROMOTE_AUTO ||
        is_worth_it(set, differs)) {
        return detail;
    }
    return set->refined > 0 ? "not promoted without a request: earlier corrections did not help"
                            : parameters_hold_back(set, differs);
}

/* Returns the set of which an automatic fit says nothing new, so that the history has no entry
 * for every fit of a robot that does not change. NULL: there is none. */
static const struct parameter_set *find_repeated(const struct pair_run *run, const char *by,
                                                 const struct parameter_virtual *virtual,
                                                 const struct parameter_fit *fit,
                                                 const struct parameter_checks *checks,
                                                 const struct parameter_sent *sent)
{
    double value[PARAMETER_TERMS_MAX];
    double se[PARAMETER_TERMS_MAX];
    parameter_fit_terms(fit, false, value, se);
    const size_t count = parameter_terms_of(fit->commanded)->count;
    const struct parameter_set *same = !is_automatic(by) || virtual->missed
                                           ? NULL
                                           : parameters_find_same(&run->pair->parameters,
                                                                  (uint8_t)checks->verdict,
                                                                  value, se, count);
    for (size_t j = 0; same && j < count; j++) {
        if (isfinite(sent->adjust[j]) != isfinite(same->sent.adjust[j])) {
            return NULL;
        }
    }
    return same;
}

/* Returns the candidate, or NULL after reporting why there is none. Sets *differs, which is
 * false before, if it requests other times than the present ones. */
static const struct parameter_set *make_candidate(const struct pair_run *run, const char *by,
                                                  const struct parameter_virtual *virtual,
                                                  bool *differs)
{
    struct side_moves moves;
    struct parameter_data data;
    struct parameter_fit fit;
    struct parameter_checks checks;
    struct parameter_sent sent = {0};
    double real[PARAMETER_TERMS_MAX];
    double real_se[PARAMETER_TERMS_MAX];
    read_moves(run, SIDE_REAL, &moves, &data);
    if (data.n < PROPOSE_MOVES_MIN) {
        char why[96];
        (void)snprintf(why, sizeof why, "the real robot made %zu usable moves, %d are needed",
                       data.n, PROPOSE_MOVES_MIN);
        decline_request(run, by, 0, why);
        return NULL;
    }
    if (parameters_examine(&data, run->p->method, run->p->dynamics.plausible, &fit, &checks) !=
        STATUS_OK) {
        decline_request(run, by, 0, "the fit could not be computed");
        return NULL;
    }
    parameter_fit_terms(&fit, false, real, real_se);
    parameters_adjust(terms_of(run), &run->pair->force, virtual, real, &sent);
    const struct laps_fitted laps = {data.commanded, data.n, &fit.profile};
    if (fit.commanded &&
        parameter_laps_adjust(&laps, &run->pair->force, virtual, real, &sent) != STATUS_OK) {
        decline_request(run, by, 0, "the fit could not be computed");
        return NULL;
    }
    if (run->p->form == PARAMETERS_RELATIVE &&
        !parameters_all_relative(terms_of(run), &sent, real)) {
        parameters_add_check(&checks, CHECK_EXCITATION, ESTIMATE_FAIL,
                             "the virtual robot's moves under acknowledged parameters do not "
                             "determine its speeds, which parameters.form: relative needs");
    }
    struct parameter_change change = {
        .by = by,
        .fit = &fit,
        .checks = &checks,
        .detail = virtual->missed
                      ? "the virtual robot's moves do not take the times of the set in force"
                      : ""};
    if (checks.verdict == ESTIMATE_FAIL) {
        change.action = PARAMETERS_REJECTED;
        change.detail = parameters_first_failure(&checks);
        pair_emit_change(run, &change);
        return NULL;
    }
    const struct parameter_set *same = find_repeated(run, by, virtual, &fit, &checks, &sent);
    parameter_fit_terms(&fit, true, real, real_se);
    if (same) {
        *differs = asks_others(run, same, real_se, virtual, &laps);
        return same->state == PARAMETERS_ACTIVE ? NULL : same;
    }
    change.action = PARAMETERS_PROPOSED;
    struct parameter_set *set =
        parameters_propose(&run->pair->parameters, &data, &fit, &checks, run->t_us);
    set->sent = sent;
    *differs = asks_others(run, set, real_se, virtual, &laps);
    const struct parameter_set *active =
        parameters_find(&run->pair->parameters, PARAMETERS_ACTIVE);
    if (run->pair->force.judged == PARAMETERS_MISSED && active && !*differs) {
        set->refined = (uint8_t)(active->refined + 1);
    }
    change.set = set;
    change.version = change.set->version;
    change.detail = explain_waiting(run, by, set, *differs, change.detail);
    pair_emit_change(run, &change);
    return change.set;
}

void pair_propose(const struct pair_run *run)
{
    struct parameter_virtual virtual;
    judge_virtual(run, &virtual);
    bool differs = false;
    (void)make_candidate(run, asked_by(run), &virtual, &differs);
}

/* Does the request accept the verdict of the set that it names? */
static bool accepts_set(const struct parameter_book *book, const struct event_request *r)
{
    const struct parameter_set *set = parameters_choose(book, r->version);
    return r->accept != ACCEPT_PASS || !set || set->verdict == ESTIMATE_PASS;
}

bool pair_change_set(const struct pair_run *run, bool dynamics)
{
    const struct event_request *r = &run->event->request;
    const bool back = r->action == REQUEST_ROLLBACK;
    struct parameter_book *book = dynamics ? run->dynamics : &run->pair->parameters;
    const struct parameter_set *set = NULL;
    const char *why = "";
    if (!back && !accepts_set(book, r)) {
        why = "the set is MARGINAL, which the request does not accept";
    } else if (!back) {
        set = parameters_promote(book, r->version, &why);
    }
    const bool done = back ? parameters_rollback(book, &set, &why) : set != NULL;
    if (done) {
        pair_activate_set(run, back ? PARAMETERS_ROLLED_BACK : PARAMETERS_PROMOTED,
                          asked_by(run), set, dynamics);
    } else {
        decline_request(run, asked_by(run), back ? 0 : r->version, why);
    }
    return done;
}

/* A request without a model means the set with the promoted version, the newer candidate, or
 * the set last put in force. */
static bool means_dynamics(const struct pair_run *run)
{
    const struct event_request *r = &run->event->request;
    const struct parameter_set *mine = parameters_find(run->dynamics, PARAMETERS_CANDIDATE);
    const struct parameter_set *others =
        parameters_find(&run->pair->parameters, PARAMETERS_CANDIDATE);
    if (r->action == REQUEST_PROMOTE) {
        return r->version > 0 ? parameters_find_version(run->dynamics, r->version) != NULL
                              : mine && (!others || mine->version > others->version);
    }
    return r->action == REQUEST_ROLLBACK && run->pair->dynamics_sets_last;
}

bool pair_request_model(const struct pair_run *run, bool *dynamics)
{
    const struct event_request *r = &run->event->request;
    *dynamics = run->dynamics && (r->model[0] ? strcmp(r->model, run->p->dynamics.model) == 0
                                              : means_dynamics(run));
    if (r->model[0] && !*dynamics && strcmp(r->model, "travel_time") != 0) {
        decline_request(run, asked_by(run), r->version, "the pair has no sets of this model");
        return false;
    }
    return true;
}

/* The values that the simulator applied of its last set are in force from now on. */
static void apply_ack(const struct pair_run *run, const struct event_ack *a)
{
    struct pair *pair = run->pair;
    const struct parameter_set *set = parameters_find(&pair->parameters, PARAMETERS_ACTIVE);
    const int form = a->form < PARAMETERS_FORM_COUNT ? a->form : (int)run->p->form;
    const struct parameter_force before = pair->force;
    bool other = false;
    if (set) {
        other = parameters_apply_ack(
            terms_of(run), &pair->force, &set->sent, set->value, set->se, a,
            form == PARAMETERS_RELATIVE && run->p->form != PARAMETERS_ABSOLUTE);
    } else if (a->version == 0) {
        other = pair->force.applied != 0;
        memset(&pair->force, 0, sizeof pair->force);
    }
    if (other) {
        pair_forecast_change(run, &before);
    }
    if (other || pair->virtual_unsure_us != LAB_TIME_NONE) {
        forget_virtual(run, other ? LAB_TIME_NONE : pair->virtual_unsure_us);
        pair->virtual_unsure_us = LAB_TIME_NONE;
    }
}

void pair_acknowledge(const struct pair_run *run)
{
    const struct event_ack *a = &run->event->ack;
    char detail[PARAMETERS_DETAIL_MAX];
    if (a->refused > 0) {
        pair_alarm(run, ALARM_PARAMETERS_REFUSED, SIDE_VIRTUAL, "",
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
    if (a->version == pair_parameters_version(run->pair, run->dynamics)) {
        apply_ack(run, a);
    }
}

/* The virtual robot's response to a new set is visible soon, and errors are corrected then,
 * without waiting for propose_every moves. Returns whether an error was just found. */
static bool finds_miss(const struct pair_run *run, struct parameter_virtual *virtual)
{
    if (pair_simulator_state(run->pair) != SIMULATOR_SETTLING) {
        return false;
    }
    judge_virtual(run, virtual);
    return run->pair->force.judged == PARAMETERS_MISSED;
}

static bool is_time(const struct pair_run *run)
{
    return run->p->promote == PAIR_PROMOTE_AUTO &&
           ++run->pair->since_proposed >= run->p->propose_every &&
           run->pair->side[SIDE_REAL].moves >= PROPOSE_MOVES_MIN;
}

void pair_consider_parameters(const struct pair_run *run)
{
    struct parameter_virtual virtual;
    const bool missed = finds_miss(run, &virtual);
    if (!is_time(run) && !missed) {
        return;
    }
    run->pair->since_proposed = 0;
    if (!missed) {
        judge_virtual(run, &virtual);
    }
    bool differs = false;
    const struct parameter_set *set = make_candidate(run, "auto", &virtual, &differs);
    const char *why = "";
    if (set && run->p->promote == PAIR_PROMOTE_AUTO && is_worth_it(set, differs)) {
        set = parameters_promote(&run->pair->parameters, set->version, &why);
        pair_activate_set(run, PARAMETERS_PROMOTED, "auto", set, false);
    }
}
