/* identification/model/model_program.h - a model that is made of expressions.
 *
 *     equation i:   sum over k of theta_k phi_ik = known_i,   both of nu, nu', pose and tau
 *
 * Each equation is a tree left == right (base/expression). It is taken apart by structure: into
 * the factors phi of the parameters, and into the factors of the rates. This yields the inertia
 * M and the resisting terms as expressions, and all functions of struct model from them. A term
 * without a parameter is known; usually this is only the effort of the axis. Pure.
 */
#ifndef IDENTIFICATION_MODEL_MODEL_PROGRAM_H
#define IDENTIFICATION_MODEL_MODEL_PROGRAM_H

#include "base/expression/expression_program.h"
#include "identification/data/linear_model.h"

enum { MODEL_POSES_MAX = MODEL_AXES_MAX, MODEL_NONE = 255 };

/* Position of the names in the pool: the first index of each group; groups are contiguous. */
struct model_names {
    size_t axes, poses, parameters;
    uint8_t nu, nu_dot, pose, parameter, effort;
    uint8_t width; /* constant by which variants differ; MODEL_NONE: none */
};

/* A parsed model: expressions in one pool. */
struct model_terms {
    struct expression_pool *pool;
    struct model_names names;
    uint16_t phi[MODEL_AXES_MAX][MODEL_PARAMETERS_MAX];
    uint16_t still[MODEL_AXES_MAX][MODEL_PARAMETERS_MAX]; /* phi without rates */
    uint16_t known[MODEL_AXES_MAX];  /* right side without parameters and efforts */
    uint16_t driven[MODEL_AXES_MAX]; /* right side with efforts, without parameters */
    uint16_t side[MODEL_AXES_MAX];   /* left - right, without the effort if that is alone */
    uint16_t whole[MODEL_AXES_MAX];  /* left - right, with the effort */
    bool alone[MODEL_AXES_MAX]; /* the only effort is that of its own axis, as a plain term */
    uint16_t inertia[MODEL_AXES_MAX][MODEL_AXES_MAX]; /* factor of nu'_j in equation i */
    uint16_t rest[MODEL_AXES_MAX];                    /* side without rates */
    bool curved;                          /* some equation is not alone: side is whole */
    uint16_t kinematics[MODEL_POSES_MAX]; /* rate of each pose */
    uint16_t derived[MODEL_DERIVED_MAX];
    size_t derived_count;
};

/* Names as bit sets: `count` names from `first` on; all efforts; the names in a node. */
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

/* The compiled programs of a model. */
struct model_program {
    struct model_names names;
    bool diagonal;                        /* inertia: no equation contains another axis' rate */
    bool turns_by_speed;                  /* inertia depends on nu */
    bool curved;                          /* efforts act through terms of their own */
    struct expression_program rows;       /* phi, by rows */
    struct expression_program known;      /* known, then driven */
    struct expression_program thrust;     /* d side / d tau, by rows */
    struct expression_program dynamics;   /* inertia by rows, then rest */
    struct expression_program mobility;   /* inverse of a diagonal inertia; otherwise inertia */
    struct expression_program rates;      /* nu', of a diagonal inertia */
    struct expression_program slope;      /* by nu, by rows: of rates; else of sides */
    struct expression_program kinematics; /* rates of the pose */
    struct expression_program derived;    /* for each quantity the value, then the gradient */
};

/* Takes an equation apart. root is left == right as expression_parse() returns it. Returns
 * STATUS_E_PARSE, with column and text in err, if it has not the form above. */
MUST_USE enum status model_terms_equation(struct model_terms *terms, size_t i, uint16_t root,
                                          struct err *err);

/* Return the parameters, and the efforts, that no equation contains, as bits. */
uint32_t model_terms_unused(const struct model_terms *terms);
uint32_t model_terms_idle(const struct model_terms *terms);

/* Returns as bits the equations whose parameters are determined only up to a common factor:
 * they have no known term, and share no parameter with an equation that has one. */
uint32_t model_terms_loose(const struct model_terms *terms);

/* Call it after the last equation. A property of one equation then holds for the whole
 * model. */
MUST_USE enum status model_terms_finish(struct model_terms *terms, struct err *err);

/* Compiles all programs. memory: scratch of expression_compiler_bytes(). */
MUST_USE enum status model_program_make(const struct model_terms *terms, void *memory,
                                        struct model_program *program, struct err *err);

/* Sets the functions of a model with a program, its properties (needs_pose,
 * varying_inertia), and pattern [axes x parameters], out. The caller sets its names and
 * counts. */
void model_program_bind(const struct model_terms *terms, const struct model_program *program,
                        unsigned char *pattern, struct model *model);

#endif
