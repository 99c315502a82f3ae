/* service/client/status_page.h - prints what a daemon knows in about ten lines: health, pairs,
 * verdicts, calibration, trust and alarms. */
#ifndef SERVICE_CLIENT_STATUS_PAGE_H
#define SERVICE_CLIENT_STATUS_PAGE_H

#include <stdbool.h>

#include <jansson.h>

/* Print a document {"status", "pairs", "alarms"} of the answers of the HTTP interface. A pair
 * may also have its "travel_time", its "forecast" and a list of its "newest" alarm. */
void status_page_print(json_t *document, bool colour);

/* The same for the first pair alone. */
void status_page_print_pair(json_t *document, bool colour);

#endif
