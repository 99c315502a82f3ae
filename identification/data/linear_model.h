/* identification/data/linear_model.h - dynamics that are linear in their parameters.
 *
 *     Phi(nu, nu_dot) theta = tau              (docs/model/usv3.md, eq. 1)
 *     Phi(nu, nu_dot, tau) theta = known(nu, nu_dot, tau)
 *                                              (docs/model/model_files.md, section 3)
 *
 * The same object serves identification (regressor rows), simulation (forward), model following
 * (inverse) and the API (names, units, signs); the models themselves are rows of a table in
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

/* Samples of a block, and from one column of it to the next: a little more, so that they do not
 * share a place in the processor's cache. */
enum { MODEL_BLOCK = 64, MODEL_STRIDE = MODEL_BLOCK + 8 };

enum model_sign { MODEL_ANY, MODEL_NOT_NEGATIVE, MODEL_POSITIVE };

struct model_parameter {
    const char *name;     /* with its unit: "surge_mass_kg" */
    const char *symbol;   /* of the equations: "d1" */
    const char *unit;     /* "kg" */
    enum model_sign sign; /* that a physical value has */
    const char *help;
    const char *words; /* what people call it: "surge mass" */
};

enum { MODEL_ONE = -1 };

/* A quantity that follows from the parameters and that people know better: a gain, a time
 * constant. Its standard error follows from their covariance through the gradient. */
struct model_derived {
    const char *name, *symbol, *unit, *help;
    /* The quotient of two parameters, by their indices; MODEL_ONE: of 1. A model that derives
     * its quantities by itself has neither. */
    int over;
    size_t under;
};

struct model_axis {
    const char *velocity;                      /* "u_mps" */
    const char *effort;                        /* "tau_u_n" */
    const char *pose;                          /* "x_m" */
    const char *velocity_words, *effort_words; /* "surge speed", "surge force" */
};

/* What an equation adds up, where that is no effort. */
struct model_force {
    const char *name;  /* "w_push" */
    const char *words; /* "push of w" */
};

/* What may have been taken for another unit; any of them together. */
enum plausible_unit {
    PLAUSIBLE_TIME = 1,
    PLAUSIBLE_ANGLE = 2,
    PLAUSIBLE_LENGTH = 4,
    PLAUSIBLE_FORCE = 8
};

struct plausible_range {
    const char *name; /* of a parameter or a derived quantity; NULL ends a list */
    double lo, hi;    /* both 0: any, but not near a factor of these units or its inverse */
    unsigned below, above; /* enum plausible_unit that a value comes from that lies there */
    double root;           /* it goes with that root of what is in another unit; 0: with it */
};

/* What lies beyond these is in another unit. 0: any. */
struct model_limits {
    double nu_max[MODEL_AXES_MAX];
    double motion_s_min, motion_s_max;       /* of how long its motion takes to settle */
    const struct plausible_range *plausible; /* of what is found; NULL: anything */
    /* A length over another that such robots have within bounds whatever their size, of theta;
     * NULL: none is known. */
    const struct plausible_range *form;
    double (*form_of)(const double *theta);
};

/* Entries of phi that are not always zero; that are not where nu_dot is; in which an effort
 * stands. */
enum model_entry { MODEL_ENTRY = 1, MODEL_ENTRY_STILL = 2, MODEL_ENTRY_EFFORT = 4 };

struct model_program;

/* Where a rate [axis_count], its slope [axis_count x axis_count] and phi are put. */
struct model_response {
    double *nu_dot, *slope, *phi;
};

struct model {
    const char *name;
    const struct model_axis *axes;
    const struct model_force *generalised_forces; /* [axis_count]; NULL: the efforts */
    size_t axis_count;   /* of nu, nu_dot, tau and pose; <= MODEL_AXES_MAX */
    const char *heading; /* one more entry of the pose: "theta_rad"; NULL: none */
    /* [axis_count]: which number each axis is where a robot tells its velocity in the plane, as
     * ahead, sideways, turn; sideways has no axis. NULL: it is told axis by axis only. */
    const size_t *planar;
    const struct model_parameter *parameters;
    size_t parameter_count; /* <= MODEL_PARAMETERS_MAX */
    const struct model_derived *derived;
    size_t derived_count; /* <= MODEL_DERIVED_MAX; 0: none */

    /* What follows takes the pose for models whose dynamics depend on it (a pendulum); others
     * do not look at it and take NULL. */
    bool needs_pose;
    /* Its pose are angles of joints: zero is where the robot itself has it, whoever looks, and
     * a turn more is another pose. */
    bool joints;
    /* Dry friction holds it at rest, where a velocity says nothing about the forces. */
    bool sticks;
    double
        window_s; /* half width of weak forms that suits its motion; 0: as the method has it */
    double width; /* of a model that exists for several: what its functions take it for */
    /* The parameter, > 0, whose entries of phi are for an effort of one on their axis: friction
     * that grows with it. 0: none. */
    size_t by_effort;
    /* What multiplies nu_dot depends on the motion or the pose: weak forms, which move the
     * derivative to their window, do not hold. */
    bool varying_inertia;
    /* [axis_count x parameter_count] of enum model_entry: what is known of phi whatever the
     * motion; NULL: it is found by trying. */
    const unsigned char *pattern;
    /* Of a model from a file: its program (identification/model/model_program.h), and the hash
     * of its text. NULL and 0: it is built in. */
    const struct model_program *program;
    uint64_t hash;
    /* The same with one parameter more each; NULL: no more of them. */
    const struct model *extended[MODEL_EXTENDED_MAX];

    /* All of them are told which model they are of. */
    /* phi [axis_count x parameter_count] by rows, out, every element. Affine in nu_dot: what
     * multiplies nu_dot[j] is phi(nu, e_j) - phi(nu, 0), as weak forms need it. */
    void (*rows)(const struct model *model, const double *pose, const double *nu,
                 const double *nu_dot, double *phi);
    /* The same of a whole block, by columns [axis_count] and [axis_count x parameter_count];
     * entries that are always zero are left alone. For models that do not need the pose, where
     * a million samples are usual; NULL: one by one. */
    void (*rows_many)(const struct model *model, const double (*restrict nu)[MODEL_STRIDE],
                      const double (*restrict nu_dot)[MODEL_STRIDE],
                      double (*restrict phi)[MODEL_STRIDE]);
    /* Where more is known of the right side than the effort: what stands there whatever it is,
     * and what stands with it, [axis_count] each, out; affine in nu_dot as rows is. NULL: the
     * efforts are the right side. */
    void (*known)(const struct model *model, const double *pose, const double *nu,
                  const double *nu_dot, const double *tau, double *still, double *driven);
    /* phi under efforts that act through terms of their own, a thrust curve; rows is of no
     * effort then. A force beside the efforts is none of them then, but what mobility makes of
     * it; and inverse begins to look for tau at the one that it is given. NULL: each effort is
     * a force on its axis. */
    void (*rows_under)(const struct model *model, const double *pose, const double *nu,
                       const double *nu_dot, const double *tau, double *phi);
    /* The inverse of the inertia [axis_count x axis_count] by rows. NULL: forward tells it. */
    void (*mobility)(const struct model *model, const double *theta, const double *pose,
                     const double *nu, double *inverse);
    /* nu_dot from nu and tau. Defined when all POSITIVE parameters are. */
    void (*forward)(const struct model *model, const double *theta, const double *pose,
                    const double *nu, const double *tau, double *nu_dot);
    /* tau that gives nu_dot at nu: equals phi theta, less what is known beside it. */
    void (*inverse)(const struct model *model, const double *theta, const double *pose,
                    const double *nu, const double *nu_dot, double *tau);
    /* For model_forward() and model_inverse(): tau at nu_dot = 0. */
    void (*bias_force)(const struct model *model, const double *theta, const double *pose,
                       const double *nu, double *tau);
    /* d(nu_dot)/d(nu) [axis_count x axis_count] by rows; tau matters where by_effort and
     * rows_under, and may be NULL: none. */
    void (*slope)(const struct model *model, const double *theta, const double *pose,
                  const double *nu, const double *tau, double *jacobian);
    /* forward, slope and phi under tau at once, where that takes less. NULL: one by one. */
    void (*simulate)(const struct model *model, const double *theta, const double *pose,
                     const double *nu, const double *tau, const struct model_response *out);
    /* Friction that holds: entries of phi as they are under these efforts, phi in/out, and what
     * share of a rate passes, [axis_count x axis_count] by rows, out: nu_dot changes by passes
     * times what it would change by without friction. NULL: friction is what rows says. */
    void (*hold)(const struct model *model, const double *theta, const double *nu,
                 const double *tau, double *phi, double *passes);
    /* Rate of the pose. */
    void (*kinematics)(const struct model *model, const double *pose, const double *nu,
                       double *pose_dot);
    /* Where there is a closed form, however short its time constants are beside h_s: nu,
     * in/out, over h_s > 0 under tau, which changes by tau_dot a second (NULL: not), and what
     * the pose changes by, out; and the tau that changes nu by gain over h_s. NULL, both: by
     * small steps. */
    void (*exact_step)(const struct model *model, const double *theta, const double *tau,
                       const double *tau_dot, double h_s, double *nu, double *pose_gain);
    void (*inverse_step)(const struct model *model, const double *theta, const double *nu,
                         const double *gain, double h_s, double *tau);
    /* Value of derived quantity i, and gradient [parameter_count], out. NULL: all are
     * quotients.
     */
    double (*derive)(const struct model *model, size_t i, const double *theta,
                     double *gradient);
};

/* forward and inverse of a model whose parameter i is the inertia of axis i, and no other. */
void model_forward(const struct model *model, const double *theta, const double *pose,
                   const double *nu, const double *tau, double *nu_dot);
void model_inverse(const struct model *model, const double *theta, const double *pose,
                   const double *nu, const double *nu_dot, double *tau);

/* Rows as they are under efforts of these sizes, phi [axis_count x parameter_count] in/out. */
void model_load_rows(const struct model *model, const double *size, double *phi);

/* phi under these efforts, however they act; and the right side [axis_count]. */
void model_regressor(const struct model *model, const double *pose, const double *nu,
                     const double *nu_dot, const double *tau, double *phi);
void model_known(const struct model *model, const double *pose, const double *nu,
                 const double *nu_dot, const double *tau, double *known);

/* forward with forces beside the efforts, push [axis_count]. */
void model_accelerate(const struct model *model, const double *theta, const double *pose,
                      const double *nu, const double *tau, const double *force, double *nu_dot);

/* What the equations ask of efforts, [axis_count] out: inverse where each is a force; else what
 * is left of them under tau, of which only differences say something. */
void model_demand(const struct model *model, const double *theta, const double *pose,
                  const double *nu, const double *nu_dot, const double *tau, double *demand);

/* What efforts do in the equations, [axis_count] out: themselves where each is a force, else
 * all terms in which one stands. */
void model_force(const struct model *model, const double *theta, const double *pose,
                 const double *nu, const double *tau, double *force);

/* The same of one effort alone, at rest and place zero, on its own axis. */
double model_force_alone(const struct model *model, const double *theta, size_t axis,
                         double tau);

/* What an axis' equation adds up: "tau_u_n", "surge force". */
const char *model_force_name(const struct model *model, size_t axis);
const char *model_force_words(const struct model *model, size_t axis);

/* The inverse of the inertia [axis_count x axis_count] by rows: what a push gives that brings
 * no friction and meets none that holds. */
void model_mobility(const struct model *model, const double *theta, const double *pose,
                    const double *nu, double *inverse);

/* phi and mobility [axis_count x axis_count] in/out, as friction that holds lets parameters and
 * pushes act under these efforts; of a model without such friction they stay. */
void model_hold_back(const struct model *model, const double *theta, const double *nu,
                     const double *tau, double *phi, double *mobility);

/* Value of the model's derived quantity i at theta, and gradient [parameter_count], out. */
double model_derive(const struct model *model, size_t i, const double *theta, double *gradient);

/* One of several models of the same form, from narrow to wide. */
struct model_variant {
    const struct model *model;
    double velocity; /* below which it differs from those before it, > 0 */
};

/* Index of the first parameter that is not finite or has not the sign of a physical one; -1
 * when all are well. */
int model_unphysical(const struct model *model, const double *theta);

/* Index of a parameter by name or symbol, -1 when there is none. */
int model_parameter_find(const struct model *model, const char *name);

/* How numbers that a robot tells lie on a model's axes. */
enum model_axes_match {
    MODEL_AXES_FIT,
    MODEL_AXES_OTHER_COUNT, /* as many numbers as the model has no axes for */
    MODEL_AXES_SIDEWAYS     /* of the plane, but with a part sideways, which it cannot have */
};

/* Velocities or efforts as told, values [count], on the axes [axis_count], out: one by one, or
 * planar where the model allows. Written where they fit only. */
enum model_axes_match model_axes_map(const struct model *model, const double *values,
                                     size_t count, double *axes);

/* Entries of the pose: one an axis, and the heading of a model that has one beside them. <=
 * MODEL_AXES_MAX. */
size_t model_pose_count(const struct model *model);

/* One step over h_s > 0, exact where the model has a closed form (glide), else of classical
 * Runge-Kutta; nu and pose in/out; pose NULL: not wanted, for models that do not need it. tau
 * is held over the step (zero-order hold), and so are forces beside it, push [axis_count],
 * NULL: none. */
void model_step_pushed(const struct model *model, const double *theta, double *nu, double *pose,
                       const double *tau, const double *force, double h_s);

/* The same without such forces. inertial_n: a force that keeps its direction in the world, [2]
 * along the x and y of the pose, NULL for none; only with a pose and for models whose first
 * three axes are surge, sway and yaw. */
void model_step(const struct model *model, const double *theta, double *nu, double *pose,
                const double *tau, const double *inertial_n, double h_s);

#endif
