/* service/identify/identify.h - any model of identification/model/model.h fitted to recordings,
 * as `tandem identify` and POST /api/v1/identify do: neither reading nor fitting knows who
 * asked.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_H
#define SERVICE_IDENTIFY_IDENTIFY_H

#include "identification/model/models.h"
#include "service/identify/identify_head.h"

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

/* What is done with a sort of model, stage by stage: nothing goes back to one before. */
struct identify_method {
    size_t bytes; /* of a result: a struct identify_head, and zeros */
    /* Before anything is read; as identify_check(). NULL: nothing is to be checked. */
    enum status (*check)(const struct model_row *row, const struct identify_request *request,
                         struct err *err);
    /* All that is asked becomes data: recordings, those held out too, and values in use. */
    enum status (*read)(const struct identify_request *request, void *result, struct err *err);
    enum status (*fit)(void *result, struct err *err);
    /* Checks, held-out recordings, values in use: the verdict, and identify_report_outcome().
     */
    enum status (*judge)(void *result, struct err *err);
    void (*write)(const void *result, struct json_writer *w); /* members of the document */
    void (*print)(const void *result, FILE *out);             /* the page */
    void (*release)(void *result); /* what it points to, found or not; NULL: nothing */
};

/* All stages; *result is to be released whatever comes of it. As identify_run(). */
MUST_USE enum status identify_find(const struct identify_method *method,
                                   const struct model_row *row,
                                   const struct identify_request *request, void *result,
                                   struct err *err);

extern const struct identify_method identify_dynamics, identify_travel_time, identify_arm_time,
    identify_odometry, identify_arm_friction, identify_arm_kinematics;

#endif
