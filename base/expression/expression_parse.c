/* base/expression/expression_parse.c - from text to a tree, by operator precedence and without
 * backtracking (V. Pratt, Top down operator precedence, 1973).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/expression/expression.h"
#include "base/numbers/constants.h"
#include "base/numbers/number.h"
#include "base/text/edit_distance.h"
#include "base/text/utf8.h"

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN };

enum { SIGN_BYTES = 3 };

struct token {
    enum token_kind kind;
    char text[EXPRESSION_NAME_MAX + 2]; /* a name or sign, in the language's own spelling */
    double number;
    unsigned character; /* 1-based */
};

struct parser {
    struct expression_pool *pool;
    const char *text;
    size_t bytes, at;
    unsigned character; /* 1-based, of at */
    struct token token; /* the next token, not yet consumed */
    unsigned depth, operations;
    struct err *err;
    enum status status;
};

/* Binding strength of signs; 0 for signs that do not stand between two terms. */
enum {
    BINDS_OR = 10,
    BINDS_AND = 20,
    BINDS_NOT = 30,
    BINDS_COMPARISON = 40,
    BINDS_SUM = 50,
    BINDS_PRODUCT = 60,
    BINDS_MINUS = 65,
    BINDS_POWER = 80
};

static const struct operation {
    const char *sign;
    enum expression_kind kind;
    int binds;
} operations[] = {
    {"||", EXPRESSION_OR, BINDS_OR},
    {"&&", EXPRESSION_AND, BINDS_AND},
    {"==", EXPRESSION_EQUAL, BINDS_COMPARISON},
    {"=", EXPRESSION_EQUAL, BINDS_COMPARISON},
    {"!=", EXPRESSION_UNEQUAL, BINDS_COMPARISON},
    {"<", EXPRESSION_LESS, BINDS_COMPARISON},
    {"<=", EXPRESSION_LESS_EQUAL, BINDS_COMPARISON},
    {">", EXPRESSION_GREATER, BINDS_COMPARISON},
    {">=", EXPRESSION_GREATER_EQUAL, BINDS_COMPARISON},
    {"+", EXPRESSION_ADD, BINDS_SUM},
    {"-", EXPRESSION_SUBTRACT, BINDS_SUM},
    {"*", EXPRESSION_MULTIPLY, BINDS_PRODUCT},
    {"/", EXPRESSION_DIVIDE, BINDS_PRODUCT},
    {"%", EXPRESSION_MODULO, BINDS_PRODUCT},
    {"^", EXPRESSION_POWER, BINDS_POWER},
};

/* Other spellings of a sign, longer ones first. */
static const struct spelling {
    const char *text, *sign;
} spellings[] = {
    {"&&", "&&"}, {"||", "||"}, {"==", "=="}, {"!=", "!="}, {"~=", "!="}, {"<>", "!="},
    {"<=", "<="}, {">=", ">="}, {"**", "^"},  {"∧", "&&"},  {"∨", "||"},  {"≠", "!="},
    {"≤", "<="},  {"≥", ">="},  {"−", "-"},   {"–", "-"},   {"·", "*"},   {"×", "*"},
    {"÷", "/"},   {"¬", "!"},   {"&", "&&"},  {"=", "="},   {"~", "~"},   {"!", "!"},
    {"<", "<"},   {">", ">"},   {"+", "+"},   {"-", "-"},   {"*", "*"},   {"/", "/"},
    {"%", "%"},   {"^", "^"},   {"(", "("},   {")", ")"},   {"[", "["},   {"]", "]"},
    {",", ","},   {"|", "|"},
};

static const struct spelling words[] = {
    {"and", "&&"}, {"or", "||"}, {"not", "!"}, {"mod", "%"}};

/* ---- faults: the first one counts, and parsing then sees the end of the text ---- */

static void blame_text(struct parser *p, unsigned character, enum fault fault, const char *what)
{
    if (p->status == STATUS_OK) {
        p->status = err_set_at(p->err, STATUS_E_PARSE, fault, "", 0, character, "%s", what);
        if (p->err) {
            const int most = (int)(p->bytes < ERR_WHERE_MAX ? p->bytes : ERR_WHERE_MAX - 1);
            (void)snprintf(p->err->where, sizeof p->err->where, "%.*s", most, p->text);
            (void)utf8_tame(p->err->where);
        }
    }
    p->at = p->bytes;
    p->token = (struct token){.kind = TOKEN_END, .character = character};
}

static void blame_token(struct parser *p, const char *format)
{
    char what[ERR_TEXT_MAX];
    /* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): formats of this file */
    (void)snprintf(what, sizeof what, "'%s' %s", p->token.text, format);
    blame_text(p, p->token.character, FAULT_BAD_SYNTAX, what);
}

/* ---- tokens ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Line ends within the text are not blanks, because the parser must report them. */
static size_t measure_blank(const struct parser *p)
{
    static const char hard_space[] = "\xc2\xa0";
    const char *text = p->text + p->at;
    const size_t left = p->bytes - p->at;
    if (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r') {
        return 1;
    }
    return left >= 2 && memcmp(text, hard_space, 2) == 0 ? 2 : 0;
}

static void scan_number(struct parser *p)
{
    const char *from = p->text + p->at;
    const char *end = number_scan(from, p->text + p->bytes, &p->token.number);
    const size_t bytes = (size_t)(end - from);
    p->token.kind = TOKEN_NUMBER;
    (void)snprintf(p->token.text, sizeof p->token.text, "%.*s", (int)(bytes < 24 ? bytes : 24),
                   from);
    if (bytes == 0 || !isfinite(p->token.number)) {
        blame_text(p, p->character, FAULT_OUT_OF_RANGE, "this number is too long or too large");
        return;
    }
    p->at += bytes;
    p->character += (unsigned)bytes;
}

static void scan_name(struct parser *p)
{
    const char *from = p->text + p->at;
    const size_t left = p->bytes - p->at;
    char name[EXPRESSION_NAME_MAX + 2] = "";
    size_t n = 0;
    /* Extend the sign while the longer text is still a sign of the language. */
    while (n < left && n <= EXPRESSION_NAME_MAX) {
        const char c = from[n];
        const bool dot = c == '.' && n + 1 < left &&
                         expression_is_name((const char[]){from[n + 1], '\0'}, false);
        name[n] = c;
        if (!dot && !(is_digit(c) && n > 0 && name[n - 1] != '.') &&
            !expression_is_name((const char[]){c, '\0'}, false)) {
            break;
        }
        n++;
    }
    n += p->pool->primes && n < left && from[n] == '\'' ? 1 : 0;
    name[n <= EXPRESSION_NAME_MAX ? n : EXPRESSION_NAME_MAX + 1] = '\0';
    if (n > EXPRESSION_NAME_MAX) {
        blame_text(p, p->character, FAULT_TOO_LONG, "this name is longer than 32 characters");
        return;
    }
    p->token.kind = TOKEN_NAME;
    memcpy(p->token.text, name, n + 1);
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(name, words[i].text) == 0) {
            p->token.kind = TOKEN_SIGN;
            (void)snprintf(p->token.text, SIGN_BYTES, "%s", words[i].sign);
        }
    }
    p->at += n;
    p->character += (unsigned)n;
}

static void scan_sign(struct parser *p)
{
    const char *from = p->text + p->at;
    const size_t left = p->bytes - p->at;
    uint32_t code = 0;
    for (size_t i = 0; i < COUNT(spellings); i++) {
        const size_t n = strlen(spellings[i].text);
        if (n <= left && memcmp(from, spellings[i].text, n) == 0) {
            p->token.kind = TOKEN_SIGN;
            (void)snprintf(p->token.text, SIGN_BYTES, "%s", spellings[i].sign);
            p->at += n;
            p->character += (unsigned)((unsigned char)from[0] < 0x80 ? n : 1);
            return;
        }
    }
    const size_t n = utf8_next(from, left, &code);
    char what[64];
    (void)snprintf(what, sizeof what, "'%.*s' has no meaning here",
                   n > 0 && utf8_is_printable(code) ? (int)n : 1,
                   n > 0 && utf8_is_printable(code) ? from : "?");
    blame_text(p, p->character, FAULT_BAD_SYNTAX, what);
}

static void read_token(struct parser *p)
{
    size_t blank = 0;
    while (p->at < p->bytes && (blank = measure_blank(p)) > 0) {
        p->at += blank;
        p->character++;
    }
    p->token = (struct token){.kind = TOKEN_END, .character = p->character};
    if (p->at == p->bytes) {
        return;
    }
    const char *from = p->text + p->at;
    const bool point = *from == '.' && p->at + 1 < p->bytes && is_digit(from[1]);
    if (is_digit(*from) || point) {
        scan_number(p);
    } else if (expression_is_name((const char[]){*from, '\0'}, false)) {
        scan_name(p);
    } else {
        scan_sign(p);
    }
}

static bool sees_sign(const struct parser *p, const char *sign)
{
    return p->token.kind == TOKEN_SIGN && strcmp(p->token.text, sign) == 0;
}

static void want_sign(struct parser *p, const char *sign)
{
    char what[64];
    if (sees_sign(p, sign)) {
        read_token(p);
    } else if (p->token.kind == TOKEN_END) {
        (void)snprintf(what, sizeof what, "'%s' expected at the end", sign);
        blame_text(p, p->token.character, FAULT_BAD_SYNTAX, what);
    } else {
        (void)snprintf(what, sizeof what, "'%s' expected before '%s'", sign, p->token.text);
        blame_text(p, p->token.character, FAULT_BAD_SYNTAX, what);
    }
}

/* ---- the tree ---- */

static uint16_t parse_terms(struct parser *p, int binds);

static uint16_t place_node(struct parser *p, uint16_t node, unsigned character)
{
    if (++p->operations > EXPRESSION_OPERATIONS_MAX) {
        blame_text(p, character, FAULT_TOO_LONG, "longer than 512 operations");
        return 0;
    }
    if (p->pool->full) {
        blame_text(p, character, FAULT_TOO_LONG,
                   "all of the expressions together are too long");
        return 0;
    }
    if (node > 0) {
        p->pool->nodes[node].character = (uint16_t)character;
    }
    return node;
}

static uint16_t use_name(struct parser *p, const char *name, unsigned character)
{
    struct expression_pool *pool = p->pool;
    size_t at = expression_find(pool, name);
    if (at == pool->name_count && pool->open) {
        struct err err = {0};
        if (expression_declare(pool, name, EXPRESSION_ANY, &at, &err) != STATUS_OK) {
            blame_text(p, character, err.fault, err.text);
            return 0;
        }
    }
    if (at == pool->name_count) {
        struct edit_guess guess = {0};
        char meant[EDIT_GUESS_MAX];
        char what[ERR_TEXT_MAX];
        for (size_t i = 0; i < pool->name_count; i++) {
            edit_guess_try(&guess, name, pool->names[i].text);
        }
        (void)snprintf(what, sizeof what, "there is no %s%s", name,
                       edit_guess_text(&guess, meant));
        blame_text(p, character, FAULT_UNKNOWN_NAME, what);
        return 0;
    }
    return place_node(p, expression_of_name(pool, at), character);
}

static enum expression_kind find_function(const char *name)
{
    for (int k = EXPRESSION_ABS; k < EXPRESSION_KIND_COUNT; k++) {
        if (strcmp(name, expression_function((enum expression_kind)k)->name) == 0) {
            return (enum expression_kind)k;
        }
    }
    return EXPRESSION_KIND_COUNT;
}

static uint16_t parse_call(struct parser *p, const struct token *name,
                           enum expression_kind kind)
{
    const struct expression_function *f = expression_function(kind);
    uint16_t arguments[EXPRESSION_ARGUMENTS_MAX] = {0};
    char what[ERR_TEXT_MAX];
    size_t count = 0;
    do {
        read_token(p);
        const uint16_t node = parse_terms(p, 0);
        if (count < COUNT(arguments)) {
            arguments[count] = node;
        }
        count++;
    } while (sees_sign(p, ","));
    want_sign(p, ")");
    if (p->status == STATUS_OK && count != f->arguments) {
        (void)snprintf(what, sizeof what, "%s() takes %zu, not %zu", f->name, f->arguments,
                       count);
        blame_text(p, name->character, FAULT_WRONG_COUNT, what);
    }
    if (kind == EXPRESSION_DEFINED && p->status == STATUS_OK &&
        p->pool->nodes[arguments[0]].kind != EXPRESSION_NAME) {
        blame_text(p, name->character, FAULT_BAD_SYNTAX,
                   "defined() takes the name of a variable");
    }
    if (kind == EXPRESSION_AFTER && p->status == STATUS_OK) {
        arguments[1] = use_name(p, "elapsed", name->character);
    }
    return p->status == STATUS_OK ? place_node(p,
                                               expression_make(p->pool, kind, arguments[0],
                                                               arguments[1], arguments[2]),
                                               name->character)
                                  : 0;
}

/* "plan1()" is the truth value plan1, which is computed elsewhere. */
static uint16_t parse_bracket(struct parser *p, const struct token *name)
{
    const enum expression_kind kind = find_function(name->text);
    char what[ERR_TEXT_MAX];
    if (kind < EXPRESSION_KIND_COUNT) {
        return parse_call(p, name, kind);
    }
    read_token(p);
    if (!sees_sign(p, ")")) {
        (void)snprintf(what, sizeof what, "there is no function '%s'", name->text);
        blame_text(p, name->character, FAULT_UNKNOWN_NAME, what);
        return 0;
    }
    read_token(p);
    return use_name(p, name->text, name->character);
}

/* "I[1]" means the name I_1. */
static uint16_t parse_index(struct parser *p, const struct token *name)
{
    char indexed[EXPRESSION_NAME_MAX + 24];
    const struct token *index = &p->token;
    read_token(p);
    const bool whole = index->kind == TOKEN_NUMBER && index->number < 1e6 &&
                       floor(index->number) >= index->number;
    if (!whole) {
        blame_text(p, name->character, FAULT_BAD_SYNTAX,
                   "an index must be a whole number here; tables are not part of the language");
        return 0;
    }
    (void)snprintf(indexed, sizeof indexed, "%s_%.0f", name->text, index->number);
    read_token(p);
    want_sign(p, "]");
    if (p->status == STATUS_OK && strlen(indexed) > EXPRESSION_NAME_MAX) {
        blame_text(p, name->character, FAULT_TOO_LONG,
                   "this name is longer than 32 characters");
    }
    return p->status == STATUS_OK ? use_name(p, indexed, name->character) : 0;
}

static uint16_t parse_name(struct parser *p, const struct token *name)
{
    struct expression_pool *pool = p->pool;
    const bool truth = strcmp(name->text, "true") == 0;
    if (sees_sign(p, "(")) {
        return parse_bracket(p, name);
    }
    if (sees_sign(p, "[")) {
        return parse_index(p, name);
    }
    if (truth || strcmp(name->text, "false") == 0) {
        const uint16_t node = expression_make(pool, EXPRESSION_VALUE, 0, 0, 0);
        pool->nodes[node].number = truth && node > 0 ? 1.0 : 0.0;
        return place_node(p, node, name->character);
    }
    if (strcmp(name->text, "pi") == 0) {
        return place_node(p, expression_number(pool, PI), name->character);
    }
    return use_name(p, name->text, name->character);
}

static uint16_t parse_unary(struct parser *p, const struct token *sign)
{
    if (strcmp(sign->text, "(") == 0) {
        const uint16_t node = parse_terms(p, 0);
        want_sign(p, ")");
        return node;
    }
    if (strcmp(sign->text, "-") == 0) {
        const uint16_t node = parse_terms(p, BINDS_MINUS);
        return place_node(p, expression_make(p->pool, EXPRESSION_NEGATE, node, 0, 0),
                          sign->character);
    }
    if (strcmp(sign->text, "+") == 0) {
        return parse_terms(p, BINDS_MINUS);
    }
    if (strcmp(sign->text, "!") == 0 || strcmp(sign->text, "~") == 0) {
        const uint16_t node = parse_terms(p, BINDS_NOT);
        return place_node(p, expression_make(p->pool, EXPRESSION_NOT, node, 0, 0),
                          sign->character);
    }
    p->token = *sign;
    if (strcmp(sign->text, "|") == 0) {
        blame_text(p, sign->character, FAULT_BAD_SYNTAX, "write abs(x) for |x|");
    } else {
        blame_token(p, "is not allowed here");
    }
    return 0;
}

static uint16_t parse_first(struct parser *p)
{
    const struct token token = p->token;
    if (token.kind == TOKEN_END) {
        blame_text(p, token.character, FAULT_BAD_SYNTAX, "something is missing here");
        return 0;
    }
    read_token(p);
    if (p->status != STATUS_OK) {
        return 0;
    }
    if (token.kind == TOKEN_NUMBER) {
        return place_node(p, expression_number(p->pool, token.number), token.character);
    }
    return token.kind == TOKEN_NAME ? parse_name(p, &token) : parse_unary(p, &token);
}

static const struct operation *find_operation(const struct parser *p, int binds)
{
    for (size_t i = 0; i < COUNT(operations) && p->token.kind == TOKEN_SIGN; i++) {
        if (strcmp(p->token.text, operations[i].sign) == 0) {
            return operations[i].binds > binds ? &operations[i] : NULL;
        }
    }
    return NULL;
}

/* Parses all terms that bind more strongly than `binds`. */
static uint16_t parse_terms(struct parser *p, int binds)
{
    bool compared = false;
    const struct operation *operation = NULL;
    if (++p->depth > EXPRESSION_DEPTH_MAX) {
        blame_text(p, p->token.character, FAULT_TOO_DEEP, "nested deeper than 64");
    }
    uint16_t left = parse_first(p);
    while (p->status == STATUS_OK && (operation = find_operation(p, binds))) {
        const unsigned character = p->token.character;
        if (operation->binds == BINDS_COMPARISON && compared) {
            blame_text(p, character, FAULT_BAD_SYNTAX,
                       "comparisons do not chain: write a < b && b < c");
            break;
        }
        compared = compared || operation->binds == BINDS_COMPARISON;
        read_token(p);
        const uint16_t right = parse_terms(
            p, operation->binds == BINDS_POWER ? BINDS_POWER - 1 : operation->binds);
        left =
            place_node(p, expression_make(p->pool, operation->kind, left, right, 0), character);
    }
    p->depth--;
    return p->status == STATUS_OK ? left : 0;
}

enum status expression_parse(struct expression_pool *pool, const char *text, size_t bytes,
                             uint16_t *root, struct err *err)
{
    struct parser p = {.pool = pool, .text = text, .bytes = bytes, .character = 1, .err = err};
    if (bytes > EXPRESSION_BYTES_MAX) {
        p.bytes = 0;
        blame_text(&p, 0, FAULT_TOO_LONG, "longer than 8192 bytes");
        return p.status;
    }
    read_token(&p);
    const uint16_t node = parse_terms(&p, 0);
    if (p.status == STATUS_OK && p.token.kind != TOKEN_END) {
        blame_token(&p, "was not expected");
    }
    if (p.status == STATUS_OK) {
        *root = node;
    }
    return p.status;
}
