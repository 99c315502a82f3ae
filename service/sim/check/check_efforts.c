/* service/sim/check/check_efforts.c - from when on efforts in telemetry act: from their sample
 * on, or on the way to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identification/numeric/robust_ls.h"
#include "service/sim/check/check_parts.h"

/* A residual this much smaller is clearly better; one below this share of the velocity is
 * rounding. */
static const double CLEAR_RATIO = 0.1, FLOOR_RATIO = 1e-4;
/* A velocity that jumps with the effort shows the last command, whenever that came. */
static const double LAG_MIN = 0.3;
enum { CHANGES_MIN = 4 };

/* The velocity of one axis, predicted a sample ahead: nu' = a + b nu + c tau. */
struct ahead {
    size_t n, p;
    double *x; /* [2][n x p] with the earlier sample's efforts, and with the later one's */
    double *y;
};

/* Do two samples follow each other, with the same axes? */
static bool is_next(const struct check_sample *a, const struct check_sample *b)
{
    return (a->t.seq < 0 || b->t.seq == a->t.seq + 1) && a->t.tau_count == b->t.tau_count &&
           a->t.nu_count == b->t.nu_count && a->t.tau_count > 0;
}

static size_t count_changes(const struct check_received *h)
{
    size_t changes = 0;
    for (size_t k = 1; k < h->sample_count; k++) {
        const struct check_sample *s = &h->samples[k];
        for (size_t j = 0; j < s->t.tau_count; j++) {
            if (is_next(s - 1, s) && fabs(s->t.tau[j] - s[-1].t.tau[j]) > 0.0) {
                changes++;
                break;
            }
        }
    }
    return changes;
}

static void fill_rows(const struct check_received *h, size_t axis, size_t efforts,
                      struct ahead *a)
{
    a->n = 0;
    a->p = 2 + efforts;
    for (size_t k = 1; k < h->sample_count; k++) {
        const struct check_sample *s = &h->samples[k];
        if (!is_next(s - 1, s) || s->t.tau_count != efforts || axis >= s->t.nu_count) {
            continue;
        }
        for (size_t later = 0; later < 2; later++) {
            double *row = a->x + (later * CHECK_SAMPLES + a->n) * a->p;
            row[0] = 1.0;
            row[1] = s[-1].t.nu[axis];
            memcpy(row + 2, later ? s->t.tau : s[-1].t.tau, efforts * sizeof *row);
        }
        a->y[a->n++] = s->t.nu[axis];
    }
}

/* Compares both predictions of an axis: > 0 if the later sample's efforts are clearly better, <
 * 0 if they are clearly worse. An effort that follows from the velocity by a controller
 * explains it as well, but with the other sign. */
static int compare_axis(const struct ahead *a)
{
    struct robust_ls_fit fit[2];
    double same_sign = 0.0;
    double most = 0.0;
    for (size_t i = 0; i < a->n; i++) {
        most = fmax(most, fabs(a->y[i]));
    }
    for (size_t later = 0; later < 2; later++) {
        const struct robust_ls_problem problem = {.x = a->x + later * CHECK_SAMPLES * a->p,
                                                  .y = a->y,
                                                  .n = a->n,
                                                  .p = a->p,
                                                  .floor = 1e-12};
        if (robust_ls_run(&problem, ROBUST_LS_OLS, NULL, NULL, &fit[later]) != STATUS_OK) {
            return 0;
        }
    }
    for (size_t j = 2; j < a->p; j++) {
        same_sign += fit[0].beta[j] * fit[1].beta[j];
    }
    const double limit[2] = {fmax(CLEAR_RATIO * fit[0].sd, FLOOR_RATIO * most),
                             fmax(CLEAR_RATIO * fit[1].sd, FLOOR_RATIO * most)};
    return fit[1].sd < limit[0] && fit[0].sd > limit[1] && same_sign > 0.0 &&
                   fit[1].beta[1] > LAG_MIN
               ? 1
           : fit[0].sd < limit[1] && fit[1].sd > limit[0] ? -1
                                                          : 0;
}

bool check_efforts_are_late(const struct check_received *h)
{
    const size_t last = h->sample_count - 1;
    const size_t efforts = h->sample_count > 0 ? h->samples[last].t.tau_count : 0;
    struct ahead a = {.x = calloc(2 * CHECK_SAMPLES, (2 + EVENT_AXES_MAX) * sizeof *a.x),
                      .y = calloc(CHECK_SAMPLES, sizeof *a.y)};
    int late = 0;
    if (a.x && a.y && efforts > 0 && count_changes(h) >= CHANGES_MIN) {
        for (size_t axis = 0; axis < h->samples[last].t.nu_count; axis++) {
            fill_rows(h, axis, efforts, &a);
            late += a.n > 2 * a.p ? compare_axis(&a) : 0;
        }
    }
    free(a.x);
    free(a.y);
    return late > 0;
}
