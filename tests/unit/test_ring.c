/* tests/unit/test_ring.c - order, bounds and wrap-around of the byte ring; uses threads. */
#include "tests/support/check.h"

#include <pthread.h>

#include "service/daemon/ring.h"

static struct ring *make(size_t bytes)
{
    struct ring *ring = NULL;
    CU_ASSERT_FATAL(ring_create(bytes, &ring) == STATUS_OK);
    return ring;
}

static void test_capacity(void)
{
    static const struct {
        const char *name;
        size_t asked, got;
    } rows[] = {{"least", 0, 64}, {"power", 128, 128}, {"rounded up", 129, 256}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ring *ring = make(rows[i].asked);
        CHECK_INT(rows[i].name, ring_capacity(ring), rows[i].got);
        CHECK_INT(rows[i].name, ring_used(ring), 0);
        ring_destroy(ring);
    }
    ring_destroy(NULL);
}

static void test_one_record(void)
{
    struct ring *ring = make(64);
    size_t bytes = 99;
    CHECK("nothing there", ring_peek(ring, ring_mark(ring), &bytes) == NULL);
    const uint64_t before = ring_mark(ring);
    CHECK("pushed", ring_push(ring, "abc", 3, "defg", 4));
    CHECK("not before its mark", ring_peek(ring, before, &bytes) == NULL);
    const char *record = ring_peek(ring, ring_mark(ring), &bytes);
    CU_ASSERT_FATAL(record != NULL);
    CHECK_INT("length", bytes, 7);
    CHECK("content", record && memcmp(record, "abcdefg", 7) == 0);
    CHECK("aligned", (uintptr_t)record % 8 == 0);
    ring_pop(ring);
    CHECK_INT("given back", ring_used(ring), 0);
    CHECK("empty record", ring_push(ring, NULL, 0, NULL, 0));
    CHECK("is a record", ring_peek(ring, ring_mark(ring), &bytes) != NULL);
    CHECK_INT("of no bytes", bytes, 0);
    ring_destroy(ring);
}

static void test_full(void)
{
    struct ring *ring = make(64);
    char big[80] = {0};
    CHECK("larger than the ring", !ring_push(ring, big, 64, NULL, 0));
    CHECK("as large as the ring", ring_push(ring, big, 56, NULL, 0));
    CHECK("no room at all", !ring_push(ring, NULL, 0, NULL, 0));
    size_t bytes = 0;
    CHECK("there", ring_peek(ring, ring_mark(ring), &bytes) != NULL);
    ring_pop(ring);
    CHECK("room again", ring_push(ring, big, 56, NULL, 0));
    ring_destroy(ring);
}

enum { RECORDS = 200000 };

static void *produce(void *context)
{
    struct ring *ring = context;
    char body[40];
    memset(body, 'x', sizeof body);
    for (uint64_t i = 0; i < RECORDS;) {
        const size_t length = (size_t)(i * 7 % sizeof body);
        body[0] = (char)i;
        if (ring_push(ring, &i, sizeof i, body, length)) {
            i++;
        } else {
            (void)sched_yield();
        }
    }
    return NULL;
}

static void test_two_threads(void)
{
    struct ring *ring = make(1024);
    pthread_t producer;
    CU_ASSERT_FATAL(pthread_create(&producer, NULL, produce, ring) == 0);
    uint64_t wrong = 0;
    for (uint64_t want = 0; want < RECORDS;) {
        const uint64_t mark = ring_mark(ring);
        size_t bytes = 0;
        const char *record = NULL;
        while ((record = ring_peek(ring, mark, &bytes)) != NULL) {
            uint64_t number = 0;
            memcpy(&number, record, sizeof number);
            const size_t length = bytes - sizeof number;
            wrong += number != want || length != want * 7 % 40 ||
                     (length && record[sizeof number] != (char)want);
            ring_pop(ring);
            want++;
        }
        (void)sched_yield();
    }
    (void)pthread_join(producer, NULL);
    CHECK_INT("in order and whole", wrong, 0);
    CHECK_INT("nothing left", ring_used(ring), 0);
    ring_destroy(ring);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("ring", NULL, NULL);
    CU_add_test(suite, "capacity", test_capacity);
    CU_add_test(suite, "one record", test_one_record);
    CU_add_test(suite, "full", test_full);
    CU_add_test(suite, "two threads", test_two_threads);
    return check_run();
}
