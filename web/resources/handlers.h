/* web/resources/handlers.h - every handler, by resource; web/openapi.yaml says what each
 * answers. */
#ifndef WEB_RESOURCES_HANDLERS_H
#define WEB_RESOURCES_HANDLERS_H

#include "web/http/handler.h"

web_handler get_pairs, get_pair;                                       /* pairs.c */
web_handler get_entries, get_alarms, get_log, get_changes;             /* records.c */
web_handler get_travel_time, get_tracked, get_clock, get_machines;     /* calibration.c */
web_handler get_parameters, post_propose, post_promote, post_rollback; /* parameters.c */
web_handler get_following, put_following, get_fidelity;                /* following.c */
web_handler get_trajectory;                                            /* trajectory.c */
web_handler post_command;                                              /* commands.c */
web_handler get_dynamics, post_dynamics;                               /* dynamics.c */
web_handler post_identify, post_replay;                                /* uploads.c */
web_handler get_jobs, get_job, delete_job;                             /* jobs.c */
web_handler get_status, get_healthz, get_readyz;                       /* status.c */
web_handler get_openapi;                                               /* contract.c */
web_handler get_index, get_page;                                       /* page.c */
web_handler get_events;                                                /* events.c */
web_handler get_metrics;                                               /* metrics_page.c */
web_handler get_series;                                                /* series.c */

#endif
