/* web/resource/series.c - a pair's lags for charts. Time is cut into equal intervals, at most
 * as many as requested points. Each has its least, largest and mean lag, and counts of
 * verdicts. */
#include <math.h>
#include <stdlib.h>

#include "base/numbers/lab_time.h"
#include "logger/message/record.h"
#include "web/http/monotonic_clock.h"
#include "web/http/store_pool.h"
#include "web/resource/handlers.h"

enum {
    WORK_MAX_MS = 800,   /* CPU time for reading; beyond it the older part is left out */
    TIME_MAX_MS = 3000,  /* the same in wall time, for a busy machine or disk */
    ROWS_PER_LOOK = 4096 /* rows between two reads of the clock */
};

struct series {
    const struct query *query;
    int64_t since_us, until_us, width_us;
    /* width of the store's buckets: width_us is a multiple of it */
    int64_t step_us;
    struct store_bucket *bucket; /* [query->points]; NULL: no entries */
    size_t oldest;               /* the oldest bucket read so far */
    uint64_t rows;
    int64_t work_until_ms, until_ms;
    bool complete;
};

/* Chooses intervals over the requested time, or the time with entries. Their edges coincide
 * with those of the store's buckets, and each covers two or more of them. */
static bool make_buckets(struct series *s, int64_t oldest_us, int64_t newest_us)
{
    const struct query *q = s->query;
    const int64_t points = (int64_t)q->points;
    const int64_t since_us = q->since_us == LAB_TIME_NONE ? oldest_us : q->since_us;
    s->until_us = q->until_us == LAB_TIME_MAX ? newest_us + 1 : q->until_us;
    s->step_us = store_width_below((s->until_us - since_us) / points / 2);
    s->since_us = since_us - since_us % s->step_us;
    s->width_us = (s->until_us - s->since_us + points * s->step_us - 1) /
                  (points * s->step_us) * s->step_us;
    s->bucket = calloc(q->points, sizeof *s->bucket);
    s->work_until_ms = thread_cpu_ms() + WORK_MAX_MS;
    s->until_ms = monotonic_clock_ms() + TIME_MAX_MS;
    return s->bucket != NULL;
}

static bool add_bucket(void *context, const struct store_bucket *bucket)
{
    struct series *s = context;
    /* They come newest first. */
    s->oldest = (size_t)((bucket->first_us - s->since_us) / s->width_us);
    store_bucket_add(&s->bucket[s->oldest], bucket);
    s->rows++;
    s->complete = s->rows % ROWS_PER_LOOK != 0 ||
                  (thread_cpu_ms() < s->work_until_ms && monotonic_clock_ms() < s->until_ms);
    return s->complete;
}

static void write_bucket(struct json_writer *w, const struct store_bucket *b)
{
    const bool any = b->values > 0;
    JSON_OPEN(w, NULL, JSON_SECONDS("t", b->first_us), JSON_OF(b, count, values),
              JSON_SECONDS("min", any ? llround(b->min * 1e6) : LAB_TIME_NONE),
              JSON_SECONDS("max", any ? llround(b->max * 1e6) : LAB_TIME_NONE),
              JSON("mean", any ? b->sum / (double)b->values : nan("")));
    JSON_MAP(w, "verdicts", int v = 0; v < VERDICT_COUNT; v++) {
        if (b->verdicts[v] > 0) {
            json_write_int(w, verdict_name((enum verdict)v), (int64_t)b->verdicts[v]);
        }
    }
    json_write_int(w, "inconsistent", (int64_t)b->inconsistent);
    json_write_close(w);
}

static void write_series(struct json_writer *w, const char *pair, const struct series *s)
{
    /* The interval in which time ran out lacks its older part. */
    const size_t first = s->complete ? 0 : s->oldest + 1;
    JSON_OPEN(w, NULL, JSON("pair", pair), JSON("field", "lag_s"),
              JSON_SECONDS("since", s->bucket ? s->since_us : LAB_TIME_NONE),
              JSON_SECONDS("until", s->bucket ? s->until_us : LAB_TIME_NONE),
              JSON_SECONDS("bucket_s", s->bucket ? s->width_us : LAB_TIME_NONE),
              JSON_OF(s, complete));
    JSON_LIST(w, "buckets", size_t i = first; s->bucket && i < s->query->points; i++) {
        if (s->bucket[i].count > 0) {
            write_bucket(w, &s->bucket[i]);
        }
    }
    json_write_close(w);
}

/* STATUS_E_NOMEM; STATUS_E_IO with the reason. */
static enum status read_series(struct store_pool *pool, const char *pair, struct series *s,
                               struct err *err)
{
    const struct query *q = s->query;
    struct store_reader *reader = NULL;
    int64_t oldest_us = 0;
    int64_t newest_us = 0;
    bool any = false;
    if (store_pool_acquire(pool, &reader, err) != STATUS_OK) {
        return STATUS_E_IO;
    }
    enum status status =
        store_span(reader, pair, q->since_us, q->until_us, &any, &oldest_us, &newest_us, err);
    const bool made = status != STATUS_OK || !any || make_buckets(s, oldest_us, newest_us);
    if (s->bucket) {
        /* The upper bound excludes entries that arrived meanwhile. */
        status = store_series(reader, pair, oldest_us, newest_us + 1, s->step_us, add_bucket, s,
                              err);
    }
    status = store_pool_release(pool, reader, status);
    return made ? status : STATUS_E_NOMEM;
}

void get_series(const struct web_request *request, struct web_response *response)
{
    struct series series = {.query = &request->query, .complete = true};
    struct err err = {0};
    const enum status status = read_series(request->context->pool, request->id, &series, &err);
    if (status == STATUS_E_NOMEM) {
        web_problem(request, response, PROBLEM_INTERNAL, NULL,
                    "no memory; fewer points may do");
    } else if (status != STATUS_OK) {
        web_problem_later(request, response, PROBLEM_NO_STORE, 1, &err, "");
    } else {
        write_series(web_tagged_json(response), request->id, &series);
    }
    free(series.bucket);
}
