#include "identification/model/model_check.h"

#include <math.h>
#include <stdio.h>

#include "base/numbers/number.h"
#include "identification/model/models.h"

static const char *find_unmodelled(const struct model *m)
{
    const struct {
        bool there;
        const char *name;
    } needed[] = {
        {m->axes != NULL, "axes"},
        {m->parameters != NULL, "parameters"},
        {m->derived != NULL || m->derived_count == 0, "derived"},
        {m->rows != NULL, "rows"},
        {m->forward != NULL, "forward"},
        {m->inverse != NULL, "inverse"},
        {m->bias_force != NULL || m->forward != model_forward, "resist"},
        {m->slope != NULL, "slope"},
        {m->kinematics != NULL, "kinematics"},
        {(m->exact_step == NULL) == (m->inverse_step == NULL),
         "exact_step and inverse_step, both or none"},
    };
    for (size_t i = 0; i < COUNT(needed); i++) {
        if (!needed[i].there) {
            return needed[i].name;
        }
    }
    return NULL;
}

/* Returns whether all functions of a model give finite numbers at this pose. kinematics
 * always gets a pose. */
static bool computes_numbers(const struct model *m, double pose_value)
{
    double pose[MODEL_AXES_MAX], theta[MODEL_PARAMETERS_MAX], nu[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX] = {0.0}, square[MODEL_AXES_MAX * MODEL_AXES_MAX] = {0.0};
    double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX] = {0.0};
    for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
        pose[i] = pose_value;
        nu[i] = 0.25;
    }
    for (size_t i = 0; i < MODEL_PARAMETERS_MAX; i++) {
        theta[i] = 1.0 + 0.125 * (double)i;
    }
    m->rows(m, pose, nu, nu, phi);
    bool finite = number_all_finite(phi, m->axis_count * m->parameter_count);
    m->inverse(m, theta, pose, nu, nu, tau);
    finite = finite && number_all_finite(tau, m->axis_count);
    m->slope(m, theta, pose, nu, nu, square);
    finite = finite && number_all_finite(square, m->axis_count * m->axis_count);
    m->forward(m, theta, pose, nu, nu, tau);
    return finite && number_all_finite(tau, m->axis_count);
}

static const char *find_problem(const struct model *m, const char **what)
{
    if (m->axis_count == 0 || m->axis_count > MODEL_AXES_MAX || m->parameter_count == 0 ||
        m->parameter_count > MODEL_PARAMETERS_MAX || m->derived_count > MODEL_DERIVED_MAX) {
        *what = "axis_count, parameter_count or derived_count";
        return "is out of range (identification/data/linear_model.h)";
    }
    if ((*what = find_unmodelled(m))) {
        return "is missing";
    }
    /* In a fit, a model that does not need the pose gets a null pointer. This check passes
     * numbers, then NaN: a difference shows that the model reads the pose. */
    if (!m->needs_pose && computes_numbers(m, 0.5) && !computes_numbers(m, (double)NAN)) {
        *what = "the pose";
        return "is read: set .needs_pose = true";
    }
    return NULL;
}

bool model_row_check(const struct model_row *row, char problem[MODEL_PROBLEM_MAX])
{
    const char *what = "model";
    const char *wrong = NULL;
    const bool moves = row->data == MODEL_OF_MOTION || row->data == MODEL_OF_SERVOS;
    if (moves != (row->model != NULL)) {
        wrong = "is for rows with MODEL_OF_MOTION or MODEL_OF_SERVOS, and for no others";
    } else if (row->model) {
        wrong = find_problem(row->model, &what);
    }
    if (wrong) {
        (void)snprintf(problem, MODEL_PROBLEM_MAX, "model %s: %s %s",
                       row->name ? row->name : "without a name", what, wrong);
    }
    return wrong == NULL;
}

bool model_rows_check(char problem[MODEL_PROBLEM_MAX])
{
    const struct model_row *row = NULL;
    for (size_t i = 0; (row = model_row_at(i)); i++) {
        if (!model_row_check(row, problem)) {
            return false;
        }
    }
    return true;
}
