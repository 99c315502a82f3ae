/* short: TANDEM_RUNS=40 */
/* The arms of `tandem demo --kind arm6`, with its moves, noise and links: do the 95 % intervals
 * that it prints hold the truth, before and after sets go to the simulator? TANDEM_RUNS: seeds,
 * default 200. */
#include "tests/support/campaign.h"
#include "tests/support/lab_script.h"

#include <gsl/gsl_randist.h>

#include "config/options/option_file.h"
#include "logger/message/codec_native.h"
#include "service/sim/demo/demo_arms.h"
#include "service/sim/robot/robot_file.h"
#include "twin/pair/parameters.h"
#include "twin/sim/robot/robot_kinds.h"

enum {
    PERIOD_US = 8000,
    TELEMETRY_US = 20000,
    INTERVAL_US = 100000,
    QUEUE_MAX = 64,
    BYTES = 2048
};
static const int64_t BEGIN_US = INT64_C(1763617674000000);

/* Transport of both robots' messages, as in demo_command.c. */
static const struct link {
    double delay_s, jitter_s;
} links[SIDE_COUNT] = {{0.010, 0.004}, {0.004, 0.001}};

/* The demo of 45 s makes about 45 moves. */
static const size_t counts[] = {12, 24, 45};

struct message_on_its_way {
    int64_t due_us;
    char topic[64], payload[BYTES];
};

struct demo {
    struct script script;
    struct demo_arms arms;
    struct robot_file file;
    char *robot[SIDE_COUNT];
    int64_t robot_us, telemetry_us;
    struct random_source random[SIDE_COUNT];
    int64_t last_due_us[SIDE_COUNT];
    struct message_on_its_way queue[QUEUE_MAX];
    size_t queued;
    size_t answered;
    enum side speaking;
    uint64_t promotions;
};

static void step_lab(void *context, const struct event *event)
{
    struct demo *d = context;
    lab_step(d->script.lab, event, &d->script.fx);
}

static void deliver_message(struct demo *d, int64_t t_us, const char *topic,
                            const char *payload, event_emit *emit)
{
    struct message m = {.t_us = t_us, .qos = 1, .payload = payload};
    m.stored_bytes = m.payload_bytes = strlen(payload);
    (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
    CU_ASSERT_EQUAL_FATAL(codec_native.decode("tandem/v1", &m, emit, d), 1);
}

static void queue_message(struct demo *d, const char *word, enum event_kind kind,
                          const void *part, int64_t sent_us)
{
    const enum side side = d->speaking;
    const int64_t due_us =
        sent_us + lab_us(links[side].delay_s +
                         random_exponential(&d->random[side], links[side].jitter_s));
    size_t at = d->queued++;
    struct json_writer w;
    CU_ASSERT_FATAL(d->queued <= QUEUE_MAX);
    d->last_due_us[side] = due_us > d->last_due_us[side] ? due_us : d->last_due_us[side];
    for (; at > 0 && d->queue[at - 1].due_us > d->last_due_us[side]; at--) {
        d->queue[at] = d->queue[at - 1];
    }
    struct message_on_its_way *to = &d->queue[at];
    to->due_us = d->last_due_us[side];
    (void)snprintf(to->topic, sizeof to->topic, "tandem/v1/r1/%s/%s", side_name(side), word);
    json_write_start(&w, to->payload, sizeof to->payload - 1, NULL, NULL);
    native_write(&w, kind, part);
    CU_ASSERT_FATAL(json_write_end(&w));
    to->payload[w.used] = '\0';
}

static void receive_reply(void *context, const struct robot_reply *reply)
{
    struct demo *d = context;
    struct event_reply e = {.status = reply->status,
                            .source_us = reply->end_us,
                            .source_start_us = reply->start_us,
                            .value_count = reply->value_count};
    CU_ASSERT_EQUAL_FATAL(reply->status, REPLY_DONE);
    (void)snprintf(e.id, sizeof e.id, "%s", reply->id);
    for (size_t i = 0; i < reply->value_count; i++) {
        (void)snprintf(e.values[i].name, sizeof e.values[i].name, "%s", reply->values[i].name);
        e.values[i].number = reply->values[i].number;
    }
    d->answered++;
    queue_message(d, "reply", EVENT_REPLY, &e, reply->end_us);
}

static void send_sample(struct demo *d)
{
    struct robot_sample s = {0};
    arm6_kind.sample(d->robot[d->speaking], &s);
    struct event_telemetry t = {
        .source_us = s.t_us, .seq = -1, .nu_count = s.nu_count, .pose_count = s.pose_count};
    memcpy(t.nu, s.nu, sizeof t.nu);
    memcpy(t.pose, s.pose, sizeof t.pose);
    queue_message(d, "telemetry", EVENT_TELEMETRY, &t, s.t_us);
}

/* Moves both robots by a period, and delivers what has arrived. */
static void run_period(struct demo *d)
{
    const bool samples = d->robot_us + PERIOD_US >= d->telemetry_us;
    for (d->speaking = SIDE_REAL; d->speaking < SIDE_COUNT; d->speaking++) {
        arm6_kind.step(d->robot[d->speaking], receive_reply, d);
        if (samples) {
            send_sample(d);
        }
    }
    d->robot_us += PERIOD_US;
    d->telemetry_us += samples ? TELEMETRY_US : 0;
    while (d->queued > 0 && d->queue[0].due_us <= d->robot_us) {
        const struct message_on_its_way first = d->queue[0];
        memmove(&d->queue[0], &d->queue[1], --d->queued * sizeof d->queue[0]);
        deliver_message(d, first.due_us, first.topic, first.payload, step_lab);
    }
}

static void command_both(void *context, const struct event *event)
{
    struct demo *d = context;
    CU_ASSERT_EQUAL_FATAL(event->kind, EVENT_COMMAND);
    step_lab(d, event);
    for (d->speaking = SIDE_REAL; d->speaking < SIDE_COUNT; d->speaking++) {
        robot_command(&arm6_kind, d->robot[d->speaking], &event->command, receive_reply, d);
    }
}

static void set_parameter(struct demo *d, const char *name, double value)
{
    char reason[ROBOT_REASON_MAX] = "";
    CHECK_INT(name, robot_set(&arm6_kind, d->robot[SIDE_VIRTUAL], name, value, reason),
              STATUS_OK);
}

/* Does what the simulated arm does with a set: fleet_publish.c. */
static void apply_set(struct demo *d)
{
    const struct pair *pair = lab_pair(d->script.lab, 0);
    const struct parameter_set *set = parameters_find(&pair->parameters, PARAMETERS_ACTIVE);
    struct event e = script_event("r1", d->robot_us, EVENT_ACK, SIDE_VIRTUAL);
    if (pair->parameters.promotions == d->promotions || !set) {
        return;
    }
    d->promotions = pair->parameters.promotions;
    e.ack = (struct event_ack){.version = set->version, .form = PARAMETERS_ABSOLUTE};
    for (size_t j = 0; j < PROFILE_P; j++) {
        const char *name = profile_term_name((enum profile_term)j);
        const bool relative = isfinite(set->sent.adjust[j]);
        const bool delay = j % PROFILE_TERMS == PROFILE_T0;
        const double value =
            relative ? set->sent.adjust[j] : fmax(set->sent.value[j], delay ? 0.0 : -HUGE_VAL);
        if (isfinite(value)) { /* its own are 0 s and ratios of 1 */
            set_parameter(d, name, value);
            e.ack.form = relative ? PARAMETERS_RELATIVE : e.ack.form;
            e.ack.applied_hash[e.ack.applied++] = hash_text(name);
        }
    }
    step_lab(d, &e);
}

static void make_move(struct demo *d)
{
    char payload[DEMO_ARMS_PAYLOAD];
    const uint64_t entries = lab_pair(d->script.lab, 0)->counts.entries;
    demo_arms_write(&d->arms, payload, sizeof payload);
    d->arms.sent++;
    deliver_message(d, d->robot_us, "tandem/v1/r1/command", payload, command_both);
    while (lab_pair(d->script.lab, 0)->counts.entries == entries) {
        run_period(d);
    }
    apply_set(d);
    for (int64_t end_us = d->robot_us + INTERVAL_US; d->robot_us < end_us;) {
        run_period(d);
    }
}

static void open_demo(struct demo *d, uint64_t seed)
{
    memset(d, 0, sizeof *d);
    script_init(&d->script, 1);
    struct pair_params *p = &d->script.params[0];
    (void)snprintf(p->arm, sizeof p->arm, "ur5");
    p->promote = PAIR_PROMOTE_AUTO;
    p->propose_every = 5;
    p->publish_every = 1;
    script_open(&d->script);
    d->arms.random = random_stream(seed, 0);
    d->file.kind = &arm6_kind;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        robot_presets(&arm6_kind, d->file.values[s]);
    }
    CU_ASSERT_EQUAL_FATAL(option_file_parse(&robot_file, demo_arms_parameters,
                                            strlen(demo_arms_parameters), "arms.yaml", &d->file,
                                            NULL),
                          STATUS_OK);
    d->robot_us = d->telemetry_us = BEGIN_US;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        d->random[s] = random_stream(seed, 1 + s);
        d->robot[s] = calloc(1, arm6_kind.bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(d->robot[s]);
        const struct robot_setup setup = {.parameters = d->file.values[s],
                                          .seed = random_stream(seed, 11 + s).state,
                                          .start_us = BEGIN_US,
                                          .period_us = PERIOD_US};
        arm6_kind.init(d->robot[s], &setup);
    }
}

static void close_demo(struct demo *d)
{
    script_close(&d->script);
    free(d->robot[SIDE_REAL]);
    free(d->robot[SIDE_VIRTUAL]);
}

static double parameter_of(const struct demo *d, enum side side, const char *name)
{
    return robot_get_parameter(&arm6_kind, d->robot[side],
                               (size_t)robot_parameter_find(&arm6_kind, name));
}

static double truth_of(const struct demo *d, enum side side, size_t j)
{
    static const char *const common[PROFILE_TERMS] = {"t0_s", "speed_ratio",
                                                      "acceleration_ratio"};
    const double own = parameter_of(d, side, common[j % PROFILE_TERMS]);
    const double more = parameter_of(d, side, profile_term_name((enum profile_term)j));
    const double noise_s = parameter_of(d, side, "noise_s");
    /* No delay is below zero, noise or not: this is their mean. */
    const double z = (own + more) / noise_s;
    return j % PROFILE_TERMS == PROFILE_T0
               ? (own + more) * gsl_cdf_ugaussian_P(z) + noise_s * gsl_ran_ugaussian_pdf(z)
               : own * more;
}

struct row {
    size_t known[PROFILE_P], held[PROFILE_P], pass, taught;
};

static void count_fits(const struct demo *d, struct row rows[SIDE_COUNT])
{
    struct pair_fits fits;
    pair_fit_window(lab_pair(d->script.lab, 0), &d->script.params[0], &fits);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const struct estimate *e = &fits.profile[s].estimate;
        CHECK("fitted", fits.known[s]);
        rows[s].pass += e->verdict == ESTIMATE_PASS;
        rows[s].taught += d->promotions > 0;
        for (size_t j = 0; j < PROFILE_P; j++) {
            const double truth = truth_of(d, s, j);
            const bool known = e->identifiable[j] && isfinite(e->lo[j]) && isfinite(e->hi[j]);
            rows[s].known[j] += known;
            rows[s].held[j] += known && e->lo[j] <= truth && truth <= e->hi[j];
        }
    }
}

static void test_intervals(void)
{
    static const char *const names[PROFILE_P] = {"t0",       "sv",       "sa",
                                                 "lines_t0", "lines_sv", "lines_sa"};
    static struct demo d;
    struct row rows[COUNT(counts)][SIDE_COUNT] = {0};
    for (size_t run = 0; run < campaign.runs; run++) {
        open_demo(&d, campaign.seed + run);
        for (size_t k = 0; k < COUNT(counts); k++) {
            while (d.arms.sent < counts[k]) {
                make_move(&d);
            }
            count_fits(&d, rows[k]);
        }
        close_demo(&d);
    }
    for (size_t k = 0; k < COUNT(counts); k++) {
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            const struct row *row = &rows[k][s];
            campaign_row("arms", campaign.runs, "%s, after %zu moves", side_name(s), counts[k]);
            campaign_count("pass", row->pass, campaign.runs);
            campaign_count("taught", row->taught, campaign.runs);
            for (size_t j = 0; j < PROFILE_P; j++) {
                campaign_count(names[j], row->held[j], row->known[j]);
                CHECK(names[j], campaign_is_enough(row->held[j], row->known[j], 0.93));
            }
            campaign_end();
        }
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("demo_arms", 1, 200, 0);
    CU_add_test(suite, "intervals", test_intervals);
    return check_run();
}
