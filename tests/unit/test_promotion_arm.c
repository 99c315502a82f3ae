/* Promotion to simulated arms: shares of commanded speeds and accelerations, and delays, for
 * moves of joints and for lines, to simulators that keep something of their own. The loop is
 * closed: what the lab asks for changes how the virtual arm moves. */
#include "tests/support/lab_script.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/hash.h"
#include "tests/support/travel_truth.h"
#include "twin/arm/arm_move.h"
#include "twin/pair/parameters.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)

static const double WORK[ARM_JOINTS] = {0.0, -1.5708, -1.5708, -1.5708, 1.5708, 0.0};
static const double NOISE_S = 0.002;
/* Mean |lag| of two arms with the same terms is 1.13 NOISE_S, 2.26 ms, +- 0.3 ms in 30 moves.
 */
static const double TOGETHER_S = 0.004;

/* A lap is t0 + start + T(v slip sv, a sa), each of the move's class. */
struct sim {
    const char *row;
    int form;         /* as its ack reports it */
    bool takes;       /* its adjust, where there is one */
    unsigned refuses; /* bit j: term j */
    double start_s, slip;
    double cap;   /* factor of its speeds, whatever the settings; 0: none */
    bool ignores; /* acknowledges a set, and does not change */
    double own[PROFILE_P], sent[PROFILE_P];
};

struct stage {
    struct script s;
    struct sim sim;
    struct arm_geometry geometry;
    double real[PROFILE_P];
    bool lines; /* too */
    double q[ARM_JOINTS];
    uint64_t draws;
    int move;
    double lag_s; /* mean |real - virtual| of the moves made last */
    double cap_s; /* what the cap of its speeds alone makes of that */
};

static const double slow[PROFILE_P] = {0.05, 0.9, 0.8, 0.08, 0.85, 0.9};

static double lap_of(const double p[PROFILE_P], const struct arm_move *move)
{
    const size_t c = PROFILE_TERMS * (size_t)(move->path != ARM_JOINT_PATH);
    return p[c + PROFILE_T0] +
           profile_duration_s(move->speed_limit * p[c + PROFILE_SPEED],
                              move->acceleration * p[c + PROFILE_ACCELERATION]);
}

static double sim_lap(const struct sim *m, const struct arm_move *move)
{
    double p[PROFILE_P];
    for (size_t j = 0; j < PROFILE_P; j++) {
        const size_t kind = j % PROFILE_TERMS;
        p[j] = kind == PROFILE_T0      ? m->sent[j] + m->start_s
               : kind == PROFILE_SPEED ? m->sent[j] * m->slip
                                       : m->sent[j];
        p[j] = kind == PROFILE_SPEED && m->cap > 0.0 ? fmin(p[j], m->cap) : p[j];
    }
    return lap_of(p, move);
}

/* The delay of a simulator with all of the real arm's terms but a capped speed. */
static double cap_lap(const struct stage *g, const struct arm_move *move)
{
    struct sim m = {.cap = g->sim.cap, .slip = 1.0};
    memcpy(m.sent, g->real, sizeof m.sent);
    return sim_lap(&m, move) - lap_of(g->real, move);
}

/* Two moves of joints, long and short ones, then a line. */
static struct event draw_move(struct stage *g, struct arm_move *move)
{
    struct event e = script_event("r1", AT(20 * g->move), EVENT_COMMAND, SIDE_COUNT);
    struct event_arm *c = &e.command.arm;
    struct arm_fault fault;
    (void)snprintf(e.command.id, sizeof e.command.id, "c%d", g->move);
    e.command.source_us = LAB_TIME_NONE;
    e.command.seq = -1;
    e.hash = (uint64_t)g->move;
    if (g->lines && g->move % 3 == 2) {
        struct rigid tool = arm_forward(&g->geometry, g->q);
        tool.at_m[2] += 0.01 + (g->move % 2 ? 0.05 : 0.2) * truth_uniform(&g->draws);
        (void)snprintf(e.command.op, sizeof e.command.op, "movel");
        c->present = 1U << EVENT_ARM_POSE;
        c->pose_count = 6;
        rigid_to_pose(&tool, c->pose);
        tool = rigid_from_pose(c->pose);
        fault = arm_plan_line(&g->geometry, g->q, &tool, &arm_rates_default, &arm_bounds_none,
                              move);
    } else {
        (void)snprintf(e.command.op, sizeof e.command.op, "movej");
        c->present = 1U << EVENT_ARM_Q;
        c->q_count = ARM_JOINTS;
        memcpy(c->q_rad, WORK, sizeof c->q_rad);
        c->q_rad[0] += (g->move % 2 ? 0.6 : 2.5) * (truth_uniform(&g->draws) - 0.5);
        fault = arm_plan_joints(&g->geometry, g->q, c->q_rad, &arm_rates_default,
                                &arm_bounds_none, move);
    }
    CU_ASSERT_EQUAL_FATAL(fault.refusal, ARM_ACCEPTED);
    return e;
}

static void make_moves(struct stage *g, int count)
{
    double sum_s = 0.0;
    double cap_s = 0.0;
    for (int k = 0; k < count; k++, g->move++) {
        struct arm_move move;
        const struct event e = draw_move(g, &move);
        const double lap[SIDE_COUNT] = {
            lap_of(g->real, &move) + NOISE_S * truth_normal(&g->draws),
            sim_lap(&g->sim, &move) + NOISE_S * truth_normal(&g->draws)};
        const enum side first = lap[SIDE_REAL] < lap[SIDE_VIRTUAL] ? SIDE_REAL : SIDE_VIRTUAL;
        const enum side second = first == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL;
        sum_s += fabs(lap[SIDE_REAL] - lap[SIDE_VIRTUAL]);
        cap_s += cap_lap(g, &move);
        lab_step(g->s.lab, &e, &g->s.fx);
        script_reply(&g->s, "r1", AT(20 * g->move + lap[first]), first, e.command.id,
                     REPLY_DONE);
        script_reply(&g->s, "r1", AT(20 * g->move + lap[second]), second, e.command.id,
                     REPLY_DONE);
        memcpy(g->q, move.to_q, sizeof g->q);
    }
    g->lag_s = sum_s / count;
    g->cap_s = cap_s / count;
}

static const struct parameter_set *find_active(struct stage *g)
{
    return parameters_find(&lab_pair(g->s.lab, 0)->parameters, PARAMETERS_ACTIVE);
}

static enum simulator_state get_state(struct stage *g)
{
    return pair_simulator_state(lab_pair(g->s.lab, 0));
}

static uint64_t count_promotions(struct stage *g)
{
    return lab_pair(g->s.lab, 0)->parameters.promotions;
}

/* Applies the set in force, and acknowledges it. */
static void apply_set(struct stage *g)
{
    const struct parameter_set *set = find_active(g);
    struct sim *m = &g->sim;
    struct event e = script_event("r1", AT(20 * g->move - 10), EVENT_ACK, SIDE_VIRTUAL);
    e.ack.form = (int8_t)m->form;
    e.ack.version = set ? set->version : 0;
    memcpy(m->sent, m->own, sizeof m->sent);
    for (size_t j = 0; set && j < PROFILE_P; j++) {
        const bool delay = j % PROFILE_TERMS == PROFILE_T0;
        const bool relative = m->takes && isfinite(set->sent.adjust[j]);
        const double value = !relative ? set->sent.value[j]
                             : delay   ? m->own[j] + set->sent.adjust[j]
                                       : m->own[j] * set->sent.adjust[j];
        if (m->refuses >> j & 1U) {
            e.ack.refused++;
        } else if (isfinite(value)) {
            m->sent[j] = m->ignores ? m->sent[j] : delay ? fmax(value, 0.0) : value;
            e.ack.applied_hash[e.ack.applied++] =
                hash_text(profile_term_name((enum profile_term)j));
        }
    }
    lab_step(g->s.lab, &e, &g->s.fx);
}

static void send_request(struct stage *g, enum request_action action)
{
    struct event e = script_event("r1", AT(20 * g->move - 12), EVENT_REQUEST, SIDE_COUNT);
    e.request.action = action;
    lab_step(g->s.lab, &e, &g->s.fx);
}

static void open_stage(struct stage *g, const struct sim *sim, enum pair_promotion promotion,
                       bool lines)
{
    memset(g, 0, sizeof *g);
    script_init(&g->s, 1);
    (void)snprintf(g->s.params[0].arm, sizeof g->s.params[0].arm, "ur5");
    g->s.params[0].promote = promotion;
    g->s.params[0].propose_every = 10;
    script_open(&g->s);
    CU_ASSERT_FATAL(arm_geometry_find("ur5", &g->geometry));
    g->sim = *sim;
    memcpy(g->sim.sent, g->sim.own, sizeof g->sim.sent);
    memcpy(g->real, slow, sizeof g->real);
    memcpy(g->q, WORK, sizeof g->q);
    g->lines = lines;
    g->draws = 4711;
    g->move = 1;
}

/* Auto mode, with every set applied as soon as it comes. */
static void run_auto(struct stage *g, int moves)
{
    double sum_s = 0.0;
    double cap_s = 0.0;
    for (int k = 0; k < moves; k++) {
        const uint64_t before = count_promotions(g);
        make_moves(g, 1);
        sum_s += g->lag_s;
        cap_s += g->cap_s;
        if (count_promotions(g) != before) {
            CHECK_INT("told", get_state(g), SIMULATOR_SENT);
            apply_set(g);
        }
    }
    g->lag_s = sum_s / moves;
    g->cap_s = cap_s / moves;
}

static const struct sim sims[] = {
    {.row = "relative",
     .form = PARAMETERS_RELATIVE,
     .takes = true,
     .start_s = 0.03,
     .slip = 0.95,
     .own = {0, 1, 1, 0, 1, 1}},
    {.row = "relative, its own are others",
     .form = PARAMETERS_RELATIVE,
     .takes = true,
     .slip = 1.0,
     .own = {0.2, 1.3, 0.7, 0.1, 0.8, 1.4}},
    {.row = "absolute",
     .form = PARAMETERS_ABSOLUTE,
     .start_s = 0.03,
     .slip = 0.95,
     .own = {0, 1, 1, 0, 1, 1}},
    {.row = "no acknowledgement",
     .form = PARAMETERS_FORM_COUNT,
     .start_s = 0.03,
     .slip = 0.95,
     .own = {0, 1, 1, 0, 1, 1}},
};

/* The lag goes to what the noise leaves, in moves of joints alone and with lines among them. */
static void test_by_itself(void)
{
    for (size_t i = 0; i < COUNT(sims) + 1; i++) {
        static struct stage g;
        const struct sim *sim = &sims[i % COUNT(sims)];
        const bool lines = i > 0;
        open_stage(&g, sim, PAIR_PROMOTE_AUTO, lines);
        make_moves(&g, 15);
        CHECK("far away before", g.lag_s > 0.08);
        run_auto(&g, 120);
        run_auto(&g, 30);
        CHECK_NEAR(sim->row, g.lag_s, 0.0, 0.0, TOGETHER_S);
        CHECK("promoted, and not for ever",
              count_promotions(&g) >= 1 && count_promotions(&g) <= 6);
        CHECK(sim->row, get_state(&g) != SIMULATOR_MISSES);
        CU_ASSERT_PTR_NOT_NULL_FATAL(find_active(&g));
        CHECK("commanded", find_active(&g)->commanded);
        CHECK_INT("terms", find_active(&g)->count, PROFILE_P);
        CHECK_NEAR("speed", find_active(&g)->value[PROFILE_JOINT_SPEED], 0.9, 0.02, 0.0);
        CHECK_INT("lines", isfinite(find_active(&g)->sent.value[PROFILE_LINE_SPEED]), lines);
        /* The real arm slows down; once the window holds only later moves: */
        g.real[PROFILE_JOINT_SPEED] *= 0.8;
        run_auto(&g, 200);
        run_auto(&g, 30);
        CHECK_NEAR(sim->row, g.lag_s, 0.0, 0.0, TOGETHER_S);
        CHECK(sim->row, get_state(&g) != SIMULATOR_MISSES);
        script_close(&g.s);
    }
}

/* Values that a simulator cannot reach are reported as missed, and are not tried for ever. */
static void test_wrong_worlds(void)
{
    for (size_t i = 0; i < COUNT(sims); i += 2) {
        for (int ignores = 0; ignores < 2; ignores++) {
            static struct stage g;
            struct sim sim = sims[i];
            sim.ignores = ignores;
            sim.cap = ignores ? 0.0 : 0.7;
            open_stage(&g, &sim, PAIR_PROMOTE_AUTO, true);
            make_moves(&g, 15);
            const double before_s = g.lag_s;
            run_auto(&g, 200);
            const uint64_t tried = count_promotions(&g);
            run_auto(&g, 50);
            CHECK_INT(sim.row, get_state(&g), SIMULATOR_MISSES);
            CHECK("tried", tried >= 2 && tried <= 6);
            CHECK_INT("and no more", count_promotions(&g), tried);
            CHECK("no further away",
                  g.lag_s < (ignores ? before_s * 1.2 : 0.0) + g.cap_s + TOGETHER_S);
            CHECK("and not there", g.lag_s > TOGETHER_S);
            script_close(&g.s);
        }
    }
}

/* Manual promotion, there and back. */
static void test_by_hand(void)
{
    static struct stage g;
    open_stage(&g, &sims[0], PAIR_PROMOTE_MANUAL, true);
    make_moves(&g, 10);
    send_request(&g, REQUEST_PROPOSE);
    CHECK("ten are too few",
          parameters_find(&lab_pair(g.s.lab, 0)->parameters, PARAMETERS_CANDIDATE) == NULL);
    make_moves(&g, 50);
    send_request(&g, REQUEST_PROPOSE);
    script_clear(&g.s);
    send_request(&g, REQUEST_PROMOTE);
    const struct script_effect *sent = script_find(&g.s, EFFECT_PARAMETERS, 0);
    CU_ASSERT_FATAL(sent != NULL);
    CHECK("as it goes out", strstr(sent->payload, "\"joint_speed_ratio\":{\"factor\":") &&
                                strstr(sent->payload, "\"line_t0_s\":{\"add\":") &&
                                strstr(sent->payload, "\"model\":\"travel_time\""));
    CHECK("no turns", !strstr(sent->payload, "angular_speed"));
    apply_set(&g);
    make_moves(&g, 45); /* of every class a dozen */
    CHECK_NEAR("as the real one", g.lag_s, 0.0, 0.0, TOGETHER_S);
    CHECK_INT("as asked", get_state(&g), SIMULATOR_AS_ASKED);
    send_request(&g, REQUEST_ROLLBACK);
    apply_set(&g);
    CHECK_INT("its own", get_state(&g), SIMULATOR_OWN);
    CHECK_NEAR("its own", g.sim.sent[PROFILE_JOINT_SPEED], 1.0, 0.0, 0.0);
    script_close(&g.s);
}

/* Simulators that apply a part, or nothing: refused values are not in force, and Tandem does
 * not promote for ever. */
static void test_refused(void)
{
    static const unsigned all = (1U << PROFILE_P) - 1;
    static const unsigned waits = 1U << PROFILE_JOINT_T0 | 1U << PROFILE_LINE_T0;
    static const unsigned lines =
        1U << PROFILE_LINE_T0 | 1U << PROFILE_LINE_SPEED | 1U << PROFILE_LINE_ACCELERATION;
    static const unsigned refuses[] = {all, waits, lines};
    for (size_t i = 0; i < COUNT(refuses); i++) {
        static struct stage g;
        struct sim sim = sims[0];
        sim.refuses = refuses[i];
        open_stage(&g, &sim, PAIR_PROMOTE_AUTO, true);
        make_moves(&g, 15);
        const double before_s = g.lag_s;
        run_auto(&g, 200);
        run_auto(&g, 30);
        CHECK_INT("in force", lab_pair(g.s.lab, 0)->force.applied, all & ~refuses[i]);
        CHECK("not for ever", count_promotions(&g) <= 6);
        CHECK("no worse", g.lag_s < before_s * 1.3);
        CHECK("a part of it helps", refuses[i] == all || g.lag_s < before_s * 0.7);
        script_close(&g.s);
    }
}

/* One that does as the real arm already is left alone. */
static void test_right_before(void)
{
    static struct stage g;
    struct sim sim = {.row = "right", .form = PARAMETERS_ABSOLUTE, .slip = 1.0};
    memcpy(sim.own, slow, sizeof sim.own);
    open_stage(&g, &sim, PAIR_PROMOTE_AUTO, true);
    run_auto(&g, 100);
    CHECK_INT("nothing in force", count_promotions(&g), 0);
    CHECK("but a candidate",
          parameters_find(&lab_pair(g.s.lab, 0)->parameters, PARAMETERS_CANDIDATE) != NULL);
    script_close(&g.s);
}

/* A form that rests on the virtual arm's own moves is refused without any. */
static void test_form(void)
{
    static struct stage g;
    open_stage(&g, &sims[2], PAIR_PROMOTE_MANUAL, false);
    script_close(&g.s);
    g.s.params[0].form = PARAMETERS_RELATIVE;
    script_open(&g.s);
    make_moves(&g, 40);
    send_request(&g, REQUEST_PROPOSE);
    send_request(&g, REQUEST_PROMOTE);
    apply_set(&g); /* all as factors; it reports that it does not know them */
    script_clear(&g.s);
    send_request(&g, REQUEST_PROPOSE);
    const struct script_effect *change = script_find(&g.s, EFFECT_CHANGE, 0);
    CU_ASSERT_FATAL(change != NULL);
    CHECK_INT("absolute in force, no moves yet: no factors",
              lab_pair(g.s.lab, 0)->force.relative, 0);
    CHECK("refused",
          parameters_find(&lab_pair(g.s.lab, 0)->parameters, PARAMETERS_CANDIDATE) == NULL);
    script_close(&g.s);
}

/* Long moves alone determine the speed; undetermined values are not passed on. */
static void test_long_moves(void)
{
    static struct profile_move moves[30];
    struct parameter_fit fit;
    struct parameter_checks checks;
    struct parameter_book book = {0};
    uint64_t draws = 99;
    double row[PROFILE_TERMS];
    const double q[PROFILE_TERMS] = {0.05, log(0.9), log(0.8)};
    for (size_t k = 0; k < COUNT(moves); k++) {
        const double size = 1.5 + 0.1 * (double)k;
        moves[k] = (struct profile_move){PROFILE_JOINTS, 1.05 / size, 1.4 / size, 0.0};
        moves[k].lap_s = profile_lap_s(q, &moves[k], row) + NOISE_S * truth_normal(&draws);
    }
    const struct parameter_data data = {.commanded = moves, .n = COUNT(moves)};
    CU_ASSERT_EQUAL_FATAL(parameters_examine(&data, TRAVEL_AUTO, true, &fit, &checks),
                          STATUS_OK);
    CHECK_TEXT("not the whole of it", estimate_verdict_name(checks.verdict), "MARGINAL");
    CHECK_INT("excitation", checks.check[CHECK_EXCITATION].verdict, ESTIMATE_PASS);
    const struct parameter_set *set = parameters_propose(&book, &data, &fit, &checks, AT(1));
    CHECK_NEAR("speed", set->value[PROFILE_JOINT_SPEED], 0.9, 0.02, 0.0);
    CHECK("t0", isnan(set->value[PROFILE_JOINT_T0]));
    const struct parameter_data none = {.commanded = moves, .n = 0};
    CU_ASSERT_EQUAL_FATAL(parameters_examine(&none, TRAVEL_AUTO, true, &fit, &checks),
                          STATUS_OK);
    CHECK_INT("nothing", checks.verdict, ESTIMATE_FAIL);
    for (size_t k = 0; k < COUNT(moves); k++) {
        moves[k].lap_s = (double)NAN;
    }
    CU_ASSERT_EQUAL_FATAL(parameters_examine(&data, TRAVEL_AUTO, true, &fit, &checks),
                          STATUS_OK);
    CHECK_INT("no numbers", checks.verdict, ESTIMATE_FAIL);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("promotion_arm", NULL, NULL);
    CU_add_test(suite, "by itself", test_by_itself);
    CU_add_test(suite, "wrong worlds", test_wrong_worlds);
    CU_add_test(suite, "by hand", test_by_hand);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "right before", test_right_before);
    CU_add_test(suite, "form", test_form);
    CU_add_test(suite, "long moves", test_long_moves);
    return check_run();
}
