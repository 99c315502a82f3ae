/* The check of a sequence against all that can happen: random sequences of locks, conditions
 * and loops are followed exactly, counters of loops and all, and must be refused where
 * something goes wrong on some way, and nowhere else. */
#include "twin/team/check/team_static_check.h"

#include "tests/support/check.h"

enum {
    RESOURCES = 3,
    CLASSES = 3, /* parts a, b and another one */
    STEPS_MAX = 40,
    LOOPS = 3,
    STATES_MAX = 60000,
    TEAMS = 3000
};

static unsigned long long dice;

static unsigned roll_dice(unsigned sides)
{
    dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(dice >> 33) % sides;
}

/* ---- a random sequence ---- */

static struct team_step steps[STEPS_MAX];
static uint16_t lists[STEPS_MAX * RESOURCES];
static uint32_t step_count, list_count, loop_count;

static uint32_t add_step(enum team_step_kind kind)
{
    steps[step_count] = (struct team_step){.kind = kind,
                                           .arg = TEAM_NONE,
                                           .meeting = TEAM_NONE,
                                           .place = (uint16_t)(step_count + 1)};
    return step_count++;
}

static void add_resources(enum team_step_kind kind, unsigned mask)
{
    struct team_step *step = &steps[add_step(kind)];
    step->first_resource = list_count;
    for (uint16_t r = 0; r < RESOURCES; r++) {
        if (mask >> r & 1) {
            lists[list_count++] = r;
        }
    }
    step->resource_count = list_count - step->first_resource;
}

static void add_list(unsigned depth, unsigned length, unsigned *held);

static void add_condition(unsigned depth, unsigned *held)
{
    unsigned then_held = *held;
    const uint32_t ask = add_step(TEAM_STEP_UNLESS);
    steps[ask].arg = (uint16_t)(1 + roll_dice(CLASSES - 1));
    add_list(depth + 1, 1 + roll_dice(2), &then_held);
    const uint32_t over = add_step(TEAM_STEP_GOTO);
    steps[ask].to = step_count;
    if (roll_dice(2)) {
        add_list(depth + 1, 1 + roll_dice(2), held);
    }
    steps[over].to = step_count;
}

static void add_one(unsigned depth, unsigned *held)
{
    const unsigned what = roll_dice(depth < 2 ? 12 : 9);
    const unsigned mask = 1 + roll_dice((1 << RESOURCES) - 1);
    if (what < 3) { /* mostly what can be locked and freed, sometimes anything */
        const unsigned free = roll_dice(8) ? mask & ~*held : mask;
        if (free) {
            add_resources(TEAM_STEP_LOCK, free);
            *held |= free;
        }
    } else if (what < 6) {
        const unsigned some = roll_dice(8) ? mask & *held : mask;
        if (some) {
            add_resources(TEAM_STEP_UNLOCK, some);
            *held &= ~some;
        }
    } else if (what < 8) {
        (void)add_step(TEAM_STEP_TASK);
    } else if (what == 8) {
        steps[add_step(TEAM_STEP_TAKE)].retry_us = roll_dice(2) ? 1000000 : 0;
    } else if (what == 9 && loop_count < LOOPS) {
        const uint32_t start = step_count;
        loop_count++;
        add_list(depth + 1, 1 + roll_dice(3), held);
        const uint32_t loop = add_step(TEAM_STEP_LOOP);
        steps[loop].to = start;
        steps[loop].times = 2 + roll_dice(2);
    } else if (what == 10 && roll_dice(3) == 0) { /* for ever, these or all */
        const uint32_t start = roll_dice(2) ? step_count : 0;
        add_list(depth + 1, 1 + roll_dice(3), held);
        steps[add_step(TEAM_STEP_GOTO)].to = start;
    } else {
        add_condition(depth, held);
    }
}

static void add_list(unsigned depth, unsigned length, unsigned *held)
{
    for (unsigned i = 0; i < length && step_count + 8 < STEPS_MAX; i++) {
        add_one(depth, held);
    }
}

/* ---- all that can happen ---- */

struct state {
    uint8_t pc, held, part, counts[LOOPS];
};

static struct state states[STATES_MAX];
static uint32_t next[STATES_MAX][CLASSES + 1];
static uint8_t next_count[STATES_MAX];
static bool timeless[STATES_MAX]; /* leaving it takes no time */
static uint32_t state_count, table[4 * STATES_MAX];

static uint32_t find_state(struct state s)
{
    uint32_t slot = 2166136261U;
    for (size_t i = 0; i < sizeof s; i++) {
        slot = (slot ^ ((const uint8_t *)&s)[i]) * 16777619U;
    }
    slot %= COUNT(table);
    while (table[slot] && memcmp(&states[table[slot] - 1], &s, sizeof s) != 0) {
        slot = (slot + 1) % COUNT(table);
    }
    if (!table[slot]) {
        CU_ASSERT_FATAL(state_count < STATES_MAX);
        states[state_count] = s;
        table[slot] = ++state_count;
    }
    return table[slot] - 1;
}

static unsigned mask_of(const struct team_step *step)
{
    unsigned mask = 0;
    for (uint32_t i = 0; i < step->resource_count; i++) {
        mask |= 1U << lists[step->first_resource + i];
    }
    return mask;
}

static unsigned loop_of(uint32_t pc)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < pc; i++) {
        n += steps[i].kind == TEAM_STEP_LOOP;
    }
    return n;
}

static bool breaks_locking_rule(enum team_locking locking, unsigned held, unsigned want)
{
    unsigned least = 0;
    while (!(want >> least & 1)) {
        least++;
    }
    return (locking == TEAM_AT_ONCE && held) || (locking == TEAM_ORDERED && held >> least);
}

/* Follows the successors of a state; false: something went wrong there. */
static bool follow_state(uint32_t at, enum team_locking locking)
{
    struct state s = states[at];
    bool fine = true;
    next_count[at] = 0;
    timeless[at] = false;
    if (s.pc == step_count) {
        return s.held == 0;
    }
    const struct team_step *step = &steps[s.pc];
    const unsigned mask = mask_of(step);
    timeless[at] = step->kind != TEAM_STEP_TASK && step->kind != TEAM_STEP_TAKE;
    s.pc++;
    if (step->kind == TEAM_STEP_LOCK) {
        const unsigned want = mask & ~(unsigned)s.held;
        fine = want == mask && !breaks_locking_rule(locking, s.held, mask);
        s.held = (uint8_t)(s.held | mask);
    } else if (step->kind == TEAM_STEP_UNLOCK) {
        fine = (s.held & mask) == mask;
        s.held = (uint8_t)(s.held & ~mask);
    } else if (step->kind == TEAM_STEP_GOTO ||
               (step->kind == TEAM_STEP_UNLESS && step->arg != s.part + 1)) {
        s.pc = (uint8_t)step->to;
    } else if (step->kind == TEAM_STEP_LOOP) {
        uint8_t *count = &s.counts[loop_of(s.pc - 1U)];
        *count = (uint8_t)(*count + 1U == step->times ? 0 : *count + 1);
        s.pc = *count ? (uint8_t)step->to : s.pc;
    } else if (step->kind == TEAM_STEP_TAKE) {
        fine = step->retry_us > 0 || s.held == 0;
        for (s.part = 0; s.part < CLASSES; s.part++) {
            next[at][next_count[at]++] = find_state(s);
        }
        return fine;
    }
    next[at][next_count[at]++] = find_state(s);
    return fine;
}

/* Is there a state in which a resource is held, and from which it never is free again? */
static bool never_releases(unsigned resource)
{
    static bool freed[STATES_MAX];
    for (uint32_t i = 0; i < state_count; i++) {
        freed[i] = !(states[i].held >> resource & 1);
    }
    for (bool added = true; added;) {
        added = false;
        for (uint32_t i = state_count; i-- > 0;) {
            for (unsigned k = 0; !freed[i] && k < next_count[i]; k++) {
                freed[i] = freed[next[i][k]];
                added = added || freed[i];
            }
        }
    }
    for (uint32_t i = 0; i < state_count; i++) {
        if (!freed[i] && states[i].pc < step_count) {
            return true;
        }
    }
    return false;
}

/* A way round without time: states without time have one that follows. */
static bool goes_round(void)
{
    for (uint32_t start = 0; start < state_count; start++) {
        uint32_t at = start;
        for (uint32_t n = 0; timeless[at]; n++) {
            if (n > step_count * 64) {
                return true;
            }
            at = next[at][0];
        }
    }
    return false;
}

static bool goes_wrong(enum team_locking locking)
{
    bool fine = true;
    state_count = 0;
    memset(table, 0, sizeof table);
    for (uint8_t part = 0; part < CLASSES; part++) {
        (void)find_state((struct state){.part = part});
    }
    for (uint32_t i = 0; i < state_count; i++) {
        fine = follow_state(i, locking) && fine;
    }
    for (unsigned r = 0; fine && r < RESOURCES; r++) {
        fine = !never_releases(r);
    }
    return !fine || goes_round();
}

/* ---- both ---- */

static void ignore_fault(void *context, const struct team_fault *fault)
{
    (void)context;
    (void)fault;
}

static void print_steps(void)
{
    for (uint32_t i = 0; i < step_count; i++) {
        (void)printf("%2u %s %x arg %u to %u times %u retry %d\n", (unsigned)i,
                     team_step_kind_name(steps[i].kind), mask_of(&steps[i]),
                     (unsigned)steps[i].arg, (unsigned)steps[i].to, (unsigned)steps[i].times,
                     steps[i].retry_us > 0);
    }
}

static void test_random(void)
{
    static const char names[][TEAM_NAME_MAX] = {"IB", "a", "b"};
    static const struct team_resource_params resources[RESOURCES] = {
        {.name = "A"}, {.name = "B"}, {.name = "C"}};
    static const struct team_task_params task = {.name = "Go"};
    static const struct team_robot_params robots[2];
    struct team_sequence sequence = {.name = "s"};
    unsigned wrong = 0;
    unsigned fine = 0;
    unsigned differ = 0;
    dice = check_seed(1);
    for (unsigned i = 0; i < TEAMS && differ < 5; i++) {
        unsigned held = 0;
        step_count = list_count = loop_count = 0;
        add_list(0, 2 + roll_dice(8), &held);
        if (held && roll_dice(4)) {
            add_resources(TEAM_STEP_UNLOCK, held);
        }
        if (step_count == 0) {
            continue;
        }
        sequence.count = step_count;
        const struct team_params p = {.locking =
                                          (enum team_locking)roll_dice(TEAM_LOCKING_COUNT),
                                      .robot_count = 2,
                                      .robots = robots,
                                      .resource_count = RESOURCES,
                                      .resources = resources,
                                      .task_count = 1,
                                      .tasks = &task,
                                      .sequence_count = 1,
                                      .sequences = &sequence,
                                      .step_count = step_count,
                                      .steps = steps,
                                      .name_count = COUNT(names),
                                      .names = names,
                                      .list_count = list_count,
                                      .lists = lists};
        void *memory = malloc(team_static_check_bytes(&p));
        CU_ASSERT_FATAL(memory != NULL);
        const bool refused =
            team_static_check(&p, memory, &(struct team_faults){ignore_fault, NULL}) > 0;
        const bool is_wrong = goes_wrong(p.locking);
        free(memory);
        wrong += is_wrong;
        fine += !is_wrong;
        if (refused != is_wrong) {
            differ++;
            (void)printf("%s: %s, but %s\n", team_locking_name(p.locking),
                         refused ? "refused" : "accepted", is_wrong ? "wrong" : "fine");
            print_steps();
        }
    }
    CHECK_INT("unchanged", differ, 0);
    CHECK("some of both", wrong > TEAMS / 20 && fine > TEAMS / 20);
    (void)printf("%u wrong, %u fine\n", wrong, fine);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team discipline", NULL, NULL);
    CU_add_test(suite, "random sequences", test_random);
    return check_run();
}
