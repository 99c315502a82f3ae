#include "twin/report/model_fragment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

ENUM_NAMES(fragment_format, FRAGMENT_FORMATS, "json", "mjcf", "urdf", "sdf");

enum { LINE_MAX = 512, INTERVAL_MAX = 64, JOINTS = 6, NAME_LONGEST = 63 };

/* A filter's lag holds if the velocity follows its output this much faster. */
static const double STIFFNESS = 100.0;

/* The fragment while it is written. */
struct target {
    const struct model_fragment *fragment;
    enum fragment_format format;
    const char *joint;
    double inertia, torque; /* as given, or usual */
    json_write_flush *output;
    void *context;
};

static PRINTF_LIKE(2, 3) void write_line(const struct target *t, const char *format, ...)
{
    char line[LINE_MAX];
    TEXT_FORMAT(line, sizeof line - 1, format);
    (void)strcat(line, "\n");
    t->output(t->context, line, strlen(line));
}

/* XML forbids two dashes in a comment, so that options are named without them. */
static PRINTF_LIKE(2, 3) void write_comment(const struct target *t, const char *format, ...)
{
    char text[LINE_MAX - 16];
    TEXT_FORMAT(text, sizeof text, format);
    for (char *dashes = strstr(text, "--"); dashes; dashes = strstr(text, "--")) {
        memmove(dashes, dashes + 2, strlen(dashes + 2) + 1);
    }
    write_line(t, "<!-- %s -->", text);
}

static double find_value(const struct target *t, const char *name)
{
    const struct fitted_number *number = fitted_numbers_find(t->fragment->numbers, name);
    return number ? number->value : (double)NAN;
}

/* Returns "95 % 1 .. 2", or "no interval". */
static const char *print_interval(const struct target *t, const char *name,
                                  char text[INTERVAL_MAX])
{
    const struct fitted_number *number = fitted_numbers_find(t->fragment->numbers, name);
    if (!number || !isfinite(number->lo) || !isfinite(number->hi)) {
        return "no interval";
    }
    (void)snprintf(text, INTERVAL_MAX, "95 %% %.6g .. %.6g", number->lo, number->hi);
    return text;
}

/* names: ends with NULL. */
static void comment_intervals(const struct target *t, const char *const *names)
{
    char text[INTERVAL_MAX];
    for (; *names; names++) {
        write_comment(t, "%s %s", *names, print_interval(t, *names, text));
    }
}

/* Comments numbers of the fit that the format cannot express. */
static void comment_others(const struct target *t, const char *const *expressed)
{
    const struct fitted_numbers *numbers = t->fragment->numbers;
    for (size_t i = 0; i < numbers->count; i++) {
        const struct fitted_number *number = &numbers->number[i];
        char text[INTERVAL_MAX];
        bool other = !number->derived && isfinite(number->value);
        for (size_t k = 0; expressed[k] && other; k++) {
            other = strcmp(expressed[k], number->name) != 0;
        }
        if (other) {
            write_comment(t, "%s %.6g, %s, has no word here", number->name, number->value,
                          print_interval(t, number->name, text));
        }
    }
}

/* Comments the verdict, its reason and the delay. */
static void write_head(const struct target *t)
{
    const struct model_fragment *f = t->fragment;
    const struct fitted_number *delay = fitted_numbers_find(f->numbers, "delay_s");
    char text[INTERVAL_MAX];
    write_comment(t, "tandem identify --model %s, verdict %s", f->model,
                  estimate_verdict_name(f->verdict));
    if (f->verdict != ESTIMATE_PASS) {
        write_comment(t, "first reason: %s", f->reason ? f->reason : "-");
    }
    if (delay && fabs(delay->value) > 0.0) {
        const bool known = isfinite(delay->lo) && isfinite(delay->hi);
        write_comment(t,
                      "delay %.6g s%s%s%s: this format has no delay; put it in the controller",
                      delay->value, known ? " (" : "",
                      known ? print_interval(t, "delay_s", text) : "", known ? ")" : "");
    }
}

/* Writes the element of a joint; only MJCF has the inertia there. */
static void write_joint(const struct target *t, double inertia, double damping, double friction)
{
    if (t->format == FRAGMENT_URDF) {
        write_line(t, "<dynamics damping=\"%.6g\" friction=\"%.6g\"/>", damping, friction);
    } else if (t->format == FRAGMENT_SDF) {
        write_line(t, "<dynamics><damping>%.6g</damping><friction>%.6g</friction></dynamics>",
                   damping, friction);
    } else {
        write_line(t,
                   "<joint name=\"%s\" type=\"hinge\" axis=\"0 0 1\" armature=\"%.6g\" "
                   "damping=\"%.6g\" frictionloss=\"%.6g\"/>",
                   t->joint, inertia, damping, friction);
    }
}

/* ---- joints ---- */

static const char *const joint_terms[] = {"inertia", "viscous", "coulomb", "offset", NULL};

static void write_joint_model(const struct target *t)
{
    const double inertia = find_value(t, "inertia") * t->torque;
    const double offset = find_value(t, "offset");
    if (t->format == FRAGMENT_MJCF) {
        if (!(t->fragment->options.torque_per_unit > 0.0)) {
            write_comment(t, "efforts are taken as N m; --torque-per-unit K multiplies");
        }
        comment_intervals(t, (const char *const[]){"inertia", "viscous", "coulomb", NULL});
        write_comment(t, "constant effort %.6g N m has no word here",
                      isfinite(offset) ? offset * t->torque : 0.0);
    } else if (t->format == FRAGMENT_URDF) {
        comment_intervals(t, (const char *const[]){"viscous", "coulomb", NULL});
        write_comment(
            t, "inertia %.6g: add it to the link, or as mechanicalReduction^2 motor inertia",
            inertia);
    }
    comment_others(t, joint_terms);
    write_joint(t, inertia, find_value(t, "viscous") * t->torque,
                find_value(t, "coulomb") * t->torque);
}

static void write_urdf_arm(const struct target *t)
{
    for (int j = 1; j <= JOINTS; j++) {
        char viscous[ESTIMATE_NAME_MAX];
        char coulomb[ESTIMATE_NAME_MAX];
        char text[2][INTERVAL_MAX];
        (void)snprintf(viscous, sizeof viscous, "viscous%d_as", j);
        (void)snprintf(coulomb, sizeof coulomb, "coulomb%d_a", j);
        write_comment(t, "joint %d, in A times --torque-per-unit: viscous %s, coulomb %s", j,
                      print_interval(t, viscous, text[0]), print_interval(t, coulomb, text[1]));
        if (isfinite(find_value(t, viscous)) && isfinite(find_value(t, coulomb))) {
            write_joint(t, (double)NAN, find_value(t, viscous) * t->torque,
                        find_value(t, coulomb) * t->torque);
        } else {
            write_comment(t, "no element: the recording does not determine both");
        }
    }
}

/* ---- velocities that follow commands ---- */

static void write_mjcf_first_order(const struct target *t)
{
    const double gain = find_value(t, "gain");
    const double lag_s = find_value(t, "time_constant_s");
    const double kv = STIFFNESS * t->inertia / lag_s;
    comment_intervals(t, (const char *const[]){"gain", "time_constant_s", NULL});
    write_comment(t, "kv = 100 inertia / lag: so stiff that the filter alone makes the lag");
    write_line(t,
               "<general name=\"%s_speed\" joint=\"%s\" dyntype=\"filter\" dynprm=\"%.6g\" "
               "gaintype=\"fixed\" gainprm=\"%.6g\" biastype=\"affine\" biasprm=\"0 0 %.6g\"/>",
               t->joint, t->joint, lag_s, kv * gain, -kv);
}

/* ---- position servos ---- */

#define SERVO_NEEDS "natural_frequency_radps", "damping_ratio", "dead_band_rad"

static const char *const servo_terms[] = {"natural_frequency_radps",
                                          "damping_ratio",
                                          "position_gain_per_s",
                                          "dead_band_rad",
                                          "delay_s",
                                          "error_per_acceleration_s2",
                                          "error_per_velocity_s",
                                          NULL,
                                          NULL};

/* The loop on an inertia: N m by rad, N m s, N m. most: of the torque; NaN: no limit. */
struct servo_loop {
    double stiffness, damping, friction, most;
};

/* A speed limit without one of the acceleration is the torque's: the speed that all of it
 * keeps.
 */
static struct servo_loop write_servo_comments(const struct target *t, bool limits)
{
    const double natural = find_value(t, "natural_frequency_radps");
    const double stiffness = natural * natural * t->inertia;
    const double damping = 2.0 * find_value(t, "damping_ratio") * natural * t->inertia;
    const double speed = find_value(t, "speed_limit_radps");
    const bool limited =
        limits && isfinite(speed) && !isfinite(find_value(t, "acceleration_limit_radps2"));
    const char *expressed[COUNT(servo_terms)];
    char text[INTERVAL_MAX];
    memcpy(expressed, servo_terms, sizeof expressed);
    write_comment(t, "only ratios are found: %.6g kg m^2 about the axis is assumed (inertia)",
                  t->inertia);
    comment_intervals(t, (const char *const[]){SERVO_NEEDS, NULL});
    if (limited) {
        write_comment(t, "speed limit %.6g rad/s, %s: as a torque limit", speed,
                      print_interval(t, "speed_limit_radps", text));
        expressed[COUNT(servo_terms) - 2] = "speed_limit_radps";
    }
    comment_others(t, expressed);
    return (struct servo_loop){stiffness, damping, stiffness * find_value(t, "dead_band_rad"),
                               limited ? damping * speed : (double)NAN};
}

/* A position actuator of MuJoCo 2 has no damping; the joint has that of the loop. URDF has the
 * joint only. */
static void write_servo(const struct target *t)
{
    const struct servo_loop loop = write_servo_comments(t, t->format == FRAGMENT_MJCF);
    char range[INTERVAL_MAX + 32] = "";
    if (isfinite(loop.most)) {
        (void)snprintf(range, sizeof range, " forcelimited=\"true\" forcerange=\"%.6g %.6g\"",
                       -loop.most, loop.most);
    }
    if (t->format == FRAGMENT_URDF) {
        write_comment(t, "position controller: p %.6g N m/rad, d 0", loop.stiffness);
    }
    write_joint(t, t->inertia, loop.damping, loop.friction);
    if (t->format == FRAGMENT_MJCF) {
        write_line(t, "<position name=\"%s_servo\" joint=\"%s\" kp=\"%.6g\"%s/>", t->joint,
                   t->joint, loop.stiffness, range);
    } else if (t->format == FRAGMENT_SDF) {
        write_line(t, "<plugin filename=\"gz-sim-joint-position-controller-system\" "
                      "name=\"gz::sim::systems::JointPositionController\">");
        write_line(t,
                   "  <joint_name>%s</joint_name><p_gain>%.6g</p_gain><i_gain>0</i_gain>"
                   "<d_gain>0</d_gain>",
                   t->joint, loop.stiffness);
        write_line(t, "</plugin>");
    }
}

/* ---- wheels, hulls ---- */

#define WHEELS "radius_right_m", "radius_left_m", "track_m"

static void write_sdf_odometry(const struct target *t)
{
    const double right = find_value(t, "radius_right_m");
    const double left = find_value(t, "radius_left_m");
    comment_intervals(t, (const char *const[]){WHEELS, NULL});
    write_comment(t, "wheels differ by %.6g %%: this plugin has one radius",
                  100.0 * (right / left - 1.0));
    write_line(t, "<plugin filename=\"gz-sim-diff-drive-system\" "
                  "name=\"gz::sim::systems::DiffDrive\">");
    write_line(t, "  <left_joint>left_wheel_joint</left_joint>"
                  "<right_joint>right_wheel_joint</right_joint>");
    write_line(t,
               "  <wheel_separation>%.6g</wheel_separation><wheel_radius>%.6g</wheel_radius>",
               find_value(t, "track_m"), 0.5 * (right + left));
    write_line(t, "</plugin>");
}

static void write_sdf_hull(const struct target *t)
{
    static const struct {
        const char *element, *name;
    } rows[] = {
        {"xDotU", "surge_mass_kg"},         {"yDotV", "sway_mass_kg"},
        {"nDotR", "yaw_inertia_kgm2"},      {"xU", "surge_linear_kgps"},
        {"xUabsU", "surge_quadratic_kgpm"}, {"yV", "sway_linear_kgps"},
        {"yVabsV", "sway_quadratic_kgpm"},  {"nR", "yaw_linear_kgm2ps"},
        {"nRabsR", "yaw_quadratic_kgm2"},
    };
    const struct fragment_options *o = &t->fragment->options;
    const double hull[] = {o->mass_kg, o->mass_kg, o->yaw_inertia_kgm2};
    const struct fitted_numbers *numbers = t->fragment->numbers;
    for (size_t i = 0; i < numbers->count; i++) {
        if (!numbers->number[i].derived) {
            comment_intervals(t, (const char *const[]){numbers->number[i].name, NULL});
        }
    }
    write_comment(t,
                  "hull in this file: mass %.6g kg, yaw inertia %.6g kg m^2 (options mass, "
                  "yaw-inertia); added = found - hull",
                  o->mass_kg, o->yaw_inertia_kgm2);
    write_line(t, "<plugin filename=\"gz-sim-hydrodynamics-system\" "
                  "name=\"gz::sim::systems::Hydrodynamics\">");
    write_line(t, "  <link_name>base_link</link_name>");
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double found = find_value(t, rows[i].name);
        if (isfinite(found)) {
            write_line(t, "  <%s>%.6g</%s>", rows[i].element,
                       i < COUNT(hull) ? hull[i] - found : -found, rows[i].element);
        }
    }
    write_line(t, "</plugin>");
}

/* ---- JSON ---- */

static void write_json(const struct target *t)
{
    const struct model_fragment *f = t->fragment;
    const struct fitted_number *delay = fitted_numbers_find(f->numbers, "delay_s");
    char text[LINE_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, t->output, t->context);
    JSON_OPEN(&w, NULL, JSON("model", f->model),
              JSON("verdict", estimate_verdict_name(f->verdict)), JSON("reason", f->reason));
    for (int part = 0; part < 3; part++) { /* values, ci95, derived */
        static const char *const keys[] = {"values", "ci95", "derived"};
        JSON_MAP(&w, keys[part], size_t i = 0; i < f->numbers->count; i++) {
            const struct fitted_number *n = &f->numbers->number[i];
            if (n == delay || n->derived != (part == 2)) {
                continue;
            }
            if (part == 0) {
                json_write_real(&w, n->name, n->value);
            } else if (part == 1) {
                json_write_two(&w, n->name, n->lo, n->hi);
            } else {
                JSON_WRITE_OBJECT(&w, n->name, JSON("value", n->value), JSON("se", n->se),
                                  JSON_TWO("ci95", n->lo, n->hi));
            }
        }
    }
    JSON_BLOCK(&w, "delay_s", delay) {
        JSON_WRITE(&w, JSON("value", delay->value), JSON("se", delay->se),
                   JSON_TWO("ci95", delay->lo, delay->hi));
    }
    json_write_close(&w);
    (void)json_write_end(&w);
    t->output(t->context, "\n", 1);
}

/* ---- the table ---- */

static const struct {
    enum fragment_format format;
    const char *model;
    bool variants; /* names that begin so are fine, too */
    const char *needs[4];
    void (*write)(const struct target *t);
} rows[] = {
    {FRAGMENT_MJCF, "joint", true, {"inertia", "viscous", "coulomb"}, write_joint_model},
    {FRAGMENT_MJCF, "first_order", false, {"gain", "time_constant_s"}, write_mjcf_first_order},
    {FRAGMENT_MJCF, "position_servo", false, {SERVO_NEEDS}, write_servo},
    {FRAGMENT_URDF, "joint", true, {"viscous", "coulomb"}, write_joint_model},
    {FRAGMENT_URDF, "position_servo", false, {SERVO_NEEDS}, write_servo},
    {FRAGMENT_URDF, "arm_friction", false, {NULL}, write_urdf_arm},
    {FRAGMENT_SDF, "odometry", false, {WHEELS}, write_sdf_odometry},
    {FRAGMENT_SDF, "usv3", false, {NULL}, write_sdf_hull},
    {FRAGMENT_SDF, "joint", true, {"viscous", "coulomb"}, write_joint_model},
    {FRAGMENT_SDF, "position_servo", false, {SERVO_NEEDS}, write_servo},
};

static size_t find_row(enum fragment_format format, const char *model)
{
    size_t i = 0;
    while (i < COUNT(rows) &&
           !(rows[i].format == format &&
             (rows[i].variants ? strncmp(model, rows[i].model, strlen(rows[i].model)) == 0
                               : strcmp(model, rows[i].model) == 0))) {
        i++;
    }
    return i;
}

enum status model_fragment_check(enum fragment_format format, const char *model,
                                 const char *joint, struct err *err)
{
    char models[LINE_MAX] = "";
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].format == format) {
            names_append_new(models, sizeof models, rows[i].model);
        }
    }
    if (format != FRAGMENT_JSON && find_row(format, model) == COUNT(rows)) {
        return err_set(err, STATUS_E_ARG, FAULT_NOT_APPLICABLE, "write",
                       "%s has no fragment for %s: %s %s", fragment_format_name(format), model,
                       fragment_format_name(format), models);
    }
    if (joint &&
        (!*joint || strlen(joint) > NAME_LONGEST || joint[strcspn(joint, "\"'<>&\n")])) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_NAME, "joint",
                       "a joint's name has 1 to %d characters, none of \" ' < > &",
                       (int)NAME_LONGEST);
    }
    return STATUS_OK;
}

void model_fragment_write(const struct model_fragment *fragment, enum fragment_format format,
                          json_write_flush *output, void *context)
{
    const struct fragment_options *o = &fragment->options;
    const struct target t = {.fragment = fragment,
                             .format = format,
                             .joint = o->joint ? o->joint : "joint1",
                             .inertia = o->inertia_kgm2 > 0.0 ? o->inertia_kgm2 : 0.01,
                             .torque = o->torque_per_unit > 0.0 ? o->torque_per_unit : 1.0,
                             .output = output,
                             .context = context};
    if (format == FRAGMENT_JSON) {
        write_json(&t);
        return;
    }
    const size_t row = find_row(format, fragment->model);
    write_head(&t);
    for (size_t i = 0; i < COUNT(rows[row].needs) && rows[row].needs[i]; i++) {
        if (!isfinite(find_value(&t, rows[row].needs[i]))) {
            write_comment(&t, "no element: the recording does not determine %s",
                          rows[row].needs[i]);
            return;
        }
    }
    rows[row].write(&t);
}
