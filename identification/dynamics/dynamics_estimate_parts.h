/* identification/dynamics/dynamics_estimate_parts.h - functions shared by the files of
 * dynamics_estimate.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_ESTIMATE_PARTS_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_ESTIMATE_PARTS_H

#include "identification/dynamics/dynamics_estimate.h"
#include "identification/simulation/output_error.h"

/* Above this number of samples, simulation with sensitivities takes several seconds, too
 * long unless it was requested. */
enum { ESTIMATE_SAMPLES_MAX = 50000 };

/* A model, a recording and the options of a fit. */
struct estimate_job {
    const struct model *model;
    const struct data_set *set;
    const struct dynamics_options *options;
};

/* Context of the progress callback of pem and output_error, with the running method. */
struct estimate_stage {
    const struct dynamics_options *options;
    enum dynamics_method method;
};

/* Returns as dynamics_linear_fit() does. */
MUST_USE enum status estimate_by_regression(const struct estimate_job *job,
                                            enum dynamics_method method,
                                            struct dynamics_fit *fit);

/* Copies the previous fit to *fit and adds the reason: "... : values are those of weak_iv". */
void estimate_fall_back(const struct dynamics_fit *from, enum estimate_verdict at_best,
                        const char *why, struct dynamics_fit *fit);

/* Returns whether every parameter has a value. */
bool estimate_is_whole(const struct dynamics_fit *fit);

/* Sets the options of a search by simulation; it borrows the stage. */
void estimate_set_search(const struct estimate_job *job, struct estimate_stage *stage,
                         struct search_options *search);

/* Narrows the search to a delay that is nearly known: within `errors` standard errors, or
 * least_s. If no delay was found, none is searched. Fewer samples at the start of each run
 * are then left out. */
void estimate_narrow(const struct dynamics_fit *from, double errors, double least_s,
                     struct search_options *search);

/* Copies what only regression knows about the recording. */
void estimate_copy_regression(const struct dynamics_fit *from, struct dynamics_fit *fit);

/* Computes a start in *start, and output_error from it in *fit. If that is impossible, *fit
 * is the start with a reason, and fit->method says so. */
MUST_USE enum status estimate_by_simulation(const struct estimate_job *job,
                                            struct dynamics_fit *start,
                                            struct dynamics_fit *fit,
                                            struct search_report *report);

/* Returns whether simulation suits a model that sticks: its residuals are white, or at least
 * change from one sample to the next. They do not if the joint sticks or a controller drives
 * it. fit and report come from estimate_by_simulation(). */
bool estimate_is_at_home(const struct model *model, const struct dynamics_fit *fit,
                         const struct search_report *report);

/* Fits with equal weights for all samples. DYNAMICS_METHOD_COUNT lets the data choose the
 * method. */
MUST_USE enum status estimate_plainly(const struct estimate_job *job,
                                      enum dynamics_method method, struct dynamics_fit *fit);

#endif
