/* tests/bench/lateness.h - how late a daemon's efforts are published, by its own measure, and
 * how late a thread is that only sleeps until each hundredth of a second: the lateness of that
 * thread is the machine's. */
#ifndef TESTS_BENCH_LATENESS_H
#define TESTS_BENCH_LATENESS_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/daemon/priority.h"
#include "tests/bench/bench.h"
#include "tests/bench/tools.h"
#include "tests/support/daemon.h"

enum { LATENESS_CLASSES = 9, TIMER_PERIOD_NS = 10 * 1000 * 1000 };

/* The classes of tandem_control_efforts_total. */
static const char *const lateness_class[LATENESS_CLASSES] = {
    "0.0001", "0.00025", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.1", "inf"};

/* A lab in which one vessel follows another, and four pairs to be flooded. */
static const char lateness_lab[] = "pairs:\n"
                                   "  r1: {}\n  r2: {}\n  r3: {}\n  r4: {}\n"
                                   "  boat:\n"
                                   "    probe_interval_s: 1\n"
                                   "    following: {model: usv3, real: wamv, virtual: wamv, "
                                   "active: true}\n";

struct lateness {
    double count[LATENESS_CLASSES];
};

/* ---- a floor ---- */

struct timer {
    bool urgent; /* in: to have the priority of the lab thread; out: has it */
    atomic_bool stop;
    pthread_t thread;
    struct lateness late;
};

static inline void *timer_run(void *context)
{
    struct timer *t = context;
    struct timespec due;
    t->urgent = t->urgent && priority_raise();
    (void)clock_gettime(CLOCK_MONOTONIC, &due);
    while (!atomic_load(&t->stop)) {
        struct timespec now;
        due.tv_nsec += TIMER_PERIOD_NS;
        due.tv_sec += due.tv_nsec / 1000000000;
        due.tv_nsec %= 1000000000;
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        const double late_us = (double)(now.tv_sec - due.tv_sec) * 1e6 +
                               (double)(now.tv_nsec - due.tv_nsec) * 1e-3;
        size_t class = 0;
        while (class < LATENESS_CLASSES - 1 &&
               late_us > strtod(lateness_class[class], NULL) * 1e6) {
            class ++;
        }
        t->late.count[class] += 1.0;
    }
    return NULL;
}

static inline void timer_start(struct timer *t)
{
    if (pthread_create(&t->thread, NULL, timer_run, t) != 0) {
        bench_fail("no thread");
    }
}

static inline void timer_stop(struct timer *t)
{
    atomic_store(&t->stop, true);
    (void)pthread_join(t->thread, NULL);
}

/* ---- the daemon's ---- */

/* Both vessels of lateness_lab. */
static inline pid_t lateness_start_vessels(const char *port)
{
    const char *const robots[] = {
        TANDEM_PROGRAM,     "robot", "--kind", "usv3", "--pair", "boat", "--side", "both",
        "--telemetry-rate", "50",    "--port", port,   NULL};
    return tool_start(robots);
}

static inline void lateness_wait_tracking(const struct daemon_run *d)
{
    for (int i = 0; i < 500; i++) {
        if (daemon_metric(d, "tandem_following_state{pair=\"boat\",state=\"TRACKING\"}") >
            0.5) {
            pass_time_ms(1000);
            return;
        }
        pass_time_ms(20);
    }
    bench_fail("the virtual vessel does not follow");
}

static inline void lateness_read(const struct daemon_run *d, struct lateness *l)
{
    for (size_t i = 0; i < LATENESS_CLASSES; i++) {
        char sample[96];
        (void)snprintf(sample, sizeof sample, "tandem_control_efforts_total{late=\"%s\"}",
                       lateness_class[i]);
        l->count[i] = daemon_metric(d, sample);
    }
}

static inline void lateness_add(struct lateness *sum, const struct lateness *l, double sign)
{
    for (size_t i = 0; i < LATENESS_CLASSES; i++) {
        sum->count[i] += sign * l->count[i];
    }
}

static inline double lateness_total(const struct lateness *l)
{
    double n = 0.0;
    for (size_t i = 0; i < LATENESS_CLASSES; i++) {
        n += l->count[i];
    }
    return n;
}

/* Finds the class that holds the quantile; *below: the share of it that comes before. */
static inline size_t lateness_find(const struct lateness *l, double share, double *part)
{
    const double wanted = share * lateness_total(l);
    double below = 0.0;
    size_t i = 0;
    while (i < LATENESS_CLASSES - 1 && below + l->count[i] < wanted) {
        below += l->count[i++];
    }
    *part = l->count[i] > 0.0 ? (wanted - below) / l->count[i] : 1.0;
    return i;
}

/* The class that holds the quantile: "0.001" means at most a millisecond. */
static inline const char *lateness_bound(const struct lateness *l, double share)
{
    double part = 0.0;
    return lateness_class[lateness_find(l, share, &part)];
}

/* Milliseconds, as if the times were spread evenly over their class; the last has no end. */
static inline double lateness_quantile_ms(const struct lateness *l, double share)
{
    double part = 0.0;
    const size_t i = lateness_find(l, share, &part);
    const double from_s = i > 0 ? strtod(lateness_class[i - 1], NULL) : 0.0;
    const double to_s = i + 1 < LATENESS_CLASSES ? strtod(lateness_class[i], NULL) : from_s;
    return (from_s + part * (to_s - from_s)) * 1e3;
}

static inline double lateness_beyond_ms(const struct lateness *l)
{
    double beyond = 0.0;
    for (size_t i = 4; i < LATENESS_CLASSES; i++) {
        beyond += l->count[i];
    }
    return beyond;
}

#endif
