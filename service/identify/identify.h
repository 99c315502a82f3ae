/* service/identify/identify.h - fits any model of identification/model/model.h to recordings,
 * for `tandem identify` and POST /api/v1/identify. Reading and fitting do not know who asked.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_H
#define SERVICE_IDENTIFY_IDENTIFY_H

#include "identification/fit/fitted_numbers.h"
#include "identification/model/models.h"
#include "service/identify/identify_head.h"

/* Check the request without the data: the side, the roles, options that suit this kind of
 * model, and the model's own rules. STATUS_E_ARG: err->where is the faulty option. */
MUST_USE enum status identify_check(const struct model_row *row,
                                    const struct identify_request *request, struct err *err);

/* Read, fit, and write the result to out: one JSON document, or a page for people. Nothing is
 * written unless STATUS_OK. STATUS_E_ARG: this model cannot meet the request; STATUS_E_STALE:
 * cancelled; else the data or the fit failed, see *err. */
MUST_USE enum status identify_run(const struct model_row *row,
                                  const struct identify_request *request, FILE *out,
                                  struct err *err);

/* The stages for a kind of model, in their order; none goes back to an earlier one. */
struct identify_method {
    size_t bytes; /* size of a result: a struct identify_head first, all zero */
    /* Sets the fit to unknown, and returns its names, which --reference accepts. */
    struct parameters_in_use_form (*name)(void *result);
    /* Checks the request before anything is read, as identify_check(). NULL: no checks but
     * of --reference. */
    enum status (*check)(const struct model_row *row, const struct identify_request *request,
                         struct err *err);
    /* Appends numbers that follow from the parameters, and the delay. NULL: none. */
    void (*derive)(const void *result, struct fitted_numbers *numbers);
    /* Describes what the recording covers, in words. Returns false if nothing varies, so that
     * it determines no number by itself. */
    bool (*describe)(const void *result, char *text, size_t bytes);
    /* Reads recordings to be fitted, or held-out ones: a table, or as load does. */
    const struct table_form *form;
    enum status (*load)(const struct identify_request *request, bool held_out, void *result,
                        struct err *err);
    enum status (*fit)(void *result, struct err *err);
    /* Compares with held-out recordings, if there are any. */
    enum status (*hold_out)(void *result, struct err *err);
    /* Completes the verdict, and calls identify_report_outcome(). NULL: compares the only
     * part with the values in use. */
    enum status (*judge)(void *result, struct err *err);
    /* Plans the next recording, if that was requested; NULL: it cannot. */
    enum status (*plan)(void *result, struct err *err);
    /* writes members of the document before "provenance" */
    void (*write)(const void *result, struct json_writer *w);
    /* writes further members of "provenance"; NULL: none */
    void (*write_options)(const void *result, struct json_writer *w);
    /* prints the head of the page: what was fitted, verdict and parameters. The document
     * follows. */
    void (*print)(const void *result, FILE *out);
    /* frees what the result points to, complete or not; NULL: nothing */
    void (*release)(void *result);
};

/* Run all stages; *result is to be released in every case. Errors as of identify_run(). */
MUST_USE enum status identify_find(const struct identify_method *method,
                                   const struct model_row *row,
                                   const struct identify_request *request, void *result,
                                   struct err *err);

extern const struct identify_method identify_dynamics, identify_travel_time, identify_arm_time,
    identify_odometry, identify_arm_friction, identify_arm_kinematics, identify_position_servo;

#endif
