/* service/daemon/fits.h - runs batch fits of dynamics that the lab requests, on the worker.
 *
 * A fit begins with an effect of the lab: its frozen window is copied and goes to the worker.
 * The end of a fit is a journal line, which the lab processes like every other line. The result
 * waits here until then. A restart loses nothing, because the lab's state has the frozen window
 * and the fit begins again.
 */
#ifndef SERVICE_DAEMON_FITS_H
#define SERVICE_DAEMON_FITS_H

#include <stdint.h>

#include "service/daemon/inbox.h"
#include "service/job/worker.h"
#include "twin/lab.h"

struct fits;

struct fits_counts {
    uint64_t begun;
    uint64_t refused;   /* by the worker, or no memory */
    uint64_t found;     /* results that the lab consumed */
    uint64_t forgotten; /* results that were no longer wanted */
};

/* All are borrowed. STATUS_E_NOMEM. */
MUST_USE enum status fits_create(const struct lab *lab, struct worker *worker,
                                 struct inbox *inbox, struct fits **out);

/* Call before the worker is stopped: fits that end later were not cancelled by a user, so they
 * begin again at the next start. */
void fits_stop(struct fits *fits);
void fits_destroy(struct fits *fits); /* after the worker ended; NULL is allowed */

/* Lab thread, within the effect: begin the fit that is due on this side. */
void fits_begin(struct fits *fits, uint32_t pair, enum side side);

/* Lab thread: begin all unfinished fits again after a restart. */
void fits_go_live(struct fits *fits);

/* Lab thread: the result of this fit, or NULL; to be freed. */
struct dynamics_result *fits_pop(struct fits *fits, uint32_t pair, enum side side,
                                 uint32_t job);

/* Any thread: the worker's number of the newest fit on this side; 0: none. */
uint64_t fits_job(struct fits *fits, uint32_t pair, enum side side);

void fits_read_counts(struct fits *fits, struct fits_counts *out); /* any thread */

#endif
