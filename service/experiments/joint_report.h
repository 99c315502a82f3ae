/* service/experiments/joint_report.h - what an experiment with a joint showed: a page, JSON,
 * CSV. */
#ifndef SERVICE_EXPERIMENTS_JOINT_REPORT_H
#define SERVICE_EXPERIMENTS_JOINT_REPORT_H

#include <stdio.h>

#include "service/experiments/joint_study.h"

void joint_report_page(const struct joint_study *study, FILE *out);

/* One line: docs/model/servo.md, section 7. */
void joint_report_json(const struct joint_study *study, FILE *out);

/* controllers.csv and run.csv (the first lag over time) into folder, which is made when it is
 * not there. STATUS_E_IO with err filled. */
MUST_USE enum status joint_report_csv(const struct joint_study *study, const char *folder,
                                      struct err *err);

#endif
