/* A model of a broker that knows which messages it sent before, against what the lab makes of
 * packet ids, DUP flags and bytes: cuts that lose messages or acknowledgements, sessions that
 * end, a broker killed and restored from its save, numbers that count up or are the lowest
 * free, equal messages with and without ids. */
#include "tests/support/check.h"

#include "base/numbers/hash.h"
#include "twin/pair/delivery.h"

enum { MESSAGES = 6000, IN_FLIGHT = 20, REMEMBER = 1 << 14 };

struct sent {
    unsigned number; /* of its publication */
    uint16_t packet_id;
    bool dup;
};

/* The broker's memory of our session. */
struct session {
    struct sent queue[MESSAGES];
    unsigned first, end;
    uint16_t last_id;
};

struct model {
    struct delivery_memory *memory;
    bool lowest_free, restores, with_ids;
    struct session now, saved;
    int64_t t_us, acknowledged_us;
    unsigned published;
    bool stored[MESSAGES]; /* by us, of publication n */
    unsigned kind[MESSAGES];
    unsigned lost, twice, ambiguous, again;
};

static bool is_id_in_use(const struct session *s, uint16_t id)
{
    for (unsigned k = s->first; k < s->end; k++) {
        if (s->queue[k % MESSAGES].packet_id == id) {
            return true;
        }
    }
    return false;
}

static uint16_t next_id(const struct model *m, struct session *s)
{
    if (m->lowest_free) {
        uint16_t id = 1;
        while (is_id_in_use(s, id)) {
            id++;
        }
        return id;
    }
    s->last_id = s->last_id == 65535 ? 1 : (uint16_t)(s->last_id + 1);
    return s->last_id;
}

static void publish_message(struct model *m)
{
    struct session *s = &m->now;
    if (m->published == MESSAGES || s->end - s->first >= IN_FLIGHT) {
        return;
    }
    m->kind[m->published] = (unsigned)rand() % 4; /* many are alike */
    s->queue[s->end++ % MESSAGES] =
        (struct sent){.number = m->published++, .packet_id = next_id(m, s)};
}

static void deliver_message(struct model *m, const struct sent *sent)
{
    struct event e = {.t_us = m->t_us, .kind = EVENT_COMMAND, .side = SIDE_COUNT};
    const unsigned what[2] = {m->kind[sent->number], m->with_ids ? sent->number : 0};
    if (m->with_ids) {
        (void)snprintf(e.command.id, sizeof e.command.id, "c%u", sent->number);
    }
    e.packet_id = sent->packet_id;
    e.dup = sent->dup;
    e.hash = hash_bytes(HASH_START, what, sizeof what);
    delivery_record(m->memory, &e);
    const enum delivery found = delivery_judge(m->memory, &e);
    const bool was_here = m->stored[sent->number];
    m->lost += found == DELIVERY_AGAIN && !was_here;
    m->twice += found == DELIVERY_NEW && was_here;
    m->ambiguous += found == DELIVERY_AMBIGUOUS;
    m->again += found == DELIVERY_AGAIN;
    m->stored[sent->number] = true;
}

/* The broker sends what waits. loses: of ours, nothing comes to the broker any more, then
 * nothing of the broker's to us. */
static void deliver_waiting(struct model *m, bool loses)
{
    struct session *s = &m->now;
    const unsigned acknowledged = loses ? (unsigned)rand() % (s->end - s->first + 1) : s->end;
    const unsigned arrive = loses ? acknowledged + (unsigned)rand() % 4 : s->end;
    for (unsigned k = s->first; k < s->end; k++) {
        struct sent *sent = &s->queue[k % MESSAGES];
        if (!loses || k - s->first < arrive) {
            m->t_us += 1 + rand() % 2000;
            deliver_message(m, sent);
        }
        sent->dup = true;
    }
    s->first = loses ? s->first + acknowledged : s->end;
    m->acknowledged_us = loses ? m->acknowledged_us : m->t_us + 1;
}

static void connect_again(struct model *m, bool resumed)
{
    m->t_us += 1000 + rand() % 2000000;
    const struct event e = {
        .t_us = m->t_us,
        .kind = EVENT_SESSION,
        .session = {.resumed = resumed, .unsure_us = m->t_us - m->acknowledged_us}};
    delivery_connect(m->memory, &e);
}

/* Killed and back as it was saved; what was published since is gone with it, if we have not got
 * it. */
static void restore_session(struct model *m)
{
    m->now = m->saved;
    connect_again(m, true);
    deliver_waiting(m, rand() % 4 == 0);
}

static void end_session(struct model *m)
{
    m->now.first = m->now.end;
    m->now.last_id = 0;
    m->saved = m->now;
    connect_again(m, false);
}

static void run_model(struct model *m)
{
    m->memory = malloc(delivery_bytes(REMEMBER));
    delivery_init(m->memory, REMEMBER, INT64_C(1) << 60);
    m->t_us = 1000000;
    connect_again(m, false);
    while (m->published < MESSAGES) {
        const int dice = rand() % 1000;
        m->t_us += dice % 10 == 0 ? 300000 : 100; /* now and then nothing comes */
        publish_message(m);
        if (dice < 40) {
            deliver_waiting(m, true);
            connect_again(m, true);
            deliver_waiting(m, false);
        } else if (dice < 600) {
            deliver_waiting(m, false);
        } else if (dice < 604) {
            end_session(m);
        } else if (m->restores && dice < 620) {
            m->saved = m->now;
        } else if (m->restores && dice < 624) {
            restore_session(m);
        }
    }
    free(m->memory);
}

static void test_models(void)
{
    static const struct {
        const char *row;
        bool lowest_free, restores, with_ids;
        bool exact;  /* nothing is ambiguous */
        bool seldom; /* or only while it is not known yet that the broker counts */
    } rows[] = {
        {"counts, without ids", .seldom = true},
        {"counts, with ids", .with_ids = true, .exact = true},
        {"restored, without ids", .restores = true},
        {"restored, with ids", .restores = true, .with_ids = true, .exact = true},
        {"lowest free, without ids", .lowest_free = true},
        {"lowest free, with ids", .lowest_free = true, .with_ids = true, .exact = true},
    };
    static struct model m;
    for (size_t i = 0; i < COUNT(rows); i++) {
        m = (struct model){.lowest_free = rows[i].lowest_free,
                           .restores = rows[i].restores,
                           .with_ids = rows[i].with_ids};
        run_model(&m);
        (void)printf("    %s: %u again, %u ambiguous, %u lost, %u twice\n", rows[i].row,
                     m.again, m.ambiguous, m.lost, m.twice);
        CHECK_INT(rows[i].row, m.lost, 0);
        CHECK_INT(rows[i].row, m.twice, 0);
        CHECK("nothing needlessly ambiguous", !rows[i].exact || m.ambiguous == 0);
        CHECK("nor often", !rows[i].seldom || m.ambiguous * 4 < m.again);
        CHECK("the model delivers again", m.again + m.ambiguous > 20);
    }
}

int main(void)
{
    srand(check_seed(1));
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("delivery", NULL, NULL);
    CU_add_test(suite, "models", test_models);
    return check_run();
}
