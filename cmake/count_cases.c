/* cmake/count_cases.c - `tandem replay` alone, for the build that counts executed instructions
 * (flags.cmake). */
#include <gsl/gsl_errno.h>

#include "service/tool/commands.h"

int main(int argc, char **argv)
{
    (void)gsl_set_error_handler_off();
    return command_replay(argc, argv);
}
