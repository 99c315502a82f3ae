/* config/model/model_file.h - loads a model of motion from YAML: equations that are linear in
 * their parameters (docs/model/model_files.md).
 *
 * Every fault of a file is reported at once, with line and column, in equations also the
 * character. The result is a row like those of identification/model/models.def.
 */
#ifndef CONFIG_MODEL_MODEL_FILE_H
#define CONFIG_MODEL_MODEL_FILE_H

#include "config/options/option_file.h"
#include "identification/model/model_program.h"
#include "identification/model/models.h"

enum {
    MODEL_FILE_NAME_MAX = 24, /* bytes with the terminator, as in a pair's options */
    MODEL_FILE_TEXT_MAX = 160,
    MODEL_FILE_HELP_MAX = 2048,
    MODEL_FILE_ROLES_MAX = 2 + 3 * MODEL_AXES_MAX,
    MODEL_FILE_VARIANTS_MAX = 16
};

/* Texts of a quantity: symbol in equations, column, unit, and a name for people. */
struct model_file_texts {
    char symbol[EXPRESSION_NAME_MAX + 1];
    char name[EXPRESSION_NAME_MAX + 1];
    char unit[EXPRESSION_NAME_MAX + 1];
    char words[MODEL_FILE_TEXT_MAX];
    char help[MODEL_FILE_TEXT_MAX];
};

struct model_file {
    struct model_row row;
    char name[MODEL_FILE_NAME_MAX];
    char purpose[MODEL_FILE_TEXT_MAX];
    char help[MODEL_FILE_HELP_MAX];
    struct model models[MODEL_FILE_VARIANTS_MAX];
    struct model_variant variants[MODEL_FILE_VARIANTS_MAX];
    struct model_axis axes[MODEL_AXES_MAX];
    struct model_force push[MODEL_AXES_MAX];
    struct {
        char name[EXPRESSION_NAME_MAX + 8], words[MODEL_FILE_TEXT_MAX + 16];
    } generalised_forces[MODEL_AXES_MAX];
    struct model_parameter parameters[MODEL_PARAMETERS_MAX];
    struct model_derived derived[MODEL_DERIVED_MAX];
    const char *roles[MODEL_FILE_ROLES_MAX];
    size_t planar[MODEL_AXES_MAX];
    unsigned char pattern[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    bool has_trial;
    struct model_program program;

    /* The quantities as read, for display. */
    struct model_file_texts velocity[MODEL_AXES_MAX], effort[MODEL_AXES_MAX],
        pose[MODEL_POSES_MAX], parameter[MODEL_PARAMETERS_MAX], quantity[MODEL_DERIVED_MAX];
    uint16_t equations[MODEL_AXES_MAX];
    struct model_terms terms;
    struct expression_pool pool;
};

/* Describes a file with a model; it fills a struct model_file *, to be freed with
 * model_file_free(). */
extern const struct option_file model_file;

/* NULL is allowed. Registered models must not be freed. */
void model_file_free(struct model_file *file);

/* Read a file and register its model (models_add()) for the life of the program; registering
 * the same model twice has no effect. Call it before threads start. */
MUST_USE enum status model_file_register(const char *path, const struct model_row **row,
                                         struct err_list *errors);

/* List the registered models as "dc_motor=00a1… thermal=…", cut to size; 41 bytes each at
 * most. */
void model_file_format_hashes(char *out, size_t size);

/* The hash of a registered model's file; 0: no model has this name. */
uint64_t model_file_hash(const char *name);

/* Does a word name a file rather than a model: "FILE.yaml", or anything with a slash? */
bool model_file_is_path(const char *word);

#endif
