#include "service/experiments/joint_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "service/experiments/paper.h"

enum kind { KIND_JOINT };

/* What the rows write to. */
struct values {
    struct joint_file file;
    enum kind kind;
    double margin_rad;
    double jerk; /* 0: none */
};

/* clang-format off */
#define AT(m)      OPTION_AT(struct values, m)
#define CONTROL(m) AT(file.trial.control.m)

static const struct option_row rows[] = {
    {"kind", OPTION_CHOICE, "", "joint", 0.0, 0.0, "joint", AT(kind), "What kind of experiment it is."},
    {"name", OPTION_TEXT, "", "joint", 1.0, 0.0, "", AT(file.name), "Name of the experiment."},
    {"purpose", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.purpose), "What it shows, in a sentence."},
    {"set_point_rad", OPTION_REAL, "rad", "25", -1e6, 1e6, "", AT(file.trial.set_point),
     "Where the joint is to go, from rest at 0."},
    {"joint.lag_s", OPTION_MAP, "", "", OPTION_BY_HAND, "Lags of the speed behind its command, a list: a run each."},
    {"joint.position_gain", OPTION_REAL, "", "1", 1e-6, 1e6, "", CONTROL(position_gain),
     "Radians of the joint for one of the drive."},
    {"joint.method", OPTION_CHOICE, "", "exact", 0.0, 0.0, "exact|euler", AT(file.trial.method),
     "How the joint is simulated."},
    {"command.max_radps", OPTION_REAL, "rad/s", "10", 1e-6, 1e6, "", CONTROL(command_max), "Largest speed command."},
    {"command.min_radps", OPTION_REAL, "rad/s", "0.1", 0.0, 1e6, "", CONTROL(command_min),
     "Smallest that moves it: of p and fsm."},
    {"controllers", OPTION_MAP, "", "", OPTION_BY_HAND, "A list of p, fsm, profile, time_optimal; all when absent."},
    {"control.period_s", OPTION_REAL, "s", "0.001", 1e-5, 1.0, "", CONTROL(period_s), "Control period."},
    {"control.gain_per_s", OPTION_REAL, "1/s", "1", 1e-3, 1e4, "", CONTROL(gain_per_s),
     "Of p, and of the last bit of fsm."},
    {"control.stop_rad", OPTION_REAL, "rad", "0.05", 0.0, 1e6, "", CONTROL(stop),
     "p gives no command at errors up to this."},
    {"control.near_rad", OPTION_REAL, "rad", "0.2", 1e-9, 1e6, "", CONTROL(near_by),
     "fsm is proportional within this, and rests within half of it."},
    {"control.margin_rad", OPTION_REAL, "rad", "0.1", 0.0, 1e6, "", AT(margin_rad),
     "fsm slows down at the distance it coasts and this."},
    {"control.slow_rad", OPTION_MAP, "", "", OPTION_BY_HAND, "That distance itself, a list, one for each lag."},
    {"control.tracking_per_s", OPTION_REAL, "1/s", "20", 1e-3, 1e4, "", CONTROL(tracking_per_s),
     "Bandwidth of profile and time_optimal about their plan."},
    {"profile.speed_radps", OPTION_REAL, "rad/s", "10", 1e-6, 1e6, "", CONTROL(limits.speed), "Limits of the profile."},
    {"profile.acceleration_radps2", OPTION_REAL, "rad/s^2", "200", 1e-6, 1e9, "", CONTROL(limits.acceleration), ""},
    {"profile.deceleration_radps2", OPTION_REAL, "rad/s^2", "200", 1e-6, 1e9, "", CONTROL(limits.deceleration),
     "The joint's lag may ask for less."},
    {"profile.jerk_radps3", OPTION_REAL, "rad/s^3", "10000", 0.0, 1e12, "", AT(jerk), "0 is none: a trapezoid."},
    {"duration_s", OPTION_REAL, "s", "20", 0.01, 86400.0, "", AT(file.trial.duration_s), "Of a run."},
    {"sample_s", OPTION_REAL, "s", "0.02", 1e-5, 60.0, "", AT(file.trial.sample_s),
     "Of the sums and of run.csv; a multiple of the control period."},
    {"paper", OPTION_MAP, "", "", OPTION_BY_HAND, "Published sums: {fsm: {ise: …, iae: …, itae: …}, p: {…}}."},
};
/* clang-format on */

static const struct option_table table = {rows, COUNT(rows)};

/* --- what the table cannot say -------------------------------------------------------------
 */

/* A list of numbers of at least lo; how many there are, 0 when it is not given or wrong. */
static size_t read_list(const struct option_reading *reading, const char *path, double lo,
                        double values[JOINT_LAGS_MAX])
{
    struct option_reader *r = reading->r;
    const uint32_t node = option_node(reading, path);
    size_t n = 0;
    if (node == TREE_NONE) {
        return 0;
    }
    const struct tree_node *list = &r->tree->nodes[node];
    if (list->kind != TREE_LIST || list->count < 1 || list->count > JOINT_LAGS_MAX) {
        option_fault(r, node, "%s: a list of 1 to %d numbers was expected", path,
                     JOINT_LAGS_MAX);
        return 0;
    }
    for (uint32_t at = list->first; at != TREE_NONE; at = r->tree->nodes[at].next) {
        n += option_number_from(r, at, path, lo, &values[n]) ? 1 : 0;
    }
    return n;
}

static void read_controllers(const struct option_reading *reading, bool *runs)
{
    struct option_reader *r = reading->r;
    const uint32_t node = option_node(reading, "controllers");
    if (node == TREE_NONE) {
        for (int k = 0; k < POSITION_KIND_COUNT; k++) {
            runs[k] = true;
        }
        return;
    }
    const struct tree_node *list = &r->tree->nodes[node];
    if (list->kind != TREE_LIST || list->count == 0) {
        option_fault(r, node, "controllers: a list was expected, as in [p, fsm]");
        return;
    }
    for (uint32_t at = list->first; at != TREE_NONE; at = r->tree->nodes[at].next) {
        const bool scalar = r->tree->nodes[at].kind == TREE_SCALAR;
        const enum position_kind kind =
            scalar
                ? (enum position_kind)names_value(&position_kind_names, tree_text(r->tree, at))
                : POSITION_KIND_COUNT;
        if (kind == POSITION_KIND_COUNT) {
            option_fault(r, at, "controllers: p, fsm, profile or time_optimal was expected");
            continue;
        }
        runs[kind] = true;
    }
}

static void read_joint_paper(const struct option_reading *reading, struct joint_file *file)
{
    static const char *const texts[] = {"ise", "iae", "itae"};
    static const struct names indices = {texts, COUNT(texts)};
    _Static_assert(sizeof(struct joint_indices) == sizeof(double[COUNT(texts)]), "as in texts");
    paper_read(reading,
               &(struct paper){.rows = &position_kind_names,
                               .columns = &indices,
                               .values = &file->paper[0].ise,
                               .stride = COUNT(texts),
                               .row_fault = "paper: maps of controllers were expected, as in "
                                            "{fsm: {ise: 1, iae: 2, itae: 3}}",
                               .column_fault = "paper: ise, iae or itae was expected, not"});
}

/* --- the file ------------------------------------------------------------------------------
 */

static void read_lags(const struct option_reading *reading, double margin_rad,
                      struct joint_file *file)
{
    struct option_reader *r = reading->r;
    file->lag_count = read_list(reading, "joint.lag_s", 0.0, file->lag_s);
    if (option_node(reading, "joint.lag_s") == TREE_NONE) {
        option_fault(r, TREE_NONE, "joint.lag_s is missing: lags of the joint, as in [0.1]");
    }
    const size_t n =
        read_list(reading, "control.slow_rad", file->trial.control.near_by, file->slow_rad);
    if (option_node(reading, "control.slow_rad") == TREE_NONE) {
        for (size_t i = 0; i < file->lag_count; i++) {
            file->trial.control.lag_s = file->lag_s[i];
            file->slow_rad[i] = position_slow_window(&file->trial.control, margin_rad);
        }
    } else if (n != file->lag_count && !r->failed) {
        option_fault(r, option_node(reading, "control.slow_rad"),
                     "control.slow_rad: one for each of %zu lags was expected",
                     file->lag_count);
    }
}

static void check_runs(const struct option_reading *reading, const struct joint_file *file)
{
    for (size_t i = 0; i < file->lag_count && !reading->r->failed; i++) {
        for (int k = 0; k < POSITION_KIND_COUNT; k++) {
            struct joint_trial_params trial;
            struct err err = {0};
            joint_file_trial(file, i, (enum position_kind)k, &trial);
            if (file->runs[k] && joint_trial_check(&trial, &err) != STATUS_OK) {
                const struct option_row *row = option_find(&table, err.where);
                option_fault(reading->r, row ? option_node(reading, row->path) : TREE_NONE,
                             "%s: %s %s", position_kind_name((enum position_kind)k), err.where,
                             err.text);
                return;
            }
        }
    }
}

static void finish_joint(const struct option_reading *reading, void *values)
{
    struct values *v = values;
    struct joint_trial_params *trial = &v->file.trial;
    trial->control.limits.jerk = v->jerk > 0.0 ? v->jerk : HUGE_VAL;
    trial->joint = (struct servo_joint_params){.speed_gain = 1.0,
                                               .position_gain = trial->control.position_gain,
                                               .speed_radps_max = HUGE_VAL};
    read_lags(reading, v->margin_rad, &v->file);
    read_controllers(reading, v->file.runs);
    read_joint_paper(reading, &v->file);
    check_runs(reading, &v->file);
}

void joint_file_trial(const struct joint_file *file, size_t i, enum position_kind kind,
                      struct joint_trial_params *out)
{
    *out = file->trial;
    out->joint.lag_s = file->lag_s[i];
    out->control.lag_s = file->lag_s[i];
    out->control.slow = file->slow_rad[i];
    out->control.kind = kind;
}

const struct option_file joint_file = {.what = "an experiment",
                                       .empty = "the file is empty, joint.lag_s is missing",
                                       .table = &table,
                                       .bytes = sizeof(struct values),
                                       .out_bytes = sizeof(struct joint_file),
                                       .finish = finish_joint};

/* --- which of the two kinds ----------------------------------------------------------------
 */

static void find_joint(const struct option_reading *reading, void *values)
{
    const struct tree *tree = reading->r->tree;
    bool *const *is = values;
    if (tree->nodes[TREE_ROOT].kind != TREE_MAP) {
        return;
    }
    for (uint32_t at = tree->nodes[TREE_ROOT].first; at != TREE_NONE;
         at = tree->nodes[at].next) {
        if (strcmp(tree_key(tree, at), "kind") == 0) {
            **is = tree->nodes[at].kind == TREE_SCALAR &&
                   strcmp(tree_text(tree, at), "joint") == 0;
            return;
        }
    }
}

bool joint_file_is(const char *path)
{
    static const struct option_file kind_file = {.what = "an experiment",
                                                 .bytes = sizeof(bool *),
                                                 .out_bytes = sizeof(bool *),
                                                 .finish = find_joint};
    bool is = false;
    bool *out = &is;
    /* A file with faults has a kind, too: they are reported by who reads it. */
    (void)!option_file_load(&kind_file, path, &out, NULL);
    return is;
}
