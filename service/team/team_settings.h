/* service/team/team_settings.h - what-if changes of a team: "R1.speed=+10%",
 * "IB.capacity=2". */
#ifndef SERVICE_TEAM_TEAM_SETTINGS_H
#define SERVICE_TEAM_TEAM_SETTINGS_H

#include "base/errors/err.h"
#include "twin/team/step/team_predict.h"

struct team_settings {
    struct team_params params; /* parameters of the file with the changes */
    struct team_robot_params *robots;
    struct team_resource_params *resources;
    double *speed;        /* [robots] 1: unchanged */
    struct team_pose *at; /* [robots] NAN: unknown */
};

/* Copy the parameters and apply texts[count], "NAME.WHAT=VALUE". STATUS_E_PARSE with all faults
 * in *errors, STATUS_E_NOMEM. out is to be freed. */
MUST_USE enum status team_settings_make(const struct team_params *p, const char *const *texts,
                                        size_t count, struct team_settings *out,
                                        struct err_list *errors);
void team_settings_free(struct team_settings *settings);

#endif
