/* Laws that hold whatever arrives: random commands, replies, ticks, reconnections and rubbish
 * from a seed, on three pairs, one of them in link mode. */
#include "tests/support/lab_script.h"
#include "tests/support/saved_lab.h"

enum { EVENTS = 4000, IDS = 40, TEXT_MAX = 1 << 22 };

struct log {
    char *text; /* every effect in words: equal runs leave equal bytes */
    size_t used;
    uint64_t entries, alarms, commands, replies;
};

static void record_effect(void *context, const struct effect *effect)
{
    struct log *log = context;
    char *at = log->text + log->used;
    const size_t room = TEXT_MAX - log->used;
    struct json_writer w;
    json_write_start(&w, at, room, NULL, NULL);
    json_write_object(&w, NULL);
    json_write_int(&w, "kind", effect->kind);
    json_write_int(&w, "pair", effect->pair);
    json_write_int(&w, "t", effect->t_us);
    json_write_int(&w, "side", effect->side);
    switch (effect->kind) {
    case EFFECT_ENTRY:
        log->entries++;
        entry_write_json(&w, "entry", effect->entry, "");
        break;
    case EFFECT_ALARM:
        log->alarms++;
        alarm_write_json(&w, "alarm", effect->alarm, "");
        break;
    case EFFECT_COMMAND:
        log->commands++;
        json_write_raw(&w, "payload", effect->payload.text, effect->payload.bytes);
        break;
    case EFFECT_REPLY:
        log->replies++;
        json_write_raw(&w, "payload", effect->payload.text, effect->payload.bytes);
        break;
    case EFFECT_NOTICE:
    case EFFECT_MISSION:
    case EFFECT_POSE:
        json_write_raw(&w, "payload", effect->payload.text, effect->payload.bytes);
        break;
    case EFFECT_PARAMETERS:
    case EFFECT_CHANGE:
    case EFFECT_PROBE:
    case EFFECT_CALIBRATION:
    case EFFECT_HISTORY:
    case EFFECT_FIT:
    case EFFECT_CONTROL:
    case EFFECT_FIDELITY:
    case EFFECT_ETA:
    case EFFECT_DYNAMICS:
    case EFFECT_LOG:
    case EFFECT_TEAM:
    case EFFECT_RESPONSE:
    case EFFECT_RESULT:
    case EFFECT_KIND_COUNT:
        break;
    }
    json_write_close(&w);
    CU_ASSERT_TRUE_FATAL(json_write_end(&w));
    log->used += w.used;
}

struct input {
    struct event event;
    char raw[96];
};

static struct input inputs[EVENTS];

static void make_command(struct input *in, int k)
{
    struct event *e = &in->event;
    e->kind = EVENT_COMMAND;
    e->side = SIDE_COUNT;
    if (rand() % 8) {
        (void)snprintf(e->command.id, sizeof e->command.id, "c%d", rand() % IDS);
    }
    (void)snprintf(e->command.op, sizeof e->command.op, "go");
    e->command.rotation_rad = rand() % 3;
    e->command.displacement_m = rand() % 3;
    e->command.source_us = LAB_TIME_NONE;
    (void)snprintf(in->raw, sizeof in->raw, "{\"n\":%d,\"op\":\"go\"}", k);
}

static void make_reply(struct input *in, int k)
{
    struct event *e = &in->event;
    e->kind = EVENT_REPLY;
    e->side = rand() % 2 ? SIDE_REAL : SIDE_VIRTUAL;
    if (rand() % 8) {
        (void)snprintf(e->reply.id, sizeof e->reply.id, "c%d", rand() % IDS);
    }
    e->reply.status = rand() % 6 ? REPLY_DONE : REPLY_ERROR;
    e->reply.source_us = rand() % 3 ? e->t_us - rand() % 50000 : LAB_TIME_NONE;
    e->reply.source_start_us = LAB_TIME_NONE;
    (void)snprintf(in->raw, sizeof in->raw, "{\"n\":%d,\"status\":\"done\"}", k);
}

static void make_inputs(void)
{
    int64_t t_us = 1000000000;
    memset(inputs, 0, sizeof inputs);
    for (int k = 0; k < EVENTS; k++) {
        struct input *in = &inputs[k];
        struct event *e = &in->event;
        t_us += rand() % 4 ? rand() % 400000 : 0;
        e->t_us = t_us;
        (void)snprintf(e->pair, sizeof e->pair, "r%d", rand() % 4 + 1); /* r4 does not exist */
        const int dice = rand() % 100;
        if (dice < 30) {
            make_command(in, k);
        } else if (dice < 85) {
            make_reply(in, k);
        } else if (dice < 92) {
            e->kind = EVENT_CONNECTION;
            e->side = rand() % 2 ? SIDE_REAL : SIDE_VIRTUAL;
            e->connection.online = rand() % 2;
            e->connection.source_us = LAB_TIME_NONE;
        } else if (dice < 96) {
            e->kind = EVENT_MALFORMED;
            e->side = SIDE_COUNT;
        } else {
            e->kind = EVENT_TELEMETRY;
            e->side = SIDE_REAL;
            e->telemetry.source_us = t_us - rand() % 20000;
            e->telemetry.seq = k;
        }
        e->hash = hash_bytes(hash_text(e->pair), in->raw, sizeof in->raw);
        if (k > 0 && rand() % 20 == 0) { /* delivered again */
            *in = inputs[k - 1];
            in->event.dup = true;
            in->event.t_us = t_us;
        }
    }
    for (int k = 0; k < EVENTS; k++) {
        struct event *e = &inputs[k].event;
        if (e->kind == EVENT_COMMAND) {
            e->command.raw = inputs[k].raw;
            e->command.raw_bytes = strlen(inputs[k].raw);
        } else if (e->kind == EVENT_REPLY) {
            e->reply.raw = inputs[k].raw;
            e->reply.raw_bytes = strlen(inputs[k].raw);
        }
    }
}

static struct pair_params params[3];
static const struct lab_params lab_params = {.pair_count = 3, .pairs = params};

static void make_params(void)
{
    for (int k = 0; k < 3; k++) {
        char id[16];
        (void)snprintf(id, sizeof id, "r%d", k + 1);
        lab_pair_defaults(&params[k], id);
        params[k].timeout_us = 3000000;
    }
    params[1].mode = PAIR_LINK;
    params[1].queue_max = 4;
    params[1].probe_interval_us = 1000000;
    params[2].outstanding_max = 3;
}

static struct lab *new_lab(void)
{
    return lab_init(aligned_alloc(64, (lab_bytes(&lab_params) + 63) / 64 * 64), &lab_params);
}

static void start_log(struct log *log)
{
    *log = (struct log){.text = malloc(TEXT_MAX)};
}

static bool same_log(const struct log *a, const struct log *b)
{
    return a->used == b->used && memcmp(a->text, b->text, a->used) == 0;
}

static void run_events(struct lab *lab, struct log *log, int from, int to)
{
    const struct effects fx = {record_effect, log};
    for (int k = from; k < to; k++) {
        lab_step(lab, &inputs[k].event, &fx);
    }
}

static void check_conservation(const struct lab *lab, const struct log *log)
{
    uint64_t entries = 0;
    uint64_t alarms = 0;
    for (size_t i = 0; i < 3; i++) {
        const struct pair *pair = lab_pair(lab, i);
        const struct pair_counts *c = &pair->counts;
        uint64_t verdicts = 0;
        for (enum verdict v = VERDICT_AHEAD; v < VERDICT_COUNT; v++) {
            verdicts += c->verdict[v];
        }
        entries += c->entries;
        alarms += c->alarms;
        CHECK_INT("every entry has one verdict", verdicts, c->entries);
        CHECK_INT("and reports whether it is consistent",
                  c->consistency[CONSISTENCY_UNKNOWN] + c->consistency[CONSISTENT] +
                      c->consistency[INCONSISTENT],
                  c->entries);
        CHECK_INT("an alarm for each that is not", c->consistency[INCONSISTENT],
                  c->alarm[ALARM_TYPE_INCONSISTENT]);
        CHECK_INT("nothing is open", pair->outstanding, 0);
        CHECK_INT("mask", pair->open_mask, 0);
        CHECK_INT("no machine fails", pair->logger_stats.faults, 0);
        if (lab_pair_params(lab, i)->mode == PAIR_LINK) {
            const struct pair_linked *linked = pair_look_linked(pair);
            CHECK_INT("nor of link mode",
                      linked->link_stats.faults + linked->dispatch_stats.faults, 0);
        }
        /* Each command became an entry, or was refused because its id was in use. */
        CHECK("every command has its entry",
              c->commands >= c->entries &&
                  c->commands - c->entries <= c->alarm[ALARM_TYPE_DUPLICATE]);
    }
    CHECK_INT("entries are emitted once", log->entries, entries);
    CHECK_INT("alarms too", log->alarms, alarms);
    CHECK("something happened", entries > 100 && alarms > 100 && log->replies > 10);
}

static void test_laws(void)
{
    struct log first;
    struct log second;
    start_log(&first);
    start_log(&second);
    struct lab *lab = new_lab();
    const struct effects fx = {record_effect, &first};
    run_events(lab, &first, 0, EVENTS);
    lab_finish(lab, &fx);
    check_conservation(lab, &first);

    /* The same events give the same effects, however often the clock is read. */
    struct lab *ticked = new_lab();
    const struct effects fx2 = {record_effect, &second};
    for (int k = 0; k < EVENTS; k++) {
        const int64_t before_us = k > 0 ? inputs[k - 1].event.t_us : inputs[0].event.t_us;
        struct event tick = {.kind = EVENT_TICK, .side = SIDE_COUNT};
        tick.t_us = before_us + (inputs[k].event.t_us - before_us) / 2;
        lab_step(ticked, &tick, &fx2);
        lab_step(ticked, &inputs[k].event, &fx2);
    }
    lab_finish(ticked, &fx2);
    CHECK("ticks change nothing", same_log(&first, &second));
    free(lab);
    free(ticked);
    free(first.text);
    free(second.text);
}

static void test_checkpoint(void)
{
    struct log whole;
    struct log parts;
    start_log(&whole);
    start_log(&parts);
    struct lab *lab = new_lab();
    run_events(lab, &whole, 0, EVENTS);

    struct lab *before = new_lab();
    const int cut = rand() % EVENTS;
    size_t bytes = 0;
    run_events(before, &parts, 0, cut);
    void *state = saved_lab(before, &bytes);
    struct lab *after = new_lab();
    CHECK_INT("loads", lab_load(after, state, bytes), STATUS_OK);
    CHECK_INT("another size is refused", lab_load(after, state, bytes - 1), STATUS_E_STALE);
    free(state);
    free(before);
    run_events(after, &parts, cut, EVENTS);
    CHECK("a checkpoint changes nothing", same_log(&whole, &parts));

    const uint64_t print = lab_fingerprint(&lab_params);
    params[0].timeout_us++;
    CHECK("other parameters, other fingerprint", lab_fingerprint(&lab_params) != print);
    params[0].timeout_us--;
    free(lab);
    free(after);
    free(whole.text);
    free(parts.text);
}

/* A state that is saved while the lab continues is that of the moment at which the saving
 * began. */
struct saved_state {
    const struct lab *lab;
    struct saved_lab state;
    bool saved[8];
    bool changed[8];   /* since the last whole one */
    bool only_changed; /* are saved */
    unsigned before;   /* parts that were saved because they were about to change */
};

static void save_part(struct saved_state *s, size_t part)
{
    if (s->saved[part]) {
        return;
    }
    s->saved[part] = true;
    if (s->only_changed && !s->changed[part]) {
        lab_save_unchanged(s->lab, &s->state.save, part);
    } else {
        lab_save_part(s->lab, &s->state.save, part);
    }
}

static void save_before(void *context, size_t part)
{
    struct saved_state *s = context;
    s->before += !s->saved[part];
    save_part(s, part);
    s->changed[part] = true;
}

static void save_rest(struct saved_state *s)
{
    for (size_t part = 0; part < lab_part_count(s->lab); part++) {
        save_part(s, part);
    }
}

static void test_saved_on_the_way(void)
{
    struct log whole;
    struct log parts;
    start_log(&whole);
    start_log(&parts);
    struct lab *lab = new_lab();
    const int cut = EVENTS / 4 + rand() % (EVENTS / 4);
    run_events(lab, &whole, 0, cut);
    size_t bytes = 0;
    const struct lab_counts counts = *lab_counts(lab);
    struct saved_state s = {.lab = lab};
    void *at_once = saved_lab(lab, &bytes);
    CU_ASSERT_FATAL(lab_part_count(lab) <= COUNT(s.saved));
    saved_lab_begin(&s.state, lab);
    lab_watch(lab, save_before, &s);
    run_events(lab, &whole, cut, cut + 50);
    lab_watch(lab, NULL, NULL);
    CHECK("some had to be saved before", s.before > 0);
    save_rest(&s);
    CHECK_INT("as many bytes", s.state.save.used, bytes);
    struct lab *after = new_lab();
    CHECK_INT("loads", lab_load(after, s.state.bytes, s.state.save.used), STATUS_OK);
    CHECK("the counts of then", memcmp(lab_counts(after), &counts, sizeof counts) == 0);
    size_t again_bytes = 0;
    void *again = saved_lab(after, &again_bytes);
    CHECK("the same state", again_bytes == bytes && memcmp(again, at_once, bytes) == 0);
    run_events(lab, &whole, cut + 50, EVENTS);
    run_events(after, &parts, cut, EVENTS);
    const size_t tail = parts.used;
    CHECK("goes on alike",
          whole.used >= tail && memcmp(whole.text + whole.used - tail, parts.text, tail) == 0);
    free(at_once);
    free(again);
    free(s.state.bytes);
    free(lab);
    free(after);
    free(whole.text);
    free(parts.text);
}

/* Saved changes, applied to a whole state, give the later whole state: again and again, and
 * while the lab continues. */
static void test_saved_changes(void)
{
    struct log ignored;
    start_log(&ignored);
    struct lab *lab = new_lab();
    struct lab *after = new_lab();
    struct saved_state s = {.lab = lab};
    int at = rand() % (EVENTS / 4);
    run_events(lab, &ignored, 0, at);
    saved_lab_begin(&s.state, lab);
    save_rest(&s);
    lab_watch(lab, save_before, &s);
    unsigned unchanged = 0;
    while (at < EVENTS) {
        const int next = at + rand() % 8;
        run_events(lab, &ignored, at, next < EVENTS ? next : EVENTS);
        size_t bytes = 0;
        void *whole = saved_lab(lab, &bytes);
        memset(s.saved, 0, sizeof s.saved);
        s.only_changed = true;
        saved_lab_begin(&s.state, lab);
        for (size_t part = 0; part < lab_part_count(lab); part++) {
            unchanged += !s.changed[part];
        }
        at = next + rand() % 4;
        if (next < EVENTS) {
            run_events(lab, &ignored, next, at < EVENTS ? at : EVENTS);
        }
        save_rest(&s);
        CHECK_INT("as many bytes", s.state.save.used, bytes);
        CHECK_INT("loads", lab_load(after, s.state.bytes, bytes), STATUS_OK);
        void *again = saved_lab(after, &bytes);
        CHECK("the same", bytes == s.state.save.used && memcmp(again, whole, bytes) == 0);
        free(again);
        free(whole);
        if (rand() % 4 == 0) { /* whole again */
            memset(s.saved, 0, sizeof s.saved);
            memset(s.changed, 0, sizeof s.changed);
            s.only_changed = false;
            saved_lab_begin(&s.state, lab);
            save_rest(&s);
        }
        at++;
        if (at < EVENTS) {
            run_events(lab, &ignored, at - 1, at);
        }
    }
    CHECK("some had not", unchanged > 0);
    lab_watch(lab, NULL, NULL);
    free(s.state.bytes);
    free(lab);
    free(after);
    free(ignored.text);
}

int main(void)
{
    srand(check_seed(1));
    make_params();
    make_inputs();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("lab", NULL, NULL);
    CU_add_test(suite, "laws", test_laws);
    CU_add_test(suite, "checkpoint", test_checkpoint);
    CU_add_test(suite, "saved on the way", test_saved_on_the_way);
    CU_add_test(suite, "saved changes", test_saved_changes);
    return check_run();
}
