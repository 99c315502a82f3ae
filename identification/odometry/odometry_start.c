/* Linear start of the odometry fit (docs/model/odometry.md, eq. 4 - 6).
 *
 * The path is cut into pieces of about a second. The turn of a piece is linear in r_R / b and
 * r_L / b. Given these, its shift, rotated by its own measured heading, is linear in the track
 * and the mounting. The errors of a piece do not accumulate along the path, so that Huber's
 * regression suffices.
 */
#include <math.h>
#include <string.h>

#include "identification/numeric/robust_ls.h"
#include "identification/odometry/odometry_parts.h"
#include "identification/odometry/odometry_thresholds.def"

enum { TURN_COLUMNS = 2, SHIFT_COLUMNS = 4, PIECES_WANTED = 50 };

static const double PIECE_S = 1.0;
/* Track of a robot of unknown size, m. */
static const double TRACK_M = 0.5;
/* Smaller residuals count as this size. */
static const double FLOOR = 1e-6;

/* A piece of the path between two poses. */
struct piece {
    size_t from, to;            /* rows */
    double right_rad, left_rad; /* angles of the wheels in between */
};

struct pieces {
    const struct odometry_set *set;
    double piece_s;
    size_t run, row; /* position of the next piece */
};

static void pieces_begin(struct pieces *p, const struct odometry_set *set)
{
    double all_s = 0.0;
    for (size_t r = 0; r < set->run_count; r++) {
        all_s += set->t_s[set->run_start[r + 1] - 1] - set->t_s[set->run_start[r]];
    }
    *p = (struct pieces){.set = set, .piece_s = fmin(PIECE_S, all_s / PIECES_WANTED)};
}

static bool pieces_next(struct pieces *p, struct piece *piece)
{
    const struct odometry_set *set = p->set;
    for (; p->run < set->run_count; p->run++, p->row = set->run_start[p->run]) {
        const size_t end = set->run_start[p->run + 1];
        while (p->row < end && !isfinite(set->x_m[p->row])) {
            p->row++;
        }
        *piece = (struct piece){.from = p->row};
        for (size_t k = p->row + 1; k < end; k++) {
            piece->right_rad += set->right_rad[k];
            piece->left_rad += set->left_rad[k];
            if (isfinite(set->x_m[k]) && set->t_s[k] - set->t_s[piece->from] >= p->piece_s) {
                piece->to = k;
                p->row = k;
                return true;
            }
        }
    }
    return false;
}

/* Fits dtheta = c_R dphi_R - c_L dphi_L (eq. 4). */
static enum status fit_turns(const struct odometry_set *set, gsl_vector *x, gsl_vector *y,
                             size_t n, double share[2], bool *turns)
{
    struct pieces pieces;
    struct piece piece;
    struct robust_ls_fit fit;
    pieces_begin(&pieces, set);
    for (size_t i = 0; pieces_next(&pieces, &piece); i++) {
        x->data[TURN_COLUMNS * i] = piece.right_rad;
        x->data[TURN_COLUMNS * i + 1] = -piece.left_rad;
        y->data[i] = set->theta_rad[piece.to] - set->theta_rad[piece.from];
    }
    const struct robust_ls_problem problem = {
        .x = x->data, .y = y->data, .n = n, .p = TURN_COLUMNS, .floor = FLOOR};
    const enum status st = robust_ls_run(&problem, ROBUST_LS_HUBER, NULL, NULL, &fit);
    if (st != STATUS_OK) {
        return st;
    }
    static const double sum[TURN_COLUMNS] = {1.0, 1.0};
    const double value = robust_ls_value(&fit, sum);
    *turns = fit.rank == TURN_COLUMNS && robust_ls_se(&fit, sum) <= TURN_SE_RATIO * fabs(value);
    share[0] = *turns ? fit.beta[0] : 1.0;
    share[1] = *turns ? fit.beta[1] : 1.0;
    return STATUS_OK;
}

/* Two rows of eq. 5: the shift of the piece for a track of one metre and a sensor at its
 * start. */
static void shift_rows(const struct odometry_set *set, const struct piece *piece,
                       const double share[2], double *x, double *y)
{
    double heading = set->theta_rad[piece->from];
    double along[2] = {0.0, 0.0};
    for (size_t k = piece->from + 1; k <= piece->to; k++) {
        const double right = share[0] * set->right_rad[k];
        const double left = share[1] * set->left_rad[k];
        const double middle = heading + 0.5 * (right - left);
        along[0] += 0.5 * (right + left) * cos(middle);
        along[1] += 0.5 * (right + left) * sin(middle);
        heading += right - left;
    }
    const double swing[2] = {cos(set->theta_rad[piece->to]) - cos(set->theta_rad[piece->from]),
                             sin(set->theta_rad[piece->to]) - sin(set->theta_rad[piece->from])};
    const double rows[2 * SHIFT_COLUMNS] = {along[0], -along[1], swing[0], -swing[1],
                                            along[1], along[0],  swing[1], swing[0]};
    memcpy(x, rows, sizeof rows);
    y[0] = set->x_m[piece->to] - set->x_m[piece->from];
    y[1] = set->y_m[piece->to] - set->y_m[piece->from];
}

/* Sets track and mounting as far as they are determined. beta: the track rotated by -alpha,
 * then the mounting rotated likewise (eq. 5, 6). */
static void place_parameters(const struct robust_ls_fit *fit, const double share[2], bool turns,
                             struct odometry_point *point)
{
    static const double along[SHIFT_COLUMNS] = {1.0};
    static const double across[SHIFT_COLUMNS] = {0.0, 1.0};
    double *theta = point->theta;
    const double size = hypot(fit->beta[0], fit->beta[1]);
    const double se = hypot(robust_ls_se(fit, along), robust_ls_se(fit, across));
    const bool shifts =
        robust_ls_estimable(fit, along) && size > 0.0 && se <= SHIFT_SE_RATIO * size;
    const double alpha = shifts ? -atan2(fit->beta[1], fit->beta[0]) : 0.0;
    const double scale = shifts ? size : TRACK_M;
    theta[ODOMETRY_RADIUS_RIGHT] = share[0] * scale;
    theta[ODOMETRY_RADIUS_LEFT] = share[1] * scale;
    theta[ODOMETRY_TRACK] = turns ? scale : TRACK_M;
    theta[ODOMETRY_SENSOR_ALPHA] = alpha;
    theta[ODOMETRY_SENSOR_X] =
        turns ? cos(alpha) * fit->beta[2] - sin(alpha) * fit->beta[3] : 0.0;
    theta[ODOMETRY_SENSOR_Y] =
        turns ? sin(alpha) * fit->beta[2] + cos(alpha) * fit->beta[3] : 0.0;
    point->no_shift = !shifts;
    theta[ODOMETRY_SENSOR_DELAY] = 0.0;
    point->held[ODOMETRY_SENSOR_DELAY] = !turns && !shifts;
    point->held[ODOMETRY_RADIUS_RIGHT] = point->held[ODOMETRY_RADIUS_LEFT] = !turns && !shifts;
    point->held[ODOMETRY_TRACK] = !turns || !shifts;
    point->held[ODOMETRY_SENSOR_X] = point->held[ODOMETRY_SENSOR_Y] = !turns;
    point->held[ODOMETRY_SENSOR_ALPHA] = !shifts;
}

static enum status fit_shifts(const struct odometry_set *set, gsl_vector *x, gsl_vector *y,
                              size_t n, const double share[2], struct robust_ls_fit *fit)
{
    struct pieces pieces;
    struct piece piece;
    pieces_begin(&pieces, set);
    for (size_t i = 0; pieces_next(&pieces, &piece); i++) {
        shift_rows(set, &piece, share, x->data + (size_t)(2 * SHIFT_COLUMNS) * i,
                   y->data + 2 * i);
    }
    const struct robust_ls_problem problem = {
        .x = x->data, .y = y->data, .n = 2 * n, .p = SHIFT_COLUMNS, .floor = FLOOR};
    return robust_ls_run(&problem, ROBUST_LS_HUBER, NULL, NULL, fit);
}

/* Inverts eq. 3 at the first measured pose of each run. The search refines these start
 * poses. */
void odometry_place(const struct odometry_set *set, struct odometry_point *point)
{
    const double *theta = point->theta;
    for (size_t r = 0; r < set->run_count; r++) {
        size_t k = set->run_start[r];
        while (!isfinite(set->x_m[k])) {
            k++;
        }
        const double heading = set->theta_rad[k] - theta[ODOMETRY_SENSOR_ALPHA];
        const double c = cos(heading);
        const double s = sin(heading);
        point->start[r][0] =
            set->x_m[k] - c * theta[ODOMETRY_SENSOR_X] + s * theta[ODOMETRY_SENSOR_Y];
        point->start[r][1] =
            set->y_m[k] - s * theta[ODOMETRY_SENSOR_X] - c * theta[ODOMETRY_SENSOR_Y];
        point->start[r][2] = heading;
    }
}

enum status odometry_begin(const struct odometry_set *set, struct odometry_point *point)
{
    struct pieces pieces;
    struct piece piece;
    size_t n = 0;
    for (pieces_begin(&pieces, set); pieces_next(&pieces, &piece);) {
        n++;
    }
    /* Too few pieces: all runs together are shorter than a start requires. */
    if (n < SHIFT_COLUMNS) {
        return STATUS_E_MATH;
    }
    gsl_vector *x = gsl_vector_alloc((size_t)(2 * SHIFT_COLUMNS) * n);
    gsl_vector *y = gsl_vector_alloc(2 * n);
    struct robust_ls_fit fit;
    double share[2];
    bool turns = false;
    enum status st = x && y ? fit_turns(set, x, y, n, share, &turns) : STATUS_E_NOMEM;
    st = st == STATUS_OK ? fit_shifts(set, x, y, n, share, &fit) : st;
    gsl_vector_free(x);
    gsl_vector_free(y);
    if (st == STATUS_OK) {
        place_parameters(&fit, share, turns, point);
        odometry_place(set, point);
    }
    return st;
}
