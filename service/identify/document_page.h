/* service/identify/document_page.h - prints a JSON document for people: the page has the names
 * and numbers of the document, so that nothing is written twice.
 */
#ifndef SERVICE_IDENTIFY_DOCUMENT_PAGE_H
#define SERVICE_IDENTIFY_DOCUMENT_PAGE_H

#include <stdio.h>

#include "base/errors/status.h"
#include "logger/message/json_write.h"

/* Prints plain members as lines and members of one shape as tables, with five digits. Unknown
 * and empty members are left out, and so are those of an estimate, which estimate_page.h
 * prints. members writes the document, as for json_file_print(). Returns STATUS_E_NOMEM or
 * STATUS_OK. */
MUST_USE enum status
document_page_print(FILE *out, void (*members)(const void *what, struct json_writer *w),
                    const void *what);

#endif
