#include "twin/models/model_program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/expression/expression_algebra.h"

_Static_assert((int)EXPRESSION_BLOCK == (int)MODEL_BLOCK &&
                   (int)EXPRESSION_STRIDE == (int)MODEL_STRIDE,
               "blocks are the same");
_Static_assert((int)MODEL_AXES_MAX *(int)MODEL_PARAMETERS_MAX <= (int)EXPRESSION_OUTPUTS_MAX,
               "rows are outputs");

/* ---- taking apart ---- */

static uint64_t bits_of(uint8_t first, size_t count)
{
    return ((UINT64_C(1) << count) - 1) << first;
}

static uint64_t reads_of(const struct model_terms *t, uint16_t node)
{
    return t->pool->nodes[node].reads;
}

/* Poses that equations may name: of each axis its own. */
static size_t poses_of(const struct model_names *n)
{
    return n->poses < n->axes ? n->poses : n->axes;
}

static enum status blame_node(const struct model_terms *t, uint16_t node, struct err *err,
                              const char *what)
{
    return err_set(err, STATUS_E_PARSE, "", 0, t->pool->nodes[node].character, "%s", what);
}

static const char *name_at(const struct model_terms *t, size_t i)
{
    return t->pool->names[i].text;
}

/* The right side is the effort of this equation, and nothing else is an effort. */
static enum status check_sides(const struct model_terms *t, size_t i, uint16_t root,
                               struct err *err)
{
    const struct model_names *n = &t->names;
    const struct expression_node *equation = &t->pool->nodes[root];
    const uint64_t efforts = bits_of(n->effort, n->axes);
    char what[ERR_TEXT_MAX];
    if (equation->kind != EXPRESSION_EQUAL) {
        return blame_node(t, root, err, "an equation is wanted, left side = effort");
    }
    const struct expression_node *right = &t->pool->nodes[equation->arguments[1]];
    if (reads_of(t, equation->arguments[0]) & efforts) {
        return blame_node(t, equation->arguments[0], err,
                          "an effort on the left side: a thrust curve is not possible, give "
                          "the thrust itself as the effort's column");
    }
    if (right->kind != EXPRESSION_NAME || right->name != n->effort + i) {
        (void)snprintf(what, sizeof what,
                       "the right side has to be %s, the effort of this axis, and nothing else",
                       name_at(t, n->effort + i));
        return blame_node(t, equation->arguments[1], err, what);
    }
    return STATUS_OK;
}

/* What is not a parameter's has no place: rows are all of the left side. */
static enum status refuse_known(const struct model_terms *t, uint16_t rest, struct err *err)
{
    char what[ERR_TEXT_MAX];
    char term[96];
    (void)expression_print(t->pool, rest, term, sizeof term);
    (void)snprintf(what, sizeof what,
                   "'%s' has no parameter: make its factor a parameter, or take it off the "
                   "effort's column",
                   term);
    return blame_node(t, rest, err, what);
}

/* The rates of all velocities enter as factors, by what is no rate. */
static enum status split_rates(struct model_terms *t, uint16_t node, uint16_t *factors,
                               uint16_t *rest, struct err *err)
{
    uint8_t rates[MODEL_AXES_MAX];
    for (size_t j = 0; j < t->names.axes; j++) {
        rates[j] = (uint8_t)(t->names.nu_dot + j);
    }
    return expression_split(t->pool, node, rates, t->names.axes, "rates", factors, rest, err);
}

enum status model_terms_equation(struct model_terms *t, size_t i, uint16_t root,
                                 struct err *err)
{
    uint8_t unknowns[MODEL_PARAMETERS_MAX];
    uint16_t rest = 0;
    uint16_t factors[MODEL_AXES_MAX];
    for (size_t k = 0; k < t->names.parameters; k++) {
        unknowns[k] = (uint8_t)(t->names.parameter + k);
    }
    enum status st = check_sides(t, i, root, err);
    if (st != STATUS_OK) {
        return st;
    }
    t->side[i] = t->pool->nodes[root].arguments[0];
    st = expression_split(t->pool, t->side[i], unknowns, t->names.parameters, "unknowns",
                          t->phi[i], &rest, err);
    if (st == STATUS_OK && rest != 0) {
        return refuse_known(t, rest, err);
    }
    for (size_t k = 0; k < t->names.parameters && st == STATUS_OK; k++) {
        st = split_rates(t, t->phi[i][k], factors, &t->still[i][k], err);
    }
    st = st == STATUS_OK ? split_rates(t, t->side[i], t->inertia[i], &t->rest[i], err) : st;
    if (st == STATUS_OK && t->pool->full) {
        return blame_node(t, root, err, "all of the equations together are too long");
    }
    return st;
}

uint32_t model_terms_unused(const struct model_terms *t)
{
    uint32_t unused = 0;
    for (size_t k = 0; k < t->names.parameters; k++) {
        bool used = false;
        for (size_t i = 0; i < t->names.axes; i++) {
            used = used || t->phi[i][k] != 0;
        }
        unused |= used ? 0 : UINT32_C(1) << k;
    }
    return unused;
}

/* ---- compiling ---- */

/* Nodes that are not zero, and where they go; those others stay as they are. */
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

static void list_rows(const struct model_terms *t, struct outputs *rows,
                      struct outputs *dynamics)
{
    const size_t n = t->names.axes;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < t->names.parameters; k++) {
            add_output(rows, t->phi[i][k], i * t->names.parameters + k);
        }
        for (size_t j = 0; j < n; j++) {
            add_output(dynamics, t->inertia[i][j], i * n + j);
        }
        add_output(dynamics, t->rest[i], n * n + i);
    }
}

/* Without coupling each rate by itself: what is left of the effort by its inertia. */
static void list_rates(const struct model_terms *t, const struct model_program *program,
                       struct outputs *rates)
{
    for (size_t i = 0; i < t->names.axes && program->diagonal; i++) {
        const uint16_t left = expression_subtract(
            t->pool, expression_of_name(t->pool, t->names.effort + i), t->rest[i]);
        add_output(rates,
                   expression_make(t->pool, EXPRESSION_DIVIDE, left, t->inertia[i][i], 0), i);
    }
}

static enum status list_slopes(const struct model_terms *t, struct outputs *slopes,
                               struct err *err)
{
    enum status st = STATUS_OK;
    for (size_t i = 0; i < t->names.axes; i++) {
        for (size_t j = 0; j < t->names.axes && st == STATUS_OK; j++) {
            uint16_t slope = 0;
            st = expression_differentiate(t->pool, t->side[i], (uint8_t)(t->names.nu + j),
                                          &slope, err);
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
    const uint64_t nu = bits_of(t->names.nu, t->names.axes);
    program->diagonal = true;
    program->turns_by_speed = false;
    for (size_t i = 0; i < t->names.axes; i++) {
        for (size_t j = 0; j < t->names.axes; j++) {
            program->diagonal = program->diagonal && (i == j || t->inertia[i][j] == 0);
            program->turns_by_speed =
                program->turns_by_speed || (reads_of(t, t->inertia[i][j]) & nu);
        }
    }
}

enum status model_program_make(const struct model_terms *t, void *memory,
                               struct model_program *program, struct err *err)
{
    struct outputs rows = {.count = 0};
    struct outputs dynamics = {.count = 0};
    struct outputs slopes = {.count = 0};
    struct outputs kinematics = {.count = 0};
    struct outputs derived = {.count = 0};
    struct outputs rates = {.count = 0};
    program->names = t->names;
    describe_inertia(t, program);
    list_rows(t, &rows, &dynamics);
    list_rates(t, program, &rates);
    for (size_t i = 0; i < MODEL_POSES_MAX; i++) {
        add_output(&kinematics, t->kinematics[i], i);
    }
    enum status st = list_slopes(t, &slopes, err);
    st = st == STATUS_OK ? list_derived(t, &derived, err) : st;
    st = st == STATUS_OK ? compile_outputs(t, &rows, memory, &program->rows, err) : st;
    st = st == STATUS_OK ? compile_outputs(t, &dynamics, memory, &program->dynamics, err) : st;
    st = st == STATUS_OK ? compile_outputs(t, &rates, memory, &program->rates, err) : st;
    st = st == STATUS_OK ? compile_outputs(t, &slopes, memory, &program->slope, err) : st;
    st = st == STATUS_OK ? compile_outputs(t, &kinematics, memory, &program->kinematics, err)
                         : st;
    return st == STATUS_OK ? compile_outputs(t, &derived, memory, &program->derived, err) : st;
}

/* ---- running ---- */

/* Registers of a program, of which the last are the names. */
struct registers {
    double of[EXPRESSION_REGISTERS_MAX];
    double values[EXPRESSION_NAMES_MAX];
};

_Static_assert(sizeof(struct registers) == EXPRESSION_FILE * sizeof(double),
               "one behind the other");

/* NULL: all zero. */
static void put_values(double *values, uint8_t first, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++) { /* few: a call takes longer */
        values[first + i] = from ? from[i] : 0.0;
    }
}

/* nu_dot NULL: for what no rate stands in. */
static void put_motion(const struct model *model, const double *pose, const double *nu,
                       const double *nu_dot, double *values)
{
    const struct model_names *n = &model->program->names;
    put_values(values, n->nu, nu, n->axes);
    if (nu_dot) {
        put_values(values, n->nu_dot, nu_dot, n->axes);
    }
    if (model->needs_pose) {
        put_values(values, n->pose, pose, poses_of(n));
    }
    if (n->width != MODEL_NONE) {
        values[n->width] = model->width;
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

static void fill_program_rows(const struct model *model, const double *pose, const double *nu,
                              const double *nu_dot, double *phi)
{
    struct registers r;
    put_motion(model, pose, nu, nu_dot, r.values);
    run_program(&model->program->rows, &r, phi, model->axis_count * model->parameter_count);
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

/* Inertia [axes x axes] and what resists [axes]. */
struct equations {
    double inertia[MODEL_AXES_MAX * MODEL_AXES_MAX + MODEL_AXES_MAX];
    const double *rest;
};

static void find_equations(const struct model *model, const double *theta, const double *pose,
                           const double *nu, struct equations *e)
{
    struct registers r;
    const size_t n = model->axis_count;
    put_motion(model, pose, nu, NULL, r.values);
    put_values(r.values, model->program->names.parameter, theta, model->parameter_count);
    run_program(&model->program->dynamics, &r, e->inertia, n * n + n);
    e->rest = e->inertia + n * n;
}

static void swap_rows(double *a, size_t n, double *b, size_t width, size_t i, size_t k)
{
    for (size_t j = 0; j < n && i != k; j++) {
        const double kept = a[i * n + j];
        a[i * n + j] = a[k * n + j];
        a[k * n + j] = kept;
    }
    for (size_t j = 0; j < width && i != k; j++) {
        const double kept = b[i * width + j];
        b[i * width + j] = b[k * width + j];
        b[k * width + j] = kept;
    }
}

/* a x = b by elimination with pivots; a [n x n] is used up, b [n x width] becomes x. */
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

static void divide_inertia(const struct model *model, struct equations *e, double *b,
                           size_t width)
{
    const size_t n = model->axis_count;
    if (!model->program->diagonal) {
        solve_square(e->inertia, n, b, width);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < width; j++) {
            b[i * width + j] /= e->inertia[i * n + i];
        }
    }
}

static void resist_by_program(const struct model *model, const double *theta,
                              const double *pose, const double *nu, double *tau)
{
    struct equations e;
    find_equations(model, theta, pose, nu, &e);
    memcpy(tau, e.rest, model->axis_count * sizeof *tau);
}

static void accelerate_by_program(const struct model *model, const double *theta,
                                  const double *pose, const double *nu, const double *tau,
                                  double *nu_dot)
{
    struct equations e;
    if (model->program->diagonal) {
        struct registers r;
        put_motion(model, pose, nu, NULL, r.values);
        put_values(r.values, model->program->names.parameter, theta, model->parameter_count);
        put_values(r.values, model->program->names.effort, tau, model->axis_count);
        expression_run_whole(&model->program->rates, r.of, nu_dot);
        return;
    }
    find_equations(model, theta, pose, nu, &e);
    for (size_t i = 0; i < model->axis_count; i++) {
        nu_dot[i] = (tau ? tau[i] : 0.0) - e.rest[i];
    }
    divide_inertia(model, &e, nu_dot, 1);
}

static void invert_by_program(const struct model *model, const double *theta,
                              const double *pose, const double *nu, const double *nu_dot,
                              double *tau)
{
    struct equations e;
    const size_t n = model->axis_count;
    find_equations(model, theta, pose, nu, &e);
    for (size_t i = 0; i < n; i++) {
        double sum = e.rest[i];
        for (size_t j = 0; j < n; j++) {
            sum += e.inertia[i * n + j] * nu_dot[j];
        }
        tau[i] = sum;
    }
}

/* From side(nu, nu') = tau: M d nu' + (d side / d nu) d nu = 0. */
static void fill_program_slope(const struct model *model, const double *theta,
                               const double *pose, const double *nu, const double *tau,
                               double *jacobian)
{
    struct equations e;
    struct registers r;
    double nu_dot[MODEL_AXES_MAX] = {0.0};
    const size_t n = model->axis_count;
    if (model->program->turns_by_speed) {
        accelerate_by_program(model, theta, pose, nu, tau, nu_dot);
    }
    find_equations(model, theta, pose, nu, &e);
    put_motion(model, pose, nu, nu_dot, r.values);
    put_values(r.values, model->program->names.parameter, theta, model->parameter_count);
    run_program(&model->program->slope, &r, jacobian, n * n);
    for (size_t i = 0; i < n * n; i++) {
        jacobian[i] = -jacobian[i];
    }
    divide_inertia(model, &e, jacobian, n);
}

static void move_by_program(const struct model *model, const double *pose, const double *nu,
                            double *pose_dot)
{
    struct registers r;
    const struct model_names *n = &model->program->names;
    put_values(r.values, n->nu, nu, n->axes);
    put_values(r.values, n->pose, pose, n->poses);
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
    put_values(r.values, model->program->names.parameter, theta, model->parameter_count);
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
    const uint64_t poses = bits_of(n->pose, poses_of(n));
    const uint64_t motion = poses | bits_of(n->nu, n->axes);
    uint64_t reads = 0;
    model->varying_inertia = false;
    for (size_t i = 0; i < n->axes; i++) {
        for (size_t k = 0; k < n->parameters; k++) {
            const uint64_t all = reads_of(t, t->phi[i][k]);
            reads |= all;
            pattern[i * n->parameters + k] =
                t->phi[i][k] == 0
                    ? 0
                    : (unsigned char)(MODEL_ENTRY |
                                      (t->still[i][k] != 0 ? MODEL_ENTRY_STILL : 0));
        }
        for (size_t j = 0; j < n->axes; j++) {
            model->varying_inertia =
                model->varying_inertia || (reads_of(t, t->inertia[i][j]) & motion);
        }
    }
    model->needs_pose = (reads & poses) != 0;
    model->program = program;
    model->pattern = pattern;
    model->rows = fill_program_rows;
    model->rows_many = model->needs_pose ? NULL : fill_program_block;
    model->forward = accelerate_by_program;
    model->inverse = invert_by_program;
    model->resist = resist_by_program;
    model->slope = fill_program_slope;
    model->kinematics = move_by_program;
    model->derive = t->derived_count > 0 ? derive_by_program : NULL;
}
