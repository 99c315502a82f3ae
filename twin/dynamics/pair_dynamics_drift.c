/* twin/dynamics/pair_dynamics_drift.c - drift of a pair's dynamics: compares fits and the
 * filter with the reference, and reports which parameter changed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/dynamics/pair_dynamics_parts.h"
#include "twin/dynamics/pair_dynamics_thresholds.def"

/* Degrees of freedom of a filter whose noise is estimated from thousands of samples. */
static const double FREEDOM_KNOWN = 1e4;

enum { CHANGES_MAX = 400 /* bytes of text */ };

/* The filter's test assumes white innovations, unless the last fit showed otherwise. For linear
 * fits this is unknown. */
static bool quick_test_is_honest(const struct dynamics_side *side)
{
    const struct dynamics_fit *fit = &side->result.fit;
    return !side->fitted || (fit->method != DYNAMICS_PEM &&
                             !(fit->method == DYNAMICS_OUTPUT_ERROR && fit->hac_share > 0.0));
}

static const char *unit_of(const struct model *model, size_t j)
{
    return j < model->parameter_count ? model->parameters[j].unit
           : j == DYNAMICS_PAYLOAD    ? "times all masses"
           : j >= DYNAMICS_EFFECT     ? "of the commanded effort"
                                      : "";
}

/* Writes "surge_linear_kgps (or surge_quadratic_kgpm) changed by +80.0 %, from 20 to 36 kg/s
 * (9.1 standard errors)". */
static void write_change(const struct model *model, const struct online_drift *drift,
                         size_t rival, char *text, size_t bytes)
{
    char name[ESTIMATE_NAME_MAX];
    char other[ESTIMATE_NAME_MAX];
    const bool either = rival < DYNAMICS_DIRECTIONS;
    (void)snprintf(text, bytes,
                   "%s%s%s%s changed by %+.1f %%, from %.4g to %.4g %s (%.1f standard errors)",
                   dynamics_change_name(model, drift->parameter, name, sizeof name),
                   either ? " (or " : "",
                   either ? dynamics_change_name(model, rival, other, sizeof other) : "",
                   either ? ")" : "", 100.0 * drift->change_ratio, drift->before, drift->after,
                   unit_of(model, drift->parameter), drift->z);
}

static void record_moved(struct dynamics_side *side, const struct pair_run *run,
                         const struct online_drift *drift, int64_t since_us)
{
    side->moved[drift->parameter] = drift->after > drift->before ? 1 : -1;
    side->drifted_us = run->t_us;
    side->changed_us = since_us;
}

/* Schedules a fit of the samples after the change, at due_us. */
static void want_fit(struct dynamics_side *side, const struct pair_run *run, int64_t due_us)
{
    if (run->p->dynamics.refit_on_drift && due_us < side->next_fit_us) {
        side->next_fit_us = due_us;
        side->drift_waits = true;
    }
}

/* Makes the changed values the robot's new reference, and lists them in text, the first in
 * full. before: previous standard errors, by parameter. */
static void apply_changes(struct pair_dynamics *d, const struct pair_run *run, enum side which,
                          const struct dynamics_change *change,
                          const struct dynamics_reference *before, int64_t since_us,
                          char text[CHANGES_MAX])
{
    const struct model *model = pair_dynamics_model(d);
    struct dynamics_side *side = &d->side[which];
    char name[ESTIMATE_NAME_MAX];
    size_t used = 0;
    memset(side->moved, 0, sizeof side->moved);
    for (size_t i = 0; i < change->count; i++) {
        const size_t j = change->parameter[i];
        const struct online_drift drift = {
            .parameter = j,
            .since_us = since_us,
            .found_us = run->t_us,
            .before = change->before[i],
            .after = change->after[i],
            .before_se = j >= DYNAMICS_PAYLOAD ? 0.0 : sqrt(before->covariance[j][j]),
            .after_se = change->after_se[i],
            .change_ratio = change->after[i] / change->before[i] - 1.0,
            .z = change->z[i]};
        record_moved(side, run, &drift, since_us);
        if (i == 0) {
            side->drift = drift;
            write_change(model, &drift, change->rival[0], text, CHANGES_MAX);
        } else {
            (void)snprintf(text + used, CHANGES_MAX - used, ", %s by %+.0f %%",
                           dynamics_change_name(model, j, name, sizeof name),
                           100.0 * drift.change_ratio);
        }
        used = strlen(text);
    }
    side->drifts++;
}

/* The filter names one parameter. The estimate shows, as for a fit, which parameters changed,
 * or a payload. Without such an estimate the filter's parameter is used. False: the change is
 * only more of a reported one that no fit includes yet. */
static bool name_changes(struct pair_dynamics *d, const struct pair_run *run, enum side which,
                         const struct online_drift *drift,
                         const struct dynamics_reference *before,
                         struct dynamics_change *change)
{
    const struct dynamics_side *side = &d->side[which];
    const struct online_filter *f = &side->filter;
    const bool settling = side->drifted_us != LAB_TIME_NONE;
    struct dynamics_reference after;
    pair_dynamics_refer_filter(f, f->theta, NULL, &after);
    const bool compared = dynamics_change_find(
        pair_dynamics_model(d), before, &after, settling ? side->moved : NULL,
        settling ? LEVEL_MAX : 1.0, 0.5 * run->p->dynamics.drift_ratio, change);
    if (compared && settling && change->count == 0) {
        return false;
    }
    if (!compared || change->count == 0) {
        *change = (struct dynamics_change){.count = 1,
                                           .parameter = {drift->parameter},
                                           .rival = {DYNAMICS_DIRECTIONS},
                                           .before = {drift->before},
                                           .after = {drift->after},
                                           .after_se = {drift->after_se},
                                           .z = {drift->z}};
    }
    return true;
}

void pair_dynamics_refer_filter(const struct online_filter *f, const double *theta,
                                const double *se, struct dynamics_reference *out)
{
    memset(out, 0, sizeof *out);
    out->count = 1;
    out->p = f->p;
    out->freedom = FREEDOM_KNOWN;
    for (size_t i = 0; i < f->p; i++) {
        out->value[i] = theta[i];
        for (size_t j = 0; j < f->p && !se; j++) {
            out->covariance[i][j] = f->covariance[f->n + i][f->n + j];
        }
        out->covariance[i][i] = se ? se[i] * se[i] : out->covariance[i][i];
    }
}

void pair_dynamics_report_drift(struct pair_dynamics *d, const struct pair_run *run,
                                enum side which, const struct online_drift *drift,
                                const struct dynamics_reference *before)
{
    struct dynamics_side *side = &d->side[which];
    struct dynamics_change change;
    char text[CHANGES_MAX];
    if (!quick_test_is_honest(side) || !name_changes(d, run, which, drift, before, &change)) {
        return;
    }
    apply_changes(d, run, which, &change, before, drift->since_us, text);
    pair_alarm_since(run, ALARM_DRIFT_DYNAMICS, which, "", drift->since_us,
                     "the %s robot's %s, since %.1f s", side_name(which), text,
                     lab_s(run->t_us - drift->since_us));
    side->reference.count = 0;
    /* Earlier samples show another robot. */
    pair_dynamics_drop_before(d, &run->p->dynamics, which,
                              side->sampled_us - (run->t_us - drift->since_us));
    want_fit(side, run, run->t_us);
    side->published_us = run->t_us;
    pair_emit(run, (struct effect){.kind = EFFECT_DYNAMICS, .side = which});
}

/* The begin of the change as the filter saw it, if it is after the previous fits; otherwise
 * their end. */
static int64_t date_change(const struct dynamics_side *side)
{
    const struct online_filter *f = &side->filter;
    if (f->drifts > 0 && f->last.since_us > side->reference_us) {
        return f->last.since_us;
    }
    return f->opened && f->suspect_us > side->reference_us ? f->suspect_us : side->reference_us;
}

static void alarm_changes(struct pair_dynamics *d, const struct pair_run *run, enum side which,
                          const struct dynamics_change *change)
{
    struct dynamics_side *side = &d->side[which];
    const int64_t since_us = date_change(side);
    char text[CHANGES_MAX];
    apply_changes(d, run, which, change, &side->reference, since_us, text);
    pair_alarm_since(run, ALARM_DRIFT_BETWEEN_FITS, which, "", since_us,
                     "the %s robot's %s, between fits, within %.1f s", side_name(which), text,
                     lab_s(run->t_us - since_us));
    /* The first fit of later samples only is sure to show all of the change. */
    want_fit(side, run, side->began_us + run->p->dynamics.window_us);
}

/* A change amid the samples of a fit looks like several changes. If one direction explains it,
 * it is reported at once; otherwise a fit of later samples decides. */
static bool must_wait(struct dynamics_side *side, const struct pair_run *run,
                      const struct dynamics_change *change, int64_t since_us)
{
    if (side->suspected_us == LAB_TIME_NONE) {
        side->suspected_us = side->began_us;
    } else if (since_us >= side->suspected_us) {
        return false;
    }
    if (change->count == 1) {
        return false;
    }
    want_fit(side, run, side->suspected_us + run->p->dynamics.window_us);
    return run->p->dynamics.refit_on_drift || run->p->dynamics.refit_us > 0;
}

/* Averages fits that agree and have no sample in common. */
static void update_reference(struct dynamics_side *side, bool agrees, int64_t since_us)
{
    if (!agrees) {
        side->reference = side->result.honest;
    } else if (since_us >= side->reference_us) {
        dynamics_reference_join(&side->reference, &side->result.honest);
    } else {
        return;
    }
    side->reference_us = side->began_us;
}

static bool creeps_on(const struct pair_dynamics *d, const struct pair_run *run,
                      const struct dynamics_side *side)
{
    const size_t j = side->drift.parameter;
    struct dynamics_change change;
    if (side->drifts == 0 || side->drifted_us != LAB_TIME_NONE || j >= DYNAMICS_PAYLOAD ||
        side->moved[j] == 0) {
        return false;
    }
    const double far = CREEP_RATIOS * run->p->dynamics.drift_ratio;
    return fabs(side->result.honest.value[j] - side->drift.after) <=
               far * fabs(side->drift.after) &&
           dynamics_change_find(pair_dynamics_model(d), &side->reference, &side->result.honest,
                                NULL, LEVEL_MAX, 0.0, &change) &&
           change.count > 0;
}

/* This fit has nothing new to report. */
static void close_change(struct dynamics_side *side, bool creeps, int64_t since_us)
{
    const size_t j = side->drift.parameter;
    if (side->drifted_us == LAB_TIME_NONE) {
        if (!creeps) {
            memset(side->moved, 0, sizeof side->moved);
        }
    } else if (since_us >= side->drifted_us) {
        side->drifted_us = LAB_TIME_NONE;
        if (j < DYNAMICS_PAYLOAD) {
            /* The new value is known now. */
            side->drift.after = side->result.honest.value[j];
            side->drift.after_se = sqrt(side->result.honest.covariance[j][j]);
            side->drift.change_ratio = side->drift.after / side->drift.before - 1.0;
        }
    }
}

void pair_dynamics_compare(struct pair_dynamics *d, const struct pair_run *run, enum side which)
{
    struct dynamics_side *side = &d->side[which];
    const struct dynamics_fit *fit = &side->result.fit;
    const int64_t since_us = pair_dynamics_since_us(side);
    const bool settling = side->drifted_us != LAB_TIME_NONE;
    struct dynamics_change change;
    /* The filter reported a change amid the fit's samples. */
    const bool mixed = settling && side->reference.count == 0 && since_us < side->changed_us;
    if (side->result.honest.count == 0 || mixed || side->job == side->other_job) {
        return;
    }
    const double day = lab_s(side->began_us - side->compared_us) / 86400.0;
    const bool creeps = creeps_on(d, run, side);
    const bool compared =
        dynamics_change_find(pair_dynamics_model(d), &side->reference, &side->result.honest,
                             settling || creeps ? side->moved : NULL,
                             fmin(fmax(FALSE_ALARMS_PER_DAY * day, 0.0), LEVEL_MAX),
                             0.5 * run->p->dynamics.drift_ratio, &change);
    side->compared_us = side->began_us;
    if (compared && change.count > 0 && must_wait(side, run, &change, since_us)) {
        return;
    }
    side->suspected_us = LAB_TIME_NONE;
    if (compared && change.count > 0) {
        alarm_changes(d, run, which, &change);
        side->drifted_us = side->began_us;
        update_reference(side, false, since_us);
        online_filter_refer(&side->filter, fit->estimate.value, fit->estimate.se);
        return;
    }
    update_reference(side, compared && !settling && !creeps, since_us);
    close_change(side, creeps, since_us);
}
