#include "twin/machine/machine_diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/names.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

NAMES(machine_severity_names, MACHINE_SEVERITY_COUNT, "note", "warning", "error");

enum machine_severity machine_severity_of(const char *code)
{
    return code[0] == 'E' ? MACHINE_ERROR : code[0] == 'W' ? MACHINE_WARNING : MACHINE_NOTE;
}

/* Makes it one line that is safe for a terminal, and drops a cut character at its end. */
static void tame_text(char *text, size_t size)
{
    size_t n = strlen(text);
    size_t last = n;
    uint32_t code = 0;
    while (n + 1 == size && last > 0 && n - last < 4) {
        last--;
        if (((unsigned char)text[last] & 0xC0U) != 0x80U) {
            text[utf8_next(text + last, n - last, &code) > 0 ? n : last] = '\0';
            break;
        }
    }
    for (char *c = text; *c; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
    (void)utf8_tame(text);
}

static bool has_place(const struct machine_diagnostic *d)
{
    return d->line > 0 || d->place[0] != '\0';
}

static bool is_same(const struct machine_diagnostic *a, const struct machine_diagnostic *b)
{
    return a->line == b->line && a->column == b->column && strcmp(a->code, b->code) == 0 &&
           strcmp(a->place, b->place) == 0 && strcmp(a->text, b->text) == 0;
}

void machine_diagnostics_add(struct machine_diagnostics *list, const char *code,
                             struct machine_place place, const char *format, ...)
{
    struct machine_diagnostic d = {.line = place.line, .column = place.column};
    TEXT_FORMAT(d.text, sizeof d.text, format);
    (void)snprintf(d.code, sizeof d.code, "%s", code);
    (void)snprintf(d.place, sizeof d.place, "%s", place.words ? place.words : "");
    tame_text(d.text, sizeof d.text);
    tame_text(d.place, sizeof d.place);
    for (size_t i = 0; i < list->count; i++) {
        if (is_same(&list->items[i], &d)) {
            return;
        }
    }
    list->severity_count[machine_severity_of(code)]++;
    list->conflicts += strcmp(code, "E-CONFLICT") == 0 ? 1 : 0;
    if (list->count == MACHINE_DIAGNOSTICS_MAX) {
        list->more++;
    } else {
        list->items[list->count++] = d;
    }
}

/* Rank 0: errors; 1: others with a place, and warnings; 2: the rest. */
static int rank_item(const struct machine_diagnostic *d)
{
    const enum machine_severity severity = machine_severity_of(d->code);
    return severity == MACHINE_ERROR ? 0 : severity == MACHINE_NOTE && !has_place(d) ? 2 : 1;
}

static int compare_items(const struct machine_diagnostic *a, const struct machine_diagnostic *b)
{
    const int rank = rank_item(a) - rank_item(b);
    const int code = strcmp(a->code, b->code);
    const int place = strcmp(a->place, b->place);
    if (rank != 0 || rank_item(a) == 2) {
        return rank;
    }
    if (code != 0) {
        return code;
    }
    if (a->line != b->line) {
        return a->line < b->line ? -1 : 1;
    }
    if (a->column != b->column) {
        return a->column < b->column ? -1 : 1;
    }
    return place != 0 ? place : strcmp(a->text, b->text);
}

/* Insertion sort, which is stable. */
void machine_diagnostics_sort(struct machine_diagnostics *list)
{
    for (size_t i = 1; i < list->count; i++) {
        const struct machine_diagnostic d = list->items[i];
        size_t at = i;
        while (at > 0 && compare_items(&list->items[at - 1], &d) > 0) {
            list->items[at] = list->items[at - 1];
            at--;
        }
        list->items[at] = d;
    }
}

size_t machine_diagnostic_print(const struct machine_diagnostic *item, const char *file,
                                char *out, size_t size)
{
    int n = 0;
    if (rank_item(item) == 2) {
        n = snprintf(out, size, "note  %s", item->text);
    } else if (item->place[0] != '\0') {
        n = snprintf(out, size, "%s  %s: %s: %s", item->code, file, item->place, item->text);
    } else if (item->line > 0) {
        n = snprintf(out, size, "%s  %s:%u:%u: %s", item->code, file, item->line, item->column,
                     item->text);
    } else {
        n = snprintf(out, size, "%s  %s: %s", item->code, file, item->text);
    }
    return (size_t)n;
}
