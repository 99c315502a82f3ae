/* identification/data/command_levels.h - the different values of a command, each of which
 * lasted a while.
 *
 * Two values do not show whether the effect is in proportion to the command
 * (docs/model/identification.md, "Columns"). Pure.
 */
#ifndef IDENTIFICATION_DATA_COMMAND_LEVELS_H
#define IDENTIFICATION_DATA_COMMAND_LEVELS_H

#include <stddef.h>

enum { COMMAND_LEVELS_ROOM = 16384, COMMAND_LEVELS_SHOWN = 3 };

/* Values that are nearly equal count as one. */
struct command_levels {
    size_t levels;
    size_t magnitudes;                  /* the same without signs and without zero */
    double shown[COMMAND_LEVELS_SHOWN]; /* means of the first levels, in ascending order */
};

/* Counts the levels of u [n], even in time. scratch [COMMAND_LEVELS_ROOM]. All zero if the
 * command is always zero. */
void command_levels_find(const double *u, size_t n, double *scratch,
                         struct command_levels *out);

#endif
