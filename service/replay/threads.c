#include "service/replay/threads.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { WORKING = BELT_STAGES_MAX }; /* the stage of a batch that a thread works on */

struct threads {
    pthread_mutex_t lock;
    pthread_cond_t more; /* signals work to the threads, */
    pthread_cond_t done; /* signals finished work to the owner */
    struct belt *belts[BELTS_MAX];
    bool stop;
    pthread_t thread[THREADS_MAX];
    unsigned count; /* threads started */
};

/* Called with the lock, which is released while it works. False: nothing is due there. */
static bool work_at(struct threads *t, struct belt *b, size_t s)
{
    const struct belt_stage *stage = &b->stages[s];
    const size_t i = b->next[s] % b->batch_count;
    if (!stage->work || b->stage[i] != s || (stage->serial && b->busy[s] > 0) ||
        (s == 0 && b->ended)) {
        return false;
    }
    b->next[s]++;
    b->busy[s]++;
    b->stage[i] = WORKING;
    (void)pthread_mutex_unlock(&t->lock);
    const bool more = stage->work(b->context, i);
    (void)pthread_mutex_lock(&t->lock);
    b->busy[s]--;
    b->stage[i] = (uint8_t)((s + 1) % b->stage_count);
    b->ended = b->ended || !more;
    return true;
}

/* Works at the last stage that has something due. Finished work may make work for another
 * thread. */
static bool work_once(struct threads *t)
{
    for (size_t i = 0; i < BELTS_MAX; i++) {
        struct belt *b = t->belts[i];
        for (size_t s = b ? b->stage_count : 0; s-- > 0;) {
            if (work_at(t, b, s)) {
                (void)pthread_cond_signal(&t->more);
                (void)pthread_cond_signal(&t->done);
                return true;
            }
        }
    }
    return false;
}

static void *run_thread(void *context)
{
    struct threads *t = context;
    (void)pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        if (!work_once(t)) {
            (void)pthread_cond_wait(&t->more, &t->lock);
        }
    }
    (void)pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* With the lock: does the available work, or waits until another thread has finished some. */
static void help_once(struct threads *t)
{
    if (!work_once(t)) {
        (void)pthread_cond_wait(&t->done, &t->lock);
    }
}

/* Finds the place of a belt; NULL: a free one. */
static struct belt **find_belt(struct threads *t, const struct belt *belt)
{
    size_t i = 0;
    while (i < BELTS_MAX && t->belts[i] != belt) {
        i++;
    }
    return i < BELTS_MAX ? &t->belts[i] : NULL;
}

static size_t owner_stage(const struct belt *b)
{
    size_t s = 0;
    while (b->stages[s].work) {
        s++;
    }
    return s;
}

void threads_add(struct threads *threads, struct belt *belt)
{
    assert(belt->batch_count <= BELT_BATCHES_MAX);
    (void)pthread_mutex_lock(&threads->lock);
    struct belt **place = find_belt(threads, NULL);
    assert(place);
    *place = belt;
    (void)pthread_cond_broadcast(&threads->more);
    (void)pthread_mutex_unlock(&threads->lock);
}

void threads_remove(struct threads *threads, struct belt *belt)
{
    (void)pthread_mutex_lock(&threads->lock);
    struct belt **place = find_belt(threads, belt);
    if (place) {
        *place = NULL;
        while (belt->busy[0] + belt->busy[1] + belt->busy[2] > 0) {
            (void)pthread_cond_wait(&threads->done, &threads->lock);
        }
    }
    (void)pthread_mutex_unlock(&threads->lock);
}

size_t threads_await(struct threads *threads, struct belt *belt)
{
    const size_t s = owner_stage(belt);
    const size_t i = belt->next[s] % belt->batch_count;
    (void)pthread_mutex_lock(&threads->lock);
    while (belt->stage[i] != s && !(belt->ended && belt->next[s] == belt->next[0])) {
        help_once(threads);
    }
    const bool come = belt->stage[i] == s;
    (void)pthread_mutex_unlock(&threads->lock);
    return come ? i : belt->batch_count;
}

void threads_pass(struct threads *threads, struct belt *belt)
{
    const size_t s = owner_stage(belt);
    (void)pthread_mutex_lock(&threads->lock);
    belt->stage[belt->next[s]++ % belt->batch_count] = (uint8_t)((s + 1) % belt->stage_count);
    (void)pthread_cond_signal(&threads->more);
    (void)pthread_mutex_unlock(&threads->lock);
}

void threads_drain(struct threads *threads, struct belt *belt)
{
    const size_t last = belt->stage_count - 1;
    (void)pthread_mutex_lock(&threads->lock);
    while (belt->next[last] < belt->next[0] || belt->busy[last] > 0) {
        help_once(threads);
    }
    (void)pthread_mutex_unlock(&threads->lock);
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
    (void)pthread_mutex_lock(&threads->lock);
    threads->stop = true;
    (void)pthread_cond_broadcast(&threads->more);
    (void)pthread_mutex_unlock(&threads->lock);
    for (unsigned i = 0; i < threads->count; i++) {
        (void)pthread_join(threads->thread[i], NULL);
    }
    (void)pthread_cond_destroy(&threads->done);
    (void)pthread_cond_destroy(&threads->more);
    (void)pthread_mutex_destroy(&threads->lock);
    free(threads);
}
