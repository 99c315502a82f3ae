/* config/model/model_equations.c - reads the expressions of a model file, and its variants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/names.h"
#include "config/model/model_parts.h"

const struct option_row model_number = OPTION_NUMBER(-HUGE_VAL);

#define AT(m) OPTION_AT(struct model_file_texts, m), ""
/* clang-format off */
static const struct option_row derived_rows[] = {
    {"name", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(name)},
    {"symbol", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(symbol)},
    {"unit", OPTION_WORD, "", "", OPTION_NO_RANGE, AT(unit)},
    {"help", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(help)},
    {"value", OPTION_MAP, "", "", OPTION_BY_HAND, "an expression, as in value: J/f"},
};
/* clang-format on */

/* Parses the expression at node and reports its faults. */
static bool read_expression(struct model_loader *l, uint32_t node, const char *shown,
                            uint16_t *root)
{
    struct err err = {0};
    const char *text = tree_scalar(l->tree, node);
    if (!tree_is(l->tree, node, TREE_SCALAR)) {
        return option_fault(l->r, node, FAULT_TEXT_EXPECTED, "%s: one text is wanted", shown);
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
            option_fault_at(l->reading, "parameters", FAULT_UNUSED_NAME, "%s is in no equation",
                            l->file->parameter[k].symbol);
        }
    }
    for (size_t i = 0; i < l->axes; i++) {
        if (idle >> i & 1U) {
            option_fault_at(l->reading, "efforts", FAULT_UNUSED_NAME, "%s is in no equation",
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
        option_fault_at(l->reading, "sticks", FAULT_NOT_APPLICABLE,
                        "the force that holds a model at rest is unknown if efforts act "
                        "through terms of their own: give the force as the effort's column");
    }
}

static void add_equation(const struct option_reading *item, void *value, void *owner)
{
    struct model_loader *l = owner;
    const size_t i = item->index;
    struct err err = {0};
    char shown[32];
    (void)value;
    (void)snprintf(shown, sizeof shown, "equation %zu", i + 1);
    if (i >= l->axes || !read_expression(l, item->node, shown, &l->file->equations[i]) ||
        !l->named) {
        return;
    }
    if (model_terms_equation(&l->file->terms, i, l->file->equations[i], &err) != STATUS_OK) {
        blame_expression(l, item->node, shown, &err);
    } else {
        l->found_equations++;
    }
}

/* clang-format off */
const struct option_items model_equation_items = {
    .shape = OPTION_LIST, .least = 1, .most = MODEL_AXES_MAX, .later = true, .what = "equations",
    .example = "[J*w' = u - f*w]", .add = add_equation};
/* clang-format on */

/* Reads a list with one item for each of count things; false after a fault. */
static bool read_each(struct model_loader *l, const char *key, size_t count, const char *things)
{
    const uint32_t node = option_node(l->reading, key);
    const size_t found = l->tree->nodes[node].count;
    if (tree_is(l->tree, node, TREE_LIST) && found > 0 && found != count) {
        return option_fault_at(l->reading, key, FAULT_WRONG_COUNT,
                               "%zu of them for %zu %s, one each is wanted", found, count,
                               things);
    }
    option_read_items(l->reading, key, l);
    return node != TREE_NONE;
}

/* The poses of all velocities are known, so a heading among them must be the robot's own. */
static void refuse_heading(struct model_loader *l)
{
    const struct model_names *n = &l->file->terms.names;
    for (size_t i = 0; i < l->axes && l->poses > l->axes; i++) {
        const uint16_t side = l->file->terms.side[i];
        if (l->file->pool.nodes[side].reads >> (n->pose + l->axes) & 1U) {
            option_fault_at(
                l->reading, "equations", FAULT_NOT_APPLICABLE,
                "equation %zu: %s is a heading in addition to the axes, which no recording has",
                i + 1, l->file->pose[l->axes].symbol);
        }
    }
}

/* Parses pose' = rate, an expression of velocities and poses. */
static void add_rate(const struct option_reading *item, void *value, void *owner)
{
    struct model_loader *l = owner;
    struct model_file *f = l->file;
    const uint32_t node = item->node;
    const size_t i = item->index;
    const struct model_names *n = &f->terms.names;
    char shown[48];
    char wanted[EXPRESSION_NAME_MAX + 2];
    uint16_t root = 0;
    const char *text = tree_scalar(l->tree, node);
    const char *equals = strchr(text, '=');
    (void)value;
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

/* clang-format off */
const struct option_items model_rate_items = {
    .shape = OPTION_LIST, .least = 1, .most = MODEL_POSES_MAX, .later = true, .what = "rates", .add = add_rate};
/* clang-format on */

/* Without kinematics each pose is the integral of its velocity. */
static void read_kinematics(struct model_loader *l)
{
    struct model_terms *t = &l->file->terms;
    if (read_each(l, "kinematics", l->poses, "poses") ||
        option_node(l->reading, "kinematics") != TREE_NONE) {
        return;
    }
    if (l->poses > l->axes) {
        option_fault_at(
            l->reading, "pose", FAULT_MISSING_KEY,
            "kinematics are missing: with a heading, the motion of the pose is unknown");
    }
    for (size_t k = 0; k < l->axes; k++) {
        t->kinematics[k] = expression_of_name(t->pool, t->names.nu + k);
    }
}

static void add_derived(const struct option_reading *item, void *value, void *owner)
{
    struct model_loader *l = owner;
    struct model_file *f = l->file;
    const struct model_names *n = &f->terms.names;
    const size_t i = f->terms.derived_count++;
    struct model_file_texts *t = &f->quantity[i];
    char shown[32];
    uint16_t root = 0;
    *t = *(const struct model_file_texts *)value;
    if (!expression_is_name(t->name, false)) {
        option_fault_at(item, "name", FAULT_BAD_NAME,
                        "'%.40s' is no name: letters, digits and _", t->name);
    }
    if (t->symbol[0] == '\0') {
        memcpy(t->symbol, t->name, sizeof t->symbol);
    }
    (void)snprintf(shown, sizeof shown, "derived %zu", i + 1);
    if (option_node(item, "value") != TREE_NONE &&
        read_expression(l, option_node(item, "value"), shown, &root)) {
        const char *stranger = find_stranger(l, root, n->parameter, n->parameters);
        if (stranger) {
            option_fault_at(item, "value", FAULT_NOT_APPLICABLE,
                            "%s has no place here, only parameters and constants have",
                            stranger);
        }
    }
    f->terms.derived[i] = root;
    f->derived[i] = (struct model_derived){t->name, t->symbol, t->unit, t->help, MODEL_ONE, 0};
}

/* clang-format off */
const struct option_items model_derived_items = {
    .shape = OPTION_LIST, .table = OPTION_TABLE(derived_rows), .required = "value", .least = 1,
    .most = MODEL_DERIVED_MAX, .bytes = sizeof(struct model_file_texts), .later = true, .what = "quantities",
    .example = "[{name: x, value: J/f}]", .add = add_derived};
/* clang-format on */

/* ---- kinds of it ---- */

static void add_planar(const struct option_reading *item, void *value, void *owner)
{
    struct model_loader *l = owner;
    static const char *const texts[] = {"ahead", "sideways", "turn"};
    static const struct names words = {texts, COUNT(texts)};
    const size_t k = names_value(&words, tree_scalar(l->tree, item->node));
    (void)value;
    if (k == words.count) {
        option_fault_at(item, "", FAULT_LIST_EXPECTED, "ahead, sideways or turn is wanted");
    }
    l->file->planar[item->index] = k;
}

/* clang-format off */
const struct option_items model_planar_items = {
    .shape = OPTION_LIST, .least = 1, .most = MODEL_AXES_MAX, .later = true, .fault = FAULT_LIST_EXPECTED,
    .what = "words", .example = "[ahead, turn]", .add = add_planar};
/* clang-format on */

/* The values of the constant that variants differ by. */
struct variant_values {
    size_t count;
    double widths[MODEL_FILE_VARIANTS_MAX];
};

/* Checks the values of a variant's constant. The model itself has the constant's own value. */
static void add_variants(const struct option_reading *item, void *value, void *owner)
{
    struct model_loader *l = owner;
    struct model_file *f = l->file;
    const struct variant_values *v = value;
    const size_t at = expression_find(&f->pool, option_name(item));
    size_t own = v->count;
    if (item->failed) {
        return;
    }
    if (at == f->pool.name_count || !f->pool.names[at].constant) {
        option_fault_at(item, "", FAULT_OBJECT_EXPECTED, "the name of a constant is wanted");
        return;
    }
    for (size_t k = 0; k < v->count; k++) {
        const double width = v->widths[k];
        if (!(width > (k > 0 ? v->widths[k - 1] : 0.0))) {
            option_fault_at(item, "", FAULT_WRONG_ORDER,
                            "values above 0 are wanted, from small to large");
            return;
        }
        own = width <= f->pool.names[at].value && width >= f->pool.names[at].value ? k : own;
    }
    if (own == v->count) {
        option_fault_at(item, "", FAULT_INCONSISTENT,
                        "%g, the value of %s itself, has to be among them",
                        f->pool.names[at].value, f->pool.names[at].text);
        return;
    }
    f->pool.names[at].constant = false;
    f->terms.names.width = (uint8_t)at;
    l->kinds->own = own;
    l->kinds->variants = v->count;
    memcpy(l->kinds->widths, v->widths, sizeof v->widths);
}

/* clang-format off */
static const struct option_items width_items = {
    .shape = OPTION_LIST, .value = &model_number, .least = 2, .most = MODEL_FILE_VARIANTS_MAX, .bytes = sizeof(double),
    .count_at = offsetof(struct variant_values, count), .fault = FAULT_OBJECT_EXPECTED, .what = "numbers"};
static const struct option_row widths_value = {"", OPTION_ARRAY(width_items, struct variant_values, widths), ""};
const struct option_items model_variant_items = {
    .shape = OPTION_NAMED, .value = &widths_value, .least = 1, .most = 1, .bytes = sizeof(struct variant_values),
    .later = true, .fault = FAULT_OBJECT_EXPECTED, .what = "the values of one constant",
    .example = "{width: [0.01, 0.05, 0.2]}", .add = add_variants};
/* clang-format on */

void model_read_kinds(struct model_loader *l)
{
    l->kinds->planar = option_node(l->reading, "planar") != TREE_NONE;
    (void)read_each(l, "planar", l->axes, "velocities");
    option_read_items(l->reading, "variants", l);
}

void model_read_equations(struct model_loader *l)
{
    if (read_each(l, "equations", l->axes, "velocities") && l->found_equations == l->axes) {
        check_terms(l, option_node(l->reading, "equations"));
    }
    read_kinematics(l);
    option_read_items(l->reading, "derived", l);
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
        const uint32_t node =
            section == TREE_NONE ? TREE_NONE : tree_child(l->tree, section, texts[i].symbol);
        const bool pair =
            high && tree_is(l->tree, node, TREE_LIST) && l->tree->nodes[node].count == 2;
        if (node == TREE_NONE || (high && !pair)) {
            option_fault(l->r, section, FAULT_MISSING_KEY, "%s: %s of %s is missing", key,
                         high ? "a pair [least, most]" : "a number", texts[i].symbol);
        } else if (!high) {
            option_read_node(l->r, &model_number, node, key, &out[i]);
        } else {
            const uint32_t first = l->tree->nodes[node].first;
            option_read_node(l->r, &model_number, first, key, &out[i]);
            const struct option_row most = OPTION_NUMBER(out[i]);
            option_read_node(l->r, &most, l->tree->nodes[first].next, key, &high[i]);
        }
    }
    if (tree_is(l->tree, section, TREE_MAP) && l->tree->nodes[section].count > count) {
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
    if (option_node(l->reading, keys[3]) != TREE_NONE) {
        trial->hold_s_min = v->hold_s[0];
        trial->hold_s_max = v->hold_s[1];
        if (!l->r->failed && (!(v->hold_s[0] >= v->dt_s) || !(v->hold_s[1] >= v->hold_s[0]))) {
            option_fault_at(l->reading, keys[3], FAULT_OUT_OF_RANGE,
                            "[least, most] is wanted, from trial.dt_s on");
        }
    }
    for (size_t i = 0; i < l->parameters && !l->r->failed; i++) {
        const enum model_sign sign = f->parameters[i].sign;
        if ((sign == MODEL_POSITIVE && !(trial->theta[i] > 0.0)) ||
            (sign == MODEL_NOT_NEGATIVE && !(trial->theta[i] >= 0.0))) {
            option_fault_at(l->reading, keys[0], FAULT_UNPHYSICAL,
                            "%s has not the sign that it has to have", f->parameter[i].symbol);
        }
    }
}
