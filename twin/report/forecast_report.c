#include "twin/report/forecast_report.h"

#include <math.h>
#include <stdio.h>

#include "identification/travel/travel_resolution.h"

/* ---- questions ---- */

void forecast_question_start(struct forecast_question *question)
{
    question->level = FORECAST_95;
    question->bound_s = question->total_s = (double)NAN;
    question->count = 0;
}

const char *forecast_question_fault(const struct pair_params *p, double rotation_rad,
                                    double displacement_m)
{
    const struct travel_move move = {rotation_rad, displacement_m, 1.0};
    return pair_is_arm(p) ? "the pair is an arm: its moves are not known by their size"
           : !travel_move_usable(&move)
               ? "a move turns by up to 1e6 rad and drives by up to 1e9 m"
           : !pair_forecast_sizes(rotation_rad, displacement_m)
               ? "a move with a rotation or a displacement other than 0 was expected"
               : NULL;
}

bool forecast_question_add(struct forecast_question *question, double rotation_rad,
                           double displacement_m)
{
    if (question->count == FORECAST_SUM_MAX) {
        return false;
    }
    question->moves[question->count++] =
        (struct forecast_move){.turn = rotation_rad, .drive = displacement_m};
    return true;
}

/* A pair's window, and what forecasts rest on. */
struct past {
    struct forecast_move moves[PAIR_WINDOW_MAX];
    struct forecast_past past;
};

static void read_past(const struct pair *pair, const struct pair_params *p, struct past *out)
{
    out->past = (struct forecast_past){&pair->forecast, out->moves,
                                       pair_forecast_moves(pair, p, out->moves)};
}

double forecast_level_value(enum forecast_level level)
{
    static const double values[FORECAST_LEVELS] = {0.8, 0.9, 0.95};
    return values[level];
}

/* ---- the state ---- */

static uint32_t count_moves(const struct forecast *f, enum forecast_quantity q)
{
    const uint32_t real = f->fit[FORECAST_REAL_LAP].count;
    const uint32_t virtual = f->fit[FORECAST_VIRTUAL_LAP].count;
    return q < FORECAST_LAG ? f->fit[q].count : real < virtual ? real : virtual;
}

static void write_quantity(struct json_writer *w, const struct forecast *f,
                           const struct forecast_made *made, enum forecast_quantity q)
{
    const struct forecast_spread *spread = &f->spread[q];
    double ci95[2] = {(double)NAN, (double)NAN};
    if (f->judged[q] > 0) {
        forecast_wilson(forecast_held(f, q), f->judged[q], ci95);
    }
    JSON_WRITE_OBJECT(
        w, forecast_quantity_name(q), JSON("moves", count_moves(f, q)),
        JSON("scores", (uint32_t)f->scores[q]), JSON_WHOLE("held", forecast_held(f, q)),
        JSON("of", (uint32_t)f->judged[q]), JSON_NUMBERS("held_ci95", ci95, 2),
        JSON("alpha", (double)f->alpha[q][FORECAST_95] / FORECAST_LEVEL_UNITS),
        JSON("spread_s", spread->s0 > 0.0 ? spread->t0 / spread->s0 : (double)NAN),
        JSON("basis", forecast_basis_name(forecast_interval(made, q, FORECAST_95).basis)));
}

/* Lists what a robot must send so that the parts of a lag are complete. */
static void write_unmeasured(struct json_writer *w, unsigned unmeasured)
{
    static const char *const missing[2 * SIDE_COUNT] = {
        "real: t of the reply", "virtual: t of the reply", "real: t_start of the reply",
        "virtual: t_start of the reply"};
    JSON_LIST(w, "unmeasured", unsigned i = 0; i < 2 * SIDE_COUNT; i++) {
        if (unmeasured >> i & 1U) {
            json_write_text(w, NULL, missing[i]);
        }
    }
}

void forecast_report_state(struct json_writer *w, const char *key, const struct pair *pair,
                           const struct pair_params *p)
{
    const struct forecast *f = &pair->forecast;
    struct forecast_made made = {0};
    forecast_predict(f, 1.0, 0.0, ~0U, &made, NULL); /* any move shows the basis */
    JSON_OPEN(w, key, JSON("pair", p->id), JSON("level", forecast_level_value(FORECAST_95)));
    JSON_MAP(w, "quantities", enum forecast_quantity q = FORECAST_REAL_LAP;
             q < FORECAST_QUANTITIES; q++) {
        write_quantity(w, f, &made, q);
    }
    JSON_WRITE(w, JSON("left_out", f->left_out), JSON("cut_short", f->cut_short),
               JSON("timeouts", f->timed_out));
    write_unmeasured(w, pair->unmeasured);
    json_write_close(w);
}

static void widen_range(double range[2], double size)
{
    if (size > TRAVEL_NO_MOVE) {
        range[0] = range[0] < size ? range[0] : size; /* NaN is not less */
        range[1] = range[1] > size ? range[1] : size;
    }
}

/* Finds the least and largest turn and drive of the window's moves with both laps; NaN: none.
 * The same as forecast_range() of all moves, which would copy the window for every pair of a
 * list. */
static void find_ranges(const struct pair *pair, double range[2][2])
{
    for (uint32_t k = 0; k < pair->window_count; k++) {
        const struct pair_move *row = &pair->window[k];
        const float *const lap_s = row->arrival_lap_s;
        if (!isnan(lap_s[SIDE_REAL]) && !isnan(lap_s[SIDE_VIRTUAL])) {
            widen_range(range[0], fabs(row->rotation_rad));
            widen_range(range[1], fabs(row->displacement_m));
        }
    }
}

void forecast_report_trust(struct json_writer *w, const char *key, const struct pair *pair,
                           const struct pair_params *p)
{
    const struct forecast *f = &pair->forecast;
    const struct parameter_set *active = parameters_find(&pair->parameters, PARAMETERS_ACTIVE);
    const struct parameter_set *set =
        active ? active : parameters_find(&pair->parameters, PARAMETERS_CANDIDATE);
    struct forecast_made made = {0};
    double range[2][2] = {{NAN, NAN}, {NAN, NAN}};
    double middle[2] = {0.0, 0.0};
    if (!pair_is_arm(p)) { /* moves of arms have no such sizes */
        find_ranges(pair, range);
    }
    for (unsigned k = 0; k < 2; k++) {
        middle[k] = isnan(range[k][0]) ? 0.0 : (range[k][0] + range[k][1]) / 2.0;
    }
    forecast_predict(f, middle[0], middle[1], ~0U, &made, NULL);
    const struct forecast_interval lag = forecast_interval(&made, FORECAST_LAG, FORECAST_95);
    JSON_WRITE_OBJECT(
        w, key,
        JSON_KNOWN("set", set, JSON("version", set->version), JSON("in_force", (bool)active),
                   JSON("verdict", estimate_verdict_name((enum estimate_verdict)set->verdict)),
                   JSON("moves", set->n), JSON_SECONDS("made_t", set->made_us)),
        JSON_NUMBERS("rotation_rad", range[0], 2), JSON_NUMBERS("displacement_m", range[1], 2),
        JSON("lag_expected_s", lag.expected_s), JSON("lag_low_s", lag.low_s),
        JSON("lag_high_s", lag.high_s), JSON_WHOLE("held", forecast_held(f, FORECAST_LAG)),
        JSON("of", (uint32_t)f->judged[FORECAST_LAG]));
}

/* ---- one move ---- */

/* Says why a move is unlike those that were seen; "": it is not. */
static void describe_beyond(const struct forecast_past *past, enum forecast_quantity q,
                            enum forecast_why why, const struct forecast_move *move, char *text,
                            size_t size)
{
    const bool drive = why == FORECAST_NEW_DISPLACEMENT;
    const double own = fabs(drive ? move->drive : move->turn);
    double range[2];
    text[0] = '\0';
    if (why == FORECAST_NEW_KIND) {
        (void)snprintf(text, size, "no move of this kind was seen for long");
    } else if (why == FORECAST_NEW_ROTATION || drive) {
        forecast_range(past, q, drive, range);
        const char *what = drive ? "drive" : "turn";
        const char *unit = drive ? "m" : "rad";
        if (isnan(range[0])) {
            (void)snprintf(text, size, "no %s was seen", what);
        } else {
            (void)snprintf(text, size, "no %s %s than %.3g %s was seen", what,
                           own > range[1] ? "longer" : "shorter",
                           own > range[1] ? range[1] : range[0], unit);
        }
    }
}

void forecast_report_move(struct json_writer *w, const char *key, const struct pair *pair,
                          const struct pair_params *p, const struct forecast_question *question)
{
    const struct forecast_move *move = &question->moves[0];
    struct forecast_made made = {0};
    struct past past;
    double leverage[FORECAST_QUANTITIES];
    char text[80];
    read_past(pair, p, &past);
    forecast_predict(&pair->forecast, move->turn, move->drive, ~0U, &made, leverage);
    JSON_OPEN(w, key, JSON("pair", p->id), JSON("rotation_rad", move->turn),
              JSON("displacement_m", move->drive),
              JSON("level", forecast_level_value(question->level)));
    for (enum forecast_quantity q = FORECAST_REAL_LAP; q < FORECAST_QUANTITIES; q++) {
        const struct forecast_interval i = forecast_interval(&made, q, question->level);
        describe_beyond(&past.past, q, forecast_beyond(&past.past, q, move, leverage[q]), move,
                        text, sizeof text);
        const bool below = q < FORECAST_LAG && i.expected_s < 0.0; /* no lap is */
        JSON_WRITE_OBJECT(
            w, forecast_quantity_name(q), JSON("expected_s", below ? 0.0 : i.expected_s),
            JSON("low_s", i.low_s), JSON("high_s", i.high_s),
            JSON("basis", forecast_basis_name(i.basis)), JSON("beyond", text[0] ? text : NULL));
    }
    json_write_close(w);
}

/* ---- open commands ---- */

/* Writes a time in s after t_us, or null. */
static int64_t time_after(int64_t t_us, double s)
{
    return isfinite(s) ? t_us + lab_us(s) : LAB_TIME_NONE;
}

static void write_times(struct json_writer *w, const char *key, const int64_t t_us[2])
{
    json_write_array(w, key);
    JSON_WRITE(w, JSON_SECONDS(NULL, t_us[0]), JSON_SECONDS(NULL, t_us[1]));
    json_write_close(w);
}

static bool is_open(const struct pair_slot *slot, enum side side)
{
    return slot->expected[side] && !slot->answered[side] && !slot->timed_out[side];
}

static void write_command(struct json_writer *w, const struct pair *pair,
                          const struct pair_params *p, const struct pair_slot *slot,
                          enum side side, int64_t now_us)
{
    const bool sent = slot->sent[side];
    const double elapsed_s = sent ? lab_s(now_us - slot->sent_us[side]) : 0.0;
    int longer = -1;
    const struct forecast_interval lap =
        forecast_open(&pair->forecast, &slot->forecast, (enum forecast_quantity)side,
                      FORECAST_95, elapsed_s, &longer);
    const int64_t due_us[2] = {time_after(slot->sent_us[side], lap.low_s),
                               time_after(slot->sent_us[side], lap.high_s)};
    const double counts[2] = {longer, pair->forecast.scores[side]};
    JSON_OPEN(w, NULL, JSON("id", slot->id[0] ? slot->id : NULL), JSON("side", side_name(side)),
              JSON("elapsed_s", elapsed_s), JSON("state", sent ? "under way" : "waiting"),
              JSON("low_s", lap.low_s), JSON("high_s", lap.high_s));
    write_times(w, "due_t", due_us);
    JSON_WRITE(
        w, longer >= 0 ? JSON_NUMBERS("longer", counts, 2) : JSON_NULL("longer"),
        JSON_SECONDS("deadline_t", sent ? slot->sent_us[side] + p->timeout_us : LAB_TIME_NONE));
    json_write_close(w);
}

/* Returns the later of two ends; one that is not known may be any time. */
static double later_of(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b);
}

/* The time that the commands of a side end: the last one under way, then those that wait, whose
 * widths add up because drift is common to all. */
static void write_queue(struct json_writer *w, const struct pair *pair,
                        const struct pair_params *p, enum side side, int64_t now_us)
{
    struct forecast_question question;
    struct past past;
    size_t open = 0;
    double end_s[2] = {0.0, 0.0}; /* after now */
    forecast_question_start(&question);
    for (int k = -1; pair_next_open(pair, &k);) {
        const struct pair_slot *slot = pair_look_slot(pair, k);
        int longer = -1;
        if (!is_open(slot, side)) {
            continue;
        }
        open++;
        if (!slot->sent[side]) {
            (void)forecast_question_add(&question, slot->rotation_rad, slot->displacement_m);
            continue;
        }
        const double elapsed_s = lab_s(now_us - slot->sent_us[side]);
        const struct forecast_interval lap =
            forecast_open(&pair->forecast, &slot->forecast, (enum forecast_quantity)side,
                          FORECAST_95, elapsed_s, &longer);
        end_s[0] = later_of(end_s[0], lap.low_s - elapsed_s);
        end_s[1] = later_of(end_s[1], lap.high_s - elapsed_s);
    }
    if (question.count > 0) {
        read_past(pair, p, &past);
        const struct forecast_sum sum =
            forecast_sum(&past.past, question.moves, question.count,
                         (enum forecast_quantity)side, question.level);
        const bool known = !pair_is_arm(p);
        end_s[0] += known ? sum.low_s : (double)NAN;
        end_s[1] += known ? sum.high_s : (double)NAN;
    }
    const int64_t done_us[2] = {time_after(now_us, end_s[0]), time_after(now_us, end_s[1])};
    JSON_OPEN(w, "queue", JSON("side", side_name(side)), JSON_WHOLE("moves", open));
    write_times(w, "done_t", done_us);
    json_write_close(w);
}

void forecast_report_open(struct json_writer *w, const char *key, const struct pair *pair,
                          const struct pair_params *p, int64_t now_us)
{
    enum side queue = SIDE_COUNT;
    JSON_OPEN(w, key, JSON("pair", p->id), JSON_SECONDS("t", now_us));
    JSON_LIST(w, "commands", int k = -1; pair_next_open(pair, &k);) {
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (is_open(pair_look_slot(pair, k), s)) {
                write_command(w, pair, p, pair_look_slot(pair, k), s, now_us);
                queue = s < queue ? s : queue;
            }
        }
    }
    if (queue < SIDE_COUNT) {
        write_queue(w, pair, p, queue, now_us);
    } else {
        json_write_text(w, "queue", NULL);
    }
    json_write_close(w);
}

/* ---- many moves ---- */

/* Describes how far the lag may be from zero, or is at least. */
static void describe_reach(const struct forecast_trust *trust, const char *move, char *text,
                           size_t size)
{
    const char *what = trust->why == FORECAST_MOVE ? "its lag" : "the sum of the lags";
    const double most_s = fmax(trust->high_s, -trust->low_s);
    const double least_s = fmax(trust->low_s, -trust->high_s);
    if (trust->answer == FORECAST_NO) {
        (void)snprintf(text, size, "%s%s is at least %.3g s", move, what, least_s);
    } else if (isinf(most_s)) {
        (void)snprintf(text, size, "%s%s has no known end", move, what);
    } else {
        (void)snprintf(text, size, "%s%s may reach %.3g s", move, what, most_s);
    }
}

void forecast_report_why(const struct forecast_past *past,
                         const struct forecast_question *question,
                         const struct forecast_trust *trust, char *text, size_t size)
{
    const struct forecast *f = past->forecast;
    char move[64] = "";
    char what[80];
    if (trust->move < question->count) {
        const struct forecast_move *m = &question->moves[trust->move];
        (void)snprintf(move, sizeof move, "move %zu (%.3g rad, %.3g m): ", trust->move + 1,
                       m->turn, m->drive);
    }
    switch (trust->why) {
    case FORECAST_FEW_MOVES:
        (void)snprintf(text, size, "%sfew moves%s", move,
                       f->timed_out > 0 ? " that both robots answered" : "");
        break;
    case FORECAST_NEW_ROTATION:
    case FORECAST_NEW_DISPLACEMENT:
    case FORECAST_NEW_KIND:
        describe_beyond(past, FORECAST_LAG, trust->why, &question->moves[trust->move], what,
                        sizeof what);
        (void)snprintf(text, size, "%s%s", move, what);
        break;
    case FORECAST_NOT_HELD:
        (void)snprintf(text, size, "%u of the last %u forecasts held",
                       forecast_held(f, FORECAST_LAG), f->judged[FORECAST_LAG]);
        break;
    case FORECAST_MOVE:
    case FORECAST_TOTAL:
        describe_reach(trust, move, text, size);
        break;
    case FORECAST_WITHIN:
    case FORECAST_WHYS:
    default:
        (void)snprintf(text, size, "not refuted within the bounds");
        break;
    }
}

static void write_sum(struct json_writer *w, enum forecast_quantity q,
                      const struct forecast_sum *sum)
{
    const bool below = q < FORECAST_LAG && sum->expected_s < 0.0; /* no lap is */
    JSON_WRITE_OBJECT(w, forecast_quantity_name(q),
                      JSON("expected_s", below ? 0.0 : sum->expected_s),
                      JSON("low_s", sum->low_s), JSON("high_s", sum->high_s),
                      JSON_WHOLE("windows", sum->windows),
                      JSON_IF(isnan(sum->high_s), JSON("why", "few moves")));
}

/* Says what the intervals are for: that of many moves is not that of the one which decides. */
static void write_meaning(struct json_writer *w, size_t moves)
{
    char text[96] = "of the move";
    if (moves > 1) {
        (void)snprintf(text, sizeof text,
                       "of the sum of all %zu moves; bound_s is for each move alone", moves);
    }
    json_write_text(w, "intervals", text);
}

/* Writes the lag of the move that decides about bound_s. */
static void write_deciding_move(struct json_writer *w, const struct forecast_question *question,
                                const struct forecast_trust *trust)
{
    if (trust->move < question->count) {
        const struct forecast_move *move = &question->moves[trust->move];
        JSON_WRITE_OBJECT(w, "decides", JSON_WHOLE("move", trust->move + 1),
                          JSON("rotation_rad", move->turn), JSON("displacement_m", move->drive),
                          JSON("lag_low_s", trust->low_s), JSON("lag_high_s", trust->high_s));
    }
}

void forecast_report_sum(struct json_writer *w, const char *key, const struct pair *pair,
                         const struct pair_params *p, const struct forecast_question *question)
{
    struct past past;
    char why[192];
    read_past(pair, p, &past);
    JSON_OPEN(w, key, JSON("pair", p->id), JSON_WHOLE("moves", question->count),
              JSON("level", forecast_level_value(question->level)));
    write_meaning(w, question->count);
    for (enum forecast_quantity q = FORECAST_REAL_LAP; q < FORECAST_QUANTITIES; q++) {
        const struct forecast_sum sum =
            forecast_sum(&past.past, question->moves, question->count, q, question->level);
        write_sum(w, q, &sum);
    }
    if (!isnan(question->bound_s) || !isnan(question->total_s)) {
        const struct forecast_trust trust =
            forecast_trust(&past.past, question->moves, question->count, question->bound_s,
                           question->total_s, question->level);
        forecast_report_why(&past.past, question, &trust, why, sizeof why);
        JSON_WRITE(w, JSON("answer", forecast_answer_name(trust.answer)), JSON("why", why));
        write_deciding_move(w, question, &trust);
    }
    JSON_WRITE(w, JSON_WHOLE("held", forecast_held(&pair->forecast, FORECAST_LAG)),
               JSON("of", (uint32_t)pair->forecast.judged[FORECAST_LAG]));
    json_write_close(w);
}

/* ---- the next move ---- */

bool forecast_report_plans(const struct pair_params *p)
{
    return !pair_is_arm(p) && p->motion == TRAVEL_TURNS_AND_DRIVES;
}

void forecast_report_widths(struct json_writer *w, const struct next_move_known *known,
                            const double se[TRAVEL_P], size_t left)
{
    double width[TRAVEL_P];
    size_t more[2];
    const bool is_known = next_move_left_range(known, left, more);
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        width[j] = next_move_width(known, j, se[j]);
    }
    JSON_WRITE(
        w,
        JSON_OBJECT("widths_after", JSON("t0_s", width[TRAVEL_T0]),
                    JSON("ta_s", width[TRAVEL_TA]), JSON("tr_s", width[TRAVEL_TR]),
                    JSON("angular_speed_ratio", width[TRAVEL_INV_W]),
                    JSON("linear_speed_ratio", width[TRAVEL_INV_V])),
        is_known ? JSON("moves_left", left) : JSON_NULL("moves_left"),
        JSON_KNOWN("moves_left_range", is_known, JSON("low", more[0]), JSON("high", more[1])));
}

void forecast_report_next_move(struct json_writer *w, const char *key, const struct pair *pair,
                               const struct pair_params *p, const struct pair_fits *fits,
                               double speed_ratio)
{
    struct travel_move moves[PAIR_WINDOW_MAX];
    int64_t t_us[2];
    struct next_move_aim aim;
    struct next_move_known known;
    struct next_move next = {.why = NEXT_MOVE_GOAL};
    const size_t n = pair_moves(pair, p, SIDE_REAL, moves, t_us);
    next_move_aim_start(&aim, speed_ratio);
    next_move_start(&known, p->kalman.nominal_w_radps, p->kalman.nominal_v_mps);
    for (size_t i = 0; i < n; i++) {
        next_move_add(&known, moves[i].rotation_rad, moves[i].displacement_m);
    }
    if (fits->known[SIDE_REAL]) {
        next_move_learn(&known, &fits->fit[SIDE_REAL]);
    }
    const bool found = next_move_find(&aim, &known, NULL, n, &next) == NEXT_MOVE_FOUND;
    /* Enough moves of a robot that changed meanwhile describe no robot. */
    const bool is_pass =
        fits->known[SIDE_REAL] && fits->fit[SIDE_REAL].estimate.verdict == ESTIMATE_PASS;
    JSON_OPEN(w, key, JSON("rotation_rad", found ? next.rotation_rad : (double)NAN),
              JSON("displacement_m", found ? next.displacement_m : (double)NAN),
              JSON("why", found     ? next_move_why_name(next.why)
                          : is_pass ? "reached"
                                    : "not_pass"));
    forecast_report_widths(w, &known, found ? next.se_after : next.se,
                           next_move_left(&aim, &known, n));
    json_write_array(w, "rows");
    for (size_t i = 0; i < n; i++) {
        const double row[] = {moves[i].rotation_rad, moves[i].displacement_m, moves[i].lap_s};
        json_write_numbers(w, NULL, row, COUNT(row));
    }
    json_write_close(w);
    json_write_close(w);
}
