/* config/drawing/drawing_exits.c - parses the texts on arrows and in boxes: labels, exits of
 * decisions, assignments. Each text is parsed once, although many paths may share it. */
#include <string.h>

#include "config/drawing/drawing_parts.h"
#include "config/drawing/drawing_text.h"

enum { LABEL_BYTES_MAX = 4096 };

enum answer { ANSWER_NONE, ANSWER_EMPTY, ANSWER_YES, ANSWER_NO, ANSWER_ELSE };

static const struct {
    const char *word;
    enum answer answer;
} answers[] = {
    {"", ANSWER_EMPTY},    {"yes", ANSWER_YES},        {"y", ANSWER_YES},
    {"true", ANSWER_YES},  {"1", ANSWER_YES},          {"t", ANSWER_YES},
    {"si", ANSWER_YES},    {"sí", ANSWER_YES},         {"s", ANSWER_YES},
    {"sì", ANSWER_YES},    {"ja", ANSWER_YES},         {"oui", ANSWER_YES},
    {"cert", ANSWER_YES},  {"no", ANSWER_NO},          {"n", ANSWER_NO},
    {"false", ANSWER_NO},  {"0", ANSWER_NO},           {"f", ANSWER_NO},
    {"nein", ANSWER_NO},   {"non", ANSWER_NO},         {"fals", ANSWER_NO},
    {"else", ANSWER_ELSE}, {"otherwise", ANSWER_ELSE}, {"altrament", ANSWER_ELSE},
    {"sinó", ANSWER_ELSE}, {"default", ANSWER_ELSE},
};

/* ---- words of exits ---- */

/* Returns the words before the first "/" or line end, without brackets; *behind gets the
 * rest. */
static struct machine_words split_exit(const char *label, struct machine_words *behind)
{
    const size_t head = strcspn(label, "/\n");
    struct machine_words words = machine_words_trim((struct machine_words){label, head});
    const char *rest = label + head + (label[head] != '\0' ? 1 : 0);
    while (words.bytes > 0 && (words.text[0] == '[' || words.text[0] == ']')) {
        words.text++;
        words.bytes--;
    }
    while (words.bytes > 0 &&
           (words.text[words.bytes - 1] == '[' || words.text[words.bytes - 1] == ']')) {
        words.bytes--;
    }
    *behind = machine_words_trim(drawing_text_words(rest));
    if (behind->bytes > 0 && behind->text[0] == '/') {
        behind->text++;
        behind->bytes--;
    }
    return machine_words_trim(words);
}

/* Returns the small letter, for the scripts in which answers are written. */
static char lower_letter(const char *text, size_t at)
{
    const unsigned char c = (unsigned char)text[at];
    const bool latin = at > 0 && (unsigned char)text[at - 1] == 0xC3 && c >= 0x80 && c < 0x9F;
    return (char)((c >= 'A' && c <= 'Z') || latin ? c | 0x20U : c);
}

static enum answer find_answer(struct machine_words words)
{
    for (size_t i = 0; i < COUNT(answers); i++) {
        bool same = strlen(answers[i].word) == words.bytes;
        for (size_t k = 0; same && k < words.bytes; k++) {
            same = lower_letter(words.text, k) == answers[i].word[k];
        }
        if (same) {
            return answers[i].answer;
        }
    }
    return ANSWER_NONE;
}

/* Reads the answer on an exit: yes, no, else or a comparison. */
static enum answer exit_answer(const struct drawing_cell *arrow)
{
    struct machine_words behind;
    return find_answer(split_exit(arrow->label, &behind));
}

/* ---- assignments ---- */

static void copy_acts(const struct drawing_page *page, struct drawing_label *label,
                      const struct machine_acts *acts)
{
    const size_t bytes = acts->count * sizeof acts->items[0];
    label->acts = acts->count > 0 ? drawing_alloc(page->m, bytes) : NULL;
    if (label->acts) {
        memcpy(label->acts, acts->items, bytes);
        label->count = acts->count;
    }
}

/* Each part of a text must be an assignment; otherwise the code and the text are reported at
 * cell. */
static void read_acts(struct drawing_page *page, struct drawing_label *label,
                      struct drawing_cell *cell, struct machine_words words, const char *code,
                      const char *what)
{
    struct machine_acts acts = {.count = 0};
    struct machine_assignment_words assignment;
    struct machine_words part;
    const struct machine_place place = drawing_place(page, cell);
    while (machine_words_next(&words, &part)) {
        label->failed = label->failed || !machine_words_assignment(part, &assignment);
        (void)machine_draft_assign(page->draft, part, place, code, what, &acts);
    }
    copy_acts(page, label, &acts);
}

const struct drawing_label *drawing_box_of(struct drawing_page *page, struct drawing_cell *box)
{
    if (!box->parsed) {
        box->parsed = drawing_alloc(page->m, sizeof *box->parsed);
        if (box->parsed) {
            read_acts(
                page, box->parsed, box, drawing_text_words(box->text), "E-ACTION",
                " is no assignment: a box on an arrow holds name+ = value or name = value "
                "(states are rounded)");
        }
    }
    return box->parsed;
}

/* ---- decisions ---- */

/* Returns the condition or number in a decision. */
static const struct drawing_label *question_of(struct drawing_page *page,
                                               struct drawing_cell *decision)
{
    struct drawing_label *question = decision->parsed;
    if (question) {
        return question;
    }
    question = decision->parsed = drawing_alloc(page->m, sizeof *question);
    size_t bytes = strlen(decision->text);
    while (bytes > 0 && decision->text[bytes - 1] == '?') {
        bytes--;
    }
    if (question) {
        question->failed = !machine_draft_expression(
            page->draft, decision->text, bytes, drawing_place(page, decision), &question->when);
    }
    return question;
}

static enum expression_type declared_type(const struct machine_draft *draft, uint8_t name)
{
    for (size_t i = 0; i < draft->port_count; i++) {
        const struct machine_draft_port *port = &draft->ports[i];
        if (port->name == name && port->type != EXPRESSION_ANY &&
            (port->role == MACHINE_INPUT || port->role == MACHINE_VARIABLE)) {
            return port->type;
        }
    }
    return EXPRESSION_ANY;
}

/* EXPRESSION_ANY: the name's type is not known yet. */
static enum expression_type type_of(const struct machine_draft *draft, uint16_t node)
{
    const struct expression_node *n = &draft->pool.nodes[node];
    if (n->kind == EXPRESSION_NAME) {
        return declared_type(draft, n->name);
    }
    return drawing_is_truth(&draft->pool, node) ? EXPRESSION_TRUTH : EXPRESSION_NUMBER;
}

static uint16_t negate_condition(struct drawing_page *page, uint16_t when)
{
    return expression_make(&page->draft->pool, EXPRESSION_NOT, when, 0, 0);
}

/* Returns the only other exit; NULL when there is none, or more than one. */
static const struct drawing_cell *find_other_exit(const struct drawing_cell *arrow)
{
    const struct drawing_cell *other = NULL;
    for (const struct drawing_cell *e = arrow->from->first_out; e; e = e->next_out) {
        if (e != arrow && other) {
            return NULL;
        }
        other = e != arrow ? e : other;
    }
    return other;
}

static uint16_t answer_question(struct drawing_page *page, const struct drawing_cell *arrow,
                                uint16_t question, struct machine_words words,
                                enum answer answer)
{
    if (answer == ANSWER_EMPTY || answer == ANSWER_ELSE) {
        const struct drawing_cell *other = find_other_exit(arrow);
        const enum answer there = other ? exit_answer(other) : ANSWER_NONE;
        answer = there == ANSWER_YES  ? ANSWER_NO
                 : there == ANSWER_NO ? ANSWER_YES
                                      : ANSWER_EMPTY;
    }
    if (answer == ANSWER_YES) {
        return question;
    }
    if (answer == ANSWER_NO) {
        return negate_condition(page, question);
    }
    const char *text = drawing_line(page->m, arrow->from->text, 0);
    if (answer == ANSWER_EMPTY) {
        drawing_blame(page, "E-EXIT", arrow,
                      "leaves the decision '%s' without a condition: write yes or no on it",
                      text);
    } else {
        char *small = drawing_alloc(page->m, words.bytes + 1);
        for (size_t i = 0; small && i < words.bytes; i++) {
            small[i] = lower_letter(words.text, i);
        }
        drawing_blame(page, "E-EXIT", arrow, "'%s' on an exit of '%s': yes or no is wanted",
                      small ? small : "", text);
    }
    return 0;
}

/* Compares the decision's number with an exit's text: "2", "= 2", "> 3". */
static uint16_t compare_question(struct drawing_page *page, struct drawing_cell *arrow,
                                 uint16_t question, struct machine_words words)
{
    static const struct {
        const char *sign;
        enum expression_kind kind;
    } signs[] = {{"==", EXPRESSION_EQUAL},      {"!=", EXPRESSION_UNEQUAL},
                 {"<=", EXPRESSION_LESS_EQUAL}, {">=", EXPRESSION_GREATER_EQUAL},
                 {"=", EXPRESSION_EQUAL},       {"<", EXPRESSION_LESS},
                 {">", EXPRESSION_GREATER},     {"", EXPRESSION_EQUAL}};
    uint16_t value = 0;
    size_t i = 0;
    while (strncmp(words.text, signs[i].sign, strlen(signs[i].sign)) != 0) {
        i++;
    }
    const size_t n = strlen(signs[i].sign) < words.bytes ? strlen(signs[i].sign) : words.bytes;
    words = machine_words_trim((struct machine_words){words.text + n, words.bytes - n});
    if (words.bytes == 0) {
        drawing_blame(page, "E-EXIT", arrow, "leaves the decision '%s' without a value",
                      drawing_line(page->m, arrow->from->text, 0));
        return 0;
    }
    return machine_draft_expression(page->draft, words.text, words.bytes,
                                    drawing_place(page, arrow), &value)
               ? expression_make(&page->draft->pool, signs[i].kind, question, value, 0)
               : 0;
}

/* The condition that no other exit holds. 0: the other exits have no text. */
static uint16_t negate_others(struct drawing_page *page, const struct drawing_cell *arrow)
{
    struct expression_pool *pool = &page->draft->pool;
    uint16_t any = 0;
    for (struct drawing_cell *e = arrow->from->first_out; e; e = e->next_out) {
        const uint16_t when =
            e == arrow || exit_answer(e) == ANSWER_ELSE ? 0 : drawing_label_of(page, e)->when;
        if (when > 0) {
            any = any == 0 ? when : expression_make(pool, EXPRESSION_OR, any, when, 0);
        }
    }
    return any > 0 ? negate_condition(page, any) : 0;
}

static bool has_second_else(struct drawing_page *page, const struct drawing_cell *arrow)
{
    for (const struct drawing_cell *e = arrow->from->first_out; e; e = e->next_out) {
        if (e != arrow && exit_answer(e) == ANSWER_ELSE) {
            drawing_blame(page, "E-ELSE", arrow, "says else, and so does another exit");
            return true;
        }
    }
    return false;
}

/* Reads an exit of a decision. A decision without a text has none but "else". */
static void read_exit(struct drawing_page *page, struct drawing_label *label,
                      struct drawing_cell *arrow)
{
    struct machine_words behind;
    const struct machine_words words = split_exit(arrow->label, &behind);
    const enum answer answer = find_answer(words);
    const bool asks = arrow->from->text[0] != '\0';
    const struct drawing_label *question = asks ? question_of(page, arrow->from) : NULL;
    label->failed = asks && (!question || question->failed);
    if (label->failed) {
        return;
    }
    const uint16_t asked = question ? question->when : 0;
    const enum expression_type type = asks ? type_of(page->draft, asked) : EXPRESSION_NUMBER;
    if (type == EXPRESSION_TRUTH || (type == EXPRESSION_ANY && answer != ANSWER_NONE)) {
        label->when = answer_question(page, arrow, asked, words, answer);
    } else if (answer != ANSWER_ELSE) {
        label->when = compare_question(page, arrow, asked, words);
    } else if (!has_second_else(page, arrow)) {
        label->when = negate_others(page, arrow);
        if (label->when == 0 && !asks) {
            drawing_blame(page, "E-ELSE", arrow, "else of nothing");
        }
    }
    label->failed = label->when == 0;
    if (!label->failed) {
        read_acts(page, label, arrow, behind, "E-LABEL", " is no assignment");
        label->failed = false;
    }
}

static void read_label(struct drawing_page *page, struct drawing_label *label,
                       struct drawing_cell *arrow)
{
    struct machine_acts acts = {.count = 0};
    (void)machine_draft_label(page->draft, drawing_text_words(arrow->label), page->words,
                              drawing_place(page, arrow), &label->when, &acts);
    copy_acts(page, label, &acts);
}

const struct drawing_label *drawing_label_of(struct drawing_page *page,
                                             struct drawing_cell *arrow)
{
    static const struct drawing_label nothing = {.failed = true};
    const bool decides = arrow->from->role == ROLE_DECISION;
    if (arrow->parsed) {
        return arrow->parsed;
    }
    struct drawing_label *label = drawing_alloc(page->m, sizeof *label);
    if (!label) {
        return &nothing;
    }
    arrow->parsed = label;
    if (strlen(arrow->label) > LABEL_BYTES_MAX) {
        drawing_blame(page, "E-LABEL", arrow, "longer than %d bytes", LABEL_BYTES_MAX);
        label->failed = true;
    } else if (decides && (arrow->from->text[0] != '\0' || exit_answer(arrow) == ANSWER_ELSE)) {
        read_exit(page, label, arrow);
    } else {
        read_label(page, label, arrow);
    }
    return label;
}
