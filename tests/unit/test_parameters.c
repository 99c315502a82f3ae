#include "tests/support/lab_script.h"

#include "base/numbers/random.h"
#include "twin/pair/parameters.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)

/* Moves of a robot that turns at w and drives at v, all three classes, with a little noise. */
static size_t make_moves(struct travel_move *moves, size_t n, double w, double v)
{
    for (size_t k = 0; k < n; k++) {
        const double turn = k % 3 == 1 ? 0.0 : 0.4 + 0.3 * (double)(k % 7);
        const double drive = k % 3 == 0 ? 0.0 : 0.2 + 0.15 * (double)(k % 5);
        const double noise_s = 0.01 * ((double)(k * 37 % 11) / 5.0 - 1.0);
        moves[k] = (struct travel_move){turn, drive, 0.06 + noise_s};
        moves[k].lap_s +=
            (turn > 0.0 ? 0.12 + turn / w : 0.0) + (drive > 0.0 ? 0.16 + drive / v : 0.0);
    }
    return n;
}

static void examine_moves(const struct travel_move *moves, size_t n, struct parameter_fit *fit,
                          struct parameter_checks *checks, struct parameter_data *data)
{
    *data =
        (struct parameter_data){.moves = moves, .n = n, .since_us = AT(0), .until_us = AT(100)};
    CU_ASSERT_EQUAL_FATAL(parameters_examine(data, TRAVEL_AUTO, true, fit, checks), STATUS_OK);
}

static void test_checks(void)
{
    static const struct {
        const char *row;
        enum { GOOD, TURNS_ONLY, FEW, CHANGED, NEGATIVE } what;
        enum estimate_verdict verdict;
        const char *failing;
    } rows[] = {
        {"good", GOOD, ESTIMATE_PASS, NULL},
        {"turns only", TURNS_ONLY, ESTIMATE_FAIL, "excitation"},
        {"few", FEW, ESTIMATE_FAIL, NULL},
        {"another robot in the newest third", CHANGED, ESTIMATE_FAIL, "held_out"},
        {"longer moves take less time", NEGATIVE, ESTIMATE_FAIL, "signs"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_move moves[60];
        struct parameter_fit fit;
        struct parameter_checks checks;
        struct parameter_data data;
        size_t n = make_moves(moves, 60, 1.2, 0.2);
        for (size_t k = 0; k < n; k++) {
            if (rows[i].what == TURNS_ONLY) {
                moves[k].displacement_m = 0.0;
                moves[k].rotation_rad += 0.1;
            } else if (rows[i].what == NEGATIVE) {
                moves[k].lap_s =
                    5.0 - 0.5 * moves[k].displacement_m - 0.2 * moves[k].rotation_rad;
            } else if (rows[i].what == CHANGED && k >= 40) {
                moves[k].lap_s *= 1.5;
            }
        }
        n = rows[i].what == FEW ? 5 : n;
        examine_moves(moves, n, &fit, &checks, &data);
        CHECK_TEXT(rows[i].row, estimate_verdict_name(checks.verdict),
                   estimate_verdict_name(rows[i].verdict));
        for (size_t k = 0; rows[i].failing && k < PARAMETERS_CHECKS; k++) {
            if (strcmp(parameter_check_name((enum parameter_check)k), rows[i].failing) == 0) {
                CHECK_TEXT(rows[i].row, estimate_verdict_name(checks.check[k].verdict), "FAIL");
            }
        }
    }
}

/* A change of a robot, its moves or their table. */
struct cause {
    const char *row;
    double trend, step;         /* speeds, up to the last move and from half of them on */
    double mixed, varies;       /* those of every other move, and from move to move */
    double turns, drives, laps; /* numbers as they are, times this; 0: 1 */
    double late;                /* share of replies that are 2 s late */
    double noise_s;             /* in addition to 10 ms */
    bool accelerates, turns_only, chance;
    size_t n; /* moves; 0: 60 */
    const char *reason, *advice;
};

/* The time for a way at a speed, with an acceleration where there is one. */
static double time_for(double way, double speed, double acceleration)
{
    if (!(acceleration > 0.0)) {
        return way / speed;
    }
    return way > speed * speed / acceleration ? way / speed + speed / acceleration
                                              : 2.0 * sqrt(way / acceleration);
}

static double factor_of(double given)
{
    return given > 0.0 ? given : 1.0;
}

static size_t make_cause(const struct cause *c, struct travel_move *moves)
{
    struct random_source draws = {.state = 77};
    const size_t n = c->n > 0 ? c->n : 60;
    for (size_t k = 0; k < n; k++) {
        const double turn = k % 3 == 1 ? 0.0 : random_between(&draws, 0.2, 3.0);
        const double drive =
            k % 3 == 0 || c->turns_only ? 0.0 : random_between(&draws, 0.1, 1.5);
        const double share = (double)k / (double)n;
        const double worth = (1.0 + c->trend * share) * (share >= 0.5 ? 1.0 + c->step : 1.0) *
                             (random_between(&draws, 0.0, 1.0) < 0.5 ? 1.0 + c->mixed : 1.0);
        const double spread[] = {1.0 + c->varies * random_normal(&draws),
                                 1.0 + c->varies * random_normal(&draws)};
        double lap_s = 0.06 + (0.01 + c->noise_s) * random_normal(&draws);
        lap_s += turn > 0.0 ? 0.12 + time_for(turn, 1.2 * worth, c->accelerates ? 2.0 : 0.0) *
                                         spread[0]
                            : 0.0;
        lap_s += drive > 0.0 ? 0.16 + time_for(drive, 0.5 * worth, c->accelerates ? 0.5 : 0.0) *
                                          spread[1]
                             : 0.0;
        lap_s += random_between(&draws, 0.0, 1.0) < c->late ? 2.0 : 0.0;
        lap_s = c->chance ? random_between(&draws, 1.0, 3.0) : lap_s;
        moves[k] = (struct travel_move){
            factor_of(c->turns) * (turn > 0.0 || !c->turns_only ? turn : 0.3),
            factor_of(c->drives) * drive, factor_of(c->laps) * lap_s};
    }
    return n;
}

/* Each cause is reported, with advice; and no set of such moves is promoted. */
static void test_causes(void)
{
    static const struct cause rows[] = {
        {.row = "nothing"},
        {.row = "wears out",
         .trend = -0.15,
         .reason = "speeds change gradually",
         .advice = "battery"},
        {.row = "load",
         .step = -0.12,
         .reason = "speeds change on the way",
         .advice = "battery"},
        {.row = "two robots",
         .mixed = -0.25,
         .reason = "moves of two kinds",
         .advice = "several robots, loads or floors"},
        {.row = "varies", .varies = 0.15, .reason = "from move to move", .advice = ""},
        {.row = "accelerates",
         .accelerates = true,
         .reason = "accelerates",
         .advice = "of middle size"},
        {.row = "milliseconds",
         .laps = 1000,
         .reason = "looks like milliseconds",
         .advice = "check the units"},
        {.row = "degrees",
         .turns = 57.29578,
         .reason = "looks like degrees",
         .advice = "check the units"},
        {.row = "millimetres",
         .drives = 1000,
         .reason = "looks like millimetres",
         .advice = "check the units"},
        {.row = "late replies",
         .late = 0.3,
         .reason = "of the laps are outliers",
         .advice = "a reply that was late"},
        {.row = "only turns",
         .turns_only = true,
         .reason = "do not determine",
         .advice = "straight"},
        {.row = "few", .n = 6, .reason = "too few", .advice = "more moves"},
        {.row = "anything", .chance = true, .reason = "poor fit", .advice = ""},
        {.row = "noise", .noise_s = 2.0, .reason = "", .advice = ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct travel_move moves[60];
        struct parameter_fit fit;
        struct parameter_checks checks;
        struct parameter_data data;
        char published[2 * ESTIMATE_TEXTS_MAX * ESTIMATE_TEXT_MAX] = "";
        size_t used = 0;
        examine_moves(moves, make_cause(&rows[i], moves), &fit, &checks, &data);
        for (size_t k = 0; k < fit.travel.estimate.reason_count; k++) {
            used += (size_t)snprintf(published + used, sizeof published - used, "%s\n",
                                     fit.travel.estimate.reasons[k]);
        }
        for (size_t k = 0; k < fit.travel.estimate.advice_count; k++) {
            used += (size_t)snprintf(published + used, sizeof published - used, "%s\n",
                                     fit.travel.estimate.advice[k]);
        }
        const bool right = !rows[i].reason;
        CHECK(rows[i].row, (fit.travel.estimate.verdict == ESTIMATE_PASS) == right);
        CHECK(rows[i].row, (checks.verdict == ESTIMATE_PASS) == right);
        CHECK(rows[i].row, right || (strstr(published, rows[i].reason) &&
                                     strstr(published, rows[i].advice)));
        CHECK(rows[i].row, right || fit.travel.estimate.advice_count > 0);
        if (!right && strstr(rows[i].reason, "looks like")) {
            CU_ASSERT_EQUAL_FATAL(parameters_examine(&data, TRAVEL_AUTO, false, &fit, &checks),
                                  STATUS_OK);
            CHECK_TEXT("as it is", estimate_verdict_name(checks.verdict), "PASS");
        }
        if (!right &&
            !(strstr(published, rows[i].reason) && strstr(published, rows[i].advice))) {
            (void)printf("%s: %s\n", rows[i].row, published);
        }
    }
}

static const struct parameter_set *propose_set(struct parameter_book *book, double v,
                                               int64_t t_us)
{
    static struct travel_move moves[60];
    static struct parameter_fit fit;
    struct parameter_checks checks;
    struct parameter_data data;
    examine_moves(moves, make_moves(moves, 60, 1.2, v), &fit, &checks, &data);
    return parameters_propose(book, &data, &fit, &checks, t_us);
}

static uint32_t find_active(const struct parameter_book *book)
{
    const struct parameter_set *set = parameters_find(book, PARAMETERS_ACTIVE);
    return set ? set->version : 0;
}

static void test_book(void)
{
    struct parameter_book book = {0};
    const struct parameter_set *now = NULL;
    const char *why = NULL;
    CHECK("nothing to promote", !parameters_promote(&book, 0, &why) && why);
    CHECK("nothing to roll back", !parameters_rollback(&book, &now, &why));
    CHECK_INT("first", propose_set(&book, 0.20, AT(1))->version, 1);
    CHECK("all is news", parameters_differ(&book, &book.set[0], NULL));
    for (size_t j = 0; j < TRAVEL_P; j++) {
        CHECK_NEAR("a simulator is asked for the values", book.set[0].sent.value[j],
                   book.set[0].value[j], 0.0, 0.0);
        CHECK("and for no factor", isnan(book.set[0].sent.adjust[j]));
    }
    CHECK_INT("promoted", parameters_promote(&book, 0, &why)->version, 1);
    CHECK("not twice", !parameters_promote(&book, 1, &why));
    CHECK_INT("second", propose_set(&book, 0.20, AT(2))->version, 2);
    CHECK("the same again is no news",
          !parameters_differ(&book, parameters_find(&book, PARAMETERS_CANDIDATE), NULL));
    CHECK_INT("third replaces the second", propose_set(&book, 0.18, AT(3))->version, 3);
    CHECK("news", parameters_differ(&book, parameters_find(&book, PARAMETERS_CANDIDATE), NULL));
    static const double wide[TRAVEL_P] = {1.0, 1.0, 1.0, 1.0, 1.0};
    CHECK("no news if an effect that was not found explains it",
          !parameters_differ(&book, parameters_find(&book, PARAMETERS_CANDIDATE), wide));
    CHECK_INT("promoted", parameters_promote(&book, 3, &why)->version, 3);
    CHECK_INT("one is active", find_active(&book), 3);
    /* Proposals may come and go: the way back stays. */
    for (int k = 0; k < 10; k++) {
        (void)propose_set(&book, 0.17, AT(4 + k));
    }
    CHECK("back to 1", parameters_rollback(&book, &now, &why));
    CHECK_INT("back to 1", find_active(&book), 1);
    CHECK_INT("back to 1", now->version, 1);
    CHECK("back to the beginning", parameters_rollback(&book, &now, &why));
    CHECK("the simulator's own", now == NULL && find_active(&book) == 0);
    CHECK("no further", !parameters_rollback(&book, &now, &why));
    CHECK("gone versions", !parameters_promote(&book, 2, &why));
    CHECK_NEAR("values", parameters_find(&book, PARAMETERS_CANDIDATE)->value[TRAVEL_INV_V],
               0.17, 0.02, 0);
}

/* A fit that says nothing new about a set makes no other one. */
static void test_same(void)
{
    static const struct {
        const char *row;
        enum estimate_verdict verdict;
        double shift_z, se_ratio;
        bool same;
    } rows[] = {
        {"the same", ESTIMATE_PASS, 0.0, 1.0, true},
        {"another verdict", ESTIMATE_MARGINAL, 0.0, 1.0, false},
        {"within chance", ESTIMATE_PASS, 2.9, 1.0, true},
        {"beyond chance", ESTIMATE_PASS, 3.1, 1.0, false},
        {"hardly sharper", ESTIMATE_PASS, 0.0, 0.52, true},
        {"sharper", ESTIMATE_PASS, 0.0, 0.48, false},
        {"not determined any more", ESTIMATE_PASS, (double)NAN, 1.0, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct parameter_book book = {0};
        double value[TRAVEL_P];
        double se[TRAVEL_P];
        const char *why = NULL;
        CHECK("nothing yet", !parameters_find_same(&book, ESTIMATE_PASS, value, se, 0));
        const struct parameter_set *set = propose_set(&book, 0.20, AT(1));
        for (size_t j = 0; j < TRAVEL_P; j++) {
            se[j] = set->se[j] * rows[i].se_ratio;
            value[j] = set->value[j] + rows[i].shift_z * hypot(se[j], set->se[j]);
        }
        for (int active = 0; active < 2; active++) {
            const struct parameter_set *same = parameters_find_same(
                &book, (uint8_t)(rows[i].verdict - ESTIMATE_PASS + set->verdict), value, se,
                set->count);
            CHECK_INT(rows[i].row, same == set, rows[i].same);
            CHECK("promoted", active > 0 || parameters_promote(&book, 0, &why));
        }
        CHECK("promoted without a request", !parameters_hold_back(set, true));
        CHECK("no news", strstr(parameters_hold_back(set, false), "by more than chance"));
        struct parameter_set doubtful = *set;
        doubtful.verdict = (uint8_t)ESTIMATE_MARGINAL;
        CHECK("doubtful", strstr(parameters_hold_back(&doubtful, true), "do not all PASS"));
    }
}

static void do_moves(struct script *s, int from, int to, double v, double virtual_v)
{
    struct travel_move real[200];
    struct travel_move virtual[200];
    (void)make_moves(real, 200, 1.2, v);
    (void)make_moves(virtual, 200, 1.2, virtual_v);
    for (int k = from; k < to; k++) {
        char id[16];
        (void)snprintf(id, sizeof id, "c%d", k);
        struct event e = script_event("r1", AT(20 * k), EVENT_COMMAND, SIDE_COUNT);
        (void)snprintf(e.command.id, sizeof e.command.id, "%s", id);
        (void)snprintf(e.command.op, sizeof e.command.op, "go");
        e.command.rotation_rad = real[k].rotation_rad;
        e.command.displacement_m = real[k].displacement_m;
        e.hash = (uint64_t)k;
        lab_step(s->lab, &e, &s->fx);
        const double first = fmin(real[k].lap_s, virtual[k].lap_s);
        script_reply(s, "r1", AT(20 * k + first),
                     real[k].lap_s <= first ? SIDE_REAL : SIDE_VIRTUAL, id, REPLY_DONE);
        const double last = fmax(real[k].lap_s, virtual[k].lap_s);
        script_reply(s, "r1", AT(20 * k + last),
                     real[k].lap_s <= first ? SIDE_VIRTUAL : SIDE_REAL, id, REPLY_DONE);
    }
}

static void send_request(struct script *s, double t_s, enum request_action action,
                         uint32_t version)
{
    struct event e = script_event("r1", AT(t_s), EVENT_REQUEST, SIDE_COUNT);
    e.request.action = action;
    e.request.version = version;
    lab_step(s->lab, &e, &s->fx);
}

/* Start-ups that are none are as often estimated below zero as above. */
static void test_payload(void)
{
    static struct parameter_set set = {
        .version = 4,
        .count = TRAVEL_P,
        .sent = {{-0.002, 0.01, -0.0005, 0.5, 2.0}, {-0.25, 0.125, NAN, 1.5, 0.75}}};
    static const char head[] =
        "{\"version\":4,\"model\":\"travel_time\",\"values\":{\"t0_s\":0,\"ta_s\":0.01,"
        "\"tr_s\":0,\"angular_speed_radps\":0.5,\"linear_speed_mps\":2}";
    static const char tail[] =
        ",\"adjust\":{\"t0_s\":{\"add\":-0.25},\"ta_s\":{\"add\":0.125},"
        "\"angular_speed_radps\":{\"factor\":1.5},\"linear_speed_mps\":{\"factor\":0.75}}";
    for (int adjust = 0; adjust < 2; adjust++) {
        char text[512] = "";
        char want[512];
        struct json_writer w;
        json_write_start(&w, text, sizeof text - 1, NULL, NULL);
        parameters_write_payload(&w, &set, NULL, adjust == 1);
        CHECK("room", json_write_end(&w));
        (void)snprintf(want, sizeof want, "%s%s}", head, adjust == 1 ? tail : "");
        CHECK_TEXT("as it goes out", text, want);
    }
}

static void test_by_hand(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    send_request(&s, 0, REQUEST_PROPOSE, 0);
    CHECK_INT("too early: reported", script_count(&s, EFFECT_CHANGE), 1);
    do_moves(&s, 1, 60, 0.2, 0.25);
    script_clear(&s);
    send_request(&s, 1300, REQUEST_PROPOSE, 0);
    CHECK_INT("one candidate", lab_pair(s.lab, 0)->parameters.set[0].version, 1);
    CHECK_INT("nothing sent yet", script_count(&s, EFFECT_PARAMETERS), 0);
    send_request(&s, 1301, REQUEST_PROMOTE, 0);
    CHECK_INT("sent", script_count(&s, EFFECT_PARAMETERS), 1);
    CHECK("payload", strstr(script_find(&s, EFFECT_PARAMETERS, 0)->payload,
                            "\"version\":1,\"model\":\"travel_time\"") != NULL);
    CHECK_INT("the twin is new", lab_pair(s.lab, 0)->side[SIDE_VIRTUAL].kalman.n, 0);
    send_request(&s, 1302, REQUEST_ROLLBACK, 0);
    CHECK("own again",
          strstr(script_find(&s, EFFECT_PARAMETERS, 1)->payload, "\"version\":0") != NULL);
    send_request(&s, 1303, REQUEST_PROMOTE, 7);
    CHECK_INT("declined, and reported", script_count(&s, EFFECT_CHANGE), 4);
    struct event e = script_event("r1", AT(1304), EVENT_ACK, SIDE_VIRTUAL);
    e.ack = (struct event_ack){
        .version = 1, .applied = 3, .refused = 1, .reason = "ta_s: below zero"};
    lab_step(s.lab, &e, &s.fx);
    CHECK_TEXT("refused", script_alarm(&s, 0), "parameters_refused");
    script_close(&s);
}

static void test_auto(void)
{
    static struct script s;
    script_init(&s, 1);
    s.params[0].promote = PAIR_PROMOTE_AUTO;
    s.params[0].propose_every = 2;
    script_open(&s);
    do_moves(&s, 1, 100, 0.2, 0.25);
    CHECK_INT("once: the robot did not change", script_count(&s, EFFECT_PARAMETERS), 1);
    const uint64_t changes = script_count(&s, EFFECT_CHANGE);
    CHECK("the history has no entry for each of 40 fits", changes >= 2 && changes <= 8);
    const struct parameter_set *set =
        parameters_find(&lab_pair(s.lab, 0)->parameters, PARAMETERS_ACTIVE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(set);
    CHECK_NEAR("the real robot's speed", set->value[TRAVEL_INV_V], 0.2, 0.02, 0);
    /* The real robot slows down: found, and handed on. */
    do_moves(&s, 100, 170, 0.16, 0.2);
    set = parameters_find(&lab_pair(s.lab, 0)->parameters, PARAMETERS_ACTIVE);
    CHECK("again", script_count(&s, EFFECT_PARAMETERS) >= 2);
    CHECK_NEAR("the new speed", set->value[TRAVEL_INV_V], 0.16, 0.02, 0);
    script_close(&s);
}

static void send_boot(struct script *s, double t_s, const char *boot)
{
    struct event e = script_event("r1", AT(t_s), EVENT_CONNECTION, SIDE_VIRTUAL);
    e.connection.online = true;
    (void)snprintf(e.connection.boot, sizeof e.connection.boot, "%s", boot);
    lab_step(s->lab, &e, &s->fx);
}

/* A simulator that starts again gets the parameters in use, if any were ever promoted. */
static void test_restarted(void)
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    send_boot(&s, 0, "one");
    send_boot(&s, 0.5, "two");
    CHECK_INT("nothing promoted, nothing sent", script_count(&s, EFFECT_PARAMETERS), 0);
    do_moves(&s, 1, 60, 0.2, 0.25);
    send_request(&s, 1300, REQUEST_PROPOSE, 0);
    send_request(&s, 1301, REQUEST_PROMOTE, 0);
    script_clear(&s);
    send_boot(&s, 1302, "three");
    CHECK_INT("sent again", script_count(&s, EFFECT_PARAMETERS), 1);
    script_close(&s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("parameters", NULL, NULL);
    CU_add_test(suite, "checks", test_checks);
    CU_add_test(suite, "causes", test_causes);
    CU_add_test(suite, "book", test_book);
    CU_add_test(suite, "same", test_same);
    CU_add_test(suite, "payload", test_payload);
    CU_add_test(suite, "by hand", test_by_hand);
    CU_add_test(suite, "auto", test_auto);
    CU_add_test(suite, "restarted", test_restarted);
    return check_run();
}
