#include "twin/following/following.h"

#include <math.h>
#include <string.h>

/* Back within its target is only what is so by this much. */
static const double TARGET_HYSTERESIS = 0.02;

struct machine_in {
    bool wanted;
    bool heard; /* the simulated robot */
    enum shadow_state real;
};

/* --- the machine ---------------------------------------------------------------------------
 */

static const struct machine_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

static bool is_wanted(const struct efsm_view *v)
{
    return input_of(v)->wanted;
}

static bool real_is(const struct efsm_view *v, enum shadow_state state)
{
    return input_of(v)->wanted && input_of(v)->heard && input_of(v)->real == state;
}

static bool real_tracks(const struct efsm_view *v)
{
    return real_is(v, SHADOW_TRACKING);
}

static bool real_holds(const struct efsm_view *v)
{
    return real_is(v, SHADOW_HOLDING);
}

static bool real_stops(const struct efsm_view *v)
{
    return real_is(v, SHADOW_STOPPING);
}

static bool real_stopped(const struct efsm_view *v)
{
    return real_is(v, SHADOW_STOPPED);
}

static bool either_lost(const struct efsm_view *v)
{
    return input_of(v)->wanted && (!input_of(v)->heard || input_of(v)->real == SHADOW_IDLE);
}

static const struct efsm_state states[] = {FOLLOWING_STATES(EFSM_STATE)};

/* clang-format off */
#define FROM(state)                                                                            \
    {state, FOLLOWING_OFF,      NULL,         NULL, "!wanted",          .unless = {is_wanted}, .waits = true}, \
    {state, FOLLOWING_TRACKING, real_tracks,  NULL, "real heard",       .waits = true},        \
    {state, FOLLOWING_HOLDING,  real_holds,   NULL, "real silent",      .waits = true},        \
    {state, FOLLOWING_STOPPING, real_stops,   NULL, "for longer",       .waits = true},        \
    {state, FOLLOWING_STOPPED,  real_stopped, NULL, "at rest",          .waits = true},        \
    {state, FOLLOWING_LOST,     either_lost,  NULL, "simulated silent", .waits = true}

static const struct efsm_arc arcs[] = {
    {FOLLOWING_OFF,     FOLLOWING_OFF,      NULL,        NULL, "!wanted",    .unless = {is_wanted}, .waits = true},
    {FOLLOWING_OFF,     FOLLOWING_WAITING,  is_wanted,   NULL, "wanted",     .waits = true},
    {FOLLOWING_WAITING, FOLLOWING_OFF,      NULL,        NULL, "!wanted",    .unless = {is_wanted}, .waits = true},
    {FOLLOWING_WAITING, FOLLOWING_WAITING,  is_wanted,   NULL, "not both heard", .unless = {real_tracks},
        .waits = true},
    {FOLLOWING_WAITING, FOLLOWING_TRACKING, real_tracks, NULL, "both heard", .waits = true},
    FROM(FOLLOWING_TRACKING),
    FROM(FOLLOWING_HOLDING),
    FROM(FOLLOWING_STOPPING),
    FROM(FOLLOWING_STOPPED),
    FROM(FOLLOWING_LOST),
};
/* clang-format on */

const struct efsm_table following_table = {
    .name = "following",
    .purpose = "Decides whether the simulated robot is driven after the real one, held or "
               "stopped.",
    EFSM_STATES(states),
    EFSM_ARCS(arcs),
    .initial = FOLLOWING_OFF,
};

/* --- frames --------------------------------------------------------------------------------
 */

/* A pose in the plane turns as a whole; other coordinates are moved one by one. */
static bool is_planar(const struct model *model)
{
    return model->axis_count == 3 && strcmp(model->axes[2].pose, "psi_rad") == 0;
}

static void to_simulated(const struct following *f, const struct model *model,
                         const double *pose, double *out)
{
    double turned[MODEL_AXES_MAX];
    memcpy(turned, pose, model->axis_count * sizeof pose[0]);
    if (is_planar(model)) {
        const double c = cos(f->frame[2]);
        const double s = sin(f->frame[2]);
        turned[0] = c * pose[0] - s * pose[1];
        turned[1] = s * pose[0] + c * pose[1];
    }
    for (size_t i = 0; i < model->axis_count; i++) {
        out[i] = turned[i] + f->frame[i];
    }
}

/* From now on the two stand where they stand now. */
static void align_frames(struct following *f, const struct model *model, const double *real,
                         const double *simulated)
{
    double turned[MODEL_AXES_MAX] = {0};
    memset(f->frame, 0, sizeof f->frame);
    if (is_planar(model)) {
        f->frame[2] = simulated[2] - real[2];
    }
    to_simulated(f, model, real, turned);
    for (size_t i = 0; i < model->axis_count; i++) {
        if (!is_planar(model) || i < 2) {
            f->frame[i] = simulated[i] - turned[i];
        }
    }
    f->aligned = true;
    fidelity_reframe(&f->fidelity);
}

/* --- in ------------------------------------------------------------------------------------
 */

void following_init(struct following *f, int64_t t_us)
{
    *f = (struct following){0};
    efsm_reset(&following_table, &f->machine, t_us);
}

void following_want(struct following *f, bool wanted_now)
{
    if (wanted_now && !f->wanted) {
        f->aligned = false;
    }
    f->wanted = wanted_now;
}

void following_restarted(struct following *f, bool real)
{
    f->aligned = false;
    if (real) {
        shadow_restart(&f->real);
        follower_smooth(&f->follower);
    } else {
        shadow_restart(&f->simulated);
        f->driving = false;
    }
}

static bool is_taken(enum shadow_gate gate)
{
    return gate == SHADOW_TAKEN || gate == SHADOW_CLAMPED;
}

enum shadow_gate following_real(struct following *f, const struct following_params *p,
                                int64_t t_us, int64_t arrival_us, const double *nu,
                                const double *tau, const double *pose)
{
    static const double none[MODEL_AXES_MAX] = {0};
    const enum shadow_gate gate =
        shadow_sample(&f->real, &p->real, t_us, arrival_us, nu, tau ? tau : none, pose);
    if (is_taken(gate)) {
        double there[MODEL_AXES_MAX] = {0};
        if (pose && f->aligned) {
            to_simulated(f, p->follower.model, pose, there);
        }
        fidelity_real(&f->fidelity, &p->fidelity, f->real.at_us, nu,
                      pose && f->aligned ? there : NULL);
    }
    return gate;
}

enum shadow_gate following_simulated(struct following *f, const struct following_params *p,
                                     int64_t t_us, int64_t arrival_us, const double *nu,
                                     const double *pose)
{
    const enum shadow_gate gate =
        shadow_sample(&f->simulated, &p->simulated, t_us, arrival_us, nu, f->output.tau, pose);
    if (is_taken(gate)) {
        if (pose && !f->aligned && f->real.state == SHADOW_TRACKING) {
            align_frames(f, p->follower.model, f->real.ahead_pose, pose);
        }
        fidelity_virtual(&f->fidelity, &p->fidelity, f->simulated.at_us, nu, pose);
    }
    return gate;
}

/* --- a tick --------------------------------------------------------------------------------
 */

/* Whether the simulated robot is driven. */
static bool run_machine(struct following *f, int64_t now_us)
{
    const struct machine_in now = {.wanted = f->wanted,
                                   .heard = f->simulated.state == SHADOW_TRACKING,
                                   .real = f->real.state};
    efsm_plan(&following_table, &f->machine, &now, now_us);
    efsm_update(&following_table, &f->machine, now_us, 0, &f->stats, NULL);
    return f->machine.state >= FOLLOWING_TRACKING && f->machine.state <= FOLLOWING_STOPPED;
}

static unsigned note_silence(struct following *f, uint8_t before)
{
    const uint8_t state = f->machine.state;
    unsigned news = 0;
    if (state == FOLLOWING_HOLDING && before == FOLLOWING_TRACKING) {
        news |= FOLLOWING_NEWS_STALE;
    }
    if (state == FOLLOWING_LOST && before != FOLLOWING_LOST) {
        news |= FOLLOWING_NEWS_LOST;
    }
    if (state == FOLLOWING_TRACKING && f->was_down) {
        news |= FOLLOWING_NEWS_RESUMED;
    }
    f->was_down = state != FOLLOWING_TRACKING &&
                  (f->was_down || (news & (FOLLOWING_NEWS_STALE | FOLLOWING_NEWS_LOST)) != 0);
    return news;
}

/* Once a bucket is enough. Half a window has to be there before anything is said. */
static unsigned judge_fidelity(struct following *f, const struct following_params *p,
                               int64_t now_us)
{
    const int64_t every_us = p->fidelity.window_us / FIDELITY_BUCKETS;
    const int64_t period_us = (int64_t)(p->follower.period_s * 1e6);
    if (!(p->fidelity.target_m > 0.0) || f->machine.state != FOLLOWING_TRACKING ||
        now_us % every_us >= period_us ||
        now_us - f->machine.entered_us < p->fidelity.window_us / 2) {
        return 0;
    }
    struct fidelity_report report;
    fidelity_read(&f->fidelity, &p->fidelity, now_us, &report);
    if (!f->missed && report.within_ratio < p->fidelity.target_ratio) {
        f->missed = true;
        return FOLLOWING_NEWS_MISSED;
    }
    if (f->missed &&
        report.within_ratio >= fmin(p->fidelity.target_ratio + TARGET_HYSTERESIS, 1.0)) {
        f->missed = false;
        return FOLLOWING_NEWS_MET;
    }
    return 0;
}

static void control_robot(struct following *f, const struct following_params *p,
                          const struct follower_target *simulated)
{
    struct follower_target target = f->target;
    if (!f->driving) { /* from no effort, gently */
        f->follower = (struct follower){.running = true, .smooth = true};
        memcpy(f->follower.nu, simulated->nu, sizeof f->follower.nu);
        memcpy(f->follower.nu_hat, simulated->nu, sizeof f->follower.nu_hat);
    }
    if (f->aligned) {
        to_simulated(f, p->follower.model, f->target.pose, target.pose);
    } else { /* no place to go to yet */
        memcpy(target.pose, simulated->pose, sizeof target.pose);
    }
    if (!follower_step(&f->follower, &p->follower, &target, simulated->nu, simulated->pose,
                       &f->output)) {
        f->held++;
    }
}

bool following_tick(struct following *f, const struct following_params *p, int64_t now_us,
                    unsigned *news)
{
    const double period_s = p->follower.period_s;
    const uint8_t before = f->machine.state;
    struct follower_target simulated;
    f->ticks++;
    (void)shadow_target(&f->real, &p->real, now_us, period_s, &f->target);
    (void)shadow_target(&f->simulated, &p->simulated, now_us, period_s, &simulated);
    const bool driving = run_machine(f, now_us);
    *news = note_silence(f, before) | judge_fidelity(f, p, now_us);
    const bool ends = f->driving && !driving;
    if (f->machine.state != before) {
        follower_smooth(&f->follower);
    }
    if (driving) {
        control_robot(f, p, &simulated);
    } else {
        f->output = (struct follower_output){0};
        f->follower = (struct follower){0};
    }
    f->driving = driving;
    return driving || ends;
}
