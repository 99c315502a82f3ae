#include "identification/servo/servo_simulation.h"

#include <math.h>

#include "base/numbers/constants.h"

/* Longest substep where gravity or friction depends on the state, s. */
static const double SUBSTEP_VARIED_S = 4e-3;
/* Velocity at which friction near rest has fallen, rad/s. */
static const double STRIBECK_RADPS = 0.1;
/* Rows at the start of a run whose slope is the start velocity. */
enum { SLOPE_ROWS = 5, STOPS_MAX = 1000, PHASES_MAX = 6, HALVINGS = 4 };

/* The linear part of eq. 2 after a time h: x and w are distance and velocity,
 * x(h) = x (c + sigma s) + w s, w(h) = w (c - sigma s) - wn^2 x s. */
struct transition {
    double h_s, c, s;
};

struct servo_state {
    const struct servo_law *law;
    double sigma;            /* half the damping */
    double delta2;           /* sigma^2 - wn^2; negative: it oscillates */
    double delta;            /* root of its size */
    double q, w;             /* motor: position and velocity */
    double dead;             /* dead band of this substep */
    double shown, seen;      /* position behind the play, and behind the sensor's lag */
    double set_point, speed; /* of the profile */
    struct transition moved; /* the last one computed */
    uint64_t steps;
};

static void compute_transition(struct servo_state *s, double h_s)
{
    if (h_s >= s->moved.h_s && h_s <= s->moved.h_s) {
        return;
    }
    const double small = s->delta2 * h_s * h_s;
    s->moved.h_s = h_s;
    if (fabs(small) < 1e-8) {
        const double decay = exp(-s->sigma * h_s);
        s->moved.c = decay * (1.0 + small / 2.0);
        s->moved.s = decay * h_s * (1.0 + small / 6.0);
    } else if (s->delta2 > 0.0) {
        const double slow = exp((s->delta - s->sigma) * h_s);
        const double fast = exp(-(s->delta + s->sigma) * h_s);
        s->moved.c = 0.5 * (slow + fast);
        s->moved.s = 0.5 * (slow - fast) / s->delta;
    } else {
        const double decay = exp(-s->sigma * h_s);
        s->moved.c = decay * cos(s->delta * h_s);
        s->moved.s = decay * sin(s->delta * h_s) / s->delta;
    }
}

/* Returns the time until the velocity is zero; the caller knows that there is one. */
static double find_stop(const struct servo_state *s, double x, double way)
{
    const double brake = s->sigma * s->w + s->law->stiffness * x;
    const double ratio = s->w / brake;
    if (s->delta2 < 0.0 && s->delta > 1e-6 * s->sigma) {
        return atan2(s->delta * fabs(s->w), brake * way) / s->delta;
    }
    const double z = s->delta * ratio;
    return s->delta > 1e-6 * s->sigma && z > 0.0 && z < 1.0
               ? log((1.0 + z) / (1.0 - z)) / (2.0 * s->delta)
               : ratio;
}

/* Moves the shown position, which follows the motor behind the play. */
static void follow_motor(struct servo_state *s)
{
    const double half = 0.5 * s->law->play_rad;
    s->shown = fmin(fmax(s->shown, s->q - half), s->q + half);
}

/* Moves towards a constant target for h_s, with exact stick and slip. */
static void glide_motor(struct servo_state *s, double target, double h_s)
{
    const double dead = s->dead;
    for (int stops = 0; h_s > 0.0 && stops < STOPS_MAX; stops++) {
        const bool rests = !(fabs(s->w) > 0.0);
        if (rests && fabs(s->q - target) <= dead) {
            return;
        }
        const double way = (rests ? target - s->q : s->w) > 0.0 ? 1.0 : -1.0;
        const double centre = target - way * dead;
        const double x = s->q - centre;
        double lasts_s = h_s;
        compute_transition(s, h_s);
        double w =
            s->w * (s->moved.c - s->sigma * s->moved.s) - s->law->stiffness * x * s->moved.s;
        const bool long_step = s->delta2 < 0.0 && s->delta * h_s >= PI;
        if (way * w < 0.0 || long_step) {
            lasts_s = fmin(fmax(find_stop(s, x, way), 0.0), h_s);
            compute_transition(s, lasts_s);
            w = lasts_s < h_s ? 0.0
                              : s->w * (s->moved.c - s->sigma * s->moved.s) -
                                    s->law->stiffness * x * s->moved.s;
        }
        s->q = centre + x * (s->moved.c + s->sigma * s->moved.s) + s->w * s->moved.s;
        s->w = w;
        s->steps++;
        follow_motor(s);
        h_s -= lasts_s;
    }
}

/* Moves under a constant torque, which is this times the stiffness, with exact stick and slip.
 */
static void push_motor(struct servo_state *s, double torque_rad, double h_s)
{
    const double c = s->law->damping;
    for (int stops = 0; h_s > 0.0 && stops < 2; stops++) { /* it stops once at most */
        const bool rests = !(fabs(s->w) > 0.0);
        if (rests && fabs(torque_rad) <= s->dead) {
            return;
        }
        const double way = (rests ? torque_rad : s->w) > 0.0 ? 1.0 : -1.0;
        const double end = s->law->stiffness * (torque_rad - way * s->dead) / c;
        double lasts_s = h_s;
        double w = end + (s->w - end) * exp(-c * h_s);
        if (way * w < 0.0) {
            lasts_s = fmin(-log(end / (end - s->w)) / c, h_s);
            w = 0.0;
        }
        s->q += end * lasts_s + (s->w - w) / c;
        s->w = w;
        s->steps++;
        follow_motor(s);
        h_s -= lasts_s;
    }
}

/* A part of the profile: acceleration towards the command, how long it lasts, and whether it
 * ends at rest. */
struct phase {
    double rate, lasts_s;
    bool rests;
};

/* The quickest motion to rest at a distance ahead, at this velocity towards it. */
static struct phase find_phase(const struct servo_law *law, double distance, double velocity)
{
    const double a = law->acceleration_radps2;
    const double brake = velocity * fabs(velocity) / (2.0 * a);
    if (velocity < 0.0) {
        return (struct phase){a, -velocity / a, true};
    }
    if (brake >= distance * (1.0 - 1e-9)) {
        return (struct phase){-a, velocity / a, true};
    }
    if (velocity < law->speed_radps) {
        const double peak =
            fmin(law->speed_radps, sqrt(a * distance + 0.5 * velocity * velocity));
        return (struct phase){a, (peak - velocity) / a, false};
    }
    return (struct phase){0.0, (distance - brake) / velocity, false};
}

/* Moves the set point towards the command, as the servo's own profile does. Returns its mean
 * over the step. */
static double move_set_point(struct servo_state *s, double command, double h_s)
{
    const double before = s->set_point;
    for (int i = 0; i < PHASES_MAX && h_s > 0.0; i++) {
        const double way = command >= s->set_point ? 1.0 : -1.0;
        const double velocity = way * s->speed;
        const struct phase phase = find_phase(s->law, fabs(command - s->set_point), velocity);
        const double lasts_s = fmin(phase.lasts_s, h_s);
        s->set_point += way * lasts_s * (velocity + 0.5 * phase.rate * lasts_s);
        s->speed =
            phase.rests && phase.lasts_s <= h_s ? 0.0 : way * (velocity + phase.rate * lasts_s);
        h_s -= lasts_s;
    }
    return 0.5 * (before + s->set_point);
}

/* Moves towards a goal with a limited torque: exactly, but for where the limit begins and ends,
 * which halves the step. */
static void follow_goal(struct servo_state *s, double goal, double droop, double h_s,
                        int halvings)
{
    const struct servo_state before = *s;
    const double most = s->law->error_max_rad;
    const bool limited = fabs(goal - s->q) > most;
    if (limited) {
        push_motor(s, copysign(most, goal - s->q) - droop, h_s);
    } else {
        glide_motor(s, goal - droop, h_s);
    }
    if (limited != (fabs(goal - s->q) > most) && halvings > 0) {
        *s = before;
        follow_goal(s, goal, droop, 0.5 * h_s, halvings - 1);
        follow_goal(s, goal, droop, 0.5 * h_s, halvings - 1);
    }
}

double servo_law_dead_band(const struct servo_law *law, double q_rad, double w_radps,
                           double error_rad)
{
    const double ratio = w_radps / STRIBECK_RADPS;
    const double by_place[SERVO_PLACES] = {sin(q_rad), cos(q_rad), sin(3.0 * q_rad),
                                           cos(3.0 * q_rad)};
    double dead = law->dead_band_rad + law->friction_load * fabs(error_rad) +
                  law->friction_rest_rad * exp(-ratio * ratio);
    for (size_t i = 0; i < SERVO_PLACES; i++) {
        dead += law->friction_place_rad[i] * by_place[i];
    }
    return fmax(dead, 0.0);
}

static bool is_friction_varied(const struct servo_law *law)
{
    bool varied = fabs(law->friction_load) > 0.0 || fabs(law->friction_rest_rad) > 0.0;
    for (size_t i = 0; i < SERVO_PLACES; i++) {
        varied = varied || fabs(law->friction_place_rad[i]) > 0.0;
    }
    return varied;
}

/* Lets the sensor follow a position that moves evenly from `from` to the shown one. */
static void follow_shown(struct servo_state *s, double from, double h_s)
{
    const double lag_s = s->law->sensor_lag_s;
    const double left = lag_s > 0.0 ? exp(-h_s / lag_s) : 0.0;
    const double rate = (s->shown - from) / h_s;
    s->seen = s->shown - rate * lag_s * (1.0 - left) + (s->seen - from) * left;
}

static void pass_substep(struct servo_state *s, double command, double h_s)
{
    const struct servo_law *law = s->law;
    const double goal = isfinite(law->speed_radps) ? move_set_point(s, command, h_s) : command;
    const double at = s->q + 0.5 * h_s * s->w;
    double droop = law->droop_rad;
    if (fabs(law->droop_sin_rad) > 0.0 || fabs(law->droop_cos_rad) > 0.0) {
        droop += law->droop_sin_rad * sin(at) + law->droop_cos_rad * cos(at);
    }
    const double from = s->shown;
    s->dead = is_friction_varied(law) ? servo_law_dead_band(law, at, s->w, goal - at)
                                      : law->dead_band_rad;
    follow_goal(s, goal, droop, h_s, HALVINGS);
    follow_shown(s, from, h_s);
}

/* Moves on while the command is constant. */
static void pass_time(struct servo_state *s, double command, double h_s)
{
    const struct servo_law *law = s->law;
    const bool limited = isfinite(law->speed_radps) || isfinite(law->error_max_rad);
    const bool varied = fabs(law->droop_sin_rad) > 0.0 || fabs(law->droop_cos_rad) > 0.0 ||
                        law->sensor_lag_s > 0.0 || is_friction_varied(law);
    if (!limited && !varied) {
        glide_motor(s, law->scale * command - law->droop_rad, h_s);
        s->seen = s->shown;
        return;
    }
    const double count = ceil(h_s / (limited ? law->substep_s : SUBSTEP_VARIED_S) - 1e-9);
    for (double k = 0.0; k < count; k += 1.0) {
        pass_substep(s, law->scale * command, h_s / count);
    }
}

/* Sets the state at the first row: at its position, with this velocity. */
static void begin_run(struct servo_state *s, const struct servo_set *set, size_t begin,
                      double velocity)
{
    const struct servo_law *law = s->law;
    s->q = s->shown = s->seen = set->position_rad[begin];
    s->w = s->speed = velocity;
    s->set_point = fabs(velocity) > 0.0
                       ? s->q + velocity * law->damping / law->stiffness + law->droop_rad
                       : law->scale * set->command_rad[begin];
}

/* position_rad and velocity_radps (may be NULL) get the state at every row. */
static void simulate_rows(struct servo_state *s, const struct servo_set *set, size_t begin,
                          size_t end, double velocity, double *position_rad,
                          double *velocity_radps)
{
    const double delay_s = s->law->delay_s;
    size_t held = begin;
    size_t next = begin + 1; /* first row with another command than `held` */
    begin_run(s, set, begin, velocity);
    for (size_t k = begin; k < end; k++) {
        position_rad[k] = s->seen;
        if (velocity_radps) {
            velocity_radps[k] = s->w;
        }
        double t_s = set->t_s[k];
        while (k + 1 < end && t_s < set->t_s[k + 1]) {
            while (held + 1 < end && set->change_s[held + 1] + delay_s <= t_s) {
                held++;
            }
            next = next > held ? next : held + 1;
            while (next < end && next <= k + 1 &&
                   !(fabs(set->command_rad[next] - set->command_rad[held]) > 0.0)) {
                next++;
            }
            const double change_s = next < end ? set->change_s[next] + delay_s : HUGE_VAL;
            const double until_s = fmin(set->t_s[k + 1], fmax(change_s, t_s));
            pass_time(s, set->command_rad[held], until_s - t_s);
            held = until_s >= change_s ? next : held;
            t_s = until_s;
        }
    }
}

/* Returns the squares of the first rows, simulated from this velocity. */
static double try_velocity(struct servo_state *s, const struct servo_set *set, size_t begin,
                           size_t end, double velocity, double *position_rad)
{
    double squares = 0.0;
    simulate_rows(s, set, begin, end, velocity, position_rad, NULL);
    for (size_t k = begin; k < end; k++) {
        const double e = set->position_rad[k] - position_rad[k];
        squares += isfinite(e) ? e * e : 0.0;
    }
    return squares;
}

/* A run begins at rest, or with the slope of its first rows where that predicts these rows
 * better. */
static void simulate_run(struct servo_state *s, const struct servo_set *set, size_t begin,
                         size_t end, double *position_rad, double *velocity_radps)
{
    size_t first = begin + SLOPE_ROWS < end ? begin + SLOPE_ROWS : end - 1;
    while (first > begin && isnan(set->position_rad[first])) {
        first--;
    }
    const double moved = set->position_rad[first] - set->position_rad[begin];
    double velocity = 0.0;
    if (fabs(moved) > 3.0 * set->step_rad && fabs(moved) > 0.02 * set->range_rad) {
        const double slope = moved / (set->t_s[first] - set->t_s[begin]);
        const double rests = try_velocity(s, set, begin, first + 1, 0.0, position_rad);
        const double moves = try_velocity(s, set, begin, first + 1, slope, position_rad);
        velocity = moves < rests ? slope : 0.0;
    }
    simulate_rows(s, set, begin, end, velocity, position_rad, velocity_radps);
}

static struct servo_state start_state(const struct servo_law *law)
{
    const double sigma = 0.5 * law->damping;
    const double delta2 = sigma * sigma - law->stiffness;
    return (struct servo_state){.law = law,
                                .sigma = sigma,
                                .delta2 = delta2,
                                .delta = sqrt(fabs(delta2)),
                                .dead = law->dead_band_rad,
                                .moved = {.h_s = -1.0}};
}

uint64_t servo_simulate(const struct servo_set *set, const struct servo_law *law,
                        double *position_rad, double *velocity_radps)
{
    struct servo_state s = start_state(law);
    for (size_t r = 0; r < set->run_count; r++) {
        simulate_run(&s, set, set->run_start[r], set->run_start[r + 1], position_rad,
                     velocity_radps);
    }
    return s.steps;
}

void servo_motion_place(struct servo_motion *motion, double position_rad)
{
    *motion = (struct servo_motion){.q_rad = position_rad,
                                    .shown_rad = position_rad,
                                    .seen_rad = position_rad,
                                    .set_point_rad = position_rad};
}

void servo_motion_advance(struct servo_motion *motion, const struct servo_law *law,
                          double command_rad, double h_s)
{
    struct servo_state s = start_state(law);
    s.q = motion->q_rad;
    s.w = motion->w_radps;
    s.shown = motion->shown_rad;
    s.seen = motion->seen_rad;
    s.set_point = motion->set_point_rad;
    s.speed = motion->set_radps;
    pass_time(&s, command_rad, h_s);
    *motion = (struct servo_motion){s.q, s.w, s.shown, s.seen, s.set_point, s.speed};
}
