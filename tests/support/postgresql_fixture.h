/* tests/support/postgresql_fixture.h - a PostgreSQL of the test's own (postgresql.sh). */
#ifndef TESTS_SUPPORT_POSTGRESQL_FIXTURE_H
#define TESTS_SUPPORT_POSTGRESQL_FIXTURE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logger/storage/postgresql.h"

struct postgresql_cluster {
    pid_t script;
    int hold; /* the servers stop when this closes */
    char folder[64];
    unsigned ports[3];
    char password_file[96], certificate[96];
};

/* A build without libpq creates no target. */
static inline void cluster_skip_without_libpq(void)
{
    const struct postgresql_server server = {"127.0.0.1", 1};
    const struct postgresql_params params = {
        .servers = &server, .server_count = 1, .database = "", .user = "", .application = ""};
    struct postgresql_target *target = NULL;
    struct err err = {0};
    const enum status status = postgresql_target_create(&params, &target, &err);
    postgresql_target_destroy(target);
    if (status != STATUS_OK && err.fault == FAULT_UNSUPPORTED) {
        (void)fprintf(stderr, "skipped: %s\n", err.text);
        exit(77);
    }
}

/* Starts 1 or 3 nodes; settings as for postgresql.sh, such as "tls". Ends the program with exit
 * status 77 (a skipped test) where PostgreSQL is missing, with 1 if it does not start. */
static inline void cluster_start(struct postgresql_cluster *c, int nodes, const char *settings)
{
    char line[256] = "";
    char command[512];
    int in[2];
    int out[2];
    cluster_skip_without_libpq();
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        exit(1);
    }
    (void)snprintf(command, sizeof command,
                   "exec sh " TANDEM_SOURCE_DIR "/tests/support/postgresql.sh %d %s", nodes,
                   settings);
    c->script = fork();
    if (c->script == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        (void)execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    c->hold = in[1];
    FILE *answer = fdopen(out[0], "r");
    if (!answer || !fgets(line, sizeof line, answer) ||
        sscanf(line, "ready %63s %u %u %u", c->folder, &c->ports[0], &c->ports[1],
               &c->ports[2]) != 1 + nodes) {
        int status = 0;
        (void)waitpid(c->script, &status, 0);
        exit(WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 77 : 1);
    }
    (void)fclose(answer);
    (void)snprintf(c->password_file, sizeof c->password_file, "%s/password", c->folder);
    (void)snprintf(c->certificate, sizeof c->certificate, "%s/server.crt", c->folder);
}

static inline void cluster_stop(struct postgresql_cluster *c)
{
    (void)close(c->hold);
    (void)waitpid(c->script, NULL, 0);
}

#endif
