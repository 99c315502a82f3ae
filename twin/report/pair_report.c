#include "twin/report/pair_report.h"

#include <math.h>

#include "twin/dynamics/pair_dynamics.h"
#include "twin/following/pair_following.h"
#include "twin/pair/link.h"
#include "twin/pair/smartlog.h"
#include "twin/report/following_report.h"
#include "twin/report/parameters_report.h"
#include "twin/report/travel_report.h"

/* ---- travel times -------------------------------------------------------------------------
 */

static void write_tracked(struct json_writer *w, const struct pair_side *side)
{
    const struct travel_kalman *k = &side->kalman;
    const double w_se = sqrt(k->covariance[TRAVEL_INV_W][TRAVEL_INV_W]);
    const double v_se = sqrt(k->covariance[TRAVEL_INV_V][TRAVEL_INV_V]);
    json_write_object(w, "tracked");
    json_write_int(w, "n", (int64_t)k->n);
    json_write_real(w, "t0_s", k->beta[TRAVEL_T0]);
    json_write_real(w, "ta_s", k->beta[TRAVEL_TA]);
    json_write_real(w, "tr_s", k->beta[TRAVEL_TR]);
    json_write_real(w, "angular_speed_radps", 1.0 / k->beta[TRAVEL_INV_W]);
    json_write_real(w, "angular_speed_se_radps",
                    w_se / (k->beta[TRAVEL_INV_W] * k->beta[TRAVEL_INV_W]));
    json_write_real(w, "linear_speed_mps", 1.0 / k->beta[TRAVEL_INV_V]);
    json_write_real(w, "linear_speed_se_mps",
                    v_se / (k->beta[TRAVEL_INV_V] * k->beta[TRAVEL_INV_V]));
    json_write_real(w, "noise_s_sd", sqrt(k->noise_s2));
    json_write_int(w, "gated", (int64_t)k->gated);
    json_write_int(w, "drifts", (int64_t)k->drifts);
    json_write_close(w);
}

void pair_report_travel_time(struct json_writer *w, const char *key,
                             const struct pair_fits *fits)
{
    json_write_object(w, key);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (fits->known[s]) {
            travel_report_write(w, side_name(s), &fits->fit[s]);
        } else {
            json_write_null(w, side_name(s));
        }
    }
    json_write_close(w);
}

void pair_report_tracked(struct json_writer *w, const char *key, const struct pair *pair)
{
    json_write_object(w, key);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        json_write_object(w, side_name(s));
        json_write_int(w, "moves", (int64_t)pair->side[s].moves);
        json_write_int(w, "moves_excluded", (int64_t)pair->side[s].moves_excluded);
        write_tracked(w, &pair->side[s]);
        json_write_close(w);
    }
    json_write_close(w);
}

/* ---- clocks -------------------------------------------------------------------------------
 */

static void write_pace(struct json_writer *w, const struct pace *pace)
{
    double ratio = nan("");
    double se = nan("");
    (void)pace_read(pace, &ratio, &se);
    json_write_real(w, "pace", ratio);
    json_write_real(w, "pace_se", se);
}

static void write_clock(struct json_writer *w, const char *key, const struct pair_side *side)
{
    const struct clock_map *c = &side->clock;
    const bool known = c->state != CLOCK_MAP_NONE;
    const bool locked = c->state == CLOCK_MAP_LOCKED;
    json_write_object(w, key);
    json_write_text(w, "state", clock_map_state_name(c->state));
    json_write_seconds(w, "at", known ? c->at_us : LAB_TIME_NONE);
    json_write_real(w, "offset_s", known ? clock_map_offset_us(c, c->at_us) * 1e-6 : nan(""));
    json_write_real(w, "offset_se_s", known ? clock_map_sd_us(c, c->at_us) * 1e-6 : nan(""));
    json_write_real(w, "drift_ppm", locked ? c->drift * 1e6 : nan(""));
    json_write_real(w, "drift_se_ppm", locked ? c->drift_sd * 1e6 : nan(""));
    json_write_real(w, "jitter_s", known ? c->jitter_us * 1e-6 : nan(""));
    json_write_seconds(w, "round_trip_s", c->probed ? c->rtt_us : LAB_TIME_NONE);
    json_write_int(w, "samples", (int64_t)c->samples);
    json_write_int(w, "window_buckets", c->used);
    json_write_int(w, "probes", (int64_t)c->probes);
    json_write_int(w, "jumps", (int64_t)c->jumps);
    json_write_seconds(w, "last_jump_s", c->jumps > 0 ? c->last_jump_us : LAB_TIME_NONE);
    json_write_int(w, "restarts", (int64_t)c->restarts);
    json_write_int(w, "refused", (int64_t)c->refused);
    write_pace(w, &side->pace);
    json_write_close(w);
}

void pair_report_clock(struct json_writer *w, const char *key, const struct pair *pair,
                       const struct pair_params *p)
{
    (void)p;
    json_write_object(w, key);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        write_clock(w, side_name(s), &pair->side[s]);
    }
    json_write_close(w);
}

/* ---- parameter sets -----------------------------------------------------------------------
 */

void pair_report_parameters(struct json_writer *w, const char *key, const struct pair *pair,
                            const struct pair_params *p)
{
    json_write_object(w, key);
    json_write_text(w, "promote", p->promote == PAIR_PROMOTE_AUTO ? "auto" : "manual");
    parameters_report_book(w, &pair->parameters);
    json_write_close(w);
}

/* ---- counts -------------------------------------------------------------------------------
 */

void pair_report_counts(struct json_writer *w, const char *key, const struct pair *pair)
{
    json_write_object(w, key);
    for (enum verdict v = VERDICT_AHEAD; v < VERDICT_COUNT; v++) {
        json_write_int(w, verdict_name(v), (int64_t)pair->counts.verdict[v]);
    }
    json_write_close(w);
}

void pair_report_alarm_counts(struct json_writer *w, const char *key, const struct pair *pair)
{
    json_write_object(w, key);
    for (enum alarm_type t = ALARM_TIMEOUT; t < ALARM_TYPE_COUNT; t++) {
        json_write_int(w, alarm_type_name(t), (int64_t)pair->counts.alarm[t]);
    }
    json_write_close(w);
}

/* ---- machines -----------------------------------------------------------------------------
 */

static void write_machine(struct json_writer *w, const char *key,
                          const struct efsm_table *table, const struct efsm *m)
{
    json_write_object(w, key);
    json_write_text(w, "state", efsm_state_name(table, m->state));
    json_write_seconds(w, "since", m->entered_us);
    for (size_t k = 0; k < table->cell_count; k++) {
        if (m->defined & 1U << k) {
            json_write_real(w, table->cells[k], m->cell[k]);
        } else {
            json_write_null(w, table->cells[k]);
        }
    }
    json_write_close(w);
}

static void write_stats(struct json_writer *w, const struct efsm_table *table,
                        const struct efsm_stats *stats)
{
    json_write_object(w, "visits");
    for (size_t k = 0; k < table->state_count; k++) {
        json_write_int(w, table->states[k].name, stats->visits[k]);
    }
    json_write_close(w);
    json_write_object(w, "stay_s");
    for (size_t k = 0; k < table->state_count; k++) {
        json_write_seconds(w, table->states[k].name, stats->stay_us[k]);
    }
    json_write_close(w);
    json_write_int(w, "faults", stats->faults);
}

static void write_commands(struct json_writer *w, const struct pair *pair,
                           const struct pair_params *p, bool link)
{
    json_write_array(w, "commands");
    for (uint32_t k = pair_next_open(pair, 0); k < PAIR_OUTSTANDING_MAX;
         k = pair_next_open(pair, k + 1)) {
        const struct pair_slot *slot = &pair->slot[k];
        json_write_object(w, NULL);
        json_write_text(w, "id", slot->id[0] ? slot->id : NULL);
        if (link) {
            write_machine(w, "machine", &link_table, &pair_relay(pair, p, k)->link);
        } else {
            write_machine(w, "machine", &smartlog_table, &slot->logger);
        }
        json_write_close(w);
    }
    json_write_close(w);
}

/* Numbers of machines in the trace: pair.c, pair_link.c. */
static const struct efsm_table *table_of(uint16_t machine)
{
    if (machine < PAIR_OUTSTANDING_MAX) {
        return &smartlog_table;
    }
    return machine < 2 * PAIR_OUTSTANDING_MAX ? &link_table : &dispatch_table;
}

static void write_trace(struct json_writer *w, const struct efsm_trace *trace)
{
    const uint32_t kept = trace->count < EFSM_TRACE_MAX ? trace->count : EFSM_TRACE_MAX;
    json_write_array(w, "trace");
    for (uint32_t back = kept; back > 0; back--) {
        const struct efsm_step *step = &trace->step[(trace->count - back) % EFSM_TRACE_MAX];
        const struct efsm_table *table = table_of(step->machine);
        json_write_object(w, NULL);
        json_write_seconds(w, "t", step->t_us);
        json_write_text(w, "machine", table->name);
        json_write_int(w, "number", step->machine % PAIR_OUTSTANDING_MAX);
        json_write_text(w, "from", efsm_state_name(table, step->from));
        json_write_text(w, "to", efsm_state_name(table, step->to));
        json_write_text(w, "arc",
                        step->arc < table->arc_count ? table->arcs[step->arc].label : NULL);
        json_write_close(w);
    }
    json_write_close(w);
}

void pair_report_machines(struct json_writer *w, const char *key, const struct pair *pair,
                          const struct pair_following *following, const struct pair_params *p)
{
    json_write_object(w, key);
    json_write_object(w, "smartlog");
    write_commands(w, pair, p, false);
    write_stats(w, &smartlog_table, &pair->logger_stats);
    json_write_close(w);
    if (p->mode == PAIR_LINK) {
        json_write_object(w, "link");
        write_commands(w, pair, p, true);
        write_stats(w, &link_table, &pair->link_stats);
        json_write_close(w);
        json_write_object(w, "dispatch");
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            write_machine(w, side_name(s), &dispatch_table, &pair->side[s].dispatch);
        }
        write_stats(w, &dispatch_table, &pair->dispatch_stats);
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

static void write_side(struct json_writer *w, const char *key, const struct pair_side *side)
{
    json_write_object(w, key);
    json_write_bool(w, "seen", side->seen);
    json_write_seconds(w, "seen_t", side->seen_us);
    json_write_text(w, "connection",
                    !side->known   ? "unknown"
                    : side->online ? "online"
                                   : "offline");
    json_write_text(w, "boot", side->boot[0] ? side->boot : NULL);
    json_write_int(w, "telemetry", (int64_t)side->telemetry);
    json_write_int(w, "seq_missing", (int64_t)side->seq_missing);
    json_write_text(w, "clock", clock_map_state_name(side->clock.state));
    json_write_close(w);
}

/* What the last entries got. */
static void write_recent(struct json_writer *w, const struct pair *pair)
{
    int64_t count[VERDICT_COUNT] = {0};
    for (uint32_t k = 0; k < pair->recent_count; k++) {
        count[pair->recent[k]]++;
    }
    json_write_object(w, "recent_verdicts");
    for (enum verdict v = VERDICT_AHEAD; v < VERDICT_COUNT; v++) {
        json_write_int(w, verdict_name(v), count[v]);
    }
    json_write_close(w);
}

static const char *last_verdict(const struct pair *pair)
{
    const uint32_t newest = (pair->recent_next + PAIR_RECENT - 1) % PAIR_RECENT;
    return pair->recent_count > 0 ? verdict_name((enum verdict)pair->recent[newest]) : NULL;
}

/* Of the recorded ones. */
static void write_last_alarm(struct json_writer *w, const struct pair *pair)
{
    enum alarm_type last = ALARM_TYPE_COUNT;
    for (enum alarm_type type = ALARM_TIMEOUT; type < ALARM_TYPE_COUNT; type++) {
        if (pair->counts.alarm[type] > 0 &&
            (last == ALARM_TYPE_COUNT ||
             pair->alarm_rate[type].t_us > pair->alarm_rate[last].t_us)) {
            last = type;
        }
    }
    if (last == ALARM_TYPE_COUNT) {
        json_write_null(w, "last_alarm");
        return;
    }
    json_write_object(w, "last_alarm");
    json_write_seconds(w, "t", pair->alarm_rate[last].t_us);
    json_write_text(w, "type", alarm_type_name(last));
    json_write_close(w);
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
    json_write_object(w, "following");
    json_write_bool(w, "active", x->asked);
    json_write_text(w, "state", efsm_state_name(&following_table, x->f.machine.state));
    json_write_real(w, "within_ratio", r.within_ratio);
    json_write_real(w, "target_ratio",
                    p->following.target_m > 0.0 ? p->following.target_ratio : nan(""));
    json_write_bool(w, "missed", x->f.missed);
    json_write_close(w);
}

void pair_report_summary(struct json_writer *w, const char *key, const struct pair *pair,
                         const struct pair_following *following, const struct pair_params *p)
{
    json_write_object(w, key);
    json_write_text(w, "id", p->id);
    json_write_text(w, "kind", pair_kind_name(p->kind));
    json_write_text(w, "mode", pair_mode_name(p->mode));
    json_write_text(w, "dynamics",
                    pair_dynamics_wanted(&p->dynamics) ? p->dynamics.model : NULL);
    json_write_seconds(w, "sync_tolerance_s", p->sync_tolerance_us);
    json_write_int(w, "outstanding", pair->outstanding);
    json_write_int(w, "commands", (int64_t)pair->counts.commands);
    json_write_int(w, "replies", (int64_t)pair->counts.replies);
    json_write_int(w, "entries", (int64_t)pair->counts.entries);
    json_write_int(w, "alarms", (int64_t)pair->counts.alarms);
    json_write_int(w, "redelivered", (int64_t)pair->counts.redelivered);
    json_write_seconds(w, "last_lag_s", pair->last_lag_us);
    json_write_seconds(w, "last_lag_uncertainty_s", pair->last_lag_uncertainty_us);
    json_write_seconds(w, "last_entry_t", pair->last_entry_us);
    json_write_text(w, "last_verdict", last_verdict(pair));
    write_recent(w, pair);
    write_last_alarm(w, pair);
    pair_report_counts(w, "verdicts", pair);
    pair_report_alarm_counts(w, "alarm_counts", pair);
    if (p->mode == PAIR_LINK) {
        json_write_real(w, "virtual_lag_cycles", pair->link_lag_cycles);
    }
    write_side(w, "real", &pair->side[SIDE_REAL]);
    write_side(w, "virtual", &pair->side[SIDE_VIRTUAL]);
    write_following(w, following, p);
    json_write_close(w);
}
