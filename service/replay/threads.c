#include "service/replay/threads.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct source {
    threads_work *work; /* NULL: none */
    void *context;
    unsigned busy; /* threads working there */
};

struct threads {
    pthread_mutex_t lock;
    pthread_cond_t more; /* signals work to the threads, */
    pthread_cond_t done; /* signals finished work to the owner */
    struct source sources[THREADS_SOURCES_MAX];
    bool stop;
    pthread_t thread[THREADS_MAX];
    unsigned count; /* threads started */
};

/* Called with the lock, which is released while it works. Finished work may make work for
 * another thread. */
static bool work_once(struct threads *t)
{
    for (size_t i = 0; i < THREADS_SOURCES_MAX; i++) {
        struct source *s = &t->sources[i];
        if (!s->work) {
            continue;
        }
        s->busy++;
        const bool worked = s->work(s->context);
        s->busy--;
        if (worked) {
            (void)pthread_cond_signal(&t->more);
            (void)pthread_cond_signal(&t->done);
            return true;
        }
    }
    return false;
}

static void *run_thread(void *context)
{
    struct threads *t = context;
    threads_lock(t);
    while (!t->stop) {
        if (!work_once(t)) {
            (void)pthread_cond_wait(&t->more, &t->lock);
        }
    }
    threads_unlock(t);
    return NULL;
}

void threads_lock(struct threads *threads)
{
    (void)pthread_mutex_lock(&threads->lock);
}

void threads_unlock(struct threads *threads)
{
    (void)pthread_mutex_unlock(&threads->lock);
}

void threads_signal(struct threads *threads)
{
    (void)pthread_cond_signal(&threads->more);
}

void threads_help(struct threads *threads)
{
    if (!work_once(threads)) {
        (void)pthread_cond_wait(&threads->done, &threads->lock);
    }
}

/* Finds the source with this context; NULL: a free one. */
static struct source *find_source(struct threads *t, const void *context)
{
    for (size_t i = 0; i < THREADS_SOURCES_MAX; i++) {
        struct source *s = &t->sources[i];
        if (context ? s->work && s->context == context : !s->work) {
            return s;
        }
    }
    return NULL;
}

void threads_add(struct threads *threads, threads_work *work, void *context)
{
    threads_lock(threads);
    struct source *s = find_source(threads, NULL);
    assert(s);
    *s = (struct source){work, context, 0};
    (void)pthread_cond_broadcast(&threads->more);
    threads_unlock(threads);
}

void threads_remove(struct threads *threads, void *context)
{
    threads_lock(threads);
    struct source *s = find_source(threads, context);
    if (s) {
        s->work = NULL;
        while (s->busy > 0) {
            (void)pthread_cond_wait(&threads->done, &threads->lock);
        }
    }
    threads_unlock(threads);
}

unsigned threads_count(const struct threads *threads)
{
    return threads->count + 1;
}

enum status threads_create(unsigned count, struct threads **out)
{
    struct threads *t = calloc(1, sizeof *t);
    if (!t) {
        return STATUS_E_NOMEM;
    }
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->more, NULL);
    (void)pthread_cond_init(&t->done, NULL);
    while (t->count + 1 < count) {
        if (pthread_create(&t->thread[t->count], NULL, run_thread, t) != 0) {
            threads_destroy(t);
            return STATUS_E_IO;
        }
        t->count++;
    }
    *out = t;
    return STATUS_OK;
}

void threads_destroy(struct threads *threads)
{
    if (!threads) {
        return;
    }
    threads_lock(threads);
    threads->stop = true;
    (void)pthread_cond_broadcast(&threads->more);
    threads_unlock(threads);
    for (unsigned i = 0; i < threads->count; i++) {
        (void)pthread_join(threads->thread[i], NULL);
    }
    (void)pthread_cond_destroy(&threads->done);
    (void)pthread_cond_destroy(&threads->more);
    (void)pthread_mutex_destroy(&threads->lock);
    free(threads);
}
