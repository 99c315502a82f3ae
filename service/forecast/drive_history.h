/* service/forecast/drive_history.h - the moves that the daemon has of a pair, so that a plan
 * needs fewer.
 */
#ifndef SERVICE_FORECAST_DRIVE_HISTORY_H
#define SERVICE_FORECAST_DRIVE_HISTORY_H

#include "config/labfile/lab_file.h"
#include "identification/travel/next_move.h"

/* The address of the daemon; NULL: as the lab file says. Over HTTPS the lab's own certificate
 * is then trusted. */
struct drive_daemon {
    const struct http_options *http;
    const char *url, *token_file, *ca_file;
};

/* Read the usable moves of the real robot from the daemon into an empty plan. False after a
 * message on stderr: the plan begins without. */
bool drive_history_read(const struct drive_daemon *daemon, const char *pair,
                        struct move_plan *plan);

#endif
