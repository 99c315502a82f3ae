#include "identification/travel/next_move.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "identification/numeric/svd.h"
#include "identification/travel/forecast_thresholds.def"
#include "identification/travel/travel_time.h"

enum { SIZES = 5, CANDIDATES = SIZES * SIZES - 1, MIDDLES = 6, EVERY = 3 };

/* First guesses: links and cycles of control take some 50 ms, robots start within tenths of a
 * second. */
static const double FIRST_LAP_S_SD = 0.05;
static const double FIRST_DELAY_S = 0.1;
/* A term that no move has shown is known to half of itself, and a delay of zero to 10 ms. */
static const double PRIOR_RATIO = 0.5;
static const double PRIOR_S_LEAST = 0.01;
static const double LEFT_LOW = 0.33;
static const double LEFT_HIGH = 2.5;
static const double LAP_S_LEAST = 0.2; /* of a very short move, with the pause after it */

/* Sizes of candidates, and those in between, as shares of the range. */
static const double LEVELS[SIZES - 1] = {0.0, 0.25, 0.5, 1.0};
static const double MIDDLE[2] = {0.35, 0.65};

ENUM_NAMES(next_move_why, NEXT_MOVE_WHY_COUNT, NEXT_MOVE_WHYS(NAMES_TEXT));

/* Numbers of enum travel_term that are delays come first. */
static bool is_delay(enum travel_term j)
{
    return j < TRAVEL_INV_W;
}

void next_move_aim_start(struct next_move_aim *aim, double speed_ratio)
{
    *aim = (struct next_move_aim){.speed_ratio = speed_ratio,
                                  .delay_s = (double)NAN,
                                  .half_s = (double)NAN,
                                  .turn_rad = {0.3, 3.0},
                                  .drive_m = {0.1, 1.0}};
}

void next_move_start(struct next_move_known *known, double angular_radps, double linear_mps)
{
    *known = (struct next_move_known){.lap_s_sd = FIRST_LAP_S_SD,
                                      .beta = {FIRST_DELAY_S, FIRST_DELAY_S, FIRST_DELAY_S,
                                               1.0 / angular_radps, 1.0 / linear_mps}};
}

void next_move_add(struct next_move_known *known, double rotation_rad, double displacement_m)
{
    double x[TRAVEL_P];
    travel_row(rotation_rad, displacement_m, x);
    for (size_t i = 0; i < TRAVEL_P * TRAVEL_P; i++) {
        known->information[i] += x[i / TRAVEL_P] * x[i % TRAVEL_P];
    }
    known->n++;
}

void next_move_learn(struct next_move_known *known, const struct travel_fit *fit)
{
    if (fit->freedom < ESTIMATE_FREEDOM_MIN) {
        return;
    }
    /* Student's quantile over the normal one: widths are those of the fit's intervals. */
    known->lap_s_sd = fmax(fit->residual_s_sd, SPREAD_LEAST_S) *
                      estimate_reach((double)fit->freedom) / NORMAL_95;
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (fit->beta[j] > 0.0 && fit->beta_se[j] < PRIOR_RATIO * fit->beta[j]) {
            known->beta[j] = fit->beta[j];
        }
    }
}

/* Computes C = (M / sd^2 + P)^-1, where P knows each term to half of itself (32). */
static void find_covariance(const struct next_move_known *known, struct svd *c)
{
    double m[TRAVEL_P * TRAVEL_P];
    double scale[TRAVEL_P];
    for (size_t i = 0; i < TRAVEL_P * TRAVEL_P; i++) {
        m[i] = known->information[i] / (known->lap_s_sd * known->lap_s_sd);
    }
    for (size_t j = 0; j < TRAVEL_P; j++) {
        const double prior = fmax(PRIOR_RATIO * fabs(known->beta[j]), PRIOR_S_LEAST);
        m[j * TRAVEL_P + j] += 1.0 / (prior * prior);
        scale[j] = sqrt(m[j * TRAVEL_P + j]);
    }
    if (svd_find(m, TRAVEL_P, scale, scale, 0.0, c) != STATUS_OK) {
        memset(c->inverse, 0, sizeof c->inverse); /* no number is infinite here */
    }
}

double next_move_width(const struct next_move_known *known, enum travel_term term, double se)
{
    return NORMAL_95 * se / (is_delay(term) ? 1.0 : known->beta[term]);
}

/* Finds the wanted standard errors; infinite: any. */
static void find_wanted(const struct next_move_aim *aim, const struct next_move_known *known,
                        double wanted[TRAVEL_P])
{
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        const double half = is_delay(j) ? aim->delay_s : aim->speed_ratio * known->beta[j];
        wanted[j] = isnan(half) || aim->mission ? HUGE_VAL : half / NORMAL_95;
    }
}

/* Finds the weights of the terms' variances: of those that are not known well enough, else of
 * all that are wanted (33). Returns whether all are known well enough. */
static bool find_weights(const double se[TRAVEL_P], const double wanted[TRAVEL_P],
                         double weight[TRAVEL_P])
{
    bool reached = true;
    for (size_t j = 0; j < TRAVEL_P; j++) {
        reached = reached && se[j] <= wanted[j];
    }
    for (size_t j = 0; j < TRAVEL_P; j++) {
        const bool counts = isfinite(wanted[j]) && (reached || se[j] > wanted[j]);
        weight[j] = counts ? 1.0 / (wanted[j] * wanted[j]) : 0.0;
    }
    return reached;
}

static void multiply_square(const double *m, const double x[TRAVEL_P], double out[TRAVEL_P])
{
    for (size_t i = 0; i < TRAVEL_P; i++) {
        out[i] = 0.0;
        for (size_t j = 0; j < TRAVEL_P; j++) {
            out[i] += m[i * TRAVEL_P + j] * x[j];
        }
    }
}

static double multiply_rows(const double a[TRAVEL_P], const double b[TRAVEL_P])
{
    double sum = 0.0;
    for (size_t j = 0; j < TRAVEL_P; j++) {
        sum += a[j] * b[j];
    }
    return sum;
}

/* A move that may be chosen. */
struct candidate {
    double turn, drive, gain;
};

/* The things that a choice depends on. */
struct choice {
    const struct next_move_aim *aim;
    const struct next_move_known *known;
    struct svd c;
    double weight[TRAVEL_P];
};

static double find_gain(const struct choice *choice, double turn, double drive)
{
    double x[TRAVEL_P];
    double cx[TRAVEL_P];
    double gain = 0.0;
    travel_row(turn, drive, x);
    multiply_square(choice->c.inverse, x, cx);
    const double variance = choice->known->lap_s_sd * choice->known->lap_s_sd;
    const double all = variance + multiply_rows(x, cx);
    if (choice->aim->mission) { /* (34) */
        const double part = multiply_rows(choice->aim->mission_row, cx);
        const double lap_s = fmax(multiply_rows(x, choice->known->beta), LAP_S_LEAST);
        return part * part / all / lap_s;
    }
    for (size_t j = 0; j < TRAVEL_P; j++) {
        gain += cx[j] * cx[j] * choice->weight[j];
    }
    return gain / all;
}

static double size_at(const double range[2], double share)
{
    return range[0] + share * (range[1] - range[0]);
}

/* Lists all pairs of sizes but none of both (30), by their gain; equal ones keep their order.
 * Differences below the ninth digit are rounding. */
static void list_candidates(const struct choice *choice, struct candidate out[CANDIDATES])
{
    const struct next_move_aim *aim = choice->aim;
    struct candidate all[CANDIDATES];
    bool listed[CANDIDATES] = {false};
    double most = 1e-300;
    for (size_t i = 0; i < CANDIDATES; i++) {
        const size_t a = (i + 1) / SIZES;
        const size_t r = (i + 1) % SIZES;
        all[i].turn = a > 0 ? size_at(aim->turn_rad, LEVELS[a - 1]) : 0.0;
        all[i].drive = r > 0 ? size_at(aim->drive_m, LEVELS[r - 1]) : 0.0;
        all[i].gain = find_gain(choice, all[i].turn, all[i].drive);
        most = fmax(most, all[i].gain);
    }
    for (size_t k = 0; k < CANDIDATES; k++) {
        size_t best = CANDIDATES;
        double rank = -1.0;
        for (size_t i = 0; i < CANDIDATES; i++) {
            const double own = rint(all[i].gain / most * 1e9);
            if (!listed[i] && own > rank) {
                best = i;
                rank = own;
            }
        }
        listed[best] = true;
        out[k] = all[best];
    }
}

/* Lists the moves of middle size, a different one first each time (31). */
static void list_middles(const struct next_move_aim *aim, size_t counter,
                         struct candidate out[MIDDLES])
{
    static const int sizes[MIDDLES][2] = {{0, -1}, {-1, 0}, {1, 1}, {1, -1}, {-1, 1}, {0, 0}};
    for (size_t i = 0; i < MIDDLES; i++) {
        const int *size = sizes[(counter / EVERY + i) % MIDDLES];
        out[i] =
            (struct candidate){size[0] < 0 ? 0.0 : size_at(aim->turn_rad, MIDDLE[size[0]]),
                               size[1] < 0 ? 0.0 : size_at(aim->drive_m, MIDDLE[size[1]]), 0.0};
    }
}

/* Does the move end in the room? It turns first, then it drives straight. */
static bool ends_inside(const struct next_move_aim *aim, const double pose[3], double rotation,
                        double displacement)
{
    if (!aim->bounded) {
        return true;
    }
    const double heading = pose[2] + rotation;
    const double x = pose[0] + displacement * cos(heading);
    const double y = pose[1] + displacement * sin(heading);
    return aim->room_m[0][0] <= x && x <= aim->room_m[1][0] && aim->room_m[0][1] <= y &&
           y <= aim->room_m[1][1];
}

/* Takes the first move that ends in the room. Turns go to the left in even moves, to the right
 * in odd ones, and to the other side if only that ends inside. */
static bool choose_inside(const struct next_move_aim *aim, const double pose[3], size_t counter,
                          const struct candidate *list, size_t count, struct next_move *out)
{
    const double first = counter % 2 == 0 ? 1.0 : -1.0;
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < (list[i].turn > 0.0 ? 2 : 1); k++) {
            const double rotation = (k == 0 ? first : -first) * list[i].turn;
            if (ends_inside(aim, pose, rotation, list[i].drive)) {
                out->rotation_rad = list[i].turn > 0.0 ? rotation : 0.0;
                out->displacement_m = list[i].drive;
                out->gain = list[i].gain;
                return true;
            }
        }
    }
    return false;
}

/* Turns towards the middle of the room (35); false: it faces there already. */
static bool turn_to_middle(const struct next_move_aim *aim, const double pose[3],
                           struct next_move *out)
{
    const double x = (aim->room_m[0][0] + aim->room_m[1][0]) / 2.0 - pose[0];
    const double y = (aim->room_m[0][1] + aim->room_m[1][1]) / 2.0 - pose[1];
    const double bearing = remainder(atan2(y, x) - pose[2], 2.0 * PI);
    out->rotation_rad = fmax(-aim->turn_rad[1], fmin(bearing, aim->turn_rad[1]));
    out->displacement_m = out->gain = 0.0;
    out->why = NEXT_MOVE_ROOM;
    return fabs(bearing) >= aim->turn_rad[0];
}

static void set_errors(const struct svd *c, double se[TRAVEL_P])
{
    for (size_t j = 0; j < TRAVEL_P; j++) {
        se[j] = sqrt(c->inverse[j * TRAVEL_P + j]);
    }
}

enum next_move_state next_move_find(const struct next_move_aim *aim,
                                    const struct next_move_known *known, const double pose[3],
                                    size_t counter, struct next_move *out)
{
    struct choice choice = {.aim = aim, .known = known};
    struct candidate list[CANDIDATES];
    double wanted[TRAVEL_P];
    const bool middle = counter % EVERY == EVERY - 1;
    find_covariance(known, &choice.c);
    set_errors(&choice.c, out->se);
    find_wanted(aim, known, wanted);
    bool reached = find_weights(out->se, wanted, choice.weight);
    if (aim->mission) {
        reached = NORMAL_95 * sqrt(square_form(aim->mission_row, choice.c.inverse, TRAVEL_P,
                                               TRAVEL_P)) <=
                  aim->half_s;
    }
    if (reached && known->n >= PLAN_MOVES_MIN) {
        return NEXT_MOVE_REACHED;
    }
    out->why = middle ? NEXT_MOVE_MIDDLE : aim->mission ? NEXT_MOVE_MISSION : NEXT_MOVE_GOAL;
    if (middle) {
        list_middles(aim, counter, list);
    } else {
        list_candidates(&choice, list);
    }
    memcpy(out->se_after, out->se, sizeof out->se);
    if (choose_inside(aim, pose, counter, list, middle ? MIDDLES : CANDIDATES, out)) {
        struct next_move_known after = *known;
        next_move_add(&after, out->rotation_rad, out->displacement_m);
        find_covariance(&after, &choice.c);
        set_errors(&choice.c, out->se_after);
        return NEXT_MOVE_FOUND;
    }
    return aim->bounded && !middle && turn_to_middle(aim, pose, out) ? NEXT_MOVE_FOUND
                                                                     : NEXT_MOVE_NO_ROOM;
}

size_t next_move_left(const struct next_move_aim *aim, const struct next_move_known *known,
                      size_t counter)
{
    struct next_move_aim free = *aim;
    struct next_move_known after = *known;
    struct next_move move;
    size_t left = 0;
    free.bounded = false;
    while (left < NEXT_MOVE_LEFT_MAX &&
           next_move_find(&free, &after, NULL, counter + left, &move) == NEXT_MOVE_FOUND) {
        next_move_add(&after, move.rotation_rad, move.displacement_m);
        left++;
    }
    return left;
}

bool next_move_left_range(const struct next_move_known *known, size_t left, size_t range[2])
{
    range[0] = (size_t)((double)left * LEFT_LOW);
    range[1] = (size_t)ceil((double)left * LEFT_HIGH) + 1;
    return known->n > PLAN_MOVES_MIN && left < NEXT_MOVE_LEFT_MAX;
}

/* ---- a plan ---- */

void move_plan_start(struct move_plan *plan, const struct next_move_aim *aim,
                     double angular_radps, double linear_mps)
{
    plan->aim = *aim;
    plan->counter = plan->n = plan->earlier = plan->left_out = plan->checked = 0;
    plan->reason[0] = '\0';
    next_move_start(&plan->known, angular_radps, linear_mps);
}

void move_plan_add(struct move_plan *plan, const struct travel_move *move, bool earlier)
{
    if (plan->n < MOVE_PLAN_MAX && travel_move_usable(move)) {
        plan->moves[plan->n++] = *move;
        plan->earlier += earlier;
        next_move_add(&plan->known, move->rotation_rad, move->displacement_m);
    }
}

static enum status fit_moves(const struct move_plan *plan, size_t from, struct travel_fit *fit)
{
    return travel_time_fit(plan->moves + from, plan->n - from, TRAVEL_TURNS_AND_DRIVES,
                           TRAVEL_AUTO, fit);
}

/* Finds a reason against the law of travel times: laps bend, change with time, or are those of
 * two robots. */
static bool law_fails(struct move_plan *plan, const struct travel_fit *fit)
{
    const struct estimate *e = &fit->estimate;
    for (size_t i = 0; i < estimate_first_note(e); i++) {
        if (e->reason_codes[i] == REASON_LAPS_BEND ||
            e->reason_codes[i] == REASON_CHANGES_WITH_TIME ||
            e->reason_codes[i] == REASON_PARTS_DIFFER) {
            (void)snprintf(plan->reason, sizeof plan->reason, "%s", e->reasons[i]);
            return true;
        }
    }
    return false;
}

/* Are the fit's own intervals as narrow as wanted? */
static bool fit_reaches(const struct next_move_aim *aim, const struct travel_fit *fit)
{
    if (aim->mission) {
        return robust_ls_estimable(&fit->ls, aim->mission_row) &&
               estimate_reach((double)fit->freedom) *
                       robust_ls_se(&fit->ls, aim->mission_row) <=
                   aim->half_s;
    }
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        const double half = (fit->beta_hi[j] - fit->beta_lo[j]) / 2.0;
        const double wanted = is_delay(j) ? aim->delay_s : aim->speed_ratio * fit->beta[j];
        if (!isnan(wanted) ? !(half <= wanted) : !is_delay(j)) {
            return false;
        }
    }
    return true;
}

/* Judges a plan whose widths are reached. While the fit's own intervals are wider, it goes on:
 * as if there were no moves yet, so that it finds one. */
static enum move_plan_stop judge_reached(struct move_plan *plan, const double pose[3],
                                         struct next_move *out)
{
    if (fit_reaches(&plan->aim, &plan->fit)) {
        return law_fails(plan, &plan->fit) ? MOVE_PLAN_LAW : MOVE_PLAN_REACHED;
    }
    struct next_move_known known = plan->known;
    known.n = 0;
    return next_move_find(&plan->aim, &known, pose, plan->counter, out) == NEXT_MOVE_FOUND
               ? MOVE_PLAN_GOES_ON
               : MOVE_PLAN_NO_ROOM;
}

static enum status fit_all(struct move_plan *plan)
{
    const enum status status = plan->n > 0 ? fit_moves(plan, 0, &plan->fit) : STATUS_OK;
    if (status == STATUS_OK && plan->n > 0) {
        next_move_learn(&plan->known, &plan->fit);
    }
    return status;
}

void move_plan_forget_earlier(struct move_plan *plan)
{
    plan->n -= plan->earlier;
    memmove(plan->moves, plan->moves + plan->earlier, plan->n * sizeof plan->moves[0]);
    plan->left_out += plan->earlier;
    plan->earlier = 0;
    plan->reason[0] = '\0';
    plan->known.n = 0;
    memset(plan->known.information, 0, sizeof plan->known.information);
    for (size_t i = 0; i < plan->n; i++) {
        next_move_add(&plan->known, plan->moves[i].rotation_rad, plan->moves[i].displacement_m);
    }
}

/* The robot may have changed since the earlier moves: then all moves together break the law. */
static enum status check_earlier(struct move_plan *plan)
{
    if (plan->earlier == 0 || !law_fails(plan, &plan->fit)) {
        return STATUS_OK;
    }
    move_plan_forget_earlier(plan);
    return fit_all(plan);
}

enum move_plan_stop move_plan_next(struct move_plan *plan, const double pose[3],
                                   struct next_move *out)
{
    const size_t own = plan->n - plan->earlier;
    bool checks = own == 0; /* the earlier moves */
    if (plan->n == MOVE_PLAN_MAX) {
        return MOVE_PLAN_FULL;
    }
    if (own >= plan->checked + PLAN_MOVES_MIN) {
        checks = true;
        plan->checked = own;
        if (fit_moves(plan, plan->earlier, &plan->fit) != STATUS_OK) {
            return MOVE_PLAN_FAILED;
        }
        if (law_fails(plan, &plan->fit)) {
            return MOVE_PLAN_LAW;
        }
    }
    if (fit_all(plan) != STATUS_OK || (checks && check_earlier(plan) != STATUS_OK)) {
        return MOVE_PLAN_FAILED;
    }
    enum next_move_state state =
        next_move_find(&plan->aim, &plan->known, pose, plan->counter, out);
    if (state == NEXT_MOVE_REACHED && plan->earlier > 0) {
        if (check_earlier(plan) != STATUS_OK) {
            return MOVE_PLAN_FAILED;
        }
        state = next_move_find(&plan->aim, &plan->known, pose, plan->counter, out);
    }
    if (state == NEXT_MOVE_NO_ROOM && plan->counter % EVERY == EVERY - 1) {
        plan->counter++; /* no middle move ends in the room, another one may */
        state = next_move_find(&plan->aim, &plan->known, pose, plan->counter, out);
    }
    const enum move_plan_stop stop = state == NEXT_MOVE_REACHED ? judge_reached(plan, pose, out)
                                     : state == NEXT_MOVE_NO_ROOM ? MOVE_PLAN_NO_ROOM
                                                                  : MOVE_PLAN_GOES_ON;
    plan->counter += stop == MOVE_PLAN_GOES_ON;
    return stop;
}
