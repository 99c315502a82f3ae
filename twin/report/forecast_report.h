/* twin/report/forecast_report.h - a pair's forecasts as JSON, for HTTP, replay and commands
 * alike: its state, one move, open commands, and many moves (docs/forecast.md). Pure.
 */
#ifndef TWIN_REPORT_FORECAST_REPORT_H
#define TWIN_REPORT_FORECAST_REPORT_H

#include "identification/travel/forecast_sum.h"
#include "identification/travel/next_move.h"
#include "logger/message/json_write.h"
#include "twin/pair/pair.h"

/* A question about moves. */
struct forecast_question {
    enum forecast_level level;
    double bound_s, total_s; /* NaN: not asked */
    size_t count;
    struct forecast_move moves[FORECAST_SUM_MAX];
};

/* Returns 0.8, 0.9 or 0.95. */
double forecast_level_value(enum forecast_level level);

void forecast_question_start(struct forecast_question *question);

/* Are these the sizes of a move of this pair? An arm's moves have none. NULL: they are; else
 * what is wrong. */
const char *forecast_question_fault(const struct pair_params *p, double rotation_rad,
                                    double displacement_m);

/* Adds a move; false: there are FORECAST_SUM_MAX already. */
bool forecast_question_add(struct forecast_question *question, double rotation_rad,
                           double displacement_m);

/* Writes whether the twin can be trusted, in short: the set of travel times in force (or the
 * candidate), the sizes of the moves seen (not of an arm), the lag that is predicted of a move in
 * the middle of them, and how many of the last predicted lags held. */
void forecast_report_trust(struct json_writer *w, const char *key, const struct pair *pair,
                           const struct pair_params *p);

/* Writes {"pair","level","quantities":{…},"left_out","cut_short","timeouts"}. */
void forecast_report_state(struct json_writer *w, const char *key, const struct pair *pair,
                           const struct pair_params *p);

/* Writes {"pair","rotation_rad","displacement_m","level","real_lap":{…},…} for the question's
 * first move. */
void forecast_report_move(struct json_writer *w, const char *key, const struct pair *pair,
                          const struct pair_params *p,
                          const struct forecast_question *question);

/* Writes {"pair","t","commands":[…],"queue":{…}}. */
void forecast_report_open(struct json_writer *w, const char *key, const struct pair *pair,
                          const struct pair_params *p, int64_t now_us);

/* Writes {"pair","moves","level","real_lap":{…},…,"answer","why","held","of"}. */
void forecast_report_sum(struct json_writer *w, const char *key, const struct pair *pair,
                         const struct pair_params *p, const struct forecast_question *question);

/* Are moves planned for this pair? Its robots turn and drive. */
bool forecast_report_plans(const struct pair_params *p);

/* Writes the move by which the real robot's speeds are known best after those of the window,
 * and these moves: {"rotation_rad","displacement_m","why","widths_after":{…},"moves_left",
 * "rows":[[rotation, displacement, lap],…]}. */
void forecast_report_next_move(struct json_writer *w, const char *key, const struct pair *pair,
                               const struct pair_params *p, const struct pair_fits *fits,
                               double speed_ratio);

/* Writes widths with these standard errors, and how many moves are still needed. */
void forecast_report_widths(struct json_writer *w, const struct next_move_known *known,
                            const double se[TRAVEL_P], size_t left);

/* Describes the reason of an answer. */
void forecast_report_why(const struct forecast_past *past,
                         const struct forecast_question *question,
                         const struct forecast_trust *trust, char *text, size_t size);

#endif
