#include "service/list/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_wanted(FILE *out)
{
    /* NOLINTBEGIN(concurrency-mt-unsafe): before any thread */
    const char *refused = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    /* NOLINTEND(concurrency-mt-unsafe) */
    return isatty(fileno(out)) == 1 && !(refused && refused[0]) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

const char *colour_of_verdict(enum verdict verdict)
{
    static const char *const colours[VERDICT_COUNT] = {[VERDICT_AHEAD] = COLOUR_BLUE,
                                                       [VERDICT_BEHIND] = COLOUR_AMBER,
                                                       [VERDICT_SYNC] = COLOUR_GREEN,
                                                       [VERDICT_UNRESOLVED] = COLOUR_DIM};
    return colours[verdict] ? colours[verdict] : COLOUR_RED;
}
