/* service/machine/machine_list.h - loads the machines of several files. */
#ifndef SERVICE_MACHINE_MACHINE_LIST_H
#define SERVICE_MACHINE_MACHINE_LIST_H

#include "config/machine/machine_file.h"

enum { MACHINE_LIST_MAX = 64, MACHINE_LIST_FILES_MAX = 16 };

struct machine_list { /* all zero is empty */
    size_t file_count, count;
    struct machine_file *files[MACHINE_LIST_FILES_MAX];
    struct machine *machines[MACHINE_LIST_MAX]; /* machines of all files that could be built */
};

/* Read a file. Errors and warnings go to stderr. EXIT_FAILED on an error: the machines may be
 * shown, but neither run nor translated. EXIT_USAGE when there is no more room. */
int machine_list_add(struct machine_list *list, const char *path);

/* Load all of paths, NULL-terminated. EXIT_USAGE without any machine. */
int machine_list_load(struct machine_list *list, char **paths);

void machine_list_free(struct machine_list *list);

#endif
