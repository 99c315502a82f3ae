/* config/labfile/following_text.c - parses the texts in a lab file's `following` section. */
#include "config/labfile/lab_file.h"

#include <math.h>
#include <string.h>

#include "base/numbers/number.h"
#include "base/text/names.h"
#include "identification/geometry/arm_geometry.h"
#include "identification/model/models.h"
#include "twin/following/follower.h"

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    return at;
}

/* Reads exactly n numbers, such as "1.5, 0, 2". */
static bool read_numbers(const char *text, double *values, size_t n)
{
    const char *at = skip_blanks(text);
    for (size_t i = 0; i < n; i++) {
        const char *end = number_scan(at, at + strlen(at), &values[i]);
        if (end == at || !isfinite(values[i])) {
            return false;
        }
        at = skip_blanks(end);
        if (i + 1 < n && *at++ != ',') {
            return false;
        }
        at = skip_blanks(at);
    }
    return *at == '\0';
}

/* Reads one "name=value" of a list; *at moves behind it. Returns NULL or what is wrong. */
static const char *read_value(const struct model *model, const char **at, double *theta,
                              bool *given)
{
    char name[64];
    const size_t n = strcspn(*at, "=, \t");
    if (n == 0 || n >= sizeof name) {
        return "name=value was expected";
    }
    memcpy(name, *at, n);
    name[n] = '\0';
    const int k = model_parameter_find(model, name);
    const char *value = skip_blanks(*at + n);
    if (k < 0) {
        return "no parameter of the model has this name";
    }
    if (*value != '=') {
        return "name=value was expected";
    }
    value = skip_blanks(value + 1);
    const char *end = number_scan(value, value + strlen(value), &theta[k]);
    if (end == value || !isfinite(theta[k])) {
        return "a number was expected";
    }
    given[k] = true;
    *at = skip_blanks(end);
    if (**at == ',') {
        *at = skip_blanks(*at + 1);
    } else if (**at != '\0') {
        return "values part at commas";
    }
    return NULL;
}

static enum status read_theta(const struct model *model, const char *key, const char *text,
                              double *theta, bool *known, struct err *err)
{
    bool given[MODEL_PARAMETERS_MAX] = {false};
    const struct model_row *row = model_row_find(model->name);
    struct allocation unused;
    *known = text[0] != '\0';
    if (row->robot && row->robot(text, theta, &unused)) {
        return STATUS_OK;
    }
    for (const char *at = skip_blanks(text); *at != '\0';) {
        const char *stand = at;
        const char *wrong = read_value(model, &at, theta, given);
        if (wrong) {
            return err_set(err, STATUS_E_RANGE, FAULT_BAD_FORMAT, key, "at '%.24s': %s", stand,
                           wrong);
        }
    }
    for (size_t i = 0; i < model->parameter_count && *known; i++) {
        if (!given[i]) {
            return err_set(err, STATUS_E_RANGE, FAULT_MISSING_KEY, key, "%s is missing",
                           model->parameters[i].name);
        }
    }
    const int unphysical = *known ? model_unphysical(model, theta) : -1;
    if (unphysical >= 0) {
        return err_set(err, STATUS_E_RANGE, FAULT_UNPHYSICAL, key, "%s cannot be %g",
                       model->parameters[unphysical].name, theta[unphysical]);
    }
    return STATUS_OK;
}

/* row: the model, or the first model with a table of known robots. */
static enum status refuse_vessel(const char *name, const struct model_row *row, struct err *err)
{
    size_t i = 0;
    while (i + 1 < model_row_count && !row->robots && !model_rows[i]->robots) {
        i++;
    }
    row = row->robots ? row : model_rows[i];
    return err_set(err, STATUS_E_RANGE, FAULT_UNKNOWN_NAME, "vessel",
                   "'%s' is not known: %s, of model %s", name, row->robots, row->name);
}

static enum status check_arm(const struct pair_following_params *p, const struct model *model,
                             struct err *err)
{
    struct arm_geometry arm;
    char names[96] = "";
    for (size_t i = 0; arm_geometry_name(i); i++) {
        names_append(names, sizeof names, arm_geometry_name(i));
    }
    return !model->joints || arm_geometry_find(p->arm, &arm)
               ? STATUS_OK
               : err_set(err, STATUS_E_RANGE, FAULT_UNKNOWN_NAME, "model",
                         "arms need the lengths that the pair's arm names, one of %s", names);
}

static enum status read_actuators(struct pair_following_params *p, const struct model *model,
                                  struct err *err)
{
    struct allocation *a = &p->allocation;
    double limit[MODEL_AXES_MAX] = {0};
    double theta[MODEL_PARAMETERS_MAX];
    struct allocation thrusters;
    const struct model_row *row = model_row_find(model->name);
    const bool vessel = row->robot && row->robot(p->vessel, theta, &thrusters);
    if (p->vessel[0] && !vessel) {
        return refuse_vessel(p->vessel, row, err);
    }
    if (p->limits[0] && !read_numbers(p->limits, limit, model->axis_count)) {
        return err_set(err, STATUS_E_RANGE, FAULT_WRONG_COUNT, "limits",
                       "%zu numbers with commas were expected, one for each effort of %s",
                       model->axis_count, model->name);
    }
    allocation_direct(a, model->axis_count, p->limits[0] ? limit : NULL);
    if (vessel) {
        *a = thrusters;
    }
    for (size_t i = 0; i < model->axis_count && !vessel && p->limits[0]; i++) {
        a->effect[i][i] = limit[i] > 0.0 ? 1.0 : 0.0;
    }
    if (allocation_make(a) != STATUS_OK) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "limits",
                       "numbers above 0 were expected, or 0 for axes without an actuator, not "
                       "all of them");
    }
    return STATUS_OK;
}

static enum status read_noise(struct pair_following_params *p, const struct model *model,
                              struct err *err)
{
    bool well = true;
    for (size_t i = 0; i < model->axis_count; i++) {
        p->noise_sd[i] = 0.01;
    }
    well = !p->noise[0] || read_numbers(p->noise, p->noise_sd, model->axis_count);
    for (size_t i = 0; i < model->axis_count; i++) {
        well = well && p->noise_sd[i] > 0.0;
    }
    return well ? STATUS_OK
                : err_set(err, STATUS_E_RANGE, FAULT_WRONG_COUNT, "noise_sd",
                          "%zu numbers above 0 with commas were expected, one for each "
                          "velocity of %s",
                          model->axis_count, model->name);
}

static enum status check_gains(const struct pair_following_params *p, const struct model *model,
                               struct err *err)
{
    /* Check with what is known already; a robot that is still to be identified is checked
     * afterwards. */
    struct follower_params follower = {
        .model = model,
        .allocation = p->allocation,
        .period_s = 1.0 / p->rate_hz,
        .gains = {.rejection = (enum follower_rejection)p->rejection,
                  .observer_radps = p->observer_radps,
                  .pose_per_s2 = p->pose_per_s2,
                  .blend_s = p->blend_s}};
    for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
        follower.gains.bandwidth_radps[i] = p->bandwidth_radps;
    }
    for (size_t k = 0; k < MODEL_PARAMETERS_MAX; k++) {
        follower.theta[k] = p->known[SIDE_VIRTUAL] ? p->theta[SIDE_VIRTUAL][k] : 1.0;
    }
    follower_gains_complete(&follower);
    return follower_check(&follower, err);
}

enum status following_text_parse(struct pair_following_params *p, struct err *err)
{
    const struct model *model = model_find(p->model);
    if (!model) {
        char guess[EDIT_GUESS_MAX];
        return err_set(err, STATUS_E_RANGE, FAULT_UNKNOWN_NAME, "model", "there is no %s%s",
                       p->model, model_row_guess(p->model, guess));
    }
    enum status status = read_actuators(p, model, err);
    if (status == STATUS_OK) {
        status = read_noise(p, model, err);
    }
    if (status == STATUS_OK) {
        status = check_arm(p, model, err);
    }
    if (status == STATUS_OK) {
        status =
            read_theta(model, "real", p->real, p->theta[SIDE_REAL], &p->known[SIDE_REAL], err);
    }
    if (status == STATUS_OK) {
        status = read_theta(model, "virtual", p->simulated, p->theta[SIDE_VIRTUAL],
                            &p->known[SIDE_VIRTUAL], err);
    }
    return status == STATUS_OK ? check_gains(p, model, err) : status;
}
