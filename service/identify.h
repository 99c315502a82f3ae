/* service/identify.h - what the models behind `tandem identify` share.
 *
 * A model is one source file with a run function and one row in the table of
 * identify_command.c.
 */
#ifndef SERVICE_IDENTIFY_H
#define SERVICE_IDENTIFY_H

#include <stdbool.h>
#include <stddef.h>

/* "role=column" from --columns. */
struct identify_column {
    char role[64];
    char column[128];
};

enum { IDENTIFY_COLUMNS_MAX = 32, IDENTIFY_HELD_OUT_MAX = 16 };

struct identify_request {
    const char *method; /* NULL: the model's default */
    const char *side;   /* "real" or "virtual" */
    /* Files that take no part in the fit. */
    const char *validate[IDENTIFY_HELD_OUT_MAX];
    size_t validate_count;
    bool biases; /* also fit constant efforts */
    bool json;
    struct identify_column columns[IDENTIFY_COLUMNS_MAX];
    size_t column_count;
    char *const *files;
    size_t file_count; /* >= 1 */
};

/* The column that --columns gives to a role, or NULL. */
const char *identify_column(const struct identify_request *request, const char *role);

/* Each prints its result and returns the exit status. */
int identify_travel_time(const struct identify_request *request);
int identify_usv3(const struct identify_request *request);
int identify_diffdrive(const struct identify_request *request);
int identify_first_order(const struct identify_request *request);
int identify_first_order_deadband(const struct identify_request *request);

/* Their roles, ending with NULL, and their parts of the help. */
extern const char *const identify_travel_time_roles[];
extern const char identify_travel_time_help[];
extern const char *const identify_usv3_roles[];
extern const char identify_usv3_help[];
extern const char *const identify_diffdrive_roles[];
extern const char identify_diffdrive_help[];
extern const char *const identify_first_order_roles[];
extern const char identify_first_order_help[];
extern const char identify_first_order_deadband_help[];

#endif
