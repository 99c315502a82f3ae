/* service/team/team_inputs.h - what `team simulate` and `team plan` work on: a team of a file,
 * with changes, and the durations of its activities. */
#ifndef SERVICE_TEAM_TEAM_INPUTS_H
#define SERVICE_TEAM_TEAM_INPUTS_H

#include "service/team/team_measured.h"
#include "service/team/team_settings.h"
#include "service/tool/arguments.h"

enum { TEAM_INPUTS_SETTINGS_MAX = 64 };

/* Options of both commands. */
struct team_inputs_options {
    const char *command; /* "team plan" */
    const char *team;    /* NULL: the only one */
    const char *journal; /* the recording that gives durations; NULL: the times of the file */
    const char *lab;     /* the lab of the recording; NULL: the file, or the team's pairs */
    const char *side;    /* "real", "virtual" */
    struct argument_list settings;
    const char *setting[TEAM_INPUTS_SETTINGS_MAX];
};

struct team_inputs {
    struct team_file file;
    struct lab_file lab;
    struct team_settings settings;
    struct team_prediction *tp;
    struct team_measured measured; /* all zero without a journal */
};

/* Start with the usual values. */
void team_inputs_options_init(struct team_inputs_options *options, const char *command);

/* Read the file at path, and the recording if there is one. False, with all faults on stderr,
 * when either is wrong. *in, which is all zero before, is to be freed in any case. */
MUST_USE bool team_inputs_load(const struct team_inputs_options *options, const char *path,
                               struct team_inputs *in);
void team_inputs_free(struct team_inputs *in);

/* Rows of the options for `struct argument rows[]`. */
/* clang-format off */
#define TEAM_INPUTS_ARGUMENTS(options)                                                         \
    {"from", 0, ARGUMENT_TEXT, &(options)->journal, 0, 0, "JOURNAL",                           \
     "measure durations in a recording (a file, a folder, - for the standard input), as tandem replay reads it"}, \
    {"config", 'c', ARGUMENT_TEXT, &(options)->lab, 0, 0, "LAB.yaml",                          \
     "the lab of the recording (FILE where it is one, else each pair of the team, with usual options)"}, \
    {"side", 0, ARGUMENT_TEXT, &(options)->side, 0, 0, "real|virtual", "whose times (real)"},  \
    {"set", 0, ARGUMENT_LIST, &(options)->settings, 0, 0, "WHAT=VALUE",                        \
     "what if: R1.speed=+10%, R1.cycles=5, R1.priority=1, R1.at=POSITION, IB.capacity=2; as often as wanted"}, \
    {"team", 0, ARGUMENT_TEXT, &(options)->team, 0, 0, "NAME", "which one, of a file with several"}
/* clang-format on */

#endif
