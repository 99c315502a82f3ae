#include "service/robots/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "logger/message/codec.h"
#include "logger/storage/lock.h"
#include "service/cli/lab_clock.h"
#include "service/cli/stop_signal.h"

enum { SLICE_US = 50 * 1000 }; /* a signal is noticed this soon */

enum status session_init(struct session *s, size_t item_bytes, size_t capacity)
{
    *s = (struct session){.item_bytes = item_bytes, .capacity = capacity};
    lock_init_condition(&s->arrived);
    (void)pthread_mutex_init(&s->mutex, NULL);
    s->items = calloc(capacity, item_bytes);
    return s->items ? STATUS_OK : STATUS_E_NOMEM;
}

void session_finish(struct session *s)
{
    free(s->items);
    (void)pthread_cond_destroy(&s->arrived);
    (void)pthread_mutex_destroy(&s->mutex);
}

bool session_open(struct session *s, const struct mqtt_client_options *options)
{
    struct err err = {0};
    if (mqtt_client_create(&s->client, options, &err) == STATUS_OK) {
        return true;
    }
    (void)fprintf(stderr, "tandem: %s: %s\n", err.where, err.text);
    return false;
}

void session_close(struct session *s, int timeout_ms)
{
    if (s->client) {
        mqtt_client_read_state(s->client, &s->state);
        mqtt_client_stop(s->client, timeout_ms);
        mqtt_client_destroy(s->client);
        s->client = NULL;
    }
}

bool session_was_connected(const struct session *s)
{
    if (s->state.connections == 0) {
        (void)fprintf(stderr, "tandem: %s\n",
                      s->state.error[0] ? s->state.error : "was never connected");
    }
    return s->state.connections > 0;
}

bool session_push(struct session *s, const void *item)
{
    (void)pthread_mutex_lock(&s->mutex);
    const bool fits = s->count < s->capacity;
    if (fits) {
        const size_t at = (s->first + s->count++) % s->capacity;
        memcpy(s->items + at * s->item_bytes, item, s->item_bytes);
        (void)pthread_cond_signal(&s->arrived);
    } else {
        s->overflow++;
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return fits;
}

bool session_pop(struct session *s, void *item)
{
    (void)pthread_mutex_lock(&s->mutex);
    const bool some = s->count > 0;
    if (some) {
        memcpy(item, s->items + s->first * s->item_bytes, s->item_bytes);
        s->first = (s->first + 1) % s->capacity;
        s->count--;
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return some;
}

void session_wait(struct session *s, int64_t until_us)
{
    (void)pthread_mutex_lock(&s->mutex);
    while (s->count == 0 && lab_clock_monotonic_us() < until_us) {
        lock_wait(&s->arrived, &s->mutex, until_us);
    }
    (void)pthread_mutex_unlock(&s->mutex);
}

bool session_sleep(int64_t until_us)
{
    while (!stop_signal_raised() && lab_clock_monotonic_us() < until_us) {
        const int64_t slice_us = lab_clock_monotonic_us() + SLICE_US;
        lab_clock_sleep_until_us(slice_us < until_us ? slice_us : until_us);
    }
    return !stop_signal_raised();
}

bool session_names_fit(const char *prefix, const char *pair, size_t room)
{
    if (strlen(prefix) < CODEC_PREFIX_MAX - EVENT_PAIR_MAX && pair[0] &&
        strlen(pair) + room < EVENT_PAIR_MAX && !strpbrk(pair, "/+#")) {
        return true;
    }
    (void)fputs("tandem: --prefix and --pair: shorter ones without / + # in the pair were "
                "expected\n",
                stderr);
    return false;
}
