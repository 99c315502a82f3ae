/* service/identify/identify_head.h - the common head of all results, and the last steps of
 * judging.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_HEAD_H
#define SERVICE_IDENTIFY_IDENTIFY_HEAD_H

#include "identification/model/model.h"
#include "service/identify/identify_request.h"
#include "service/identify/parameters_in_use.h"

/* Each result begins with this. Stages do not see the request, only what earlier stages left
 * here. */
struct identify_head {
    const struct model_row *row;
    struct identify_caller caller;
    bool doubts; /* implausible values are reported */
};

/* Finish judging: compare with the values in use, add advice, report the outcome. */
void identify_conclude(const struct identify_head *head, struct estimate *estimate,
                       struct reference_check *in_use);

#endif
