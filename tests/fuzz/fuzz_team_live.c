/* Any bytes as messages to a team at work: requests of controllers, jobs, people's requests,
 * and messages of its robots. Each line is a message: a letter for its topic, one for the time
 * that passes, and a payload. No robot holds what another one has, fences rise, no silent robot
 * gets a grant, every answer and effect can be printed, and the state continues in another lab
 * as in this one. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "tests/support/saved_lab.h"
#include "twin/lab.h"
#include "twin/report/team_live_report.h"
#include "twin/report/team_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MAX = 200, RESOURCES = 3, T0_S = 1000 };

static const char LAB[] =
    "defaults: {mode: link, timeout_s: 8}\n"
    "pairs: {r1: {}, r2: {}, r3: {}}\n"
    "teams:\n"
    "  cell:\n"
    "    resources: {A: {}, B: {lease_s: 3, on_lost: release, delay_s: 1}, C: {on_error: "
    "release}}\n"
    "    positions: {P: {x_m: 0, y_m: 0, safe: true}}\n"
    "    tasks: {Move: {to: position}, Work: {op: work}}\n"
    "    sequences:\n"
    "      s: [Lock: [A, B], Move: P, Work, UnLock: [A, B], Repeat]\n"
    "      j: [Lock: C, Work, UnLock: C]\n"
    "      part: [Lock: A, Work]\n"
    "      whole: [part, UnLock: A]\n"
    "    robots: {R1: {pair: r1, sequence: s}, R2: {pair: r2, sequence: s}, R3: {pair: r3, "
    "handles: a}}\n";

static const char *const topics[] = {"cell/request",     "cell/job",           "$lab/request",
                                     "r1/real/reply",    "r1/real/connection", "r2/real/reply",
                                     "r2/virtual/reply", "r3/real/connection"};

static struct lab_file file;
static struct lab_params params;

struct course {
    struct lab *lab;
    uint64_t hash, fence;
    uint16_t owner[RESOURCES];
};

static struct lab *make_lab(void)
{
    void *memory = aligned_alloc(64, (lab_bytes(&params) + 63) / 64 * 64);
    assert(memory);
    return lab_init(memory, &params);
}

static void check_effect(struct course *c, const struct team_effect *e)
{
    if (e->kind == TEAM_GRANT) {
        const struct team *team = team_live_team(lab_team(c->lab, 0), &params.teams[0]);
        struct team_robot_view view;
        team_robot(team, e->robot, &view);
        assert(c->owner[e->resource] == TEAM_NONE && e->fence > c->fence && !view.silent);
        c->owner[e->resource] = e->robot;
        c->fence = e->fence;
    } else if (e->kind == TEAM_FREED) {
        assert(c->owner[e->resource] == e->robot);
        c->owner[e->resource] = TEAM_NONE;
    }
}

static void handle_effect(void *context, const struct effect *effect)
{
    static char text[1 << 16];
    struct course *c = context;
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_array(&w, NULL);
    json_write_int(&w, NULL, effect->kind);
    json_write_int(&w, NULL, effect->t_us);
    if (effect->kind == EFFECT_TEAM) {
        check_effect(c, effect->team.effect);
        team_report_effect(&w, NULL, &params.teams[0], effect->team.effect, TEAM_TIME_S);
    } else if (effect->kind == EFFECT_RESPONSE) {
        static char inner_text[TEAM_LIVE_RESPONSE_MAX];
        struct json_writer inner;
        json_write_start(&inner, inner_text, sizeof inner_text, NULL, NULL);
        team_live_report_response(&inner, &params.teams[0], effect->response);
        assert(json_write_end(&inner));
        json_write_raw(&w, NULL, inner_text, inner.used);
    }
    json_write_close(&w);
    assert(json_write_end(&w));
    c->hash = hash_bytes(c->hash, text, w.used);
}

static void handle_event(void *context, const struct event *event)
{
    struct course *c = context;
    const struct effects fx = {handle_effect, c};
    lab_step(c->lab, event, &fx);
}

static void step_line(struct course *c, int64_t t_us, const char *topic, const uint8_t *payload,
                      size_t bytes)
{
    const struct event tick = {.t_us = t_us, .kind = EVENT_TICK, .side = SIDE_COUNT};
    struct message m = {.t_us = t_us,
                        .payload = (const char *)payload,
                        .stored_bytes = bytes,
                        .payload_bytes = bytes};
    struct codec_set set;
    (void)snprintf(m.topic, sizeof m.topic, "t/%s", topic);
    handle_event(c, &tick);
    lab_codecs(c->lab, &set);
    (void)codec_decode(&set, "t", &m, handle_event, c);
}

static void start_course(struct course *c)
{
    *c = (struct course){.lab = make_lab(), .hash = HASH_START};
    for (size_t k = 0; k < RESOURCES; k++) {
        c->owner[k] = TEAM_NONE;
    }
}

/* moved: its state goes elsewhere in the middle. */
static uint64_t run_course(const uint8_t *data, size_t size, bool moved)
{
    struct course c;
    int64_t t_us = lab_us(T0_S);
    size_t lines = 0;
    start_course(&c);
    for (size_t at = 0; at + 2 <= size && lines < LINES_MAX; lines++) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        const size_t bytes = end ? (size_t)(end - data) - at : size - at;
        if (bytes >= 2) {
            const size_t pause = data[at + 1] % 64;
            t_us += (int64_t)(pause * pause) * 10000; /* 0 to 40 s */
            step_line(&c, t_us, topics[data[at] % COUNT(topics)], data + at + 2, bytes - 2);
        }
        if (moved && lines % 3 == 1) {
            size_t state_bytes = 0;
            void *state = saved_lab(c.lab, &state_bytes);
            struct lab *there = make_lab();
            const enum status status = lab_load(there, state, state_bytes);
            assert(status == STATUS_OK);
            (void)status;
            free(state);
            free(c.lab);
            c.lab = there;
        }
        at += bytes + 1;
    }
    const struct event tick = {
        .t_us = t_us + lab_us(100), .kind = EVENT_TICK, .side = SIDE_COUNT};
    handle_event(&c, &tick);
    free(c.lab);
    return c.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (params.team_count == 0) {
        struct err_list errors = {0};
        const enum status status = lab_file_parse(LAB, strlen(LAB), "lab.yaml", &file, &errors);
        assert(status == STATUS_OK);
        (void)status;
        params = lab_file_params(&file);
    }
    const uint64_t here = run_course(data, size, false);
    const uint64_t there = run_course(data, size, true);
    assert(here == there);
    (void)here;
    (void)there;
    return 0;
}
