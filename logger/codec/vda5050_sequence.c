/* logger/codec/vda5050_sequence.c - the order of a vehicle's messages: by header id, else by
 * arrival and stamp.
 */
#include <math.h>

#include "base/numbers/hash.h"
#include "logger/codec/vda5050_parts.h"

/* Returns how much the header id has grown. It is a 32-bit number, with or without a sign. */
static int64_t count_steps(int64_t from, int64_t to)
{
    static const int64_t round = INT64_C(1) << 32;
    const int64_t steps = to - from;
    return steps > -round && steps <= VDA_WRAP_MAX - round ? steps + round : steps;
}

/* A late message has an older id and an older stamp. Several in a row, each newer than the one
 * before, come from a vehicle that restarted with an earlier clock. */
static bool is_late(struct vda_sequence *last, int64_t stamp_us)
{
    last->late_count =
        last->late_count > 0 && stamp_us > last->late_us ? last->late_count + 1 : 1;
    last->late_us = stamp_us;
    return last->late_count < VDA_LATE_MAX;
}

bool vda_is_new(const struct vda_run *run, struct vda_sequence *last, double header,
                int64_t stamp_us, int64_t *missing)
{
    static const double most = 9007199254740992.0; /* beyond it doubles skip integers */
    const struct message *m = run->message;
    const uint64_t payload = hash_long(HASH_START, m->payload, m->stored_bytes);
    *missing = 0;
    if (!(fabs(header) < most) || (m->retained && !last->known)) {
        return true; /* absent, or of an earlier life */
    }
    const int64_t steps = last->known ? count_steps(last->header, (int64_t)header) : 1;
    if (steps <= 0) {
        const bool at_once = steps == 0 || steps < -VDA_LATE_MAX; /* stamps may be coarse */
        const bool newer = stamp_us > last->stamp_us || (at_once && stamp_us == last->stamp_us);
        if (payload == last->payload || (!newer && is_late(last, stamp_us))) {
            return false;
        }
        if (!run->v->unordered) {
            run->v->unordered = true;
            vda_contradict(run, "", "headerId does not grow: ordered by arrival and timestamp");
        }
    }
    *missing = steps > 1 ? steps - 1 : 0;
    *last = (struct vda_sequence){
        .known = true, .header = (int64_t)header, .stamp_us = stamp_us, .payload = payload};
    return true;
}
