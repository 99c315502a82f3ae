/* service/machine/machine_list.h - the machines of several files, for who does something with
 * them. */
#ifndef SERVICE_MACHINE_MACHINE_LIST_H
#define SERVICE_MACHINE_MACHINE_LIST_H

#include "config/machine/machine_file.h"

enum { MACHINE_LIST_MAX = 64, MACHINE_LIST_FILES_MAX = 16 };

struct machine_list { /* all zero is empty */
    size_t file_count, count;
    struct machine_file *files[MACHINE_LIST_FILES_MAX];
    struct machine *machines[MACHINE_LIST_MAX]; /* theirs, those that were built */
};

/* Read one more file. Errors and warnings go to stderr; EXIT_FAILED when there is an error:
 * machines may then be shown, but neither run nor become programs. EXIT_USAGE when there is no
 * more room. */
int machine_list_add(struct machine_list *list, const char *path);

/* All of paths, NULL behind the last. At least one machine, or EXIT_USAGE. */
int machine_list_load(struct machine_list *list, char **paths);

void machine_list_free(struct machine_list *list);

#endif
