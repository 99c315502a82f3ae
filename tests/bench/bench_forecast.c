/* Measures the forecasts of a command: made when it is sent, learned from when it is closed, of
 * one pair and of 10 000 in turn; and the sum of eight moves. Prints one JSON line. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "identification/travel/forecast_sum.h"

enum { PAIRS = 10000, COMMANDS = 2 * PAIRS, SUMS = 50, BATCHES = 15 };

/* A pair, and the moves of its window. */
struct pair {
    struct forecast forecast;
    struct forecast_move moves[FORECAST_WINDOW_MAX];
    size_t move_count;
};

static struct pair pairs[PAIRS];

static double now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void make_command(struct pair *pair, size_t k, double u)
{
    struct forecast_made made = {0};
    struct forecast_move move = {0};
    move.turn = k % 3 == 1 ? 0.0 : 0.3 + 2.0 * u;
    move.drive = k % 3 == 0 ? 0.0 : 0.1 + u;
    const double lap_s = 0.1 + move.turn + 2.0 * move.drive;
    const struct forecast_outcome outcome[FORECAST_SIDES] = {
        {FORECAST_DONE, lap_s + 0.01 * u}, {FORECAST_DONE, lap_s - 0.003 * u}};
    forecast_predict(&pair->forecast, move.turn, move.drive, ~0U, &made, NULL);
    const unsigned started =
        forecast_learn(&pair->forecast, &made, move.turn, move.drive, outcome, move.lap_s);
    if (pair->move_count < FORECAST_WINDOW_MAX) {
        pair->moves[pair->move_count++] = move;
    }
    forecast_start(&pair->forecast, started, pair->moves, pair->move_count);
}

/* Commands go to `count` pairs in turn. */
static double run_commands(size_t count, uint64_t *state)
{
    const double start_us = now_us();
    for (size_t k = 0; k < COMMANDS; k++) {
        *state = *state * UINT64_C(6364136223846793005) + 1;
        make_command(&pairs[k % count], k, (double)(*state >> 11) * 0x1p-53);
    }
    return (now_us() - start_us) / COMMANDS;
}

static double run_sums(void)
{
    const struct pair *pair = &pairs[0];
    const struct forecast_past past = {&pair->forecast, pair->moves, pair->move_count};
    const double start_us = now_us();
    double sum_s = 0.0;
    for (size_t i = 0; i < SUMS; i++) {
        sum_s += forecast_sum(&past, pair->moves, 8, FORECAST_LAG, FORECAST_95).high_s;
    }
    return isfinite(sum_s) ? (now_us() - start_us) / SUMS : (double)NAN;
}

static double find_median(double *values)
{
    qsort(values, BATCHES, sizeof *values, compare_doubles);
    return values[BATCHES / 2];
}

int main(void)
{
    double one_us[BATCHES];
    double many_us[BATCHES];
    double sum_us[BATCHES];
    uint64_t state = 1;
    for (size_t k = 0; k < PAIRS; k++) {
        forecast_init(&pairs[k].forecast);
    }
    /* Every pair has an interval before anything is measured. */
    for (size_t i = 0; i < BATCHES; i++) {
        (void)run_commands(PAIRS, &state);
    }
    for (size_t i = 0; i < BATCHES; i++) {
        one_us[i] = run_commands(1, &state);
        many_us[i] = run_commands(PAIRS, &state);
        sum_us[i] = run_sums();
    }
    (void)printf("{\"bench\":\"forecast\",\"us_per_command\":%.2f,"
                 "\"us_per_command_10000_pairs\":%.2f,\"goal_us\":2,"
                 "\"us_per_sum\":%.0f,\"bytes\":%zu,\"bytes_open\":%zu}\n",
                 find_median(one_us), find_median(many_us), find_median(sum_us),
                 sizeof(struct forecast), sizeof(struct forecast_made));
    return EXIT_SUCCESS;
}
