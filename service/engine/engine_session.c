#include "service/engine/engine_session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "logger/storage/lock.h"
#include "service/engine/engine_claim.h"
#include "service/engine/engine_instance.h"
#include "service/engine/engine_target.h"
#include "service/engine/postgresql_schema.h"
#include "service/tool/version.h"

enum { LIMIT_MS = 5000, EVERY_MS = 2000, CLAIM_MS = 20000 };

struct engine_session {
    struct postgresql_target *target;
    struct postgresql *connection; /* used by the thread only, once it runs; NULL: none */
    struct engine_instance instance;
    char home[ENGINE_HOME_MAX];
    char fingerprint[20];
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    bool stop;
    bool pause; /* another daemon stores the results */
    struct err fault;
    struct engine_pair *pairs; /* [pair_count] of others, by name */
    size_t pair_count;
};

/* --- names of pairs --------------------------------------------------------------------- */

static enum status claim_pairs(struct engine_session *s, const struct lab_params *params,
                               struct err *err)
{
    const size_t count = params->pair_count + params->team_count;
    struct postgresql_text *names = calloc(count, sizeof *names);
    if (!names) {
        return err_no_memory(err, "engine", "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = i < params->pair_count ? params->pairs[i].id
                                                  : params->teams[i - params->pair_count].name;
        names[i] = (struct postgresql_text){name, strlen(name)};
    }
    const enum status status =
        engine_claim_names(s->connection, s->instance.lab, names, count, LIMIT_MS, err);
    free(names);
    return status;
}

static void copy_column(const struct postgresql_result *result, size_t row, size_t column,
                        char *out, size_t size)
{
    const char *text = postgresql_result_text(result, row, column, NULL);
    (void)snprintf(out, size, "%s", text ? text : "");
}

/* Replaces the list by what the database has. */
static enum status read_pairs(struct engine_session *s, struct err *err)
{
    const struct postgresql_value lab = postgresql_text(s->instance.lab);
    const struct postgresql_statement statement = {
        .what = "read the pairs of others",
        .sql = "SELECT q.pair, q.p, i.address, (i.seen > now() - interval '10 s')::int"
               " FROM pairs q LEFT JOIN LATERAL (SELECT address, seen FROM instance"
               " WHERE p = q.p ORDER BY seen DESC LIMIT 1) i ON true"
               " WHERE q.p NOT IN ($1, '') ORDER BY q.pair LIMIT 100000",
        .values = &lab,
        .count = 1,
        .limit_ms = LIMIT_MS};
    struct postgresql_result result = {0};
    enum status status = postgresql_run(s->connection, &statement, &result, err);
    struct engine_pair *pairs = calloc(result.rows + 1, sizeof *pairs);
    if (status == STATUS_OK && !pairs) {
        status = err_no_memory(err, "engine", "out of memory");
    }
    for (size_t i = 0; status == STATUS_OK && i < result.rows; i++) {
        copy_column(&result, i, 0, pairs[i].pair, sizeof pairs[i].pair);
        copy_column(&result, i, 1, pairs[i].lab, sizeof pairs[i].lab);
        copy_column(&result, i, 2, pairs[i].address, sizeof pairs[i].address);
        pairs[i].running = postgresql_result_number(&result, i, 3) != 0;
    }
    if (status == STATUS_OK) {
        lock_acquire(&s->lock);
        struct engine_pair *old = s->pairs;
        s->pairs = pairs;
        s->pair_count = result.rows;
        lock_release(&s->lock);
        pairs = old;
    }
    free(pairs);
    postgresql_result_free(&result);
    return status;
}

/* --- the thread ------------------------------------------------------------------------- */

static enum status register_daemon(struct engine_session *s, bool pause, struct err *err)
{
    enum status status = STATUS_OK;
    if (s->connection && postgresql_is_broken(s->connection)) {
        postgresql_close(s->connection);
        s->connection = NULL;
    }
    if (!s->connection) {
        status = postgresql_open(s->target, POSTGRESQL_WRITABLE, LIMIT_MS, &s->connection, err);
    }
    if (status == STATUS_OK && !pause) {
        status = engine_instance_register(s->connection, &s->instance, LIMIT_MS, err);
    }
    return status == STATUS_OK ? read_pairs(s, err) : status;
}

static int64_t now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *run_session(void *context)
{
    struct engine_session *s = context;
    lock_acquire(&s->lock);
    while (!s->stop) {
        lock_wait(&s->changed, &s->lock, now_us() + EVERY_MS * INT64_C(1000));
        if (!s->stop) {
            struct err err = {0};
            const bool pause = s->pause;
            lock_release(&s->lock);
            const enum status status = register_daemon(s, pause, &err);
            lock_acquire(&s->lock);
            s->fault = status == STATUS_OK ? (struct err){0} : err;
        }
    }
    lock_release(&s->lock);
    return NULL;
}

/* --- opening and asking ------------------------------------------------------------------- */

/* In one transaction: nothing remains of a daemon that is refused, and of several that start at
 * once with one name, one starts. */
static enum status claim_place(struct engine_session *s, const struct lab_params *params,
                               struct err *err)
{
    enum status status = engine_claim_begin(s->connection, CLAIM_MS, err);
    if (status == STATUS_OK) {
        status = engine_instance_register(s->connection, &s->instance, LIMIT_MS, err);
    }
    if (status == STATUS_OK) {
        status = claim_pairs(s, params, err);
    }
    return status == STATUS_OK ? engine_claim_commit(s->connection, LIMIT_MS, err) : status;
}

static enum status start_session(struct engine_session *s, const struct lab_file *file,
                                 const struct lab_params *params, struct err *err)
{
    enum status status = engine_target_create(&file->engine, NULL, &s->target, err);
    if (status == STATUS_OK) {
        status = postgresql_open(s->target, POSTGRESQL_WRITABLE, LIMIT_MS, &s->connection, err);
    }
    if (status == STATUS_OK) {
        status = postgresql_schema_check(s->connection, err);
    }
    if (status == STATUS_OK) {
        status = claim_place(s, params, err);
    }
    if (status == STATUS_OK) {
        status = read_pairs(s, err);
    }
    if (status == STATUS_OK) {
        s->runs = pthread_create(&s->thread, NULL, run_session, s) == 0;
        status = s->runs ? STATUS_OK
                         : err_set(err, STATUS_E_IO, FAULT_NO_THREAD, "engine",
                                   "cannot start a thread");
    }
    return status;
}

static struct engine_session *make_session(const struct lab_file *file, uint64_t fingerprint)
{
    struct engine_session *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    lock_init(&s->lock);
    lock_init_condition(&s->changed);
    engine_instance_home(file->journal.dir, s->home);
    (void)snprintf(s->fingerprint, sizeof s->fingerprint, "%016llx",
                   (unsigned long long)fingerprint);
    s->instance = (struct engine_instance){.name = file->engine.instance,
                                           .lab = file->name,
                                           .home = s->home,
                                           .version = TANDEM_VERSION,
                                           .fingerprint = s->fingerprint,
                                           .address = file->engine.advertise,
                                           .shares_lab = file->engine.role == ENGINE_OWNER};
    return s;
}

enum status engine_session_open(const struct lab_file *file, const struct lab_params *params,
                                uint64_t fingerprint, struct engine_session **out,
                                struct err *err)
{
    struct engine_session *s = make_session(file, fingerprint);
    if (!s) {
        return err_no_memory(err, "engine", "out of memory");
    }
    const enum status status = start_session(s, file, params, err);
    if (status != STATUS_OK) {
        engine_session_close(s);
        return status;
    }
    *out = s;
    return STATUS_OK;
}

enum status engine_session_try(const struct lab_file *file, struct engine_refusals *out,
                               struct err *err)
{
    const struct lab_params params = lab_file_params(file);
    struct engine_session *s = make_session(file, lab_fingerprint(&params));
    *out = (struct engine_refusals){0};
    if (!s) {
        return err_no_memory(err, "engine", "out of memory");
    }
    enum status status = engine_target_create(&file->engine, NULL, &s->target, err);
    if (status == STATUS_OK) {
        status = postgresql_open(s->target, POSTGRESQL_WRITABLE, LIMIT_MS, &s->connection, err);
    }
    if (status == STATUS_OK) {
        status = engine_claim_begin(s->connection, CLAIM_MS, err);
    }
    if (status == STATUS_OK) {
        status =
            engine_instance_register(s->connection, &s->instance, LIMIT_MS, &out->instance);
        *err = status == STATUS_E_STALE ? (struct err){0} : out->instance;
    }
    if (status == STATUS_OK || status == STATUS_E_STALE) {
        status = claim_pairs(s, &params, &out->pairs);
        *err = status == STATUS_E_STALE ? (struct err){0} : out->pairs;
    }
    engine_session_close(s);
    return status == STATUS_E_STALE ? STATUS_OK : status;
}

struct postgresql_target *engine_session_target(const struct engine_session *session)
{
    return session->target;
}

bool engine_session_read_fault(struct engine_session *session, struct err *err)
{
    lock_acquire(&session->lock);
    *err = session->fault;
    lock_release(&session->lock);
    return err->code != STATUS_OK;
}

void engine_session_pause(struct engine_session *session, bool pause)
{
    lock_acquire(&session->lock);
    session->pause = pause;
    lock_release(&session->lock);
}

static int compare_pairs(const void *a, const void *b)
{
    return strcmp(((const struct engine_pair *)a)->pair, ((const struct engine_pair *)b)->pair);
}

bool engine_session_find_pair(struct engine_session *session, const char *pair,
                              struct engine_pair *out)
{
    struct engine_pair key = {.pair = ""};
    if (!session || strlen(pair) >= sizeof key.pair) {
        return false;
    }
    memcpy(key.pair, pair, strlen(pair) + 1);
    lock_acquire(&session->lock);
    const struct engine_pair *found = session->pair_count > 0
                                          ? bsearch(&key, session->pairs, session->pair_count,
                                                    sizeof *session->pairs, compare_pairs)
                                          : NULL;
    if (found) {
        *out = *found;
    }
    lock_release(&session->lock);
    return found != NULL;
}

void engine_session_list_pairs(struct engine_session *session, engine_pair_fn *emit,
                               void *context)
{
    if (!session) {
        return;
    }
    lock_acquire(&session->lock);
    for (size_t i = 0; i < session->pair_count; i++) {
        emit(context, &session->pairs[i]);
    }
    lock_release(&session->lock);
}

void engine_session_close(struct engine_session *session)
{
    if (!session) {
        return;
    }
    if (session->runs) {
        lock_acquire(&session->lock);
        session->stop = true;
        (void)pthread_cond_signal(&session->changed);
        lock_release(&session->lock);
        (void)pthread_join(session->thread, NULL);
    }
    postgresql_close(session->connection);
    postgresql_target_destroy(session->target);
    (void)pthread_cond_destroy(&session->changed);
    (void)pthread_mutex_destroy(&session->lock);
    free(session->pairs);
    free(session);
}
