/* needs: threads */
/* tests/unit/test_worker.c - uses threads: the order of jobs, progress, cancelling, keeping,
 * stopping. */
#include "tests/support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/numbers/lab_time.h"
#include "service/job/worker.h"
#include "tests/support/wait.h"

static atomic_llong clock_us = 1000000;

static int64_t test_now(void *context)
{
    (void)context;
    return atomic_load(&clock_us);
}

/* A job of the test: says when it began, and works until it is released or cancelled. */
struct work {
    const char *name;
    atomic_bool began, go;
    atomic_int released; /* how often: CUnit cannot be asked from another thread */
    bool waits, fails;
    const char *result;
    double share;
};

static pthread_mutex_t diary_lock = PTHREAD_MUTEX_INITIALIZER;
static char diary[512];

static void append_diary(const char *name)
{
    (void)pthread_mutex_lock(&diary_lock);
    const size_t n = strlen(diary);
    (void)snprintf(diary + n, sizeof diary - n, "%s ", name);
    (void)pthread_mutex_unlock(&diary_lock);
}

static enum status run_work(struct job *job, void *context, FILE *out, struct err *err)
{
    struct work *work = context;
    append_diary(work->name);
    job_progress(job, work->share, "at it");
    job_progress(job, 0.1, NULL);
    atomic_store(&work->began, true);
    while (work->waits && !atomic_load(&work->go)) {
        if (!job_go_on(job)) {
            return STATUS_E_STALE;
        }
        (void)usleep(500);
    }
    if (work->fails) {
        return err_set_at(err, STATUS_E_PARSE, FAULT_NOT_A_NUMBER, "trial.csv", 7, 3,
                          "no number");
    }
    (void)fputs(work->result ? work->result : "", out);
    return STATUS_OK;
}

static void release_work(void *context)
{
    struct work *work = context;
    atomic_fetch_add(&work->released, 1);
}

static struct worker *start_worker(size_t queue_max, size_t retain_max)
{
    struct worker_params params;
    struct worker *w = NULL;
    worker_params_init(&params);
    params.now_us = test_now;
    params.retain_us = 1000000;
    for (int class = 0; class < JOB_CLASS_COUNT; class ++) {
        params.queue_max[class] = queue_max;
        params.retain_max[class] = retain_max;
    }
    CHECK_INT("start", worker_start(&params, &w), STATUS_OK);
    if (!w) {
        abort();
    }
    diary[0] = '\0';
    return w;
}

static enum status submit_work(struct worker *w, enum job_class class, struct work *work,
                               uint64_t *id)
{
    struct job_order order = {
        .class = class, .run = run_work, .release = release_work, .context = work};
    (void)snprintf(order.what, sizeof order.what, "%s", work->name);
    return worker_submit(w, &order, id, NULL);
}

/* Data that a visitor saw, copied for use after the lock. */
struct seen {
    struct web_job report;
    enum job_state state;
    struct err err; /* of one that failed */
    char result[64], stage[64];
};

static void copy_report(void *context, const struct web_job *report)
{
    struct seen *seen = context;
    seen->report = *report;
    seen->state = (enum job_state)names_value(&job_state_names, report->state);
    seen->err = report->err ? *report->err : (struct err){0};
    (void)snprintf(seen->stage, sizeof seen->stage, "%s", report->stage);
    (void)snprintf(seen->result, sizeof seen->result, "%.*s", (int)report->result_bytes,
                   report->result ? report->result : "");
}

static struct seen read_seen(struct worker *w, uint64_t id)
{
    struct seen seen = {.state = JOB_STATE_COUNT};
    CHECK_INT("known", worker_read(w, id, copy_report, &seen), STATUS_OK);
    return seen;
}

static void wait_for(atomic_bool *what)
{
    for (int64_t end_us = 0; !atomic_load(what) && wait_more(&end_us, 10000);) {
    }
    CHECK("in time", atomic_load(what));
}

static struct seen wait_end(struct worker *w, uint64_t id)
{
    struct seen seen = read_seen(w, id);
    for (int64_t end_us = 0; seen.state < JOB_DONE && wait_more(&end_us, 10000);) {
        seen = read_seen(w, id);
    }
    return seen;
}

static void test_life(void)
{
    struct worker *w = start_worker(4, 4);
    struct work good = {.name = "good", .waits = true, .result = "{\"a\":1}", .share = 0.5};
    struct work bad = {.name = "bad", .fails = true};
    uint64_t id = 0;
    uint64_t next = 0;
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &good, &id), STATUS_OK);
    CHECK("numbered by lab time", id >= (uint64_t)atomic_load(&clock_us));
    wait_for(&good.began);
    struct seen seen = read_seen(w, id);
    CHECK_INT("running", seen.state, JOB_RUNNING);
    CHECK_NEAR("progress never falls", seen.report.progress, 0.5, 0, 0);
    CHECK_TEXT("stage", seen.stage, "at it");
    CHECK("not ended", seen.report.ended_us == LAB_TIME_NONE && !seen.report.result);
    atomic_store(&good.go, true);
    seen = wait_end(w, id);
    CHECK_INT("done", seen.state, JOB_DONE);
    CHECK_NEAR("all of it", seen.report.progress, 1.0, 0, 0);
    CHECK_TEXT("result", seen.result, "{\"a\":1}");
    CHECK_INT("given back", atomic_load(&good.released), 1);
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &bad, &next), STATUS_OK);
    CHECK("another number", next > id);
    seen = wait_end(w, next);
    CHECK_INT("failed", seen.state, JOB_FAILED);
    CHECK_INT("line", seen.err.line, 7);
    CHECK_TEXT("why", fault_name(seen.err.fault), "not_a_number");
    CHECK_INT("too late", worker_cancel(w, id), STATUS_E_STALE);
    CHECK_INT("unknown", worker_cancel(w, 99), STATUS_E_EMPTY);
    CHECK_INT("no number", worker_read(w, 0, copy_report, &seen), STATUS_E_EMPTY);
    worker_stop(w);
    worker_destroy(w);
}

/* While an uploaded job runs, those of the lab are carried out within it, in their order. */
static void test_lab_first(void)
{
    struct worker *w = start_worker(4, 8);
    struct work upload = {.name = "U1", .waits = true};
    struct work later = {.name = "U2"};
    struct work lab[] = {{.name = "L1"}, {.name = "L2", .waits = true}, {.name = "L3"}};
    uint64_t id[2] = {0, 0};
    uint64_t lab_id[COUNT(lab)] = {0};
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &upload, &id[0]), STATUS_OK);
    wait_for(&upload.began);
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &later, &id[1]), STATUS_OK);
    for (size_t i = 0; i < COUNT(lab); i++) {
        CHECK_INT("submit", submit_work(w, JOB_LAB, &lab[i], &lab_id[i]), STATUS_OK);
    }
    wait_for(&lab[1].began);
    /* Two run now: the uploaded one waits for the lab's within it. */
    struct worker_counts counts;
    worker_read_counts(w, &counts);
    CHECK_INT("uploaded", counts.running[JOB_UPLOAD], 1);
    CHECK_INT("of the lab", counts.running[JOB_LAB], 1);
    atomic_store(&lab[1].go, true);
    CHECK_INT("lab", wait_end(w, lab_id[2]).state, JOB_DONE);
    CHECK_INT("upload runs on", read_seen(w, id[0]).state, JOB_RUNNING);
    atomic_store(&upload.go, true);
    CHECK_INT("upload", wait_end(w, id[1]).state, JOB_DONE);
    worker_stop(w);
    CHECK_TEXT("order", diary, "U1 L1 L2 L3 U2 ");
    worker_read_counts(w, &counts);
    CHECK_INT("let through", counts.let_through, 3);
    CHECK_INT("done", counts.ended[JOB_LAB][JOB_DONE], 3);
    worker_destroy(w);
}

static void test_cancel(void)
{
    struct worker *w = start_worker(2, 4);
    struct work running = {.name = "running", .waits = true};
    struct work waiting = {.name = "waiting"};
    struct work last = {.name = "last"};
    struct work refused = {.name = "refused"};
    uint64_t id[3] = {0, 0, 0};
    uint64_t none = 0;
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &running, &id[0]), STATUS_OK);
    wait_for(&running.began);
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &waiting, &id[1]), STATUS_OK);
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &last, &id[2]), STATUS_OK);
    CHECK_INT("full", submit_work(w, JOB_UPLOAD, &refused, &none), STATUS_E_FULL);
    CHECK_INT("its context stays the caller's", atomic_load(&refused.released), 0);
    CHECK_INT("cancel", worker_cancel(w, id[1]), STATUS_OK);
    CHECK_INT("at once", read_seen(w, id[1]).state, JOB_CANCELLED);
    CHECK_INT("given back", atomic_load(&waiting.released), 1);
    CHECK("never began", read_seen(w, id[1]).report.began_us == LAB_TIME_NONE);
    CHECK_INT("cancel", worker_cancel(w, id[0]), STATUS_OK);
    CHECK_INT("soon", wait_end(w, id[0]).state, JOB_CANCELLED);
    CHECK_INT("the next one", wait_end(w, id[2]).state, JOB_DONE);
    worker_stop(w);
    CHECK_TEXT("who ran", diary, "running last ");
    struct worker_counts counts;
    worker_read_counts(w, &counts);
    CHECK_INT("refused", counts.refused[JOB_UPLOAD], 1);
    CHECK_INT("cancelled", counts.ended[JOB_UPLOAD][JOB_CANCELLED], 2);
    worker_destroy(w);
}

static void count_one(void *context, const struct web_job *report)
{
    uint64_t *seen = context; /* how many, the last one's number, how many out of order */
    seen[2] += seen[0] > 0 && report->id >= seen[1];
    seen[0]++;
    seen[1] = report->id;
}

static uint64_t count_jobs(struct worker *w)
{
    uint64_t seen[3] = {0, 0, 0};
    worker_list(w, count_one, seen);
    return seen[2] == 0 ? seen[0] : UINT64_MAX;
}

/* Stored by number and by time, for each class separately. */
static void test_retention(void)
{
    struct worker *w = start_worker(4, 3);
    struct work upload = {.name = "upload", .result = "kept"};
    struct work lab[8] = {{.name = NULL}};
    uint64_t id = 0;
    uint64_t lab_id[COUNT(lab)] = {0};
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &upload, &id), STATUS_OK);
    (void)wait_end(w, id);
    for (size_t i = 0; i < COUNT(lab); i++) {
        lab[i].name = "lab";
        lab[i].result = "x";
        CHECK_INT("submit", submit_work(w, JOB_LAB, &lab[i], &lab_id[i]), STATUS_OK);
        (void)wait_end(w, lab_id[i]);
    }
    struct seen seen;
    CHECK_INT("kept", count_jobs(w), 4);
    CHECK_TEXT("of the other class", read_seen(w, id).result, "kept");
    CHECK_INT("forgotten", worker_read(w, lab_id[4], copy_report, &seen), STATUS_E_EMPTY);
    CHECK_INT("one of the last three", read_seen(w, lab_id[5]).state, JOB_DONE);
    atomic_fetch_add(&clock_us, 1000000);
    CHECK_INT("too old", count_jobs(w), 0);
    worker_stop(w);
    worker_destroy(w);
}

static void test_stop(void)
{
    struct worker *w = start_worker(4, 4);
    struct work upload = {.name = "upload", .waits = true};
    struct work within = {.name = "within", .waits = true};
    struct work waiting[] = {{.name = "never"}, {.name = "never"}};
    struct work late = {.name = "late"};
    uint64_t id = 0;
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &upload, &id), STATUS_OK);
    wait_for(&upload.began);
    CHECK_INT("submit", submit_work(w, JOB_LAB, &within, &id), STATUS_OK);
    wait_for(&within.began);
    CHECK_INT("submit", submit_work(w, JOB_LAB, &waiting[0], &id), STATUS_OK);
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &waiting[1], &id), STATUS_OK);
    worker_stop(w);
    CHECK_TEXT("who ran", diary, "upload within ");
    CHECK_INT("given back", atomic_load(&upload.released), 1);
    CHECK_INT("given back", atomic_load(&within.released), 1);
    CHECK_INT("given back", atomic_load(&waiting[0].released), 1);
    CHECK_INT("given back", atomic_load(&waiting[1].released), 1);
    CHECK_INT("stopped", submit_work(w, JOB_LAB, &late, &id), STATUS_E_IO);
    struct worker_counts counts;
    worker_read_counts(w, &counts);
    CHECK_INT("lab", counts.ended[JOB_LAB][JOB_CANCELLED], 2);
    CHECK_INT("uploaded", counts.ended[JOB_UPLOAD][JOB_CANCELLED], 2);
    worker_destroy(w);
    worker_stop(NULL);
    worker_destroy(NULL);
    struct worker_params params;
    worker_params_init(&params);
    CHECK_INT("no clock", worker_start(&params, &w), STATUS_E_ARG);
}

/* One that ends when all end, and is forgotten before one that was submitted after it. */
static void test_stop_and_forget(void)
{
    struct worker *w = start_worker(4, 1);
    struct work busy = {.name = "busy", .waits = true};
    struct work waiting[] = {{.name = "first"}, {.name = "second"}};
    uint64_t id = 0;
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &busy, &id), STATUS_OK);
    wait_for(&busy.began);
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &waiting[0], &id), STATUS_OK);
    CHECK_INT("submit", submit_work(w, JOB_UPLOAD, &waiting[1], &id), STATUS_OK);
    CHECK_INT("cancel", worker_cancel(w, id), STATUS_OK);
    worker_stop(w);
    CHECK_INT("given back", atomic_load(&busy.released), 1);
    CHECK_INT("given back", atomic_load(&waiting[0].released), 1);
    CHECK_INT("given back", atomic_load(&waiting[1].released), 1);
    worker_destroy(w);
}

/* Many threads submit, read and cancel at once: every context is given back exactly once, and
 * every job is counted once. */
enum { CROWD = 4, EACH = 200 };

struct member {
    struct worker *worker;
    struct work works[EACH];
    unsigned seed, odd; /* answers that make no sense */
};

static void *run_member(void *context)
{
    struct member *m = context;
    for (size_t i = 0; i < EACH; i++) {
        struct work *work = &m->works[i];
        const enum job_class class = (enum job_class)(rand_r(&m->seed) % JOB_CLASS_COUNT);
        struct seen seen;
        uint64_t id = 0;
        *work = (struct work){.name = "w", .waits = true, .go = rand_r(&m->seed) % 4 != 0};
        if (submit_work(m->worker, class, work, &id) != STATUS_OK) {
            release_work(work);
            (void)usleep(200);
            continue;
        }
        enum status st = worker_read(m->worker, id, copy_report, &seen);
        if (!atomic_load(&work->go) || rand_r(&m->seed) % 3 == 0) {
            st = worker_cancel(m->worker, id);
        }
        m->odd += st != STATUS_OK && st != STATUS_E_EMPTY && st != STATUS_E_STALE;
        m->odd += count_jobs(m->worker) > 2 * 16 + 2;
    }
    return NULL;
}

static void test_crowd(void)
{
    static struct member crowd[CROWD];
    pthread_t threads[CROWD];
    struct worker *w = start_worker(8, 8);
    const unsigned seed = check_seed(1);
    for (unsigned i = 0; i < CROWD; i++) {
        crowd[i] = (struct member){.worker = w, .seed = seed + i};
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, run_member, &crowd[i]) == 0);
    }
    for (size_t i = 0; i < CROWD; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    worker_stop(w);
    struct worker_counts c;
    worker_read_counts(w, &c);
    for (int class = 0; class < JOB_CLASS_COUNT; class ++) {
        CHECK_INT("none left", c.waiting[class] + c.running[class], 0);
        CHECK_INT("each ended once", c.submitted[class],
                  c.ended[class][JOB_DONE] + c.ended[class][JOB_CANCELLED]);
    }
    CHECK_INT("all seen", c.submitted[0] + c.submitted[1] + c.refused[0] + c.refused[1],
              CROWD * EACH);
    size_t released = 0;
    for (size_t i = 0; i < CROWD; i++) {
        CHECK_INT("answers", crowd[i].odd, 0);
        for (size_t k = 0; k < EACH; k++) {
            released += atomic_load(&crowd[i].works[k].released) == 1;
        }
    }
    CHECK_INT("all given back", released, CROWD * EACH);
    worker_destroy(w);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("worker", NULL, NULL);
    CU_add_test(suite, "life of a job", test_life);
    CU_add_test(suite, "the lab first", test_lab_first);
    CU_add_test(suite, "cancel", test_cancel);
    CU_add_test(suite, "keeping", test_retention);
    CU_add_test(suite, "stop", test_stop);
    CU_add_test(suite, "stop and forget", test_stop_and_forget);
    CU_add_test(suite, "a crowd", test_crowd);
    return check_run();
}
