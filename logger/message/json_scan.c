#include "logger/message/json_scan.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/number.h"
#include "base/text/utf8.h"
#include "logger/message/json_plain.h"

void json_scan_start(struct json_scan *s, const char *text, size_t bytes, unsigned depth_max)
{
    assert(depth_max <= JSON_SCAN_DEPTH_MAX);
    s->begin = text;
    s->at = text;
    s->end = text + bytes;
    s->error = NULL;
    s->depth = 0;
    s->depth_max = depth_max;
}

/* Returns the bytes of a word such as NaN or -Infinity at s->at, else 0. Other languages write
 * them for numbers that are not finite. */
static size_t count_not_finite(const struct json_scan *s)
{
    static const char *const words[] = {"infinity", "inf", "nan"};
    const char *at = s->at;
    if (at == s->end || (at > s->begin && at[-1] == '"')) {
        return 0;
    }
    at += *at == '-' || *at == '+';
    for (size_t i = 0; i < COUNT(words); i++) {
        const size_t n = strlen(words[i]);
        size_t same = 0;
        while (same < n && at + same < s->end && (at[same] | 0x20) == words[i][same]) {
            same++;
        }
        const char after = same == n && at + n < s->end ? (char)(at[n] | 0x20) : ' ';
        if (same == n && !(after >= 'a' && after <= 'z')) {
            return (size_t)(at + n - s->at);
        }
    }
    return 0;
}

bool json_scan_fail(struct json_scan *s, enum fault fault, const char *what_would_be_right)
{
    if (!s->error) {
        s->error = what_would_be_right;
        s->fault = count_not_finite(s) > 0 ? FAULT_NOT_A_NUMBER : fault;
    }
    return false;
}

/* One level of nesting around a place: the last key, or the index of the item. */
struct level {
    bool list;
    unsigned index;
    const char *key;
    int key_bytes;
};

/* Finds the levels around s->at and returns their count. The text before it is valid. */
static unsigned find_levels(const struct json_scan *s, struct level levels[JSON_SCAN_DEPTH_MAX])
{
    unsigned depth = 0;
    for (const char *p = s->begin; p < s->at; p++) {
        if (*p == '"') {
            const char *const from = ++p;
            for (; p < s->at && *p != '"'; p++) {
                p += *p == '\\';
            }
            if (depth > 0) {
                levels[depth - 1].key = from;
                levels[depth - 1].key_bytes = (int)(p - from);
            }
        } else if ((*p == '{' || *p == '[') && depth < JSON_SCAN_DEPTH_MAX) {
            levels[depth++] = (struct level){.list = *p == '['};
        } else if (*p == '}' || *p == ']') {
            depth -= depth > 0;
        } else if (*p == ',' && depth > 0) {
            levels[depth - 1].index++;
        }
    }
    return depth;
}

/* Writes the path of the value at s->at: "values.range_m", "ranges[2]". */
static void write_path(const struct json_scan *s, char *out, size_t size)
{
    struct level levels[JSON_SCAN_DEPTH_MAX];
    const unsigned depth = find_levels(s, levels);
    size_t used = 0;
    out[0] = '\0';
    for (unsigned k = 0; k < depth && used < size; k++) {
        const struct level *level = &levels[k];
        const int n = level->list
                          ? snprintf(out + used, size - used, "[%u]", level->index)
                          : snprintf(out + used, size - used, "%s%.*s", k > 0 ? "." : "",
                                     level->key_bytes, level->key ? level->key : "");
        used += n > 0 ? (size_t)n : 0;
    }
    (void)utf8_tame(out);
}

const char *json_scan_explain(const struct json_scan *s, char *out, size_t size)
{
    char path[64];
    const size_t bytes = count_not_finite(s);
    if (bytes == 0 || !s->error) {
        (void)snprintf(out, size, "%s", s->error ? s->error : "");
        return out;
    }
    write_path(s, path, sizeof path);
    (void)snprintf(out, size, "%.*s is not a JSON number%s%s%s: send null or leave it out",
                   (int)bytes, s->at, path[0] ? " (" : "", path, path[0] ? ")" : "");
    return out;
}

size_t json_scan_column(const struct json_scan *s)
{
    return (size_t)(s->at - s->begin) + 1;
}

/* Skips white space; false after an error. */
static bool skip_space(struct json_scan *s)
{
    if (s->error) {
        return false;
    }
    while (s->at < s->end && *s->at <= ' ' &&
           (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t')) {
        s->at++;
    }
    return true;
}

static bool accept_char(struct json_scan *s, char c)
{
    if (s->at < s->end && *s->at == c) {
        s->at++;
        return true;
    }
    return false;
}

static enum json_kind kind_of(char c)
{
    switch (c) {
    case '{':
        return JSON_KIND_OBJECT;
    case '[':
        return JSON_KIND_ARRAY;
    case '"':
        return JSON_KIND_TEXT;
    case 't':
        return JSON_KIND_TRUE;
    case 'f':
        return JSON_KIND_FALSE;
    case 'n':
        return JSON_KIND_NULL;
    default:
        return c == '-' || (c >= '0' && c <= '9') ? JSON_KIND_NUMBER : JSON_KIND_NONE;
    }
}

enum json_kind json_scan_peek(struct json_scan *s)
{
    if (!skip_space(s)) {
        return JSON_KIND_NONE;
    }
    const enum json_kind kind = s->at < s->end ? kind_of(*s->at) : JSON_KIND_NONE;
    if (kind == JSON_KIND_NONE) {
        (void)json_scan_fail(s, FAULT_VALUE_EXPECTED, "a value was expected");
    }
    return kind;
}

bool json_scan_enter(struct json_scan *s, enum json_kind kind)
{
    if (!skip_space(s)) {
        return false;
    }
    if (s->depth == s->depth_max) {
        return json_scan_fail(s, FAULT_TOO_DEEP, "nested too deep");
    }
    if (!accept_char(s, kind == JSON_KIND_OBJECT ? '{' : '[')) {
        return json_scan_fail(
            s, kind == JSON_KIND_OBJECT ? FAULT_OBJECT_EXPECTED : FAULT_LIST_EXPECTED,
            kind == JSON_KIND_OBJECT ? "an object {…} was expected"
                                     : "an array […] was expected");
    }
    s->first[++s->depth] = true;
    return true;
}

/* Steps over the comma between members, or the closing bracket: true if another one follows. */
static bool step_next(struct json_scan *s, char close)
{
    if (!skip_space(s)) {
        return false;
    }
    if (accept_char(s, close)) {
        s->depth--;
        return false;
    }
    if (!s->first[s->depth] && !accept_char(s, ',')) {
        return json_scan_fail(s, FAULT_BAD_SYNTAX, "',' or a closing bracket was expected");
    }
    s->first[s->depth] = false;
    return true;
}

bool json_scan_next_item(struct json_scan *s)
{
    return step_next(s, ']');
}

/* Parses the code unit of "\uXXXX" with the 'u' at p; -1 if malformed. */
static long code_unit(const char *p, const char *end)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    long unit = 0;
    for (int k = 1; k <= 4; k++) {
        const char *digit = p + k < end && p[k] != '\0' ? strchr(hex, p[k]) : NULL;
        if (!digit) {
            return -1;
        }
        unit = unit * 16 + (digit - hex < 16 ? digit - hex : digit - hex - 6);
    }
    return unit;
}

/* s->at is the backslash; steps over the escape. */
static bool skip_escape(struct json_scan *s)
{
    const char *p = s->at + 1;
    if (p < s->end && *p != '\0' && strchr("\"\\/bfnrt", *p)) {
        s->at += 2;
        return true;
    }
    const long unit = p < s->end && *p == 'u' ? code_unit(p, s->end) : -1;
    if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff)) {
        return json_scan_fail(s, FAULT_BAD_SYNTAX, "a valid escape was expected");
    }
    s->at += 6;
    if (unit >= 0xd800 && unit <= 0xdbff) {
        const long low = s->end - s->at >= 6 && s->at[0] == '\\' && s->at[1] == 'u'
                             ? code_unit(s->at + 1, s->end)
                             : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            return json_scan_fail(s, FAULT_BAD_ENCODING,
                                  "the second half of a surrogate pair was expected");
        }
        s->at += 6;
    }
    return true;
}

/* Scans the rest of a string, from a byte that needs checks. */
static bool scan_odd_text(struct json_scan *s, struct json_text *text)
{
    for (; s->at < s->end; s->at = json_skip_plain(s->at, s->end)) {
        const unsigned char c = (unsigned char)*s->at;
        if (c == '"') {
            text->bytes = (size_t)(s->at - text->at);
            s->at++;
            return true;
        }
        if (c == '\\') {
            text->escaped = true;
            if (!skip_escape(s)) {
                return false;
            }
        } else if (c < 0x20) {
            return json_scan_fail(s, FAULT_BAD_ENCODING, "control characters must be escaped");
        } else {
            uint32_t code = 0;
            const size_t n = utf8_next(s->at, (size_t)(s->end - s->at), &code);
            if (n == 0) {
                return json_scan_fail(s, FAULT_BAD_ENCODING, "valid UTF-8 was expected");
            }
            s->at += n;
        }
    }
    return json_scan_fail(s, FAULT_BAD_SYNTAX, "the closing '\"' is missing");
}

/* Scans a string behind its opening quote. Nearly all strings have no escapes. */
static inline bool scan_text(struct json_scan *s, struct json_text *text)
{
    text->at = s->at;
    text->escaped = false;
    s->at = json_skip_plain(s->at, s->end);
    text->bytes = (size_t)(s->at - text->at);
    return accept_char(s, '"') || scan_odd_text(s, text);
}

bool json_scan_text(struct json_scan *s, struct json_text *text)
{
    if (!skip_space(s)) {
        return false;
    }
    return accept_char(s, '"')
               ? scan_text(s, text)
               : json_scan_fail(s, FAULT_TEXT_EXPECTED, "a string was expected");
}

static bool accept_quote(struct json_scan *s)
{
    return skip_space(s) &&
           (accept_char(s, '"') ||
            json_scan_fail(s, FAULT_BAD_SYNTAX,
                           "expecting property name enclosed in double quotes"));
}

static bool accept_colon(struct json_scan *s)
{
    return skip_space(s) &&
           (accept_char(s, ':') || json_scan_fail(s, FAULT_BAD_SYNTAX, "':' was expected"));
}

/* Scans the key behind the comma. */
static bool scan_key(struct json_scan *s, struct json_text *key)
{
    return accept_quote(s) && scan_text(s, key) && accept_colon(s);
}

bool json_scan_next_member(struct json_scan *s, struct json_text *key)
{
    return step_next(s, '}') && scan_key(s, key);
}

/* Counts the leading bytes that a text and a name have in common. */
static inline size_t count_common(const char *at, const char *end,
                                  const char name[JSON_NAME_MAX])
{
    if (end - at >= JSON_NAME_MAX) {
        const size_t common = word_common(word_load(at), word_load(name));
        return common < WORD_BYTES ? common
                                   : common + word_common(word_load(at + WORD_BYTES),
                                                          word_load(name + WORD_BYTES));
    }
    size_t common = 0;
    while (at + common < end && at[common] == name[common]) {
        common++;
    }
    return common;
}

/* Scans a key behind its quote if it has this name. */
static inline bool match_name(struct json_scan *s, const char name[JSON_NAME_MAX],
                              struct json_text *key)
{
    const size_t n = count_common(s->at, s->end, name);
    const char *const at = s->at + n;
    if (n == 0 || n == JSON_NAME_MAX || name[n] != '\0' || name[n - 1] == '\0' ||
        at == s->end || *at != '"') {
        return false;
    }
    *key = (struct json_text){.at = s->at, .bytes = n};
    s->at = at + 1;
    return true;
}

bool json_scan_next_row(struct json_scan *s, const void *rows, size_t row_bytes, size_t count,
                        size_t *row, struct json_text *key)
{
    if (!step_next(s, '}') || !accept_quote(s)) {
        return false;
    }
    for (size_t left = count; left > 0; left--) {
        *row = *row + 1 < count ? *row + 1 : 0;
        const char *const name = (const char *)rows + *row * row_bytes;
        if (match_name(s, name, key)) {
            return accept_colon(s);
        }
        assert(name[JSON_NAME_MAX - 1] == '\0');
    }
    *row = count;
    return scan_text(s, key) && accept_colon(s);
}

bool json_scan_next_likely(struct json_scan *s, const char *quoted, size_t bytes, bool *same,
                           struct json_text *key)
{
    *same = false;
    if (!step_next(s, '}')) {
        return false;
    }
    if (bytes == 0 || (size_t)(s->end - s->at) <= bytes) {
        return scan_key(s, key);
    }
    size_t k = 0;
    while (k < bytes && s->at[k] == quoted[k]) { /* names are short */
        k++;
    }
    if (k < bytes) {
        return scan_key(s, key);
    }
    key->at = s->at + 1;
    key->bytes = bytes - 3;
    key->escaped = false;
    s->at += bytes;
    *same = true;
    return true;
}

static bool is_digit(const struct json_scan *s, const char *at)
{
    return at < s->end && *at >= '0' && *at <= '9';
}

/* Sets the error for a malformed number: the place, and what would be right. */
static bool refuse_number(struct json_scan *s)
{
    const char *at = s->at;
    at += at < s->end && *at == '-';
    if (!is_digit(s, at) || (*at == '0' && is_digit(s, at + 1))) {
        return json_scan_fail(s, FAULT_NOT_A_NUMBER, "a number was expected");
    }
    while (is_digit(s, at)) {
        at++;
    }
    if (at < s->end && *at == '.' && !is_digit(s, at + 1)) {
        s->at = at + 1;
        return json_scan_fail(s, FAULT_BAD_SYNTAX, "a digit was expected");
    }
    return json_scan_fail(s, FAULT_TOO_LONG, "a number of at most 511 characters was expected");
}

static bool scan_long_number(struct json_scan *s, double *value)
{
    double number = 0.0;
    const char *end = number_scan_json(s->at, s->end, &number);
    if (end == s->at) {
        return refuse_number(s);
    }
    if (end < s->end && (*end == 'e' || *end == 'E')) {
        s->at = end + 1;
        s->at += s->at < s->end && (*s->at == '+' || *s->at == '-');
        return json_scan_fail(s, FAULT_BAD_SYNTAX, "a digit was expected");
    }
    if (!isfinite(number)) {
        return json_scan_fail(s, FAULT_OUT_OF_RANGE,
                              "a number within the range of a double was expected");
    }
    *value = number;
    s->at = end;
    return true;
}

bool json_scan_number(struct json_scan *s, double *value)
{
    if (!skip_space(s)) {
        return false;
    }
    const char *const end = number_scan_short(s->at, s->end, value);
    if (!end) {
        return scan_long_number(s, value);
    }
    s->at = end;
    return true;
}

static bool accept_word(struct json_scan *s, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0) {
        s->at += n;
        return true;
    }
    return json_scan_fail(s, FAULT_VALUE_EXPECTED, "true, false or null was expected");
}

bool json_scan_bool(struct json_scan *s, bool *value)
{
    if (!skip_space(s)) {
        return false;
    }
    *value = s->at < s->end && *s->at == 't';
    return accept_word(s, *value ? "true" : "false");
}

bool json_scan_null(struct json_scan *s)
{
    return skip_space(s) && accept_word(s, "null");
}

/* Skips a number without computing it: with few characters and no exponent it is within the
 * range of a double. Returns its end, or NULL if it must be parsed. */
static const char *skip_plain_number(const char *at, const char *end)
{
    enum { PLAIN_MAX = 300 };
    end = end - at > PLAIN_MAX ? at + PLAIN_MAX : end;
    at += *at == '-';
    const char *const whole = at;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
    }
    if (at == whole || (*whole == '0' && at > whole + 1)) {
        return NULL;
    }
    if (at < end && *at == '.') {
        const char *const point = at;
        for (at++; at < end && *at >= '0' && *at <= '9'; at++) {
        }
        if (at == point + 1) {
            return NULL;
        }
    }
    return at < end && *at != 'e' && *at != 'E' ? at : NULL;
}

static bool skip_number(struct json_scan *s)
{
    double number = 0.0;
    const char *const end = skip_plain_number(s->at, s->end);
    if (!end) {
        return json_scan_number(s, &number);
    }
    s->at = end;
    return true;
}

static bool skip_value(struct json_scan *s)
{
    struct json_text text;
    const enum json_kind kind = json_scan_peek(s);
    switch (kind) {
    case JSON_KIND_TEXT:
        return json_scan_text(s, &text);
    case JSON_KIND_NUMBER:
        return skip_number(s);
    case JSON_KIND_TRUE:
        return accept_word(s, "true");
    case JSON_KIND_FALSE:
        return accept_word(s, "false");
    case JSON_KIND_NULL:
        return accept_word(s, "null");
    case JSON_KIND_OBJECT:
    case JSON_KIND_ARRAY:
        if (!json_scan_enter(s, kind)) {
            return false;
        }
        while (kind == JSON_KIND_OBJECT ? json_scan_next_member(s, &text)
                                        : json_scan_next_item(s)) {
            if (!skip_value(s)) {
                return false;
            }
        }
        return !s->error;
    case JSON_KIND_NONE:
        break;
    }
    return false;
}

bool json_scan_skip(struct json_scan *s, const char **from, size_t *bytes)
{
    (void)skip_space(s);
    const char *const start = s->at;
    if (!skip_value(s)) {
        return false;
    }
    if (from) {
        *from = start;
        *bytes = (size_t)(s->at - start);
    }
    return true;
}

bool json_scan_finish(struct json_scan *s)
{
    return skip_space(s) &&
           (s->at == s->end ||
            json_scan_fail(s, FAULT_BAD_SYNTAX, "nothing was expected after the value"));
}

bool json_text_is(const struct json_text *text, const char *name)
{
    const size_t n = strlen(name);
    return !text->escaped && text->bytes == n && memcmp(text->at, name, n) == 0;
}

/* Resolves one character at *p into out[4]; returns its bytes. A text with escapes was checked
 * before; in another one, a backslash stands for itself. */
static size_t resolve_one(const char **p, const char *end, bool escaped, bool latin1,
                          char out[4])
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    const char *c = *p;
    uint32_t code = 0;
    if (!escaped || *c != '\\') {
        const size_t n = utf8_next(c, (size_t)(end - c), &code);
        memcpy(out, c, n);
        *p = c + n;
        if (!latin1 || n != 2) {
            return n;
        }
    } else if (c[1] != 'u') {
        out[0] = to[strchr(from, c[1]) - from];
        *p = c + 2;
        return 1;
    } else {
        code = (uint32_t)code_unit(c + 1, end);
        *p = c + 6;
        if (code >= 0xd800 && code <= 0xdbff) {
            const uint32_t low = (uint32_t)code_unit(c + 7, end);
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            *p = c + 12;
        }
    }
    if (code < 0x80 || (latin1 && code < 0x100)) {
        out[0] = (char)code;
        return 1;
    }
    const size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t k = n; k-- > 1;) {
        out[k] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(mark[n] | code);
    return n;
}

size_t json_text_copy(const struct json_text *text, char *out, size_t size, bool latin1)
{
    const char *p = text->at;
    const char *const end = text->at + text->bytes;
    if (!text->escaped && !latin1 && text->bytes < size) {
        memcpy(out, p, text->bytes);
        out[text->bytes] = '\0';
        return text->bytes;
    }
    size_t used = 0;
    while (p < end) {
        char one[4];
        const size_t n = resolve_one(&p, end, text->escaped, latin1, one);
        if (used + n >= size) {
            out[used] = '\0';
            return size;
        }
        memcpy(out + used, one, n);
        used += n;
    }
    out[used] = '\0';
    return used;
}

size_t json_text_next(struct json_text *text, char out[4])
{
    const char *p = text->at;
    if (text->bytes == 0) {
        return 0;
    }
    const size_t n = resolve_one(&p, text->at + text->bytes, text->escaped, false, out);
    text->bytes -= (size_t)(p - text->at);
    text->at = p;
    return n;
}
