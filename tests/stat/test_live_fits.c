/* short: TANDEM_ROW=diffdrive */
/* Live pairs with `promote: auto`: robots that match their model are promoted although their
 * timers jitter; robots that change within the window are not (docs/model/online.md).
 * TANDEM_RUNS: draws of each, default 1; TANDEM_SHOW prints the results of the checks. */
#include "tests/support/campaign.h"
#include "tests/support/lab_script.h"

#include "base/numbers/random.h"
#include "identification/model/models.h"

enum { PERIOD_US = 20000, FINE = 8, AXES = MODEL_AXES_MAX };
static const int64_t BOOT_US = INT64_C(1763617674000000);
/* Bounds: correct robots are MARGINAL or worse at most this often, and wrong ones PASS. */
static const double NOT_PASS_RATIO = 0.05;
static const double PASS_RATIO = 0.01;

/* A robot and its scenario; each changes in the middle of the window. */
static const struct row {
    const char *name, *model, *method;
    bool right;
    double jitter;   /* sd of the time between samples, in periods */
    double gain;     /* by which efforts are worth more from half time on */
    double at_70;    /* the same after 70 %: of the samples held out alone */
    uint32_t window; /* samples */
    double unit;     /* reported efforts are multiplied by this; 0: unchanged */
    bool as_it_is;   /* plausible: off */
} rows[] = {
    {"usv3", "usv3", "auto", true, 0.15, 0.0, 0.0, 3000, 0.0, false},
    {"first_order", "first_order", "auto", true, 0.15, 0.0, 0.0, 3000, 0.0, false},
    {"first_order, weak_iv", "first_order", "weak_iv", true, 0.15, 0.0, 0.0, 3000, 0.0, false},
    {"usv3, weak_iv", "usv3", "weak_iv", true, 0.15, 0.0, 0.0, 3000, 0.0, false},
    {"first_order, few", "first_order", "auto", true, 0.15, 0.0, 0.0, 1000, 0.0, false},
    {"diffdrive", "diffdrive", "auto", true, 0.15, 0.0, 0.0, 3000, 0.0, false},
    {"usv3 in kN", "usv3", "auto", false, 0.15, 0.0, 0.0, 3000, 0.001, false},
    {"usv3 in kN, plausible off", "usv3", "auto", true, 0.15, 0.0, 0.0, 3000, 0.001, true},
    {"usv3, gain falls", "usv3", "auto", false, 0.15, -0.2, 0.0, 3000, 0.0, false},
    {"first_order, gain falls", "first_order", "auto", false, 0.15, -0.2, 0.0, 3000, 0.0,
     false},
    {"first_order, gain falls, weak_iv", "first_order", "weak_iv", false, 0.15, -0.2, 0.0, 3000,
     0.0, false},
    {"usv3, gain falls late", "usv3", "auto", false, 0.15, 0.0, -0.2, 3000, 0.0, false},
    {"first_order, gain falls late", "first_order", "auto", false, 0.15, 0.0, -0.2, 3000, 0.0,
     false},
};

struct robot {
    const struct row *row;
    const struct model_row *kind;
    double nu[AXES], pose[AXES], tau[AXES];
    int64_t until_us[AXES];
    int64_t reported_us; /* its last sample */
    struct random_source draws;
};

static void choose_efforts(struct robot *r, int64_t t_us)
{
    const struct model_trial *c = &r->kind->trial;
    for (size_t a = 0; a < r->kind->model->axis_count; a++) {
        if (t_us >= r->until_us[a]) {
            r->tau[a] = random_between(&r->draws, c->effort_min[a], c->effort_max[a]);
            r->until_us[a] =
                t_us + lab_us(random_between(&r->draws, c->hold_s_min, c->hold_s_max));
        }
    }
}

/* Moves on to its next sample, with the efforts that it reported at the last. */
static void move_robot(struct robot *r, int64_t t_us, double worth)
{
    const double h_s = lab_s(t_us - r->reported_us) / FINE;
    double acting[AXES];
    for (size_t a = 0; a < AXES; a++) {
        acting[a] = worth * r->tau[a];
    }
    for (int f = 0; f < FINE; f++) {
        model_step(r->kind->model, r->kind->trial.theta, r->nu, r->pose, acting, NULL, h_s);
    }
    r->reported_us = t_us;
}

static void send_sample(struct robot *r, struct script *s, int64_t t_us, int64_t k)
{
    const size_t n = r->kind->model->axis_count;
    struct event e = script_event("r1", t_us + 3000, EVENT_TELEMETRY, SIDE_REAL);
    e.telemetry = (struct event_telemetry){.source_us = t_us,
                                           .seq = k,
                                           .nu_count = (uint8_t)n,
                                           .tau_count = (uint8_t)n,
                                           .pose_count = (uint8_t)n};
    choose_efforts(r, t_us);
    for (size_t a = 0; a < n; a++) {
        e.telemetry.tau[a] = r->tau[a] * (r->row->unit > 0.0 ? r->row->unit : 1.0);
        e.telemetry.nu[a] = r->nu[a] + r->kind->trial.noise_sd[a] * random_normal(&r->draws);
        e.telemetry.pose[a] = r->pose[a];
    }
    lab_step(s->lab, &e, &s->fx);
}

static void open_pair(struct script *s, const struct row *row)
{
    script_init(s, 1);
    struct pair_dynamics_params *p = &s->params[0].dynamics;
    (void)snprintf(p->model, sizeof p->model, "%s", row->model);
    p->method = (uint8_t)names_value(&dynamics_method_names, row->method);
    p->sides = DYNAMICS_SIDES_REAL;
    p->window = row->window;
    p->window_us = row->window * (int64_t)PERIOD_US;
    p->refit_us = 0;
    p->promote = PAIR_PROMOTE_AUTO;
    p->plausible = !row->as_it_is;
    script_open(s);
}

/* A whole window, then a requested fit. *said must be read before the next call. */
static const struct dynamics_side *fit_window(struct script *s, const struct row *row,
                                              uint64_t seed)
{
    struct robot r = {.row = row, .kind = model_row_find(row->model), .reported_us = BOOT_US};
    const int64_t end = (int64_t)row->window;
    r.draws.state = seed;
    open_pair(s, row);
    for (int64_t k = 0; k < end; k++) {
        const double off = row->jitter * M_SQRT1_2 * random_normal(&r.draws);
        const int64_t t_us =
            BOOT_US + k * PERIOD_US + (int64_t)(fmax(fmin(off, 0.45), -0.45) * PERIOD_US);
        move_robot(&r, t_us,
                   1.0 + (2 * k >= end ? row->gain : 0.0) +
                       (10 * k >= 7 * end ? row->at_70 : 0.0));
        send_sample(&r, s, t_us, k);
    }
    const struct dynamics_side *side = &lab_dynamics(s->lab, 0)->side[SIDE_REAL];
    struct event e = script_event("r1", BOOT_US + end * PERIOD_US, EVENT_FIT, SIDE_REAL);
    e.fit = (struct event_fit){.job = side->job, .outcome = FIT_FAILED, .detail = "early"};
    lab_step(s->lab, &e, &s->fx);
    struct event order = script_event("r1", e.t_us, EVENT_REQUEST, SIDE_COUNT);
    order.request = (struct event_request){.action = REQUEST_IDENTIFY, .by = "test"};
    lab_step(s->lab, &order, &s->fx);
    e.fit = (struct event_fit){.job = side->job, .outcome = FIT_DONE};
    lab_step(s->lab, &e, &s->fx);
    return side;
}

static void show_fit(const struct row *row, const struct dynamics_side *side)
{
    const struct dynamics_result *r = &side->result;
    for (size_t k = 0; k < PARAMETERS_CHECKS; k++) {
        if (r->checks.check[k].verdict != ESTIMATE_PASS) {
            (void)printf(
                "  %s: %s %s: %s\n", row->name, parameter_check_name((enum parameter_check)k),
                estimate_verdict_name(r->checks.check[k].verdict), r->checks.check[k].detail);
        }
    }
}

static bool is_promoted(const struct row *row, uint64_t seed)
{
    static struct script s;
    const struct dynamics_side *side = fit_window(&s, row, seed);
    CHECK(row->name, side->fitted);
    const bool promoted =
        parameters_find(&lab_dynamics(s.lab, 0)->sets, PARAMETERS_ACTIVE) != NULL;
    const struct estimate *e = &side->result.fit.estimate;
    CHECK(row->name, e->verdict == ESTIMATE_PASS || e->advice_count > 0);
    if (getenv("TANDEM_SHOW") && promoted != row->right) {
        show_fit(row, side);
    }
    script_close(&s);
    return promoted;
}

static void test_promotion(void)
{
    const char *only = getenv("TANDEM_ROW");
    const size_t runs = campaign.runs;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t state = UINT64_C(0x9E3779B97F4A7C15) * campaign.seed;
        size_t promoted = 0;
        if (only && strcmp(only, rows[i].name) != 0) {
            continue;
        }
        for (size_t run = 0; run < runs; run++) {
            state += UINT64_C(0xD1B54A32D192ED03);
            promoted += is_promoted(&rows[i], state) ? 1 : 0;
        }
        campaign_row("promotions", runs, "%s", rows[i].name);
        campaign_count("promoted", promoted, runs);
        campaign_end();
        const size_t wrong = rows[i].right ? runs - promoted : promoted;
        CHECK(rows[i].name,
              campaign_is_few(wrong, runs, rows[i].right ? NOT_PASS_RATIO : PASS_RATIO));
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("live_fits", 1, 1, 0);
    CU_add_test(suite, "promotion", test_promotion);
    return check_run();
}
