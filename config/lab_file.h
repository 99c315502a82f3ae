/* config/lab_file.h - the lab file: broker, pairs, HTTP, journal and store of one lab.
 *
 * One YAML file (docs/config.md, lab.schema.json), every key of which has a default that works
 * with a broker on localhost. It is parsed once into plain structs; nothing looks an option up
 * by its name later. All faults of a file are reported at once, with line and column.
 */
#ifndef CONFIG_LAB_FILE_H
#define CONFIG_LAB_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/err_list.h"
#include "base/status.h"
#include "config/lab_options.h"

/* Read and check a lab file.
 *
 *   path    in
 *   out     out; written only on STATUS_OK, then to be freed with lab_file_free()
 *   errors  in/out; receives all faults, in the order of the file
 *
 * Returns STATUS_E_IO (it cannot be read), STATUS_E_PARSE (faults were added to *errors) or
 * STATUS_E_NOMEM, each with at least one fault in *errors. Cold path: allocates. */
MUST_USE enum status lab_file_load(const char *path, struct lab_file *out,
                                   struct err_list *errors);

/* The same from memory; name stands for the path in the faults. */
MUST_USE enum status lab_file_parse(const char *text, size_t bytes, const char *name,
                                    struct lab_file *out, struct err_list *errors);

/* NULL is allowed. */
void lab_file_free(struct lab_file *lab);

/* The effective values as a lab file that reads back to the same values: every key, and of each
 * pair what differs from `defaults`. */
void lab_file_print(const struct lab_file *lab, FILE *out);

/* docs/config.md and config/lab.schema.json, as they must stand in the source tree. */
void lab_file_print_docs(FILE *out);
MUST_USE enum status lab_file_print_schema(FILE *out);

#endif
