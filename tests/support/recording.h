/* tests/support/recording.h - the folder of recordings that cannot be shipped: $TANDEM_DATA,
 * else next to the source tree. */
#ifndef TESTS_SUPPORT_RECORDING_H
#define TESTS_SUPPORT_RECORDING_H

#include <stdio.h>
#include <stdlib.h>

static inline const char *recording_path(const char *name, char *path, size_t path_bytes)
{
    const char *data = getenv("TANDEM_DATA");
    (void)snprintf(path, path_bytes, "%s/%s",
                   data && *data ? data : TANDEM_SOURCE_DIR "/../shared/data", name);
    return path;
}

#endif
