/* twin/machine/machine_diagnostics.h - diagnostics of a user's machine: a code, a place, and a
 * text that says what is wrong and what to do.
 *
 * docs/model/machines.md lists the codes. The first letter is the severity: errors (E-: the
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
    MACHINE_DIAGNOSTIC_MAX = 640, /* bytes of the text */
    MACHINE_DIAGNOSTICS_MAX = 256,
    MACHINE_LINE_MAX =
        1280 /* bytes of a diagnostic as one line, including a file name of 255 bytes */
};

/* A place in a file: line and column of a text, 1-based; words for a drawing: "page 'f', arrow
 * 'b' at (400, 230) [k6]". All zero: no particular place. */
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

struct machine_diagnostics { /* All zero is an empty list. */
    size_t count;
    size_t more; /* beyond the list: counted, not stored */
    size_t severity_count[MACHINE_SEVERITY_COUNT];
    size_t conflicts; /* errors with code E-CONFLICT */
    struct machine_diagnostic items[MACHINE_DIAGNOSTICS_MAX];
};

enum machine_severity machine_severity_of(const char *code);

/* Adds a diagnostic; one that the list has already, at the same place, is not repeated. Texts
 * are cut to size between characters, and control characters are replaced. */
void machine_diagnostics_add(struct machine_diagnostics *list, const char *code,
                             struct machine_place place, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Sorts errors first, then warnings and notes with a place, each by code, place and text; then
 * notes without a place in their order. */
void machine_diagnostics_sort(struct machine_diagnostics *list);

/* Prints one line, without line end: "CODE  FILE: page 'P', shape 'A' at (1, 2) [k3]: text" for
 * a drawing, "CODE  FILE:LINE:COLUMN: text" for a text, "note  text" for a note without a
 * place. Returns the uncut length. */
size_t machine_diagnostic_print(const struct machine_diagnostic *item, const char *file,
                                char *out, size_t size);

#endif
