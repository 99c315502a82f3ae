#include "twin/robots/diffdrive_lidar.h"

#include <math.h>

#define QUARTER_RAD 1.57079632679489661923
#define ANGLE_SAME  1e-9 /* rad */

static const struct l0lidar_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

static bool is_over(const struct efsm_view *v)
{
    return (double)v->t_us >= efsm_get(v, L0LIDAR_UNTIL);
}

static bool is_on_target(const struct efsm_view *v)
{
    return fabs(input_of(v)->target_rad - efsm_get(v, L0LIDAR_YAW)) <= ANGLE_SAME;
}

static bool has_echo(const struct efsm_view *v)
{
    return input_of(v)->echo;
}

static void turn_servo(const struct efsm_view *v)
{
    const double way_rad = fabs(input_of(v)->target_rad - efsm_get(v, L0LIDAR_YAW));
    efsm_set(v, L0LIDAR_UNTIL, (double)v->t_us + way_rad / input_of(v)->servo_radps * 1e6);
    efsm_set(v, L0LIDAR_YAW, input_of(v)->target_rad);
}

static void start_ping(const struct efsm_view *v)
{
    efsm_set(v, L0LIDAR_UNTIL, (double)v->t_us + input_of(v)->echo_wait_us);
    efsm_set(v, L0LIDAR_PENDING, input_of(v)->request ? 1.0 : 0.0);
}

static void keep_reading(const struct efsm_view *v, double distance_m)
{
    efsm_set(v, L0LIDAR_Q, distance_m);
    efsm_set(v, L0LIDAR_Q_YAW, efsm_get(v, L0LIDAR_YAW));
    efsm_set(v, L0LIDAR_UPDATE, efsm_get(v, L0LIDAR_PENDING));
}

static void keep_echo(const struct efsm_view *v)
{
    keep_reading(v, input_of(v)->echo_m);
}

static void keep_none(const struct efsm_view *v)
{
    keep_reading(v, input_of(v)->range_m);
}

static void tell_outputs(const struct efsm_view *v)
{
    struct l0lidar_out *out = v->out;
    const double q_yaw_rad = efsm_get(v, L0LIDAR_Q_YAW);
    out->yaw_rad = efsm_get(v, L0LIDAR_YAW);
    out->distance_m = efsm_get(v, L0LIDAR_Q);
    out->update = efsm_get(v, L0LIDAR_UPDATE) > 0.0;
    out->ahead = fabs(q_yaw_rad) <= ANGLE_SAME && fabs(out->yaw_rad) <= ANGLE_SAME;
    out->ping = v->now->state == L0LIDAR_ECHO;
}

static const struct efsm_state states[] = {L0LIDAR_STATES(EFSM_STATE)};

/* clang-format off */
static const struct efsm_arc arcs[] = {
    {L0LIDAR_ROTATE, L0LIDAR_PING,   is_over,      NULL,       .label = "t >= until"},
    {L0LIDAR_ROTATE, L0LIDAR_ROTATE, NULL,         NULL,       .label = "t < until",
     .waits = true, .unless = {is_over}},
    {L0LIDAR_PING,   L0LIDAR_ROTATE, NULL,         turn_servo,
     .label = "target != yaw / yaw+ = target, until+ = t + |target - yaw| / w",
     .unless = {is_on_target}, .clears = BIT(L0LIDAR_UPDATE)},
    {L0LIDAR_PING,   L0LIDAR_ECHO,   is_on_target, start_ping,
     .label = "target = yaw / pending+ = request, until+ = t + wait", .clears = BIT(L0LIDAR_UPDATE)},
    {L0LIDAR_ECHO,   L0LIDAR_PING,   has_echo,     keep_echo,  .label = "echo / Q+ = echo, update+ = pending"},
    {L0LIDAR_ECHO,   L0LIDAR_PING,   is_over,      keep_none,
     .label = "!echo & t >= until / Q+ = range, update+ = pending", .unless = {has_echo}},
    {L0LIDAR_ECHO,   L0LIDAR_ECHO,   NULL,         NULL,       .label = "!echo & t < until",
     .waits = true, .unless = {has_echo, is_over}},
};
/* clang-format on */

static const char *const cells[] = {L0LIDAR_CELLS(NAMES_TEXT)};

const struct efsm_table l0lidar_table = {
    .name = "l0lidar",
    .purpose = "Turns the lidar of the differential-drive robot and reads it.",
    EFSM_STATES(states),
    EFSM_ARCS(arcs),
    EFSM_CELLS(cells),
    .zeros = BIT(L0LIDAR_YAW) | BIT(L0LIDAR_PENDING) | BIT(L0LIDAR_UPDATE),
    .output = tell_outputs,
};

void l0lidar_reset(struct efsm *m, int64_t t_us, double servo_radps, double range_m)
{
    efsm_reset(&l0lidar_table, m, t_us);
    efsm_init_cell(m, L0LIDAR_UNTIL, (double)t_us + QUARTER_RAD / servo_radps * 1e6);
    efsm_init_cell(m, L0LIDAR_Q, range_m);
    /* No reading yet: an angle that no reading has. */
    efsm_init_cell(m, L0LIDAR_Q_YAW, 10.0);
}
