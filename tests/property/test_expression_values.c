/* Random expressions: the results of programs, one by one and by blocks, equal those of an
 * evaluator that reads the text by the grammar of docs/model/expressions.md and shares no code
 * with them; printed expressions read back the same. */
#include "tests/support/check.h"

#include "base/expression/expression_program.h"
#include "base/numbers/constants.h"
#include "base/numbers/random.h"

enum { ROUNDS = 3000, NUMBERS = 4, TRUTHS = 2, NAMES = NUMBERS + TRUTHS, TEXT = 6000 };

static const char *const names[NAMES] = {"x", "y", "z", "w", "p", "q"};

/* ---- the other evaluator ---- */

struct reader {
    const char *at;
    const double *values;
};

static double read_or(struct reader *r);

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ') {
        r->at++;
    }
}

static bool accept_sign(struct reader *r, const char *sign)
{
    skip_blanks(r);
    const size_t n = strlen(sign);
    const bool there = strncmp(r->at, sign, n) == 0;
    r->at += there ? n : 0;
    return there;
}

static bool is_truth(double x)
{
    return x > 0.0 || x < 0.0;
}

static double call_function(const char *name, const double *a)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"abs", fabs(a[0])},
        {"sign", (a[0] > 0.0) - (a[0] < 0.0)},
        {"sqrt", sqrt(a[0])},
        {"sin", sin(a[0])},
        {"cos", cos(a[0])},
        {"tan", tan(a[0])},
        {"atan", atan(a[0])},
        {"exp", exp(a[0])},
        {"log", log(a[0])},
        {"tanh", tanh(a[0])},
        {"floor", floor(a[0])},
        {"ceil", ceil(a[0])},
        {"round", floor(a[0] + 0.5)},
        {"wrap", a[0] - 2.0 * PI * floor((a[0] + PI) / (2.0 * PI))},
        {"atan2", atan2(a[0], a[1])},
        {"min", a[1] < a[0] ? a[1] : a[0]},
        {"max", a[1] > a[0] ? a[1] : a[0]},
        {"hypot", sqrt(a[0] * a[0] + a[1] * a[1])},
        {"clamp", a[0] < a[1]   ? a[1]
                  : a[0] > a[2] ? a[2]
                                : a[0]},
        {"if", is_truth(a[0]) ? a[1] : a[2]},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(name, rows[i].name) == 0) {
            return rows[i].value;
        }
    }
    CU_FAIL_FATAL("no such function");
    return NAN;
}

static double read_word(struct reader *r)
{
    char word[16] = "";
    double a[3] = {0.0, 0.0, 0.0};
    const size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyz2");
    CU_ASSERT_FATAL(n > 0 && n < sizeof word);
    memcpy(word, r->at, n);
    r->at += n;
    for (size_t i = 0; i < NAMES; i++) {
        if (strcmp(word, names[i]) == 0) {
            return r->values[i];
        }
    }
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        return word[0] == 't' ? 1.0 : 0.0;
    }
    CU_ASSERT_FATAL(accept_sign(r, "("));
    size_t count = 0;
    do {
        CU_ASSERT_FATAL(count < 3);
        a[count++] = read_or(r);
    } while (accept_sign(r, ","));
    CU_ASSERT_FATAL(accept_sign(r, ")"));
    return call_function(word, a);
}

static double read_atom(struct reader *r)
{
    skip_blanks(r);
    if (accept_sign(r, "(")) {
        const double value = read_or(r);
        CU_ASSERT_FATAL(accept_sign(r, ")"));
        return value;
    }
    if ((*r->at >= '0' && *r->at <= '9') || *r->at == '.') {
        char *end = NULL;
        const double value = strtod(r->at, &end);
        r->at = end;
        return value;
    }
    return read_word(r);
}

static double read_sign(struct reader *r);

static double read_power(struct reader *r)
{
    const double base = read_atom(r);
    return accept_sign(r, "^") ? pow(base, read_sign(r)) : base;
}

static double read_sign(struct reader *r)
{
    return accept_sign(r, "-") ? -read_sign(r) : read_power(r);
}

static double read_term(struct reader *r)
{
    double left = read_sign(r);
    for (;;) {
        if (accept_sign(r, "*")) {
            left = left * read_sign(r);
        } else if (accept_sign(r, "/")) {
            left = left / read_sign(r);
        } else if (accept_sign(r, "%")) {
            const double by = read_sign(r);
            const double m = fmod(left, by);
            left = m * by < 0.0 ? m + by : m;
        } else {
            return left;
        }
    }
}

static double read_sum(struct reader *r)
{
    double left = read_term(r);
    for (;;) {
        if (accept_sign(r, "+")) {
            left = left + read_term(r);
        } else if (accept_sign(r, "-")) {
            left = left - read_term(r);
        } else {
            return left;
        }
    }
}

static double read_comparison(struct reader *r)
{
    const double a = read_sum(r);
    double b = 0.0;
    if (accept_sign(r, "==")) {
        b = read_sum(r);
        return a <= b && a >= b;
    }
    if (accept_sign(r, "!=")) {
        b = read_sum(r);
        return !(a <= b && a >= b);
    }
    if (accept_sign(r, "<=")) {
        return a <= read_sum(r);
    }
    if (accept_sign(r, ">=")) {
        return a >= read_sum(r);
    }
    return accept_sign(r, "<") ? a < read_sum(r) : accept_sign(r, ">") ? a > read_sum(r) : a;
}

static double read_not(struct reader *r)
{
    skip_blanks(r);
    if (r->at[0] == '!' && r->at[1] != '=') {
        r->at++;
        return !is_truth(read_not(r));
    }
    return read_comparison(r);
}

static double read_and(struct reader *r)
{
    double left = read_not(r);
    while (accept_sign(r, "&&")) {
        const double right = read_not(r);
        left = is_truth(left) && is_truth(right);
    }
    return left;
}

static double read_or(struct reader *r)
{
    double left = read_and(r);
    while (accept_sign(r, "||")) {
        const double right = read_and(r);
        left = is_truth(left) || is_truth(right);
    }
    return left;
}

/* ---- random texts ---- */

struct writer {
    char text[TEXT];
    size_t used;
    struct random_source random;
};

static size_t draw_below(struct writer *w, size_t count)
{
    return (size_t)(random_uniform(&w->random) * (double)count) % count;
}

static void append_text(struct writer *w, const char *text)
{
    w->used += (size_t)snprintf(w->text + w->used, TEXT - w->used, "%s", text);
    CU_ASSERT_FATAL(w->used < TEXT);
}

static void append_truth(struct writer *w, int depth);

static void append_number(struct writer *w, int depth)
{
    static const char *const constants[] = {"0", "1", "2.5", ".25", "1e-3", "7"};
    static const char *const binary[] = {" + ", " - ", "*", "/", " % ", "^"};
    static const char *const unary[] = {"abs",   "sign", "sqrt",  "sin", "cos",
                                        "tan",   "atan", "exp",   "log", "tanh",
                                        "floor", "ceil", "round", "wrap"};
    static const char *const pairs[] = {"atan2", "min", "max", "hypot"};
    const size_t what = depth <= 0 ? draw_below(w, 4) : draw_below(w, 12);
    if (what < 3) {
        append_text(w, names[draw_below(w, NUMBERS)]);
    } else if (what == 3) {
        append_text(w, constants[draw_below(w, COUNT(constants))]);
    } else if (what == 4) {
        append_text(w, "-(");
        append_number(w, depth - 1);
        append_text(w, ")");
    } else if (what < 9) {
        const char *sign = binary[draw_below(w, COUNT(binary))];
        append_text(w, "(");
        append_number(w, depth - 1);
        append_text(w, ")");
        append_text(w, sign);
        append_text(w, draw_below(w, 2) ? "(-" : "(");
        append_number(w, depth - 1);
        append_text(w, ")");
    } else if (what == 9) {
        append_text(w, unary[draw_below(w, COUNT(unary))]);
        append_text(w, "(");
        append_number(w, depth - 1);
        append_text(w, ")");
    } else {
        append_text(w, what == 10         ? pairs[draw_below(w, COUNT(pairs))]
                       : draw_below(w, 2) ? "clamp"
                                          : "if");
        const bool chooses = w->text[w->used - 1] == 'f';
        append_text(w, "(");
        (chooses ? append_truth : append_number)(w, depth - 1);
        append_text(w, ", ");
        append_number(w, depth - 1);
        if (what == 11) {
            append_text(w, ", ");
            append_number(w, depth - 1);
        }
        append_text(w, ")");
    }
}

static void append_truth(struct writer *w, int depth)
{
    static const char *const comparisons[] = {" == ", " != ", " < ", " <= ", " > ", " >= "};
    const size_t what = depth <= 0 ? draw_below(w, 2) : draw_below(w, 6);
    if (what == 0) {
        append_text(w, names[NUMBERS + draw_below(w, TRUTHS)]);
    } else if (what == 1) {
        append_text(w, draw_below(w, 2) ? "true" : "false");
    } else if (what == 2) {
        append_text(w, "!");
        append_truth(w, depth - 1);
    } else if (what == 3) {
        append_number(w, depth - 1);
        append_text(w, comparisons[draw_below(w, COUNT(comparisons))]);
        append_number(w, depth - 1);
    } else {
        append_text(w, "(");
        append_truth(w, depth - 1);
        append_text(w, draw_below(w, 2) ? " && " : " || ");
        append_truth(w, depth - 1);
        append_text(w, ")");
    }
}

/* ---- */

static struct expression_pool pool;
static struct expression_program program;
static unsigned seed;

static bool is_same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static uint16_t parse_text(const char *text, bool wants_truth)
{
    struct err err = {0};
    uint16_t root = 0;
    expression_pool_start(&pool);
    for (size_t i = 0; i < NAMES; i++) {
        CU_ASSERT_FATAL(expression_declare(&pool, names[i],
                                           i < NUMBERS ? EXPRESSION_NUMBER : EXPRESSION_TRUTH,
                                           NULL, NULL) == STATUS_OK);
    }
    const bool taken =
        expression_parse(&pool, text, strlen(text), &root, &err) == STATUS_OK &&
        expression_check(&pool, root, wants_truth ? EXPRESSION_TRUTH : EXPRESSION_NUMBER,
                         &err) == STATUS_OK;
    if (!taken) {
        (void)printf("%s: %u: %s\n", text, err.column, err.text);
    }
    CU_ASSERT_FATAL(taken);
    return root;
}

/* Against blocks, and values that are registers: of each name a column. */
static void check_block(const char *text, uint16_t root, void *memory,
                        double values[NAMES][EXPRESSION_BLOCK])
{
    static struct expression_program whole;
    const double *columns[EXPRESSION_NAMES_MAX] = {NULL};
    static double out[1][EXPRESSION_STRIDE];
    static double of_whole[1][EXPRESSION_STRIDE];
    CU_ASSERT_FATAL(expression_compile(&pool, &root, NULL, 1, true, memory, &whole, NULL) ==
                    STATUS_OK);
    for (size_t i = 0; i < NAMES; i++) {
        columns[i] = values[i];
    }
    expression_run_block(&program, columns, out);
    expression_run_block(&whole, columns, of_whole);
    for (size_t k = 0; k < EXPRESSION_BLOCK; k++) {
        double one[NAMES];
        double want = NAN;
        for (size_t i = 0; i < NAMES; i++) {
            one[i] = values[i][k];
        }
        (void)expression_run(&program, one, UINT64_MAX, &want);
        double registers[EXPRESSION_FILE];
        double other = NAN;
        memcpy(registers + EXPRESSION_REGISTERS_MAX, one, sizeof one);
        expression_run_whole(&whole, registers, &other);
        CHECK(text, is_same(out[0][k], want) && is_same(other, want) &&
                        is_same(of_whole[0][k], want));
    }
}

static void check_values(const char *text, bool wants_truth, void *memory,
                         struct random_source *random)
{
    double values[NAMES][EXPRESSION_BLOCK];
    char printed[TEXT];
    char again[TEXT];
    uint16_t root = parse_text(text, wants_truth);
    CU_ASSERT_FATAL(expression_print(&pool, root, printed, sizeof printed) < sizeof printed);
    for (int pass = 0; pass < 2; pass++) {
        CU_ASSERT_FATAL(expression_compile(&pool, &root, NULL, 1, false, memory, &program,
                                           NULL) == STATUS_OK);
        for (size_t k = 0; k < EXPRESSION_BLOCK; k++) {
            double one[NAMES];
            double out = NAN;
            for (size_t i = 0; i < NAMES; i++) {
                const double x = 6.0 * random_uniform(random) - 3.0;
                one[i] = values[i][k] = i >= NUMBERS ? (x > 0.0) : k % 5 == i ? round(x) : x;
            }
            struct reader r = {text, one};
            const double want = read_or(&r);
            (void)expression_run(&program, one, UINT64_MAX, &out);
            CHECK(text, *r.at == '\0' && is_same(out, want));
        }
        check_block(text, root, memory, values);
        /* And what was printed is the same. */
        root = parse_text(printed, wants_truth);
        (void)expression_print(&pool, root, again, sizeof again);
        CHECK_TEXT("printed", again, printed);
    }
}

static void test_values(void)
{
    struct writer *w = malloc(sizeof *w);
    void *memory = malloc(expression_compiler_bytes());
    CU_ASSERT_FATAL(w && memory);
    w->random = random_stream(seed, 0);
    for (int round = 0; round < ROUNDS; round++) {
        w->used = 0;
        w->text[0] = '\0';
        (round % 3 == 0 ? append_truth : append_number)(w, 1 + round % 5);
        check_values(w->text, round % 3 == 0, memory, &w->random);
    }
    free(memory);
    free(w);
}

int main(void)
{
    seed = check_seed(1);
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("expression values", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    return check_run();
}
