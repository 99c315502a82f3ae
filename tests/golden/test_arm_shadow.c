/* How well a virtual UR5 shows a real one with delayed telemetry, on a recording of the real
 * one if the data are present: in $TANDEM_DATA, else next to the source tree; they are not ours
 * to ship. Prints results against reference values, which another program made of the same
 * recording.
 */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "config/options/option_file.h"
#include "service/sim/experiment/arm_study.h"

/* The tools' distance, mm, of the lines of config/experiments/arm.yaml; the last column knows
 * the acceleration of the set points, from the recording. The reference takes samples at 10.4
 * Hz for those at 10 Hz, and looks at every eighth row. */
static const struct {
    const char *name;
    double hold, speed, reported;
} reference[] = {{"125 Hz, 100 ms", 44.6, 3.6, 0.76},
                 {"125 Hz, 20 ms", 10.3, 0.27, 0.13},
                 {"25 Hz, 100 ms", 51.7, 4.9, 1.2},
                 {"10 Hz, 100 ms", 65.6, 8.0, 2.2},
                 {"10 Hz, 200 ms", 105.6, 19.1, 7.1}};
static const double commanded_mm[] = {0.75, 2.7, 10.4};

static struct arm_file file;
static struct arm_study study;

static double tool_mm(const struct arm_errors *e)
{
    return 1e3 * arm_errors_tool_rms_m(e);
}

static bool load_recording(void)
{
    const char *data = getenv("TANDEM_DATA");
    struct err_list errors = {0};
    struct err err = {.code = STATUS_OK};
    if (option_file_load(&arm_file, TANDEM_SOURCE_DIR "/config/experiments/arm.yaml", &file,
                         &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        exit(EXIT_FAILURE);
    }
    (void)snprintf(file.recording_path, sizeof file.recording_path, "%s/ur5_ntnu/m6_verify.csv",
                   data && *data ? data : TANDEM_SOURCE_DIR "/../shared/data");
    FILE *there = fopen(file.recording_path, "r");
    if (!there) {
        (void)printf("SKIPPED: no %s; set TANDEM_DATA to the recordings\n",
                     file.recording_path);
        return false;
    }
    (void)fclose(there);
    const enum status status = arm_study_run(&file, &study, &err);
    if (status != STATUS_OK) {
        (void)fprintf(stderr, "%s:%u: %s\n", err.where, err.line, err.text);
        exit(EXIT_FAILURE);
    }
    return true;
}

static void test_telemetry(void)
{
    CU_ASSERT_EQUAL_FATAL(file.case_count, COUNT(reference));
    for (size_t i = 0; i < COUNT(reference); i++) {
        const struct arm_errors *shown = study.shown[i];
        const char *name = reference[i].name;
        (void)printf(
            "  %-15s hold %.1f | %.1f  speed %.2f | %.2f  ramp %.2f  told %.2f | %.2f mm\n",
            name, tool_mm(&shown[ARM_SHOWN_HOLD]), reference[i].hold,
            tool_mm(&shown[ARM_SHOWN_SPEED]), reference[i].speed,
            tool_mm(&shown[ARM_SHOWN_RAMP]), tool_mm(&shown[ARM_SHOWN_COMMANDED]),
            reference[i].reported);
        CHECK_NEAR(name, tool_mm(&shown[ARM_SHOWN_HOLD]), reference[i].hold, 0.02, 0.0);
        CHECK_NEAR(name, tool_mm(&shown[ARM_SHOWN_SPEED]), reference[i].speed, 0.03, 0.0);
        CHECK_NEAR(name, tool_mm(&shown[ARM_SHOWN_COMMANDED]), reference[i].reported, 0.06,
                   0.0);
        CHECK(name, tool_mm(&shown[ARM_SHOWN_RAMP]) < tool_mm(&shown[ARM_SHOWN_SPEED]) &&
                        tool_mm(&shown[ARM_SHOWN_RAMP]) >=
                            tool_mm(&shown[ARM_SHOWN_COMMANDED]) - 0.001);
    }
    CHECK("at 125 Hz, 100 ms late, without further values",
          tool_mm(&study.shown[0][ARM_SHOWN_RAMP]) <= 1.5);
}

/* Six of the moves were cut short by the next command; the second part of one began from rest.
 */
static void test_commands(void)
{
    CU_ASSERT_EQUAL_FATAL(file.off_count, COUNT(commanded_mm));
    for (size_t i = 0; i < file.off_count; i++) {
        (void)printf("  begun %g ms off: %.2f | %.2f mm\n", 1e3 * file.off_s[i],
                     tool_mm(&study.commanded[i]), commanded_mm[i]);
        CHECK_NEAR("known command", tool_mm(&study.commanded[i]), commanded_mm[i], 0.03, 0.0);
    }
    (void)printf("  %llu moves, %llu not as commanded\n",
                 (unsigned long long)study.commands.moves,
                 (unsigned long long)study.commands.others);
    CHECK_INT("as commanded", study.commands.moves - study.commands.others, 13);
    CHECK_INT("cut short", study.commands.others, 6);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("an arm with late telemetry", NULL, NULL);
    if (load_recording()) {
        (void)printf("reached | reference\n");
        CU_add_test(suite, "by telemetry", test_telemetry);
        CU_add_test(suite, "by known commands", test_commands);
    }
    const int exit_status = check_run();
    arm_study_free(&study);
    return exit_status;
}
