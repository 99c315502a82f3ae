/* config/model/model_parts.h - shared by the files that read a model. */
#ifndef CONFIG_MODEL_MODEL_PARTS_H
#define CONFIG_MODEL_MODEL_PARTS_H

#include "config/model/model_file.h"

/* The option table of the file writes to this struct. */
struct model_values {
    struct model_file *file;
    char name[MODEL_FILE_NAME_MAX];
    char purpose[MODEL_FILE_TEXT_MAX];
    bool sticks;
    double window_s;
    double delay_s, dt_s, loss_ratio;
    uint32_t samples;
};

/* The keys in the map of a quantity. */
struct model_quantity {
    struct model_file_texts texts;
    enum model_sign sign;
};
/* A model file while it is read. */
struct model_loader {
    const struct option_reading *reading;
    struct option_reader *r;
    const struct tree *tree;
    struct model_file *file;
    struct model_values *values;
    bool named; /* all names are in the pool, so equations can be split into terms */
    size_t axes, efforts, poses, parameters;
    uint32_t nodes[5]; /* nodes of the sections, in the order of `sections` */
};

/* config/model/model_tree.c: access to the tree for the readers of a model. */
uint32_t model_next(const struct model_loader *l, uint32_t node);
bool model_is_kind(const struct model_loader *l, uint32_t node, enum tree_kind kind);

/* The text of a scalar; "" for any other node. */
const char *model_scalar(const struct model_loader *l, uint32_t node);

/* Returns a section that must be a map or a list of 1 to `most` entries; TREE_NONE: it is
 * not. */
uint32_t model_entries(const struct model_loader *l, const char *key, enum tree_kind kind,
                       size_t most, bool needed);

/* config/model/model_equations.c: needs all names in the pool. variants: number of constant
 * values with a model of their own, 0: none; widths [MODEL_FILE_VARIANTS_MAX] holds them, own
 * is the file's. */
struct model_kinds {
    bool planar;
    size_t variants, own;
    double widths[MODEL_FILE_VARIANTS_MAX];
};
void model_read_kinds(struct model_loader *l, struct model_kinds *kinds);
void model_read_equations(struct model_loader *l);
void model_read_trial(struct model_loader *l);

#endif
