/* Gates: refused pairs, units and blocks, the real robot, merging over pairs, and that later
 * commands do not change an earlier decision. tests/system/gate.sh checks the numbers. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "service/evidence/gate_print.h"

enum { MANY = 300, PAIRS = 2 };

static struct recorded_command commands[2 * PAIRS][MANY];
static struct recorded_pair in_a[PAIRS], in_b[PAIRS];
static struct gate_pair pairs[PAIRS];
static double log_e[PAIRS * GATE_METRIC_COUNT];

static const struct gate_options defaults = {.margin = {0.005, 0.05, 0.02, 0.02},
                                             .needed = {true},
                                             .alpha = 0.05,
                                             .clip = 8.0,
                                             .block_text = "none"};

static void fill_one(struct recorded_pair *pair, struct recorded_command *to, size_t n,
                     double lag, uint64_t seed)
{
    struct random_source random = random_stream(seed, 1);
    *pair = (struct recorded_pair){.commands = to, .count = n};
    for (size_t i = 0; i < n; i++) {
        to[i] = (struct recorded_command){.t_us = (int64_t)(seed * 1000 + i + i / 10 * 20) *
                                                  1000000,
                                          .n = i + 1,
                                          .op = "go",
                                          .rotation_rad = (double)(i % 17),
                                          .verdict = VERDICT_SYNC,
                                          .consistency = CONSISTENT};
        (void)snprintf(to[i].id, sizeof to[i].id, "%llu-%zu", (unsigned long long)seed, i);
        to[i].time_s[TIME_LAG] = lag + 0.01 * random_normal(&random);
        to[i].time_s[TIME_ABS_LAG] = fabs(to[i].time_s[TIME_LAG]);
        to[i].time_s[TIME_REAL_LAP] = 2.0 + 0.01 * random_normal(&random);
        to[i].time_s[TIME_VIRTUAL_LAP] = 2.0;
    }
}

/* The candidate's lag is larger by rise, in the first pair. */
static void fill_sides(size_t n, double rise)
{
    for (size_t k = 0; k < PAIRS; k++) {
        fill_one(&in_a[k], commands[2 * k], n, 0.05, 2 * k + 1);
        fill_one(&in_b[k], commands[2 * k + 1], n, 0.05 + (k == 0 ? rise : 0.0), 2 * k + 2);
    }
}

static struct gate_result decide(size_t count, const struct gate_options *o)
{
    for (size_t k = 0; k < count; k++) {
        CHECK("memory", gate_pair_test(&in_a[k], &in_b[k], o, &pairs[k]) == STATUS_OK);
    }
    const struct gate_result result = gate_decide(pairs, count, o, log_e);
    for (size_t k = 0; k < count; k++) {
        gate_pair_free(&pairs[k]);
    }
    return result;
}

static void check(const char *row, size_t count, const struct gate_options *o,
                  enum gate_outcome want)
{
    CHECK_TEXT(row, gate_outcome_name(decide(count, o).outcome), gate_outcome_name(want));
}

static void test_outcomes(void)
{
    fill_sides(200, 0.0);
    check("equal", PAIRS, &defaults, GATE_PASS);
    fill_sides(200, 0.02);
    check("20 ms worse", PAIRS, &defaults, GATE_FAIL);
    CHECK("the first pair",
          pairs[0].test[GATE_ABS_LAG].fail_at > 0 && pairs[1].test[GATE_ABS_LAG].fail_at == 0);
    fill_sides(20, 0.0);
    check("few", PAIRS, &defaults, GATE_UNDECIDED);
    CHECK("how many more", pairs[1].test[GATE_ABS_LAG].more > 0);
    fill_sides(200, -0.02);
    check("better", PAIRS, &defaults, GATE_PASS);
}

/* Guards: shares without a rise of the lag. */
static void test_guards(void)
{
    fill_sides(200, 0.0);
    for (size_t i = 0; i < 200; i += 4) {
        struct recorded_command *c = &in_b[0].commands[i];
        c->verdict = VERDICT_TIMEOUT;
        c->timed_out[SIDE_VIRTUAL] = true;
        c->time_s[TIME_LAG] = c->time_s[TIME_ABS_LAG] = c->time_s[TIME_VIRTUAL_LAP] =
            (double)NAN;
    }
    check("a quarter unanswered", 1, &defaults, GATE_FAIL);
    CHECK_INT("left out", pairs[0].test[GATE_ABS_LAG].left_out, 50);
    CHECK("by the timeouts", gate_is_blamed(&pairs[0], GATE_TIMEOUT) &&
                                 gate_is_blamed(&pairs[0], GATE_SYNC) &&
                                 !gate_is_blamed(&pairs[0], GATE_INCONSISTENT));
    fill_sides(200, 0.0);
    for (size_t i = 0; i < 200; i += 4) {
        struct recorded_command *c = &in_b[0].commands[i];
        c->verdict = VERDICT_TIMEOUT;
        c->timed_out[SIDE_REAL] = true;
        in_b[0].commands[i + 1].verdict = VERDICT_UNRESOLVED;
    }
    (void)decide(1, &defaults);
    CHECK_INT("the real robot's are left out", pairs[0].test[GATE_SYNC].left_out, 100);
    CHECK("and no fault", pairs[0].test[GATE_SYNC].fail_at == 0);
}

static void test_refused(void)
{
    fill_sides(100, 0.0);
    in_b[0] = in_a[0];
    CHECK_INT("itself", decide(1, &defaults).usable, 0);
    CHECK("itself", strstr(pairs[0].why, "twice"));
    fill_sides(100, 0.0);
    for (size_t i = 0; i < 20; i++) {
        in_b[0].commands[i * 5].rotation_rad = 99.0 + (double)i;
    }
    CHECK_INT("80 of 100", decide(1, &defaults).usable, 1);
    in_b[0].commands[2].rotation_rad = 55.0;
    CHECK_INT("79 of 100", decide(1, &defaults).usable, 0);
    check("one of two", PAIRS, &defaults, GATE_UNDECIDED);
    CHECK_INT("one of two", decide(PAIRS, &defaults).usable, 1);
}

/* A slower real robot explains larger lags, but not timeouts. */
static void test_real_robot(void)
{
    fill_sides(200, 0.03);
    for (size_t i = 0; i < 200; i++) {
        in_b[0].commands[i].time_s[TIME_REAL_LAP] += 0.03;
    }
    check("undecided", 1, &defaults, GATE_UNDECIDED);
    CHECK("it changed", pairs[0].real_changed &&
                            pairs[0].test[GATE_ABS_LAG].outcome == GATE_FAIL &&
                            !gate_is_blamed(&pairs[0], GATE_ABS_LAG));
}

static void test_blocks(void)
{
    struct gate_options o = defaults;
    fill_sides(205, 0.0);
    o.blocks = GATE_BLOCKS_OF;
    o.block_of = 10;
    (void)decide(1, &o);
    CHECK_INT("blocks of ten, the last is not full", pairs[0].test[GATE_ABS_LAG].n, 20);
    CHECK_NEAR("clip", pairs[0].test[GATE_ABS_LAG].clip, 0.04 / sqrt(10.0), 1e-12, 0);
    o.blocks = GATE_BLOCKS_BY_PAUSE;
    o.gap_s = 5.0;
    (void)decide(1, &o);
    CHECK_INT("until a pause, the last may go on", pairs[0].test[GATE_ABS_LAG].n, 20);
    CHECK_NEAR("clip", pairs[0].test[GATE_ABS_LAG].clip, 0.04 / sqrt(205.0 / 21.0), 1e-12, 0);
}

/* The first n commands of a candidate decide as they did before the others came. */
static void test_prefix(void)
{
    fill_sides(240, 0.004);
    size_t pass_at = 0;
    size_t fail_at = 0;
    for (size_t n = 240; n >= 40; n -= 4) { /* 51 cuts */
        in_b[0].count = n;
        (void)decide(1, &defaults);
        const struct gate_test *t = &pairs[0].test[GATE_SYNC];
        pass_at = n == 240 ? t->pass_at : pass_at;
        fail_at = n == 240 ? t->fail_at : fail_at;
        CHECK_INT("pass", t->pass_at, pass_at <= n ? pass_at : 0);
        CHECK_INT("fail", t->fail_at, fail_at > 0 && fail_at <= n ? fail_at : 0);
    }
    CHECK("there was something to decide", pass_at > 0);
}

/* A rise of one metric among several is found later, for their capitals are merged. */
static void test_merged(void)
{
    fill_sides(200, 0.012);
    (void)decide(1, &defaults);
    const size_t alone = pairs[0].test[GATE_ABS_LAG].fail_at;
    (void)decide(PAIRS, &defaults);
    CHECK("alone", alone > 0);
    CHECK("not sooner among others", pairs[0].test[GATE_ABS_LAG].fail_at >= alone);
}

/* Alike neighbours are named above twice the variance. */
static void test_advice(void)
{
    struct gate_pair pair = {.compared = true};
    const char *const id = "r1";
    struct gate_report report = {
        .options = &defaults, .pairs = &pair, .ids = &id, .count = 1, .result = {GATE_PASS, 1}};
    for (size_t i = 0; i < 2; i++) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        pair.test[GATE_ABS_LAG].inflation = i == 0 ? 1.99 : 2.01;
        gate_print_text(&report, out);
        (void)fclose(out);
        CHECK("advice", (strstr(text, "--block") != NULL) == (i == 1));
        free(text);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("gate", NULL, NULL);
    CU_ADD_TEST(suite, test_outcomes);
    CU_ADD_TEST(suite, test_guards);
    CU_ADD_TEST(suite, test_refused);
    CU_ADD_TEST(suite, test_real_robot);
    CU_ADD_TEST(suite, test_blocks);
    CU_ADD_TEST(suite, test_prefix);
    CU_ADD_TEST(suite, test_merged);
    CU_ADD_TEST(suite, test_advice);
    return check_run();
}
