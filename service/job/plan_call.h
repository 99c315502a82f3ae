/* service/job/plan_call.h - GET /api/v1/teams/{team}/plan: its query, and the plan with what
 * the daemon knows. It is the function plan of struct web_source: any thread. */
#ifndef SERVICE_JOB_PLAN_CALL_H
#define SERVICE_JOB_PLAN_CALL_H

#include "web/http/web.h"

MUST_USE enum status plan_call_write(const struct view *view, size_t team, const char *query,
                                     struct body *out, struct err *err);

#endif
