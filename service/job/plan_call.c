#include "service/job/plan_call.h"

#include <stdlib.h>

#include "service/job/query_settings.h"
#include "service/team/team_plan_study.h"
#include "twin/team/live/team_live_predict.h"
#include "web/http/body.h"

/* These bound the time of an answer: 64 tasks with the most activities take 0.1 s. */
enum { DRAWS_MAX = 1000, ACTIVITIES_MAX = TEAM_LIVE_PREDICT_LONGEST };
static const double SPREAD = 0.2, SPREAD_MAX = 0.99;

struct plan_query {
    double spread, draws, seed;
    struct query_settings settings;
};

static enum status parse_value(void *context, size_t i, const struct query_value *v)
{
    struct plan_query *q = context;
    switch (i) {
    case 0:
        return query_number(v, 0, SPREAD_MAX, false, &q->spread);
    case 1:
        return query_number(v, 0, DRAWS_MAX, true, &q->draws);
    case 2:
        return query_number(v, 0, QUERY_SEED_MAX, true, &q->seed);
    default:
        return query_settings_read(v, &q->settings);
    }
}

static enum status parse_query(const char *text, struct plan_query *q, struct err *err)
{
    static const char *const parameters[] = {"spread", "draws", "seed", "set"};
    const struct query_reader reader = {parameters,   COUNT(parameters), QUERY_TEXT_MAX + 1,
                                        STATUS_E_ARG, parse_value,       q};
    q->spread = SPREAD;
    q->draws = TEAM_PLAN_DRAWS;
    q->seed = 1;
    return query_read(text, &reader, err);
}

static void write_study(const struct team_plan_study *study, struct body *out)
{
    char buffer[4096];
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, body_flush, out);
    JSON_BLOCK(&w, NULL, true) {
        team_plan_study_write(study, &w);
    }
    (void)json_write_end(&w);
    body_text(out, "\n");
}

static enum status write_plan(const struct view *view, size_t team, const struct plan_query *q,
                              struct team_settings *settings, struct body *out,
                              struct err_list *errors)
{
    const struct team_plan_request request = {.draws = (size_t)q->draws,
                                              .spread = q->spread,
                                              .seed = (uint64_t)q->seed,
                                              .activities_max = ACTIVITIES_MAX};
    struct team_plan_study *study = NULL;
    struct team_prediction *tp = team_settings_predict(settings);
    enum status status = STATUS_E_NOMEM;
    if (tp) {
        team_live_predict_learn(tp, view->live_teams[team], view_read_pair, &view);
        team_settings_apply(settings, tp);
        status = team_plan_study_make(settings, tp, &request, &study, errors);
    }
    if (status == STATUS_OK) {
        write_study(study, out);
    }
    free(study);
    free(tp);
    return status;
}

enum status plan_call_write(const struct view *view, size_t team, const char *query,
                            struct body *out, struct err *err)
{
    const struct team_params *p = &view->teams[team];
    struct plan_query *q = calloc(1, sizeof *q);
    struct team_settings settings = {0};
    struct err_list errors = {0};
    enum status status =
        q ? parse_query(query, q, err) : err_no_memory(err, "plan", "no memory");
    if (status == STATUS_OK) {
        status = team_plan_study_check(p, "plan", err);
    }
    if (status == STATUS_OK) {
        const bool made = team_settings_make(p, q->settings.texts, q->settings.count, &settings,
                                             &errors) == STATUS_OK;
        status = made ? write_plan(view, team, q, &settings, out, &errors)
                      : err_set(err, STATUS_E_ARG, errors.items[0].fault, "set", "%s: %s",
                                errors.items[0].where, errors.items[0].text);
        if (made && errors.count > 0) {
            *err = errors.items[0];
        }
    }
    team_settings_free(&settings);
    free(q);
    return status;
}
