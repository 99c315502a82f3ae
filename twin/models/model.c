#include "twin/models/model.h"

#include <string.h>

#include "twin/models/diffdrive.h"
#include "twin/models/first_order.h"
#include "twin/models/joint.h"
#include "twin/models/usv3.h"

const struct model *const models[] = {
    &usv3_model,  &diffdrive_model,  &first_order_model, &first_order_deadband_model,
    &joint_model, &joint_load_model,
};

const size_t model_count = COUNT(models);

const struct model *model_find(const char *name)
{
    for (size_t i = 0; i < model_count; i++) {
        if (strcmp(models[i]->name, name) == 0) {
            return models[i];
        }
    }
    return NULL;
}
