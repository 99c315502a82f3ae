/* service/evidence/recording.h - the commands, alarms, changes and fits of each pair of a
 * recording.
 *
 * A recording is a document of `tandem replay --json`. Journals and tables of moves become one
 * in a temporary file. The document is mapped, and one pair at a time is parsed into records.
 */
#ifndef SERVICE_EVIDENCE_RECORDING_H
#define SERVICE_EVIDENCE_RECORDING_H

#include "base/text/names.h"
#include "config/labfile/lab_file.h"
#include "identification/fit/estimate.h"
#include "logger/message/record.h"
#include "service/replay/replay_run.h"

/* The times of a command that are compared. */
/* clang-format off */
#define COMPARED_TIMES(X)                                                                      \
    X(TIME_LAG, "lag_s")                                                                       \
    X(TIME_ABS_LAG, "abs_lag_s")                                                               \
    X(TIME_REAL_LAP, "real_lap_s")                                                             \
    X(TIME_VIRTUAL_LAP, "virtual_lap_s")
/* clang-format on */

enum compared_time { COMPARED_TIMES(NAMES_VALUE) TIME_COUNT };
ENUM_NAMES_DECLARED(compared_time);

enum { RECORDED_TERMS_MAX = 8 };

struct recorded_command {
    int64_t t_us;
    uint64_t n;
    char id[EVENT_ID_MAX], op[EVENT_OP_MAX];
    double rotation_rad, displacement_m;
    double time_s[TIME_COUNT]; /* NaN: unknown */
    enum verdict verdict;
    enum consistency consistency;
    bool timed_out[SIDE_COUNT];
    uint32_t version[SIDE_COUNT]; /* place in versions[], from 1; 0: unknown */
};

struct recorded_alarm {
    int64_t t_us;
    enum alarm_type type;
    char id[EVENT_ID_MAX];
};

struct recorded_change {
    int64_t t_us;
    uint64_t n;
};

/* A version of a side's program, in the order of the first commands. */
struct recorded_version {
    enum side side;
    char text[EVENT_VERSION_MAX];
};

struct recorded_fit {
    size_t n; /* moves; 0: no fit */
    size_t terms;
    char name[RECORDED_TERMS_MAX][ESTIMATE_NAME_MAX];
    double value[RECORDED_TERMS_MAX], se[RECORDED_TERMS_MAX]; /* NaN: unknown */
};

struct recorded_state {
    struct recorded_fit fit[SIDE_COUNT];
    uint64_t alarms[ALARM_TYPE_COUNT];
};

struct recorded_pair {
    struct recorded_command *commands; /* [count] */
    struct recorded_alarm *alarms;     /* [alarm_count] */
    struct recorded_change *changes;   /* [change_count] */
    struct recorded_version *versions; /* [version_count] */
    size_t count, alarm_count, change_count, version_count;
    size_t room, alarm_room, change_room, version_room;
    struct recorded_state state;
};

void recorded_pair_free(struct recorded_pair *pair);

/* Lists the versions that a side's commands have, each once: *at goes from 0. Returns "" for
 * commands of an unknown version, and NULL behind the last. */
const char *recorded_pair_next_version(const struct recorded_pair *pair, enum side side,
                                       size_t *at);

struct recording;

/* Read a document, or replay a journal: a file, "-", or a directory. file: of the lab; a
 * document needs none, else STATUS_E_ARG. run: a replay that has ended, with a spool, which is
 * read in place of the file; else NULL. Lines that are no message are reported on stderr.
 * Errors as those of replay. *out is written on STATUS_OK. */
MUST_USE enum status recording_open(const char *path, const struct lab_file *file,
                                    struct replay_run *run, struct recording **out,
                                    struct err *err);
void recording_close(struct recording *recording); /* NULL allowed */

size_t recording_pair_count(const struct recording *recording);
const char *recording_pair_id(const struct recording *recording, size_t i);
/* Returns the pair with this id, or recording_pair_count(). */
size_t recording_find_pair(const struct recording *recording, const char *id);
bool recording_has_commands(const struct recording *recording, size_t i);

/* Read one pair, then to be freed. STATUS_E_NOMEM, STATUS_E_PARSE. */
MUST_USE enum status recording_load(const struct recording *recording, size_t i,
                                    struct recorded_pair *out, struct err *err);

#endif
