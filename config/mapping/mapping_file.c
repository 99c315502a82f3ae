#include "config/mapping/mapping_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "config/mapping/mapping_build.h"
#include "config/options/tree_print.h"
#include "logger/message/codec_native.h"

/* ---- rows, as they are written ---- */

/* A row while it is read: what it says, then what is made of it. */
struct row_reading {
    char topic[OPTION_TEXT_MAX], only[OPTION_TEXT_MAX], pair[EVENT_PAIR_MAX], separator[16];
    uint8_t event, side, format, decimal; /* side: without meaning when it is not given */
    uint32_t columns;
    const struct option_reading *item;
    struct mapping_build *b;
    char shown[OPTION_PREFIX_MAX]; /* "mappings[0]" */
    struct mapping_row *row;
    struct mapping_sources sources;
    struct mapping_field fields[MAPPING_FIELDS_MAX];
    size_t field_count;
};

static const enum event_kind kinds[] = {EVENT_COMMAND, EVENT_REPLY, EVENT_TELEMETRY,
                                        EVENT_CONNECTION};
static void add_row(const struct option_reading *item, void *value, void *owner);

#define ROW_AT(m)                 OPTION_AT(struct row_reading, m)
#define TEXT_AT(m)                OPTION_TEXT, "", "", OPTION_NO_RANGE, ROW_AT(m)
#define CHOICE(fallback, choices) OPTION_CHOICE, "", fallback, 0.0, 0.0, choices
#define BY_HAND                   OPTION_MAP, "", "", OPTION_BY_HAND

/* clang-format off */
static const struct option_row row_rows[] = {
    {"topic", TEXT_AT(topic), "Which topics: levels that are a word, +, # or a {name}."},
    {"only", TEXT_AT(only), "A regular expression (POSIX, extended) that the payload fits, from its beginning on."},
    {"event", CHOICE("command", "command|reply|telemetry|connection"), ROW_AT(event), "What it is."},
    {"pair", TEXT_AT(pair), "Of which pair."},
    {"side", CHOICE("real", "real|virtual"), ROW_AT(side), "Of which robot."},
    {"sides", BY_HAND, "What the level {side} calls them: {bt: real, sim: virtual}."},
    {"format", CHOICE("json", "json|text|csv|sparkplug"), ROW_AT(format), "What the payload is."},
    {"separator", TEXT_AT(separator), "Between columns; tab is a tabulator."},
    {"decimal", CHOICE("point", "point|comma"), ROW_AT(decimal), "What numbers in texts have before their decimals."},
    {"columns", OPTION_INTEGER, "", "0", 0.0, MAPPING_COLUMNS_MAX, "", ROW_AT(columns), "Exact number of columns."},
    {"fields", BY_HAND, "Where its members stand."},
};
static const struct option_items row_items = {
    .shape = OPTION_LIST, .table = OPTION_TABLE(row_rows), .most = MAPPING_ROWS_MAX,
    .bytes = sizeof(struct row_reading), .fault = FAULT_LIST_EXPECTED, .what = "rows", .add = add_row};

static const struct option_row table_rows[] = {
    {"mappings", OPTION_EACH(row_items), "Rows for what robots send."},
    {"send", OPTION_EACH(mapping_send_items), "Rows for what is sent to robots."},
};
/* clang-format on */
static const struct option_table table_options = {table_rows, COUNT(table_rows)};

static bool is_given(const struct row_reading *rr, const char *key)
{
    return option_node(rr->item, key) != TREE_NONE;
}

/* ---- topics ---- */

static bool add_level(struct row_reading *rr, const struct mapping_text part, bool last,
                      struct mapping_level *level)
{
    char text[OPTION_TEXT_MAX];
    (void)snprintf(text, sizeof text, "%.*s", (int)part.bytes, part.at);
    const bool named = part.bytes > 2 && text[0] == '{' && text[part.bytes - 1] == '}';
    const bool special = strpbrk(text, "+#{}") != NULL;
    if (named) {
        text[part.bytes - 1] = '\0';
        memmove(text, text + 1, part.bytes - 1);
    }
    *level = (struct mapping_level){.kind = named                    ? MAPPING_LEVEL_NAMED
                                            : strcmp(text, "+") == 0 ? MAPPING_LEVEL_ANY
                                            : strcmp(text, "#") == 0 ? MAPPING_LEVEL_REST
                                                                     : MAPPING_LEVEL,
                                    .bytes = strlen(text)};
    if (named ? strpbrk(text, "+#{}") != NULL : special && level->kind == MAPPING_LEVEL) {
        return option_fault_at(rr->item, "topic", FAULT_BAD_TOPIC,
                               "a level is a word, '+', '#' or a {name} alone, not '%.*s'",
                               (int)part.bytes, part.at);
    }
    if (level->kind == MAPPING_LEVEL_REST && !last) {
        return option_fault_at(rr->item, "topic", FAULT_BAD_TOPIC, "nothing follows '#'");
    }
    level->text = mapping_copy_text(rr->b, text);
    return level->text != NULL;
}

static bool read_topic(struct row_reading *rr)
{
    struct mapping_level levels[MAPPING_LEVELS_MAX];
    size_t count = 0;
    if (rr->topic[0] == '\0') {
        return option_fault_at(rr->item, "topic", FAULT_BAD_TOPIC,
                               "a topic was expected, such as 'robots/{pair}/cmd'");
    }
    for (const char *part = rr->topic; part; count++) {
        const size_t bytes = strcspn(part, "/");
        if (count == MAPPING_LEVELS_MAX) {
            return option_fault_at(rr->item, "topic", FAULT_TOO_MANY,
                                   "at most %d levels were expected", MAPPING_LEVELS_MAX);
        }
        if (!add_level(rr, (struct mapping_text){part, bytes}, part[bytes] == '\0',
                       &levels[count])) {
            return false;
        }
        part = part[bytes] ? part + bytes + 1 : NULL;
    }
    rr->row->levels = mapping_copy(rr->b, levels, count * sizeof *levels);
    rr->row->level_count = count;
    return rr->row->levels != NULL;
}

/* Returns the index of a level; -1 when the row has no such level. */
static int find_level(const struct mapping_row *row, const char *name)
{
    for (size_t i = 0; i < row->level_count; i++) {
        if (row->levels[i].kind == MAPPING_LEVEL_NAMED &&
            strcmp(row->levels[i].text, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* ---- what a row is about ---- */

static bool read_event(struct row_reading *rr)
{
    if (!is_given(rr, "event")) {
        return option_fault_at(rr->item, "event", FAULT_UNKNOWN_VALUE,
                               "command, reply, telemetry or connection was expected");
    }
    rr->row->kind = kinds[rr->event];
    return true;
}

static bool read_format(struct row_reading *rr)
{
    struct mapping_row *row = rr->row;
    const char *separator = rr->separator;
    row->format = (enum mapping_format)rr->format;
    row->columns = rr->columns;
    row->separator = strcmp(separator, "tab") == 0 ? "\t"
                     : separator[0]                ? mapping_copy_text(rr->b, separator)
                     : row->format == MAPPING_CSV  ? ","
                                                   : "";
    if (mapping_is_json(row->format) && (separator[0] || row->columns > 0)) {
        return option_fault_at(rr->item, separator[0] ? "separator" : "columns",
                               FAULT_NOT_APPLICABLE, "it needs format: text or csv");
    }
    row->comma = rr->decimal > 0;
    if (row->comma && row->separator && strcmp(row->separator, ",") == 0) {
        return option_fault_at(
            rr->item, "decimal", FAULT_CONFLICTING_KEYS,
            "columns need another separator than the comma of their numbers");
    }
    return row->separator != NULL;
}

static bool read_sides(struct row_reading *rr)
{
    struct mapping_row *row = rr->row;
    bool fine = mapping_read_words(rr->b, rr->item, "sides", &row->sides, &row->side_count);
    for (size_t k = 0; fine && k < row->side_count; k++) {
        if (names_value(&side_names, row->sides[k].to) == side_names.count) {
            fine = option_fault(rr->b->r, option_node(rr->item, "sides"), FAULT_UNKNOWN_VALUE,
                                "%s.sides.%s: 'real' or 'virtual' was expected, not '%s'",
                                rr->shown, row->sides[k].from, row->sides[k].to);
        }
    }
    return fine;
}

/* Reads which pair and which robot a row is about. */
static bool read_whose(struct row_reading *rr)
{
    struct mapping_row *row = rr->row;
    const bool side = is_given(rr, "side");
    bool fine = true;
    row->pair_level = find_level(row, "pair");
    row->side_level = side || row->kind == EVENT_COMMAND ? -1 : find_level(row, "side");
    row->side = side && row->kind != EVENT_COMMAND ? (enum side)rr->side : SIDE_COUNT;
    row->pair = rr->pair[0] ? mapping_copy_text(rr->b, rr->pair) : NULL;
    for (size_t k = 0; k < row->node_count; k++) {
        row->by_item = row->by_item || row->nodes[k].of_pair;
    }
    if (!row->pair && row->pair_level < 0 && !row->by_item && !rr->b->alone) {
        fine =
            option_fault_at(rr->item, "", FAULT_MISSING_KEY,
                            "pair is missing: give 'pair: r1' or a level {pair} in the topic");
    }
    if (row->kind != EVENT_COMMAND && !side && row->side_level < 0) {
        return option_fault_at(
            rr->item, "", FAULT_MISSING_KEY,
            "side is missing: give 'side: real' or a level {side} in the topic");
    }
    return read_sides(rr) && fine;
}

/* Matches on a terminated copy, because regexec() needs one. */
static bool fits_only(const void *only, const char *payload, size_t bytes)
{
    char text[MESSAGE_PAYLOAD_MAX + 1];
    regmatch_t match;
    if (bytes >= sizeof text) {
        return false;
    }
    memcpy(text, payload, bytes);
    text[bytes] = '\0';
    return regexec(only, text, 1, &match, 0) == 0 && match.rm_so == 0;
}

/* A back reference can make matching take exponential time. */
static bool refers_back(const char *pattern)
{
    for (const char *c = pattern; *c; c++) {
        if (*c == '\\' && c[1]) {
            c++;
            if (*c >= '1' && *c <= '9') {
                return true;
            }
        }
    }
    return false;
}

static bool read_only(struct row_reading *rr)
{
    struct mapping_table *table = rr->b->table;
    char why[128];
    const char *pattern = rr->only;
    if (pattern[0] == '\0') {
        return true;
    }
    regex_t *to = &table->patterns[table->pattern_count];
    int code = refers_back(pattern) ? REG_ESUBREG : regcomp(to, pattern, REG_EXTENDED);
    if (code != 0) {
        (void)regerror(code, NULL, why, sizeof why);
        return option_fault_at(rr->item, "only", FAULT_BAD_SYNTAX,
                               "a regular expression (POSIX, extended) was expected: %s",
                               code == REG_ESUBREG ? "it refers back" : why);
    }
    table->pattern_count++;
    rr->row->only = to;
    rr->row->fits = fits_only;
    return true;
}

/* ---- fields ---- */

static void list_members(enum event_kind kind, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t k = 0; k < mapping_member_count; k++) {
        const struct mapping_member *m = &mapping_members[k];
        char name[32];
        if (m->kind != kind || m->type == MAPPING_NAMED) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%s%s", m->name,
                       m->type == MAPPING_AXIS ? ".0 … .5" : "");
        names_append(out, size, name);
    }
}

static bool read_field(struct row_reading *rr, uint32_t node)
{
    const struct tree *tree = rr->b->r->tree;
    const char *name = tree_key(tree, node);
    const size_t before = rr->sources.count;
    char shown[2 * OPTION_PREFIX_MAX];
    size_t axis = 0;
    const struct mapping_member *member = mapping_member_find(rr->row->kind, name, &axis);
    (void)snprintf(shown, sizeof shown, "%s.fields.%.60s", rr->shown, name);
    if (!member) {
        char known[128];
        list_members(rr->row->kind, known, sizeof known);
        return option_fault(rr->b->r, node, FAULT_UNKNOWN_KEY,
                            "%s: a %s has no such member; it has %s%s", shown,
                            event_kind_name(rr->row->kind), known,
                            rr->row->kind == EVENT_REPLY ? " and values.NAME" : "");
    }
    if (rr->field_count == MAPPING_FIELDS_MAX || strlen(name) >= EVENT_VALUE_NAME_MAX) {
        return option_fault(rr->b->r, node, FAULT_TOO_MANY,
                            "%s: at most %d members of at most %d bytes were expected", shown,
                            MAPPING_FIELDS_MAX, EVENT_VALUE_NAME_MAX - 1);
    }
    if (!(tree->nodes[node].kind == TREE_SCALAR
              ? mapping_read_constant(rr->b, &rr->sources, node, shown, member)
              : mapping_read_source(rr->b, &rr->sources, node, shown, member, NULL))) {
        return false;
    }
    struct mapping_field *f = &rr->fields[rr->field_count++];
    *f = (struct mapping_field){.name = mapping_copy_text(rr->b, name),
                                .member = member,
                                .axis = axis,
                                .source = before,
                                .count = rr->sources.count - before};
    if (f->name && member->type == MAPPING_NAMED) {
        f->place = native_value_place(mapping_value_name(f->name));
    }
    return f->name != NULL;
}

static bool check_required(struct row_reading *rr, uint32_t node)
{
    bool fine = true;
    for (size_t k = 0; k < mapping_member_count; k++) {
        const struct mapping_member *m = &mapping_members[k];
        bool given = !m->required || m->kind != rr->row->kind;
        given = given || tree_child(rr->b->r->tree, node, m->name) != TREE_NONE;
        if (!given) {
            fine = option_fault(rr->b->r, node, FAULT_MISSING_KEY, "%s.fields: '%s' is missing",
                                rr->shown, m->name);
        }
    }
    return fine;
}

/* A move has sizes, or a target: x, x and y, or a heading. */
static bool check_target(struct row_reading *rr, uint32_t node)
{
    unsigned targets = 0;
    bool sizes = false;
    for (size_t k = 0; k < rr->field_count; k++) {
        const struct mapping_member *m = rr->fields[k].member;
        targets |= m->type == MAPPING_TARGET ? 1U << m->at : 0;
        sizes = sizes || m->type == MAPPING_REAL;
    }
    if ((targets == 0 || !sizes) && targets != 2 && targets < 5) {
        return true;
    }
    return option_fault(
        rr->b->r, node, FAULT_CONFLICTING_KEYS,
        "%s.fields: a move has sizes (rotation_rad, displacement_m) or a target: "
        "target_x_m, target_x_m and target_y_m, or target_psi_rad",
        rr->shown);
}

/* The value members of a reply go behind the others, because their JSON object is written in
 * one piece. */
static bool copy_fields(struct row_reading *rr)
{
    struct mapping_row *row = rr->row;
    struct mapping_field *fields = mapping_alloc(rr->b, (rr->field_count + 1) * sizeof *fields);
    row->fields = fields;
    row->sources = mapping_copy(rr->b, rr->sources.source,
                                rr->sources.count * sizeof rr->sources.source[0]);
    row->source_count = rr->sources.count;
    if (!fields || !row->sources) {
        return false;
    }
    for (int late = 0; late < 2; late++) {
        for (size_t k = 0; k < rr->field_count; k++) {
            if ((rr->fields[k].member->type == MAPPING_NAMED) == (late == 1)) {
                fields[row->field_count++] = rr->fields[k];
            }
        }
    }
    row->nodes = mapping_make_nodes(rr->b, &rr->sources, &row->node_count);
    return row->nodes != NULL;
}

static bool read_fields(struct row_reading *rr)
{
    const struct tree *tree = rr->b->r->tree;
    const uint32_t at = option_node(rr->item, "fields");
    if (!tree_is(tree, at, TREE_MAP)) {
        return option_fault_at(rr->item, "fields", FAULT_OBJECT_EXPECTED,
                               "members were expected, as in {status: {path: /result}}");
    }
    bool fine = true;
    rr->sources.format = rr->row->format;
    rr->sources.levels = rr->row->levels;
    rr->sources.level_count = rr->row->level_count;
    for (uint32_t i = tree->nodes[at].first; i != TREE_NONE; i = tree->nodes[i].next) {
        fine = read_field(rr, i) && fine;
    }
    /* A required field may only be missing because its name was misspelt. */
    return fine && check_required(rr, at) && check_target(rr, at) && copy_fields(rr);
}

static void add_row(const struct option_reading *item, void *value, void *owner)
{
    struct row_reading *rr = value;
    rr->item = item;
    rr->b = owner;
    (void)snprintf(rr->shown, sizeof rr->shown, "%.*s", (int)strlen(item->shown) - 1,
                   item->shown);
    rr->row = &rr->b->rows[rr->b->table->mapping.row_count++];
    if (item->failed) {
        return;
    }
    const bool topic = read_topic(rr);
    if (read_event(rr) && read_format(rr) && topic) {
        (void)read_fields(rr);
        (void)read_whose(rr);
    }
    (void)read_only(rr);
}

/* ---- tables ---- */

/* Rows need memory that does not move. */
static bool prepare_rows(struct mapping_build *b, uint32_t rows, uint32_t sends)
{
    const struct tree_node *nodes = b->r->tree->nodes;
    b->rows = mapping_alloc(b, (nodes[rows].count + 1) * sizeof *b->rows);
    b->sends = mapping_alloc(b, (nodes[sends].count + 1) * sizeof *b->sends);
    b->table->patterns = calloc(nodes[rows].count + 1, sizeof *b->table->patterns);
    b->table->mapping.rows = b->rows;
    b->table->mapping.sends = b->sends;
    return b->rows && b->sends && b->table->patterns;
}

/* The table is a list of rows, or has the keys mappings and send. */
static void fill_table(struct mapping_build *b, uint32_t node, const char *shown)
{
    const enum tree_kind kind = b->r->tree->nodes[node].kind;
    const bool list = kind == TREE_LIST;
    const uint32_t rows = list ? node : tree_child(b->r->tree, node, "mappings");
    uint32_t given[COUNT(table_rows)] = {0};
    char name[OPTION_PREFIX_MAX];
    (void)snprintf(name, sizeof name, "%smappings", shown);
    if (!prepare_rows(b, rows, tree_child(b->r->tree, node, "send"))) {
        b->r->failed = true;
    } else if (list) {
        option_read_node(b->r, &table_rows[0], node, name, b);
    } else if (kind == TREE_MAP) {
        option_read(
            &(struct option_reading){b->r, &table_options, given, node, shown, 0, false}, NULL,
            b);
    }
    if (rows == TREE_NONE && !list && !b->r->failed) {
        option_fault(b->r, node, FAULT_LIST_EXPECTED, "%s: a list of rows was expected", name);
    }
}

static bool copy_text(const struct tree *tree, uint32_t node, struct mapping_table *table)
{
    size_t bytes = 0;
    FILE *out = open_memstream(&table->text, &bytes);
    if (!out) {
        return false;
    }
    tree_print(tree, node, out);
    if (fclose(out) != 0) {
        return false;
    }
    table->mapping.hash = hash_bytes(HASH_START, table->text, bytes);
    return true;
}

struct mapping_table *mapping_table_read(struct option_reader *r, uint32_t node,
                                         const char *shown, bool alone)
{
    struct mapping_table *table = calloc(1, sizeof *table);
    if (!table) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        return NULL;
    }
    struct mapping_build b = {r, &table->memory, alone, table, NULL, NULL};
    const bool failed = r->failed;
    r->failed = false;
    fill_table(&b, node, shown);
    const bool fine = !r->failed;
    r->failed = r->failed || failed;
    if (!fine) {
        mapping_table_free(table);
        return NULL;
    }
    if (!copy_text(r->tree, node, table)) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
    }
    return table;
}

_Static_assert(offsetof(struct mapping_table, mapping) == 0, "a table begins with it");

void mapping_table_print(const struct mapping *mapping, FILE *out)
{
    const struct mapping_table *table = (const void *)mapping;
    if (table->file) {
        tree_print_scalar(table->file, false, out);
    } else {
        (void)fputs(table->text, out);
    }
}

uint64_t mapping_table_hash(const struct mapping *mapping, uint64_t hash)
{
    return mapping ? hash_bytes(hash, &mapping->hash, sizeof mapping->hash) : hash;
}

/* ---- what a table cannot do for a pair ---- */

bool mapping_names_pairs(const struct mapping *mapping)
{
    bool named = true;
    for (size_t k = 0; k < mapping->row_count; k++) {
        const struct mapping_row *row = &mapping->rows[k];
        named = named && (row->pair || row->pair_level >= 0 || row->by_item);
    }
    return named;
}

/* Finds the row that would receive what is sent under the topic; row_count: none does. */
static size_t find_echo(const struct mapping *mapping, const char *pair, const char *topic)
{
    struct mapping_text level[MAPPING_LEVELS_MAX];
    size_t k = 0;
    for (; k < mapping->row_count; k++) {
        const struct mapping_row *row = &mapping->rows[k];
        const bool fits =
            !row->fits && mapping_topic_fits(row->levels, row->level_count, topic, level);
        const struct mapping_text id =
            row->pair_level >= 0 && fits ? level[row->pair_level] : (struct mapping_text){0};
        if (fits && (row->pair ? strcmp(row->pair, pair) == 0
                     : row->pair_level < 0
                         ? true
                         : id.bytes == strlen(pair) && memcmp(id.at, pair, id.bytes) == 0)) {
            break;
        }
    }
    return k;
}

/* Returns whether a robot of this side answers by the table although the table never commands
 * it. */
static bool is_mute(const struct mapping *mapping, enum side side)
{
    bool answers = false;
    bool commanded = false;
    for (size_t k = 0; k < mapping->row_count; k++) {
        const struct mapping_row *row = &mapping->rows[k];
        answers = answers || (row->kind == EVENT_REPLY && row->side == side);
    }
    for (size_t k = 0; k < mapping->send_count; k++) {
        const struct mapping_send *send = &mapping->sends[k];
        commanded = commanded || (send->kind == CODEC_COMMAND &&
                                  (send->side == side || send->side == SIDE_COUNT));
    }
    return answers && !commanded;
}

const char *mapping_table_lacks(const struct mapping *mapping, const char *pair, bool link,
                                char out[OPTION_WHY_MAX])
{
    char topic[MESSAGE_TOPIC_MAX];
    for (size_t k = 0; k < mapping->send_count; k++) {
        for (int s = 0; s < SIDE_COUNT; s++) {
            const struct mapping_send *send = &mapping->sends[k];
            mapping_send_filter(send, pair, (enum side)s, topic);
            const size_t row = find_echo(mapping, pair, topic);
            if ((send->side == SIDE_COUNT || send->side == (enum side)s) &&
                row < mapping->row_count) {
                (void)snprintf(out, OPTION_WHY_MAX,
                               "mappings[%zu] would receive what send[%zu] sends on %.60s; "
                               "give it another topic",
                               row, k, topic);
                return out;
            }
        }
    }
    for (int s = 0; link && s < SIDE_COUNT; s++) {
        if (is_mute(mapping, (enum side)s)) {
            (void)snprintf(out, OPTION_WHY_MAX,
                           "in link mode Tandem commands the robots: a row of send with "
                           "'event: command' is wanted for the %s one",
                           side_name((enum side)s));
            return out;
        }
    }
    return NULL;
}

/* ---- files ---- */

/* A table that stands in a file. */
struct table_values {
    struct mapping_table *table;
    bool alone;
};

static void finish_file(const struct option_reading *reading, void *values)
{
    struct table_values *v = values;
    v->table = mapping_table_read(reading->r, TREE_ROOT, "", v->alone);
}

struct mapping_table *mapping_table_load(const char *path, bool alone, struct err_list *errors)
{
    static const struct option_file file = {
        .what = "a mapping",
        .empty = "the file is empty, the least is \"mappings: [{topic: …, event: …}]\"",
        .bytes = sizeof(struct table_values),
        .out_bytes = sizeof(struct table_values),
        .finish = finish_file,
    };
    struct table_values values = {.alone = alone};
    if (option_file_load(&file, path, &values, errors) != STATUS_OK) {
        return NULL;
    }
    struct mapping_table *table = values.table;
    struct mapping_build b = {NULL, &table->memory, false, table, NULL, NULL};
    table->file = mapping_copy_text(&b, path);
    table->alone = alone;
    return table;
}
