/* twin/machine/machine_label.h - parses the labels of arrows and boxes: "guard / actions", "C+
 * = C - 1, e = true".
 *
 * Texts come from a reader as one or more lines without markup. Pure.
 */
#ifndef TWIN_MACHINE_MACHINE_LABEL_H
#define TWIN_MACHINE_MACHINE_LABEL_H

#include "twin/machine/machine_draft.h"

/* Part of a text. */
struct machine_words {
    const char *text;
    size_t bytes;
};

/* Removes blanks and line ends at both ends. */
struct machine_words machine_words_trim(struct machine_words words);

/* Cuts the next part off *rest; a comma, semicolon or line end outside brackets ends it. Empty
 * parts are skipped. False at the end. */
bool machine_words_next(struct machine_words *rest, struct machine_words *part);

/* Assignments look like "C+ = x", "C += x", "C⁺ = x", "e = x", "e := x", "e ← x". */
struct machine_assignment_words {
    char name[MACHINE_NAME_MAX + 16]; /* "I[1]" becomes I_1 */
    bool delayed, sum, sure;          /* sure: has := or ←, which no condition has */
    struct machine_words value;
};

/* Is it an assignment? *out is written if so. */
bool machine_words_assignment(struct machine_words words, struct machine_assignment_words *out);

/* Parses the assignment in words and adds it to *acts. False with a diagnostic at place:
 * E-EXPR, E-NAME, or, if it is not an assignment, code with "'words'" and what: "E-ACTION", "
 * is no assignment: …". */
bool machine_draft_assign(struct machine_draft *draft, struct machine_words words,
                          struct machine_place place, const char *code, const char *what,
                          struct machine_acts *acts);

/* Parses the label of an arrow: *when becomes its guard (0: none), and its assignments are
 * added to *acts. "/" is also the division, so the guard ends at the first "/" or line end that
 * only assignments follow. Declarations must precede it, because "C = 0" depends on them. On
 * E-EXPR, E-NAME, E-LABEL, E-AMBIGUOUS, E-TWO-LINES at place, *when is 0 and the result false.
 *
 *   words   in  a guard that is not an expression becomes a truth input named after it
 *   (N-WORDS) */
bool machine_draft_label(struct machine_draft *draft, struct machine_words label, bool words,
                         struct machine_place place, uint16_t *when, struct machine_acts *acts);

#endif
