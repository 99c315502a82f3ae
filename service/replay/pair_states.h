/* service/replay/pair_states.h - the final state of each pair after a replay, as JSON:
 * parameters, counts, fits, clocks.
 *
 * Fits and their numbers take most of the time of a document with many pairs. Each pair's state
 * depends on that pair alone, so threads make them ahead of the writer.
 *
 * All functions must be called by the owner of the threads.
 */
#ifndef SERVICE_REPLAY_PAIR_STATES_H
#define SERVICE_REPLAY_PAIR_STATES_H

#include <stddef.h>
#include <stdint.h>

#include "config/labfile/lab_file.h"
#include "service/replay/threads.h"
#include "twin/lab.h"

struct pair_states;

/* Members of an object; valid until the next call. */
struct pair_state {
    const char *parameters, *rest; /* not terminated */
    size_t parameters_bytes, rest_bytes;
};

/* States of pairs[count], indices in the lab, which must not change meanwhile. All are
 * borrowed; threads: NULL if there is only the caller's. STATUS_E_NOMEM; *out is written only
 * on STATUS_OK.
 */
MUST_USE enum status pair_states_create(const struct lab *lab, const struct lab_file *file,
                                        const uint32_t *pairs, size_t count,
                                        struct threads *threads, struct pair_states **out);
void pair_states_destroy(struct pair_states *states); /* NULL is allowed; waits for threads */

/* Get the next pair's state, once for each pair. STATUS_E_NOMEM. */
MUST_USE enum status pair_states_next(struct pair_states *states, struct pair_state *out);

#endif
