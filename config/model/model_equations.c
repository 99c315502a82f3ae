/* config/model/model_equations.c - reads the expressions of a model file, and its variants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/model/model_parts.h"

#define AT(m)   OPTION_AT(struct model_quantity, m), ""
#define BY_HAND OPTION_BY_HAND, ""
/* clang-format off */
static const struct option_row derived_rows[] = {
    {"name", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.name)},
    {"symbol", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.symbol)},
    {"unit", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.unit)},
    {"help", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.help)},
    {"value", OPTION_MAP, "", "", BY_HAND},
};
/* clang-format on */
static const struct option_table derived_table = {derived_rows, COUNT(derived_rows)};

/* Parses the expression at node and reports its faults. */
static bool read_expression(struct model_loader *l, uint32_t node, const char *shown,
                            uint16_t *root)
{
    struct err err = {0};
    const char *text = model_scalar(l, node);
    if (model_is_kind(l, node, TREE_SKIPPED)) {
        return false;
    }
    if (!model_is_kind(l, node, TREE_SCALAR)) {
        option_fault(l->r, node, FAULT_TEXT_EXPECTED, "%s: one text is wanted", shown);
        return false;
    }
    enum status st = expression_parse(&l->file->pool, text, strlen(text), root, &err);
    if (st == STATUS_OK) {
        st = expression_check(&l->file->pool, *root, EXPRESSION_ANY, &err);
    }
    if (st != STATUS_OK) {
        option_fault(l->r, node, err.fault, "%s: '%.60s', character %u: %.140s", shown, text,
                     err.column, err.text);
    }
    return st == STATUS_OK;
}

static void blame_expression(struct model_loader *l, uint32_t node, const char *shown,
                             const struct err *err)
{
    if (err->column > 0) {
        option_fault(l->r, node, err->fault, "%s, character %u: %.200s", shown, err->column,
                     err->text);
    } else {
        option_fault(l->r, node, err->fault, "%s: %.200s", shown, err->text);
    }
}

/* Returns the first name that may not stand in this expression; NULL: all may. */
static const char *find_stranger(const struct model_loader *l, uint16_t root, uint8_t first,
                                 size_t count)
{
    const struct expression_pool *pool = &l->file->pool;
    for (size_t k = 0; k < pool->name_count; k++) {
        const bool fits = (k >= first && k < first + count) || pool->names[k].constant ||
                          k == l->file->terms.names.width;
        if ((pool->nodes[root].reads >> k & 1U) && !fits) {
            return pool->names[k].text;
        }
    }
    return NULL;
}

/* ---- equations ---- */

/* Checks faults that only show when all terms are known. */
static void check_terms(struct model_loader *l, uint32_t section)
{
    struct err err = {0};
    struct model_terms *t = &l->file->terms;
    const uint32_t unused = model_terms_unused(t);
    const uint32_t idle = model_terms_idle(t);
    const uint32_t loose = model_terms_loose(t);
    for (size_t k = 0; k < l->parameters; k++) {
        if (unused >> k & 1U) {
            option_fault(l->r, l->nodes[3], FAULT_UNUSED_NAME, "parameter %s is in no equation",
                         l->file->parameter[k].symbol);
        }
    }
    for (size_t i = 0; i < l->axes; i++) {
        if (idle >> i & 1U) {
            option_fault(l->r, l->nodes[1], FAULT_UNUSED_NAME, "effort %s is in no equation",
                         l->file->effort[i].symbol);
        }
        if (loose >> i & 1U) {
            option_fault(l->r, section, FAULT_BAD_EQUATION,
                         "equation %zu: every term has a parameter, so that all of them could "
                         "be twice as large: one term has to be known, as an effort alone is",
                         i + 1);
        }
    }
    if (model_terms_finish(t, &err) != STATUS_OK) {
        blame_expression(l, section, "equations", &err);
    } else if (t->curved && l->values->sticks) {
        option_fault(l->r, option_node(l->reading, "sticks"), FAULT_NOT_APPLICABLE,
                     "sticks: the force that holds a model at rest is unknown if efforts act "
                     "through terms of their own: give the force as the effort's column");
    }
}

static void read_equations(struct model_loader *l)
{
    const uint32_t section = model_entries(l, "equations", TREE_LIST, MODEL_AXES_MAX, true);
    size_t i = 0;
    size_t found_count = 0;
    if (section == TREE_NONE || l->axes == 0) {
        return;
    }
    if (l->tree->nodes[section].count != l->axes) {
        option_fault(l->r, section, FAULT_WRONG_COUNT,
                     "equations: %u of them for %zu velocities, one each is wanted",
                     (unsigned)l->tree->nodes[section].count, l->axes);
        return;
    }
    for (uint32_t node = l->tree->nodes[section].first; node != TREE_NONE;
         node = model_next(l, node), i++) {
        struct err err = {0};
        char shown[32];
        (void)snprintf(shown, sizeof shown, "equation %zu", i + 1);
        const bool fits = read_expression(l, node, shown, &l->file->equations[i]) && l->named;
        const enum status st =
            fits ? model_terms_equation(&l->file->terms, i, l->file->equations[i], &err)
                 : STATUS_E_PARSE;
        if (fits && st != STATUS_OK) {
            blame_expression(l, node, shown, &err);
        }
        found_count += st == STATUS_OK ? 1 : 0;
    }
    if (found_count == l->axes) {
        check_terms(l, section);
    }
}

/* The poses of all velocities are known, so a heading among them must be the robot's own. */
static void refuse_heading(struct model_loader *l)
{
    const struct model_names *n = &l->file->terms.names;
    for (size_t i = 0; i < l->axes && l->poses > l->axes; i++) {
        const uint16_t side = l->file->terms.side[i];
        if (l->file->pool.nodes[side].reads >> (n->pose + l->axes) & 1U) {
            option_fault(
                l->r, option_node(l->reading, "equations"), FAULT_NOT_APPLICABLE,
                "equation %zu: %s is a heading in addition to the axes, which no recording has",
                i + 1, l->file->pose[l->axes].symbol);
        }
    }
}

/* Parses pose' = rate, an expression of velocities and poses. */
static void parse_rate(struct model_loader *l, uint32_t node, size_t i)
{
    struct model_file *f = l->file;
    const struct model_names *n = &f->terms.names;
    char shown[48];
    char wanted[EXPRESSION_NAME_MAX + 2];
    uint16_t root = 0;
    const char *text = model_scalar(l, node);
    const char *equals = strchr(text, '=');
    (void)snprintf(shown, sizeof shown, "kinematics %zu", i + 1);
    (void)snprintf(wanted, sizeof wanted, "%s'", f->pose[i].symbol);
    const size_t blank = strspn(text, " ");
    const size_t bytes = strlen(wanted);
    if (!equals || strncmp(text + blank, wanted, bytes) != 0 ||
        text + blank + bytes + strspn(text + blank + bytes, " ") != equals) {
        option_fault(l->r, node, FAULT_BAD_EQUATION,
                     "%s: %s = ... is wanted, in the order of the pose", shown, wanted);
        return;
    }
    struct err err = {0};
    enum status st = expression_parse(&f->pool, equals + 1, strlen(equals + 1), &root, &err);
    st = st == STATUS_OK ? expression_check(&f->pool, root, EXPRESSION_NUMBER, &err) : st;
    const char *stranger = st == STATUS_OK ? find_stranger(l, root, n->nu, n->parameter) : NULL;
    if (st != STATUS_OK) {
        option_fault(l->r, node, err.fault, "%s: '%.60s', character %u: %.140s", shown, text,
                     err.column + (unsigned)(equals + 1 - text), err.text);
    } else if (stranger) {
        option_fault(l->r, node, FAULT_NOT_APPLICABLE,
                     "%s: %s has no place here, only velocities, the pose and constants have",
                     shown, stranger);
    }
    f->terms.kinematics[i] = root;
}

/* Without kinematics each pose is the integral of its velocity. */
static void read_kinematics(struct model_loader *l)
{
    const bool given = option_node(l->reading, "kinematics") != TREE_NONE;
    const uint32_t section =
        given ? model_entries(l, "kinematics", TREE_LIST, MODEL_POSES_MAX, false) : TREE_NONE;
    struct model_terms *t = &l->file->terms;
    size_t i = 0;
    if (!given && l->poses > l->axes) {
        option_fault(
            l->r, l->nodes[2], FAULT_MISSING_KEY,
            "kinematics are missing: with a heading, the motion of the pose is unknown");
    }
    for (size_t k = 0; k < l->axes && !given; k++) {
        t->kinematics[k] = expression_of_name(t->pool, t->names.nu + k);
    }
    if (section == TREE_NONE) {
        return;
    }
    if (l->tree->nodes[section].count != l->poses) {
        option_fault(l->r, section, FAULT_WRONG_COUNT,
                     "kinematics: %u of them for %zu poses, one each is wanted",
                     (unsigned)l->tree->nodes[section].count, l->poses);
        return;
    }
    for (uint32_t node = l->tree->nodes[section].first; node != TREE_NONE;
         node = model_next(l, node), i++) {
        parse_rate(l, node, i);
    }
}

static void parse_derived(struct model_loader *l, uint32_t node, size_t i)
{
    struct model_file *f = l->file;
    const struct model_names *n = &f->terms.names;
    struct model_quantity values = {.sign = MODEL_ANY};
    uint32_t given[COUNT(derived_rows)] = {0};
    char shown[OPTION_PREFIX_MAX];
    uint16_t root = 0;
    (void)snprintf(shown, sizeof shown, "derived %zu: ", i + 1);
    const struct option_reading reading = {l->r, &derived_table, given, node, shown, 0, false};
    option_read(&reading, NULL, &values);
    struct model_file_texts *t = &f->quantity[i];
    *t = values.texts;
    if (!expression_is_name(t->name, false)) {
        option_fault(l->r, node, FAULT_BAD_NAME,
                     "%sname: '%.40s' is no name: letters, digits and _", shown, t->name);
    }
    if (t->symbol[0] == '\0') {
        memcpy(t->symbol, t->name, sizeof t->symbol);
    }
    const uint32_t value = option_node(&reading, "value");
    (void)snprintf(shown, sizeof shown, "derived %zu", i + 1);
    if (value == TREE_NONE) {
        option_fault(l->r, node, FAULT_MISSING_KEY, "%s: value is missing, as in value: J/f",
                     shown);
    } else if (read_expression(l, value, shown, &root)) {
        const char *stranger = find_stranger(l, root, n->parameter, n->parameters);
        if (stranger) {
            option_fault(l->r, value, FAULT_NOT_APPLICABLE,
                         "%s: %s has no place here, only parameters and constants have", shown,
                         stranger);
        }
    }
    f->terms.derived[i] = root;
    f->derived[i] = (struct model_derived){t->name, t->symbol, t->unit, t->help, MODEL_ONE, 0};
}

static void read_derived(struct model_loader *l)
{
    const uint32_t section =
        option_node(l->reading, "derived") == TREE_NONE
            ? TREE_NONE
            : model_entries(l, "derived", TREE_LIST, MODEL_DERIVED_MAX, false);
    for (uint32_t node = section == TREE_NONE ? TREE_NONE : l->tree->nodes[section].first;
         node != TREE_NONE; node = model_next(l, node)) {
        parse_derived(l, node, l->file->terms.derived_count++);
    }
}

/* ---- kinds of it ---- */

static bool read_planar(struct model_loader *l)
{
    static const char *const words[] = {"ahead", "sideways", "turn"};
    const uint32_t section = option_node(l->reading, "planar");
    size_t i = 0;
    if (section == TREE_NONE) {
        return false;
    }
    const bool fits =
        model_is_kind(l, section, TREE_LIST) && l->tree->nodes[section].count == l->axes;
    for (uint32_t node = fits ? l->tree->nodes[section].first : TREE_NONE; node != TREE_NONE;
         node = model_next(l, node), i++) {
        size_t k = 0;
        while (k < COUNT(words) && strcmp(model_scalar(l, node), words[k]) != 0) {
            k++;
        }
        if (k == COUNT(words)) {
            break;
        }
        l->file->planar[i] = k;
    }
    if (!fits || i != l->axes) {
        option_fault(
            l->r, section, FAULT_LIST_EXPECTED,
            "planar: a list of ahead, sideways, turn is wanted, one for each velocity");
    }
    return true;
}

/* Reads values of the constant that variants differ by. The model itself has the constant's own
 * value. Returns their number, 0: no variants. */
static size_t read_variants(struct model_loader *l, double *widths, size_t *own)
{
    const uint32_t section = option_node(l->reading, "variants");
    struct model_file *f = l->file;
    size_t count = 0;
    if (section == TREE_NONE) {
        return 0;
    }
    const uint32_t list =
        model_is_kind(l, section, TREE_MAP) && l->tree->nodes[section].count == 1
            ? l->tree->nodes[section].first
            : TREE_NONE;
    const size_t at = list == TREE_NONE ? f->pool.name_count
                                        : expression_find(&f->pool, tree_key(l->tree, list));
    if (!model_is_kind(l, list, TREE_LIST) || l->tree->nodes[list].count < 2 ||
        l->tree->nodes[list].count > MODEL_FILE_VARIANTS_MAX || at == f->pool.name_count ||
        !f->pool.names[at].constant) {
        option_fault(l->r, section, FAULT_OBJECT_EXPECTED,
                     "variants: one constant and its values are wanted, 2 to %d, as in "
                     "{width: [0.01, 0.05, 0.2]}",
                     MODEL_FILE_VARIANTS_MAX);
        return 0;
    }
    *own = MODEL_FILE_VARIANTS_MAX;
    for (uint32_t node = l->tree->nodes[list].first; node != TREE_NONE;
         node = model_next(l, node)) {
        const double value = f->pool.names[at].value;
        if (!option_number(l->r, node, "variants", &widths[count])) {
            return 0;
        }
        if (!(widths[count] > (count > 0 ? widths[count - 1] : 0.0))) {
            option_fault(l->r, node, FAULT_WRONG_ORDER,
                         "variants: values above 0 are wanted, from small to large");
            return 0;
        }
        *own = widths[count] <= value && widths[count] >= value ? count : *own;
        count++;
    }
    if (*own == MODEL_FILE_VARIANTS_MAX) {
        option_fault(l->r, list, FAULT_INCONSISTENT,
                     "variants: %g, the value of %s itself, has to be among them",
                     f->pool.names[at].value, f->pool.names[at].text);
        return 0;
    }
    f->pool.names[at].constant = false;
    f->terms.names.width = (uint8_t)at;
    return count;
}

void model_read_kinds(struct model_loader *l, struct model_kinds *kinds)
{
    *kinds = (struct model_kinds){.planar = read_planar(l)};
    kinds->variants = read_variants(l, kinds->widths, &kinds->own);
}

void model_read_equations(struct model_loader *l)
{
    read_equations(l);
    read_kinematics(l);
    read_derived(l);
    if (!l->r->failed) {
        refuse_heading(l);
    }
}

/* ---- the robot of the self test ---- */

/* Reads numbers for every symbol of a group into out; each is one number, or a pair lo, hi. */
static void read_trial_map(struct model_loader *l, const char *key,
                           const struct model_file_texts *texts, size_t count, double *out,
                           double *high)
{
    const uint32_t section = option_node(l->reading, key);
    for (size_t i = 0; i < count; i++) {
        uint32_t node =
            model_is_kind(l, section, TREE_MAP) ? l->tree->nodes[section].first : TREE_NONE;
        while (node != TREE_NONE && strcmp(tree_key(l->tree, node), texts[i].symbol) != 0) {
            node = model_next(l, node);
        }
        const bool pair =
            high && model_is_kind(l, node, TREE_LIST) && l->tree->nodes[node].count == 2;
        if (node == TREE_NONE || (high && !pair)) {
            option_fault(l->r, section, FAULT_MISSING_KEY, "%s: %s of %s is missing", key,
                         high ? "a pair [least, most]" : "a number", texts[i].symbol);
        } else if (!high) {
            (void)option_number(l->r, node, key, &out[i]);
        } else {
            const uint32_t first = l->tree->nodes[node].first;
            (void)option_number(l->r, first, key, &out[i]);
            (void)option_number_from(l->r, model_next(l, first), key, out[i], &high[i]);
        }
    }
    if (model_is_kind(l, section, TREE_MAP) && l->tree->nodes[section].count > count) {
        option_fault(l->r, section, FAULT_TOO_MANY, "%s: more than the model has", key);
    }
}

void model_read_trial(struct model_loader *l)
{
    struct model_file *f = l->file;
    const struct model_values *v = l->values;
    struct model_trial *trial = &f->row.trial;
    static const char *const keys[] = {"trial.parameters", "trial.efforts",   "trial.noise_sd",
                                       "trial.hold_s",     "trial.delay_s",   "trial.dt_s",
                                       "trial.samples",    "trial.loss_ratio"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        f->has_trial = f->has_trial || option_node(l->reading, keys[i]) != TREE_NONE;
    }
    if (!f->has_trial) {
        return;
    }
    *trial = (struct model_trial){.delay_s = v->delay_s,
                                  .dt_s = v->dt_s,
                                  .samples = v->samples,
                                  .hold_s_min = 10.0 * v->dt_s,
                                  .hold_s_max = 60.0 * v->dt_s,
                                  .loss_ratio = v->loss_ratio};
    read_trial_map(l, keys[0], f->parameter, l->parameters, trial->theta, NULL);
    read_trial_map(l, keys[1], f->effort, l->efforts, trial->effort_min, trial->effort_max);
    read_trial_map(l, keys[2], f->velocity, l->axes, trial->noise_sd, NULL);
    const uint32_t hold = option_node(l->reading, keys[3]);
    if (hold != TREE_NONE) {
        const bool pair = model_is_kind(l, hold, TREE_LIST) && l->tree->nodes[hold].count == 2;
        const uint32_t first = pair ? l->tree->nodes[hold].first : TREE_NONE;
        if (!pair || !option_number_from(l->r, first, keys[3], v->dt_s, &trial->hold_s_min) ||
            !option_number_from(l->r, model_next(l, first), keys[3], trial->hold_s_min,
                                &trial->hold_s_max)) {
            option_fault(l->r, hold, FAULT_NUMBERS_EXPECTED,
                         "trial.hold_s: [least, most] is wanted");
        }
    }
    for (size_t i = 0; i < l->parameters && !l->r->failed; i++) {
        const enum model_sign sign = f->parameters[i].sign;
        if ((sign == MODEL_POSITIVE && !(trial->theta[i] > 0.0)) ||
            (sign == MODEL_NOT_NEGATIVE && !(trial->theta[i] >= 0.0))) {
            option_fault(l->r, option_node(l->reading, keys[0]), FAULT_UNPHYSICAL,
                         "trial.parameters: %s has not the sign that it has to have",
                         f->parameter[i].symbol);
        }
    }
}
