/* Every model of the table and of config/models/, and every variant: rows, forward, inverse and
 * slope say the same. */
#include "tests/support/check.h"

#include "config/model/model_file.h"
#include "identification/model/model_check.h"
#include "identification/model/models.h"

enum { STATES = 200 };

static double draw_uniform(double low, double high)
{
    static unsigned long state = 12345;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(state >> 33) / 2147483648.0;
}

struct state {
    double theta[MODEL_PARAMETERS_MAX];
    double pose[MODEL_AXES_MAX], nu[MODEL_AXES_MAX], nu_dot[MODEL_AXES_MAX];
};

/* Velocities across the turn-over of friction too, but not at kinks, and not where friction
 * that is simulated fades or holds (docs/model/first_order.md, velocity_dynamics.md). */
static struct state draw_state(const struct model *model, int k)
{
    struct state s = {{0.0}, {0.0}, {0.0}, {0.0}};
    const bool fades = strcmp(model->name, "first_order_deadband") == 0 || model->hold;
    const double scale = fades ? 8.0 : k % 2 == 0 ? 1.5 : 0.02;
    for (size_t i = 0; i < model->parameter_count; i++) {
        const bool any = model->parameters[i].sign == MODEL_ANY;
        s.theta[i] = draw_uniform(any ? -2.0 : 0.2, 2.0);
        s.theta[i] *=
            model->by_effort == i && i > 0 ? 0.4 : 1.0; /* below 1: it does not lock */
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        s.nu[a] = draw_uniform(0.1, 1.0) * scale * (draw_uniform(-1.0, 1.0) > 0.0 ? 1.0 : -1.0);
        s.nu_dot[a] = draw_uniform(-2.0, 2.0);
    }
    for (size_t a = 0; a < model_pose_count(model); a++) {
        s.pose[a] = draw_uniform(-3.0, 3.0);
    }
    return s;
}

static void check_inverse(const struct model *model, const struct state *s)
{
    double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double tau[MODEL_AXES_MAX];
    double back[MODEL_AXES_MAX];
    double known[MODEL_AXES_MAX];
    model->rows(model, s->pose, s->nu, s->nu_dot, phi);
    model->inverse(model, s->theta, s->pose, s->nu, s->nu_dot, tau);
    model_load_rows(model, tau, phi);
    model_known(model, s->pose, s->nu, s->nu_dot, tau, known);
    model->forward(model, s->theta, s->pose, s->nu, tau, back);
    for (size_t a = 0; a < model->axis_count; a++) {
        double sum = 0.0;
        for (size_t i = 0; i < model->parameter_count; i++) {
            sum += phi[a * model->parameter_count + i] * s->theta[i];
        }
        CHECK_NEAR(model->name, sum, known[a], 1e-9, 1e-9);
        CHECK_NEAR(model->name, back[a], s->nu_dot[a], 1e-9, 1e-9);
    }
}

/* Affine in nu_dot. */
static void check_affine(const struct model *model, const struct state *s)
{
    double one[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double two[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double none[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    const double rest[MODEL_AXES_MAX] = {0.0};
    double twice[MODEL_AXES_MAX];
    for (size_t a = 0; a < model->axis_count; a++) {
        twice[a] = 2.0 * s->nu_dot[a];
    }
    model->rows(model, s->pose, s->nu, rest, none);
    model->rows(model, s->pose, s->nu, s->nu_dot, one);
    model->rows(model, s->pose, s->nu, twice, two);
    for (size_t i = 0; i < model->axis_count * model->parameter_count; i++) {
        CHECK_NEAR(model->name, two[i] - none[i], 2.0 * (one[i] - none[i]), 1e-9, 1e-9);
    }
}

/* A block of samples at once is what one by one gives, and zeros stay zeros. */
static void check_many(const struct model *model)
{
    static double nu[MODEL_AXES_MAX][MODEL_STRIDE];
    static double nu_dot[MODEL_AXES_MAX][MODEL_STRIDE];
    double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX][MODEL_STRIDE] = {{0.0}};
    for (size_t k = 0; k < MODEL_BLOCK; k++) {
        for (size_t a = 0; a < model->axis_count; a++) {
            nu[a][k] = draw_uniform(-2.0, 2.0);
            nu_dot[a][k] = draw_uniform(-2.0, 2.0);
        }
    }
    model->rows_many(model, (const double(*)[MODEL_STRIDE])nu,
                     (const double(*)[MODEL_STRIDE])nu_dot, phi);
    for (size_t k = 0; k < MODEL_BLOCK; k++) {
        double velocity[MODEL_AXES_MAX];
        double rate[MODEL_AXES_MAX];
        double row[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
        for (size_t a = 0; a < model->axis_count; a++) {
            velocity[a] = nu[a][k];
            rate[a] = nu_dot[a][k];
        }
        model->rows(model, NULL, velocity, rate, row);
        for (size_t i = 0; i < model->axis_count * model->parameter_count; i++) {
            CHECK_NEAR(model->name, phi[i][k], row[i], 0.0, 0.0);
        }
    }
}

static void check_slope(const struct model *model, const struct state *s)
{
    const size_t n = model->axis_count;
    double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
    model->inverse(model, s->theta, s->pose, s->nu, s->nu_dot, tau);
    model->slope(model, s->theta, s->pose, s->nu, tau, slope);
    for (size_t j = 0; j < n; j++) {
        struct state moved = *s;
        double up[MODEL_AXES_MAX];
        double down[MODEL_AXES_MAX];
        const double step = 1e-5 * fabs(s->nu[j]);
        moved.nu[j] = s->nu[j] + step;
        model->forward(model, s->theta, s->pose, moved.nu, tau, up);
        moved.nu[j] = s->nu[j] - step;
        model->forward(model, s->theta, s->pose, moved.nu, tau, down);
        for (size_t i = 0; i < n; i++) {
            const double want = (up[i] - down[i]) / (2.0 * step);
            CHECK_NEAR(model->name, slope[i * n + j], want, 1e-4, 1e-4);
        }
    }
}

static void check_derived(const struct model *model, const struct state *s)
{
    for (size_t d = 0; d < model->derived_count; d++) {
        double gradient[MODEL_PARAMETERS_MAX];
        double ignored[MODEL_PARAMETERS_MAX];
        (void)model_derive(model, d, s->theta, gradient);
        for (size_t i = 0; i < model->parameter_count; i++) {
            struct state moved = *s;
            const double step = 1e-6 * fabs(s->theta[i]);
            moved.theta[i] = s->theta[i] + step;
            const double up = model_derive(model, d, moved.theta, ignored);
            moved.theta[i] = s->theta[i] - step;
            const double down = model_derive(model, d, moved.theta, ignored);
            CHECK_NEAR(model->derived[d].name, gradient[i], (up - down) / (2.0 * step), 1e-5,
                       1e-6);
        }
    }
}

/* The closed form is what many small steps give, and its inverse leads there. */
static void check_exact_step(const struct model *model, const struct state *s)
{
    const double h_s = 0.1;
    struct model slow = *model;
    struct state at = *s;
    struct state by_steps = *s;
    double tau[MODEL_AXES_MAX];
    double gain[MODEL_AXES_MAX];
    model->inverse(model, s->theta, s->pose, s->nu, s->nu_dot, tau);
    slow.exact_step = NULL;
    for (int k = 0; k < 100; k++) {
        model_step(&slow, s->theta, by_steps.nu, by_steps.pose, tau, NULL, h_s / 100.0);
    }
    model_step(model, s->theta, at.nu, at.pose, tau, NULL, h_s);
    for (size_t i = 0; i < model->axis_count; i++) {
        CHECK_NEAR(model->name, at.nu[i], by_steps.nu[i], 1e-9, 1e-9);
        CHECK_NEAR(model->name, at.pose[i], by_steps.pose[i], 1e-9, 1e-9);
        gain[i] = at.nu[i] - s->nu[i];
    }
    double ramp[MODEL_AXES_MAX];
    struct state sloped = *s;
    by_steps = *s;
    for (size_t i = 0; i < model->axis_count; i++) {
        ramp[i] = (double)i - 2.0;
    }
    for (int k = 0; k < 1000; k++) {
        double now[MODEL_AXES_MAX];
        for (size_t i = 0; i < model->axis_count; i++) {
            now[i] = tau[i] + ramp[i] * h_s * (k + 0.5) / 1000.0;
        }
        model_step(&slow, s->theta, by_steps.nu, by_steps.pose, now, NULL, h_s / 1000.0);
    }
    double moved[MODEL_AXES_MAX];
    model->exact_step(model, s->theta, tau, ramp, h_s, sloped.nu, moved);
    for (size_t i = 0; i < model->axis_count; i++) {
        CHECK_NEAR("ramp", sloped.nu[i], by_steps.nu[i], 1e-6, 1e-6);
        CHECK_NEAR("ramp", sloped.pose[i] + moved[i], by_steps.pose[i], 1e-6, 1e-6);
    }
    double back[MODEL_AXES_MAX];
    model->inverse_step(model, s->theta, s->nu, gain, h_s, back);
    for (size_t i = 0; i < model->axis_count; i++) {
        CHECK_NEAR(model->name, back[i], tau[i], 1e-9, 1e-9);
    }
}

static void check_model(const struct model *model)
{
    CHECK(model->name, model->axis_count <= MODEL_AXES_MAX &&
                           model->parameter_count <= MODEL_PARAMETERS_MAX &&
                           model->derived_count <= MODEL_DERIVED_MAX &&
                           model_pose_count(model) <= MODEL_AXES_MAX);
    for (int k = 0; k < STATES; k++) {
        const struct state s = draw_state(model, k);
        check_inverse(model, &s);
        check_affine(model, &s);
        check_slope(model, &s);
        check_derived(model, &s);
        if (model->exact_step) {
            check_exact_step(model, &s);
        }
    }
    CHECK(model->name, (model->exact_step == NULL) == (model->inverse_step == NULL));
}

static void test_table(void)
{
    for (size_t i = 0; model_at(i); i++) {
        CHECK("by name", model_find(model_at(i)->name) == model_at(i));
        check_model(model_at(i));
        if (model_at(i)->rows_many) {
            CHECK(model_at(i)->name, !model_at(i)->needs_pose);
            check_many(model_at(i));
        }
    }
    CHECK("unknown", model_find("none") == NULL);
}

/* Each row has all that its sort of model needs: one that is there by half is found here. */
static void test_rows(void)
{
    for (size_t i = 0; model_row_at(i); i++) {
        const struct model_row *row = model_row_at(i);
        size_t roles = 0;
        CU_ASSERT_FATAL(row->name && row->words && row->help && row->roles);
        CHECK(row->name, model_row_find(row->name) == row && row->words[0] && row->help[0]);
        CHECK(row->name, (row->data == MODEL_OF_MOTION || row->data == MODEL_OF_SERVOS) ==
                             (row->model != NULL));
        while (row->roles[roles]) {
            roles++;
        }
        if (row->data == MODEL_OF_MOTION) {
            const size_t axes = row->model->axis_count;
            CHECK_TEXT("name", row->name, row->model->name);
            CHECK(row->name, roles == 1 + 2 * axes || roles == 1 + 3 * axes);
            CHECK(row->name, !row->model->needs_pose || roles == 1 + 3 * axes);
        }
    }
}

static void fill_pendulum_rows(const struct model *model, const double *pose, const double *nu,
                               const double *nu_dot, double *phi)
{
    for (size_t i = 0; i < model->parameter_count; i++) {
        phi[i] = nu_dot[0] + nu[0] + pose[0];
    }
}

/* A row that would end a fit by a signal is refused before. */
static void test_row_check(void)
{
    char problem[MODEL_PROBLEM_MAX] = "";
    CHECK(problem, model_rows_check(problem));
    struct model model = first_order_model;
    struct model_row row = *model_row_find("first_order");
    row.model = &model;
    CHECK("a copy", model_row_check(&row, problem));
    model.rows = fill_pendulum_rows;
    CHECK("pose", !model_row_check(&row, problem) && strstr(problem, ".needs_pose"));
    model.needs_pose = true;
    CHECK("needs pose", model_row_check(&row, problem));
    model.slope = NULL;
    CHECK("slope", !model_row_check(&row, problem) && strstr(problem, "first_order: slope"));
    model = first_order_model;
    model.bias_force = NULL;
    CHECK("resist", !model_row_check(&row, problem));
    model = first_order_model;
    model.parameter_count = MODEL_PARAMETERS_MAX + 1;
    CHECK("count", !model_row_check(&row, problem));
    row.model = NULL;
    CHECK("no model", !model_row_check(&row, problem));
}

static void test_variants(void)
{
    for (size_t i = 0; i < joint_row.variant_count; i++) {
        for (size_t form = 0; form < JOINT_FORMS; form++) {
            check_model(&joint_models[form][i]);
        }
        CHECK("narrow to wide",
              i == 0 || joint_row.variants[i].velocity > joint_row.variants[i - 1].velocity);
        CHECK_NEAR("same widths", joint_row.variants[i].velocity,
                   joint_load_row.variants[i].velocity, 0.0, 0.0);
        /* Friction is tanh(1) of its whole at s, and the load is as it should be. */
        double phi[MODEL_PARAMETERS_MAX];
        const double pose = 0.5;
        const double rest = 0.0;
        joint_load_row.variants[i].model->rows(joint_load_row.variants[i].model, &pose,
                                               &joint_row.variants[i].velocity, &rest, phi);
        CHECK_NEAR("turn-over", phi[JOINT_COULOMB], tanh(1.0), 1e-12, 0.0);
        CHECK_NEAR("load", phi[JOINT_LOAD], sin(0.5), 1e-12, 0.0);
    }
}

/* Without the thermal one: near 0 K, where states are drawn, it loses all its digits. */
static void load_files(void)
{
    static const char *const names[] = {"usv3",       "diffdrive", "first_order",  "joint",
                                        "joint_load", "dc_motor",  "unicycle_slip"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[256];
        const struct model_row *row = NULL;
        struct err_list errors = {0};
        (void)snprintf(path, sizeof path, "%s/config/models/%s.yaml", TANDEM_SOURCE_DIR,
                       names[i]);
        if (model_file_register(path, &row, &errors) != STATUS_OK) {
            err_list_print(&errors, stderr);
            exit(EXIT_FAILURE);
        }
    }
}

int main(void)
{
    load_files();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("models", NULL, NULL);
    CU_add_test(suite, "table", test_table);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "row check", test_row_check);
    CU_add_test(suite, "variants", test_variants);
    return check_run();
}
