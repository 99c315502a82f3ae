/* base/text/names.h - the names of an enum's values: tables in which none is forgotten.
 *
 * A table that does not name every value does not compile; tests/unit/test_names.c walks all
 * of them: no hole, no name twice. Pure.
 */
#ifndef BASE_TEXT_NAMES_H
#define BASE_TEXT_NAMES_H

#include <stddef.h>

struct names {
    const char *const *text; /* [count] */
    size_t count;
};

/* The table `symbol` of `expected` names, in the order of their values. */
#define NAMES(symbol, expected, ...)                                                           \
    static const char *const symbol##_text[] = {__VA_ARGS__};                                  \
    _Static_assert(sizeof symbol##_text / sizeof symbol##_text[0] == (size_t)(expected),       \
                   #symbol ": a name for each value");                                         \
    const struct names symbol = {symbol##_text, (size_t)(expected)}

/* The same for `enum kind`: the table `kind_names` and the function `kind_name(value)`. */
#define ENUM_NAMES(kind, expected, ...)                                                        \
    NAMES(kind##_names, expected, __VA_ARGS__);                                                \
    const char *kind##_name(enum kind value)                                                   \
    {                                                                                          \
        return names_text(&kind##_names, (size_t)value);                                       \
    }                                                                                          \
    _Static_assert(1, "ask for a semicolon")

/* For a list of values and names in one, `#define LIST(X) X(VALUE, "name") …`: the enumerators
 * by LIST(NAMES_VALUE), the names by LIST(NAMES_TEXT). */
#define NAMES_VALUE(value, name) value,
#define NAMES_TEXT(value, name)  name,

/* "unknown" when there is no such value. */
const char *names_text(const struct names *names, size_t value);

/* The value of a name; names->count when it is none. */
size_t names_value(const struct names *names, const char *name);

/* A name and where it stands, to be sorted by qsort(): equal names by their place. */
struct name_at {
    const char *name;
    size_t at;
};
int names_by_name(const void *a, const void *b);

/* One more name behind those of a list, with ", " between; cut to size. */
void names_append(char *list, size_t size, const char *name);

/* The same, unless the list has it already or has no room for the whole of it. */
void names_append_new(char *list, size_t size, const char *name);

#endif
