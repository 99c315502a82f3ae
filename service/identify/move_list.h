/* service/identify/move_list.h - shared by the fits of move durations: reads moves row by row
 * from tables, and prints common lines of the page.
 */
#ifndef SERVICE_IDENTIFY_MOVE_LIST_H
#define SERVICE_IDENTIFY_MOVE_LIST_H

#include "identification/travel/travel_held_out.h"
#include "service/identify/identify_head.h"

/* How to read moves. */
struct move_list;

struct move_form {
    size_t each; /* size of a move in bytes */
    /* Callbacks for each header and row; they get the list. */
    csv_line *read_header, *read_row;
    /* Reads the moves of a journal; NULL: only tables can be read. */
    enum status (*read_journal)(struct move_list *list, const struct csv_source *input,
                                struct err *err);
    /* Fits n moves from `from` on. With a name, they are the part of that name, to be compared
     * with the common fit. */
    enum status (*fit)(struct move_list *list, size_t from, size_t n, enum travel_method method,
                       const char *name);
    void (*judge_units)(struct move_list *list);
    /* Predicts n moves, and writes list->held. */
    enum status (*hold_out)(struct move_list *list, const void *moves, size_t n);
};

/* The result of a fit of moves begins with this. */
struct move_list {
    struct identify_head head;
    const struct identify_request *request;
    const struct move_form *form; /* set with the names of the parameters */
    void *moves;                  /* [count], added by move_list_add() */
    size_t count, room;
    size_t skipped; /* rows of the fitted files that are no moves */
    size_t motions; /* fitted moves with a time by the robot's own stamps; the rest are laps */
    bool stamps;    /* a file has, or could have, such times */
    size_t own_count; /* moves that are fitted come first, held-out ones after them */
    size_t *starts;   /* [request->file_count + 1] index of the first move of each file */
    struct travel_held_out held; /* if head.is_held_out */
};

/* The stages of struct identify_method: read the moves of all files, or held-out moves behind
 * them; fit all files together, then each alone, to see whether the common fit holds for each;
 * compare with held-out moves. As csv_file_read(), STATUS_E_NOMEM. */
MUST_USE enum status move_list_load(const struct identify_request *request, bool held_out,
                                    void *list, struct err *err);
MUST_USE enum status move_list_fit(void *list, struct err *err);
MUST_USE enum status move_list_hold_out(void *list, struct err *err);
/* Add a move; name and line are its place for errors. STATUS_E_NOMEM. */
MUST_USE enum status move_list_add(struct move_list *list, const void *move, const char *name,
                                   unsigned line, struct err *err);
/* Report how far reading is; context: the list. For callbacks go_on. */
bool move_list_report(void *context, uint64_t done, uint64_t total);
void move_list_free(void *list);

/* Check that the request can be met: STATUS_E_ARG. */
MUST_USE enum status move_list_check(const struct model_row *row,
                                     const struct identify_request *request, struct err *err);

/* Print the reasons of the verdict, how many rows were no moves, and the kinds of times. */
void move_list_print_verdict(FILE *out, const struct move_list *list);

/* Write the members after those of the fit. */
void move_list_write(struct json_writer *w, const struct move_list *list);

#endif
