/* service/evidence/compare_plot.h - a comparison of lags as an SVG picture. */
#ifndef SERVICE_EVIDENCE_COMPARE_PLOT_H
#define SERVICE_EVIDENCE_COMPARE_PLOT_H

#include "service/evidence/comparison.h"

/* Draw the lags of matched commands and their difference, or without matches the shares of
 * commands below each lag. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status compare_plot(const char *path, const char *id,
                                  const struct recorded_pair *a, const struct recorded_pair *b,
                                  const struct comparison *c, struct err *err);

#endif
