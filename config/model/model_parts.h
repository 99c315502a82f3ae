/* config/model/model_parts.h - what the files that read a model share. */
#ifndef CONFIG_MODEL_MODEL_PARTS_H
#define CONFIG_MODEL_MODEL_PARTS_H

#include "config/model/model_file.h"

/* What the rows of the file write to. */
struct model_values {
    struct model_file *file;
    char name[MODEL_FILE_NAME_MAX];
    char purpose[MODEL_FILE_TEXT_MAX];
    bool sticks;
    double window_s;
    double delay_s, dt_s, loss_ratio;
    uint32_t samples;
};

/* What a map of a quantity may say. */
struct model_quantity {
    struct model_file_texts texts;
    enum model_sign sign;
};
/* A file being read. */
struct model_loader {
    const struct option_reading *reading;
    struct option_reader *r;
    const struct tree *tree;
    struct model_file *file;
    struct model_values *values;
    bool named; /* every name is in the pool, so that equations can be taken apart */
    size_t axes, efforts, poses, parameters;
    uint32_t nodes[5]; /* of the sections, as in sections */
};

/* config/model/model_tree.c: the tree, as the readers of a model walk it. */
uint32_t model_next(const struct model_loader *l, uint32_t node);
bool model_is_kind(const struct model_loader *l, uint32_t node, enum tree_kind kind);

/* The text of a scalar; "". */
const char *model_scalar(const struct model_loader *l, uint32_t node);

/* A section that has to be a map or a list of 1 to most entries; TREE_NONE: it is not. */
uint32_t model_entries(const struct model_loader *l, const char *key, enum tree_kind kind,
                       size_t most, bool needed);

/* config/model/model_equations.c: once names are in the pool. variants: of how many values of a
 * constant there is a model each, widths [MODEL_FILE_VARIANTS_MAX], own the file's; 0: none. */
struct model_kinds {
    bool planar;
    size_t variants, own;
    double widths[MODEL_FILE_VARIANTS_MAX];
};
void model_read_kinds(struct model_loader *l, struct model_kinds *kinds);
void model_read_equations(struct model_loader *l);
void model_read_trial(struct model_loader *l);

#endif
