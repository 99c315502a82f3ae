/* service/replay/replay_moves.h - converts a table of moves into the messages that would have
 * made it.
 *
 * A row is a command and the replies of both robots: the command at t, each reply a lap later.
 * So a table of entries, or of a smart logger, runs through the lab as a journal does.
 *
 * Columns: real_lap_s and virtual_lap_s, or lap1_s, lap2_s and state (AHEAD, BEHIND, SYNC);
 * rotation_rad or _deg and displacement_m or _mm. Optional: t (or t_s, T_s; otherwise each
 * command comes a second after the previous replies), pair, op, id, real_status and
 * virtual_status. An empty lap is a reply that never came. `columns` maps other names and
 * units; t may then be ISO 8601.
 */
#ifndef SERVICE_REPLAY_REPLAY_MOVES_H
#define SERVICE_REPLAY_REPLAY_MOVES_H

#include "service/replay/replay.h"
#include "service/tool/column_map.h"
#include "service/tool/csv_file.h"

struct replay_moves {
    struct csv_source source;
    const char *pair; /* pair of all moves; "": the table's column, or the lab's only pair */
    struct column_map columns;
};

/* Does the name say that a file is a table: FILE.csv? */
bool replay_moves_is_table(const char *path);

/* STATUS_E_PARSE: not such a table, with line and column; STATUS_E_ARG: no pair is known, or
 * columns names an unknown role; STATUS_E_STALE: cancelled; STATUS_E_NOMEM. Cold path:
 * allocates. */
MUST_USE enum status replay_moves(struct replay *replay, const struct lab_file *file,
                                  struct replay_moves *moves, struct err *err);

#endif
