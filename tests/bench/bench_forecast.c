/* Measures the forecasts of one command: made when it is sent, learned from when it is closed;
 * and the sum of eight moves. Prints one JSON line. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "identification/travel/forecast_sum.h"

enum { COMMANDS = 20000, SUMS = 50, BATCHES = 15 };

static struct forecast forecast;
static struct forecast_move moves[FORECAST_WINDOW_MAX];
static size_t move_count;

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

static double run_commands(uint64_t *state)
{
    const double start_us = now_us();
    for (size_t k = 0; k < COMMANDS; k++) {
        struct forecast_made made = {0};
        struct forecast_move move = {0};
        *state = *state * UINT64_C(6364136223846793005) + 1;
        const double u = (double)(*state >> 11) * 0x1p-53;
        move.turn = k % 3 == 1 ? 0.0 : 0.3 + 2.0 * u;
        move.drive = k % 3 == 0 ? 0.0 : 0.1 + u;
        const double lap_s = 0.1 + move.turn + 2.0 * move.drive;
        const struct forecast_outcome outcome[FORECAST_SIDES] = {
            {FORECAST_DONE, lap_s + 0.01 * u}, {FORECAST_DONE, lap_s - 0.003 * u}};
        forecast_predict(&forecast, move.turn, move.drive, ~0U, &made, NULL);
        const unsigned started =
            forecast_learn(&forecast, &made, move.turn, move.drive, outcome, move.lap_s);
        if (move_count < FORECAST_WINDOW_MAX) {
            moves[move_count++] = move;
        }
        forecast_start(&forecast, started, moves, move_count);
    }
    return (now_us() - start_us) / COMMANDS;
}

static double run_sums(void)
{
    const struct forecast_past past = {&forecast, moves, move_count};
    const double start_us = now_us();
    double sum_s = 0.0;
    for (size_t i = 0; i < SUMS; i++) {
        sum_s += forecast_sum(&past, moves, 8, FORECAST_LAG, FORECAST_95).half_s;
    }
    return isfinite(sum_s) ? (now_us() - start_us) / SUMS : (double)NAN;
}

int main(void)
{
    double command_us[BATCHES];
    double sum_us[BATCHES];
    uint64_t state = 1;
    forecast_init(&forecast);
    for (size_t i = 0; i < BATCHES; i++) {
        command_us[i] = run_commands(&state);
        sum_us[i] = run_sums();
    }
    qsort(command_us, BATCHES, sizeof *command_us, compare_doubles);
    qsort(sum_us, BATCHES, sizeof *sum_us, compare_doubles);
    (void)printf("{\"bench\":\"forecast\",\"us_per_command\":%.2f,\"goal_us\":2,"
                 "\"us_per_sum\":%.0f,\"bytes\":%zu,\"bytes_open\":%zu}\n",
                 command_us[BATCHES / 2], sum_us[BATCHES / 2], sizeof forecast,
                 sizeof(struct forecast_made));
    return EXIT_SUCCESS;
}
