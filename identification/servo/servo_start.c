/* Linear start of the servo fit (docs/model/position_servo.md, "Search").
 *
 * Over windows of 0.1 s the position changes by k (u - q) + constant, with the command a delay
 * ago. A grid of delays gives k. Without the claim that the position ends at the command, the
 * same sums give their ratio, which shows a wrong sign or unit.
 */
#include <math.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "identification/numeric/svd.h"
#include "identification/servo/servo_search.h"

enum { DELAYS = 31, COLUMNS = 4 };

static const double WINDOW_S = 0.1, DELAY_STEP_S = 0.01;

/* Integral of the command of a run up to a time that grows from call to call. */
struct held_integral {
    const double *t_s, *u;
    size_t n, at;
    double sum; /* up to t_s[at] */
    double middle;
};

static double integrate_command(struct held_integral *h, double t_s)
{
    while (h->at + 1 < h->n && h->t_s[h->at + 1] <= t_s) {
        h->sum += (h->t_s[h->at + 1] - h->t_s[h->at]) * (h->u[h->at] - h->middle);
        h->at++;
    }
    return h->sum + (t_s - h->t_s[h->at]) * (h->u[h->at] - h->middle);
}

/* Adds the windows of a run to the products of columns: command, position, time, change. */
static void add_run(const struct servo_problem *p, size_t run, double delay_s, double middle,
                    double products[COLUMNS][COLUMNS])
{
    const struct servo_set *set = p->set;
    const size_t begin = set->run_start[run];
    struct held_integral command = {.t_s = set->t_s + begin,
                                    .u = set->command_rad + begin,
                                    .n = set->run_start[run + 1] - begin,
                                    .middle = middle};
    double *t = p->column[0];
    double *q = p->column[1];
    double *whole[] = {p->column[2], p->column[3]}; /* integrals of command and position */
    const size_t width = (size_t)fmax(1.0, round(WINDOW_S / set->period_s));
    size_t n = 0;
    for (size_t k = begin; k < set->run_start[run + 1]; k++) {
        if (isnan(set->position_rad[k])) {
            continue;
        }
        t[n] = set->t_s[k];
        q[n] = set->position_rad[k] - middle;
        whole[0][n] = integrate_command(&command, t[n] - delay_s);
        whole[1][n] =
            n > 0 ? whole[1][n - 1] + 0.5 * (t[n] - t[n - 1]) * (q[n] + q[n - 1]) : 0.0;
        n++;
    }
    for (size_t k = width; k < n; k++) {
        const double row[COLUMNS] = {whole[0][k] - whole[0][k - width],
                                     whole[1][k] - whole[1][k - width], t[k] - t[k - width],
                                     q[k] - q[k - width]};
        for (size_t i = 0; i < COLUMNS; i++) {
            for (size_t j = 0; j < COLUMNS; j++) {
                products[i][j] += row[i] * row[j];
            }
        }
    }
}

/* Solves the normal equations of p columns; m is [p x p]. Returns the squares explained. */
static double solve_products(const double *m, const double *rhs, size_t p, double *x)
{
    double scale[COLUMNS] = {0.0};
    struct svd svd;
    double explained = 0.0;
    memset(x, 0, p * sizeof *x);
    for (size_t i = 0; i < p; i++) {
        scale[i] = sqrt(m[i * p + i]);
    }
    if (svd_find(m, p, scale, scale, 1e-12, &svd) != STATUS_OK) {
        return 0.0;
    }
    svd_solve(&svd, rhs, x);
    for (size_t i = 0; i < p; i++) {
        explained += x[i] * rhs[i];
    }
    return explained;
}

static double find_speed(const struct servo_problem *p)
{
    const struct servo_set *set = p->set;
    double *speed = p->column[0];
    size_t n = 0;
    for (size_t k = 1; k < set->n; k++) {
        const double v = fabs(set->position_rad[k] - set->position_rad[k - 1]) /
                         fabs(set->t_s[k] - set->t_s[k - 1]);
        if (isfinite(v)) {
            speed[n++] = v;
        }
    }
    gsl_sort(speed, 1, n);
    return n > 0 ? speed[(size_t)(0.99 * (double)(n - 1))] : 0.0;
}

void servo_start_find(struct servo_problem *problem, struct servo_start *start)
{
    const struct servo_set *set = problem->set;
    double best = -HUGE_VAL;
    double middle = 0.0;
    *start = (struct servo_start){.r2 = 0.0, .scale = 1.0};
    for (size_t k = 0; k < set->n; k++) {
        middle += set->command_rad[k] / (double)set->n;
    }
    for (size_t i = 0; i < DELAYS; i++) {
        double s[COLUMNS][COLUMNS] = {{0.0}};
        double x[3];
        for (size_t r = 0; r < set->run_count; r++) {
            add_run(problem, r, DELAY_STEP_S * (double)i, middle, s);
        }
        const double two[] = {s[0][0] - 2.0 * s[0][1] + s[1][1], s[0][2] - s[1][2],
                              s[0][2] - s[1][2], s[2][2]};
        const double explained =
            solve_products(two, (double[]){s[0][3] - s[1][3], s[2][3]}, 2, x);
        if (x[0] > 0.0 && explained > best) {
            best = explained;
            start->gain_per_s = x[0];
            start->droop_rad = -x[1] / x[0];
            start->delay_s = DELAY_STEP_S * (double)i;
            start->r2 = explained / s[3][3];
        }
        const double three[] = {s[0][0], s[0][1], s[0][2], s[1][0], s[1][1],
                                s[1][2], s[2][0], s[2][1], s[2][2]};
        const double r2 =
            solve_products(three, (double[]){s[0][3], s[1][3], s[2][3]}, 3, x) / s[3][3];
        if (r2 > start->scaled_r2 && x[1] < 0.0) {
            start->scaled_r2 = r2;
            start->scale = x[0] / -x[1];
        }
    }
    start->speed_radps = find_speed(problem);
}
