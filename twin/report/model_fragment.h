/* twin/report/model_fragment.h - a fitted model as a fragment of a simulator's file: MJCF,
 * URDF, SDF, or JSON.
 *
 * Comments come first: the verdict, its reason, and the interval of each number. What a format
 * cannot express is a comment. It computes nothing but units and signs. Pure: the text is
 * passed to `output` in pieces.
 */
#ifndef TWIN_REPORT_MODEL_FRAGMENT_H
#define TWIN_REPORT_MODEL_FRAGMENT_H

#include "base/errors/err.h"
#include "identification/fit/fitted_numbers.h"
#include "logger/message/json_write.h"

enum fragment_format {
    FRAGMENT_JSON,
    FRAGMENT_MJCF,
    FRAGMENT_URDF,
    FRAGMENT_SDF,
    FRAGMENT_FORMATS
};

ENUM_NAMES_DECLARED(fragment_format); /* "json" … */

/* Numbers that the user adds to the fit. */
struct fragment_options {
    const char *joint;      /* name of the joint; NULL: joint1 */
    double inertia_kgm2;    /* about the axis, where only ratios are fitted; 0: 0.01 */
    double torque_per_unit; /* N m per unit of effort; 0: 1 */
    double mass_kg, yaw_inertia_kgm2; /* of a hull, as the file has them already */
};

struct model_fragment {
    const char *model;
    enum estimate_verdict verdict;
    const char *reason;                   /* of a verdict below PASS; NULL: none */
    const struct fitted_numbers *numbers; /* with "delay_s", if there is a delay */
    struct fragment_options options;
};

/* Checks that the format has a fragment for the model, and that the joint's name can be
 * written. Returns STATUS_E_ARG with err; err->where is "write" or "joint". */
MUST_USE enum status model_fragment_check(enum fragment_format format, const char *model,
                                          const char *joint, struct err *err);

/* Writes the fragment; model_fragment_check() accepted it. */
void model_fragment_write(const struct model_fragment *fragment, enum fragment_format format,
                          json_write_flush *output, void *context);

#endif
