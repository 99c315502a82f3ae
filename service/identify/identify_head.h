/* service/identify/identify_head.h - what the results of all sorts of models begin with, and
 * how their judgement ends.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_HEAD_H
#define SERVICE_IDENTIFY_IDENTIFY_HEAD_H

#include "identification/model/model.h"
#include "service/identify/identify_request.h"
#include "service/identify/parameters_in_use.h"

/* What each result begins with: the stages know no request, but what the ones before left. */
struct identify_head {
    const struct model_row *row;
    struct identify_caller caller;
    bool doubts; /* values are held against what is plausible */
};

/* The end of a judgement: the values in use beside the estimate, advice, the outcome. */
void identify_conclude(const struct identify_head *head, struct estimate *estimate,
                       struct reference_check *in_use);

#endif
