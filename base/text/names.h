/* base/text/names.h - tables of the names of enum values, in which no value is forgotten.
 *
 * A table that does not name every value does not compile. tests/unit/test_names.c checks every
 * table for holes and duplicate names. Pure.
 */
#ifndef BASE_TEXT_NAMES_H
#define BASE_TEXT_NAMES_H

#include <stddef.h>

struct names {
    const char *const *text; /* [count] */
    size_t count;
};

/* Defines the table `symbol` of `expected` names, in the order of their values. */
#define NAMES(symbol, expected, ...)                                                           \
    static const char *const symbol##_text[] = {__VA_ARGS__};                                  \
    _Static_assert(sizeof symbol##_text / sizeof symbol##_text[0] == (size_t)(expected),       \
                   #symbol ": a name for each value");                                         \
    const struct names symbol = {symbol##_text, (size_t)(expected)}

/* Does the same for `enum kind`: the table `kind_names` and the function `kind_name(value)`. */
#define ENUM_NAMES(kind, expected, ...)                                                        \
    NAMES(kind##_names, expected, __VA_ARGS__);                                                \
    const char *kind##_name(enum kind value)                                                   \
    {                                                                                          \
        return names_text(&kind##_names, (size_t)value);                                       \
    }                                                                                          \
    _Static_assert(1, "ask for a semicolon")

/* Declares that table and that function in a header. */
#define ENUM_NAMES_DECLARED(kind)                                                              \
    extern const struct names kind##_names;                                                    \
    const char *kind##_name(enum kind value)

/* A list of values and names in one macro, `#define LIST(X) X(VALUE, "name") …`, gives the
 * enumerators with LIST(NAMES_VALUE) and the names with LIST(NAMES_TEXT). */
#define NAMES_VALUE(value, name) value,
#define NAMES_TEXT(value, name)  name,

/* Returns "unknown" if there is no such value. */
const char *names_text(const struct names *names, size_t value);

/* Returns the value of a name, or names->count if no value has this name. */
size_t names_value(const struct names *names, const char *name);

/* A name and its place, for qsort(): equal names are sorted by place. */
struct name_at {
    const char *name;
    size_t at;
};
int names_by_name(const void *a, const void *b);

/* Appends a name to a list, with ", " between; the list is cut to size. */
void names_append(char *list, size_t size, const char *name);

/* Does the same, unless the list has the name already or no room for all of it. */
void names_append_new(char *list, size_t size, const char *name);

/* Writes all names of a table as such a list. */
void names_list(const struct names *names, char *list, size_t size);

#endif
