#include "config/model/model_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/text/names.h"

#define AT(m)   OPTION_AT(struct model_values, m), ""
#define BY_HAND OPTION_BY_HAND, ""

/* clang-format off */
static const struct option_row root_rows[] = {
    {"model", OPTION_TEXT, "", "", 1.0, MODEL_FILE_NAME_MAX - 1, "", AT(name)},
    {"purpose", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(purpose)},
    {"velocities", OPTION_MAP, "", "", BY_HAND},
    {"efforts", OPTION_MAP, "", "", BY_HAND},
    {"pose", OPTION_MAP, "", "", BY_HAND},
    {"constants", OPTION_MAP, "", "", BY_HAND},
    {"parameters", OPTION_MAP, "", "", BY_HAND},
    {"equations", OPTION_MAP, "", "", BY_HAND},
    {"kinematics", OPTION_MAP, "", "", BY_HAND},
    {"derived", OPTION_MAP, "", "", BY_HAND},
    {"planar", OPTION_MAP, "", "", BY_HAND},
    {"sticks", OPTION_BOOL, "", "false", OPTION_NO_RANGE, AT(sticks)},
    {"window_s", OPTION_REAL, "s", "0", 0.0, 1e4, "", AT(window_s)},
    {"variants", OPTION_MAP, "", "", BY_HAND},
    {"trial.parameters", OPTION_MAP, "", "", BY_HAND},
    {"trial.efforts", OPTION_MAP, "", "", BY_HAND},
    {"trial.noise_sd", OPTION_MAP, "", "", BY_HAND},
    {"trial.hold_s", OPTION_MAP, "", "", BY_HAND},
    {"trial.delay_s", OPTION_REAL, "s", "0", 0.0, 10.0, "", AT(delay_s)},
    {"trial.dt_s", OPTION_REAL, "s", "0.05", 1e-5, 1e4, "", AT(dt_s)},
    {"trial.samples", OPTION_INTEGER, "", "1000", 50.0, 20000.0, "", AT(samples)},
    {"trial.loss_ratio", OPTION_REAL, "", "0", 0.0, 0.5, "", AT(loss_ratio)},
};
#undef AT

#define AT(m) OPTION_AT(struct model_quantity, m), ""
static const struct option_row channel_rows[] = {
    {"unit", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.unit)},
    {"name", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.name)},
    {"words", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.words)},
};
static const struct option_row parameter_rows[] = {
    {"unit", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.unit)},
    {"name", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.name)},
    {"words", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.words)},
    {"help", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.help)},
    {"sign", OPTION_CHOICE, "", "any", 0.0, 0.0, "any|not_negative|positive",
     OPTION_AT(struct model_quantity, sign), ""},
};
/* clang-format on */

_Static_assert((int)MODEL_ANY == 0 && (int)MODEL_NOT_NEGATIVE == 1 && (int)MODEL_POSITIVE == 2,
               "the choices of sign");

static const struct option_table root_table = {root_rows, COUNT(root_rows)};
static const struct option_table channel_table = {channel_rows, COUNT(channel_rows)};
static const struct option_table parameter_table = {parameter_rows, COUNT(parameter_rows)};

/* ---- quantities ---- */

static void declare_name(struct model_loader *l, uint32_t node, const char *shown,
                         const char *name)
{
    struct err err = {0};
    enum status st = STATUS_OK;
    if (strchr(name, '\'') || strchr(name, '.') || strcmp(name, "t") == 0) {
        st = err_set(&err, STATUS_E_PARSE,
                     strcmp(name, "t") == 0 ? FAULT_RESERVED_NAME : FAULT_BAD_NAME, "",
                     strcmp(name, "t") == 0 ? "'t' is time, take another name"
                                            : "a name has letters, digits and _");
    } else {
        st = expression_declare(&l->file->pool, name, EXPRESSION_NUMBER, NULL, &err);
    }
    if (st != STATUS_OK) {
        option_fault(l->r, node, err.fault, "%s: %.160s", shown, err.text);
    }
}

static void copy_text(char *to, size_t size, const char *from)
{
    (void)snprintf(to, size, "%s", from);
}

/* The symbol "sway_mass" is displayed as "sway mass". */
static void format_name(char *to, size_t size, const char *name)
{
    copy_text(to, size, name);
    for (char *c = to; *c; c++) {
        *c = *c == '_' ? ' ' : *c;
    }
}

/* Reads the texts at node: a unit, or a map. */
static void read_quantity(struct model_loader *l, uint32_t node, const char *section,
                          const struct option_table *table, struct model_quantity *out)
{
    char shown[OPTION_PREFIX_MAX];
    const char *symbol = tree_key(l->tree, node);
    *out = (struct model_quantity){.sign = MODEL_ANY};
    (void)snprintf(shown, sizeof shown, "%s.%.40s.", section, symbol);
    if (model_is_kind(l, node, TREE_SCALAR) && !option_is_empty(l->tree, node)) {
        copy_text(out->texts.unit, sizeof out->texts.unit, tree_text(l->tree, node));
    } else {
        uint32_t given[OPTION_ROWS_MAX] = {0};
        option_read(&(struct option_reading){l->r, table, given, node, shown, 0, false}, NULL,
                    out);
    }
    copy_text(out->texts.symbol, sizeof out->texts.symbol, symbol);
    if (out->texts.name[0] == '\0') {
        copy_text(out->texts.name, sizeof out->texts.name, out->texts.symbol);
    } else if (!expression_is_name(out->texts.name, false)) {
        option_fault(l->r, node, FAULT_BAD_NAME,
                     "%sname: '%.40s' is no name: letters, digits and _", shown,
                     out->texts.name);
    }
    if (out->texts.words[0] == '\0') {
        format_name(out->texts.words, sizeof out->texts.words, out->texts.name);
    }
}

/* Reads the channels of one kind: their texts and their number. */
static size_t read_channels(struct model_loader *l, const char *key, size_t most, bool needed,
                            struct model_file_texts *out, uint32_t *section)
{
    size_t count = 0;
    *section = model_entries(l, key, TREE_MAP, most, needed);
    if (*section == TREE_NONE) {
        return 0;
    }
    for (uint32_t i = l->tree->nodes[*section].first; i != TREE_NONE; i = model_next(l, i)) {
        struct model_quantity values;
        read_quantity(l, i, key, &channel_table, &values);
        out[count++] = values.texts;
    }
    return count;
}

static void read_parameters(struct model_loader *l)
{
    const uint32_t section =
        model_entries(l, "parameters", TREE_MAP, MODEL_PARAMETERS_MAX, true);
    l->nodes[3] = section;
    if (section == TREE_NONE) {
        return;
    }
    for (uint32_t i = l->tree->nodes[section].first; i != TREE_NONE; i = model_next(l, i)) {
        struct model_quantity values;
        struct model_file_texts *t = &l->file->parameter[l->parameters];
        read_quantity(l, i, "parameters", &parameter_table, &values);
        *t = values.texts;
        l->file->parameters[l->parameters++] = (struct model_parameter){
            t->name, t->symbol, t->unit, values.sign, t->help, t->words};
    }
}

/* Declares a velocity that is an expression rather than a name. */
static void declare_rate(struct model_loader *l, const char *rate)
{
    if (expression_declare(&l->file->pool, rate, EXPRESSION_NUMBER, NULL, NULL) != STATUS_OK &&
        !l->r->failed) {
        option_fault(l->r, l->nodes[0], FAULT_TOO_LONG,
                     "velocities: %s is too long with its prime", rate);
    }
}

/* Adds names to the pool, in the order of struct model_names. */
static void declare_names(struct model_loader *l)
{
    struct model_file *f = l->file;
    struct model_names *n = &f->terms.names;
    const struct {
        const char *key;
        const struct model_file_texts *texts;
        size_t count;
        uint32_t node;
        uint8_t *first;
        bool rates;
    } groups[] = {
        {"velocities", f->velocity, l->axes, l->nodes[0], &n->nu, false},
        {"velocities", f->velocity, l->axes, TREE_NONE, &n->nu_dot, true},
        {"pose", f->pose, l->poses, l->nodes[2], &n->pose, false},
        {"parameters", f->parameter, l->parameters, l->nodes[3], &n->parameter, false},
        {"efforts", f->effort, l->efforts, l->nodes[1], &n->effort, false},
    };
    for (size_t g = 0; g < COUNT(groups); g++) {
        uint32_t node =
            groups[g].node == TREE_NONE ? TREE_NONE : l->tree->nodes[groups[g].node].first;
        *groups[g].first = (uint8_t)f->pool.name_count;
        for (size_t i = 0; i < groups[g].count; i++) {
            char rate[EXPRESSION_NAME_MAX + 2];
            (void)snprintf(rate, sizeof rate, "%s'", groups[g].texts[i].symbol);
            if (groups[g].rates) {
                declare_rate(l, rate);
            } else {
                declare_name(l, node, groups[g].key, groups[g].texts[i].symbol);
            }
            node = node == TREE_NONE ? TREE_NONE : model_next(l, node);
        }
    }
    n->axes = l->axes;
    n->poses = l->poses;
    n->parameters = l->parameters;
    n->width = MODEL_NONE;
}

static void read_constants(struct model_loader *l)
{
    const uint32_t section =
        option_node(l->reading, "constants") == TREE_NONE
            ? TREE_NONE
            : model_entries(l, "constants", TREE_MAP, EXPRESSION_NAMES_MAX, false);
    for (uint32_t i = section == TREE_NONE ? TREE_NONE : l->tree->nodes[section].first;
         i != TREE_NONE; i = model_next(l, i)) {
        struct err err = {0};
        char shown[OPTION_PREFIX_MAX];
        double value = 0.0;
        (void)snprintf(shown, sizeof shown, "constants.%.40s", tree_key(l->tree, i));
        if (option_number(l->r, i, shown, &value) &&
            expression_declare_constant(&l->file->pool, tree_key(l->tree, i), value, &err) !=
                STATUS_OK) {
            option_fault(l->r, i, err.fault, "constants: %.160s", err.text);
        }
    }
}

/* Columns and roles need distinct names; equal ones would be ambiguous. */
static void check_columns(struct model_loader *l)
{
    const struct {
        const struct model_file_texts *texts;
        size_t count;
    } groups[] = {{l->file->velocity, l->axes},
                  {l->file->effort, l->efforts},
                  {l->file->pose, l->poses},
                  {l->file->parameter, l->parameters}};
    struct name_at names[3 * MODEL_POSES_MAX + MODEL_PARAMETERS_MAX + 1];
    size_t count = 0;
    names[count++] = (struct name_at){"t_s", 0};
    for (size_t g = 0; g < COUNT(groups); g++) {
        for (size_t i = 0; i < groups[g].count; i++) {
            names[count] = (struct name_at){groups[g].texts[i].name, count};
            count++;
        }
    }
    qsort(names, count, sizeof names[0], names_by_name);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i].name, names[i - 1].name) == 0) {
            option_fault(l->r, TREE_NONE, FAULT_DUPLICATE_NAME,
                         "the name '%s' belongs to two quantities", names[i].name);
        }
    }
}

/* ---- the row ---- */

static void fill_axes(struct model_loader *l)
{
    struct model_file *f = l->file;
    size_t roles = 0;
    f->roles[roles++] = "t";
    for (size_t i = 0; i < l->axes; i++) {
        if (l->poses == 0) {
            (void)snprintf(f->pose[i].name, sizeof f->pose[i].name, "%.27s_sum",
                           f->velocity[i].name);
            copy_text(f->pose[i].symbol, sizeof f->pose[i].symbol, f->pose[i].name);
        }
        f->axes[i] =
            (struct model_axis){f->velocity[i].name, f->effort[i].name, f->pose[i].name,
                                f->velocity[i].words, f->effort[i].words};
        (void)snprintf(f->generalised_forces[i].name, sizeof f->generalised_forces[i].name,
                       "%s_push", f->velocity[i].name);
        (void)snprintf(f->generalised_forces[i].words, sizeof f->generalised_forces[i].words,
                       "push on %s", f->velocity[i].words);
        f->push[i] =
            (struct model_force){f->generalised_forces[i].name, f->generalised_forces[i].words};
        f->roles[roles + i] = f->effort[i].symbol;
        f->roles[roles + l->axes + i] = f->velocity[i].symbol;
    }
    roles += 2 * l->axes;
    for (size_t i = 0; i < l->axes && l->poses == l->axes; i++) {
        f->roles[roles++] = f->pose[i].symbol;
    }
    f->roles[roles] = NULL;
}

/* Hashes the meaning of the file, without blanks and comments. */
static uint64_t hash_tree(const struct tree *tree)
{
    uint64_t hash = HASH_START;
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct tree_node *n = &tree->nodes[i];
        const char *key = tree_key(tree, i);
        const char *text = n->kind == TREE_SCALAR ? tree_text(tree, i) : "";
        hash = hash_bytes(hash, &n->kind, sizeof n->kind);
        hash = hash_bytes(hash, &n->count, sizeof n->count);
        hash = hash_bytes(hash, key, strlen(key) + 1);
        hash = hash_bytes(hash, text, strlen(text) + 1);
    }
    return hash == 0 ? 1 : hash;
}

static void write_help(struct model_loader *l)
{
    struct model_file *f = l->file;
    char line[256];
    char right[256];
    size_t used = (size_t)snprintf(f->help, sizeof f->help, "  %s\n", f->purpose);
    for (size_t i = 0; i < l->axes; i++) {
        const uint16_t *sides = f->pool.nodes[f->equations[i]].arguments;
        (void)expression_print(&f->pool, sides[0], line, sizeof line);
        (void)expression_print(&f->pool, sides[1], right, sizeof right);
        if (used < sizeof f->help) {
            used += (size_t)snprintf(f->help + used, sizeof f->help - used, "    %s = %s\n",
                                     line, right);
        }
    }
}

static void fill_row(struct model_loader *l, const struct model_kinds *kinds)
{
    struct model_file *f = l->file;
    struct model *model = &f->models[0];
    *model = (struct model){.name = f->name,
                            .axes = f->axes,
                            .generalised_forces = f->terms.curved ? f->push : NULL,
                            .axis_count = l->axes,
                            .heading = l->poses > l->axes ? f->pose[l->axes].name : NULL,
                            .planar = kinds->planar ? f->planar : NULL,
                            .parameters = f->parameters,
                            .parameter_count = l->parameters,
                            .derived = f->derived,
                            .derived_count = f->terms.derived_count,
                            .sticks = l->values->sticks,
                            .window_s = l->values->window_s,
                            .hash = hash_tree(l->tree)};
    model_program_bind(&f->terms, &f->program, f->pattern, model);
    for (size_t k = 0; k < kinds->variants; k++) {
        f->models[k] = f->models[0];
        f->models[k].width = kinds->widths[k];
        f->variants[k] =
            (struct model_variant){&f->models[k], model->sticks ? kinds->widths[k] : 0.0};
    }
    f->row.name = f->name;
    f->row.words = f->purpose[0] ? f->purpose : f->name;
    f->row.help = f->help;
    f->row.data = MODEL_OF_MOTION;
    f->row.roles = f->roles;
    f->row.model = &f->models[kinds->variants > 0 ? kinds->own : 0];
    f->row.variants = kinds->variants > 0 ? f->variants : NULL;
    f->row.variant_count = kinds->variants;
    f->row.variant = kinds->variants > 0 ? f->pool.names[f->terms.names.width].text : NULL;
}

static void check_name(struct model_loader *l)
{
    const uint32_t node = option_node(l->reading, "model");
    const char *name = l->values->name;
    const struct model_row *row = model_row_find(name);
    if (node == TREE_NONE) {
        option_fault(l->r, TREE_NONE, FAULT_MISSING_KEY,
                     "model is missing: its name, as in model: dc_motor");
    } else if (name[0] != '\0' && !expression_is_name(name, false)) {
        option_fault(l->r, node, FAULT_BAD_NAME,
                     "model: '%s' is no name: a letter, then letters, digits and _", name);
    } else if (row && (!row->model || row->model->hash == 0)) {
        option_fault(l->r, node, FAULT_RESERVED_NAME,
                     "model: %s is built in, take another name", name);
    }
}

static void compile_model(struct model_loader *l)
{
    struct model_kinds kinds;
    struct err err = {0};
    model_read_kinds(l, &kinds);
    model_read_equations(l);
    model_read_trial(l);
    if (l->r->failed) {
        return;
    }
    void *memory = malloc(expression_compiler_bytes());
    if (!memory) {
        option_fault(l->r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
    } else if (model_program_make(&l->file->terms, memory, &l->file->program, &err) !=
               STATUS_OK) {
        option_fault(l->r, option_node(l->reading, "equations"), err.fault, "equations: %.200s",
                     err.text);
    }
    free(memory);
    if (!l->r->failed) {
        fill_axes(l);
        write_help(l);
        fill_row(l, &kinds);
    }
}

/* Reads quantities, then declares their names, then reads the expressions that use them. */
static void read_model(const struct option_reading *reading, struct model_values *v)
{
    struct model_file *f = v->file;
    struct model_loader l = {
        .reading = reading, .r = reading->r, .tree = reading->r->tree, .file = f, .values = v};
    copy_text(f->name, sizeof f->name, v->name);
    copy_text(f->purpose, sizeof f->purpose, v->purpose);
    f->pool.primes = true;
    expression_pool_start(&f->pool);
    f->terms.pool = &f->pool;
    check_name(&l);
    l.axes = read_channels(&l, "velocities", MODEL_AXES_MAX, true, f->velocity, &l.nodes[0]);
    l.efforts = read_channels(&l, "efforts", MODEL_AXES_MAX, true, f->effort, &l.nodes[1]);
    if (option_node(reading, "pose") != TREE_NONE) {
        l.poses = read_channels(&l, "pose", MODEL_POSES_MAX, false, f->pose, &l.nodes[2]);
    }
    read_parameters(&l);
    if (l.axes > 0 && l.efforts > 0 && l.efforts != l.axes) {
        option_fault(l.r, l.nodes[1], FAULT_WRONG_COUNT,
                     "efforts: %zu for %zu velocities, one each is wanted", l.efforts, l.axes);
    }
    if (l.axes > 0 && l.poses > 0 && l.poses != l.axes && l.poses != l.axes + 1) {
        option_fault(l.r, l.nodes[2], FAULT_WRONG_COUNT,
                     "pose: %zu for %zu velocities, one each is wanted, and a heading may be "
                     "one more",
                     l.poses, l.axes);
    }
    declare_names(&l);
    read_constants(&l);
    l.named = !l.r->failed;
    check_columns(&l);
    if (l.axes > 0 && l.axes == l.efforts && l.parameters > 0) {
        compile_model(&l);
    }
}

static void finish_model(const struct option_reading *reading, void *values)
{
    struct model_values *v = values;
    v->file = calloc(1, sizeof *v->file);
    if (!v->file) {
        option_fault(reading->r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        return;
    }
    read_model(reading, v);
    if (reading->r->failed) {
        free(v->file);
        v->file = NULL;
    }
}

static const struct option_file model_option_file = {
    .what = "a model",
    .empty =
        "the file is empty, a model has at least model, velocities, efforts, parameters and "
        "equations",
    .table = &root_table,
    .bytes = sizeof(struct model_values),
    .out_bytes = sizeof(struct model_file *),
    .finish = finish_model,
};

enum status model_file_parse(const char *text, size_t bytes, const char *name,
                             struct model_file **out, struct err_list *errors)
{
    return option_file_parse(&model_option_file, text, bytes, name, out, errors);
}

enum status model_file_load(const char *path, struct model_file **out, struct err_list *errors)
{
    return option_file_load(&model_option_file, path, out, errors);
}

void model_file_free(struct model_file *file)
{
    free(file);
}

enum status model_file_register(const char *path, const struct model_row **row,
                                struct err_list *errors)
{
    struct model_file *file = NULL;
    enum status st = model_file_load(path, &file, errors);
    if (st != STATUS_OK) {
        return st;
    }
    const struct model_row *there = model_row_find(file->name);
    if (there && there->model->hash == file->row.model->hash) {
        *row = there;
        model_file_free(file);
        return STATUS_OK;
    }
    if (models_add(&file->row) != STATUS_OK) {
        st = err_list_add(errors, STATUS_E_RANGE, there ? FAULT_DUPLICATE_NAME : FAULT_TOO_MANY,
                          path, 0, 0,
                          there ? "another model is called %s, too"
                                : "%s would be more than the 32 models that there may be",
                          file->name);
        model_file_free(file);
        return st;
    }
    *row = &file->row;
    return STATUS_OK;
}

bool model_file_is_path(const char *word)
{
    const size_t n = strlen(word);
    return strchr(word, '/') || (n > 5 && strcmp(word + n - 5, ".yaml") == 0) ||
           (n > 4 && strcmp(word + n - 4, ".yml") == 0);
}

void model_file_format_hashes(char *out, size_t size)
{
    size_t used = 0;
    const struct model *model = NULL;
    out[0] = '\0';
    for (size_t i = 0; (model = model_at(i)) && used < size; i++) {
        if (model->hash != 0) {
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s=%016llx", used > 0 ? " " : "",
                                 model->name, (unsigned long long)model->hash);
        }
    }
}

uint64_t model_file_hash(const char *name)
{
    const struct model *model = model_find(name);
    return model ? model->hash : 0;
}
