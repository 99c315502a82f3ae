/* twin/report/parameters_report.h - parameter sets, their checks, and what became of them, as
 * JSON: docs/model/parameters.md. Pure. */
#ifndef TWIN_REPORT_PARAMETERS_REPORT_H
#define TWIN_REPORT_PARAMETERS_REPORT_H

#include "logger/message/json_write.h"
#include "twin/pair/parameters.h"

/* {"version","model","state","made_t",…,"values":{…},"se":{…}} or null; of a model of dynamics
 * with "ci95" beside. */
void parameters_report_set(struct json_writer *w, const char *key,
                           const struct parameter_set *set);
/* "active", "candidate", "sets":[…] into an object that is open. */
void parameters_report_book(struct json_writer *w, const struct parameter_book *book);
void parameters_report_checks(struct json_writer *w, const char *key,
                              const struct parameter_checks *checks);

/* {"pair","n","t","action","by","version","detail","code_version","set","fit","checks"} */
void parameters_report_change(struct json_writer *w, const char *key,
                              const struct parameter_change *change, const char *pair,
                              const char *code_version);

#endif
