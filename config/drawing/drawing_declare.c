/* config/drawing/drawing_declare.c - reads the note that names a machine and declares its
 * inputs, outputs and constants.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/expression/expression_program.h"
#include "config/drawing/drawing_parts.h"
#include "config/drawing/drawing_text.h"

static const char wanted[] =
    "machine, purpose, inputs, variables, outputs, constants, clocked or otherwise";

/* Computes a tree without names. The parser has bounded its depth. */
static double compute_node(const struct expression_pool *pool, uint16_t node)
{
    const struct expression_node *n = &pool->nodes[node];
    const enum expression_kind kind = (enum expression_kind)n->kind;
    double a[EXPRESSION_ARGUMENTS_MAX] = {0.0};
    if (kind == EXPRESSION_CONSTANT || kind == EXPRESSION_VALUE) {
        return n->number;
    }
    for (size_t i = 0; i < expression_arguments(kind); i++) {
        a[i] = compute_node(pool, n->arguments[i]);
    }
    return expression_apply(kind, a[0], a[1], a[2]);
}

/* A declared value may be computed, but from numbers only. */
static bool read_value(struct drawing_page *page, struct drawing_cell *note,
                       struct machine_words words, double *value, bool *truth)
{
    struct expression_pool *pool = page->scratch;
    struct err err = {0};
    uint16_t root = 0;
    pool->open = false;
    expression_pool_start(pool);
    enum status st = expression_parse(pool, words.text, words.bytes, &root, &err);
    if (st == STATUS_OK) {
        *truth = drawing_is_truth(pool, root);
        st = expression_check(pool, root, *truth ? EXPRESSION_TRUTH : EXPRESSION_NUMBER, &err);
    }
    if (st != STATUS_OK) {
        return drawing_blame(page, "E-EXPR", note, "'%.*s', character %u: %s", (int)words.bytes,
                             words.text, err.column, err.text);
    }
    *value = compute_node(pool, root);
    return true;
}

/* Removes " (truth)" or " (number)" from a name. */
static enum expression_type parse_type(struct machine_words *name)
{
    static const struct {
        const char *text;
        enum expression_type type;
    } types[] = {{"(truth)", EXPRESSION_TRUTH}, {"(number)", EXPRESSION_NUMBER}};
    for (size_t i = 0; i < COUNT(types); i++) {
        const size_t n = strlen(types[i].text);
        if (name->bytes > n && memcmp(name->text + name->bytes - n, types[i].text, n) == 0) {
            name->bytes -= n;
            *name = machine_words_trim(*name);
            return types[i].type;
        }
    }
    return EXPRESSION_ANY;
}

/* Reads one declaration, such as "P (number) = 3". */
static void declare_item(struct drawing_page *page, struct drawing_cell *note,
                         enum machine_role role, struct machine_words item)
{
    const char *equals = memchr(item.text, '=', item.bytes);
    struct machine_words value = {item.text + item.bytes, 0};
    double number = 0.0;
    bool truth = false;
    if (equals) {
        value.text = equals + 1;
        value.bytes = item.bytes - (size_t)(equals + 1 - item.text);
        item.bytes = (size_t)(equals - item.text);
    }
    value = machine_words_trim(value);
    item = machine_words_trim(item);
    enum expression_type type = parse_type(&item);
    const char *name = drawing_copy(page->m, item.text, item.bytes);
    if (value.bytes > 0) {
        if (!read_value(page, note, value, &number, &truth)) {
            return;
        }
        const enum expression_type given = truth ? EXPRESSION_TRUTH : EXPRESSION_NUMBER;
        if (type != EXPRESSION_ANY && type != given) {
            drawing_blame(page, "E-DECLARATION", note, "'%.*s' of %s is no %s",
                          (int)value.bytes, value.text, name,
                          type == EXPRESSION_TRUTH ? "truth" : "number");
            return;
        }
        type = given;
    }
    (void)machine_draft_declare(page->draft, role, name, type, value.bytes > 0 ? &number : NULL,
                                drawing_place(page, note));
}

static bool is_word(struct machine_words words, const char *word)
{
    bool same = words.bytes == strlen(word);
    for (size_t i = 0; same && i < words.bytes; i++) {
        const char c = words.text[i];
        same = (c >= 'A' && c <= 'Z' ? c | 0x20 : c) == word[i];
    }
    return same;
}

static const char *copy_words(struct drawing_page *page, struct machine_words words,
                              size_t most)
{
    return machine_draft_store_text(page->draft, words.text,
                                    words.bytes < most ? words.bytes : most);
}

/* The page and generated code use the name, so other characters become _. */
static void name_machine(struct drawing_page *page, struct machine_words words)
{
    char name[MACHINE_NAME_MAX + 1] = "";
    size_t n = 0;
    bool other = false;
    for (size_t i = 0; i < words.bytes && n < MACHINE_NAME_MAX; i++) {
        const char c = words.text[i];
        const bool digit = c >= '0' && c <= '9';
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if ((digit && n == 0) || (!digit && !letter && !other)) {
            name[n++] = '_';
        }
        if ((digit || letter) && n < MACHINE_NAME_MAX) {
            name[n++] = c;
        }
        other = !digit && !letter;
    }
    if (n > 0) {
        page->draft->name = machine_draft_store_text(page->draft, name, n);
    }
}

static void declare_line(struct drawing_page *page, struct drawing_cell *note,
                         struct machine_words line)
{
    static const struct {
        const char *key;
        enum machine_role role;
    } lists[] = {{"inputs", MACHINE_INPUT},
                 {"variables", MACHINE_VARIABLE},
                 {"outputs", MACHINE_OUTPUT},
                 {"constants", MACHINE_CONSTANT}};
    const char *cut = memchr(line.text, ':', line.bytes);
    cut = cut ? cut : memchr(line.text, ' ', line.bytes);
    const size_t head = cut ? (size_t)(cut - line.text) : line.bytes;
    const size_t behind = cut ? head + 1 : line.bytes;
    const struct machine_words key =
        machine_words_trim((struct machine_words){line.text, head});
    struct machine_words value =
        machine_words_trim((struct machine_words){line.text + behind, line.bytes - behind});
    struct machine_draft *draft = page->draft;
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct machine_words item;
        while (is_word(key, lists[i].key) && machine_words_next(&value, &item)) {
            declare_item(page, note, lists[i].role, item);
        }
        if (is_word(key, lists[i].key)) {
            return;
        }
    }
    if (is_word(key, "machine")) {
        name_machine(page, value);
    } else if (is_word(key, "purpose")) {
        draft->purpose = copy_words(page, value, MACHINE_PURPOSE_MAX);
    } else if (is_word(key, "clocked")) {
        draft->clocked = is_word(value, "yes") || is_word(value, "true") || is_word(value, "1");
    } else if (is_word(key, "otherwise")) {
        draft->stays = is_word(value, "stay");
    } else {
        drawing_blame(page, "E-DECLARATION", note, "'%.*s': %s", (int)line.bytes, line.text,
                      wanted);
    }
}

void drawing_declare(struct drawing_page *page, struct drawing_cell *note)
{
    for (const char *at = note->text; *at;) {
        const size_t bytes = strcspn(at, "\n");
        if (bytes > 0) {
            declare_line(page, note, (struct machine_words){at, bytes});
        }
        at += bytes + (at[bytes] == '\n' ? 1 : 0);
    }
}

void drawing_name_page(struct drawing_page *page)
{
    size_t bytes = strlen(page->sheet->name);
    const char *name = drawing_strip(page->sheet->name, &bytes);
    page->draft->name = "machine";
    name_machine(page, (struct machine_words){name, bytes});
}
