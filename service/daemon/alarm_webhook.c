#include "service/daemon/alarm_webhook.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/labfile/lab_secrets.h"
#include "logger/storage/lock.h"
#include "service/replay/rows.h"
#include "service/tool/lab_clock.h"
#include "service/tool/log.h"
#include "service/tool/version.h"

enum {
    TIMEOUT_MS = 5000,
    RETRY_MIN_S = 1,
    RETRY_MAX_S = 60,
    DIGEST_BYTES = 32,
    HEADER_MAX = 128
};

struct waiting_alarm {
    size_t bytes;
    char json[RECORD_JSON_MAX];
};

struct alarm_webhook {
    const char *url;
    char host[LAB_PATH_MAX]; /* "https://host:port": the part that may be logged */
    CURL *curl;
    pthread_t thread;
    bool runs;
    atomic_bool stop;
    _Atomic int64_t end_us;       /* monotonic time after which nothing is sent; 0: none */
    struct waiting_alarm sending; /* used by the thread only */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock: the key, and a ring of alarms that wait, without the one being sent. */
    char key[LAB_TOKEN_MAX + 2];
    size_t first, count;
    struct alarm_webhook_counts counts;
    struct waiting_alarm ring[ALARM_WEBHOOK_WAITING_MAX];
};

enum outcome { DELIVERED, REFUSED, FAILED };

/* ---- one request ---- */

static void format_signature(struct alarm_webhook *w, const char *time_text,
                             char out[HEADER_MAX])
{
    unsigned char digest[DIGEST_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    gnutls_hmac_hd_t hmac;
    memset(digest, 0, sizeof digest);
    lock_acquire(&w->lock);
    const int status = gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, w->key, strlen(w->key));
    lock_release(&w->lock);
    if (status == 0) {
        (void)gnutls_hmac(hmac, time_text, strlen(time_text));
        (void)gnutls_hmac(hmac, ".", 1);
        (void)gnutls_hmac(hmac, w->sending.json, w->sending.bytes);
        gnutls_hmac_deinit(hmac, digest);
    }
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    (void)snprintf(out, HEADER_MAX, "Tandem-Signature: sha256=%s", hex);
}

static struct curl_slist *make_headers(struct alarm_webhook *w)
{
    char time_text[24];
    char lines[2][HEADER_MAX];
    /* The receiver compares it with its own clock. Lab time does not follow a wall clock that
     * is set. */
    (void)snprintf(time_text, sizeof time_text, "%lld", (long long)time(NULL));
    (void)snprintf(lines[0], HEADER_MAX, "Tandem-Time: %s", time_text);
    format_signature(w, time_text, lines[1]);
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    for (size_t i = 0; i < COUNT(lines) && list; i++) {
        struct curl_slist *const longer = curl_slist_append(list, lines[i]);
        if (!longer) {
            curl_slist_free_all(list);
        }
        list = longer;
    }
    return list;
}

static enum outcome post_alarm(struct alarm_webhook *w, char *why, size_t why_bytes)
{
    struct curl_slist *const headers = make_headers(w);
    long answer = 0;
    if (!headers) {
        (void)snprintf(why, why_bytes, "no memory");
        return FAILED;
    }
    (void)curl_easy_setopt(w->curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(w->curl, CURLOPT_POSTFIELDS, w->sending.json);
    (void)curl_easy_setopt(w->curl, CURLOPT_POSTFIELDSIZE, (long)w->sending.bytes);
    const CURLcode code = curl_easy_perform(w->curl);
    (void)curl_easy_getinfo(w->curl, CURLINFO_RESPONSE_CODE, &answer);
    curl_slist_free_all(headers);
    if (code != CURLE_OK) {
        /* The library's own text may name the whole address. */
        (void)snprintf(why, why_bytes, "%s", curl_easy_strerror(code));
        return FAILED;
    }
    (void)snprintf(why, why_bytes, "it answered %ld, 2xx was expected", answer);
    if (answer >= 200 && answer < 300) {
        return DELIVERED;
    }
    return answer >= 400 && answer < 500 && answer != 408 && answer != 425 && answer != 429
               ? REFUSED
               : FAILED;
}

/* ---- the thread ---- */

/* Whether the time for the last requests is over. */
static bool is_over(const struct alarm_webhook *w)
{
    return atomic_load(&w->stop) && lab_clock_monotonic_us() >= atomic_load(&w->end_us);
}

/* Waits for an alarm and copies it to w->sending. Returns false at the end. */
static bool fetch_alarm(struct alarm_webhook *w)
{
    lock_acquire(&w->lock);
    while (w->count == 0 && !atomic_load(&w->stop)) {
        lock_wait(&w->changed, &w->lock, lab_clock_monotonic_us() + RETRY_MAX_S * 1000000LL);
    }
    const bool any = w->count > 0 && !is_over(w);
    if (any) {
        const struct waiting_alarm *next = &w->ring[w->first];
        w->sending.bytes = next->bytes;
        memcpy(w->sending.json, next->json, next->bytes);
        w->first = (w->first + 1) % ALARM_WEBHOOK_WAITING_MAX;
        w->count--;
    }
    lock_release(&w->lock);
    return any;
}

static void rest_until(struct alarm_webhook *w, int64_t until_us)
{
    lock_acquire(&w->lock);
    while (!atomic_load(&w->stop) && lab_clock_monotonic_us() < until_us) {
        lock_wait(&w->changed, &w->lock, until_us);
    }
    lock_release(&w->lock);
}

static void count_outcome(struct alarm_webhook *w, enum outcome outcome)
{
    lock_acquire(&w->lock);
    w->counts.delivered += outcome == DELIVERED;
    w->counts.failed += outcome != DELIVERED;
    w->counts.dropped += outcome == REFUSED;
    w->counts.waiting -= outcome != FAILED;
    lock_release(&w->lock);
}

/* Sends w->sending until it is delivered, refused, or the daemon ends: then once more. Returns
 * whether the receiver answers as it should. */
static bool send_alarm(struct alarm_webhook *w)
{
    enum outcome outcome = FAILED;
    char why[160];
    bool last = false;
    for (int retry_s = RETRY_MIN_S; outcome == FAILED && !last;
         retry_s = retry_s * 2 > RETRY_MAX_S ? RETRY_MAX_S : retry_s * 2) {
        last = atomic_load(&w->stop);
        outcome = post_alarm(w, why, sizeof why);
        count_outcome(w, outcome);
        if (outcome == FAILED && !atomic_load(&w->stop)) {
            log_write(LOG_WEBHOOK_FAILED, NULL, "%s: %s; again in %d s", w->host, why, retry_s);
            rest_until(w, lab_clock_monotonic_us() + retry_s * 1000000LL);
        } else if (outcome == REFUSED) {
            log_write(LOG_WEBHOOK_FAILED, NULL, "%s: %s; this alarm is dropped", w->host, why);
        }
    }
    return outcome != FAILED;
}

static void *run_webhook(void *context)
{
    struct alarm_webhook *w = context;
    (void)pthread_setname_np(pthread_self(), "tandem-webhook");
    while (fetch_alarm(w) && send_alarm(w)) {
    }
    return NULL;
}

/* ---- start and end ---- */

static int is_stopped(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct alarm_webhook *w = context;
    (void)a, (void)b, (void)c, (void)d;
    return is_over(w);
}

static size_t ignore_answer(const char *text, size_t one, size_t bytes, void *context)
{
    (void)text, (void)context;
    return one * bytes;
}

static bool set_options(struct alarm_webhook *w)
{
    const bool plain = strncmp(w->url, "http:", 5) == 0; /* lab_check allows it on loopback */
    bool good = true;
    good = good && curl_easy_setopt(w->curl, CURLOPT_URL, w->url) == CURLE_OK;
    good = good && curl_easy_setopt(w->curl, CURLOPT_PROTOCOLS_STR, plain ? "http" : "https") ==
                       CURLE_OK;
    good = good && curl_easy_setopt(w->curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
    good = good && curl_easy_setopt(w->curl, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS) == CURLE_OK;
    good = good && curl_easy_setopt(w->curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
    /* A name server that does not answer must not delay the end. */
    good = good && curl_easy_setopt(w->curl, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK;
    good = good && curl_easy_setopt(w->curl, CURLOPT_POST, 1L) == CURLE_OK;
    good = good &&
           curl_easy_setopt(w->curl, CURLOPT_USERAGENT, "tandem/" TANDEM_VERSION) == CURLE_OK;
    good = good && curl_easy_setopt(w->curl, CURLOPT_WRITEFUNCTION, ignore_answer) == CURLE_OK;
    good = good && curl_easy_setopt(w->curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
    good = good && curl_easy_setopt(w->curl, CURLOPT_XFERINFOFUNCTION, is_stopped) == CURLE_OK;
    good = good && curl_easy_setopt(w->curl, CURLOPT_XFERINFODATA, w) == CURLE_OK;
    /* A proxy of the environment must not see what stays on this machine. */
    return good && (!plain || curl_easy_setopt(w->curl, CURLOPT_PROXY, "") == CURLE_OK);
}

static void free_webhook(struct alarm_webhook *w)
{
    curl_easy_cleanup(w->curl);
    curl_global_cleanup();
    (void)pthread_cond_destroy(&w->changed);
    (void)pthread_mutex_destroy(&w->lock);
    explicit_bzero(w->key, sizeof w->key);
    free(w);
}

enum status alarm_webhook_renew_key(struct alarm_webhook *w, const struct lab_file *file,
                                    bool *changed, struct err *err)
{
    const char *path = file->alarms.webhook.key_file;
    char key[LAB_TOKEN_MAX + 2];
    *changed = false;
    if (!w) {
        return STATUS_OK;
    }
    if (!text_file_first_line(path, key, sizeof key)) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path,
                       "alarms.webhook.key_file cannot be read: %s", strerrordesc_np(errno));
    }
    lock_acquire(&w->lock);
    *changed = strcmp(key, w->key) != 0;
    memcpy(w->key, key, sizeof key);
    lock_release(&w->lock);
    explicit_bzero(key, sizeof key);
    return STATUS_OK;
}

static enum status start_thread(struct alarm_webhook *w, const struct lab_file *file,
                                struct err *err)
{
    bool changed = false;
    w->url = file->alarms.webhook.url;
    const char *host = strstr(w->url, "://") + 3; /* lab_check has seen it */
    (void)snprintf(w->host, sizeof w->host, "%.*s",
                   (int)(host - w->url + (ptrdiff_t)strcspn(host, "/?#")), w->url);
    const enum status status = alarm_webhook_renew_key(w, file, &changed, err);
    if (status != STATUS_OK) {
        return status;
    }
    w->curl = curl_easy_init();
    if (!w->curl || !set_options(w)) {
        return err_no_memory(err, "alarms.webhook", "no memory");
    }
    w->runs = pthread_create(&w->thread, NULL, run_webhook, w) == 0;
    return w->runs ? STATUS_OK
                   : err_set(err, STATUS_E_IO, FAULT_NO_THREAD, "alarms.webhook", "no thread");
}

enum status alarm_webhook_start(const struct lab_file *file, struct alarm_webhook **out,
                                struct err *err)
{
    *out = NULL;
    if (file->alarms.webhook.url[0] == '\0') {
        return STATUS_OK;
    }
    struct alarm_webhook *w = calloc(1, sizeof *w);
    if (!w || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(w);
        return err_no_memory(err, "alarms.webhook", "no memory");
    }
    lock_init(&w->lock);
    lock_init_condition(&w->changed);
    const enum status status = start_thread(w, file, err);
    if (status == STATUS_OK) {
        *out = w;
    } else {
        free_webhook(w);
    }
    return status;
}

void alarm_webhook_stop(struct alarm_webhook *w)
{
    if (!w) {
        return;
    }
    lock_acquire(&w->lock);
    atomic_store(&w->end_us, lab_clock_monotonic_us() + ALARM_WEBHOOK_END_MS * INT64_C(1000));
    atomic_store(&w->stop, true);
    (void)pthread_cond_signal(&w->changed);
    lock_release(&w->lock);
    (void)pthread_join(w->thread, NULL);
    if (w->counts.waiting > 0) {
        log_write(LOG_WEBHOOK_FAILED, NULL,
                  "%s: %" PRIu64 " alarms were not delivered, %" PRIu64
                  " were dropped before; the database has them",
                  w->host, w->counts.waiting, w->counts.dropped);
    }
    free_webhook(w);
}

/* ---- for other threads ---- */

void alarm_webhook_offer(struct alarm_webhook *w, const char *json, size_t bytes)
{
    if (!w) {
        return;
    }
    assert(bytes <= RECORD_JSON_MAX);
    lock_acquire(&w->lock);
    if (w->count == ALARM_WEBHOOK_WAITING_MAX) {
        w->first = (w->first + 1) % ALARM_WEBHOOK_WAITING_MAX;
        w->count--;
        w->counts.waiting--;
        w->counts.dropped++;
    }
    struct waiting_alarm *slot = &w->ring[(w->first + w->count) % ALARM_WEBHOOK_WAITING_MAX];
    slot->bytes = bytes;
    memcpy(slot->json, json, bytes);
    w->count++;
    w->counts.waiting++;
    (void)pthread_cond_signal(&w->changed);
    lock_release(&w->lock);
}

void alarm_webhook_read_counts(struct alarm_webhook *w, struct alarm_webhook_counts *out)
{
    *out = (struct alarm_webhook_counts){0};
    if (w) {
        lock_acquire(&w->lock);
        *out = w->counts;
        lock_release(&w->lock);
    }
}
