/* service/replay/replay_moves.h - a table of moves as the messages that would have made it.
 *
 * A row is a command and the replies of both robots: at t the one, a lap later the others. So a
 * table of entries, or of a smart logger, runs through the lab as a journal does.
 *
 * Columns: real_lap_s and virtual_lap_s, or lap1_s, lap2_s and state (AHEAD, BEHIND, SYNC);
 * rotation_rad or _deg and displacement_m or _mm; where the table has them t (or t_s, T_s; else
 * each command comes a second after the replies before), pair, op, id, real_status and
 * virtual_status. A lap that is empty is a reply that never came. Where they are called
 * otherwise, or stand in other units, columns says so; t may be ISO 8601 then.
 */
#ifndef SERVICE_REPLAY_REPLAY_MOVES_H
#define SERVICE_REPLAY_REPLAY_MOVES_H

#include "service/tool/column_map.h"
#include "service/tool/csv_file.h"
#include "service/replay/replay.h"

struct replay_moves {
    struct csv_source source;
    const char *pair; /* whose moves; "": what the table says, or the lab's only pair */
    struct column_map columns;
};

/* STATUS_E_PARSE: not such a table, with line and column; STATUS_E_ARG: it does not say whose
 * moves they are, or columns names a role that there is none; STATUS_E_STALE: go_on said no;
 * STATUS_E_NOMEM. Cold path: allocates. */
MUST_USE enum status replay_moves(struct replay *replay, const struct lab_file *file,
                                  struct replay_moves *moves, struct err *err);

#endif
