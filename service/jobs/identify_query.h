/* service/jobs/identify_query.h - the query of POST /api/v1/identify as a request, by the table
 * of service/identify/identify_options.h. Pure.
 */
#ifndef SERVICE_JOBS_IDENTIFY_QUERY_H
#define SERVICE_JOBS_IDENTIFY_QUERY_H

#include "service/identify/identify_request.h"
#include "web/http/query.h"

/* Texts of a request, decoded. */
struct identify_words {
    size_t used;
    char text[QUERY_TEXT_MAX + 1];
};

/* Read what stands behind the '?', at most QUERY_TEXT_MAX bytes; the request's texts are in
 * words. STATUS_E_ARG: err->where is the parameter at fault, as it came. */
MUST_USE enum status identify_query_read(const char *query, struct identify_words *words,
                                         struct identify_request *request, struct err *err);

#endif
