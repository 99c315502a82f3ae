#include "service/identify/identify.h"

#include <stdio.h>
#include <string.h>

#include "service/identify/dynamics_page.h"
#include "service/identify/identify_odometry.h"
#include "service/identify/identify_travel_time.h"

/* What is done with each sort of model. */
struct way {
    enum status (*check)(const struct model_row *row, const struct identify_request *request,
                         struct err *err);
    enum status (*run)(const struct model_row *row, const struct identify_request *request,
                       FILE *out, struct err *err);
};

static const struct way ways[MODEL_DATA_COUNT] = {
    [MODEL_OF_MOTION] = {identify_dynamics_check, dynamics_page},
    [MODEL_OF_MOVES] = {identify_travel_time_check, identify_travel_time},
    [MODEL_OF_WHEELS] = {identify_odometry_check, identify_odometry},
};

static enum status refuse_role(const struct model_row *row, const char *role, struct err *err)
{
    char roles[ERR_TEXT_MAX] = "";
    size_t used = 0;
    for (const char *const *known = row->roles; *known && used < sizeof roles; known++) {
        const int n = snprintf(roles + used, sizeof roles - used, " %s", *known);
        used += n > 0 ? (size_t)n : 0;
    }
    return err_set(err, STATUS_E_ARG, "columns", 0, 0, "unknown role '%s', %s has%s", role,
                   row->name, roles);
}

static bool has_role(const struct model_row *row, const char *name)
{
    const char *const *role = row->roles;
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

static enum status refuse_option(const struct model_row *row, const char *option,
                                 struct err *err)
{
    const bool delay = strcmp(option, "delay_max_s") == 0;
    return err_set(err, STATUS_E_ARG, option, 0, 0, "--%s is not for %s",
                   delay ? "delay-max" : option, row->name);
}

enum status identify_check(const struct model_row *row, const struct identify_request *request,
                           struct err *err)
{
    if (strcmp(request->side, "real") != 0 && strcmp(request->side, "virtual") != 0) {
        return err_set(err, STATUS_E_ARG, "side", 0, 0,
                       "unknown side '%s', real and virtual are known", request->side);
    }
    const char *motion = row->data == MODEL_OF_MOTION ? NULL : motion_option(request);
    if (motion) {
        return refuse_option(row, motion, err);
    }
    if (request->heading_m > 0.0 && row->data != MODEL_OF_WHEELS) {
        return refuse_option(row, "heading-m", err);
    }
    for (size_t i = 0; i < request->column_count; i++) {
        if (!has_role(row, request->columns[i].role)) {
            return refuse_role(row, request->columns[i].role, err);
        }
    }
    return ways[row->data].check(row, request, err);
}

enum status identify_run(const struct model_row *row, const struct identify_request *request,
                         FILE *out, struct err *err)
{
    return ways[row->data].run(row, request, out, err);
}
