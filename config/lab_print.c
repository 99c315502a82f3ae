/* Prints a lab file's effective values as a lab file. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "config/lab_file.h"

enum { DEPTH_MAX = 4 };

static void indent_line(FILE *out, size_t depth)
{
    (void)fprintf(out, "%*s", (int)(2 * depth), "");
}

/* Open the sections of path that the row before did not have open. Returns where the row's own
 * name begins and sets *depth. */
static const char *open_sections(const char *path, const char *before, size_t base, FILE *out,
                                 size_t *depth)
{
    bool same = true;
    *depth = base;
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(path, '.')) {
        const size_t n = (size_t)(dot - path) + 1;
        same = same && strncmp(path, before, n) == 0;
        if (!same) {
            indent_line(out, *depth);
            (void)fprintf(out, "%.*s:\n", (int)(n - 1), path);
        }
        before = same ? before + n : "";
        path += n;
        (*depth)++;
    }
    return path;
}

/* Print the rows of values that differ from others, all of them for NULL; out NULL: only say
 * whether there are any. */
static bool print_rows(const struct option_table *table, const void *values, const void *others,
                       size_t base, FILE *out)
{
    const char *before = "";
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (row->type == OPTION_MAP || strcmp(row->path, "count") == 0 ||
            (others && option_equal(row, values, others))) {
            continue;
        }
        if (!out) {
            return true;
        }
        char text[2 * OPTION_TEXT_MAX + 3];
        size_t depth = 0;
        const char *name = open_sections(row->path, before, base, out, &depth);
        option_format(row, values, text);
        indent_line(out, depth);
        (void)fprintf(out, "%s: %s\n", name, text);
        before = row->path;
    }
    return before[0] != '\0';
}

void lab_file_print(const struct lab_file *lab, FILE *out)
{
    (void)print_rows(&lab_options, lab, NULL, 0, out);
    (void)fputs("defaults:\n", out);
    (void)print_rows(&lab_pair_options, &lab->defaults, NULL, 1, out);
    (void)fputs("pairs:\n", out);
    for (size_t i = 0; i < lab->pair_count; i++) {
        const struct pair_params *pair = &lab->pairs[i];
        const bool own = print_rows(&lab_pair_options, pair, &lab->defaults, 0, NULL);
        const bool plain = isalpha((unsigned char)pair->id[0]) && !option_is_no_text(pair->id);
        const char *mark = plain ? "" : "\"";
        (void)fprintf(out, "  %s%s%s:%s\n", mark, pair->id, mark, own ? "" : " {}");
        if (own) {
            (void)print_rows(&lab_pair_options, pair, &lab->defaults, 2, out);
        }
    }
}
