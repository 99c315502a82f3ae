/* identification/travel/forecast_sum.h - how long many moves take together, and whether the
 * twin may be trusted for them.
 *
 * Errors of successive moves are not independent, because drift is common to them. So past
 * sequences of equally many moves are predicted, each by the fit of its time, and their errors
 * are ranked (10). Costs some 40 us. Pure.
 */
#ifndef IDENTIFICATION_TRAVEL_FORECAST_SUM_H
#define IDENTIFICATION_TRAVEL_FORECAST_SUM_H

#include "base/text/names.h"
#include "identification/travel/forecast.h"

enum { FORECAST_WINDOW_MAX = 128, FORECAST_SUM_MAX = 256 /* moves of a question */ };

/* A pair's forecasts and the moves of its window, oldest first. */
struct forecast_past {
    const struct forecast *forecast;
    const struct forecast_move *moves; /* [n] */
    size_t n;                          /* <= FORECAST_WINDOW_MAX */
};

struct forecast_sum {
    bool known;           /* the quantity has a forecast: expected_s is set */
    double expected_s;    /* of all moves together */
    double low_s, high_s; /* NaN: too few sequences; infinite: no end is known */
    size_t windows;       /* past sequences; of one move: scores */
};

enum forecast_answer { FORECAST_YES, FORECAST_NO, FORECAST_NOT_KNOWN, FORECAST_ANSWERS };

enum forecast_why {
    FORECAST_WITHIN,       /* the lags stay within the bounds */
    FORECAST_FEW_MOVES,    /* too few scores or sequences */
    FORECAST_NEW_ROTATION, /* none of that size was seen */
    FORECAST_NEW_DISPLACEMENT,
    FORECAST_NEW_KIND, /* this kind of move was not seen for long */
    FORECAST_NOT_HELD, /* the recent forecasts did not hold */
    FORECAST_MOVE,     /* the lag of a move exceeds the bound */
    FORECAST_TOTAL,    /* the sum exceeds its bound */
    FORECAST_WHYS
};

struct forecast_trust {
    enum forecast_answer answer;
    enum forecast_why why;
    size_t move;          /* that decides, of a yes the worst; FORECAST_SUM_MAX: none */
    double low_s, high_s; /* the lag of this move, or the sum */
};

/* moves: [count], 1 .. FORECAST_SUM_MAX; their laps are ignored. The sum of one move is that of
 * forecast_interval(), so that no question about it has two answers. */
struct forecast_sum forecast_sum(const struct forecast_past *past,
                                 const struct forecast_move *moves, size_t count,
                                 enum forecast_quantity q, enum forecast_level level);

/* Is the lag of each move within +-bound_s, and their sum within +-total_s (12)? NaN: not
 * asked. */
struct forecast_trust forecast_trust(const struct forecast_past *past,
                                     const struct forecast_move *moves, size_t count,
                                     double bound_s, double total_s, enum forecast_level level);

/* Why this move is unlike those with a value of the quantity (11); FORECAST_WITHIN: it is
 * not. leverage: of its forecast. */
enum forecast_why forecast_beyond(const struct forecast_past *past, enum forecast_quantity q,
                                  const struct forecast_move *move, double leverage);

/* Finds the least and largest size among moves with a value of the quantity; NaN: none. */
void forecast_range(const struct forecast_past *past, enum forecast_quantity q, bool drive,
                    double range[2]);

/* ---- simulated laps of one side ----
 *
 * The next moves are drawn one by one: lap = x'b + s (score + common). The score is one of the
 * past scores at random. The common error is drawn once for all moves, so that their sum has
 * the spread of past sequences of equally many (14). */

struct forecast_law {
    struct forecast_solution fit;
    struct forecast_spread spread;
    double length[TRAVEL_P]; /* terms that give the length of a move */
    double score[FORECAST_SCORES];
    size_t count;
    double variance; /* of the scores */
};

/* The moves that will probably be made: sums of their rows and spreads. All zero: none. */
struct forecast_ahead {
    size_t count;
    double x[TRAVEL_P], spread_s, spread2_s2;
};

/* Finds the law of a side's laps; false: it has fewer than 19 scores. */
bool forecast_find_law(const struct forecast *f, enum forecast_quantity side,
                       struct forecast_law *law);

/* Returns the expected lap of a move with this row, and its spread; NaN: the fit knows too
 * little of such a move. */
double forecast_law_lap(const struct forecast_law *law, const double x[TRAVEL_P],
                        double *spread_s);

void forecast_add_ahead(struct forecast_ahead *ahead, const double x[TRAVEL_P],
                        double spread_s);

/* Returns the standard deviation of the common error, in spreads; NaN: there were fewer than 19
 * sequences of as many moves. */
double forecast_common_sd(const struct forecast_past *past, enum forecast_quantity side,
                          const struct forecast_law *law, const struct forecast_ahead *ahead);

ENUM_NAMES_DECLARED(forecast_answer); /* "yes" "no" "not known" */

#endif
