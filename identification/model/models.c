#include "identification/model/models.h"

#include <string.h>

#include "base/numbers/hash.h"

/* ---- models that are not of motion ---- */

static const char travel_time_help[] =
    "  lap = t0 + [it turns] (ta + |rotation| / angular_speed)\n"
    "           + [it drives] (tr + displacement / linear_speed)\n"
    "  from a table of moves, one a line, of one robot or of several that are meant to be "
    "alike.\n"
    "  methods: ols, huber, tukey, auto (default: ols when the residuals look Gaussian, else\n"
    "           tukey)\n"
    "  roles:   lap_s; rotation_rad or rotation_deg; displacement_m or displacement_mm.\n"
    "           Instead of lap_s: real_lap_s and virtual_lap_s as in Tandem's own entries, or\n"
    "           lap1_s, lap2_s and state (AHEAD, BEHIND, SYNC) as in a smart logger's table;\n"
    "           --side says which of the two. Rows without a lap are skipped and counted. Of\n"
    "           Tandem's entries, only go commands that ended as done count.\n"
    "           A joint has no displacements: with rotation_rad=NAME (or displacement_m=-)\n"
    "           the fit is t0 + |rotation| / angular_speed. A slide has no rotations.\n"
    "  example: tandem identify --model travel_time --columns lap_s=duration_s moves.csv\n";

static const char *const travel_time_roles[] = {
    "lap_s",  "real_lap_s", "virtual_lap_s", "rotation_rad",   "rotation_deg",
    "lap1_s", "lap2_s",     "state",         "displacement_m", "displacement_mm",
    NULL};

const struct model_row travel_time_row = {
    .name = "travel_time",
    .words = "travel times of moves",
    .help = travel_time_help,
    .data = MODEL_OF_MOVES,
    .roles = travel_time_roles,
};

static const char arm_time_help[] =
    "  lap = t0 + T(speed_ratio v, acceleration_ratio a), T from rest to rest on a trapezoid "
    "of speed,\n"
    "  of the moves of an arm, one a line: moves of joints and lines of the tool separately.\n"
    "  methods: ols, huber, tukey, auto (default: ols unless laps lie far out, else tukey)\n"
    "  roles:   lap_s (or real_lap_s and virtual_lap_s, by --side); rotation_rad: the largest "
    "turn\n"
    "           of a joint, or the tool's turn on a line; displacement_m: the tool's way on a "
    "line;\n"
    "           what was commanded: v_radps (else 1.05), a_radps2 (1.4), v_mps (0.25), a_mps2\n"
    "           (1.2). A column op distinguishes movej from movel and movec; without it, a\n"
    "           displacement means a line.\n"
    "  example: tandem identify --model arm_time --columns rotation_rad=dq_max_rad moves.csv\n";

static const char *const arm_time_roles[] = {
    "lap_s", "rotation_rad", "displacement_m", "v_radps", "a_radps2", "v_mps", "a_mps2", NULL};

const struct model_row arm_time_row = {
    .name = "arm_time",
    .words = "travel times of an arm's moves, as commanded",
    .help = arm_time_help,
    .data = MODEL_OF_COMMANDS,
    .roles = arm_time_roles,
};

static const char odometry_help[] =
    "  a robot on two driven wheels: their radii, the track between them, and where its pose\n"
    "  sensor sits, from wheel angles (rad, growing forward) and a measured pose (m, rad, x\n"
    "  forward, y to the left) over time: a camera, a motion capture system. Its delay is\n"
    "  estimated too. Each file is a path of its own; a start pose is fitted for every one.\n"
    "  Error bars allow for slip.\n"
    "  roles:   t wheel_left wheel_right x y theta; columns t_s wheel_left_rad "
    "wheel_right_rad\n"
    "           x_m y_m theta_rad, and cam_x_m cam_y_m cam_theta_rad, are found by "
    "themselves.\n"
    "           Rows may lack the pose where wheels are sampled more often.\n"
    "  --validate may be given several times.\n"
    "  example: tandem identify --model odometry --validate run2.csv run1.csv\n";

static const char *const odometry_roles[] = {"t", "wheel_left", "wheel_right", "x",
                                             "y", "theta",      NULL};

const struct model_row odometry_row = {
    .name = "odometry",
    .words = "wheels and track from a pose sensor",
    .help = odometry_help,
    .data = MODEL_OF_WHEELS,
    .roles = odometry_roles,
};

static const char arm_friction_help[] =
    "  an arm of six joints: of each its inertia, viscous and Coulomb friction, an offset and\n"
    "  its gravity terms (A by rad/s^2, rad/s, 1), from angles (rad), speeds (rad/s) and\n"
    "  currents (A) over time, all behind a low pass of 10 Hz:\n"
    "    i = J qdd + Fv qd + Fc tanh(qd / 0.01) + o + gravity + coupling of joints 2 and 3\n"
    "  Each joint has a verdict of its own. --validate predicts currents of other days.\n"
    "  roles:   t q1 ... q6 qd1 ... qd6 i1 ... i6; columns t_s q1_rad qd1_radps i1_a,\n"
    "           q1_actual_rad qd1_actual_radps i1_actual_a, and RTDE's timestamp actual_q_0\n"
    "           actual_qd_0 actual_current_0, are found by themselves.\n"
    "  example: tandem identify --model arm_friction --validate day2.csv day1.csv\n";

static const char *const arm_friction_roles[] = {"t",   "q1",  "q2",  "q3",  "q4",  "q5",  "q6",
                                                 "qd1", "qd2", "qd3", "qd4", "qd5", "qd6", "i1",
                                                 "i2",  "i3",  "i4",  "i5",  "i6",  NULL};

const struct model_row arm_friction_row = {
    .name = "arm_friction",
    .words = "friction and gravity of an arm's joints",
    .help = arm_friction_help,
    .data = MODEL_OF_JOINTS,
    .roles = arm_friction_roles,
};

static const char arm_kinematics_help[] =
    "  how the links of one arm differ from those of its kind (--arm): small shifts and "
    "turns,\n"
    "  from joint angles (rad) and the tool's pose then: x y z (m) and a rotation vector "
    "(rad)\n"
    "  in the frame of the base as UR's controllers have it, without a tool. Reports by how\n"
    "  many mm the nominal and the corrected arm are off, also for held-out poses.\n"
    "  roles:   q1 ... q6 x y z rx ry rz; columns q1_rad x_m rx_rad, and RTDE's actual_q_0\n"
    "           actual_TCP_pose_0 ... actual_TCP_pose_5, are found by themselves.\n"
    "  example: tandem identify --model arm_kinematics --arm ur5 --validate more.csv "
    "poses.csv\n";

static const char *const arm_kinematics_roles[] = {"q1", "q2", "q3", "q4", "q5", "q6", "x",
                                                   "y",  "z",  "rx", "ry", "rz", NULL};

const struct model_row arm_kinematics_row = {
    .name = "arm_kinematics",
    .words = "corrections of an arm's links",
    .help = arm_kinematics_help,
    .data = MODEL_OF_POSES,
    .roles = arm_kinematics_roles,
};

/* ---- the table ---- */

#define MODEL(row) &(row),
const struct model_row *const model_rows[] = {
#include "identification/model/models.def"
};
#undef MODEL

const size_t model_row_count = COUNT(model_rows);

/* Loaded models. They are written before the program starts threads. */
static struct {
    size_t count;
    const struct model_row *rows[MODELS_LOADED_MAX];
} loaded;

enum status models_add(const struct model_row *row)
{
    if (model_row_find(row->name)) {
        return STATUS_E_ARG;
    }
    if (loaded.count == MODELS_LOADED_MAX) {
        return STATUS_E_FULL;
    }
    loaded.rows[loaded.count++] = row;
    return STATUS_OK;
}

const struct model_row *model_row_at(size_t index)
{
    if (index < model_row_count) {
        return model_rows[index];
    }
    return index - model_row_count < loaded.count ? loaded.rows[index - model_row_count] : NULL;
}

const struct model_row *model_row_find(const char *name)
{
    const struct model_row *row = NULL;
    for (size_t i = 0; (row = model_row_at(i)); i++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

const char *model_row_guess(const char *name, char out[EDIT_GUESS_MAX])
{
    struct edit_guess guess = {0};
    for (size_t i = 0; model_row_at(i); i++) {
        edit_guess_try(&guess, name, model_row_at(i)->name);
    }
    return edit_guess_text(&guess, out);
}

const struct model *model_at(size_t index)
{
    const struct model_row *row = NULL;
    for (size_t i = 0; (row = model_row_at(i)); i++) {
        if (row->model && index-- == 0) {
            return row->model;
        }
    }
    return NULL;
}

size_t model_place(const struct model *model)
{
    size_t place = 0;
    while (model_at(place) != model) {
        place++;
    }
    return place;
}

const struct model *model_find(const char *name)
{
    const struct model_row *row = model_row_find(name);
    return row ? row->model : NULL;
}

static uint64_t hash_shape(const struct model *model, uint64_t hash)
{
    hash = hash_bytes(hash, model->name, strlen(model->name) + 1);
    return hash_bytes(hash, &model->parameter_count, sizeof model->parameter_count);
}

uint64_t models_hash(uint64_t hash)
{
    for (size_t i = 0; i < model_row_count; i++) {
        hash = model_rows[i]->model ? hash_shape(model_rows[i]->model, hash) : hash;
    }
    return hash;
}

uint64_t model_hash_loaded(const char *name, uint64_t hash)
{
    const struct model *model = model_find(name);
    if (!model || model->hash == 0) {
        return hash;
    }
    const uint64_t of[] = {model_place(model), model->hash};
    return hash_bytes(hash_shape(model, hash), of, sizeof of);
}
