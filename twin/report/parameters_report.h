/* twin/report/parameters_report.h - parameter sets, their checks, and what became of them, as
 * JSON: docs/model/parameters.md. Pure. */
#ifndef TWIN_REPORT_PARAMETERS_REPORT_H
#define TWIN_REPORT_PARAMETERS_REPORT_H

#include "logger/message/json_write.h"
#include "twin/pair/parameters.h"

/* {"version","model","state","made_t",…,"values":{…},"se":{…}} or null. */
void parameters_report_set(struct json_writer *w, const char *key,
                           const struct parameter_set *set);
/* The same of a model of dynamics, with "ci95" beside. */
void parameters_report_set_of(struct json_writer *w, const char *key,
                              const struct parameter_set *set,
                              const struct parameter_terms *terms);
void parameters_report_checks(struct json_writer *w, const char *key,
                              const struct parameter_checks *checks);

/* {"pair","n","t","action","by","version","detail","code_version","set","fit","checks"} */
void parameters_report_change(struct json_writer *w, const char *key,
                              const struct parameter_change *change, const char *pair,
                              const char *code_version);

#endif
