/* service/list/entry_filter.h - options by which commands select entries, in the words of the
 * query of .../entries. */
#ifndef SERVICE_LIST_ENTRY_FILTER_H
#define SERVICE_LIST_ENTRY_FILTER_H

#include "service/tool/arguments.h"
#include "web/http/query.h"

enum { ENTRY_FILTER_ARGUMENTS = 4 };

struct entry_filter {
    const char *since, *until, *verdict; /* NULL: not given */
    bool late;                           /* verdicts where a robot came late, or not at all */
};

/* Write the option rows for struct arguments, which borrow filter. */
void entry_filter_arguments(struct entry_filter *filter,
                            struct argument rows[ENTRY_FILTER_ARGUMENTS]);

/* Write the options as a query, "since=yesterday&verdict=AHEAD", after a check of their values.
 * *query: NULL, or their values. False after a message of the command. */
MUST_USE bool entry_filter_parse(const struct entry_filter *filter, const char *command,
                                 char text[QUERY_TEXT_MAX], struct query *query);

#endif
