/* tests/support/daemon.h - a `tandem serve` in its own directory, for tests with real parts. It
 * ends with the test. */
#ifndef TESTS_SUPPORT_DAEMON_H
#define TESTS_SUPPORT_DAEMON_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/wait.h"

struct daemon_run {
    char dir[64];    /* lab.yaml, journal/, store.db, checkpoint, log */
    pid_t pid;       /* 0: not running */
    int http_port;   /* of the last start */
    long log_offset; /* of the last start in the log */
    int starts;
};

static inline const char *daemon_path(const struct daemon_run *d, const char *name)
{
    static char path[8][128];
    static unsigned next;
    char *out = path[next++ % 8];
    (void)snprintf(out, sizeof path[0], "%s/%s", d->dir, name);
    return out;
}

/* Makes the directory and the lab file, with the lines that every daemon of a test needs, and
 * more lines. Checkpoints come faster than the store commits, which must not lose anything.
 * http: further settings, ", threads: 1" or "". */
static inline bool daemon_init_http(struct daemon_run *d, int broker_port, const char *http,
                                    const char *more)
{
    memset(d, 0, sizeof *d);
    if (!mkdtemp(scratch_template(d->dir, "serve"))) {
        return false;
    }
    FILE *out = fopen(daemon_path(d, "lab.yaml"), "we");
    if (!out) {
        return false;
    }
    (void)fprintf(out,
                  "name: test\nbroker: {port: %d}\nhttp: {port: 0%s}\n"
                  "journal: {dir: %s/journal}\nstore: {file: %s/store.db, commit_ms: 300}\n"
                  "checkpoint: {file: %s/checkpoint, interval_s: 0.1}\n%s",
                  broker_port, http, d->dir, d->dir, d->dir, more);
    return fclose(out) == 0;
}

static inline bool daemon_init(struct daemon_run *d, int broker_port, const char *more)
{
    return daemon_init_http(d, broker_port, "", more);
}

/* Start it, without waiting. */
static inline bool daemon_launch(struct daemon_run *d)
{
    const int log =
        open(daemon_path(d, "log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) {
        return false;
    }
    d->log_offset = (long)lseek(log, 0, SEEK_END);
    const char *lab = daemon_path(d, "lab.yaml");
    const pid_t parent = getpid();
    d->pid = fork();
    if (d->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(log, STDERR_FILENO);
        if (getppid() == parent) {
            (void)execl(TANDEM_PROGRAM, "tandem", "serve", "-c", lab, (char *)NULL);
        }
        _exit(127);
    }
    (void)close(log);
    d->starts++;
    return d->pid > 0;
}

/* The text of the log since the last start. */
static inline const char *daemon_log(const struct daemon_run *d)
{
    static char text[1 << 16];
    FILE *in = fopen(daemon_path(d, "log"), "re");
    size_t n = 0;
    if (in) {
        (void)fseek(in, d->log_offset, SEEK_SET);
        n = fread(text, 1, sizeof text - 1, in);
        (void)fclose(in);
    }
    text[n] = '\0';
    return text;
}

/* The end of every wait: after a failure it prints the missing event and the daemon's log. */
static inline bool daemon_waited(const struct daemon_run *d, bool came, const char *what)
{
    if (!came) {
        (void)fprintf(stderr, "waited in vain for: %s; the daemon's log:\n%s\n", what,
                      daemon_log(d));
    }
    return came;
}

/* Waits for this text in its log; false after timeout_ms or when it ended. */
static inline bool daemon_wait_log(struct daemon_run *d, const char *words, int timeout_ms)
{
    for (int64_t end_us = 0;
         d->pid > 0 && !strstr(daemon_log(d), words) && wait_more(&end_us, timeout_ms);) {
        if (waitpid(d->pid, NULL, WNOHANG) == d->pid) {
            d->pid = 0;
        }
    }
    return daemon_waited(d, strstr(daemon_log(d), words) != NULL, words);
}

/* Start and wait until HTTP answers. */
static inline bool daemon_start_run(struct daemon_run *d)
{
    static const char address[] = "serving: http://127.0.0.1:";
    if (!daemon_launch(d) || !daemon_wait_log(d, address, 20000)) {
        return false;
    }
    d->http_port = (int)strtol(strstr(daemon_log(d), address) + sizeof address - 1, NULL, 10);
    return true;
}

/* Returns the exit status, or -signal. */
static inline int daemon_end(struct daemon_run *d, int signal_number)
{
    int status = -1;
    if (d->pid > 0) {
        (void)kill(d->pid, signal_number);
        (void)waitpid(d->pid, &status, 0);
        d->pid = 0;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline int daemon_remove_one(const char *path, const struct stat *st, int flag,
                                    struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static inline void daemon_finish(struct daemon_run *d)
{
    (void)daemon_end(d, SIGKILL);
    (void)nftw(d->dir, daemon_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* GET path over HTTP; the status code and the body, or 0 when it does not answer. */
static inline int daemon_get(const struct daemon_run *d, const char *path, char *body,
                             size_t size)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)d->http_port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    size_t n = 0;
    if (connect(fd, (const struct sockaddr *)&a, sizeof a) == 0) {
        char request[256];
        const int length =
            snprintf(request, sizeof request,
                     "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
        ssize_t got = send(fd, request, (size_t)length, MSG_NOSIGNAL);
        while (got > 0 && n + 1 < size) {
            got = wait_input(fd, 5000) ? recv(fd, body + n, size - 1 - n, 0) : 0;
            n += got > 0 ? (size_t)got : 0;
        }
    }
    (void)close(fd);
    body[n] = '\0';
    const int code = n > 12 ? (int)strtol(body + 9, NULL, 10) : 0;
    const char *start = strstr(body, "\r\n\r\n");
    if (start) {
        memmove(body, start + 4, strlen(start + 4) + 1);
    }
    return code;
}

/* One sample of /metrics; -1 when it is not there. */
static inline double daemon_metric(const struct daemon_run *d, const char *sample)
{
    static char body[1 << 25]; /* of a lab of thousands of pairs */
    char line[160];
    (void)snprintf(line, sizeof line, "\n%s ", sample);
    if (daemon_get(d, "/metrics", body, sizeof body) != 200) {
        return -1.0;
    }
    const char *at = strstr(body, line);
    return at ? strtod(at + strlen(line), NULL) : -1.0;
}

/* Wait until /readyz answers with this code. */
static inline bool daemon_wait_ready(const struct daemon_run *d, int code, int timeout_ms)
{
    char body[8192];
    char what[64];
    bool is_ready = false;
    for (int64_t end_us = 0;
         !(is_ready = daemon_get(d, "/readyz", body, sizeof body) == code) &&
         wait_more(&end_us, timeout_ms);) {
    }
    (void)snprintf(what, sizeof what, "/readyz to answer %d", code);
    return daemon_waited(d, is_ready, what);
}

#endif
