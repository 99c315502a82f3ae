/* identification/model/models.h - the table of models: a file a model of motion, a row here. Pure. */
#ifndef IDENTIFICATION_MODEL_MODELS_H
#define IDENTIFICATION_MODEL_MODELS_H

#include "base/text/edit_distance.h"
#include "identification/model/model.h"

#define MODEL(row) extern const struct model_row row;
#include "identification/model/models.def"
#undef MODEL

/* Some models of motion and the parameters of a joint, for tests; joints by what they have
 * (JOINT_LOAD alone, no more: 0) and by their widths, of which the third is 0.01. */
extern const struct model diffdrive_model, first_order_model, first_order_deadband_model;
enum { JOINT_FORMS = 8, JOINT_WIDTHS = 5 };
extern const struct model joint_models[JOINT_FORMS][JOINT_WIDTHS];
enum { JOINT_INERTIA, JOINT_VISCOUS, JOINT_COULOMB, JOINT_OFFSET, JOINT_LOAD };

extern const struct model_row *const model_rows[]; /* [model_row_count] */
extern const size_t model_row_count;

/* Models of motion that came from files, behind those of the table. They are taken in when a
 * program begins, before there are threads, and stay: nobody who looks one up has to give it
 * back. */
enum { MODELS_LOADED_MAX = 32 };

/* One more; row is borrowed for ever. STATUS_E_ARG when there is one of its name already,
 * STATUS_E_FULL. */
MUST_USE enum status models_add(const struct model_row *row);

/* All of them, built in and loaded; NULL beyond the last. */
const struct model_row *model_row_at(size_t index);

/* NULL when there is none of this name. */
const struct model_row *model_row_find(const char *name);

/* " (did you mean NAME?)" for a name that there is not, or "", into out, which is returned. */
const char *model_row_guess(const char *name, char out[EDIT_GUESS_MAX]);

/* Models of motion, by their place among themselves; NULL beyond the last. */
const struct model *model_at(size_t index);
size_t model_count(void);
size_t model_place(const struct model *model);

/* Names and sizes of those that are built in, mixed into hash; and of one that came from a file
 * its place and what the file says, nothing for any other name. */
uint64_t models_hash(uint64_t hash);
uint64_t model_hash_loaded(const char *name, uint64_t hash);

/* NULL when there is no such model of motion. */
const struct model *model_find(const char *name);

#endif
