#include "service/evidence/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/evidence/compare_thresholds.def"

ENUM_NAMES(gate_metric, GATE_METRIC_COUNT, GATE_METRICS(NAMES_TEXT));
ENUM_NAMES(gate_outcome, GATE_OUTCOME_COUNT, GATE_OUTCOMES(NAMES_TEXT));

/* ---- values of commands -------------------------------------------------------------------
 */

/* The real robot's laps are tested like a metric, in both directions. */
enum { REAL_LAP = GATE_METRIC_COUNT };

static bool is_judged(const struct recorded_command *c)
{
    return c->verdict != VERDICT_UNRESOLVED && c->verdict != VERDICT_HALTED &&
           c->verdict != VERDICT_OVERFLOW && !c->timed_out[SIDE_REAL];
}

static bool is_bad(const struct recorded_command *c, unsigned metric)
{
    return metric == GATE_SYNC      ? c->verdict != VERDICT_SYNC
           : metric == GATE_TIMEOUT ? c->timed_out[SIDE_VIRTUAL]
                                    : c->consistency == INCONSISTENT;
}

/* The rise from a to b; NaN: the command is left out. */
static double find_rise(const struct recorded_command *a, const struct recorded_command *b,
                        unsigned metric)
{
    if (metric == GATE_ABS_LAG) {
        return b->time_s[TIME_ABS_LAG] - a->time_s[TIME_ABS_LAG];
    }
    if (metric == REAL_LAP) {
        return b->time_s[TIME_REAL_LAP] - a->time_s[TIME_REAL_LAP];
    }
    if (metric == GATE_SYNC && (!is_judged(a) || !is_judged(b))) {
        return (double)NAN;
    }
    return (double)is_bad(b, metric) - (double)is_bad(a, metric);
}

/* ---- units --------------------------------------------------------------------------------
 */

/* The rises of one metric, in the order of the candidate. */
struct units {
    double *x; /* [count] */
    size_t count, left_out;
    double per_block; /* commands in a block */
};

struct sequence {
    const struct recorded_pair *a, *b;
    const struct match *matches; /* [count] in the order of b */
    size_t count;
};

/* The size of blocks is that of the reference, which is known before the first look. */
static double find_block_size(const struct recorded_pair *reference,
                              const struct gate_options *o)
{
    size_t pauses = 0;
    for (size_t i = 1; i < reference->count; i++) {
        pauses +=
            lab_s(reference->commands[i].t_us - reference->commands[i - 1].t_us) > o->gap_s;
    }
    return o->blocks == GATE_COMMANDS    ? 1.0
           : o->blocks == GATE_BLOCKS_OF ? (double)o->block_of
                                         : (double)reference->count / (double)(pauses + 1);
}

/* A block in progress. */
struct block {
    double sum;
    size_t count;
};

static void end_block(struct block *block, struct units *units)
{
    if (block->count > 0) {
        units->x[units->count++] = block->sum / (double)block->count;
    }
    *block = (struct block){0};
}

/* The last block is left out: it may go on. */
static void collect_units(const struct sequence *s, const struct gate_options *o,
                          unsigned metric, struct units *units)
{
    struct block block = {0};
    const size_t full = o->blocks == GATE_COMMANDS ? 1 : o->block_of;
    int64_t last_us = LAB_TIME_NONE;
    units->count = units->left_out = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct recorded_command *b = &s->b->commands[s->matches[i].b];
        const double x = find_rise(&s->a->commands[s->matches[i].a], b, metric);
        if (o->blocks == GATE_BLOCKS_BY_PAUSE && last_us != LAB_TIME_NONE &&
            lab_s(b->t_us - last_us) > o->gap_s) {
            end_block(&block, units);
        }
        last_us = b->t_us;
        if (!isfinite(x)) {
            units->left_out++;
            continue;
        }
        block.sum += x;
        block.count++;
        if (o->blocks != GATE_BLOCKS_BY_PAUSE && block.count == full) {
            end_block(&block, units);
        }
    }
}

/* ---- one test -----------------------------------------------------------------------------
 */

/* Memory for the units of a pair. */
struct room {
    double *x;
    struct bet_unit *units;
    struct bet *late;
};

static double find_clip(double margin, bool is_share, const struct gate_options *o,
                        double per_block)
{
    return (is_share ? 1.0 + margin : o->clip * margin) / sqrt(per_block);
}

/* Runs the bets of both sides over the units. */
static void run_bets(const struct units *units, const struct gate_options *o,
                     const struct room *room, struct gate_test *t)
{
    struct bet pass;
    struct bet_fail fail;
    bet_start(&pass, t->margin, t->clip, 1, o->blocks == GATE_COMMANDS);
    bet_fail_start(&fail, t->margin, t->clip, o->blocks == GATE_COMMANDS, room->late);
    for (size_t i = 0; i < units->count; i++) {
        t->log_e_pass = bet_add(&pass, units->x[i], &room->units[i]);
        bet_fail_add(&fail, units->x[i]);
        t->fail_path[i] = t->log_e_fail = fail.log_e;
        t->since[i] = (uint32_t)fail.since;
        t->clipped += fabs(units->x[i] - t->margin) > t->clip;
        t->pass_at =
            t->pass_at == 0 && t->log_e_pass >= log(1.0 / o->alpha) ? i + 1 : t->pass_at;
    }
    t->inflation = pass.inflation;
    if (units->count > 0) {
        t->rise = bet_rise(room->units, units->count, t->clip);
        t->lo = bet_bound(room->units, units->count, t->clip, o->alpha, -1);
        t->hi = bet_bound(room->units, units->count, t->clip, o->alpha, 1);
        t->more = bet_more(&pass, t->rise, o->alpha);
    }
    if (t->lo > t->rise || t->hi < t->rise) { /* it changed: no single value holds */
        t->lo = t->hi = (double)NAN;
    }
}

static enum status test_metric(const struct sequence *s, enum gate_metric metric,
                               const struct gate_options *o, const struct room *room,
                               struct gate_test *t)
{
    struct units units = {.x = room->x, .per_block = find_block_size(s->a, o)};
    collect_units(s, o, metric, &units);
    *t = (struct gate_test){
        .margin = o->margin[metric],
        .clip = find_clip(o->margin[metric], metric != GATE_ABS_LAG, o, units.per_block),
        .n = units.count,
        .left_out = units.left_out,
        .rise = NAN,
        .lo = NAN,
        .hi = NAN,
        .log_e_pass = NAN,
        .log_e_fail = NAN,
        .fail_path = malloc((units.count + 1) * sizeof(double)),
        .since = malloc((units.count + 1) * sizeof(uint32_t))};
    if (!t->fail_path || !t->since) {
        return STATUS_E_NOMEM;
    }
    run_bets(&units, o, room, t);
    return STATUS_OK;
}

/* Has the real robot changed, in one direction or the other? Each has half of alpha. */
static void test_real(const struct sequence *s, const struct gate_options *o,
                      const struct room *room, struct gate_pair *out)
{
    struct units units = {.x = room->x, .per_block = find_block_size(s->a, o)};
    struct bet bets[2];
    const double margin = o->margin[GATE_ABS_LAG];
    const double clip = find_clip(margin, false, o, units.per_block);
    collect_units(s, o, REAL_LAP, &units);
    bet_start(&bets[0], margin, clip, -1, o->blocks == GATE_COMMANDS);
    bet_start(&bets[1], margin, clip, -1, o->blocks == GATE_COMMANDS);
    for (size_t i = 0; i < units.count; i++) {
        const double up = bet_add(&bets[0], units.x[i], &room->units[i]);
        const double down = bet_add(&bets[1], -units.x[i], NULL);
        out->real_changed = out->real_changed || fmax(up, down) >= log(2.0 / o->alpha);
    }
    out->real_rise = units.count > 0 ? bet_rise(room->units, units.count, clip) : (double)NAN;
}

/* ---- one pair -----------------------------------------------------------------------------
 */

static int compare_matches(const void *a, const void *b)
{
    const struct match *x = a;
    const struct match *y = b;
    return x->b < y->b ? -1 : x->b > y->b;
}

static void refuse_pair(struct gate_pair *pair)
{
    const size_t shorter =
        pair->commands[0] < pair->commands[1] ? pair->commands[0] : pair->commands[1];
    const size_t longer =
        pair->commands[0] < pair->commands[1] ? pair->commands[1] : pair->commands[0];
    if (pair->rule == ALIGNED_BY_RECORDING) {
        (void)snprintf(pair->why, sizeof pair->why,
                       "one recording twice: the candidate is the reference");
    } else if (pair->rule == ALIGNED_NOT || shorter == 0 ||
               (double)pair->matched < GATE_MATCHED_SHARE * (double)shorter) {
        (void)snprintf(pair->why, sizeof pair->why,
                       "%zu of %zu commands in both; the gate needs the same commands (tandem "
                       "drive --seed)",
                       pair->matched, longer);
    }
    pair->compared = pair->why[0] == '\0';
}

static enum status test_pair(const struct recorded_pair *a, const struct recorded_pair *b,
                             const struct alignment *alignment, const struct gate_options *o,
                             struct gate_pair *out)
{
    const size_t n = alignment->count;
    const struct room room = {.x = malloc((n + 1) * sizeof(double)),
                              .units = malloc((n + 1) * sizeof(struct bet_unit)),
                              .late = malloc((bet_late_max(n) + 1) * sizeof(struct bet))};
    const struct sequence s = {a, b, alignment->matches, n};
    enum status status = room.x && room.units && room.late ? STATUS_OK : STATUS_E_NOMEM;
    qsort(alignment->matches, n, sizeof *alignment->matches, compare_matches);
    for (enum gate_metric m = 0; m < GATE_METRIC_COUNT && status == STATUS_OK; m++) {
        status = test_metric(&s, m, o, &room, &out->test[m]);
    }
    if (status == STATUS_OK) {
        test_real(&s, o, &room, out);
    }
    free(room.x);
    free(room.units);
    free(room.late);
    return status;
}

enum status gate_pair_test(const struct recorded_pair *a, const struct recorded_pair *b,
                           const struct gate_options *options, struct gate_pair *out)
{
    struct alignment alignment;
    enum status status = align_find(a, b, ALIGNED_AUTO, &alignment);
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct gate_pair){.rule = alignment.rule,
                              .commands = {a->count, b->count},
                              .matched = alignment.count,
                              .real_rise = NAN};
    refuse_pair(out);
    if (out->compared) {
        status = test_pair(a, b, &alignment, options, out);
    }
    align_free(&alignment);
    if (status != STATUS_OK) {
        gate_pair_free(out);
    }
    return status;
}

void gate_pair_free(struct gate_pair *pair)
{
    for (size_t m = 0; m < GATE_METRIC_COUNT; m++) {
        free(pair->test[m].fail_path);
        free(pair->test[m].since);
        pair->test[m].fail_path = NULL;
        pair->test[m].since = NULL;
    }
}

/* ---- all pairs ----------------------------------------------------------------------------
 */

/* Merges the fail sides after a number of units. A test that has ended keeps its last value. */
static void merge_round(struct gate_pair *pairs, size_t count, size_t round, double alpha,
                        double *log_e)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t m = 0; m < GATE_METRIC_COUNT && pairs[i].compared; m++) {
            const struct gate_test *t = &pairs[i].test[m];
            const size_t at = round < t->n ? round : t->n;
            log_e[n++] = at > 0 ? t->fail_path[at - 1] : 0.0;
        }
    }
    const double wanted = bet_merge(log_e, n, alpha);
    n = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t m = 0; m < GATE_METRIC_COUNT && pairs[i].compared; m++, n++) {
            struct gate_test *t = &pairs[i].test[m];
            if (t->fail_at == 0 && log_e[n] >= wanted) {
                t->fail_at = round;
                t->worse_since = t->since[(round < t->n ? round : t->n) - 1];
            }
        }
    }
}

bool gate_is_blamed(const struct gate_pair *pair, enum gate_metric metric)
{
    return pair->compared && pair->test[metric].outcome == GATE_FAIL &&
           !(pair->real_changed && (metric == GATE_ABS_LAG || metric == GATE_SYNC));
}

struct gate_result gate_decide(struct gate_pair *pairs, size_t count,
                               const struct gate_options *options, double *log_e)
{
    struct gate_result result = {.outcome = GATE_UNDECIDED};
    bool blamed = false;
    bool open = false;
    size_t rounds = 0;
    for (size_t i = 0; i < count; i++) {
        result.usable += pairs[i].compared;
        for (size_t m = 0; m < GATE_METRIC_COUNT && pairs[i].compared; m++) {
            rounds = pairs[i].test[m].n > rounds ? pairs[i].test[m].n : rounds;
        }
    }
    for (size_t round = 1; round <= rounds; round++) {
        merge_round(pairs, count, round, options->alpha, log_e);
    }
    for (size_t i = 0; i < count; i++) {
        for (enum gate_metric m = 0; m < GATE_METRIC_COUNT && pairs[i].compared; m++) {
            struct gate_test *t = &pairs[i].test[m];
            t->outcome = t->fail_at > 0   ? GATE_FAIL
                         : t->pass_at > 0 ? GATE_PASS
                                          : GATE_UNDECIDED;
            t->more = t->outcome == GATE_UNDECIDED ? t->more : 0;
            blamed = blamed || gate_is_blamed(&pairs[i], m);
            open = open || (t->outcome == GATE_UNDECIDED && options->needed[m]) ||
                   (t->outcome == GATE_FAIL && !gate_is_blamed(&pairs[i], m));
        }
    }
    if (blamed) {
        result.outcome = GATE_FAIL;
    } else if (!open && result.usable == count) {
        result.outcome = GATE_PASS;
    }
    return result;
}
