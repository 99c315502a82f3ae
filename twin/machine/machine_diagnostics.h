/* twin/machine/machine_diagnostics.h - what is to be said of a machine that somebody wrote or
 * drew: a code, a place, and words that say what is wrong and what to do.
 *
 * The codes are told in docs/model/machines.md. By their first letter they are errors (E-: the
 * machine neither runs nor becomes code), warnings (W-) and notes (N-). Pure.
 */
#ifndef TWIN_MACHINE_MACHINE_DIAGNOSTICS_H
#define TWIN_MACHINE_MACHINE_DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"

enum {
    MACHINE_CODE_MAX = 24,
    MACHINE_PLACE_MAX = 256,
    MACHINE_DIAGNOSTIC_MAX = 640, /* bytes of the words */
    MACHINE_DIAGNOSTICS_MAX = 256,
    MACHINE_LINE_MAX =
        1280 /* bytes of a diagnostic as one line, a file's name of 255 with it */
};

/* Where something stands in a file: in a text by line and column, 1-based; in a drawing by
 * words: "page 'f', arrow 'b' at (400, 230) [k6]". All zero: nowhere in particular. */
struct machine_place {
    unsigned line, column;
    const char *words; /* NULL: none */
};

enum machine_severity { MACHINE_NOTE, MACHINE_WARNING, MACHINE_ERROR, MACHINE_SEVERITY_COUNT };
extern const struct names machine_severity_names; /* base/text/names.h */

struct machine_diagnostic {
    char code[MACHINE_CODE_MAX]; /* "E-OVERLAP" */
    unsigned line, column;
    char place[MACHINE_PLACE_MAX]; /* words; "" */
    char text[MACHINE_DIAGNOSTIC_MAX];
};

struct machine_diagnostics { /* all zero is empty */
    size_t count;
    size_t more; /* beyond the list: counted, not kept */
    size_t severity_count[MACHINE_SEVERITY_COUNT];
    size_t conflicts; /* of the errors, those that are E-CONFLICT */
    struct machine_diagnostic items[MACHINE_DIAGNOSTICS_MAX];
};

enum machine_severity machine_severity_of(const char *code);

/* One more; what is there already, at the same place, stays once. Texts are cut to size, at the
 * end of a character, and freed of control characters. */
void machine_diagnostics_add(struct machine_diagnostics *list, const char *code,
                             struct machine_place place, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Errors first, then warnings and notes that have a place, each by code, place and text; then
 * notes without a place as they came. */
void machine_diagnostics_sort(struct machine_diagnostics *list);

/* As one line, without its end: "CODE  FILE: page 'P', shape 'A' at (1, 2) [k3]: text" of a
 * drawing, "CODE  FILE:LINE:COLUMN: text" of a text, "note  text" of a note without a place.
 * Returns the bytes of the whole. */
size_t machine_diagnostic_print(const struct machine_diagnostic *item, const char *file,
                                char *out, size_t size);

#endif
