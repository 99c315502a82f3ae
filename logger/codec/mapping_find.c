/* logger/codec/mapping_find.c - finds the values of a mapping row in a topic and in a payload.
 */
#include <stdio.h>
#include <string.h>

#include "base/numbers/number.h"
#include "base/text/utf8.h"
#include "logger/codec/mapping.h"

/* ---- topics ---- */

bool mapping_topic_fits(const struct mapping_level *levels, size_t count, const char *topic,
                        struct mapping_text level[MAPPING_LEVELS_MAX])
{
    const char *at = topic;
    for (size_t i = 0; i < count; i++) {
        if (levels[i].kind == MAPPING_LEVEL_REST) {
            return true;
        }
        if (!at) {
            return false;
        }
        const char *end = strchr(at, '/');
        level[i] = (struct mapping_text){at, end ? (size_t)(end - at) : strlen(at)};
        if (levels[i].kind == MAPPING_LEVEL
                ? level[i].bytes != levels[i].bytes ||
                      memcmp(at, levels[i].text, levels[i].bytes) != 0
                : levels[i].kind == MAPPING_LEVEL_NAMED && level[i].bytes == 0) {
            return false;
        }
        at = end ? end + 1 : NULL;
    }
    return !at;
}

void mapping_row_filter(const struct mapping_row *row, const char *pair,
                        char filter[MESSAGE_TOPIC_MAX])
{
    size_t used = 0;
    filter[0] = '\0';
    for (size_t i = 0; i < row->level_count && used < MESSAGE_TOPIC_MAX; i++) {
        const struct mapping_level *level = &row->levels[i];
        const char *text = level->kind == MAPPING_LEVEL_REST ? "#"
                           : row->pair_level == (int)i       ? pair
                           : level->kind == MAPPING_LEVEL    ? level->text
                                                             : "+";
        const int n =
            snprintf(filter + used, MESSAGE_TOPIC_MAX - used, "%s%s", i > 0 ? "/" : "", text);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* ---- JSON ---- */

struct search {
    const struct mapping_node *nodes;
    const struct mapping_receiver *to; /* NULL: no node depends on it */
    struct mapping_finding *out;
};

static bool is_same_text(struct json_text text, const char *wanted, size_t bytes)
{
    size_t used = 0;
    char one[4];
    if (!text.escaped) {
        return text.bytes == bytes &&
               (bytes == 0 || (text.at[0] == wanted[0] && memcmp(text.at, wanted, bytes) == 0));
    }
    for (size_t n = json_text_next(&text, one); n > 0; n = json_text_next(&text, one)) {
        if (used + n > bytes || memcmp(one, wanted + used, n) != 0) {
            return false;
        }
        used += n;
    }
    return used == bytes;
}

static bool is_token(struct json_text key, const struct mapping_node *node)
{
    return is_same_text(key, node->token, node->bytes);
}

static bool find_value(struct json_scan *s, const struct search *r,
                       const struct mapping_node *node);

/* The recursion is as deep as the row's pointers are long. */
// NOLINTNEXTLINE(misc-no-recursion)
static bool find_members(struct json_scan *s, const struct search *r,
                         const struct mapping_node *node)
{
    const struct mapping_node *nodes = r->nodes;
    struct json_text key;
    uint64_t seen = 0;
    uint16_t likely = node->first; /* members usually come in the order of the row */
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    bool same = false;
    while (json_scan_next_likely(s, nodes[likely].quoted, nodes[likely].quoted_bytes, &same,
                                 &key)) {
        uint16_t k = likely;
        if (!same && (k == 0 || !is_token(key, &nodes[k]))) {
            k = node->first;
            while (k > 0 && !is_token(key, &nodes[k])) {
                k = nodes[k].next;
            }
        }
        if (k > 0) {
            const uint64_t bit = UINT64_C(1) << nodes[k].rank;
            if (seen & bit) {
                s->at = key.at;
                return json_scan_fail(s, FAULT_DUPLICATE_NAME,
                                      "each member may be given once only");
            }
            seen |= bit;
            likely = nodes[k].next;
        }
        if (!(k > 0 ? find_value(s, r, &nodes[k]) : json_scan_skip(s, NULL, NULL))) {
            return false;
        }
    }
    return !s->error;
}

/* Is the value that follows the wanted one? Numbers are compared as numbers. */
static bool is_wanted(struct json_scan s, struct mapping_text wanted)
{
    struct json_text text;
    double number = 0.0;
    double same = 0.0;
    const char *const end = wanted.at + wanted.bytes;
    const enum json_kind kind = json_scan_peek(&s);
    const char *const from = s.at;
    if (kind == JSON_KIND_TEXT) {
        return json_scan_text(&s, &text) && is_same_text(text, wanted.at, wanted.bytes);
    }
    if (kind == JSON_KIND_NUMBER) {
        return json_scan_number(&s, &number) && wanted.bytes > 0 &&
               number_scan(wanted.at, end, &same) == end && !(number < same || number > same);
    }
    return (kind == JSON_KIND_TRUE || kind == JSON_KIND_FALSE) &&
           json_scan_skip(&s, NULL, NULL) && (size_t)(s.at - from) == wanted.bytes &&
           memcmp(from, wanted.at, wanted.bytes) == 0;
}

/* Returns the ranks of the children that select the item that follows by a member's value. */
static uint64_t select_children(struct json_scan s, const struct search *r,
                                const struct mapping_node *node)
{
    const struct mapping_node *nodes = r->nodes;
    struct json_text key;
    uint64_t selected = 0;
    if (json_scan_peek(&s) != JSON_KIND_OBJECT || !json_scan_enter(&s, JSON_KIND_OBJECT)) {
        return 0;
    }
    while (json_scan_next_member(&s, &key)) {
        for (uint16_t k = node->first; k > 0; k = nodes[k].next) {
            const bool of_pair = nodes[k].of_pair && r->to;
            const struct mapping_text value =
                of_pair ? (struct mapping_text){r->to->pair, strlen(r->to->pair)}
                        : nodes[k].value;
            if (nodes[k].key.bytes > 0 &&
                is_same_text(key, nodes[k].key.at, nodes[k].key.bytes) && is_wanted(s, value)) {
                selected |= UINT64_C(1) << nodes[k].rank;
                r->out->of_pair = r->out->of_pair || of_pair;
            }
        }
        if (!json_scan_skip(&s, NULL, NULL)) {
            break; /* whoever reads the item reports it */
        }
    }
    return selected;
}

/* Reads an item of a list that pointers select items of. An item is read once for each pointer
 * that leads to it. */
// NOLINTNEXTLINE(misc-no-recursion)
static bool find_selected(struct json_scan *s, const struct search *r,
                          const struct mapping_node *node, long index, uint64_t *seen)
{
    const struct json_scan start = *s;
    const uint64_t selected = select_children(start, r, node);
    bool found = false;
    if (selected & *seen) {
        return json_scan_fail(s, FAULT_DUPLICATE_NAME, "two items of the list fit one pointer");
    }
    *seen |= selected;
    for (uint16_t k = node->first; k > 0; k = r->nodes[k].next) {
        if (r->nodes[k].index == index || (selected >> r->nodes[k].rank & 1)) {
            *s = start;
            found = true;
            if (!find_value(s, r, &r->nodes[k])) {
                return false;
            }
        }
    }
    return found || json_scan_skip(s, NULL, NULL);
}

/* An item that has a name is better found by it than by its place. */
static void suggest_name(struct json_scan s, const struct search *r,
                         const struct mapping_node *node)
{
    static const char *const names[] = {"id", "name", "n", "key", "tag", "label"};
    struct json_text key;
    struct json_text text;
    if (json_scan_peek(&s) != JSON_KIND_OBJECT || !json_scan_enter(&s, JSON_KIND_OBJECT)) {
        return;
    }
    while (json_scan_next_member(&s, &key)) {
        for (size_t i = 0; i < COUNT(names); i++) {
            if (json_text_is(&key, names[i]) && json_scan_peek(&s) == JSON_KIND_TEXT &&
                json_scan_text(&s, &text)) {
                char word[MAPPING_WORD_MAX];
                char hint[2 * MAPPING_WORD_MAX + 128];
                (void)json_text_copy(&text, word, sizeof word, false);
                (void)snprintf(hint, sizeof hint,
                               "'/%s' names an item by its place, but the items have names: "
                               "'/[%s=%s]' finds this one at any place",
                               node->token, names[i], word);
                r->to->hints->give(r->to->hints->context, hint);
                return;
            }
        }
        if (!json_scan_skip(&s, NULL, NULL)) {
            return;
        }
    }
}

// NOLINTNEXTLINE(misc-no-recursion)
static bool find_items(struct json_scan *s, const struct search *r,
                       const struct mapping_node *node)
{
    const struct mapping_node *nodes = r->nodes;
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    uint16_t likely = node->first;
    uint64_t seen = 0;
    for (long index = 0; json_scan_next_item(s); index++) {
        if (node->selects) {
            if (!find_selected(s, r, node, index, &seen)) {
                return false;
            }
            continue;
        }
        uint16_t k = likely;
        if (k == 0 || nodes[k].index != index) {
            k = node->first;
            while (k > 0 && nodes[k].index != index) {
                k = nodes[k].next;
            }
        }
        likely = k > 0 ? nodes[k].next : likely;
        if (k > 0 && r->to && r->to->hints) {
            suggest_name(*s, r, &nodes[k]);
        }
        if (!(k > 0 ? find_value(s, r, &nodes[k]) : json_scan_skip(s, NULL, NULL))) {
            return false;
        }
    }
    return !s->error;
}

// NOLINTNEXTLINE(misc-no-recursion)
static bool scan_value(struct json_scan *s, const struct search *r,
                       const struct mapping_node *node, struct mapping_found *found)
{
    bool truth = false;
    switch (found->kind) {
    case JSON_KIND_TEXT:
        return json_scan_text(s, &found->text);
    case JSON_KIND_NUMBER:
        return json_scan_number(s, &found->number);
    case JSON_KIND_TRUE:
    case JSON_KIND_FALSE:
        return json_scan_bool(s, &truth);
    case JSON_KIND_NULL:
        return json_scan_null(s);
    case JSON_KIND_OBJECT:
    case JSON_KIND_ARRAY:
        return node->first == 0                  ? json_scan_skip(s, NULL, NULL)
               : found->kind == JSON_KIND_OBJECT ? find_members(s, r, node)
                                                 : find_items(s, r, node);
    case JSON_KIND_NONE:
        break;
    }
    return false;
}

// NOLINTNEXTLINE(misc-no-recursion)
static bool find_value(struct json_scan *s, const struct search *r,
                       const struct mapping_node *node)
{
    struct mapping_found nobody;
    uint64_t leaves = node->leaves;
    struct mapping_found *found = leaves ? &r->out->found[__builtin_ctzll(leaves)] : &nobody;
    found->kind = json_scan_peek(s);
    const char *const from = s->at;
    if (!scan_value(s, r, node, found)) {
        return false;
    }
    if (found->kind != JSON_KIND_TEXT) {
        found->text = (struct json_text){.at = from, .bytes = (size_t)(s->at - from)};
    }
    while (leaves &= leaves - 1) { /* copies for the other sources of the same place */
        r->out->found[__builtin_ctzll(leaves)] = *found;
    }
    return true;
}

bool mapping_find_json(const struct mapping_node *nodes, const char *text, size_t bytes,
                       const struct mapping_receiver *to, struct mapping_finding *out)
{
    struct json_scan s;
    const struct search search = {nodes, to, out};
    out->of_pair = false;
    json_scan_start(&s, text, bytes, MAPPING_DEPTH_MAX);
    if (find_value(&s, &search, &nodes[0]) && json_scan_finish(&s)) {
        return true;
    }
    char why[128];
    (void)snprintf(out->fault, sizeof out->fault, "column %zu: %s", json_scan_column(&s),
                   json_scan_explain(&s, why, sizeof why));
    return false;
}

/* ---- columns ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct mapping_text trim_text(struct mapping_text text)
{
    while (text.bytes > 0 && is_space(text.at[0])) {
        text.at++;
        text.bytes--;
    }
    while (text.bytes > 0 && is_space(text.at[text.bytes - 1])) {
        text.bytes--;
    }
    return text;
}

/* Lists are often written in brackets. */
static struct mapping_text strip_brackets(struct mapping_text text)
{
    static const char open[] = "[(<";
    static const char close[] = "])>";
    text = trim_text(text);
    if (text.bytes > 1 && memchr(open, text.at[0], sizeof open - 1) &&
        memchr(close, text.at[text.bytes - 1], sizeof close - 1)) {
        text.at++;
        text.bytes -= 2;
    }
    return text;
}

static void match_column(const struct mapping_source *sources, size_t count,
                         struct mapping_text column, struct mapping_finding *out)
{
    column = trim_text(column);
    out->columns++;
    for (size_t k = 0; k < count; k++) {
        if (sources[k].origin == MAPPING_AT && sources[k].at == out->columns) {
            out->found[k] = (struct mapping_found){
                .kind = JSON_KIND_TEXT, .text = {.at = column.at, .bytes = column.bytes}};
        }
    }
}

/* Returns the end of the column that begins at `at`: the next separator, or the end. */
static const char *find_stop(const char *at, const char *end, const char *separator)
{
    const size_t n = strlen(separator);
    while (at < end && (n == 0 ? !is_space(*at)
                               : (size_t)(end - at) < n || memcmp(at, separator, n) != 0)) {
        at++;
    }
    return at;
}

static bool is_text(const char *text, size_t bytes, struct mapping_finding *out)
{
    for (size_t at = 0, n = 0; at < bytes; at += n) {
        uint32_t code = 0;
        n = utf8_next(text + at, bytes - at, &code);
        if (n == 0 || code == 0) {
            (void)snprintf(out->fault, sizeof out->fault,
                           "byte %zu: a text in UTF-8 was expected", at + 1);
            return false;
        }
    }
    return true;
}

bool mapping_find_columns(const struct mapping_source *sources, size_t count,
                          const char *separator, const char *text, size_t bytes,
                          struct mapping_finding *out)
{
    const struct mapping_text whole = strip_brackets((struct mapping_text){text, bytes});
    const char *at = whole.at;
    const char *const end = whole.at + whole.bytes;
    const size_t n = strlen(separator);
    out->columns = 0;
    if (!is_text(text, bytes, out)) {
        return false;
    }
    for (;;) {
        while (n == 0 && at < end && is_space(*at)) {
            at++;
        }
        const char *stop = find_stop(at, end, separator);
        if (n > 0 || stop > at) {
            match_column(sources, count, (struct mapping_text){at, (size_t)(stop - at)}, out);
        }
        if (stop == end) {
            return true;
        }
        at = stop + (n > 0 ? n : 1);
    }
}
