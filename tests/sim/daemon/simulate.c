/* The whole daemon in a simulated scenario, from one seed:
 *
 * sim_daemon [--seed N] [--count K] [--hours H] [--plant NAME] [--without NAMES] [--verbose]
 *
 * Each seed is one history of H hours: broker, disk, clocks, robots, the order of threads, and
 * crashes are drawn from it. A seed whose invariants do not hold is printed, and the exit
 * status is 1; the same seed gives the same history again, with the same hash of its trace. */
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers/hash.h"
#include "config/labfile/lab_file.h"
#include "service/daemon/daemon.h"
#include "service/tool/log.h"
#include "tests/sim/daemon/simulation.h"

struct simulated_lab *world;

static const char *const plant_names[PLANT_COUNT] = {
    "none", "early-ack", "number", "no-sync", "checkpoint", "sent-twice", "commit", "leak"};
static const char *const without_names[] = {"numbers", "power", "clock", "full-start"};

/* ---- draws, words ---- */

double draw(double low, double high)
{
    return random_between(&world->random, low, high);
}

double draw_mean(double mean)
{
    return random_exponential(&world->random, mean);
}

bool chance(double share)
{
    return share > 0.0 && random_uniform(&world->random) < share;
}

uint32_t draw_index(uint32_t count)
{
    return (uint32_t)(random_uniform(&world->random) * count);
}

__attribute__((format(printf, 1, 0))) static void print_line(const char *format,
                                                             va_list arguments)
{
    (void)fprintf(stderr, "seed %llu, %.6f s: ", (unsigned long long)world->options.seed,
                  (double)world->t_us / SECOND_US);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
}

void sim_fail(const char *format, ...)
{
    enum { PRINTED = 20 };
    va_list arguments;
    va_start(arguments, format);
    if (world->failures++ < PRINTED) {
        print_line(format, arguments);
    }
    va_end(arguments);
}

void sim_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (world->options.verbose) {
        print_line(format, arguments);
    }
    va_end(arguments);
}

void sim_trace(const char *what, const void *bytes, size_t n)
{
    world->events++;
    world->trace = hash_bytes(world->trace, &world->t_us, sizeof world->t_us);
    world->trace = hash_bytes(world->trace, what, strlen(what));
    world->trace = hash_long(world->trace, bytes, n);
}

/* ---- the scenario's time ---- */

int64_t world_next_us(void)
{
    return min_us(actors_next_us(), min_us(broker_next_us(), link_next_us()));
}

void world_run_due(void)
{
    while (world_next_us() <= world->t_us) {
        link_run();
        broker_run();
        actors_run();
    }
}

/* While no daemon runs. */
static void pass_until(int64_t until_us)
{
    while (world->t_us < until_us) {
        world->t_us = min_us(until_us, world_next_us());
        world_run_due();
    }
}

/* ---- the daemon's process ---- */

static void name_path(char out[300], const char *name)
{
    (void)snprintf(out, 300, "%s/%s", world->place, name);
}

static void write_lab(void)
{
    char path[300];
    name_path(path, "lab.yaml");
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    (void)fprintf(f,
                  /* The clock steps by less than the daemon remembers, also between two
                   * runs. */
                  "name: simulation\nbroker: {heartbeat_hz: 5, remember_s: 86400}\n"
                  "http: {enabled: false}\n"
                  "journal: {dir: %s/data/journal, fsync_s: %.3f, rotate_s: 600}\n"
                  "store: {file: %s/data/store.db}\n"
                  "checkpoint: {file: %s/data/checkpoint, interval_s: %.3f}\n"
                  "defaults: {timeout_s: 20}\n"
                  "pairs: {r1: {mode: link}, r2: {mode: link, queue_max: 4}, o1: {}}\n",
                  world->place, world->temper.fsync_s, world->place, world->place,
                  world->temper.checkpoint_s);
    (void)fclose(f);
}

/* All of it is over, and what has no reply has timed out. */
static void wait_for_rest(void)
{
    enum { LIMIT_S = 3600, QUIET_S = 90 };
    const int64_t limit_us = world->end_us + LIMIT_S * (int64_t)SECOND_US;
    schedule_sleep_until(world->end_us);
    for (int64_t quiet_us = world->t_us;
         world->t_us - quiet_us < QUIET_S * (int64_t)SECOND_US;) {
        schedule_sleep_until(world->t_us + SECOND_US);
        quiet_us = actors_are_done() ? quiet_us : world->t_us;
        if (world->t_us > limit_us) {
            sim_fail("an hour without faults, and the lab does not come to rest: %u wait",
                     broker_waiting());
            return;
        }
    }
}

static int run_daemon(bool last)
{
    char path[300];
    struct lab_file lab = {0};
    struct err_list errors = {0};
    struct err err = {0};
    struct daemon *daemon = NULL;
    /* The same calls whether anybody reads it or not: a line reads the clock. */
    log_start(LOG_PLAIN, LOG_LEVEL_INFO,
              world->options.verbose ? STDERR_FILENO : open("/dev/null", O_WRONLY));
    name_path(path, "lab.yaml");
    if (lab_file_load(path, &lab, &errors) != STATUS_OK) {
        sim_fail("the lab file: %s", errors.items[0].text);
        return RUN_NOT_STARTED;
    }
    disk_register_vfs();
    schedule_start();
    if (daemon_start(&lab, &daemon, &err) != STATUS_OK) {
        sim_log("not started: %s: %s", err.where, err.text);
        if (!disk_was_faulty(60 * SECOND_US)) {
            sim_fail("not started: %s: %s", err.where, err.text);
        }
        lab_file_free(&lab);
        return RUN_NOT_STARTED;
    }
    if (last) {
        wait_for_rest();
    } else {
        schedule_sleep_until(world->stop_us);
    }
    world->stopping_us = world->t_us;
    const bool complete = daemon_stop(daemon);
    lab_file_free(&lab);
    return complete ? RUN_STOPPED : RUN_INCOMPLETE;
}

static int run_process(bool last, bool judges)
{
    char path[300];
    world->run_us = world->t_us;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (judges) {
            name_path(path, "lab.yaml");
            disk_register_vfs();
            schedule_start();
            ledger_judge(path);
            exit(EXIT_SUCCESS);
        }
        exit(run_daemon(last)); /* the leak check is at exit */
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- a history ---- */

static void plan_run(bool *last)
{
    const double length_s = draw_mean(world->temper.life_s);
    const int64_t end_us = world->t_us + (int64_t)(length_s * SECOND_US);
    world->kill_us = INT64_MAX;
    world->stop_us = end_us;
    world->kill_steps = (uint64_t)exp(draw(0.0, log(20000.0)));
    world->kill_cuts_power = chance(world->temper.power);
    world->kill_waits = false;
    *last = end_us >= world->end_us;
    if (*last) {
        return;
    }
    if (chance(0.1)) {
        world->kill_us = world->t_us; /* at its birth */
    } else if (chance(0.7)) {
        world->kill_us = end_us;
        world->stop_us = chance(0.2) ? end_us : INT64_MAX; /* while it stops */
        world->kill_waits = chance(0.3);
    }
    if (disk_is_full() && world->options.without & WITHOUT_FULL_START) {
        world->disk.full_until_us = world->t_us;
    }
}

static void end_run(int how)
{
    world->runs++;
    world->suspends = false;
    world->frozen_until_us = min_us(world->frozen_until_us, world->t_us);
    broker_daemon_gone();
    if (how == RUN_POWER_CUT) {
        world->power_cuts++;
        ledger_fail_power();
        disk_cut_power();
    } else if (how == RUN_KILLED) {
        world->kills++;
        disk_end_run();
    } else if (how == RUN_NOT_STARTED) {
        world->refused_starts++;
    } else if (how == RUN_INCOMPLETE) {
        disk_end_run();
        /* A process that stands still while it stops has no time left for its checkpoint. */
        const int64_t frozen_us = world->frozen_until_us - world->stopping_us;
        if (!disk_was_faulty(60 * SECOND_US) && frozen_us < 5 * SECOND_US) {
            sim_fail("stopped, and not all is on the disk");
        }
    } else if (how != RUN_STOPPED) {
        sim_fail("the daemon's process ended with %d", how);
    }
    sim_log("run %llu ended with %d", (unsigned long long)world->runs, how);
}

static void draw_temper(void)
{
    struct temper *t = &world->temper;
    t->preempt = chance(0.3) ? 0.0 : draw(0.0, 0.3);
    t->life_s = exp(draw(log(20.0), log(1500.0)));
    t->fault_s = exp(draw(log(5.0), log(300.0)));
    t->power = chance(0.4) ? 0.0 : draw(0.0, 1.0);
    t->power = world->options.without & WITHOUT_POWER ? 0.0 : t->power;
    t->lap_s = exp(draw(log(0.3), log(8.0)));
    t->fsync_s = chance(0.5) ? 1.0 : chance(0.3) ? 0.0 : draw(0.05, 5.0);
    t->checkpoint_s = exp(draw(log(1.0), log(60.0)));
    t->clock = chance(0.4) && !(world->options.without & WITHOUT_CLOCK);
    t->wall_drift = t->clock ? draw(-1e-4, 1e-4) : 0.0;
    t->disk = chance(0.5);
    t->broker = chance(0.6);
    t->link = chance(0.8);
    t->robots = chance(0.7);
}

int __real_clock_gettime(clockid_t clock, struct timespec *out);

static double real_s(void)
{
    struct timespec t;
    (void)__real_clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void live_history(void)
{
    const char *base = getenv("TMPDIR");
    (void)snprintf(world->place, sizeof world->place, "%s/tandem-simulation-%ld",
                   base ? base : "/dev/shm", (long)getpid());
    world->random = random_stream(world->options.seed, 0);
    world->trace = HASH_START;
    world->end_us = (int64_t)(world->options.hours * 3600.0) * SECOND_US;
    draw_temper();
    disk_make();
    write_lab();
    broker_make();
    actors_make();
    for (bool last = false; !last && world->failures == 0;) {
        plan_run(&last);
        int how = run_process(last, false);
        end_run(how);
        while (last && how != RUN_STOPPED && world->failures == 0) { /* the disk was faulty */
            pass_until(world->t_us + 60 * (int64_t)SECOND_US);
            how = run_process(last, false);
            end_run(how);
        }
        if (!last) {
            pass_until(world->t_us +
                       (int64_t)(draw_mean(chance(0.7) ? 1.0 : 60.0) * SECOND_US));
        }
    }
    if (world->failures == 0 && run_process(true, true) != EXIT_SUCCESS) {
        sim_fail("the judge's process did not end well");
    }
}

struct sum {
    double hours, took_s;
    uint64_t seeds, failed, runs, kills, cuts, commands, entries, trace;
};

static void add_history(struct sum *sum)
{
    const double began_s = real_s();
    const struct options options = world->options;
    memset(world, 0, sizeof *world);
    world->options = options;
    live_history();
    const double hours = (double)world->t_us / SECOND_US / 3600.0;
    const double took_s = real_s() - began_s;
    (void)printf(
        "seed %llu: %s, trace %016llx, %.2f h in %.2f s (%.0f x), %llu runs, %llu kills, "
        "%llu power cuts, %u commands, %llu entries, %llu broker kills, %llu cuts, "
        "%llu clock steps, %llu starts refused\n",
        (unsigned long long)options.seed, world->failures ? "FAILED" : "held",
        (unsigned long long)world->trace, hours, took_s, hours * 3600.0 / took_s,
        (unsigned long long)world->runs, (unsigned long long)world->kills,
        (unsigned long long)world->power_cuts, world->command_count,
        (unsigned long long)world->entries, (unsigned long long)world->broker_kills,
        (unsigned long long)world->cuts, (unsigned long long)world->clock_steps,
        (unsigned long long)world->refused_starts);
    if (world->failures) {
        (void)printf("seed %llu: %u faults; again with --seed %llu --hours %g --verbose\n",
                     (unsigned long long)options.seed, world->failures,
                     (unsigned long long)options.seed, options.hours);
    }
    sum->hours += hours;
    sum->took_s += took_s;
    sum->seeds++;
    sum->failed += world->failures != 0;
    sum->runs += world->runs;
    sum->kills += world->kills;
    sum->cuts += world->power_cuts;
    sum->commands += world->command_count;
    sum->entries += world->entries;
    sum->trace = world->trace;
    if (!getenv("SIM_KEEP")) {
        disk_remove();
    }
}

static unsigned parse_names(const char *text, const char *const *names, unsigned count)
{
    unsigned found = 0;
    char copy[256];
    char *rest = copy;
    (void)snprintf(copy, sizeof copy, "%s", text);
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        unsigned i = 0;
        while (i < count && strcmp(names[i], one) != 0) {
            i++;
        }
        if (i == count) {
            (void)fprintf(stderr, "%s is not known\n", one);
            exit(2);
        }
        found |= 1U << i;
    }
    return found;
}

static void parse_options(struct options *o, int argc, char **argv, bool *twice)
{
    static const struct option rows[] = {
        {"seed", required_argument, NULL, 's'},    {"hours", required_argument, NULL, 'h'},
        {"count", required_argument, NULL, 'c'},   {"plant", required_argument, NULL, 'p'},
        {"without", required_argument, NULL, 'w'}, {"verbose", no_argument, NULL, 'v'},
        {"twice", no_argument, NULL, 't'},         {NULL, 0, NULL, 0}};
    for (int c = 0; (c = getopt_long(argc, argv, "", rows, NULL)) != -1;) {
        switch (c) {
        case 's':
            o->seed = strtoull(optarg, NULL, 10);
            break;
        case 'h':
            o->hours = strtod(optarg, NULL);
            break;
        case 'c':
            o->count = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'p':
            o->plant = (enum plant)__builtin_ctz(parse_names(optarg, plant_names, PLANT_COUNT));
            break;
        case 'w':
            o->without = parse_names(optarg, without_names, COUNT(without_names));
            break;
        case 'v':
            o->verbose = true;
            break;
        case 't':
            *twice = true;
            break;
        default:
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    bool twice = false;
    struct sum sum = {0};
    world =
        mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED) {
        perror("mmap");
        return EXIT_FAILURE;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    world->options = (struct options){.seed = 1, .hours = 0.5, .count = 1};
    parse_options(&world->options, argc, argv, &twice);
    const unsigned count = world->options.count;
    for (unsigned i = 0; i < count; i++) {
        add_history(&sum);
        const uint64_t trace = sum.trace;
        if (twice) {
            add_history(&sum);
            if (sum.trace != trace) {
                (void)printf("seed %llu: the same seed gave another history\n",
                             (unsigned long long)world->options.seed);
                sum.failed++;
            }
        }
        world->options.seed++;
    }
    (void)printf(
        "%llu histories, %llu failed, %.1f h in %.1f s (%.0f x), %llu runs, %llu kills, "
        "%llu power cuts, %llu commands, %llu entries\n",
        (unsigned long long)sum.seeds, (unsigned long long)sum.failed, sum.hours, sum.took_s,
        sum.hours * 3600.0 / sum.took_s, (unsigned long long)sum.runs,
        (unsigned long long)sum.kills, (unsigned long long)sum.cuts,
        (unsigned long long)sum.commands, (unsigned long long)sum.entries);
    return sum.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
