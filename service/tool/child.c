#include "service/tool/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/tool/lab_clock.h"

enum { POLL_US = 10 * 1000, LOG_TAIL_BYTES = 4096 };

/* Runs in the child, where nothing may allocate or lock. */
static void become_program(const char *dir, const char *log, const char *program,
                           const char *const *argv, pid_t parent)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int in = open("/dev/null", O_RDONLY);
    const int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (getppid() == parent && in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) >= 0 &&
        dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0 && chdir(dir) == 0) {
        union {
            const char *const *constant;
            char *const *plain; /* type that execv() requires; it writes to nothing */
        } words = {.constant = argv};
        (void)execv(program, words.plain);
    }
    _exit(127);
}

enum status child_start(struct child *c, const char *name, const char *dir, const char *program,
                        const char *const *argv, struct err *err)
{
    char log[PATH_MAX];
    *c = (struct child){.name = name, .dir = dir};
    if (snprintf(log, sizeof log, "%s/%s.log", dir, name) >= (int)sizeof log) {
        return err_set(err, STATUS_E_IO, FAULT_TOO_LONG, dir, "is too long a path");
    }
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        become_program(dir, log, program, argv, parent);
    }
    if (pid < 0) {
        return err_set(err, STATUS_E_IO, FAULT_PROCESS_FAILED, name, "cannot be started: %s",
                       strerrordesc_np(errno));
    }
    c->pid = pid;
    c->started = true;
    return STATUS_OK;
}

static bool reap_child(struct child *c)
{
    int status = 0;
    if (c->pid == 0 || waitpid(c->pid, &status, WNOHANG) != c->pid) {
        return false;
    }
    c->pid = 0;
    c->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

bool child_is_running(struct child *c)
{
    if (reap_child(c)) {
        c->died = true;
    }
    return c->pid != 0;
}

static bool wait_end(struct child *c, int timeout_ms)
{
    const int64_t until_us = lab_clock_monotonic_us() + (int64_t)timeout_ms * 1000;
    while (!reap_child(c)) {
        if (lab_clock_monotonic_us() >= until_us) {
            return false;
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + POLL_US);
    }
    return true;
}

bool child_stop(struct child *c, int timeout_ms)
{
    if (!c->started || !child_is_running(c)) {
        return !c->died || c->exit_status == 0;
    }
    (void)kill(c->pid, SIGTERM);
    if (!wait_end(c, timeout_ms)) {
        (void)kill(c->pid, SIGKILL);
        (void)wait_end(c, 60 * 1000);
    }
    return c->exit_status == 0;
}

void child_show_log(const struct child *c, int lines)
{
    char path[PATH_MAX];
    char text[LOG_TAIL_BYTES + 1];
    (void)snprintf(path, sizeof path, "%s/%s.log", c->dir, c->name);
    FILE *file = fopen(path, "re");
    if (!file) {
        return;
    }
    if (fseek(file, -LOG_TAIL_BYTES, SEEK_END) != 0) {
        (void)fseek(file, 0, SEEK_SET); /* the file is shorter */
    }
    const size_t bytes = fread(text, 1, LOG_TAIL_BYTES, file);
    (void)fclose(file);
    text[bytes] = '\0';
    const char *from = text + bytes;
    for (int seen = 0; from > text; from--) {
        if (from[-1] == '\n' && from < text + bytes && ++seen == lines) {
            break;
        }
    }
    (void)fprintf(stderr, "%s", from);
}
