#include "web/http/answers.h"

#include <assert.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
    BUCKETS = 2048,
    MORE_BYTES = 2048 /* of an answer, beyond its body and URL: two messages, their headers */
};

struct answers {
    pthread_mutex_t lock;
    struct answer *bucket[BUCKETS];
    struct answer *newest, *oldest; /* by when they were asked for last */
    size_t count, bytes;
};

static void lock(struct answers *answers)
{
    const int failed = pthread_mutex_lock(&answers->lock);
    assert(!failed);
    (void)failed;
}

static void unlock(struct answers *answers)
{
    const int failed = pthread_mutex_unlock(&answers->lock);
    assert(!failed);
    (void)failed;
}

static size_t cost_of(const struct answer *a)
{
    return a->bytes + strlen(a->url) + MORE_BYTES;
}

static struct answer **bucket_of(struct answers *answers, uint64_t hash)
{
    return &answers->bucket[(hash ^ hash >> 32) % BUCKETS];
}

static bool has_name(const struct answer *a, uint64_t hash, const struct answer_name *name)
{
    return a->hash == hash && a->csv == name->csv && a->gzip == name->gzip &&
           strcmp(a->url, name->url) == 0;
}

/* ---- one answer ---- */

struct answer *answer_create(const struct answer_name *name)
{
    const size_t url_bytes = strlen(name->url) + 1;
    struct answer *a = calloc(1, sizeof *a + url_bytes);
    if (a) {
        atomic_init(&a->holders, 1);
        a->hash = hash_text(name->url);
        a->csv = name->csv;
        a->gzip = name->gzip;
        memcpy(a->url, name->url, url_bytes);
    }
    return a;
}

void answer_release(struct answer *a)
{
    if (!a || atomic_fetch_sub_explicit(&a->holders, 1, memory_order_acq_rel) != 1) {
        return;
    }
    if (a->message) {
        MHD_destroy_response(a->message);
    }
    if (a->unchanged) {
        MHD_destroy_response(a->unchanged);
    }
    free(a);
}

static void hold(struct answer *a)
{
    atomic_fetch_add_explicit(&a->holders, 1, memory_order_relaxed);
}

/* ---- the table; all of it under the lock ---- */

static void unlink_age(struct answers *answers, struct answer *a)
{
    *(a->newer ? &a->newer->older : &answers->newest) = a->older;
    *(a->older ? &a->older->newer : &answers->oldest) = a->newer;
}

static void link_newest(struct answers *answers, struct answer *a)
{
    a->newer = NULL;
    a->older = answers->newest;
    *(a->older ? &a->older->newer : &answers->oldest) = a;
    answers->newest = a;
}

/* The place that points to it, or the NULL where it would be. */
static struct answer **place_of(struct answers *answers, uint64_t hash,
                                const struct answer_name *name)
{
    struct answer **at = bucket_of(answers, hash);
    while (*at && !has_name(*at, hash, name)) {
        at = &(*at)->next;
    }
    return at;
}

static struct answer_name name_of(const struct answer *a)
{
    return (struct answer_name){a->url, a->csv, a->gzip};
}

/* Drops the table's hold on the one that *at points to. */
static void drop(struct answers *answers, struct answer **at)
{
    struct answer *a = *at;
    *at = a->next;
    unlink_age(answers, a);
    answers->count--;
    answers->bytes -= cost_of(a);
    answer_release(a);
}

static void drop_oldest(struct answers *answers)
{
    const struct answer_name name = name_of(answers->oldest);
    drop(answers, place_of(answers, answers->oldest->hash, &name));
}

enum status answers_create(struct answers **out)
{
    struct answers *answers = calloc(1, sizeof *answers);
    if (!answers || pthread_mutex_init(&answers->lock, NULL) != 0) {
        free(answers);
        return STATUS_E_NOMEM;
    }
    *out = answers;
    return STATUS_OK;
}

void answers_destroy(struct answers *answers)
{
    if (!answers) {
        return;
    }
    while (answers->oldest) {
        drop_oldest(answers);
    }
    (void)pthread_mutex_destroy(&answers->lock);
    free(answers);
}

struct answer *answers_find(struct answers *answers, const struct answer_name *name)
{
    const uint64_t hash = hash_text(name->url);
    lock(answers);
    struct answer *found = *place_of(answers, hash, name);
    if (found) {
        hold(found);
        if (found != answers->newest) {
            unlink_age(answers, found);
            link_newest(answers, found);
        }
    }
    unlock(answers);
    return found;
}

void answers_keep(struct answers *answers, struct answer *answer)
{
    const struct answer_name name = name_of(answer);
    assert(answer->bytes <= ANSWER_BYTES_MAX);
    lock(answers);
    struct answer **at = place_of(answers, answer->hash, &name);
    if (*at) {
        drop(answers, at);
    }
    hold(answer);
    struct answer **bucket = bucket_of(answers, answer->hash);
    answer->next = *bucket;
    *bucket = answer;
    link_newest(answers, answer);
    answers->count++;
    answers->bytes += cost_of(answer);
    while (answers->count > ANSWERS_MAX || answers->bytes > ANSWERS_BYTES_MAX) {
        drop_oldest(answers);
    }
    unlock(answers);
}
