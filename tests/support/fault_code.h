/* tests/support/fault_code.h - for C tests of what goes to a terminal or a log, which show no
 * codes. */
#ifndef TESTS_SUPPORT_FAULT_CODE_H
#define TESTS_SUPPORT_FAULT_CODE_H

#include <stdbool.h>
#include <stdio.h>

/* Does the text say a fault of this code? tests/support/fault_code.py knows the sentences. */
static inline bool has_fault_code(const char *code, const char *text)
{
    char command[256];
    (void)snprintf(command, sizeof command,
                   "python3 " TANDEM_SOURCE_DIR "/tests/support/fault_code.py %s /dev/stdin",
                   code);
    FILE *to = popen(command, "we");
    return to && fputs(text, to) >= 0 && pclose(to) == 0;
}

#endif
