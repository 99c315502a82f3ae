/* service/evidence/report_inputs.h - the files that a report was made of, with their hashes. */
#ifndef SERVICE_EVIDENCE_REPORT_INPUTS_H
#define SERVICE_EVIDENCE_REPORT_INPUTS_H

#include "base/errors/err.h"
#include "twin/page/report_page.h"

struct report_inputs {
    struct report_input *list; /* [count] */
    size_t count, room;
};

/* Add a file, or the journal files of a directory; "-" is passed over. STATUS_E_IO,
 * STATUS_E_NOMEM. */
MUST_USE enum status report_inputs_add(struct report_inputs *inputs, const char *path,
                                       struct err *err);
void report_inputs_free(struct report_inputs *inputs);

#endif
