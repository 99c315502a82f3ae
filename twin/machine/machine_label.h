/* twin/machine/machine_label.h - what people write beside arrows, in boxes and below names:
 * "guard / actions", "C+ = C - 1, e = true".
 *
 * Texts come as a reader made them: one or more lines, without markup. Pure.
 */
#ifndef TWIN_MACHINE_MACHINE_LABEL_H
#define TWIN_MACHINE_MACHINE_LABEL_H

#include "twin/machine/machine_draft.h"

/* Part of a text. */
struct machine_words {
    const char *text;
    size_t bytes;
};

/* Without blanks and line ends around it. */
struct machine_words machine_words_trim(struct machine_words words);

/* The next part of *rest, which ends at a comma, a semicolon or a line end outside of brackets;
 * empty parts are left out. False when there is none. */
bool machine_words_next(struct machine_words *rest, struct machine_words *part);

/* "C+ = x", "C += x", "C⁺ = x", "e = x", "e := x", "e ← x" */
struct machine_assignment_words {
    char name[MACHINE_NAME_MAX + 16]; /* "I[1]" is I_1 */
    bool delayed, sum, sure;          /* sure: by := or ←, which no condition has */
    struct machine_words value;
};

/* Is it an assignment? *out is written when it is. */
bool machine_words_assignment(struct machine_words words, struct machine_assignment_words *out);

/* The assignment in words as one more of *acts. Told at place: E-EXPR, E-NAME, and, when it is
 * no assignment at all, code with "'words'" and what: "E-ACTION", " is no assignment: …". False
 * then. */
bool machine_draft_assign(struct machine_draft *draft, struct machine_words words,
                          struct machine_place place, const char *code, const char *what,
                          struct machine_acts *acts);

/* A label of an arrow: *when is its guard (0: none), its assignments are more of *acts. "/"
 * divides, too: the guard ends at the first "/" or line end after which nothing but assignments
 * follow. Declarations must be there already: they tell "C = 0" apart. Told at place: E-EXPR,
 * E-NAME, E-LABEL, E-AMBIGUOUS, E-TWO-LINES; *when is 0 then, and false returned.
 *
 *   words   in  take a guard that is no expression as the truth input of its words (N-WORDS)
 */
bool machine_draft_label(struct machine_draft *draft, struct machine_words label, bool words,
                         struct machine_place place, uint16_t *when, struct machine_acts *acts);

#endif
