#include "tests/support/check.h"

#include "service/sim/experiment/experiment_file.h"

#define ROBOTS                                                                                 \
    "reference: {vessel: iacquabot}\nplant: {vessel: wamv}\ninput: {file: a.csv, columns: "    \
    "left_right}\n"

#define SPREAD                                                                                 \
    "reference: {vessel: iacquabot}\nplant: {vessel: wamv, spread: intervals}\n"               \
    "input: {file: a.csv, columns: left_right}\n"
#define OWN                                                                                    \
    "reference: {vessel: wamv}\ninput: {file: a.csv}\nplant:\n  parameters: {d1: 1, d2: 2, "   \
    "d3: 3, d4: 4, d5: 5, d6: 6, d7: 7, d8: 8, d9: 9}\n"

static enum status parse_text(const char *text, struct experiment_file *file,
                              struct err_list *errors)
{
    *errors = (struct err_list){0};
    return option_file_parse(&experiment_file, text, strlen(text), "folder/x.yaml", file,
                             errors);
}

static void test_values(void)
{
    static struct experiment_file file;
    struct err_list errors;
    CHECK_INT("reads",
              parse_text("name: mine\n" SPREAD "runs: 7\nseed: 5\ndraws: /abs/d.csv\n"
                         "control: {period_s: 0.02, bandwidth_radps: 3, rejection: integral,\n"
                         "          actuators: thrusters}\n"
                         "force: {wind_n: 2, wind_direction_rad: 1.5707963267948966}\n"
                         "telemetry: {noise_sd: [0.1, 0.2, 0.3], latency_s: 0.2}\n"
                         "source: shadow\npaper: {rmse: {psi: 0.5}}\n",
                         &file, &errors),
              STATUS_OK);
    CHECK_TEXT("name", file.name, "mine");
    CHECK_TEXT("next to the file", file.input_path, "folder/a.csv");
    CHECK_TEXT("or at its path", file.draws_path, "/abs/d.csv");
    CHECK_INT("runs", file.runs, 7);
    CHECK_NEAR("period", file.trial.follower.period_s, 0.02, 0.0, 0.0);
    CHECK_NEAR("bandwidth of every axis", file.trial.follower.gains.bandwidth_radps[2], 3.0,
               0.0, 0.0);
    CHECK("two thrusters", file.trial.follower.allocation.underactuated);
    CHECK_NEAR("wind along y", file.trial.inertial_n[1], 2.0, 0.0, 1e-12);
    CHECK_NEAR("noise", file.trial.noise_sd[1], 0.2, 0.0, 0.0);
    CHECK_NEAR("published", file.paper.rmse[5], 0.5, 0.0, 0.0);
    CHECK("not published", isnan(file.paper.rmse[0]) && isnan(file.paper.mae[5]));
    CHECK("knows the plant", memcmp(file.trial.follower.theta, file.plant.theta,
                                    9 * sizeof file.plant.theta[0]) == 0);
}

static void test_own_parameters(void)
{
    static struct experiment_file file;
    struct err_list errors;
    CHECK_INT(
        "a model's own",
        parse_text(
            "reference: {vessel: wamv}\ninput: {file: a.csv}\n"
            "plant:\n  parameters: {d1: 1, d2: 2, d3: 3, d4: 4, d5: 5, d6: 6, d7: 7, d8: 8,"
            " yaw_quadratic_kgm2: 9}\n  standard_errors: {d1: 0.5}\n  spread: intervals\n",
            &file, &errors),
        STATUS_OK);
    CHECK_NEAR("by symbol", file.plant.theta[1], 2.0, 0.0, 0.0);
    CHECK_NEAR("by name", file.plant.theta[8], 9.0, 0.0, 0.0);
    CHECK("spread", file.plant.spread && !file.reference.spread);
    CHECK_NEAR("with its error", file.plant.standard_error[0], 0.5, 0.0, 0.0);
}

static void test_faults(void)
{
    static const struct {
        const char *text, *code;
        unsigned line;
    } cases[] = {
        {"", "empty_file", 1},
        {"- 1\n", "object_expected", 1},
        {ROBOTS "rusn: 3\n", "unknown_key", 4},
        {ROBOTS "runs: 0\n", "out_of_range", 4},
        {ROBOTS "model: usv9\n", "unknown_name", 4},
        {"plant: {vessel: wamv}\ninput: {file: a.csv}\n", "conflicting_keys", 0},
        {"reference: {vessel: titanic}\nplant: {vessel: wamv}\ninput: {file: a.csv}\n",
         "unknown_name", 1},
        {"reference: {vessel: wamv}\nplant: {parameters: {d1: 1}}\ninput: {file: a.csv}\n",
         "missing_key", 2},
        {"reference: {vessel: wamv}\nplant: {parameters: {dx: 1}}\ninput: {file: a.csv}\n",
         "unknown_name", 2},
        {"reference: {vessel: wamv}\nplant: {vessel: wamv}\n", "missing_key", 0},
        {ROBOTS "telemetry: {noise_sd: [1, 2]}\n", "list_expected", 4},
        {ROBOTS "telemetry: {noise_sd: [1, 2, x]}\n", "not_a_number", 4},
        {ROBOTS "paper: {rmse: {w: 1}}\n", "unknown_key", 4},
        {ROBOTS "paper: {rms: {u: 1}}\n", "unknown_key", 4},
        {"reference: {vessel: wamv}\nplant: {vessel: wamv}\ninput: {file: a.csv}\ndrive: "
         "commands\n",
         "needs_key", 4},
        {"reference: {vessel: wamv, standard_errors: {d1: 1}}\nplant: {vessel: wamv}\n"
         "input: {file: a.csv}\n",
         "not_applicable", 1},
        {OWN "  standard_errors: {d1: 0.5}\n", "not_applicable", 5},
        {OWN "  spread: intervals\n", "not_applicable", 5},
        {ROBOTS "draws: d.csv\n", "not_applicable", 4},
        {ROBOTS "telemetry: {latency_s: 0.1}\n", "not_applicable", 4},
        {ROBOTS "telemetry: {noise_sd: [1, 2, 3]}\n", "not_applicable", 4},
        {ROBOTS "drive: efforts\ncontrol: {bandwidth_radps: 3}\n", "not_applicable", 5},
        {ROBOTS "force: {wind_direction_rad: 1}\n", "not_applicable", 4},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        static struct experiment_file file;
        struct err_list errors;
        CHECK_INT(cases[i].code, parse_text(cases[i].text, &file, &errors), STATUS_E_PARSE);
        bool published = false;
        for (size_t k = 0; k < errors.count; k++) {
            published =
                published || (strcmp(fault_name(errors.items[k].fault), cases[i].code) == 0 &&
                              (cases[i].line == 0 || errors.items[k].line == cases[i].line));
        }
        CHECK(cases[i].code, published);
    }
}

static void test_trial_check(void)
{
    static struct experiment_file file;
    struct err_list errors;
    struct err err = {0};
    CHECK_INT("reads", parse_text(ROBOTS, &file, &errors), STATUS_OK);
    CHECK_INT("can be run", trial_check(&file.trial, &err), STATUS_OK);
    struct trial_params p = file.trial;
    p.follower.period_s = 0.0105;
    CHECK_INT("off the grid", trial_check(&p, &err), STATUS_E_RANGE);
    p = file.trial;
    p.record_s = 0.015;
    CHECK_INT("records between steps", trial_check(&p, NULL), STATUS_E_RANGE);
    p = file.trial;
    p.source = TRIAL_SHADOW;
    p.latency_s = 1e6;
    CHECK_INT("more in flight than there is room for", trial_check(&p, NULL), STATUS_E_RANGE);
    p = file.trial;
    p.plant[0] = -1.0;
    CHECK_INT("no such robot", trial_check(&p, NULL), STATUS_E_RANGE);
}

/* An arm's telemetry has at most one sample a microsecond. */
static void test_arm_rates(void)
{
    static const struct {
        const char *rates;
        enum status st;
        size_t faults;
    } rows[] = {{"[0.01, 1e6]", STATUS_OK, 0},
                {"[1e9, 125]", STATUS_E_PARSE, 1},
                {"[125, 1000001]", STATUS_E_PARSE, 1},
                {"[0, 125]", STATUS_E_PARSE, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct arm_file file;
        struct err_list errors = {0};
        char text[128];
        const int bytes = snprintf(text, sizeof text,
                                   "kind: arm\nrecording: r.csv\n"
                                   "telemetry: {rate_hz: %s, late_s: [0, 0]}\n",
                                   rows[i].rates);
        CHECK_INT(rows[i].rates,
                  option_file_parse(&arm_file, text, (size_t)bytes, "x.yaml", &file, &errors),
                  rows[i].st);
        CHECK_INT(rows[i].rates, errors.count, rows[i].faults);
        for (size_t k = 0; k < errors.count && k < rows[i].faults; k++) {
            CHECK_TEXT(rows[i].rates, fault_name(errors.items[k].fault), "out_of_range");
            CHECK_INT(rows[i].rates, errors.items[k].line, 3);
        }
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("experiment file", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "own parameters", test_own_parameters);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "what can be run", test_trial_check);
    CU_add_test(suite, "rates of an arm's telemetry", test_arm_rates);
    return check_run();
}
