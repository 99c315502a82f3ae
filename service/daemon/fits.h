/* service/daemon/fits.h - batch fits of dynamics that the lab asked for, on the worker.
 *
 * A fit begins with an effect of the lab: its frozen window is copied and goes to the worker.
 * How it ended is noted in the journal, and taken in by the lab as every other line is; what it
 * found waits here until then. A restart in between loses nothing: the lab's state holds the
 * frozen window, and the fit begins again.
 */
#ifndef SERVICE_DAEMON_FITS_H
#define SERVICE_DAEMON_FITS_H

#include <stdbool.h>
#include <stdint.h>

#include "service/daemon/inbox.h"
#include "service/job/worker.h"
#include "twin/lab.h"

struct fits;

struct fits_counts {
    uint64_t begun;
    uint64_t refused;   /* by the worker, or no memory */
    uint64_t found;     /* results that the lab took */
    uint64_t forgotten; /* results that nobody waited for any more */
};

/* All are borrowed. STATUS_E_NOMEM. */
MUST_USE enum status fits_create(const struct lab *lab, struct worker *worker,
                                 struct inbox *inbox, struct fits **out);

/* Before the worker is stopped: fits that end from now on were not cancelled by anybody, and
 * begin again at the next start. */
void fits_stop(struct fits *fits);
void fits_destroy(struct fits *fits); /* after the worker ended; NULL is allowed */

/* Lab thread, within the effect: begin the fit that is under way on this side. */
void fits_begin(struct fits *fits, uint32_t pair, enum side side);

/* Lab thread: begin all that are under way, after a restart. */
void fits_go_live(struct fits *fits);

/* Lab thread: what this fit found, or NULL; to be freed. */
struct dynamics_result *fits_pop(struct fits *fits, uint32_t pair, enum side side,
                                 uint32_t job);

/* Any thread: the worker's number of the fit that was begun last on this side; 0: none. */
uint64_t fits_job(struct fits *fits, uint32_t pair, enum side side);

void fits_read_counts(struct fits *fits, struct fits_counts *out); /* any thread */

#endif
