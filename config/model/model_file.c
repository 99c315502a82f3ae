#include "config/model/model_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/text/names.h"

#define IN_FILE(m)  OPTION_AT(struct model_values, m), ""
#define AT(m)       OPTION_AT(struct model_quantity, m), ""
#define BY_HAND     OPTION_MAP, "", "", OPTION_BY_HAND, ""
#define EACH(items) OPTION_EACH(items), ""
#define QUANTITIES(rows_table, limit, function)                                                \
    {                                                                                          \
        .shape = OPTION_NAMED, .table = &(rows_table), .short_form = true, .least = 1,         \
        .most = (limit), .bytes = sizeof(struct model_quantity), .later = true,                \
        .what = "units", .example = "{v: m/s}", .add = (function)                              \
    }

static void add_channel(const struct option_reading *item, void *value, void *owner);
static void add_parameter(const struct option_reading *item, void *value, void *owner);
static void add_constant(const struct option_reading *item, void *value, void *owner);

/* clang-format off */
static const struct option_row channel_rows[] = {
    {"unit", OPTION_WORD, "", "", OPTION_NO_RANGE, AT(texts.unit)},
    {"name", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.name)},
    {"words", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.words)},
};
static const struct option_row parameter_rows[] = {
    {"unit", OPTION_WORD, "", "", OPTION_NO_RANGE, AT(texts.unit)},
    {"name", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.name)},
    {"words", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.words)},
    {"help", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(texts.help)},
    {"sign", OPTION_CHOICE, "", "any", 0.0, 0.0, "any|not_negative|positive",
     OPTION_AT(struct model_quantity, sign), ""},
};
static const struct option_table channel_table = {channel_rows, COUNT(channel_rows)};
static const struct option_table parameter_table = {parameter_rows, COUNT(parameter_rows)};
static const struct option_items axis_items = QUANTITIES(channel_table, MODEL_AXES_MAX, add_channel);
static const struct option_items pose_items = QUANTITIES(channel_table, MODEL_POSES_MAX, add_channel);
static const struct option_items parameter_items = QUANTITIES(parameter_table, MODEL_PARAMETERS_MAX, add_parameter);
static const struct option_items hold_items = {
    .shape = OPTION_LIST, .value = &model_number, .least = 2, .most = 2, .bytes = sizeof(double),
    .fault = FAULT_NUMBERS_EXPECTED, .what = "numbers", .example = "[0.5, 3]"};
static const struct option_items constant_items = {
    .shape = OPTION_NAMED, .value = &model_number, .bytes = sizeof(double), .least = 1, .most = EXPRESSION_NAMES_MAX,
    .later = true, .what = "numbers", .add = add_constant};

static const struct option_row root_rows[] = {
    {"model", OPTION_TEXT, "", "", 1.0, MODEL_FILE_NAME_MAX - 1, "", OPTION_AT(struct model_values, name),
     "its name, as in model: dc_motor"},
    {"purpose", OPTION_TEXT, "", "", OPTION_NO_RANGE, IN_FILE(purpose)},
    {"velocities", EACH(axis_items)},
    {"efforts", EACH(axis_items)},
    {"pose", EACH(pose_items)},
    {"constants", EACH(constant_items)},
    {"parameters", EACH(parameter_items)},
    {"equations", EACH(model_equation_items)},
    {"kinematics", EACH(model_rate_items)},
    {"derived", EACH(model_derived_items)},
    {"planar", EACH(model_planar_items)},
    {"sticks", OPTION_BOOL, "", "false", OPTION_NO_RANGE, IN_FILE(sticks)},
    {"window_s", OPTION_REAL, "s", "0", 0.0, 1e4, "", IN_FILE(window_s)},
    {"variants", EACH(model_variant_items)},
    {"trial.parameters", BY_HAND},
    {"trial.efforts", BY_HAND},
    {"trial.noise_sd", BY_HAND},
    {"trial.hold_s", OPTION_ARRAY(hold_items, struct model_values, hold_s), ""},
    {"trial.delay_s", OPTION_REAL, "s", "0", 0.0, 10.0, "", IN_FILE(delay_s)},
    {"trial.dt_s", OPTION_REAL, "s", "0.05", 1e-5, 1e4, "", IN_FILE(dt_s)},
    {"trial.samples", OPTION_INTEGER, "", "1000", 50.0, 20000.0, "", IN_FILE(samples)},
    {"trial.loss_ratio", OPTION_REAL, "", "0", 0.0, 0.5, "", IN_FILE(loss_ratio)},
};
/* clang-format on */

_Static_assert((int)MODEL_ANY == 0 && (int)MODEL_NOT_NEGATIVE == 1 && (int)MODEL_POSITIVE == 2,
               "the choices of sign");

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

/* Completes the texts of a quantity: a unit, or a map. */
static void complete_texts(const struct option_reading *item, struct model_file_texts *texts)
{
    copy_text(texts->symbol, sizeof texts->symbol, option_name(item));
    if (texts->name[0] == '\0') {
        copy_text(texts->name, sizeof texts->name, texts->symbol);
    } else if (!expression_is_name(texts->name, false)) {
        option_fault_at(item, "name", FAULT_BAD_NAME,
                        "'%.40s' is no name: letters, digits and _", texts->name);
    }
    if (texts->words[0] == '\0') {
        format_name(texts->words, sizeof texts->words, texts->name);
    }
}

static void add_channel(const struct option_reading *item, void *value, void *owner)
{
    struct model_loader *l = owner;
    struct model_quantity *quantity = value;
    complete_texts(item, &quantity->texts);
    l->channels[l->channel_count++] = quantity->texts;
}

/* Reads the channels of one kind: their texts and their number. */
static size_t read_channels(struct model_loader *l, const char *key,
                            struct model_file_texts *out)
{
    l->channels = out;
    l->channel_count = 0;
    option_read_items(l->reading, key, l);
    return l->channel_count;
}

static void add_parameter(const struct option_reading *item, void *value, void *owner)
{
    struct model_loader *l = owner;
    struct model_quantity *quantity = value;
    struct model_file_texts *t = &l->file->parameter[l->parameters];
    complete_texts(item, &quantity->texts);
    *t = quantity->texts;
    l->file->parameters[l->parameters++] = (struct model_parameter){
        t->name, t->symbol, t->unit, quantity->sign, t->help, t->words};
}

static void add_constant(const struct option_reading *item, void *value, void *owner)
{
    struct model_loader *l = owner;
    struct err err = {0};
    if (!item->failed &&
        expression_declare_constant(&l->file->pool, option_name(item), *(const double *)value,
                                    &err) != STATUS_OK) {
        option_fault_at(item, "", err.fault, "%.160s", err.text);
    }
}

/* Declares a velocity that is an expression rather than a name. */
static void declare_rate(struct model_loader *l, const char *rate)
{
    if (expression_declare(&l->file->pool, rate, EXPRESSION_NUMBER, NULL, NULL) != STATUS_OK &&
        !l->r->failed) {
        option_fault_at(l->reading, "velocities", FAULT_TOO_LONG,
                        "%s is too long with its prime", rate);
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
        uint8_t *first;
        bool rates;
    } groups[] = {
        {"velocities", f->velocity, l->axes, &n->nu, false},
        {"velocities", f->velocity, l->axes, &n->nu_dot, true},
        {"pose", f->pose, l->poses, &n->pose, false},
        {"parameters", f->parameter, l->parameters, &n->parameter, false},
        {"efforts", f->effort, l->efforts, &n->effort, false},
    };
    for (size_t g = 0; g < COUNT(groups); g++) {
        uint32_t node = l->tree->nodes[option_node(l->reading, groups[g].key)].first;
        *groups[g].first = (uint8_t)f->pool.name_count;
        for (size_t i = 0; i < groups[g].count; i++, node = l->tree->nodes[node].next) {
            char rate[EXPRESSION_NAME_MAX + 2];
            (void)snprintf(rate, sizeof rate, "%s'", groups[g].texts[i].symbol);
            if (groups[g].rates) {
                declare_rate(l, rate);
            } else {
                declare_name(l, node, groups[g].key, groups[g].texts[i].symbol);
            }
        }
    }
    n->axes = l->axes;
    n->poses = l->poses;
    n->parameters = l->parameters;
    n->width = MODEL_NONE;
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
    const char *name = l->values->name;
    const struct model_row *row = model_row_find(name);
    if (name[0] != '\0' && !expression_is_name(name, false)) {
        option_fault_at(l->reading, "model", FAULT_BAD_NAME,
                        "'%s' is no name: a letter, then letters, digits and _", name);
    } else if (row && (!row->model || row->model->hash == 0)) {
        option_fault_at(l->reading, "model", FAULT_RESERVED_NAME,
                        "%s is built in, take another name", name);
    }
}

static void compile_model(struct model_loader *l)
{
    struct model_kinds kinds = {.planar = false};
    struct err err = {0};
    l->kinds = &kinds;
    model_read_kinds(l);
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
        option_fault_at(l->reading, "equations", err.fault, "%.200s", err.text);
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
    l.axes = read_channels(&l, "velocities", f->velocity);
    l.efforts = read_channels(&l, "efforts", f->effort);
    l.poses = read_channels(&l, "pose", f->pose);
    option_read_items(reading, "parameters", &l);
    if (l.axes > 0 && l.efforts > 0 && l.efforts != l.axes) {
        option_fault_at(reading, "efforts", FAULT_WRONG_COUNT,
                        "%zu for %zu velocities, one each is wanted", l.efforts, l.axes);
    }
    if (l.axes > 0 && l.poses > 0 && l.poses != l.axes && l.poses != l.axes + 1) {
        option_fault_at(reading, "pose", FAULT_WRONG_COUNT,
                        "%zu for %zu velocities, one each is wanted, and a heading may be one "
                        "more",
                        l.poses, l.axes);
    }
    declare_names(&l);
    option_read_items(reading, "constants", &l);
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

const struct option_file model_file = {
    .what = "a model",
    .empty =
        "the file is empty, a model has at least model, velocities, efforts, parameters and "
        "equations",
    .table = OPTION_TABLE(root_rows),
    .required = "model velocities efforts parameters equations",
    .bytes = sizeof(struct model_values),
    .out_bytes = sizeof(struct model_file *),
    .finish = finish_model,
};

void model_file_free(struct model_file *file)
{
    free(file);
}

enum status model_file_register(const char *path, const struct model_row **row,
                                struct err_list *errors)
{
    struct model_file *file = NULL;
    enum status st = option_file_load(&model_file, path, &file, errors);
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
