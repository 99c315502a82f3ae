#include "service/arm/bridge_messages.h"

#include <math.h>
#include <string.h>

/* m: shorter lines are too short to measure a speed; the same holds for smaller turns. */
static const double LINE_LEAST_M = 1e-3;
static const double TURN_LEAST_RAD = 2e-3;

/* Rounds to 1e-7, a tenth of a micrometre at the tool, so that texts stay short. */
static double round_number(double value)
{
    return rint(value * 1e7) / 1e7 + 0.0;
}

static void write_numbers(struct json_writer *w, const char *key, const double *v, size_t n)
{
    JSON_LIST(w, key, size_t i = 0; i < n; i++) {
        json_write_real(w, NULL, round_number(v[i]));
    }
}

static void write_seconds(struct json_writer *w, const char *key, double t_s)
{
    json_write_seconds(w, key, llround(t_s * 1e6));
}

/* The wire may carry any double. Values that are no time become null. */
static double in_range(double t_s)
{
    return fabs(t_s) < 1e11 ? t_s : 0.0;
}

void bridge_write_telemetry(struct json_writer *w, const struct rtde_outputs *v,
                            bool has_target_qdd, bool paused, int64_t seq, const char *boot)
{
    json_write_object(w, NULL);
    write_seconds(w, "t", in_range(v->timestamp));
    JSON_WRITE(w, JSON("seq", seq), JSON("boot", boot),
               JSON_IF(paused, JSON_BOOL("paused", true)));
    write_numbers(w, "nu", v->actual_qd, 6);
    write_numbers(w, "tau", v->target_qd, 6);
    if (has_target_qdd) {
        write_numbers(w, "tau_dot", v->target_qdd, 6);
    }
    write_numbers(w, "pose", v->actual_q, 6);
    write_numbers(w, "current_a", v->actual_current, 6);
    write_numbers(w, "tcp", v->actual_TCP_pose, 6);
    write_numbers(w, "q_target", v->target_q, 6);
    json_write_close(w);
}

void bridge_write_connection(struct json_writer *w, bool online, const char *boot,
                             const char *reason)
{
    JSON_WRITE_OBJECT(w, NULL, JSON("state", online ? "online" : "offline"),
                      JSON_OPTIONAL("boot", boot), JSON_OPTIONAL("reason", reason));
}

static void write_line(struct json_writer *w, const struct arm_watched *m)
{
    json_write_text(w, "op", "movel");
    write_numbers(w, "pose", m->to_pose, 6);
    if (m->length_m >= LINE_LEAST_M) {
        JSON_WRITE(w, JSON("v_mps", round_number(m->speed * m->length_m)),
                   JSON("a_mps2", round_number(m->acceleration * m->length_m)),
                   JSON("displacement_m", round_number(m->length_m)));
    }
    if (m->angle_rad >= TURN_LEAST_RAD) {
        JSON_WRITE(w, JSON("v_radps", round_number(m->speed * m->angle_rad)),
                   JSON("a_radps2", round_number(m->acceleration * m->angle_rad)),
                   JSON("rotation_rad", round_number(m->angle_rad)));
    }
}

static void write_joints(struct json_writer *w, const struct arm_watched *m)
{
    json_write_text(w, "op", "movej");
    write_numbers(w, "q_rad", m->to_q, 6);
    if (m->lacks) {
        /* This move has no trapezoidal profile, so its measured duration is given. */
        json_write_real(w, "time_s", round_number(m->t_end_s - m->t_start_s));
    } else {
        JSON_WRITE(w, JSON("v_radps", round_number(m->speed * m->size_rad)),
                   JSON("a_radps2", round_number(m->acceleration * m->size_rad)));
    }
    json_write_real(w, "rotation_rad", round_number(m->size_rad));
}

void bridge_write_command(struct json_writer *w, const struct bridge_move *m, int64_t t_us)
{
    JSON_OPEN(w, NULL, JSON("id", m->id), JSON_SECONDS("t", t_us));
    if (m->seen.path == ARM_WATCHED_LINE && !m->seen.lacks) {
        write_line(w, &m->seen);
    } else {
        write_joints(w, &m->seen);
    }
    json_write_close(w);
}

static const char *status_of(const struct arm_watched *m, bool repeated)
{
    return m->end == ARM_WATCHED_STOPPED            ? "blocked"
           : m->end == ARM_WATCHED_CUT && !repeated ? "halted"
                                                    : "done";
}

static void write_place(struct json_writer *w, const double q[6], const double pose[6])
{
    static const char *const joints[] = {"q1_rad", "q2_rad", "q3_rad",
                                         "q4_rad", "q5_rad", "q6_rad"};
    static const char *const axes[] = {"x_m", "y_m", "z_m"};
    json_write_object(w, "values");
    for (size_t i = 0; i < COUNT(joints); i++) {
        json_write_real(w, joints[i], round_number(q[i]));
    }
    for (size_t i = 0; i < COUNT(axes); i++) {
        json_write_real(w, axes[i], round_number(pose[i]));
    }
    json_write_close(w);
}

void bridge_write_reply(struct json_writer *w, const struct bridge_move *m, int64_t held_us)
{
    JSON_OPEN(w, NULL, JSON_OPTIONAL("id", m->id));
    write_seconds(w, "t_start", in_range(m->seen.t_start_s));
    write_seconds(w, "t", in_range(m->seen.t_end_s));
    json_write_text(w, "status", status_of(&m->seen, held_us > 0));
    write_place(w, m->rest_q, m->rest_pose);
    if (m->seen.lacks) {
        JSON_WRITE(w, JSON_BOOL("calibrate", false), JSON("detail", m->seen.lacks));
    }
    if (held_us > 0) {
        json_write_seconds(w, "held_s", held_us);
    }
    json_write_close(w);
}

void bridge_write_drive_reply(struct json_writer *w, const struct drive_reply *r,
                              const struct rtde_outputs *now)
{
    JSON_OPEN(w, NULL, JSON_OPTIONAL("id", r->id));
    json_write_text(w, "status", reply_status_name(r->status));
    if (now->timestamp > 0.0) { /* else the controller has sent nothing yet */
        write_seconds(w, "t_start", in_range(r->t_start_s));
        write_seconds(w, "t", in_range(r->t_end_s));
        write_place(w, now->actual_q, now->actual_TCP_pose);
    }
    JSON_WRITE(w, JSON_IF(!r->calibrate, JSON_BOOL("calibrate", false)),
               JSON_OPTIONAL("detail", r->detail));
    json_write_close(w);
}
