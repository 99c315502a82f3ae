#include "service/daemon/reload.h"

#include <stdio.h>
#include <string.h>

#include "service/cli/log.h"

enum { KEYS_NAMED_MAX = 8 };

/* Keys that differ: the first ones by name. */
struct changes {
    size_t count;
    char text[384];
};

static void add_change(struct changes *c, const char *owner, const char *key)
{
    if (c->count++ < KEYS_NAMED_MAX) {
        const size_t used = strlen(c->text);
        (void)snprintf(c->text + used, sizeof c->text - used, "%s%s%s", used > 0 ? ", " : "",
                       owner, key);
    }
}

static void compare_rows(const struct option_table *table, const void *old, const void *new,
                         const char *owner, struct changes *c)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        const bool is_value = row->type != OPTION_MAP && strcmp(row->path, "count") != 0;
        if (is_value && !option_equal(row, old, new)) {
            add_change(c, owner, row->path);
        }
    }
}

static const struct pair_params *find_pair(const struct lab_file *lab, const char *id)
{
    for (size_t i = 0; i < lab->pair_count; i++) {
        if (strcmp(lab->pairs[i].id, id) == 0) {
            return &lab->pairs[i];
        }
    }
    return NULL;
}

/* What `new` has otherwise than `old`. A change of `defaults` shows in the pairs that use it.
 */
static void compare_labs(const struct lab_file *old, const struct lab_file *new,
                         struct changes *c)
{
    compare_rows(&lab_options, old, new, "", c);
    const bool one_order = old->pair_count == new->pair_count;
    for (size_t i = 0; i < new->pair_count; i++) {
        const struct pair_params *pair = &new->pairs[i];
        const bool in_place = one_order && strcmp(old->pairs[i].id, pair->id) == 0;
        const struct pair_params *before = in_place ? &old->pairs[i] : find_pair(old, pair->id);
        char owner[sizeof pair->id + sizeof "pairs.."];
        (void)snprintf(owner, sizeof owner, "pairs.%s%s", pair->id, before ? "." : "");
        if (before) {
            compare_rows(&lab_pair_options, before, pair, owner, c);
        } else {
            add_change(c, owner, "");
        }
    }
    if (!one_order) {
        add_change(c, "pairs", "");
    }
}

static void refuse_file(const char *path, const struct err_list *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        const struct err *e = &errors->items[i];
        log_write(LOG_RELOAD_REFUSED, NULL, "%s:%u:%u: %s", path, e->line, e->column, e->text);
    }
    log_write(LOG_RELOAD_REFUSED, NULL, "%s has %zu faults; the lab goes on as it was", path,
              errors->count + errors->more);
}

void reload_lab_file(const char *path, struct lab_file *running)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    if (lab_file_load(path, &lab, &errors) != STATUS_OK) {
        refuse_file(path, &errors);
        return;
    }
    if (lab.log.level != running->log.level) {
        running->log.level = lab.log.level;
        log_set_level(lab.log.level);
        log_write(LOG_RELOADED, NULL, "log.level is %s now", log_level_name(lab.log.level));
    }
    struct changes changes = {0};
    compare_labs(running, &lab, &changes);
    if (changes.count > 0) {
        log_write(LOG_RELOAD, NULL, "restart needed for %s%s", changes.text,
                  changes.count > KEYS_NAMED_MAX ? " and more" : "");
    } else {
        log_write(LOG_RELOADED, NULL, "%s is what the daemon runs with", path);
    }
    lab_file_free(&lab);
}
