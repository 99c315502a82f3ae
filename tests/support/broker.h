/* tests/support/broker.h - a private mosquitto on a free loopback port, for tests with real
 * parts. It uses the settings file that Tandem ships, has its own directory under /tmp, and
 * ends with the test. broker_skip() returns whether there is a mosquitto at all. */
#ifndef TESTS_SUPPORT_BROKER_H
#define TESTS_SUPPORT_BROKER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/wait.h"

struct broker {
    pid_t pid; /* 0: not running */
    int port;
    char dir[64];       /* its database, log and settings; the test may add files */
    char settings[512]; /* further lines for mosquitto.conf, e.g. "cafile …\n" */
};

static inline bool broker_answers(int port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const bool ok = connect(fd, (const struct sockaddr *)&a, sizeof a) == 0;
    (void)close(fd);
    return ok;
}

/* A loopback port that nobody listens on. It is below the range of the kernel's ephemeral
 * ports, because the kernel could give one of those to another program before the test uses it.
 * -1 without random numbers. */
static inline int broker_free_port(void)
{
    enum { FIRST = 20000, PORTS = 12000 };
    for (;;) {
        unsigned any = 0;
        if (getrandom(&any, sizeof any, 0) != sizeof any) {
            return -1;
        }
        const int port = FIRST + (int)(any % PORTS);
        if (!broker_answers(port)) {
            return port;
        }
    }
}

static inline const char *broker_program(void)
{
    return access("/usr/sbin/mosquitto", X_OK) == 0 ? "/usr/sbin/mosquitto"
                                                    : "/usr/local/sbin/mosquitto";
}

static inline bool broker_skip(void)
{
    return access(broker_program(), X_OK) != 0;
}

/* Make the directory and choose the port; false when that fails. */
static inline bool broker_init(struct broker *b)
{
    memset(b, 0, sizeof *b);
    b->port = broker_free_port();
    return mkdtemp(scratch_template(b->dir, "broker")) != NULL && b->port > 0;
}

/* Lines of the shipped file with the broker's address and access; a test has its own. */
static inline bool broker_is_own_setting(const char *line)
{
    static const char *const own[] = {"listener ", "allow_anonymous ", "persistence_location "};
    bool is_own = false;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        is_own = is_own || strncmp(line, own[i], strlen(own[i])) == 0;
    }
    return is_own;
}

static inline bool broker_write_settings(const struct broker *b, const char *path)
{
    FILE *out = fopen(path, "we");
    if (!out) {
        return false;
    }
    FILE *shipped = fopen(TANDEM_SOURCE_DIR "/config/mosquitto.conf", "re");
    char line[512];
    while (shipped && fgets(line, sizeof line, shipped)) {
        if (!broker_is_own_setting(line)) {
            (void)fputs(line, out);
        }
    }
    if (shipped) {
        (void)fclose(shipped);
    }
    (void)fprintf(out,
                  "\nlistener %d 127.0.0.1\npersistence_location %s/\n"
                  "log_dest file %s/mosquitto.log\n%s",
                  b->port, b->dir, b->dir, b->settings);
    if (geteuid() == 0) { /* else mosquitto changes to a user who cannot write here */
        (void)fputs("user root\n", out);
    }
    if (!strstr(b->settings, "allow_anonymous")) {
        (void)fputs("allow_anonymous true\n", out);
    }
    return fclose(out) == 0;
}

/* Start, or start again with the same port and database; returns once it accepts connections.
 */
static inline bool broker_start(struct broker *b)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/mosquitto.conf", b->dir);
    if (!broker_write_settings(b, path)) {
        return false;
    }
    const pid_t parent = getpid();
    b->pid = fork();
    if (b->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) {
            (void)execl(broker_program(), "mosquitto", "-c", path, (char *)NULL);
        }
        _exit(127);
    }
    for (int64_t end_us = 0; b->pid > 0 && wait_more(&end_us, 10000);) {
        if (broker_answers(b->port)) {
            return true;
        }
        if (waitpid(b->pid, NULL, WNOHANG) == b->pid) {
            b->pid = 0;
        }
    }
    (void)fprintf(stderr, "broker: mosquitto did not start, see %s\n", b->dir);
    return false;
}

/* SIGTERM saves the database, SIGKILL forgets what was not saved. One that comes between
 * mosquitto's first connection and its main loop is lost, so it is repeated. */
static inline void broker_stop(struct broker *b, int signal_number)
{
    enum { TRY_MS = 1000, LOOK_MS = 10 };
    for (int waited = 0; b->pid > 0; waited += LOOK_MS) {
        if (waited % TRY_MS == 0) {
            (void)kill(b->pid, signal_number);
        }
        if (waitpid(b->pid, NULL, WNOHANG) == b->pid) {
            b->pid = 0;
        } else {
            pass_time_ms(LOOK_MS);
        }
    }
}

/* Stop, and remove the files it is known to make and those named (NULL-terminated, or
 * NULL). */
static inline void broker_finish(struct broker *b, const char *const *files)
{
    static const char *const own[] = {"mosquitto.conf", "mosquitto.log", "mosquitto.db", NULL};
    char path[192];
    broker_stop(b, SIGTERM);
    for (int list = 0; list < 2; list++) {
        for (const char *const *name = list == 0 ? own : files; name && *name; name++) {
            (void)snprintf(path, sizeof path, "%s/%s", b->dir, *name);
            (void)unlink(path);
        }
    }
    (void)rmdir(b->dir);
}

#endif
