/* service/experiments/joint_file.h - an experiment with the position controllers of a joint,
 * from YAML.
 *
 * docs/model/servo.md section 7. All faults of the file are reported at once, with line and
 * column.
 */
#ifndef SERVICE_EXPERIMENTS_JOINT_FILE_H
#define SERVICE_EXPERIMENTS_JOINT_FILE_H

#include "config/option_file.h"
#include "twin/experiments/joint_trial.h"

enum { JOINT_LAGS_MAX = 16, JOINT_NAME_MAX = 64, JOINT_TEXT_MAX = 256 };

struct joint_file {
    char name[JOINT_NAME_MAX];
    char purpose[JOINT_TEXT_MAX];
    size_t lag_count;
    double lag_s[JOINT_LAGS_MAX];
    double slow_rad[JOINT_LAGS_MAX]; /* window of the state machine with each lag */
    bool runs[POSITION_KIND_COUNT];
    struct joint_indices paper[POSITION_KIND_COUNT]; /* NaN: not published */
    struct joint_trial_params trial; /* lag, window and kind are those of the first run */
};

/* Is the file at path one of these, by its `kind: joint`? False for one that cannot be read. */
bool joint_file_is(const char *path);

/* Fills a struct joint_file. */
extern const struct option_file joint_file;

/* The run with lag number i under a controller. */
void joint_file_trial(const struct joint_file *file, size_t i, enum position_kind kind,
                      struct joint_trial_params *out);

#endif
