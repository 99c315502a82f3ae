/* service/evidence/slice_file.h - writes a slice of a recording to a file: as MCAP, as journal
 * lines, or its telemetry as CSV. */
#ifndef SERVICE_EVIDENCE_SLICE_FILE_H
#define SERVICE_EVIDENCE_SLICE_FILE_H

#include <stdio.h>

#include "service/evidence/slice.h"

enum slice_format { SLICE_MCAP, SLICE_LINES, SLICE_TELEMETRY, SLICE_FORMAT_COUNT };

/* The format by the end of a file's name: .mcap, .jsonl, .csv; SLICE_FORMAT_COUNT: none. */
enum slice_format slice_file_format(const char *path);

/* Writes the slice. trigger: why it was made, for the metadata; NULL: somebody asked for it.
 * As slice_read(), and STATUS_E_IO with errno if the stream cannot be written. *found is
 * written also then. */
MUST_USE enum status slice_file_write(const struct slice_request *request,
                                      enum slice_format format, const char *trigger, FILE *to,
                                      struct slice_found *found, struct err *err);

#endif
