/* Random machines under random inputs: order cannot matter, bytes carry a run on, nothing
 * leaves its bounds, and the executive's phases are those of efsm_run_instant(). */
#include "tests/support/check.h"
#include "tests/support/efsm_check.h"

#include <stddef.h>

#include "twin/efsm/efsm.h"

enum { MACHINES = 4, ROUNDS = 300, CYCLES = 60, ARCS_MAX = 40 };

/* The machines see each other's output and a common random word. */
struct signals {
    unsigned word;
    unsigned from_others; /* sum of the others' outputs */
    unsigned own;
};

struct world {
    struct efsm_state states[MACHINES][EFSM_STATES_MAX];
    struct efsm_arc arcs[MACHINES][ARCS_MAX];
    struct efsm_table tables[MACHINES];
    struct efsm m[MACHINES];
    struct signals signals[MACHINES];
    struct efsm_stats stats[MACHINES];
    struct efsm_machine machines[MACHINES];
    struct efsm_trace trace;
    struct efsm_network net;
    unsigned word; /* the environment in the coming cycles */
};

static uint64_t random_state;

static unsigned pick_below(unsigned below) /* SplitMix64; the same numbers everywhere */
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random_state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ (z >> 31)) % below);
}

static unsigned count_seen(const struct efsm_view *v)
{
    const struct signals *s = v->in;
    return s->word + s->from_others;
}

static double read_or(const struct efsm_view *v, size_t k, double otherwise)
{
    return efsm_is_defined(v, k) ? efsm_get(v, k) : otherwise;
}

static bool guard_even(const struct efsm_view *v)
{
    return count_seen(v) % 2 == 0;
}

static bool guard_odd(const struct efsm_view *v)
{
    return count_seen(v) % 2 != 0;
}

static bool guard_rare(const struct efsm_view *v)
{
    return count_seen(v) % 7 == 3;
}

static bool guard_cell(const struct efsm_view *v)
{
    return read_or(v, 2, 0.0) > 1.0;
}

static bool guard_careless(const struct efsm_view *v)
{
    return efsm_get(v, 3) > 0.5;
}

static void act_swap(const struct efsm_view *v)
{
    efsm_set(v, 0, read_or(v, 1, 1.0));
    efsm_set(v, 1, read_or(v, 0, 2.0));
}

static void act_count(const struct efsm_view *v)
{
    efsm_set(v, 2, read_or(v, 2, 0.0) + 1.0 + (double)(count_seen(v) % 3));
}

static void act_last(const struct efsm_view *v)
{
    efsm_set(v, 3, (double)(count_seen(v) % 2));
    efsm_set(v, EFSM_CELLS_MAX - 1, read_or(v, 2, -1.0) / 3.0);
}

static void act_careless(const struct efsm_view *v)
{
    efsm_set(v, 0, 77.0);
    efsm_set(v, 1, efsm_get(v, EFSM_CELLS_MAX - 1));
}

static void show_state(const struct efsm_view *v)
{
    struct signals *s = v->out;
    s->own = v->now->state + (unsigned)fabs(fmod(read_or(v, 2, 0.0), 100.0));
}

static void sense_world(void *context, unsigned cycle, int64_t t_us)
{
    struct world *w = context;
    unsigned sum = 0;

    (void)t_us;
    for (size_t i = 0; i < MACHINES; i++) {
        sum += w->signals[i].own;
    }
    for (size_t i = 0; i < MACHINES; i++) {
        w->signals[i].word = cycle == 0 ? w->word : 0;
        w->signals[i].from_others = sum - w->signals[i].own;
    }
}

static struct efsm_arc random_arc(unsigned from, unsigned states)
{
    static efsm_guard *const guards[] = {guard_even, guard_odd,      guard_rare,
                                         guard_cell, guard_careless, NULL};
    static efsm_action *const actions[] = {act_swap, act_count, act_last, act_careless, NULL};
    struct efsm_arc arc = {
        (uint8_t)from, (uint8_t)pick_below(states), guards[pick_below(COUNT(guards))],
        actions[pick_below(pick_below(4) == 0 ? COUNT(actions) : 3)], .label = "random"};

    arc.waits = pick_below(3) == 0;
    if (pick_below(4) == 0) {
        arc.push_count = (uint8_t)pick_below(pick_below(8) == 0 ? EFSM_PUSH_MAX + 1 : 3);
        for (size_t i = 0; i < EFSM_PUSH_MAX; i++) {
            arc.push[i] = (uint8_t)pick_below(states);
        }
    }
    arc.empties = pick_below(12) == 0;
    arc.pops = (uint8_t)(pick_below(12) == 0 ? pick_below(3) : 0);
    if (pick_below(12) == 0) {
        arc.to = EFSM_POP;
    }
    return arc;
}

/* Even and odd leave most states, so that runs last; the rest is chance. */
static void make_machine(struct world *w, size_t i)
{
    static const char *const cells[EFSM_CELLS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                                      "i", "j", "k", "l", "m", "n", "o", "p"};
    const unsigned states = 1 + pick_below(12);
    size_t arcs = 0;

    for (unsigned s = 0; s < states; s++) {
        w->states[i][s] = (struct efsm_state){.name = "S", .output = show_state};
        w->arcs[i][arcs] = random_arc(s, states);
        w->arcs[i][arcs++].guard = guard_even;
        w->arcs[i][arcs] = random_arc(s, states);
        w->arcs[i][arcs++].guard = guard_odd;
        if (pick_below(8) == 0) {
            w->arcs[i][arcs++] = random_arc(s, states);
        }
    }
    w->states[i][states - 1].final = states > 1 && pick_below(10) == 0;
    w->tables[i] = (struct efsm_table){.name = "Random",
                                       .purpose = "any",
                                       .states = w->states[i],
                                       .state_count = states,
                                       .arcs = w->arcs[i],
                                       .arc_count = arcs,
                                       .cells = cells,
                                       .cell_count = EFSM_CELLS_MAX};
}

static void make_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    for (size_t i = 0; i < MACHINES; i++) {
        make_machine(w, i);
        efsm_reset(&w->tables[i], &w->m[i], 0);
    }
}

/* Wire the network, with the machines in the order of a permutation. */
static void wire_network(struct world *w, const size_t *order)
{
    for (size_t i = 0; i < MACHINES; i++) {
        const size_t k = order[i];
        w->machines[i] = (struct efsm_machine){&w->tables[k], &w->m[k],       &w->stats[k],
                                               (uint16_t)k,   &w->signals[k], &w->signals[k]};
    }
    w->net = (struct efsm_network){.machines = w->machines,
                                   .count = MACHINES,
                                   .sense = sense_world,
                                   .context = w,
                                   .trace = &w->trace,
                                   .cycles_max = 9};
    efsm_network_prime(&w->net, 0);
}

static const size_t straight[MACHINES] = {0, 1, 2, 3};

/* A copy with its own tables: nothing points into the old environment. */
static void copy_world(struct world *to, const struct world *from, const size_t *order)
{
    *to = *from;
    for (size_t i = 0; i < MACHINES; i++) {
        to->tables[i].states = to->states[i];
        to->tables[i].arcs = to->arcs[i];
    }
    wire_network(to, order);
}

static bool same_bytes(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n) == 0;
}

static bool same_machines(const struct world *a, const struct world *b)
{
    return same_bytes(a->m, b->m, sizeof a->m) &&
           same_bytes(a->stats, b->stats, sizeof a->stats) &&
           same_bytes(a->signals, b->signals, sizeof a->signals);
}

/* Whatever ran, the machines are ones that may be run. */
static bool all_sound(const struct world *w)
{
    for (size_t i = 0; i < MACHINES; i++) {
        if (!efsm_is_sound(&w->tables[i], &w->m[i])) {
            return false;
        }
    }
    return true;
}

static void step_world(struct world *w, unsigned word, int64_t t_us)
{
    w->word = word;
    (void)efsm_run_instant(&w->net, t_us);
}

/* A machine in a sink stops the network; its owner resets it, or now and then stops it. */
static void reset_sinks(struct world *w, unsigned chance, int64_t t_us)
{
    for (size_t i = 0; i < MACHINES; i++) {
        if (!efsm_is_active(&w->tables[i], &w->m[i])) {
            if (chance == 0) {
                efsm_stop(&w->m[i]);
            } else {
                efsm_reset(&w->tables[i], &w->m[i], t_us);
            }
        }
    }
    efsm_network_prime(&w->net, t_us); /* the outputs of the states that were reset */
}

static void test_order_does_not_matter(void)
{
    static struct world a;
    static struct world b;
    unsigned faults = 0;
    unsigned transitions = 0;

    for (int round = 0; round < ROUNDS; round++) {
        size_t order[MACHINES] = {0, 1, 2, 3};
        for (size_t i = MACHINES - 1; i > 0; i--) {
            const size_t k = pick_below((unsigned)i + 1);
            const size_t swapped = order[i];
            order[i] = order[k];
            order[k] = swapped;
        }
        make_world(&a);
        wire_network(&a, straight);
        copy_world(&b, &a, order);
        bool ok = true;
        for (int64_t t = 1; t <= CYCLES && ok; t++) {
            const unsigned word = pick_below(1000);
            const unsigned chance = pick_below(50);
            step_world(&a, word, t);
            step_world(&b, word, t);
            ok = same_machines(&a, &b) && all_sound(&a);
            reset_sinks(&a, chance, t);
            reset_sinks(&b, chance, t);
        }
        CHECK("order", ok);
        CHECK_INT("order", a.trace.count, b.trace.count);
        transitions += a.trace.count;
        for (size_t i = 0; i < MACHINES; i++) {
            faults += a.stats[i].faults;
        }
    }
    /* The environments must be neither dead nor tame, or the other checks mean nothing. */
    (void)printf("%u transitions, %u faults\n", transitions, faults);
    CHECK("lively", transitions > 10 * ROUNDS && faults > ROUNDS);
}

/* A run cut at any point, with its machines saved as bytes and loaded elsewhere, continues the
 * same. */
static void test_bytes_carry_the_run(void)
{
    static struct world a;
    static struct world b;
    static unsigned char bytes[sizeof a.m];

    for (int round = 0; round < ROUNDS; round++) {
        const int64_t cut = 1 + pick_below(CYCLES - 1);
        make_world(&a);
        wire_network(&a, straight);
        bool ok = true;
        for (int64_t t = 1; t <= CYCLES && ok; t++) {
            const unsigned word = pick_below(1000);
            step_world(&a, word, t);
            reset_sinks(&a, 1, t);
            if (t == cut) {
                copy_world(&b, &a, straight);
                memcpy(bytes, a.m, sizeof bytes);
                memset(b.m, 0xa5, sizeof b.m);
                memcpy(b.m, bytes, sizeof bytes);
            } else if (t > cut) {
                step_world(&b, word, t);
                reset_sinks(&b, 1, t);
                ok = same_machines(&a, &b);
            }
        }
        CHECK("saved and loaded", ok);
    }
}

/* The executive is a machine whose outputs carry out the phases: it must do to a network what
 * efsm_run_instant() does, cycle for cycle. */
static void test_executive_equals_instant(void)
{
    static struct world a;
    static struct world b;
    enum { PERIOD_US = 25 };

    for (int round = 0; round < ROUNDS; round++) {
        make_world(&a);
        wire_network(&a, straight);
        copy_world(&b, &a, straight);
        struct efsm_executive x = {.period_us = PERIOD_US};
        uint64_t cycles = 0;
        uint64_t livelocks = 0;
        bool ok = true;
        for (int64_t p = 0; p < CYCLES && ok; p++) {
            const unsigned word = pick_below(1000);
            const int64_t t_us = p * PERIOD_US;
            a.word = word;
            b.word = word;
            const unsigned n = efsm_run_instant(&a.net, t_us);
            cycles += n;
            livelocks += n == a.net.cycles_max && efsm_network_is_active(&a.net) &&
                         !efsm_network_is_blocked(&a.net);
            ok = efsm_executive_step(&x, &b.net, t_us) && same_machines(&a, &b) &&
                 x.cycles == cycles && x.livelocks == livelocks && x.simulated_us == t_us;
            reset_sinks(&a, 1, t_us);
            reset_sinks(&b, 1, t_us);
        }
        CHECK("executive", ok);
        CHECK_INT("executive", x.overruns + x.resyncs, 0);
    }
}

/* Arbitrary bytes: those that efsm_is_sound() accepts run within bounds; the sanitizers check
 * the rest. */
static void test_damaged_bytes(void)
{
    static struct world w;
    unsigned taken = 0;

    for (int round = 0; round < 20 * ROUNDS; round++) {
        if (round % 100 == 0) {
            make_world(&w);
        }
        struct efsm m;
        efsm_reset(&w.tables[0], &m, 0);
        unsigned char *bytes = (unsigned char *)&m;
        for (unsigned n = 1 + pick_below(4); n > 0; n--) {
            bytes[pick_below(offsetof(struct efsm, entered_us))] =
                (unsigned char)pick_below(256);
        }
        if (pick_below(2) == 0) { /* the same damage in both copies, or few would be accepted */
            m.next = m.state;
            m.next_depth = m.depth;
            memcpy(m.next_stack, m.stack, sizeof m.stack);
            memcpy(m.next_cell, m.cell, sizeof m.cell);
        }
        if (!efsm_is_sound(&w.tables[0], &m)) {
            continue;
        }
        taken++;
        for (int64_t t = 0; t < 20; t++) {
            const struct signals in = {.word = pick_below(1000)};
            struct signals out = {0};
            efsm_plan(&w.tables[0], &m, &in, t);
            efsm_update(&w.tables[0], &m, t, 0, &w.stats[0], &w.trace);
            efsm_act(&w.tables[0], &m, &in, &out, t);
        }
        CHECK("still sound", efsm_is_sound(&w.tables[0], &m));
    }
    CHECK("some damage is harmless, some is refused", taken > 0 && taken < 20 * ROUNDS);
}

int main(void)
{
    random_state = check_seed(1);
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("efsm properties", NULL, NULL);
    CU_ADD_TEST(suite, test_order_does_not_matter);
    CU_ADD_TEST(suite, test_bytes_carry_the_run);
    CU_ADD_TEST(suite, test_executive_equals_instant);
    CU_ADD_TEST(suite, test_damaged_bytes);
    return check_run();
}
