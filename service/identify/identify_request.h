/* service/identify/identify_request.h - what is asked of `tandem identify` or POST
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

enum {
    IDENTIFY_HELD_OUT_MAX = 16,
    IDENTIFY_FILES_MAX = 64 /* as many parts as a recording may have */
};

/* Recordings that have been read. */
struct identify_files {
    size_t count;
    struct identify_file {
        const char *name; /* without its folders */
        struct file_mark mark;
    } file[IDENTIFY_FILES_MAX];
};

/* What a command may be asked to fail for. */
enum identify_outcome {
    IDENTIFY_CONTRADICTS, /* the parameters in use do not hold */
    IDENTIFY_MARGINAL,    /* the verdict is MARGINAL, or worse */
    IDENTIFY_FAIL,
    IDENTIFY_OUTCOMES
};

/* Who asks, and is asked and told while the work goes on. */
struct identify_caller {
    unsigned *outcome; /* bits 1 << enum identify_outcome; NULL: nobody wants to know */
    /* Called several times a second: what is being done, and roughly which part of the whole is
     * behind (0 .. 1). False ends the work with STATUS_E_STALE. NULL: it is never called. */
    bool (*go_on)(void *context, const char *stage, double share);
    void *context;
};

struct identify_request {
    /* ---- what the table of options below says; a text is NULL where nothing was said */
    const char *model;
    const char *method;            /* NULL: the model's default */
    const char *side;              /* "real" or "virtual" */
    const char *column_words;      /* for column_map_read() */
    const char *name;              /* of a recording in memory */
    struct argument_list held_out; /* names of files for validate */
    double heading_m;              /* of struct odometry_set; for odometry only */
    const char *arm;               /* kind of arm; for arm_kinematics only; NULL: ur5 */
    const char *plausible;         /* "off": values may be as large or small as they are */
    const char *reference;         /* of parameters_in_use.h; NULL: compare with nothing */
    /* For models of motion only. */
    bool biases;        /* also fit constant efforts */
    const char *hold;   /* of identification/dynamics/input_interpolation.h; NULL: auto */
    bool robust;        /* as in struct dynamics_options */
    double ridge;       /* as in struct dynamics_options */
    double delay_max_s; /* longest delay to look for; 0: none; below 0: by the recording */
    bool journal;       /* inputs are journals, whatever they begin with */
    const char *pair;   /* of a journal; NULL: the only one there is */
    const char *plot;   /* file to draw to; NULL: none */
    bool json;
    const char *fail_if; /* words of identify_outcome_names, with commas; NULL: none */

    /* ---- what follows from it, and who asks */
    /* Recordings that take no part in the fit. */
    struct csv_source validate[IDENTIFY_HELD_OUT_MAX];
    size_t validate_count;
    struct column_map columns;      /* of column_words, read by who asks */
    const struct csv_source *files; /* [file_count] */
    size_t file_count;              /* >= 1 */
    struct identify_caller caller;
};

/* What holds where nothing is said: the real side, a delay by the recording. */
struct identify_request identify_request_defaults(void);

/* Whether values are held against what is plausible. */
bool identify_doubts(const struct identify_request *request);

extern const struct names identify_outcome_names;
const char *identify_outcome_name(enum identify_outcome outcome); /* "contradicts" … */

/* The outcomes that request->fail_if names, as bits; STATUS_E_ARG with err. */
MUST_USE enum status identify_fail_if(const struct identify_request *request, unsigned *bits,
                                      struct err *err);

/* An error in a held-out recording names that recording, if it names no place yet; of
 * STATUS_OK nothing is said. */
void identify_blame_held_out(const struct identify_request *request, enum status st,
                             struct err *err);

/* What came out, into *caller->outcome. */
void identify_report_outcome(const struct identify_caller *caller,
                             const struct estimate *estimate, bool contradicts);

/* The table of all that an identification can be asked, one row each. From it come the options
 * of `tandem identify` and their help, the query parameters of POST /api/v1/identify and their
 * limits, and which of them are for which sort of model. */
struct identify_option {
    struct argument argument; /* of the command line, its value yet unset; no name: not there */
    const char *query;        /* name over HTTP; NULL: not there */
    size_t longest;           /* characters of a text over HTTP */
    unsigned data;            /* bits 1 << enum model_data: for these */
    size_t at;                /* of its value in struct identify_request */
};

enum { IDENTIFY_OPTIONS_MAX = 32 };

extern const struct identify_option identify_options[];
extern const size_t identify_option_count;

/* The options of the command line, which put their values into the request; their count. */
size_t identify_options_arguments(struct identify_request *request,
                                  struct argument rows[IDENTIFY_OPTIONS_MAX]);

/* The place of an option's value in a request. */
void *identify_option_value(const struct identify_option *option,
                            struct identify_request *request);

/* Whether something else is asked than if nothing had been said. */
bool identify_option_given(const struct identify_option *option,
                           const struct identify_request *request);

/* Read files one after the other into a table; the row at which each begins goes into
 * part_start[count + 1], what they are into *files. As table_read(). */
MUST_USE enum status identify_read_tables(struct table *table, const struct csv_source *inputs,
                                          size_t count, size_t *part_start,
                                          struct identify_files *files, struct err *err);

/* How far the reading is, which is such a share of all: the answer of caller->go_on. */
bool identify_go_on(const struct identify_caller *caller, double share, uint64_t done,
                    uint64_t total);

/* Goes on with a stage at which so much of the work is done? STATUS_E_STALE. */
MUST_USE enum status identify_ask_on(const struct identify_caller *caller, const char *stage,
                                     double share, struct err *err);
/* The error of work that was told to end: STATUS_E_STALE. */
MUST_USE enum status identify_give_up(struct err *err);

/* "provenance" opened, with what made the document; and closed with what was read. */
void identify_open_provenance(struct json_writer *w);
void identify_close_provenance(struct json_writer *w, const struct identify_files *files,
                               const struct identify_files *held_out);

/* Files for people, a line each, with a word before the name. */
void identify_files_print(FILE *out, const char *word, const struct identify_files *files);

/* Does an input begin as a journal does, whose lines are objects? False of a pipe, which is not
 * to be read here. */
bool identify_is_journal(const struct csv_source *input);

/* The name of a recording without its folders. */
const char *identify_base_name(const char *path);

#endif
