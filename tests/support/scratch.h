/* tests/support/scratch.h - where tests put their files: below $TMPDIR, which ./test lets lie in
 * memory, else below /tmp. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_MAX = 64 };

/* A template for mkdtemp() or mkstemp(), written to path, which is returned. A longer $TMPDIR is
 * not used: a socket's path may have 107 characters. */
static inline char *scratch_template(char path[SCRATCH_MAX], const char *name)
{
    const char *folder = getenv("TMPDIR");
    const int n = snprintf(path, SCRATCH_MAX, "%s/%s.XXXXXX", folder ? folder : "/tmp", name);
    if (n >= SCRATCH_MAX) {
        (void)snprintf(path, SCRATCH_MAX, "/tmp/%s.XXXXXX", name);
    }
    return path;
}

#endif
