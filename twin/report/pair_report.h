/* twin/report/pair_report.h - what is known of a pair, as JSON: served over HTTP, printed by
 * replay, published over MQTT, from the same functions. Nothing is computed here. Pure. */
#ifndef TWIN_REPORT_PAIR_REPORT_H
#define TWIN_REPORT_PAIR_REPORT_H

#include "logger/message/json_write.h"
#include "twin/following/pair_following.h"

/* {"real": FIT, "virtual": FIT}: the batch fits of the moves in the window (fit_report.h).
 */
void pair_report_travel_time(struct json_writer *w, const char *key,
                             const struct pair_fits *fits);

/* {"real": {"moves","moves_excluded","tracked":{…}}, "virtual": …}: the Kalman filter's values,
 * move by move; cheap. */
void pair_report_tracked(struct json_writer *w, const char *key, const struct pair *pair,
                         const struct pair_params *p);

/* {"real": {"state","offset_s","offset_se_s","drift_ppm",…}, "virtual": {…}} */
void pair_report_clock(struct json_writer *w, const char *key, const struct pair *pair);

/* "active", "candidate", "sets":[…] into an object that is open. */
void parameters_report_book(struct json_writer *w, const struct parameter_book *book);
void parameters_report_checks(struct json_writer *w, const char *key,
                              const struct parameter_checks *checks);

/* {"pair","n","t","action","by","version","detail","code_version","set","fit","checks"} */
void parameters_report_change(struct json_writer *w, const char *key,
                              const struct parameter_change *change, const char *pair,
                              const char *code_version);

/* {"promote","active": SET or null,"candidate": SET or null,"sets":[…]} (parameters.h) */
void pair_report_parameters(struct json_writer *w, const char *key, const struct pair *pair,
                            const struct pair_params *p);

/* {"smartlog": {...}, "link": {...}, "following": {...}, "trace": […]}: live state of the
 * machines, with visit counts. following: NULL of a pair that does not. */
void pair_report_machines(struct json_writer *w, const char *key, const struct pair *pair,
                          const struct pair_following *following, const struct pair_params *p);

/* The pair at a glance: id, kind, mode, outstanding, counts, last lag, recent verdicts, last
 * alarm, sides (online, boot, seq gaps …), how truly the virtual robot follows. following: NULL
 * of a pair that does not. */
void pair_report_summary(struct json_writer *w, const char *key, const struct pair *pair,
                         const struct pair_following *following, const struct pair_params *p);

#endif
