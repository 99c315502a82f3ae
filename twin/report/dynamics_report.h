/* twin/report/dynamics_report.h - a fit of dynamics as JSON: the FIT of
 * docs/model/identification.md, section 7. What is not known is null. Pure.
 */
#ifndef TWIN_REPORT_DYNAMICS_REPORT_H
#define TWIN_REPORT_DYNAMICS_REPORT_H

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_compare.h"
#include "identification/dynamics/dynamics_sensitivity.h"
#include "identification/dynamics_fit.h"
#include "logger/message/json_write.h"

/* Each adds members to an object that is open. */
void dynamics_report_fit(struct json_writer *w, const struct model *model,
                         const struct dynamics_fit *fit);
void dynamics_report_card(struct json_writer *w, const struct model *model,
                          const struct data_card *card);
void dynamics_report_check(struct json_writer *w, const struct model *model,
                           const struct dynamics_check *check);

/* A member of its own name; null when it is not known. */
void dynamics_report_sensitivity(struct json_writer *w, const struct estimate *estimate,
                                 const struct dynamics_sensitivity *sensitivity);
/* The same; comparison may be NULL. */
void dynamics_report_comparison(struct json_writer *w, const struct model *model,
                                const struct estimate *estimate,
                                const struct dynamics_current *current,
                                const struct dynamics_comparison *comparison);
/* Members again. */
void dynamics_report_options(struct json_writer *w, const struct dynamics_options *options);

#endif
