/* Which command of one recording is which of another: every rule just inside and just outside,
 * ties, and the same matches in both directions. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "service/evidence/align.h"

enum { MANY = 5200 };

static struct recorded_command in_a[MANY], in_b[MANY];
static struct recorded_pair a = {.commands = in_a}, b = {.commands = in_b};

/* Commands of these kinds, a second apart; ids begin with the letter. */
static void fill_pair(struct recorded_pair *pair, const char *kinds, char letter,
                      int64_t begin_s)
{
    pair->count = strlen(kinds);
    for (size_t i = 0; i < pair->count; i++) {
        pair->commands[i] = (struct recorded_command){.t_us = (begin_s + (int64_t)i) * 1000000,
                                                      .n = i + 1,
                                                      .op = "go",
                                                      .rotation_rad = (double)kinds[i] / 100.0};
        (void)snprintf(pair->commands[i].id, sizeof pair->commands[i].id, "%c%zu", letter, i);
    }
}

/* Checks rule and number of matches, and that B against A has the same ones. */
static struct alignment align_row(const char *row, enum alignment_rule request,
                                  enum alignment_rule rule, size_t count)
{
    struct alignment forth;
    struct alignment back;
    CHECK("memory", align_find(&a, &b, request, &forth) == STATUS_OK);
    CHECK("memory", align_find(&b, &a, request, &back) == STATUS_OK);
    CHECK_TEXT(row, alignment_rule_name(forth.rule), alignment_rule_name(rule));
    CHECK_INT(row, forth.count, count);
    CHECK_INT("mirror", back.count, forth.count);
    for (size_t i = 0; i < forth.count && i < back.count && rule == ALIGNED_BY_SEQUENCE; i++) {
        CHECK("mirror", forth.matches[i].a == back.matches[i].b &&
                            forth.matches[i].b == back.matches[i].a);
    }
    align_free(&back);
    return forth;
}

static void check(const char *row, enum alignment_rule request, enum alignment_rule rule,
                  size_t count)
{
    struct alignment found = align_row(row, request, rule, count);
    align_free(&found);
}

static void test_recording(void)
{
    fill_pair(&a, "abcabcabca", 'x', 100);
    fill_pair(&b, "abcabcabca", 'x', 100);
    check("the same", ALIGNED_AUTO, ALIGNED_BY_RECORDING, 10);
    in_b[3].t_us++;
    in_b[7].t_us++;
    check("eight of ten", ALIGNED_AUTO, ALIGNED_BY_RECORDING, 8);
    in_b[8].t_us++;
    check("seven of ten: by id", ALIGNED_AUTO, ALIGNED_BY_ID, 10);
}

static void test_id(void)
{
    fill_pair(&a, "abcabcabca", 'x', 100);
    fill_pair(&b, "abcabcabca", 'x', 900);
    (void)strcpy(in_b[0].id, "other");
    (void)strcpy(in_b[1].id, "another");
    check("eight of ten", ALIGNED_AUTO, ALIGNED_BY_ID, 8);
    (void)strcpy(in_b[4].op, "stop");
    check("another operation is no match", ALIGNED_AUTO, ALIGNED_BY_ID, 7);
    (void)strcpy(in_b[2].id, "a third");
    check("seven of ten: by sequence", ALIGNED_AUTO, ALIGNED_BY_SEQUENCE, 9);
    check("as asked", ALIGNED_BY_ID, ALIGNED_BY_ID, 6);
    (void)strcpy(in_b[3].id, in_b[5].id);
    check("an id twice", ALIGNED_BY_ID, ALIGNED_NOT, 0);
}

static void test_sequence(void)
{
    fill_pair(&a, "abcdefghij", 'x', 100);
    fill_pair(&b, "abXdefgXhij", 'y', 900);
    check("one replaced, one added", ALIGNED_AUTO, ALIGNED_BY_SEQUENCE, 9);
    fill_pair(&b, "abcdeVWXYZ", 'y', 900);
    check("half", ALIGNED_AUTO, ALIGNED_BY_SEQUENCE, 5);
    fill_pair(&b, "abcdVWXYZU", 'y', 900);
    check("less than half", ALIGNED_AUTO, ALIGNED_NOT, 0);
    check("as asked", ALIGNED_BY_SEQUENCE, ALIGNED_BY_SEQUENCE, 4);
    check("none, as asked", ALIGNED_NOT, ALIGNED_NOT, 0);
    fill_pair(&a, "aaaaaaaa", 'x', 100);
    fill_pair(&b, "aaaaaaaa", 'y', 900);
    check("one kind of command tells nothing", ALIGNED_AUTO, ALIGNED_NOT, 0);
    fill_pair(&b, "abcdefgh", 'y', 900);
    fill_pair(&a, "a", 'x', 100);
    check("the first command of a plan", ALIGNED_AUTO, ALIGNED_BY_SEQUENCE, 1);
    fill_pair(&b, "", 'y', 900);
    check("nothing", ALIGNED_AUTO, ALIGNED_NOT, 0);
    fill_pair(&a, "ab", 'x', 100);
    fill_pair(&b, "ab", 'y', 900);
    in_b[0].rotation_rad += 4e-7;
    check("sizes have six decimals", ALIGNED_AUTO, ALIGNED_BY_SEQUENCE, 2);
    in_b[0].rotation_rad += 4e-7;
    check("another size", ALIGNED_AUTO, ALIGNED_BY_SEQUENCE, 1);
}

/* If several matches are as long, the earlier recording's command is skipped first. */
static void test_ties(void)
{
    fill_pair(&a, "spqe", 'x', 100);
    fill_pair(&b, "sqpe", 'y', 900);
    struct alignment found = align_row("swapped", ALIGNED_AUTO, ALIGNED_BY_SEQUENCE, 3);
    CHECK_INT("q is matched", found.matches[1].a, 2);
    CHECK_INT("q is matched", found.matches[1].b, 1);
    align_free(&found);
    fill_pair(&a, "sqpe", 'x', 900);
    fill_pair(&b, "spqe", 'y', 100);
    found = align_row("swapped, B is earlier", ALIGNED_AUTO, ALIGNED_BY_SEQUENCE, 3);
    CHECK_INT("q is matched", found.matches[1].a, 1);
    CHECK_INT("q is matched", found.matches[1].b, 2);
    align_free(&found);
}

static size_t draw_below(struct random_source *random, size_t below)
{
    return (size_t)(random_uniform(random) * (double)below);
}

static size_t count_longest(const char *x, const char *y)
{
    static size_t length[64][64];
    const size_t n = strlen(x);
    const size_t m = strlen(y);
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            const size_t up = i > 0 ? length[i - 1][j] : 0;
            const size_t left = j > 0 ? length[i][j - 1] : 0;
            length[i][j] = i == 0 || j == 0       ? 0
                           : x[i - 1] == y[j - 1] ? length[i - 1][j - 1] + 1
                           : up > left            ? up
                                                  : left;
        }
    }
    return length[n][m];
}

/* Random plans: the matches are equal commands in order, and as many as can be. */
static void test_random(void)
{
    struct random_source random = {.state = check_seed(5)};
    for (size_t run = 0; run < 300; run++) {
        char x[64];
        char y[64];
        char *const texts[] = {x, y};
        for (size_t k = 0; k < 2; k++) {
            const size_t n = 2 + draw_below(&random, 60);
            for (size_t i = 0; i < n; i++) {
                texts[k][i] = (char)('a' + (char)draw_below(&random, 2 + run % 5));
            }
            texts[k][n] = '\0';
        }
        fill_pair(&a, x, 'x', run % 2 ? 100 : 900);
        fill_pair(&b, y, 'y', 500);
        struct alignment found = align_row(
            "random", ALIGNED_BY_SEQUENCE,
            count_longest(x, y) > 0 ? ALIGNED_BY_SEQUENCE : ALIGNED_NOT, count_longest(x, y));
        for (size_t i = 0; i < found.count; i++) {
            CHECK("equal commands", x[found.matches[i].a] == y[found.matches[i].b]);
            CHECK("in order", i == 0 || (found.matches[i].a > found.matches[i - 1].a &&
                                         found.matches[i].b > found.matches[i - 1].b));
        }
        align_free(&found);
    }
}

/* Every fourth command differs: 25 million cells are compared, more are not. */
static void test_long(void)
{
    static char x[MANY];
    static char y[MANY];
    for (size_t n = 5000; n <= 5002; n += 2) {
        for (size_t i = 0; i < n; i++) {
            x[i] = (char)('a' + i % 3);
            y[i] = i % 4 ? x[i] : (char)('A' + i % 3);
        }
        x[n] = y[n] = '\0';
        x[n - 1] = 'v';
        y[n - 1] = 'w';
        fill_pair(&a, x, 'x', 100);
        fill_pair(&b, y, 'y', 100000);
        struct alignment found;
        CHECK("memory", align_find(&a, &b, ALIGNED_AUTO, &found) == STATUS_OK);
        CHECK_TEXT("long", alignment_rule_name(found.rule), n > 5000 ? "none" : "sequence");
        CHECK("a reason", n > 5000 ? found.why != NULL : found.count >= 3700);
        align_free(&found);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("align", NULL, NULL);
    CU_ADD_TEST(suite, test_recording);
    CU_ADD_TEST(suite, test_id);
    CU_ADD_TEST(suite, test_sequence);
    CU_ADD_TEST(suite, test_ties);
    CU_ADD_TEST(suite, test_random);
    CU_ADD_TEST(suite, test_long);
    return check_run();
}
