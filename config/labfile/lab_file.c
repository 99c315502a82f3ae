#include "config/labfile/lab_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers/hash.h"
#include "base/text/names.h"
#include "config/labfile/map_file.h"
#include "config/labfile/ros_map_file.h"
#include "logger/codec/codecs.h"

void lab_file_free(struct lab_file *lab)
{
    if (lab) {
        free(lab->pairs);
        team_file_free(&lab->teams);
        mapping_table_free(lab->tables);
        machine_pictures_finish(&lab->pictures);
        while (lab->followings) {
            struct lab_following *const next = lab->followings->next;
            free(lab->followings);
            lab->followings = next;
        }
        while (lab->worlds) {
            struct lab_world *const next = lab->worlds->next;
            free(lab->worlds->costmap);
            free(lab->worlds);
            lab->worlds = next;
        }
        *lab = (struct lab_file){0};
    }
}

_Static_assert((int)OPTION_NAME_MAX == (int)EVENT_PAIR_MAX - 1 &&
                   (int)OPTION_NAME_MAX == (int)TEAM_NAME_MAX - 1,
               "ids and names have one length");

/* --- pairs ---------------------------------------------------------------------------- */

struct pair_list {
    struct pair_params *items;
    uint32_t *nodes; /* where each pair was written */
    size_t count, capacity;
    struct lab_file *lab; /* owner of the pairs */
};

static bool append_pair(struct pair_list *list, const struct pair_params *params, uint32_t node)
{
    if (list->count == list->capacity) {
        const size_t capacity = 2 * list->capacity + 16;
        struct pair_params *items = reallocarray(list->items, capacity, sizeof list->items[0]);
        if (!items) {
            return false;
        }
        list->items = items;
        uint32_t *nodes = reallocarray(list->nodes, capacity, sizeof list->nodes[0]);
        if (!nodes) {
            return false;
        }
        list->nodes = nodes;
        list->capacity = capacity;
    }
    list->items[list->count] = *params;
    list->nodes[list->count++] = node;
    return true;
}

static void fault_at_key(struct option_reader *r, uint32_t node, enum fault fault,
                         const char *text)
{
    const struct tree_node *n = &r->tree->nodes[node];
    (void)err_list_add(r->errors, STATUS_E_RANGE, fault, r->file, n->key_line, n->key_column,
                       "pair '%.40s': %s", tree_key(r->tree, node), text);
    r->failed = true;
}

/* Sparkplug pairs need rows for metrics, and no other pair may have them. */
static bool is_misplaced(const struct pair_params *p)
{
    const struct mapping *mapping = p->speaks.mapping;
    const bool sparkplug = codec_find(p->codec) == &codec_sparkplug;
    bool misplaced = false;
    for (size_t k = 0; mapping && k < mapping->row_count; k++) {
        misplaced = misplaced || (mapping->rows[k].format == MAPPING_SPARKPLUG) != sparkplug;
    }
    return misplaced;
}

/* Reports what this pair needs and its table does not offer. */
static void check_mapping(struct option_reader *r, uint32_t node, const struct lab_pair *pair)
{
    const struct pair_params *p = &pair->params;
    char why[OPTION_WHY_MAX];
    if (is_misplaced(p)) {
        fault_at_key(
            r, node, FAULT_INCONSISTENT,
            "codec: sparkplug wants rows with format: sparkplug, others want other rows");
    }
    if (p->speaks.mapping &&
        mapping_table_lacks(p->speaks.mapping, p->id, p->mode == PAIR_LINK, why)) {
        fault_at_key(r, node, FAULT_MAPPING_INCOMPLETE, why);
    }
}

/* A pair r with `count: 3` becomes r1, r2 and r3. */
static enum status add_pairs(struct option_reader *r, struct pair_list *list, uint32_t node,
                             struct lab_pair *pair)
{
    const char *id = tree_key(r->tree, node);
    const uint32_t last = pair->count > 0 ? pair->count : 1;

    for (uint32_t k = 1; k <= last; k++) {
        char *to = pair->params.id;
        const int n = pair->count > 0
                          ? snprintf(to, sizeof pair->params.id, "%s%u", id, (unsigned)k)
                          : snprintf(to, sizeof pair->params.id, "%s", id);
        if (n < 0 || (size_t)n >= sizeof pair->params.id) {
            fault_at_key(r, node, FAULT_TOO_LONG,
                         "with its number the id is longer than 31 characters");
            return STATUS_OK;
        }
        (void)snprintf(pair->params.speaks.pair, sizeof pair->params.speaks.pair, "%s", to);
        check_mapping(r, node, pair);
        if (list->count == LAB_PAIRS_MAX) {
            fault_at_key(r, node, FAULT_TOO_MANY, "the lab has more than 100000 pairs");
            return STATUS_E_FULL;
        }
        if (!append_pair(list, &pair->params, node)) {
            return STATUS_E_NOMEM;
        }
    }
    return STATUS_OK;
}

/* --- tables ----------------------------------------------------------------------------- */

/* A file that several pairs name is read once. Its path is relative to the lab file, or to the
 * daemon's working directory. alone: the key is that of one pair. */
static struct mapping_table *load_table(struct option_reader *r, uint32_t node,
                                        const char *shown, bool alone,
                                        struct mapping_table **tables)
{
    const char *path = tree_text(r->tree, node);
    char sibling[2 * LAB_PATH_MAX];
    if (!text_file_sibling(r->file, path, sibling, sizeof sibling) ||
        access(sibling, R_OK) != 0) {
        (void)snprintf(sibling, sizeof sibling, "%s", path);
    }
    for (struct mapping_table *t = *tables; t; t = t->next) {
        if (t->file && t->alone == alone && strcmp(t->file, sibling) == 0) {
            if (!mapping_names_pairs(&t->mapping)) {
                option_fault(
                    r, node, FAULT_MISSING_KEY,
                    "%smapping: two pairs use %.120s, so each row needs 'pair: r1' or a "
                    "level {pair} in the topic",
                    shown, sibling);
                return NULL;
            }
            return t;
        }
    }
    struct mapping_table *table = mapping_table_load(sibling, alone, r->errors);
    if (!table) {
        option_fault(r, node, FAULT_BAD_PATH, "%smapping: %.160s cannot be used", shown,
                     sibling);
    } else {
        table->next = *tables;
        *tables = table;
    }
    return table;
}

/* Returns false when the table has a fault. */
static bool read_table(struct option_reader *r, uint32_t node, const char *shown,
                       struct lab_pair *pair, struct mapping_table **tables)
{
    char below[OPTION_PREFIX_MAX];
    const bool alone = strcmp(shown, "defaults.") != 0 && pair->count == 0;
    struct mapping_table *table = NULL;
    if (node == TREE_NONE || r->tree->nodes[node].kind == TREE_SKIPPED) {
        return true;
    }
    if (r->tree->nodes[node].kind == TREE_SCALAR && !option_is_empty(r->tree, node)) {
        table = load_table(r, node, shown, alone, tables);
    } else {
        (void)snprintf(below, sizeof below, "%smapping.", shown);
        table = mapping_table_read(r, node, below, alone);
        if (table) {
            table->next = *tables;
            *tables = table;
        }
    }
    pair->params.speaks.mapping = table ? &table->mapping : NULL;
    return table != NULL;
}

/* Reads the options of one pair, or the defaults of all. */
static void read_options(struct option_reader *r, uint32_t node, const char *shown,
                         struct lab_pair *pair, struct mapping_table **tables)
{
    uint32_t given[OPTION_ROWS_MAX] = {0};
    const struct option_reading reading = {r, lab_pair_options(), given, node, shown, 0, false};
    option_read(&reading, NULL, pair);
    if (pair_following_wanted(&pair->following)) {
        (void)snprintf(pair->following.arm, sizeof pair->following.arm, "%s", pair->params.arm);
    }
    lab_check_following(&reading, &pair->following);
    if (read_table(r, option_node(&reading, "mapping"), shown, pair, tables)) {
        lab_check_pair(&reading, pair);
    }
}

/* Pairs with equal texts share the result of parsing them. */
static bool follow_alike(const struct lab_pair *a, const struct lab_pair *b)
{
    static const char section[] = "following.";
    bool alike = strcmp(a->following.arm, b->following.arm) == 0;
    for (size_t i = 0; alike && i < lab_pair_options()->count; i++) {
        const struct option_row *row = &lab_pair_options()->rows[i];
        alike = strncmp(row->path, section, sizeof section - 1) != 0 || option_equal(row, a, b);
    }
    return alike;
}

/* Stores what the pair's `following` section says. Pairs often share it with the others (NULL:
 * there are none). False: no memory. */
static bool store_following(struct lab_file *lab, struct lab_pair *pair,
                            const struct lab_pair *others)
{
    if (others && follow_alike(pair, others)) {
        pair->params.following = others->params.following;
        return true;
    }
    struct lab_following *own = malloc(sizeof *own);
    if (own) {
        *own = (struct lab_following){lab->followings, pair->following};
        lab->followings = own;
        pair->params.following = &own->params;
    }
    return own != NULL;
}

static enum status read_pair(struct option_reader *r, uint32_t node,
                             const struct pair_params *defaults, struct pair_list *list)
{
    const char *id = tree_key(r->tree, node);
    char shown[OPTION_PREFIX_MAX];
    struct lab_pair others;

    if (r->tree->nodes[node].kind == TREE_SKIPPED) {
        return STATUS_OK;
    }
    if (!option_is_name(OPTION_ID, id)) {
        fault_at_key(r, node, FAULT_BAD_NAME, "an id has 1 to 31 letters, digits, '_' or '-'");
        return STATUS_OK;
    }
    (void)snprintf(shown, sizeof shown, "pairs.%s.", id);
    lab_pair_of(defaults, &others);
    struct lab_pair pair = others;
    read_options(r, node, shown, &pair, &list->lab->tables);
    return !store_following(list->lab, &pair, &others) ? STATUS_E_NOMEM
                                                       : add_pairs(r, list, node, &pair);
}

/* The tree finds duplicates in the file; ids made by `count` can also collide. */
static enum status check_ids(struct option_reader *r, const struct pair_list *list)
{
    struct name_at *sorted = calloc(list->count + 1, sizeof sorted[0]);
    if (!sorted) {
        return STATUS_E_NOMEM;
    }
    for (size_t i = 0; i < list->count; i++) {
        sorted[i] = (struct name_at){list->items[i].id, i};
    }
    qsort(sorted, list->count, sizeof sorted[0], names_by_name);
    for (size_t i = 1; i < list->count; i++) {
        if (strcmp(sorted[i].name, sorted[i - 1].name) == 0) {
            const uint32_t first = list->nodes[sorted[i - 1].at];
            char text[ERR_TEXT_MAX / 2];
            (void)snprintf(text, sizeof text,
                           "%s is there twice, from line %u and from here; give one another id",
                           sorted[i].name, r->tree->nodes[first].key_line);
            fault_at_key(r, list->nodes[sorted[i].at], FAULT_DUPLICATE_NAME, text);
        }
    }
    free(sorted);
    return STATUS_OK;
}

static enum status read_pairs(struct option_reader *r, uint32_t node,
                              const struct pair_params *defaults, struct pair_list *list)
{
    const struct tree_node *map = &r->tree->nodes[node];
    const bool empty = option_is_empty(r->tree, node);
    if (map->kind == TREE_SKIPPED) {
        return STATUS_OK;
    }
    if (!empty && map->kind != TREE_MAP) {
        option_fault(r, node, FAULT_OBJECT_EXPECTED,
                     "pairs: ids and their options are wanted, as in {r1: {}, r2: {}}");
        return STATUS_OK;
    }
    if (empty || map->count == 0) {
        option_fault(r, node, FAULT_MISSING_KEY,
                     "pairs: the lab has no pair, the least is {r1: {}}");
        return STATUS_OK;
    }
    for (uint32_t i = map->first; i != TREE_NONE; i = r->tree->nodes[i].next) {
        const enum status status = read_pair(r, i, defaults, list);
        if (status != STATUS_OK) {
            return status == STATUS_E_FULL ? STATUS_OK : status;
        }
    }
    return check_ids(r, list);
}

/* --- the whole file ------------------------------------------------------------------- */

/* Finds a file of a list next to the lab file; false after a fault. */
static bool find_file(const struct option_reading *item, const char *text,
                      char path[LAB_PATH_MAX])
{
    if (!item->failed && !text_file_sibling(item->r->file, text, path, LAB_PATH_MAX)) {
        return option_fault_at(item, "", FAULT_TOO_LONG, "the path of the file is too long");
    }
    return !item->failed;
}

/* Models are registered before pairs ask for them by name. */
void lab_add_model(const struct option_reading *item, void *value, void *owner)
{
    const struct model_row *row = NULL;
    char path[LAB_PATH_MAX];
    (void)owner;
    if (find_file(item, value, path) &&
        model_file_register(path, &row, item->r->errors) != STATUS_OK) {
        item->r->failed = true;
    }
}

void lab_add_machines(const struct option_reading *item, void *value, void *owner)
{
    struct lab_file *lab = owner;
    char path[LAB_PATH_MAX];
    if (find_file(item, value, path) &&
        machine_pictures_add(&lab->pictures, path, item->r->errors) != STATUS_OK) {
        item->r->failed = true;
    }
}

/* The numbers are sorted by their names; one replaces that of the same name. */
void lab_add_tolerance(const struct option_reading *item, void *value, void *owner)
{
    enum { MOST = PAIR_TOLERANCES_MAX };
    struct named_number *list = ((struct lab_pair *)owner)->params.tolerances;
    struct named_number one = {.name = ""};
    const char *name = option_name(item);
    size_t at = 0;
    if (item->failed) {
        return;
    }
    while (at < MOST && list[at].name[0] && strcmp(list[at].name, name) < 0) {
        at++;
    }
    const bool known = at < MOST && strcmp(list[at].name, name) == 0;
    if (!name[0] || strlen(name) >= sizeof one.name) {
        option_fault_at(item, "", FAULT_BAD_NAME, "a name has 1 to %zu bytes",
                        sizeof one.name - 1);
    } else if (!known && list[MOST - 1].name[0]) {
        option_fault_at(item, "", FAULT_TOO_MANY, "at most %d names are allowed", MOST);
    } else {
        if (!known) {
            memmove(&list[at + 1], &list[at], (MOST - 1 - at) * sizeof list[at]);
        }
        (void)snprintf(one.name, sizeof one.name, "%s", name);
        memcpy(&one.value, value, sizeof one.value);
        list[at] = one;
    }
}

void lab_add_trigger(const struct option_reading *item, void *value, void *owner)
{
    struct capture_trigger trigger;
    struct err err = {0};
    (void)owner;
    if (!item->failed && capture_trigger_parse(value, &trigger, &err) != STATUS_OK) {
        option_fault_at(item, "", err.fault, "%s", err.text);
    }
}

/* Missions of these pairs are planned on their maps. A file lies next to the lab file, or in
 * the working directory. */
static const struct lab_world *load_world(struct option_reader *r, struct lab_file *lab,
                                          const char *path)
{
    char found[LAB_PATH_MAX];
    struct lab_world *world = lab->worlds;
    while (world && strcmp(world->path, path) != 0) {
        world = world->next;
    }
    if (world) {
        return world;
    }
    if (!text_file_sibling(r->file, path, found, sizeof found) || access(found, R_OK) != 0) {
        (void)snprintf(found, sizeof found, "%s", path);
    }
    world = calloc(1, sizeof *world);
    if (!world) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory for its maps");
        return NULL;
    }
    world->path = path;
    world->next = lab->worlds;
    lab->worlds = world;
    if (ros_map_file_found(found)) {
        world->costmap = ros_map_file_load(found, r->errors);
        r->failed = !world->costmap || r->failed;
    } else {
        r->failed = option_file_load(&map_file, found, &world->world, r->errors) != STATUS_OK ||
                    r->failed;
    }
    return world;
}

void lab_format_maps(const struct lab_file *lab, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct lab_world *w = lab->worlds; w; w = w->next) {
        const uint64_t hash =
            w->costmap ? hash_bytes(HASH_START, w->costmap, costmap_bytes(w->costmap))
                       : hash_bytes(HASH_START, &w->world, sizeof w->world);
        if (strlen(w->path) + 19 < size - used) {
            used += (size_t)snprintf(out + used, size - used, "%s=%016llx ", w->path,
                                     (unsigned long long)hash);
        }
    }
}

static void load_worlds(struct option_reader *r, struct lab_file *lab)
{
    for (size_t i = 0; i < lab->pair_count; i++) {
        struct pair_params *p = &lab->pairs[i];
        if (p->missions_max > 0 && p->map[0]) {
            const struct lab_world *world = load_world(r, lab, p->map);
            p->costmap = world ? world->costmap : NULL;
            p->world = world && !world->costmap ? &world->world : NULL;
        }
    }
}

static void finish_lab(const struct option_reading *reading, void *values)
{
    struct option_reader *r = reading->r;
    struct lab_file *lab = values;
    struct pair_list list = {.lab = lab};
    struct lab_pair pair;
    const uint32_t defaults = option_node(reading, "defaults");
    const uint32_t pairs = option_node(reading, "pairs");
    const uint32_t teams = option_node(reading, "teams");
    lab_pair_defaults(&lab->defaults, "");
    lab_check_file(reading, lab);
    lab_pair_of(&lab->defaults, &pair);
    if (defaults != TREE_NONE) {
        read_options(r, defaults, "defaults.", &pair, &lab->tables);
    }
    const bool stored = store_following(lab, &pair, NULL);
    lab->defaults = pair.params;
    if (pairs != TREE_NONE) {
        if (!stored || read_pairs(r, pairs, &lab->defaults, &list) != STATUS_OK) {
            option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        }
        lab_check_journal(reading, lab, list.items, list.count);
    } else if (!r->tree->partial && r->tree->nodes[TREE_ROOT].kind == TREE_MAP) {
        option_fault(r, TREE_ROOT, FAULT_MISSING_KEY,
                     "pairs are missing, the least is \"pairs: {r1: {}}\"");
    }
    if (teams != TREE_NONE) {
        team_file_read(r, teams, &lab->teams);
        lab_check_teams(r, teams, &lab->teams, list.items, list.count);
    }
    free(list.nodes);
    lab->pairs = list.items;
    lab->pair_count = list.count;
    load_worlds(r, lab);
    if (r->failed) {
        lab_file_free(lab);
    }
}

static const struct option_file lab_file = {
    .what = "a lab file",
    .empty = "the file is empty, the least is \"pairs: {r1: {}}\"",
    .table = &lab_options,
    .bytes = sizeof(struct lab_file),
    .out_bytes = sizeof(struct lab_file),
    .finish = finish_lab,
};

enum status lab_file_parse(const char *text, size_t bytes, const char *name,
                           struct lab_file *out, struct err_list *errors)
{
    return option_file_parse(&lab_file, text, bytes, name, out, errors);
}

enum status lab_file_load(const char *path, struct lab_file *out, struct err_list *errors)
{
    return option_file_load(&lab_file, path, out, errors);
}

/* --- teams alone ---------------------------------------------------------------------- */

static void finish_teams(const struct option_reading *reading, void *values)
{
    struct option_reader *r = reading->r;
    struct team_file *teams = values;
    struct lab_file lab = {0};
    if (tree_child(r->tree, TREE_ROOT, "pairs") == TREE_NONE) {
        option_file_read(&team_file, r, TREE_ROOT, "", teams);
        return;
    }
    option_file_read(&lab_file, r, TREE_ROOT, "", &lab);
    *teams = lab.teams;
    lab.teams = (struct team_file){0};
    if (teams->team_count == 0 && !r->failed) {
        option_fault(r, TREE_ROOT, FAULT_MISSING_KEY, "the lab has no teams");
    }
    lab_file_free(&lab);
}

static const struct option_file teams_alone = {
    .what = "a file with teams",
    .empty = "the file is empty, the least is \"team: {robots: {R1: {}}}\"",
    .bytes = sizeof(struct team_file),
    .out_bytes = sizeof(struct team_file),
    .finish = finish_teams,
};

enum status lab_file_load_teams(const char *path, struct team_file *out,
                                struct err_list *errors)
{
    *out = (struct team_file){0};
    return option_file_load(&teams_alone, path, out, errors);
}

enum status lab_file_parse_teams(const char *text, size_t bytes, const char *name,
                                 struct team_file *out, struct err_list *errors)
{
    *out = (struct team_file){0};
    return option_file_parse(&teams_alone, text, bytes, name, out, errors);
}
