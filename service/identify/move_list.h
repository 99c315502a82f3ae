/* service/identify/move_list.h - shared by the fits of move durations: reads moves row by row
 * from tables, and prints common lines of the page.
 */
#ifndef SERVICE_IDENTIFY_MOVE_LIST_H
#define SERVICE_IDENTIFY_MOVE_LIST_H

#include "identification/model/model.h"
#include "identification/travel/travel_fit.h"
#include "service/identify/identify_request.h"
#include "service/identify/parameters_in_use.h"

struct move_list {
    const struct identify_request *request;
    size_t each; /* size of a move in bytes */
    /* Callbacks for each header and row; they get the list. */
    csv_line *read_header, *read_row;
    void *moves; /* [count], added by move_list_add() */
    size_t count, room, skipped;
    size_t own_count; /* moves that are fitted come first, held-out ones after them */
    size_t *starts;   /* [request->file_count + 1] index of the first move of each file */
};

/* Read the moves of all files. As csv_file_read(), STATUS_E_NOMEM. */
MUST_USE enum status move_list_read(struct move_list *list, struct err *err);
/* Read held-out moves behind them. */
MUST_USE enum status move_list_read_held_out(struct move_list *list, struct err *err);
/* Add a move from the current line of csv. STATUS_E_NOMEM. */
MUST_USE enum status move_list_add(struct move_list *list, const void *move,
                                   const struct csv *csv, struct err *err);
void move_list_free(struct move_list *list);

/* The requested method; TRAVEL_METHOD_COUNT: there is no such method. */
enum travel_method move_list_method(const struct identify_request *request);

/* Check that the request can be met: STATUS_E_ARG. */
MUST_USE enum status move_list_check(const struct model_row *row,
                                     const struct identify_request *request,
                                     const struct parameters_in_use_form *form,
                                     struct err *err);

/* The error of a failed fit, or STATUS_OK. */
MUST_USE enum status move_list_fitted(enum status st, struct err *err);

/* Print the reasons of the verdict, and how many rows were no moves. */
void move_list_print_verdict(FILE *out, const struct estimate *e, size_t skipped);

/* Counts of determined parameters, and statistics of the residuals. */
struct move_residuals {
    size_t n, outliers;
    double rmse_s, sd_s, r2;
};
void move_list_print_residuals(FILE *out, const struct estimate *e,
                               const struct move_residuals *left);

#endif
