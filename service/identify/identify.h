/* service/identify/identify.h - any model of twin/models/model.h fitted to recordings, as
 * `tandem identify` and POST /api/v1/identify do: neither reading nor fitting knows who asked.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_H
#define SERVICE_IDENTIFY_IDENTIFY_H

#include "service/identify/identify_request.h"
#include "twin/models/models.h"

/* Can be done what is asked for, whatever the data? The side, the roles, that what is asked is
 * for models of this sort, and what these check themselves. STATUS_E_ARG: err->where is the
 * option at fault. */
MUST_USE enum status identify_check(const struct model_row *row,
                                    const struct identify_request *request, struct err *err);

/* Read, fit, and write the result to out: one JSON document, or a page for people. Nothing is
 * written unless STATUS_OK. STATUS_E_ARG: the request cannot be met by this model;
 * STATUS_E_STALE: told to end; else the data or the fit, see *err. */
MUST_USE enum status identify_run(const struct model_row *row,
                                  const struct identify_request *request, FILE *out,
                                  struct err *err);

/* An error of reading held-out recordings names what it speaks of, where it does not yet. */
void identify_blame_held_out(const struct identify_request *request, struct err *err);

/* What is done with models of motion, of moves, of commanded moves, of wheels, and of arms: as the
 * two above. */
MUST_USE enum status identify_dynamics_check(const struct model_row *row,
                                             const struct identify_request *request,
                                             struct err *err);
MUST_USE enum status identify_dynamics(const struct model_row *row,
                                       const struct identify_request *request, FILE *out,
                                       struct err *err);
MUST_USE enum status identify_travel_time_check(const struct model_row *row,
                                                const struct identify_request *request,
                                                struct err *err);
MUST_USE enum status identify_travel_time(const struct model_row *row,
                                          const struct identify_request *request, FILE *out,
                                          struct err *err);
MUST_USE enum status identify_arm_time_check(const struct model_row *row,
                                             const struct identify_request *request,
                                             struct err *err);
MUST_USE enum status identify_arm_time(const struct model_row *row,
                                       const struct identify_request *request, FILE *out,
                                       struct err *err);
MUST_USE enum status identify_odometry_check(const struct model_row *row,
                                             const struct identify_request *request,
                                             struct err *err);
MUST_USE enum status identify_odometry(const struct model_row *row,
                                       const struct identify_request *request, FILE *out,
                                       struct err *err);
MUST_USE enum status identify_arm_friction_check(const struct model_row *row,
                                                 const struct identify_request *request,
                                                 struct err *err);
MUST_USE enum status identify_arm_friction(const struct model_row *row,
                                           const struct identify_request *request, FILE *out,
                                           struct err *err);
MUST_USE enum status identify_arm_kinematics_check(const struct model_row *row,
                                                   const struct identify_request *request,
                                                   struct err *err);
MUST_USE enum status identify_arm_kinematics(const struct model_row *row,
                                             const struct identify_request *request, FILE *out,
                                             struct err *err);

#endif
