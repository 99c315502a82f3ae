/* Expressions: their meaning, faults of others with their places, types, values that do not
 * exist, factors and derivatives. */
#include "tests/support/check.h"

#include "base/expression/expression_algebra.h"
#include "base/expression/expression_program.h"

static struct expression_pool pool;
static struct expression_program program;

static enum status read_text(const char *text, enum expression_type want, uint16_t *root,
                             struct err *err)
{
    const enum status st = expression_parse(&pool, text, strlen(text), root, err);
    return st == STATUS_OK ? expression_check(&pool, *root, want, err) : st;
}

static void start_pool(bool open, bool primes)
{
    pool.open = open;
    pool.primes = primes;
    expression_pool_start(&pool);
}

static void compile_root(const char *row, uint16_t root)
{
    struct err err = {0};
    void *memory = malloc(expression_compiler_bytes());
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    const enum status st =
        expression_compile(&pool, &root, NULL, 1, false, memory, &program, &err);
    CHECK_TEXT(row, err.text, "");
    CU_ASSERT_EQUAL_FATAL(st, STATUS_OK);
    free(memory);
}

/* x 3, y -2, b true, c false. */
static double evaluate_text(const char *text, enum expression_type want)
{
    struct err err = {0};
    double values[EXPRESSION_NAMES_MAX] = {3.0, -2.0, 1.0, 0.0};
    double out = NAN;
    uint16_t root = 0;
    start_pool(false, false);
    CHECK(text, expression_declare(&pool, "x", EXPRESSION_NUMBER, NULL, NULL) == STATUS_OK);
    CHECK(text, expression_declare(&pool, "y", EXPRESSION_NUMBER, NULL, NULL) == STATUS_OK);
    CHECK(text, expression_declare(&pool, "b", EXPRESSION_TRUTH, NULL, NULL) == STATUS_OK);
    CHECK(text, expression_declare(&pool, "c", EXPRESSION_TRUTH, NULL, NULL) == STATUS_OK);
    CHECK_INT(text, read_text(text, want, &root, &err), STATUS_OK);
    CHECK_TEXT(text, err.text, "");
    compile_root(text, root);
    CHECK_INT(text, expression_run(&program, values, 15, &out), EXPRESSION_ALL_THERE);
    return out;
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"1 + 2*3", 7.0},
        {"-2^2", -4.0},
        {"2^-1", 0.5},
        {"2^3^2", 512.0},
        {"2**3", 8.0},
        {"(1 + 2)*3", 9.0},
        {"7 - 2 - 1", 4.0},
        {"8/2/2", 2.0},
        {"- -x", 3.0},
        {"+x", 3.0},
        {"2 - -x*2", 8.0},
        {"7 % 4", 3.0},
        {"-7 % 4", 1.0},
        {"-7 mod -4", -3.0},
        {".5e1", 5.0},
        {"x·y × 2 ÷ 4 − 1", -4.0},
        {"abs(y) + sign(y) + sign(0)", 1.0},
        {"sqrt(16) + floor(-1.5) + ceil(-1.5) + round(2.5) + round(-2.5)", 2.0},
        {"min(x, y) + 10*max(x, y)", 28.0},
        {"hypot(3, 4)", 5.0},
        {"clamp(7, 1, 5) + clamp(0, 1, 5) + clamp(2, 1, 5)", 8.0},
        {"atan2(0, -1) - pi", 0.0},
        {"wrap(pi + 1) - (1 - pi)", 0.0},
        {"if(b, x, 1/0)", 3.0},
        {"if(x > 0 && c, 1, 2)", 2.0},
        {"exp(log(2)) + tanh(0) + sin(0)*cos(1)*tan(1) + atan(0)", 2.0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_NEAR(rows[i].text, evaluate_text(rows[i].text, EXPRESSION_NUMBER), rows[i].value,
                   0.0, 5e-16);
    }
    CHECK("infinite", isinf(evaluate_text("1/0", EXPRESSION_NUMBER)));
    CHECK("no number", isnan(evaluate_text("0/0", EXPRESSION_NUMBER)));
    CHECK("no rest", isnan(evaluate_text("1 % 0", EXPRESSION_NUMBER)));
    CHECK("minus zero", signbit(evaluate_text("-(x - 3)", EXPRESSION_NUMBER)));
}

static void test_truths(void)
{
    static const struct {
        const char *text;
        bool value;
    } rows[] = {
        {"b", true},
        {"!b || c", false},
        {"not b or not c", true},
        {"b and c", false},
        {"b ∧ ¬c", true},
        {"~c & b", true},
        {"!x > 4", true}, /* !(x > 4) */
        {"!x > 0", false},
        {"b || c && c", true},
        {"x = 3", true},
        {"x == 3 && y <> -3", true},
        {"x ~= 3", false},
        {"x ≠ 3 || y ≤ -2", true},
        {"x >= 3 && x ≥ 3 && x <= 3", true},
        {"b == !c", true},
        {"b != c", true},
        {"0/0 == 0/0", false},
        {"0/0 != 0/0", true},
        {"true && !false", true},
        {"defined(x)", true},
        {"if(b, c, b)", false},
        {"b()", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_NEAR(rows[i].text, evaluate_text(rows[i].text, EXPRESSION_TRUTH),
                   rows[i].value ? 1.0 : 0.0, 0.0, 0.0);
    }
}

static void test_faults(void)
{
    static const struct {
        const char *text;
        enum expression_type want;
        unsigned character;
        const char *code;
    } rows[] = {
        {"", 0, 1, "bad_syntax"},
        {"b and P >", 0, 10, "bad_syntax"},
        {"P -", 0, 4, "bad_syntax"},
        {"0 < C < 9", 0, 7, "bad_syntax"},
        {"a ≤ b b", 0, 7, "bad_syntax"},
        {"(a", 0, 3, "bad_syntax"},
        {"(a b)", 0, 4, "bad_syntax"},
        {"a * / b", 0, 5, "bad_syntax"},
        {"|x|", 0, 1, "bad_syntax"},
        {"a ? b", 0, 3, "bad_syntax"},
        {"a \"b\"", 0, 3, "bad_syntax"},
        {"f(x)", 0, 1, "unknown_name"},
        {"min(x)", 0, 1, "wrong_count"},
        {"1 + abs(x, y, z, u, v)", 0, 5, "wrong_count"},
        {"abs()", 0, 5, "bad_syntax"},
        {"defined(x + 1)", 0, 1, "bad_syntax"},
        {"I[i]", 0, 1, "bad_syntax"},
        {"I[1.5]", 0, 1, "bad_syntax"},
        {"1e999", 0, 1, "out_of_range"},
        {"5u", 0, 2, "bad_syntax"},
        {"a + abcdefghijklmnopqrstuvwxyz1234567", 0, 5, "too_long"},
        {"u' + 1", 0, 2, "bad_syntax"},
        {"b + 1 > 2 && b", 0, 14, "type_mismatch"},
        {"!p && p > 1", 0, 7, "type_mismatch"},
        {"x + 1", EXPRESSION_TRUTH, 3, "type_mismatch"},
        {"x > 1", EXPRESSION_NUMBER, 3, "type_mismatch"},
        {"(x > 1) + 1", EXPRESSION_NUMBER, 4, "type_mismatch"},
        {"\xff", 0, 1, "bad_syntax"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        uint16_t root = 77;
        start_pool(true, false);
        CHECK_INT(rows[i].text, read_text(rows[i].text, rows[i].want, &root, &err),
                  STATUS_E_PARSE);
        CHECK_TEXT(rows[i].text, fault_name(err.fault), rows[i].code);
        CHECK_INT(rows[i].text, err.column, rows[i].character);
    }
    struct err err = {0};
    uint16_t root = 0;
    start_pool(false, true);
    CHECK("u", expression_declare(&pool, "speed", EXPRESSION_NUMBER, NULL, NULL) == STATUS_OK);
    CHECK("u'",
          expression_declare(&pool, "speed'", EXPRESSION_NUMBER, NULL, NULL) == STATUS_OK);
    CHECK("prime", read_text("speed' + speed", 0, &root, &err) == STATUS_OK);
    CHECK("closed", read_text("2*sped", 0, &root, &err) == STATUS_E_PARSE);
    CHECK_TEXT("closed", fault_name(err.fault), "unknown_name");
    CHECK_TEXT("where", err.where, "2*sped");
}

static void test_names(void)
{
    struct err err = {0};
    start_pool(false, false);
    CHECK("fine", expression_declare(&pool, "a.b_1", 0, NULL, NULL) == STATUS_OK);
    CHECK_INT("twice", expression_declare(&pool, "a.b_1", 0, NULL, &err), STATUS_E_PARSE);
    CHECK_TEXT("twice", fault_name(err.fault), "duplicate_name");
    static const char *const none[] = {"", "1a", "a b", "a.", ".a", "a.1", "a'", "ä", "a-b"};
    for (size_t i = 0; i < COUNT(none); i++) {
        CHECK_INT(none[i], expression_declare(&pool, none[i], 0, NULL, NULL), STATUS_E_PARSE);
    }
    static const char *const words[] = {"and", "pi", "true", "abs", "if"};
    for (size_t i = 0; i < COUNT(words); i++) {
        CHECK_INT(words[i], expression_declare(&pool, words[i], 0, NULL, NULL), STATUS_E_PARSE);
    }
    for (int i = 1; i < EXPRESSION_NAMES_MAX; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%d", i);
        CHECK(name, expression_declare(&pool, name, 0, NULL, NULL) == STATUS_OK);
    }
    CHECK_INT("full", expression_declare(&pool, "more", 0, NULL, NULL), STATUS_E_FULL);
    CHECK_INT("find", expression_find(&pool, "n63"), 63);
    uint16_t root = 0;
    start_pool(true, false);
    CHECK("index", read_text("I[12] + I_12", 0, &root, NULL) == STATUS_OK);
    CHECK_INT("one name", pool.name_count, 1);
    CHECK_TEXT("its name", pool.names[0].text, "I_12");
}

/* text: opened count times, x, closed; and its fault. */
static const char *repeat_text(const char *open, const char *close, size_t count)
{
    static char text[EXPRESSION_BYTES_MAX + 2];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", open);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "x");
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", close);
    }
    return text;
}

static void test_limits(void)
{
    static const struct {
        const char *row, *open, *close;
        size_t fits;
        const char *code;
    } rows[] = {
        {"brackets", "(", ")", 63, "too_deep"},
        {"minus", "-", "", 63, "too_deep"},
        {"power", "2^", "", 63, "too_deep"},
        {"sum", "", "+x", 255, "too_long"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        uint16_t root = 0;
        start_pool(true, false);
        CHECK(rows[i].row, read_text(repeat_text(rows[i].open, rows[i].close, rows[i].fits), 0,
                                     &root, &err) == STATUS_OK);
        compile_root(rows[i].row, root);
        CHECK_INT(rows[i].row,
                  read_text(repeat_text(rows[i].open, rows[i].close, rows[i].fits + 1), 0,
                            &root, &err),
                  STATUS_E_PARSE);
        CHECK_TEXT(rows[i].row, fault_name(err.fault), rows[i].code);
    }
    struct err err = {0};
    uint16_t root = 0;
    start_pool(true, false);
    CHECK("long", expression_parse(&pool, repeat_text(" ", "", 8192), 8193, &root, &err) ==
                      STATUS_E_PARSE);
    CHECK_TEXT("long", fault_name(err.fault), "too_long");
    /* A full pool reports it, and stays intact. */
    enum status st = STATUS_OK;
    for (int i = 0; i < 200 && st == STATUS_OK; i++) {
        st = read_text(repeat_text("", "+x", 255), 0, &root, &err);
    }
    CHECK_INT("full", st, STATUS_E_PARSE);
    CHECK("full", pool.full);
}

static void test_undefined(void)
{
    static const struct {
        const char *text;
        int lacks; /* x 0, b 1; both without a value */
    } rows[] = {
        {"x > 0 && b", 0},
        {"b && x > 0", 1},
        {"false && x > 0", EXPRESSION_ALL_THERE},
        {"true || b", EXPRESSION_ALL_THERE},
        {"true && b", 1},
        {"if(true, 1, x) > 0", EXPRESSION_ALL_THERE},
        {"if(false, 1, x) > 0", 0},
        {"defined(x) && x > 0", EXPRESSION_ALL_THERE},
        {"!defined(b) || b", EXPRESSION_ALL_THERE},
        /* A name read only in a branch that was not executed must be read again. */
        {"(defined(x) && x > 0) || x > 0", 0},
        {"if(defined(x), x, 0) + x > 0", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double values[] = {1.0, 1.0};
        double out = 0.0;
        uint16_t root = 0;
        start_pool(false, false);
        CHECK("x", expression_declare(&pool, "x", 0, NULL, NULL) == STATUS_OK);
        CHECK("b", expression_declare(&pool, "b", EXPRESSION_TRUTH, NULL, NULL) == STATUS_OK);
        CHECK(rows[i].text,
              read_text(rows[i].text, EXPRESSION_TRUTH, &root, NULL) == STATUS_OK);
        compile_root(rows[i].text, root);
        CHECK_INT(rows[i].text, expression_run(&program, values, 0, &out), rows[i].lacks);
        CHECK_INT(rows[i].text, expression_run(&program, values, 3, &out),
                  EXPRESSION_ALL_THERE);
    }
    uint16_t root = 0;
    const double late[] = {3.0};
    double out = 0.0;
    start_pool(true, false);
    CHECK("after", read_text("after(2.5)", EXPRESSION_TRUTH, &root, NULL) == STATUS_OK);
    CHECK_TEXT("after", pool.names[0].text, "elapsed");
    compile_root("after", root);
    CHECK_INT("after", expression_run(&program, late, 1, &out), EXPRESSION_ALL_THERE);
    CHECK_NEAR("after", out, 1.0, 0.0, 0.0);
}

static void test_print(void)
{
    static const char *const rows[][2] = {
        {"!C > 0", "!(C > 0)"},
        {"((a))*(b + (c))", "a*(b + c)"},
        {"a-(b-c)-d", "a - (b - c) - d"},
        {"a/(b*c)/d", "a/(b*c)/d"},
        {"(-a)^2 - -b^2", "(-a)^2 - -b^2"},
        {"(a^b)^c + a^b^c + 2^-x", "(a^b)^c + a^b^c + 2^-x"},
        {"p and (q or r)", "p && (q || r)"},
        {"(a < b) == (c < d)", "(a < b) == (c < d)"},
        {"if ( p , 1 , 0.1 ) + min(a,b)", "if(p, 1, 0.1) + min(a, b)"},
        {"! (p && q) || !p", "!(p && q) || !p"},
        {"1e300*0.30000000000000004", "1e+300*0.30000000000000004"},
        {"after(2) && defined(v) && true", "after(2) && defined(v) && true"},
        {"(!p) == q && p == !q", "(!p) == q && p == (!q)"},
        {"a % b", "a % b"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint16_t root = 0;
        char text[256];
        start_pool(true, false);
        CHECK(rows[i][0], expression_parse(&pool, rows[i][0], strlen(rows[i][0]), &root,
                                           NULL) == STATUS_OK);
        CHECK_INT(rows[i][0], expression_print(&pool, root, text, sizeof text),
                  strlen(rows[i][1]));
        CHECK_TEXT(rows[i][0], text, rows[i][1]);
        CHECK_INT(rows[i][0], expression_print(&pool, root, text, 3), strlen(rows[i][1]));
        CHECK_INT(rows[i][0], strlen(text), 2);
    }
}

static void test_tex(void)
{
    static const char *const rows[][2] = {
        {"a*(b - c)/d^2", "\\frac{a \\, \\left(b - c\\right)}{d^{2}}"},
        {"(a + b)^(c - d) + abs(a)", "\\left(a + b\\right)^{c - d} + \\left|a\\right|"},
        {"sin(a)", "\\operatorname{sin}\\left(a\\right)"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint16_t root = 0;
        char text[256];
        start_pool(true, false);
        CHECK(rows[i][0], expression_parse(&pool, rows[i][0], strlen(rows[i][0]), &root,
                                           NULL) == STATUS_OK);
        CHECK_INT(rows[i][0], expression_print_tex(&pool, root, text, sizeof text),
                  strlen(rows[i][1]));
        CHECK_TEXT(rows[i][0], text, rows[i][1]);
    }
}

/* Unknowns a and b. */
static void test_split(void)
{
    static const struct {
        const char *text, *a, *b, *rest, *fault;
    } rows[] = {
        {"a*u - b*v*r + a", "u + 1", "-(v*r)", "0", NULL},
        {"(b - a)*u*v", "-u*v", "u*v", "0", NULL},
        {"u*(a/v) + 3", "u*(1/v)", "0", "3", NULL},
        {"-(a + u)/r", "-1/r", "0", "-u/r", NULL},
        {"u", "0", "0", "u", NULL},
        {"a*b", NULL, NULL, NULL, "nonlinear_term"},
        {"u + sin(a)", NULL, NULL, NULL, "nonlinear_term"},
        {"u/a", NULL, NULL, NULL, "nonlinear_term"},
        {"b^2", NULL, NULL, NULL, "nonlinear_term"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        const uint8_t variables[] = {0, 1};
        uint16_t factors[2] = {0};
        uint16_t rest = 0;
        uint16_t root = 0;
        char text[64];
        start_pool(true, false);
        CHECK("a", expression_declare(&pool, "a", EXPRESSION_NUMBER, NULL, NULL) == STATUS_OK);
        CHECK("b", expression_declare(&pool, "b", EXPRESSION_NUMBER, NULL, NULL) == STATUS_OK);
        CHECK(rows[i].text, read_text(rows[i].text, 0, &root, NULL) == STATUS_OK);
        const enum status st =
            expression_split(&pool, root, variables, 2, "unknowns", factors, &rest, &err);
        CHECK_INT(rows[i].text, st, rows[i].fault ? STATUS_E_PARSE : STATUS_OK);
        CHECK_TEXT(rows[i].text, fault_name(err.fault), rows[i].fault ? rows[i].fault : "none");
        if (rows[i].fault) {
            continue;
        }
        (void)expression_print(&pool, factors[0], text, sizeof text);
        CHECK_TEXT(rows[i].text, text, rows[i].a);
        (void)expression_print(&pool, factors[1], text, sizeof text);
        CHECK_TEXT(rows[i].text, text, rows[i].b);
        (void)expression_print(&pool, rest, text, sizeof text);
        CHECK_TEXT(rows[i].text, text, rows[i].rest);
    }
}

static double value_at(uint16_t root, double x)
{
    const double values[] = {x};
    double out = NAN;
    compile_root("derivative", root);
    (void)expression_run(&program, values, 1, &out);
    return out;
}

static void test_derivatives(void)
{
    static const char *const rows[] = {
        "x^3 - 2*x^2 + x",
        "sin(x)*cos(2*x)",
        "tanh(x/0.3)",
        "exp(-x^2)",
        "log(x + 9)",
        "sqrt(x + 9)",
        "1/(1 + x^2)",
        "atan(2*x)",
        "tan(x)",
        "abs(x)*x",
        "atan2(x, 3)",
        "hypot(x, 2)",
        "min(x, 2*x)",
        "max(x, 2*x)",
        "clamp(3*x, -1, 1)",
        "if(x > 0, x^2, x)",
        "wrap(3*x)",
        "x % 5",
        "2^3*x",
        "-x^1",
        "(x + 9)^2.5",
        "sign(x)*floor(x) + ceil(x) + round(x)",
    };
    static const double points[] = {-1.3, -0.21, 0.17, 0.9};
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t k = 0; k < COUNT(points); k++) {
            const double h = 1e-6;
            uint16_t root = 0;
            uint16_t slope = 0;
            start_pool(true, false);
            CHECK("x",
                  expression_declare(&pool, "x", EXPRESSION_NUMBER, NULL, NULL) == STATUS_OK);
            CHECK(rows[i], read_text(rows[i], EXPRESSION_NUMBER, &root, NULL) == STATUS_OK);
            CHECK(rows[i], expression_differentiate(&pool, root, 0, &slope, NULL) == STATUS_OK);
            const double near =
                (value_at(root, points[k] + h) - value_at(root, points[k] - h)) / (2.0 * h);
            CHECK_NEAR(rows[i], value_at(slope, points[k]), near, 1e-7, 1e-7);
        }
    }
    struct err err = {0};
    uint16_t root = 0;
    uint16_t slope = 9;
    start_pool(true, false);
    CHECK("2^x", read_text("2^x", EXPRESSION_NUMBER, &root, NULL) == STATUS_OK);
    CHECK_INT("2^x", expression_differentiate(&pool, root, 0, &slope, &err), STATUS_E_PARSE);
    CHECK_TEXT("2^x", fault_name(err.fault), "no_derivative");
    CHECK_INT("2^x", slope, 9);
}

/* Equal terms are computed once, and what does not change, never. */
static void test_code(void)
{
    uint16_t root = 0;
    start_pool(true, false);
    CHECK("sum", read_text("sin(x)*y + sin(x)*y + 2*3", 0, &root, NULL) == STATUS_OK);
    compile_root("sum", root);
    CHECK_INT("load x, sin, load y, times, plus, 6, plus, store", program.count, 8);
    CHECK_INT("constants", program.constant_count, 3);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("expression", NULL, NULL);
    CU_add_test(suite, "numbers", test_numbers);
    CU_add_test(suite, "truths", test_truths);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "undefined", test_undefined);
    CU_add_test(suite, "print", test_print);
    CU_add_test(suite, "TeX", test_tex);
    CU_add_test(suite, "split", test_split);
    CU_add_test(suite, "derivatives", test_derivatives);
    CU_add_test(suite, "code", test_code);
    return check_run();
}
