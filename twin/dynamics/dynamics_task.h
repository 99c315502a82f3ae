/* twin/dynamics/dynamics_task.h - a batch fit of dynamics on a frozen window of samples, with
 * the checks that decide whether it may become a parameter set.
 *
 * The worker thread, a replay, and a lab without worker results make the same call: equal
 * windows give equal bytes. docs/model/online.md. Pure, apart from GSL's allocations.
 */
#ifndef TWIN_DYNAMICS_DYNAMICS_TASK_H
#define TWIN_DYNAMICS_DYNAMICS_TASK_H

#include "base/errors/err.h"
#include "logger/message/event.h"
#include "twin/dynamics/dynamics_result.h"

/* Runs the fit. STATUS_E_EMPTY, STATUS_E_RANGE, STATUS_E_MATH: these samples cannot be fitted;
 * STATUS_E_NOMEM; STATUS_E_STALE: stopped. err has the reason; *out is written on STATUS_OK
 * only. */
MUST_USE enum status dynamics_task_run(const struct dynamics_task *task,
                                       struct dynamics_result *out, struct err *err);

/* Runs the fit and makes the lab's event of its end: outcome, detail, and *out as result if
 * done. The job number stays. */
enum status dynamics_task_end(const struct dynamics_task *task, struct dynamics_result *out,
                              struct event_fit *end, struct err *err);

#endif
