/* service/replay/replay_report.h - what a replay says: one JSON document, CSV files, or lines
 * for people. */
#ifndef SERVICE_REPLAY_REPLAY_REPORT_H
#define SERVICE_REPLAY_REPLAY_REPORT_H

#include "service/replay/replay_run.h"

/* At the end: write what the options ask for. The reason of a failure is in run->err. */
MUST_USE enum status replay_report(struct replay_run *run);

#endif
