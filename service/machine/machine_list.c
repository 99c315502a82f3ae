#include "service/machine/machine_list.h"

#include <stdio.h>

#include "service/tool/commands.h"

int machine_list_add(struct machine_list *list, const char *path)
{
    struct machine_file *file = NULL;
    if (list->file_count == MACHINE_LIST_FILES_MAX) {
        return complain_exit(EXIT_USAGE, "machines: more than %d files",
                             MACHINE_LIST_FILES_MAX);
    }
    if (machine_file_load(path, false, &file) != STATUS_OK) {
        return complain_exit(EXIT_FAILED, "out of memory");
    }
    list->files[list->file_count++] = file;
    if (machine_file_count(file, MACHINE_ERROR) + machine_file_count(file, MACHINE_WARNING) >
        0) {
        (void)machine_file_print_diagnostics(file, stderr);
    }
    for (size_t i = 0; i < file->count; i++) {
        if (!file->machines[i]->built) {
            continue;
        }
        if (list->count == MACHINE_LIST_MAX) {
            return complain_exit(EXIT_USAGE, "machines: more than %d machines",
                                 MACHINE_LIST_MAX);
        }
        list->machines[list->count++] = file->machines[i];
    }
    return machine_file_count(file, MACHINE_ERROR) > 0 ? EXIT_FAILED : EXIT_FINE;
}

int machine_list_load(struct machine_list *list, char **paths)
{
    int result = EXIT_FINE;
    for (; *paths; paths++) {
        const int one = machine_list_add(list, *paths);
        result = one > result ? one : result;
    }
    if (result == EXIT_FINE && list->count == 0) {
        return complain_exit(EXIT_USAGE, "machines: a FILE with a machine was expected");
    }
    return result;
}

void machine_list_free(struct machine_list *list)
{
    for (size_t i = 0; i < list->file_count; i++) {
        machine_file_free(list->files[i]);
    }
}
