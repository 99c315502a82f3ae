#include "config/option_file.h"

#include <stdlib.h>
#include <string.h>

#include "config/text_file.h"

uint32_t option_node(const struct option_reading *reading, const char *path)
{
    return option_given(reading->table, reading->given, path);
}

/* The values of a map, to be freed; NULL without memory. */
static void *read_values(const struct option_file *file, struct option_reader *r, uint32_t node,
                         const char *shown, const void *out)
{
    uint32_t given[OPTION_ROWS_MAX] = {0};
    const struct option_reading reading = {r, file->table, given, node, shown};
    void *values = calloc(1, file->bytes);
    if (!values) {
        option_fault(r, TREE_NONE, "not enough memory to read it");
        return NULL;
    }
    if (file->table) {
        option_defaults(file->table, values);
        option_read(r, file->table, "", node, shown, values, given);
    } else {
        memcpy(values, out, file->out_bytes);
    }
    file->finish(&reading, values);
    return values;
}

void option_file_read(const struct option_file *file, struct option_reader *r, uint32_t node,
                      const char *shown, void *out)
{
    void *values = read_values(file, r, node, shown, out);
    if (values) {
        memcpy(out, values, file->out_bytes);
    }
    free(values);
}

enum status option_file_parse(const struct option_file *file, const char *text, size_t bytes,
                              const char *name, void *out, struct err_list *errors)
{
    struct tree tree = {0};
    void *values = NULL;
    enum status status = tree_parse(text, bytes, name, &tree, errors);
    struct option_reader r = {.tree = &tree, .file = name, .errors = errors};
    const bool nothing = tree.count == 0 || (file->empty && option_is_empty(&tree, TREE_ROOT));
    if (status != STATUS_E_NOMEM && !nothing) {
        values = read_values(file, &r, TREE_ROOT, "", out);
        status = !values                           ? STATUS_E_NOMEM
                 : status == STATUS_OK && r.failed ? STATUS_E_PARSE
                                                   : status;
    } else if (status == STATUS_OK && file->empty) {
        status = err_list_add(errors, STATUS_E_PARSE, name, 1, 1, "%s", file->empty);
    } else if (status == STATUS_OK && file->table) {
        memset(out, 0, file->out_bytes);
    }
    if (status == STATUS_OK && values) {
        memcpy(out, values, file->out_bytes);
    }
    free(values);
    tree_finish(&tree);
    if (errors) {
        err_list_sort(errors);
    }
    return status;
}

enum status option_file_load(const struct option_file *file, const char *path, void *out,
                             struct err_list *errors)
{
    size_t bytes = 0;
    char *text = NULL;
    enum status status = text_file_read(path, file->what, &text, &bytes, errors);
    if (status == STATUS_OK) {
        status = option_file_parse(file, text, bytes, path, out, errors);
    }
    free(text);
    return status;
}
