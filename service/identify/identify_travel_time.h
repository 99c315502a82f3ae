/* service/identify/identify_travel_time.h - tandem identify --model travel_time: how long moves
 * take. */
#ifndef SERVICE_IDENTIFY_IDENTIFY_TRAVEL_TIME_H
#define SERVICE_IDENTIFY_IDENTIFY_TRAVEL_TIME_H

#include "service/identify/identify_request.h"
#include "twin/models/model.h"

/* As identify_check() and identify_run(). */
MUST_USE enum status identify_travel_time_check(const struct model_row *row,
                                                const struct identify_request *request,
                                                struct err *err);
MUST_USE enum status identify_travel_time(const struct model_row *row,
                                          const struct identify_request *request, FILE *out,
                                          struct err *err);

#endif
