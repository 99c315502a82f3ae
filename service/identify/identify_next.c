/* service/identify/identify_next.c - writes the commands of the next recording, for
 * `tandem identify --next` (docs/model/identification.md, "Next input"). */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/numbers/number.h"
#include "identification/data/data_view.h"
#include "identification/simulation/free_parameters.h"
#include "service/identify/identify_dynamics.h"
#include "service/tool/table.h"

/* Plans stay this far within the limits, because eight draws do not show the worst robot. */
static const double LIMIT_SHARE = 0.98;
/* And the errors of the fit that must lie within them: 1 of 700 robots differs more. */
static const double LIMIT_ERRORS = 3.0;
/* No robot's velocity, effort or position is larger, in SI units. */
static const double LIMIT_MAX = 1e6;
/* Relative error of a value in use that replaces a parameter which is not determined. */
static const double IN_USE_ERROR = 0.5;
/* Rounding can make a covariance indefinite; its diagonal is raised by these ratios. */
static const double RAISE_FIRST = 1e-12;
static const double RAISE_LAST = 1e-2;
static const double RAISE_FACTOR = 100.0;
/* A model without drag has no time constant, s. */
static const double RESPONSE_S = 0.5;
/* Share of the work that is done before the plan. */
static const double PLAN_SHARE = 0.95;
enum { SURVEY_MAX = 100000, MISSION_ROWS_MAX = 1000000 };

/* ---- options ---- */

static const char *state_name(const struct model *model, size_t i)
{
    const size_t n = model->axis_count;
    return i < n       ? model->axes[i].velocity
           : i < 2 * n ? model->axes[i - n].effort
           : i < 3 * n ? model->axes[i - 2 * n].pose
                       : model->heading;
}

static size_t count_states(const struct model *model)
{
    return 2 * model->axis_count + model_pose_count(model);
}

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name);
    return length >= strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

/* "speed" and "position" stand for all that are measured in lengths, or for the only one. */
static bool is_meant(const struct model *model, size_t i, const char *word)
{
    const size_t n = model->axis_count;
    const char *name = state_name(model, i);
    return strcmp(word, name) == 0 ||
           (strcmp(word, "speed") == 0 && i < n && (n == 1 || ends_with(name, "_mps"))) ||
           (strcmp(word, "position") == 0 && i >= 2 * n && (n == 1 || ends_with(name, "_m")));
}

/* Parses one "name=value" into limits [count_states()]. */
static enum status parse_limit(const struct model *model, const char *text, double *limits,
                               struct err *err)
{
    char names[ERR_TEXT_MAX] = "speed, position";
    char word[64];
    double value = 0.0;
    bool found = false;
    const char *equals = strchr(text, '=');
    const size_t n = equals ? (size_t)(equals - text) : 0;
    if (n == 0 || n >= sizeof word || number_parse_real(equals + 1, &value) != NUMBER_FINE) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_FORMAT, "limits",
                       "--limits cannot be read at '%.40s', write NAME=VALUE,NAME=VALUE", text);
    }
    (void)snprintf(word, sizeof word, "%.*s", (int)n, text);
    if (!(value > 0.0 && value <= LIMIT_MAX)) {
        return err_set(err, STATUS_E_ARG, FAULT_OUT_OF_RANGE, "limits",
                       "--limits %s is %g, it must be above 0 and at most %g", word, value,
                       LIMIT_MAX);
    }
    for (size_t i = 0; i < count_states(model); i++) {
        names_append_new(names, sizeof names, state_name(model, i));
        if (is_meant(model, i, word)) {
            if (limits[i] > 0.0) {
                return err_set(err, STATUS_E_ARG, FAULT_DUPLICATE_NAME, "limits",
                               "--limits: %s has a limit before '%s', one was expected",
                               state_name(model, i), text);
            }
            limits[i] = value;
            found = true;
        }
    }
    return found ? STATUS_OK
                 : err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, "limits",
                           "--limits: %s has no '%s', but %s", model->name, word, names);
}

static enum status parse_limits(const struct model *model, const char *text, double *limits,
                                struct err *err)
{
    enum status st = STATUS_OK;
    for (size_t i = 0; i < count_states(model); i++) {
        limits[i] = 0.0;
    }
    while (text && *text && st == STATUS_OK) {
        char one[96];
        const size_t n = strcspn(text, ",");
        (void)snprintf(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1),
                       text);
        st = parse_limit(model, one, limits, err);
        text += n + (text[n] == ',');
    }
    return st;
}

static enum status check_alone(const struct identify_next_options *next, struct err *err)
{
    const struct identify_next_options usual = identify_request_defaults().next;
    const struct {
        const char *name;
        bool given;
    } rows[] = {{"criterion", next->criterion != NULL},
                {"mission", next->mission != NULL},
                {"limits", next->limits != NULL},
                {"slew", next->slew_per_s > 0.0},
                {"force", next->force},
                {"next-for", next->seconds > 0.0 && fabs(next->seconds - usual.seconds) > 0.0},
                {"seed", next->seed > 0.0 && fabs(next->seed - usual.seed) > 0.0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].given) {
            return err_set(err, STATUS_E_ARG, FAULT_NEEDS_KEY, rows[i].name,
                           "--%s needs --next OUT.csv, the file of the plan", rows[i].name);
        }
    }
    return STATUS_OK;
}

static bool is_file(const char *path, const struct stat *file)
{
    struct stat other;
    return path && stat(path, &other) == 0 && other.st_dev == file->st_dev &&
           other.st_ino == file->st_ino;
}

static bool is_listed(const struct csv_source *files, size_t count, const struct stat *file)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || (!files[i].text && is_file(files[i].path, file));
    }
    return found;
}

static enum status refuse_file(const char *path, struct err *err)
{
    return err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, path, "cannot be written: %s",
                   strerrordesc_np(errno));
}

/* The fit takes long, so that the file is tried before. No file and no change is left. */
static enum status try_file(const char *path, struct err *err)
{
    const bool existed = access(path, F_OK) == 0;
    FILE *to = fopen(path, "a");
    if (!to || fclose(to) != 0) {
        return refuse_file(path, err);
    }
    return existed || unlink(path) == 0 ? STATUS_OK : refuse_file(path, err);
}

/* A plan must not replace what it is made from, whatever the name of the file. */
static enum status check_file(const struct identify_request *request, struct err *err)
{
    const struct identify_next_options *next = &request->next;
    struct stat file;
    if (stat(next->path, &file) != 0) {
        return try_file(next->path, err);
    }
    if (is_listed(request->files, request->file_count, &file) ||
        is_listed(request->validate, request->validate_count, &file) ||
        is_file(next->mission, &file) || is_file(request->reference, &file)) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, next->path,
                       "is read by this command; --next needs another file");
    }
    return next->force ? try_file(next->path, err)
                       : err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, next->path,
                                 "exists; --force replaces it");
}

enum status identify_next_check(const struct model_row *row,
                                const struct identify_request *request, struct err *err)
{
    const struct identify_next_options *next = &request->next;
    double limits[3 * MODEL_AXES_MAX + 1];
    if (!next->path) {
        return check_alone(next, err);
    }
    if (request->repeat) {
        return err_set(err, STATUS_E_ARG, FAULT_CONFLICTING_KEYS, "next",
                       "--next plans from a fit of all recordings, --repeat makes none");
    }
    if (next->mission && next->criterion && strcmp(next->criterion, "all") == 0) {
        return err_set(err, STATUS_E_ARG, FAULT_CONFLICTING_KEYS, "mission",
                       "--mission and --criterion all exclude each other");
    }
    const enum status st = parse_limits(row->model, next->limits, limits, err);
    return st == STATUS_OK ? check_file(request, err) : st;
}

/* ---- what the fit knows ---- */

static enum status lack_plan(struct err *err, const char *what, const char *lacks)
{
    return err_set(err, STATUS_E_MATH, FAULT_FIT_FAILED, "next", "nothing to plan with: %s %s",
                   what, lacks);
}

/* Values and covariance of the unknowns. A parameter that is not determined gets its value in
 * use. */
static enum status set_unknowns(const struct identify_result *result, struct input_plan *plan,
                                struct input_matrix *covariance, struct err *err)
{
    const struct dynamics_fit *fit = &result->fit;
    const struct estimate *e = &fit->estimate;
    const struct reference_check *in_use = &result->head.reference[0];
    double own[INPUT_PLAN_UNKNOWNS_MAX] = {0.0}; /* variance of a value in use */
    plan->with_biases = fit->bias_count > 0;
    for (size_t j = 0; j < e->p; j++) {
        const bool known = isfinite(e->value[j]) && e->covariance[j][j] > 0.0;
        plan->theta[j] = known ? e->value[j] : in_use->values.value[j];
        if (!known && !(in_use->given && isfinite(plan->theta[j]))) {
            return lack_plan(err, e->name[j],
                             "is not determined; give its value by --reference");
        }
        const double error =
            in_use->values.se[j] > 0.0 ? in_use->values.se[j] : IN_USE_ERROR * plan->theta[j];
        if (known || fabs(error) > 0.0) {
            own[plan->unknown_count] = known ? 0.0 : error * error;
            plan->unknown[plan->unknown_count++] = j;
        }
    }
    if (isfinite(fit->delay_s) && fit->delay_se_s > 0.0) {
        plan->unknown[plan->unknown_count++] = e->p;
    }
    for (size_t a = 0; a < plan->unknown_count; a++) {
        for (size_t b = 0; b < plan->unknown_count; b++) {
            const double both = dynamics_covariance(fit, plan->unknown[a], plan->unknown[b]);
            const bool apart = own[a] > 0.0 || own[b] > 0.0;
            covariance->at[a][b] = !apart ? both : a == b ? own[a] : 0.0;
        }
        plan->se[a] = sqrt(covariance->at[a][a]);
    }
    return STATUS_OK;
}

static bool draw_robots(struct input_plan *plan, struct input_matrix *covariance,
                        struct random_source *random)
{
    bool drawn = input_plan_draw(plan, covariance, random);
    for (double by = RAISE_FIRST; !drawn && by <= RAISE_LAST; by *= RAISE_FACTOR) {
        for (size_t k = 0; k < plan->unknown_count; k++) {
            covariance->at[k][k] *= 1.0 + by;
        }
        drawn = input_plan_draw(plan, covariance, random);
    }
    return drawn;
}

/* The limits as given, else what was recorded. */
static enum status set_limits(struct identify_result *result, struct err *err)
{
    struct input_plan *plan = &result->next.plan;
    const struct model *model = &plan->model;
    const struct data_summary *summary = &result->own.summary;
    const size_t n = model->axis_count;
    double *limits = result->next.limits;
    const enum status st = parse_limits(model, result->next_options.limits, limits, err);
    for (size_t i = 0; i < n && st == STATUS_OK; i++) {
        const struct data_channel *nu = &summary->nu[i];
        const struct data_channel *tau = &summary->tau[i];
        const bool given = limits[n + i] > 0.0;
        plan->effort_high[i] = given ? limits[n + i] : fmax(tau->max, 0.0);
        plan->effort_low[i] = given ? -limits[n + i] : fmin(tau->min, 0.0);
        limits[n + i] = fmax(plan->effort_high[i], -plan->effort_low[i]);
        limits[i] = limits[i] > 0.0 ? limits[i] : fmax(fabs(nu->min), fabs(nu->max));
        plan->nu_max[i] = LIMIT_SHARE * limits[i];
    }
    for (size_t i = 0; i < model_pose_count(model) && st == STATUS_OK; i++) {
        plan->pose_max[i] = LIMIT_SHARE * limits[2 * n + i];
    }
    return st;
}

/* Axes may share their actuators: together, efforts stay as large as they were recorded. */
static double find_effort_sum(const struct input_plan *plan, const struct data_set *set)
{
    double most = 0.0;
    for (size_t k = 0; k < set->n; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < set->axes; i++) {
            const double tau = set->tau[i][k];
            const double end = tau > 0.0 ? plan->effort_high[i] : plan->effort_low[i];
            sum += fabs(end) > 0.0 ? tau / end : 0.0;
        }
        most = fmax(most, sum);
    }
    return fmax(most, 1.0);
}

static double find_response_s(const struct identify_result *result,
                              const struct input_plan *plan)
{
    double response_s[MODEL_AXES_MAX];
    double slowest_s = 0.0;
    free_parameters_responses(&plan->model, plan->theta, &result->own.table.set, response_s);
    for (size_t i = 0; i < plan->model.axis_count; i++) {
        const bool driven = plan->effort_high[i] > plan->effort_low[i];
        if (driven && isfinite(response_s[i])) {
            slowest_s = fmax(slowest_s, response_s[i]);
        }
    }
    return slowest_s > 0.0 ? slowest_s : RESPONSE_S;
}

/* ---- what recording and mission show ---- */

static void start_run(const struct data_set *set, size_t run, struct input_plan *walk)
{
    double pose[MODEL_AXES_MAX];
    const size_t first = set->run_start[run];
    input_plan_rest(walk);
    for (size_t i = 0; i < set->axes; i++) {
        walk->here.nu[i] = set->nu[i][first];
    }
    if (walk->model.needs_pose && data_set_pose(set, first, pose)) {
        memcpy(walk->here.pose, pose, set->axes * sizeof *pose);
    }
    for (size_t k = 0; k < walk->unknown_count; k++) {
        walk->copies[k] = walk->here;
    }
}

/* Information that a recording should have given, and the errors of positions on it. */
static bool survey_recording(const struct data_set *set, struct input_plan *walk,
                             struct input_matrix *mission)
{
    size_t used = 0;
    bool finite = true;
    walk->dt_s = set->dt_s;
    walk->draw_count = 0;
    walk->information = (struct input_matrix){{{0.0}}};
    for (size_t run = 0; run < set->run_count && finite; run++) {
        start_run(set, run, walk);
        for (size_t k = set->run_start[run];
             k < set->run_start[run + 1] && used < SURVEY_MAX && finite; k++) {
            double effort[MODEL_AXES_MAX];
            data_view_effort(set, k, effort);
            finite = input_plan_append(walk, effort, 1, mission);
            used++;
        }
    }
    const double all = (double)set->n / (double)used;
    for (size_t a = 0; a < walk->unknown_count; a++) {
        for (size_t b = 0; b < walk->unknown_count; b++) {
            walk->information.at[a][b] *= all;
        }
    }
    return finite;
}

/* Residuals that are not white tell less than as many white ones. The ratio, at most 1, of
 * variances that white ones would have to those of the fit, as its geometric mean. */
static double find_efficiency(const struct input_plan *walk,
                              const struct input_matrix *covariance)
{
    struct input_matrix variance = walk->information;
    const size_t count = walk->unknown_count;
    double sum = 0.0;
    if (!input_matrix_invert(&variance, count)) {
        return 1.0;
    }
    for (size_t k = 0; k < count; k++) {
        sum += log(variance.at[k][k] / covariance->at[k][k]);
    }
    return fmin(exp(sum / (double)count), 1.0);
}

/* The commands of a mission: times, and an effort per axis. */
static enum status read_mission(const struct identify_result *result, double dt_s,
                                struct table *table, const char *names[][3], struct err *err)
{
    const struct model *model = result->head.row->model;
    struct file_mark mark;
    const struct csv_source source = {.path = result->next_options.mission};
    table->channels = 1 + model->axis_count;
    table->rows_max = MISSION_ROWS_MAX;
    table->strict = true;
    for (size_t c = 0; c < table->channels; c++) {
        names[c][0] = result->head.row->roles[c];
        names[c][1] = c == 0 ? "t_s" : model->axes[c - 1].effort;
        table->channel[c].names = names[c];
    }
    const enum status st = table_read(table, &source, &mark, err);
    const double *t_s = table->channel[0].values;
    for (size_t k = 1; k < table->count && st == STATUS_OK; k++) {
        if (!(t_s[k] > t_s[k - 1])) {
            return err_set_at(err, STATUS_E_PARSE, FAULT_INCONSISTENT, source.path,
                              (unsigned)k + 2, 1, "t_s must increase, %g follows %g", t_s[k],
                              t_s[k - 1]);
        }
    }
    const double most_s = (double)SURVEY_MAX * dt_s;
    for (size_t k = 1; k < table->count && st == STATUS_OK; k++) {
        if (!(t_s[k] - t_s[0] <= most_s)) {
            return err_set_at(err, STATUS_E_PARSE, FAULT_OUT_OF_RANGE, source.path,
                              (unsigned)k + 2, 1,
                              "t_s is %g s after the first row, a mission may last %g s",
                              t_s[k] - t_s[0], most_s);
        }
    }
    return st == STATUS_OK && table->count < 2
               ? err_set(err, STATUS_E_EMPTY, FAULT_TOO_FEW, source.path,
                         "has %zu rows, a mission needs two", table->count)
               : st;
}

static enum status survey_mission(const struct identify_result *result, struct input_plan *walk,
                                  struct input_matrix *mission, struct err *err)
{
    const char *names[1 + MODEL_AXES_MAX][3] = {{NULL}};
    struct table table = {.channels = 0};
    enum status st = read_mission(result, walk->dt_s, &table, names, err);
    bool finite = true;
    input_plan_rest(walk);
    for (size_t k = 0; st == STATUS_OK && k + 1 < table.count && finite; k++) {
        double effort[MODEL_AXES_MAX];
        const double *t_s = table.channel[0].values;
        const double count =
            rint((t_s[k + 1] - t_s[0]) / walk->dt_s) - rint((t_s[k] - t_s[0]) / walk->dt_s);
        for (size_t i = 0; i < walk->model.axis_count; i++) {
            effort[i] = table.channel[1 + i].values[k];
        }
        for (double s = 0.0; s < count && finite; s += 1.0) {
            finite = input_plan_append(walk, effort, 1, mission);
        }
        st = identify_ask_on(&result->head.caller, "planning", PLAN_SHARE, err);
    }
    table_free(&table);
    return st == STATUS_OK && !finite
               ? lack_plan(err, result->next_options.mission, "cannot be simulated")
               : st;
}

/* Sets what a sample tells, and what the mission needs. */
static enum status survey_motion(const struct identify_result *result,
                                 const struct input_matrix *covariance, struct input_plan *plan,
                                 struct err *err)
{
    const struct dynamics_check *check = &result->own.check;
    const struct data_set *set = &result->own.table.set;
    const bool given = result->next_options.mission != NULL;
    struct input_plan walk;
    for (size_t i = 0; i < set->axes; i++) {
        const double sd = check->axis[i].run.rmse;
        if (!check->simulated || !(sd > 0.0)) {
            return lack_plan(err, plan->model.name, "cannot be simulated");
        }
        plan->weight[i] = 1.0 / (sd * sd);
    }
    walk = *plan;
    if (!survey_recording(set, &walk, given ? NULL : &plan->mission)) {
        return lack_plan(err, plan->model.name, "cannot be simulated");
    }
    const double samples = rint(plan->dt_s / set->dt_s);
    const double efficiency = find_efficiency(&walk, covariance);
    for (size_t i = 0; i < set->axes; i++) {
        plan->weight[i] *= samples * efficiency;
    }
    return given ? survey_mission(result, &walk, &plan->mission, err) : STATUS_OK;
}

/* ---- the file ---- */

static void write_rows(FILE *to, const struct input_plan *plan, const double *efforts,
                       size_t count, size_t *written)
{
    const size_t n = plan->model.axis_count;
    for (size_t k = 0; k < count; k++) {
        (void)fprintf(to, "%.9g", (double)(*written)++ * plan->dt_s);
        for (size_t i = 0; i < n; i++) {
            (void)fprintf(to, ",%.9g", efforts[k * n + i]);
        }
        (void)fputc('\n', to);
    }
}

static void find_errors(const struct input_plan *plan, double *se)
{
    struct input_matrix variance = plan->information;
    const bool inverted = input_matrix_invert(&variance, plan->unknown_count);
    for (size_t k = 0; k < plan->unknown_count; k++) {
        se[k] = inverted ? sqrt(variance.at[k][k]) : (double)NAN;
    }
}

static bool has_command(const double *efforts, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        any = any || fabs(efforts[i]) > 0.0;
    }
    return any;
}

/* Plans segment by segment into a text, which becomes the file when all is well. */
static enum status write_plan(struct identify_result *result, struct random_source *random,
                              FILE *to, struct err *err)
{
    struct identify_next *next = &result->next;
    struct input_plan *plan = &next->plan;
    const size_t n = plan->model.axis_count;
    const double segment_s = plan->dt_s * (double)plan->segment;
    const size_t segments = (size_t)fmax(rint(result->next_options.seconds / segment_s), 1.0);
    double efforts[INPUT_PLAN_SEGMENT_MAX * MODEL_AXES_MAX];
    double *stop = calloc(plan->stop * n, sizeof *stop);
    enum status st = stop ? STATUS_OK : err_no_memory(err, "next", "no memory");
    size_t within = 0;
    size_t written = 0;
    bool any = false;
    (void)fputs("t_s", to);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(to, ",%s", plan->model.axes[i].effort);
    }
    (void)fputc('\n', to);
    for (size_t s = 0; s < segments && st == STATUS_OK; s++) {
        const double done = (double)s / (double)segments;
        within += input_plan_choose(plan, random, efforts);
        any = any || has_command(efforts, plan->segment * n);
        write_rows(to, plan, efforts, plan->segment, &written);
        st = identify_ask_on(&result->head.caller, "planning",
                             PLAN_SHARE + (1.0 - PLAN_SHARE) * done, err);
    }
    if (st == STATUS_OK && !any) {
        st = lack_plan(err, "no command", "keeps the robot within the limits");
    }
    if (st == STATUS_OK) {
        input_plan_stop(plan, stop);
        write_rows(to, plan, stop, plan->stop, &written);
        next->seconds = segment_s * (double)segments;
        next->feasible_share = (double)within / (double)(segments * INPUT_PLAN_CANDIDATES);
        find_errors(plan, next->after);
        next->made = true;
    }
    free(stop);
    return st;
}

static enum status store_text(const struct identify_next_options *options, const char *text,
                              struct err *err)
{
    FILE *to = fopen(options->path, options->force ? "w" : "wx");
    const bool written = to && fputs(text, to) >= 0;
    const bool closed = to && fclose(to) == 0;
    if (!to || !written || !closed) {
        return refuse_file(options->path, err);
    }
    return STATUS_OK;
}

static enum status write_file(struct identify_result *result, struct random_source *random,
                              struct err *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    enum status st = memory ? write_plan(result, random, memory, err)
                            : err_no_memory(err, "next", "no memory");
    if (memory && fclose(memory) != 0 && st == STATUS_OK) {
        st = err_no_memory(err, "next", "no memory");
    }
    st = st == STATUS_OK ? store_text(&result->next_options, text, err) : st;
    free(text);
    return st;
}

enum status identify_next_make(struct identify_result *result, struct err *err)
{
    const struct identify_next_options *options = &result->next_options;
    const struct estimate *e = &result->fit.estimate;
    struct input_plan *plan = &result->next.plan;
    struct input_matrix covariance = {{{0.0}}};
    struct random_source random = random_stream((uint64_t)options->seed, 0);
    if (!options->path) {
        return STATUS_OK;
    }
    if (e->verdict == ESTIMATE_FAIL) {
        return lack_plan(err,
                         "the verdict is FAIL:", e->reason_count > 0 ? e->reasons[0] : "-");
    }
    plan->model = *result->kind->model;
    plan->slew_per_s = options->slew_per_s;
    plan->reach = LIMIT_ERRORS;
    plan->criterion =
        options->criterion
            ? (enum input_criterion)names_value(&input_criterion_names, options->criterion)
            : INPUT_PLAN_MISSION;
    enum status st = set_unknowns(result, plan, &covariance, err);
    st = st == STATUS_OK ? set_limits(result, err) : st;
    if (st != STATUS_OK) {
        return st;
    }
    plan->effort_sum = find_effort_sum(plan, &result->own.table.set);
    input_plan_time(plan, result->own.table.set.dt_s, find_response_s(result, plan));
    st = survey_motion(result, &covariance, plan, err);
    if (st == STATUS_OK && !draw_robots(plan, &covariance, &random)) {
        st = lack_plan(err, plan->model.name, "has no covariance that can be inverted");
    }
    if (st == STATUS_OK) {
        find_errors(plan, result->next.before);
        input_plan_rest(plan);
        st = write_file(result, &random, err);
    }
    return st;
}

/* ---- the document ---- */

/* Errors as shares of the values. That of a delay is in seconds: it may be near 0. */
static void write_errors(struct json_writer *w, const char *key,
                         const struct identify_result *result, const double *se)
{
    const struct input_plan *plan = &result->next.plan;
    const struct estimate *e = &result->fit.estimate;
    json_write_object(w, key);
    for (size_t k = 0; k < plan->unknown_count; k++) {
        const size_t at = plan->unknown[k];
        json_write_real(w, at < e->p ? e->name[at] : "delay_s",
                        at < e->p ? se[k] / fabs(plan->theta[at]) : se[k]);
    }
    json_write_close(w);
}

void identify_next_write(struct json_writer *w, const struct identify_result *result)
{
    const struct identify_next *next = &result->next;
    const struct model *model = &next->plan.model;
    if (!next->made) {
        return;
    }
    JSON_OPEN(w, "next", JSON("file", result->next_options.path),
              JSON("criterion", names_text(&input_criterion_names, next->plan.criterion)),
              JSON("seconds", next->seconds), JSON("feasible_share", next->feasible_share));
    write_errors(w, "before", result, next->before);
    write_errors(w, "after", result, next->after);
    json_write_object(w, "limits");
    for (size_t i = 0; i < count_states(model); i++) {
        const double limit = next->limits[i];
        json_write_real(w, state_name(model, i), limit > 0.0 ? limit : (double)NAN);
    }
    json_write_close(w);
    json_write_close(w);
}
