#include "service/identify/identify_head.h"

void identify_conclude(const struct identify_head *head, struct estimate *estimate,
                       struct reference_check *in_use)
{
    parameters_in_use_judge(in_use, head->row->name, estimate);
    estimate_advise_worst(estimate);
    identify_report_outcome(&head->caller, estimate, in_use->comparison.contradicts);
}
