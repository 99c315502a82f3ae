#include "config/machine/machine_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/options/option_file.h"
#include "twin/machine/machine_checks.h"

/* ---- files ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add_file_diagnostic(struct machine_file *file, const char *code, const char *text)
{
    machine_diagnostics_add(&file->problems, code, (struct machine_place){0}, "%s", text);
}

/* Add a machine with an empty draft; its place is the first free one in names. NULL with a
 * diagnostic when there is no room or no memory. */
static struct machine *add_machine(struct machine_file *file, const char *name)
{
    struct machine *machine =
        file->count < MACHINE_FILE_MAX ? calloc(1, sizeof *machine) : NULL;
    if (!machine) {
        add_file_diagnostic(file, "E-TOO-MANY",
                            file->count < MACHINE_FILE_MAX ? "not enough memory to read it"
                                                           : "more machines than 32");
        return NULL;
    }
    machine_draft_start(&machine->draft);
    (void)snprintf(file->names[file->count], MACHINE_FILE_NAME_MAX, "%.*s",
                   MACHINE_FILE_NAME_MAX - 1, base_name(name));
    file->machines[file->count++] = machine;
    return machine;
}

void machine_file_free(struct machine_file *file)
{
    for (size_t i = 0; file && i < file->count; i++) {
        free(file->machines[i]);
        if (file->pages[i] == 0) {
            drawing_free(file->drawings[i]);
        }
    }
    free(file);
}

/* Reads a file into a terminated buffer, to be freed. NULL with a diagnostic. */
static char *read_bytes(struct machine_file *file, const char *path, size_t *bytes)
{
    char message[256];
    const char *tried = "";
    char *text = text_file_read(path, MACHINE_FILE_BYTES_MAX, bytes, &tried);
    if (!text || *bytes > MACHINE_FILE_BYTES_MAX) {
        (void)snprintf(message, sizeof message, "cannot read %.120s: %s", path,
                       text ? "it is larger than 8 MiB" : strerrordesc_np(errno));
        add_file_diagnostic(file, "E-FILE", message);
        free(text);
        return NULL;
    }
    return text;
}

/* ---- machines ---- */

/* Reads the pages of a drawing. The first page's machine owns the drawing. */
static void read_drawing(struct machine_file *file, const char *data, size_t bytes,
                         const char *name)
{
    struct drawing *drawing = NULL;
    struct err err = {0};
    size_t page = 0;
    if (drawing_open(data, bytes, &drawing, &err) != STATUS_OK) {
        add_file_diagnostic(file, "E-FILE", err.text);
        return;
    }
    for (; page < drawing_page_count(drawing); page++) {
        struct machine *machine = add_machine(file, name);
        if (!machine) {
            break;
        }
        file->drawings[file->count - 1] = drawing;
        file->pages[file->count - 1] = page;
        drawing_read_page(drawing, page, file->words, &machine->draft);
    }
    if (page == 0) {
        drawing_free(drawing);
    }
}

static void read_machines(struct machine_file *file, const char *text, size_t bytes,
                          const char *name)
{
    if (drawing_is_one(text, bytes)) {
        read_drawing(file, text, bytes, name);
        return;
    }
    struct machine *machine = add_machine(file, name);
    if (machine) {
        machine_yaml_read(text, bytes, &machine->draft);
    }
}

/* ---- lists of files ---- */

static void read_listed(struct machine_file *file, const char *list, const char *path)
{
    char sibling[4096];
    size_t bytes = 0;
    char *text = text_file_sibling(list, path, sibling, sizeof sibling)
                     ? read_bytes(file, sibling, &bytes)
                     : NULL;
    if (text) {
        read_machines(file, text, bytes, sibling);
    }
    free(text);
}

/* Reads "machines: [FILE…]" and nothing else. False: it is no such list. */
static bool read_list(struct machine_file *file, const char *text, size_t bytes,
                      const char *name)
{
    struct err_list errors = {0};
    struct tree tree = {0};
    const enum status status = tree_parse(text, bytes, name, &tree, &errors);
    const struct tree_node *root = tree.count > 0 ? &tree.nodes[TREE_ROOT] : NULL;
    const uint32_t key =
        status == STATUS_OK && root && root->kind == TREE_MAP ? root->first : TREE_NONE;
    const bool found = key != TREE_NONE && strcmp(tree_key(&tree, key), "machines") == 0;
    if (found && (root->count != 1 || tree.nodes[key].kind != TREE_LIST)) {
        add_file_diagnostic(file, "E-FILE",
                            "machines: a list of files is wanted, and nothing else");
    } else if (found) {
        for (uint32_t i = tree.nodes[key].first; i != TREE_NONE; i = tree.nodes[i].next) {
            if (tree.nodes[i].kind == TREE_SCALAR) {
                read_listed(file, name, tree_text(&tree, i));
            } else {
                add_file_diagnostic(file, "E-FILE", "machines: the names of files are wanted");
            }
        }
    }
    tree_finish(&tree);
    return found;
}

static void read_text(struct machine_file *file, const char *text, size_t bytes,
                      const char *name)
{
    const bool drawing = drawing_is_one(text, bytes);
    if (!drawing && bytes > TREE_BYTES_MAX) {
        add_file_diagnostic(file, "E-FILE", "it is larger than 8 MiB");
    } else if (drawing || !read_list(file, text, bytes, name)) {
        read_machines(file, text, bytes, name);
    }
}

/* ---- understanding ---- */

static void understand_machine(struct machine *machine, void *memory)
{
    struct machine_diagnostics *problems = &machine->draft.diagnostics;
    if (machine_build(machine) == STATUS_OK) {
        machine_check(machine, memory);
        if (problems->severity_count[MACHINE_ERROR] == 0) {
            /* a failure is in the diagnostics */
            (void)(machine_compile(machine, memory) == STATUS_OK);
        }
    }
    machine_diagnostics_sort(problems);
}

static enum status understand_all(struct machine_file *file)
{
    const size_t bytes = machine_checks_bytes() > machine_compile_bytes()
                             ? machine_checks_bytes()
                             : machine_compile_bytes();
    void *memory = malloc(bytes);
    for (size_t i = 0; memory && i < file->count; i++) {
        understand_machine(file->machines[i], memory);
    }
    machine_diagnostics_sort(&file->problems);
    free(memory);
    return memory ? STATUS_OK : STATUS_E_NOMEM;
}

static struct machine_file *create_file(const char *name)
{
    struct machine_file *file = calloc(1, sizeof *file);
    if (file) {
        (void)snprintf(file->name, sizeof file->name, "%s", base_name(name));
    }
    return file;
}

static enum status finish_file(struct machine_file *file, struct machine_file **out)
{
    const enum status status = understand_all(file);
    if (status == STATUS_OK) {
        *out = file;
    } else {
        machine_file_free(file);
    }
    return status;
}

enum status machine_file_parse(const char *text, size_t bytes, const char *name, bool words,
                               struct machine_file **out)
{
    struct machine_file *file = create_file(name);
    if (!file) {
        return STATUS_E_NOMEM;
    }
    file->words = words;
    read_text(file, text, bytes, name);
    return finish_file(file, out);
}

enum status machine_file_load(const char *path, bool words, struct machine_file **out)
{
    struct machine_file *file = create_file(path);
    size_t bytes = 0;
    if (!file) {
        return STATUS_E_NOMEM;
    }
    file->words = words;
    char *text = read_bytes(file, path, &bytes);
    if (text) {
        read_text(file, text, bytes, path);
    }
    free(text);
    return finish_file(file, out);
}

/* ---- diagnostics ---- */

size_t machine_file_count(const struct machine_file *file, enum machine_severity severity)
{
    size_t count = file->problems.severity_count[severity];
    for (size_t i = 0; i < file->count; i++) {
        count += file->machines[i]->draft.diagnostics.severity_count[severity];
    }
    return count;
}

static size_t print_list(const struct machine_diagnostics *list, const char *name, FILE *out)
{
    char line[MACHINE_LINE_MAX];
    for (size_t i = 0; i < list->count; i++) {
        (void)machine_diagnostic_print(&list->items[i], name, line, sizeof line);
        (void)fprintf(out, "%s\n", line);
    }
    if (list->more > 0) {
        (void)fprintf(out, "note  %zu more\n", list->more);
    }
    return list->count;
}

size_t machine_file_print_diagnostics(const struct machine_file *file, FILE *out)
{
    size_t count = print_list(&file->problems, file->name, out);
    for (size_t i = 0; i < file->count; i++) {
        count += print_list(&file->machines[i]->draft.diagnostics, file->names[i], out);
    }
    return count;
}

void machine_file_print_svg(const struct machine_file *file, size_t machine, const char *lit,
                            FILE *out)
{
    if (file->drawings[machine]) {
        drawing_write_svg(file->drawings[machine], file->pages[machine], lit, out);
    }
}

static bool ends_with(const char *word, const char *end)
{
    const size_t n = strlen(word);
    const size_t k = strlen(end);
    return n > k && strcmp(word + n - k, end) == 0;
}

bool machine_file_is_path(const char *word)
{
    static const char *const ends[] = {".yaml", ".yml", ".drawio", ".xml", ".svg", ".png"};
    bool known = strchr(word, '/') != NULL;
    for (size_t i = 0; i < COUNT(ends); i++) {
        known = known || ends_with(word, ends[i]);
    }
    return known;
}
