/* config/machine/machine_file.h - machines that somebody wrote or drew, from files, understood
 * and checked (docs/model/machines.md).
 *
 * A file is YAML, one machine or a list of files, "machines: [A.yaml, B.drawio]"; or a drawing,
 * each page a machine. Whatever is wrong stands in the diagnostics of the machine, or, where
 * there is none, in those of the file.
 */
#ifndef CONFIG_MACHINE_MACHINE_FILE_H
#define CONFIG_MACHINE_MACHINE_FILE_H

#include <stdio.h>

#include "config/drawing/drawing.h"

enum {
    MACHINE_FILE_MAX = 32, /* machines */
    MACHINE_FILE_NAME_MAX = 256,
    MACHINE_FILE_BYTES_MAX = 8 << 20
};

struct machine_file {
    bool words; /* labels that are no expressions are truth inputs of their words */
    size_t count;
    struct machine *machines[MACHINE_FILE_MAX];
    char names[MACHINE_FILE_MAX][MACHINE_FILE_NAME_MAX]; /* of its file, without folders */
    struct drawing *drawings[MACHINE_FILE_MAX]; /* where they were drawn; NULL: written */
    size_t pages[MACHINE_FILE_MAX];             /* on which page of it */
    char name[MACHINE_FILE_NAME_MAX];
    struct machine_diagnostics problems; /* of what is no machine */
};

/* Read, understand and check a file, and make the programs of machines without errors.
 *
 *   words  in  take labels that are no expressions as truth inputs of their words
 *
 * STATUS_OK whatever is wrong with the file, which is told: machine_file_errors(). *out is to
 * be freed with machine_file_free(). STATUS_E_NOMEM. */
MUST_USE enum status machine_file_load(const char *path, bool words, struct machine_file **out);

/* The same from memory; name stands for the path. */
MUST_USE enum status machine_file_parse(const char *text, size_t bytes, const char *name,
                                        bool words, struct machine_file **out);

/* NULL is allowed. */
void machine_file_free(struct machine_file *file);

/* How many diagnostics there are of a severity. */
size_t machine_file_count(const struct machine_file *file, enum machine_severity severity);

/* All of them, one a line; returns how many. Those that are sorted stay so. */
size_t machine_file_print_diagnostics(const struct machine_file *file, FILE *out);

/* A machine as it was drawn, as SVG; nothing when it was written. lit: a state, or NULL. */
void machine_file_print_svg(const struct machine_file *file, size_t machine, const char *lit,
                            FILE *out);

/* Is it a word that names a file, rather than a machine: with a slash, or with a known end? */
bool machine_file_is_path(const char *word);

/* ---- for readers ---- */

/* One more machine of the file, with an empty draft; its place is the first of names that are
 * free. NULL, told, when there is no more room or memory. */
struct machine *machine_file_add(struct machine_file *file, const char *name);

/* Read one machine from YAML text into a draft. What is wrong is told in its diagnostics. */
void machine_yaml_read(const char *text, size_t bytes, struct machine_draft *draft);

/* A machine as YAML text. */
void machine_yaml_print(const struct machine *machine, FILE *out);

#endif
