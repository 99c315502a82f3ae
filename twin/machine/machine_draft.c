#include "twin/machine/machine_draft.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void machine_draft_start(struct machine_draft *draft)
{
    static const char *const times[] = {
        [MACHINE_TIME_NAME] = "t", [MACHINE_ELAPSED_NAME] = "elapsed"};
    memset(draft, 0, offsetof(struct machine_draft, pool));
    draft->diagnostics.count = draft->diagnostics.more = draft->diagnostics.conflicts = 0;
    memset(draft->diagnostics.severity_count, 0, sizeof draft->diagnostics.severity_count);
    draft->name = draft->purpose = "";
    draft->clocked = true;
    draft->pool.open = true;
    draft->pool.primes = false;
    expression_pool_start(&draft->pool);
    for (size_t i = 0; i < COUNT(times); i++) {
        const enum status st =
            expression_declare(&draft->pool, times[i], EXPRESSION_NUMBER, NULL, NULL);
        assert(st == STATUS_OK);
    }
}

const char *machine_draft_store_text(struct machine_draft *draft, const char *text,
                                     size_t bytes)
{
    if (bytes + 1 > sizeof draft->text - draft->text_bytes) {
        machine_diagnostics_add(&draft->diagnostics, "E-TOO-MANY", draft->place,
                                "its texts are longer than %d bytes together",
                                MACHINE_TEXT_MAX);
        return "";
    }
    char *to = draft->text + draft->text_bytes;
    memcpy(to, text, bytes);
    to[bytes] = '\0';
    draft->text_bytes += bytes + 1;
    return to;
}

bool machine_is_name(const char *name)
{
    return expression_is_name(name, false) && !strchr(name, '.');
}

/* Converts "I[1]" to I_1; cut to size. */
static void join_index(const char *name, char out[MACHINE_NAME_MAX + 16])
{
    const size_t n = strlen(name);
    const size_t stem = strcspn(name, "[");
    if (stem < n && name[n - 1] == ']') {
        (void)snprintf(out, MACHINE_NAME_MAX + 16, "%.*s_%.*s", (int)(stem < 40 ? stem : 40),
                       name, (int)(n - stem - 2 < 8 ? n - stem - 2 : 8), name + stem + 1);
    } else {
        (void)snprintf(out, MACHINE_NAME_MAX + 16, "%s", name);
    }
}

static bool is_declared(const struct machine_draft *draft, size_t name, enum machine_role role)
{
    for (size_t i = 0; i < draft->port_count; i++) {
        const enum machine_role there = draft->ports[i].role;
        const bool both = (role == MACHINE_OUTPUT && there == MACHINE_VARIABLE) ||
                          (role == MACHINE_VARIABLE && there == MACHINE_OUTPUT);
        if (draft->ports[i].name == name && !both) {
            return true;
        }
    }
    return false;
}

bool machine_draft_declare(struct machine_draft *draft, enum machine_role role,
                           const char *name, enum expression_type type, const double *value,
                           struct machine_place place)
{
    char joined[MACHINE_NAME_MAX + 16];
    struct err err = {0};
    join_index(name, joined);
    size_t at = expression_find(&draft->pool, joined);
    const bool time = at <= MACHINE_ELAPSED_NAME;
    const bool twice = at < draft->pool.name_count && is_declared(draft, at, role);
    enum status st = STATUS_OK;
    if (!machine_is_name(joined) || strcmp(joined, "else") == 0 ||
        strcmp(joined, "otherwise") == 0 || time) {
        st = err_set(&err, STATUS_E_PARSE,
                     machine_is_name(joined) ? FAULT_RESERVED_NAME : FAULT_BAD_NAME, "",
                     "'%.40s' cannot be a name%s", joined,
                     machine_is_name(joined) ? ": it is a word of the language" : "");
    } else if (twice || draft->port_count == COUNT(draft->ports)) {
        st = err_set(&err, STATUS_E_PARSE, twice ? FAULT_DUPLICATE_NAME : FAULT_TOO_MANY, "",
                     "'%s' is %s", joined, twice ? "declared twice" : "one name too many");
    } else if (at == draft->pool.name_count) {
        st = expression_declare(&draft->pool, joined, EXPRESSION_ANY, &at, &err);
    }
    if (st != STATUS_OK) {
        machine_diagnostics_add(&draft->diagnostics, "E-NAME", place, "%s", err.text);
        return false;
    }
    draft->ports[draft->port_count++] = (struct machine_draft_port){
        (uint8_t)at, role, type, value != NULL, value ? *value : 0.0, place};
    return true;
}

enum status machine_draft_try(struct machine_draft *draft, const char *text, size_t bytes,
                              uint16_t *root, struct err *err)
{
    struct expression_pool *pool = &draft->pool;
    const size_t names = pool->name_count;
    const size_t nodes = pool->count;
    const enum status st = expression_parse(pool, text, bytes, root, err);
    if (st != STATUS_OK) {
        pool->name_count = names;
        pool->count = nodes;
        pool->full = false;
    }
    return st;
}

bool machine_draft_expression(struct machine_draft *draft, const char *text, size_t bytes,
                              struct machine_place place, uint16_t *root)
{
    struct err err = {0};
    if (machine_draft_try(draft, text, bytes, root, &err) == STATUS_OK) {
        return true;
    }
    machine_diagnostics_add(&draft->diagnostics, "E-EXPR", place, "'%.*s', character %u: %s",
                            (int)(bytes < 240 ? bytes : 240), text, err.column, err.text);
    return false;
}

static void refuse_more(struct machine_draft *draft, struct machine_place place, size_t most,
                        const char *of)
{
    machine_diagnostics_add(&draft->diagnostics, "E-TOO-MANY", place, "more than %zu %s", most,
                            of);
}

struct machine_draft_state *machine_draft_add_state(struct machine_draft *draft,
                                                    struct machine_place place)
{
    if (draft->state_count == EFSM_STATES_MAX) {
        refuse_more(draft, place, EFSM_STATES_MAX, "states");
        return NULL;
    }
    struct machine_draft_state *state = &draft->states[draft->state_count++];
    *state = (struct machine_draft_state){.name = "", .place = place};
    return state;
}

struct machine_draft_arc *machine_draft_add_arc(struct machine_draft *draft,
                                                struct machine_place place)
{
    if (draft->arc_count == MACHINE_ARCS_MAX) {
        refuse_more(draft, place, MACHINE_ARCS_MAX, "ways between states");
        return NULL;
    }
    struct machine_draft_arc *arc = &draft->arcs[draft->arc_count++];
    *arc = (struct machine_draft_arc){.from = "", .place = place};
    return arc;
}

bool machine_draft_act(struct machine_draft *draft, struct machine_acts *acts,
                       const struct machine_draft_assignment *assignment)
{
    if (acts->count == MACHINE_ACTS_MAX) {
        refuse_more(draft, assignment->place, MACHINE_ACTS_MAX, "assignments in one place");
        return false;
    }
    acts->items[acts->count++] = *assignment;
    return true;
}

struct machine_draft_range machine_draft_add_acts(struct machine_draft *draft,
                                                  const struct machine_acts *acts)
{
    if (acts->count > MACHINE_ASSIGNMENTS_MAX - draft->assignment_count) {
        refuse_more(draft, acts->items[0].place, MACHINE_ASSIGNMENTS_MAX, "assignments");
        return (struct machine_draft_range){0, 0};
    }
    const struct machine_draft_range range = {(uint16_t)draft->assignment_count,
                                              (uint16_t)acts->count};
    memcpy(draft->assignments + range.first, acts->items, acts->count * sizeof acts->items[0]);
    draft->assignment_count += acts->count;
    return range;
}

const struct machine_draft_state *machine_draft_find_state(const struct machine_draft *draft,
                                                           const char *name)
{
    for (size_t i = 0; i < draft->state_count; i++) {
        if (strcmp(draft->states[i].name, name) == 0) {
            return &draft->states[i];
        }
    }
    return NULL;
}
