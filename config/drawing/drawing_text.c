#include "config/drawing/drawing_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

struct replacement {
    const char *from, *to;
};

/* The expression language's spelling of mathematical signs and blanks. */
static const struct replacement signs[] = {
    {"−", "-"},  {"–", "-"},  {"·", "*"},  {"×", "*"},  {"÷", "/"},          {"≤", "<="},
    {"≥", ">="}, {"≠", "!="}, {"∧", "&&"}, {"∨", "||"}, {"¬", "!"},          {"\xc2\xa0", " "},
    {"←", ":="}, {"⁺", "+"},  {"“", "\""}, {"”", "\""}, {"\xe2\x80\x8b", ""}};

/* HTML entities that occur in formulas; numeric references cover the others. */
static const struct replacement entities[] = {
    {"amp", "&"},    {"lt", "<"},     {"gt", ">"},     {"quot", "\""}, {"apos", "'"},
    {"nbsp", " "},   {"le", "<="},    {"leq", "<="},   {"ge", ">="},   {"geq", ">="},
    {"ne", "!="},    {"minus", "-"},  {"ndash", "-"},  {"times", "*"}, {"middot", "*"},
    {"divide", "/"}, {"and", "&&"},   {"or", "||"},    {"not", "!"},   {"larr", ":="},
    {"plus", "+"},   {"equals", "="}, {"lowbar", "_"}, {"sup1", "¹"},  {"deg", "°"},
    {"micro", "µ"},  {"ldquo", "\""}, {"rdquo", "\""}};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- markup to text, never longer than it was ---- */

struct text_writer {
    char *text;
    size_t bytes;
};

static void append_text(struct text_writer *w, const char *text, size_t bytes)
{
    memcpy(w->text + w->bytes, text, bytes);
    w->bytes += bytes;
}

static void append_character(struct text_writer *w, uint32_t code)
{
    char out[4];
    size_t n = 1;
    if (code == 0 || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) {
        code = '?';
    }
    if (code < 0x80) {
        out[0] = (char)code;
    } else if (code < 0x800) {
        n = 2;
        out[0] = (char)(unsigned char)(0xC0U | code >> 6);
    } else if (code < 0x10000) {
        n = 3;
        out[0] = (char)(unsigned char)(0xE0U | code >> 12);
    } else {
        n = 4;
        out[0] = (char)(unsigned char)(0xF0U | code >> 18);
    }
    for (size_t i = 1; i < n; i++) {
        out[i] = (char)(unsigned char)(0x80U | (code >> 6 * (n - 1 - i) & 0x3FU));
    }
    append_text(w, out, n);
}

/* Reads "&#931;" or "&#x3a3;". Returns its length in bytes, 0 when it is no such reference. */
static size_t read_number(const char *text, uint32_t *code)
{
    const bool hex = text[2] == 'x' || text[2] == 'X';
    const char *from = text + (hex ? 3 : 2);
    char *end = NULL;
    if (text[1] != '#' || !(is_digit(*from) || (hex && is_letter(*from)))) {
        return 0;
    }
    const unsigned long value = strtoul(from, &end, hex ? 16 : 10);
    if (end == from) {
        return 0;
    }
    *code = value > 0x10FFFF ? 0 : (uint32_t)value;
    return (size_t)(end - text) + (*end == ';' ? 1 : 0);
}

/* Decodes the reference that begins with '&' at text. Returns its length in bytes, 0 when it is
 * none. */
static size_t decode_entity(struct text_writer *w, const char *text)
{
    uint32_t code = 0;
    size_t n = read_number(text, &code);
    if (n > 0) {
        append_character(w, code);
        return n;
    }
    for (n = 1; is_letter(text[n]) || (n > 1 && is_digit(text[n])); n++) {
    }
    for (size_t i = 0; i < COUNT(entities); i++) {
        if (strlen(entities[i].from) == n - 1 &&
            strncmp(entities[i].from, text + 1, n - 1) == 0) {
            append_text(w, entities[i].to, strlen(entities[i].to));
            return n + (text[n] == ';' ? 1 : 0);
        }
    }
    return 0;
}

/* Returns the end of the tag that begins with '<' at text; NULL when it is no tag. */
static const char *find_tag_end(const char *text)
{
    const bool comment = strncmp(text, "<!--", 4) == 0;
    const char first = text[1] == '/' ? text[2] : text[1];
    if (comment) {
        const char *end = strstr(text + 4, "-->");
        return end ? end + 2 : NULL;
    }
    if (!is_letter(first) && text[1] != '!' && text[1] != '?') {
        return NULL;
    }
    char quote = '\0';
    for (const char *c = text + 1; *c; c++) {
        if (quote != '\0') {
            quote = *c == quote ? '\0' : quote;
        } else if (*c == '>') {
            return c;
        } else if (c[-1] == '=' && (*c == '"' || *c == '\'')) {
            quote = *c;
        }
    }
    return NULL;
}

static void parse_tag(struct text_writer *w, const char *tag)
{
    static const char *const lines[] = {"br", "div", "p", "li", "tr"};
    const bool closes = tag[1] == '/';
    const char *name = tag + (closes ? 2 : 1);
    size_t n = 0;
    char low[4] = "";
    for (; is_letter(name[n]) || is_digit(name[n]); n++) {
        if (n < sizeof low - 1) {
            low[n] = (char)(is_letter(name[n]) ? name[n] | 0x20 : name[n]);
        }
    }
    for (size_t i = 0; i < COUNT(lines) && n < sizeof low; i++) {
        const bool begun = w->bytes > 0 && w->text[w->bytes - 1] != '\n';
        if (strcmp(low, lines[i]) == 0 && (closes ? i > 0 : begun)) {
            append_text(w, "\n", 1);
        }
    }
    if (n == 3 && strcmp(low, "sub") == 0 && !closes) {
        append_text(w, "_", 1);
    }
}

static size_t strip_markup(const char *value, char *out)
{
    struct text_writer w = {out, 0};
    for (const char *c = value; *c;) {
        const char *end = *c == '<' ? find_tag_end(c) : NULL;
        const size_t entity = *c == '&' ? decode_entity(&w, c) : 0;
        if (end) {
            parse_tag(&w, c);
            c = end + 1;
        } else if (entity > 0) {
            c += entity;
        } else {
            append_text(&w, c++, 1);
        }
    }
    return w.bytes;
}

/* ---- one way to write a thing ---- */

/* Works in place: no sign becomes longer. */
static size_t replace_signs(char *text, size_t bytes)
{
    size_t to = 0;
    for (size_t i = 0; i < bytes;) {
        size_t used = 0;
        for (size_t k = 0; k < COUNT(signs) && (unsigned char)text[i] >= 0x80; k++) {
            const size_t n = strlen(signs[k].from);
            if (n <= bytes - i && memcmp(text + i, signs[k].from, n) == 0) {
                const size_t size = strlen(signs[k].to);
                memcpy(text + to, signs[k].to, size);
                to += size;
                used = n;
                break;
            }
        }
        if (used == 0) {
            const unsigned char c = (unsigned char)text[i];
            text[to++] = (char)(c >= 0x20 && c != 0x7F ? c : c == '\n' ? '\n' : ' ');
            used = 1;
        }
        i += used;
    }
    return to;
}

/* Works in place: merges blanks, strips line ends, removes empty lines. */
static size_t squeeze_blanks(char *text, size_t bytes)
{
    size_t to = 0;
    char gap = '\0';
    for (size_t i = 0; i < bytes; i++) {
        if (is_blank(text[i])) {
            gap = text[i] == '\n' || gap == '\n' ? '\n' : ' ';
            continue;
        }
        if (gap != '\0' && to > 0) {
            text[to++] = gap;
        }
        gap = '\0';
        text[to++] = text[i];
    }
    text[to] = '\0';
    return to;
}

const char *drawing_plain(struct drawing_memory *m, const char *value, bool html)
{
    size_t bytes = strlen(value);
    char *text = bytes > 0 ? drawing_alloc(m, bytes + 1) : NULL;
    if (!text) {
        return "";
    }
    if (html) {
        bytes = strip_markup(value, text);
    } else {
        memcpy(text, value, bytes);
    }
    (void)squeeze_blanks(text, replace_signs(text, bytes));
    return text;
}

const char *drawing_line(struct drawing_memory *m, const char *text, size_t characters)
{
    const size_t all = strlen(text);
    size_t bytes = 0;
    for (size_t n = 0; bytes < all && (characters == 0 || n < characters); n++) {
        uint32_t code = 0;
        const size_t step = utf8_next(text + bytes, all - bytes, &code);
        bytes += step > 0 ? step : 1;
    }
    char *line = drawing_alloc(m, bytes + 1);
    if (!line) {
        return "";
    }
    for (size_t i = 0; i < bytes; i++) {
        line[i] = (char)(text[i] == '\n' ? ' ' : text[i]);
    }
    return line;
}

const char *drawing_strip(const char *text, size_t *bytes)
{
    while (*bytes > 0 && is_blank(*text)) {
        text++;
        (*bytes)--;
    }
    while (*bytes > 0 && is_blank(text[*bytes - 1])) {
        (*bytes)--;
    }
    return text;
}

/* Roughly letters beyond ASCII: no signs, arrows, formulas or punctuation. */
static bool is_far_letter(uint32_t code)
{
    return code >= 0xC0 && !(code >= 0x2000 && code < 0x2C00) &&
           !(code >= 0x3000 && code < 0x3040) && !(code >= 0xD800 && code < 0xF900) &&
           code < 0x1F000;
}

bool drawing_is_state_name(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        uint32_t code = 0;
        const size_t n = utf8_next(text + i, bytes - i, &code);
        const char c = text[i];
        const bool letter = is_letter(c) || c == '_' || (n > 1 && is_far_letter(code));
        if (n == 0 || !(letter || (i > 0 && (is_digit(c) || c == '.' || c == '-')))) {
            return false;
        }
        i += n;
    }
    return bytes > 0;
}

void drawing_write_escaped(FILE *out, const char *text, size_t bytes)
{
    static const struct {
        char from;
        const char *to;
    } escapes[] = {
        {'&', "&amp;"},  {'<', "&lt;"},    {'>', "&gt;"},
        {'"', "&quot;"}, {'\'', "&#x27;"}, {'\n', "&#xa;"}, /* a plain one becomes a blank */
    };
    for (size_t i = 0; i < bytes; i++) {
        const char *to = NULL;
        for (size_t k = 0; k < COUNT(escapes); k++) {
            to = text[i] == escapes[k].from ? escapes[k].to : to;
        }
        if (to) {
            (void)fputs(to, out);
        } else {
            (void)fputc(text[i], out);
        }
    }
}
