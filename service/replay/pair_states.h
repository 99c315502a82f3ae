/* service/replay/pair_states.h - how each pair stands at the end of a replay, as JSON: its
 * parameters, counts, fits, clocks.
 *
 * Fits and their numbers take most of the time of a document of many pairs, and follow from one
 * pair alone: threads make them, some pairs ahead of who writes the document.
 *
 * All functions belong to the owner of the threads.
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

/* Of pairs[count], indices in the lab, which rests until the end. All are borrowed; threads:
 * NULL where the caller's is the only one. STATUS_E_NOMEM; *out is written only on STATUS_OK.
 */
MUST_USE enum status pair_states_create(const struct lab *lab, const struct lab_file *file,
                                        const uint32_t *pairs, size_t count,
                                        struct threads *threads, struct pair_states **out);
void pair_states_destroy(struct pair_states *states); /* NULL is allowed; waits for threads */

/* The next one's, as often as there are pairs. STATUS_E_NOMEM. */
MUST_USE enum status pair_states_next(struct pair_states *states, struct pair_state *out);

#endif
