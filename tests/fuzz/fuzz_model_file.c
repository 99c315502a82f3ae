/* Any bytes as a model: no crash, faults with a text; an accepted model has a name, is within
 * every bound, and computes rows, rates and slopes in bounded time. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/model/model_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_compute(const struct model *model)
{
    static double still[MODEL_AXES_MAX][MODEL_STRIDE];
    static double columns[MODEL_AXES_MAX][MODEL_STRIDE];
    static double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX][MODEL_STRIDE];
    double theta[MODEL_PARAMETERS_MAX];
    double pose[MODEL_POSES_MAX] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    double nu[MODEL_AXES_MAX] = {1.1, -0.7, 0.3, 0.9, -0.2, 0.5};
    double rate[MODEL_POSES_MAX];
    double out[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double gradient[MODEL_PARAMETERS_MAX];
    for (size_t k = 0; k < MODEL_PARAMETERS_MAX; k++) {
        theta[k] = 0.5 + (double)k;
    }
    model->rows(model, pose, nu, nu, out);
    model->forward(model, theta, pose, nu, nu, rate);
    model->inverse(model, theta, pose, nu, nu, rate);
    model_regressor(model, pose, nu, nu, rate, out);
    model_known(model, pose, nu, nu, rate, out);
    model_mobility(model, theta, pose, nu, out);
    model->slope(model, theta, pose, nu, NULL, out);
    model->kinematics(model, pose, nu, rate);
    if (model->rows_many) {
        model->rows_many(model, (const double(*)[MODEL_STRIDE])columns,
                         (const double(*)[MODEL_STRIDE])still, phi);
    }
    for (size_t d = 0; d < model->derived_count; d++) {
        (void)model_derive(model, d, theta, gradient);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model_file *file = NULL;
    struct err_list errors = {0};
    if (option_file_parse(&model_file, (const char *)data, size, "fuzz", &file, &errors) !=
        STATUS_OK) {
        assert(!file && errors.count > 0);
        for (size_t i = 0; i < errors.count; i++) {
            assert(errors.items[i].text[0] != '\0');
        }
        return 0;
    }
    const struct model *model = file->row.model;
    assert(model->name[0] != '\0' && model->hash != 0);
    assert(model->axis_count > 0 && model->axis_count <= MODEL_AXES_MAX);
    assert(model->parameter_count > 0 && model->parameter_count <= MODEL_PARAMETERS_MAX);
    assert(model_pose_count(model) <= MODEL_POSES_MAX);
    fuzz_compute(model);
    for (size_t v = 0; v < file->row.variant_count; v++) {
        fuzz_compute(file->row.variants[v].model);
    }
    model_file_free(file);
    return 0;
}
