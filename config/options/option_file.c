/* config/options/option_file.c - walks a file's tree along an option table and reports unknown
 * keys.
 */
#include "config/options/option_file.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/edit_distance.h"
#include "base/text/names.h"

enum { NAME_MAX_BYTES = 48 };

static const struct tree_node *node_at(const struct option_reader *r, uint32_t node)
{
    return &r->tree->nodes[node];
}

static void PRINTF_LIKE(5, 0)
    report_fault(struct option_reader *r, uint32_t node, enum fault fault, const char *name,
                 const char *format, va_list args)
{
    r->failed = true;
    /* On a line that is no YAML a value is unreliable, and the line is reported already. */
    if (r->tree->cut_line > 0 && node_at(r, node)->line >= r->tree->cut_line) {
        return;
    }
    char text[ERR_TEXT_MAX];
    const int n = snprintf(text, sizeof text, "%s%s", name, name[0] ? ": " : "");
    (void)vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    const bool placed = node < r->tree->count;
    (void)err_list_add(r->errors, STATUS_E_RANGE, fault, r->file,
                       placed ? node_at(r, node)->line : 0,
                       placed ? node_at(r, node)->column : 0, "%s", text);
}

bool option_fault(struct option_reader *r, uint32_t node, enum fault fault, const char *format,
                  ...)
{
    va_list args;
    va_start(args, format);
    report_fault(r, node, fault, "", format, args);
    va_end(args);
    return false;
}

/* Names a key in messages, or the map or item itself for "". */
static void format_key(const struct option_reading *reading, const char *key, char *out,
                       size_t size)
{
    (void)snprintf(out, size, "%s%.90s", reading->shown, key);
    const size_t n = strlen(out);
    if (key[0] == '\0' && n > 0 && out[n - 1] == '.') {
        out[n - 1] = '\0';
    }
}

bool option_fault_at(const struct option_reading *reading, const char *key, enum fault fault,
                     const char *format, ...)
{
    char name[2 * OPTION_PREFIX_MAX];
    const uint32_t node = key[0] ? option_node(reading, key) : TREE_NONE;
    format_key(reading, key, name, sizeof name);
    va_list args;
    va_start(args, format);
    report_fault(reading->r, node != TREE_NONE ? node : reading->node, fault, name, format,
                 args);
    va_end(args);
    return false;
}

bool option_is_empty(const struct tree *tree, uint32_t node)
{
    const struct tree_node *n = &tree->nodes[node];
    if (n->kind != TREE_SCALAR || !n->plain) {
        return false;
    }
    const char *text = tree_text(tree, node);
    return text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0;
}

/* Copies the part of a row's path below a section, up to the next dot; false when the row is in
 * another section. */
static bool name_below(const struct option_row *row, const char *path, char out[NAME_MAX_BYTES])
{
    const size_t n = strlen(path);
    if (strncmp(row->path, path, n) != 0) {
        return false;
    }
    (void)snprintf(out, NAME_MAX_BYTES, "%.*s", (int)strcspn(row->path + n, "."),
                   row->path + n);
    return true;
}

static const char *last_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* Returns the known key of the section most similar to key; false when none is similar. */
static bool find_near(const struct option_table *table, const char *path, const char *key,
                      char near[NAME_MAX_BYTES])
{
    char name[NAME_MAX_BYTES];
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < table->count; i++) {
        if (!name_below(&table->rows[i], path, name)) {
            continue;
        }
        size_t distance = edit_likeness(key, name);
        /* One may contain the other: "user" means username. */
        if (distance == SIZE_MAX && strlen(key) >= 3 &&
            (strstr(name, key) || strstr(key, name))) {
            distance = EDIT_TEXT_MAX; /* worse than any real match */
        }
        if (distance < best) {
            best = distance;
            memcpy(near, name, sizeof name);
        }
    }
    return best != SIZE_MAX;
}

static void list_names(const struct option_table *table, const char *path, char *out,
                       size_t size)
{
    char name[NAME_MAX_BYTES];
    char last[NAME_MAX_BYTES] = "";
    out[0] = '\0';
    for (size_t i = 0; i < table->count; i++) {
        if (name_below(&table->rows[i], path, name) && strcmp(name, last) != 0) {
            names_append(out, size, name);
            memcpy(last, name, sizeof last);
        }
    }
}

/* Suggests the section in which the key would be right: "broker.host" for host. */
static const char *find_elsewhere(const struct option_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(last_name(table->rows[i].path), key) == 0) {
            return table->rows[i].path;
        }
    }
    return NULL;
}

static void report_unknown(struct option_reader *r, const struct option_table *table,
                           const char *path, uint32_t node, const char *shown)
{
    const struct tree_node *n = node_at(r, node);
    const char *key = tree_key(r->tree, node);
    char near[NAME_MAX_BYTES];
    char help[ERR_TEXT_MAX / 2];
    const char *elsewhere = find_elsewhere(table, key);

    if (key[0] != '\0' && strspn(key, "0123456789") == strlen(key)) {
        (void)snprintf(help, sizeof help, "write decimals with a point, not with a comma");
    } else if (find_near(table, path, key, near)) {
        (void)snprintf(help, sizeof help, "did you mean '%s'?", near);
    } else if (elsewhere && strchr(elsewhere, '.')) {
        (void)snprintf(help, sizeof help, "it belongs under %.*s",
                       (int)(last_name(elsewhere) - elsewhere - 1), elsewhere);
    } else {
        char names[ERR_TEXT_MAX / 2 - 8];
        list_names(table, path, names, sizeof names);
        (void)snprintf(help, sizeof help, "known: %s", names);
    }
    (void)err_list_add(r->errors, STATUS_E_PARSE, FAULT_UNKNOWN_KEY, r->file, n->key_line,
                       n->key_column, "unknown key '%s%.40s', %s", shown, key, help);
    r->failed = true;
}

static bool is_number(const struct option_row *row)
{
    return row->type == OPTION_REAL || row->type == OPTION_INTEGER || row->type == OPTION_TIME;
}

static void read_value(struct option_reader *r, const struct option_row *row, uint32_t node,
                       const char *name, void *values)
{
    const struct tree_node *n = node_at(r, node);
    const bool empty = option_is_empty(r->tree, node);
    char range[OPTION_WHY_MAX / 2];
    struct err why = {0};

    option_describe(row, range, sizeof range);
    if (n->kind != TREE_SCALAR) {
        option_fault(r, node, row->type == OPTION_NAME ? FAULT_BAD_NAME : FAULT_VALUE_EXPECTED,
                     "%s: one value is wanted, not a %s; allowed: %s", name,
                     n->kind == TREE_LIST ? "list" : "map", range);
    } else if (empty) {
        option_fault(r, node, FAULT_MISSING_VALUE,
                     "%s has no value, give one (%s) or leave the key out for the default",
                     name, range);
    } else if (!option_parse(row, tree_text(r->tree, node), n->plain, values, &why)) {
        option_fault(r, node, why.fault, "%s: %s", name, why.text);
    }
}

/* Returns the first row of the option or section named by key below path; NULL when unknown. */
static const struct option_row *match_key(const struct option_table *table, const char *path,
                                          const char *key, bool *section)
{
    const size_t n = strlen(path);
    const size_t k = strlen(key);
    if (k == 0 || strchr(key, '.')) {
        return NULL;
    }
    for (size_t i = 0; i < table->count; i++) {
        const char *rest = table->rows[i].path + n;
        if (strncmp(table->rows[i].path, path, n) == 0 && strncmp(rest, key, k) == 0 &&
            (rest[k] == '\0' || rest[k] == '.')) {
            *section = rest[k] == '.';
            return &table->rows[i];
        }
    }
    return NULL;
}

static void read_items(const struct option_row *row, struct option_reader *r, uint32_t node,
                       const char *name, void *owner);

/* Recursion is as deep as the tables are nested. */
// NOLINTNEXTLINE(misc-no-recursion)
void option_read_node(struct option_reader *r, const struct option_row *row, uint32_t node,
                      const char *name, void *values)
{
    if (row->type == OPTION_ITEMS) {
        read_items(row, r, node, name, values);
    } else if (row->type != OPTION_MAP) {
        read_value(r, row, node, name, values);
    }
}

/* Reports a node that is no map; false then. */
static bool is_map(struct option_reader *r, const struct option_table *table, const char *path,
                   uint32_t node, const char *shown)
{
    const struct tree_node *map = node_at(r, node);
    char names[ERR_TEXT_MAX / 2];
    if (map->kind == TREE_SCALAR && map->plain && strchr(tree_text(r->tree, node), ':')) {
        option_fault(r, node, FAULT_BAD_SYNTAX, "'%.40s': a space is missing behind the colon",
                     tree_text(r->tree, node));
    } else if (map->kind != TREE_MAP) {
        list_names(table, path, names, sizeof names);
        option_fault(r, node, FAULT_OBJECT_EXPECTED,
                     "%.*s%s: 'key: value' lines are wanted here, with keys: %s",
                     (int)(strlen(shown) > 0 ? strlen(shown) - 1 : 0), shown,
                     strlen(shown) > 0 ? "" : "the file", names);
    }
    return map->kind == TREE_MAP;
}

static void read_section(const struct option_reading *reading, const char *path, uint32_t node,
                         const char *shown, void *values);

/* Reads a section. A scalar in its place is its `name`, if it has one: `real: acme/amr-01`. */
// NOLINTNEXTLINE(misc-no-recursion)
static void read_below(const struct option_reading *reading, const char *path, uint32_t node,
                       const char *shown, void *values)
{
    char key[OPTION_PREFIX_MAX + 8];
    (void)snprintf(key, sizeof key, "%sname", path);
    const struct option_row *row = option_find(reading->table, key);
    const struct tree *tree = reading->r->tree;
    if (row && tree_is(tree, node, TREE_SCALAR) && !option_is_empty(tree, node)) {
        (void)snprintf(key, sizeof key, "%sname", shown);
        reading->given[row - reading->table->rows] = node;
        option_read_node(reading->r, row, node, key, values);
    } else {
        read_section(reading, path, node, shown, values);
    }
}

/* Reads the values below path ("" or "broker.") of a table; recursion is as deep as the dots in
 * its paths. */
// NOLINTNEXTLINE(misc-no-recursion)
static void read_section(const struct option_reading *reading, const char *path, uint32_t node,
                         const char *shown, void *values)
{
    struct option_reader *r = reading->r;
    const struct option_table *table = reading->table;
    if (node_at(r, node)->kind == TREE_SKIPPED || option_is_empty(r->tree, node) ||
        !is_map(r, table, path, node, shown)) {
        return;
    }
    for (uint32_t i = node_at(r, node)->first; i != TREE_NONE; i = node_at(r, i)->next) {
        if (node_at(r, i)->kind == TREE_SKIPPED) {
            continue;
        }
        const char *key = tree_key(r->tree, i);
        char name[OPTION_PREFIX_MAX];
        bool section = false;
        const struct option_row *row = match_key(table, path, key, &section);
        (void)snprintf(name, sizeof name, "%s%s%s", shown, key, section ? "." : "");
        if (!row) {
            report_unknown(r, table, path, i, shown);
        } else if (section) {
            char deeper[OPTION_PREFIX_MAX];
            (void)snprintf(deeper, sizeof deeper, "%s%s.", path, key);
            read_below(reading, deeper, i, name, values);
        } else {
            reading->given[row - table->rows] = i;
            if (row->type != OPTION_ITEMS) {
                option_read_node(r, row, i, name, values);
            }
        }
    }
}

static void report_missing(const struct option_reading *reading, const char *key,
                           const struct option_row *row)
{
    const char *example = row->items ? row->items->example : NULL;
    char what[OPTION_WHY_MAX / 2];
    if (row->help[0] && !is_number(row)) {
        option_fault(reading->r, reading->node, FAULT_MISSING_KEY, "%s%s is missing: %.*s",
                     reading->shown, key, (int)strcspn(row->help, ";"), row->help);
        return;
    }
    option_describe(row, what, sizeof what);
    option_fault(reading->r, reading->node, FAULT_MISSING_KEY, "%s%s is missing (%s%s%s)",
                 reading->shown, key, what, example ? ", as in " : "", example ? example : "");
}

/* required: "x_m y_m" */
static void check_required(const struct option_reading *reading, const char *required)
{
    struct option_reader *r = reading->r;
    const bool empty = option_is_empty(r->tree, reading->node);
    char key[NAME_MAX_BYTES];
    if (r->tree->partial || (!empty && node_at(r, reading->node)->kind != TREE_MAP)) {
        return; /* the keys may be in the part that was not read */
    }
    for (const char *at = required; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        (void)snprintf(key, sizeof key, "%.*s", (int)n, at);
        at += n;
        const struct option_row *row = option_find(reading->table, key);
        assert(row);
        if (reading->given[row - reading->table->rows] == TREE_NONE) {
            report_missing(reading, key, row);
        }
    }
}

// NOLINTNEXTLINE(misc-no-recursion)
void option_read_items(const struct option_reading *reading, const char *path, void *values)
{
    const uint32_t node = option_node(reading, path);
    char name[OPTION_PREFIX_MAX];
    (void)snprintf(name, sizeof name, "%s%s", reading->shown, path);
    if (node != TREE_NONE) {
        read_items(option_find(reading->table, path), reading->r, node, name, values);
    }
}

// NOLINTNEXTLINE(misc-no-recursion)
void option_read(const struct option_reading *reading, const char *required, void *values)
{
    const struct option_table *table = reading->table;
    read_section(reading, "", reading->node, reading->shown, values);
    if (required) {
        check_required(reading, required);
    }
    for (size_t i = 0; i < table->count && node_at(reading->r, reading->node)->count > 0; i++) {
        if (table->rows[i].type == OPTION_ITEMS && !table->rows[i].items->later) {
            option_read_items(reading, table->rows[i].path, values);
        }
    }
}

/* --- items -------------------------------------------------------------------------------- */

const char *option_name(const struct option_reading *item)
{
    return tree_key(item->r->tree, item->node);
}

/* Reports another kind of node, or another number of items; false then. */
static bool check_items(const struct option_row *row, struct option_reader *r, uint32_t node,
                        const char *name)
{
    const struct option_items *items = row->items;
    const struct tree_node *n = node_at(r, node);
    const bool kind = n->kind == (items->shape == OPTION_NAMED ? TREE_MAP : TREE_LIST);
    char what[OPTION_WHY_MAX / 2];
    if (kind && n->count >= items->least && (items->most == 0 || n->count <= items->most)) {
        return true;
    }
    option_describe(row, what, sizeof what);
    return option_fault(r, node,
                        items->fault                   ? items->fault
                        : kind                         ? FAULT_WRONG_COUNT
                        : items->shape == OPTION_NAMED ? FAULT_OBJECT_EXPECTED
                                                       : FAULT_LIST_EXPECTED,
                        "%s: a %s is wanted%s%s", name, what, items->example ? ", as in " : "",
                        items->example ? items->example : "");
}

static bool check_item_name(const struct option_items *items, struct option_reader *r,
                            uint32_t node, const char *name)
{
    const struct tree_node *n = node_at(r, node);
    const char *key = tree_key(r->tree, node);
    if (items->shape != OPTION_NAMED || option_is_name(items->names, key)) {
        return true;
    }
    (void)err_list_add(r->errors, STATUS_E_RANGE, FAULT_BAD_NAME, r->file, n->key_line,
                       n->key_column, "%s: '%.40s': a name has 1 to 31 letters, digits, %s",
                       name, key, items->names == OPTION_ID ? "'_' or '-'" : "'_', '-' or '.'");
    r->failed = true;
    return false;
}

// NOLINTNEXTLINE(misc-no-recursion)
static void read_item(const struct option_items *items, struct option_reading *item,
                      void *value, void *owner)
{
    struct option_reader *r = item->r;
    const bool failed = r->failed;
    const bool empty = option_is_empty(r->tree, item->node);
    const bool scalar = tree_is(r->tree, item->node, TREE_SCALAR) && !empty;
    char name[OPTION_PREFIX_MAX];
    r->failed = false;
    if (items->start) {
        items->start(item, value, owner);
    } else if (items->table) {
        option_defaults(items->table, value);
    }
    if (empty && items->shape == OPTION_LIST && items->required && !r->tree->partial) {
        option_fault_at(item, "", FAULT_MISSING_KEY, "keys are missing: %s", items->required);
    } else if (r->failed) {
        /* Its name is wrong, so its keys are not read. */
    } else if (items->table && !(items->short_form && scalar)) {
        option_read(item, items->required, value);
    } else if (items->value && is_number(items->value) && !scalar) {
        option_fault_at(item, "", FAULT_NOT_A_NUMBER, "a number was expected");
    } else if (items->table || items->value) {
        format_key(item, "", name, sizeof name);
        option_read_node(r, items->table ? &items->table->rows[0] : items->value, item->node,
                         name, value);
    }
    item->failed = r->failed;
    if (items->add) {
        items->add(item, value, owner);
    }
    r->failed = r->failed || failed;
}

// NOLINTNEXTLINE(misc-no-recursion)
static void read_items(const struct option_row *row, struct option_reader *r, uint32_t node,
                       const char *name, void *owner)
{
    const struct option_items *items = row->items;
    const struct tree_node *n = node_at(r, node);
    const bool empty = option_is_empty(r->tree, node);
    const bool one = items->shape == OPTION_LIST_OR_ONE && n->kind == TREE_SCALAR && !empty;
    const bool kept = row->size > 0 && items->shape != OPTION_NAMED;
    char *slot = kept ? (char *)owner + row->offset : NULL;
    size_t count = 0;
    if (n->kind == TREE_SKIPPED ||
        (items->shape == OPTION_NAMED && empty && items->least == 0) ||
        (!one && !check_items(row, r, node, name))) {
        return;
    }
    void *room = slot ? NULL : calloc(1, items->bytes + 1);
    if (!slot && !room) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        return;
    }
    for (uint32_t i = one ? node : n->first; i != TREE_NONE;
         i = one ? TREE_NONE : node_at(r, i)->next) {
        uint32_t given[OPTION_ROWS_MAX] = {0};
        char shown[OPTION_PREFIX_MAX];
        struct option_reading item = {r, items->table, given, i, shown, count, false};
        const char *dot = items->table ? "." : "";
        if (items->shape == OPTION_NAMED) {
            (void)snprintf(shown, sizeof shown, "%s.%s%s", name, tree_key(r->tree, i), dot);
        } else {
            (void)snprintf(shown, sizeof shown, "%s[%zu]%s", name, count, dot);
        }
        if (node_at(r, i)->kind == TREE_SKIPPED || !check_item_name(items, r, i, name)) {
            continue;
        }
        void *value = slot ? slot + count * items->bytes : room;
        memset(value, 0, items->bytes);
        read_item(items, &item, value, owner);
        count++;
    }
    if (slot && items->least != items->most) {
        memcpy((char *)owner + items->count_at, &count, sizeof count);
    }
    free(room);
}

/* --- a map by its table ------------------------------------------------------------------ */

uint32_t option_node(const struct option_reading *reading, const char *path)
{
    /* A large lab's pairs mostly have empty maps, which need no table walk. */
    const bool empty =
        reading->node != TREE_NONE && node_at(reading->r, reading->node)->count == 0;
    const struct option_row *row = empty ? NULL : option_find(reading->table, path);
    assert(empty || row);
    return empty ? TREE_NONE : reading->given[row - reading->table->rows];
}

/* Reads a map into new memory, to be freed; NULL without memory. */
static void *read_values(const struct option_file *file, struct option_reader *r, uint32_t node,
                         const char *shown, const void *out)
{
    uint32_t given[OPTION_ROWS_MAX] = {0};
    const struct option_reading reading = {r, file->table, given, node, shown, 0, false};
    void *values = calloc(1, file->bytes);
    if (!values) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        return NULL;
    }
    if (file->table) {
        option_defaults(file->table, values);
        option_read(&reading, file->required, values);
    } else {
        memcpy(values, out, file->out_bytes);
    }
    file->finish(&reading, values);
    return values;
}

void option_file_read(const struct option_file *file, struct option_reader *r, uint32_t node,
                      const char *shown, void *out)
{
    void *values = read_values(file, r, node, shown, out);
    if (values) {
        memcpy(out, values, file->out_bytes);
    }
    free(values);
}

enum status option_file_parse(const struct option_file *file, const char *text, size_t bytes,
                              const char *name, void *out, struct err_list *errors)
{
    struct tree tree = {0};
    void *values = NULL;
    enum status status = tree_parse(text, bytes, name, &tree, errors);
    struct option_reader r = {&tree, name, errors, status != STATUS_OK, NULL};
    const bool nothing = tree.count == 0 || (file->empty && option_is_empty(&tree, TREE_ROOT));
    if (status != STATUS_E_NOMEM && !nothing) {
        values = read_values(file, &r, TREE_ROOT, "", out);
        status = !values ? STATUS_E_NOMEM : r.failed ? STATUS_E_PARSE : STATUS_OK;
    } else if (status == STATUS_OK && file->empty) {
        status = err_list_add(errors, STATUS_E_PARSE, FAULT_EMPTY_FILE, name, 1, 1, "%s",
                              file->empty);
    } else if (status == STATUS_OK && file->table) {
        memset(out, 0, file->out_bytes);
    }
    if (status == STATUS_OK && values) {
        memcpy(out, values, file->out_bytes);
    }
    free(values);
    tree_finish(&tree);
    if (errors) {
        err_list_sort(errors);
    }
    return status;
}

/* --- the file ------------------------------------------------------------------------- */

char *text_file_read(const char *path, size_t most, size_t *bytes, const char **tried)
{
    FILE *file = fopen(path, "re");
    *tried = file ? "read" : "open";
    if (!file) {
        return NULL;
    }
    char *text = malloc(most + 2);
    *bytes = text ? fread(text, 1, most + 1, file) : 0;
    const bool failed = ferror(file) != 0;
    const int error = errno;
    (void)fclose(file);
    errno = error;
    if (!text || failed) {
        free(text);
        return NULL;
    }
    text[*bytes] = '\0';
    return text;
}

enum status option_file_load(const struct option_file *file, const char *path, void *out,
                             struct err_list *errors)
{
    size_t bytes = 0;
    const char *tried = "";
    char *text = text_file_read(path, TREE_BYTES_MAX, &bytes, &tried);
    if (!text && errno == ENOMEM) {
        return err_list_add(errors, STATUS_E_NOMEM, FAULT_NO_MEMORY, path, 0, 0,
                            "not enough memory to read it");
    }
    if (!text) {
        return err_list_add(errors, STATUS_E_IO, FAULT_FILE_UNREADABLE, path, 0, 0,
                            "cannot %s: %s; the path of %s is wanted", tried,
                            strerrordesc_np(errno), file->what);
    }
    if (file->translate) {
        file->translate(text, bytes);
    }
    const enum status status = option_file_parse(file, text, bytes, path, out, errors);
    free(text);
    return status;
}

bool text_file_first_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    line[0] = '\0';
    const bool got = fgets(line, (int)size, file) != NULL;
    const bool read = ferror(file) == 0; /* a directory can be opened */
    const int error = errno;
    (void)fclose(file);
    errno = error;
    line[got ? strcspn(line, "\r\n") : 0] = '\0';
    return read;
}

bool text_file_sibling(const char *file, const char *path, char *out, size_t size)
{
    const char *slash = strrchr(file, '/');
    const int folder = slash && path[0] != '/' ? (int)(slash - file) + 1 : 0;
    const int n = snprintf(out, size, "%.*s%s", folder, file, path);
    return n >= 0 && (size_t)n < size;
}

void err_list_print(const struct err_list *list, FILE *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct err *item = &list->items[i];
        if (item->line == 0) {
            (void)fprintf(out, "tandem: %s: %s\n", item->where, item->text);
        } else {
            (void)fprintf(out, "tandem: %s:%u:%u: %s\n", item->where, item->line, item->column,
                          item->text);
        }
    }
    if (list->more > 0) {
        (void)fprintf(out, "tandem: and %zu more fault%s\n", list->more,
                      list->more == 1 ? "" : "s");
    }
}
