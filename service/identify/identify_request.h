/* service/identify/identify_request.h - the request of `tandem identify` or POST
 * /api/v1/identify: recordings from files or memory, and how to fit a model to them.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_REQUEST_H
#define SERVICE_IDENTIFY_IDENTIFY_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/errors/err.h"
#include "base/text/names.h"
#include "identification/fit/estimate.h"
#include "logger/message/json_write.h"
#include "service/tool/arguments.h"
#include "service/tool/column_map.h"
#include "service/tool/table.h"
#include "twin/report/model_fragment.h"

enum {
    IDENTIFY_HELD_OUT_MAX = 16,
    IDENTIFY_FILES_MAX = 64 /* a recording has at most this many parts */
};

/* Recordings after reading. */
struct identify_files {
    size_t count;
    struct identify_file {
        const char *name; /* file name without folders */
        struct file_mark mark;
    } file[IDENTIFY_FILES_MAX];
};

/* Outcomes for which --fail-if can make the command fail. */
enum identify_outcome {
    IDENTIFY_CONTRADICTS, /* the data contradict the parameters in use */
    IDENTIFY_MARGINAL,    /* the verdict is MARGINAL or worse */
    IDENTIFY_FAIL,
    IDENTIFY_OUTCOMES
};

/* Callbacks of the caller, used while the work goes on. */
struct identify_caller {
    unsigned *outcome; /* bits 1 << enum identify_outcome; NULL: not wanted */
    /* Called several times a second with the current stage and the rough ratio of the work that
     * is done (0 .. 1). False ends the work with STATUS_E_STALE. NULL: not called. */
    bool (*go_on)(void *context, const char *stage, double share);
    void *context;
};

/* Commands for the next recording (identify_next.c). */
struct identify_next_options {
    const char *path;      /* file to write; NULL: none */
    double seconds;        /* length of the plan, before its stop */
    const char *criterion; /* of input_criterion_names; NULL: mission */
    const char *mission;   /* table of commands; NULL: the recording */
    const char *limits;    /* NAME=VALUE,...; NULL: what was recorded */
    double slew_per_s;     /* largest change of a command, in its ranges; 0: any */
    double seed;
    bool force; /* replace the file */
};

struct identify_request {
    /* Values of the option table below; a text is NULL when not given. */
    const char *model;
    const char *method;            /* NULL: the model's default */
    const char *side;              /* "real" or "virtual" */
    const char *column_words;      /* for column_map_read() */
    const char *name;              /* name of a recording in memory */
    struct argument_list held_out; /* file names for validate */
    double heading_m;              /* m, for struct odometry_set; odometry only */
    const char *arm;               /* kind of arm; arm_kinematics only; NULL: ur5 */
    const char *plausible;         /* "off": implausible values are not reported */
    /* in the format of parameters_in_use.h; NULL: no comparison */
    const char *reference;
    /* For models of motion only. */
    bool biases;      /* also fit constant efforts */
    const char *hold; /* of identification/dynamics/input_interpolation.h; NULL: auto */
    bool robust;      /* as in struct dynamics_options */
    double ridge;     /* as in struct dynamics_options */
    /* s, longest delay to search; 0: none; negative: chosen from the recording */
    double delay_max_s;
    bool journal;     /* inputs are journals, however they begin */
    const char *pair; /* pair in a journal; NULL: the only one */
    const char *plot; /* file to draw to; NULL: none */
    bool json;
    bool details; /* the page has everything, not one screen */
    bool curves;  /* the document has measured and modelled values, sample by sample */
    /* Over HTTP: the last bytes of the body are a recording for validate, and its name. */
    double held_out_bytes;
    const char *held_out_name;
    bool repeat;                      /* only compare the recordings, each by itself */
    const char *write;                /* format of a fragment; NULL: the result itself */
    struct fragment_options fragment; /* for write */
    struct identify_next_options next;
    const char *fail_if; /* names of outcomes, separated by commas; NULL: none */
    /* For bags (service/bag/bag_rows.h): only list the topics; topics by role, "stamps" or
     * "log". */
    bool list;
    const char *topics, *clock;
    double command_timeout_s;

    /* Derived values and the caller. */
    /* Recordings that take no part in the fit. */
    struct csv_source validate[IDENTIFY_HELD_OUT_MAX];
    size_t validate_count;
    struct column_map columns;      /* parsed from column_words by the caller */
    const struct csv_source *files; /* [file_count] */
    size_t file_count;              /* >= 1 */
    struct identify_caller caller;
};

/* The defaults: the real side, a delay chosen from the recording. */
struct identify_request identify_request_defaults(void);

/* The format that request->write names. */
enum fragment_format identify_fragment_format(const struct identify_request *request);

/* Should implausible values be reported? */
bool identify_doubts(const struct identify_request *request);

ENUM_NAMES_DECLARED(identify_outcome); /* "contradicts" … */

/* The outcomes that request->fail_if names, as bits; STATUS_E_ARG with err. */
MUST_USE enum status identify_fail_if(const struct identify_request *request, unsigned *bits,
                                      struct err *err);

/* Put a held-out recording's name into its error if the error names no place yet; nothing for
 * STATUS_OK. */
void identify_blame_held_out(const struct identify_request *request, enum status st,
                             struct err *err);

/* Report the outcome in *caller->outcome. */
void identify_report_outcome(const struct identify_caller *caller,
                             const struct estimate *estimate, bool contradicts);

/* The table of all options of an identification, one row each. It defines the options of
 * `tandem identify` with their help, the query parameters of POST /api/v1/identify with their
 * limits, and the kinds of models to which each applies. */
struct identify_option {
    /* on the command line, without its value; no name: not available */
    struct argument argument;
    const char *query; /* name over HTTP; NULL: not available */
    size_t longest;    /* longest text over HTTP */
    unsigned data;     /* bits 1 << enum model_data: kinds of data that accept it */
    size_t at;         /* offset of its value in struct identify_request */
};

enum { IDENTIFY_OPTIONS_MAX = 48 };

extern const struct identify_option identify_options[];
extern const size_t identify_option_count;

/* The command-line options that one of the kinds of data accepts (bits 1 << enum model_data);
 * their values go into the request. Returns their number. */
size_t identify_options_arguments(struct identify_request *request, unsigned data,
                                  struct argument rows[IDENTIFY_OPTIONS_MAX]);

/* The place of an option's value in a request. */
void *identify_option_value(const struct identify_option *option,
                            struct identify_request *request);

/* Does the option differ from its default? */
bool identify_option_given(const struct identify_option *option,
                           const struct identify_request *request);

/* Read files one after another into a table. part_start[count + 1] gets the row at which each
 * begins, *files their description. As table_read(). */
MUST_USE enum status identify_read_tables(struct table *table, const struct csv_source *inputs,
                                          size_t count, size_t *part_start,
                                          struct identify_files *files, struct err *err);

/* Report how far reading is, `share` being its ratio of the whole; the result is
 * caller->go_on's answer. */
bool identify_go_on(const struct identify_caller *caller, double share, uint64_t done,
                    uint64_t total);

/* Ask whether to continue at this ratio of a stage. STATUS_E_STALE: no. */
MUST_USE enum status identify_ask_on(const struct identify_caller *caller, const char *stage,
                                     double share, struct err *err);
/* The error of cancelled work: STATUS_E_STALE. */
MUST_USE enum status identify_give_up(struct err *err);

/* Is an input a directory, which stands for the journal in it, or does it begin like a journal,
 * whose lines are objects? False for a pipe, because it can only be read once. */
bool identify_is_journal(const struct csv_source *input);

/* The name of a recording without folders. */
const char *identify_base_name(const char *path);

#endif
