/* service/identify/identify_odometry.h - tandem identify --model odometry: wheel radii, track
 * and the mounting of a pose sensor. */
#ifndef SERVICE_IDENTIFY_IDENTIFY_ODOMETRY_H
#define SERVICE_IDENTIFY_IDENTIFY_ODOMETRY_H

#include "service/identify/identify_request.h"
#include "twin/models/model.h"

/* As identify_run(). */
MUST_USE enum status identify_odometry(const struct model_row *row,
                                       const struct identify_request *request, FILE *out,
                                       struct err *err);

#endif
