/* tests/bench/bench.h - clocks, medians, repeatable draws and child processes for the benches.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline double bench_now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* CPU time of this thread: what others do on the machine hardly counts. */
static inline double bench_cpu_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline int bench_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static inline double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, bench_ascending);
    return values[count / 2];
}

static inline _Noreturn void bench_fail(const char *what)
{
    (void)fprintf(stderr, "bench: %s\n", what);
    exit(EXIT_FAILURE);
}

static inline uint32_t bench_draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

struct bench_run {
    double wall_s, cpu_s;
    double rss_mib; /* the peak */
};

enum { BENCH_ARGS_MAX = 16 };

/* Become a program. argv as execvp() has it, which promises not to write there but takes no
 * const. */
static inline _Noreturn void bench_exec(const char *const argv[])
{
    char *args[BENCH_ARGS_MAX] = {0};
    for (size_t i = 0; argv[i] && i + 1 < BENCH_ARGS_MAX; i++) {
        memcpy(&args[i], &argv[i], sizeof args[i]);
    }
    (void)execvp(args[0], args);
    _exit(127);
}

/* Run a program, its standard output thrown away; it must end well. */
static inline struct bench_run bench_program(const char *const argv[])
{
    struct rusage use;
    int status = 0;
    const double from_s = bench_now_s();
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_WRONLY);
        (void)dup2(null, STDOUT_FILENO);
        bench_exec(argv);
    }
    if (pid < 0 || wait4(pid, &status, 0, &use) != pid || status != 0) {
        bench_fail(argv[0]);
    }
    return (struct bench_run){
        .wall_s = bench_now_s() - from_s,
        .cpu_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                 (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6,
        .rss_mib = (double)use.ru_maxrss / 1024.0,
    };
}

#endif
