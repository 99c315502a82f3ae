/* web/http/csv.h - writes records, which are JSON objects, as rows of CSV (RFC 4180, lines end
 * in LF).
 *
 * Numbers and texts are copied from the JSON, so that both formats agree. Pure except for the
 * growing body.
 */
#ifndef WEB_HTTP_CSV_H
#define WEB_HTTP_CSV_H

#include <stddef.h>

#include "web/http/body.h"

#define CSV_MEDIA_TYPE "text/csv; charset=utf-8; header=present"

enum { CSV_ROW_CELLS_MAX = 64 };

/* Write the header line; names[count], count <= CSV_ROW_CELLS_MAX. */
void csv_header(struct body *out, const char *const *names, size_t count);

/* Write one row: the members of a JSON object by these names. Missing ones and null are empty
 * cells; objects and arrays are their JSON text. A cell has at most 255 bytes of text. One that
 * a spreadsheet would take for a formula gets a ' before it. */
void csv_row(struct body *out, const char *const *names, size_t count, const char *json,
             size_t bytes);

#endif
