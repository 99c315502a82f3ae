/* service/team/team_settings.h - what-if changes of a team: "R1.speed=+10%",
 * "IB.capacity=2". */
#ifndef SERVICE_TEAM_TEAM_SETTINGS_H
#define SERVICE_TEAM_TEAM_SETTINGS_H

#include "base/errors/err.h"
#include "config/team/team_file.h"
#include "twin/team/step/team_predict.h"

/* The team of this name, or, if name is empty, the only one. NULL: names has those of the file.
 */
enum { TEAM_SETTINGS_NAMES_MAX = 256 };
const struct team_params *team_settings_choose(const struct team_file *file, const char *name,
                                               char names[TEAM_SETTINGS_NAMES_MAX]);

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
/* Make a prediction with the nominal durations, to be freed; NULL: no memory. */
struct team_prediction *team_settings_predict(const struct team_settings *settings);
/* Apply speeds and positions, after what was measured. */
void team_settings_apply(const struct team_settings *settings, struct team_prediction *tp);
void team_settings_free(struct team_settings *settings);

#endif
