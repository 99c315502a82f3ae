/* service/daemon/serve_command.c - tandem serve: the daemon. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "base/text/text.h"
#include "config/labfile/lab_file.h"
#include "config/labfile/lab_secrets.h"
#include "config/options/option_file.h"
#include "service/daemon/daemon.h"
#include "service/engine/engine_check.h"
#include "service/sim/mission/maps.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"
#include "service/tool/version.h"
#include "twin/lab.h"

enum {
    READY_MS = 10000, /* a broker that takes longer does not delay the start */
    READY_POLL_MS = 20,
    PENDING_POLL_MS = 200,
    STOP_MAX_S = 45 /* below TimeoutStopSec of the unit */
};

/* The supervisor is notified once the broker was tried, successfully or not. */
static void notify_ready(const struct daemon *daemon, int64_t until_us, bool *notified)
{
    if (!*notified &&
        (daemon_has_tried_broker(daemon) || lab_clock_monotonic_us() >= until_us)) {
        (void)sd_notify(0, "READY=1");
        *notified = true;
    }
}

/* ---- SIGHUP ---- */

enum { KEYS_NAMED_MAX = 8 };

/* Keys that differ: the first ones by name. */
struct changes {
    size_t count;
    char text[384];
};

static void add_change(struct changes *c, const char *owner, const char *key)
{
    if (c->count++ < KEYS_NAMED_MAX) {
        text_append(c->text, sizeof c->text, "%s%s%s", c->text[0] ? ", " : "", owner, key);
    }
}

static void compare_rows(const struct option_table *table, const void *old, const void *new,
                         const char *owner, struct changes *c)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        const bool is_value = row->type != OPTION_MAP && strcmp(row->path, "count") != 0;
        if (is_value && !option_equal(row, old, new)) {
            add_change(c, owner, row->path);
        }
    }
}

/* Compares two lab files. A change of `defaults` shows in the pairs that use it. */
static void compare_labs(const struct lab_file *old, const struct lab_file *new,
                         struct changes *c)
{
    compare_rows(&lab_options, old, new, "", c);
    const bool one_order = old->pair_count == new->pair_count;
    for (size_t i = 0; i < new->pair_count; i++) {
        const struct pair_params *pair = &new->pairs[i];
        const bool in_place = one_order && strcmp(old->pairs[i].id, pair->id) == 0;
        const struct pair_params *before =
            in_place ? &old->pairs[i] : lab_find_params(old->pairs, old->pair_count, pair->id);
        char owner[sizeof pair->id + sizeof "pairs.."];
        (void)snprintf(owner, sizeof owner, "pairs.%s%s", pair->id, before ? "." : "");
        if (before) {
            struct lab_pair rows[2];
            lab_pair_of(before, &rows[0]);
            lab_pair_of(pair, &rows[1]);
            compare_rows(lab_pair_options(), &rows[0], &rows[1], owner, c);
        } else {
            add_change(c, owner, "");
        }
    }
    if (!one_order) {
        add_change(c, "pairs", "");
    }
}

static void refuse_file(const char *path, const struct err_list *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        const struct err *e = &errors->items[i];
        log_write(LOG_RELOAD_REFUSED, NULL, "%s:%u:%u: %s", e->where, e->line, e->column,
                  e->text);
    }
    log_write(LOG_RELOAD_REFUSED, NULL, "%s has %zu faults; the lab goes on as it was", path,
              errors->count + errors->more);
}

/* Reads the HTTPS certificate again, from the files that the running lab file names. */
static void renew_certificate(struct daemon *daemon, const struct lab_file *running)
{
    struct err err = {0};
    bool changed = false;
    if (daemon_renew_tls(daemon, &changed, &err) != STATUS_OK) {
        log_write(LOG_RELOAD_REFUSED, NULL, "%s: %s; the certificate is the one before",
                  err.where, err.text);
    } else if (changed) {
        log_write(LOG_RELOADED, NULL, "%s is shown now", running->http.tls_certificate);
    }
}

static void renew_webhook_key(struct daemon *daemon, const struct lab_file *running)
{
    struct err err = {0};
    bool changed = false;
    if (daemon_renew_webhook_key(daemon, &changed, &err) != STATUS_OK) {
        log_write(LOG_RELOAD_REFUSED, NULL, "%s: %s; the key is the one before", err.where,
                  err.text);
    } else if (changed) {
        log_write(LOG_RELOADED, NULL, "%s signs alarms now", running->alarms.webhook.key_file);
    }
}

/* Handles SIGHUP. All faults go to the log, and then nothing changes. Without faults log.level
 * is applied, also in *running, certificate and keys are read again, and the log names the
 * options that need a restart. */
static void reload_lab_file(struct daemon *daemon, const char *path, struct lab_file *running)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    if (lab_file_load(path, &lab, &errors) != STATUS_OK) {
        refuse_file(path, &errors);
        return;
    }
    if (lab_secrets_check(&lab, &errors) != STATUS_OK) {
        refuse_file(path, &errors);
        lab_file_free(&lab);
        return;
    }
    if (lab.log.level != running->log.level) {
        running->log.level = lab.log.level;
        log_set_level(lab.log.level);
        log_write(LOG_RELOADED, NULL, "log.level is %s now", log_level_name(lab.log.level));
    }
    renew_certificate(daemon, running);
    renew_webhook_key(daemon, running);
    struct changes changes = {0};
    compare_labs(running, &lab, &changes);
    if (changes.count > 0) {
        log_write(LOG_RELOAD, NULL, "restart needed for %s%s", changes.text,
                  changes.count > KEYS_NAMED_MAX ? " and more" : "");
    } else {
        log_write(LOG_RELOADED, NULL, "%s is what the daemon runs with", path);
    }
    lab_file_free(&lab);
}

static void reload_lab(struct daemon *daemon, const char *path, struct lab_file *lab)
{
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld",
                     (long long)lab_clock_monotonic_us());
    reload_lab_file(daemon, path, lab);
    (void)sd_notify(0, "READY=1");
}

static void wait_for_end(struct daemon *daemon, const char *path, struct lab_file *lab,
                         const sigset_t *signals)
{
    static const struct timespec soon = {0, READY_POLL_MS * 1000000L};
    const int64_t until_us = lab_clock_monotonic_us() + READY_MS * INT64_C(1000);
    bool notified = false;
    for (;;) {
        notify_ready(daemon, until_us, &notified);
        const int signal =
            notified ? sigwaitinfo(signals, NULL) : sigtimedwait(signals, NULL, &soon);
        if (signal == SIGHUP) {
            reload_lab(daemon, path, lab);
            notified = true;
        } else if (signal == SIGTERM || signal == SIGINT) {
            (void)sd_notify(0, "STOPPING=1\nSTATUS=stopping");
            log_write(LOG_STOPPING, NULL, "%s", signal == SIGTERM ? "SIGTERM" : "SIGINT");
            return;
        }
    }
}

/* ---- ending although a disk does not answer ------------------------------------------ */

static _Atomic int64_t asked_us; /* monotonic time of the request to end; 0: none */
static atomic_bool started;

/* Waits for a signal, since all are blocked, until the daemon serves; afterwards until the end.
 * A disk may hold up a thread for any time. The journal has whole lines then, and the next run
 * continues from them, so ending here is better than being killed by the supervisor. */
static void *limit_end(void *unused)
{
    for (;;) {
        sigset_t pending;
        const int64_t since_us = atomic_load(&asked_us);
        if (since_us == 0 && atomic_load(&started)) {
            return unused;
        }
        if (since_us != 0 &&
            lab_clock_monotonic_us() - since_us > STOP_MAX_S * INT64_C(1000000)) {
            break;
        }
        if (since_us == 0 && sigpending(&pending) == 0 &&
            (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1)) {
            atomic_store(&asked_us, lab_clock_monotonic_us());
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + PENDING_POLL_MS * INT64_C(1000));
    }
    log_write(LOG_STOP_INCOMPLETE, NULL,
              "the disk did not answer within %d s: the next start reads the missing records "
              "from the journal",
              STOP_MAX_S);
    log_flush();
    _exit(EXIT_FAILED);
}

static void begin_limit(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, limit_end, NULL) == 0) {
        (void)pthread_detach(thread);
    }
}

/* A limit that began during the start stays in force. */
static void limit_stop(void)
{
    int64_t never = 0;
    if (atomic_compare_exchange_strong(&asked_us, &never, lab_clock_monotonic_us())) {
        begin_limit();
    }
}

/* A person who sent the log to a file must see why there is no daemon: the commands that follow
 * would talk to another one. */
static void print_failure(const struct err *err)
{
    complain_err(err);
    if (!isatty(STDERR_FILENO) && isatty(STDOUT_FILENO)) {
        (void)fprintf(stdout, "tandem: serve has ended: %s: %s\n", err->where, err->text);
    }
}

static int run_daemon(struct lab_file *lab, const char *path)
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file at its size limit is handled like a full disk */
    log_write(LOG_STARTING, NULL, "tandem %s, %s, %zu pairs", TANDEM_VERSION, path,
              lab->pair_count);
    struct daemon *daemon = NULL;
    struct err err = {0};
    begin_limit();
    const enum status status = daemon_start(lab, &daemon, &err);
    atomic_store(&started, true);
    if (status != STATUS_OK) {
        print_failure(&err);
        return status == STATUS_E_ARG ? EXIT_USAGE : EXIT_FAILED;
    }
    if (lab->http.enabled) {
        log_write(LOG_SERVING, NULL, "http%s://%s:%u pid %ld", lab->http.tls_key[0] ? "s" : "",
                  lab->http.bind, (unsigned)daemon_http_port(daemon), (long)getpid());
    } else {
        log_write(LOG_SERVING, NULL, "no HTTP, pid %ld", (long)getpid());
    }
    wait_for_end(daemon, path, lab, &signals);
    limit_stop();
    const bool complete = daemon_stop(daemon);
    log_flush();
    if (!complete) {
        return EXIT_FAILED;
    }
    log_write(LOG_STOPPED, NULL, "all is on the disk");
    return EXIT_FINE;
}

/* Reports the lab's database as comments, so that the output stays a lab file. */
static int check_engine(const struct lab_file *lab)
{
    struct engine_facts facts;
    struct err err = {0};
    if (lab->engine.postgresql.server_count == 0) {
        return EXIT_FINE;
    }
    if (engine_facts_read(lab, &facts, &err) != STATUS_OK) {
        complain_err(&err);
        return EXIT_FAILED;
    }
    return engine_facts_print(&facts, &lab->engine, "# ", stdout) == 0 ? EXIT_FINE
                                                                       : EXIT_FAILED;
}

/* Checks the lab file and the files that it names, as a start would. */
static int check_files(const struct lab_file *lab)
{
    struct maps *maps = NULL;
    struct err err = {0};
    if (maps_load(lab, &maps, &err) != STATUS_OK) {
        complain_err(&err);
        return EXIT_USAGE;
    }
    maps_destroy(maps);
    lab_file_print(lab, stdout);
    return check_engine(lab);
}

static const char description[] =
    "  The daemon: receives the messages of a lab's robots over MQTT, compares each pair\n"
    "  command by command, calibrates, and serves the results over HTTP and MQTT until it is\n"
    "  stopped.\n"
    "\n"
    "SIGNALS\n"
    "  TERM, INT   stop in order: leave the broker, process what was received, save\n"
    "  HUP         check the lab file. If it has faults, they are logged and nothing changes.\n"
    "              Otherwise the new log.level applies, the certificate and key of HTTPS and\n"
    "              the key of alarms.webhook are read again, and the log names the changes\n"
    "              that need a restart\n"
    "\n"
    "  under systemd: Type=notify; WatchdogSec= watches the threads that do the work\n"
    "\n"
    "FILES\n"
    "  paths are in the lab file; relative ones start at the working directory\n"
    "  journal.dir        every message as it came; after a restart the daemon continues from "
    "it\n"
    "  store.file         entries and alarms (SQLite)\n"
    "  checkpoint.file    the lab's state, so that a restart reads only the end of the "
    "journal\n";

int command_serve(int argc, char **argv)
{
    const char *path = NULL;
    const char *format = "plain";
    bool check = false;
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &path, 0, 0, "FILE",
         "the lab file; its keys: docs/config.md"},
        {"check", 0, ARGUMENT_FLAG, &check, 0, 0, NULL,
         "check the lab file, the files and the database it names, print its effective values, "
         "end"},
        {"log-format", 0, ARGUMENT_TEXT, &format, 0, 0, "plain|json",
         "lines on stderr (plain)"},
    };
    const struct arguments arguments = {.command = "serve",
                                        .operands = "[LAB.yaml]",
                                        .description = description,
                                        .exit_status = "could not start or not save",
                                        ARGUMENT_ROWS(rows)};
    int code = arguments_parse(&arguments, argc, argv);
    if (code != ARGUMENTS_PARSED) {
        return code;
    }
    if (argv[1] && path) {
        return complain_exit(EXIT_USAGE,
                             "serve: one lab file was expected: -c LAB.yaml, or its name");
    }
    path = argv[1] ? argv[1] : path;
    struct lab_file lab = {0};
    struct err_list errors = {0};
    if (!lab_argument_load(arguments.command, path, &lab)) {
        return EXIT_USAGE;
    }
    if (lab_secrets_check(&lab, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        lab_file_free(&lab);
        return EXIT_USAGE;
    }
    if (check) {
        code = check_files(&lab);
    } else {
        log_start(strcmp(format, "json") == 0 ? LOG_JSON : LOG_PLAIN, lab.log.level,
                  STDERR_FILENO);
        code = run_daemon(&lab, path);
    }
    lab_file_free(&lab);
    return code;
}
