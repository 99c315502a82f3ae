/* identification/model/model_program.h - a model that is made of expressions.
 *
 *     equation i:   sum over k of theta_k phi_ik(nu, nu', pose, tau) = known_i(nu, nu', pose,
 * tau)
 *
 * Equations come one by one as trees (base/expression), left == right, and are taken apart by
 * structure: phi by parameters, and phi by rates, so that the inertia M and what resists are
 * known as expressions of their own, and with them all that a struct model can be asked. What
 * has no parameter is known; in the usual case that is the effort of the axis, alone. Pure.
 */
#ifndef IDENTIFICATION_MODEL_MODEL_PROGRAM_H
#define IDENTIFICATION_MODEL_MODEL_PROGRAM_H

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
    uint16_t
        known[MODEL_AXES_MAX]; /* what has no parameter and no effort, as it stands right */
    uint16_t driven[MODEL_AXES_MAX]; /* no parameter, but an effort */
    uint16_t side[MODEL_AXES_MAX];   /* left less right; less an effort that is alone there */
    uint16_t whole[MODEL_AXES_MAX];  /* the same with it */
    bool alone[MODEL_AXES_MAX];      /* its own effort acts as it is, and no other */
    uint16_t inertia[MODEL_AXES_MAX][MODEL_AXES_MAX]; /* of equation i, what multiplies nu'_j */
    uint16_t rest[MODEL_AXES_MAX];                    /* what is left of side */
    bool curved;                                      /* not all are alone: side is whole */
    uint16_t kinematics[MODEL_POSES_MAX];             /* rate of each pose */
    uint16_t derived[MODEL_DERIVED_MAX];
    size_t derived_count;
};

/* Names as bits: so many from first on, those of efforts, those that stand in a node. */
static inline uint64_t model_terms_bits(uint8_t first, size_t count)
{
    return ((UINT64_C(1) << count) - 1) << first;
}

static inline uint64_t model_terms_efforts(const struct model_terms *t)
{
    return model_terms_bits(t->names.effort, t->names.axes);
}

static inline uint64_t model_terms_reads(const struct model_terms *t, uint16_t node)
{
    return t->pool->nodes[node].reads;
}

/* What is computed of it. */
struct model_program {
    struct model_names names;
    bool diagonal;                        /* inertia: no equation has another's rate */
    bool turns_by_speed;                  /* inertia depends on nu */
    bool curved;                          /* efforts act through terms of their own */
    struct expression_program rows;       /* phi, by rows */
    struct expression_program known;      /* known, then driven */
    struct expression_program thrust;     /* d side / d tau, by rows */
    struct expression_program dynamics;   /* inertia by rows, then rest */
    struct expression_program mobility;   /* inverse of a diagonal inertia; else inertia */
    struct expression_program rates;      /* nu', of a diagonal inertia */
    struct expression_program slope;      /* by nu, by rows: of rates; else of sides */
    struct expression_program kinematics; /* rates of the pose */
    struct expression_program derived;    /* of each the value, then the gradient */
};

/* Take an equation apart: root is left == right as expression_parse() gives it. STATUS_E_PARSE,
 * with err: column and text, when it is not of the form above. */
MUST_USE enum status model_terms_equation(struct model_terms *terms, size_t i, uint16_t root,
                                          struct err *err);

/* Which parameters, and which efforts, no equation has: bit i. */
uint32_t model_terms_unused(const struct model_terms *terms);
uint32_t model_terms_idle(const struct model_terms *terms);

/* Which equations have nothing known, nor a parameter that one which has tells: all of theirs
 * could be larger together. Bit i. */
uint32_t model_terms_loose(const struct model_terms *terms);

/* Once all equations are there: what one of them asks for holds for all. */
MUST_USE enum status model_terms_finish(struct model_terms *terms, struct err *err);

/* Compile all of it. memory: scratch, expression_compiler_bytes(). */
MUST_USE enum status model_program_make(const struct model_terms *terms, void *memory,
                                        struct model_program *program, struct err *err);

/* The functions of a model that has a program, what they say of themselves (needs_pose,
 * varying_inertia), and pattern [axes x parameters], out. Its names and counts are the
 * caller's. */
void model_program_bind(const struct model_terms *terms, const struct model_program *program,
                        unsigned char *pattern, struct model *model);

#endif
