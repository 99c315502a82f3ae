/* tests/bench/tools.h - the programs that a bench needs, started and ended by it. */
#ifndef TESTS_BENCH_TOOLS_H
#define TESTS_BENCH_TOOLS_H

#include <signal.h>
#include <sys/prctl.h>

#include "tests/bench/bench.h"

/* Returns the path of a program in this folder. */
static inline const char *tool_path(const char *name)
{
    static char path[2][512];
    static unsigned next;
    char *out = path[next++ % 2];
    (void)snprintf(out, sizeof path[0], "%s", TANDEM_PROGRAM);
    char *slash = strrchr(out, '/');
    const size_t used = slash ? (size_t)(slash + 1 - out) : 0;
    (void)snprintf(out + used, sizeof path[0] - used, "tests/bench/%s", name);
    return out;
}

/* Its output is discarded. It dies with the bench. */
static inline pid_t tool_start(const char *const argv[])
{
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_WRONLY);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(null, STDOUT_FILENO);
        bench_exec(argv);
    }
    if (pid < 0) {
        bench_fail(argv[0]);
    }
    return pid;
}

static inline void tool_stop(pid_t pid)
{
    (void)kill(pid, SIGTERM);
    (void)waitpid(pid, NULL, 0);
}

/* User and system time of all threads. */
static inline double tool_cpu_s(pid_t pid)
{
    char path[64];
    char text[1024] = "";
    unsigned long long user = 0;
    unsigned long long sys = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(path, "re");
    const size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in) {
        (void)fclose(in);
    }
    text[n] = '\0';
    const char *at = strrchr(text, ')');
    if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                      &sys) != 2) {
        bench_fail("/proc/PID/stat");
    }
    return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

#endif
