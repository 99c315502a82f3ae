/* service/tool/document_page.h - prints a JSON document for people: the page has the names and
 * numbers of the document, so that nothing is written twice.
 */
#ifndef SERVICE_TOOL_DOCUMENT_PAGE_H
#define SERVICE_TOOL_DOCUMENT_PAGE_H

#include <stdbool.h>
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

/* Prints the document itself, or its page, on standard output; false with a message on standard
 * error: not enough memory. */
MUST_USE bool document_page_show(bool json,
                                 void (*members)(const void *what, struct json_writer *w),
                                 const void *what);

#endif
