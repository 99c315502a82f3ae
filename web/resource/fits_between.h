/* web/resource/fits_between.h - how the fits of a page differ: their spread between
 * calibrations, the next one, and one that is odd (docs/model/trust.md, "Several recordings").
 *
 * Fits are compared by robot and model. Their windows overlap, so each counts whose data have
 * no moment in common with the last one that counted.
 */
#ifndef WEB_RESOURCE_FITS_BETWEEN_H
#define WEB_RESOURCE_FITS_BETWEEN_H

#include "logger/message/json_write.h"

struct fits_between;

/* Returns NULL without memory. The caller calls free(). */
struct fits_between *fits_between_create(void);

/* Adds the record of a fit, as stored; all in order of time, or all in reverse. */
void fits_between_add(struct fits_between *between, const char *json, size_t bytes);

/* Writes "between": [{"side","model","fits":[n …],"differs","numbers":{name: …}} …]. */
void fits_between_write(struct json_writer *w, struct fits_between *between);

#endif
