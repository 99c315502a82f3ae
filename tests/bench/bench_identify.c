/* Dynamics of a vessel from a million samples: regression alone, in memory, beside the
 * least-squares solvers of numpy and Octave on the ready matrix; then `tandem identify` on a
 * file of a million lines, against cksum of the same file. Prints JSON lines.
 *
 * bench_identify [METHOD...]: the methods for the file; ols_central, weak, weak_iv and auto,
 * which is what it takes by itself, when there is none. */
#include <math.h>
#include <stdbool.h>

#include "identification/dynamics/dynamics_linear.h"
#include "identification/model/usv3.h"
#include "tests/bench/bench.h"

enum { SAMPLES = 1000000, COLUMNS = 7, BATCHES = 9, PEERS = 10 };

static const double DT_S = 0.1;
static double columns[COLUMNS][SAMPLES]; /* t, efforts, velocities */

/* Nearly normal, of variance 1. */
static double draw_noise(uint64_t *state)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) {
        sum += (double)bench_draw(state) / 2147483648.0;
    }
    return sum;
}

/* A logger would write six decimals. */
static double round_micro(double x)
{
    return round(x * 1e6) / 1e6;
}

static void record_run(void)
{
    static const double sd[USV3_AXES] = {0.03, 0.0125, 0.009};
    const double *theta = usv3_vessel_find("wamv")->theta;
    double nu[USV3_AXES] = {0.0};
    uint64_t state = 7;
    for (size_t k = 0; k < SAMPLES; k++) {
        const double t = (double)k * DT_S;
        const double tau[USV3_AXES] = {
            round_micro(40.0 + 60.0 * sin(0.21 * t) + 30.0 * sin(0.05 * t)), 0.0,
            round_micro(60.0 * sin(0.11 * t) + 40.0 * sin(0.37 * t + 1.0))};
        columns[0][k] = round_micro(t);
        for (size_t a = 0; a < USV3_AXES; a++) {
            columns[1 + a][k] = tau[a];
            columns[4 + a][k] = round_micro(nu[a] + sd[a] * draw_noise(&state));
        }
        model_step(&usv3_model, theta, nu, NULL, tau, NULL, DT_S);
    }
}

static double peak_mib(void)
{
    struct rusage use;
    (void)getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024.0;
}

static double fit_s(enum dynamics_method method, struct dynamics_fit *fit)
{
    const struct data_set set = {
        .axes = USV3_AXES,
        .n = SAMPLES,
        .dt_s = DT_S,
        .t_s = columns[0],
        .tau = {columns[1], columns[2], columns[3]},
        .nu = {columns[4], columns[5], columns[6]},
        .run_count = 1,
        .run_start = {0, SAMPLES},
    };
    const struct dynamics_options options = dynamics_options_defaults();
    double took[BATCHES];
    for (size_t i = 0; i < BATCHES; i++) {
        const double from_s = bench_cpu_s();
        if (dynamics_linear_fit(&usv3_model, &set, method, &options, fit) != STATUS_OK) {
            bench_fail("the fit failed");
        }
        took[i] = bench_cpu_s() - from_s;
    }
    return bench_median(took, BATCHES);
}

/* Seconds and parameters that another program prints; false when it is not installed. */
static bool ask_peer(const char *command, double *numbers)
{
    FILE *out = popen(command, "r");
    size_t n = 0;
    while (out && n < PEERS && fscanf(out, "%lf", &numbers[n]) == 1) {
        n++;
    }
    return out && pclose(out) == 0 && n == PEERS;
}

static void print_peer(const char *name, const char *command, double own_s,
                       const struct dynamics_fit *fit)
{
    double numbers[PEERS];
    double off = 0.0;
    if (!ask_peer(command, numbers)) {
        (void)printf(",\"%s_ms\":null", name);
        return;
    }
    for (size_t i = 0; i < USV3_PARAMETERS; i++) {
        off = fmax(off, fabs(numbers[1 + i] / fit->estimate.value[i] - 1.0));
    }
    if (!(off < 1e-6)) {
        bench_fail("another solver finds something else");
    }
    (void)printf(",\"%s_ms\":%.0f,\"%s_ratio\":%.2f,\"%s_difference\":%.1e", name,
                 1e3 * numbers[0], name, numbers[0] / own_s, name, off);
}

static void bench_regression(const char *folder)
{
    static const enum dynamics_method methods[] = {DYNAMICS_OLS_CENTRAL, DYNAMICS_WEAK};
    static const char python[] = "/usr/bin/python3 " TANDEM_SOURCE_DIR
                                 "/tests/bench/lstsq.py %s/columns %d %g 2>/dev/null";
    static const char octave[] =
        "octave-cli -q " TANDEM_SOURCE_DIR "/tests/bench/lstsq.m %s/columns %d %g 2>/dev/null";
    char command[512];
    struct dynamics_fit fit[COUNT(methods)];
    double took_s[COUNT(methods)];
    double more_mib[COUNT(methods)];
    for (size_t i = 0; i < COUNT(methods); i++) {
        const double before_mib = peak_mib();
        took_s[i] = fit_s(methods[i], &fit[i]);
        more_mib[i] = peak_mib() - before_mib;
    }
    for (size_t i = 0; i < COUNT(methods); i++) {
        (void)printf("{\"bench\":\"identify_regression\",\"method\":\"%s\",\"samples\":%d,"
                     "\"equations\":%zu,\"ms\":%.1f,\"memory_mib\":%.1f",
                     dynamics_method_name(methods[i]), SAMPLES, fit[i].rows, 1e3 * took_s[i],
                     more_mib[i]);
        if (methods[i] == DYNAMICS_OLS_CENTRAL) {
            (void)snprintf(command, sizeof command, python, folder, SAMPLES, DT_S);
            print_peer("numpy", command, took_s[i], &fit[i]);
            (void)snprintf(command, sizeof command, octave, folder, SAMPLES, DT_S);
            print_peer("octave", command, took_s[i], &fit[i]);
        }
        (void)printf("}\n");
    }
}

static FILE *open_in(const char *folder, const char *name, char *path, size_t bytes)
{
    (void)snprintf(path, bytes, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (!out) {
        bench_fail(path);
    }
    return out;
}

static void write_columns(const char *folder)
{
    char path[256];
    FILE *out = open_in(folder, "columns", path, sizeof path);
    if (fwrite(columns, sizeof columns, 1, out) != 1 || fclose(out) != 0) {
        bench_fail(path);
    }
}

static void write_table(const char *folder, char *path, size_t bytes)
{
    FILE *out = open_in(folder, "table.csv", path, bytes);
    (void)fputs("t,tau_u,tau_v,tau_r,u,v,r\n", out);
    for (size_t k = 0; k < SAMPLES; k++) {
        (void)fprintf(out, "%.2f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", columns[0][k], columns[1][k],
                      columns[2][k], columns[3][k], columns[4][k], columns[5][k],
                      columns[6][k]);
    }
    if (fclose(out) != 0) {
        bench_fail(path);
    }
}

/* Built in, and in turns with it the same model as a file. */
static void bench_file(const char *path, const char *method)
{
    static const char yaml[] = TANDEM_SOURCE_DIR "/config/models/usv3.yaml";
    const char *const floor[] = {"cksum", path, NULL};
    const char *const full[] = {TANDEM_PROGRAM, "identify", "--model", "usv3", "--method",
                                method,         "--json",   path,      NULL};
    const char *const other[] = {TANDEM_PROGRAM, "identify", "--model", yaml, "--method",
                                 method,         "--json",   path,      NULL};
    enum { ROUNDS = 5 };
    double floor_s[ROUNDS];
    double cpu_s[ROUNDS];
    double yaml_s[ROUNDS];
    double yaml_ratio[ROUNDS];
    double wall_s[ROUNDS];
    double rss_mib = 0.0;
    for (size_t i = 0; i < ROUNDS; i++) {
        floor_s[i] = bench_program(floor).cpu_s;
        const struct bench_run run = bench_program(full);
        cpu_s[i] = run.cpu_s;
        wall_s[i] = run.wall_s;
        rss_mib = run.rss_mib;
        yaml_s[i] = bench_program(other).cpu_s;
        yaml_ratio[i] = yaml_s[i] / cpu_s[i];
    }
    const double median_s = bench_median(cpu_s, ROUNDS);
    (void)printf("{\"bench\":\"identify_file\",\"method\":\"%s\",\"lines\":%d,\"cpu_s\":%.2f,"
                 "\"wall_s\":%.2f,\"cksum_s\":%.3f,\"ratio\":%.1f,\"rss_mib\":%.0f,"
                 "\"model_file_s\":%.2f,\"model_file_ratio\":%.2f}\n",
                 method, SAMPLES, median_s, bench_median(wall_s, ROUNDS),
                 bench_median(floor_s, ROUNDS), median_s / bench_median(floor_s, ROUNDS),
                 rss_mib, bench_median(yaml_s, ROUNDS), bench_median(yaml_ratio, ROUNDS));
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"ols_central", "weak", "weak_iv", "auto"};
    char folder[] = "/tmp/bench_identify.XXXXXX";
    char path[256];
    record_run();
    if (!mkdtemp(folder)) {
        bench_fail("mkdtemp");
    }
    write_columns(folder);
    bench_regression(folder);
    write_table(folder, path, sizeof path);
    for (size_t i = 0; argc == 1 && i < COUNT(usual); i++) {
        bench_file(path, usual[i]);
    }
    for (int i = 1; i < argc; i++) {
        bench_file(path, argv[i]);
    }
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/columns", folder);
    (void)unlink(path);
    (void)rmdir(folder);
    return EXIT_SUCCESS;
}
