#include "service/experiments/joint_study.h"

#include <stdlib.h>

struct track {
    struct joint_trial_point *points;
    size_t count, room;
};

static void keep_point(void *context, const struct joint_trial_point *point)
{
    struct track *track = context;
    if (track->count < track->room) {
        track->points[track->count++] = *point;
    }
}

enum status joint_study_run(const struct joint_file *file, struct joint_study *out,
                            struct err *err)
{
    const size_t room = (size_t)(file->trial.duration_s / file->trial.sample_s) + 2;
    struct joint_study study = {.file = file, .point_room = room};
    study.points = calloc(POSITION_KIND_COUNT * room, sizeof study.points[0]);
    if (!study.points) {
        return err_set(err, STATUS_E_NOMEM, file->name, 0, 0, "not enough memory");
    }
    for (size_t i = 0; i < file->lag_count; i++) {
        for (size_t k = 0; k < POSITION_KIND_COUNT; k++) {
            struct joint_trial_params trial;
            struct track track = {study.points + k * room, 0, room};
            if (!file->runs[k]) {
                continue;
            }
            joint_file_trial(file, i, (enum position_kind)k, &trial);
            joint_trial_run(&trial, i == 0 ? keep_point : NULL, &track, &study.result[i][k]);
            study.point_count = i == 0 ? track.count : study.point_count; /* of all the same */
        }
    }
    *out = study;
    return STATUS_OK;
}

void joint_study_free(struct joint_study *study)
{
    free(study->points);
    study->points = NULL;
    study->point_count = 0;
}
