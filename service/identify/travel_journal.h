/* service/identify/travel_journal.h - reads the moves of one robot from a journal with native
 * topics (docs/protocol.md): each "go" that was answered "done".
 */
#ifndef SERVICE_IDENTIFY_TRAVEL_JOURNAL_H
#define SERVICE_IDENTIFY_TRAVEL_JOURNAL_H

#include "identification/travel/travel_time.h"
#include "logger/message/event.h"
#include "service/tool/csv_file.h"

struct travel_journal {
    const char *pair; /* NULL: the only pair in the journal */
    enum side side;
    /* Receives each move. Its time is that of the motion if the reply has start and end, else
     * the lap from the command to the reply. Another status than STATUS_OK ends the reading. */
    enum status (*add)(void *context, const struct travel_move *move, struct err *err);
    bool (*go_on)(void *context, uint64_t done, uint64_t total); /* see journal_lines.h */
    void *context;
    size_t motions, laps; /* out: moves by the kind of their time */
    size_t skipped;       /* out: other commands, and moves that did not end well */
};

/* Statuses as of journal_lines_read(); STATUS_E_ARG: several pairs and none chosen,
 * STATUS_E_EMPTY: no move. */
MUST_USE enum status travel_journal_read(struct travel_journal *journal,
                                         const struct csv_source *input, struct err *err);

#endif
