#include "config/option_file.h"

enum status option_file_parse(const struct option_file *file, const char *text, size_t bytes,
                              const char *name, void *values, struct err_list *errors)
{
    struct tree tree = {0};
    enum status status = tree_parse(text, bytes, name, &tree, errors);
    struct option_reader r = {.tree = &tree, .file = name, .errors = errors};
    const bool nothing = tree.count == 0 || (file->empty && option_is_empty(&tree, TREE_ROOT));
    if (status != STATUS_E_NOMEM && !nothing) {
        file->read(&r, values);
        status = status == STATUS_OK && r.failed ? STATUS_E_PARSE : status;
    } else if (status == STATUS_OK && file->empty) {
        status = err_list_add(errors, STATUS_E_PARSE, name, 1, 1, "%s", file->empty);
    }
    tree_finish(&tree);
    if (errors) {
        err_list_sort(errors);
    }
    return status;
}
