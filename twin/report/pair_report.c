#include "twin/report/pair_report.h"

#include <math.h>
#include <stdio.h>

#include "identification/model/models.h"
#include "logger/message/record_json.h"
#include "twin/pair/pair_machines.h"
#include "twin/report/fit_report.h"
#include "twin/report/following_report.h"
#include "twin/report/forecast_report.h"

/* ---- travel times -------------------------------------------------------------------------
 */

/* For an arm the filter tracks the ratio of actual to commanded times, which is not a speed. */
static void write_tracked(struct json_writer *w, const char *key, const struct pair_side *side,
                          bool is_arm)
{
    const struct travel_kalman *k = &side->kalman;
    const double *const b = k->beta;
    const double w_se = sqrt(k->covariance[TRAVEL_INV_W][TRAVEL_INV_W]);
    const double v_se = sqrt(k->covariance[TRAVEL_INV_V][TRAVEL_INV_V]);
    const double is_speed = is_arm ? nan("") : 1.0;
    JSON_WRITE_OBJECT(
        w, key, JSON("moves", side->moves), JSON("moves_excluded", side->moves_excluded),
        JSON_OBJECT(
            "tracked", JSON("n", k->n), JSON("t0_s", b[TRAVEL_T0]), JSON("ta_s", b[TRAVEL_TA]),
            JSON("tr_s", b[TRAVEL_TR]), JSON("angular_speed_radps", is_speed / b[TRAVEL_INV_W]),
            JSON("angular_speed_se_radps",
                 is_speed * w_se / (b[TRAVEL_INV_W] * b[TRAVEL_INV_W])),
            JSON("linear_speed_mps", is_speed / b[TRAVEL_INV_V]),
            JSON("linear_speed_se_mps", is_speed * v_se / (b[TRAVEL_INV_V] * b[TRAVEL_INV_V])),
            JSON("noise_s_sd", sqrt(k->noise_s2)), JSON("gated", k->gated),
            JSON("drifts", k->drifts)));
}

void pair_report_fits(struct json_writer *w, const struct pair_fits *fits)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (!json_write_known(w, side_name(s), fits->known[s])) {
            continue;
        }
        if (fits->commanded) {
            profile_report_members(w, &fits->profile[s]);
        } else {
            travel_report_members(w, &fits->fit[s]);
        }
        JSON_WRITE(w, JSON_OPTIONAL("robot_version", fits->version[s]));
        json_write_close(w);
    }
}

void pair_report_travel_time(struct json_writer *w, const char *key,
                             const struct pair_fits *fits)
{
    json_write_object(w, key);
    pair_report_fits(w, fits);
    json_write_close(w);
}

void pair_report_tracked(struct json_writer *w, const char *key, const struct pair *pair,
                         const struct pair_params *p)
{
    JSON_MAP(w, key, enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        write_tracked(w, side_name(s), &pair->side[s], pair_is_arm(p));
    }
}

/* ---- clocks -------------------------------------------------------------------------------
 */

static void write_clock(struct json_writer *w, const char *key, const struct pair_side *side)
{
    const struct clock_map *c = &side->clock;
    const bool known = c->state != CLOCK_MAP_NONE;
    const bool locked = c->state == CLOCK_MAP_LOCKED;
    double pace = nan("");
    double pace_se = nan("");
    (void)pace_read(&side->pace, &pace, &pace_se);
    JSON_WRITE_OBJECT(
        w, key, JSON("state", clock_map_state_name(c->state)),
        JSON_SECONDS("at", known ? c->at_us : LAB_TIME_NONE),
        JSON("offset_s", known ? clock_map_offset_us(c, c->at_us) * 1e-6 : nan("")),
        JSON("offset_se_s", known ? clock_map_sd_us(c, c->at_us) * 1e-6 : nan("")),
        JSON("drift_ppm", locked ? c->drift * 1e6 : nan("")),
        JSON("drift_se_ppm", locked ? c->drift_sd * 1e6 : nan("")),
        JSON("jitter_s", known ? c->jitter_us * 1e-6 : nan("")),
        JSON_SECONDS("round_trip_s", c->probed ? c->rtt_us : LAB_TIME_NONE),
        JSON("samples", c->samples), JSON("window_buckets", c->used), JSON_OF(c, probes, jumps),
        JSON_SECONDS("last_jump_s", c->jumps > 0 ? c->last_jump_us : LAB_TIME_NONE),
        JSON("restarts", c->restarts), JSON("refused", c->refused), JSON("pace", pace),
        JSON("pace_se", pace_se));
}

void pair_report_clock(struct json_writer *w, const char *key, const struct pair *pair)
{
    JSON_MAP(w, key, enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        write_clock(w, side_name(s), &pair->side[s]);
    }
}

/* ---- parameter sets -----------------------------------------------------------------------
 */

static const char *method_name(const struct parameter_set *set)
{
    return set->model > 0 ? dynamics_method_name((enum dynamics_method)set->method)
                          : travel_method_name((enum travel_method)set->method);
}

static void fill_terms(const struct parameter_set *set, struct estimate *e)
{
    estimate_start(e, set->count);
    for (size_t j = 0; j < set->count; j++) {
        char text[ESTIMATE_NAME_MAX];
        (void)snprintf(e->name[j], sizeof e->name[j], "%s", parameters_term_name(set, j, text));
        estimate_set(e, j, set->value[j], set->se[j], (double)set->n - set->count);
    }
}

static void write_terms(struct json_writer *w, const struct parameter_set *set)
{
    struct estimate e;
    fill_terms(set, &e);
    estimate_report_column(w, "values", &e, e.value);
    estimate_report_column(w, "se", &e, e.se);
    estimate_report_intervals(w, &e);
    if (set->model == 0) {
        estimate_report_column(w, "sent", &e, set->sent.value);
        parameters_write_adjust(w, parameter_terms_of(set->commanded), &set->sent);
    }
}

/* Writes {"version","model","state","made_t",…,"values":{…},"se":{…},"ci95":{…}} or null; for
 * travel times also the request to the simulator: "sent", "adjust".
 * docs/model/parameters.md. */
static void write_set(struct json_writer *w, const char *key, const struct parameter_set *set)
{
    char hash[20];
    JSON_BLOCK(w, key, set && set->version > 0) {
        (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)set->data_hash);
        JSON_WRITE(w, JSON("version", set->version), JSON("model", parameters_model_name(set)),
                   JSON("state", parameter_state_name(set->state)),
                   JSON_SECONDS("made_t", set->made_us), JSON("method", method_name(set)),
                   JSON("n", set->n), JSON_SECONDS("data_since_t", set->since_us),
                   JSON_SECONDS("data_until_t", set->until_us), JSON("data_hash", hash),
                   JSON("verdict", estimate_verdict_name((enum estimate_verdict)set->verdict)));
        write_terms(w, set);
    }
}

void parameters_report_fragment(const struct parameter_set *set, enum fragment_format format,
                                const struct fragment_options *options,
                                json_write_flush *output, void *context)
{
    const struct model *model = set->model > 0 ? model_at(set->model - 1U) : NULL;
    struct fitted_numbers numbers = {.count = 0};
    struct dynamics_fit fit = {.n = set->n};
    fill_terms(set, &fit.estimate);
    fitted_numbers_add_estimate(&numbers, &fit.estimate);
    for (size_t i = 0; model && i < model->derived_count; i++) {
        /* The set has no covariance between its values, so that no interval follows. */
        struct fitted_number number = {.se = NAN, .lo = NAN, .hi = NAN, .derived = true};
        struct dynamics_derived derived;
        dynamics_derive(&fit, model, i, &derived);
        number.value = derived.value;
        (void)snprintf(number.name, sizeof number.name, "%s", model->derived[i].name);
        fitted_numbers_add(&numbers, &number);
    }
    const struct model_fragment fragment = {.model = parameters_model_name(set),
                                            .verdict = (enum estimate_verdict)set->verdict,
                                            .numbers = &numbers,
                                            .options = *options};
    model_fragment_write(&fragment, format, output, context);
}

void parameters_report_book(struct json_writer *w, const struct parameter_book *book)
{
    write_set(w, "active", parameters_find(book, PARAMETERS_ACTIVE));
    write_set(w, "candidate", parameters_find(book, PARAMETERS_CANDIDATE));
    JSON_LIST(w, "sets", size_t k = 0; k < PARAMETERS_RETAINED; k++) {
        if (book->set[k].version > 0) {
            write_set(w, NULL, &book->set[k]);
        }
    }
}

void parameters_report_checks(struct json_writer *w, const char *key,
                              const struct parameter_checks *checks)
{
    JSON_LIST(w, key, enum parameter_check k = CHECK_EXCITATION; k < PARAMETERS_CHECKS; k++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("name", parameter_check_name(k)),
                          JSON("verdict", estimate_verdict_name(checks->check[k].verdict)),
                          JSON("detail", checks->check[k].detail));
    }
}

void parameters_report_change(struct json_writer *w, const char *key,
                              const struct parameter_change *change, const char *pair,
                              const char *code_version)
{
    const char *const *robot = change->robot_version;
    JSON_OPEN(w, key, JSON("pair", pair), JSON("n", change->n), JSON_SECONDS("t", change->t_us),
              JSON("action", parameter_action_name(change->action)), JSON("by", change->by),
              JSON("version", change->version), JSON("detail", change->detail),
              JSON("code_version", code_version),
              JSON_OPTIONAL("real_version", robot[SIDE_REAL]),
              JSON_OPTIONAL("virtual_version", robot[SIDE_VIRTUAL]),
              JSON_OPTIONAL("previous_version", change->previous_version));
    write_set(w, "set", change->set);
    if (change->dynamics) {
        json_write_object(w, "fit");
        dynamics_report_fit(w, change->model, change->dynamics);
        json_write_close(w);
        parameters_report_checks(w, "checks", change->checks);
    } else if (change->fit) {
        json_write_object(w, "fit");
        if (change->fit->commanded) {
            profile_report_members(w, &change->fit->profile);
        } else {
            travel_report_members(w, &change->fit->travel);
        }
        json_write_close(w);
        parameters_report_checks(w, "checks", change->checks);
    }
    json_write_close(w);
}

/* Writes whether the virtual robot's moves, under the set in force, last as long as the set
 * says. */
static void write_simulator(struct json_writer *w, const struct pair *pair,
                            const struct pair_params *p)
{
    struct travel_move moves[PAIR_WINDOW_MAX];
    int64_t t_us[2];
    JSON_WRITE_OBJECT(w, "simulator",
                      JSON("state", simulator_state_name(pair_simulator_state(pair))),
                      JSON("moves", pair_moves(pair, p, SIDE_VIRTUAL, moves, t_us)),
                      JSON_WHOLE("moves_needed", PAIR_VIRTUAL_MOVES_MIN));
}

void pair_report_parameters(struct json_writer *w, const char *key, const struct pair *pair,
                            const struct pair_params *p, const struct parameter_book *dynamics)
{
    JSON_OPEN(w, key, JSON("promote", p->promote == PAIR_PROMOTE_AUTO ? "auto" : "manual"));
    parameters_report_book(w, &pair->parameters);
    if (dynamics) {
        json_write_object(w, "dynamics");
        write_set(w, "active", parameters_find(dynamics, PARAMETERS_ACTIVE));
        write_set(w, "candidate", parameters_find(dynamics, PARAMETERS_CANDIDATE));
        json_write_close(w);
    }
    write_simulator(w, pair, p);
    json_write_close(w);
}

/* ---- machines -----------------------------------------------------------------------------
 */

static void write_machine(struct json_writer *w, const char *key,
                          const struct efsm_table *table, const struct efsm *m)
{
    JSON_OPEN(w, key, JSON("state", efsm_state_name(table, m->state)),
              JSON_SECONDS("since", m->entered_us),
              JSON_IF(m->fired_arc < table->arc_count, JSON("arc", m->fired_arc)));
    for (size_t k = 0; k < table->cell_count; k++) {
        json_write_real(w, table->cells[k], m->defined & 1U << k ? m->cell[k] : nan(""));
    }
    json_write_close(w);
}

static void write_stats(struct json_writer *w, const struct efsm_table *table,
                        const struct efsm_stats *stats)
{
    JSON_MAP(w, "visits", size_t k = 0; k < table->state_count; k++) {
        json_write_int(w, table->states[k].name, stats->visits[k]);
    }
    JSON_MAP(w, "stay_s", size_t k = 0; k < table->state_count; k++) {
        json_write_seconds(w, table->states[k].name, stats->stay_us[k]);
    }
    json_write_int(w, "faults", stats->faults);
}

static void write_commands(struct json_writer *w, const struct pair *pair, bool link)
{
    JSON_LIST(w, "commands", int k = -1; pair_next_open(pair, &k);) {
        const struct pair_slot *slot = pair_look_slot(pair, k);
        JSON_OPEN(w, NULL, JSON("id", slot->id[0] ? slot->id : NULL));
        if (link) {
            write_machine(w, "machine", &link_table, &pair_relay(pair, k)->link);
        } else {
            write_machine(w, "machine", &smartlog_table, &slot->logger);
        }
        json_write_close(w);
    }
}

/* Machine numbers of the trace: see pair.c, pair_link.c. */
static const struct efsm_table *table_of(uint16_t machine)
{
    if (machine < PAIR_OUTSTANDING_MAX) {
        return &smartlog_table;
    }
    return machine < 2 * PAIR_OUTSTANDING_MAX ? &link_table : &dispatch_table;
}

static void write_trace(struct json_writer *w, const struct efsm_trace *trace)
{
    const uint32_t shown = trace->count < EFSM_TRACE_MAX ? trace->count : EFSM_TRACE_MAX;
    JSON_LIST(w, "trace", uint32_t back = shown; back > 0; back--) {
        const struct efsm_step *step = &trace->step[(trace->count - back) % EFSM_TRACE_MAX];
        const struct efsm_table *table = table_of(step->machine);
        JSON_WRITE_OBJECT(
            w, NULL, JSON_SECONDS("t", step->t_us), JSON("machine", table->name),
            JSON_WHOLE("number", step->machine % PAIR_OUTSTANDING_MAX),
            JSON("from", efsm_state_name(table, step->from)),
            JSON("to", efsm_state_name(table, step->to)),
            JSON("arc", step->arc < table->arc_count ? table->arcs[step->arc].label : NULL));
    }
}

void pair_report_machines(struct json_writer *w, const char *key, const struct pair *pair,
                          const struct pair_following *following, const struct pair_params *p)
{
    json_write_object(w, key);
    json_write_object(w, "smartlog");
    write_commands(w, pair, false);
    write_stats(w, &smartlog_table, &pair->logger_stats);
    json_write_close(w);
    if (p->mode == PAIR_LINK) {
        const struct pair_linked *const linked = pair_look_linked(pair);
        json_write_object(w, "link");
        write_commands(w, pair, true);
        write_stats(w, &link_table, &linked->link_stats);
        json_write_close(w);
        json_write_object(w, "dispatch");
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            write_machine(w, side_name(s), &dispatch_table, &linked->dispatch[s]);
        }
        write_stats(w, &dispatch_table, &linked->dispatch_stats);
        json_write_close(w);
    }
    if (following) {
        json_write_object(w, "following");
        write_machine(w, side_name(SIDE_VIRTUAL), &following_table, &following->f.machine);
        write_stats(w, &following_table, &following->f.stats);
        json_write_close(w);
    }
    write_trace(w, &pair->trace);
    json_write_close(w);
}

/* ---- summary ------------------------------------------------------------------------------
 */

static void write_side(struct json_writer *w, enum side s, const struct pair *pair,
                       const struct pair_params *p)
{
    const struct pair_side *side = &pair->side[s];
    const char *version = pair_version_at(pair, p, s, LAB_TIME_MAX);
    JSON_WRITE_OBJECT(
        w, side_name(s), JSON("seen", side->seen), JSON_SECONDS("seen_t", side->seen_us),
        JSON("connection", !side->known   ? "unknown"
                           : side->online ? "online"
                                          : "offline"),
        JSON("boot", side->boot[0] ? side->boot : NULL),
        JSON("version", version[0] ? version : NULL), JSON("telemetry", side->telemetry),
        JSON("seq_missing", side->seq_missing),
        JSON("clock", clock_map_state_name(side->clock.state)));
}

/* Writes the verdicts of the last entries. */
static void write_recent(struct json_writer *w, const struct pair *pair)
{
    uint64_t verdict[VERDICT_COUNT] = {0};
    uint64_t consistency[CONSISTENCY_COUNT] = {0};
    for (uint32_t k = 0; k < pair->recent_count; k++) {
        verdict[pair->recent[k].verdict]++;
        consistency[pair->recent[k].consistency]++;
    }
    JSON_WRITE(w, JSON_COUNTS("recent_verdicts", &verdict_names, verdict),
               JSON_COUNTS("recent_consistency", &consistency_names, consistency));
}

static void write_last(struct json_writer *w, const struct pair *pair)
{
    const uint32_t newest = (pair->recent_next + PAIR_RECENT - 1) % PAIR_RECENT;
    const struct pair_judged *last = &pair->recent[newest];
    const bool any = pair->recent_count > 0;
    JSON_WRITE(w, JSON("last_verdict", any ? verdict_name((enum verdict)last->verdict) : NULL),
               CONSISTENCY_ROW("last_consistent", any ? (enum consistency)last->consistency
                                                      : CONSISTENCY_UNKNOWN));
}

static void write_lags(struct json_writer *w, const struct pair *pair,
                       const struct pair_params *p)
{
    double lags_s[PAIR_LAGS];
    const size_t n = pair_recent_lags(pair, p, lags_s);
    for (size_t i = 0; i < n; i++) {
        lags_s[i] = round(lags_s[i] * 1e4) / 1e4 + 0.0; /* as exact as a small picture needs */
    }
    json_write_numbers(w, "recent_lags_s", lags_s, n);
}

/* The newest alarm about a trouble that is not known to be over. */
static void write_last_alarm(struct json_writer *w, const struct pair *pair)
{
    enum alarm_type last = ALARM_TYPE_COUNT;
    for (enum alarm_type type = ALARM_TYPE_TIMEOUT; type < ALARM_TYPE_COUNT; type++) {
        const uint32_t code = pair->alarm_rate[type].code;
        const bool over = code == ALARM_FIDELITY_MET || code == ALARM_FOLLOWING_RESUMED;
        if (pair->counts.alarm[type] > 0 && !over &&
            (last == ALARM_TYPE_COUNT ||
             pair->alarm_rate[type].t_us > pair->alarm_rate[last].t_us)) {
            last = type;
        }
    }
    JSON_WRITE(w, JSON_KNOWN("last_alarm", last < ALARM_TYPE_COUNT,
                             JSON_SECONDS("t", pair->alarm_rate[last].t_us),
                             JSON("type", alarm_type_name(last))));
}

static void write_following(struct json_writer *w, const struct pair_following *x,
                            const struct pair_params *p)
{
    struct fidelity_report r;
    if (!x) {
        json_write_null(w, "following");
        return;
    }
    fidelity_report_read(x, p, &r);
    JSON_WRITE_OBJECT(w, "following", JSON("active", x->asked),
                      JSON("state", efsm_state_name(&following_table, x->f.machine.state)),
                      JSON("within_ratio", r.within_ratio),
                      JSON("target_ratio",
                           p->following->target_m > 0.0 ? p->following->target_ratio : nan("")),
                      JSON("missed", x->f.missed));
}

static void write_correction(struct json_writer *w, const struct pair *pair,
                             const struct pair_params *p)
{
    const char *const after =
        p->correct == PAIR_CORRECT_EACH_MOVE ? "each_move" : "after_inconsistency";
    JSON_WRITE(w, JSON_KNOWN("correction", p->correct != PAIR_CORRECT_OFF, JSON("after", after),
                             JSON_OF(&pair->correction, sent, applied, refused, unanswered)));
}

void pair_report_summary(struct json_writer *w, const char *key, const struct pair *pair,
                         const struct pair_following *following, const struct pair_params *p)
{
    JSON_OPEN(w, key, JSON("id", p->id), JSON("kind", pair_kind_name(p->kind)),
              JSON("mode", pair_mode_name(p->mode)),
              JSON_IF(pair_is_arm(p), JSON("arm", p->arm)),
              JSON("dynamics", pair_dynamics_wanted(&p->dynamics) ? p->dynamics.model : NULL),
              JSON_SECONDS("sync_tolerance_s", p->sync_tolerance_us),
              JSON("outstanding", pair->outstanding),
              JSON_OF(&pair->counts, commands, replies, entries, alarms, redelivered,
                      values_omitted, ambiguous),
              JSON_SECONDS("last_lag_s", pair->last_lag_us),
              JSON_IF(pair->last_judged_lag_us != LAB_TIME_NONE,
                      JSON_SECONDS("last_judged_lag_s", pair->last_judged_lag_us)),
              JSON_SECONDS("last_lag_uncertainty_s", pair->last_lag_uncertainty_us),
              JSON_SECONDS("last_entry_t", pair->last_entry_us));
    write_last(w, pair);
    write_recent(w, pair);
    write_lags(w, pair, p);
    write_last_alarm(w, pair);
    JSON_WRITE(
        w, JSON_COUNTS("verdicts", &verdict_names, pair->counts.verdict),
        JSON_COUNTS("consistency", &consistency_names, pair->counts.consistency),
        JSON_COUNTS("alarm_counts", &alarm_type_names, pair->counts.alarm),
        JSON_IF(p->mode == PAIR_LINK, JSON("virtual_lag_cycles", pair->link_lag_cycles)));
    write_side(w, SIDE_REAL, pair, p);
    write_side(w, SIDE_VIRTUAL, pair, p);
    write_following(w, following, p);
    write_correction(w, pair, p);
    forecast_report_trust(w, "trust", pair, p);
    json_write_close(w);
}
