/* count_cases.c - `tandem replay` alone, for a build that counts what a run does (flags.cmake). */
#include <gsl/gsl_errno.h>

#include "service/tool/commands.h"

int main(int argc, char **argv)
{
    (void)gsl_set_error_handler_off();
    return command_replay(argc, argv);
}
