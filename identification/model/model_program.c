#include "identification/model/model_program.h"

#include <math.h>
#include <string.h>

#include "base/expression/expression_algebra.h"

_Static_assert((int)EXPRESSION_BLOCK == (int)MODEL_BLOCK &&
                   (int)EXPRESSION_STRIDE == (int)MODEL_STRIDE,
               "blocks are the same");
_Static_assert((int)MODEL_AXES_MAX *(int)MODEL_PARAMETERS_MAX <= (int)EXPRESSION_OUTPUTS_MAX,
               "rows are outputs");

/* Number of poses that the equations may name: one per axis, if any. */
static size_t poses_of(const struct model_names *n)
{
    return n->poses < n->axes ? n->poses : n->axes;
}

/* ---- compiling ---- */

/* Nodes that are not constant zero, with their output index. Other outputs keep their zero. */
struct outputs {
    size_t count;
    uint16_t roots[EXPRESSION_OUTPUTS_MAX], places[EXPRESSION_OUTPUTS_MAX];
};

static void add_output(struct outputs *o, uint16_t root, size_t place)
{
    if (root != 0) {
        o->roots[o->count] = root;
        o->places[o->count++] = (uint16_t)place;
    }
}

static enum status compile_outputs(const struct model_terms *t, const struct outputs *o,
                                   void *memory, struct expression_program *program,
                                   struct err *err)
{
    return expression_compile(t->pool, o->roots, o->places, o->count, true, memory, program,
                              err);
}

static void list_rows(const struct model_terms *t, struct outputs *rows, struct outputs *known)
{
    const size_t n = t->names.axes;
    for (size_t i = 0; i < n; i++) {
        add_output(known, t->known[i], i);
        add_output(known, t->driven[i], n + i);
        for (size_t k = 0; k < t->names.parameters; k++) {
            add_output(rows, t->phi[i][k], i * t->names.parameters + k);
        }
    }
}

/* Without coupling, each rate is (effort - rest) / inertia, from one program. */
static void list_dynamics(const struct model_terms *t, bool diagonal, struct outputs *dynamics,
                          struct outputs *mobility, struct outputs *rates)
{
    const size_t n = t->names.axes;
    const uint16_t one = expression_number(t->pool, 1.0);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            add_output(dynamics, t->inertia[i][j], i * n + j);
            add_output(mobility,
                       diagonal && i == j ? expression_divide(t->pool, one, t->inertia[i][i])
                                          : t->inertia[i][j],
                       i * n + j);
        }
        add_output(dynamics, t->rest[i], n * n + i);
        if (diagonal) {
            const uint16_t effort =
                t->curved ? 0 : expression_of_name(t->pool, t->names.effort + i);
            const uint16_t residual = expression_subtract(t->pool, effort, t->rest[i]);
            add_output(
                rates,
                expression_make(t->pool, EXPRESSION_DIVIDE, residual, t->inertia[i][i], 0), i);
        }
    }
}

/* Derivatives of each equation by `axes` names from `first` on. With of_rates: derivatives
 * of the rates of a diagonal inertia. */
static enum status list_slopes(const struct model_terms *t, uint8_t first, bool of_rates,
                               struct outputs *slopes, struct err *err)
{
    enum status st = STATUS_OK;
    for (size_t i = 0; i < t->names.axes; i++) {
        for (size_t j = 0; j < t->names.axes && st == STATUS_OK; j++) {
            uint16_t slope = 0;
            st = expression_differentiate(t->pool, t->side[i], (uint8_t)(first + j), &slope,
                                          err);
            if (of_rates) {
                slope = expression_divide(t->pool, expression_negate(t->pool, slope),
                                          t->inertia[i][i]);
            }
            add_output(slopes, slope, i * t->names.axes + j);
        }
    }
    return st;
}

static enum status list_derived(const struct model_terms *t, struct outputs *derived,
                                struct err *err)
{
    const size_t each = 1 + t->names.parameters;
    enum status st = STATUS_OK;
    for (size_t d = 0; d < t->derived_count; d++) {
        add_output(derived, t->derived[d], d * each);
        for (size_t k = 0; k < t->names.parameters && st == STATUS_OK; k++) {
            uint16_t slope = 0;
            st = expression_differentiate(t->pool, t->derived[d],
                                          (uint8_t)(t->names.parameter + k), &slope, err);
            add_output(derived, slope, d * each + 1 + k);
        }
    }
    return st;
}

static void describe_inertia(const struct model_terms *t, struct model_program *program)
{
    const uint64_t nu = model_terms_bits(t->names.nu, t->names.axes);
    program->diagonal = true;
    program->curved = t->curved;
    program->turns_by_speed = false;
    for (size_t i = 0; i < t->names.axes; i++) {
        for (size_t j = 0; j < t->names.axes; j++) {
            program->diagonal = program->diagonal && (i == j || t->inertia[i][j] == 0);
            program->turns_by_speed =
                program->turns_by_speed || (model_terms_reads(t, t->inertia[i][j]) & nu);
        }
    }
}

/* Compiles one program for each function of a model. They share the expression pool, but
 * each program computes only what it needs, because simulation calls it for every step. */
enum status model_program_make(const struct model_terms *t, void *memory,
                               struct model_program *program, struct err *err)
{
    struct outputs rows = {.count = 0};
    struct outputs known = {.count = 0};
    struct outputs dynamics = {.count = 0};
    struct outputs mobility = {.count = 0};
    struct outputs rates = {.count = 0};
    struct outputs slopes = {.count = 0};
    struct outputs thrust = {.count = 0};
    struct outputs kinematics = {.count = 0};
    struct outputs derived = {.count = 0};
    const struct {
        const struct outputs *from;
        struct expression_program *to;
    } parts[] = {{&rows, &program->rows},         {&known, &program->known},
                 {&dynamics, &program->dynamics}, {&mobility, &program->mobility},
                 {&rates, &program->rates},       {&slopes, &program->slope},
                 {&thrust, &program->thrust},     {&kinematics, &program->kinematics},
                 {&derived, &program->derived}};
    program->names = t->names;
    describe_inertia(t, program);
    list_rows(t, &rows, &known);
    list_dynamics(t, program->diagonal, &dynamics, &mobility, &rates);
    for (size_t i = 0; i < MODEL_POSES_MAX; i++) {
        add_output(&kinematics, t->kinematics[i], i);
    }
    enum status st = list_slopes(t, t->names.nu, program->diagonal, &slopes, err);
    st = st == STATUS_OK && t->curved ? list_slopes(t, t->names.effort, false, &thrust, err)
                                      : st;
    st = st == STATUS_OK ? list_derived(t, &derived, err) : st;
    for (size_t i = 0; i < COUNT(parts) && st == STATUS_OK; i++) {
        st = compile_outputs(t, parts[i].from, memory, parts[i].to, err);
    }
    return st;
}

/* ---- running ---- */

/* Registers of a program; the names occupy the last ones. */
struct registers {
    double of[EXPRESSION_REGISTERS_MAX];
    double values[EXPRESSION_NAMES_MAX];
};

_Static_assert(sizeof(struct registers) == EXPRESSION_FILE * sizeof(double),
               "one behind the other");

/* from NULL: sets all to zero. */
static void set_values(double *values, uint8_t first, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++) { /* a call takes longer for a few values */
        values[first + i] = from ? from[i] : 0.0;
    }
}

/* nu_dot NULL: for programs that contain no rate. */
static void set_motion(const struct model *model, const double *pose, const double *nu,
                       const double *nu_dot, double *values)
{
    const struct model_names *n = &model->program->names;
    set_values(values, n->nu, nu, n->axes);
    if (nu_dot) {
        set_values(values, n->nu_dot, nu_dot, n->axes);
    }
    if (model->needs_pose) {
        set_values(values, n->pose, pose, poses_of(n));
    }
    if (n->width != MODEL_NONE) {
        values[n->width] = model->width;
    }
}

/* Sets theta and, if efforts act through terms of their own, the efforts. */
static void set_acting(const struct model *model, const double *theta, const double *tau,
                       double *values)
{
    set_values(values, model->program->names.parameter, theta, model->parameter_count);
    if (model->program->curved) {
        set_values(values, model->program->names.effort, tau, model->axis_count);
    }
}

static void run_program(const struct expression_program *program, struct registers *r,
                        double *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = 0.0;
    }
    expression_run_whole(program, r->of, out);
}

static void fill_driven_rows(const struct model *model, const double *pose, const double *nu,
                             const double *nu_dot, const double *tau, double *phi)
{
    struct registers r;
    set_motion(model, pose, nu, nu_dot, r.values);
    if (model->program->curved) {
        set_values(r.values, model->program->names.effort, tau, model->axis_count);
    }
    run_program(&model->program->rows, &r, phi, model->axis_count * model->parameter_count);
}

static void fill_program_rows(const struct model *model, const double *pose, const double *nu,
                              const double *nu_dot, double *phi)
{
    fill_driven_rows(model, pose, nu, nu_dot, NULL, phi);
}

static void find_known(const struct model *model, const double *pose, const double *nu,
                       const double *nu_dot, const double *tau, double *still, double *driven)
{
    struct registers r;
    double out[2 * MODEL_AXES_MAX];
    const size_t n = model->axis_count;
    set_motion(model, pose, nu, nu_dot, r.values);
    set_values(r.values, model->program->names.effort, tau, n);
    run_program(&model->program->known, &r, out, 2 * n);
    memcpy(still, out, n * sizeof *still);
    memcpy(driven, out + n, n * sizeof *driven);
}

static void fill_program_block(const struct model *model,
                               const double (*restrict nu)[MODEL_STRIDE],
                               const double (*restrict nu_dot)[MODEL_STRIDE],
                               double (*restrict phi)[MODEL_STRIDE])
{
    const struct model_names *n = &model->program->names;
    const double *columns[EXPRESSION_NAMES_MAX] = {NULL};
    double width[MODEL_BLOCK];
    for (size_t a = 0; a < n->axes; a++) {
        columns[n->nu + a] = nu[a];
        columns[n->nu_dot + a] = nu_dot[a];
    }
    if (n->width != MODEL_NONE) {
        for (size_t k = 0; k < MODEL_BLOCK; k++) {
            width[k] = model->width;
        }
        columns[n->width] = width;
    }
    expression_run_block(&model->program->rows, columns, phi);
}

/* Inertia [axes x axes], then the resisting terms [axes]. */
struct equations {
    double inertia[MODEL_AXES_MAX * MODEL_AXES_MAX + MODEL_AXES_MAX];
    const double *rest;
};

static void find_equations(const struct model *model, const double *theta, const double *pose,
                           const double *nu, const double *tau, struct equations *e)
{
    struct registers r;
    const size_t n = model->axis_count;
    set_motion(model, pose, nu, NULL, r.values);
    set_acting(model, theta, tau, r.values);
    run_program(&model->program->dynamics, &r, e->inertia, n * n + n);
    e->rest = e->inertia + n * n;
}

static void swap_rows(double *a, size_t n, double *b, size_t width, size_t i, size_t k)
{
    for (size_t j = 0; j < n && i != k; j++) {
        const double saved = a[i * n + j];
        a[i * n + j] = a[k * n + j];
        a[k * n + j] = saved;
    }
    for (size_t j = 0; j < width && i != k; j++) {
        const double saved = b[i * width + j];
        b[i * width + j] = b[k * width + j];
        b[k * width + j] = saved;
    }
}

/* Solves a x = b by elimination with pivoting. Destroys a [n x n]; b [n x width] becomes x. */
static void solve_square(double *a, size_t n, double *b, size_t width)
{
    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        for (size_t k = i + 1; k < n; k++) {
            best = fabs(a[k * n + i]) > fabs(a[best * n + i]) ? k : best;
        }
        swap_rows(a, n, b, width, i, best);
        for (size_t k = i + 1; k < n; k++) {
            const double factor = a[k * n + i] / a[i * n + i];
            for (size_t j = i; j < n; j++) {
                a[k * n + j] -= factor * a[i * n + j];
            }
            for (size_t j = 0; j < width; j++) {
                b[k * width + j] -= factor * b[i * width + j];
            }
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = 0; j < width; j++) {
            for (size_t k = i + 1; k < n; k++) {
                b[i * width + j] -= a[i * n + k] * b[k * width + j];
            }
            b[i * width + j] /= a[i * n + i];
        }
    }
}

static void accelerate_by_program(const struct model *model, const double *theta,
                                  const double *pose, const double *nu, const double *tau,
                                  double *nu_dot)
{
    struct equations e;
    if (model->program->diagonal) {
        struct registers r;
        set_motion(model, pose, nu, NULL, r.values);
        set_values(r.values, model->program->names.parameter, theta, model->parameter_count);
        set_values(r.values, model->program->names.effort, tau, model->axis_count);
        expression_run_whole(&model->program->rates, r.of, nu_dot);
        return;
    }
    find_equations(model, theta, pose, nu, tau, &e);
    for (size_t i = 0; i < model->axis_count; i++) {
        nu_dot[i] = (tau && !model->program->curved ? tau[i] : 0.0) - e.rest[i];
    }
    solve_square(e.inertia, model->axis_count, nu_dot, 1);
}

/* Computes the sides M nu' + rest. */
static void find_sides(const struct model *model, const double *theta, const double *pose,
                       const double *nu, const double *nu_dot, const double *tau, double *sides)
{
    struct equations e;
    const size_t n = model->axis_count;
    find_equations(model, theta, pose, nu, tau, &e);
    for (size_t i = 0; i < n; i++) {
        double sum = e.rest[i];
        for (size_t j = 0; j < n; j++) {
            sum += e.inertia[i * n + j] * nu_dot[j];
        }
        sides[i] = sum;
    }
}

static void invert_by_program(const struct model *model, const double *theta,
                              const double *pose, const double *nu, const double *nu_dot,
                              double *tau)
{
    find_sides(model, theta, pose, nu, nu_dot, NULL, tau);
}

/* Multiplies b [n x n] by the inverse of a full inertia. r holds motion and efforts. */
static void solve_inertia(const struct model *model, struct registers *r, double *b)
{
    double inertia[MODEL_AXES_MAX * MODEL_AXES_MAX];
    const size_t n = model->axis_count;
    run_program(&model->program->mobility, r, inertia, n * n);
    solve_square(inertia, n, b, n);
}

static void mobilise_by_program(const struct model *model, const double *theta,
                                const double *pose, const double *nu, double *inverse)
{
    struct registers r;
    const size_t n = model->axis_count;
    set_motion(model, pose, nu, NULL, r.values);
    set_acting(model, theta, NULL, r.values);
    if (model->program->diagonal) {
        run_program(&model->program->mobility, &r, inverse, n * n);
        return;
    }
    for (size_t i = 0; i < n * n; i++) {
        inverse[i] = i / n == i % n ? 1.0 : 0.0;
    }
    solve_inertia(model, &r, inverse);
}

/* ---- inverse of efforts that act through a curve ---- */

/* Finds the efforts under which the sides of all equations are zero, by Levenberg-Marquardt
 * from the given efforts. The equations are nonlinear in the effort (a thrust curve), so
 * that there is no closed form. If several efforts solve them, the search finds a near one.
 * If none does, it ends at the smallest residual. fill_thrust gives the exact Jacobian d
 * side / d tau. */
enum { EFFORT_STEPS = 60 };
static const double EFFORT_ENOUGH = 1e-13;          /* relative length of the last step */
static const double EFFORT_DAMPING[] = {1e-3, 1e6}; /* the initial and the largest damping */

struct effort_goal {
    const struct model *model;
    const double *theta, *pose, *nu, *nu_dot;
};

static double miss_goal(const struct effort_goal *g, const double *tau, double *residual)
{
    double sum = 0.0;
    find_sides(g->model, g->theta, g->pose, g->nu, g->nu_dot, tau, residual);
    for (size_t i = 0; i < g->model->axis_count; i++) {
        sum += residual[i] * residual[i];
    }
    return sum >= 0.0 ? sum : HUGE_VAL;
}

static void fill_thrust(const struct effort_goal *g, const double *tau, double *by)
{
    struct registers r;
    set_motion(g->model, g->pose, g->nu, g->nu_dot, r.values);
    set_acting(g->model, g->theta, tau, r.values);
    run_program(&g->model->program->thrust, &r, by,
                g->model->axis_count * g->model->axis_count);
}

/* At the foot of a curve the derivative is zero and the search cannot start. This picks the
 * effort among powers of ten, of either sign, that leaves the smallest residual. */
static void leave_foot(const struct effort_goal *g, double *tau)
{
    const size_t n = g->model->axis_count;
    double by[MODEL_AXES_MAX * MODEL_AXES_MAX];
    double residual[MODEL_AXES_MAX];
    fill_thrust(g, tau, by);
    for (size_t j = 0; j < n; j++) {
        double best = tau[j];
        double least = miss_goal(g, tau, residual);
        bool acts = false;
        for (size_t i = 0; i < n; i++) {
            acts = acts || fabs(by[i * n + j]) > 0.0;
        }
        for (double size = 1e-3; !acts && size < 1e7; size *= 10.0) {
            for (int sign = 1; sign >= -1; sign -= 2) {
                tau[j] = sign * size;
                const double miss = miss_goal(g, tau, residual);
                best = miss < least ? tau[j] : best;
                least = fmin(least, miss);
            }
        }
        tau[j] = best;
    }
}

/* Computes the efforts after a damped step. */
static void step_effort(size_t n, const double *by, const double *residual, double damping,
                        const double *tau, double *next)
{
    double a[MODEL_AXES_MAX * MODEL_AXES_MAX];
    for (size_t i = 0; i < n; i++) {
        next[i] = 0.0;
        for (size_t k = 0; k < n; k++) {
            next[i] -= by[k * n + i] * residual[k];
        }
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = 0.0;
            for (size_t k = 0; k < n; k++) {
                a[i * n + j] += by[k * n + i] * by[k * n + j];
            }
        }
        a[i * n + i] = a[i * n + i] > 0.0 ? a[i * n + i] * (1.0 + damping) : 1.0;
    }
    solve_square(a, n, next, 1);
    for (size_t i = 0; i < n; i++) {
        next[i] += tau[i];
    }
}

/* Levenberg-Marquardt: the damping falls after a success and rises after a failure. The
 * search ends at a negligible step, or when the largest damping does not help. */
static void search_effort(const struct model *model, const double *theta, const double *pose,
                          const double *nu, const double *nu_dot, double *tau)
{
    const struct effort_goal goal = {model, theta, pose, nu, nu_dot};
    const size_t n = model->axis_count;
    double by[MODEL_AXES_MAX * MODEL_AXES_MAX];
    double residual[MODEL_AXES_MAX];
    double next[MODEL_AXES_MAX];
    double residual_next[MODEL_AXES_MAX];
    double damping = 0.0;
    bool moved = true;
    leave_foot(&goal, tau);
    double miss = miss_goal(&goal, tau, residual);
    for (int step = 0; step < EFFORT_STEPS && moved && damping <= EFFORT_DAMPING[1]; step++) {
        fill_thrust(&goal, tau, by);
        step_effort(n, by, residual, damping, tau, next);
        const double missed = miss_goal(&goal, next, residual_next);
        if (!(missed < miss)) {
            damping = fmax(10.0 * damping, EFFORT_DAMPING[0]);
            continue;
        }
        moved = false;
        for (size_t i = 0; i < n; i++) {
            moved = moved || fabs(next[i] - tau[i]) > EFFORT_ENOUGH * fabs(next[i]);
        }
        memcpy(tau, next, n * sizeof *tau);
        memcpy(residual, residual_next, n * sizeof *residual);
        miss = missed;
        damping = damping > EFFORT_DAMPING[0] ? 0.1 * damping : 0.0;
    }
}

/* Differentiates side(nu, nu') = tau: M d nu' + (d side / d nu) d nu = 0. */
static void fill_program_slope(const struct model *model, const double *theta,
                               const double *pose, const double *nu, const double *tau,
                               double *jacobian)
{
    struct registers r;
    double nu_dot[MODEL_AXES_MAX] = {0.0};
    const size_t n = model->axis_count;
    if (model->program->turns_by_speed) {
        accelerate_by_program(model, theta, pose, nu, tau, nu_dot);
    }
    set_motion(model, pose, nu, nu_dot, r.values);
    set_acting(model, theta, tau, r.values);
    run_program(&model->program->slope, &r, jacobian, n * n);
    if (model->program->diagonal) {
        return;
    }
    for (size_t i = 0; i < n * n; i++) {
        jacobian[i] = -jacobian[i];
    }
    solve_inertia(model, &r, jacobian);
}

static void move_by_program(const struct model *model, const double *pose, const double *nu,
                            double *pose_dot)
{
    struct registers r;
    const struct model_names *n = &model->program->names;
    set_values(r.values, n->nu, nu, n->axes);
    set_values(r.values, n->pose, pose, n->poses);
    if (n->width != MODEL_NONE) {
        r.values[n->width] = model->width;
    }
    run_program(&model->program->kinematics, &r, pose_dot, model_pose_count(model));
}

static double derive_by_program(const struct model *model, size_t i, const double *theta,
                                double *gradient)
{
    struct registers r;
    double out[MODEL_DERIVED_MAX * (1 + MODEL_PARAMETERS_MAX)];
    const size_t each = 1 + model->parameter_count;
    set_values(r.values, model->program->names.parameter, theta, model->parameter_count);
    if (model->program->names.width != MODEL_NONE) {
        r.values[model->program->names.width] = model->width;
    }
    run_program(&model->program->derived, &r, out, each * model->derived_count);
    memcpy(gradient, out + i * each + 1, model->parameter_count * sizeof *gradient);
    return out[i * each];
}

void model_program_bind(const struct model_terms *t, const struct model_program *program,
                        unsigned char *pattern, struct model *model)
{
    const struct model_names *n = &t->names;
    const uint64_t poses = model_terms_bits(n->pose, poses_of(n));
    const uint64_t motion = poses | model_terms_bits(n->nu, n->axes) | model_terms_efforts(t);
    uint64_t reads = 0;
    bool known = t->curved;
    model->varying_inertia = false;
    for (size_t i = 0; i < n->axes; i++) {
        known = known || t->known[i] != 0;
        reads |= model_terms_reads(t, t->known[i]) | model_terms_reads(t, t->driven[i]);
        for (size_t k = 0; k < n->parameters; k++) {
            const uint64_t all = model_terms_reads(t, t->phi[i][k]);
            reads |= all;
            pattern[i * n->parameters + k] =
                t->phi[i][k] == 0
                    ? 0
                    : (unsigned char)(MODEL_ENTRY |
                                      (t->still[i][k] != 0 ? MODEL_ENTRY_STILL : 0) |
                                      (all & model_terms_efforts(t) ? MODEL_ENTRY_EFFORT : 0));
        }
        for (size_t j = 0; j < n->axes; j++) {
            model->varying_inertia =
                model->varying_inertia || (model_terms_reads(t, t->inertia[i][j]) & motion);
        }
    }
    model->needs_pose = (reads & poses) != 0;
    model->program = program;
    model->pattern = pattern;
    model->rows = fill_program_rows;
    model->rows_many = model->needs_pose || known ? NULL : fill_program_block;
    model->known = known ? find_known : NULL;
    model->rows_under = t->curved ? fill_driven_rows : NULL;
    model->mobility = mobilise_by_program;
    model->forward = accelerate_by_program;
    model->inverse = t->curved ? search_effort : invert_by_program;
    model->slope = fill_program_slope;
    model->kinematics = move_by_program;
    model->derive = t->derived_count > 0 ? derive_by_program : NULL;
}
