#include "twin/machine/machine_label.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct machine_words skip_blanks(struct machine_words words)
{
    while (words.bytes > 0 && is_blank(words.text[0])) {
        words.text++;
        words.bytes--;
    }
    return words;
}

struct machine_words machine_words_trim(struct machine_words words)
{
    words = skip_blanks(words);
    while (words.bytes > 0 && is_blank(words.text[words.bytes - 1])) {
        words.bytes--;
    }
    return words;
}

static struct machine_words words_after(struct machine_words words, size_t bytes)
{
    return (struct machine_words){words.text + bytes, words.bytes - bytes};
}

bool machine_words_next(struct machine_words *rest, struct machine_words *part)
{
    while (rest->bytes > 0) {
        int depth = 0;
        size_t n = 0;
        for (; n < rest->bytes; n++) {
            const char c = rest->text[n];
            depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
            if (depth == 0 && (c == ',' || c == ';' || c == '\n')) {
                break;
            }
        }
        const struct machine_words found =
            machine_words_trim((struct machine_words){rest->text, n});
        *rest = words_after(*rest, n < rest->bytes ? n + 1 : n);
        if (found.bytes > 0) {
            *part = found;
            return true;
        }
    }
    return false;
}

/* ---- assignments ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns the bytes of sign, or 0 if rest does not begin with it. */
static size_t see_sign(struct machine_words rest, const char *sign)
{
    const size_t n = strlen(sign);
    return rest.bytes >= n && memcmp(rest.text, sign, n) == 0 ? n : 0;
}

/* Measures a name, optionally followed by [number]; returns its bytes. 0: none, or too long. */
static size_t measure_target(struct machine_words words, char name[MACHINE_NAME_MAX + 16])
{
    size_t n = 0;
    while (n < words.bytes &&
           (is_letter(words.text[n]) || (n > 0 && is_digit(words.text[n])))) {
        n++;
    }
    const size_t stem = n;
    if (n > 0 && n + 1 < words.bytes && words.text[n] == '[' && is_digit(words.text[n + 1])) {
        n++;
        while (n < words.bytes && is_digit(words.text[n])) {
            n++;
        }
        n = n < words.bytes && words.text[n] == ']' ? n + 1 : 0;
    }
    if (n == 0 || n > MACHINE_NAME_MAX + 2) {
        return 0;
    }
    (void)snprintf(name, MACHINE_NAME_MAX + 16, "%.*s", (int)stem, words.text);
    if (n > stem) {
        (void)snprintf(name + stem, MACHINE_NAME_MAX + 16 - stem, "_%.*s", (int)(n - stem - 2),
                       words.text + stem + 1);
    }
    return n;
}

bool machine_words_assignment(struct machine_words words, struct machine_assignment_words *out)
{
    struct machine_assignment_words found = {.delayed = false};
    struct machine_words rest = machine_words_trim(words);
    const size_t name = measure_target(rest, found.name);
    if (name == 0) {
        return false;
    }
    rest = skip_blanks(words_after(rest, name));
    const size_t plus = see_sign(rest, "+") + see_sign(rest, "⁺");
    found.sum = see_sign(rest, "+=") > 0;
    found.delayed = plus > 0;
    rest = plus > 0 ? skip_blanks(words_after(rest, plus)) : rest;
    const size_t arrow = see_sign(rest, ":=") + see_sign(rest, "←");
    const size_t sign = arrow > 0 ? arrow : see_sign(rest, "=");
    if (sign == 0 || (sign < rest.bytes && rest.text[sign] == '=')) {
        return false;
    }
    found.sure = arrow > 0;
    found.value = skip_blanks(words_after(rest, sign));
    if (found.value.bytes == 0) {
        return false;
    }
    *out = found;
    return true;
}

/* Are all parts of words assignments, and is there at least one? */
static bool are_assignments(struct machine_words words)
{
    struct machine_assignment_words found;
    struct machine_words part;
    size_t count = 0;
    while (machine_words_next(&words, &part)) {
        if (!machine_words_assignment(part, &found)) {
            return false;
        }
        count++;
    }
    return count > 0;
}

/* Finds the name that is assigned; false, with a diagnostic, if it cannot be. */
static bool find_target(struct machine_draft *draft, const char *name,
                        struct machine_place place, uint8_t *out)
{
    struct err err = {0};
    size_t at = expression_find(&draft->pool, name);
    const bool word = at <= MACHINE_ELAPSED_NAME || strcmp(name, "else") == 0 ||
                      strcmp(name, "otherwise") == 0;
    enum status st = STATUS_OK;
    if (word) {
        st = err_set(&err, STATUS_E_PARSE, FAULT_RESERVED_NAME, "",
                     "'%s' is a word of the language", name);
    } else if (at == draft->pool.name_count) {
        st = expression_declare(&draft->pool, name, EXPRESSION_ANY, &at, &err);
    }
    if (st != STATUS_OK) {
        machine_diagnostics_add(&draft->diagnostics, "E-NAME", place, "%s", err.text);
        return false;
    }
    *out = (uint8_t)at;
    return true;
}

bool machine_draft_assign(struct machine_draft *draft, struct machine_words words,
                          struct machine_place place, const char *code, const char *what,
                          struct machine_acts *acts)
{
    struct machine_assignment_words found;
    struct machine_draft_assignment made = {.place = place};
    words = machine_words_trim(words);
    if (!machine_words_assignment(words, &found)) {
        machine_diagnostics_add(&draft->diagnostics, code, place, "'%.*s'%s",
                                (int)(words.bytes < 240 ? words.bytes : 240), words.text, what);
        return false;
    }
    if (!find_target(draft, found.name, place, &made.name) ||
        !machine_draft_expression(draft, found.value.text, found.value.bytes, place,
                                  &made.value)) {
        return false;
    }
    made.delayed = found.delayed;
    made.sum = found.sum;
    return machine_draft_act(draft, acts, &made);
}

/* ---- labels ---- */

/* "[guard]" or "[guard] / actions" */
static bool split_brackets(struct machine_words label, struct machine_words *guard,
                           struct machine_words *acts)
{
    for (size_t i = 1; see_sign(label, "[") > 0 && i < label.bytes; i++) {
        const struct machine_words rest = skip_blanks(words_after(label, i + 1));
        if (label.text[i] == ']' && (rest.bytes == 0 || rest.text[0] == '/')) {
            *guard = (struct machine_words){label.text + 1, i - 1};
            *acts = rest.bytes > 0 ? words_after(rest, 1) : rest;
            return true;
        }
    }
    return false;
}

/* Splits at the first "/" or line end that only assignments, or nothing, follow. */
static bool split_slash(struct machine_words label, struct machine_words *guard,
                        struct machine_words *acts)
{
    for (size_t i = 0; i < label.bytes; i++) {
        if (label.text[i] != '/' && label.text[i] != '\n') {
            continue;
        }
        const struct machine_words rest = words_after(label, i + 1);
        if (are_assignments(rest) ||
            (label.text[i] == '/' && machine_words_trim(rest).bytes == 0)) {
            *guard = (struct machine_words){label.text, i};
            *acts = rest;
            return true;
        }
    }
    return false;
}

static bool has_role(const struct machine_draft *draft, const char *name,
                     enum machine_role role)
{
    for (size_t i = 0; i < draft->port_count; i++) {
        const struct machine_draft_port *port = &draft->ports[i];
        if (port->role == role && strcmp(draft->pool.names[port->name].text, name) == 0) {
            return true;
        }
    }
    return false;
}

enum label_kind { LABEL_GUARD, LABEL_ACTS, LABEL_EITHER };

/* Classifies a label without "/": "e = true" may be a guard or an assignment. */
static enum label_kind judge_label(const struct machine_draft *draft,
                                   struct machine_words label)
{
    struct machine_words rest = label;
    struct machine_words part;
    size_t count = 0;
    size_t sure = 0;
    bool known = false;
    if (!are_assignments(label)) {
        return LABEL_GUARD;
    }
    while (machine_words_next(&rest, &part)) {
        struct machine_assignment_words found;
        if (machine_words_assignment(part, &found)) {
            sure += found.delayed || found.sure || has_role(draft, found.name, MACHINE_OUTPUT);
            known = has_role(draft, found.name, MACHINE_INPUT) ||
                    has_role(draft, found.name, MACHINE_VARIABLE);
            count++;
        }
    }
    return sure == count ? LABEL_ACTS : count == 1 && known ? LABEL_GUARD : LABEL_EITHER;
}

static char to_small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Converts words to the name of an input: "Aruco lost!" is aruco_lost. */
static bool name_words(struct machine_words guard, char out[MACHINE_NAME_MAX + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < guard.bytes; i++) {
        const char c = guard.text[i];
        const bool word = is_letter(c) || is_digit(c);
        if (!word && !is_blank(c) && !strchr("'\".,:()!?=-", c) && (unsigned char)c < 0x80) {
            return false;
        }
        if (n == 0 && is_digit(c)) {
            memcpy(out, "in_", 3);
            n = 3;
        }
        if (word && c != '_' && n < MACHINE_NAME_MAX) {
            out[n++] = to_small(c);
        } else if (n > 0 && n < MACHINE_NAME_MAX && out[n - 1] != '_') {
            out[n++] = '_';
        }
    }
    while (n > 0 && out[n - 1] == '_') {
        n--;
    }
    out[n] = '\0';
    return machine_is_name(out);
}

static bool parse_words(struct machine_draft *draft, struct machine_words guard,
                        struct machine_place place, uint16_t *when)
{
    char name[MACHINE_NAME_MAX + 1];
    if (!name_words(guard, name) ||
        machine_draft_try(draft, name, strlen(name), when, NULL) != STATUS_OK) {
        return false;
    }
    machine_diagnostics_add(&draft->diagnostics, "N-WORDS", place,
                            "'%.*s' is not an expression: used as the truth input %s",
                            (int)(guard.bytes < 240 ? guard.bytes : 240), guard.text, name);
    return true;
}

/* Is each line of a guard a separate expression? */
static bool are_lines(struct machine_draft *draft, struct machine_words guard)
{
    size_t lines = 0;
    while (guard.bytes > 0) {
        const char *end = memchr(guard.text, '\n', guard.bytes);
        const size_t n = end ? (size_t)(end - guard.text) : guard.bytes;
        const struct machine_words line =
            machine_words_trim((struct machine_words){guard.text, n});
        uint16_t root = 0;
        if (line.bytes > 0) {
            lines++;
            if (machine_draft_try(draft, line.text, line.bytes, &root, NULL) != STATUS_OK) {
                return false;
            }
        }
        guard = words_after(guard, end ? n + 1 : n);
    }
    return lines > 1;
}

/* Joins lines with " / "; cut to size. */
static void join_lines(struct machine_words text, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < text.bytes && n + 4 < size; i++) {
        if (text.text[i] == '\n') {
            memcpy(out + n, " / ", 3);
            n += 3;
        } else {
            out[n++] = text.text[i];
        }
    }
    out[n] = '\0';
}

/* "true", in any spelling, is no guard. */
static bool is_true_word(struct machine_words guard)
{
    static const char word[] = "true";
    for (size_t i = 0; i < guard.bytes && i < sizeof word; i++) {
        if (to_small(guard.text[i]) != word[i]) {
            return false;
        }
    }
    return guard.bytes == sizeof word - 1;
}

static bool read_guard(struct machine_draft *draft, struct machine_words guard, bool words,
                       struct machine_place place, uint16_t *when)
{
    char joined[256];
    guard = machine_words_trim(guard);
    if (guard.bytes == 0 || is_true_word(guard)) {
        return true;
    }
    if (machine_draft_try(draft, guard.text, guard.bytes, when, NULL) == STATUS_OK ||
        (words && parse_words(draft, guard, place, when))) {
        return true;
    }
    *when = 0;
    if (are_lines(draft, guard)) {
        join_lines(guard, joined, sizeof joined);
        machine_diagnostics_add(&draft->diagnostics, "E-TWO-LINES", place,
                                "'%s': conditions on two lines; join them with && or ||",
                                joined);
    } else {
        (void)machine_draft_expression(draft, guard.text, guard.bytes, place, when);
        *when = 0;
    }
    return false;
}

bool machine_draft_label(struct machine_draft *draft, struct machine_words label, bool words,
                         struct machine_place place, uint16_t *when, struct machine_acts *acts)
{
    label = machine_words_trim(label);
    struct machine_words guard = label;
    struct machine_words rest = {label.text, 0};
    struct machine_words part;
    bool fine = true;
    *when = 0;
    if (!split_brackets(label, &guard, &rest) && !split_slash(label, &guard, &rest)) {
        const enum label_kind kind = judge_label(draft, label);
        if (kind == LABEL_EITHER) {
            const int n = (int)(label.bytes < 160 ? label.bytes : 160);
            machine_diagnostics_add(
                &draft->diagnostics, "E-AMBIGUOUS", place,
                "'%.*s': a condition or an assignment? Write == for a condition, / %.*s for an "
                "assignment, or name the outputs in a note 'machine ...'",
                n, label.text, n, label.text);
            return false;
        }
        if (kind == LABEL_ACTS) {
            rest = label;
            guard.bytes = 0;
        }
    }
    while (machine_words_next(&rest, &part)) {
        fine = machine_draft_assign(draft, part, place, "E-LABEL", " is not an assignment",
                                    acts) &&
               fine;
    }
    return read_guard(draft, guard, words, place, when) && fine;
}
