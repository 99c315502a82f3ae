#include "twin/pair/parameters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "base/numbers/hash.h"
#include "base/text/known_numbers.h"
#include "base/text/text.h"
#include "identification/model/models.h"
#include "identification/travel/profile_judge.h"
#include "identification/travel/travel_judge.h"
#include "twin/pair/pair_params.h"
#include "twin/pair/pair_thresholds.def"

/* ---- checks -------------------------------------------------------------------------------
 */

ENUM_NAMES(parameter_check, PARAMETERS_CHECKS, "excitation", "signs", "precision", "held_out",
           "fit");

void parameters_add_check(struct parameter_checks *checks, enum parameter_check check,
                          enum estimate_verdict verdict, const char *format, ...)
{
    TEXT_FORMAT(checks->check[check].detail, PARAMETERS_DETAIL_MAX, format);
    known_numbers_replace(checks->check[check].detail, PARAMETERS_DETAIL_MAX);
    checks->check[check].verdict = verdict;
    checks->verdict = checks->verdict > verdict ? checks->verdict : verdict;
}

static void check_excitation(const struct travel_fit *fit, struct parameter_checks *checks)
{
    const bool turns = fit->estimate.identifiable[TRAVEL_INV_W] ||
                       !travel_motion_has(fit->motion, TRAVEL_INV_W);
    const bool drives = fit->estimate.identifiable[TRAVEL_INV_V] ||
                        !travel_motion_has(fit->motion, TRAVEL_INV_V);
    if (turns && drives) {
        parameters_add_check(
            checks, CHECK_EXCITATION, ESTIMATE_PASS, "%zu moves determine %s", fit->n,
            fit->motion == TRAVEL_TURNS_AND_DRIVES ? "both speeds" : "its speed");
    } else {
        parameters_add_check(checks, CHECK_EXCITATION, ESTIMATE_FAIL,
                             "%zu moves do not determine %s speed", fit->n,
                             turns    ? "the linear"
                             : drives ? "the angular"
                                      : "any");
    }
}

static void check_signs(const struct travel_fit *fit, struct parameter_checks *checks)
{
    parameters_add_check(checks, CHECK_SIGNS, ESTIMATE_PASS,
                         "speeds and delays are possible ones");
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (fit->estimate.identifiable[j] && fit->beta_hi[j] < 0.0) {
            parameters_add_check(checks, CHECK_SIGNS, ESTIMATE_FAIL,
                                 "%s is significantly below zero", travel_term_name(j));
        }
    }
    if (fit->beta[TRAVEL_INV_W] <= 0.0 || fit->beta[TRAVEL_INV_V] <= 0.0) {
        parameters_add_check(checks, CHECK_SIGNS, ESTIMATE_FAIL, "a speed is not above zero");
    }
}

/* Judges the relative standard error of a speed; NaN: unknown. */
static enum estimate_verdict judge_precision(double worst)
{
    return !(worst <= SPEED_SE_RATIO_MAX)      ? ESTIMATE_FAIL
           : worst <= SPEED_SE_RATIO_MAX / 2.0 ? ESTIMATE_PASS
                                               : ESTIMATE_MARGINAL;
}

static void check_precision(const struct travel_fit *fit, struct parameter_checks *checks)
{
    const double *value = fit->estimate.value;
    const double *se = fit->estimate.se;
    double w_ratio = se[TRAVEL_INV_W] / value[TRAVEL_INV_W];
    double v_ratio = se[TRAVEL_INV_V] / value[TRAVEL_INV_V];
    /* If the robot only turns, its one speed stands for both. */
    v_ratio = fit->motion == TRAVEL_TURNS ? w_ratio : v_ratio;
    w_ratio = fit->motion == TRAVEL_DRIVES ? v_ratio : w_ratio;
    /* The worse of the two; NaN is the worst. */
    const double worse = fabs(w_ratio) <= fabs(v_ratio) ? fabs(v_ratio) : fabs(w_ratio);
    parameters_add_check(checks, CHECK_PRECISION,
                         judge_precision(isnan(w_ratio) || isnan(v_ratio) ? nan("") : worse),
                         "standard errors: angular speed %.2g %%, linear speed %.2g %%",
                         100.0 * w_ratio, 100.0 * v_ratio);
}

/* ---- checks of an arm's moves -------------------------------------------------------------
 */

bool parameter_fit_asks(const struct profile_fit *fit, enum profile_class kind)
{
    return fit->law[kind].n >= CLASS_MOVES_MIN;
}

static const char *class_term(size_t kind, size_t term)
{
    return profile_term_name((enum profile_term)(kind * PROFILE_TERMS + term));
}

static void check_commanded_excitation(const struct profile_fit *fit,
                                       struct parameter_checks *checks)
{
    const bool *known = fit->estimate.identifiable;
    size_t determined = 0;
    const char *missing = NULL;
    for (enum profile_class k = PROFILE_JOINTS; k < PROFILE_CLASSES; k++) {
        const bool is_known = known[k * PROFILE_TERMS + PROFILE_SPEED];
        determined += parameter_fit_asks(fit, k) && is_known;
        missing =
            parameter_fit_asks(fit, k) && !is_known ? class_term(k, PROFILE_SPEED) : missing;
    }
    parameters_add_check(checks, CHECK_EXCITATION,
                         determined == 0 ? ESTIMATE_FAIL
                         : missing       ? ESTIMATE_MARGINAL
                                         : ESTIMATE_PASS,
                         missing || determined == 0 ? "%zu moves do not determine %s"
                                                    : "%zu moves determine the speeds of %s",
                         fit->n,
                         missing                      ? missing
                         : determined == 0            ? "any speed"
                         : determined > 1             ? "both classes"
                         : known[PROFILE_JOINT_SPEED] ? "moves of joints"
                                                      : "lines");
}

static void check_commanded_signs(const struct profile_fit *fit,
                                  struct parameter_checks *checks)
{
    const struct estimate *e = &fit->estimate;
    parameters_add_check(checks, CHECK_SIGNS, ESTIMATE_PASS,
                         "speeds and delays are possible ones");
    for (size_t k = 0; k < PROFILE_CLASSES; k++) {
        const size_t t0 = k * PROFILE_TERMS + PROFILE_T0;
        if (e->identifiable[t0] && e->hi[t0] < 0.0) {
            parameters_add_check(checks, CHECK_SIGNS, ESTIMATE_FAIL,
                                 "%s is significantly below zero", class_term(k, PROFILE_T0));
        }
    }
}

static void check_commanded_precision(const struct profile_fit *fit,
                                      struct parameter_checks *checks)
{
    const struct estimate *e = &fit->estimate;
    double ratio[PROFILE_CLASSES];
    double worst = nan("");
    for (size_t k = 0; k < PROFILE_CLASSES; k++) {
        const size_t speed = k * PROFILE_TERMS + PROFILE_SPEED;
        ratio[k] = e->identifiable[speed] ? e->se[speed] / e->value[speed] : nan("");
        /* A known value with an unknown error is worse than all. */
        const double share = e->identifiable[speed] && isnan(ratio[k]) ? HUGE_VAL : ratio[k];
        worst = fmax(worst, share);
    }
    parameters_add_check(checks, CHECK_PRECISION, judge_precision(worst),
                         "standard errors: speeds of joints %.2g %%, of lines %.2g %%",
                         100.0 * ratio[PROFILE_JOINTS], 100.0 * ratio[PROFILE_LINES]);
}

/* ---- held out -----------------------------------------------------------------------------
 */

/* Adds the median error of the older moves' fit in `count` newer ones. */
static void add_held_out(struct parameter_checks *checks, size_t count, double median_s,
                         double older_sd_s)
{
    const double spread_s = 1.4826 * median_s;
    const double limit_s = HELD_OUT_RATIO_MAX * older_sd_s + HELD_OUT_FLOOR_S;
    if (count < HELD_OUT_MIN) {
        parameters_add_check(checks, CHECK_HELD_OUT, ESTIMATE_MARGINAL,
                             "the older moves do not determine what the newer ones need");
        return;
    }
    parameters_add_check(
        checks, CHECK_HELD_OUT, spread_s <= limit_s ? ESTIMATE_PASS : ESTIMATE_FAIL,
        "%zu newest moves predicted from the older ones: %.3f s off (allowed %.3f s)", count,
        spread_s, limit_s);
}

static enum status hold_out_commanded(const struct parameter_data *data, size_t held,
                                      struct profile_fit *older,
                                      struct parameter_checks *checks)
{
    struct travel_held_out out;
    const enum status st =
        profile_hold_out(older, data->commanded + data->n - held, held, &out);
    if (st == STATUS_OK) {
        add_held_out(checks, out.n, out.median_s, older->residual_s_sd);
    }
    return st;
}

/* Tests the newer moves against the fit of the older ones. */
static enum status hold_out_moves(const struct parameter_data *data, size_t held,
                                  const struct travel_fit *older,
                                  struct parameter_checks *checks)
{
    const struct travel_move *newer = data->moves + data->n - held;
    struct travel_fit theirs;
    struct travel_f_test test;
    enum status st = travel_time_fit(newer, held, data->motion, TRAVEL_AUTO, &theirs);
    st = st == STATUS_OK ? travel_f_test(older, &theirs, newer, held, &test) : st;
    if (st != STATUS_OK) {
        return st;
    }
    if (test.n < HELD_OUT_MIN) {
        parameters_add_check(checks, CHECK_HELD_OUT, ESTIMATE_MARGINAL,
                             "the older moves do not determine what the newer ones need");
        return STATUS_OK;
    }
    parameters_add_check(checks, CHECK_HELD_OUT, travel_f_test_verdict(&test),
                         "%zu newest moves predicted from the older ones: %.2g times their "
                         "residual (chance %.2g), laps off by %.2g sd (chance %.2g)",
                         test.n, sqrt(test.ratio), test.p, test.off_sd, test.law_p);
    return STATUS_OK;
}

/* Fits the older moves and predicts the newest third: does the model hold tomorrow? The spread
 * is estimated from the median, so that one late message does not decide. */
static enum status check_held_out(const struct parameter_data *data, enum travel_method method,
                                  struct parameter_checks *checks)
{
    const size_t held = data->n / 3;
    struct parameter_data before = *data;
    struct parameter_fit older;
    if (held < HELD_OUT_MIN || data->n > PAIR_WINDOW_MAX) {
        parameters_add_check(checks, CHECK_HELD_OUT, ESTIMATE_MARGINAL,
                             "%zu moves are too few to hold some out", data->n);
        return STATUS_OK;
    }
    before.n -= held;
    const enum status status = parameters_fit(&before, method, &older);
    if (status != STATUS_OK) {
        return status;
    }
    if (older.commanded) {
        return hold_out_commanded(data, held, &older.profile, checks);
    }
    return hold_out_moves(data, held, &older.travel, checks);
}

/* ---- a fit and its checks -----------------------------------------------------------------
 */

enum status parameters_fit(const struct parameter_data *data, enum travel_method method,
                           struct parameter_fit *fit)
{
    fit->commanded = data->commanded != NULL;
    return fit->commanded
               ? profile_time_fit(data->commanded, data->n, method, &fit->profile)
               : travel_time_fit(data->moves, data->n, data->motion, method, &fit->travel);
}

static void check_fit(const struct parameter_data *data, bool plausible,
                      struct parameter_fit *fit, struct parameter_checks *checks)
{
    struct estimate *e = fit->commanded ? &fit->profile.estimate : &fit->travel.estimate;
    if (plausible && fit->commanded) {
        profile_judge_units(&fit->profile);
    } else if (plausible) {
        travel_judge_units(&fit->travel, data->moves, data->n);
    }
    estimate_advise_worst(e);
    if (fit->commanded) {
        check_commanded_excitation(&fit->profile, checks);
        check_commanded_signs(&fit->profile, checks);
        check_commanded_precision(&fit->profile, checks);
    } else {
        check_excitation(&fit->travel, checks);
        check_signs(&fit->travel, checks);
        check_precision(&fit->travel, checks);
    }
    parameters_add_check(checks, CHECK_FIT, e->verdict, "%.159s",
                         e->reason_count > 0 ? e->reasons[0] : "no objection");
}

enum status parameters_examine(const struct parameter_data *data, enum travel_method method,
                               bool plausible, struct parameter_fit *fit,
                               struct parameter_checks *checks)
{
    struct parameter_checks out = {0};
    enum status status = parameters_fit(data, method, fit);
    if (status == STATUS_OK) {
        status = check_held_out(data, method, &out);
    }
    if (status == STATUS_OK) {
        check_fit(data, plausible, fit, &out);
        *checks = out;
    }
    return status;
}

const char *parameters_first_failure(const struct parameter_checks *checks)
{
    for (size_t k = 0; k < PARAMETERS_CHECKS; k++) {
        if (checks->check[k].verdict == ESTIMATE_FAIL) {
            return checks->check[k].detail;
        }
    }
    return "";
}

/* ---- the book -----------------------------------------------------------------------------
 */

const struct parameter_set *parameters_find(const struct parameter_book *book,
                                            enum parameter_state state)
{
    for (size_t k = 0; k < PARAMETERS_RETAINED; k++) {
        if (book->set[k].version > 0 && book->set[k].state == (uint8_t)state) {
            return &book->set[k];
        }
    }
    return NULL;
}

struct parameter_set *parameters_find_version(struct parameter_book *book, uint32_t version)
{
    for (size_t k = 0; k < PARAMETERS_RETAINED; k++) {
        if (version > 0 && book->set[k].version == version) {
            return &book->set[k];
        }
    }
    return NULL;
}

static struct parameter_set *find_state(struct parameter_book *book, enum parameter_state state)
{
    const struct parameter_set *set = parameters_find(book, state);
    return set ? parameters_find_version(book, set->version) : NULL;
}

/* Finds the place of a new set: an empty one, else the oldest that is neither active nor the
 * target of a rollback. */
static struct parameter_set *make_room(struct parameter_book *book)
{
    struct parameter_set *victim = NULL;
    uint64_t last_order = 0;
    for (size_t k = 0; k < PARAMETERS_RETAINED; k++) {
        const struct parameter_set *set = &book->set[k];
        if (set->state == PARAMETERS_RETIRED && set->order > last_order) {
            last_order = set->order;
        }
    }
    for (size_t k = 0; k < PARAMETERS_RETAINED; k++) {
        struct parameter_set *set = &book->set[k];
        if (set->version == 0) {
            return set;
        }
        const bool needed =
            set->state == PARAMETERS_ACTIVE ||
            (set->state == PARAMETERS_RETIRED && set->order == last_order && last_order > 0);
        if (!needed && (!victim || set->version < victim->version)) {
            victim = set;
        }
    }
    return victim;
}

struct parameter_set *parameters_add(struct parameter_book *book, const struct model *model,
                                     uint32_t version, int64_t t_us)
{
    struct parameter_set *older = find_state(book, PARAMETERS_CANDIDATE);
    if (older) {
        older->state = PARAMETERS_RETIRED;
    }
    struct parameter_set *set = make_room(book);
    memset(set, 0, sizeof *set);
    set->version = version;
    set->state = PARAMETERS_CANDIDATE;
    set->model = model ? (uint8_t)(model_place(model) + 1) : 0;
    set->made_us = t_us;
    return set;
}

void parameter_fit_terms(const struct parameter_fit *fit, bool widened, double *value,
                         double *se)
{
    const struct estimate *e = fit->commanded ? &fit->profile.estimate : &fit->travel.estimate;
    const size_t count = parameter_terms_of(fit->commanded)->count;
    for (size_t j = 0; j < count; j++) {
        const bool knows =
            !fit->commanded ||
            parameter_fit_asks(&fit->profile, (enum profile_class)(j / PROFILE_TERMS));
        value[j] = knows ? e->value[j] : (double)NAN;
        se[j] = knows ? e->se[j] : (double)NAN;
        if (widened && knows) {
            const bool open = isfinite(e->lo_open[j]);
            se[j] = ((open ? e->hi_open[j] : e->hi[j]) - (open ? e->lo_open[j] : e->lo[j])) /
                    2.0 / estimate_reach(INFINITY);
        }
    }
}

static uint64_t hash_moves(const struct parameter_data *data)
{
    uint64_t hash = HASH_START;
    if (!data->commanded) {
        return hash_bytes(hash, data->moves, data->n * sizeof data->moves[0]);
    }
    for (size_t k = 0; k < data->n; k++) {
        const struct profile_move *m = &data->commanded[k];
        const double numbers[] = {(double)m->kind, m->speed, m->acceleration, m->lap_s};
        hash = hash_bytes(hash, numbers, sizeof numbers);
    }
    return hash;
}

struct parameter_set *parameters_propose(struct parameter_book *book,
                                         const struct parameter_data *data,
                                         const struct parameter_fit *fit,
                                         const struct parameter_checks *checks, int64_t t_us)
{
    struct parameter_set *set = parameters_add(book, NULL, ++book->last_version, t_us);
    set->commanded = fit->commanded;
    set->method = (uint8_t)(fit->commanded ? fit->profile.method : fit->travel.method);
    set->verdict = (uint8_t)checks->verdict;
    set->n = (uint16_t)(fit->commanded ? fit->profile.n : fit->travel.n);
    set->count = (uint8_t)parameter_terms_of(fit->commanded)->count;
    set->since_us = data->since_us;
    set->until_us = data->until_us;
    set->data_hash = hash_moves(data);
    parameter_fit_terms(fit, false, set->value, set->se);
    for (size_t j = 0; j < set->count; j++) {
        set->sent.value[j] = set->value[j];
        set->sent.adjust[j] = nan("");
    }
    return set;
}

static const struct parameter_set *set_active(struct parameter_book *book,
                                              struct parameter_set *set)
{
    struct parameter_set *before = find_state(book, PARAMETERS_ACTIVE);
    if (before) {
        before->state = PARAMETERS_RETIRED;
    }
    set->state = PARAMETERS_ACTIVE;
    set->order = ++book->promotions;
    return set;
}

const struct parameter_set *parameters_choose(const struct parameter_book *book,
                                              uint32_t version)
{
    for (size_t k = 0; k < PARAMETERS_RETAINED && version > 0; k++) {
        if (book->set[k].version == version) {
            return &book->set[k];
        }
    }
    return version == 0 ? parameters_find(book, PARAMETERS_CANDIDATE) : NULL;
}

const struct parameter_set *parameters_promote(struct parameter_book *book, uint32_t version,
                                               const char **why)
{
    struct parameter_set *set = version > 0 ? parameters_find_version(book, version)
                                            : find_state(book, PARAMETERS_CANDIDATE);
    if (!set) {
        *why = version > 0 ? "there is no such version among the last four"
                           : "there is no candidate";
        return NULL;
    }
    if (set->state == PARAMETERS_ACTIVE) {
        *why = "this version is active already";
        return NULL;
    }
    return set_active(book, set);
}

bool parameters_rollback(struct parameter_book *book, const struct parameter_set **now,
                         const char **why)
{
    struct parameter_set *before = NULL;
    struct parameter_set *previous = find_state(book, PARAMETERS_ACTIVE);
    if (!previous) {
        *why = "no set is active";
        return false;
    }
    for (size_t k = 0; k < PARAMETERS_RETAINED; k++) {
        struct parameter_set *set = &book->set[k];
        if (set->state == PARAMETERS_RETIRED && set->order > 0 &&
            (!before || set->order > before->order)) {
            before = set;
        }
    }
    if (before) {
        (void)set_active(book, before);
    } else {
        previous->state = PARAMETERS_RETIRED;
    }
    /* The next rollback must not return to the set that is left now. */
    previous->order = 0;
    *now = before;
    return true;
}

bool parameters_differ(const struct parameter_book *book, const struct parameter_set *set,
                       const double *se)
{
    const struct parameter_set *active = parameters_find(book, PARAMETERS_ACTIVE);
    if (!active) {
        return true;
    }
    for (size_t j = 0; j < set->count; j++) {
        const double sd = hypot(se && isfinite(se[j]) ? se[j] : set->se[j], active->se[j]);
        if (sd > 0.0 && fabs(set->value[j] - active->value[j]) > DIFFERENCE_Z * sd) {
            return true;
        }
    }
    return false;
}

const struct parameter_set *parameters_find_same(const struct parameter_book *book,
                                                 uint8_t verdict, const double *value,
                                                 const double *se, size_t count)
{
    const struct parameter_set *set = parameters_find(book, PARAMETERS_CANDIDATE);
    set = set ? set : parameters_find(book, PARAMETERS_ACTIVE);
    bool same = set && set->verdict == verdict && set->count == count;
    for (size_t j = 0; same && j < count; j++) {
        const double gap = fabs(value[j] - set->value[j]);
        same = isfinite(value[j]) == isfinite(set->value[j]) &&
               !(gap > DIFFERENCE_Z * hypot(se[j], set->se[j])) &&
               !(se[j] < SHARPER_RATIO * set->se[j]);
    }
    return same ? set : NULL;
}

const char *parameters_hold_back(const struct parameter_set *set, bool differs)
{
    return set->verdict != (uint8_t)ESTIMATE_PASS
               ? "not promoted without a request: its checks do not all PASS"
           : !differs ? "not promoted without a request: nothing in force differs from it by "
                        "more than chance"
                      : NULL;
}

/* ---- texts
 * -------------------------------------------------------------------------------- */

ENUM_NAMES(parameter_state, PARAMETERS_RETIRED + 1, "none", "candidate", "active", "retired");

ENUM_NAMES(parameter_action, PARAMETERS_ACTION_COUNT, "proposed", "rejected", "promoted",
           "rolled_back", "declined", "acknowledged", "version_changed");

/* NULL: travel times. */
static const struct model *model_of(const struct parameter_set *set)
{
    return set->model > 0 ? model_at(set->model - 1U) : NULL;
}

const char *parameters_model_name(const struct parameter_set *set)
{
    return set->model > 0 ? model_of(set)->name : "travel_time";
}

const char *parameters_term_name(const struct parameter_set *set, size_t j, char text[64])
{
    return set->model > 0 ? dynamics_parameter_name(model_of(set), j, text, 64)
                          : parameter_term_name(parameter_terms_of(set->commanded), j);
}

/* Constant efforts are the lab's, not the simulator's. */
static void write_model_values(struct json_writer *w, const struct parameter_set *set)
{
    char text[64];
    const struct model *model = model_of(set);
    for (size_t j = 0; model && j < model->parameter_count; j++) {
        if (isfinite(set->value[j])) {
            json_write_real(w, parameters_term_name(set, j, text), set->value[j]);
        }
    }
}

/* Is the delay contained in the first delay of its group, because it could not be separated? */
static bool is_in_sum(const struct parameter_terms *terms, const struct parameter_set *set,
                      size_t j)
{
    size_t first = 0;
    while (terms->term[first].group != terms->term[j].group) {
        first++;
    }
    return !terms->term[j].rate && first < j && isfinite(set->value[first]);
}

static void write_values(struct json_writer *w, const struct parameter_set *set)
{
    const struct parameter_terms *terms = parameter_terms_of(set->commanded);
    for (size_t j = 0; j < set->count; j++) {
        const double sent = set->sent.value[j];
        if (isfinite(sent)) {
            /* A negative delay is zero within its error, or it would have failed its checks. A
             * simulator cannot wait for a negative time. */
            json_write_real(w, parameter_term_name(terms, j),
                            terms->term[j].rate ? sent : fmax(sent, 0.0));
        } else if (is_in_sum(terms, set, j)) {
            json_write_real(w, parameter_term_name(terms, j), 0.0);
        }
    }
}

static void write_set_values(struct json_writer *w, const struct parameter_set *set)
{
    if (set && set->model > 0) {
        write_model_values(w, set);
    } else if (set) {
        write_values(w, set);
    }
}

void parameters_write_payload(struct json_writer *w, const struct parameter_set *set,
                              const struct parameter_set *other, bool adjust)
{
    const struct parameter_set *travel = set && set->model == 0       ? set
                                         : other && other->model == 0 ? other
                                                                      : NULL;
    JSON_OPEN(w, NULL, JSON_WHOLE("version", set ? set->version : 0),
              JSON("model", set ? parameters_model_name(set) : "travel_time"));
    json_write_object(w, "values");
    write_set_values(w, set);
    write_set_values(w, other);
    json_write_close(w);
    if (travel && adjust) {
        parameters_write_adjust(w, parameter_terms_of(travel->commanded), &travel->sent);
    }
    json_write_close(w);
}
