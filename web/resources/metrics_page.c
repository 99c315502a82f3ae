#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/lab_time.h"
#include "identification/travel/travel_time.h"
#include "twin/pair/clock_map.h"
#include "twin/report/following_report.h"
#include "web/http/metrics.h"
#include "web/resources/handlers.h"
#include "web/stream/stream.h"

/* Series of their own are given to so many pairs; beyond, a lab has sums only. A scrape of
 * 10 000 pairs would otherwise be 30 MB. */
enum { PAIRS_MAX = 500 };

/* One pair of the page, for the functions that give one sample each. */
struct sight {
    const struct view *view;
    size_t count; /* pairs with series of their own */
};

typedef double pair_value(const struct pair *pair, const struct pair_params *p, int64_t t_us);
typedef double side_value(const struct pair_side *side, int64_t t_us);

static double read_outstanding(const struct pair *pair, const struct pair_params *p,
                               int64_t t_us)
{
    (void)p;
    (void)t_us;
    return (double)pair->outstanding;
}

static double read_last_lag(const struct pair *pair, const struct pair_params *p, int64_t t_us)
{
    (void)p;
    (void)t_us;
    return pair->last_lag_us == LAB_TIME_NONE ? nan("") : lab_s(pair->last_lag_us);
}

static double read_link_lag(const struct pair *pair, const struct pair_params *p, int64_t t_us)
{
    (void)t_us;
    return p->mode == PAIR_LINK ? pair->link_lag_cycles : nan("");
}

static double read_online(const struct pair_side *side, int64_t t_us)
{
    (void)t_us;
    return side->known ? (double)side->online : nan("");
}

static double read_silence(const struct pair_side *side, int64_t t_us)
{
    return side->seen ? lab_s(t_us - side->seen_us) : nan("");
}

static double read_clock_offset(const struct pair_side *side, int64_t t_us)
{
    const struct clock_map *map = &side->clock;
    if (map->state == CLOCK_MAP_NONE) {
        return nan("");
    }
    return (map->offset_us + map->drift * (double)(t_us - map->at_us)) * 1e-6;
}

static double read_clock_sd(const struct pair_side *side, int64_t t_us)
{
    return clock_map_sd_us(&side->clock, t_us) * 1e-6;
}

static double read_clock_drift(const struct pair_side *side, int64_t t_us)
{
    (void)t_us;
    return side->clock.state == CLOCK_MAP_LOCKED ? side->clock.drift : nan("");
}

/* 1/w and 1/v of the filter, once it has seen moves; a slowness that is not positive is no
 * speed. */
static double read_speed(const struct pair_side *side, enum travel_term term)
{
    const double slowness = side->kalman.beta[term];
    return side->kalman.n > 0 && slowness > 0.0 ? 1.0 / slowness : nan("");
}

static double read_angular_speed(const struct pair_side *side, int64_t t_us)
{
    (void)t_us;
    return read_speed(side, TRAVEL_INV_W);
}

static double read_linear_speed(const struct pair_side *side, int64_t t_us)
{
    (void)t_us;
    return read_speed(side, TRAVEL_INV_V);
}

static const struct {
    const char *name, *help;
    pair_value *value;
} PAIR_GAUGES[] = {
    {"tandem_outstanding_commands", "Commands open now.", read_outstanding},
    {"tandem_last_lag_seconds", "Real lap minus virtual lap of the last entry.", read_last_lag},
    {"tandem_link_lag_cycles", "Cycles the virtual robot lagged behind, all commands.",
     read_link_lag},
};

static const struct {
    const char *name, *help;
    side_value *value;
} SIDE_GAUGES[] = {
    {"tandem_robot_online", "1 when the robot's connection topic says online.", read_online},
    {"tandem_robot_silence_seconds", "Time since the robot's last message.", read_silence},
    {"tandem_clock_offset_seconds", "Lab time minus the robot's clock.", read_clock_offset},
    {"tandem_clock_offset_sd_seconds", "Standard deviation of the clock offset.",
     read_clock_sd},
    {"tandem_clock_drift_ratio", "Drift of the clock offset, seconds per second.",
     read_clock_drift},
    {"tandem_angular_speed_radians_per_second", "Angular speed tracked from the laps.",
     read_angular_speed},
    {"tandem_linear_speed_meters_per_second", "Linear speed tracked from the laps.",
     read_linear_speed},
};

static const struct {
    const char *name, *help;
    size_t place; /* of a uint64_t in struct pair_side */
} SIDE_COUNTERS[] = {
    {"tandem_telemetry_samples_total", "Telemetry samples received.",
     offsetof(struct pair_side, telemetry)},
    {"tandem_telemetry_missing_total", "Telemetry samples that never came, by gaps in seq.",
     offsetof(struct pair_side, seq_missing)},
    {"tandem_moves_total", "Moves the calibration could use.",
     offsetof(struct pair_side, moves)},
    {"tandem_moves_excluded_total", "Moves left out: timeouts, errors and the like.",
     offsetof(struct pair_side, moves_excluded)},
};

static void write_pair_gauges(struct metrics *m, const struct sight *s)
{
    for (size_t k = 0; k < COUNT(PAIR_GAUGES); k++) {
        metrics_family(m, PAIR_GAUGES[k].name, METRIC_GAUGE, PAIR_GAUGES[k].help);
        for (size_t i = 0; i < s->count; i++) {
            const struct metric_label label = {"pair", s->view->params[i].id};
            metrics_sample(
                m, &label, 1,
                PAIR_GAUGES[k].value(s->view->pairs[i], &s->view->params[i], s->view->t_us));
        }
    }
}

static void write_side_metrics(struct metrics *m, const struct sight *s)
{
    const size_t gauges = COUNT(SIDE_GAUGES);
    for (size_t k = 0; k < gauges + COUNT(SIDE_COUNTERS); k++) {
        if (k < gauges) {
            metrics_family(m, SIDE_GAUGES[k].name, METRIC_GAUGE, SIDE_GAUGES[k].help);
        } else {
            metrics_family(m, SIDE_COUNTERS[k - gauges].name, METRIC_COUNTER,
                           SIDE_COUNTERS[k - gauges].help);
        }
        for (size_t i = 0; i < s->count * SIDE_COUNT; i++) {
            const struct pair_side *side =
                &s->view->pairs[i / SIDE_COUNT]->side[i % SIDE_COUNT];
            const struct metric_label labels[] = {
                {"pair", s->view->params[i / SIDE_COUNT].id},
                {"side", side_name((enum side)(i % SIDE_COUNT))}};
            if (k < gauges) {
                metrics_sample(m, labels, COUNT(labels),
                               SIDE_GAUGES[k].value(side, s->view->t_us));
            } else {
                uint64_t count = 0;
                memcpy(&count, (const char *)side + SIDE_COUNTERS[k - gauges].place,
                       sizeof count);
                metrics_count(m, labels, COUNT(labels), count);
            }
        }
    }
}

/* Of the pairs that follow. */
static void write_following_states(struct metrics *m, const struct sight *s)
{
    metrics_family(m, "tandem_following_state", METRIC_GAUGE,
                   "1 for the state that the following of the pair is in.");
    for (size_t i = 0; i < s->count; i++) {
        const struct pair_following *x = s->view->following[i];
        for (size_t k = 0; x && k < FOLLOWING_STATE_COUNT; k++) {
            const struct metric_label labels[] = {
                {"pair", s->view->params[i].id},
                {"state", efsm_state_name(&following_table, (uint8_t)k)}};
            metrics_sample(m, labels, COUNT(labels), x->f.machine.state == k ? 1.0 : 0.0);
        }
    }
    metrics_family(m, "tandem_following_efforts_total", METRIC_COUNTER,
                   "Efforts for the virtual robot, those that came too late included.");
    for (size_t i = 0; i < s->count; i++) {
        const struct metric_label label = {"pair", s->view->params[i].id};
        if (s->view->following[i]) {
            metrics_count(m, &label, 1, s->view->following[i]->sent);
        }
    }
}

static void write_fidelity(struct metrics *m, const struct sight *s)
{
    struct fidelity_report r;
    metrics_family(m, "tandem_fidelity_rmse", METRIC_GAUGE,
                   "Root mean square of virtual minus real over the window, in the state's "
                   "unit.");
    for (size_t i = 0; i < s->count; i++) {
        const struct pair_following *x = s->view->following[i];
        if (!x) {
            continue;
        }
        fidelity_report_read(x, &s->view->params[i], &r);
        for (size_t k = 0; k < r.states; k++) {
            char name[32];
            following_state_name(pair_following_model(x), k, name);
            const struct metric_label labels[] = {{"pair", s->view->params[i].id},
                                                  {"state", name}};
            metrics_sample(m, labels, COUNT(labels), r.rmse[k]);
        }
    }
    metrics_family(m, "tandem_fidelity_within_ratio", METRIC_GAUGE,
                   "Share of the window's samples that met the target.");
    for (size_t i = 0; i < s->count; i++) {
        const struct metric_label label = {"pair", s->view->params[i].id};
        if (s->view->following[i]) {
            fidelity_report_read(s->view->following[i], &s->view->params[i], &r);
            metrics_sample(m, &label, 1, r.within_ratio);
        }
    }
}

static void write_verdicts(struct metrics *m, const struct sight *s)
{
    metrics_family(m, "tandem_entries_total", METRIC_COUNTER, "Commands closed, by verdict.");
    for (size_t i = 0; i < s->count; i++) {
        const struct metric_label label = {"pair", s->view->params[i].id};
        metrics_by_name(m, &label, "verdict", &verdict_names,
                        s->view->pairs[i]->counts.verdict);
    }
    metrics_family(m, "tandem_alarms_total", METRIC_COUNTER,
                   "Odd things, by type; those the rate limit left out included.");
    for (size_t i = 0; i < s->count; i++) {
        const struct metric_label label = {"pair", s->view->params[i].id};
        metrics_by_name(m, &label, "type", &alarm_type_names, s->view->pairs[i]->counts.alarm);
    }
}

/* Sums over every pair, also those without series of their own. */
static void write_sums(struct metrics *m, const struct view *view)
{
    uint64_t verdict[VERDICT_COUNT] = {0};
    uint64_t alarm[ALARM_TYPE_COUNT] = {0};
    for (size_t i = 0; i < view->pair_count; i++) {
        for (int k = 0; k < VERDICT_COUNT; k++) {
            verdict[k] += view->pairs[i]->counts.verdict[k];
        }
        for (int k = 0; k < ALARM_TYPE_COUNT; k++) {
            alarm[k] += view->pairs[i]->counts.alarm[k];
        }
    }
    metrics_family(m, "tandem_lab_entries_total", METRIC_COUNTER,
                   "Commands closed in the whole lab, by verdict.");
    metrics_by_name(m, NULL, "verdict", &verdict_names, verdict);
    metrics_family(m, "tandem_lab_alarms_total", METRIC_COUNTER,
                   "Odd things in the whole lab, by type.");
    metrics_by_name(m, NULL, "type", &alarm_type_names, alarm);
}

static void write_lab(struct metrics *m, const struct sight *s)
{
    const struct view *view = s->view;
    struct health_part parts[HEALTH_PART_COUNT];
    health_parts(&view->health, parts);
    metrics_family(m, "tandem_ready", METRIC_GAUGE, "1 for each part that is as it should be.");
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
    metrics_family(m, "tandem_events_total", METRIC_COUNTER, "Events taken in, by kind.");
    metrics_by_name(m, NULL, "kind", &event_kind_names, view->counts.events);
    const struct metric_counter rows[] = {
        {"tandem_unknown_pair_total", "Messages to pairs the lab does not have.",
         view->counts.unknown_pair},
        {"tandem_redelivered_total", "Messages that were delivered again.",
         view->counts.redelivered},
        {"tandem_retained_total",
         "Commands and replies the broker had kept: old ones, passed over.",
         view->counts.retained},
        {"tandem_out_of_order_total", "Events whose time lay before the one before.",
         view->counts.out_of_order},
        {"tandem_starts_total", "Runs of the daemon in this journal.", view->counts.starts},
    };
    metrics_counters(m, rows, COUNT(rows));
}

static void write_server(struct metrics *m, struct web_context *context)
{
    static const char *const classes[WEB_STATUS_CLASS_COUNT] = {"0xx", "1xx", "2xx",
                                                                "3xx", "4xx", "5xx"};
    metrics_family(m, "tandem_http_requests_total", METRIC_COUNTER,
                   "HTTP requests answered, by class of the status.");
    for (size_t i = 2; i < WEB_STATUS_CLASS_COUNT; i++) {
        const struct metric_label label = {"status", classes[i]};
        metrics_count(m, &label, 1, atomic_load(&context->answered[i]));
    }
    metrics_family(m, "tandem_http_refused_total", METRIC_COUNTER,
                   "HTTP requests refused for who asked, by reason.");
    for (int k = 0; k < WEB_REFUSAL_COUNT; k++) {
        const struct metric_label label = {"reason", names_text(&web_refusal_names, (size_t)k)};
        metrics_count(m, &label, 1, atomic_load(&context->refused[k]));
    }
}

static void write_streams(struct metrics *m, struct web_context *context)
{
    struct event_hub_counts hub;
    struct streams_counts s;
    if (!context->streams) {
        return;
    }
    event_hub_read_counts(context->source->events, &hub);
    streams_read_counts(context->streams, &s);
    metrics_gauge(m, "tandem_stream_listeners", "Listeners to /api/v1/events now.",
                  (double)s.clients);
    const struct metric_counter rows[] = {
        {"tandem_stream_opened_total", "Listeners that came.", s.opened},
        {"tandem_stream_refused_total", "Listeners turned away: too many.", s.refused},
        {"tandem_stream_missed_total",
         "Events that listeners have not heard: they were too slow.", s.missed},
        {"tandem_stream_cut_total",
         "Listeners cut off in the middle of an event: they were far too slow.", s.cut},
        {"tandem_stream_too_long_total", "Events too long for the stream.", hub.too_long},
    };
    metrics_counters(m, rows, COUNT(rows));
    metrics_family(m, "tandem_stream_events_total", METRIC_COUNTER,
                   "Events published to the stream, by type.");
    metrics_by_name(m, NULL, "type", &event_type_names, hub.published);
}

void get_metrics(const struct web_request *request, struct web_response *response)
{
    const struct view *view = request->view;
    const struct web_source *source = request->context->source;
    const struct sight sight = {view,
                                view->pair_count < PAIRS_MAX ? view->pair_count : PAIRS_MAX};
    struct metrics m;
    response->media_type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_start(&m, &response->body);
    write_lab(&m, &sight);
    write_sums(&m, view);
    write_verdicts(&m, &sight);
    write_pair_gauges(&m, &sight);
    write_side_metrics(&m, &sight);
    if (view->following) {
        write_following_states(&m, &sight);
        write_fidelity(&m, &sight);
    }
    write_server(&m, request->context);
    write_streams(&m, request->context);
    if (source->metrics) {
        source->metrics(source->context, &m);
    }
}
