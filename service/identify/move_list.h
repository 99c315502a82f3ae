/* service/identify/move_list.h - what the fits of times of moves share: moves read row by row
 * from tables, and the lines that a page has of both.
 */
#ifndef SERVICE_IDENTIFY_MOVE_LIST_H
#define SERVICE_IDENTIFY_MOVE_LIST_H

#include "identification/model/model.h"
#include "identification/travel/travel_fit.h"
#include "service/identify/identify_request.h"
#include "service/identify/parameters_in_use.h"

struct move_list {
    const struct identify_request *request;
    size_t each; /* bytes of a move */
    /* Called with the list for each header and row. */
    csv_line *read_header, *read_row;
    void *moves; /* [count], as move_list_add() was told */
    size_t count, room, skipped;
    size_t own_count; /* the first ones: those that are fitted; held-out ones are behind */
    size_t *starts;   /* [request->file_count + 1] where the moves of a file begin */
};

/* The moves of all files. As csv_file_read(), STATUS_E_NOMEM. */
MUST_USE enum status move_list_read(struct move_list *list, struct err *err);
/* Those held out, behind them. */
MUST_USE enum status move_list_read_held_out(struct move_list *list, struct err *err);
/* One more, at the line that csv is at. STATUS_E_NOMEM. */
MUST_USE enum status move_list_add(struct move_list *list, const void *move,
                                   const struct csv *csv, struct err *err);
void move_list_free(struct move_list *list);

/* The method asked for; TRAVEL_METHOD_COUNT: there is no such method. */
enum travel_method move_list_method(const struct identify_request *request);

/* Whether what is asked can be done: STATUS_E_ARG. */
MUST_USE enum status move_list_check(const struct model_row *row,
                                     const struct identify_request *request,
                                     const struct parameters_in_use_form *form,
                                     struct err *err);

/* The error of a fit that could not be made, or STATUS_OK. */
MUST_USE enum status move_list_fitted(enum status st, struct err *err);

/* What is behind the verdict, and how many rows were no moves. */
void move_list_print_verdict(FILE *out, const struct estimate *e, size_t skipped);

/* What is determined, and what the moves fitted leave. */
struct move_residuals {
    size_t n, outliers;
    double rmse_s, sd_s, r2;
};
void move_list_print_residuals(FILE *out, const struct estimate *e,
                               const struct move_residuals *left);

#endif
