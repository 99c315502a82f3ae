/* Telemetry with the shape of the model, of the plane, or of neither: online, in a journal, and
 * the reports on it. */
#include "tests/support/lab_script.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "identification/model/models.h"
#include "service/identify/identify.h"
#include "twin/report/pair_dynamics_report.h"

enum { DIFFDRIVE_AXES = 2, DIFFDRIVE_PARAMETERS = 6 };

static const double truth[DIFFDRIVE_PARAMETERS] = {0.25, 0.15, 0.01, 1.02, -0.02, 1.05};

/* Two commands and velocities each 50 ms, with a little noise. */
struct drive {
    double nu[DIFFDRIVE_AXES], tau[DIFFDRIVE_AXES], listed[DIFFDRIVE_AXES];
    struct random_source noise;
    int64_t back_us; /* by which the robot's clock was set back */
    int k;
};

static void next_sample(struct drive *d)
{
    if (d->k++ % 20 == 0) {
        d->tau[0] = random_between(&d->noise, -0.2, 0.6);
        d->tau[1] = random_between(&d->noise, -1.5, 1.5);
    }
    for (size_t i = 0; i < DIFFDRIVE_AXES; i++) {
        d->listed[i] = d->nu[i] + random_between(&d->noise, -0.005, 0.005);
    }
    model_step(&diffdrive_model, truth, d->nu, NULL, d->tau, NULL, 0.05);
}

static const struct shape {
    const char *name;
    const char *model;
    size_t nu_count, tau_count, pose_count;
    double sideways;      /* nu[1], where there are three */
    double tau_sideways;  /* tau[1] likewise */
    const char *obstacle; /* part of it; NULL: none */
} shapes[] = {
    /* clang-format off */
    {"axis by axis", "diffdrive", 2, 2, 0, 0.0, 0.0, NULL},
    {"of the plane", "diffdrive", 3, 3, 3, 0.0, 0.0, NULL},
    {"velocity of the plane", "diffdrive", 3, 2, 3, 0.0, 0.0, NULL},
    {"one joint", "joint", 1, 1, 0, 0.0, 0.0, NULL},
    {"one pendulum", "joint_load", 1, 1, 1, 0.0, 0.0, NULL},
    {"slips a little", "diffdrive", 3, 3, 0, 0.03, 0.0, NULL},
    {"slides", "diffdrive", 3, 2, 0, -0.4, 0.0, "nu[1] of telemetry is -0.4, but"},
    {"pushed sideways", "diffdrive", 3, 3, 0, 0.0, 7.0, "tau[1] of telemetry is 7, but"},
    {"six numbers", "diffdrive", 6, 2, 0, 0.0, 0.0, "nu of telemetry has 6 numbers, diffdrive wants it as [v_mps, w_radps] or [v_mps, 0, w_radps]"},
    {"no efforts", "diffdrive", 3, 0, 3, 0.0, 0.0, "no efforts, diffdrive needs tau as [v_cmd_mps, w_cmd_radps] or [v_cmd_mps, 0, w_cmd_radps]"},
    {"no velocity", "joint", 0, 1, 1, 0.0, 0.0, "nu of telemetry has 0 numbers, joint wants it as [velocity]"},
    {"body of a joint", "joint", 3, 1, 0, 0.0, 0.0, "nu of telemetry has 3 numbers, joint wants it as [velocity]"},
    {"efforts of a body", "joint", 1, 2, 0, 0.0, 0.0, "tau of telemetry has 2 numbers, joint wants it as [effort]"},
    {"no position", "joint_load", 1, 1, 0, 0.0, 0.0, "has no pose, joint_load needs it: pose must begin with position"},
    {"two channels", "first_order", 2, 1, 0, 0.0, 0.0, "nu of telemetry has 2 numbers, first_order wants it as [velocity]"},
    {"no command", "first_order", 1, 0, 0, 0.0, 0.0, "tau as [command]"},
    {"dead band", "first_order_deadband", 3, 3, 0, 0.0, 0.0, "first_order_deadband wants it as [velocity]"},
    {"of the plane, a vessel", "usv3", 2, 3, 0, 0.0, 0.0, "usv3 wants it as [u_mps, v_mps, r_radps]"},
    /* clang-format on */
};

static void fill_telemetry(const struct shape *shape, const struct drive *d,
                           struct event_telemetry *m)
{
    const size_t turn = shape->nu_count > 2 ? 2 : 1;
    const size_t applied = shape->tau_count > 2 ? 2 : 1;
    *m = (struct event_telemetry){.source_us = INT64_C(1000000000) + d->k * INT64_C(50000) - d->back_us,
                                  .seq = d->k,
                                  .nu_count = shape->nu_count,
                                  .tau_count = shape->tau_count,
                                  .pose_count = shape->pose_count};
    m->nu[0] = d->listed[0];
    m->nu[turn] = d->listed[1];
    m->nu[1] = turn == 2 ? shape->sideways : m->nu[1];
    m->tau[0] = d->tau[0];
    m->tau[applied] = d->tau[1];
    m->tau[1] = applied == 2 ? shape->tau_sideways : m->tau[1];
}

static void open_pair(struct script *s, const char *model)
{
    script_init(s, 1);
    struct pair_dynamics_params *p = &s->params[0].dynamics;
    (void)snprintf(p->model, sizeof p->model, "%s", model);
    p->method = DYNAMICS_WEAK_IV;
    p->sides = DYNAMICS_SIDES_REAL;
    p->window = 800;
    p->window_us = 40000000;
    s->params[0].source_clock[SIDE_REAL] = PAIR_CLOCK_SIMULATION;
    script_open(s);
}

static int64_t time_of_sample(const struct drive *d)
{
    return INT64_C(1763617674000000) + d->k * INT64_C(50000);
}

static void send_samples(struct script *s, const struct shape *shape, struct drive *d,
                         int samples)
{
    while (samples-- > 0) {
        next_sample(d);
        struct event e = script_event("r1", time_of_sample(d), EVENT_TELEMETRY, SIDE_REAL);
        fill_telemetry(shape, d, &e.telemetry);
        lab_step(s->lab, &e, &s->fx);
    }
}

static const char *obstacle_of(struct script *s)
{
    static char text[DYNAMICS_OBSTACLE_MAX];
    pair_dynamics_obstacle(lab_dynamics(s->lab, 0), SIDE_REAL, text);
    return text;
}

static bool is_reported(struct script *s, const char *text)
{
    static char room[PAIR_DYNAMICS_REPORT_MAX];
    struct json_writer w;
    json_write_start(&w, room, sizeof room - 1, NULL, NULL);
    pair_dynamics_report(&w, NULL, lab_dynamics(s->lab, 0), &s->params[0]);
    CU_ASSERT_FATAL(json_write_end(&w));
    room[w.used] = '\0';
    return strstr(room, text) != NULL;
}

static void test_online(void)
{
    static struct script s;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const struct shape *shape = &shapes[i];
        struct drive d = {.noise = {.state = 7}};
        open_pair(&s, shape->model);
        CHECK(shape->name, strstr(obstacle_of(&s), "no telemetry of the real robot") != NULL);
        send_samples(&s, shape, &d, 200);
        const char *obstacle = obstacle_of(&s);
        if (shape->obstacle) {
            CHECK(shape->name, strstr(obstacle, shape->obstacle) != NULL);
            CHECK(shape->name, !is_reported(&s, "\"obstacle\":null"));
        } else {
            CHECK_TEXT(shape->name, obstacle, "");
            CHECK(shape->name, is_reported(&s, "\"obstacle\":null"));
        }
        CHECK_INT(shape->name, script_count(&s, EFFECT_ALARM), shape->obstacle ? 1 : 0);
        CHECK_INT(shape->name, lab_dynamics(s.lab, 0)->side[SIDE_REAL].count,
                  shape->obstacle ? 0 : 200);
        script_close(&s);
    }
}

/* After a repair it continues; an occasional wrong sample is left out, nothing more. */
static void test_repaired(void)
{
    static struct script s;
    const struct shape right = shapes[1];
    const struct shape wrong = shapes[6];
    struct drive d = {.noise = {.state = 7}};
    open_pair(&s, "diffdrive");
    send_samples(&s, &wrong, &d, 60);
    CHECK("wrong", obstacle_of(&s)[0] != '\0');
    send_samples(&s, &right, &d, 200);
    CHECK_TEXT("mended", obstacle_of(&s), "");
    for (int i = 0; i < 20; i++) {
        send_samples(&s, &wrong, &d, 1);
        send_samples(&s, &right, &d, 9);
    }
    CHECK_TEXT("now and then", obstacle_of(&s), "");
    CHECK_INT("one alarm", script_count(&s, EFFECT_ALARM), 1);
    CHECK_TEXT("its code", script_alarm(&s, 0), "telemetry_mismatch");
    CHECK_INT("left out", lab_dynamics(s.lab, 0)->side[SIDE_REAL].count, 200 + 180);
    script_close(&s);
}

/* Samples that all bear one number; efforts that never change. */
static void test_never_learnt(void)
{
    static struct script s;
    struct drive d = {.noise = {.state = 7}};
    open_pair(&s, "diffdrive");
    for (int i = 0; i < 40; i++) {
        next_sample(&d);
        struct event e = script_event("r1", time_of_sample(&d), EVENT_TELEMETRY, SIDE_REAL);
        fill_telemetry(&shapes[0], &d, &e.telemetry);
        e.telemetry.seq = 0;
        lab_step(s.lab, &e, &s.fx);
    }
    CHECK("one number", strstr(obstacle_of(&s), "39 repeat the seq") != NULL);
    script_close(&s);
    open_pair(&s, "diffdrive");
    d = (struct drive){.noise = {.state = 7}};
    for (int i = 0; i < 150; i++) {
        d.k = d.k % 20 == 0 ? d.k + 1 : d.k; /* no step of the commands */
        send_samples(&s, &shapes[0], &d, 1);
    }
    CHECK("left alone", strstr(obstacle_of(&s), "no effort of the real robot has changed"));
    script_close(&s);
}

static void check_values(const char *what, const double *theta)
{
    CHECK_NEAR(what, theta[0], truth[0], 0.1, 0.0);
    CHECK_NEAR(what, theta[1], truth[1], 0.1, 0.0);
    CHECK_NEAR(what, theta[3], truth[3], 0.03, 0.0);
    CHECK_NEAR(what, theta[5], truth[5], 0.03, 0.0);
}

static void test_identified_online(void)
{
    static struct script s;
    struct drive d = {.noise = {.state = 7}};
    open_pair(&s, "diffdrive");
    send_samples(&s, &shapes[1], &d, 800);
    const struct dynamics_side *side = &lab_dynamics(s.lab, 0)->side[SIDE_REAL];
    CU_ASSERT_FATAL(side->running);
    struct event e = script_event("r1", time_of_sample(&d), EVENT_FIT, SIDE_REAL);
    e.fit = (struct event_fit){.job = side->job, .outcome = FIT_DONE};
    lab_step(s.lab, &e, &s.fx);
    CU_ASSERT_FATAL(side->fitted);
    check_values("fit", side->result.fit.estimate.value);
    send_samples(&s, &shapes[1], &d, 1200);
    CHECK("follows", side->filter.gate[ONLINE_USED] > 600);
    check_values("filter", side->filter.theta);
    /* A simulation that begins again: fifty samples out of order may be late, one more not. */
    d.back_us = INT64_C(500000000);
    send_samples(&s, &shapes[1], &d, 100);
    CHECK_INT("set back", side->filter.gate[ONLINE_OUT_OF_ORDER], 51);
    script_close(&s);
}

/* ---- the same out of a journal -------------------------------------------------------------
 */

static void write_vector(FILE *to, const char *name, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)(i == 0 ? fprintf(to, ",\"%s\":[", name) : fputc(',', to));
        (void)fprintf(to, "%.9g", values[i]);
    }
    (void)fputs(count > 0 ? "]" : "", to);
}

static char *write_journal(const struct shape *shape, int samples)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    CU_ASSERT_FATAL(to != NULL);
    struct drive d = {.noise = {.state = 7}};
    while (samples-- > 0) {
        struct event_telemetry m;
        next_sample(&d);
        fill_telemetry(shape, &d, &m);
        (void)fprintf(
            to,
            "{\"tst\":\"2026-11-20T10:00:00Z\",\"topic\":\"lab/r1/real/telemetry\","
            "\"qos\":0,\"retain\":0,\"payloadlen\":2,\"payload\":{\"t\":%.2f,\"seq\":%d",
            0.05 * d.k, d.k);
        write_vector(to, "nu", m.nu, m.nu_count);
        write_vector(to, "tau", m.tau, m.tau_count);
        (void)fputs("}}\n", to);
    }
    CHECK_INT("written", fclose(to), 0);
    return text;
}

/* The result as JSON, for free(). */
static char *run_identify(const struct shape *shape, const char *columns, enum status *st,
                          struct err *err)
{
    char *text = write_journal(shape, 1200);
    char *document = NULL;
    size_t bytes = 0;
    const struct csv_source input = {.path = "journal", .text = text, .bytes = strlen(text)};
    struct identify_request request = {.side = "real",
                                       .delay_max_s = -1.0,
                                       .method = "weak_iv",
                                       .json = true,
                                       .files = &input,
                                       .file_count = 1};
    const struct model_row *model = model_row_find(shape->model);
    FILE *out = open_memstream(&document, &bytes);
    CU_ASSERT_FATAL(out != NULL);
    *st = column_map_read(columns, false, &request.columns, err);
    *st = *st == STATUS_OK ? identify_check(model, &request, err) : *st;
    *st = *st == STATUS_OK ? identify_run(model, &request, out, err) : *st;
    CHECK_INT("written", fclose(out), 0);
    free(text);
    return document;
}

static double value_of(const char *document, const char *name)
{
    char key[64];
    const char *values = strstr(document, "\"values\":{");
    (void)snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = values ? strstr(values, key) : NULL;
    return at ? strtod(at + strlen(key), NULL) : (double)NAN;
}

static void test_identified_from_journal(void)
{
    for (size_t i = 0; i < 3; i++) {
        enum status st = STATUS_OK;
        struct err err = {0};
        double theta[DIFFDRIVE_PARAMETERS];
        char *document = run_identify(&shapes[i], "", &st, &err);
        CHECK_INT(shapes[i].name, st, STATUS_OK);
        for (size_t k = 0; k < DIFFDRIVE_PARAMETERS; k++) {
            theta[k] = value_of(document, diffdrive_model.parameters[k].name);
        }
        check_values(shapes[i].name, theta);
        free(document);
    }
}

static void test_refused_from_journal(void)
{
    static const struct {
        struct shape shape;
        const char *columns, *code; /* NULL: it is accepted */
    } rows[] = {
        {{"", "diffdrive", 3, 2, 0, -0.4, 0.0, NULL}, "", "inconsistent"},
        {{"", "diffdrive", 3, 3, 0, 0.0, 7.0, NULL}, "", "inconsistent"},
        {{"", "diffdrive", 6, 2, 0, 0.0, 0.0, NULL}, "", "inconsistent"},
        {{"", "first_order", 3, 3, 0, 0.0, 0.0, NULL}, "", "inconsistent"},
        {{"", "first_order", 3, 3, 0, 0.0, 0.0, NULL}, "velocity=nu[2],command=tau[2]", NULL},
        {{"", "first_order", 1, 2, 0, 0.0, 0.0, NULL}, "", "inconsistent"},
        {{"", "first_order", 1, 0, 0, 0.0, 0.0, NULL}, "", "missing_column"},
        {{"", "joint", 0, 1, 0, 0.0, 0.0, NULL}, "", "missing_column"},
        {{"", "diffdrive", 3, 0, 0, 0.0, 0.0, NULL}, "", "missing_column"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum status st = STATUS_OK;
        struct err err = {0};
        char *document = run_identify(&rows[i].shape, rows[i].columns, &st, &err);
        const char *code = rows[i].code;
        CHECK_INT(code ? code : "taken", st == STATUS_OK, !code);
        CHECK_TEXT(code ? code : "taken", fault_name(err.fault), code ? code : "none");
        free(document);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("dynamics_shapes", NULL, NULL);
    CU_ADD_TEST(suite, test_online);
    CU_ADD_TEST(suite, test_repaired);
    CU_ADD_TEST(suite, test_never_learnt);
    CU_ADD_TEST(suite, test_identified_online);
    CU_ADD_TEST(suite, test_identified_from_journal);
    CU_ADD_TEST(suite, test_refused_from_journal);
    return check_run();
}
