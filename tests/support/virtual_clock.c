/* virtual_clock COMMAND [ARGUMENT]...: run a test on a clock that moves only while everybody
 * waits.
 *
 * virtual_clock_preload.c answers clock reads of the command and of all that it starts, and
 * writes the limits of their waits to a shared page (virtual_clock.h). While a thread computes,
 * the time stands. When every thread sleeps, the time jumps to the earliest limit and a signal
 * ends that wait. So computing takes no time, however busy the machine, and waiting is free.
 *
 * Every thread slept at one moment if, in this order, CPU times of processes are read, each
 * thread's state is "asleep", and the CPU times have not changed. Nothing is under way then:
 * who is woken by a pipe, futex or socket is runnable at once; segments that ksoftirqd still
 * has are seen in /proc/net/softnet_stat; TCP_NODELAY is set, so senders hold nothing back.
 * New threads are found by their numbers, which the kernel gives in order (/proc/loadavg).
 * Orphans become children of virtual_clock (PR_SET_CHILD_SUBREAPER). A stopped process sleeps.
 */
#include "tests/support/virtual_clock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TASKS = 2048,         /* threads at once */
    NUMBERS_LOOKED = 500, /* more new thread numbers than these: /proc is read whole */
    NAP_NS_MIN = 20000,
    NAP_NS_MAX = 1000000,
    STUCK_S = 60
};

struct task {
    int32_t tid;
    int32_t pid;
    int stat; /* open file of /proc */
};

struct process {
    int32_t pid;
    int64_t cpu_ns; /* CPU time of its threads, together */
};

static struct {
    struct virtual_clock *page;
    char path[PATH_MAX]; /* of the page, by which processes of other namespaces open it, too */
    struct task task[TASKS]; /* those found awake are moved to the front */
    size_t count;
    struct process process[TASKS];
    size_t processes;
    long last_number; /* of the threads of this machine, at the last rest */
    int loadavg;
    int softnet;
    pid_t child;
    int status; /* of the child */
    bool has_ended;
} v;

static _Noreturn void give_up(const char *what)
{
    (void)fprintf(stderr, "virtual_clock: %s: %s\n", what, strerror(errno));
    exit(125);
}

static int64_t as_ns(struct timespec t)
{
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t real_ns(clockid_t clock)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(clock, &t);
    return as_ns(t);
}

/* The text of a file of /proc, from its start; false when it is gone. */
static bool read_text(int fd, char *text, size_t size)
{
    const ssize_t n = fd >= 0 ? pread(fd, text, size - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Threads. */

static bool is_thread(int32_t tid)
{
    for (size_t i = 0; i < v.count; i++) {
        if (v.task[i].tid == tid) {
            return true;
        }
    }
    return false;
}

static bool is_process(int32_t pid)
{
    for (size_t i = 0; i < v.processes; i++) {
        if (v.process[i].pid == pid) {
            return true;
        }
    }
    return false;
}

/* Add the thread if it is one of the test's and new. */
static bool add_task(int32_t tid)
{
    char path[64];
    char text[512];
    (void)snprintf(path, sizeof path, "/proc/%d/status", tid);
    const int fd = is_thread(tid) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    const bool is_there = read_text(fd, text, sizeof text);
    if (fd >= 0) {
        (void)close(fd);
    }
    const char *group = is_there ? strstr(text, "\nTgid:") : NULL;
    const char *parent = is_there ? strstr(text, "\nPPid:") : NULL;
    const int32_t pid = group ? (int32_t)strtol(group + 6, NULL, 10) : getpid();
    const int32_t ppid = parent ? (int32_t)strtol(parent + 6, NULL, 10) : 0;
    if (pid == getpid() || (ppid != getpid() && !is_process(pid) && !is_process(ppid))) {
        return false;
    }
    if (v.count == TASKS) {
        errno = EAGAIN;
        give_up("too many threads");
    }
    if (!is_process(pid)) {
        v.process[v.processes++] = (struct process){.pid = pid};
    }
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    v.task[v.count++] =
        (struct task){.tid = tid, .pid = pid, .stat = open(path, O_RDONLY | O_CLOEXEC)};
    return true;
}

/* Add what the folder of /proc names by numbers. */
static bool add_folder(const char *path)
{
    DIR *folder = opendir(path);
    bool has_added = false;
    for (const struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
        has_added = (isdigit((unsigned char)*e->d_name) &&
                     add_task((int32_t)strtol(e->d_name, NULL, 10))) ||
                    has_added;
    }
    if (folder) {
        (void)closedir(folder);
    }
    return has_added;
}

static void add_all(void)
{
    while (add_folder("/proc")) {
    }
    for (size_t i = 0; i < v.count; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/proc/%d/task", v.task[i].pid);
        (void)add_folder(path);
    }
}

static long read_last_number(void)
{
    char text[128];
    const char *last = read_text(v.loadavg, text, sizeof text) ? strrchr(text, ' ') : NULL;
    return last ? strtol(last, NULL, 10) : 0;
}

/* Add the threads that began since the last rest; returns the number of the last. */
static long add_new(bool *has_added)
{
    const size_t count = v.count;
    const long last = read_last_number();
    if (last < v.last_number || last - v.last_number > NUMBERS_LOOKED) {
        add_all();
    } else {
        for (long n = v.last_number + 1; n <= last; n++) {
            (void)add_task((int32_t)n);
        }
    }
    *has_added = v.count > count;
    return last;
}

static bool is_asleep(char state)
{
    return state == 'S' || state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

/* The thread's state as in /proc; 0: it ended. */
static char read_state(const struct task *t)
{
    char text[512];
    const char *name_end = read_text(t->stat, text, sizeof text) ? strrchr(text, ')') : NULL;
    return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

/* Whether every thread sleeps when it is looked at. */
static bool all_asleep(void)
{
    for (size_t i = 0; i < v.count; i++) {
        const struct task t = v.task[i];
        const char state = read_state(&t);
        if (state == '\0') {
            (void)close(t.stat);
            v.task[i] = v.task[--v.count];
            return false;
        }
        if (!is_asleep(state)) {
            v.task[i] = v.task[0];
            v.task[0] = t;
            return false;
        }
    }
    return true;
}

/* Whether a thread has run since the last call, by the CPU time of the processes. */
static bool have_run(void)
{
    enum { PROCESS_CPU_TIME = 2 };
    bool has_changed = false;
    for (size_t i = 0; i < v.processes;) {
        struct process *p = &v.process[i];
        struct timespec t;
        if (clock_gettime((clockid_t)(~(unsigned)p->pid << 3 | PROCESS_CPU_TIME), &t) != 0) {
            *p = v.process[--v.processes]; /* it ended */
            has_changed = true;
            continue;
        }
        const int64_t cpu_ns = as_ns(t);
        has_changed = has_changed || cpu_ns != p->cpu_ns;
        p->cpu_ns = cpu_ns;
        i++;
    }
    return has_changed;
}

/* Whether the kernel holds segments that nobody has received yet: the 12th number of each CPU.
 */
static bool has_backlog(void)
{
    enum { BACKLOG = 11 };
    char text[8192];
    (void)read_text(v.softnet, text, sizeof text);
    for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
        char *at = line;
        for (int i = 0; i < BACKLOG; i++) {
            (void)strtoul(at, &at, 16);
        }
        if (strtoul(at, NULL, 16) != 0) {
            return true;
        }
        end = line + strcspn(line, "\n");
    }
    return false;
}

/* Whether there was a moment, just now, at which every thread slept. */
static bool comes_to_rest(void)
{
    bool has_added = false;
    if (have_run()) {
        return false;
    }
    const long last = add_new(&has_added);
    if (has_added || has_backlog() || !all_asleep() || have_run()) {
        return false;
    }
    v.last_number = last;
    return true;
}

/* The time. */

/* The earliest limit after now; free the waits of threads that are no more. */
static int64_t find_limit(size_t *used)
{
    int64_t limit = VIRTUAL_CLOCK_NEVER;
    *used = 0;
    for (size_t i = 0; i < VIRTUAL_CLOCK_WAITS; i++) {
        struct virtual_wait *w = &v.page->wait[i];
        if (w->tid == 0) {
            continue;
        }
        if (!is_thread(w->tid)) {
            w->until_ns = VIRTUAL_CLOCK_NEVER;
            w->tid = 0;
            continue;
        }
        *used = i + 1;
        if (w->until_ns > v.page->now_ns && w->until_ns < limit) {
            limit = w->until_ns;
        }
    }
    return limit;
}

static int64_t floor_ns(int64_t ns)
{
    return ns - ns % VIRTUAL_CLOCK_STEP_NS;
}

/* Move the time to the step of the earliest limit, and end the waits that have reached theirs.
 */
static bool move_time(void)
{
    size_t used = 0;
    const int64_t earliest = find_limit(&used);
    if (earliest == VIRTUAL_CLOCK_NEVER) {
        return false;
    }
    const int64_t limit = floor_ns(earliest + VIRTUAL_CLOCK_STEP_NS - 1);
    v.page->now_ns = limit;
    for (size_t i = 0; i < used; i++) {
        struct virtual_wait *w = &v.page->wait[i];
        if (w->tid != 0 && w->until_ns <= limit) {
            const int signal = w->signal;
            if (signal != VIRTUAL_CLOCK_SIGNAL) {
                w->until_ns = VIRTUAL_CLOCK_NEVER;
            }
            (void)syscall(SYS_tgkill, w->pid, w->tid, signal);
        }
    }
    return true;
}

/* Who does not sleep, by name. */
static void report_stuck(bool rests)
{
    (void)fprintf(stderr, "virtual_clock: %s for %d s:\n",
                  rests ? "every process sleeps and none has a limit" : "no rest", STUCK_S);
    for (size_t i = 0; i < v.count; i++) {
        char text[512];
        if (rests || !is_asleep(read_state(&v.task[i]))) {
            (void)read_text(v.task[i].stat, text, sizeof text);
            (void)fprintf(stderr, "  thread %d of process %d: %.40s\n", v.task[i].tid,
                          v.task[i].pid, text);
        }
    }
}

/* Processes. */

static void reap_children(void)
{
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == v.child) {
            v.has_ended = true;
            v.status = status;
        }
    }
}

/* Without a clock that moves, what the test left behind would never end. */
static void kill_rest(void)
{
    for (;;) {
        reap_children();
        add_all();
        (void)all_asleep();
        if (v.count == 0) {
            return;
        }
        for (size_t i = 0; i < v.count; i++) {
            (void)kill(v.task[i].pid, SIGKILL);
        }
        (void)nanosleep(&(struct timespec){0, NAP_NS_MAX}, NULL);
    }
}

static void forward_signal(int number)
{
    (void)kill(v.child, number);
}

static void add_word(const char *name, const char *word, char between)
{
    const char *before = getenv(name);
    char text[4096];
    const int n = before && *before
                      ? snprintf(text, sizeof text, "%s%c%s", before, between, word)
                      : snprintf(text, sizeof text, "%s", word);
    if (n < 0 || (size_t)n >= sizeof text || setenv(name, text, 1) != 0) {
        give_up(name);
    }
}

static void start_command(char **command)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(v.path, sizeof v.path, "%s/virtual_clock.XXXXXX", folder ? folder : "/tmp");
    const int fd = mkostemp(v.path, O_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof *v.page) != 0 || fchmod(fd, 0666) != 0) {
        give_up(v.path);
    }
    v.page = mmap(NULL, sizeof *v.page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (v.page == MAP_FAILED) {
        give_up("mmap");
    }
    v.page->now_ns = floor_ns(real_ns(CLOCK_MONOTONIC));
    v.page->wall_ns = floor_ns(real_ns(CLOCK_REALTIME)) - v.page->now_ns;
    for (size_t i = 0; i < VIRTUAL_CLOCK_WAITS; i++) {
        v.page->wait[i].until_ns = VIRTUAL_CLOCK_NEVER;
    }
    (void)setenv(VIRTUAL_CLOCK_VARIABLE, v.path, 1);
    add_word("LD_PRELOAD", VIRTUAL_CLOCK_LIBRARY, ':');
    add_word("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    v.last_number = read_last_number();
    v.child = fork();
    if (v.child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)execvp(command[0], command);
        give_up(command[0]);
    }
    if (v.child < 0) {
        give_up("fork");
    }
    (void)signal(SIGTERM, forward_signal);
    (void)signal(SIGINT, forward_signal);
    (void)signal(SIGHUP, forward_signal);
}

/* Linux 6.12 and later let a thread ask for short turns: those of a test then get a CPU soon
 * after they wake, though no larger share of it. On a busy machine the time moves faster. */
static void ask_for_short_turns(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t turn_ns, deadline_ns, period_ns;
    } how = {.size = 48, .nice = getpriority(PRIO_PROCESS, 0), .turn_ns = 100000};
    (void)syscall(SYS_sched_setattr, 0, &how, 0);
}

/* Files for two looks at each thread, more than a process may open by default. */
static void allow_files(void)
{
    struct rlimit files = {0, 0};
    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
    v.loadavg = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    v.softnet = open("/proc/net/softnet_stat", O_RDONLY | O_CLOEXEC);
    if (argc < 2 || v.loadavg < 0 || v.softnet < 0 ||
        access("/proc/self/schedstat", R_OK) != 0) {
        (void)fprintf(stderr, "usage: virtual_clock COMMAND [ARGUMENT]...; it needs /proc with "
                              "loadavg, net/softnet_stat and self/schedstat\n");
        return 125;
    }
    ask_for_short_turns();
    start_command(argv + 1);
    allow_files();
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    int64_t moved_ns = real_ns(CLOCK_MONOTONIC);
    long nap_ns = NAP_NS_MIN;
    while (reap_children(), !v.has_ended) {
        const bool rests = comes_to_rest();
        if (rests && move_time()) {
            moved_ns = real_ns(CLOCK_MONOTONIC);
            nap_ns = NAP_NS_MIN;
            continue;
        }
        if (real_ns(CLOCK_MONOTONIC) - moved_ns > STUCK_S * INT64_C(1000000000)) {
            report_stuck(rests);
            moved_ns = real_ns(CLOCK_MONOTONIC);
        }
        (void)nanosleep(&(struct timespec){0, nap_ns}, NULL);
        nap_ns = nap_ns * 3 / 2 < NAP_NS_MAX ? nap_ns * 3 / 2 : NAP_NS_MAX;
    }
    kill_rest();
    (void)unlink(v.path);
    if (WIFSIGNALED(v.status)) {
        (void)signal(WTERMSIG(v.status), SIG_DFL);
        (void)raise(WTERMSIG(v.status));
    }
    return WEXITSTATUS(v.status);
}
