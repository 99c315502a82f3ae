/* twin/models/model.h - the table of models: one file a model, one row here.
 *
 * What a model is, and what can be done with any of them: identification/data/linear_model.h.
 * Pure.
 */
#ifndef TWIN_MODELS_MODEL_H
#define TWIN_MODELS_MODEL_H

#include <stddef.h>

#include "identification/data/linear_model.h"

extern const struct model *const models[]; /* [model_count] */
extern const size_t model_count;

/* NULL when there is no such model. */
const struct model *model_find(const char *name);

#endif
