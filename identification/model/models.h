/* identification/model/models.h - the table of models: one file per model of motion, one row
 * here. Pure.
 */
#ifndef IDENTIFICATION_MODEL_MODELS_H
#define IDENTIFICATION_MODEL_MODELS_H

#include "base/text/edit_distance.h"
#include "identification/model/model.h"

#define MODEL(row) extern const struct model_row row;
#include "identification/model/models.def"
#undef MODEL

/* Some models of motion and a joint's parameters, for tests. joint_models: by optional terms
 * (0: plain joint with JOINT_LOAD) and by width, the third of which is 0.01. */
extern const struct model diffdrive_model, first_order_model, first_order_deadband_model,
    position_servo_model;
enum { JOINT_FORMS = 8, JOINT_WIDTHS = 5 };
extern const struct model joint_models[JOINT_FORMS][JOINT_WIDTHS];
enum { JOINT_INERTIA, JOINT_VISCOUS, JOINT_COULOMB, JOINT_OFFSET, JOINT_LOAD };

/* Kinematics of models whose poses are the integrals of their velocities (joint.c). */
void model_move_joints(const struct model *model, const double *pose, const double *nu,
                       double *pose_dot);

extern const struct model_row *const model_rows[]; /* [model_row_count] */
extern const size_t model_row_count;

/* Models of motion that were loaded from files; they follow those of the table. The program
 * loads them at start, before there are threads, and never unloads them, so nobody has to
 * release one. */
enum { MODELS_LOADED_MAX = 32 };

/* Adds a model and borrows its row forever. Returns STATUS_E_ARG if the name exists,
 * STATUS_E_FULL. */
MUST_USE enum status models_add(const struct model_row *row);

/* Returns built-in, then loaded models; NULL beyond the last. */
const struct model_row *model_row_at(size_t index);

/* Returns NULL if no model has this name. */
const struct model_row *model_row_find(const char *name);

/* Writes " (did you mean NAME?)" for an unknown name, or "", to out and returns it. */
const char *model_row_guess(const char *name, char out[EDIT_GUESS_MAX]);

/* Return models of motion by their index among these; NULL beyond the last. */
const struct model *model_at(size_t index);
size_t model_place(const struct model *model);

/* Mix into a hash the names and sizes of the built-in models; and for a model from a file
 * its index and text. Another name leaves the hash unchanged. */
uint64_t models_hash(uint64_t hash);
uint64_t model_hash_loaded(const char *name, uint64_t hash);

/* Returns NULL if no model of motion has this name. */
const struct model *model_find(const char *name);

#endif
