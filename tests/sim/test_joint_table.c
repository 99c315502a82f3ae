/* Table 2 of seed 003: the position controllers of a joint at five lags against the executable
 * reference, and what sound ones reach. */
#include "tests/support/check.h"

#include "config/options/option_file.h"
#include "service/sim/experiment/joint_study.h"
#include "service/tool/document_page.h"
#include "service/tool/json_file.h"

static bool load_joint(const char *name, struct joint_file *file)
{
    char path[512];
    struct err_list errors = {0};
    (void)snprintf(path, sizeof path, "%s/config/experiments/%s.yaml", TANDEM_SOURCE_DIR, name);
    const bool well = option_file_load(&joint_file, path, file, &errors) == STATUS_OK;
    err_list_print(&errors, stdout);
    CHECK(name, well);
    return well;
}

static bool run_study(const struct joint_file *file, struct joint_study *study)
{
    struct err err = {0};
    const enum status status = joint_study_run(file, study, &err);
    CHECK_TEXT(file->name, err.text, "");
    return status == STATUS_OK;
}

struct row {
    double lag_s;
    double p[4], fsm[4]; /* ISE, IAE, ITAE, settling time */
    double quickest[3];  /* in steps of 0.1 ms */
};

/* Independent values, to the digits that the reference prints. */
static const struct row rows[] = {
    {0.10,
     {593.394, 38.208, 48.858, 4.271},
     {581.301, 34.670, 39.611, 2.580},
     {580.948, 33.703, 29.288}},
    {0.00,
     {537.819, 36.865, 50.292, 4.495},
     {521.382, 33.191, 46.271, 2.450},
     {520.865, 31.2513, 26.0417}},
    {0.05,
     {566.075, 37.549, 49.577, 4.389},
     {551.789, 32.834, 31.339, 2.500},
     {551.500, 32.489, 27.636}},
    {0.20,
     {645.472, 39.441, 47.271, 3.980},
     {636.972, 36.393, 34.556, 2.798},
     {636.533, 36.059, 32.746}},
    {0.30,
     {694.559, 40.537, 44.982, 3.640},
     {688.996, 39.298, 42.954, 3.114},
     {688.121, 38.319, 36.366}},
};

static void check_row(const struct joint_trial_result *r, const double want[4])
{
    CHECK_NEAR("ISE", r->integral.ise, want[0], 0.0, 6e-4);
    CHECK_NEAR("IAE", r->integral.iae, want[1], 0.0, 6e-4);
    CHECK_NEAR("ITAE", r->integral.itae, want[2], 0.0, 6e-4);
    CHECK_NEAR("settles", r->settle_s, want[3], 0.0, 6e-4);
}

static void test_reference(void)
{
    struct joint_file file;
    struct joint_study study;
    if (!load_joint("joint", &file) || !run_study(&file, &study)) {
        return;
    }
    CHECK_INT("page", document_page_print(stdout, joint_output.members, &study), STATUS_OK);
    CHECK_INT("lags", file.lag_count, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows) && i < file.lag_count; i++) {
        struct joint_trial_params fine;
        struct joint_trial_result r;
        CHECK_NEAR("lag", file.lag_s[i], rows[i].lag_s, 0.0, 0.0);
        check_row(&study.result[i][POSITION_P], rows[i].p);
        check_row(&study.result[i][POSITION_FSM], rows[i].fsm);
        joint_file_trial(&file, i, POSITION_TIME_OPTIMAL, &fine);
        fine.control.period_s = 1e-4;
        joint_trial_run(&fine, NULL, NULL, &r);
        CHECK_NEAR("ISE of the quickest", r.integral.ise, rows[i].quickest[0], 0.0, 0.02);
        CHECK_NEAR("IAE", r.integral.iae, rows[i].quickest[1], 0.0, 2e-3);
        CHECK_NEAR("ITAE", r.integral.itae, rows[i].quickest[2], 0.0, 2e-3);
        CHECK("lands", fabs(r.final_error) < 1e-6 && r.overshoot < 1e-4);
    }
    joint_study_free(&study);
}

static void test_limits(void)
{
    struct joint_file file;
    struct joint_study study;
    if (!load_joint("joint", &file) || !run_study(&file, &study)) {
        return;
    }
    const struct joint_trial_result *fsm = &study.result[0][POSITION_FSM];
    const struct joint_trial_result *profile = &study.result[0][POSITION_PROFILE];
    CHECK("ISE of the machine", fsm->integral.ise <= 581.4);
    CHECK("IAE", fsm->integral.iae <= 34.7);
    CHECK("ITAE", fsm->integral.itae <= 40.0);
    CHECK("no overshoot", fsm->overshoot <= 1e-9);
    CHECK("ISE of the profile", profile->integral.ise <= 1.01 * 580.9);
    CHECK("IAE", profile->integral.iae <= 1.03 * 33.70);
    CHECK("no overshoot", profile->overshoot <= 1e-9);
    for (size_t i = 0; i < file.lag_count; i++) {
        const struct joint_trial_result *r = study.result[i];
        CHECK("lands", fabs(r[POSITION_PROFILE].final_error) < 0.005);
        for (size_t k = 0; k < POSITION_KIND_COUNT; k++) {
            CHECK("none is quicker than the quickest",
                  r[k].integral.iae >= r[POSITION_TIME_OPTIMAL].integral.iae * (1.0 - 1e-3));
            CHECK("speed", r[k].speed_max <= 10.0 + 1e-9);
        }
    }
    joint_study_free(&study);
}

/* Published sums against a joint that was searched for: as near as the reference comes. */
static void test_published(void)
{
    struct joint_file file;
    struct joint_study study;
    if (!load_joint("joint_paper", &file) || !run_study(&file, &study)) {
        return;
    }
    CHECK_INT("page", document_page_print(stdout, joint_output.members, &study), STATUS_OK);
    for (int k = POSITION_P; k <= POSITION_FSM; k++) {
        const struct joint_indices *sum = &study.result[0][k].sum;
        CHECK_NEAR("ISE", sum->ise, file.paper[k].ise, 0.018, 0.0);
        CHECK_NEAR("IAE", sum->iae, file.paper[k].iae, 0.006, 0.0);
        CHECK_NEAR("ITAE", sum->itae, file.paper[k].itae, 0.006, 0.0);
    }
    joint_study_free(&study);
}

static void test_same_bytes(void)
{
    static char text[2][32768];
    struct joint_file file;
    if (!load_joint("joint", &file)) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        struct joint_study study;
        FILE *out = fmemopen(text[i], sizeof text[i], "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        if (run_study(&file, &study)) {
            json_file_print(out, joint_output.members, &study);
            joint_study_free(&study);
        }
        (void)fclose(out);
    }
    CHECK("there is a document", text[0][0] == '{');
    CHECK("twice the same", strcmp(text[0], text[1]) == 0);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("joint controllers", NULL, NULL);
    CU_add_test(suite, "reference", test_reference);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "published", test_published);
    CU_add_test(suite, "same bytes", test_same_bytes);
    return check_run();
}
