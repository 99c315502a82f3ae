/* Stamps make verdicts sharper, never worse. Robots with known laps, with clocks that have
 * offset and drift, and networks that are slow, in bursts or steady; the same messages go into
 * a pair once with and once without their stamps: with them a verdict is never less decided,
 * and it is right at least as often. */
#include <math.h>

#include "tests/support/lab_script.h"

#define AT(s) ((int64_t)((s)*1e6 + 1e12))

enum { WORLDS = 120, MOVES = 30 };

/* Information that a message carries besides its arrival. */
struct habits {
    bool telemetry, start; /* stamped telemetry; replies have the start of the move */
    double burst_ratio, burst_s, delay_s;
    double drift, offset_s; /* of the robot's clock */
    double late_s;          /* from the command to t_start, part of no motion */
    double set_back_s;      /* its clock, in the middle */
};

struct sent {
    int64_t t_us;
    enum side side;
    int move; /* < 0: telemetry */
    int64_t start_us, end_us;
};

struct score {
    int wrong, undecided;
};

static double draw_uniform(void)
{
    return rand() / (RAND_MAX + 1.0);
}

static struct habits make_habits(void)
{
    return (struct habits){.telemetry = rand() % 3 != 0,
                           .start = rand() % 4 != 0,
                           .burst_ratio = rand() % 2 ? 0.15 : 0.0,
                           .burst_s = 0.1 + 0.9 * draw_uniform(),
                           .delay_s = 0.001 + 0.004 * draw_uniform(),
                           .drift = 1e-6 * (800.0 * draw_uniform() - 400.0),
                           .offset_s = 1e5 * draw_uniform() - 5e4,
                           .late_s = rand() % 5 ? 0.0 : 0.4 * draw_uniform(),
                           .set_back_s = rand() % 6 ? 0.0 : draw_uniform()};
}

static int64_t stamp_us(const struct habits *h, double t_s)
{
    const double back_s = t_s > 150.0 ? h->set_back_s : 0.0;
    return AT(t_s * (1.0 + h->drift) + h->offset_s - back_s);
}

static double delay_s(const struct habits *h)
{
    const double tail_s = -h->delay_s * log(1.0 - draw_uniform());
    return h->delay_s + tail_s +
           (draw_uniform() < h->burst_ratio ? h->burst_s * draw_uniform() : 0.0);
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = ((const struct sent *)a)->t_us;
    const int64_t y = ((const struct sent *)b)->t_us;
    return (x > y) - (x < y);
}

static size_t make_messages(const struct habits h[SIDE_COUNT], const double lap_s[][SIDE_COUNT],
                            struct sent *messages)
{
    size_t n = 0;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        for (int m = 0; m < MOVES; m++) {
            const double at_s = 10.0 * m + 1.0;
            const double end_s = at_s + lap_s[m][s];
            messages[n++] =
                (struct sent){AT(end_s + delay_s(&h[s])), s, m,
                              stamp_us(&h[s], at_s + h[s].late_s), stamp_us(&h[s], end_s)};
        }
        for (int k = 0; h[s].telemetry && k < MOVES * 50; k++) {
            const double t_s = 0.2 * k + 0.01;
            messages[n++] = (struct sent){AT(t_s + delay_s(&h[s])), s, -1, LAB_TIME_NONE,
                                          stamp_us(&h[s], t_s)};
        }
    }
    qsort(messages, n, sizeof *messages, compare_times);
    return n;
}

static void deliver_message(struct script *s, const struct sent *m, const struct habits *h,
                            bool stamped)
{
    struct event e = script_event("r1", m->t_us, EVENT_TELEMETRY, m->side);
    char id[16];
    if (m->move < 0) {
        e.telemetry.source_us = stamped ? m->end_us : LAB_TIME_NONE;
        e.telemetry.seq = -1;
    } else {
        (void)snprintf(id, sizeof id, "c%d", m->move);
        e = script_reply_event("r1", m->t_us, m->side, id, REPLY_DONE);
        e.reply.source_us = stamped ? m->end_us : LAB_TIME_NONE;
        e.reply.source_start_us = stamped && h->start ? m->start_us : LAB_TIME_NONE;
    }
    lab_step(s->lab, &e, &s->fx);
}

static void run_world(const struct sent *messages, size_t count,
                      const struct habits h[SIDE_COUNT], bool stamped,
                      enum verdict verdicts[MOVES])
{
    static struct script s;
    script_init(&s, 1);
    script_open(&s);
    size_t at = 0;
    for (int m = 0; m < MOVES; m++) {
        char id[16];
        (void)snprintf(id, sizeof id, "c%d", m);
        while (at < count && messages[at].t_us < AT(10.0 * m + 1.0)) {
            deliver_message(&s, &messages[at], &h[messages[at].side], stamped);
            at++;
        }
        script_command(&s, "r1", AT(10.0 * m + 1.0), id);
    }
    for (; at < count; at++) {
        deliver_message(&s, &messages[at], &h[messages[at].side], stamped);
    }
    CHECK_INT("every move has its entry", script_count(&s, EFFECT_ENTRY), MOVES);
    for (int m = 0; m < MOVES; m++) {
        const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, (size_t)m);
        verdicts[m] = entry ? entry->entry.verdict : VERDICT_COUNT;
    }
    script_close(&s);
}

/* Near the tolerance neither can know. */
static bool is_wrong(enum verdict verdict, double lag_s)
{
    const double edge_s = 0.03;
    const enum verdict truth = lag_s > 0.0 ? VERDICT_AHEAD : VERDICT_BEHIND;
    return fabs(lag_s) < 0.05 - edge_s   ? verdict != VERDICT_SYNC
           : fabs(lag_s) > 0.05 + edge_s ? verdict != truth
                                         : false;
}

static void count_wrong(const enum verdict verdicts[MOVES], const double lap_s[][SIDE_COUNT],
                        struct score *to)
{
    for (int m = 0; m < MOVES; m++) {
        to->undecided += verdicts[m] == VERDICT_UNRESOLVED;
        to->wrong += is_wrong(verdicts[m], lap_s[m][SIDE_REAL] - lap_s[m][SIDE_VIRTUAL]);
    }
}

static void test_never_less_decided(void)
{
    static struct sent messages[2 * MOVES * 51];
    static double lap_s[MOVES][SIDE_COUNT];
    struct score with = {0};
    struct score without = {0};
    for (int world = 0; world < WORLDS; world++) {
        const struct habits h[SIDE_COUNT] = {make_habits(), make_habits()};
        enum verdict verdicts[2][MOVES];
        for (int m = 0; m < MOVES; m++) {
            lap_s[m][SIDE_REAL] = 1.0 + 5.0 * draw_uniform();
            lap_s[m][SIDE_VIRTUAL] =
                lap_s[m][SIDE_REAL] + (rand() % 2 ? 0.0 : 0.8 * draw_uniform() - 0.4);
        }
        const size_t count = make_messages(h, (const double(*)[SIDE_COUNT])lap_s, messages);
        run_world(messages, count, h, false, verdicts[0]);
        run_world(messages, count, h, true, verdicts[1]);
        for (int m = 0; m < MOVES; m++) {
            CHECK("decided",
                  verdicts[0][m] == VERDICT_UNRESOLVED || verdicts[1][m] != VERDICT_UNRESOLVED);
        }
        count_wrong(verdicts[0], (const double(*)[SIDE_COUNT])lap_s, &without);
        count_wrong(verdicts[1], (const double(*)[SIDE_COUNT])lap_s, &with);
    }
    (void)printf("of %d: wrong %d without stamps, %d with\n", WORLDS * MOVES, without.wrong,
                 with.wrong);
    CHECK_INT("nothing is undecided", with.undecided + without.undecided, 0);
    CHECK("sharper", 2 * with.wrong < without.wrong);
}

int main(void)
{
    srand(check_seed(1));
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("stamps", NULL, NULL);
    CU_add_test(suite, "never less decided", test_never_less_decided);
    return check_run();
}
