/* Any bytes as messages of an RTDE client to a controller, and of a controller to a client: no
 * crash; answers are whole frames, and accepted frames have the promised length. The first byte
 * chooses the side and the version. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "service/wire/rtde_client.h"
#include "service/wire/rtde_session.h"
#include "twin/arm/arm_watch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frames(const uint8_t *bytes, size_t count)
{
    size_t done = 0;
    while (done < count) {
        struct rtde_frame frame;
        const ssize_t n = rtde_frame_next(bytes + done, count - done, &frame);
        assert(n > 0);
        done += (size_t)n;
    }
}

static void send_states(struct rtde_session *s, double t_s)
{
    uint8_t bytes[RTDE_FRAME_MAX];
    for (int k = 0; k < 3; k++) {
        const struct rtde_outputs values = {.timestamp = t_s + 0.008 * k};
        struct rtde_out out = {.bytes = bytes, .room = sizeof bytes};
        rtde_session_send(s, &values, &out);
        assert(!out.overflow);
        check_frames(bytes, out.used);
    }
}

/* Two clients of one controller: the bytes of every other frame go to the second. */
static void be_controller(const uint8_t *data, size_t size)
{
    struct rtde_shared shared = {.hz_max = 125.0};
    struct rtde_session *peers = calloc(2, sizeof *peers);
    size_t done = 0;
    assert(peers);
    for (int turn = 0;; turn++) {
        uint8_t answer[2 * RTDE_FRAME_MAX];
        struct rtde_out out = {.bytes = answer, .room = sizeof answer};
        struct rtde_frame frame;
        const ssize_t n = rtde_frame_next(data + done, size - done, &frame);
        if (n <= 0) {
            break;
        }
        struct rtde_session *s = &peers[turn % 3 == 2];
        rtde_session_receive(s, &shared, &frame, &out);
        assert(!out.overflow);
        check_frames(answer, out.used);
        assert(s->input_count <= RTDE_INPUT_RECIPES && s->version <= RTDE_VERSION_MAX);
        assert(!s->has_outputs || (s->hz >= 1.0 && s->hz <= 125.0));
        assert(shared.malformed <= shared.frames);
        send_states(s, 100.0 + turn);
        done += (size_t)n;
    }
    rtde_session_leave(&peers[0], &shared);
    rtde_session_leave(&peers[1], &shared);
    for (size_t i = 0; i < RTDE_OWNED_MAX; i++) {
        assert(!shared.owned[i].session);
    }
    free(peers);
}

static void watch_values(struct arm_watch *watch, const struct rtde_outputs *v)
{
    struct arm_watched seen;
    struct arm_watch_sample s = {.t_s = v->timestamp,
                                 .scaling = v->speed_scaling,
                                 .stopped = rtde_safety_stop(v->safety_mode) != NULL};
    memcpy(s.q_rad, v->target_q, sizeof s.q_rad);
    memcpy(s.qd_radps, v->target_qd, sizeof s.qd_radps);
    memcpy(s.pose, v->target_TCP_pose, sizeof s.pose);
    if (arm_watch_step(watch, &s, &seen)) {
        assert(seen.t_end_s > seen.t_start_s && seen.size_rad > 0.0);
        assert(seen.lacks || (seen.speed > 0.0 && seen.acceleration > 0.0));
    }
}

static void be_client(const uint8_t *data, size_t size, bool old)
{
    static const char *const names[] = {"timestamp",   "target_q",      "target_qd",
                                        "safety_mode", "speed_scaling", "target_TCP_pose"};
    static struct arm_watch watch; /* some 400 kB */
    const struct rtde_request order = {names, 6, 4, 125.0, NULL, 0};
    struct rtde_client c;
    uint8_t ask[RTDE_FRAME_MAX];
    struct rtde_out out = {.bytes = ask, .room = sizeof ask};
    size_t done = 0;
    enum rtde_outcome changes = RTDE_NOTHING;
    watch = (struct arm_watch){.period_s = 0.008};
    rtde_client_begin(&c, &order, &out);
    c.version = old ? 1 : 2;
    while (changes != RTDE_FAILED) {
        struct rtde_frame frame;
        const ssize_t n = rtde_frame_next(data + done, size - done, &frame);
        if (n <= 0) {
            break;
        }
        out.used = 0;
        changes = rtde_client_receive(&c, &frame, &out);
        assert(!out.overflow);
        check_frames(ask, out.used);
        assert(memchr(c.text, '\0', sizeof c.text));
        assert((changes != RTDE_FAILED && changes != RTDE_TEXT_MESSAGE) ||
               strlen(c.text) < sizeof c.text);
        if (changes == RTDE_VALUES) {
            assert(c.stage >= RTDE_ASKS_START);
            watch_values(&watch, &c.values);
        }
        done += (size_t)n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] % 3 == 0) {
        be_controller(data + 1, size - 1);
    } else if (size > 0) {
        be_client(data + 1, size - 1, data[0] % 3 == 1);
    }
    return 0;
}
