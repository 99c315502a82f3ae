/* The vessel model against numbers computed independently: velocities of the data sets
 * usv_*.csv, poses under steady forces, and its rows, inverse and slope against forward. */
#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "identification/model/models.h"
#include "identification/model/usv3.h"

enum { SUBSTEPS = 8 }; /* of the data sets */

static void check_set(const char *file, const char *vessel)
{
    char path[256];
    char line[512];
    const double *theta = usv3_vessel_find(vessel)->theta;
    double nu[3] = {0.0, 0.0, 0.0};
    double pose[3] = {0.0, 0.0, 0.0};
    double worst = 0.0;
    int rows = 0;
    (void)snprintf(path, sizeof path, "%s/tests/golden/%s", TANDEM_SOURCE_DIR, file);
    FILE *in = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    while (fgets(line, sizeof line, in)) {
        double x[10];
        char *at = line;
        if (line[0] == '#') {
            continue;
        }
        for (size_t i = 0; i < COUNT(x); i++) {
            x[i] = strtod(at, &at);
            at += *at == ',';
        }
        for (size_t i = 0; i < 3; i++) {
            worst = fmax(worst, fabs(nu[i] - x[7 + i]));
        }
        for (int k = 0; k < SUBSTEPS; k++) {
            model_step(&usv3_model, theta, nu, pose, x + 1, NULL, 0.1 / SUBSTEPS);
        }
        rows++;
    }
    (void)fclose(in);
    CHECK_INT(file, rows, 1500);
    CHECK_NEAR(file, worst, 0.0, 0.0, 1e-7);
    (void)printf("%s: largest difference %.2g\n", file, worst);
}

static void test_data_sets(void)
{
    check_set("usv_W.csv", "wamv");
    check_set("usv_IB.csv", "iacquabot");
    check_set("usv_IA.csv", "iacquabot");
}

/* Current and wind of the four trials of the paper's Table 8: N and degrees. */
static const double trials[4][4] = {{1.20, 10.0, 0.85, -5.0},
                                    {6.80, 110.0, 6.20, 70.0},
                                    {2.70, 80.0, 2.40, 40.0},
                                    {6.20, -70.0, 4.90, -120.0}};

static void sum_thrusts(int trial, double force_n[2])
{
    const double *t = trials[trial - 1];
    force_n[0] = t[0] * cos(t[1] * PI / 180.0) + t[2] * cos(t[3] * PI / 180.0);
    force_n[1] = t[0] * sin(t[1] * PI / 180.0) + t[2] * sin(t[3] * PI / 180.0);
}

static void test_resultants(void)
{
    static const double want[4][2] = {
        {2.033, 3.79}, {12.218, 90.96}, {4.794, 61.23}, {10.075, -91.87}};
    for (int i = 0; i < 4; i++) {
        double f[2];
        sum_thrusts(i + 1, f);
        CHECK_NEAR("force", hypot(f[0], f[1]), want[i][0], 0.0, 6e-4);
        CHECK_NEAR("direction", atan2(f[1], f[0]) * 180.0 / PI, want[i][1], 0.0, 6e-3);
    }
}

static void test_steady_forces(void)
{
    static const struct {
        const char *vessel;
        int trial, steps; /* of 10 ms */
        double nu[3], pose[3];
    } rows[] = {
        /* clang-format off */
        {"wamv", 1, 2000, {0.058350449036479, -0.046538228621454, -0.184193058855439}, {13.2031628705678, 4.34174193151025, -0.458759102076337}},
        {"wamv", 1, 6000, {-0.146725376725265, 0.0643770521091381, 0.151987736461946}, {35.1733759586171, -4.80204847649717, -0.567040737324806}},
        {"wamv", 2, 2000, {-0.0942948531660243, 0.190582926875184, -0.185491987045306}, {11.8588273392184, 8.61908168032611, -0.362034229609351}},
        {"wamv", 2, 6000, {-0.283505107299411, 0.27884013370266, 0.148944949855074}, {33.4153019947578, 11.945881258971, -0.313979925458106}},
        {"wamv", 3, 2000, {0.0217729344141318, 0.045822796084186, -0.184360964671892}, {13.0753755820213, 5.75404687509202, -0.432537144147372}},
        {"wamv", 3, 6000, {-0.185600794938038, 0.142310471202644, 0.151268628335375}, {35.7502014575663, 0.819213316761401, -0.479577096858337}},
        {"wamv", 4, 2000, {0.122052621571859, -0.265270236124845, -0.184271380988042}, {12.9358618664973, 0.951683728951314, -0.506599312599231}},
        {"wamv", 4, 6000, {-0.0166404780471763, -0.136814089014389, 0.152438631861141}, {31.4331830247737, -18.2481645318384, -0.784562085199566}},
        {"iacquabot", 1, 2000, {0.0442160404948797, -0.0246511098606463, -0.0922582700921409}, {13.8948643191612, 0.0620538677074729, -0.437079089553353}},
        {"iacquabot", 1, 6000, {-0.15501961752022, 0.0335944598723513, 0.075920215486412}, {38.5842317973356, -9.65328808410405, -0.518782193215674}},
        {"iacquabot", 2, 2000, {-0.115911452684261, 0.212839854533403, -0.0931448572936932}, {13.1576580209133, 4.99512237850513, -0.372732309794444}},
        {"iacquabot", 2, 6000, {-0.298380031833734, 0.25150432914338, 0.0744221558517731}, {37.939330127287, 7.58433764180336, -0.347889190770475}},
        {"iacquabot", 3, 2000, {0.00737500636608874, 0.0698800648666851, -0.092391791308712}, {13.9320702029111, 1.71606696242102, -0.415872906305199}},
        {"iacquabot", 3, 6000, {-0.190860414936272, 0.115745208714989, 0.0755759972957439}, {39.4956445078229, -3.58369904085864, -0.452625417045314}},
        {"iacquabot", 4, 2000, {0.110262736536085, -0.248620965033482, -0.0923161975173599}, {13.3102081182934, -3.77523413089012, -0.484070352095132}},
        {"iacquabot", 4, 6000, {-0.045133602687557, -0.187223501500095, 0.0761384968481122}, {34.0547689087722, -24.2094335492219, -0.691779411510726}},
        /* clang-format on */
    };
    const double h_s = 0.01;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double *theta = usv3_vessel_find(rows[i].vessel)->theta;
        double nu[3] = {0.1, -0.05, 0.02};
        double pose[3] = {1.0, 2.0, -0.5};
        double force_n[2];
        sum_thrusts(rows[i].trial, force_n);
        for (int k = 0; k < rows[i].steps; k++) {
            const double t = k * h_s;
            const double tau[3] = {40.0 + 60.0 * sin(0.3 * t), 5.0 * cos(0.9 * t),
                                   20.0 * sin(0.21 * t + 1.0)};
            model_step(&usv3_model, theta, nu, pose, tau, force_n, h_s);
        }
        for (size_t k = 0; k < 3; k++) {
            CHECK_NEAR(rows[i].vessel, nu[k], rows[i].nu[k], 0.0, 1e-10);
            CHECK_NEAR(rows[i].vessel, pose[k], rows[i].pose[k], 0.0, 1e-10);
        }
    }
}

/* The static check of the force of trial 2 across the hull, and what the thrusters reach. */
static void test_steady_speeds(void)
{
    static const struct {
        const char *row;
        const char *vessel;
        double left, right; /* normalised commands */
        double want_u_mps, want_r_radps;
    } rows[] = {
        {"WAM-V ahead", "wamv", 1.0, 1.0, 1.900, 0.0},
        {"WAM-V on the spot", "wamv", -1.0, 1.0, 0.0, 1.105},
        {"IAcquaBot ahead", "iacquabot", 1.0, 1.0, 1.683, 0.0},
        {"IAcquaBot on the spot", "iacquabot", -1.0, 1.0, 0.0, 0.213},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct usv3_vessel *vessel = usv3_vessel_find(rows[i].vessel);
        double thrust_n[USV3_THRUSTERS_MAX];
        double tau[3];
        double nu[3] = {0.0, 0.0, 0.0};
        double pose[3] = {0.0, 0.0, 0.0};
        for (size_t k = 0; k < vessel->thruster_count; k++) {
            thrust_n[k] = usv3_thrust_n(vessel, vessel->thrusters[k].y_m > 0.0 ? rows[i].left
                                                                               : rows[i].right);
        }
        struct allocation thrusters;
        usv3_actuators(vessel, &thrusters);
        (void)allocation_limit(&thrusters, thrust_n, tau);
        if (rows[i].left < 0.0) {
            tau[0] = 0.0; /* the surge left over by unequal limits is not asked for */
        }
        for (int k = 0; k < 20000; k++) {
            model_step(&usv3_model, vessel->theta, nu, pose, tau, NULL, 0.01);
        }
        CHECK_NEAR(rows[i].row, nu[0], rows[i].want_u_mps, 0.0, 6e-4);
        CHECK_NEAR(rows[i].row, nu[2], rows[i].want_r_radps, 0.0, 6e-4);
    }
    const double aside[3] = {0.0, 12.22, 0.0};
    double nu[3] = {0.0, 0.0, 0.0};
    double pose[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 20000; k++) {
        model_step(&usv3_model, usv3_vessel_find("wamv")->theta, nu, pose, aside, NULL, 0.01);
    }
    CHECK_NEAR("12.22 N aside", nu[1], 0.277, 0.0, 6e-4);
}

static double draw_between(double size)
{
    return size * (2.0 * rand() / RAND_MAX - 1.0);
}

/* phi theta = tau, forward undoes inverse, slope is what forward does. */
static void test_one_object(void)
{
    const double *theta = usv3_vessel_find("wamv")->theta;
    srand(check_seed(11));
    for (int n = 0; n < 1000; n++) {
        const double nu[3] = {draw_between(2.0), draw_between(1.0), draw_between(1.0)};
        const double nu_dot[3] = {draw_between(1.0), draw_between(1.0), draw_between(1.0)};
        double phi[3][USV3_PARAMETERS];
        double tau[3];
        double back[3];
        double slope[3][3];
        usv3_model.rows(&usv3_model, NULL, nu, nu_dot, phi[0]);
        usv3_model.inverse(&usv3_model, theta, NULL, nu, nu_dot, tau);
        usv3_model.forward(&usv3_model, theta, NULL, nu, tau, back);
        usv3_model.slope(&usv3_model, theta, NULL, nu, NULL, slope[0]);
        for (size_t i = 0; i < 3; i++) {
            double sum = 0.0;
            for (size_t k = 0; k < USV3_PARAMETERS; k++) {
                sum += phi[i][k] * theta[k];
            }
            CHECK_NEAR("rows", sum, tau[i], 0.0, 1e-11);
            CHECK_NEAR("forward", back[i], nu_dot[i], 0.0, 1e-12);
            for (size_t k = 0; k < 3; k++) {
                const double e = 1e-6;
                double up[3] = {nu[0], nu[1], nu[2]};
                double down[3] = {nu[0], nu[1], nu[2]};
                double up_dot[3];
                double down_dot[3];
                up[k] += e;
                down[k] -= e;
                usv3_model.forward(&usv3_model, theta, NULL, up, tau, up_dot);
                usv3_model.forward(&usv3_model, theta, NULL, down, tau, down_dot);
                CHECK_NEAR("slope", (up_dot[i] - down_dot[i]) / (2.0 * e), slope[i][k], 0.0,
                           1e-6);
            }
        }
    }
}

static void test_allocation(void)
{
    static const struct {
        const char *row;
        const char *vessel;
        double tau[3], thrust_n[4], achieved[3];
    } rows[] = {
        {"straight", "wamv", {100, 0, 0}, {50, 50}, {100, 0, 0}},
        {"turn to port", "wamv", {0, 0, 14}, {-10, 10}, {0, 0, 14}},
        {"sideways cannot be", "wamv", {0, 12, 0}, {0, 0}, {0, 0, 0}},
        {"cut", "wamv", {200, 0, 28}, {80, 90}, {170, 0, 7}},
        {"cut astern", "wamv", {-200, 0, 0}, {-85, -85}, {-170, 0, 0}},
        {"no number", "wamv", {(double)NAN, 0, 0}, {0, 0}, {0, 0, 0}},
        {"four share", "iacquabot", {40, 0, 0}, {10, 10, 10, 10}, {40, 0, 0}},
        {"four turn", "iacquabot", {0, 0, 13.4}, {-10, 10, -10, 10}, {0, 0, 13.4}},
        {"four are cut", "iacquabot", {400, 0, 0}, {36.4, 36.4, 36.4, 36.4}, {145.6, 0, 0}},
        {"most moment", "iacquabot", {16, 0, 99}, {-28.4, 36.4, -28.4, 36.4}, {16, 0, 43.416}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct usv3_vessel *vessel = usv3_vessel_find(rows[i].vessel);
        double thrust_n[USV3_THRUSTERS_MAX];
        double achieved[3];
        struct allocation thrusters;
        usv3_actuators(vessel, &thrusters);
        (void)allocation_share(&thrusters, rows[i].tau, thrust_n, achieved);
        for (size_t k = 0; k < vessel->thruster_count; k++) {
            CHECK_NEAR(rows[i].row, thrust_n[k], rows[i].thrust_n[k], 0.0, 1e-12);
        }
        for (size_t k = 0; k < 3; k++) {
            CHECK_NEAR(rows[i].row, achieved[k], rows[i].achieved[k], 0.0, 1e-12);
        }
    }
}

static void test_table(void)
{
    double theta[USV3_PARAMETERS];
    CHECK("found", model_find("usv3") == &usv3_model);
    CHECK("not found", model_find("usv4") == NULL);
    CHECK_INT("by symbol", model_parameter_find(&usv3_model, "d3"), 2);
    CHECK_INT("by name", model_parameter_find(&usv3_model, "yaw_linear_kgm2ps"), 7);
    CHECK_INT("unknown", model_parameter_find(&usv3_model, "mass"), -1);
    memcpy(theta, usv3_vessels[0].theta, sizeof theta);
    CHECK_INT("physical", model_unphysical(&usv3_model, theta), -1);
    theta[8] = 0.0;
    CHECK_INT("no damping is allowed", model_unphysical(&usv3_model, theta), -1);
    theta[8] = -1.0;
    CHECK_INT("negative damping", model_unphysical(&usv3_model, theta), 8);
    theta[2] = 0.0;
    CHECK_INT("no inertia", model_unphysical(&usv3_model, theta), 2);
    theta[1] = (double)NAN;
    CHECK_INT("not a number", model_unphysical(&usv3_model, theta), 1);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("usv3", NULL, NULL);
    CU_add_test(suite, "data sets", test_data_sets);
    CU_add_test(suite, "resultants", test_resultants);
    CU_add_test(suite, "steady forces", test_steady_forces);
    CU_add_test(suite, "steady speeds", test_steady_speeds);
    CU_add_test(suite, "one object", test_one_object);
    CU_add_test(suite, "allocation", test_allocation);
    CU_add_test(suite, "table", test_table);
    return check_run();
}
