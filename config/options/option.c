#include "config/options/option.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/numbers/lab_time.h"
#include "base/numbers/number.h"
#include "base/text/names.h"
#include "logger/message/json_write.h"

enum { WORD_MAX = 48 };

/* A name of these letters needs no quotes. */
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* --- members -------------------------------------------------------------------------- */

static void *member_at(const struct option_row *row, void *values)
{
    return (char *)values + row->offset;
}

static const void *member_const(const struct option_row *row, const void *values)
{
    return (const char *)values + row->offset;
}

/* An integer's lowest byte comes first, and those shorter than int64_t are never negative. So
 * one copy of `size` bytes reads and writes them all. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a short integer begins a long one");

static void store_int(const struct option_row *row, void *values, int64_t value)
{
    memcpy(member_at(row, values), &value, row->size);
}

static int64_t load_int(const struct option_row *row, const void *values)
{
    int64_t value = 0;
    memcpy(&value, member_const(row, values), row->size);
    return value;
}

/* Has the row no single value with a default? */
static bool is_read_apart(const struct option_row *row)
{
    return row->type == OPTION_MAP || row->type == OPTION_ITEMS;
}

bool option_equal(const struct option_row *row, const void *a, const void *b)
{
    return memcmp(member_const(row, a), member_const(row, b), row->size) == 0;
}

uint64_t option_hash(const struct option_table *table, const void *values, uint64_t hash)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        const char *at = member_const(row, values);
        if (!row->shown_only && row->type != OPTION_MAP) {
            hash = hash_bytes(hash, at, row->type == OPTION_TEXT ? strlen(at) + 1 : row->size);
        }
    }
    return hash;
}

/* --- description ---------------------------------------------------------------------- */

bool option_choice(const struct option_row *row, size_t k, char *out, size_t size)
{
    const char *p = row->choices;
    while (k > 0) {
        p = strchr(p, '|');
        if (!p) {
            return false;
        }
        p++;
        k--;
    }
    (void)snprintf(out, size, "%.*s", (int)strcspn(p, "|"), p);
    return true;
}

static void describe_choices(const struct option_row *row, char *out, size_t size)
{
    char word[WORD_MAX];
    char after[WORD_MAX];
    out[0] = '\0';
    for (size_t k = 0; option_choice(row, k, word, sizeof word); k++) {
        if (k > 0 && !option_choice(row, k + 1, after, sizeof after)) {
            const size_t used = strlen(out);
            (void)snprintf(out + used, size - used, " or %s", word);
        } else {
            names_append(out, size, word);
        }
    }
}

static void describe_items(const struct option_items *items, char *out, size_t size)
{
    const char *what = items->what ? items->what : "values";
    const char *one = items->shape == OPTION_LIST_OR_ONE ? "value or " : "";
    if (items->shape == OPTION_NAMED) {
        (void)snprintf(out, size, "map from names to %s", what);
    } else if (items->most == 0) {
        (void)snprintf(out, size, "%slist of %s", one, what);
    } else if (items->least == items->most || items->least == 0) {
        (void)snprintf(out, size, "%slist of %s%zu %s", one,
                       items->least == 0 ? "at most " : "", items->most, what);
    } else {
        (void)snprintf(out, size, "%slist of %zu to %zu %s", one, items->least, items->most,
                       what);
    }
}

void option_describe(const struct option_row *row, char *out, size_t size)
{
    char low[JSON_WRITE_NUMBER_MAX];
    char high[JSON_WRITE_NUMBER_MAX];
    (void)json_format_real(row->min, low);
    (void)json_format_real(row->max, high);
    switch (row->type) {
    case OPTION_TEXT:
    case OPTION_WORD:
    case OPTION_NAME:
        (void)snprintf(out, size, row->type == OPTION_NAME ? "name" : "text");
        break;
    case OPTION_BOOL:
        (void)snprintf(out, size, "true or false");
        break;
    case OPTION_INTEGER:
    case OPTION_REAL:
    case OPTION_TIME:
        if (!isfinite(row->max)) {
            (void)snprintf(out, size, "%s%s", isfinite(row->min) ? low : "a finite number",
                           isfinite(row->min) ? " or more" : "");
            break;
        }
        (void)snprintf(out, size, "%s to %s%s%s", low, high, row->unit[0] ? " " : "",
                       row->unit);
        break;
    case OPTION_CHOICE:
        describe_choices(row, out, size);
        break;
    case OPTION_ITEMS:
        describe_items(row->items, out, size);
        break;
    case OPTION_MAP:
        (void)snprintf(out, size, "map");
        break;
    }
}

const struct option_row *option_find(const struct option_table *table, const char *path)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].path, path) == 0) {
            return &table->rows[i];
        }
    }
    return NULL;
}

/* --- parsing one value ---------------------------------------------------------------- */

bool option_is_no_text(const char *text)
{
    static const char *const words[] = {"",   "~",   "null", "true",  "false", "yes", "no",
                                        "on", "off", "y",    "n",     "Null",  "Yes", "No",
                                        "On", "Off", "True", "False", "NULL",  "YES", "NO",
                                        "ON", "OFF", "TRUE", "FALSE"};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            return true;
        }
    }
    double real = 0.0;
    const enum number_fault fault = number_parse_real(text, &real);
    return fault != NUMBER_NONE && fault != NUMBER_UNIT && fault != NUMBER_COMMA;
}

bool option_is_name(enum option_names names, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-.";
    const size_t n = strlen(name);
    return names == OPTION_ANY_NAME ||
           (n > 0 && n <= OPTION_NAME_MAX && strspn(name, letters) == n &&
            (names == OPTION_DOTTED_ID || !strchr(name, '.')));
}

/* Parses a text, a word or a name; the row's min and max are lengths. */
static bool parse_text(const struct option_row *row, const char *text, bool plain, void *values,
                       struct err *why)
{
    const bool limited = row->type == OPTION_TEXT && row->max > 0.0;
    const size_t most = limited ? (size_t)row->max : row->size - 1;
    const size_t n = strlen(text);
    if (row->type == OPTION_NAME && !option_is_name(OPTION_DOTTED_ID, text)) {
        return err_set(why, STATUS_E_RANGE, FAULT_BAD_NAME, "",
                       "'%.40s': a name has 1 to 31 letters, digits, '_', '-' or '.'",
                       text) == STATUS_OK;
    }
    if (row->type == OPTION_TEXT && plain && option_is_no_text(text)) {
        return err_set(why, STATUS_E_RANGE, FAULT_TEXT_EXPECTED, "",
                       "a text is required: quote it: \"%.40s\"", text) == STATUS_OK;
    }
    if (n > most) {
        return err_set(why, STATUS_E_RANGE, FAULT_TOO_LONG, "",
                       "%zu bytes are too long, at most %zu", n, most) == STATUS_OK;
    }
    if ((double)n < row->min) {
        return err_set(why, STATUS_E_RANGE, FAULT_MISSING_VALUE, "",
                       "the text must not be empty") == STATUS_OK;
    }
    memset(member_at(row, values), 0, row->size);
    memcpy(member_at(row, values), text, n);
    return true;
}

static bool parse_bool(const struct option_row *row, const char *text, bool plain, void *values,
                       struct err *why)
{
    const bool value = strcmp(text, "true") == 0;
    if (!plain || (!value && strcmp(text, "false") != 0)) {
        return err_set(why, STATUS_E_RANGE, FAULT_BOOLEAN_EXPECTED, "",
                       "'%.40s' is neither true nor false", text) == STATUS_OK;
    }
    store_int(row, values, value);
    return true;
}

static bool out_of_range(const struct option_row *row, const char *text, struct err *why)
{
    char range[OPTION_WHY_MAX / 2];
    option_describe(row, range, sizeof range);
    return err_set(why, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "",
                   "%.40s is out of range, %s is allowed", text, range) == STATUS_OK;
}

static bool parse_number(const struct option_row *row, const char *text, bool plain,
                         void *values, struct err *why)
{
    int64_t whole = 0;
    double real = 0.0;
    const enum number_fault fault = row->type == OPTION_INTEGER
                                        ? number_parse_int(text, &whole)
                                        : number_parse_real(text, &real);
    if (fault == NUMBER_TOO_LARGE) {
        return out_of_range(row, text, why);
    }
    if (fault != NUMBER_FINE) {
        char explained[OPTION_WHY_MAX / 2];
        const enum fault kind = number_explain(fault, text, explained, sizeof explained);
        return err_set(why, STATUS_E_RANGE, kind, "", "'%.40s': %s", text, explained) ==
               STATUS_OK;
    }
    if (!plain) {
        return err_set(why, STATUS_E_RANGE, FAULT_NOT_A_NUMBER, "",
                       "a number is wanted, not a text; remove the quotes") == STATUS_OK;
    }
    const double value = row->type == OPTION_INTEGER ? (double)whole : real;
    if (!(value >= row->min && value <= row->max)) {
        return out_of_range(row, text, why);
    }
    if (row->type == OPTION_TIME) {
        whole = lab_us(real);
        if (whole == 0 && real > 0.0) {
            return err_set(why, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "",
                           "%.40s is less than a microsecond", text) == STATUS_OK;
        }
    }
    if (row->type == OPTION_REAL) {
        memcpy(member_at(row, values), &real, sizeof real);
    } else {
        store_int(row, values, whole);
    }
    return true;
}

static bool parse_choice(const struct option_row *row, const char *text, void *values,
                         struct err *why)
{
    char word[WORD_MAX];
    for (size_t k = 0; option_choice(row, k, word, sizeof word); k++) {
        if (strcmp(word, text) == 0) {
            store_int(row, values, (int64_t)k);
            return true;
        }
    }
    char choices[OPTION_WHY_MAX / 2];
    describe_choices(row, choices, sizeof choices);
    return err_set(why, STATUS_E_RANGE, FAULT_UNKNOWN_VALUE, "",
                   "'%.40s' is not known, %s is allowed", text, choices) == STATUS_OK;
}

bool option_parse(const struct option_row *row, const char *text, bool plain, void *values,
                  struct err *why)
{
    switch (row->type) {
    case OPTION_TEXT:
    case OPTION_WORD:
    case OPTION_NAME:
        return parse_text(row, text, plain, values, why);
    case OPTION_BOOL:
        return parse_bool(row, text, plain, values, why);
    case OPTION_INTEGER:
    case OPTION_REAL:
    case OPTION_TIME:
        return parse_number(row, text, plain, values, why);
    case OPTION_CHOICE:
        return parse_choice(row, text, values, why);
    case OPTION_ITEMS:
    case OPTION_MAP:
        break;
    }
    return true;
}

bool option_has_fallback(const struct option_row *row)
{
    double value = 0.0;
    switch (row->type) {
    case OPTION_TEXT:
    case OPTION_WORD:
    case OPTION_NAME:
        return row->fallback[0] != '\0';
    case OPTION_INTEGER:
    case OPTION_REAL:
    case OPTION_TIME:
        return number_parse_real(row->fallback, &value) == NUMBER_FINE && value >= row->min &&
               value <= row->max;
    case OPTION_BOOL:
    case OPTION_CHOICE:
        return true;
    case OPTION_ITEMS:
    case OPTION_MAP:
        break;
    }
    return false;
}

void option_defaults(const struct option_table *table, void *values)
{
    struct err why = {0};
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (is_read_apart(row)) {
            continue;
        }
        memset(member_at(row, values), 0, row->size);
        if (option_has_fallback(row)) {
            const bool fine =
                option_parse(row, row->fallback, row->type != OPTION_TEXT, values, &why);
            assert(fine);
            (void)fine;
        }
    }
}

/* --- printing one value --------------------------------------------------------------- */

static void quote_text(const char *text, char out[OPTION_PRINT_MAX])
{
    size_t n = 0;
    out[n++] = '"';
    for (const char *p = text; *p && n < (size_t)2 * OPTION_TEXT_MAX; p++) {
        if (*p == '"' || *p == '\\') {
            out[n++] = '\\';
        }
        out[n++] = *p;
    }
    out[n++] = '"';
    out[n] = '\0';
}

/* YAML 1.1 readers take "1e-09" for a text; "1.0e-09" is a number to all of them. */
static void format_real(double value, char *out, size_t size)
{
    char number[JSON_WRITE_NUMBER_MAX];
    (void)json_format_real(value, number);
    const char *e = strchr(number, 'e');
    const int n = e ? (int)(e - number) : (int)strlen(number);
    const char *point = e && !strchr(number, '.') ? ".0" : "";
    (void)snprintf(out, size, "%.*s%s%s", n, number, point, number + n);
}

/* "{_rad: 0.05, x_m: 0.02}" */
static void format_numbers(const struct option_row *row, const void *values, char *out,
                           size_t size)
{
    const struct named_number *list = member_const(row, values);
    size_t used = (size_t)snprintf(out, size, "{");
    for (size_t i = 0; i < row->size / sizeof *list && list[i].name[0]; i++) {
        char name[OPTION_PRINT_MAX];
        char number[JSON_WRITE_NUMBER_MAX + 3];
        format_real(list[i].value, number, sizeof number);
        const bool plain = strspn(list[i].name, NAME_LETTERS) == strlen(list[i].name) &&
                           !option_is_no_text(list[i].name);
        quote_text(list[i].name, name);
        used += (size_t)snprintf(out + used, size - used, "%s%s: %s", i > 0 ? ", " : "",
                                 plain ? list[i].name : name, number);
        assert(used + 1 < size);
    }
    (void)snprintf(out + used, size - used, "}");
}

void option_format(const struct option_row *row, const void *values, char out[OPTION_PRINT_MAX])
{
    const size_t size = OPTION_PRINT_MAX;
    char word[WORD_MAX] = "";
    double real = 0.0;
    out[0] = '\0';
    switch (row->type) {
    case OPTION_TEXT:
    case OPTION_WORD:
    case OPTION_NAME:
        quote_text(member_const(row, values), out);
        break;
    case OPTION_BOOL:
        (void)snprintf(out, size, "%s", load_int(row, values) ? "true" : "false");
        break;
    case OPTION_INTEGER:
        (void)snprintf(out, size, "%lld", (long long)load_int(row, values));
        break;
    case OPTION_REAL:
        memcpy(&real, member_const(row, values), sizeof real);
        format_real(real, out, size);
        break;
    case OPTION_TIME:
        (void)json_format_seconds(load_int(row, values), out);
        break;
    case OPTION_CHOICE:
        if (option_choice(row, (size_t)load_int(row, values), word, sizeof word)) {
            const char *mark = option_is_no_text(word) ? "\"" : "";
            (void)snprintf(out, size, "%s%s%s", mark, word, mark);
        }
        break;
    case OPTION_ITEMS:
        if (row->items->shape == OPTION_NAMED && row->size > 0) {
            format_numbers(row, values, out, size);
        }
        break;
    case OPTION_MAP:
        break;
    }
}
