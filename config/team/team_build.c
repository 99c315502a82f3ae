#include "config/team/team_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/names.h"

enum { KNOWN_MAX = 110 };

void *team_build_append(struct team_build *b, enum team_array of, size_t bytes)
{
    struct team_list *list = &b->memory.arrays[of];
    if (list->count == list->capacity) {
        const size_t capacity = 2 * list->capacity + 16;
        void *items = reallocarray(list->items, capacity, bytes);
        if (!items) {
            b->no_memory = true;
            return &b->scrap;
        }
        list->items = items;
        list->capacity = capacity;
    }
    void *item = (char *)list->items + list->count * bytes;
    list->count++;
    memset(item, 0, bytes);
    return item;
}

/* --- names ------------------------------------------------------------------------------- */

bool team_build_text(struct team_build *b, uint32_t node, const char *what)
{
    const char *text = tree_scalar(b->r->tree, node);
    if (option_is_name(OPTION_DOTTED_ID, text)) {
        return true;
    }
    return option_fault(b->r, node, FAULT_BAD_NAME,
                        "%.*s: '%.40s': %s has 1 to 31 letters, digits, '_', '-' or '.'",
                        (int)strlen(b->shown) - 1, b->shown, text, what);
}

uint16_t team_build_name(struct team_build *b, const char *text)
{
    const size_t n = TEAM_COUNT(b, TEAM_OF_NAMES);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(TEAM_AT(b, TEAM_OF_NAMES, struct team_word, i)->text, text) == 0) {
            return (uint16_t)i;
        }
    }
    if (n == TEAM_NONE) {
        option_fault(b->r, TREE_NONE, FAULT_TOO_MANY,
                     "%.*s: more than %d names of parts, places and the like",
                     (int)strlen(b->shown) - 1, b->shown, TEAM_NONE);
        return TEAM_NONE;
    }
    struct team_word *name = TEAM_ADD(b, TEAM_OF_NAMES, struct team_word);
    (void)snprintf(name->text, sizeof name->text, "%s", text);
    return (uint16_t)n;
}

const char *team_nth(const struct team_build *b, enum team_array of, size_t i)
{
    /* Items have their name, or its index among the names. */
#define NAMED(type, index)                                                                     \
    {                                                                                          \
        sizeof(struct type), offsetof(struct type, name), index                                \
    }
    static const struct {
        size_t bytes, name;
        bool index;
    } items[] = {
        [TEAM_OF_ROBOTS] = NAMED(team_robot_params, false),
        [TEAM_OF_RESOURCES] = NAMED(team_resource_params, false),
        [TEAM_OF_TASKS] = NAMED(team_task_params, false),
        [TEAM_OF_SEQUENCES] = NAMED(team_sequence, false),
        [TEAM_OF_BUFFERS] = NAMED(team_buffer, true),
        [TEAM_OF_POSITIONS] = NAMED(team_position, true),
    };
    const char *name =
        (const char *)b->memory.arrays[of].items + i * items[of].bytes + items[of].name;
    if (items[of].index) {
        return TEAM_AT(b, TEAM_OF_NAMES, struct team_word,
                       *(const uint16_t *)(const void *)name)
            ->text;
    }
    return name;
}

void team_build_guess(struct edit_guess *guess, const char *text, const char *name)
{
    char small[TEAM_NAME_MAX];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof small; n++) {
        const char c = name[n];
        small[n] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    small[n] = '\0';
    const size_t distance = edit_likeness(text, small);
    if (distance != SIZE_MAX && (!guess->name || distance < guess->distance)) {
        *guess = (struct edit_guess){name, distance};
    }
}

uint16_t team_build_find(struct team_build *b, uint32_t node, const char *text,
                         const char *what, enum team_array of)
{
    char known[KNOWN_MAX] = "";
    char meant[EDIT_GUESS_MAX];
    struct edit_guess guess = {0};
    const size_t count = TEAM_COUNT(b, of);
    for (size_t i = 0; i < count; i++) {
        const char *name = team_nth(b, of, i);
        if (strcmp(name, text) == 0) {
            return (uint16_t)i;
        }
        team_build_guess(&guess, text, name);
        names_append_new(known, sizeof known, name);
    }
    option_fault(b->r, node, FAULT_UNKNOWN_NAME, "%s: there is no '%.31s'%s%s%s", what, text,
                 edit_guess_text(&guess, meant), count > 0 ? "; there is " : "", known);
    return TEAM_NONE;
}

uint16_t team_build_find_at(const struct option_reading *reading, const char *key,
                            const char *text, enum team_array of)
{
    char what[2 * OPTION_PREFIX_MAX];
    const int shown = (int)strlen(reading->shown) - (key[0] ? 0 : 1); /* without the dot */
    (void)snprintf(what, sizeof what, "%.*s%.90s", shown, reading->shown, key);
    return team_build_find(reading->r->context,
                           key[0] ? option_node(reading, key) : reading->node, text, what, of);
}
