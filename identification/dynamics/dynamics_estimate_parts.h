/* identification/dynamics/dynamics_estimate_parts.h - what the files of dynamics_estimate
 * share. */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_ESTIMATE_PARTS_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_ESTIMATE_PARTS_H

#include "identification/dynamics/dynamics_estimate.h"
#include "identification/simulation/output_error.h"

/* Of more samples, simulation with sensitivities takes too long for who did not ask for it:
 * some seconds at the first. */
enum { ESTIMATE_SAMPLES_MAX = 50000 };

/* What is to be estimated, of what, and how. */
struct estimate_job {
    const struct model *model;
    const struct data_set *set;
    const struct dynamics_options *options;
};

/* Of pem and output_error alike: who is asked before an iteration, and of which method. */
struct estimate_stage {
    const struct dynamics_options *options;
    enum dynamics_method method;
};

/* As dynamics_linear_fit(). */
MUST_USE enum status estimate_by_regression(const struct estimate_job *job,
                                            enum dynamics_method method,
                                            struct dynamics_fit *fit);

/* *fit is what there was before, for a reason: "... : values are those of weak_iv". */
void estimate_fall_back(const struct dynamics_fit *from, enum estimate_verdict at_best,
                        const char *why, struct dynamics_fit *fit);

/* Whether every parameter has a value. */
bool estimate_is_whole(const struct dynamics_fit *fit);

/* What a search by simulation begins with; it keeps the stage. */
void estimate_set_search(const struct estimate_job *job, struct estimate_stage *stage,
                         struct search_options *search);

/* Around a delay that is nearly known: so many of its errors, or least_s; none is sought where
 * none was found. What is left out at the start of each run for the sake of the latest delay
 * shrinks with it. */
void estimate_narrow(const struct dynamics_fit *from, double errors, double least_s,
                     struct search_options *search);

/* What regression alone knows about the recording. */
void estimate_copy_regression(const struct dynamics_fit *from, struct dynamics_fit *fit);

/* A start in *start, and output_error from there in *fit. Where that cannot be, *fit is the
 * start and says why; fit->method tells. */
MUST_USE enum status estimate_by_simulation(const struct estimate_job *job,
                                            struct dynamics_fit *start,
                                            struct dynamics_fit *fit,
                                            struct search_report *report);

/* Whether simulation is the way to estimate a model that sticks: what it leaves is white, or at
 * least changes from one sample to the next, which it does not where the joint sticks or a
 * controller drives it. fit and report as of estimate_by_simulation(). */
bool estimate_is_at_home(const struct model *model, const struct dynamics_fit *fit,
                         const struct search_report *report);

/* All samples count alike. method: DYNAMICS_METHOD_COUNT leaves the choice to the data. */
MUST_USE enum status estimate_plainly(const struct estimate_job *job,
                                      enum dynamics_method method, struct dynamics_fit *fit);

#endif
