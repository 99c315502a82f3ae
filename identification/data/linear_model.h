/* identification/data/linear_model.h - dynamics that are linear in their parameters.
 *
 *     Phi(nu, nu_dot) theta = tau              (docs/model/usv3.md, eq. 1)
 *     Phi(nu, nu_dot, tau) theta = known(nu, nu_dot, tau)
 *                                              (docs/model/model_files.md, section 3)
 *
 * The same object serves identification (regressor rows), simulation (forward), model following
 * (inverse) and the API (names, units, signs). The models are rows of the table in
 * identification/model/model.h. Units are SI. Pure: no I/O, no clock, no state.
 */
#ifndef IDENTIFICATION_DATA_LINEAR_MODEL_H
#define IDENTIFICATION_DATA_LINEAR_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"

enum {
    MODEL_PARAMETERS_MAX = 16,
    MODEL_AXES_MAX = 6,
    MODEL_DERIVED_MAX = 8,
    MODEL_EXTENDED_MAX = 3
};

/* Samples of a block, and the distance of its columns. The distance is a little larger, so
 * that columns do not compete for the same place in the cache. */
enum { MODEL_BLOCK = 64, MODEL_STRIDE = MODEL_BLOCK + 8 };

enum model_sign { MODEL_ANY, MODEL_NOT_NEGATIVE, MODEL_POSITIVE };

struct model_parameter {
    const char *name;     /* name with its unit: "surge_mass_kg" */
    const char *symbol;   /* symbol in the equations: "d1" */
    const char *unit;     /* "kg" */
    enum model_sign sign; /* sign of a physical value */
    const char *help;
    const char *words; /* common name: "surge mass" */
};

enum { MODEL_ONE = -1 };

/* A familiar quantity that follows from the parameters, such as a gain or a time constant.
 * Its standard error follows from their covariance and the gradient. */
struct model_derived {
    const char *name, *symbol, *unit, *help;
    /* Indices of two parameters whose quotient it is; MODEL_ONE: the number 1. Unused if the
     * model has its own derive function. */
    int over;
    size_t under;
};

struct model_axis {
    const char *velocity;                      /* "u_mps" */
    const char *effort;                        /* "tau_u_n" */
    const char *pose;                          /* "x_m" */
    const char *velocity_words, *effort_words; /* "surge speed", "surge force" */
};

/* An axis that follows its command with a lag: indices of the parameters that multiply
 * acceleration and velocity, and of a dead band of the command (MODEL_ONE: none). */
struct model_channel {
    size_t by_acceleration, by_velocity;
    int dead_band;
};

/* Sum of an equation's terms, if that is not an effort. */
struct model_force {
    const char *name;  /* "w_push" */
    const char *words; /* "push of w" */
};

/* Units that may have been confused; a bit set. */
enum plausible_unit {
    PLAUSIBLE_TIME = 1,
    PLAUSIBLE_ANGLE = 2,
    PLAUSIBLE_LENGTH = 4,
    PLAUSIBLE_FORCE = 8
};

struct plausible_range {
    const char *name; /* name of a parameter or derived quantity; NULL ends a list */
    /* plausible range; both 0: any value that is not near a unit factor or its inverse */
    double lo, hi;
    /* units (enum plausible_unit) that a value below lo, or above hi, suggests */
    unsigned below, above;
    double root; /* the value scales with this root of the unit factor; 0: in proportion */
};

/* Limits of plausible values. Values beyond suggest another unit. 0: no limit. */
struct model_limits {
    double nu_max[MODEL_AXES_MAX];
    double motion_s_min, motion_s_max;       /* range of the settling time of the motion */
    const struct plausible_range *plausible; /* ranges of estimates; NULL: none */
    /* Ratio of two lengths, from theta, that lies within bounds for such robots of any size;
     * NULL: none is known. */
    const struct plausible_range *form;
    double (*form_of)(const double *theta);
};

/* Properties of an entry of phi, as bits: not always zero; not zero at nu_dot = 0; depends
 * on an effort. */
enum model_entry { MODEL_ENTRY = 1, MODEL_ENTRY_STILL = 2, MODEL_ENTRY_EFFORT = 4 };

struct model_program;

/* Outputs of simulate: rate [axis_count], slope [axis_count x axis_count] and phi. */
struct model_response {
    double *nu_dot, *slope, *phi;
};

struct model {
    const char *name;
    const struct model_axis *axes;
    /* forces of the equations [axis_count]; NULL: they are the efforts */
    const struct model_force *generalised_forces;
    size_t axis_count;   /* entries of nu, nu_dot, tau and pose; <= MODEL_AXES_MAX */
    const char *heading; /* additional pose entry: "theta_rad"; NULL: none */
    /* [axis_count]: index of each axis in a planar velocity (forward, sideways, turn);
     * sideways has no axis. NULL: velocities come per axis only. */
    const size_t *planar;
    const struct model_parameter *parameters;
    size_t parameter_count; /* <= MODEL_PARAMETERS_MAX */
    const struct model_derived *derived;
    size_t derived_count; /* <= MODEL_DERIVED_MAX; 0: none */

    /* The dynamics depend on the pose (a pendulum). Other models ignore it and accept NULL. */
    bool needs_pose;
    /* [axis_count]: each axis alone is such a channel; NULL: they are not. */
    const struct model_channel *channels;
    /* The pose consists of joint angles: zero is fixed by the robot, and a further turn is
     * another pose. */
    bool joints;
    /* Dry friction can hold it at rest, where a velocity does not show the forces. */
    bool sticks;
    /* Half width of weak forms that suits its motion, s; 0: default of the method. */
    double window_s;
    double width; /* the constant by which variants of a model differ */
    /* Index of a friction parameter (> 0) that multiplies the size of the effort; its
     * entries of phi are for an effort of one on their axis. 0: none. */
    size_t by_effort;
    /* The inertia depends on the motion or the pose. Weak forms then do not hold, because
     * they move the derivative to their window. */
    bool varying_inertia;
    /* [axis_count x parameter_count] of enum model_entry: known properties of phi; NULL:
     * found by trial. */
    const unsigned char *pattern;
    /* For a model from a file: its program (identification/model/model_program.h), and the
     * hash of its text. NULL and 0: built in. */
    const struct model_program *program;
    uint64_t hash;
    /* The same model with one more parameter each; NULL: no more. */
    const struct model *extended[MODEL_EXTENDED_MAX];

    /* All functions get the model as their first argument. */
    /* phi [axis_count x parameter_count] by rows, out, every element. Affine in nu_dot: the
     * factor of nu_dot[j] is phi(nu, e_j) - phi(nu, 0), as weak forms need it. */
    void (*rows)(const struct model *model, const double *pose, const double *nu,
                 const double *nu_dot, double *phi);
    /* The same for a whole block, by columns [axis_count] and [axis_count x
     * parameter_count]. Entries that are always zero are not written. Only for models that
     * do not need the pose, where a million samples are usual; NULL: rows is called for each
     * sample. */
    void (*rows_many)(const struct model *model, const double (*restrict nu)[MODEL_STRIDE],
                      const double (*restrict nu_dot)[MODEL_STRIDE],
                      double (*restrict phi)[MODEL_STRIDE]);
    /* Known terms of the right side other than the effort: those without an effort (still)
     * and those with one (driven), [axis_count] each, out; affine in nu_dot as rows is.
     * NULL: the efforts are the right side. */
    void (*known)(const struct model *model, const double *pose, const double *nu,
                  const double *nu_dot, const double *tau, double *still, double *driven);
    /* phi if efforts act through terms of their own, such as a thrust curve; rows then
     * ignores efforts. Extra forces then act through mobility only, and inverse starts its
     * search at the given tau. NULL: each effort is a force on its axis. */
    void (*rows_under)(const struct model *model, const double *pose, const double *nu,
                       const double *nu_dot, const double *tau, double *phi);
    /* Inverse of the inertia [axis_count x axis_count] by rows. NULL: computed by forward. */
    void (*mobility)(const struct model *model, const double *theta, const double *pose,
                     const double *nu, double *inverse);
    /* Computes nu_dot from nu and tau. Defined if all POSITIVE parameters are positive. */
    void (*forward)(const struct model *model, const double *theta, const double *pose,
                    const double *nu, const double *tau, double *nu_dot);
    /* Computes the tau that gives nu_dot at nu: phi theta, less the known terms. */
    void (*inverse)(const struct model *model, const double *theta, const double *pose,
                    const double *nu, const double *nu_dot, double *tau);
    /* Computes tau at nu_dot = 0, for model_forward() and model_inverse(). */
    void (*bias_force)(const struct model *model, const double *theta, const double *pose,
                       const double *nu, double *tau);
    /* d(nu_dot)/d(nu) [axis_count x axis_count] by rows. tau matters only with by_effort and
     * rows_under; NULL: no effort. */
    void (*slope)(const struct model *model, const double *theta, const double *pose,
                  const double *nu, const double *tau, double *jacobian);
    /* forward, slope and phi under tau in one call, if that is faster. NULL: three calls. */
    void (*simulate)(const struct model *model, const double *theta, const double *pose,
                     const double *nu, const double *tau, const struct model_response *out);
    /* Friction that holds. phi, in/out: its entries under these efforts. passes [axis_count
     * x axis_count] by rows, out: nu_dot changes by passes times the change without
     * friction. NULL: rows already describes the friction. */
    void (*hold)(const struct model *model, const double *theta, const double *nu,
                 const double *tau, double *phi, double *passes);
    /* Rate of the pose. */
    void (*kinematics)(const struct model *model, const double *pose, const double *nu,
                       double *pose_dot);
    /* Exact solution over a step of h_s > 0, valid even if time constants are far shorter.
     * exact_step updates nu, in/out, under tau, which changes by tau_dot per second (NULL:
     * constant), and writes the change of the pose. The second function computes the tau
     * that changes nu by gain. Both NULL: integration by small steps. */
    void (*exact_step)(const struct model *model, const double *theta, const double *tau,
                       const double *tau_dot, double h_s, double *nu, double *pose_gain);
    void (*inverse_step)(const struct model *model, const double *theta, const double *nu,
                         const double *gain, double h_s, double *tau);
    /* Returns derived quantity i and writes its gradient [parameter_count]. NULL: all are
     * quotients. */
    double (*derive)(const struct model *model, size_t i, const double *theta,
                     double *gradient);
};

/* forward and inverse of a model whose parameter i is the inertia of axis i, with no other
 * inertia. */
void model_forward(const struct model *model, const double *theta, const double *pose,
                   const double *nu, const double *tau, double *nu_dot);
void model_inverse(const struct model *model, const double *theta, const double *pose,
                   const double *nu, const double *nu_dot, double *tau);

/* Scales phi [axis_count x parameter_count], in/out, for efforts of these sizes. */
void model_load_rows(const struct model *model, const double *size, double *phi);

/* Computes phi and the right side [axis_count] under these efforts, for any kind of model. */
void model_regressor(const struct model *model, const double *pose, const double *nu,
                     const double *nu_dot, const double *tau, double *phi);
void model_known(const struct model *model, const double *pose, const double *nu,
                 const double *nu_dot, const double *tau, double *known);

/* Computes forward with additional forces, force [axis_count]. */
void model_accelerate(const struct model *model, const double *theta, const double *pose,
                      const double *nu, const double *tau, const double *force, double *nu_dot);

/* Computes the efforts that the equations require, [axis_count] out: inverse if each effort
 * is a force. Otherwise the residual under tau, of which only differences are meaningful. */
void model_demand(const struct model *model, const double *theta, const double *pose,
                  const double *nu, const double *nu_dot, const double *tau, double *demand);

/* Computes the forces of the efforts, [axis_count] out: the efforts themselves, or the sum
 * of all terms with an effort. */
void model_force(const struct model *model, const double *theta, const double *pose,
                 const double *nu, const double *tau, double *force);

/* The same for one effort alone, on its own axis, at rest and pose zero. */
double model_force_alone(const struct model *model, const double *theta, size_t axis,
                         double tau);

/* Name of the sum in an axis' equation: "tau_u_n", "surge force". */
const char *model_force_name(const struct model *model, size_t axis);
const char *model_force_words(const struct model *model, size_t axis);

/* Computes the inverse of the inertia [axis_count x axis_count] by rows: the effect of a
 * force that neither causes friction nor meets friction that holds. */
void model_mobility(const struct model *model, const double *theta, const double *pose,
                    const double *nu, double *inverse);

/* Adjusts phi and mobility [axis_count x axis_count], in/out, for friction that holds under
 * these efforts. A model without such friction leaves them unchanged. */
void model_hold_back(const struct model *model, const double *theta, const double *nu,
                     const double *tau, double *phi, double *mobility);

/* Returns derived quantity i at theta and writes its gradient [parameter_count]. */
double model_derive(const struct model *model, size_t i, const double *theta, double *gradient);

/* One of several models of the same form, from narrow to wide. */
struct model_variant {
    const struct model *model;
    double velocity; /* speed below which it differs from the earlier ones, > 0 */
};

/* Returns the index of the first parameter that is not finite or has an unphysical sign; -1:
 * none. */
int model_unphysical(const struct model *model, const double *theta);

/* Returns the index of a parameter by name or symbol; -1: none. */
int model_parameter_find(const struct model *model, const char *name);

/* Result of mapping a robot's values to a model's axes. */
enum model_axes_match {
    MODEL_AXES_FIT,
    MODEL_AXES_OTHER_COUNT, /* the model does not have this number of axes */
    MODEL_AXES_SIDEWAYS     /* planar, but with a sideways part that the model cannot have */
};

/* Maps velocities or efforts, values [count], to the axes [axis_count], out: one by one, or
 * planar if the model allows it. Written only if they fit. */
enum model_axes_match model_axes_map(const struct model *model, const double *values,
                                     size_t count, double *axes);

/* Returns the number of pose entries: one per axis, plus the heading if the model has one.
 * At most MODEL_AXES_MAX. */
size_t model_pose_count(const struct model *model);

/* One step over h_s > 0: exact if the model has a closed form (exact_step), otherwise by
 * classical Runge-Kutta. nu and pose are in/out; pose NULL: not wanted, for models that do
 * not need it. tau is held over the step (zero-order hold), and so are the additional
 * forces, [axis_count], NULL: none. */
void model_step_pushed(const struct model *model, const double *theta, double *nu, double *pose,
                       const double *tau, const double *force, double h_s);

/* The same without such forces. inertial_n: a force of constant direction in the world, [2]
 * along x and y of the pose, NULL: none. It requires a pose and a model whose first three
 * axes are surge, sway and yaw. */
void model_step(const struct model *model, const double *theta, double *nu, double *pose,
                const double *tau, const double *inertial_n, double h_s);

#endif
