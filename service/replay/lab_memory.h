/* service/replay/lab_memory.h - the memory of a lab: one block, on huge pages when it is big.
 *
 * Messages go to pairs at random. A lab of thousands of pairs on small pages would pay for
 * every message with walks through the page table besides the misses themselves
 * (docs/benchmarks.md).
 */
#ifndef SERVICE_REPLAY_LAB_MEMORY_H
#define SERVICE_REPLAY_LAB_MEMORY_H

#include "twin/lab.h"

/* lab_init() on memory of its own; NULL when there is none. */
struct lab *lab_memory_create(const struct lab_params *p);
void lab_memory_destroy(struct lab *lab); /* NULL allowed */

#endif
