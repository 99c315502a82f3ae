#include "twin/map/scan_match.h"

#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "twin/map/map_thresholds.def"

/* Steps of the search, from coarse to fine; each level is searched around the best of the one
 * before. The coarse window is 2.5 standard deviations of the belief, within these limits. */
static const struct {
    double step_m, step_rad;
    int steps, turns;           /* to each side, at least */
    int steps_most, turns_most; /* at most */
} LEVELS[] = {
    {0.05, 1.0 * RAD_PER_DEG, 3, 7, 8, 20},
    {0.01, 0.2 * RAD_PER_DEG, 5, 5, 5, 5},
    {0.0025, 0.05 * RAD_PER_DEG, 4, 4, 4, 4},
};
enum { COARSE_MOST = (2 * 8 + 1) * (2 * 8 + 1) * (2 * 20 + 1) };
ENUM_NAMES(scan_outcome, SCAN_OUTCOME_COUNT, SCAN_OUTCOMES(NAMES_TEXT));

/* ---- 3 x 3 matrices ------------------------------------------------------------------- */

static bool invert_matrix(double m[3][3], double out[3][3])
{
    double c[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
            c[j][i] = m[a][p] * m[b][q] - m[a][q] * m[b][p];
        }
    }
    const double det = m[0][0] * c[0][0] + m[0][1] * c[1][0] + m[0][2] * c[2][0];
    for (int i = 0; i < 9; i++) {
        out[i / 3][i % 3] = c[i / 3][i % 3] / det;
    }
    return det > 0.0;
}

static double square_form(double m[3][3], const double d[3])
{
    double sum = 0.0;
    for (int i = 0; i < 9; i++) {
        sum += m[i / 3][i % 3] * d[i / 3] * d[i % 3];
    }
    return sum;
}

/* ---- the belief -------------------------------------------------------------------------- */

struct pose_belief pose_belief_at(const struct plane_pose *at)
{
    const double turn = 0.5 * RAD_PER_DEG;
    return (struct pose_belief){
        .at = *at, .cov = {{1e-4, 0.0, 0.0}, {0.0, 1e-4, 0.0}, {0.0, 0.0, turn * turn}}};
}

void pose_belief_move(struct pose_belief *b, const struct plane_pose *from,
                      const struct plane_pose *to, const struct odometry_error *error)
{
    const double s = sin(b->at.yaw_rad - from->yaw_rad);
    const double c = cos(b->at.yaw_rad - from->yaw_rad);
    const double dx = c * (to->x_m - from->x_m) - s * (to->y_m - from->y_m);
    const double dy = s * (to->x_m - from->x_m) + c * (to->y_m - from->y_m);
    const double turn = remainder(to->yaw_rad - from->yaw_rad, 2.0 * PI);
    const double far = hypot(dx, dy);
    /* P = F P F' + Q with F = d(new pose)/d(old pose): a wrong heading moves the end. */
    const double f[3][3] = {{1.0, 0.0, -dy}, {0.0, 1.0, dx}, {0.0, 0.0, 1.0}};
    const double drive2 = pow(error->drive_ratio * far, 2.0) + 1e-6;
    const double turn2 =
        pow(error->turn_ratio * turn, 2.0) + pow(error->turn_radpm * far, 2.0) + 1e-7;
    /* The heading errs on the way: at half of it, on average. */
    const double q[3][3] = {
        {drive2 + turn2 * dy * dy / 3.0, -turn2 * dx * dy / 3.0, -turn2 * dy / 2.0},
        {-turn2 * dx * dy / 3.0, drive2 + turn2 * dx * dx / 3.0, turn2 * dx / 2.0},
        {-turn2 * dy / 2.0, turn2 * dx / 2.0, turn2}};
    double next[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            next[i][j] = q[i][j];
            for (int k = 0; k < 9; k++) {
                next[i][j] += f[i][k / 3] * b->cov[k / 3][k % 3] * f[j][k % 3];
            }
        }
    }
    memcpy(b->cov, next, sizeof next);
    b->at.x_m += dx;
    b->at.y_m += dy;
    b->at.yaw_rad = remainder(b->at.yaw_rad + turn, 2.0 * PI);
}

/* ---- matching ---------------------------------------------------------------------------- */

struct search {
    const struct grid *grid;
    const struct pose_belief *belief;
    double information[3][3]; /* of the belief */
    size_t count;
    double end[GRID_RAYS_MAX][2];    /* of the rays, in the robot's axes, m */
    double turned[GRID_RAYS_MAX][2]; /* the same, in the map's */
    struct plane_pose best;
    double best_score;
    int steps, turns; /* of the coarse level */
    size_t coarse_count;
    float coarse[COARSE_MOST]; /* its scores */
};

static void turn_ends(struct search *s, double yaw_rad)
{
    const double si = sin(yaw_rad), co = cos(yaw_rad);
    for (size_t i = 0; i < s->count; i++) {
        s->turned[i][0] = co * s->end[i][0] - si * s->end[i][1];
        s->turned[i][1] = si * s->end[i][0] + co * s->end[i][1];
    }
}

static double sum_likelihood(const struct search *s, bool coarse, double x_m, double y_m)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->count; i++) {
        const double x = x_m + s->turned[i][0], y = y_m + s->turned[i][1];
        sum += coarse ? grid_likelihood_near(s->grid, x, y) : grid_likelihood(s->grid, x, y);
    }
    return sum;
}

static void subtract_pose(const struct plane_pose *a, const struct plane_pose *b, double d[3])
{
    d[0] = a->x_m - b->x_m;
    d[1] = a->y_m - b->y_m;
    d[2] = remainder(a->yaw_rad - b->yaw_rad, 2.0 * PI);
}

/* Pose number k of the coarse level. */
static struct plane_pose coarse_pose(const struct search *s, size_t k)
{
    const int side = 2 * s->steps + 1, i = (int)k % (side * side), t = (int)k / (side * side);
    const struct plane_pose *middle = &s->belief->at;
    return (struct plane_pose){middle->x_m + (i % side - s->steps) * LEVELS[0].step_m,
                               middle->y_m + (i / side - s->steps) * LEVELS[0].step_m,
                               middle->yaw_rad + (t - s->turns) * LEVELS[0].step_rad};
}

static void search_level(struct search *s, size_t level, int steps, int turns)
{
    const struct plane_pose middle = s->best;
    const int side = 2 * steps + 1;
    s->best_score = -(double)INFINITY;
    for (int t = -turns; t <= turns; t++) {
        struct plane_pose at = {0.0, 0.0, middle.yaw_rad + t * LEVELS[level].step_rad};
        turn_ends(s, at.yaw_rad);
        for (int i = 0; i < side * side; i++) {
            double d[3];
            at.x_m = middle.x_m + (i % side - steps) * LEVELS[level].step_m;
            at.y_m = middle.y_m + (i / side - steps) * LEVELS[level].step_m;
            subtract_pose(&at, &s->belief->at, d);
            const double score = sum_likelihood(s, level == 0, at.x_m, at.y_m) -
                                 0.5 * square_form(s->information, d);
            if (level == 0) {
                s->coarse[s->coarse_count++] = (float)score;
            }
            if (score > s->best_score) {
                s->best_score = score;
                s->best = at;
            }
        }
    }
}

/* Steps that reach as far as the belief is uncertain. */
static int count_steps(double variance, double step, int least, int most)
{
    const double steps = ceil(MAP_WINDOW_SIGMAS * sqrt(variance) / step);
    return (int)fmin(fmax(steps, least), most);
}

static void search_all(struct search *s)
{
    const struct pose_belief *b = s->belief;
    s->steps = count_steps(fmax(b->cov[0][0], b->cov[1][1]), LEVELS[0].step_m, LEVELS[0].steps,
                           LEVELS[0].steps_most);
    s->turns =
        count_steps(b->cov[2][2], LEVELS[0].step_rad, LEVELS[0].turns, LEVELS[0].turns_most);
    search_level(s, 0, s->steps, s->turns);
    search_level(s, 1, LEVELS[1].steps, LEVELS[1].turns);
    search_level(s, 2, LEVELS[2].steps, LEVELS[2].turns);
}

/* The sum of likelihoods at the best pose, moved by steps of `reach` times these. */
static double sum_at(struct search *s, const double reach[3], const int by[3])
{
    turn_ends(s, s->best.yaw_rad + by[2] * reach[2]);
    return sum_likelihood(s, false, s->best.x_m + by[0] * reach[0],
                          s->best.y_m + by[1] * reach[1]);
}

/* Makes m diagonal by rotations (Jacobi), and collects them: m = v diag(m) v'. */
static void find_axes(double m[3][3], double v[3][3])
{
    for (int i = 0; i < 9; i++) {
        v[i / 3][i % 3] = i % 4 == 0 ? 1.0 : 0.0;
    }
    for (int k = 0; k < 30; k++) {
        const int p = k % 3, q = (k + 1) % 3;
        const double angle = 0.5 * atan2(2.0 * m[p][q], m[p][p] - m[q][q]);
        const double c = cos(angle), si = sin(angle);
        for (int i = 0; i < 3; i++) {
            const double a = m[i][p], b = m[i][q], x = v[i][p], y = v[i][q];
            m[i][p] = c * a + si * b;
            m[i][q] = c * b - si * a;
            v[i][p] = c * x + si * y;
            v[i][q] = c * y - si * x;
        }
        for (int i = 0; i < 3; i++) {
            const double a = m[p][i], b = m[q][i];
            m[p][i] = c * a + si * b;
            m[q][i] = c * b - si * a;
        }
    }
}

/* Adds what the sweep says of the pose: how the sum falls within three sigma to each side. Less
 * would see the ripple of single cells, along a wall too. Directions in which it does not fall
 * by more than chance add nothing. */
static void add_information(struct search *s, double information[3][3])
{
    double far2 = 0.0, h[3][3], axes[3][3];
    for (size_t i = 0; i < s->count; i++) {
        far2 += (s->end[i][0] * s->end[i][0] + s->end[i][1] * s->end[i][1]) / (double)s->count;
    }
    const double reach_m = MAP_SPAN_SIGMAS * GRID_SIGMA_M;
    const double reach[3] = {reach_m, reach_m, reach_m / sqrt(far2)};
    const double middle = sum_at(s, reach, (const int[3]){0, 0, 0});
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 4; k++) {
                const int a = k % 2 ? 1 : -1, b = k / 2 ? 1 : -1;
                int by[3] = {0, 0, 0};
                by[i] += a;
                by[j] += i == j ? 0 : b;
                sum += (i == j ? 0.5 : a * b) * sum_at(s, reach, by);
            }
            h[i][j] = h[j][i] = i == j ? 2.0 * middle - sum : -0.25 * sum;
        }
    }
    find_axes(h, axes);
    for (int k = 0; k < 3; k++) {
        /* Errors of cells are common to rays: many of them are not surer than MAP_SURE. */
        const double most = pow(MAP_SPAN_SIGMAS * GRID_SIGMA_M / MAP_SURE_M, 2.0);
        const double falls = fmin(h[k][k] - MAP_CHANCE * (double)s->count, most);
        for (int i = 0; i < 9 && falls > 0.0; i++) {
            information[i / 3][i % 3] +=
                falls * axes[i / 3][k] / reach[i / 3] * axes[i % 3][k] / reach[i % 3];
        }
    }
}

static bool is_at_border(const struct search *s)
{
    double d[3];
    subtract_pose(&s->best, &s->belief->at, d);
    const double reach_m = s->steps * LEVELS[0].step_m;
    return fmax(fabs(d[0]), fabs(d[1])) >= reach_m ||
           fabs(d[2]) >= s->turns * LEVELS[0].step_rad;
}

/* Does a coarse pose that the sweep should tell from the best one fit nearly as well? */
static bool is_ambiguous(const struct search *s, double seen[3][3])
{
    double near = -(double)INFINITY, far = near;
    for (size_t k = 0; k < s->coarse_count; k++) {
        const struct plane_pose at = coarse_pose(s, k);
        double d[3];
        subtract_pose(&at, &s->best, d);
        const double score = (double)s->coarse[k];
        if (hypot(d[0], d[1]) <= 2.0 * LEVELS[0].step_m &&
            fabs(d[2]) <= 2.0 * LEVELS[0].step_rad) {
            near = fmax(near, score);
        } else if (square_form(seen, d) > MAP_AMBIGUOUS_FAR2) {
            far = fmax(far, score);
        }
    }
    return far > near - MAP_AMBIGUOUS * fabs(near);
}

/* Takes the rays that hit a surface which a neighbour hit, too. The others are a pattern of
 * dots that fits the dots of the sweep before best where the robot has not moved. */
static void find_ends(struct search *s, const struct grid_sweep *sweep)
{
    const size_t n = sweep->count < GRID_RAYS_MAX ? sweep->count : GRID_RAYS_MAX;
    double end[GRID_RAYS_MAX][2];
    for (size_t i = 0; i < n; i++) {
        const struct grid_ray *r = &sweep->rays[i];
        const bool seen = r->range_m >= 0.0 && r->range_m < sweep->range_max_m;
        end[i][0] = seen ? r->range_m * cos(r->angle_rad) : (double)NAN;
        end[i][1] = r->range_m * sin(r->angle_rad);
    }
    for (size_t i = 0; i < n; i++) {
        const double *before = end[(i + n - 1) % n], *after = end[(i + 1) % n];
        if (n > 1 && (grid_is_surface(before, end[i]) || grid_is_surface(end[i], after))) {
            memcpy(s->end[s->count++], end[i], sizeof end[i]);
        }
    }
}

/* Moves the belief towards the best pose, as far as the sweep says something: by P H d, with
 * its new covariance P and what was seen, H. Along a corridor that is nothing. */
static void correct_belief(struct pose_belief *b, double seen[3][3],
                           const struct plane_pose *best)
{
    double d[3], move[3] = {0.0, 0.0, 0.0};
    subtract_pose(best, &b->at, d);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 9; k++) {
            move[i] += b->cov[i][k / 3] * seen[k / 3][k % 3] * d[k % 3];
        }
    }
    b->at.x_m += move[0];
    b->at.y_m += move[1];
    b->at.yaw_rad = remainder(b->at.yaw_rad + move[2], 2.0 * PI);
}

struct scan_match scan_match(const struct grid *grid, struct pose_belief *belief,
                             const struct grid_sweep *sweep)
{
    struct search s = {.grid = grid, .belief = belief, .best = belief->at};
    struct scan_match out = {.outcome = SCAN_FEW_RAYS};
    find_ends(&s, sweep);
    out.rays = s.count;
    if (s.count < MAP_RAYS_LEAST || !invert_matrix(belief->cov, s.information)) {
        return out;
    }
    search_all(&s);
    turn_ends(&s, s.best.yaw_rad);
    out.share = sum_likelihood(&s, false, s.best.x_m, s.best.y_m) / (double)s.count;
    out.outcome = SCAN_UNKNOWN;
    if (out.share < MAP_SHARE_LEAST) {
        return out;
    }
    double seen[3][3] = {{0.0}}, sum[3][3];
    add_information(&s, seen);
    for (int i = 0; i < 9; i++) {
        sum[i / 3][i % 3] = s.information[i / 3][i % 3] + seen[i / 3][i % 3];
    }
    out.outcome = is_at_border(&s)         ? SCAN_AT_BORDER
                  : is_ambiguous(&s, seen) ? SCAN_AMBIGUOUS
                                           : SCAN_MATCHED;
    if (out.outcome == SCAN_MATCHED && invert_matrix(sum, belief->cov)) {
        correct_belief(belief, seen, &s.best);
    }
    return out;
}
