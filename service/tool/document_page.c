#include "service/tool/document_page.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "service/tool/json_file.h"

enum { CELL_BYTES = 1024, NAME_BYTES = 128, LINE_WIDTH = 100, ROWS_SHOWN = 40 };

/* Members of every estimate, in the lines of estimate_page.h. */
static const char *const shown[] = {
    "parameters", "values",       "se",      "ci95",        "ci95_open", "identifiable",
    "rank",       "condition",    "verdict", "reasons",     "notes",     "reason_codes",
    "note_codes", "combinations", "advice",  "correlation", "model",     "null_directions"};

/* ---- the document in a simple shape ---- */

/* Is it an object without objects? */
static bool is_row(json_t *value)
{
    bool row = json_is_object(value);
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach(value, key, member) {
        row = row && !json_is_object(member);
    }
    return row;
}

/* Moves the members of objects without objects into their parent, as "object.member". */
static void flatten_item(json_t *item)
{
    json_t *flat = json_object();
    const char *key = NULL;
    const char *inner = NULL;
    json_t *member = NULL;
    json_t *value = NULL;
    json_object_foreach(item, key, member) {
        (void)json_object_set(is_row(member) ? NULL : flat, key, member);
        json_object_foreach(is_row(member) ? member : NULL, inner, value) {
            char name[NAME_BYTES];
            (void)snprintf(name, sizeof name, "%s.%s", key, inner);
            (void)json_object_set(flat, name, value);
        }
    }
    (void)json_object_clear(item);
    (void)json_object_update(item, flat);
    json_decref(flat);
}

/* Makes an object of an array. The keys are the first members of its items, if these are
 * different texts, else numbers. */
static json_t *name_items(json_t *array)
{
    json_t *object = json_object();
    json_t *item = json_array_get(array, 0);
    const char *key = json_object_iter_key(json_object_iter(item));
    size_t at = 0;
    bool named = key != NULL;
    char first[NAME_BYTES];
    (void)snprintf(first, sizeof first, "%s", named ? key : "");
    json_array_foreach(array, at, item) {
        const char *name = json_string_value(json_object_get(item, first));
        named = named && name && !json_object_get(object, name);
        (void)json_object_set_new(object, named ? name : "", json_null());
    }
    (void)json_object_clear(object);
    json_array_foreach(array, at, item) {
        char name[NAME_BYTES];
        (void)snprintf(name, sizeof name, "%zu", at + 1);
        (void)json_object_set(
            object, named ? json_string_value(json_object_get(item, first)) : name, item);
        (void)json_object_del(named ? item : NULL, first);
    }
    return object;
}

/* Makes a table of an object whose members have scalars, and no objects but plain rows. */
static void flatten_members(json_t *object)
{
    const char *key = NULL;
    const char *inner = NULL;
    json_t *member = NULL;
    json_t *value = NULL;
    bool flat = json_object_size(object) > 1;
    bool has_scalar = false;
    json_object_foreach(object, key, member) {
        flat = flat && json_is_object(member);
        json_object_foreach(member, inner, value) {
            flat = flat && (!json_is_object(value) || is_row(value));
            has_scalar = has_scalar || !json_is_object(value);
        }
    }
    json_object_foreach(object, key, member) {
        if (flat && has_scalar) {
            flatten_item(member);
        }
    }
}

/* Is there a number under the key with this word in place of another one? */
static bool has_number(json_t *object, const char *key, const char *word, const char *instead)
{
    char other[NAME_BYTES];
    const char *at = strstr(key, word);
    const char *after = at ? at + strlen(word) : NULL;
    if (!at || (at != key && at[-1] != '_') || (*after != '\0' && *after != '_')) {
        return false;
    }
    (void)snprintf(other, sizeof other, "%.*s%s%s", (int)(at - key), key, instead, after);
    return json_is_number(json_object_get(object, other));
}

/* An end of an interval that has another end or a middle, as "lag_low_s" has "lag_high_s" and
 * "lag_expected_s", must not be left out. */
static bool is_open_end(json_t *object, const char *key, const json_t *member)
{
    return json_is_null(member) &&
           (has_number(object, key, "low", "high") || has_number(object, key, "high", "low") ||
            has_number(object, key, "low", "expected") ||
            has_number(object, key, "high", "expected"));
}

/* Leaves scalars, arrays of scalars, and objects; removes what is unknown, empty, or shown
 * elsewhere. The depth is that of our own documents. */
// NOLINTNEXTLINE(misc-no-recursion)
static void simplify_object(json_t *object)
{
    const char *key = NULL;
    void *next = NULL;
    json_t *member = NULL;
    if (json_object_get(object, "reason_codes")) {
        for (size_t i = 0; i < COUNT(shown); i++) {
            (void)json_object_del(object, shown[i]);
        }
    }
    json_object_foreach_safe(object, next, key, member) {
        json_t *first = json_array_get(member, 0);
        if (json_is_object(first) || json_is_array(first)) {
            member = name_items(member);
            (void)json_object_set_new(object, key, member);
        }
        simplify_object(member);
        if (is_open_end(object, key, member)) {
            (void)json_object_set_new(object, key, json_string("not known"));
        } else if (json_is_null(member) ||
                   (json_is_object(member) && json_object_size(member) == 0) ||
                   (json_is_array(member) && !first) ||
                   (json_is_string(member) && json_string_length(member) == 0)) {
            (void)json_object_del(object, key);
        }
    }
    flatten_members(object);
}

/* Is it an object of such rows? */
static bool is_table(json_t *value)
{
    bool table = json_is_object(value);
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach(value, key, member) {
        table = table && is_row(member);
    }
    return table;
}

/* Have two rows the same keys in the same order? */
static bool is_alike(json_t *one, json_t *other)
{
    void *here = json_object_iter(one);
    void *there = json_object_iter(other);
    while (here && there &&
           strcmp(json_object_iter_key(here), json_object_iter_key(there)) == 0) {
        here = json_object_iter_next(one, here);
        there = json_object_iter_next(other, there);
    }
    return !here && !there;
}

/* Moves the rows that are like `first` from an object to the columns of a table. */
static json_t *join_rows(json_t *object, json_t *first)
{
    json_t *table = json_object();
    const char *name = NULL;
    const char *key = NULL;
    void *next = NULL;
    json_t *row = NULL;
    json_t *value = NULL;
    json_object_foreach_safe(object, next, name, row) {
        if (!is_row(row) || !is_alike(row, first)) {
            continue;
        }
        json_object_foreach(row, key, value) {
            if (!json_object_get(table, key)) {
                (void)json_object_set_new(table, key, json_object());
            }
            (void)json_object_set(json_object_get(table, key), name, value);
        }
        (void)json_object_del(object, name);
    }
    return table;
}

/* ---- lines ---- */

static void format_scalar(const json_t *value, char text[CELL_BYTES])
{
    if (json_is_real(value)) {
        /* Five digits, but whole seconds of a time, which has ten before the point. */
        const double size = fabs(json_real_value(value));
        (void)snprintf(text, CELL_BYTES, size >= 1e5 && size < 1e12 ? "%.0f" : "%.5g",
                       json_real_value(value));
    } else if (json_is_integer(value)) {
        (void)snprintf(text, CELL_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_string(value)) {
        (void)snprintf(text, CELL_BYTES, "%s", json_string_value(value));
        (void)utf8_tame(text);
    } else {
        (void)snprintf(text, CELL_BYTES, "%s",
                       json_is_true(value)    ? "yes"
                       : json_is_false(value) ? "no"
                                              : "-");
    }
}

/* Is it an array of sentences? */
static bool is_list(const json_t *value)
{
    const char *first = json_string_value(json_array_get(value, 0));
    return first && strchr(first, ' ');
}

/* Formats an interval with an open end; false: it is none. */
static bool format_open_interval(const json_t *value, char text[CELL_BYTES])
{
    const json_t *low = json_array_get(value, 0);
    const json_t *high = json_array_get(value, 1);
    char end[CELL_BYTES];
    if (json_array_size(value) != 2 || !(json_is_null(low) || json_is_null(high)) ||
        !(json_is_null(low) || json_is_number(low)) ||
        !(json_is_null(high) || json_is_number(high))) {
        return false;
    }
    format_scalar(json_is_null(low) ? high : low, end);
    (void)snprintf(text, CELL_BYTES,
                   json_is_null(low) && json_is_null(high) ? "not known%.0s"
                   : json_is_null(low)                     ? "≤ %s"
                                                           : "≥ %s",
                   end);
    return true;
}

/* Formats a scalar, or the scalars of an array one after the other. */
static void format_cell(const json_t *value, char text[CELL_BYTES])
{
    const char *between = is_list(value) ? "; " : " ";
    size_t at = 0;
    const json_t *part = NULL;
    text[0] = '\0';
    if (format_open_interval(value, text)) {
        return;
    }
    if (!json_is_array(value)) {
        format_scalar(value, text);
    }
    json_array_foreach(value, at, part) {
        char one[CELL_BYTES];
        format_scalar(part, one);
        text_append(text, CELL_BYTES, "%s%s", at > 0 ? between : "", one);
    }
}

/* Prints the sentences of a list, one a line. */
static void print_list(const char *key, const json_t *list, FILE *out)
{
    char text[CELL_BYTES];
    size_t at = 0;
    const json_t *sentence = NULL;
    (void)fprintf(out, "  %s\n", key);
    json_array_foreach(list, at, sentence) {
        format_scalar(sentence, text);
        (void)fprintf(out, "    %s\n", text);
    }
}

/* Prints "name: key value, key value", over several lines if need be, then the lists. */
static void print_row(const char *name, json_t *row, FILE *out)
{
    char text[CELL_BYTES];
    const char *key = NULL;
    json_t *member = NULL;
    const char *before = name[0] ? ":" : "";
    size_t used = 0;
    json_object_foreach(row, key, member) {
        if (!json_is_object(member) && !is_list(member)) {
            used += used > 0 ? 0 : 1 + (size_t)fprintf(out, " %s%s", name[0] ? " " : "", name);
            format_cell(member, text);
            before = used > 0 && strcmp(key, "of") == 0 ? "" : before; /* "held 94 of 100" */
            const size_t more = strlen(before) + strlen(key) + strlen(text) + 2;
            const bool fits = used + more <= LINE_WIDTH;
            used = (fits ? used : 4) + more;
            (void)fprintf(out, "%s%s%s %s", before, fits ? " " : "\n     ", key, text);
            before = ",";
        }
    }
    (void)fputs(used > 0 ? "\n" : "", out);
    json_object_foreach(row, key, member) {
        if (is_list(member)) {
            print_list(key, member, out);
        }
    }
}

/* Returns how many columns a text needs; names may have letters of several bytes. */
static int count_letters(const char *text)
{
    int n = 0;
    for (const char *at = text; *at; at++) {
        n += ((unsigned char)*at & 0xC0U) != 0x80U;
    }
    return n;
}

/* Prints a text in a column of this width; a negative one aligns to the left. */
static void print_padded(const char *text, int width, FILE *out)
{
    const int more = (int)strlen(text) - count_letters(text);
    (void)fprintf(out, "  %*s", width < 0 ? width - more : width + more, text);
}

/* Makes the columns as wide as this row needs; a negative width aligns to the left. */
static void widen_columns(json_t *columns, json_t *row)
{
    char text[CELL_BYTES];
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(row, key, value) {
        const int before = (int)json_integer_value(json_object_get(columns, key));
        const int now = abs(before);
        format_cell(value, text);
        const int head = count_letters(key);
        const int wanted = count_letters(text) > head ? count_letters(text) : head;
        const int width = now > wanted ? now : wanted;
        (void)json_object_set_new(
            columns, key, json_integer(json_is_string(value) && before <= 0 ? -width : width));
    }
}

/* Prints a row of a table, or without one the names of its columns. */
static void print_cells(json_t *columns, const char *label, int label_width, const json_t *row,
                        FILE *out)
{
    char text[CELL_BYTES];
    const char *key = NULL;
    json_t *width = NULL;
    (void)snprintf(text, sizeof text, "%s", label);
    print_padded(utf8_tame(text), -label_width, out);
    json_object_foreach(columns, key, width) {
        const bool last = !json_object_iter_next(columns, json_object_key_to_iter(key));
        const int wide = (int)json_integer_value(width);
        format_cell(json_object_get(row, key), text);
        print_padded(row ? text : key, last && wide < 0 ? 0 : wide, out);
    }
    (void)fputc('\n', out);
}

/* Moves as many columns as a line has room for, at least one. */
static json_t *move_columns(json_t *columns, int used)
{
    json_t *block = json_object();
    const char *key = NULL;
    void *next = NULL;
    json_t *width = NULL;
    json_object_foreach_safe(columns, next, key, width) {
        used += 2 + abs((int)json_integer_value(width));
        if (used > LINE_WIDTH && json_object_size(block) > 0) {
            break;
        }
        (void)json_object_set(block, key, width);
        (void)json_object_del(columns, key);
    }
    return block;
}

/* Prints rows; what is wider than a line goes on below. */
static void print_table(json_t *table, FILE *out)
{
    json_t *columns = json_object();
    const char *key = NULL;
    json_t *row = NULL;
    int width = 0;
    json_object_foreach(table, key, row) {
        widen_columns(columns, row);
        width = width > count_letters(key) ? width : count_letters(key);
    }
    while (json_object_size(columns) > 0) {
        json_t *block = move_columns(columns, width + 2);
        size_t rows = 0;
        print_cells(block, "", width, NULL, out);
        json_object_foreach(table, key, row) {
            if (rows++ < ROWS_SHOWN) {
                print_cells(block, key, width, row, out);
            }
        }
        if (rows > ROWS_SHOWN) {
            (void)fprintf(out, "  and %zu more, see --json\n", rows - ROWS_SHOWN);
        }
        json_decref(block);
    }
    json_decref(columns);
}

/* Prints the rows of an object, those that are alike as one table, and removes them. */
static void print_rows(json_t *object, FILE *out)
{
    void *at = json_object_iter(object);
    while (at) {
        char name[NAME_BYTES];
        json_t *row = json_object_iter_value(at);
        if (!is_row(row)) {
            at = json_object_iter_next(object, at);
            continue;
        }
        (void)snprintf(name, sizeof name, "%s", json_object_iter_key(at));
        json_incref(row);
        json_t *table = join_rows(object, row);
        if (json_object_size(json_object_iter_value(json_object_iter(table))) > 1) {
            print_table(table, out);
        } else {
            print_row(name, row, out);
        }
        json_decref(table);
        json_decref(row);
        at = json_object_iter(object);
    }
}

/* Prints an object; path: the keys that lead to it. */
// NOLINTNEXTLINE(misc-no-recursion)
static void print_object(const char *path, json_t *object, FILE *out)
{
    const char *key = NULL;
    json_t *member = NULL;
    bool has_lines = false; /* of its own, and not only in deeper objects */
    json_object_foreach(object, key, member) {
        has_lines = has_lines || !json_is_object(member) || is_row(member);
    }
    (void)fprintf(out, "%s%s%s", has_lines ? "\n" : "", has_lines ? path : "",
                  has_lines && path[0] ? "\n" : "");
    if (is_table(object)) {
        print_table(object, out);
        return;
    }
    print_row("", object, out);
    print_rows(object, out);
    json_object_foreach(object, key, member) {
        if (json_is_object(member)) {
            char deeper[NAME_BYTES];
            (void)snprintf(deeper, sizeof deeper, "%s%s%s", path, path[0] ? "." : "", key);
            print_object(deeper, member, out);
        }
    }
}

enum status document_page_print(FILE *out,
                                void (*members)(const void *what, struct json_writer *w),
                                const void *what)
{
    json_t *document = json_file_document(members, what);
    simplify_object(document);
    if (json_object_size(document) > 0) {
        print_object("", document, out);
    }
    json_decref(document);
    return document ? STATUS_OK : STATUS_E_NOMEM;
}

bool document_page_show(bool json, void (*members)(const void *what, struct json_writer *w),
                        const void *what)
{
    enum status st = STATUS_OK;
    if (json) {
        json_file_print(stdout, members, what);
    } else {
        st = document_page_print(stdout, members, what);
    }
    (void)fputs(st == STATUS_OK ? "" : "tandem: not enough memory\n", stderr);
    return st == STATUS_OK;
}
