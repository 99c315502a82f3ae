/* service/daemon/capturer.h - saves the messages of a pair around an alarm or verdict, before
 * the journal's retention removes them.
 *
 * The lab thread only offers an event. The maintenance thread copies the pair's lines from the
 * journal once the window is over, a few milliseconds a round. A capture is two files in the
 * folder "captures" next to the journal: ID.json, from its begin on, and ID.jsonl. So a capture
 * that was open at a restart is completed by the next daemon.
 *
 * Bounds: capture.keep and keep_mb (the oldest go), every_s per pair, CAPTURES_OPEN at once;
 * events beyond them are counted as suppressed. Without free space there are no captures.
 */
#ifndef SERVICE_DAEMON_CAPTURER_H
#define SERVICE_DAEMON_CAPTURER_H

#include "config/labfile/lab_file.h"
#include "logger/message/json_write.h"
#include "logger/storage/journal.h"
#include "twin/lab.h"
#include "web/http/body.h"

struct capturer;

enum { CAPTURES_OPEN = 16 };

struct capturer_counts {
    uint64_t begun, written, failed, suppressed;
    uint64_t present, bytes; /* now on the disk */
};

/* file and journal are borrowed. Reads the folder. *out NULL on STATUS_OK: captures are off.
 * STATUS_E_NOMEM. */
MUST_USE enum status capturer_open(const struct lab_file *file, struct journal *journal,
                                   struct capturer **out);
void capturer_close(struct capturer *capturer); /* NULL is allowed */

/* Lab thread: offers an entry or alarm of the lab. capturer NULL: nothing happens. */
void capturer_offer(struct capturer *capturer, const struct lab *lab,
                    const struct effect *effect);

/* Maintenance thread, once a round: begins captures, copies for some milliseconds, removes what
 * is too much. has_space: the disk has as much room as journal.min_free_mb wants. */
void capturer_work(struct capturer *capturer, int64_t now_us, bool has_space);

/* Any thread. */
void capturer_read_counts(struct capturer *capturer, struct capturer_counts *out);
/* The next three are for struct web_source. capturer: a struct capturer, or NULL: none. Writes
 * each capture as an object, the newest first. */
void capturer_list(void *capturer, struct json_writer *w);
/* Reads a capture: as MCAP or as lines. STATUS_E_EMPTY: there is none, or it is not complete
 * yet; STATUS_E_FULL: too large for one answer; STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status capturer_read(void *capturer, const char *id, bool mcap, struct body *out);
MUST_USE enum status capturer_remove(void *capturer, const char *id);

#endif
