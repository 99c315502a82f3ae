#include "service/evidence/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "identification/numeric/same_moves.h"
#include "service/evidence/compare_thresholds.def"

ENUM_NAMES(shift_method, SHIFT_METHOD_COUNT, SHIFT_METHODS(NAMES_TEXT));

/* Half a microsecond: times are whole microseconds. */
#define TIME_STEP_S 5e-7

/* ---- counts -------------------------------------------------------------------------------
 */

static void count_commands(const struct recorded_pair *pair, size_t which, struct comparison *c)
{
    c->commands[which] = pair->count;
    for (size_t i = 0; i < pair->count; i++) {
        const struct recorded_command *command = &pair->commands[i];
        const bool real = command->timed_out[SIDE_REAL];
        const bool virtual = command->timed_out[SIDE_VIRTUAL];
        c->verdicts[command->verdict][which]++;
        c->inconsistent[which] += command->consistency == INCONSISTENT;
        if (real || virtual) {
            c->timeouts[real ? (virtual ? 2 : 0) : 1][which]++;
        }
    }
    for (size_t i = 0; i < ALARM_TYPE_COUNT; i++) {
        c->alarms[i][which] = pair->state.alarms[i];
    }
}

static void count_matches(const struct recorded_pair *a, const struct recorded_pair *b,
                          struct comparison *c)
{
    for (size_t i = 0; i < c->alignment.count; i++) {
        const struct match m = c->alignment.matches[i];
        const enum verdict in_a = a->commands[m.a].verdict;
        const enum verdict in_b = b->commands[m.b].verdict;
        c->changes[in_a][in_b]++;
        size_t *cell = in_a == VERDICT_SYNC
                           ? (in_b == VERDICT_SYNC ? &c->sync.both : &c->sync.only_a)
                           : (in_b == VERDICT_SYNC ? &c->sync.only_b : &c->sync.neither);
        (*cell)++;
    }
}

/* Lists the commands without a match. */
static enum status list_unmatched(struct comparison *c, size_t which)
{
    bool *matched = calloc(c->commands[which] + 1, sizeof *matched);
    if (!matched) {
        return STATUS_E_NOMEM;
    }
    for (size_t i = 0; i < c->alignment.count; i++) {
        const struct match m = c->alignment.matches[i];
        matched[which == IN_A ? m.a : m.b] = true;
    }
    for (size_t i = 0; i < c->commands[which] && c->only_count[which] < ONLY_MAX; i++) {
        if (!matched[i]) {
            c->only[which][c->only_count[which]++] = (uint32_t)i;
        }
    }
    free(matched);
    return STATUS_OK;
}

void comparison_free(struct comparison *comparison)
{
    align_free(&comparison->alignment);
}

/* ---- times --------------------------------------------------------------------------------
 */

/* Memory for the commands of the longer recording. */
struct room {
    double *a, *b; /* [3][n] by columns: rotation, displacement, time; and d in a */
    size_t n;
    struct rank_room ranks;
};

static enum status make_room(struct room *room, size_t n)
{
    room->n = n + 1;
    room->a = malloc(8 * room->n * sizeof *room->a);
    room->ranks.order = malloc(room->n * sizeof *room->ranks.order);
    if (!room->a || !room->ranks.order) {
        return STATUS_E_NOMEM;
    }
    room->b = room->a + 3 * room->n;
    room->ranks.sorted = room->a + 6 * room->n;
    room->ranks.ranks = room->a + 7 * room->n;
    return STATUS_OK;
}

static void free_room(struct room *room)
{
    free(room->a);
    free(room->ranks.order);
}

static void compare_one_recording(double *d, size_t n, struct compared_shift *s)
{
    s->method = SHIFT_SAME_RECORDING;
    for (size_t i = 0; i < n; i++) {
        s->changed += fabs(d[i]) > TIME_STEP_S;
    }
    if (n > 0) {
        gsl_sort(d, 1, n);
        s->shift.value = gsl_stats_median_from_sorted_data(d, 1, n);
    }
}

static void compare_matched(double confidence, const struct room *room,
                            struct compared_shift *s)
{
    const double *d = room->a;
    const size_t n = s->n[IN_A];
    double larger = 0.0;
    s->equal = true;
    for (size_t i = 0; i < n; i++) { /* a tie counts half */
        larger += d[i] > 0.0 ? 1.0 : d[i] < 0.0 ? 0.0 : 0.5;
        s->equal = s->equal && fabs(d[i]) < TIME_STEP_S;
    }
    if (n < COMPARED_MIN) {
        s->why = "fewer than 6 commands in both";
        return;
    }
    s->method = SHIFT_PAIRED;
    s->larger = share_find(larger, (double)n, confidence);
    rank_shift_paired(d, n, confidence, &room->ranks, &s->shift);
}

static void find_matched(const struct recorded_pair *a, const struct recorded_pair *b,
                         const struct alignment *alignment, enum compared_time time,
                         double confidence, const struct room *room, struct compared_shift *s)
{
    for (size_t i = 0; i < alignment->count; i++) {
        const double d = b->commands[alignment->matches[i].b].time_s[time] -
                         a->commands[alignment->matches[i].a].time_s[time];
        if (isfinite(d)) {
            room->a[s->n[IN_A]++] = d;
        }
    }
    if (alignment->rule == ALIGNED_BY_RECORDING) {
        compare_one_recording(room->a, s->n[IN_A], s);
    } else {
        compare_matched(confidence, room, s);
    }
}

static struct moves_sample fill_sample(const struct recorded_pair *pair,
                                       enum compared_time time, double *columns, size_t room)
{
    struct moves_sample sample = {columns, columns + room, columns + 2 * room, 0};
    for (size_t i = 0; i < pair->count; i++) {
        const struct recorded_command *c = &pair->commands[i];
        if (isfinite(c->time_s[time])) {
            columns[sample.n] = fabs(c->rotation_rad);
            columns[room + sample.n] = fabs(c->displacement_m);
            columns[2 * room + sample.n++] = c->time_s[time];
        }
    }
    return sample;
}

static void find_unmatched(const struct recorded_pair *a, const struct recorded_pair *b,
                           enum compared_time time, double confidence, const struct room *room,
                           struct compared_shift *s)
{
    const struct moves_sample in_a = fill_sample(a, time, room->a, room->n);
    const struct moves_sample in_b = fill_sample(b, time, room->b, room->n);
    double *x = room->a + 2 * room->n;
    double *y = room->b + 2 * room->n;
    s->n[IN_A] = in_a.n;
    s->n[IN_B] = in_b.n;
    s->equal = in_a.n == in_b.n && memcmp(x, y, in_a.n * sizeof *x) == 0;
    if (same_moves_difference(&in_a, &in_b, confidence, &s->shift.value, &s->shift.lo,
                              &s->shift.hi)) {
        s->method = SHIFT_SAME_MOVES;
    } else if (in_a.n < COMPARED_MIN || in_b.n < COMPARED_MIN) {
        s->why = "fewer than 6 commands in one of the two";
    } else if (align_has_one_command(a) && align_has_one_command(b) &&
               align_is_same_command(&a->commands[0], &b->commands[0])) {
        s->method = SHIFT_UNPAIRED;
        gsl_sort(x, 1, in_a.n);
        gsl_sort(y, 1, in_b.n);
        rank_shift_unpaired(x, in_a.n, y, in_b.n, confidence, &s->shift);
        rank_superiority_find(x, in_a.n, y, in_b.n, confidence, &s->superiority);
    } else {
        s->why = "other moves, and too few of them to allow for that";
    }
}

/* ---- fits ---------------------------------------------------------------------------------
 */

/* Returns whether the term is known in both. */
static bool compare_term(const struct recorded_fit *a, const struct recorded_fit *b, size_t i,
                         double confidence, struct compared_term *term)
{
    size_t j = 0;
    while (j < b->terms && strcmp(a->name[i], b->name[j]) != 0) {
        j++;
    }
    if (j == b->terms) {
        return false;
    }
    const double freedom = (double)(a->n < b->n ? a->n : b->n) - 5.0;
    const double u = a->value[i];
    const double v = b->value[j];
    const bool is_ratio = strstr(a->name[i], "speed") != NULL;
    const double se = is_ratio ? hypot(a->se[i] / u, b->se[j] / v) : hypot(a->se[i], b->se[j]);
    const double difference = is_ratio ? log(v / u) : v - u;
    if (!(se > 0.0) || !isfinite(difference) || !(freedom > 0.0)) {
        return false;
    }
    const double half = gsl_cdf_tdist_Pinv(0.5 + confidence / 2.0, freedom) * se;
    *term = (struct compared_term){.is_ratio = is_ratio,
                                   .a = u,
                                   .b = v,
                                   .value = is_ratio ? v / u : difference,
                                   .lo = is_ratio ? v / u * exp(-half) : difference - half,
                                   .hi = is_ratio ? v / u * exp(half) : difference + half,
                                   .p = 2.0 * gsl_cdf_tdist_Q(fabs(difference) / se, freedom)};
    memcpy(term->name, a->name[i], sizeof term->name);
    return true;
}

/* Holm: the smallest p must be below the level over the number of terms, the next one below
 * that over one term less, and so on. */
static void mark_changed(struct compared_term *terms, size_t count)
{
    double p[RECORDED_TERMS_MAX];
    size_t order[RECORDED_TERMS_MAX];
    bool changed = true;
    for (size_t i = 0; i < count; i++) {
        p[i] = terms[i].p;
    }
    gsl_sort_index(order, p, 1, count);
    for (size_t k = 0; k < count; k++) {
        changed = changed && p[order[k]] < CHANGED_P / (double)(count - k);
        terms[order[k]].changed = changed;
    }
}

static void compare_fits(const struct recorded_fit *a, const struct recorded_fit *b,
                         double confidence, enum side side, struct comparison *c)
{
    c->fit_moves[side][IN_A] = a->n;
    c->fit_moves[side][IN_B] = b->n;
    c->term_count[side] = 0;
    for (size_t i = 0; i < a->terms; i++) {
        struct compared_term *term = &c->terms[side][c->term_count[side]];
        c->term_count[side] += compare_term(a, b, i, confidence, term);
    }
    mark_changed(c->terms[side], c->term_count[side]);
}

/* ---- all of it ----------------------------------------------------------------------------
 */

static void compare_shares(double confidence, struct comparison *c)
{
    const double matched = (double)c->alignment.count;
    c->sync_p = (double)NAN;
    if (c->alignment.rule == ALIGNED_NOT) {
        const size_t *k = c->verdicts[VERDICT_SYNC];
        c->sync_a = (double)k[IN_A] / (double)c->commands[IN_A];
        c->sync_b = (double)k[IN_B] / (double)c->commands[IN_B];
        c->sync_difference = share_difference(k[IN_A], c->commands[IN_A], k[IN_B],
                                              c->commands[IN_B], confidence);
        return;
    }
    c->sync_a = (double)(c->sync.both + c->sync.only_a) / matched;
    c->sync_b = (double)(c->sync.both + c->sync.only_b) / matched;
    c->sync_difference = share_paired_difference(&c->sync, confidence);
    if (c->alignment.rule == ALIGNED_BY_RECORDING) {
        c->sync_difference.lo = c->sync_difference.hi = (double)NAN;
    } else {
        c->sync_p = share_paired_p(&c->sync);
    }
}

enum status comparison_estimate(const struct recorded_pair *a, const struct recorded_pair *b,
                                double confidence, struct comparison *c)
{
    struct room room = {0};
    if (a->count == 0 || b->count == 0) {
        return STATUS_OK;
    }
    const enum status status = make_room(&room, a->count > b->count ? a->count : b->count);
    for (enum compared_time t = TIME_LAG; t < TIME_COUNT && status == STATUS_OK; t++) {
        struct compared_shift *s = &c->shift[t];
        *s = (struct compared_shift){.shift = {NAN, NAN, NAN, NAN, 0.0},
                                     .superiority = {NAN, NAN, NAN}};
        if (c->alignment.rule == ALIGNED_NOT) {
            find_unmatched(a, b, t, confidence, &room, s);
        } else {
            find_matched(a, b, &c->alignment, t, confidence, &room, s);
        }
    }
    free_room(&room);
    compare_shares(confidence, c);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const bool is_one = c->alignment.rule == ALIGNED_BY_RECORDING;
        const struct recorded_fit *in_a = &a->state.fit[s];
        const struct recorded_fit *in_b = &b->state.fit[s];
        if (!is_one && in_a->n > 0 && in_b->n > 0) {
            compare_fits(in_a, in_b, confidence, s, c);
        }
    }
    return status;
}

enum status comparison_make(const struct recorded_pair *a, const struct recorded_pair *b,
                            enum alignment_rule request, double confidence,
                            struct comparison *out)
{
    *out = (struct comparison){0};
    enum status status = align_find(a, b, request, &out->alignment);
    if (status != STATUS_OK) {
        return status;
    }
    count_commands(a, IN_A, out);
    count_commands(b, IN_B, out);
    count_matches(a, b, out);
    out->why = out->alignment.why;
    if (a->count == 0 || b->count == 0) {
        out->why = "no commands in one of the two";
    }
    for (size_t which = IN_A; which <= IN_B && out->alignment.count > 0; which++) {
        status = status == STATUS_OK ? list_unmatched(out, which) : status;
    }
    status = status == STATUS_OK ? comparison_estimate(a, b, confidence, out) : status;
    if (status != STATUS_OK) {
        comparison_free(out);
    }
    return status;
}

bool comparison_shift_differs(const struct compared_shift *shift)
{
    return shift->changed > 0 || shift->shift.lo > 0.0 || shift->shift.hi < 0.0;
}

bool comparison_shift_is_unknown(const struct compared_shift *shift)
{
    return shift->why && !shift->equal && shift->n[IN_A] + shift->n[IN_B] > 0;
}

bool comparison_verdicts_differ(const struct comparison *c)
{
    bool differs = false;
    for (size_t v = 0; v < VERDICT_COUNT; v++) {
        differs = differs || c->verdicts[v][IN_A] != c->verdicts[v][IN_B];
        for (size_t to = 0; to < VERDICT_COUNT; to++) {
            differs = differs || (v != to && c->changes[v][to] > 0);
        }
    }
    return differs;
}

/* Is there a row to show? */
bool comparison_differs(const struct comparison *c)
{
    bool differs =
        c->why != NULL || c->commands[IN_A] != c->commands[IN_B] ||
        (c->alignment.rule != ALIGNED_NOT && c->only_count[IN_A] + c->only_count[IN_B] > 0) ||
        comparison_verdicts_differ(c);
    for (size_t t = 0; t < TIME_COUNT; t++) {
        differs = differs || comparison_shift_differs(&c->shift[t]) ||
                  comparison_shift_is_unknown(&c->shift[t]);
    }
    for (size_t side = 0; side < SIDE_COUNT; side++) {
        for (size_t i = 0; i < c->term_count[side]; i++) {
            differs = differs || c->terms[side][i].changed;
        }
    }
    for (size_t i = 0; i < ALARM_TYPE_COUNT; i++) {
        differs = differs || c->alarms[i][IN_A] != c->alarms[i][IN_B];
    }
    return differs || c->inconsistent[IN_A] != c->inconsistent[IN_B];
}
