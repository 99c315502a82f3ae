#include "twin/machines.h"

#define MACHINE(symbol) extern const struct efsm_table symbol;
#include "twin/machines.def"
#undef MACHINE

#define MACHINE(symbol) &(symbol),
const struct efsm_table *const machines[] = {
#include "twin/machines.def"
};
#undef MACHINE

const size_t machine_count = COUNT(machines);

static char lower_case(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_same(const char *a, const char *b)
{
    while (*a && lower_case(*a) == lower_case(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

const struct efsm_table *machine_find(const char *name)
{
    for (size_t i = 0; i < machine_count; i++) {
        if (is_same(machines[i]->name, name)) {
            return machines[i];
        }
    }
    return NULL;
}
