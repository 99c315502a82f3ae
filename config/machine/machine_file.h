/* config/machine/machine_file.h - loads machines that somebody wrote or drew, and checks them
 * (docs/model/machines.md).
 *
 * A file is one machine in YAML, a list of files ("machines: [A.yaml, B.drawio]"), or a drawing
 * with a machine on each page. Faults are in the machine's diagnostics, or in the file's own
 * when no machine can be named.
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
    bool words; /* labels that are no expressions become truth inputs of their words */
    size_t count;
    struct machine *machines[MACHINE_FILE_MAX];
    char names[MACHINE_FILE_MAX][MACHINE_FILE_NAME_MAX]; /* file name without folders */
    /* the drawing of each machine; NULL: written as YAML */
    struct drawing *drawings[MACHINE_FILE_MAX];
    size_t pages[MACHINE_FILE_MAX]; /* page in that drawing */
    char name[MACHINE_FILE_NAME_MAX];
    struct machine_diagnostics problems; /* faults that belong to no machine */
};

/* Read and check a file, and compile the machines without errors.
 *
 *   words  in  labels that are no expressions become truth inputs of their words
 *
 * Returns STATUS_OK even if the file has faults: see machine_file_errors(). *out is to be freed
 * with machine_file_free(). STATUS_E_NOMEM.
 */
MUST_USE enum status machine_file_load(const char *path, bool words, struct machine_file **out);

/* The same from memory; name stands for the path. */
MUST_USE enum status machine_file_parse(const char *text, size_t bytes, const char *name,
                                        bool words, struct machine_file **out);

/* NULL is allowed. */
void machine_file_free(struct machine_file *file);

/* The number of diagnostics of a severity. */
size_t machine_file_count(const struct machine_file *file, enum machine_severity severity);

/* Print all diagnostics, one a line, and return their number. Sorted ones stay sorted. */
size_t machine_file_print_diagnostics(const struct machine_file *file, FILE *out);

/* Print a machine as it was drawn, as SVG; nothing when it was written. lit: a state, or
 * NULL. */
void machine_file_print_svg(const struct machine_file *file, size_t machine, const char *lit,
                            FILE *out);

/* A word names a file when it has a slash or a known suffix; otherwise it names a machine. */
bool machine_file_is_path(const char *word);

/* ---- for readers ---- */

/* Read one machine from YAML text into a draft. Faults go to its diagnostics. */
void machine_yaml_read(const char *text, size_t bytes, struct machine_draft *draft);

/* A machine as YAML text. */
void machine_yaml_print(const struct machine *machine, FILE *out);

#endif
