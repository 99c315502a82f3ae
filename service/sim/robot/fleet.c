/* service/sim/robot/fleet.c - runs the fleet: start, periods, end. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers/hash.h"
#include "service/sim/robot/fleet_parts.h"
#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    WAIT_MAX_US = 50 * 1000, /* longest delay before a signal is noticed */
    STOP_MS = 2000,
    RESYNC_US = 1000 * 1000, /* a fleet that is later than this skips the lost time */
    REBOOT_US = 1500 * 1000, /* duration of a restart */
    PHASE_US = 5000,         /* shortest phase of a period, in real time */
    /* robots greeted at once, so that the client's buffer does not overflow */
    GREET_AT_ONCE = 100
};

/* --- robots ------------------------------------------------------------------------------ */

static uint64_t seed_of(const struct fleet *f, const struct fleet_robot *r)
{
    const uint64_t words[] = {(uint64_t)f->options.seed, r->pair, r->side, r->boots};
    return hash_bytes(HASH_START, words, sizeof words);
}

static void name_boot(struct fleet *f, struct fleet_robot *r)
{
    const uint64_t words[] = {(uint64_t)f->start_us, (uint64_t)getpid(), r->pair, r->side,
                              r->boots};
    const uint64_t mark = hash_bytes(HASH_START, words, sizeof words);
    (void)snprintf(r->boot, sizeof r->boot, "%08" PRIx32, (uint32_t)(mark ^ (mark >> 32)));
}

/* Draws gains around the nominal ones, because motors differ. */
static void draw_gains(const struct fleet *f, struct fleet_robot *r)
{
    static const char *const gains[] = {"gain_left_ratio", "gain_right_ratio", "gain1_ratio",
                                        "gain2_ratio",     "gain3_ratio",      "gain4_ratio",
                                        "gain5_ratio",     "gain6_ratio"};
    struct random_source random = {.state = seed_of(f, r) ^ 1};
    for (size_t i = 0; i < COUNT(gains) && f->options.mismatch_ratio > 0.0; i++) {
        const int k = robot_parameter_find(f->options.kind, gains[i]);
        if (k >= 0) {
            const struct robot_parameter *row = &f->options.kind->parameters[k];
            const double drawn = 1.0 + f->options.mismatch_ratio * random_normal(&random);
            r->parameters[k] = fmin(fmax(r->parameters[k] * drawn, row->min), row->max);
        }
    }
}

static void boot_robot(struct fleet *f, struct fleet_robot *r, const double *pose, size_t count)
{
    struct robot_setup setup = {.parameters = r->parameters,
                                .world = f->options.world,
                                .machine = f->options.machine,
                                .seed = seed_of(f, r),
                                .start_us = f->sim_us,
                                .period_us = f->period_us,
                                .pose_count = count};
    memcpy(setup.pose, pose, count * sizeof setup.pose[0]);
    f->options.kind->init(r->memory, &setup);
    name_boot(f, r);
    r->telemetry_seq = 0;
    r->boots++;
}

/* Robots' time of one phase. */
static int64_t phase_us(const struct fleet *f)
{
    return f->period_us / f->phases;
}

/* Real time of all phases together. */
static int64_t real_period_us(const struct fleet *f)
{
    return f->executive.period_us * f->phases;
}

/* Chooses the phase in which a robot moves, and the period of its first telemetry. */
static void place_robot(struct fleet *f, struct fleet_robot *r)
{
    const double hz = f->options.telemetry_hz;
    const int64_t every_us = hz > 0.0 ? llround(1e6 / hz) : f->period_us;
    f->sim_us = f->start_us + (int64_t)(r->pair % f->phases) * phase_us(f);
    r->telemetry_us = f->sim_us;
    if (every_us > f->period_us) {
        r->telemetry_us += (int64_t)(r->pair / f->phases) * f->period_us % every_us;
    }
}

static enum status create_robots(struct fleet *f)
{
    const struct fleet_options *o = &f->options;
    f->robot_count = (size_t)o->pair_count * (size_t)(o->sides[0] + o->sides[1]);
    f->greeted = (uint32_t)f->robot_count; /* nobody to be greeted yet */
    f->robots = calloc(f->robot_count, sizeof *f->robots);
    if (!f->robots) {
        return STATUS_E_NOMEM;
    }
    size_t i = 0;
    for (uint32_t pair = 0; pair < (uint32_t)o->pair_count; pair++) {
        for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
            if (!o->sides[side]) {
                continue;
            }
            struct fleet_robot *r = &f->robots[i++];
            r->memory = calloc(1, o->kind->bytes);
            if (!r->memory) {
                return STATUS_E_NOMEM;
            }
            r->pair = pair;
            r->side = side;
            r->random.state = seed_of(f, r) ^ 2;
            place_robot(f, r);
            r->reboot_us = o->reboot_s > 0.0 ? f->start_us + lab_us(o->reboot_s) : LAB_TIME_MAX;
            memcpy(r->parameters, o->parameters[side], sizeof r->parameters);
            draw_gains(f, r);
            boot_robot(f, r, o->pose, o->pose_count);
        }
    }
    f->sim_us = f->start_us;
    return STATUS_OK;
}

/* Names pairs by counting up: "r1" and 3 pairs give r1, r2, r3; "lab" gives lab1, lab2,
 * lab3. */
static enum status name_pairs(struct fleet *f)
{
    const char *first = f->options.pair;
    size_t stem = strlen(first);
    f->pairs = calloc((size_t)f->options.pair_count, sizeof *f->pairs);
    if (!f->pairs) {
        return STATUS_E_NOMEM;
    }
    while (stem > 0 && first[stem - 1] >= '0' && first[stem - 1] <= '9') {
        stem--;
    }
    const unsigned long number = first[stem] ? strtoul(first + stem, NULL, 10) : 1;
    f->stem = stem;
    f->first_number = number;
    for (int i = 0; i < f->options.pair_count; i++) {
        if (f->options.pair_count == 1) {
            (void)snprintf(f->pairs[i], EVENT_PAIR_MAX, "%s", first);
        } else {
            (void)snprintf(f->pairs[i], EVENT_PAIR_MAX, "%.*s%lu", (int)stem, first,
                           number + (unsigned long)i);
        }
    }
    return STATUS_OK;
}

/* --- a period ---------------------------------------------------------------------------- */

static size_t pose_count_of(const struct robot_kind *kind)
{
    return kind->pose_count > 0 ? kind->pose_count : 3;
}

/* A restarting robot receives nothing and forgets its moves, but the broker keeps its
 * parameters. */
static bool is_down(struct fleet *f, struct fleet_robot *r)
{
    const int64_t now_us = f->executive.begin_us;
    if (r->down_until_us == 0 && now_us >= r->reboot_us) {
        r->down_until_us = now_us + REBOOT_US;
        r->reboot_us = now_us + lab_us(f->options.reboot_s);
        r->clock_lost_us += REBOOT_US;
        f->counts.reboots++;
        fleet_publish_presence(f, r, false);
    }
    if (r->down_until_us == 0 || now_us < r->down_until_us) {
        return r->down_until_us != 0;
    }
    struct robot_sample last = {0};
    double values[ROBOT_PARAMETERS_MAX];
    const struct robot_kind *kind = f->options.kind;
    kind->sample(r->memory, &last);
    for (size_t i = 0; i < kind->parameter_count; i++) {
        values[i] = robot_get_parameter(kind, r->memory, i);
    }
    boot_robot(f, r, last.pose, last.pose_count == pose_count_of(kind) ? last.pose_count : 0);
    for (size_t i = 0; i < kind->parameter_count; i++) {
        robot_set_parameter(kind, r->memory, i, values[i]);
    }
    r->down_until_us = 0;
    r->telemetry_us = f->sim_us;
    fleet_publish_presence(f, r, true);
    return false;
}

static void step_robot(struct fleet *f, struct fleet_robot *r)
{
    if (is_down(f, r)) {
        return;
    }
    f->speaking = r;
    fleet_modbus_apply(f, r, fleet_publish_reply);
    fleet_rtde_apply(f, r, fleet_publish_reply);
    f->options.kind->step(r->memory, fleet_publish_reply, f);
    fleet_modbus_show(f, r);
    fleet_rtde_show(f, r);
    const int64_t next_us = f->sim_us + f->period_us;
    if (f->options.telemetry_hz > 0.0 && next_us >= r->telemetry_us) {
        fleet_publish_telemetry(f, r);
        r->telemetry_us += llround(1e6 / f->options.telemetry_hz);
        r->telemetry_us = r->telemetry_us > next_us ? r->telemetry_us : next_us;
    }
    if (f->options.machines_hz > 0.0) {
        fleet_publish_machines(f, r, f->executive.begin_us);
    }
}

/* The executive runs this machine: it starts the periods and counts late ones. */
static const struct efsm_state clockwork_states[] = {{.name = "RUN"}};
static const struct efsm_arc clockwork_arcs[] = {{0, 0, NULL, NULL, "a period", .waits = true}};
static const struct efsm_table clockwork = {.name = "fleet",
                                            .purpose = "Moves all robots, period by period.",
                                            .states = clockwork_states,
                                            .state_count = COUNT(clockwork_states),
                                            .arcs = clockwork_arcs,
                                            .arc_count = COUNT(clockwork_arcs)};

/* Runs a period for the pairs in this phase. */
static void run_phase(struct fleet *f)
{
    const size_t each = f->robot_count / (size_t)f->options.pair_count;
    if (f->options.world) {
        f->options.world->t_s = lab_s(f->sim_us - f->start_us);
    }
    for (size_t pair = f->phase; pair < (size_t)f->options.pair_count; pair += f->phases) {
        for (size_t k = 0; k < each; k++) {
            step_robot(f, &f->robots[pair * each + k]);
        }
    }
    f->phase = (f->phase + 1) % f->phases;
    f->sim_us += phase_us(f);
}

/* --- between periods --------------------------------------------------------------------- */

/* Announces all robots after each new connection. The client itself does it for the first robot
 * while that has not restarted. */
static void publish_greetings(struct fleet *f)
{
    struct mqtt_client_state state;
    mqtt_client_read_state(f->session.client, &state);
    if (state.connections == f->connections) {
        return;
    }
    f->connections = state.connections;
    f->greeted = f->robots[0].boots > 1 ? 0 : 1;
}

static void greet_some(struct fleet *f)
{
    for (int k = 0; k < GREET_AT_ONCE && f->greeted < f->robot_count; k++) {
        const struct fleet_robot *r = &f->robots[f->greeted++];
        fleet_publish_presence(f, r, r->down_until_us == 0);
    }
}

/* The client itself announces the first robot. */
static void publish_goodbyes(struct fleet *f)
{
    const int64_t until_us = lab_clock_monotonic_us() + STOP_MS * INT64_C(1000);
    for (size_t i = 1; i < f->robot_count && lab_clock_monotonic_us() < until_us; i++) {
        fleet_publish_presence(f, &f->robots[i], false);
        if (i % GREET_AT_ONCE == 0 && !mqtt_client_wait_sent(f->session.client, STOP_MS)) {
            return;
        }
    }
}

/* Waits until something is due, a message arrives, or for WAIT_MAX_US. */
static void wait_for_work(struct fleet *f)
{
    const int64_t now_us = lab_clock_now_us();
    const int64_t period_us = f->executive.begin_us + f->executive.period_us;
    const int64_t send_us = fleet_outgoing_due_us(f);
    int64_t next_us = now_us + WAIT_MAX_US;
    next_us = period_us < next_us ? period_us : next_us;
    next_us = send_us < next_us ? send_us : next_us;
    session_wait(&f->session, lab_clock_monotonic_us() + next_us - now_us);
}

static void live_fleet(struct fleet *f)
{
    const int64_t end_us =
        f->options.for_s > 0.0 ? f->start_us + lab_us(f->options.for_s) : LAB_TIME_MAX;
    struct efsm m;
    efsm_reset(&clockwork, &m, f->start_us);
    const struct efsm_machine machine = {.table = &clockwork, .m = &m};
    const struct efsm_network net = {.machines = &machine, .count = 1};
    while (!stop_signal_raised() && lab_clock_now_us() < end_us) {
        session_drain(&f->session, fleet_receive, f);
        while (efsm_executive_step(&f->executive, &net, lab_clock_now_us()) &&
               !stop_signal_raised()) {
            run_phase(f);
            const int64_t now_us = lab_clock_now_us();
            /* The phase has time until it comes again. */
            efsm_executive_end(&f->executive,
                               now_us - real_period_us(f) + f->executive.period_us);
            fleet_send_due(f, now_us);
            session_drain(&f->session, fleet_receive, f);
        }
        fleet_send_due(f, lab_clock_now_us());
        publish_greetings(f);
        greet_some(f);
        wait_for_work(f);
    }
}

/* --- beginning and end ------------------------------------------------------------------- */

static void print_summary(const struct fleet *f)
{
    const struct fleet_counts *c = &f->counts;
    char name[2 * EVENT_PAIR_MAX];
    if (f->robot_count == 1) {
        (void)snprintf(name, sizeof name, "robot %s/%s", f->pairs[0],
                       side_name(f->robots[0].side));
    } else {
        (void)snprintf(name, sizeof name, "%zu robots", f->robot_count);
    }
    (void)printf("%s: %" PRIu64 " periods of %g s, %" PRIu64 " overruns, %" PRIu64
                 " given up, %" PRIu64 " reboots, %" PRIu64 " parameters applied, %" PRIu64
                 " refused\n",
                 name, fleet_whole(f, f->executive.periods), lab_s(real_period_us(f)),
                 fleet_whole(f, f->executive.overruns), f->executive.resyncs, c->reboots,
                 c->applied, c->refused);
    (void)printf("%s: %" PRIu64 " commands, %" PRIu64 " replies, %" PRIu64 " echoes, %" PRIu64
                 " lost, %" PRIu64 " duplicated, %" PRIu64 " dropped, %" PRIu64 " malformed\n",
                 name, c->commands, c->replies, c->echoes, c->lost, c->duplicated,
                 c->dropped + f->session.overflow, c->malformed);
}

static int run_fleet(struct fleet *f)
{
    char id[2 * EVENT_PAIR_MAX];
    char online[FLEET_PRESENCE_MAX];
    char offline[FLEET_PRESENCE_MAX];
    char presence[MESSAGE_TOPIC_MAX];
    struct fleet_topics topics;
    const struct fleet_robot *first = &f->robots[0];
    fleet_write_presence(f, first, true, online);
    fleet_write_presence(f, first, false, offline);
    fleet_topic(f, first, "connection", presence);
    (void)snprintf(id, sizeof id, f->robot_count == 1 ? "robot-%s-%s" : "robots-%s-%s",
                   f->pairs[0], side_name(first->side));
    struct mqtt_client_options client = broker_arguments_options(&f->options.broker, id);
    client.presence = presence;
    client.online = online;
    client.offline = offline;
    fleet_list_topics(f, &topics);
    client.topics = topics.topics;
    client.topic_count = topics.count;
    if (!fleet_modbus_start(f) || !fleet_rtde_start(f) || !fleet_ur_start(f) ||
        !session_open(&f->session, client)) {
        return EXIT_FAILED;
    }
    live_fleet(f);
    publish_goodbyes(f);
    session_close(&f->session, STOP_MS);
    print_summary(f);
    return session_was_connected(&f->session) ? EXIT_FINE : EXIT_FAILED;
}

/* Chooses as many phases as there are pairs for, each of whole microseconds in either time, so
 * that rounding does not change the pace. */
static uint32_t choose_phases(const struct fleet_options *o, int64_t period_us)
{
    const double real_us = (double)period_us / o->pace;
    int64_t phases = (int64_t)(real_us / PHASE_US);
    phases = phases < o->pair_count ? phases : o->pair_count;
    for (; phases > 1; phases--) {
        const double each_us = real_us / (double)phases;
        if (period_us % phases == 0 && fabs(each_us - rint(each_us)) < 1e-6) {
            break;
        }
    }
    return phases > 1 ? (uint32_t)phases : 1;
}

static enum status begin_fleet(struct fleet *f, const struct fleet_options *options)
{
    f->options = *options;
    f->start_us = lab_clock_now_us();
    f->sim_us = f->start_us;
    f->period_us = lab_us(options->period_s);
    f->phases = choose_phases(options, f->period_us);
    f->executive =
        (struct efsm_executive){.period_us = llround((double)phase_us(f) / options->pace),
                                .resync_us = RESYNC_US,
                                .begin_us = f->start_us};
    TAILQ_INIT(&f->outgoing_queue);
    return name_pairs(f) == STATUS_OK ? create_robots(f) : STATUS_E_NOMEM;
}

static void finish_fleet(struct fleet *f)
{
    struct outgoing *out = NULL;
    fleet_modbus_stop(f);
    fleet_ur_stop(f);
    fleet_rtde_stop(f);
    while ((out = TAILQ_FIRST(&f->outgoing_queue))) {
        TAILQ_REMOVE(&f->outgoing_queue, out, link);
        free(out);
    }
    for (size_t i = 0; f->robots && i < f->robot_count; i++) {
        free(f->robots[i].memory);
    }
    free(f->robots);
    free(f->pairs);
}

int fleet_run(const struct fleet_options *options)
{
    struct fleet *f = calloc(1, sizeof *f);
    int exit_status = EXIT_FAILED;
    if (f && begin_fleet(f, options) == STATUS_OK) {
        exit_status = run_fleet(f);
    } else {
        complain("out of memory");
    }
    if (f) {
        finish_fleet(f);
    }
    free(f);
    return exit_status;
}
