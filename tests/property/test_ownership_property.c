/* Several instances, one database, one broker, all of them faulty, for random seeds. Instances
 * stop (SIGSTOP), crash, lose the database or the broker; the database freezes, answers late or
 * never, runs statements that nobody waits for any more, commits without a standby, and loses
 * those commits. In the second half of the runs it also loses commits that were durable.
 * TANDEM_RUNS: number of runs of each kind.
 */
#include "tests/support/check.h"

#include "service/engine/ownership.h"

enum { INSTANCES = 3, LINES = 8192, MESSAGES = 1200, COMMITS = 65536, FLIGHTS = 512 };
enum { STEP_US = 10000, FAULTS_US = 20000000, CALM_US = 15000000, TIMEOUT_US = 400000 };
enum { WINDOW = 100, PERIOD_US = 20000, BURST_US = 1500000 }; /* of broker and publisher */

static const struct ownership_params params = {
    .renew_us = 300000, .safe_us = 1000000, .take_us = 1500000, .follow_us = 50000};

struct line {
    int64_t id; /* of the message; negative: taken by instance -id */
    int64_t epoch, t_us;
};

/* A statement on its way to the database, and the instance that wants its answer. */
struct flight {
    bool used, cut; /* cut: the answer does not come back */
    int instance;
    uint64_t number; /* the instance waits for the answer with this number */
    struct fence_request request;
    struct line batch[FENCE_LINES_MAX]; /* to write, or read */
    size_t lines;                       /* read */
    int64_t own_n;
    int64_t arrival_us, answer_us;
    bool ran;
    struct fence_result result;
};

struct commit {
    struct fence_row row;
    int owner;
    int64_t t_us;
};

struct instance {
    struct ownership ownership;
    bool crashed;
    int64_t stopped_until_us, database_cut_until_us, answers_cut_until_us, broker_cut_until_us;
    int64_t clock_offset_us; /* lab time - time */
    int64_t lab_now_us;      /* deadlines up to here have fired */
    struct line own[LINES];
    struct line waiting[MESSAGES], batch[FENCE_LINES_MAX];
    size_t waiting_count;
    uint64_t number;
    int64_t sent_us; /* of the statement that runs */
    bool wants_mqtt;
    int64_t own_n;
    int64_t immediate[4 * WINDOW], deadline[4 * WINDOW]; /* effects to send: indices of lines */
    size_t immediate_count, deadline_count;
};

static struct flight flights[FLIGHTS];

static struct {
    int64_t now_us;
    bool may_lose; /* durable commits, too */
    struct instance instances[INSTANCES];
    struct line lines[LINES];
    struct fence_row row;
    int owner;
    bool durable, database_lost;
    int64_t frozen_until_us, slow_until_us;
    struct commit commits[COMMITS];
    size_t commit_count, durable_count;
    int connected; /* instance that the broker serves, or -1 */
    int64_t published, acknowledged;
    bool acked[MESSAGES];
    unsigned immediate_sent[MESSAGES], deadline_sent[MESSAGES];
    unsigned alarms[OWNERSHIP_ALARM_COUNT], takes, senders;
    uint64_t token;
} sim;

static int64_t draw_below(int64_t below)
{
    return (int64_t)(((uint64_t)rand() << 16 ^ (uint64_t)rand()) % (uint64_t)below);
}

static bool draw_chance(double probability)
{
    return rand() < probability * RAND_MAX;
}

static bool is_same_line(const struct line *a, const struct line *b)
{
    return a->id == b->id && a->t_us == b->t_us;
}

/* --- the database --------------------------------------------------------------------------
 */

static void commit_row(void)
{
    sim.row.beat++;
    CU_ASSERT_FATAL(sim.commit_count < COMMITS);
    sim.commits[sim.commit_count++] = (struct commit){sim.row, sim.owner, sim.now_us};
    if (sim.durable) {
        sim.durable_count = sim.commit_count;
    }
}

/* The commits from `count` on are gone, and all connections. */
static void lose_commits(size_t count)
{
    sim.database_lost = sim.database_lost || count < sim.durable_count;
    sim.commit_count = count;
    sim.durable_count = count;
    sim.row = sim.commits[count - 1].row;
    sim.owner = sim.commits[count - 1].owner;
    for (size_t i = 0; i < FLIGHTS; i++) {
        struct flight *flight = &flights[i];
        if (flight->used) {
            flight->ran = true;
            flight->cut = true;
        }
    }
}

static bool has_lease(const struct fence_lease *lease)
{
    return strcmp(sim.row.lease.text, lease->text) == 0;
}

static void run_write(struct flight *flight)
{
    const struct fence_request *request = &flight->request;
    if (!has_lease(&request->lease) || sim.row.n != request->n) {
        return;
    }
    for (size_t i = 0; i < request->lines; i++) {
        CU_ASSERT_FATAL(sim.row.n < LINES);
        sim.lines[sim.row.n] = flight->batch[i];
        sim.lines[sim.row.n++].epoch = sim.row.epoch;
    }
    CHECK("the owner writes", sim.owner == flight->instance);
    sim.row.t_us = request->t_us;
    commit_row();
    flight->result.answer = FENCE_ROW;
}

static bool is_batch_there(const struct flight *flight)
{
    for (size_t i = 0; i < flight->request.lines; i++) {
        const int64_t n = flight->request.n + (int64_t)i;
        if (n >= sim.row.n || !is_same_line(&sim.lines[n], &flight->batch[i])) {
            return false;
        }
    }
    return true;
}

static void run_statement(struct flight *flight)
{
    const struct fence_request *request = &flight->request;
    struct fence_result *result = &flight->result;
    *result = (struct fence_result){.answer = FENCE_NO_ROW, .durable = sim.durable};
    switch (request->statement) {
    case FENCE_FOLLOW: {
        const int64_t common = flight->own_n < sim.row.n ? flight->own_n : sim.row.n;
        const struct line *own = sim.instances[flight->instance].own;
        result->answer = FENCE_ROW;
        result->same = common == 0 || is_same_line(&own[common - 1], &sim.lines[common - 1]);
        for (int64_t n = flight->own_n; n < sim.row.n && flight->lines < FENCE_LINES_MAX; n++) {
            flight->batch[flight->lines++] = sim.lines[n];
        }
        break;
    }
    case FENCE_TAKE:
        if (has_lease(&request->lease) && sim.row.beat == request->beat) {
            sim.row.lease = request->next;
            sim.row.epoch++;
            sim.row.released = false;
            sim.owner = flight->instance;
            sim.takes++;
            commit_row();
            result->answer = FENCE_ROW;
        }
        break;
    case FENCE_ASK:
        if (has_lease(&request->lease) || has_lease(&request->next)) {
            sim.row.lease = request->next;
            commit_row();
            result->answer = FENCE_ROW;
            result->same = is_batch_there(flight);
        }
        break;
    case FENCE_WRITE:
        run_write(flight);
        break;
    case FENCE_YIELD:
        if (has_lease(&request->lease)) {
            sim.row.released = true;
            commit_row();
            result->answer = FENCE_ROW;
        }
        break;
    case FENCE_NONE:
    default:
        CU_FAIL_FATAL("no statement");
    }
    result->row = sim.row;
}

static void serve_statements(void)
{
    for (size_t i = 0; i < FLIGHTS; i++) {
        struct flight *flight = &flights[i];
        if (!flight->used || flight->ran || sim.now_us < flight->arrival_us ||
            sim.now_us < sim.frozen_until_us) {
            continue;
        }
        run_statement(flight);
        flight->ran = true;
        flight->answer_us = sim.now_us + draw_below(30000);
    }
}

/* --- an instance ---------------------------------------------------------------------------
 */

static int64_t lab_time(const struct instance *i)
{
    return sim.now_us + i->clock_offset_us;
}

static int64_t deadline_of(const struct line *line)
{
    return line->t_us + 100000 + line->id * 7919 % 1500000;
}

/* Fires the deadlines up to lab time until_us. Their effects are sent, or suppressed. */
static void fire_deadlines(struct instance *i, int64_t until_us, bool suppressed)
{
    for (int64_t n = i->own_n; n > 0 && n > i->own_n - 200; n--) {
        const struct line *line = &i->own[n - 1];
        const int64_t deadline_us = deadline_of(line);
        if (line->id >= 0 && deadline_us > i->lab_now_us && deadline_us <= until_us &&
            !suppressed && i->deadline_count < COUNT(i->deadline)) {
            i->deadline[i->deadline_count++] = n - 1;
        }
    }
    i->lab_now_us = until_us > i->lab_now_us ? until_us : i->lab_now_us;
}

static void step_line(struct instance *i, const struct line *line, bool suppressed)
{
    fire_deadlines(i, line->t_us, suppressed);
    CU_ASSERT_FATAL(i->own_n < LINES);
    i->own[i->own_n++] = *line;
    if (line->id >= 0 && !suppressed && i->immediate_count < COUNT(i->immediate)) {
        i->immediate[i->immediate_count++] = i->own_n - 1;
    }
}

static void roll_back(struct instance *i)
{
    i->waiting_count = 0;
    i->immediate_count = 0;
    i->deadline_count = 0;
    i->lab_now_us = i->own_n > 0 ? i->own[i->own_n - 1].t_us : 0;
}

static bool has_message(const struct instance *i, int64_t id)
{
    for (int64_t n = i->own_n; n > 0; n--) {
        if (i->own[n - 1].id == id) {
            return true;
        }
    }
    return false;
}

static bool is_waiting(const struct instance *i, int64_t id)
{
    for (size_t k = 0; k < i->waiting_count; k++) {
        if (i->waiting[k].id == id) {
            return true;
        }
    }
    return false;
}

static void begin_flight(struct instance *i, const struct fence_request *request)
{
    size_t k = 0;
    while (k < FLIGHTS && flights[k].used) {
        k++;
    }
    CU_ASSERT_FATAL(k < FLIGHTS);
    struct flight *flight = &flights[k];
    const bool is_cut = sim.now_us < i->database_cut_until_us;
    const bool is_slow = sim.now_us < sim.slow_until_us;
    flight->used = true;
    flight->ran = false;
    /* A packet of a cut network may still arrive later; its answer does not. */
    flight->cut = is_cut;
    flight->instance = (int)(i - sim.instances);
    flight->number = ++i->number;
    flight->request = *request;
    flight->own_n = i->own_n;
    flight->lines = 0;
    flight->arrival_us = sim.now_us + draw_below(is_slow || is_cut ? 3000000 : 20000);
    if (request->statement == FENCE_WRITE) {
        for (size_t n = 0; n < request->lines; n++) {
            i->batch[n] = request->source == FENCE_TAKE_LINE
                              ? (struct line){-1 - flight->instance, 0, request->t_us}
                          : request->source == FENCE_OWN_LINES ? i->own[request->n + (int64_t)n]
                                                               : i->waiting[n];
        }
    }
    memcpy(flight->batch, i->batch, request->lines * sizeof i->batch[0]);
    i->sent_us = sim.now_us;
}

static void store_durable(struct instance *i, size_t count)
{
    const bool is_take = i->ownership.request.source == FENCE_TAKE_LINE ||
                         i->ownership.doubt_source == FENCE_TAKE_LINE;
    const bool is_waiting_line = i->batch[0].id >= 0;
    CHECK("of one kind", is_take || is_waiting_line);
    for (size_t n = 0; n < count; n++) {
        i->batch[n].epoch = i->ownership.epoch;
        if (!is_waiting_line && i->batch[n].t_us > lab_time(i)) {
            i->clock_offset_us = i->batch[n].t_us - sim.now_us;
        }
        step_line(i, &i->batch[n], !is_waiting_line);
        if (is_waiting_line && sim.connected == i - sim.instances) {
            sim.acked[i->batch[n].id] = true;
        }
    }
    if (is_waiting_line) {
        i->waiting_count -= count;
        memmove(i->waiting, i->waiting + count, i->waiting_count * sizeof i->waiting[0]);
    }
}

static void step_instance(struct instance *i, struct ownership_event *event)
{
    struct ownership_actions actions;
    event->boot_us = sim.now_us;
    event->lab_us = lab_time(i);
    event->waiting = i->waiting_count;
    event->own_n = i->own_n;
    (void)snprintf(event->fresh.text, sizeof event->fresh.text, "%llu",
                   (unsigned long long)++sim.token);
    ownership_step(&i->ownership, &params, event, &actions);
    sim.alarms[actions.alarm]++;
    if (actions.close_mqtt) {
        i->wants_mqtt = false;
        sim.connected = sim.connected == i - sim.instances ? -1 : sim.connected;
    }
    if (actions.durable > 0) {
        store_durable(i, actions.durable);
    }
    if (actions.open_mqtt) {
        i->wants_mqtt = true;
    }
    if (actions.request.statement != FENCE_NONE) {
        begin_flight(i, &actions.request);
    }
    if (actions.roll_back) {
        roll_back(i);
        step_instance(i, &(struct ownership_event){.kind = OWNERSHIP_ROLLED_BACK});
    }
}

/* The lines behind the own ones, as a read of the database returns them. */
static void read_lines(struct instance *i, const struct flight *flight)
{
    const struct fence_result *result = &flight->result;
    const bool is_good = result->answer == FENCE_ROW && result->durable && result->same;
    for (size_t n = 0; is_good && n < flight->lines; n++) {
        step_line(i, &flight->batch[n], true);
    }
}

static void receive_answers(struct instance *i)
{
    struct ownership_event event = {.kind = OWNERSHIP_RESULT};
    bool has_answer = false;
    for (size_t k = 0; k < FLIGHTS; k++) {
        struct flight *flight = &flights[k];
        if (!flight->used || &sim.instances[flight->instance] != i) {
            continue;
        }
        const bool is_wanted = flight->number == i->number && i->ownership.running;
        if (flight->ran && !flight->cut && is_wanted && sim.now_us >= flight->answer_us &&
            sim.now_us >= i->database_cut_until_us && sim.now_us >= i->answers_cut_until_us) {
            event.result = flight->result;
            has_answer = true;
            read_lines(i, flight);
        }
        if (flight->ran && (flight->cut || sim.now_us >= flight->answer_us)) {
            flight->used = false;
        }
    }
    if (!i->ownership.running || (!has_answer && sim.now_us - i->sent_us < TIMEOUT_US)) {
        return;
    }
    i->number++; /* a late answer is of no interest */
    step_instance(i, &event);
}

static void send_effects(struct instance *i)
{
    const int self = (int)(i - sim.instances);
    if (sim.connected != self) {
        return;
    }
    const bool may_send = ownership_may_send(&i->ownership, &params, sim.now_us, LAB_TIME_NONE);
    for (; may_send && i->immediate_count > 0; i->immediate_count--) {
        const int64_t n = i->immediate[i->immediate_count - 1];
        sim.immediate_sent[i->own[n].id]++;
        CHECK("the row is mine", sim.database_lost || sim.owner == self);
    }
    for (size_t k = i->deadline_count; k > 0; k--) {
        const struct line *line = &i->own[i->deadline[k - 1]];
        if (ownership_may_send(&i->ownership, &params, sim.now_us, deadline_of(line))) {
            sim.deadline_sent[line->id]++;
            CHECK("the row is mine", sim.database_lost || sim.owner == self);
            i->deadline[k - 1] = i->deadline[--i->deadline_count];
        }
    }
}

static void receive_messages(struct instance *i)
{
    const int self = (int)(i - sim.instances);
    if (sim.now_us < i->broker_cut_until_us) {
        sim.connected = sim.connected == self ? -1 : sim.connected;
    } else if (i->wants_mqtt && sim.connected != self &&
               ownership_may_connect(&i->ownership, &params, sim.now_us)) {
        CHECK("the row is mine", sim.database_lost || sim.owner == self);
        sim.connected = self;
    }
    if (sim.connected != self) {
        return;
    }
    for (int64_t id = sim.acknowledged; id < sim.published && id < sim.acknowledged + WINDOW;
         id++) {
        if (sim.acked[id]) {
            continue;
        }
        if (has_message(i, id)) {
            sim.acked[id] = true;
        } else if (!is_waiting(i, id)) {
            const int64_t last_us =
                i->waiting_count > 0 ? i->waiting[i->waiting_count - 1].t_us : i->lab_now_us;
            const int64_t t_us = lab_time(i) > last_us ? lab_time(i) : last_us;
            i->waiting[i->waiting_count++] = (struct line){id, 0, t_us};
        }
    }
}

static void run_instance(struct instance *i)
{
    if (i->crashed || sim.now_us < i->stopped_until_us) {
        return;
    }
    receive_answers(i);
    receive_messages(i);
    step_instance(i, &(struct ownership_event){.kind = OWNERSHIP_TICK});
    if (i->ownership.state == OWNERSHIP_OWNING ||
        i->ownership.state == OWNERSHIP_HANDING_OVER) {
        fire_deadlines(i, lab_time(i), false);
    }
    send_effects(i);
}

static void start_instance(struct instance *i)
{
    i->crashed = false;
    i->wants_mqtt = false;
    i->number++;
    roll_back(i);
    CHECK_INT("start", ownership_init(&i->ownership, &params, i->own_n), STATUS_OK);
}

/* --- faults --------------------------------------------------------------------------------
 */

static void make_fault(void)
{
    struct instance *i =
        &sim.instances[sim.owner >= 0 && draw_chance(0.5) ? sim.owner : draw_below(INSTANCES)];
    const int64_t until_us =
        sim.now_us + (draw_chance(0.5) ? draw_below(1500000) : draw_below(7000000));
    switch (draw_below(11)) {
    case 0:
        i->stopped_until_us = until_us;
        break;
    case 1:
        i->database_cut_until_us = until_us;
        break;
    case 2:
        i->broker_cut_until_us = until_us;
        break;
    case 3:
        i->crashed = true;
        sim.connected = sim.connected == i - sim.instances ? -1 : sim.connected;
        break;
    case 4:
        sim.frozen_until_us = until_us;
        break;
    case 5:
        sim.slow_until_us = until_us;
        break;
    case 6:
        sim.durable = !sim.durable;
        sim.durable_count = sim.durable ? sim.commit_count : sim.durable_count;
        break;
    case 7: /* a promotion that keeps the rules */
        lose_commits(sim.durable_count);
        sim.frozen_until_us = sim.now_us + draw_below(1500000);
        break;
    case 8: /* one that breaks them, or a backup that is restored */
        if (sim.may_lose && sim.commit_count > 2) {
            const int64_t most = draw_chance(0.5) ? 5 : 200;
            const int64_t count = (int64_t)sim.commit_count - 1 - draw_below(most);
            lose_commits(count < 1 ? 1 : (size_t)count);
            sim.frozen_until_us = sim.now_us + 300000 + draw_below(1500000);
        }
        break;
    case 9:
        step_instance(i, &(struct ownership_event){.kind = OWNERSHIP_HAND_OVER,
                                                   .follower_n = i->ownership.n});
        if (draw_chance(0.5)) {
            i->answers_cut_until_us = until_us;
        }
        break;
    default: /* both at once */
        i->stopped_until_us = until_us;
        sim.frozen_until_us = sim.now_us + draw_below(2000000);
        break;
    }
}

static void heal_all(void)
{
    sim.durable = true;
    sim.frozen_until_us = sim.now_us;
    sim.slow_until_us = sim.now_us;
    for (int k = 0; k < INSTANCES; k++) {
        struct instance *i = &sim.instances[k];
        i->stopped_until_us = sim.now_us;
        i->database_cut_until_us = sim.now_us;
        i->answers_cut_until_us = sim.now_us;
        i->broker_cut_until_us = sim.now_us;
        if (i->crashed) {
            start_instance(i);
        }
    }
}

/* --- a run ---------------------------------------------------------------------------------
 */

static void run_step(void)
{
    sim.now_us += STEP_US;
    if (sim.now_us % PERIOD_US == 0 && sim.now_us / BURST_US % 2 == 0 &&
        sim.published < MESSAGES) {
        sim.published++;
    }
    serve_statements();
    unsigned senders = 0;
    for (int k = 0; k < INSTANCES; k++) {
        struct instance *i = &sim.instances[(k + sim.now_us / STEP_US) % INSTANCES];
        if (i->crashed && draw_chance(0.005)) {
            start_instance(i);
        }
        run_instance(i);
    }
    for (int k = 0; k < INSTANCES; k++) {
        const struct instance *i = &sim.instances[k];
        senders += !i->crashed &&
                   ownership_may_send(&i->ownership, &params, sim.now_us, LAB_TIME_NONE);
    }
    CHECK("one sender", senders <= 1);
    sim.senders += senders;
    while (sim.acknowledged < sim.published && sim.acked[sim.acknowledged]) {
        sim.acknowledged++;
    }
}

/* The number of times that a message is in the database. */
static unsigned count_stored(int64_t id)
{
    unsigned count = 0;
    for (int64_t n = 0; n < sim.row.n; n++) {
        count += sim.lines[n].id == id;
    }
    return count;
}

static bool is_own_journal_right(const struct instance *i)
{
    for (int64_t n = 0; n < i->own_n; n++) {
        if (n >= sim.row.n || !is_same_line(&i->own[n], &sim.lines[n])) {
            return false;
        }
    }
    return true;
}

static void check_end(void)
{
    const unsigned detected =
        sim.alarms[OWNERSHIP_WENT_BACK] + sim.alarms[OWNERSHIP_LINES_DIFFER];
    unsigned owners = 0, stopped = 0, missing = 0;
    for (int k = 0; k < INSTANCES; k++) {
        const struct instance *i = &sim.instances[k];
        owners += i->ownership.state == OWNERSHIP_OWNING;
        stopped += i->ownership.state == OWNERSHIP_STOPPED;
        CHECK("own journal",
              i->ownership.state == OWNERSHIP_STOPPED || is_own_journal_right(i));
    }
    for (int64_t id = 0; id < sim.published; id++) {
        const unsigned stored = count_stored(id);
        missing += stored == 0 && sim.acked[id];
        if (!sim.database_lost) {
            CHECK_INT("stored", stored, 1);
            CHECK("acknowledged", sim.acked[id]);
            CHECK("at most once", sim.immediate_sent[id] <= 1);
            CHECK("at most once", sim.deadline_sent[id] <= 1);
        }
    }
    if (sim.database_lost) {
        CHECK("a loss is detected", missing == 0 || detected > 0);
        CHECK("one owner", owners + stopped >= 1 && owners <= 1);
    } else {
        CHECK_INT("one owner", owners, 1);
        CHECK_INT("nobody stops", stopped, 0);
        CHECK_INT("missing", missing, 0);
        CHECK_INT("lines differ", sim.alarms[OWNERSHIP_LINES_DIFFER], 0);
    }
}

static void run_seed(unsigned seed, bool may_lose)
{
    srand(seed);
    memset(&sim, 0, sizeof sim);
    for (size_t k = 0; k < FLIGHTS; k++) {
        flights[k].used = false;
    }
    sim.may_lose = may_lose;
    sim.durable = true;
    sim.connected = -1;
    sim.owner = -1;
    sim.row = (struct fence_row){.lease = {"nobody"}, .released = true};
    commit_row();
    for (int k = 0; k < INSTANCES; k++) {
        sim.instances[k].clock_offset_us = draw_below(seed % 2 == 0 ? 60000000 : 3000000);
        start_instance(&sim.instances[k]);
    }
    while (sim.now_us < FAULTS_US) {
        run_step();
        if (draw_chance(0.015)) {
            make_fault();
        }
    }
    heal_all();
    while (sim.now_us < FAULTS_US + CALM_US) {
        run_step();
    }
    check_end();
}

static void run_seeds(bool may_lose, size_t usual)
{
    const unsigned first = check_seed(1) * 100000;
    const size_t runs = check_runs(usual, 100000);
    unsigned takes = 0, back = 0, differ = 0, taken = 0, lost = 0;
    unsigned published = 0, immediate = 0, deadline = 0;
    for (size_t k = 0; k < runs; k++) {
        const unsigned before = CU_get_number_of_failures();
        run_seed(first + (unsigned)k, may_lose);
        if (CU_get_number_of_failures() != before) {
            (void)printf("run %u\n", first + (unsigned)k);
            return;
        }
        takes += sim.takes;
        back += sim.alarms[OWNERSHIP_WENT_BACK];
        differ += sim.alarms[OWNERSHIP_LINES_DIFFER];
        taken += sim.alarms[OWNERSHIP_TAKEN_FROM_US];
        lost += sim.database_lost;
        published += (unsigned)sim.published;
        for (int64_t id = 0; id < sim.published; id++) {
            immediate += sim.immediate_sent[id];
            deadline += sim.deadline_sent[id];
        }
    }
    (void)printf("%zu runs: %u takes, %u lost to others, %u went back, %u lines differ, "
                 "%u databases lost commits, %u and %u effects\n",
                 runs, takes, taken, back, differ, lost, immediate, deadline);
    /* The faults reach what they are for. */
    CHECK("takes", takes > 2 * runs);
    CHECK("lost to others", runs < 1000 || taken > 0); /* about one run in 40 */
    CHECK("went back", !may_lose || runs < 20 || back > runs / 4);
    CHECK("effects", immediate > published / 2 && deadline > published / 3);
}

static void test_faults(void)
{
    run_seeds(false, 40);
}

static void test_database_loses_commits(void)
{
    run_seeds(true, 40);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("ownership", NULL, NULL);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "database loses commits", test_database_loses_commits);
    return check_run();
}
