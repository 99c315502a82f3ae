/* web/resource/forecast.c - forecasts of a pair: its state, one move, open commands, and a
 * mission with the question whether its twin may be trusted. */
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "twin/report/forecast_report.h"
#include "web/resource/handlers.h"

_Static_assert((int)QUERY_LEVEL_COUNT == (int)FORECAST_LEVELS, "the same levels");

static bool refuse_conflict(const struct web_request *request, struct web_response *response,
                            const char *parameter, const char *why)
{
    return web_problem(request, response, PROBLEM_BAD_PARAMETER, parameter, why);
}

void get_forecast(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    const struct query *query = &request->query;
    const bool move =
        query->given & (QUERY_BIT(QUERY_ROTATION) | QUERY_BIT(QUERY_DISPLACEMENT));
    const bool level = query->given & QUERY_BIT(QUERY_LEVEL);
    struct forecast_question question;
    if (query->open && (move || level)) {
        (void)refuse_conflict(
            request, response, "open",
            "open: open commands have no rotation_rad, displacement_m or level");
    } else if (level && !move) {
        (void)refuse_conflict(request, response, "level",
                              "level: of a move, give its rotation_rad or displacement_m");
    } else if (query->open) {
        forecast_report_open(web_tagged_json(response), NULL, request->shown, request->params,
                             source->now(source->context));
    } else if (!move) {
        forecast_report_state(web_tagged_json(response), NULL, request->shown, request->params);
    } else {
        const char *fault = forecast_question_fault(request->params, query->rotation_rad,
                                                    query->displacement_m);
        if (fault) {
            (void)refuse_conflict(request, response, "rotation_rad", fault);
            return;
        }
        forecast_question_start(&question);
        question.level = level ? (enum forecast_level)query->level : FORECAST_95;
        (void)forecast_question_add(&question, query->rotation_rad, query->displacement_m);
        forecast_report_move(web_tagged_json(response), NULL, request->shown, request->params,
                             &question);
    }
}

/* Adds {"rotation_rad":…,"displacement_m":…} to the question. */
static const char *read_move(json_t *move, const struct pair_params *p,
                             struct forecast_question *question)
{
    double rotation_rad = 0.0;
    double displacement_m = 0.0;
    json_error_t error;
    if (json_unpack_ex(move, &error, JSON_STRICT, "{s?F, s?F}", "rotation_rad", &rotation_rad,
                       "displacement_m", &displacement_m) != 0) {
        return "a move has a rotation_rad and a displacement_m, and nothing else";
    }
    const char *fault = forecast_question_fault(p, rotation_rad, displacement_m);
    return fault ? fault
           : forecast_question_add(question, rotation_rad, displacement_m)
               ? NULL
               : "more than 256 moves";
}

static const char *read_question(json_t *body, const struct pair_params *p,
                                 struct forecast_question *question)
{
    const json_t *moves = NULL;
    double level = 0.95;
    json_error_t error;
    forecast_question_start(question);
    if (json_unpack_ex(body, &error, JSON_STRICT, "{s:o, s?F, s?F, s?F}", "moves", &moves,
                       "bound_s", &question->bound_s, "total_s", &question->total_s, "level",
                       &level) != 0 ||
        json_array_size(moves) == 0) {
        return "{\"moves\": [{\"rotation_rad\": number, \"displacement_m\": number}]} was "
               "expected, with 1 to 256 moves, and bound_s, total_s and level if wanted";
    }
    if (question->bound_s <= 0.0 || question->total_s <= 0.0) {
        return "bound_s and total_s must be above 0";
    }
    question->level = FORECAST_80;
    while (question->level < FORECAST_LEVELS &&
           fabs(forecast_level_value(question->level) - level) > 1e-12) {
        question->level++;
    }
    if (question->level >= FORECAST_LEVELS) {
        return "level: 0.8, 0.9 or 0.95";
    }
    for (size_t i = 0; i < json_array_size(moves); i++) {
        const char *fault = read_move(json_array_get(moves, i), p, question);
        if (fault) {
            return fault;
        }
    }
    return NULL;
}

void post_forecast(const struct web_request *request, struct web_response *response)
{
    struct forecast_question question;
    json_error_t error;
    char text[256];
    json_t *body =
        json_loadb(request->body, request->body_bytes, JSON_REJECT_DUPLICATES, &error);
    const char *fault = body ? read_question(body, request->params, &question) : text;
    if (!body) {
        (void)snprintf(text, sizeof text, "line %d, column %d: %s", error.line, error.column,
                       error.text);
    }
    if (fault) {
        (void)web_problem(request, response, PROBLEM_BAD_BODY, NULL, fault);
    } else {
        forecast_report_sum(web_json(response), NULL, request->shown, request->params,
                            &question);
    }
    json_decref(body);
}
