/* Models from files: the built-in ones written as files are the same to the bit; every refusal,
 * by its text; equations with coupled rates, and with inertia that depends on the motion. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "config/model/model_file.h"

enum { POINTS = 2000 };

static struct model_file *load_file(const char *name)
{
    struct model_file *file = NULL;
    struct err_list errors = {0};
    char path[256];
    (void)snprintf(path, sizeof path, "%s/config/models/%s.yaml", TANDEM_SOURCE_DIR, name);
    if (option_file_load(&model_file, path, &file, &errors) != STATUS_OK) {
        err_list_print(&errors, stdout);
        CU_FAIL_FATAL("no model");
    }
    return file;
}

struct point {
    double theta[MODEL_PARAMETERS_MAX];
    double pose[MODEL_POSES_MAX], nu[MODEL_AXES_MAX], nu_dot[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
};

static struct point draw_point(struct random_source *random)
{
    struct point p;
    double *all = (double *)&p;
    for (size_t i = 0; i < sizeof p / sizeof(double); i++) {
        all[i] = random_normal(random);
    }
    for (size_t i = 0; i < MODEL_PARAMETERS_MAX; i++) {
        p.theta[i] = 0.1 + fabs(p.theta[i]);
    }
    return p;
}

static void compare_point(const struct model *model, const struct model *built_in,
                          const struct point *p)
{
    const size_t n = model->axis_count;
    const size_t size = n * model->parameter_count;
    double got[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double want[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    model->rows(model, p->pose, p->nu, p->nu_dot, got);
    built_in->rows(built_in, p->pose, p->nu, p->nu_dot, want);
    for (size_t i = 0; i < size; i++) {
        CHECK("rows to the bit", memcmp(&got[i], &want[i], sizeof got[i]) == 0);
    }
    model->forward(model, p->theta, p->pose, p->nu, p->tau, got);
    built_in->forward(built_in, p->theta, p->pose, p->nu, p->tau, want);
    for (size_t i = 0; i < n; i++) {
        CHECK_NEAR("forward", got[i], want[i], 1e-10, 1e-12);
    }
    model->slope(model, p->theta, p->pose, p->nu, p->tau, got);
    built_in->slope(built_in, p->theta, p->pose, p->nu, p->tau, want);
    for (size_t i = 0; i < n * n; i++) {
        CHECK_NEAR("slope", got[i], want[i], 1e-10, 1e-12);
    }
    model->inverse(model, p->theta, p->pose, p->nu, p->nu_dot, got);
    built_in->inverse(built_in, p->theta, p->pose, p->nu, p->nu_dot, want);
    for (size_t i = 0; i < n; i++) {
        CHECK_NEAR("inverse", got[i], want[i], 1e-12, 1e-13);
    }
    model_mobility(model, p->theta, p->pose, p->nu, got);
    model_mobility(built_in, p->theta, p->pose, p->nu, want);
    for (size_t i = 0; i < n * n; i++) {
        CHECK_NEAR("mobility", got[i], want[i], 1e-10, 1e-12);
    }
    model->kinematics(model, p->pose, p->nu, got);
    built_in->kinematics(built_in, p->pose, p->nu, want);
    for (size_t i = 0; i < model_pose_count(model); i++) {
        CHECK_NEAR("kinematics", got[i], want[i], 0.0, 0.0);
    }
    for (size_t d = 0; d < model->derived_count; d++) {
        CHECK_NEAR("derived", model_derive(model, d, p->theta, got),
                   model_derive(built_in, d, p->theta, want), 1e-15, 0.0);
        for (size_t i = 0; i < model->parameter_count; i++) {
            CHECK_NEAR("gradient", got[i], want[i], 1e-14, 0.0);
        }
    }
}

static void test_built_in(void)
{
    static const char *const names[] = {"usv3", "diffdrive", "first_order", "joint",
                                        "joint_load"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct model_row *row = model_row_find(names[i]);
        struct model_file *file = load_file(names[i]);
        struct random_source random = random_stream(3, i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(row);
        const struct model *model = file->row.model;
        CHECK_INT(names[i], model->axis_count, row->model->axis_count);
        CHECK_INT(names[i], model->parameter_count, row->model->parameter_count);
        CHECK_INT(names[i], model->needs_pose, row->model->needs_pose);
        CHECK_INT(names[i], model->varying_inertia, false);
        CHECK_INT(names[i], file->row.variant_count, row->variants ? row->variant_count : 0);
        for (size_t k = 0; k < POINTS; k++) {
            const struct point p = draw_point(&random);
            compare_point(model, row->model, &p);
            for (size_t v = 0; v < file->row.variant_count && k < 100; v++) {
                CHECK_NEAR(names[i], file->row.variants[v].velocity, row->variants[v].velocity,
                           0.0, 0.0);
                compare_point(file->row.variants[v].model, row->variants[v].model, &p);
            }
        }
        model_file_free(file);
    }
}

/* ---- refusals ---- */

static const char head[] = "model: m\nvelocities: {w: rad/s}\nefforts: {U: V}\n";
static const char two[] = "model: m\nvelocities: {v: m/s, w: rad/s}\nefforts: {F: N, M: N m}\n"
                          "parameters: {a: {}, b: {}, c: {}, d: {}}\n";

static void test_refusals(void)
{
    static const struct {
        const char *before, *text, *code;
    } rows[] = {
        {"", "", "empty_file"},
        {"", "model: m\n", "missing_key"},
        {"", "model: m\n", "missing_key"},
        {"", "velocities: {w: rad/s}\n", "missing_key"},
        {head, "parameters: {J: {}}\n", "missing_key"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' = U\"]\nmodle: x\n", "unknown_key"},
        {"model: usv3\nvelocities: {w: rad/s}\nefforts: {U: V}\n",
         "parameters: {J: {}}\nequations: [\"J*w' = U\"]\n", "reserved_name"},
        {"model: \"a b\"\nvelocities: {w: rad/s}\nefforts: {U: V}\n",
         "parameters: {J: {}}\nequations: [\"J*w' = U\"]\n", "bad_name"},
        {head, "parameters: {J: {}, f: {}}\nequations: [\"J*w' + f*J*w = U\"]\n",
         "nonlinear_term"},
        {head, "parameters: {J: {}, f: {}}\nequations: [\"J*w' + sin(f*w) = U\"]\n",
         "nonlinear_term"},
        {head, "parameters: {J: {}, f: {}}\nequations: [\"J*w' + w/f = U\"]\n",
         "nonlinear_term"},
        {head, "parameters: {J: {}, f: {}}\nequations: [\"J*w'^2 + f*w = U\"]\n",
         "nonlinear_term"},
        {head, "parameters: {J: {}, f: {}}\nequations: [\"J*w'*w' + f*w = U\"]\n",
         "nonlinear_term"},
        {head, "parameters: {J: {}, k: {}}\nequations: [\"J*w' + sin(k*U) = 0\"]\n",
         "nonlinear_term"},
        {head, "parameters: {J: {}, k: {}}\nequations: [\"J*w' = k*U^2\"]\n", "bad_equation"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' + w = 0\"]\n", "unused_name"},
        {head, "parameters: {J: {}}\nequations: [\"J*w = U\"]\n", "bad_equation"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' + U\"]\n", "bad_equation"},
        {head, "sticks: true\nparameters: {J: {}}\nequations: [\"J*w' + w = U^2\"]\n",
         "not_applicable"},
        {two, "equations: [\"a*v' + b*v = F + M\", \"c*w' + d*w = c*M\"]\n", "bad_equation"},
        {two, "equations: [\"a*v' + b*v = F\"]\n", "wrong_count"},
        {two, "equations: [\"a*v' + b*v = F\", \"c*w' + b*w = M\"]\n", "unused_name"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' + sped = U\"]\n", "unknown_name"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' + = U\"]\n", "bad_syntax"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' + (w > 0) = U\"]\n", "type_mismatch"},
        {head, "parameters: {w: {}}\nequations: [\"w*w' = U\"]\n", "duplicate_name"},
        {head, "parameters: {sin: {}}\nequations: [\"sin*w' = U\"]\n", "reserved_name"},
        {head, "parameters: {t: {}}\nequations: [\"t*w' = U\"]\n", "reserved_name"},
        {head, "parameters: {J: {sign: big}}\nequations: [\"J*w' = U\"]\n", "unknown_value"},
        {head, "parameters: {J: {name: w}}\nequations: [\"J*w' = U\"]\n", "duplicate_name"},
        {"model: m\nvelocities: {w: rad/s}\nefforts: {U: V, I: A}\n",
         "parameters: {J: {}}\nequations: [\"J*w' = U\"]\n", "wrong_count"},
        {head, "pose: {x: m, y: m, z: m}\nparameters: {J: {}}\nequations: [\"J*w' = U\"]\n",
         "wrong_count"},
        {head, "pose: {x: m, y: m}\nparameters: {J: {}}\nequations: [\"J*w' = U\"]\n",
         "missing_key"},
        {head,
         "pose: {x: m, y: m}\nparameters: {J: {}}\nequations: [\"J*w' + J*sin(y) = U\"]\n"
         "kinematics: [x' = w, y' = w]\n",
         "not_applicable"},
        {head,
         "pose: {q: rad}\nparameters: {J: {}}\nequations: [\"J*w' = U\"]\nkinematics: "
         "[p' = w]\n",
         "bad_equation"},
        {head,
         "pose: {q: rad}\nparameters: {J: {}}\nequations: [\"J*w' = U\"]\nkinematics: "
         "[q' = J*w]\n",
         "not_applicable"},
        {head,
         "pose: {q: rad}\nparameters: {J: {}}\nequations: [\"J*w' = U\"]\nkinematics: "
         "[q' = w +]\n",
         "bad_syntax"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' = U\"]\nderived: [{name: x}]\n",
         "missing_key"},
        {head,
         "parameters: {J: {}}\nequations: [\"J*w' = U\"]\nderived: [{name: x, value: J*w}]\n",
         "not_applicable"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' = U\"]\nplanar: [forward]\n",
         "list_expected"},
        {head,
         "parameters: {J: {}}\nequations: [\"J*w' = U\"]\nconstants: {k: 1}\nvariants: {k: [2, "
         "3]}\n",
         "inconsistent"},
        {head,
         "parameters: {J: {}}\nequations: [\"J*w' = U\"]\nconstants: {k: 1}\nvariants: {k: [2, "
         "1]}\n",
         "wrong_order"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' = U\"]\nvariants: {J: [1, 2]}\n",
         "object_expected"},
        {head, "parameters: {J: {}}\nequations: [\"J*w' = U\"]\ntrial: {efforts: {U: 1}}\n",
         "missing_key"},
        {head,
         "parameters: {J: {}}\nequations: [\"J*w' = U\"]\ntrial: {efforts: {U: [0, 1]}}\n",
         "missing_key"},
        {head,
         "parameters: {J: {sign: positive}}\nequations: [\"J*w' = U\"]\ntrial: {efforts: {U: "
         "[0, 1]}, parameters: {J: -1}, noise_sd: {w: 0.1}}\n",
         "unphysical"},
        {head, "constants: {g: x}\nparameters: {J: {}}\nequations: [\"J*w' = U\"]\n",
         "not_a_number"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[1024];
        struct model_file *file = NULL;
        struct err_list errors = {0};
        bool reported = false;
        const int n = snprintf(text, sizeof text, "%s%s", rows[i].before, rows[i].text);
        const enum status st =
            option_file_parse(&model_file, text, (size_t)n, "model.yaml", &file, &errors);
        CHECK(rows[i].code, st == STATUS_E_PARSE && !file);
        for (size_t k = 0; k < errors.count; k++) {
            reported = reported || strcmp(fault_name(errors.items[k].fault), rows[i].code) == 0;
        }
        CHECK(rows[i].code, reported);
        if (!reported) {
            err_list_print(&errors, stdout);
        }
    }
}

/* All faults at once, each with its place. */
static void test_places(void)
{
    static const char text[] = "model: m\n"
                               "velocities: {v: m/s, w: rad/s}\n"
                               "efforts: {F: N, M: N m}\n"
                               "parameters: {a: {sign: up}, b: {}}\n"
                               "equations:\n"
                               "- a*v' + = F\n"
                               "- b*w' + x = M\n";
    struct model_file *file = NULL;
    struct err_list errors = {0};
    CHECK_INT(
        "faults",
        option_file_parse(&model_file, text, sizeof text - 1, "model.yaml", &file, &errors),
        STATUS_E_PARSE);
    CHECK_INT("faults", errors.count, 3);
    CHECK_INT("sign", errors.items[0].line, 4);
    CHECK_INT("sign", errors.items[0].column, 24);
    CHECK_INT("first", errors.items[1].line, 6);
    CHECK_INT("second", errors.items[2].line, 7);
    CHECK_INT("second", errors.items[2].column, 3);
}

/* One mistake is one fault, and it names its key. */
static void test_keys(void)
{
    static const struct {
        const char *text, *begin;
    } rows[] = {
        {"model: m\nvelocities: {w: {name: a b}}\nefforts: {U: V}\nparameters: {J: {}}\n"
         "equations: [\"J*w' = U\"]\n",
         "velocities.w.name: "},
        {"model: m\nvelocities: {w: rad/s}\nefforts: {U: V}\nequations: [\"J*w' = U\"]\n"
         "parameters: {J: a unit that is longer than any other}\n",
         "parameters.J: "},
        {"model: m\nvelocities: {w: rad/s}\nefforts: {U: V}\nparameters: {J: {}}\n"
         "equations: [\"J*w' = U\"]\n"
         "trial: {hold_s: x, parameters: {J: 1}, efforts: {U: [0, 1]}, noise_sd: {w: 1}}\n",
         "trial.hold_s: "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *begin = rows[i].begin;
        struct model_file *file = NULL;
        struct err_list errors = {0};
        CHECK_INT(begin,
                  option_file_parse(&model_file, rows[i].text, strlen(rows[i].text), "m.yaml",
                                    &file, &errors),
                  STATUS_E_PARSE);
        CHECK_INT(begin, errors.count, 1);
        CHECK(begin, strncmp(errors.items[0].text, begin, strlen(begin)) == 0);
    }
}

/* ---- what built-in models do not have ---- */

/* m (v' + l cos(q) w') - ..., a cart with a pendulum; rates go together. */
static const char cart[] =
    "model: cart\n"
    "velocities: {v: m/s, w: rad/s}\n"
    "efforts: {F: N, M: N m}\n"
    "pose: {x: m, q: rad}\n"
    "parameters: {m: {sign: positive}, h: {}, j: {sign: positive}, c: {}, d: {}, G: {}}\n"
    "equations:\n"
    "- m*v' + h*(cos(q)*w' - sin(q)*w^2) + c*v = F\n"
    "- h*cos(q)*v' + j*w' + d*w + G*sin(q) = M\n";

static void test_coupled(void)
{
    struct model_file *file = NULL;
    struct err_list errors = {0};
    struct random_source random = random_stream(5, 0);
    CU_ASSERT_EQUAL_FATAL(
        option_file_parse(&model_file, cart, sizeof cart - 1, "cart", &file, &errors),
        STATUS_OK);
    const struct model *model = file->row.model;
    CHECK("pose", model->needs_pose && !model->rows_many);
    CHECK("inertia", model->varying_inertia);
    for (int k = 0; k < 200; k++) {
        const struct point p = draw_point(&random);
        const double theta[] = {2.0, 0.3, 1.0, 0.4, 0.2, 3.0};
        const double c = cos(p.pose[1]);
        const double s = sin(p.pose[1]);
        double nu_dot[MODEL_AXES_MAX];
        double tau[MODEL_AXES_MAX];
        double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
        model->forward(model, theta, p.pose, p.nu, p.tau, nu_dot);
        const double b[] = {p.tau[0] + 0.3 * s * p.nu[1] * p.nu[1] - 0.4 * p.nu[0],
                            p.tau[1] - 0.2 * p.nu[1] - 3.0 * s};
        const double det = 2.0 * 1.0 - 0.09 * c * c;
        CHECK_NEAR("v'", nu_dot[0], (b[0] - 0.3 * c * b[1]) / det, 1e-12, 1e-13);
        CHECK_NEAR("w'", nu_dot[1], (2.0 * b[1] - 0.3 * c * b[0]) / det, 1e-12, 1e-13);
        model->inverse(model, theta, p.pose, p.nu, nu_dot, tau);
        CHECK_NEAR("F", tau[0], p.tau[0], 1e-12, 1e-12);
        CHECK_NEAR("M", tau[1], p.tau[1], 1e-12, 1e-12);
        model->slope(model, theta, p.pose, p.nu, p.tau, slope);
        CHECK_NEAR("dv'/dv", slope[0], -0.4 / det, 1e-12, 1e-13);
        CHECK_NEAR("dw'/dw", slope[3], (-0.4 - 0.18 * c * s * p.nu[1]) / det, 1e-12, 1e-13);
    }
    model_file_free(file);
}

/* (a + b w^2) w' + c w = U: the slope needs the rate, and so the effort. */
static void test_by_speed(void)
{
    static const char text[] = "model: fan\nvelocities: {w: rad/s}\nefforts: {U: V}\n"
                               "parameters: {a: {}, b: {}, c: {}}\n"
                               "equations: [\"a*w' + b*w^2*w' + c*w + b = U\"]\n";
    struct model_file *file = NULL;
    struct err_list errors = {0};
    CU_ASSERT_EQUAL_FATAL(
        option_file_parse(&model_file, text, sizeof text - 1, "fan", &file, &errors),
        STATUS_OK);
    const struct model *model = file->row.model;
    const double theta[] = {0.5, 0.2, 1.5};
    CHECK("inertia", model->varying_inertia && !model->needs_pose);
    CHECK_INT("at rest too", model->pattern[1], MODEL_ENTRY | MODEL_ENTRY_STILL);
    CHECK_INT("in motion alone", model->pattern[0], MODEL_ENTRY);
    for (int k = 0; k < 20; k++) {
        const double w = 0.3 * k - 2.0;
        const double tau = 4.0;
        const double h = 1e-6;
        const double at[] = {w - h, w + h};
        double rate[2];
        double slope = 0.0;
        model->slope(model, theta, NULL, &w, &tau, &slope);
        model->forward(model, theta, NULL, &at[0], &tau, &rate[0]);
        model->forward(model, theta, NULL, &at[1], &tau, &rate[1]);
        CHECK_NEAR("slope", slope, (rate[1] - rate[0]) / (2.0 * h), 1e-7, 1e-7);
    }
    model_file_free(file);
}

/* The meaning of the file counts, not its layout. */
static void test_hash(void)
{
    static const char *const texts[] = {
        "model: m\nvelocities: {w: rad/s}\nefforts: {U: V}\nparameters: {J: {}}\n"
        "equations: [\"J*w' = U\"]\n",
        "# a remark\nmodel:   m\nvelocities:\n  w: rad/s\nefforts: {U: V}\n"
        "parameters: {J: {}}\nequations:\n- \"J*w' = U\"\n",
        "model: m\nvelocities: {w: rad/s}\nefforts: {U: V}\nparameters: {J: {}}\n"
        "equations: [\"J*w' + J*w = U\"]\n"};
    uint64_t hash[COUNT(texts)];
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct model_file *file = NULL;
        struct err_list errors = {0};
        CU_ASSERT_EQUAL_FATAL(
            option_file_parse(&model_file, texts[i], strlen(texts[i]), "m", &file, &errors),
            STATUS_OK);
        hash[i] = file->row.model->hash;
        model_file_free(file);
    }
    CHECK("same", hash[0] == hash[1] && hash[0] != 0);
    CHECK("other", hash[0] != hash[2]);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("model files", NULL, NULL);
    CU_add_test(suite, "built in", test_built_in);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "places", test_places);
    CU_add_test(suite, "keys", test_keys);
    CU_add_test(suite, "coupled", test_coupled);
    CU_add_test(suite, "by speed", test_by_speed);
    CU_add_test(suite, "hash", test_hash);
    return check_run();
}
