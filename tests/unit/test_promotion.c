/* Promotion to simulators with some fixed values: start and stop times that cannot be set,
 * wheels that slip. The loop is closed: the lab's requests change how the virtual robot
 * moves. */
#include "tests/support/lab_script.h"

#include "base/numbers/hash.h"
#include "twin/pair/parameters.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)

enum { STEPS_MAX = 400 };

/* A lap is t0 + start[0] + [turn](ta + start[1] + turn / (slip w)) + …: promotion changes its
 * settings, which were `own` when it began. */
struct sim {
    const char *row;
    int form;         /* as its ack reports it */
    bool takes;       /* its adjust, where there is one */
    unsigned refuses; /* bit j: term j */
    double start[3], slip;
    double own[TRAVEL_P], sent[TRAVEL_P];
};

struct stage {
    struct script s;
    struct sim sim;
    double real[TRAVEL_P]; /* the real robot's, totals */
    int move;              /* next */
    double lag_s;          /* mean |real - virtual| of the moves made last */
};

static double sum_lap(const double p[TRAVEL_P], double turn, double drive)
{
    return p[TRAVEL_T0] + (turn > 0.0 ? p[TRAVEL_TA] + turn / p[TRAVEL_INV_W] : 0.0) +
           (drive > 0.0 ? p[TRAVEL_TR] + drive / p[TRAVEL_INV_V] : 0.0);
}

static double sim_lap(const struct sim *m, double turn, double drive)
{
    double p[TRAVEL_P];
    for (int j = 0; j < TRAVEL_P; j++) {
        p[j] = j < TRAVEL_INV_W ? m->sent[j] + m->start[j] : m->sent[j] * m->slip;
    }
    return sum_lap(p, turn, drive);
}

static double noise_s(int k)
{
    return 0.01 * ((double)(k * 37 % 11) / 5.0 - 1.0);
}

static void make_moves(struct stage *g, int count)
{
    double sum_s = 0.0;
    for (int k = g->move; k < g->move + count; k++) {
        char id[16];
        (void)snprintf(id, sizeof id, "c%d", k);
        struct event e = script_event("r1", AT(20 * k), EVENT_COMMAND, SIDE_COUNT);
        (void)snprintf(e.command.id, sizeof e.command.id, "%s", id);
        (void)snprintf(e.command.op, sizeof e.command.op, "go");
        e.command.rotation_rad = k % 3 == 1 ? 0.0 : 0.4 + 0.3 * (double)(k % 7);
        e.command.displacement_m = k % 3 == 0 ? 0.0 : 0.2 + 0.15 * (double)(k % 5);
        e.hash = (uint64_t)k + 1;
        const double lap[SIDE_COUNT] = {
            sum_lap(g->real, e.command.rotation_rad, e.command.displacement_m) + noise_s(k),
            sim_lap(&g->sim, e.command.rotation_rad, e.command.displacement_m) +
                noise_s(k + 5)};
        const enum side first = lap[SIDE_REAL] < lap[SIDE_VIRTUAL] ? SIDE_REAL : SIDE_VIRTUAL;
        sum_s += fabs(lap[SIDE_REAL] - lap[SIDE_VIRTUAL]);
        lab_step(g->s.lab, &e, &g->s.fx);
        script_reply(&g->s, "r1", AT(20 * k + lap[first]), first, id, REPLY_DONE);
        script_reply(&g->s, "r1", AT(20 * k + lap[!first]),
                     first == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL, id, REPLY_DONE);
    }
    g->move += count;
    g->lag_s = sum_s / count;
}

static const struct parameter_set *find_active(struct stage *g)
{
    return parameters_find(&lab_pair(g->s.lab, 0)->parameters, PARAMETERS_ACTIVE);
}

static enum simulator_state get_state(struct stage *g)
{
    return pair_simulator_state(lab_pair(g->s.lab, 0));
}

/* Applies the set in force, and acknowledges it `later_s` after the last move. */
static void apply_set(struct stage *g, double later_s)
{
    const struct parameter_set *set = find_active(g);
    struct sim *m = &g->sim;
    struct event e =
        script_event("r1", AT(20 * g->move - 10 + later_s), EVENT_ACK, SIDE_VIRTUAL);
    e.ack.form = (int8_t)m->form;
    e.ack.version = set ? set->version : 0;
    for (int j = 0; set && j < TRAVEL_P; j++) {
        const bool relative = m->takes && isfinite(set->sent.adjust[j]);
        const double value = !relative          ? set->sent.value[j]
                             : j < TRAVEL_INV_W ? m->own[j] + set->sent.adjust[j]
                                                : m->own[j] * set->sent.adjust[j];
        if (m->refuses >> j & 1U) {
            e.ack.refused++;
        } else if (isfinite(value)) {
            m->sent[j] = j < TRAVEL_INV_W ? fmax(value, 0.0) : value;
            e.ack.applied_hash[e.ack.applied++] =
                hash_text(travel_term_name((enum travel_term)j));
        }
    }
    if (!set) {
        memcpy(m->sent, m->own, sizeof m->sent);
    }
    lab_step(g->s.lab, &e, &g->s.fx);
}

static void send_request(struct stage *g, enum request_action action)
{
    struct event e = script_event("r1", AT(20 * g->move - 12), EVENT_REQUEST, SIDE_COUNT);
    e.request.action = action;
    lab_step(g->s.lab, &e, &g->s.fx);
}

static void promote_set(struct stage *g)
{
    send_request(g, REQUEST_PROPOSE);
    send_request(g, REQUEST_PROMOTE);
    apply_set(g, 0.0);
}

static void open_stage(struct stage *g, const struct sim *sim, enum pair_promotion promotion)
{
    static const double real[TRAVEL_P] = {0.1, 0.35, 0.25, 1.27, 0.28};
    script_init(&g->s, 1);
    g->s.params[0].promote = promotion;
    g->s.params[0].propose_every = 10;
    script_open(&g->s);
    g->sim = *sim;
    memcpy(g->sim.sent, g->sim.own, sizeof g->sim.sent);
    memcpy(g->real, real, sizeof g->real);
    g->move = 1;
}

/* The part of a simulator that cannot be set is 0.24 s of a turn, 0.18 s of a drive, and
 * slip. */
static const struct sim sims[] = {
    {"relative",
     PARAMETERS_RELATIVE,
     true,
     0,
     {0.02, 0.22, 0.16},
     0.85,
     {0.05, 0, 0, 1.5, 0.3},
     {0}},
    {"relative, delays refused",
     PARAMETERS_RELATIVE,
     true,
     7,
     {0.1, 0.35, 0.25},
     0.85,
     {0, 0, 0, 1.8, 0.25},
     {0}},
    {"absolute",
     PARAMETERS_ABSOLUTE,
     false,
     0,
     {0.02, 0.22, 0.16},
     0.85,
     {0.05, 0, 0, 1.5, 0.3},
     {0}},
    {"absolute, no acknowledgement",
     PARAMETERS_FORM_COUNT,
     false,
     0,
     {0.02, 0.22, 0.16},
     0.85,
     {0, 0.3, 0, 1.5, 0.3},
     {0}},
};

/* The forecast moves with the set, unless the simulator's own values are unknown. */
static void check_forecast(struct stage *g, bool known)
{
    const struct forecast *f = &lab_pair(g->s.lab, 0)->forecast;
    struct forecast_made made = {0};
    forecast_predict(f, 1.0, 0.5, 1U << FORECAST_VIRTUAL_LAP, &made, NULL);
    CHECK_INT(g->sim.row, forecast_knows(&made, FORECAST_VIRTUAL_LAP), known);
    if (known) {
        CHECK_NEAR(g->sim.row, made.expected_s[FORECAST_VIRTUAL_LAP],
                   sim_lap(&g->sim, 1.0, 0.5), 0.0, 0.05);
    }
}

/* Second promotions and rollbacks lead where first ones lead. */
static void test_by_hand(void)
{
    for (size_t i = 0; i < COUNT(sims); i++) {
        static struct stage g;
        open_stage(&g, &sims[i], PAIR_PROMOTE_MANUAL);
        make_moves(&g, 40);
        CHECK("far away before", g.lag_s > 0.08);
        promote_set(&g);
        check_forecast(&g, sims[i].takes);
        make_moves(&g, 30);
        /* Absolute settings need moves made under them. */
        CHECK_INT(sims[i].row, g.lag_s <= 0.05, sims[i].takes);
        promote_set(&g);
        check_forecast(&g, true);
        make_moves(&g, 30);
        CHECK(sims[i].row, g.lag_s <= 0.03);
        struct sim second = g.sim;
        promote_set(&g);
        make_moves(&g, 30);
        CHECK(sims[i].row, g.lag_s <= 0.03);
        send_request(&g, REQUEST_ROLLBACK);
        apply_set(&g, 0.0);
        for (int j = 0; j < TRAVEL_P; j++) {
            CHECK_NEAR("the second one again", g.sim.sent[j], second.sent[j], 0, 1e-12);
        }
        apply_set(&g, 1.0);
        CHECK_NEAR("applied twice", g.sim.sent[TRAVEL_INV_V], second.sent[TRAVEL_INV_V], 0,
                   1e-12);
        send_request(&g, REQUEST_ROLLBACK);
        send_request(&g, REQUEST_ROLLBACK);
        apply_set(&g, 0.0);
        CHECK_NEAR("its own", g.sim.sent[TRAVEL_INV_V], sims[i].own[TRAVEL_INV_V], 0, 1e-12);
        CHECK_INT("nothing in force", lab_pair(g.s.lab, 0)->force.applied, 0);
        make_moves(&g, 30);
        promote_set(&g);
        make_moves(&g, 30);
        CHECK_INT(sims[i].row, g.lag_s <= 0.05, sims[i].takes);
        script_close(&g.s);
    }
}

/* Promotion corrects the simulator's deviations automatically, and comes to an end. */
static void test_by_itself(void)
{
    for (size_t i = 0; i < COUNT(sims); i++) {
        static struct stage g;
        open_stage(&g, &sims[i], PAIR_PROMOTE_AUTO);
        uint64_t promotions = 0;
        int at[STEPS_MAX] = {0};
        while (g.move < STEPS_MAX) {
            make_moves(&g, 1);
            const uint64_t now = lab_pair(g.s.lab, 0)->parameters.promotions;
            if (now != promotions) {
                CHECK_INT("told", get_state(&g), SIMULATOR_SENT);
                /* Moves before the acknowledgement count for no set, whenever it comes. */
                make_moves(&g, (int)i % 2);
                apply_set(&g, 0.0);
                CHECK_INT("to be seen", get_state(&g), SIMULATOR_SETTLING);
                at[promotions] = g.move;
                promotions = now;
            }
        }
        CHECK_INT("in the end", get_state(&g), SIMULATOR_AS_ASKED);
        CHECK_INT("absolute settings: corrected as soon as moves show it",
                  promotions > 1 && at[1] - at[0] <= 12, !sims[i].takes);
        CHECK("promoted, and not for ever", promotions >= 1 && promotions <= 3);
        make_moves(&g, 30);
        CHECK(sims[i].row, g.lag_s <= 0.03);
        /* The real robot slows down. */
        g.real[TRAVEL_INV_V] *= 0.8;
        for (int k = 0; k < STEPS_MAX; k++) {
            make_moves(&g, 1);
            if (lab_pair(g.s.lab, 0)->parameters.promotions != promotions) {
                promotions = lab_pair(g.s.lab, 0)->parameters.promotions;
                apply_set(&g, 0.0);
            }
        }
        make_moves(&g, 30);
        CHECK(sims[i].row, g.lag_s <= 0.03);
        script_close(&g.s);
    }
}

/* Reads the detail of the last automatic promotion. */
static void record_change(void *context, const struct effect *effect)
{
    char *detail = context;
    if (effect->kind == EFFECT_CHANGE && effect->change->action == PARAMETERS_PROMOTED) {
        (void)snprintf(detail, PARAMETERS_DETAIL_MAX, "%s", effect->change->detail);
    }
}

/* An automatic promotion says so if the virtual robot's pace is unknown or off. */
static void test_pace_in_promotions(void)
{
    static const struct {
        double pace; /* 0: no sim_t */
        const char *said;
    } rows[] = {{0.0, "sim_t"}, {1.0, NULL}, {0.62, "0.62"}, {1.5, "1.5"}};
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        static struct stage g;
        char detail[PARAMETERS_DETAIL_MAX] = "none";
        const bool automatic = i % 2 == 0;
        open_stage(&g, &sims[0], automatic ? PAIR_PROMOTE_AUTO : PAIR_PROMOTE_MANUAL);
        g.s.fx = (struct effects){record_change, detail};
        for (int k = 0; k < 40; k++) {
            make_moves(&g, 1);
            struct event e =
                script_event("r1", AT(20 * g.move - 11), EVENT_TELEMETRY, SIDE_VIRTUAL);
            e.telemetry = (struct event_telemetry){.source_us = LAB_TIME_NONE, .seq = -1};
            e.telemetry.has_sim = rows[i / 2].pace > 0.0;
            e.telemetry.sim_us = (int64_t)((double)e.t_us * rows[i / 2].pace);
            lab_step(g.s.lab, &e, &g.s.fx);
        }
        if (!automatic) {
            promote_set(&g);
        }
        CHECK(rows[i / 2].said ? rows[i / 2].said : "",
              automatic && rows[i / 2].said ? strstr(detail, rows[i / 2].said) != NULL
                                            : detail[0] == '\0');
        script_close(&g.s);
    }
}

/* A request accepts PASS, or MARGINAL, too; an older journal says nothing and accepts both.
 */
static void test_marginal_sets(void)
{
    static const struct {
        const char *row;
        enum request_accept accept;
        enum estimate_verdict verdict;
        bool goes;
    } rows[] = {
        {"only PASS", ACCEPT_PASS, ESTIMATE_MARGINAL, false},
        {"a PASS", ACCEPT_PASS, ESTIMATE_PASS, true},
        {"MARGINAL, too", ACCEPT_MARGINAL, ESTIMATE_MARGINAL, true},
        {"an old line", ACCEPT_ANY, ESTIMATE_MARGINAL, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct stage g;
        open_stage(&g, &sims[0], PAIR_PROMOTE_MANUAL);
        make_moves(&g, 40);
        send_request(&g, REQUEST_PROPOSE);
        const struct parameter_book *book = &lab_pair(g.s.lab, 0)->parameters;
        struct parameter_set *set =
            (struct parameter_set *)(uintptr_t)parameters_choose(book, 0);
        CU_ASSERT_FATAL(set != NULL);
        set->verdict = (uint8_t)rows[i].verdict;
        struct event e = script_event("r1", AT(20 * g.move - 12), EVENT_REQUEST, SIDE_COUNT);
        e.request.action = REQUEST_PROMOTE;
        e.request.accept = rows[i].accept;
        lab_step(g.s.lab, &e, &g.s.fx);
        CHECK_INT(rows[i].row, parameters_find(book, PARAMETERS_ACTIVE) != NULL, rows[i].goes);
        script_close(&g.s);
    }
}

/* With manual promotion a correction is proposed automatically, and sent on request. */
static void test_settling_by_hand(void)
{
    static struct stage g;
    open_stage(&g, &sims[2], PAIR_PROMOTE_MANUAL);
    make_moves(&g, 40);
    CHECK_INT("on its own", get_state(&g), SIMULATOR_OWN);
    promote_set(&g);
    make_moves(&g, 9);
    CHECK_INT("nine moves do not determine it", get_state(&g), SIMULATOR_SETTLING);
    make_moves(&g, 1);
    CHECK_INT("ten do", get_state(&g), SIMULATOR_MISSES);
    make_moves(&g, 20);
    const struct parameter_book *book = &lab_pair(g.s.lab, 0)->parameters;
    const struct parameter_set *set = parameters_find(book, PARAMETERS_CANDIDATE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(set);
    CHECK_INT("once", set->version, 2);
    CHECK_INT("not promoted", find_active(&g)->version, 1);
    send_request(&g, REQUEST_PROMOTE);
    apply_set(&g, 0.0);
    make_moves(&g, 30);
    CHECK("as the real one", g.lag_s <= 0.03);
    CHECK_INT("as asked", get_state(&g), SIMULATOR_AS_ASKED);
    script_close(&g.s);
}

/* A simulator whose moves already take the real robot's times is left alone: with these as
 * settings it would add its own fixed times. */
static void test_right_before(void)
{
    static const struct sim right = {"right",
                                     PARAMETERS_ABSOLUTE,
                                     false,
                                     0,
                                     {0.05, 0.2, 0.1},
                                     0.8,
                                     {0.05, 0.15, 0.15, 1.27 / 0.8, 0.28 / 0.8},
                                     {0}};
    static struct stage g;
    open_stage(&g, &right, PAIR_PROMOTE_AUTO);
    make_moves(&g, 100);
    CHECK_INT("no set in force", lab_pair(g.s.lab, 0)->parameters.promotions, 0);
    CHECK("but candidates",
          parameters_find(&lab_pair(g.s.lab, 0)->parameters, PARAMETERS_CANDIDATE) != NULL);
    g.real[TRAVEL_INV_V] *= 0.8;
    for (int k = 0; k < 2 * STEPS_MAX; k++) {
        const uint64_t before = lab_pair(g.s.lab, 0)->parameters.promotions;
        make_moves(&g, 1);
        if (lab_pair(g.s.lab, 0)->parameters.promotions != before) {
            apply_set(&g, 0.0);
        }
    }
    CHECK("the real robot became slower", find_active(&g) != NULL);
    make_moves(&g, 30);
    CHECK("and the virtual one, too", g.lag_s <= 0.03);
    script_close(&g.s);
}

/* Values that a simulator refuses, or does not acknowledge, are not in force; nor are those of
 * an older acknowledgement. */
static void test_acknowledged_only(void)
{
    static struct stage g;
    open_stage(&g, &sims[1], PAIR_PROMOTE_MANUAL);
    make_moves(&g, 40);
    send_request(&g, REQUEST_PROPOSE);
    send_request(&g, REQUEST_PROMOTE);
    const struct pair *pair = lab_pair(g.s.lab, 0);
    CHECK_INT("sent, not applied", pair->force.applied, 0);
    CHECK("known", isfinite(find_active(&g)->sent.adjust[TRAVEL_INV_V]));
    make_moves(&g, 30);
    send_request(&g, REQUEST_PROPOSE);
    send_request(&g, REQUEST_PROMOTE);
    CHECK("its parameters are unknown", isnan(find_active(&g)->sent.adjust[TRAVEL_INV_V]));
    struct event e = script_event("r1", AT(20 * g.move - 11), EVENT_ACK, SIDE_VIRTUAL);
    e.ack = (struct event_ack){
        .version = 1, .applied = 1, .applied_hash = {hash_text("linear_speed_mps")}};
    lab_step(g.s.lab, &e, &g.s.fx);
    CHECK_INT("an older one", pair->force.applied, 0);
    e.ack = (struct event_ack){.version = 2, .refused = 5};
    lab_step(g.s.lab, &e, &g.s.fx);
    CHECK_INT("all refused", pair->force.applied, 0);
    make_moves(&g, 30);
    promote_set(&g);
    CHECK_INT("both speeds", pair->force.applied, 1 << TRAVEL_INV_W | 1 << TRAVEL_INV_V);
    CHECK_INT("by adjust", pair->force.relative, pair->force.applied);
    script_close(&g.s);
}

/* The moves of the virtual robot that the window still has. */
static size_t virtual_moves(struct stage *g)
{
    struct travel_move moves[PAIR_WINDOW_MAX];
    int64_t t_us[2];
    return pair_moves(lab_pair(g->s.lab, 0), &g->s.params[0], SIDE_VIRTUAL, moves, t_us);
}

static void send_boot(struct stage *g, const char *mark, double later_s)
{
    struct event e =
        script_event("r1", AT(20 * g->move - 10 + later_s), EVENT_CONNECTION, SIDE_VIRTUAL);
    e.connection.online = true;
    (void)snprintf(e.connection.boot, sizeof e.connection.boot, "%s", mark);
    lab_step(g->s.lab, &e, &g->s.fx);
}

/* A fit uses moves under the set in force: not one that was in progress, not those between a
 * reboot and the acknowledgement after it. */
static void test_moves_in_force(void)
{
    static struct stage g;
    open_stage(&g, &sims[0], PAIR_PROMOTE_MANUAL);
    send_boot(&g, "a", 0.0);
    make_moves(&g, 40);
    promote_set(&g);
    CHECK_INT("none yet", virtual_moves(&g), 0);
    make_moves(&g, 10);
    CHECK_INT("ten", virtual_moves(&g), 10);
    apply_set(&g, 0.5);
    CHECK_INT("sent again: unchanged", virtual_moves(&g), 10);
    /* It restarts with its own parameters, and gets the set again. */
    script_clear(&g.s);
    send_boot(&g, "b", 1.0);
    CHECK_INT("told", script_count(&g.s, EFFECT_PARAMETERS), 1);
    const struct sim before = g.sim;
    memcpy(g.sim.sent, g.sim.own, sizeof g.sim.sent);
    make_moves(&g, 4);
    apply_set(&g, 0.0);
    CHECK_NEAR("as before", g.sim.sent[TRAVEL_INV_W], before.sent[TRAVEL_INV_W], 0, 1e-12);
    CHECK_INT("without those four", virtual_moves(&g), 10);
    make_moves(&g, 5);
    CHECK_INT("and five more", virtual_moves(&g), 15);
    /* A command that was sent before the set came. */
    struct event e = script_event("r1", AT(20 * g.move - 15), EVENT_COMMAND, SIDE_COUNT);
    (void)snprintf(e.command.id, sizeof e.command.id, "under way");
    (void)snprintf(e.command.op, sizeof e.command.op, "go");
    e.command.displacement_m = 1.0;
    e.hash = 12345678;
    lab_step(g.s.lab, &e, &g.s.fx);
    promote_set(&g);
    script_reply(&g.s, "r1", AT(20 * g.move - 9), SIDE_VIRTUAL, "under way", REPLY_DONE);
    script_reply(&g.s, "r1", AT(20 * g.move - 8), SIDE_REAL, "under way", REPLY_DONE);
    CHECK_INT("does not count", virtual_moves(&g), 0);
    script_close(&g.s);
}

/* The lab file's setting overrides missing acknowledgements. */
static void test_form(void)
{
    static struct stage g;
    open_stage(&g, &sims[0], PAIR_PROMOTE_MANUAL);
    script_close(&g.s);
    script_init(&g.s, 1);
    g.s.params[0].form = PARAMETERS_ABSOLUTE;
    script_open(&g.s);
    g.move = 1;
    make_moves(&g, 40);
    send_request(&g, REQUEST_PROPOSE);
    send_request(&g, REQUEST_PROMOTE);
    CHECK("no adjust", !strstr(script_find(&g.s, EFFECT_PARAMETERS, 0)->payload, "adjust"));
    apply_set(&g, 0.0);
    CHECK_INT("absolute", lab_pair(g.s.lab, 0)->force.relative, 0);
    script_close(&g.s);
    script_init(&g.s, 1);
    g.s.params[0].form = PARAMETERS_RELATIVE;
    script_open(&g.s);
    g.sim.form = PARAMETERS_FORM_COUNT;
    memcpy(g.sim.sent, g.sim.own, sizeof g.sim.sent);
    g.move = 1;
    make_moves(&g, 40);
    promote_set(&g);
    CHECK_INT("relative", lab_pair(g.s.lab, 0)->force.relative, (1 << TRAVEL_P) - 1);
    script_close(&g.s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("promotion", NULL, NULL);
    CU_add_test(suite, "marginal sets", test_marginal_sets);
    CU_add_test(suite, "by hand", test_by_hand);
    CU_add_test(suite, "by itself", test_by_itself);
    CU_add_test(suite, "pace in promotions", test_pace_in_promotions);
    CU_add_test(suite, "settling by hand", test_settling_by_hand);
    CU_add_test(suite, "right before", test_right_before);
    CU_add_test(suite, "acknowledged only", test_acknowledged_only);
    CU_add_test(suite, "moves in force", test_moves_in_force);
    CU_add_test(suite, "form", test_form);
    return check_run();
}
