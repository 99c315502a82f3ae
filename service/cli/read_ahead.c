#include "service/cli/read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"

enum { PIECES = 8, PIECE_BYTES = 65536 };

struct read_ahead {
    FILE *in;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Below is the lock's; the bytes of a piece are the thread's before it is read, then the
     * caller's until it is given back. */
    size_t read, given_back; /* pieces */
    bool ended, stopped;
    bool lent; /* the caller has piece given_back */
    int failure;
    struct file_mark mark;
    size_t count[PIECES];
    char bytes[PIECES][PIECE_BYTES];
};

/* Waits for room; false when nobody wants more. */
static bool may_read(struct read_ahead *r)
{
    (void)pthread_mutex_lock(&r->lock);
    while (!r->stopped && r->read - r->given_back == PIECES) {
        (void)pthread_cond_wait(&r->changed, &r->lock);
    }
    const bool go_on = !r->stopped;
    (void)pthread_mutex_unlock(&r->lock);
    return go_on;
}

static void *read_pieces(void *context)
{
    struct read_ahead *r = context;
    struct file_mark mark = {0, HASH_START};
    size_t at = 0; /* only this thread changes r->read */
    bool ended = false;
    while (!ended && may_read(r)) {
        char *bytes = r->bytes[at % PIECES];
        errno = 0;
        const size_t n = fread(bytes, 1, PIECE_BYTES, r->in);
        const int failure = ferror(r->in) ? errno : 0;
        ended = n < PIECE_BYTES;
        mark.bytes += n;
        mark.hash = hash_bytes(mark.hash, bytes, n);
        at++;
        (void)pthread_mutex_lock(&r->lock);
        r->count[r->read++ % PIECES] = n;
        r->ended = ended;
        r->failure = failure;
        r->mark = mark;
        (void)pthread_cond_signal(&r->changed);
        (void)pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

enum status read_ahead_start(FILE *in, struct read_ahead **reader)
{
    struct read_ahead *r = calloc(1, sizeof *r);
    if (!r) {
        return STATUS_E_NOMEM;
    }
    r->in = in;
    (void)pthread_mutex_init(&r->lock, NULL);
    (void)pthread_cond_init(&r->changed, NULL);
    if (pthread_create(&r->thread, NULL, read_pieces, r) != 0) {
        (void)pthread_cond_destroy(&r->changed);
        (void)pthread_mutex_destroy(&r->lock);
        free(r);
        return STATUS_E_NOMEM;
    }
    *reader = r;
    return STATUS_OK;
}

const char *read_ahead_next(struct read_ahead *r, size_t *n)
{
    const char *bytes = NULL;
    (void)pthread_mutex_lock(&r->lock);
    if (r->lent) {
        r->given_back++;
        r->lent = false;
        (void)pthread_cond_signal(&r->changed);
    }
    while (r->read == r->given_back && !r->ended) {
        (void)pthread_cond_wait(&r->changed, &r->lock);
    }
    if (r->read > r->given_back) {
        const size_t at = r->given_back % PIECES;
        bytes = r->bytes[at];
        *n = r->count[at];
        r->lent = true;
    }
    (void)pthread_mutex_unlock(&r->lock);
    return bytes;
}

int read_ahead_end(const struct read_ahead *r, struct file_mark *mark)
{
    *mark = r->mark; /* the thread has ended, or nearly: it writes no more */
    return r->failure;
}

void read_ahead_stop(struct read_ahead *r)
{
    if (!r) {
        return;
    }
    (void)pthread_mutex_lock(&r->lock);
    r->stopped = true;
    (void)pthread_cond_signal(&r->changed);
    (void)pthread_mutex_unlock(&r->lock);
    (void)pthread_join(r->thread, NULL);
    (void)pthread_cond_destroy(&r->changed);
    (void)pthread_mutex_destroy(&r->lock);
    free(r);
}
