/* Does a robot's telemetry fit the model that its dynamics are followed by? */
#include <stdio.h>

#include "twin/dynamics/pair_dynamics_parts.h"

enum {
    HEARD_MIN = 10, /* samples, before anything is said */
    HEARD_MAX = 50  /* as many count */
};
/* A sample now and then that does not fit is left out; so many mean that none is to be trusted.
 * The alarm comes again only after nearly all have fitted. */
static const double WRONG_RATIO = 0.2;
static const double RIGHT_RATIO = 0.05;

static enum dynamics_misfit misfit_of(const struct model *model,
                                      const struct event_telemetry *m, struct online_sample *s)
{
    const enum model_axes_match nu = model_axes_take(model, m->nu, m->nu_count, s->nu);
    const enum model_axes_match tau = model_axes_take(model, m->tau, m->tau_count, s->tau);
    s->nu_count = nu == MODEL_AXES_FIT ? model->axis_count : 0;
    s->tau_count = tau == MODEL_AXES_FIT ? model->axis_count : 0;
    if (nu != MODEL_AXES_FIT) {
        return nu == MODEL_AXES_SIDEWAYS ? DYNAMICS_NU_SIDEWAYS : DYNAMICS_NU_COUNT;
    }
    if (m->tau_count == 0) {
        return DYNAMICS_NO_TAU;
    }
    if (tau != MODEL_AXES_FIT) {
        return tau == MODEL_AXES_SIDEWAYS ? DYNAMICS_TAU_SIDEWAYS : DYNAMICS_TAU_COUNT;
    }
    return model->needs_pose && m->pose_count < model_pose_count(model) ? DYNAMICS_NO_POSE
                                                                        : DYNAMICS_FITS;
}

static void note_misfit(struct dynamics_shape *shape, const struct event_telemetry *m,
                        enum dynamics_misfit misfit)
{
    shape->heard += shape->heard < HEARD_MAX ? 1 : 0;
    shape->miss_ratio +=
        ((misfit == DYNAMICS_FITS ? 0.0 : 1.0) - shape->miss_ratio) / (double)shape->heard;
    if (misfit == DYNAMICS_FITS) {
        return;
    }
    const bool of_nu = misfit == DYNAMICS_NU_COUNT || misfit == DYNAMICS_NU_SIDEWAYS;
    shape->misfit = (uint8_t)misfit;
    shape->count = (uint8_t)(of_nu ? m->nu_count : m->tau_count);
    shape->sideways = misfit == DYNAMICS_NU_SIDEWAYS    ? m->nu[1]
                      : misfit == DYNAMICS_TAU_SIDEWAYS ? m->tau[1]
                                                        : 0.0;
}

void pair_dynamics_take_shape(struct pair_dynamics *d, const struct pair_run *run,
                              struct online_sample *s)
{
    const enum side which = run->event->side;
    const struct event_telemetry *m = &run->event->telemetry;
    struct dynamics_shape *shape = &d->side[which].shape;
    char text[DYNAMICS_OBSTACLE_MAX];
    note_misfit(shape, m, misfit_of(pair_dynamics_model(d), m, s));
    if (shape->wrong) {
        shape->wrong = shape->miss_ratio > RIGHT_RATIO;
    } else if (shape->heard >= HEARD_MIN && shape->miss_ratio > WRONG_RATIO) {
        shape->wrong = true;
        pair_dynamics_obstacle(d, which, text);
        pair_alarm(run, ALARM_PARAMETERS, which, "",
                   "nothing is learnt of the %s robot's dynamics: %s", side_name(which), text);
    }
}

/* ---- in words -----------------------------------------------------------------------------
 */

/* "[v_mps, w_radps]", and the same of the plane. */
static void list_axes(const struct model *model, bool efforts, char *text, size_t size)
{
    const char *planar[3] = {"0", "0", "0"};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < model->axis_count && used < size; i++) {
        const struct model_axis *axis = &model->axes[i];
        const char *name = efforts ? axis->effort : axis->velocity;
        const int n = snprintf(text + used, size - used, "%s%s", i ? ", " : "[", name);
        used += n > 0 ? (size_t)n : 0;
        if (model->planar) {
            planar[model->planar[i]] = name;
        }
    }
    if (used < size) {
        (void)snprintf(text + used, size - used, model->planar ? "] or [%s, %s, %s]" : "]",
                       planar[0], planar[1], planar[2]);
    }
}

static void tell_misfit(const struct model *model, const struct dynamics_shape *shape,
                        char text[DYNAMICS_OBSTACLE_MAX])
{
    const enum dynamics_misfit misfit = (enum dynamics_misfit)shape->misfit;
    const bool efforts = misfit >= DYNAMICS_NO_TAU;
    const char *vector = efforts ? "tau" : "nu";
    char axes[96];
    list_axes(model, efforts, axes, sizeof axes);
    if (misfit == DYNAMICS_NO_POSE) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "telemetry tells no pose, %s needs it: pose shall begin with %s",
                       model->name, model->axes[0].pose);
    } else if (misfit == DYNAMICS_NO_TAU) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "telemetry tells no efforts, %s needs tau as %s", model->name, axes);
    } else if (misfit == DYNAMICS_NU_SIDEWAYS || misfit == DYNAMICS_TAU_SIDEWAYS) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "%s[1] of telemetry is %.3g, but a robot of model %s does not move "
                       "sideways: %s shall be %s, in the robot's own axes",
                       vector, shape->sideways, model->name, vector, axes);
    } else {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "%s of telemetry has %d number%s, %s wants it as %s", vector,
                       shape->count, shape->count == 1 ? "" : "s", model->name, axes);
    }
}

void pair_dynamics_obstacle(const struct pair_dynamics *d, enum side which,
                            char text[DYNAMICS_OBSTACLE_MAX])
{
    const struct dynamics_side *side = &d->side[which];
    const uint64_t *gate = side->filter.gate;
    const uint64_t passed =
        gate[ONLINE_DUPLICATE] + gate[ONLINE_OUT_OF_ORDER] + gate[ONLINE_STALE];
    text[0] = '\0';
    if (!side->followed) {
        return;
    }
    if (side->shape.wrong) {
        tell_misfit(pair_dynamics_model(d), &side->shape, text);
    } else if (side->shape.heard <= 1 && passed >= HEARD_MIN) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "samples are passed over (%llu repeat the seq of one before, %llu are "
                       "older, %llu retained or too long under way): seq and t shall count up",
                       (unsigned long long)gate[ONLINE_DUPLICATE],
                       (unsigned long long)gate[ONLINE_OUT_OF_ORDER],
                       (unsigned long long)gate[ONLINE_STALE]);
    } else if (side->shape.heard == 0) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "no telemetry of the %s robot has come since it started",
                       side_name(which));
    } else if (side->count >= DYNAMICS_WINDOW_MIN && side->pushed_us == LAB_TIME_NONE) {
        (void)snprintf(text, DYNAMICS_OBSTACLE_MAX,
                       "no effort of the %s robot has changed yet: drive it", side_name(which));
    } else if (side->waits) {
        (void)snprintf(
            text, DYNAMICS_OBSTACLE_MAX,
            "the %s robot has hardly been driven yet: the first fit waits for a quarter "
            "of dynamics.window_s of it",
            side_name(which));
    }
}
