/* twin/report/pair_report.h - a pair's state as JSON, for HTTP, replay and MQTT alike. It
 * computes nothing. Pure.
 */
#ifndef TWIN_REPORT_PAIR_REPORT_H
#define TWIN_REPORT_PAIR_REPORT_H

#include "logger/message/json_write.h"
#include "twin/following/pair_following.h"
#include "twin/report/model_fragment.h"

/* Writes {"real": FIT, "virtual": FIT}: the batch fits of the moves in the window
 * (fit_report.h); or only the members. */
void pair_report_fits(struct json_writer *w, const struct pair_fits *fits);
void pair_report_travel_time(struct json_writer *w, const char *key,
                             const struct pair_fits *fits);

/* Writes {"real": {"moves","moves_excluded","tracked":{…}}, "virtual": …}: the Kalman filter's
 * values after each move; cheap. */
void pair_report_tracked(struct json_writer *w, const char *key, const struct pair *pair,
                         const struct pair_params *p);

/* Writes {"real": {"state","offset_s","offset_se_s","drift_ppm",…}, "virtual": {…}}. */
void pair_report_clock(struct json_writer *w, const char *key, const struct pair *pair);

/* Writes "active", "candidate", "sets":[…] into an open object. */
void parameters_report_book(struct json_writer *w, const struct parameter_book *book);
void parameters_report_checks(struct json_writer *w, const char *key,
                              const struct parameter_checks *checks);

/* Writes a set as a fragment of a simulator's file; model_fragment_check() accepted it. */
void parameters_report_fragment(const struct parameter_set *set, enum fragment_format format,
                                const struct fragment_options *options,
                                json_write_flush *output, void *context);

/* Writes
 * {"pair","n","t","action","by","version","detail","code_version","set","fit","checks"}. */
void parameters_report_change(struct json_writer *w, const char *key,
                              const struct parameter_change *change, const char *pair,
                              const char *code_version);

/* Writes {"promote","active": SET or null,"candidate": SET or null,"sets":[…]}
 * (parameters.h). dynamics: sets of the pair's dynamics, written as "dynamics":
 * {"active","candidate"}; NULL: left out. */
void pair_report_parameters(struct json_writer *w, const char *key, const struct pair *pair,
                            const struct pair_params *p, const struct parameter_book *dynamics);

/* Writes {"smartlog": {...}, "link": {...}, "following": {...}, "trace": […]}: the present
 * state of the machines, with visit counts. following: NULL if the pair has none. */
void pair_report_machines(struct json_writer *w, const char *key, const struct pair *pair,
                          const struct pair_following *following, const struct pair_params *p);

/* Writes the summary of a pair: id, kind, mode, outstanding, counts, last lag, recent verdicts,
 * last alarm, sides (online, boot, seq gaps …), fidelity of the virtual robot. following: NULL
 * if the pair has none. */
void pair_report_summary(struct json_writer *w, const char *key, const struct pair *pair,
                         const struct pair_following *following, const struct pair_params *p);

#endif
