/* A pair whose virtual robot follows the real one, in the lab: efforts out, alarms, requests;
 * recorded and replayed alike, restarted alike. */
#include "tests/support/lab_script.h"
#include "tests/support/saved_lab.h"

#include <float.h>

#include "base/numbers/hash.h"
#include "config/labfile/lab_file.h"
#include "identification/model/usv3.h"
#include "twin/report/following_report.h"
#include "twin/report/pair_report.h"

enum { N = USV3_AXES, MS = 1000, PERIOD_MS = 10, EVENTS_MAX = 40000 };

static const double PUSH[N] = {60.0, 0.0, 12.0};

struct stage {
    struct pair_params params;
    struct pair_following_params following;
    struct lab_params lab_params;
    struct lab *lab;
    struct effects fx;
    int64_t now_us;
    double real_nu[N], real_pose[N], nu[N], pose[N], tau[N];
    int64_t seq;
    bool deaf[SIDE_COUNT];
    int boot;    /* of both robots */
    bool taught; /* the simulator took over the real robot's parameters */
    uint64_t alarms[ALARM_TYPE_COUNT];
    const char *code; /* of the last alarm … */
    char published[ALARM_DETAIL_MAX];
    char fidelity[64]; /* codes of the alarms of this type */
    size_t controls, fidelities;
    double jump; /* of an effort, largest from one to the next */
    /* Recorded events, for replay. */
    struct event *events;
    size_t event_count;
};

static void record_effect(void *context, const struct effect *e)
{
    struct stage *s = context;
    if (e->kind == EFFECT_PARAMETERS) {
        s->taught = true;
    } else if (e->kind == EFFECT_ALARM) {
        s->alarms[e->alarm->type]++;
        s->code = e->alarm->code;
        (void)snprintf(s->published, sizeof s->published, "%s", e->alarm->detail);
        if (e->alarm->type == ALARM_TYPE_FIDELITY) {
            const size_t used = strlen(s->fidelity);
            (void)snprintf(s->fidelity + used, sizeof s->fidelity - used, " %s", s->code);
        }
    } else if (e->kind == EFFECT_FIDELITY) {
        s->fidelities++;
    } else if (e->kind == EFFECT_CONTROL) {
        char text[256];
        (void)snprintf(text, sizeof text, "%.*s", (int)e->payload.bytes, e->payload.text);
        const char *at = strchr(text, '[');
        const double before[N] = {s->tau[0], s->tau[1], s->tau[2]};
        s->controls++;
        CHECK_INT("at its time", e->t_us % (PERIOD_MS * MS), 0);
        for (size_t i = 0; i < N && at; i++) {
            char *end = NULL;
            s->tau[i] = strtod(at + 1, &end);
            CHECK("a number within limits", end > at + 1 && fabs(s->tau[i]) <= 200.0);
            s->jump = fmax(s->jump, fabs(s->tau[i] - before[i]));
            at = end;
        }
    }
}

static void configure_stage(struct stage *s, const char *real, const char *simulated)
{
    struct err err = {0};
    struct pair_following_params *p = &s->following;
    lab_pair_defaults(&s->params, "r1");
    lab_following_defaults(p);
    s->params.following = p;
    (void)snprintf(p->model, sizeof p->model, "usv3");
    (void)snprintf(p->limits, sizeof p->limits, "200, 200, 120");
    (void)snprintf(p->real, sizeof p->real, "%s", real);
    (void)snprintf(p->simulated, sizeof p->simulated, "%s", simulated);
    CHECK_INT("parameters", following_text_parse(p, &err), STATUS_OK);
    CHECK_TEXT("parameters", err.text, "");
}

static void open_lab(struct stage *s)
{
    s->lab_params = (struct lab_params){.pair_count = 1, .pairs = &s->params};
    s->fx = (struct effects){record_effect, s};
    s->lab =
        lab_init(aligned_alloc(64, (lab_bytes(&s->lab_params) + 63) / 64 * 64), &s->lab_params);
    s->now_us = INT64_C(1763617674000000);
    s->pose[0] = 3.0;
}

static void close_lab(struct stage *s)
{
    free(s->lab);
    free(s->events);
    *s = (struct stage){.lab = NULL};
}

static void step_event(struct stage *s, const struct event *e)
{
    if (s->events && s->event_count < EVENTS_MAX) {
        s->events[s->event_count++] = *e;
    }
    lab_step(s->lab, e, &s->fx);
}

static void send_telemetry(struct stage *s, enum side side)
{
    struct event e = script_event("r1", s->now_us, EVENT_TELEMETRY, side);
    e.telemetry = (struct event_telemetry){.source_us = s->now_us - 2000,
                                           .seq = s->seq,
                                           .nu_count = N,
                                           .tau_count = N,
                                           .pose_count = N};
    (void)snprintf(e.telemetry.boot, sizeof e.telemetry.boot, "boot%d", s->boot);
    memcpy(e.telemetry.nu, side == SIDE_REAL ? s->real_nu : s->nu, sizeof s->nu);
    memcpy(e.telemetry.tau, side == SIDE_REAL ? PUSH : s->tau, sizeof s->tau);
    memcpy(e.telemetry.pose, side == SIDE_REAL ? s->real_pose : s->pose, sizeof s->pose);
    step_event(s, &e);
}

static void send_following(struct stage *s, int active, double bandwidth)
{
    struct event e = script_event("r1", s->now_us, EVENT_REQUEST, SIDE_COUNT);
    e.request = (struct event_request){.action = REQUEST_FOLLOWING,
                                       .by = "test",
                                       .following = {.active = (int8_t)active,
                                                     .rejection = -1,
                                                     .bandwidth_radps = bandwidth,
                                                     .observer_radps = -1.0,
                                                     .pose_per_s2 = -1.0}};
    step_event(s, &e);
}

/* Both robots move, telemetry every 20 ms, the lab's time advances every millisecond. */
static void run_stage(struct stage *s, double seconds)
{
    const struct usv3_vessel *real = usv3_vessel_find("iacquabot");
    const struct usv3_vessel *simulated = s->taught ? real : usv3_vessel_find("wamv");
    for (int k = 0; k < (int)lround(seconds * 200.0); k++) {
        s->now_us += 5 * MS;
        model_step(&usv3_model, real->theta, s->real_nu, s->real_pose, PUSH, NULL, 0.005);
        model_step(&usv3_model, simulated->theta, s->nu, s->pose, s->tau, NULL, 0.005);
        struct event tick = script_event("", s->now_us, EVENT_TICK, SIDE_COUNT);
        lab_step(s->lab, &tick, &s->fx);
        if (k % 4 == 3) {
            s->seq++;
            for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
                if (!s->deaf[side]) {
                    send_telemetry(s, side);
                }
            }
        }
    }
}

static const struct pair_following *get_following(const struct stage *s)
{
    return lab_following(s->lab, 0);
}

static double measure_gap(const struct stage *s)
{
    return hypot(s->nu[0] - s->real_nu[0], s->nu[2] - s->real_nu[2]);
}

static char *write_report(const struct stage *s)
{
    static char text[2][2 * FOLLOWING_REPORT_MAX];
    static int turn;
    struct json_writer w;
    turn = !turn;
    json_write_start(&w, text[turn], sizeof text[turn] - 1, NULL, NULL);
    json_write_object(&w, NULL);
    following_report_frame(&w, "aligned", get_following(s));
    following_report(&w, "following", get_following(s), &s->params);
    fidelity_report_write(&w, "fidelity", get_following(s), &s->params);
    json_write_close(&w);
    CU_ASSERT_FATAL(json_write_end(&w));
    text[turn][w.used] = '\0';
    return text[turn];
}

/* The virtual robot from where following sees the real one. */
static double seen_apart(const struct stage *s)
{
    double there[MODEL_AXES_MAX] = {0};
    following_align(&get_following(s)->f, &usv3_model, s->real_pose, there);
    return hypot(there[0] - s->pose[0], there[1] - s->pose[1]);
}

static void test_follows(void)
{
    static struct stage s;
    configure_stage(&s, "iacquabot", "wamv");
    open_lab(&s);
    CHECK("no common frame yet", strstr(write_report(&s), "\"aligned\":null"));
    run_stage(&s, 5.0);
    CHECK_INT("not asked", s.controls, 0);
    CHECK("fidelity is reported all the same", s.fidelities >= 4);
    CHECK("and reports the distance", strstr(write_report(&s), "\"within_ratio\":0"));
    send_following(&s, 1, -1.0);
    run_stage(&s, 20.0);
    CHECK_NEAR("it was off since the first message",
               1e-6 * (double)get_following(&s)->f.stats.stay_us[FOLLOWING_OFF], 5.0, 0.0, 0.1);
    CHECK("a hundred efforts a second", s.controls > 1950 && s.controls <= 2000);
    CHECK("alike", measure_gap(&s) < 2e-3);
    CHECK("by the lab file", strstr(write_report(&s), "\"source\":\"lab_file\""));
    CHECK("tracking", strstr(write_report(&s), "\"state\":\"TRACKING\""));
    CHECK("in one frame", strstr(write_report(&s), "\"aligned\":{\"since_t\":1763617679."));
    CHECK_NEAR("apart from the distance to catch up", seen_apart(&s), 0.0, 0.0, 1.0);
    const size_t controls = s.controls;
    send_following(&s, 0, -1.0);
    run_stage(&s, 1.0);
    CHECK("one more", s.controls <= controls + 2);
    CHECK_NEAR("that is zero", s.tau[0], 0.0, 0.0, 0.0);
    CHECK_INT("no deadline left", lab_next_deadline(s.lab) == LAB_TIME_MAX, 1);
    close_lab(&s);
}

static void test_silence(void)
{
    static struct stage s;
    configure_stage(&s, "iacquabot", "wamv");
    s.following.active = true;
    open_lab(&s);
    run_stage(&s, 20.0);
    s.deaf[SIDE_REAL] = true;
    s.jump = 0.0;
    run_stage(&s, 8.0);
    CHECK_INT("reported once", s.alarms[ALARM_TYPE_FOLLOWING], 1);
    CHECK_TEXT("the silent side", s.code, "real_telemetry_stale");
    CHECK("stopped", fabs(s.nu[0]) < 0.02 && strstr(write_report(&s), "STOPPED"));
    CHECK("gently", s.jump < 30.0);
    s.deaf[SIDE_REAL] = false;
    run_stage(&s, 10.0);
    CHECK_INT("reported again", s.alarms[ALARM_TYPE_FOLLOWING], 2);
    CHECK_TEXT("it goes on", s.code, "following_resumed");
    CHECK("alike again", measure_gap(&s) < 3e-3);
    s.deaf[SIDE_VIRTUAL] = true;
    run_stage(&s, 2.0);
    CHECK_NEAR("nothing is sent blindly", s.tau[0], 0.0, 0.0, 0.0);
    const size_t controls = s.controls;
    s.deaf[SIDE_REAL] = true;
    run_stage(&s, 5.0);
    CHECK_INT("no messages, no action", s.controls, controls);
    CHECK_INT("and no control period either", lab_next_deadline(s.lab) == LAB_TIME_MAX, 1);
    s.deaf[SIDE_REAL] = s.deaf[SIDE_VIRTUAL] = false;
    run_stage(&s, 10.0);
    CHECK("alike once more", measure_gap(&s) < 3e-3);
    close_lab(&s);
}

/* The simulator's answer: all applied except the refused ones; "": nothing. */
static void send_ack(struct stage *s, uint32_t version, const char *refused)
{
    struct event e = script_event("r1", s->now_us, EVENT_ACK, SIDE_VIRTUAL);
    e.ack.version = version;
    for (size_t k = 0; k < USV3_PARAMETERS; k++) {
        const char *name = usv3_model.parameters[k].name;
        if (strstr(refused, name)) {
            e.ack.refused++;
        } else {
            e.ack.applied_hash[e.ack.applied++] = hash_text(name);
        }
    }
    step_event(s, &e);
}

/* A fit of this side came to these parameters. */
static void send_fit(struct stage *s, enum side side, const double *theta,
                     enum estimate_verdict verdict)
{
    static struct dynamics_result found;
    struct event e = script_event("r1", s->now_us, EVENT_REQUEST, SIDE_COUNT);
    e.request =
        (struct event_request){.action = REQUEST_IDENTIFY, .side = side, .model = "usv3"};
    step_event(s, &e);
    found = (struct dynamics_result){.checks.verdict = verdict};
    memcpy(found.fit.estimate.value, theta, sizeof(double[USV3_PARAMETERS]));
    found.checks.check[CHECK_PRECISION].verdict = verdict;
    (void)snprintf(found.checks.check[CHECK_PRECISION].detail, PARAMETERS_DETAIL_MAX, "vague");
    e = script_event("r1", s->now_us, EVENT_FIT, side);
    e.fit = (struct event_fit){.job = lab_dynamics(s->lab, 0)->side[side].job,
                               .outcome = FIT_DONE,
                               .detail = "",
                               .result = &found};
    step_event(s, &e);
}

static void learn_both(struct stage *s)
{
    (void)snprintf(s->params.dynamics.model, sizeof s->params.dynamics.model, "usv3");
    s->params.dynamics.sides = DYNAMICS_SIDES_BOTH;
    s->params.dynamics.refit_us = 0;
}

static void fit_both(struct stage *s)
{
    send_fit(s, SIDE_VIRTUAL, usv3_vessel_find("wamv")->theta, ESTIMATE_PASS);
    send_fit(s, SIDE_REAL, usv3_vessel_find("iacquabot")->theta, ESTIMATE_PASS);
}

/* Is the newest trouble of the pair's summary the fidelity? */
static bool is_fidelity_trouble(const struct stage *s)
{
    static char text[16384];
    struct json_writer w;
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    pair_report_summary(&w, NULL, lab_pair(s->lab, 0), get_following(s), &s->params);
    CU_ASSERT_FATAL(json_write_end(&w));
    text[w.used] = '\0';
    const char *last = strstr(text, "\"last_alarm\":");
    CU_ASSERT_FATAL(last != NULL);
    const char *end = strchr(last, '}');
    const char *type = strstr(last, "\"type\":\"fidelity\"");
    return type && end && type < end;
}

static double surge_rmse(const struct stage *s)
{
    struct fidelity_report r;
    fidelity_report_read(get_following(s), &s->params, &r);
    return r.rmse[0];
}

/* Values that the lab file does not give are estimated, as good as given ones, also after
 * reboots. */
static void test_learnt(void)
{
    static struct stage s;
    double reported = 0.0;
    for (int learnt = 0; learnt < 2; learnt++) {
        configure_stage(&s, learnt ? "" : "iacquabot", learnt ? "" : "wamv");
        learn_both(&s);
        s.following.active = true;
        s.following.window_us = 10000000;
        open_lab(&s);
        run_stage(&s, 15.0);
        if (learnt) {
            CHECK_INT("nothing runs on unknown parameters", s.controls, 0);
            CHECK("names what is missing",
                  strstr(write_report(&s), "virtual robot are not known"));
            fit_both(&s);
            CHECK("by fits", strstr(write_report(&s), "\"virtual\":{\"source\":\"fit\""));
        }
        run_stage(&s, 30.0);
        CHECK("tracking", strstr(write_report(&s), "\"state\":\"TRACKING\""));
        CHECK_INT("no period held", get_following(&s)->f.held, 0);
        CHECK("alike", measure_gap(&s) < 2e-3);
        if (learnt) {
            CHECK("as from the lab file", surge_rmse(&s) <= 1.1 * reported + 1e-6);
            CHECK("a target that is met again is no trouble", !is_fidelity_trouble(&s));
            s.boot++;
            s.real_pose[0] += 7.0;
            run_stage(&s, 30.0);
            CHECK("and after reboots", measure_gap(&s) < 2e-3);
            CHECK("at its present place", surge_rmse(&s) <= 1.1 * reported + 1e-4);
            CHECK_TEXT("while nothing drove it, while it was followed, after the jump",
                       s.fidelity, " fidelity_missed fidelity_met fidelity_missed");
            CHECK("one that is missed is", is_fidelity_trouble(&s));
        }
        reported = surge_rmse(&s);
        close_lab(&s);
    }
}

/* Both sides' dynamics are to be fitted, following is on, 15 s have passed. */
static void begin_learning(struct stage *s)
{
    learn_both(s);
    s->following.active = true;
    open_lab(s);
    run_stage(s, 15.0);
}

/* A failed fit gives nothing, and removes nothing. */
static void test_failed_fits(void)
{
    static struct stage s;
    configure_stage(&s, "", "");
    begin_learning(&s);
    send_fit(&s, SIDE_VIRTUAL, usv3_vessel_find("wamv")->theta, ESTIMATE_PASS);
    send_fit(&s, SIDE_REAL, usv3_vessel_find("wamv")->theta, ESTIMATE_FAIL);
    run_stage(&s, 1.0);
    CHECK_INT("nothing is sent", s.controls, 0);
    CHECK("names what failed",
          strstr(write_report(&s), "the real robot failed its checks (vague)"));
    fit_both(&s);
    run_stage(&s, 10.0);
    CHECK("follows", measure_gap(&s) < 3e-3);
    send_fit(&s, SIDE_REAL, usv3_vessel_find("wamv")->theta, ESTIMATE_FAIL);
    run_stage(&s, 5.0);
    CHECK("goes on by the fit that passed", measure_gap(&s) < 3e-3);
    CHECK("tracking", strstr(write_report(&s), "\"state\":\"TRACKING\""));
    close_lab(&s);
}

/* Parameters that give no effort: reported, nothing is sent, and other parameters repair it. */
static void test_numbers_that_are_none(void)
{
    static struct stage s;
    double theta[USV3_PARAMETERS];
    configure_stage(&s, "", "");
    begin_learning(&s);
    fit_both(&s);
    run_stage(&s, 5.0);
    memcpy(theta, usv3_vessel_find("iacquabot")->theta, sizeof theta);
    theta[0] = 1e-300; /* what moves without inertia moves at once, and for ever */
    send_fit(&s, SIDE_REAL, theta, ESTIMATE_PASS);
    run_stage(&s, 1.0);
    CHECK_TEXT("is reported", s.code, "model_reset");
    CHECK("goes on by the samples", measure_gap(&s) < 0.2);
    for (size_t k = 0; k < USV3_PARAMETERS; k++) {
        theta[k] = DBL_MAX;
    }
    send_fit(&s, SIDE_VIRTUAL, theta, ESTIMATE_PASS);
    run_stage(&s, 1.0);
    CHECK("is reported", strstr(write_report(&s), "no finite effort"));
    CHECK("is not called tracking", strstr(write_report(&s), "\"state\":\"OFF\""));
    CHECK_NEAR("nothing is sent", s.tau[0], 0.0, 0.0, 0.0);
    fit_both(&s);
    run_stage(&s, 20.0);
    CHECK("healed by a better fit", measure_gap(&s) < 3e-3);
    close_lab(&s);
}

static void send_request(struct stage *s, enum request_action action)
{
    struct event e = script_event("r1", s->now_us, EVENT_REQUEST, SIDE_COUNT);
    e.request = (struct event_request){.action = action, .by = "test", .model = "usv3"};
    step_event(s, &e);
}

/* A fit of the real robot is put in force while the virtual one follows: the simulator becomes
 * another vessel, and the law is made for another. */
static void test_promotion(void)
{
    static struct stage s;
    static struct dynamics_result found;
    configure_stage(&s, "iacquabot", "wamv");
    s.following.active = true;
    (void)snprintf(s.params.dynamics.model, sizeof s.params.dynamics.model, "usv3");
    s.params.dynamics.refit_us = 0;
    open_lab(&s);
    run_stage(&s, 20.0);
    send_request(&s, REQUEST_IDENTIFY);
    memcpy(found.fit.estimate.value, usv3_vessel_find("iacquabot")->theta,
           sizeof(double[USV3_PARAMETERS]));
    found.checks.verdict = ESTIMATE_PASS;
    struct event e = script_event("r1", s.now_us, EVENT_FIT, SIDE_REAL);
    e.fit = (struct event_fit){.job = 1, .outcome = FIT_DONE, .detail = "", .result = &found};
    step_event(&s, &e);
    run_stage(&s, 1.0);
    CHECK("the fit is used", strstr(write_report(&s), "\"real\":{\"source\":\"fit\""));
    s.jump = 0.0;
    send_request(&s, REQUEST_PROMOTE);
    CHECK("in force, and sent", s.taught);
    CHECK("but not yet acknowledged",
          strstr(write_report(&s), "\"virtual\":{\"source\":\"lab_file\""));
    send_ack(&s, 1, "");
    run_stage(&s, 0.1);
    CHECK("the sent set is used", strstr(write_report(&s), "\"virtual\":{\"source\":\"set\""));
    run_stage(&s, 10.0);
    CHECK("no jump of the effort", s.jump < 1.0);
    CHECK("alike", measure_gap(&s) < 2e-3);
    CHECK_NEAR("the same vessel needs the same force", s.tau[2], PUSH[2], 0.02, 0.0);
    close_lab(&s);
}

/* If the simulator refuses parts of a set, these keep their values, and so do all after the
 * roll back. */
static void test_refused_parameters(void)
{
    const double *own = usv3_vessel_find("wamv")->theta;
    const double *reported = usv3_vessel_find("iacquabot")->theta;
    static struct stage s;
    configure_stage(&s, "", "");
    begin_learning(&s);
    fit_both(&s);
    run_stage(&s, 5.0);
    send_request(&s, REQUEST_PROMOTE);
    const double *used = get_following(&s)->known.side[SIDE_VIRTUAL].theta;
    CHECK_NEAR("sent is not applied", used[0], own[0], 0.0, 0.0);
    send_ack(&s, 7, "");
    CHECK_NEAR("nor is another version", used[0], own[0], 0.0, 0.0);
    send_ack(&s, 1, "surge_mass_kg, yaw_inertia_kgm2");
    CHECK_NEAR("refused", used[0], own[0], 0.0, 0.0);
    CHECK_NEAR("applied", used[1], reported[1], 0.0, 0.0);
    CHECK("reports it", strstr(write_report(&s), "\"source\":\"set_partly\""));
    s.boot++;
    run_stage(&s, 1.0);
    CHECK_NEAR("likewise after a reboot", used[0], own[0], 0.0, 0.0);
    CHECK_NEAR("of both", used[1], reported[1], 0.0, 0.0);
    send_ack(&s, 1, "");
    CHECK_NEAR("it has thought better of it", used[0], reported[0], 0.0, 0.0);
    send_request(&s, REQUEST_ROLLBACK);
    send_ack(&s, 0, "");
    CHECK_NEAR("its own", used[0], own[0], 0.0, 0.0);
    CHECK_NEAR("all of them", used[1], own[1], 0.0, 0.0);
    CHECK("by the fit", strstr(write_report(&s), "\"virtual\":{\"source\":\"fit\""));
    close_lab(&s);
    configure_stage(&s, "iacquabot", "");
    begin_learning(&s);
    send_fit(&s, SIDE_REAL, reported, ESTIMATE_PASS);
    send_request(&s, REQUEST_PROMOTE);
    send_ack(&s, 1, "surge_mass_kg");
    CHECK("nothing runs on unknown parameters",
          strstr(write_report(&s), "refused parameters of"));
    send_ack(&s, 1, "");
    CHECK("all of it is known now", strstr(write_report(&s), "\"obstacle\":null"));
    close_lab(&s);
}

static void test_refusals(void)
{
    static struct stage s;
    configure_stage(&s, "", "");
    open_lab(&s);
    send_following(&s, 1, -1.0);
    run_stage(&s, 1.0);
    CHECK_TEXT("names what is missing", s.code, "following_not_ready");
    CHECK_INT("nothing is sent", s.controls, 0);
    close_lab(&s);
    configure_stage(&s, "iacquabot", "wamv");
    open_lab(&s);
    send_following(&s, -1, 400.0);
    CHECK_TEXT("gains beyond the period", s.code, "gains_refused");
    CHECK("and their limit", strstr(s.published, "50"));
    CHECK("are not applied", get_following(&s)->gains.bandwidth_radps[0] < 6.0);
    send_following(&s, -1, 3.0);
    CHECK_NEAR("others are", get_following(&s)->gains.bandwidth_radps[1], 3.0, 0.0, 0.0);
    CHECK("without being switched on", !get_following(&s)->asked);
    close_lab(&s);
}

static void test_texts(void)
{
    static const struct {
        const char *key, *text, *where;
    } rows[] = {
        {"limits", "1, 2", "limits"},
        {"limits", "1, 2, x", "limits"},
        {"limits", "0, 0, 0", "limits"},
        {"limits", "-1, 2, 3", "limits"},
        {"noise", "0, 1, 1", "noise_sd"},
        {"noise", "1", "noise_sd"},
        {"real", "titanic", "real"},
        {"real", "d1=1", "real"},
        {"real", "d1=1 d2=2", "real"},
        {"simulated", "d1=x", "virtual"},
        {"vessel", "titanic", "vessel"},
        {"real", "d1=-1,d2=1,d3=1,d4=1,d5=1,d6=1,d7=1,d8=1,d9=1", "real"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pair_following_params p;
        struct err err = {0};
        lab_following_defaults(&p);
        (void)snprintf(p.model, sizeof p.model, "usv3");
        char *to = strcmp(rows[i].key, "limits") == 0   ? p.limits
                   : strcmp(rows[i].key, "noise") == 0  ? p.noise
                   : strcmp(rows[i].key, "real") == 0   ? p.real
                   : strcmp(rows[i].key, "vessel") == 0 ? p.vessel
                                                        : p.simulated;
        (void)snprintf(to, FOLLOWING_NAME_MAX * (to == p.vessel ? 1 : 8), "%s", rows[i].text);
        CHECK_INT(rows[i].text, following_text_parse(&p, &err), STATUS_E_RANGE);
        CHECK_TEXT(rows[i].text, err.where, rows[i].where);
    }
    struct pair_following_params p;
    lab_following_defaults(&p);
    (void)snprintf(p.model, sizeof p.model, "usv3");
    (void)snprintf(p.limits, sizeof p.limits, "180, 0, 120");
    (void)snprintf(p.real, sizeof p.real,
                   "d1=1, d2 = 2,d3=3,d4=4,d5=5,d6=6,d7=7,d8=8, yaw_quadratic_kgm2=9");
    CHECK_INT("all well", following_text_parse(&p, NULL), STATUS_OK);
    CHECK_NEAR("by name", p.theta[SIDE_REAL][8], 9.0, 0.0, 0.0);
    CHECK("underactuated", p.allocation.underactuated && !p.allocation.reaches[1]);
    p.pose_per_s2 = 1.0;
    CHECK_INT("pose feedback refused", following_text_parse(&p, NULL), STATUS_E_RANGE);
}

/* The same events, without the ticks that only drove the live one's time, and with a restart
 * in the middle. */
static void test_replay(void)
{
    static struct stage live;
    static struct stage again;
    configure_stage(&live, "iacquabot", "wamv");
    live.following.active = true;
    open_lab(&live);
    live.events = calloc(EVENTS_MAX, sizeof live.events[0]);
    CU_ASSERT_PTR_NOT_NULL_FATAL(live.events);
    run_stage(&live, 10.0);
    live.deaf[SIDE_REAL] = true;
    run_stage(&live, 2.0);
    live.deaf[SIDE_REAL] = false;
    run_stage(&live, 10.0);
    send_following(&live, -1, 8.0);
    run_stage(&live, 5.0);
    send_telemetry(&live, SIDE_REAL); /* so that both end at the same event */
    const char *wanted = write_report(&live);
    for (int restart = 0; restart < 2; restart++) {
        configure_stage(&again, "iacquabot", "wamv");
        again.following.active = true;
        open_lab(&again);
        for (size_t k = 0; k < live.event_count; k++) {
            lab_step(again.lab, &live.events[k], &again.fx);
            if (restart && k == live.event_count / 2) {
                size_t bytes = 0;
                void *saved = saved_lab(again.lab, &bytes);
                free(again.lab);
                open_lab(&again);
                CHECK_INT("restored", lab_load(again.lab, saved, bytes), STATUS_OK);
                free(saved);
            }
        }
        CHECK_TEXT("the same efforts and figures", write_report(&again), wanted);
        CHECK_INT("as many", get_following(&again)->sent, get_following(&live)->sent);
        CHECK("the same bytes", get_following(&again)->hash == get_following(&live)->hash);
        close_lab(&again);
    }
    close_lab(&live);
}

static void test_plain_pairs_pay_nothing(void)
{
    static struct script s;
    script_init(&s, 2);
    const size_t plain = lab_bytes(&s.lab_params);
    struct pair_following_params following;
    struct pair_following_params *const p = &following;
    lab_following_defaults(p);
    s.params[1].following = p;
    (void)snprintf(p->model, sizeof p->model, "usv3");
    CHECK_INT("parameters", following_text_parse(p, NULL), STATUS_OK);
    CHECK("one block more", lab_bytes(&s.lab_params) >= plain + sizeof(struct pair_following));
    script_open(&s);
    CHECK("the first has none", lab_following(s.lab, 0) == NULL);
    CHECK("the second has", lab_following(s.lab, 1) != NULL);
    const uint64_t print = lab_fingerprint(&s.lab_params);
    p->rate_hz = 50.0;
    CHECK("options change the hash", lab_fingerprint(&s.lab_params) != print);
    script_close(&s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("pair following", NULL, NULL);
    CU_add_test(suite, "follows", test_follows);
    CU_add_test(suite, "silence", test_silence);
    CU_add_test(suite, "learnt", test_learnt);
    CU_add_test(suite, "failed fits", test_failed_fits);
    CU_add_test(suite, "numbers that are none", test_numbers_that_are_none);
    CU_add_test(suite, "promotion", test_promotion);
    CU_add_test(suite, "refused parameters", test_refused_parameters);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "texts", test_texts);
    CU_add_test(suite, "replay and restart", test_replay);
    CU_add_test(suite, "plain pairs pay nothing", test_plain_pairs_pay_nothing);
    return check_run();
}
