/* twin/models/model_program.h - a model that is made of expressions.
 *
 *     equation i:   sum over k of theta_k phi_ik(nu, nu', pose) = tau_i
 *
 * Equations come one by one as trees (base/expression) and are taken apart by structure: phi by
 * parameters, and phi by rates, so that the inertia M and what resists are known as
 * expressions of their own, and with them all that a struct model can be asked. Pure.
 */
#ifndef TWIN_MODELS_MODEL_PROGRAM_H
#define TWIN_MODELS_MODEL_PROGRAM_H

#include "base/expression/expression_program.h"
#include "identification/data/linear_model.h"

enum { MODEL_POSES_MAX = MODEL_AXES_MAX, MODEL_NONE = 255 };

/* What the names of the pool are: from where on they stand, one behind the other. */
struct model_names {
    size_t axes, poses, parameters;
    uint8_t nu, nu_dot, pose, parameter, effort;
    uint8_t width; /* the constant that variants differ by; MODEL_NONE */
};

/* A model as it is read: expressions, all in one pool. */
struct model_terms {
    struct expression_pool *pool;
    struct model_names names;
    uint16_t phi[MODEL_AXES_MAX][MODEL_PARAMETERS_MAX];
    uint16_t still[MODEL_AXES_MAX][MODEL_PARAMETERS_MAX]; /* of phi, without rates */
    uint16_t side[MODEL_AXES_MAX];                        /* the left side, sum of theta phi */
    uint16_t inertia[MODEL_AXES_MAX][MODEL_AXES_MAX]; /* of equation i, what multiplies nu'_j */
    uint16_t rest[MODEL_AXES_MAX];                    /* what is left of it */
    uint16_t kinematics[MODEL_POSES_MAX];             /* rate of each pose */
    uint16_t derived[MODEL_DERIVED_MAX];
    size_t derived_count;
};

/* What is computed of it. */
struct model_program {
    struct model_names names;
    bool diagonal;                        /* inertia: no equation has another's rate */
    bool turns_by_speed;                  /* inertia depends on nu */
    struct expression_program rows;       /* phi, by rows */
    struct expression_program dynamics;   /* inertia by rows, then rest */
    struct expression_program rates;      /* nu', of a diagonal inertia */
    struct expression_program slope;      /* d side / d nu, by rows */
    struct expression_program kinematics; /* rates of the pose */
    struct expression_program derived;    /* of each the value, then the gradient */
};

/* Take an equation apart: root is left == right as expression_parse() gives it. STATUS_E_PARSE,
 * with err: column and text, when it is not of the form above. */
MUST_USE enum status model_terms_equation(struct model_terms *terms, size_t i, uint16_t root,
                                          struct err *err);

/* Which parameters no equation has: bit i. */
uint32_t model_terms_unused(const struct model_terms *terms);

/* Compile all of it. memory: scratch, expression_compiler_bytes(). */
MUST_USE enum status model_program_make(const struct model_terms *terms, void *memory,
                                        struct model_program *program, struct err *err);

/* The functions of a model that has a program, what they say of themselves (needs_pose,
 * varying_inertia), and pattern [axes x parameters], out. Its names and counts are the
 * caller's. */
void model_program_bind(const struct model_terms *terms, const struct model_program *program,
                        unsigned char *pattern, struct model *model);

#endif
