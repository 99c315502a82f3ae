/* service/identify/identify_arm_friction.c - tandem identify --model arm_friction: inertia,
 * friction and gravity of an arm's joints. */
#include <stdio.h>

#include "identification/arm/arm_friction.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "service/identify/parameters_in_use.h"
#include "twin/report/arm_report.h"

enum { CHANNELS = 1 + 3 * ARM_JOINTS, NAMES = 6, ROWS_MAX = 4000000 };

/* Names that each channel may have without --columns. */
#define JOINT(letter, unit, n, rtde)                                                           \
    {                                                                                          \
        letter #n, letter #n "_" unit, letter #n "_actual_" unit, rtde, NULL                   \
    }
#define ANGLE(n, at)   JOINT("q", "rad", n, "actual_q_" #at)
#define SPEED(n, at)   JOINT("qd", "radps", n, "actual_qd_" #at)
#define CURRENT(n, at) JOINT("i", "a", n, "actual_current_" #at)
static const char *const names[CHANNELS][NAMES] = {
    {"t", "t_s", "timestamp", NULL},
    ANGLE(1, 0),
    ANGLE(2, 1),
    ANGLE(3, 2),
    ANGLE(4, 3),
    ANGLE(5, 4),
    ANGLE(6, 5),
    SPEED(1, 0),
    SPEED(2, 1),
    SPEED(3, 2),
    SPEED(4, 3),
    SPEED(5, 4),
    SPEED(6, 5),
    CURRENT(1, 0),
    CURRENT(2, 1),
    CURRENT(3, 2),
    CURRENT(4, 3),
    CURRENT(5, 4),
    CURRENT(6, 5),
};

struct result {
    struct identify_head head;
    struct arm_friction_set set, held_out_set;
    struct arm_friction_fit fit;
    struct arm_friction_summary summary, held_out_summary;
    struct reference_comparison compared; /* all joints together */
};

static enum status make_set(const struct table_rows *rows, bool held_out, void *what,
                            struct err *err)
{
    struct result *result = what;
    const struct table_channel *channel = rows->table.channel;
    struct arm_friction_raw raw = {.n = rows->table.count,
                                   .part_count = rows->part_count,
                                   .part_start = rows->part_start,
                                   .t_s = channel[0].values};
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        raw.q_rad[j] = channel[1 + j].values;
        raw.qd_radps[j] = channel[1 + ARM_JOINTS + j].values;
        raw.current_a[j] = channel[1 + 2 * ARM_JOINTS + j].values;
    }
    return arm_friction_set_make(&raw, held_out ? &result->held_out_set : &result->set,
                                 held_out ? &result->held_out_summary : &result->summary, err);
}

static const struct table_form form = {CHANNELS, names[0], NAMES, ROWS_MAX, make_set};

static struct parameters_in_use_form name_parameters(void *what)
{
    _Static_assert((int)PARAMETERS_IN_USE_PARTS_MAX >= (int)ARM_JOINTS,
                   "a part for each joint");
    struct arm_friction_fit *fit = &((struct result *)what)->fit;
    struct parameters_in_use_form known = {.model = "arm_friction"};
    arm_friction_fit_start(fit);
    ((struct result *)what)->head.judged = &fit->whole;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        known.part[j] = &fit->joint[j].estimate;
    }
    return known;
}

/* Names the joints that contradict the values in use. Tests of all joints together, or
 * corrected for the number of joints, decide whether any is named. */
static void judge_references(struct result *result, const char *model)
{
    struct estimate *whole = &result->fit.whole;
    bool named_any = false;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        parameters_in_use_compare(&result->head.reference[j], &result->fit.joint[j].estimate);
    }
    reference_combine(result->head.reference, ARM_JOINTS, &result->compared);
    for (size_t j = 0; j < ARM_JOINTS && result->compared.contradicts; j++) {
        const struct reference_check *in_use = &result->head.reference[j];
        const struct estimate *e = &result->fit.joint[j].estimate;
        if (in_use->given && in_use->comparison.contradicts) {
            reference_judge(whole, model, e, &in_use->values, &in_use->comparison);
            named_any = true;
        }
    }
    if (!named_any) { /* only all joints together contradict */
        reference_judge(whole, model, whole, &result->head.reference[0].values,
                        &result->compared);
    }
}

static enum status fit_data(void *what, struct err *err)
{
    struct result *result = what;
    return identify_fail(
        arm_friction_fit_run(&result->set, &result->summary, result->head.doubts, &result->fit),
        "data", "fit", err);
}

static enum status hold_out(void *what, struct err *err)
{
    struct result *result = what;
    return identify_fail(arm_friction_hold_out(&result->held_out_set, &result->fit), "data",
                         "check", err);
}

static enum status judge_fit(void *what, struct err *err)
{
    struct result *result = what;
    (void)err;
    judge_references(result, result->head.row->name);
    estimate_advise_worst(&result->fit.whole);
    identify_report_outcome(&result->head.caller, &result->fit.whole,
                            result->compared.contradicts);
    return STATUS_OK;
}

static void release_result(void *what)
{
    struct result *result = what;
    arm_friction_set_free(&result->set);
    arm_friction_set_free(&result->held_out_set);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    arm_report_friction(w, &result->fit, result->head.reference, &result->compared);
    arm_report_friction_summary(w, "data", &result->summary);
    arm_report_friction_summary(w, "held_out_data",
                                result->fit.is_held_out ? &result->held_out_summary : NULL);
}

static void print_page(const void *what, FILE *out)
{
    const struct result *result = what;
    const struct arm_friction_summary *summary = &result->summary;
    (void)fprintf(out, "arm_friction of %zu rows in %zu run%s", summary->used, summary->runs,
                  summary->runs == 1 ? "" : "s");
    estimate_page_verdict(out, &result->fit.whole);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const struct estimate *e = &result->fit.joint[j].estimate;
        (void)fprintf(out, "\njoint %zu: %s", j + 1, estimate_verdict_name(e->verdict));
        estimate_page_parameters(out, e);
    }
}

const struct identify_method identify_arm_friction = {.bytes = sizeof(struct result),
                                                      .name = name_parameters,
                                                      .form = &form,
                                                      .fit = fit_data,
                                                      .hold_out = hold_out,
                                                      .judge = judge_fit,
                                                      .write = write_members,
                                                      .print = print_page,
                                                      .release = release_result};
