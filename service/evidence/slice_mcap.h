/* service/evidence/slice_mcap.h - a slice as MCAP: a channel per topic, with the schemas of
 * Tandem's messages, and channels "<prefix>/<pair>/entry" and ".../alarm" of the replay.
 *
 * logger/storage/mcap_lines.h makes the same journal lines of it again. For this the metadata
 * of a channel says the messages' quality of service and flags, and `sequence` of a message is
 * MQTT's packet id. A message that is a list of samples becomes one message per sample, on a
 * channel with "list"; there `sequence` counts the lists.
 */
#ifndef SERVICE_EVIDENCE_SLICE_MCAP_H
#define SERVICE_EVIDENCE_SLICE_MCAP_H

#include <stdio.h>

#include "service/evidence/slice.h"

struct slice_mcap;

/* Both are borrowed. STATUS_E_NOMEM; *out is written only on STATUS_OK. */
MUST_USE enum status slice_mcap_open(const struct slice_request *request, FILE *to,
                                     struct slice_mcap **out);
void slice_mcap_close(struct slice_mcap *mcap);

/* For a struct slice_sink; context is the struct slice_mcap. */
void slice_mcap_line(void *context, const struct slice_line *line);
void slice_mcap_record(void *context, const struct effect *effect, const char *pair);

/* trigger: NULL, somebody asked for the slice. STATUS_E_IO with errno, STATUS_E_NOMEM. */
MUST_USE enum status slice_mcap_end(struct slice_mcap *mcap, const char *trigger,
                                    const struct slice_found *found);

#endif
