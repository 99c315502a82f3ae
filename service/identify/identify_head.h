/* service/identify/identify_head.h - the common head of all results, and what every method
 * shares.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_HEAD_H
#define SERVICE_IDENTIFY_IDENTIFY_HEAD_H

#include "identification/model/model.h"
#include "service/identify/identify_request.h"
#include "service/identify/parameters_in_use.h"

struct identify_between;

/* Each result begins with this. Stages do not see the request, only what earlier stages left
 * here. */
struct identify_head {
    const struct model_row *row;
    struct identify_caller caller;
    bool doubts;                         /* implausible values are reported */
    bool curves;                         /* the document has all columns */
    bool is_held_out;                    /* held-out recordings were read */
    struct parameters_in_use_form known; /* its parts are the estimates of the fit */
    struct estimate *judged;             /* has the verdict; NULL: the first part */
    struct identify_between *between;    /* of three recordings or more; owned; NULL: none */
    struct reference_check reference[PARAMETERS_IN_USE_PARTS_MAX];
    struct identify_files files, held_out_files; /* of methods that read tables */
};

/* The error of a failed "fit", or of a failed "check" with held-out recordings, or STATUS_OK.
 * where: "data" for tables of samples, "identify" for lists of moves. */
MUST_USE enum status identify_fail(enum status st, const char *where, const char *what,
                                   struct err *err);

struct table_rows;

/* The table that a fit needs. */
struct table_form {
    size_t channels; /* up to TABLE_CHANNELS_MAX */
    /* [channels x each] names that a channel may have without --columns, NULL-terminated; the
     * first one is its role */
    const char *const *names;
    size_t each;
    size_t rows_max;
    /* Makes of the rows what the result needs. They are freed before the fit begins. */
    enum status (*make)(const struct table_rows *rows, bool held_out, void *result,
                        struct err *err);
};

/* The result of reading. */
struct table_rows {
    const struct identify_request *request;
    struct table table; /* the channels as in the form */
    size_t part_count, part_start[IDENTIFY_FILES_MAX + 1];
};

/* Read recordings to be fitted, or held-out ones, for the result that begins with *head, and
 * describe them there. As table_read(). */
MUST_USE enum status table_rows_load(const struct identify_request *request,
                                     const struct table_form *form, bool held_out,
                                     struct identify_head *head, struct err *err);

#endif
