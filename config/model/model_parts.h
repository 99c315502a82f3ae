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
    double delay_s, dt_s, loss_ratio, hold_s[2];
    uint32_t samples;
};

/* variants: number of constant values with a model of their own, 0: none; widths
 * [MODEL_FILE_VARIANTS_MAX] holds them, own is the file's. */
struct model_kinds {
    bool planar;
    size_t variants, own;
    double widths[MODEL_FILE_VARIANTS_MAX];
};

/* The keys in the map of a quantity. */
struct model_quantity {
    struct model_file_texts texts;
    enum model_sign sign;
};
/* A model file while it is read; the owner of its items. */
struct model_loader {
    const struct option_reading *reading;
    struct option_reader *r;
    const struct tree *tree;
    struct model_file *file;
    struct model_values *values;
    struct model_file_texts *channels; /* those that are read */
    size_t channel_count;
    bool named; /* all names are in the pool, so equations can be split into terms */
    size_t axes, efforts, poses, parameters, found_equations;
    struct model_kinds *kinds;
};

/* config/model/model_equations.c: all but any number need all names in the pool. */
extern const struct option_row model_number; /* any number */
extern const struct option_items model_equation_items, model_rate_items, model_derived_items,
    model_planar_items, model_variant_items;
void model_read_kinds(struct model_loader *l);
void model_read_equations(struct model_loader *l);
void model_read_trial(struct model_loader *l);

#endif
