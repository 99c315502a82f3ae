/* Measures the cost of one sample in the clock map, against a floor in the same run: reading
 * the sample and copying it into a ring. Prints one JSON line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "twin/pair/clock_map.h"

enum { SAMPLES = 200000, BATCHES = 31, RING = 48 };

struct stamp {
    int64_t arrival_us, source_us;
};

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 100 Hz for half an hour: a bucket closes with every hundredth sample. */
static void draw_stamps(struct stamp *stamps)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < SAMPLES; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        const int64_t wait_us = 2000 + (int64_t)(state >> 50);
        const int64_t sent_us = INT64_C(1750000000000000) + i * 10000;
        stamps[i] = (struct stamp){sent_us + wait_us % 9000, sent_us - 5000000 - i / 20};
    }
}

static struct stamp ring[RING];

static double floor_ns(const struct stamp *stamps)
{
    const double start_ns = now_ns();
    for (size_t i = 0; i < SAMPLES; i++) {
        memcpy(&ring[i % RING], &stamps[i], sizeof *stamps);
        __asm__ volatile("" : : "r"(ring) : "memory"); /* each copy must really happen */
    }
    return (now_ns() - start_ns) / SAMPLES;
}

static double map_ns(const struct stamp *stamps, struct clock_map *map)
{
    static const struct clock_map_params params = {1000000, 500000, 500};

    *map = (struct clock_map){0};
    const double start_ns = now_ns();
    for (size_t i = 0; i < SAMPLES; i++) {
        (void)clock_map_sample(map, &params, stamps[i].arrival_us, stamps[i].source_us);
    }
    return (now_ns() - start_ns) / SAMPLES;
}

int main(void)
{
    static struct stamp stamps[SAMPLES];
    static struct clock_map map;
    double bare[BATCHES];
    double full[BATCHES];

    draw_stamps(stamps);
    for (size_t i = 0; i < BATCHES; i++) {
        bare[i] = floor_ns(stamps);
        full[i] = map_ns(stamps, &map);
    }
    qsort(bare, BATCHES, sizeof *bare, compare_doubles);
    qsort(full, BATCHES, sizeof *full, compare_doubles);
    if (map.state != CLOCK_MAP_LOCKED || map.samples != SAMPLES) {
        (void)fprintf(stderr, "bench_clock_map: the map did not lock\n");
        return EXIT_FAILURE;
    }
    const double median = full[BATCHES / 2];
    const double base = bare[BATCHES / 2];
    (void)printf("{\"bench\":\"clock_map\",\"ns_per_sample\":%.1f,\"floor_ns\":%.2f,"
                 "\"ratio\":%.1f,\"bytes\":%zu}\n",
                 median, base, median / base, sizeof map);
    return EXIT_SUCCESS;
}
