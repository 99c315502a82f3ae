/* Any bytes as what a listener to the events asks for: the first line is the place to resume
 * from (Last-Event-ID), the rest the query. No crash; a place that is read is written again as
 * the same place; a listener at any place gets at most what there is, in order, and comes to an
 * end. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "web/http/event_hub.h"
#include "web/http/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PAIRS = 2, SAID = 40, OUT = 4096 };

/* A ring that has dropped its first events. */
static struct event_hub *fuzz_hub(void)
{
    static struct pair_params pairs[PAIRS];
    struct event_hub *hub = NULL;
    for (size_t i = 0; i < PAIRS; i++) {
        (void)snprintf(pairs[i].id, sizeof pairs[i].id, "r%zu", i + 1);
    }
    const struct event_hub_params params = {.pairs = pairs,
                                            .pair_count = PAIRS,
                                            .run_us = 1000,
                                            .bytes = 2 * EVENT_BYTES_MAX,
                                            .events = SAID / 2,
                                            .numbered = true,
                                            .record = {10, 20, 30}};
    const enum status status = event_hub_create(&params, &hub);
    assert(status == STATUS_OK);
    for (unsigned i = 0; i < SAID; i++) {
        const enum event_type type = (enum event_type)(i % EVENT_TYPE_COUNT);
        const uint64_t record =
            i % EVENT_TYPE_COUNT < EVENT_RECORDS ? event_hub_number(hub, type) : 0;
        event_hub_publish(hub, type, i % PAIRS, record, "{\"n\":1}", 7);
    }
    return hub;
}

static void fuzz_listen(struct event_hub *hub, const struct event_filter *filter,
                        const struct event_place *from)
{
    static char out[OUT];
    struct event_cursor cursor = {0};
    struct event_place place = *from;
    size_t texts = 0;
    if (!event_hub_resume(hub, filter, from, &cursor)) {
        const uint64_t lost = event_hub_join(hub, filter, from->record, &cursor);
        assert(lost <= 10 + 20 + 30 + SAID); /* all that there ever was */
    }
    for (size_t round = 0;; round++) {
        size_t bytes = 0;
        uint64_t missed = 0;
        assert(round < 4 * SAID);
        const enum event_next next =
            event_hub_next(hub, filter, &cursor, out, sizeof out, &bytes, &missed, &place);
        if (next == EVENT_NEXT_NONE || next == EVENT_NEXT_BROKEN) {
            break;
        }
        assert(bytes <= sizeof out);
        texts += next == EVENT_NEXT_TEXT;
    }
    assert(texts <= SAID);
}

static void fuzz_place(const char *text, struct event_place *place)
{
    char again[EVENT_PLACE_MAX];
    struct event_place second;
    if (event_place_read(text, place)) {
        event_place_write(place, again);
        const bool read = event_place_read(again, &second);
        assert(read && memcmp(place, &second, sizeof second) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct event_hub *hub;
    struct event_place place = {0};
    struct query query;
    struct err err = {0};
    struct event_filter filter = {.types = (1U << EVENT_TYPE_COUNT) - 1};
    unsigned char wanted[PAIRS] = {1, 0};
    hub = hub ? hub : fuzz_hub();
    char *text = malloc(size + 1);
    assert(text);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    char *rest = strchr(text, '\n');
    if (rest) {
        *rest++ = '\0';
    }
    fuzz_place(text, &place);
    const unsigned allowed = QUERY_BIT(QUERY_EVENT_PAIRS) | QUERY_BIT(QUERY_EVENT_TYPES) |
                             QUERY_BIT(QUERY_LAST_EVENT_ID);
    if (query_parse(rest, allowed, 1795154155599953, &query, &err) != STATUS_OK) {
        assert(err.text[0] && memchr(err.where, 0, sizeof err.where));
    } else {
        assert(memchr(query.pairs, 0, sizeof query.pairs));
        assert(memchr(query.last_event_id, 0, sizeof query.last_event_id));
        assert(query.event_types < 1U << EVENT_TYPE_COUNT);
        fuzz_place(query.last_event_id, &place);
        filter.types = (unsigned)query.event_types;
        filter.pairs = query.pairs[0] ? wanted : NULL;
    }
    fuzz_listen(hub, &filter, &place);
    free(text);
    return 0;
}
