#include "service/forecast/drive_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/text/utf8.h"
#include "logger/message/codec_native.h"
#include "logger/message/json_scan.h"
#include "service/sim/mission/mission_legs.h"
#include "service/tool/commands.h"
#include "twin/report/forecast_report.h"

enum { NOT_DONE_MAX = 2 };

static const double GOAL_RATIO = 0.02; /* without --goal and --mission */
static const double PERCENT_MIN = 0.1;
static const double PERCENT_MAX = 50.0;
static const double SIZE_RATIO = 0.01; /* sizes that differ by less are the same */
/* A robot rests if its pose changes by less than this in half a second. Localisation jitters by
 * less than a centimetre, and a robot that is slower than 2 cm/s does not leave the room. */
static const double REST_M = 0.01;
static const double REST_RAD = 0.02;
enum { REST_US = 500 * 1000 };

ENUM_NAMES(drive_stop, DRIVE_STOP_COUNT, DRIVE_STOPS(NAMES_TEXT));

static bool refuse_option(const char *option, const char *value, const char *what)
{
    return complain("drive: %s%s%s: %s", option, value[0] ? " " : "", value, what);
}

/* ---- options ---- */

/* Reads "2%" or "2%,delay=20ms". */
static bool read_goal(const char *text, struct next_move_aim *aim)
{
    static const char word[] = ",delay=";
    char *end = NULL;
    const double percent = strtod(text, &end);
    bool fine = end != text && *end == '%' && percent >= PERCENT_MIN && percent <= PERCENT_MAX;
    aim->speed_ratio = percent / 100.0;
    end += fine;
    if (fine && *end != '\0') {
        fine = strncmp(end, word, sizeof word - 1) == 0;
        const char *number = end + (fine ? sizeof word - 1 : 0);
        aim->delay_s = fine ? strtod(number, &end) : 0.0;
        aim->delay_s *= strcmp(end, "ms") == 0 ? 1e-3 : 1.0;
        fine = fine && end != number && (strcmp(end, "ms") == 0 || strcmp(end, "s") == 0) &&
               aim->delay_s >= 1e-6 && aim->delay_s <= 60.0;
    }
    return fine ||
           refuse_option("--goal", text,
                         "0.1% to 50% of the speeds, and a delay above 0 if wanted, were "
                         "expected, as in 2%,delay=20ms");
}

/* Reads two corners "X0,Y0,X1,Y1". */
static bool read_room(const char *text, struct next_move_aim *aim)
{
    double corner[4];
    const char *at = text;
    char *end = NULL;
    bool fine = true;
    for (size_t i = 0; i < 4 && fine; i++) {
        corner[i] = strtod(at, &end);
        fine = end != at && isfinite(corner[i]) && *end == (i < 3 ? ',' : '\0');
        at = end + 1;
    }
    if (!fine) {
        return refuse_option("--room", text, "two corners X0,Y0,X1,Y1 in m were expected");
    }
    aim->bounded = true;
    for (size_t k = 0; k < 2; k++) {
        aim->room_m[0][k] = fmin(corner[k], corner[k + 2]);
        aim->room_m[1][k] = fmax(corner[k], corner[k + 2]);
    }
    return hypot(aim->room_m[1][0] - aim->room_m[0][0],
                 aim->room_m[1][1] - aim->room_m[0][1]) >= aim->drive_m[0] ||
           refuse_option("--room", text, "it is smaller than the shortest drive, --drive-min");
}

static bool add_leg(void *context, double rotation_rad, double displacement_m)
{
    struct next_move_aim *aim = context;
    double x[TRAVEL_P];
    travel_row(rotation_rad, displacement_m, x);
    for (size_t j = 0; j < TRAVEL_P; j++) {
        aim->mission_row[j] += x[j];
    }
    return true;
}

/* Moves of one size of a kind tell the sum of its delay and its time only. That suffices for a
 * mission of such moves, but for no speed. */
static bool sizes_suffice(const struct next_move_aim *aim)
{
    static const char *const options[2][2] = {
        {"--turn-max", "above --turn-min was expected"},
        {"--drive-max", "above --drive-min was expected"}};
    static const enum travel_term terms[2][2] = {{TRAVEL_TA, TRAVEL_INV_W},
                                                 {TRAVEL_TR, TRAVEL_INV_V}};
    for (size_t k = 0; k < 2; k++) {
        const double *range = k == 0 ? aim->turn_rad : aim->drive_m;
        const double *row = aim->mission_row;
        const double other = fabs(row[terms[k][1]] - range[0] * row[terms[k][0]]);
        const bool same = aim->mission && other <= SIZE_RATIO * row[terms[k][1]];
        if (range[1] <= range[0] && !same) {
            return refuse_option("--plan", options[k][0], options[k][1]);
        }
    }
    return true;
}

bool drive_plan_read(const struct drive_plan_options *options, struct next_move_aim *aim)
{
    const bool within = !isnan(options->within_s);
    if (!options->plan && (options->goal || options->mission || options->room || within)) {
        return refuse_option("--goal, --mission, --within, --room", "", "they need --plan");
    }
    if (options->goal && options->mission) {
        return refuse_option("--goal and --mission", "", "one of them was expected");
    }
    if (within != (options->mission != NULL)) {
        return refuse_option("--mission and --within", "",
                             "both or none of them were expected");
    }
    aim->speed_ratio = options->mission ? (double)NAN : GOAL_RATIO;
    aim->delay_s = (double)NAN;
    aim->mission = options->mission != NULL;
    aim->half_s = options->within_s;
    return (!options->goal || read_goal(options->goal, aim)) &&
           (!options->room || read_room(options->room, aim)) &&
           (!options->mission || mission_legs_read("drive", options->mission, add_leg, aim)) &&
           (!options->plan || sizes_suffice(aim));
}

/* ---- the robot ---- */

bool drive_plan_stands_inside(const struct drive_plan *plan)
{
    const struct next_move_aim *aim = &plan->moves.aim;
    bool inside = true;
    for (size_t k = 0; k < 2; k++) {
        inside =
            inside && aim->room_m[0][k] <= plan->pose[k] && plan->pose[k] <= aim->room_m[1][k];
    }
    if (!plan->has_pose) {
        return refuse_option(
            "--room", "",
            plan->rest_us == LAB_TIME_NONE
                ? "no pose of the real robot arrived: its telemetry must have one"
                : "the real robot moves: it must stand before the first move");
    }
    return inside ||
           complain("drive: --room: the robot stands at (%.3g, %.3g), outside of the room",
                    plan->pose[0], plan->pose[1]);
}

/* Has the robot been at this pose for a while? */
static bool is_at_rest(struct drive_plan *plan, const double pose[3], int64_t t_us)
{
    const double *rest = plan->rest_pose;
    if (plan->rest_us == LAB_TIME_NONE || t_us < plan->rest_us ||
        hypot(pose[0] - rest[0], pose[1] - rest[1]) > REST_M ||
        fabs(remainder(pose[2] - rest[2], 2.0 * PI)) > REST_RAD) {
        memcpy(plan->rest_pose, pose, sizeof plan->rest_pose);
        plan->rest_us = t_us;
    }
    return t_us - plan->rest_us >= REST_US;
}

void drive_plan_receive_pose(struct drive_plan *plan, const struct event *event,
                             enum drive_motion motion)
{
    static const char *const names[3] = {"x_m", "y_m", "psi_rad"};
    double pose[3] = {(double)NAN, (double)NAN, (double)NAN};
    if (event->side != SIDE_REAL) {
        return;
    }
    for (size_t k = 0; k < 3; k++) {
        if (event->kind == EVENT_REPLY) {
            pose[k] = native_reply_number(&event->reply, names[k]);
        } else if (event->kind == EVENT_TELEMETRY && motion != DRIVE_MOVES &&
                   event->telemetry.pose_count == 3) {
            pose[k] = event->telemetry.pose[k];
        }
    }
    if (isfinite(pose[0] + pose[1] + pose[2]) &&
        (event->kind == EVENT_REPLY || motion == DRIVE_STANDS ||
         is_at_rest(plan, pose, event->t_us))) {
        memcpy(plan->pose, pose, sizeof pose);
        plan->has_pose = true;
    }
}

void drive_plan_receive_alarm(struct drive_plan *plan, const char *text, size_t bytes)
{
    struct json_scan s;
    struct json_text key;
    struct json_text type = {0};
    struct json_text side = {0};
    struct json_text detail = {0};
    double since_s = (double)NAN;
    json_scan_start(&s, text, bytes, JSON_SCAN_DEPTH_MAX);
    if (!json_scan_enter(&s, JSON_KIND_OBJECT)) {
        return;
    }
    while (json_scan_next_member(&s, &key)) {
        (void)(json_text_is(&key, "type")     ? json_scan_text(&s, &type)
               : json_text_is(&key, "side")   ? json_scan_text(&s, &side)
               : json_text_is(&key, "detail") ? json_scan_text(&s, &detail)
               : json_text_is(&key, "since_t") && json_scan_peek(&s) == JSON_KIND_NUMBER
                   ? json_scan_number(&s, &since_s)
                   : json_scan_skip(&s, NULL, NULL));
    }
    if (s.error || !json_text_is(&type, "drift") || !json_text_is(&side, "real")) {
        return;
    }
    if (!isnan(since_s) && (plan->begun_us == 0 || lab_us(since_s) <= plan->begun_us)) {
        move_plan_forget_earlier(&plan->moves);
    } else {
        plan->drifted = true;
        (void)json_text_copy(&detail, plan->drift, sizeof plan->drift, false);
        (void)utf8_tame(plan->drift); /* anybody may publish an alarm */
    }
}

/* ---- moves ---- */

static enum drive_stop find_stop(enum move_plan_stop stop)
{
    static const enum drive_stop stops[] = {
        [MOVE_PLAN_GOES_ON] = DRIVE_GOES_ON, [MOVE_PLAN_REACHED] = DRIVE_REACHED,
        [MOVE_PLAN_LAW] = DRIVE_LAW,         [MOVE_PLAN_NO_ROOM] = DRIVE_NO_ROOM,
        [MOVE_PLAN_FULL] = DRIVE_FULL,       [MOVE_PLAN_FAILED] = DRIVE_FAILED};
    return stops[stop];
}

bool drive_plan_choose(struct drive_plan *plan, struct event_command *command)
{
    const bool bounded = plan->moves.aim.bounded;
    plan->stop = plan->drifted                    ? DRIVE_DRIFT
                 : plan->another                  ? DRIVE_ANOTHER
                 : plan->not_done >= NOT_DONE_MAX ? DRIVE_BLOCKED
                 : bounded && !plan->has_pose     ? DRIVE_NO_POSE
                                                  : DRIVE_GOES_ON;
    if (plan->stop == DRIVE_GOES_ON) {
        plan->stop = find_stop(move_plan_next(&plan->moves, plan->pose, &plan->next));
    }
    (void)snprintf(command->op, sizeof command->op, "go");
    command->rotation_rad = plan->next.rotation_rad;
    command->displacement_m = plan->next.displacement_m;
    return plan->stop == DRIVE_GOES_ON;
}

void drive_plan_learn(struct drive_plan *plan, const struct event_command *command,
                      enum drive_outcome outcome, double lap_s)
{
    const struct travel_move move = {command->rotation_rad, command->displacement_m, lap_s};
    plan->not_done = outcome == DRIVE_NOT_DONE ? plan->not_done + 1 : 0;
    if (outcome == DRIVE_DONE) {
        move_plan_add(&plan->moves, &move, false);
    }
    plan->left = next_move_left(&plan->moves.aim, &plan->moves.known, plan->moves.counter);
}

/* ---- output ---- */

/* Returns the half width of the 95 % interval of the mission's time; NaN: not determined. */
static double mission_half(const struct move_plan *moves)
{
    const double *row = moves->aim.mission_row;
    return moves->n > 0 && robust_ls_estimable(&moves->fit.ls, row)
               ? estimate_reach((double)moves->fit.freedom) * robust_ls_se(&moves->fit.ls, row)
               : (double)NAN;
}

static double width_after(const struct drive_plan *plan, enum travel_term j)
{
    return next_move_width(&plan->moves.known, j, plan->next.se_after[j]);
}

void drive_plan_print_move(const struct drive_plan *plan)
{
    (void)printf("  %s", next_move_why_name(plan->next.why));
    if (!plan->moves.aim.mission) {
        (void)printf(": turns to %.2g %%, drives to %.2g %%",
                     100.0 * width_after(plan, TRAVEL_INV_W),
                     100.0 * width_after(plan, TRAVEL_INV_V));
    } else if (isfinite(mission_half(&plan->moves))) {
        (void)printf(": known to %.2g s before", mission_half(&plan->moves));
    }
    size_t more[2];
    if (next_move_left_range(&plan->moves.known, plan->left, more)) {
        (void)printf(", %zu to %zu more", more[0], more[1]);
    } else if (plan->left < NEXT_MOVE_LEFT_MAX) {
        (void)printf(", not known yet how many more");
    }
}

void drive_plan_write_move(const struct drive_plan *plan, struct json_writer *w)
{
    JSON_WRITE(w, JSON("why", next_move_why_name(plan->next.why)));
    forecast_report_widths(w, &plan->moves.known, plan->next.se_after, plan->left);
}

static const char *stop_detail(const struct drive_plan *plan)
{
    static const char *const details[DRIVE_STOP_COUNT] = {
        [DRIVE_NO_ROOM] = "no move ends in the room",
        [DRIVE_NO_POSE] = "the robot does not say where it comes to rest",
        [DRIVE_ANOTHER] =
            "somebody else commands the pair, so laps and poses are not the plan's",
        [DRIVE_BLOCKED] = "blocked, failed or silent twice in a row",
        [DRIVE_COUNT] = "--count",
        [DRIVE_TIME] = "--for",
        [DRIVE_NO_CONNECTION] = "there was none to the broker",
        [DRIVE_FULL] = "2000 moves do not suffice",
        [DRIVE_FAILED] = "not enough memory",
    };
    return plan->stop == DRIVE_LAW     ? plan->moves.reason
           : plan->stop == DRIVE_DRIFT ? plan->drift
                                       : details[plan->stop];
}

static bool knows_values(const struct drive_plan *plan)
{
    return plan->moves.n > 0 && plan->stop == DRIVE_REACHED;
}

void drive_plan_print_end(const struct drive_plan *plan)
{
    const struct estimate *e = &plan->moves.fit.estimate;
    const char *detail = stop_detail(plan);
    (void)printf("plan: %s%s%s, %zu usable moves, %zu of them from the daemon",
                 drive_stop_name(plan->stop), detail ? ": " : "", detail ? detail : "",
                 plan->moves.n, plan->moves.earlier);
    if (plan->moves.left_out > 0) {
        (void)printf(", %zu of the daemon left out: the robot has changed since",
                     plan->moves.left_out);
    }
    (void)putchar('\n');
    if (!knows_values(plan)) {
        return;
    }
    if (plan->moves.aim.mission) {
        (void)printf("the mission takes %.3f +- %.3f s; the moves are for this mission only\n",
                     robust_ls_value(&plan->moves.fit.ls, plan->moves.aim.mission_row),
                     mission_half(&plan->moves));
        return;
    }
    for (size_t i = 0; i < e->p; i++) {
        (void)printf("  %-20s %8.4g  [%.4g, %.4g]\n", e->name[i], e->value[i], e->lo[i],
                     e->hi[i]);
    }
}

void drive_plan_write_end(const struct drive_plan *plan, struct json_writer *w)
{
    const struct estimate *e = &plan->moves.fit.estimate;
    JSON_WRITE(w, JSON("stop", drive_stop_name(plan->stop)),
               JSON("stop_detail", stop_detail(plan)), JSON("usable", plan->moves.n),
               JSON("earlier", plan->moves.earlier),
               JSON("earlier_left_out", plan->moves.left_out));
    if (!knows_values(plan)) {
        return;
    }
    if (plan->moves.aim.mission) {
        JSON_WRITE(w,
                   JSON("mission_s",
                        robust_ls_value(&plan->moves.fit.ls, plan->moves.aim.mission_row)),
                   JSON("mission_half_s", mission_half(&plan->moves)));
        return;
    }
    json_write_object(w, "values");
    for (size_t i = 0; i < e->p; i++) {
        json_write_real(w, e->name[i], e->value[i]);
    }
    json_write_close(w);
    json_write_object(w, "ci95");
    for (size_t i = 0; i < e->p; i++) {
        json_write_two(w, e->name[i], e->lo[i], e->hi[i]);
    }
    json_write_close(w);
}
