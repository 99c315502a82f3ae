/* config/text_file.h - the whole of a file that people write, or one fault that says why not;
 * and faults for people to read.
 */
#ifndef CONFIG_TEXT_FILE_H
#define CONFIG_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err_list.h"

/* Read path into *text, to be freed, at most TREE_BYTES_MAX + 1 bytes of it: one byte more than
 * is allowed shows that the file is too large. what names the kind of file in the fault, "a lab
 * file". Returns STATUS_E_IO or STATUS_E_NOMEM with a fault in *errors, *text is NULL then. */
MUST_USE enum status text_file_read(const char *path, const char *what, char **text,
                                    size_t *bytes, struct err_list *errors);

/* A path that stands in a file, as seen from that file's folder. False when it does not fit
 * into out[size]. */
bool text_file_beside(const char *file, const char *path, char *out, size_t size);

/* One line a fault: "tandem: file:line:column: what is wrong, what would be right". */
void err_list_print(const struct err_list *list, FILE *out);

#endif
