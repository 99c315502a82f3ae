/* identification/odometry/odometry_scale.c - tests whether the scale of a path, or the delay of
 * its sensor, depends on something: time, side, speed, place, heading (docs/model/odometry.md,
 * eq. 14 - 16).
 *
 * The path is cut into segments, each with its own start pose, so that slip does not add up.
 * Two columns are added at the fit, one for ways and one for turns. Errors are robust over
 * segments: a path with coarse wheels or a slow camera has residuals that are far from white.
 */
#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_vector.h>

#include "identification/numeric/qr_accumulator.h"
#include "identification/numeric/svd.h"
#include "identification/odometry/odometry_parts.h"
#include "identification/odometry/odometry_thresholds.def"

enum {
    SCALES = ODOMETRY_BY_DELAY,                       /* covariates of steps */
    CAMERAS = ODOMETRY_COVARIATES - ODOMETRY_BY_LENS, /* of the measured poses */
    COMMON = ODOMETRY_P - 1, /* parameters of a test: all but the heading of the sensor */
    DELAY = COMMON - 1,
    ADDED = ODOMETRY_P, /* first column of a covariate */
    REST = ADDED + 2 * (SCALES + CAMERAS),
    GRAM = REST + 1,
    ROW = ODOMETRY_START + GRAM,
    TEST_MAX = COMMON + 2
};
_Static_assert((int)ROW <= (int)NUMERIC_COLUMNS_MAX, "a row fits an accumulator");

/* Columns of the parameters. The last one takes part in the steps only. */
static const enum odometry_parameter order[ODOMETRY_P] = {
    ODOMETRY_RADIUS_RIGHT, ODOMETRY_RADIUS_LEFT,  ODOMETRY_TRACK,       ODOMETRY_SENSOR_X,
    ODOMETRY_SENSOR_Y,     ODOMETRY_SENSOR_DELAY, ODOMETRY_SENSOR_ALPHA};
/* Turning speed from which on a turn counts as one to this side. */
static const double SIDE_RADPS = 0.1;
/* Singular values of products below this share are rounding. */
static const double RANK_RATIO = 1e-12;
/* Steps of the common parameters from the fit of whole paths to that of segments. */
enum { STEPS = 3 };
static const double FLOOR = 1e-7; /* m, rad */

struct segment {
    double gram[GRAM][GRAM];  /* products of its columns, without its start pose */
    double turned_rad, poses; /* mean residual of the heading; number of poses */
    double middle_s, span_s;
    double late; /* its time, standardised over all segments */
};

struct scan {
    const struct odometry_set *set;
    double segment_s;
    double weight[3];            /* 1 / noise of x, y, heading */
    double last[2][3];           /* last residuals, and those before */
    size_t run_poses;            /* of this run, so far */
    double bends[2], bend_count; /* squared second differences: x and y, heading */
    double mean[SCALES], spread[SCALES], steps; /* of the covariates */
    double effect[SCALES][2][3];                /* on the pose since the segment began */
    double seen[3];                             /* last measured pose */
    double centre[2], radius2[2]; /* of measured places: means of x and y; mean and sd of the
                                     squared distance from there */
    double origin[2][2];          /* first pose of a segment: measured, predicted */
    struct segment *segment;
    size_t count;
};

/* Returns the row after a segment that begins at a row. */
static size_t find_end(const struct odometry_set *set, double segment_s, size_t begin,
                       size_t end)
{
    size_t k = begin + 1;
    while (k < end &&
           set->t_s[k] - set->t_s[begin] < segment_s - 0.5 * (set->t_s[k] - set->t_s[k - 1])) {
        k++;
    }
    return k;
}

static size_t count_segments(const struct odometry_set *set, double segment_s)
{
    size_t count = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r]; k < set->run_start[r + 1]; count++) {
            k = find_end(set, segment_s, k, set->run_start[r + 1]);
        }
    }
    return count;
}

/* A step of the robot between two rows. */
struct step {
    double x_m, y_m, turn_rad;
    double along[2]; /* direction of the step */
    double rim_m[2]; /* ways of the right and the left wheel */
    double covariate[SCALES];
};

/* Moves on by a row, and describes the step. */
static bool make_step(struct scan *s, struct odometry_walk *walk, struct step *step)
{
    const double *theta = walk->theta;
    const double body[3] = {walk->body[0], walk->body[1], walk->body[2]};
    const double angle[2] = {walk->angle_rad[0], walk->angle_rad[1]};
    const double t_s = s->set->t_s[walk->row];
    if (isfinite(s->set->x_m[walk->row])) {
        s->seen[0] = s->set->x_m[walk->row];
        s->seen[1] = s->set->y_m[walk->row];
        s->seen[2] = s->set->theta_rad[walk->row];
    }
    if (!odometry_walk_next(walk)) {
        return false;
    }
    const double h_s = s->set->t_s[walk->row] - t_s;
    const double right = theta[ODOMETRY_RADIUS_RIGHT] * (walk->angle_rad[0] - angle[0]);
    const double left = theta[ODOMETRY_RADIUS_LEFT] * (walk->angle_rad[1] - angle[1]);
    const double advance = 0.5 * (right + left);
    const double middle = body[2] + 0.5 * (walk->body[2] - body[2]);
    const double turn = walk->body[2] - body[2];
    const double heading = s->seen[2] - theta[ODOMETRY_SENSOR_ALPHA];
    *step = (struct step){.x_m = walk->body[0] - body[0],
                          .y_m = walk->body[1] - body[1],
                          .turn_rad = turn,
                          .along = {cos(middle), sin(middle)},
                          .rim_m = {right, left},
                          .covariate = {[ODOMETRY_BY_TIME] = t_s,
                                        [ODOMETRY_BY_SIDE] = tanh(turn / h_s / SIDE_RADPS),
                                        [ODOMETRY_BY_SPEED] = advance / h_s,
                                        [ODOMETRY_BY_TURNING] = fabs(turn) / h_s,
                                        [ODOMETRY_BY_X] = s->seen[0],
                                        [ODOMETRY_BY_Y] = s->seen[1],
                                        [ODOMETRY_BY_COS] = cos(heading),
                                        [ODOMETRY_BY_SIN] = sin(heading),
                                        [ODOMETRY_BY_COS2] = cos(2.0 * heading),
                                        [ODOMETRY_BY_SIN2] = sin(2.0 * heading)}};
    return true;
}

/* Begins a run at its first measured pose. */
static void begin_run(struct scan *s, struct odometry_walk *walk, size_t run,
                      const struct odometry_point *point, bool sensitive)
{
    s->run_poses = 0;
    odometry_walk_begin(walk, s->set, run, point, sensitive);
    memcpy(s->seen, walk->sensor, sizeof s->seen);
}

/* Adds a residual to the noise: its second differences have nothing of a slow error. */
static void add_noise(struct scan *s, const double e[3])
{
    if (s->run_poses++ >= 2) {
        for (size_t i = 0; i < 3; i++) {
            const double bend = e[i] - 2.0 * s->last[0][i] + s->last[1][i];
            s->bends[i / 2] += bend * bend;
        }
        s->bend_count += 1.0;
    }
    memcpy(s->last[1], s->last[0], sizeof s->last[1]);
    memcpy(s->last[0], e, sizeof s->last[0]);
}

static void add_covariates(struct scan *s, const struct step *step)
{
    s->steps += 1.0;
    for (size_t i = 0; i < SCALES; i++) {
        const double off = step->covariate[i] - s->mean[i];
        s->mean[i] += off / s->steps;
        s->spread[i] += off * (step->covariate[i] - s->mean[i]);
    }
}

/* First pass: mean and spread of the covariates, and each segment's mean residual of the
 * heading. */
static void describe_segments(struct scan *s, const struct odometry_point *point)
{
    for (size_t r = 0; r < s->set->run_count; r++) {
        struct odometry_walk walk;
        struct step step;
        begin_run(s, &walk, r, point, false);
        for (size_t k = walk.begin; k < walk.end; s->count++) {
            struct segment *segment = &s->segment[s->count];
            const size_t end = find_end(s->set, s->segment_s, k, walk.end);
            segment->span_s = s->set->t_s[end - 1] - s->set->t_s[k];
            segment->middle_s = s->set->t_s[k] + 0.5 * segment->span_s;
            for (; k < end; k++) {
                double e[3];
                if (odometry_walk_residual(&walk, e)) {
                    add_noise(s, e);
                    segment->poses += 1.0;
                    segment->turned_rad += (e[2] - segment->turned_rad) / segment->poses;
                }
                if (make_step(s, &walk, &step)) {
                    add_covariates(s, &step);
                }
            }
        }
    }
    for (size_t i = 0; i < SCALES; i++) {
        s->spread[i] = sqrt(s->spread[i] / fmax(s->steps, 1.0));
    }
    /* The variance of a second difference is 1 + 4 + 1 times that of the noise. */
    const double of_place = s->bends[0] / (12.0 * fmax(s->bend_count, 1.0));
    const double of_heading = s->bends[1] / (6.0 * fmax(s->bend_count, 1.0));
    s->weight[0] = s->weight[1] = 1.0 / fmax(sqrt(of_place), FLOOR);
    s->weight[2] = 1.0 / fmax(sqrt(of_heading), FLOOR);
}

/* Adds a step that is longer and turns further to an effect on the pose. */
static void add_effect(const struct step *step, double longer_m, double further_rad,
                       double effect[3])
{
    const double turned = effect[2] + 0.5 * further_rad;
    effect[0] += longer_m * step->along[0] - turned * step->y_m;
    effect[1] += longer_m * step->along[1] + turned * step->x_m;
    effect[2] += further_rad;
}

/* Adds a step whose way and turn, or whose wheels' ways, depend on the covariates. A wheel that
 * drags in turns to one side also moves a robot that turns on the spot. */
static void add_effects(struct scan *s, const struct step *step, double track_m)
{
    for (size_t i = 0; i < SCALES; i++) {
        const double c =
            s->spread[i] > 0.0 ? (step->covariate[i] - s->mean[i]) / s->spread[i] : 0.0;
        const double right = c * step->rim_m[0];
        const double left = c * step->rim_m[1];
        if (i == ODOMETRY_BY_SIDE) {
            add_effect(step, 0.5 * right, right / track_m, s->effect[i][0]);
            add_effect(step, 0.5 * left, -left / track_m, s->effect[i][1]);
        } else {
            add_effect(step, 0.5 * (right + left), 0.0, s->effect[i][0]);
            add_effect(step, 0.0, c * step->turn_rad, s->effect[i][1]);
        }
    }
}

/* Sets what a camera does that moves each place away from the middle by a share g of its
 * distance: to a coordinate, or by the slope of g across it to the heading. g is the squared
 * distance for a lens, and x or y for a camera at a slant. */
static void fill_camera(const struct scan *s, size_t row, size_t axis,
                        double column[2 * CAMERAS])
{
    const double place[2] = {s->set->x_m[row] - s->centre[0], s->set->y_m[row] - s->centre[1]};
    const double theta = s->set->theta_rad[row];
    const double along[2] = {cos(theta), sin(theta)};
    const double across = place[1] * along[0] - place[0] * along[1];
    const double lens[2] = {2.0 * place[0] / s->radius2[1], 2.0 * place[1] / s->radius2[1]};
    const double share[CAMERAS] = {
        (place[0] * place[0] + place[1] * place[1] - s->radius2[0]) / s->radius2[1],
        place[0] / s->spread[ODOMETRY_BY_X], place[1] / s->spread[ODOMETRY_BY_Y]};
    const double slope[CAMERAS] = {lens[0] * along[0] + lens[1] * along[1],
                                   along[0] / s->spread[ODOMETRY_BY_X],
                                   along[1] / s->spread[ODOMETRY_BY_Y]};
    for (size_t i = 0; i < CAMERAS; i++) {
        column[2 * i] = axis < 2 ? place[axis] * share[i] : 0.0;
        column[2 * i + 1] = axis < 2 ? 0.0 : across * slope[i];
    }
}

/* Sets the columns of a coordinate (0, 1) or of the heading (2): start pose, common parameters,
 * covariates, residual. */
static void fill_row(const struct scan *s, const struct odometry_walk *walk, size_t axis,
                     const double from[2], double rest, double row[ROW])
{
    /* Effect of a rotation about the segment's origin, and about the axle. */
    const double about[3] = {-from[1], from[0], 1.0};
    const double arm[3] = {walk->body[1] - walk->sensor[1], walk->sensor[0] - walk->body[0],
                           1.0};
    double *column = row + ODOMETRY_START;
    row[0] = axis == 0 ? 1.0 : 0.0;
    row[1] = axis == 1 ? 1.0 : 0.0;
    row[2] = about[axis];
    for (size_t j = 0; j < ODOMETRY_P; j++) {
        *column++ = walk->sensor_by[axis][ODOMETRY_START + order[j]];
    }
    for (size_t i = 0; i < SCALES; i++) {
        for (size_t k = 0; k < 2; k++) {
            const double *effect = s->effect[i][k];
            *column++ = (axis < 2 ? effect[axis] : 0.0) + arm[axis] * effect[2];
        }
    }
    fill_camera(s, walk->row, axis, column);
    column[2 * CAMERAS] = rest;
    for (size_t j = 0; j < ROW; j++) {
        row[j] *= s->weight[axis];
    }
}

/* Adds a pose, rotated by the segment's mean residual of the heading so that the step of the
 * start pose is small. */
static void add_pose(struct scan *s, const struct odometry_walk *walk,
                     const struct segment *segment, bool first, struct qr_accumulator *triangle)
{
    double e[3];
    if (!odometry_walk_residual(walk, e)) {
        return;
    }
    const double seen[2] = {s->set->x_m[walk->row], s->set->y_m[walk->row]};
    if (first) {
        memcpy(s->origin[0], seen, sizeof seen);
        memcpy(s->origin[1], walk->sensor, sizeof seen);
    }
    const double x = seen[0] - s->origin[0][0];
    const double y = seen[1] - s->origin[0][1];
    const double from[2] = {walk->sensor[0] - s->origin[1][0],
                            walk->sensor[1] - s->origin[1][1]};
    const double c = cos(segment->turned_rad);
    const double sine = sin(segment->turned_rad);
    const double rest[3] = {c * x + sine * y - from[0], c * y - sine * x - from[1],
                            e[2] - segment->turned_rad};
    for (size_t axis = 0; axis < 3; axis++) {
        double row[ROW];
        fill_row(s, walk, axis, from, rest[axis], row);
        qr_add(triangle, row);
    }
}

/* Sets the products of the columns without the part that the start pose absorbs. */
static void close_segment(struct qr_accumulator *triangle, struct segment *segment)
{
    qr_flush(triangle);
    for (size_t i = 0; i < GRAM; i++) {
        for (size_t j = 0; j < GRAM; j++) {
            double sum = 0.0;
            for (size_t k = 0; k <= (i < j ? i : j); k++) {
                sum += triangle->r[ODOMETRY_START + k][ODOMETRY_START + i] *
                       triangle->r[ODOMETRY_START + k][ODOMETRY_START + j];
            }
            segment->gram[i][j] = sum;
        }
    }
}

/* Second pass: the products of each segment. */
static void linearise_segments(struct scan *s, const struct odometry_point *point)
{
    struct segment *segment = s->segment;
    for (size_t r = 0; r < s->set->run_count; r++) {
        struct odometry_walk walk;
        struct step step;
        begin_run(s, &walk, r, point, true);
        for (size_t k = walk.row; k < walk.end; segment++) {
            struct qr_accumulator triangle;
            const size_t end = find_end(s->set, s->segment_s, k, walk.end);
            bool first = true;
            qr_start(&triangle, ROW);
            memset(s->effect, 0, sizeof s->effect);
            for (; k < end; k++) {
                add_pose(s, &walk, segment, first, &triangle);
                first = first && !isfinite(s->set->x_m[k]);
                if (make_step(s, &walk, &step)) {
                    add_effects(s, &step, point->theta[ODOMETRY_TRACK]);
                }
            }
            close_segment(&triangle, segment);
        }
    }
}

/* Drops segments that are too short, and standardises the times of the others. */
static void drop_short(struct scan *s)
{
    size_t kept = 0;
    double mean_s = 0.0;
    double spread = 0.0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->segment[i].poses >= ODOMETRY_RUN_MIN &&
            s->segment[i].span_s > 0.5 * s->segment_s) {
            const double off = s->segment[i].middle_s - mean_s;
            s->segment[kept++] = s->segment[i];
            mean_s += off / (double)kept;
            spread += off * (s->segment[kept - 1].middle_s - mean_s);
        }
    }
    s->count = kept;
    for (size_t i = 0; i < kept && spread > 0.0; i++) {
        s->segment[i].late = (s->segment[i].middle_s - mean_s) / sqrt(spread / (double)kept);
    }
}

/* Columns of a test: the common ones, and those of its covariate. */
struct selection {
    size_t p, added;
    size_t column[TEST_MAX + 1]; /* and the residual */
};

/* by = ODOMETRY_COVARIATES: all parameters, and no covariate. */
static struct selection select_columns(enum odometry_covariate by)
{
    struct selection of = {.p = by == ODOMETRY_COVARIATES ? ODOMETRY_P : COMMON};
    for (size_t j = 0; j < of.p; j++) {
        of.column[j] = j;
    }
    if (by == ODOMETRY_BY_DELAY) {
        of.column[of.p++] = DELAY;
    } else if (by < ODOMETRY_COVARIATES) {
        const size_t pair = (size_t)by - (by > ODOMETRY_BY_DELAY ? 1 : 0);
        of.column[of.p++] = ADDED + 2 * pair;
        of.column[of.p++] = ADDED + 2 * pair + 1;
    }
    of.added = by == ODOMETRY_COVARIATES ? 0 : of.p - COMMON;
    of.column[of.p] = REST;
    return of;
}

/* Returns the product of two columns of a test in a segment. */
static double multiply_columns(const struct segment *segment, const struct selection *of,
                               bool by_delay, size_t i, size_t j)
{
    const double factor = by_delay ? segment->late : 1.0;
    return segment->gram[of->column[i]][of->column[j]] * (i == COMMON ? factor : 1.0) *
           (j == COMMON ? factor : 1.0);
}

/* Decomposes a matrix of products, whose scales are the roots of its diagonal. */
static enum status invert_products(const double *m, size_t p, struct svd *svd)
{
    double scale[TEST_MAX];
    for (size_t i = 0; i < p; i++) {
        scale[i] = sqrt(fmax(m[i * p + i], 0.0));
    }
    return svd_find(m, p, scale, scale, RANK_RATIO, svd);
}

/* Sets the covariance of the score over segments. With p columns fitted, the scores of few
 * segments are smaller than those of the truth: on average by the root of 1 - p / segments. */
static void sum_scores(const struct scan *s, const struct selection *of, bool by_delay,
                       const double *x, double *sum)
{
    const double few = (double)s->count / (double)(s->count - of->p);
    for (size_t g = 0; g < s->count; g++) {
        double score[TEST_MAX];
        for (size_t i = 0; i < of->p; i++) {
            score[i] = multiply_columns(&s->segment[g], of, by_delay, i, of->p);
            for (size_t j = 0; j < of->p; j++) {
                score[i] -= multiply_columns(&s->segment[g], of, by_delay, i, j) * x[j];
            }
        }
        for (size_t i = 0; i < of->p; i++) {
            for (size_t j = 0; j < of->p; j++) {
                sum[i * of->p + j] += few * score[i] * score[j];
            }
        }
    }
}

/* Solves the linear least squares of the selected columns. */
static enum status solve_columns(const struct scan *s, const struct selection *of,
                                 bool by_delay, struct svd *svd, double x[TEST_MAX])
{
    double gram[TEST_MAX * TEST_MAX] = {0.0};
    double rest[TEST_MAX] = {0.0};
    for (size_t g = 0; g < s->count; g++) {
        for (size_t i = 0; i < of->p; i++) {
            rest[i] += multiply_columns(&s->segment[g], of, by_delay, i, of->p);
            for (size_t j = 0; j < of->p; j++) {
                gram[i * of->p + j] += multiply_columns(&s->segment[g], of, by_delay, i, j);
            }
        }
    }
    const enum status st = invert_products(gram, of->p, svd);
    if (st == STATUS_OK) {
        svd_solve(svd, rest, x);
    }
    return st;
}

/* F test of the added columns with errors that are robust over segments. */
static enum status test_covariate(const struct scan *s, enum odometry_covariate by,
                                  struct odometry_scale_test *test)
{
    const struct selection of = select_columns(by);
    const bool by_delay = by == ODOMETRY_BY_DELAY;
    double score[TEST_MAX * TEST_MAX] = {0.0};
    double x[TEST_MAX];
    double covariance[TEST_MAX * TEST_MAX];
    double part[4] = {0.0};
    double weighed[2] = {0.0};
    struct svd svd;
    enum status st = solve_columns(s, &of, by_delay, &svd, x);
    if (st != STATUS_OK) {
        return st;
    }
    sum_scores(s, &of, by_delay, x, score);
    square_sandwich(svd.inverse, score, of.p, covariance);
    for (size_t i = 0; i < of.added; i++) {
        for (size_t j = 0; j < of.added; j++) {
            part[i * of.added + j] = covariance[(COMMON + i) * of.p + COMMON + j];
        }
    }
    st = invert_products(part, of.added, &svd);
    if (st != STATUS_OK || svd.rank == 0) {
        return st;
    }
    svd_solve(&svd, x + COMMON, weighed);
    test->way = x[COMMON];
    test->turn = of.added > 1 ? x[COMMON + 1] : 0.0;
    test->f = (test->way * weighed[0] + test->turn * weighed[1]) / (double)svd.rank;
    test->p = gsl_cdf_fdist_Q(test->f, (double)svd.rank, (double)(s->count - of.p));
    return STATUS_OK;
}

/* The centre of a lens is unknown; that of the places is near it. */
static void find_centre(struct scan *s)
{
    double count = 0.0;
    double spread = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        count = 0.0;
        for (size_t k = 0; k < s->set->n; k++) {
            const double x = s->set->x_m[k] - s->centre[0];
            const double y = s->set->y_m[k] - s->centre[1];
            if (!isfinite(x)) {
                continue;
            }
            count += 1.0;
            if (pass == 0) {
                s->centre[0] += x / count;
                s->centre[1] += y / count;
            } else {
                const double off = x * x + y * y - s->radius2[0];
                s->radius2[0] += off / count;
                spread += off * (x * x + y * y - s->radius2[0]);
            }
        }
    }
    s->radius2[1] = sqrt(spread / fmax(count, 1.0));
}

/* Linearises the segments at a point. */
static void scan_segments(struct scan *s, const struct odometry_point *point, size_t count)
{
    const struct scan empty = {.set = s->set, .segment_s = s->segment_s, .segment = s->segment};
    memset(s->segment, 0, count * sizeof *s->segment);
    *s = empty;
    find_centre(s);
    describe_segments(s, point);
    linearise_segments(s, point);
    drop_short(s);
}

/* Tests the covariates from .. to - 1 in segments of one length. */
static enum status test_range(struct scan *s, struct odometry_point point,
                              enum odometry_covariate from, enum odometry_covariate to,
                              struct odometry_scale *scale)
{
    const struct selection of = select_columns(ODOMETRY_COVARIATES);
    const size_t count = count_segments(s->set, s->segment_s);
    enum status st = STATUS_OK;
    scan_segments(s, &point, count);
    for (int step = 0; step < STEPS && st == STATUS_OK && s->count >= SEGMENTS_MIN; step++) {
        double x[TEST_MAX];
        struct svd svd;
        st = solve_columns(s, &of, false, &svd, x);
        for (size_t j = 0; j < ODOMETRY_P && st == STATUS_OK; j++) {
            point.theta[order[j]] += x[j];
        }
        scan_segments(s, &point, count);
    }
    for (enum odometry_covariate by = from; by < to && st == STATUS_OK; by++) {
        st = s->count >= SEGMENTS_MIN ? test_covariate(s, by, &scale->test[by]) : st;
    }
    return st;
}

/* The picture's scale needs more segments than slip does: its columns differ from one to the
 * next. */
static enum status test_all(struct scan *s, const struct odometry_point *point,
                            struct odometry_scale *scale)
{
    s->segment_s = SEGMENT_S;
    enum status st = test_range(s, *point, 0, ODOMETRY_BY_LENS, scale);
    scale->segments = s->count;
    if (st == STATUS_OK && scale->segments >= SEGMENTS_MIN) {
        s->segment_s = CAMERA_SEGMENT_S;
        st = test_range(s, *point, ODOMETRY_BY_LENS, ODOMETRY_COVARIATES, scale);
        scale->camera_segments = s->count;
    }
    return st;
}

/* A point from which the steps lead nowhere is no fit, and tests nothing. */
enum status odometry_scale_find(const struct odometry_set *set,
                                const struct odometry_point *point, struct odometry_fit *fit)
{
    const size_t count = count_segments(set, fmin(SEGMENT_S, CAMERA_SEGMENT_S));
    const size_t doubles = sizeof(struct segment) / sizeof(double);
    gsl_vector *memory = gsl_vector_calloc(doubles * (count + 1));
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    struct scan s = {.set = set, .segment = (struct segment *)memory->data};
    const enum status st = test_all(&s, point, &fit->scale);
    gsl_vector_free(memory);
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

ENUM_NAMES(odometry_covariate, ODOMETRY_COVARIATES, "time", "left or right", "speed",
           "turning speed", "place x", "place y", "heading cos", "heading sin", "heading cos 2",
           "heading sin 2", "delay with time", "lens", "slant x", "slant y");
