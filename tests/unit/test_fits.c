/* needs: threads */
/* Batch fits of the lab on the worker: found, failed, cancelled, refused; uses threads. */
#include "tests/support/lab_script.h"

#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <gsl/gsl_errno.h>

#include "logger/codec/codecs.h"
#include "service/daemon/fits.h"
#include "tests/support/scratch.h"
#include "tests/support/usv_truth.h"
#include "tests/support/wait.h"
#include "twin/dynamics/pair_dynamics.h"

static struct usv_record record;
static _Atomic int64_t clock_us = 1700000000000000;
static char scratch[MESSAGE_PAYLOAD_MAX + 1];

static int64_t read_clock(void)
{
    return atomic_fetch_add(&clock_us, 1);
}

static int64_t read_worker_clock(void *context)
{
    (void)context;
    return read_clock();
}

struct bench {
    char directory[64];
    struct journal *journal;
    struct inbox *inbox;
    struct worker *worker;
    struct fits *fits;
    struct script s;
};

static struct bench b;

static void set_up(enum dynamics_method method, size_t queue_max)
{
    struct journal_params journal;
    struct worker_params worker;
    CU_ASSERT_FATAL(mkdtemp(scratch_template(b.directory, "fits")) != NULL);
    journal_params_init(&journal);
    journal.directory = b.directory;
    CU_ASSERT_FATAL(journal_open(&journal, &b.journal, NULL) == STATUS_OK);
    const struct inbox_params inbox = {.buffer_bytes = 65536,
                                       .journal = b.journal,
                                       .directory = b.directory,
                                       .prefix = "tandem/v1",
                                       .journal_samples = true,
                                       .now_us = read_clock};
    CU_ASSERT_FATAL(inbox_create(&inbox, &b.inbox) == STATUS_OK);
    worker_params_init(&worker);
    worker.queue_max[JOB_LAB] = queue_max;
    worker.now_us = read_worker_clock;
    CU_ASSERT_FATAL(worker_start(&worker, &b.worker) == STATUS_OK);
    script_init(&b.s, 3);
    for (size_t i = 0; i < 3; i++) {
        struct pair_dynamics_params *p = &b.s.params[i].dynamics;
        (void)snprintf(p->model, sizeof p->model, "usv3");
        p->sides = DYNAMICS_SIDES_REAL;
        p->method = (uint8_t)method;
    }
    script_open(&b.s);
    CU_ASSERT_FATAL(fits_create(b.s.lab, b.worker, b.inbox, &b.fits) == STATUS_OK);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void tear_down(void)
{
    fits_stop(b.fits);
    worker_stop(b.worker);
    worker_destroy(b.worker);
    fits_destroy(b.fits);
    script_close(&b.s);
    inbox_destroy(b.inbox);
    journal_close(b.journal);
    (void)nftw(b.directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Feeds this number of samples, and a request for a fit. */
static void request_fit(size_t pair, size_t samples)
{
    struct event e = script_event(b.s.params[pair].id, 0, EVENT_TELEMETRY, SIDE_REAL);
    for (size_t k = 0; k < samples; k++) {
        e.t_us = 1000000 + (int64_t)k * 100000;
        e.telemetry = (struct event_telemetry){
            .source_us = e.t_us, .seq = (int64_t)k, .nu_count = 3, .tau_count = 3};
        for (size_t i = 0; i < 3; i++) {
            e.telemetry.nu[i] = record.measured[i][k];
            e.telemetry.tau[i] = record.tau[i][k];
        }
        lab_step(b.s.lab, &e, &b.s.fx);
    }
    e = script_event(b.s.params[pair].id, e.t_us, EVENT_REQUEST, SIDE_COUNT);
    e.request = (struct event_request){.action = REQUEST_IDENTIFY};
    lab_step(b.s.lab, &e, &b.s.fx);
    CHECK("under way", lab_dynamics(b.s.lab, pair)->side[SIDE_REAL].running);
}

static void copy_event(void *context, const struct event *event)
{
    struct event *out = context;
    *out = *event;
}

/* The next line of the journal with a fit's end; false when none comes. */
static bool next_end(struct event *out)
{
    for (int wait = 0; wait < (int)wait_limit_ms(60000) / 2; wait++) {
        struct inbox_line line;
        struct err err = {0};
        (void)inbox_begin(b.inbox);
        if (inbox_next(b.inbox, &line, &err) == INBOX_LINE) {
            struct message m;
            CU_ASSERT_FATAL(message_parse(line.text, line.bytes, scratch, &m, &err) ==
                            STATUS_OK);
            (void)codec_decode(NULL, "tandem/v1", &m, copy_event, out);
            CU_ASSERT_EQUAL_FATAL(out->kind, EVENT_FIT);
            return true;
        }
        (void)usleep(2000);
    }
    return false;
}

static void apply_result(struct event *e)
{
    const long pair = lab_find(b.s.lab, e->pair);
    struct dynamics_result *result = fits_pop(b.fits, (uint32_t)pair, e->side, e->fit.job);
    e->fit.result = result;
    e->t_us = lab_time(b.s.lab);
    lab_step(b.s.lab, e, &b.s.fx);
    free(result);
}

static void test_found(void)
{
    struct event e;
    set_up(DYNAMICS_WEAK_IV, 4);
    request_fit(0, 400);
    fits_begin(b.fits, 0, SIDE_REAL);
    CHECK("numbered", fits_job(b.fits, 0, SIDE_REAL) != 0);
    CU_ASSERT_FATAL(next_end(&e));
    CHECK_INT("done", e.fit.outcome, FIT_DONE);
    CHECK_INT("its number", e.fit.job, 1);
    CHECK("not another's", fits_pop(b.fits, 0, SIDE_REAL, 2) == NULL);
    CHECK("not of another pair", fits_pop(b.fits, 1, SIDE_REAL, 1) == NULL);
    apply_result(&e);
    const struct dynamics_side *side = &lab_dynamics(b.s.lab, 0)->side[SIDE_REAL];
    CHECK("in the lab", side->fitted && !side->running);
    CHECK("once", fits_pop(b.fits, 0, SIDE_REAL, 1) == NULL);
    struct fits_counts c;
    fits_read_counts(b.fits, &c);
    CHECK_INT("begun", c.begun, 1);
    CHECK_INT("found", c.found, 1);
    tear_down();
}

/* A lab that was restarted with fits under way. */
static void test_again(void)
{
    struct event e;
    set_up(DYNAMICS_WEAK, 4);
    request_fit(0, 300);
    request_fit(2, 300);
    fits_go_live(b.fits);
    CU_ASSERT_FATAL(next_end(&e));
    CHECK_TEXT("first", e.pair, "r1");
    apply_result(&e);
    CU_ASSERT_FATAL(next_end(&e));
    CHECK_TEXT("second", e.pair, "r3");
    /* Nobody fetches it: released at the end. */
    tear_down();
}

static void test_refused(void)
{
    struct event e;
    set_up(DYNAMICS_METHOD_COUNT, 1);
    for (size_t i = 0; i < 3; i++) {
        request_fit(i, 700);
    }
    for (size_t i = 0; i < 3; i++) {
        fits_begin(b.fits, (uint32_t)i, SIDE_REAL);
    }
    struct fits_counts c;
    fits_read_counts(b.fits, &c);
    CHECK("one did not fit in", c.refused >= 1);
    bool failed = false;
    for (size_t i = 0; i < 3 && next_end(&e); i++) {
        failed = failed || (e.fit.outcome == FIT_FAILED &&
                            strcmp(e.fit.detail, "too many fits wait already") == 0);
        apply_result(&e);
    }
    CHECK("told", failed);
    CHECK("failed", lab_dynamics(b.s.lab, 1)->side[SIDE_REAL].counts.failed +
                            lab_dynamics(b.s.lab, 2)->side[SIDE_REAL].counts.failed >=
                        1);
    tear_down();
}

static void test_cancelled(void)
{
    struct event e;
    /* A short fit: the worker runs at low priority, so on a busy machine it has little time. */
    set_up(DYNAMICS_WEAK_IV, 4);
    request_fit(0, 700);
    request_fit(1, 700);
    fits_begin(b.fits, 0, SIDE_REAL);
    fits_begin(b.fits, 1, SIDE_REAL);
    CU_ASSERT_EQUAL(worker_cancel(b.worker, fits_job(b.fits, 1, SIDE_REAL)), STATUS_OK);
    unsigned ends = 0;
    for (int i = 0; i < 2 && next_end(&e); i++) {
        if (strcmp(e.pair, "r2") == 0) {
            CHECK_INT("cancelled", e.fit.outcome, FIT_CANCELLED);
        } else {
            CHECK_INT("the other", e.fit.outcome, FIT_DONE);
        }
        ends++;
    }
    CHECK_INT("both", ends, 2);
    tear_down();
}

/* At the daemon's end nothing is recorded: the next start begins them again. */
static void test_stopped(void)
{
    set_up(DYNAMICS_METHOD_COUNT, 4);
    request_fit(0, 700);
    request_fit(1, 700);
    fits_begin(b.fits, 0, SIDE_REAL);
    fits_begin(b.fits, 1, SIDE_REAL);
    fits_stop(b.fits);
    worker_stop(b.worker);
    fits_begin(b.fits, 0, SIDE_REAL);
    struct inbox_counts c;
    inbox_read_counts(b.inbox, &c);
    /* The first one may have come to its end just before. */
    CHECK("nothing recorded", c.events <= 1);
    CHECK("still under way", lab_dynamics(b.s.lab, 1)->side[SIDE_REAL].running);
    tear_down();
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("fits", NULL, NULL);
    if (usv_read("W", &record) != USV_SAMPLES) {
        return EXIT_FAILURE;
    }
    CU_add_test(suite, "found", test_found);
    CU_add_test(suite, "again", test_again);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "cancelled", test_cancelled);
    CU_add_test(suite, "stopped", test_stopped);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
