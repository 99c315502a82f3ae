#include "service/sim/experiment/experiment_lists.h"

#include <math.h>
#include <string.h>

const struct option_row experiment_number = OPTION_NUMBER(-HUGE_VAL);
const struct option_row experiment_size = OPTION_NUMBER(0.0);

void experiment_path(const struct option_reading *reading, const char *key,
                     char path[LAB_PATH_MAX])
{
    char joined[LAB_PATH_MAX];
    if (path[0] == '\0') {
        return;
    }
    if (!text_file_sibling(reading->r->file, path, joined, sizeof joined)) {
        option_fault_at(reading, key, FAULT_TOO_LONG, "the path is too long");
        return;
    }
    memcpy(path, joined, strlen(joined) + 1);
}
