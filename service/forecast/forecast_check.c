#include "service/forecast/forecast_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/tool/array.h"

/* Commands may be open for as long as 64 others. */
enum { STATES = FORECAST_SUM_MAX + PAIR_OUTSTANDING_MAX + 1 };

/* The state from the end of an entry on. */
struct known {
    int64_t since_us; /* time of the last entry that it has learned from */
    struct forecast forecast;
    struct forecast_move moves[PAIR_WINDOW_MAX];
    size_t n;
};

struct done_move {
    uint64_t n;
    int64_t sent_us;
    struct forecast_move move;
    double value_s[FORECAST_QUANTITIES]; /* NaN: not done */
};

/* One forecast and what came. */
struct check {
    uint64_t n;
    uint8_t count_index, quantity;
    double expected_s, low_s, high_s, measured_s;
};

struct checked_pair {
    const struct pair_params *p;
    struct known *known;     /* [STATES] ring */
    struct done_move *moves; /* [STATES] ring */
    size_t known_count, move_count;
    int64_t last_us;
    struct check *checks;
    size_t check_count, room;
    size_t left_out[FORECAST_CHECK_COUNTS][FORECAST_QUANTITIES];
};

struct forecast_checks {
    struct checked_pair *pairs;
    size_t pair_count, count_count;
    unsigned counts[FORECAST_CHECK_COUNTS];
    enum forecast_level level;
    bool failed;
};

struct forecast_checks *forecast_checks_create(const struct pair_params *pairs,
                                               size_t pair_count, const unsigned *counts,
                                               size_t count_count, enum forecast_level level)
{
    struct forecast_checks *c = calloc(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->pairs = calloc(pair_count + 1, sizeof *c->pairs);
    c->pair_count = pair_count;
    c->level = level;
    c->count_count = count_count;
    memcpy(c->counts, counts, count_count * sizeof *counts);
    for (size_t i = 0; c->pairs && i < pair_count; i++) {
        c->pairs[i].p = &pairs[i];
        c->pairs[i].last_us = LAB_TIME_NONE;
    }
    if (!c->pairs) {
        free(c);
        return NULL;
    }
    return c;
}

void forecast_checks_destroy(struct forecast_checks *c)
{
    for (size_t i = 0; c && i < c->pair_count; i++) {
        free(c->pairs[i].known);
        free(c->pairs[i].moves);
        free(c->pairs[i].checks);
    }
    if (c) {
        free(c->pairs);
    }
    free(c);
}

bool forecast_checks_whole(const struct forecast_checks *c)
{
    return !c->failed;
}

static void add_check(struct forecast_checks *c, struct checked_pair *pair,
                      const struct check *check)
{
    c->failed |= !array_append((void **)&pair->checks, &pair->check_count, &pair->room, check,
                               sizeof *check);
}

/* Returns the state at a time: the newest state that had learned from nothing later. */
static const struct known *find_known(const struct checked_pair *pair, int64_t t_us)
{
    const size_t least = pair->known_count > STATES ? pair->known_count - STATES : 0;
    for (size_t i = pair->known_count; i-- > least;) {
        const struct known *known = &pair->known[i % STATES];
        if (known->since_us <= t_us) {
            return known;
        }
    }
    return NULL;
}

/* Predicts the sequence from what was known; false: there was no interval yet. */
static bool predict_sequence(const struct known *known, const struct forecast_move *moves,
                             size_t count, enum forecast_level level, struct check *check)
{
    const enum forecast_quantity q = (enum forecast_quantity)check->quantity;
    const struct forecast_past past = {&known->forecast, known->moves, known->n};
    const struct forecast_sum sum = forecast_sum(&past, moves, count, q, level);
    check->expected_s = sum.expected_s;
    check->low_s = sum.low_s;
    check->high_s = sum.high_s;
    return !isnan(check->high_s);
}

/* Checks the sequence that ends with the newest move. */
static void check_sequence(struct forecast_checks *c, struct checked_pair *pair, size_t i,
                           enum forecast_quantity q)
{
    struct forecast_move moves[FORECAST_SUM_MAX];
    const size_t count = c->counts[i];
    struct check check = {.count_index = (uint8_t)i, .quantity = (uint8_t)q};
    if (pair->move_count < count) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const struct done_move *done = &pair->moves[(pair->move_count - count + k) % STATES];
        moves[k] = done->move;
        check.measured_s += done->value_s[q];
    }
    const struct done_move *first = &pair->moves[(pair->move_count - count) % STATES];
    const struct known *known = find_known(pair, first->sent_us);
    check.n = first->n;
    if (!known || !predict_sequence(known, moves, count, c->level, &check)) {
        return;
    }
    if (isnan(check.measured_s)) {
        pair->left_out[i][q]++;
    } else {
        add_check(c, pair, &check);
    }
}

static void record_move(struct checked_pair *pair, const struct entry *e)
{
    struct done_move *done = &pair->moves[pair->move_count++ % STATES];
    const bool usable = e->ambiguous == ENTRY_SURE && e->interrupted_us <= 0;
    *done = (struct done_move){.n = e->n,
                               .sent_us = e->t_us,
                               .move = {.turn = e->rotation_rad, .drive = e->displacement_m}};
    for (size_t s = 0; s < SIDE_COUNT; s++) {
        const bool counts =
            usable && e->answered[s] && e->status[s] == REPLY_DONE && !e->uncalibrated[s];
        done->value_s[s] = counts ? lab_s(e->lap_us[s]) : (double)NAN;
    }
    done->value_s[FORECAST_LAG] = done->value_s[SIDE_REAL] - done->value_s[SIDE_VIRTUAL];
}

void forecast_checks_receive(struct forecast_checks *c, const struct lab *lab,
                             const struct effect *effect)
{
    const struct entry *e = effect->entry;
    if (effect->kind != EFFECT_ENTRY || effect->pair >= c->pair_count) {
        return;
    }
    struct checked_pair *pair = &c->pairs[effect->pair];
    if (strcmp(e->op, "go") != 0 || pair_is_arm(pair->p) ||
        !pair_forecast_sizes(e->rotation_rad, e->displacement_m)) {
        return;
    }
    if (!pair->known) {
        pair->known = malloc(STATES * sizeof *pair->known);
        pair->moves = malloc(STATES * sizeof *pair->moves);
    }
    if (!pair->known || !pair->moves) {
        c->failed = true;
        return;
    }
    /* The lab emits an entry before it learns from it. */
    struct known *known = &pair->known[pair->known_count++ % STATES];
    const struct pair *now = lab_pair(lab, effect->pair);
    known->since_us = pair->last_us;
    known->forecast = now->forecast;
    known->n = pair_forecast_moves(now, pair->p, known->moves);
    pair->last_us = effect->t_us;
    record_move(pair, e);
    for (size_t i = 0; i < c->count_count; i++) {
        for (enum forecast_quantity q = FORECAST_REAL_LAP; q < FORECAST_QUANTITIES; q++) {
            check_sequence(c, pair, i, q);
        }
    }
}

/* ---- results ---- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A row of the summary. */
struct summary {
    size_t held, of, left_out; /* left out: a move was not done */
    double median_half_s;      /* NaN: none; infinite: no known end */
};

/* Returns the row of the i-th count and quantity. */
static struct summary find_summary(const struct forecast_checks *c, size_t pair, size_t i,
                                   enum forecast_quantity quantity)
{
    const struct checked_pair *p = &c->pairs[pair];
    struct summary out = {.left_out = p->left_out[i][quantity], .median_half_s = (double)NAN};
    double *half_s = malloc((p->check_count + 1) * sizeof *half_s);
    for (size_t k = 0; k < p->check_count; k++) {
        const struct check *check = &p->checks[k];
        if (check->count_index == i && check->quantity == quantity) {
            out.held += check->measured_s >= check->low_s && check->measured_s <= check->high_s;
            if (half_s) {
                half_s[out.of] = (check->high_s - check->low_s) / 2.0;
            }
            out.of++;
        }
    }
    if (half_s && out.of > 0) {
        qsort(half_s, out.of, sizeof *half_s, compare_numbers);
        out.median_half_s = half_s[out.of / 2];
    }
    free(half_s);
    return out;
}

void forecast_checks_write(struct json_writer *w, const char *key,
                           const struct forecast_checks *c, size_t pair)
{
    const struct checked_pair *p = &c->pairs[pair];
    json_write_object(w, key);
    JSON_LIST(w, "checks", size_t k = 0; k < p->check_count; k++) {
        const struct check *check = &p->checks[k];
        JSON_WRITE_OBJECT(
            w, NULL, JSON("n", check->n), JSON("count", c->counts[check->count_index]),
            JSON("quantity", forecast_quantity_name((enum forecast_quantity)check->quantity)),
            JSON("expected_s", check->expected_s), JSON("low_s", check->low_s),
            JSON("high_s", check->high_s), JSON("measured_s", check->measured_s));
    }
    JSON_LIST(w, "summary", size_t i = 0; i < c->count_count; i++) {
        for (enum forecast_quantity q = FORECAST_REAL_LAP; q < FORECAST_QUANTITIES; q++) {
            const struct summary row = find_summary(c, pair, i, q);
            JSON_WRITE_OBJECT(w, NULL, JSON("count", c->counts[i]),
                              JSON("quantity", forecast_quantity_name(q)),
                              JSON("level", forecast_level_value(c->level)),
                              JSON("held", row.held), JSON("of", row.of),
                              JSON("left_out", row.left_out),
                              JSON("median_half_s", row.median_half_s));
        }
    }
    json_write_close(w);
}
