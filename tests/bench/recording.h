/* tests/bench/recording.h - messages of a lab, as they would be recorded. Each pair in turn
 * sends its next message: telemetry of both sides, or the next message of its present move
 * (command, virtual reply, real reply). */
#ifndef TESTS_BENCH_RECORDING_H
#define TESTS_BENCH_RECORDING_H

#include "logger/message/message.h"
#include "tests/bench/bench.h"

enum { RECORDING_PAYLOAD_MAX = 512 };

struct recording_pair {
    uint32_t move; /* its number, from 1 */
    uint32_t step; /* 0: send the command; 1, 2: the replies */
    uint32_t seq[2];
    double rotation_rad, displacement_m;
};

struct recording {
    struct recording_pair *pairs;
    uint32_t pair_count;
    uint32_t telemetry_percent;
    int64_t step_us; /* between two messages */
    int64_t t_us;
    uint64_t draws;
    char payload[RECORDING_PAYLOAD_MAX];
};

static inline void recording_start(struct recording *r, uint32_t pair_count,
                                   uint32_t telemetry_percent, int64_t step_us)
{
    *r = (struct recording){.pairs = calloc(pair_count, sizeof *r->pairs),
                            .pair_count = pair_count,
                            .telemetry_percent = telemetry_percent,
                            .step_us = step_us,
                            .t_us = INT64_C(1763617674000000),
                            .draws = 1};
    if (!r->pairs) {
        bench_fail("no memory");
    }
}

static inline void recording_end(struct recording *r)
{
    free(r->pairs);
}

static inline double recording_real(struct recording *r, double from, double to)
{
    return from + (to - from) * (double)bench_draw(&r->draws) / 2147483648.0;
}

static inline int recording_telemetry(struct recording *r, struct recording_pair *p,
                                      unsigned side, double stamp_s)
{
    return snprintf(
        r->payload, sizeof r->payload,
        "{\"t\":%.6f,\"seq\":%u,\"boot\":\"a1\",\"nu\":[%.4f,%.4f,%.4f],"
        "\"tau\":[%.3f,%.3f],\"pose\":[%.4f,%.4f,%.4f]}",
        stamp_s, ++p->seq[side], recording_real(r, -1, 1), recording_real(r, -0.1, 0.1),
        recording_real(r, -1, 1), recording_real(r, -9, 9), recording_real(r, -9, 9),
        recording_real(r, -50, 50), recording_real(r, -50, 50), recording_real(r, -3, 3));
}

static inline int recording_move(struct recording *r, struct recording_pair *p, double stamp_s)
{
    const uint32_t step = p->step;
    p->step = (step + 1) % 3;
    if (step == 0) {
        p->move++;
        p->rotation_rad = p->move % 3 == 0 ? 0.0 : recording_real(r, -3.1, 3.1);
        p->displacement_m = p->move % 3 == 1 ? 0.0 : recording_real(r, 0.2, 3.0);
        return snprintf(r->payload, sizeof r->payload,
                        "{\"id\":\"c%u\",\"t\":%.6f,\"op\":\"go\",\"rotation_rad\":%.4f,"
                        "\"displacement_m\":%.4f}",
                        p->move, stamp_s, p->rotation_rad, p->displacement_m);
    }
    return snprintf(r->payload, sizeof r->payload,
                    "{\"id\":\"c%u\",\"t\":%.6f,\"status\":\"done\","
                    "\"values\":{\"x_m\":%.3f,\"y_m\":%.3f}}",
                    p->move, stamp_s, p->displacement_m, p->rotation_rad);
}

/* The next message, of this pair. Its payload is borrowed until the next call. */
static inline void recording_next(struct recording *r, uint32_t pair, struct message *m)
{
    static const char *const moves[] = {"command", "virtual/reply", "real/reply"};
    static const char *const samples[] = {"real/telemetry", "virtual/telemetry"};
    struct recording_pair *p = &r->pairs[pair];
    r->t_us += r->step_us;
    const double stamp_s = (double)r->t_us * 1e-6 - recording_real(r, 0.001, 0.004);
    const bool telemetry = bench_draw(&r->draws) % 100 < r->telemetry_percent;
    const unsigned side = bench_draw(&r->draws) % 2;
    const char *what = telemetry ? samples[side] : moves[p->step];
    const int bytes =
        telemetry ? recording_telemetry(r, p, side, stamp_s) : recording_move(r, p, stamp_s);
    *m = (struct message){.t_us = r->t_us,
                          .qos = telemetry ? 0 : 1,
                          .payload = r->payload,
                          .stored_bytes = (size_t)bytes,
                          .payload_bytes = (size_t)bytes};
    (void)snprintf(m->topic, sizeof m->topic, "tandem/v1/r%u/%s", pair + 1, what);
}

#endif
