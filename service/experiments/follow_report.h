/* service/experiments/follow_report.h - what an experiment showed: a page, JSON, CSV. */
#ifndef SERVICE_EXPERIMENTS_FOLLOW_REPORT_H
#define SERVICE_EXPERIMENTS_FOLLOW_REPORT_H

#include <stdio.h>

#include "service/experiments/follow_study.h"

void follow_report_page(const struct follow_study *study, FILE *out);

/* One line: docs/model/following.md, section 5. */
void follow_report_json(const struct follow_study *study, FILE *out);

/* states.csv and run.csv (the first run over time) into folder, which is made when it is not
 * there. STATUS_E_IO with err filled. */
MUST_USE enum status follow_report_csv(const struct follow_study *study, const char *folder,
                                       struct err *err);

#endif
