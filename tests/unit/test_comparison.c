/* Comparisons of pairs: what is not known and why, Holm over the terms of a fit, conditions,
 * halves of a recording. tests/system/compare.sh checks the numbers. */
#include "tests/support/check.h"

#include "service/evidence/compare_print.h"
#include "service/evidence/condition.h"
#include "service/evidence/split.h"

enum { MANY = 200 };

static struct recorded_command in_a[MANY], in_b[MANY];
static struct recorded_pair a, b;

/* Three kinds of moves; the lag of b is larger by rise. */
static void fill_sides(size_t n_a, size_t n_b, double rise)
{
    a = (struct recorded_pair){.commands = in_a, .count = n_a};
    b = (struct recorded_pair){.commands = in_b, .count = n_b};
    for (size_t i = 0; i < n_a + n_b; i++) {
        const bool first = i < n_a;
        const size_t k = first ? i : i - n_a;
        const double noise = 0.01 * sin((double)(k * 7 + i) * 1.7);
        struct recorded_command *c = first ? &in_a[k] : &in_b[k];
        *c = (struct recorded_command){.t_us = (int64_t)(i + 1) * 1000000,
                                       .n = k + 1,
                                       .op = "go",
                                       .rotation_rad = k % 3 == 1 ? 0 : 0.3 + (double)(k % 7),
                                       .displacement_m = k % 3 == 0 ? 0 : 0.1 + (double)(k % 5),
                                       .verdict = VERDICT_SYNC,
                                       .consistency = CONSISTENT};
        (void)snprintf(c->id, sizeof c->id, "%c%zu", first ? 'a' : 'b', k);
        c->time_s[TIME_LAG] = 0.1 + noise + (first ? 0 : rise);
        c->time_s[TIME_ABS_LAG] = fabs(c->time_s[TIME_LAG]);
        c->time_s[TIME_REAL_LAP] = 2.0;
        c->time_s[TIME_VIRTUAL_LAP] = (double)NAN;
    }
}

static struct comparison compare(double confidence)
{
    struct comparison c;
    CHECK("memory", comparison_make(&a, &b, ALIGNED_AUTO, confidence, &c) == STATUS_OK);
    return c;
}

static void test_few(void)
{
    fill_sides(5, 5, 0.05);
    struct comparison c = compare(0.95);
    CHECK("of five: why",
          c.shift[TIME_LAG].why != NULL && isnan(c.shift[TIME_LAG].shift.value));
    comparison_free(&c);
    fill_sides(6, 6, 0.05);
    c = compare(0.95);
    CHECK("of six", !c.shift[TIME_LAG].why && c.shift[TIME_LAG].shift.lo > 0.0);
    CHECK("no virtual lap",
          c.shift[TIME_VIRTUAL_LAP].why && c.shift[TIME_VIRTUAL_LAP].n[IN_A] == 0);
    CHECK("it differs", comparison_differs(&c));
    comparison_free(&c);
    c = compare(0.999);
    CHECK("of six, 99.9 %", isinf(c.shift[TIME_LAG].shift.lo));
    CHECK("no proof", !comparison_shift_differs(&c.shift[TIME_LAG]));
    comparison_free(&c);
    fill_sides(0, 6, 0.0);
    c = compare(0.95);
    CHECK("nothing in A", c.why && c.alignment.rule == ALIGNED_NOT);
    comparison_free(&c);
}

/* The text names correlated neighbours above 0.5. */
static void test_neighbours(void)
{
    fill_sides(20, 20, 0.05);
    struct comparison c = compare(0.95);
    for (size_t i = 0; i < 2; i++) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        c.shift[TIME_LAG].shift.neighbours = i == 0 ? 0.499 : 0.501;
        compare_print_text("r1", &a, &b, &c, false, out);
        (void)fclose(out);
        CHECK("neighbours", (strstr(text, "neighbouring differences") != NULL) == (i == 1));
        free(text);
    }
    comparison_free(&c);
}

static void test_alike(void)
{
    fill_sides(80, 80, 0.0);
    for (size_t i = 0; i < 80; i++) {
        memcpy(in_b[i].time_s, in_a[i].time_s, sizeof in_b[i].time_s);
    }
    struct comparison c = compare(0.95);
    CHECK_TEXT("alike", alignment_rule_name(c.alignment.rule), "sequence");
    CHECK("equal times differ in nothing", !comparison_differs(&c));
    comparison_free(&c);
}

/* Other moves: twelve of them are regressed. */
static void test_unpaired(void)
{
    for (size_t n = 11; n <= 12; n++) {
        fill_sides(n, n, 0.05);
        for (size_t i = 0; i < n; i++) {
            in_b[i].rotation_rad *= 0.9;
            in_b[i].displacement_m *= 0.9;
        }
        struct comparison c = compare(0.95);
        const struct compared_shift *s = &c.shift[TIME_LAG];
        CHECK_TEXT("other moves", alignment_rule_name(c.alignment.rule), "none");
        CHECK("eleven: why", n == 12 ? s->method == SHIFT_SAME_MOVES : s->why != NULL);
        comparison_free(&c);
    }
    for (size_t n = 5; n <= 6; n++) {
        fill_sides(n, n, 0.05);
        for (size_t i = 0; i < n; i++) {
            in_a[i].rotation_rad = in_b[i].rotation_rad = 1.0;
            in_a[i].displacement_m = in_b[i].displacement_m = 0.0;
        }
        struct comparison c = compare(0.95);
        const struct compared_shift *s = &c.shift[TIME_LAG];
        CHECK("five: why", n == 6 ? s->method == SHIFT_UNPAIRED : s->why != NULL);
        comparison_free(&c);
    }
}

static void set_fit(struct recorded_pair *pair, const double *value)
{
    struct recorded_fit *fit = &pair->state.fit[SIDE_REAL];
    *fit = (struct recorded_fit){.n = 85, .terms = 3};
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(fit->name[i], sizeof fit->name[i], "%s",
                       i < 2 ? (i ? "ta_s" : "t0_s") : "linear_speed_mps");
        fit->value[i] = value[i];
        fit->se[i] = i < 2 ? 1.0 : value[i] / 100.0;
    }
}

/* Two terms at p = 0.02: alone each would have changed, of three terms neither has. */
static void test_fits(void)
{
    static const double before[] = {0.0, 0.0, 0.2};
    static const struct {
        double value[3];
        bool changed[3];
    } rows[] = {{{3.36, 3.36, 0.2}, {false, false, false}},
                {{4.0, 3.36, 0.2}, {true, true, false}},
                {{0.0, 0.0, 0.19}, {false, false, true}},
                {{2.80, 0.0, 0.19}, {false, false, true}}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        fill_sides(20, 20, 0.0);
        set_fit(&a, before);
        set_fit(&b, rows[i].value);
        struct comparison c = compare(0.95);
        CHECK_INT("terms", c.term_count[SIDE_REAL], 3);
        for (size_t t = 0; t < 3; t++) {
            CHECK_INT("changed", c.terms[SIDE_REAL][t].changed, rows[i].changed[t]);
        }
        CHECK("speeds are ratios", c.terms[SIDE_REAL][2].is_ratio);
        comparison_free(&c);
    }
}

static void test_conditions(void)
{
    static const struct {
        const char *text;
        bool needed;
        enum condition_result want;
    } rows[] = {{"lag_s>0.02", false, CONDITION_FAILED},
                {"lag_s>0.2", false, CONDITION_OK},
                {"lag_s>0.05", false, CONDITION_OPEN},
                {"lag_s<0.02", false, CONDITION_OK},
                {"lag_s<0.06", true, CONDITION_OK},
                {"lag_s<0.05", true, CONDITION_FAILED},
                {"virtual_lap_s<9", true, CONDITION_FAILED},
                {"virtual_lap_s<9", false, CONDITION_OPEN},
                {"sync_share<-0.1", false, CONDITION_OPEN},
                {"verdicts.SYNC>0", false, CONDITION_OK},
                {"verdicts.SYNC<1", false, CONDITION_FAILED},
                {"alarms.late>0", false, CONDITION_OK},
                {"real.t0_s>0", true, CONDITION_FAILED}};
    fill_sides(20, 20, 0.05);
    struct comparison c = compare(0.95);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct condition condition;
        CHECK(rows[i].text, condition_parse(rows[i].text, rows[i].needed, &condition));
        CHECK_TEXT(rows[i].text, condition_result_name(condition_judge(&condition, &c)),
                   condition_result_name(rows[i].want));
    }
    comparison_free(&c);
    struct condition condition;
    static const char *const wrong[] = {"abs_lag>1",       "lag_s",       "lag_s>",
                                        "lag_s>1s",        "lag_s>nan",   ">1",
                                        "verdicts.LATE>0", "real.lag_s>1"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        CHECK(wrong[i], !condition_parse(wrong[i], false, &condition));
    }
}

static void test_split(void)
{
    struct recorded_change changes[] = {{31500000, 1}, {41000000, 2}};
    struct recorded_alarm alarms[] = {{41500000, ALARM_TYPE_LATE, "a39"},
                                      {30000000, ALARM_TYPE_DRIFT, ""}};
    struct recorded_version versions[] = {{SIDE_VIRTUAL, "1.3"},
                                          {SIDE_VIRTUAL, "1.4"},
                                          {SIDE_REAL, "1.5"},
                                          {SIDE_VIRTUAL, "1.5"}};
    static const struct {
        const char *text;
        size_t first, late, drift; /* in the first half */
    } rows[] = {{"entry:41", 40, 1, 1},           {"change:2", 40, 0, 1},
                {"change:1", 31, 0, 1},           {"version:1.4", 70, 1, 1},
                {"entry:12", 11, 0, 0},           {"10", 9, 0, 0},
                {"1970-01-01T00:00:10Z", 9, 0, 0}};
    struct split split;
    struct err err = {0};
    struct recorded_pair x;
    struct recorded_pair y;
    fill_sides(80, 0, 0.0);
    a.changes = changes;
    a.change_count = 2;
    a.alarms = alarms;
    a.alarm_count = 2;
    a.versions = versions;
    a.version_count = 2;
    for (size_t i = 0; i < 80; i++) { /* 1.3 comes again */
        in_a[i].version[SIDE_VIRTUAL] = i < 10 || i >= 20 ? 1 : 2;
    }
    (void)snprintf(in_a[60].id, sizeof in_a[60].id, "a39"); /* again: another command */
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *row = rows[i].text;
        CHECK(row, split_parse(row, &split));
        CHECK(row, split_pair(&a, "r1", &split, &x, &y, &err) == STATUS_OK);
        CHECK_INT(row, x.count, rows[i].first);
        CHECK_INT(row, x.count + y.count, 80);
        CHECK_INT(row, x.state.alarms[ALARM_TYPE_LATE], rows[i].late);
        CHECK_INT(row, x.state.alarms[ALARM_TYPE_DRIFT], rows[i].drift);
        CHECK_INT(row, y.state.alarms[ALARM_TYPE_LATE], 1 - rows[i].late);
        size_t at = 0;
        const bool by_version = rows[i].first == 70;
        CHECK_TEXT(row, recorded_pair_next_version(&x, SIDE_VIRTUAL, &at), "1.3");
        CHECK(row, (recorded_pair_next_version(&x, SIDE_VIRTUAL, &at) != NULL) ==
                       (rows[i].first > 10 && !by_version));
        at = 0;
        CHECK_TEXT(row, recorded_pair_next_version(&y, SIDE_VIRTUAL, &at),
                   by_version ? "1.4" : "1.3");
        recorded_pair_free(&x);
        recorded_pair_free(&y);
    }
    static const char *const nothing[] = {"change:3",    "entry:1",   "entry:81",  "1",
                                          "version:1.3", "version:2", "2030-01-01"};
    for (size_t i = 0; i < COUNT(nothing); i++) {
        CHECK(nothing[i], split_parse(nothing[i], &split));
        CHECK(nothing[i], split_pair(&a, "r1", &split, &x, &y, &err) == STATUS_E_EMPTY);
        CHECK_INT(nothing[i], err.fault, FAULT_NO_DATA);
        recorded_pair_free(&x);
        recorded_pair_free(&y);
    }
    a.version_count = 4;
    in_a[50].version[SIDE_REAL] = 3;
    in_a[60].version[SIDE_VIRTUAL] = 4;
    CHECK("word", split_parse("version:1.5", &split));
    err = (struct err){0};
    CHECK("which robot's?", split_pair(&a, "r1", &split, &x, &y, &err) == STATUS_E_EMPTY &&
                                err.fault == FAULT_NOT_APPLICABLE);
    CHECK("word", split_parse("virtual_version:1.5", &split));
    CHECK("the virtual one's", split_pair(&a, "r1", &split, &x, &y, &err) == STATUS_OK);
    CHECK_INT("others are in neither", x.count + y.count, 70);
    recorded_pair_free(&x);
    recorded_pair_free(&y);
    CHECK("no word", !split_parse("entry:0", &split) && !split_parse("entry:", &split) &&
                         !split_parse("yesterda", &split));
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("comparison", NULL, NULL);
    CU_ADD_TEST(suite, test_few);
    CU_ADD_TEST(suite, test_neighbours);
    CU_ADD_TEST(suite, test_alike);
    CU_ADD_TEST(suite, test_unpaired);
    CU_ADD_TEST(suite, test_fits);
    CU_ADD_TEST(suite, test_conditions);
    CU_ADD_TEST(suite, test_split);
    return check_run();
}
