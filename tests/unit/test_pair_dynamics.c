/* Dynamics of a pair identified by the lab: gates, window, fits begun and ended in every way,
 * parameter sets, drift; live, replayed and restarted alike. */
#include "tests/support/lab_script.h"
#include "tests/support/saved_lab.h"

#include <gsl/gsl_errno.h>

#include "identification/model/models.h"
#include "tests/support/usv_truth.h"
#include "twin/report/pair_dynamics_report.h"

enum { N = USV3_AXES, P = USV3_PARAMETERS };

static struct usv_record record;
static const double *truth;
/* The lab's own response to a fit is stored for the runs that get it. */
static struct dynamics_result result;

struct boat {
    double nu[N], pose[N];
    double theta[P];
    uint64_t noise;
};

struct run {
    struct script s;
    struct boat boat[SIDE_COUNT];
    int k;    /* samples so far */
    int idle; /* of them the first ones, in which nothing drives the boats */
};

static struct run run;

static int64_t time_of_sample(int k)
{
    return INT64_C(1763617674000000) + (int64_t)k * 100000;
}

static void open_run(struct run *r, bool promote)
{
    script_init(&r->s, 2);
    struct pair_dynamics_params *p = &r->s.params[0].dynamics;
    (void)snprintf(p->model, sizeof p->model, "usv3");
    p->method = DYNAMICS_WEAK_IV; /* fast */
    p->window = 700;
    p->window_us = 70000000;
    p->refit_us = 0;
    p->promote = promote ? PAIR_PROMOTE_AUTO : PAIR_PROMOTE_MANUAL;
    script_open(&r->s);
    for (int side = 0; side < SIDE_COUNT; side++) {
        r->boat[side] = (struct boat){.noise = 17 + (uint64_t)side};
        for (size_t j = 0; j < P; j++) {
            r->boat[side].theta[j] = (side ? 0.8 : 1.0) * truth[j];
        }
    }
    r->k = 0;
    r->idle = 0;
}

static const struct dynamics_side *side_of(const struct run *r, enum side side)
{
    return &lab_dynamics(r->s.lab, 0)->side[side];
}

static struct event make_sample(struct run *r, enum side side)
{
    struct boat *b = &r->boat[side];
    struct event e =
        script_event("r1", time_of_sample(r->k) + 3000 + side, EVENT_TELEMETRY, side);
    e.telemetry = (struct event_telemetry){.source_us = time_of_sample(r->k) - 50000000,
                                           .seq = r->k,
                                           .nu_count = N,
                                           .tau_count = N,
                                           .pose_count = N};
    double tau[N];
    for (size_t i = 0; i < N; i++) {
        tau[i] = r->k < r->idle ? 0.0 : record.tau[i][r->k % USV_SAMPLES];
        e.telemetry.tau[i] = tau[i];
        e.telemetry.nu[i] = b->nu[i] + 0.3 * usv_noise_sd[i] * usv_normal(&b->noise);
        e.telemetry.pose[i] = b->pose[i];
    }
    model_step(&usv3_model, b->theta, b->nu, b->pose, tau, NULL, 0.1);
    return e;
}

/* One sample of both sides. */
static void send_both(struct run *r)
{
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        const struct event e = make_sample(r, side);
        lab_step(r->s.lab, &e, &r->s.fx);
    }
    r->k++;
}

static void run_samples(struct run *r, int samples)
{
    while (samples-- > 0) {
        send_both(r);
    }
}

static void end_fit(struct run *r, enum side side, uint32_t job, enum fit_outcome outcome,
                    const struct dynamics_result *with)
{
    struct event e = script_event("r1", time_of_sample(r->k), EVENT_FIT, side);
    e.fit = (struct event_fit){.job = job, .outcome = outcome, .detail = "why", .result = with};
    lab_step(r->s.lab, &e, &r->s.fx);
}

static void send_request(struct run *r, enum request_action action, const char *model)
{
    struct event e = script_event("r1", time_of_sample(r->k), EVENT_REQUEST, SIDE_COUNT);
    e.request = (struct event_request){.action = action, .by = "test"};
    (void)snprintf(e.request.model, sizeof e.request.model, "%s", model);
    lab_step(r->s.lab, &e, &r->s.fx);
}

static char *write_report(const struct run *r)
{
    static char text[2][PAIR_DYNAMICS_REPORT_MAX];
    static int turn;
    struct json_writer w;
    turn = !turn;
    json_write_start(&w, text[turn], sizeof text[turn] - 1, NULL, NULL);
    pair_dynamics_report(&w, NULL, lab_dynamics(r->s.lab, 0), &r->s.params[0]);
    CU_ASSERT_FATAL(json_write_end(&w));
    text[turn][w.used] = '\0';
    return text[turn];
}

static const struct parameter_set *find_active(const struct run *r)
{
    return parameters_find(&lab_dynamics(r->s.lab, 0)->sets, PARAMETERS_ACTIVE);
}

/* Waits for the first fit of both sides; returns with them under way. */
static void collect_fits(struct run *r)
{
    run_samples(r, 349);
    CHECK_INT("not yet", script_count(&r->s, EFFECT_FIT), 0);
    CHECK_TEXT("waits", online_gate_name(ONLINE_WAITING), "waiting");
    CHECK("collecting", side_of(r, SIDE_REAL)->filter.gate[ONLINE_WAITING] == 349);
    run_samples(r, 2);
    CHECK_INT("both began", script_count(&r->s, EFFECT_FIT), 2);
    CHECK("running", side_of(r, SIDE_REAL)->running && side_of(r, SIDE_VIRTUAL)->running);
}

/* The newest samples, and how far the simulation is from them. */
static void check_trace(const struct dynamics_result *r)
{
    const struct dynamics_trace *trace = &r->trace;
    double squares = 0.0;
    size_t count = 0;
    CHECK("there", trace->n > 20 && trace->n <= DYNAMICS_TRACE_MAX);
    for (size_t i = 0; i < trace->n; i++) {
        const double off = (double)(trace->measured[0][i] - trace->simulated[0][i]);
        CHECK("the effort", isnormal(trace->effort[0][i]));
        CHECK("rising", i == 0 || trace->t_s[i] > trace->t_s[i - 1]);
        squares += isnan(off) ? 0.0 : off * off;
        count += isnan(off) ? 0 : 1;
    }
    CHECK("nearly all", count + 2 >= trace->n);
    CHECK_NEAR("as far as the whole", sqrt(squares / (double)count), r->run_rmse[0], 0.5, 0.0);
}

static void test_from_window_to_simulator(void)
{
    struct run *r = &run;
    open_run(r, true);
    collect_fits(r);
    CHECK("plain pairs have none", !lab_dynamics(r->s.lab, 1));
    run_samples(r, 40); /* while the fit is computed */
    script_clear(&r->s);
    end_fit(r, SIDE_REAL, 1, FIT_DONE, NULL);
    const struct dynamics_side *real = side_of(r, SIDE_REAL);
    CHECK("fitted", real->fitted && !real->running && real->filter.running);
    result = real->result;
    CHECK_INT("frozen window", real->result.summary.rows, 351);
    for (size_t j = 0; j < 6; j++) {
        CHECK_NEAR("value", real->result.fit.estimate.value[j], truth[j], 0.2, 0.0);
    }
    check_trace(&real->result);
    CHECK_INT("for the history", script_count(&r->s, EFFECT_HISTORY), 1);
    CHECK("with its number", script_find(&r->s, EFFECT_HISTORY, 0)->side == SIDE_REAL);
    CHECK_INT("two changes", script_count(&r->s, EFFECT_CHANGE), 2);
    CHECK_INT("told", script_count(&r->s, EFFECT_PARAMETERS), 1);
    CHECK("names its model",
          strstr(script_find(&r->s, EFFECT_PARAMETERS, 0)->payload, "\"model\":\"usv3\""));
    CU_ASSERT_FATAL(find_active(r) != NULL);
    CHECK_INT("version", find_active(r)->version, 1);
    CHECK("simulator restarted",
          !side_of(r, SIDE_VIRTUAL)->filter.running && side_of(r, SIDE_VIRTUAL)->count == 0);
    run_samples(r, 600);
    CHECK("follows", real->filter.gate[ONLINE_USED] > 500);
    for (size_t j = 0; j < P - 1; j++) {
        CHECK_NEAR("filter", real->filter.theta[j], truth[j], 0.05, 0.0);
    }
    CHECK("sure", online_filter_consistent(&real->filter));
    CHECK("report", strstr(write_report(r), "\"state\":\"following\"") != NULL);
    script_clear(&r->s);
    send_request(r, REQUEST_ROLLBACK, "");
    CHECK("none in force", !find_active(r));
    CHECK_INT("reported again", script_count(&r->s, EFFECT_PARAMETERS), 1);
    CHECK("its own",
          strstr(script_find(&r->s, EFFECT_PARAMETERS, 0)->payload, "{\"version\":0") != NULL);
    send_request(r, REQUEST_PROMOTE, "usv3");
    CHECK("no candidate", !find_active(r));
    script_close(&r->s);
}

static void test_by_hand(void)
{
    struct run *r = &run;
    open_run(r, false);
    send_request(r, REQUEST_IDENTIFY, "");
    CHECK_INT("too few", side_of(r, SIDE_REAL)->counts.declined, 1);
    run_samples(r, 120);
    send_request(r, REQUEST_IDENTIFY, "");
    CHECK_INT("begun", script_count(&r->s, EFFECT_FIT), 1);
    send_request(r, REQUEST_PROPOSE, "usv3");
    CHECK_INT("under way", side_of(r, SIDE_REAL)->counts.declined, 2);
    end_fit(r, SIDE_REAL, 1, FIT_DONE, NULL);
    run_samples(r, 500);
    send_request(r, REQUEST_IDENTIFY, "");
    end_fit(r, SIDE_REAL, 2, FIT_DONE, NULL);
    CHECK("candidate only", !find_active(r));
    send_request(r, REQUEST_PROMOTE, "travel_time");
    CHECK("of another model", !find_active(r));
    send_request(r, REQUEST_PROMOTE, "joint");
    CHECK("of no model", !find_active(r));
    send_request(r, REQUEST_PROMOTE, "");
    CHECK("promoted", find_active(r) != NULL);
    script_close(&r->s);
}

/* Ends that are none of a fit's; and no end at all. */
static void test_bad_ends(void)
{
    struct run *r = &run;
    open_run(r, false);
    collect_fits(r);
    script_clear(&r->s);
    end_fit(r, SIDE_REAL, 7, FIT_DONE, NULL);
    CHECK_INT("another's", side_of(r, SIDE_REAL)->counts.stray, 1);
    CHECK("still running", side_of(r, SIDE_REAL)->running);
    end_fit(r, SIDE_REAL, 1, FIT_FAILED, NULL);
    CHECK_INT("failed", side_of(r, SIDE_REAL)->counts.failed, 1);
    CHECK_INT("alarm", script_count(&r->s, EFFECT_ALARM), 1);
    CHECK_TEXT("its code", script_alarm(&r->s, 0), "fit_failed");
    end_fit(r, SIDE_REAL, 1, FIT_DONE, NULL);
    CHECK_INT("twice", side_of(r, SIDE_REAL)->counts.stray, 2);
    CHECK("no result", !side_of(r, SIDE_REAL)->fitted);
    end_fit(r, SIDE_VIRTUAL, 1, FIT_CANCELLED, NULL);
    CHECK_INT("cancelled", side_of(r, SIDE_VIRTUAL)->counts.cancelled, 1);
    CHECK_TEXT("its code", script_alarm(&r->s, 1), "fit_cancelled");
    run_samples(r, 400);
    CHECK("again", side_of(r, SIDE_REAL)->running && side_of(r, SIDE_REAL)->job == 2);
    /* No messages come any more. */
    CHECK("deadline", lab_next_deadline(r->s.lab) < LAB_TIME_MAX);
    script_tick(&r->s, time_of_sample(r->k) + INT64_C(400000000));
    CHECK_INT("given up", side_of(r, SIDE_REAL)->counts.lost, 1);
    CHECK("not running", !side_of(r, SIDE_REAL)->running);
    CHECK("no deadline", lab_next_deadline(r->s.lab) == LAB_TIME_MAX);
    end_fit(r, SIDE_REAL, 2, FIT_DONE, NULL);
    CHECK_INT("late", side_of(r, SIDE_REAL)->counts.stray, 3);
    struct event e = script_event("r2", time_of_sample(r->k), EVENT_FIT, SIDE_REAL);
    e.fit = (struct event_fit){.job = 1};
    lab_step(r->s.lab, &e, &r->s.fx);
    script_close(&r->s);
}

/* The hull grows: an alarm names the parameter, and a fit of later samples follows. */
static void test_drift(void)
{
    struct run *r = &run;
    open_run(r, true);
    collect_fits(r);
    end_fit(r, SIDE_REAL, 1, FIT_DONE, NULL);
    run_samples(r, 900);
    r->boat[SIDE_REAL].theta[3] *= 1.8;
    script_clear(&r->s);
    const int changed = r->k;
    while (r->k < changed + 900 && side_of(r, SIDE_REAL)->drifts == 0) {
        send_both(r);
    }
    CHECK("found", side_of(r, SIDE_REAL)->drifts == 1);
    const struct script_effect *alarm = script_find(&r->s, EFFECT_ALARM, 0);
    CU_ASSERT_FATAL(alarm != NULL);
    CHECK_TEXT("code", alarm->alarm.code, "drift_dynamics");
    CHECK("named", strstr(alarm->alarm.detail, "surge_linear_kgps") != NULL);
    run_samples(r, 400);
    const struct dynamics_side *real = side_of(r, SIDE_REAL);
    CHECK("fits again", real->job >= 2 && real->cause == (uint8_t)FIT_BY_DRIFT);
    CHECK("only what came after", (int)real->frozen < r->k - changed + 30);
    end_fit(r, SIDE_REAL, real->job, FIT_DONE, NULL);
    CHECK_NEAR("new value", real->result.fit.estimate.value[3], 1.8 * truth[3], 0.2, 0.0);
    CHECK("in force", find_active(r) && find_active(r)->version >= 2);
    script_close(&r->s);
}

/* All masses by one factor are one alarm, which calls them a payload. */
static void test_payload(void)
{
    struct run *r = &run;
    open_run(r, true);
    r->s.params[0].dynamics.method = DYNAMICS_OUTPUT_ERROR;
    collect_fits(r);
    end_fit(r, SIDE_REAL, 1, FIT_DONE, NULL);
    run_samples(r, 900);
    for (size_t j = 0; j < 3; j++) {
        r->boat[SIDE_REAL].theta[j] *= 1.3;
    }
    script_clear(&r->s);
    run_samples(r, 900);
    CHECK_INT("once", side_of(r, SIDE_REAL)->drifts, 1);
    const struct script_effect *alarm = script_find(&r->s, EFFECT_ALARM, 0);
    CU_ASSERT_FATAL(alarm != NULL);
    CHECK_TEXT("code", alarm->alarm.code, "drift_dynamics");
    CHECK(alarm->alarm.detail, strstr(alarm->alarm.detail, "payload") != NULL);
    CHECK("told", strstr(write_report(r), "\"parameter\":\"payload\"") != NULL);
    script_close(&r->s);
}

/* A fit on request that ends with this, of the last since_s. */
static void hold_fit(struct run *r, struct dynamics_result *given, double since_s)
{
    given->until_us = time_of_sample(r->k);
    given->since_us = given->until_us - (int64_t)(since_s * 1e6);
    send_request(r, REQUEST_IDENTIFY, "");
    CHECK("under way", side_of(r, SIDE_REAL)->running);
    end_fit(r, SIDE_REAL, side_of(r, SIDE_REAL)->job, FIT_DONE, given);
}

/* A run whose first fit, under forces, found the truth; with this variance of each value, as a
 * share of its square. */
static struct dynamics_result begin_with_fit(struct run *r, double variance_ratio)
{
    open_run(r, false);
    collect_fits(r);
    end_fit(r, SIDE_REAL, 1, FIT_DONE, NULL);
    struct dynamics_result given = side_of(r, SIDE_REAL)->result;
    given.fit.method = DYNAMICS_PEM;
    given.honest = (struct dynamics_reference){.count = 1, .p = P, .freedom = 400.0};
    for (size_t j = 0; j < P; j++) {
        given.honest.value[j] = truth[j];
        given.honest.covariance[j][j] = variance_ratio * truth[j] * truth[j];
    }
    return given;
}

/* Under forces, a change that needs several parameters waits for a fit without earlier samples;
 * a change of one is reported at once. */
static void test_waits_for_whole(void)
{
    struct run *r = &run;
    struct dynamics_result given = begin_with_fit(r, 0.0004);
    run_samples(r, 200);
    hold_fit(r, &given, 10.0);
    given.honest.value[3] = 1.7 * truth[3];
    given.honest.value[4] = 0.6 * truth[4];
    run_samples(r, 200);
    hold_fit(r, &given, 15.0);
    CHECK_INT("waits", side_of(r, SIDE_REAL)->drifts, 0);
    CHECK("for what came after",
          side_of(r, SIDE_REAL)->next_fit_us < time_of_sample(r->k + 701));
    run_samples(r, 100);
    hold_fit(r, &given, 15.0);
    CHECK_INT("still", side_of(r, SIDE_REAL)->drifts, 0);
    given.honest.value[3] = 1.5 * truth[3];
    given.honest.value[4] = truth[4];
    run_samples(r, 200);
    hold_fit(r, &given, 15.0);
    CHECK_INT("told", side_of(r, SIDE_REAL)->drifts, 1);
    CHECK_INT("which", side_of(r, SIDE_REAL)->drift.parameter, 3);
    CHECK_NEAR("size", side_of(r, SIDE_REAL)->drift.change_ratio, 0.5, 1e-6, 0.0);
    given.honest.value[6] = 1.5 * truth[6];
    run_samples(r, 200);
    script_clear(&r->s);
    hold_fit(r, &given, 15.0);
    CHECK_INT("one at once", side_of(r, SIDE_REAL)->drifts, 2);
    CHECK_TEXT("its code", script_alarm(&r->s, 0), "drift_between_fits");
    CHECK_INT("which", side_of(r, SIDE_REAL)->drift.parameter, 6);
    script_close(&r->s);
}

/* A slow change is reported once; a later step of the same parameter is another change. */
static void test_creeps(void)
{
    struct run *r = &run;
    struct dynamics_result given = begin_with_fit(r, 1e-5);
    for (int fit = 0; fit < 8; fit++) {
        run_samples(r, 200);
        hold_fit(r, &given, 15.0);
        given.honest.value[3] *= 1.03;
    }
    CHECK_INT("creeps", side_of(r, SIDE_REAL)->drifts, 1);
    CHECK_INT("which", side_of(r, SIDE_REAL)->drift.parameter, 3);
    given.honest.value[3] *= 1.4;
    run_samples(r, 200);
    hold_fit(r, &given, 15.0);
    CHECK_INT("a step", side_of(r, SIDE_REAL)->drifts, 2);
    script_close(&r->s);
}

/* A filter that is six standard errors from a fit is lost, and begins there again. */
static void test_lost_filter(void)
{
    struct run *r = &run;
    for (int outside = 0; outside < 2; outside++) {
        struct dynamics_result given = begin_with_fit(r, 1e-5);
        struct estimate *e = &given.fit.estimate;
        run_samples(r, 200);
        const struct online_filter *filter = &side_of(r, SIDE_REAL)->filter;
        e->se[3] = 0.2 * truth[3];
        e->value[3] = filter->theta[3] +
                      (outside ? 6.1 : 5.9) * hypot(e->se[3], online_filter_se(filter, 3));
        hold_fit(r, &given, 15.0);
        CHECK_INT("begins again", fabs(filter->theta[3] - e->value[3]) < 1e-9, outside);
        script_close(&r->s);
    }
}

/* Samples that must not count: numbers twice, late, retained, clocks that were set. */
static void test_passed_over(void)
{
    struct run *r = &run;
    open_run(r, false);
    run_samples(r, 50);
    struct event e = make_sample(r, SIDE_REAL);
    lab_step(r->s.lab, &e, &r->s.fx);
    lab_step(r->s.lab, &e, &r->s.fx);
    e.telemetry.seq -= 7;
    lab_step(r->s.lab, &e, &r->s.fx);
    const struct dynamics_side *real = side_of(r, SIDE_REAL);
    CHECK_INT("twice", real->filter.gate[ONLINE_DUPLICATE], 1);
    CHECK_INT("older", real->filter.gate[ONLINE_OUT_OF_ORDER], 1);
    CHECK_INT("kept", real->count, 51);
    e.telemetry.seq = 60;
    e.telemetry.source_us += 100000;
    e.retained = true;
    lab_step(r->s.lab, &e, &r->s.fx);
    CHECK_INT("retained", real->filter.gate[ONLINE_STALE], 1);
    e.retained = false;
    e.telemetry.seq = 61;
    e.telemetry.nu_count = 2;
    lab_step(r->s.lab, &e, &r->s.fx);
    CHECK_INT("two axes", real->filter.gate[ONLINE_INCOMPLETE], 1);
    CHECK_INT("still", real->count, 51);
    e.telemetry.nu_count = N;
    e.telemetry.seq = 62;
    (void)snprintf(e.telemetry.boot, sizeof e.telemetry.boot, "b1");
    lab_step(r->s.lab, &e, &r->s.fx);
    CHECK_INT("first boot mark", real->count, 52);
    (void)snprintf(e.telemetry.boot, sizeof e.telemetry.boot, "b2");
    e.telemetry.seq = 0;
    lab_step(r->s.lab, &e, &r->s.fx);
    CHECK_INT("rebooted", real->count, 1);
    CHECK_INT("cut", real->counts.cut, 1);
    script_close(&r->s);
}

/* Denser than the window holds: what acted in between is not lost. */
/* Half a window at rest and a first push are no motion to fit. */
static void test_first_fit_waits(void)
{
    struct run *r = &run;
    open_run(r, false);
    r->idle = 400;
    run_samples(r, 420);
    const struct dynamics_side *side = side_of(r, SIDE_REAL);
    CHECK_INT("waits", side->counts.started, 0);
    CHECK("counted", side->counts.waited >= 15 && side->counts.waited <= 25);
    CHECK("told", strstr(write_report(r), "hardly been driven") != NULL);
    run_samples(r, 140);
    CHECK_INT("still waits", side->counts.started, 0);
    run_samples(r, 40);
    CHECK_INT("begins", side->counts.started, 1);
    CHECK("no longer", !side->waits);
    script_close(&r->s);
}

static void test_thinning(void)
{
    struct run *r = &run;
    open_run(r, false);
    script_close(&r->s);
    r->s.params[0].dynamics.window = 175;
    script_open(&r->s);
    run_samples(r, 500);
    const struct pair_dynamics *d = lab_dynamics(r->s.lab, 0);
    struct dynamics_task task;
    CHECK("running", d->side[SIDE_REAL].running);
    pair_dynamics_task(d, &r->s.params[0].dynamics, SIDE_REAL, &task);
    CHECK_INT("every fourth", task.t_us[1] - task.t_us[0], 400000);
    const size_t first = (size_t)((task.t_us[0] + 50000000 - time_of_sample(0)) / 100000);
    double mean = 0.0;
    for (size_t k = first; k < first + 4; k++) {
        mean += 0.25 * record.tau[0][k];
    }
    CHECK_NEAR("mean effort", (double)task.values[N], mean, 1e-5, 1e-5);
    CHECK("thinned", d->side[SIDE_REAL].counts.thinned > 300);
    script_close(&r->s);
}

/* Handed the result, computing it, and restarted in between: the same bytes. */
static void test_alike(void)
{
    static char want[PAIR_DYNAMICS_REPORT_MAX];
    static struct run other;
    for (int way = 0; way < 3; way++) {
        struct run *r = &other;
        open_run(r, true);
        run_samples(r, 391);
        if (way == 2) {
            size_t bytes = 0;
            void *copy = saved_lab(r->s.lab, &bytes);
            script_close(&r->s);
            script_open(&r->s);
            CU_ASSERT_EQUAL_FATAL(lab_load(r->s.lab, copy, bytes), STATUS_OK);
            free(copy);
        }
        end_fit(r, SIDE_REAL, 1, FIT_DONE, way == 0 ? &result : NULL);
        end_fit(r, SIDE_VIRTUAL, 1, FIT_FAILED, NULL);
        run_samples(r, 300);
        if (way == 0) {
            (void)snprintf(want, sizeof want, "%s", write_report(r));
        } else {
            CHECK_TEXT(way == 1 ? "replayed" : "restarted", write_report(r), want);
        }
        script_close(&r->s);
    }
}

static bool go_on_for_a_while(void *context, const char *stage)
{
    int *left = context;
    (void)stage;
    return (*left)-- > 0;
}

/* Cancelled at any of its questions, a fit ends there, and leaves nothing half written. */
static void test_ended_anywhere(void)
{
    enum { SAMPLES = 200, ASKED_MAX = 5000 };
    static int64_t t_us[SAMPLES];
    static float values[SAMPLES * 3 * N];
    static struct dynamics_result before;
    static struct dynamics_result out;
    for (size_t k = 0; k < SAMPLES; k++) {
        t_us[k] = (int64_t)k * 100000;
        for (size_t i = 0; i < N; i++) {
            values[(k * 3 * N) + i] = (float)record.measured[i][k];
            values[(k * 3 * N) + N + i] = (float)record.tau[i][k];
        }
    }
    memset(&before, 0x5a, sizeof before);
    enum status status = STATUS_E_STALE;
    int asked = 0;
    while (status == STATUS_E_STALE && asked < ASKED_MAX) {
        struct err err = {0};
        int left = asked;
        const struct dynamics_task task = {.model = &usv3_model,
                                           .method = DYNAMICS_METHOD_COUNT,
                                           .n = SAMPLES,
                                           .t_us = t_us,
                                           .values = values,
                                           .go_on = go_on_for_a_while,
                                           .context = &left};
        out = before;
        status = dynamics_task_run(&task, &out, &err);
        CHECK("untouched", status == STATUS_OK || memcmp(&out, &before, sizeof out) == 0);
        asked += asked < 40 ? 1 : 7;
    }
    CHECK_INT("in the end", status, STATUS_OK);
    CHECK("asked often", asked > 10);
}

/* Stamps of a robot that samples once a second are whole seconds, and no row numbers. */
static void test_once_a_second(void)
{
    enum { SAMPLES = 400 };
    static int64_t t_us[SAMPLES];
    static float values[SAMPLES * 3];
    static struct dynamics_result out;
    struct err err = {0};
    uint64_t noise = 3;
    double nu = 0.0;
    for (size_t k = 0; k < SAMPLES; k++) {
        const double command = (k % 60 < 30 ? 1.0 : -0.5) * (1.0 + sin(0.05 * (double)k));
        t_us[k] = (int64_t)k * 1000000;
        values[k * 3] = (float)(nu + 0.01 * usv_normal(&noise));
        values[k * 3 + 1] = (float)command;
        nu = 0.8 * command + (nu - 0.8 * command) * exp(-1.0 / 8.0);
    }
    const struct dynamics_task task = {.model = &first_order_model,
                                       .method = DYNAMICS_OUTPUT_ERROR,
                                       .plausible = true,
                                       .n = SAMPLES,
                                       .t_us = t_us,
                                       .values = values};
    CHECK_INT("fitted", dynamics_task_run(&task, &out, &err), STATUS_OK);
    CHECK_INT("right", out.fit.estimate.verdict, ESTIMATE_PASS);
    CHECK(out.fit.estimate.reasons[0], !strstr(out.fit.estimate.reasons[0], "row numbers"));
}

/* Memory of pairs without dynamics. */
static void test_memory(void)
{
    struct pair_params p[2];
    lab_pair_defaults(&p[0], "r1");
    lab_pair_defaults(&p[1], "r2");
    const struct lab_params plain = {.pair_count = 2, .pairs = p};
    const size_t bytes = lab_bytes(&plain);
    const uint64_t fingerprint = lab_fingerprint(&plain);
    CHECK_INT("nothing", pair_dynamics_bytes(&p[0].dynamics), 0);
    (void)snprintf(p[1].dynamics.model, sizeof p[1].dynamics.model, "usv3");
    CHECK("more", lab_bytes(&plain) > bytes);
    CHECK("another lab", lab_fingerprint(&plain) != fingerprint);
    const uint64_t with = lab_fingerprint(&plain);
    p[1].dynamics.drift_ratio = 0.2;
    CHECK("other options", lab_fingerprint(&plain) != with);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    truth = usv3_vessel_find("wamv")->theta;
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("pair_dynamics", NULL, NULL);
    if (usv_read("W", &record) != USV_SAMPLES) {
        return EXIT_FAILURE;
    }
    CU_add_test(suite, "once a second", test_once_a_second);
    CU_add_test(suite, "from window to simulator", test_from_window_to_simulator);
    CU_add_test(suite, "alike", test_alike);
    CU_add_test(suite, "by hand", test_by_hand);
    CU_add_test(suite, "bad ends", test_bad_ends);
    CU_add_test(suite, "drift", test_drift);
    CU_add_test(suite, "payload", test_payload);
    CU_add_test(suite, "waits for the whole", test_waits_for_whole);
    CU_add_test(suite, "creeps", test_creeps);
    CU_add_test(suite, "a lost filter", test_lost_filter);
    CU_add_test(suite, "passed over", test_passed_over);
    CU_add_test(suite, "first fit waits", test_first_fit_waits);
    CU_add_test(suite, "thinning", test_thinning);
    CU_add_test(suite, "ended anywhere", test_ended_anywhere);
    CU_add_test(suite, "memory", test_memory);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
