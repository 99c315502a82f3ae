/* service/list/colour.h - colours of words on a terminal, and none elsewhere. */
#ifndef SERVICE_LIST_COLOUR_H
#define SERVICE_LIST_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

#include "logger/message/record.h"

#define COLOUR_BOLD  "\033[1m"
#define COLOUR_DIM   "\033[2m"
#define COLOUR_RED   "\033[31m"
#define COLOUR_GREEN "\033[32m"
#define COLOUR_AMBER "\033[33m"
#define COLOUR_BLUE  "\033[36m"
#define COLOUR_PLAIN "\033[0m"

/* Is the stream a terminal, and neither NO_COLOR set nor TERM=dumb? Call it before threads
 * start. */
bool colour_wanted(FILE *out);

/* The colour of a verdict. */
const char *colour_of_verdict(enum verdict verdict);

#endif
