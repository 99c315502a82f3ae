/* Laws of the lab's dynamics that hold whatever arrives: motion and malformed messages, clocks
 * that jump, robots that restart, fits that end in every way or never, from a seed. */
#include "tests/support/lab_script.h"

#include <gsl/gsl_errno.h>

#include "identification/model/usv3.h"
#include "twin/report/pair_dynamics_report.h"

enum { EVENTS = 3000, N = USV3_AXES, TEXT_MAX = 1 << 20 };

static struct event inputs[EVENTS];

static double draw_unit(void)
{
    return 2.0 * (double)rand() / RAND_MAX - 1.0;
}

/* One robot, and what its messages make of it. */
struct boat {
    double nu[N], pose[N];
    int64_t source_us, seq;
    double tau[N];
};

static void make_sample(struct event *e, struct boat *b)
{
    struct event_telemetry *m = &e->telemetry;
    const double scale[N] = {100.0, 60.0, 50.0};
    e->kind = EVENT_TELEMETRY;
    *m = (struct event_telemetry){.source_us = b->source_us,
                                  .seq = b->seq,
                                  .nu_count = N,
                                  .tau_count = N,
                                  .pose_count = rand() % 2 ? N : 0};
    for (size_t i = 0; i < N; i++) {
        if (rand() % 20 == 0) {
            b->tau[i] = scale[i] * draw_unit();
        }
        m->nu[i] = b->nu[i] + 0.01 * draw_unit();
        m->tau[i] = b->tau[i];
        m->pose[i] = b->pose[i];
    }
    model_step(&usv3_model, usv3_vessel_find("wamv")->theta, b->nu, b->pose, b->tau, NULL, 0.1);
    b->source_us += 100000;
    b->seq++;
}

static void spoil_telemetry(struct event *e, struct boat *b)
{
    struct event_telemetry *m = &e->telemetry;
    switch (rand() % 12) {
    case 0:
        m->nu[rand() % N] = 1e300 * draw_unit();
        break;
    case 1:
        m->tau[rand() % N] = 1e300 * draw_unit();
        break;
    case 2:
        m->nu_count = (size_t)(rand() % (EVENT_AXES_MAX + 1));
        break;
    case 3:
        m->tau_count = (size_t)(rand() % (EVENT_AXES_MAX + 1));
        break;
    case 4:
        m->source_us = LAB_TIME_NONE;
        break;
    case 5:
        b->source_us += (int64_t)(1e7 * draw_unit());
        break;
    case 6:
        m->seq -= rand() % 3;
        break;
    case 7:
        b->seq = 0;
        break;
    case 8:
        (void)snprintf(m->boot, sizeof m->boot, "b%d", rand() % 3);
        break;
    case 9:
        e->retained = true;
        break;
    case 10:
        m->has_sim = true;
        m->sim_us = b->source_us / 2;
        break;
    default:
        m->source_us = rand() % 2 ? INT64_C(100000000000000000) : -INT64_C(100000000000000000);
        break;
    }
}

static void make_inputs(void)
{
    struct boat boat[SIDE_COUNT] = {{.source_us = 500000000}, {.source_us = 700000000}};
    int64_t t_us = INT64_C(1000000000);
    memset(inputs, 0, sizeof inputs);
    for (int k = 0; k < EVENTS; k++) {
        struct event *e = &inputs[k];
        const int dice = rand() % 200;
        t_us += rand() % 100000;
        *e = (struct event){.t_us = t_us, .side = rand() % 2 ? SIDE_REAL : SIDE_VIRTUAL};
        (void)snprintf(e->pair, sizeof e->pair, "r1");
        if (dice < 190) {
            make_sample(e, &boat[e->side]);
            if (dice < 2) {
                spoil_telemetry(e, &boat[e->side]);
            }
        } else if (dice < 196) {
            e->kind = EVENT_FIT;
            e->fit.job = (uint32_t)(1 + rand() % 12);
            e->fit.outcome = (enum fit_outcome)(rand() % FIT_OUTCOME_COUNT);
        } else {
            e->kind = EVENT_REQUEST;
            e->request.side = e->side;
            e->side = SIDE_COUNT;
            e->request.action = (enum request_action)(rand() % REQUEST_ACTION_COUNT);
            e->request.version = (uint32_t)(rand() % 3);
            (void)snprintf(e->request.model, sizeof e->request.model, "%s",
                           rand() % 2 ? "usv3" : "");
        }
    }
}

static void open_lab(struct script *s)
{
    script_init(s, 1);
    struct pair_dynamics_params *p = &s->params[0].dynamics;
    (void)snprintf(p->model, sizeof p->model, "usv3");
    p->method = DYNAMICS_WEAK;
    p->promote = rand() % 2 ? PAIR_PROMOTE_AUTO : PAIR_PROMOTE_MANUAL;
    p->biases = rand() % 2;
    p->window = 100 + (uint32_t)(rand() % 200);
    p->window_us = 20000000;
    p->refit_us = rand() % 2 ? 10000000 : 0;
    p->fit_timeout_us = 5000000;
    p->excitation_us = 10000000;
    script_open(s);
}

static void check_sane(const struct script *s, uint64_t samples[SIDE_COUNT])
{
    const struct pair_dynamics *d = lab_dynamics(s->lab, 0);
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct dynamics_side *x = &d->side[side];
        const struct dynamics_counts *c = &x->counts;
        uint64_t gates = 0;
        for (int g = 0; g < ONLINE_GATE_COUNT; g++) {
            gates += x->filter.gate[g];
        }
        CU_ASSERT_EQUAL(gates, samples[side]);
        CU_ASSERT_EQUAL(c->started, c->done + c->failed + c->cancelled + c->lost + x->running);
        CU_ASSERT(x->count <= s->params[0].dynamics.window);
        for (size_t j = 0; x->filter.running && j < x->filter.p; j++) {
            CU_ASSERT(isfinite(x->filter.theta[j]));
            CU_ASSERT(online_filter_se(&x->filter, j) >= 0.0);
        }
        CU_ASSERT(!x->filter.running || model_unphysical(&usv3_model, x->filter.theta) < 0);
    }
    /* A fit under way always has an end. */
    for (int side = 0; side < SIDE_COUNT; side++) {
        CU_ASSERT(!d->side[side].running ||
                  lab_next_deadline(s->lab) <= d->side[side].give_up_us);
    }
}

static char *write_report(const struct script *s, char *text)
{
    struct json_writer w;
    json_write_start(&w, text, TEXT_MAX - 1, NULL, NULL);
    pair_dynamics_report(&w, NULL, lab_dynamics(s->lab, 0), &s->params[0]);
    CU_ASSERT_FATAL(json_write_end(&w));
    text[w.used] = '\0';
    return text;
}

/* Ticks say how late it is, and nothing else. */
static void run_events(struct script *s, bool ticks, bool checked)
{
    uint64_t samples[SIDE_COUNT] = {0, 0};
    for (int k = 0; k < EVENTS; k++) {
        const struct event *e = &inputs[k];
        if (ticks && k % 3 == 0) {
            script_tick(s, e->t_us);
        }
        lab_step(s->lab, e, &s->fx);
        if (e->kind == EVENT_TELEMETRY) {
            samples[e->side]++;
        }
        if (checked) {
            check_sane(s, samples);
        }
    }
}

static void test_laws(void)
{
    static struct script s;
    static struct script other;
    char *want = malloc(TEXT_MAX);
    char *got = malloc(TEXT_MAX);
    CU_ASSERT_FATAL(want && got);
    uint64_t fits = 0;
    for (int round = 0; round < 4; round++) {
        make_inputs();
        open_lab(&s);
        run_events(&s, false, true);
        fits += lab_dynamics(s.lab, 0)->side[SIDE_REAL].counts.started;
        script_init(&other, 1);
        other.params[0] = s.params[0];
        script_open(&other);
        run_events(&other, true, false);
        CHECK_TEXT("ticks change nothing", write_report(&other, got), write_report(&s, want));
        CHECK_INT("as many effects", other.count, s.count);
        script_close(&s);
        script_close(&other);
    }
    CHECK("fits", fits > 0);
    free(want);
    free(got);
}

int main(void)
{
    const char *text = getenv("TANDEM_SEED");
    const unsigned seed = text ? (unsigned)strtoul(text, NULL, 10) : 1;
    (void)gsl_set_error_handler_off();
    (void)printf("seed %u\n", seed);
    srand(seed);
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("dynamics", NULL, NULL);
    CU_add_test(suite, "laws", test_laws);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
