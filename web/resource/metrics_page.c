/* web/resource/metrics_page.c - GET /metrics: the state of the lab, its pairs and the
 * server for Prometheus. */
#include <math.h>
#include <stddef.h>

#include "base/numbers/lab_time.h"
#include "twin/pair/clock_map.h"
#include "twin/report/following_report.h"
#include "web/http/metrics.h"
#include "web/resource/handlers.h"
#include "web/stream/stream.h"

/* Up to this many pairs have their own series; larger labs have sums only. A scrape of 10 000
 * pairs would otherwise be 30 MB. */
enum { PAIRS_MAX = 500 };

/* One pair of the page, for functions that write one sample each. */
struct sight {
    const struct view *view;
    size_t count; /* pairs with their own series */
};

struct family {
    const char *name, *help;
};

/* In the order of read_pair()'s values. */
static const struct family PAIR_METRICS[] = {
    {"tandem_outstanding_commands", "Commands open now."},
    {"tandem_last_lag_seconds", "Real lap minus virtual lap of the last entry."},
    {"tandem_link_lag_cycles", "Cycles the virtual robot lagged behind, all commands."},
    {"tandem_values_omitted_total",
     "Values of replies that were not compared: there is no room."},
};

static double read_pair(const struct view *view, size_t i, size_t metric)
{
    const struct pair *pair = view->pairs[i];
    const double values[] = {
        (double)pair->outstanding,
        pair->last_lag_us == LAB_TIME_NONE ? nan("") : lab_s(pair->last_lag_us),
        view->params[i].mode == PAIR_LINK ? pair->link_lag_cycles : nan(""),
        (double)pair->counts.values_omitted,
    };
    _Static_assert(COUNT(values) == COUNT(PAIR_METRICS), "a value for each");
    return values[metric];
}

/* In the order of read_side()'s values. */
static const struct family SIDE_METRICS[] = {
    {"tandem_robot_online", "1 when the robot's connection message is online."},
    {"tandem_robot_silence_seconds", "Time since the robot's last message."},
    {"tandem_clock_offset_seconds", "Lab time minus the robot's clock."},
    {"tandem_clock_offset_sd_seconds", "Standard deviation of the clock offset."},
    {"tandem_clock_drift_ratio", "Drift of the clock offset, seconds per second."},
    {"tandem_angular_speed_radians_per_second", "Angular speed tracked from the laps."},
    {"tandem_linear_speed_meters_per_second", "Linear speed tracked from the laps."},
    {"tandem_telemetry_samples_total", "Telemetry samples received."},
    {"tandem_telemetry_missing_total", "Telemetry samples that never came, by gaps in seq."},
    {"tandem_moves_total", "Moves the calibration could use."},
    {"tandem_moves_excluded_total", "Moves not used: timeouts, errors and the like."},
};

/* Computes 1/w and 1/v of the filter after its first moves; a slowness that is not positive is
 * no speed. */
static double read_speed(const struct pair_side *side, enum travel_term term)
{
    const double slowness = side->kalman.beta[term];
    return side->kalman.n > 0 && slowness > 0.0 ? 1.0 / slowness : nan("");
}

static double read_side(const struct pair_side *side, int64_t t_us, size_t metric)
{
    const struct clock_map *map = &side->clock;
    const double values[] = {
        side->known ? (double)side->online : nan(""),
        side->seen ? lab_s(t_us - side->seen_us) : nan(""),
        map->state == CLOCK_MAP_NONE
            ? nan("")
            : (map->offset_us + map->drift * (double)(t_us - map->at_us)) * 1e-6,
        clock_map_sd_us(map, t_us) * 1e-6,
        map->state == CLOCK_MAP_LOCKED ? map->drift : nan(""),
        read_speed(side, TRAVEL_INV_W),
        read_speed(side, TRAVEL_INV_V),
        (double)side->telemetry,
        (double)side->seq_missing,
        (double)side->moves,
        (double)side->moves_excluded,
    };
    _Static_assert(COUNT(values) == COUNT(SIDE_METRICS), "a value for each");
    return values[metric];
}

/* In the order of read_forecast()'s values. */
static const struct family FORECAST_METRICS[] = {
    {"tandem_forecast_held_ratio", "Share of the last 100 forecasts at 95 % that held."},
    {"tandem_forecast_spread_seconds", "Mean size of a forecast's error."},
};

static double read_forecast(const struct forecast *f, enum forecast_quantity q, size_t metric)
{
    const struct forecast_spread *spread = &f->spread[q];
    const double values[] = {
        f->judged[q] > 0 ? (double)forecast_held(f, q) / f->judged[q] : nan(""),
        spread->s0 > 0.0 ? spread->t0 / spread->s0 : nan(""),
    };
    _Static_assert(COUNT(values) == COUNT(FORECAST_METRICS), "a value for each");
    return values[metric];
}

/* Writes a sample of pair i with one additional label; NULL: none. */
static void write_sample(struct metrics *m, const struct sight *s, size_t i, const char *label,
                         const char *text, double value)
{
    const struct metric_label labels[] = {{"pair", s->view->params[i].id}, {label, text}};
    metrics_sample(m, labels, label ? 2 : 1, value);
}

static void write_forecasts(struct metrics *m, const struct sight *s)
{
    for (size_t k = 0; k < COUNT(FORECAST_METRICS); k++) {
        metrics_family(m, FORECAST_METRICS[k].name, FORECAST_METRICS[k].help);
        for (size_t i = 0; i < s->count * FORECAST_QUANTITIES; i++) {
            const struct pair *pair = s->view->pairs[i / FORECAST_QUANTITIES];
            const enum forecast_quantity q = (enum forecast_quantity)(i % FORECAST_QUANTITIES);
            write_sample(m, s, i / FORECAST_QUANTITIES, "quantity", forecast_quantity_name(q),
                         read_forecast(&pair->forecast, q, k));
        }
    }
}

static void write_pair_metrics(struct metrics *m, const struct sight *s)
{
    write_forecasts(m, s);
    for (size_t k = 0; k < COUNT(PAIR_METRICS); k++) {
        metrics_family(m, PAIR_METRICS[k].name, PAIR_METRICS[k].help);
        for (size_t i = 0; i < s->count; i++) {
            write_sample(m, s, i, NULL, NULL, read_pair(s->view, i, k));
        }
    }
    for (size_t k = 0; k < COUNT(SIDE_METRICS); k++) {
        metrics_family(m, SIDE_METRICS[k].name, SIDE_METRICS[k].help);
        for (size_t i = 0; i < s->count * SIDE_COUNT; i++) {
            const enum side side = (enum side)(i % SIDE_COUNT);
            write_sample(
                m, s, i / SIDE_COUNT, "side", side_name(side),
                read_side(&s->view->pairs[i / SIDE_COUNT]->side[side], s->view->t_us, k));
        }
    }
}

static void write_states(struct metrics *m, const struct sight *s, size_t i)
{
    for (size_t k = 0; k < FOLLOWING_STATE_COUNT; k++) {
        write_sample(m, s, i, "state", efsm_state_name(&following_table, (uint8_t)k),
                     s->view->following[i]->f.machine.state == k ? 1.0 : 0.0);
    }
}

static void write_rmse(struct metrics *m, const struct sight *s, size_t i,
                       const struct fidelity_report *report)
{
    for (size_t k = 0; k < report->states; k++) {
        char name[32];
        following_state_name(pair_following_model(s->view->following[i]), k, name);
        write_sample(m, s, i, "state", name, report->rmse[k]);
    }
}

/* Writes series of pairs that follow. */
static void write_following(struct metrics *m, const struct sight *s)
{
    enum { STATE, EFFORTS, RMSE, WITHIN, FAMILIES };
    static const struct family families[FAMILIES] = {
        {"tandem_following_state", "1 for the state that the following of the pair is in."},
        {"tandem_following_efforts_total",
         "Efforts for the virtual robot, those that came too late included."},
        {"tandem_fidelity_rmse",
         "Root mean square of virtual minus real over the window, in the state's unit."},
        {"tandem_fidelity_within_ratio", "Share of the window's samples that met the target."}};
    for (int k = 0; k < FAMILIES; k++) {
        metrics_family(m, families[k].name, families[k].help);
        for (size_t i = 0; i < s->count; i++) {
            const struct pair_following *x = s->view->following[i];
            struct fidelity_report report;
            if (!x) {
                continue;
            }
            fidelity_report_read(x, &s->view->params[i], &report);
            if (k == STATE) {
                write_states(m, s, i);
            } else if (k == RMSE) {
                write_rmse(m, s, i, &report);
            } else {
                write_sample(m, s, i, NULL, NULL,
                             k == EFFORTS ? (double)x->sent : report.within_ratio);
            }
        }
    }
}

static void write_sweeps(struct metrics *m, const char *pair, enum side side,
                         const char *outcome, uint64_t count)
{
    const struct metric_label labels[] = {
        {"pair", pair}, {"side", side_name(side)}, {"outcome", outcome}};
    metrics_count(m, labels, COUNT(labels), count);
}

static void write_map(struct metrics *m, const char *pair, const struct live_map *map)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct live_map_robot *r = &map->robot[side];
        write_sweeps(m, pair, (enum side)side, "too soon", r->early);
        for (size_t k = 0; k < SCAN_OUTCOME_COUNT; k++) {
            write_sweeps(m, pair, (enum side)side, scan_outcome_name((enum scan_outcome)k),
                         r->track.outcomes[k]);
        }
        for (size_t k = 0; k < SWEEP_REFUSAL_COUNT; k++) {
            write_sweeps(m, pair, (enum side)side, sweep_refusal_name((enum sweep_refusal)k),
                         r->collector.refused[k]);
        }
    }
}

/* Writes series of pairs that make a map. */
static void write_maps(struct metrics *m, const struct sight *s)
{
    metrics_family(m, "tandem_map_sweeps_total",
                   "Sweeps for the map by outcome, without the one that began it.");
    for (size_t i = 0; i < s->count; i++) {
        if (s->view->maps[i]) {
            write_map(m, s->view->params[i].id, s->view->maps[i]);
        }
    }
    metrics_family(m, "tandem_map_drift_meters",
                   "Distance of the stated pose from that on the map, at the last sweep.");
    for (size_t i = 0; i < s->count * SIDE_COUNT; i++) {
        const struct live_map *map = s->view->maps[i / SIDE_COUNT];
        const enum side side = (enum side)(i % SIDE_COUNT);
        if (map && map->robot[side].track.begun) {
            const struct map_track *t = &map->robot[side].track;
            write_sample(m, s, i / SIDE_COUNT, "side", side_name(side),
                         hypot(t->odometry.x_m - t->belief.at.x_m,
                               t->odometry.y_m - t->belief.at.y_m));
        }
    }
}

/* Counters by name, for each pair and summed over the lab; the sums include pairs without their
 * own series. */
static const struct counted {
    const char *name, *help, *lab_name, *lab_help, *by;
    const struct names *names;
    size_t place; /* offset of a uint64_t for each name in struct pair */
} COUNTED[] = {
    {"tandem_entries_total", "Commands closed, by verdict.", "tandem_lab_entries_total",
     "Commands closed in the whole lab, by verdict.", "verdict", &verdict_names,
     offsetof(struct pair, counts.verdict)},
    {"tandem_consistency_total",
     "Commands closed, by whether the two replies agreed; unknown: one was missing.",
     "tandem_lab_consistency_total",
     "Commands closed in the whole lab, by whether the two replies agreed.", "consistent",
     &consistency_names, offsetof(struct pair, counts.consistency)},
    {"tandem_alarms_total", "Alarms by type, including those that the rate limit suppressed.",
     "tandem_lab_alarms_total", "Alarms in the whole lab, by type.", "type", &alarm_type_names,
     offsetof(struct pair, counts.alarm)},
};

static const uint64_t *read_counts(const struct view *view, size_t i, const struct counted *c)
{
    return (const uint64_t *)(const void *)((const char *)view->pairs[i] + c->place);
}

static void write_counted(struct metrics *m, const struct sight *s)
{
    for (const struct counted *c = COUNTED; c < COUNTED + COUNT(COUNTED); c++) {
        uint64_t sum[VERDICT_COUNT + ALARM_TYPE_COUNT] = {0};
        for (size_t i = 0; i < s->view->pair_count; i++) {
            for (size_t k = 0; k < c->names->count; k++) {
                sum[k] += read_counts(s->view, i, c)[k];
            }
        }
        metrics_family(m, c->lab_name, c->lab_help);
        metrics_by_name(m, NULL, c->by, c->names, sum);
    }
    for (const struct counted *c = COUNTED; c < COUNTED + COUNT(COUNTED); c++) {
        metrics_family(m, c->name, c->help);
        for (size_t i = 0; i < s->count; i++) {
            const struct metric_label label = {"pair", s->view->params[i].id};
            metrics_by_name(m, &label, c->by, c->names, read_counts(s->view, i, c));
        }
    }
}

/* Writes series of pairs that take missions. */
static void write_missions(struct metrics *m, const struct sight *s)
{
    enum { STATES, REASONS, WAITING, FAMILIES };
    static const struct family families[FAMILIES] = {
        {"tandem_missions_total", "Missions of the pair, by the states that they entered."},
        {"tandem_missions_failed_total", "Failed missions of the pair, by their reason."},
        {"tandem_missions_waiting", "Missions of the pair that wait for their turn."},
    };
    const struct names reasons = {mission_code_names.text + 1, mission_code_names.count - 1};
    for (size_t k = 0; k < FAMILIES; k++) {
        metrics_family(m, families[k].name, families[k].help);
        for (size_t i = 0; i < s->count; i++) {
            const struct pair_missions *x = s->view->missions[i];
            const struct metric_label label = {"pair", s->view->params[i].id};
            if (x && k == STATES) {
                metrics_by_name(m, &label, "state", &mission_state_names, x->count);
            } else if (x && k == REASONS) {
                metrics_by_name(m, &label, "reason", &reasons, x->failed + 1);
            } else if (x) {
                write_sample(m, s, i, NULL, NULL,
                             (double)pair_missions_waiting(x, &s->view->params[i]));
            }
        }
    }
}

static uint64_t sum_left_out(const struct view *view)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < view->pair_count; i++) {
        sum += view->pairs[i]->counts.values_omitted;
    }
    return sum;
}

static void write_lab(struct metrics *m, const struct sight *s)
{
    const struct view *view = s->view;
    struct health_part parts[HEALTH_PART_COUNT];
    health_parts(&view->health, parts);
    metrics_family(m, "tandem_ready", "1 for each part that is as it should be.");
    for (size_t i = 0; i < HEALTH_PART_COUNT; i++) {
        const struct metric_label label = {"part", parts[i].name};
        metrics_sample(m, &label, 1, parts[i].ok ? 1.0 : 0.0);
    }
    metrics_gauge(m, "tandem_pairs", "Pairs of the lab.", (double)view->pair_count);
    metrics_gauge(m, "tandem_pairs_without_series",
                  "Pairs beyond the bound of this page: in the sums only.",
                  (double)(view->pair_count - s->count));
    metrics_gauge(m, "tandem_start_time_seconds", "Lab time of the daemon's start.",
                  lab_s(view->started_us));
    metrics_family(m, "tandem_events_total", "Events processed, by kind.");
    metrics_by_name(m, NULL, "kind", &event_kind_names, view->counts.events);
    const struct metric_counter rows[] = {
        {"tandem_unknown_pair_total", "Messages to pairs the lab does not have.",
         view->counts.unknown_pair},
        {"tandem_redelivered_total", "Messages that were delivered again.",
         view->counts.redelivered},
        {"tandem_ambiguous_total", "Messages that may be duplicates, without a proof.",
         view->counts.ambiguous},
        {"tandem_lab_values_omitted_total",
         "Values of replies in the whole lab that were not compared for lack of room.",
         sum_left_out(view)},
        {"tandem_forgotten_early_total",
         "Messages and ids that were forgotten before broker.remember_s.",
         view->counts.forgotten_early},
        {"tandem_retained_total",
         "Commands and replies the broker had kept: old ones, passed over.",
         view->counts.retained},
        {"tandem_out_of_order_total", "Events with a time before that of the previous one.",
         view->counts.out_of_order},
        {"tandem_starts_total", "Runs of the daemon in this journal.", view->counts.starts},
    };
    metrics_counters(m, rows, COUNT(rows));
}

static void write_server(struct metrics *m, struct web_context *context)
{
    static const char *const classes[WEB_STATUS_CLASS_COUNT] = {"0xx", "1xx", "2xx",
                                                                "3xx", "4xx", "5xx"};
    metrics_family(m, "tandem_http_requests_total",
                   "HTTP requests answered, by class of the status.");
    for (size_t i = 2; i < WEB_STATUS_CLASS_COUNT; i++) {
        const struct metric_label label = {"status", classes[i]};
        metrics_count(m, &label, 1, atomic_load(&context->answered[i]));
    }
    metrics_family(m, "tandem_http_refused_total",
                   "HTTP requests refused because of the client, by reason.");
    for (int k = 0; k < WEB_REFUSAL_COUNT; k++) {
        const struct metric_label label = {"reason", names_text(&web_refusal_names, (size_t)k)};
        metrics_count(m, &label, 1, atomic_load(&context->refused[k]));
    }
    metrics_counter(m, "tandem_http_hung_up_total",
                    "Connections closed: no whole request in time, or their place was needed.",
                    atomic_load(&context->hung_up));
    metrics_gauge(m, "tandem_http_connections_max",
                  "Connections that there is room for, listeners apart.",
                  (double)context->room.connections);
    metrics_gauge(m, "tandem_http_listeners_max",
                  "Listeners to /api/v1/events that there is room for.",
                  (double)context->room.listeners);
    metrics_gauge(m, "tandem_http_open_requests",
                  "Requests begun and not yet ended, this one and listeners included.",
                  (double)atomic_load(&context->open_requests));
}

static void write_streams(struct metrics *m, struct web_context *context)
{
    struct event_hub_counts hub;
    if (!context->streams) {
        return;
    }
    event_hub_read_counts(context->source->events, &hub);
    const struct streams_counts *s = streams_counts(context->streams);
    metrics_gauge(m, "tandem_stream_listeners", "Listeners to /api/v1/events now.",
                  (double)s->clients);
    const struct metric_counter rows[] = {
        {"tandem_stream_opened_total", "Listeners that came.", s->opened},
        {"tandem_stream_refused_total", "Listeners turned away: too many.", s->refused},
        {"tandem_stream_missed_total", "Events that slow listeners missed.", s->missed},
        {"tandem_stream_cut_total",
         "Listeners cut off in the middle of an event: they were far too slow.", s->cut},
        {"tandem_stream_too_long_total", "Events too long for the stream.", hub.too_long},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_family(m, "tandem_stream_events_total", "Events published to the stream, by type.");
    metrics_by_name(m, NULL, "type", &event_type_names, hub.published);
}

void get_metrics(const struct web_request *request, struct web_response *response)
{
    const struct view *view = request->view;
    const struct web_source *source = request->context->source;
    const struct sight sight = {view,
                                view->pair_count < PAIRS_MAX ? view->pair_count : PAIRS_MAX};
    struct metrics m = {.out = &response->body};
    response->media_type = "text/plain; version=0.0.4; charset=utf-8";
    write_lab(&m, &sight);
    write_counted(&m, &sight);
    write_pair_metrics(&m, &sight);
    if (view->following) {
        write_following(&m, &sight);
    }
    if (view->missions) {
        write_missions(&m, &sight);
    }
    if (view->maps) {
        write_maps(&m, &sight);
    }
    write_server(&m, request->context);
    write_streams(&m, request->context);
    if (source->metrics) {
        source->metrics(source->context, &m);
    }
}
