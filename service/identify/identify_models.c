/* The models there are, and what holds for a request to any of them. */
#include <stdio.h>
#include <string.h>

#include "service/identify/identify.h"
#include "service/identify/identify_dynamics.h"

const struct identify_model *const identify_models[] = {
    &identify_travel_time,
    &identify_usv3,
    &identify_diffdrive,
    &identify_first_order,
    &identify_first_order_deadband,
    &identify_odometry,
    &identify_joint,
    &identify_joint_load,
};
const size_t identify_model_count = COUNT(identify_models);

const struct identify_model *identify_find_model(const char *name)
{
    for (size_t i = 0; i < identify_model_count; i++) {
        if (strcmp(identify_models[i]->name, name) == 0) {
            return identify_models[i];
        }
    }
    return NULL;
}

enum status identify_take_columns(const char *text, struct identify_request *request,
                                  struct err *err)
{
    while (*text) {
        const size_t n = strcspn(text, ",");
        const char *equals = memchr(text, '=', n);
        if (request->column_count == IDENTIFY_COLUMNS_MAX) {
            return err_set(err, STATUS_E_ARG, "columns", 0, 0,
                           "too many columns at '%s', 32 are the limit", text);
        }
        struct identify_column *column = &request->columns[request->column_count];
        const size_t role = equals ? (size_t)(equals - text) : 0;
        if (role == 0 || role >= sizeof column->role || n - role - 1 == 0 ||
            n - role - 1 >= sizeof column->column) {
            return err_set(err, STATUS_E_ARG, "columns", 0, 0,
                           "columns cannot be read at '%s', write role=name,role=name", text);
        }
        memcpy(column->role, text, role);
        column->role[role] = '\0';
        memcpy(column->column, equals + 1, n - role - 1);
        column->column[n - role - 1] = '\0';
        request->column_count++;
        text += n + (text[n] == ',');
    }
    return STATUS_OK;
}

static enum status refuse_role(const struct identify_model *model, const char *role,
                               struct err *err)
{
    char roles[ERR_TEXT_MAX] = "";
    size_t used = 0;
    for (const char *const *known = model->roles; *known && used < sizeof roles; known++) {
        const int n = snprintf(roles + used, sizeof roles - used, " %s", *known);
        used += n > 0 ? (size_t)n : 0;
    }
    return err_set(err, STATUS_E_ARG, "columns", 0, 0, "unknown role '%s', %s has%s", role,
                   model->name, roles);
}

static bool has_role(const struct identify_model *model, const char *name)
{
    const char *const *role = model->roles;
    while (*role && strcmp(*role, name) != 0) {
        role++;
    }
    return *role != NULL;
}

/* An option that is for models of motion only; NULL: none was given. */
static const char *motion_option(const struct identify_request *request)
{
    const struct {
        bool given;
        const char *name;
    } options[] = {
        {request->biases, "biases"},           {request->delay_max_s != NULL, "delay_max_s"},
        {request->ridge > 0.0, "ridge"},       {request->robust, "robust"},
        {request->journal, "journal"},         {request->pair != NULL, "pair"},
        {request->current != NULL, "current"}, {request->plot != NULL, "plot"},
    };
    for (size_t i = 0; i < COUNT(options); i++) {
        if (options[i].given) {
            return options[i].name;
        }
    }
    return NULL;
}

static enum status refuse_option(const struct identify_model *model, const char *option,
                                 struct err *err)
{
    const bool delay = strcmp(option, "delay_max_s") == 0;
    return err_set(err, STATUS_E_ARG, option, 0, 0, "--%s is not for %s",
                   delay ? "delay-max" : option, model->name);
}

enum status identify_check(const struct identify_model *model,
                           const struct identify_request *request, struct err *err)
{
    if (strcmp(request->side, "real") != 0 && strcmp(request->side, "virtual") != 0) {
        return err_set(err, STATUS_E_ARG, "side", 0, 0,
                       "unknown side '%s', real and virtual are known", request->side);
    }
    const char *motion = model->kind ? NULL : motion_option(request);
    if (motion) {
        return refuse_option(model, motion, err);
    }
    if (request->heading_m > 0.0 && strcmp(model->name, "odometry") != 0) {
        return refuse_option(model, "heading-m", err);
    }
    for (size_t i = 0; i < request->column_count; i++) {
        if (!has_role(model, request->columns[i].role)) {
            return refuse_role(model, request->columns[i].role, err);
        }
    }
    if (model->check) {
        return model->check(request, err);
    }
    return model->kind ? identify_dynamics_check(model->kind, request, err) : STATUS_OK;
}

const char *identify_column(const struct identify_request *request, const char *role)
{
    for (size_t i = 0; i < request->column_count; i++) {
        if (strcmp(request->columns[i].role, role) == 0) {
            return request->columns[i].column;
        }
    }
    return NULL;
}

const char *identify_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
