/* needs: a minute, full */
/* How five real robots (iRobot Create under a camera system) follow their velocity commands:
 * fitted on the first half of an hour's quarter, predicted over the second. Needs the data in
 * $TANDEM_DATA, else next to the source tree. The data are not ours to ship. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_verdict.h"
#include "identification/model/models.h"
#include "tests/support/motion_file.h"

/* One step ahead this robot looks slowest against how it moves. */
enum { CHOSEN = 3 };
enum { ROBOTS = 5, T = 0, V_CMD, W_CMD, V, W, COLUMNS };

static const char *const columns[COLUMNS] = {"t_s", "v_cmd_mps", "w_cmd_radps", "v_mps",
                                             "w_radps"};
static struct motion_file robots[ROBOTS];

/* First order on one channel, found elsewhere by simulation with delays of 0, 0.05 … s. */
struct reference {
    double delay_s, time_s, gain, r2;
};

static const struct reference turning[ROBOTS] = {{0.00, 0.233, 0.963, 0.930},
                                                 {0.00, 0.259, 0.948, 0.926},
                                                 {0.00, 0.225, 0.937, 0.929},
                                                 {0.05, 0.224, 0.945, 0.909},
                                                 {0.00, 0.296, 0.986, 0.937}};
static const struct reference driving[ROBOTS] = {{0.10, 0.201, 0.951, 0.365},
                                                 {0.00, 0.536, 0.911, 0.449},
                                                 {0.05, 0.339, 0.950, 0.544},
                                                 {0.05, 0.235, 0.925, 0.777},
                                                 {0.00, 0.416, 0.920, 0.825}};

/* Which columns are efforts and which velocities. */
struct channels {
    const struct model *model;
    size_t effort[2], velocity[2];
};

static const struct channels turn = {&first_order_model, {W_CMD}, {W}};
static const struct channels ahead = {&first_order_model, {V_CMD}, {V}};
static const struct channels both = {&diffdrive_model, {V_CMD, W_CMD}, {V, W}};

struct outcome {
    struct dynamics_fit fit;
    struct dynamics_check held_out;
    double delay_s; /* 0 when it was not fitted */
};

static void make_half(const struct motion_file *file, const struct channels *channels, int half,
                      struct data_table *table, struct data_summary *summary)
{
    const size_t from = half == 0 ? 0 : file->n / 2;
    const size_t n = half == 0 ? file->n / 2 : file->n - file->n / 2;
    struct data_raw raw = {.axes = channels->model->axis_count,
                           .n = n,
                           .t_s = file->column[T] + from,
                           .part_count = 1,
                           .part_start = {0, n}};
    for (size_t a = 0; a < raw.axes; a++) {
        raw.nu[a] = file->column[channels->velocity[a]] + from;
        raw.tau[a] = file->column[channels->effort[a]] + from;
    }
    CU_ASSERT_EQUAL_FATAL(data_table_make(&raw, table, summary, NULL), STATUS_OK);
}

/* Fits as the command does, which chooses output_error automatically and takes longer. */
static void fit_half(const struct motion_file *file, const struct channels *channels,
                     const struct dynamics_options *options, bool choose, struct outcome *out)
{
    static const struct model_limits limits;
    struct data_table first;
    struct data_table second;
    struct data_summary summary;
    struct data_summary other;
    struct dynamics_check own;
    const struct model *model = channels->model;
    make_half(file, channels, 0, &first, &summary);
    make_half(file, channels, 1, &second, &other);
    const enum status st =
        choose
            ? dynamics_estimate_auto(model, &first.set, options, &out->fit)
            : dynamics_estimate(model, &first.set, DYNAMICS_OUTPUT_ERROR, options, &out->fit);
    CU_ASSERT_EQUAL_FATAL(st, STATUS_OK);
    CHECK_INT("method", out->fit.method, DYNAMICS_OUTPUT_ERROR);
    CU_ASSERT_EQUAL_FATAL(dynamics_check_run(model, &out->fit, &first.set, &own), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(dynamics_check_run(model, &out->fit, &second.set, &out->held_out),
                          STATUS_OK);
    dynamics_check_judge(&out->fit, model, &summary, &limits, &own, &out->held_out);
    out->delay_s = isfinite(out->fit.delay_s) ? out->fit.delay_s : 0.0;
    data_table_free(&first);
    data_table_free(&second);
}

static double compute_derived(const struct outcome *outcome, const struct model *model,
                              size_t i)
{
    struct dynamics_derived is;
    dynamics_derive(&outcome->fit, model, i, &is);
    return is.value;
}

static void print_head(const char *what)
{
    (void)printf("\n%-9s reached: delay  lag+delay   gain  held out R2 verdict   | reference: "
                 "delay lag+delay gain R2\n",
                 what);
}

static void print_row(size_t robot, const struct outcome *o, double time_s, double gain,
                      const struct reference *want)
{
    (void)printf("robot %zu         %6.3f     %6.3f %6.3f        %5.3f   %-9s |            "
                 "%4.2f     %5.3f %5.3f %5.3f\n",
                 robot + 1, o->delay_s, time_s + o->delay_s, gain, o->held_out.axis[0].run.r2,
                 estimate_verdict_name(o->fit.estimate.verdict), want->delay_s,
                 want->time_s + want->delay_s, want->gain, want->r2);
}

/* Lag and delay look alike here: steps determine only their sum. */
static void test_turning(void)
{
    struct dynamics_options options = dynamics_options_defaults();
    for (int delayed = 0; delayed < 2; delayed++) {
        const char *row = delayed ? "with delay" : "no delay";
        options.delay_max_s = delayed ? (double)NAN : 0.0;
        print_head(row);
        for (size_t r = 0; r < ROBOTS; r++) {
            struct outcome o;
            fit_half(&robots[r], &turn, &options, delayed && r == CHOSEN, &o);
            const double gain = compute_derived(&o, turn.model, 0);
            const double time_s = compute_derived(&o, turn.model, 1);
            print_row(r, &o, time_s, gain, &turning[r]);
            CHECK(row, time_s + o.delay_s >= 0.22 && time_s + o.delay_s <= 0.30);
            CHECK(row, gain >= (delayed ? 0.92 : 0.935) && gain <= 0.99);
            CHECK(row, o.held_out.axis[0].run.r2 >= 0.90);
            CHECK(row, o.fit.estimate.identifiable[0] && o.fit.estimate.identifiable[1]);
            /* Not worse than the reference, but for its rounding. */
            CHECK(row, o.held_out.axis[0].run.r2 >= turning[r].r2 - 0.002);
        }
    }
}

static bool has_reason(const struct dynamics_fit *fit, const char *text)
{
    for (size_t i = 0; i < fit->estimate.reason_count; i++) {
        if (strstr(fit->estimate.reasons[i], text)) {
            return true;
        }
    }
    return false;
}

/* The forward speed hardly changes in these recordings. */
static void test_driving(void)
{
    const struct dynamics_options options = dynamics_options_defaults();
    print_head("driving");
    for (size_t r = 0; r < ROBOTS; r++) {
        struct outcome o;
        fit_half(&robots[r], &ahead, &options, false, &o);
        const double gain = compute_derived(&o, ahead.model, 0);
        const double time_s = compute_derived(&o, ahead.model, 1);
        const double r2 = o.held_out.axis[0].run.r2;
        print_row(r, &o, time_s, gain, &driving[r]);
        /* One step ahead 0.7 to 1.5 s fit best: that is noise in what is regressed on. */
        /* Robot 2 moves before its commands by a row and a half: the bound of the delay. */
        CHECK("driving", time_s >= 0.15 && time_s <= 0.8);
        CHECK("driving", time_s + o.delay_s >= 0.2 && time_s + o.delay_s <= 0.7);
        CHECK_NEAR("driving", gain, driving[r].gain, 0.02, 0.0);
        CHECK("driving", r2 >= driving[r].r2 - 0.02);
        CHECK("driving", o.fit.estimate.verdict != ESTIMATE_PASS);
        if (r2 < 0.7) {
            CHECK("driving", has_reason(&o.fit, "of the variance of velocity"));
            CHECK("driving", has_reason(&o.fit, "velocity hardly changes"));
            CHECK("driving", o.fit.estimate.advice_count > 0);
        }
    }
}

static void test_together(void)
{
    const struct dynamics_options options = dynamics_options_defaults();
    (void)printf(
        "\ndiffdrive  delay  tau_u  tau_w   K_u   K_w      t3      t5 (error)  held out "
        "R2 of v, w (each alone)\n");
    for (size_t r = 0; r < ROBOTS; r += 2) { /* three of five, for time */
        struct outcome o;
        fit_half(&robots[r], &both, &options, false, &o);
        const double *theta = o.fit.estimate.value;
        const struct dynamics_axis_check *axis = o.held_out.axis;
        (void)printf(
            "robot %zu    %5.3f  %5.3f  %5.3f %5.3f %5.3f %7.3f %7.3f (%5.3f)  %5.3f %5.3f "
            "(%5.3f %5.3f) by %s\n",
            r + 1, o.delay_s, theta[0] / theta[3], theta[1] / theta[5], 1.0 / theta[3],
            1.0 / theta[5], theta[2], theta[4], sqrt(o.fit.estimate.covariance[4][4]),
            axis[0].run.r2, axis[1].run.r2, driving[r].r2, turning[r].r2,
            dynamics_method_name(o.fit.method));
        CHECK("diffdrive", o.held_out.simulated);
        CHECK("diffdrive", axis[1].run.r2 >= 0.90);
        /* Turns slow these robots, which one channel alone cannot know. */
        CHECK("diffdrive", axis[0].run.r2 >= driving[r].r2 - 0.02);
        CHECK("diffdrive", o.fit.estimate.verdict != ESTIMATE_FAIL);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    for (size_t r = 0; r < ROBOTS; r++) {
        char name[64];
        (void)snprintf(name, sizeof name, "mrclam_d6/robot%zu_traj_20hz.csv", r + 1);
        if (!motion_file_add(&robots[r], name, columns, COLUMNS)) {
            return EXIT_SUCCESS;
        }
    }
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("mrclam velocity", NULL, NULL);
    CU_add_test(suite, "turning", test_turning);
    CU_add_test(suite, "driving", test_driving);
    CU_add_test(suite, "together", test_together);
    return check_run();
}
