/* service/map/map_command.c - `tandem map`: a map from the sweeps in a recording, and where the
 * robot was on it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "service/map/map_build.h"
#include "service/map/ros_map.h"
#include "service/replay/replay_read.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_argument.h"

struct map_run {
    const char *lab_path, *side, *prefix, *size;
    double every_s;
    bool json;
    struct lab_file lab;
    struct map_request request;
    struct sweeps sweeps;
    struct built_map built;
    struct ros_map map;
};

/* --- output --------------------------------------------------------------------------------
 */

static void write_pose(struct json_writer *w, const char *key, const struct plane_pose *at)
{
    json_write_numbers(w, key, (const double[]){at->x_m, at->y_m, at->yaw_rad}, 3);
}

static void write_step(const struct map_run *r, size_t i, struct json_writer *w)
{
    const struct map_step *step = &r->built.steps[i];
    const struct sweep *sweep = &r->sweeps.list[i];
    JSON_OPEN(w, NULL, JSON_SECONDS("t", sweep->t_us), JSON_WHOLE("rays", sweep->count),
              i > 0 ? JSON("outcome", scan_outcome_name(step->match.outcome))
                    : JSON("outcome", "first"),
              JSON("share", i > 0 ? step->match.share : (double)NAN),
              JSON_OF(step, moved_m, turned_rad));
    write_pose(w, "odometry", &sweep->at);
    write_pose(w, "pose", &step->belief.at);
    json_write_numbers(w, "cov", &step->belief.cov[0][0], 9);
    json_write_close(w);
}

static void write_document(const void *what, struct json_writer *w)
{
    const struct map_run *r = what;
    const struct grid_place *p = &r->map.grid->place;
    JSON_WRITE(w, JSON("pair", r->sweeps.pair), JSON("side", side_name(r->sweeps.side)),
               JSON_WHOLE("sweeps", r->sweeps.count), JSON("early", r->sweeps.skipped),
               JSON_COUNTS("refused", &sweep_refusal_names, r->sweeps.collector.refused),
               JSON_COUNTS("outcomes", &scan_outcome_names, r->built.track.outcomes),
               JSON("largest_correction_m", r->built.track.largest_m),
               JSON("largest_correction_rad", r->built.track.largest_rad));
    JSON_WRITE_OBJECT(w, "map", JSON("cell_m", p->cell_m),
                      JSON_TWO("origin_m", p->x_min_m + p->cell_m * (double)r->map.x0,
                               p->y_min_m + p->cell_m * (double)r->map.y0),
                      JSON_WHOLE("width", r->map.width), JSON_WHOLE("height", r->map.height),
                      JSON("occupied", r->map.occupied), JSON("free", r->map.free_count),
                      JSON("unknown", r->map.unknown));
    JSON_LIST(w, "poses", size_t i = 0; i < r->sweeps.count; i++) {
        write_step(r, i, w);
    }
}

/* Writes those that occurred, as "motion in it 2, cut off 1". */
static void print_counts(const struct names *names, const uint64_t *counts)
{
    const char *comma = "";
    for (size_t k = 0; k < names->count; k++) {
        if (counts[k] > 0) {
            (void)printf("%s%s %llu", comma, names_text(names, k),
                         (unsigned long long)counts[k]);
            comma = ", ";
        }
    }
}

static uint64_t count_refused(const struct sweeps *sweeps)
{
    uint64_t n = 0;
    for (size_t k = 0; k < SWEEP_REFUSAL_COUNT; k++) {
        n += sweeps->collector.refused[k];
    }
    return n;
}

static void print_result(const struct map_run *r)
{
    const struct sweeps *s = &r->sweeps;
    const struct pose_belief *last = &r->built.steps[s->count - 1].belief;
    const struct plane_pose *odometry = &s->list[s->count - 1].at;
    const unsigned long long refused = count_refused(s);
    (void)printf("sweeps      %zu of the %s robot of %s, %llu too soon, %llu refused%s", s->count,
                 side_name(s->side), s->pair, (unsigned long long)s->skipped, refused,
                 refused > 0 ? ": " : "");
    print_counts(&sweep_refusal_names, s->collector.refused);
    (void)printf("\nafter the first  ");
    print_counts(&scan_outcome_names, r->built.track.outcomes);
    (void)printf("%s\ncorrected   by %.3f m and %.2f deg at most\n", s->count > 1 ? "" : "none",
                 r->built.track.largest_m, r->built.track.largest_rad / RAD_PER_DEG);
    (void)printf("last pose   %.3f, %.3f m, %.2f deg; standard deviations %.3f, %.3f m, "
                 "%.2f deg\n",
                 last->at.x_m, last->at.y_m, last->at.yaw_rad / RAD_PER_DEG,
                 sqrt(last->cov[0][0]), sqrt(last->cov[1][1]),
                 sqrt(last->cov[2][2]) / RAD_PER_DEG);
    (void)printf("odometry    is %.3f m and %.2f deg from it\n",
                 hypot(odometry->x_m - last->at.x_m, odometry->y_m - last->at.y_m),
                 fabs(remainder(odometry->yaw_rad - last->at.yaw_rad, 2.0 * PI)) / RAD_PER_DEG);
    (void)printf("map         %zu x %zu cells of %g m: %llu occupied, %llu free, %llu unknown; "
                 "%s.yaml\n",
                 r->map.width, r->map.height, r->map.grid->place.cell_m,
                 (unsigned long long)r->map.occupied, (unsigned long long)r->map.free_count,
                 (unsigned long long)r->map.unknown, r->prefix);
}

/* --- work ----------------------------------------------------------------------------------
 */

static void handle_event(void *context, const struct event *event)
{
    sweeps_add(&((struct map_run *)context)->sweeps, event);
}

static void drop_effect(void *context, const struct effect *effect)
{
    (void)context;
    (void)effect;
}

static bool read_sweeps(struct map_run *r, char **paths)
{
    const struct effects effects = {drop_effect, NULL};
    struct replay_input input = {.paths = (const char *const *)paths};
    struct replay *replay = NULL;
    struct err err = {0};
    if (replay_create(&r->lab, &effects, &replay) != STATUS_OK) {
        return complain("map: no memory");
    }
    while (paths[input.count]) {
        input.count++;
    }
    replay->watch = handle_event;
    replay->context = r;
    const enum status status = replay_read_files(replay, &r->lab, &input, &err);
    sweeps_end(&r->sweeps);
    replay_destroy(replay);
    return status == STATUS_OK ? !r->sweeps.no_memory || complain("map: no memory")
                               : complain_err(&err);
}

static bool check_sweeps(const struct map_run *r)
{
    const struct sweeps *s = &r->sweeps;
    const unsigned long long refused = count_refused(s);
    if (s->count > 0) {
        return true;
    }
    if (refused == 0) {
        return complain("map: the %s robot of %s has no sweeps in it: expected replies `data` "
                        "with the values angle_rad and range_m, and `done` behind them",
                        side_name(s->side), s->pair);
    }
    char why[128] = "";
    for (size_t k = 0; k < SWEEP_REFUSAL_COUNT; k++) {
        if (s->collector.refused[k] > 0) {
            names_append(why, sizeof why, sweep_refusal_name((enum sweep_refusal)k));
        }
    }
    return complain("map: all %llu sweeps of the %s robot of %s are refused: %s", refused,
                    side_name(s->side), s->pair, why);
}

/* A lidar that reports its own range when it sees nothing would draw walls there. */
static void check_range(const struct map_run *r)
{
    const struct sweeps *s = &r->sweeps;
    double longest_m = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < s->ray_count; i++) {
        const double range_m = s->rays[i].range_m;
        count = range_m > longest_m ? 1 : count + (range_m >= longest_m);
        longest_m = fmax(longest_m, range_m);
    }
    if (longest_m < r->request.range_m && count > 1 && 20 * count >= s->ray_count) {
        complain("map: note: %zu of %zu rays are %.9g m long and none is longer; if the lidar "
                 "sees no further: --range %.9g",
                 count, s->ray_count, longest_m, longest_m);
    }
}

static int make_map(struct map_run *r, char **paths)
{
    struct err err = {0};
    if (!read_sweeps(r, paths) || !check_sweeps(r)) {
        return EXIT_FAILED;
    }
    check_range(r);
    enum status status = map_build(&r->sweeps, &r->request, &r->built, &err);
    if (status == STATUS_OK) {
        r->map = ros_map_of(&r->built.grid, r->request.has_size);
        status = ros_map_write(&r->map, r->prefix, &err);
    }
    if (status != STATUS_OK) {
        complain_err(&err);
        return EXIT_FAILED;
    }
    if (r->json) {
        json_file_print(stdout, write_document, r);
    } else {
        print_result(r);
    }
    return EXIT_FINE;
}

/* --- words ---------------------------------------------------------------------------------
 */

static const char description[] =
    "  Makes an occupancy grid from the sweeps of a robot's lidar in a recording, corrects "
    "the\n"
    "  pose of odometry by each sweep, and writes PREFIX.pgm and PREFIX.yaml as ROS's\n"
    "  map_server reads them. A sweep is taken at rest: one in which the robot moved by more\n"
    "  than 5 mm or 0.3 degrees is refused. The first sweep begins the map, at the robot's\n"
    "  pose. If the pair makes a live map, its section of the lab file has the defaults, and\n"
    "  the result is that map. Existing files are overwritten. See docs/model/maps.md.\n";

static bool parse_size(struct map_run *r)
{
    struct map_request *q = &r->request;
    char more = '\0';
    q->has_size = r->size != NULL;
    if (q->has_size && (sscanf(r->size, "%lf,%lf,%lf,%lf%c", &q->x_min_m, &q->y_min_m,
                               &q->x_max_m, &q->y_max_m, &more) != 4 ||
                        !isfinite(q->x_min_m + q->y_min_m + q->x_max_m + q->y_max_m) ||
                        q->x_max_m <= q->x_min_m || q->y_max_m <= q->y_min_m)) {
        return complain("map: --size %s: expected X0,Y0,X1,Y1 in m, such as -1,-1,11,7",
                        r->size);
    }
    return true;
}

static int parse_words(struct map_run *r, int argc, char **argv)
{
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &r->lab_path, 0, 0, "LAB.yaml", "the lab file (needed)"},
        {"pair", 0, ARGUMENT_TEXT, &r->sweeps.pair, 0, 0, "ID", "whose sweeps (needed)"},
        {"side", 0, ARGUMENT_TEXT, &r->side, 0, 0, "real|virtual", "of which robot (real)"},
        {"output", 'o', ARGUMENT_TEXT, &r->prefix, 0, 0, "PREFIX",
         "write PREFIX.pgm and PREFIX.yaml (needed)"},
        {"cell", 0, ARGUMENT_REAL, &r->request.cell_m, 0.01, 1, "M", "side of a cell (0.05)"},
        {"every", 0, ARGUMENT_REAL, &r->every_s, 0, 3600, "S",
         "skip sweeps that begin sooner after the last one used (0)"},
        {"range", 0, ARGUMENT_REAL, &r->request.range_m, 0.1, GRID_RANGE_MAX_M, "M",
         "range of the lidar: a ray of this length saw nothing (12)"},
        {"size", 0, ARGUMENT_TEXT, &r->size, 0, 0, "X0,Y0,X1,Y1",
         "the map's corners in m (all that the sweeps show)"},
        {"json", 0, ARGUMENT_FLAG, &r->json, 0, 0, NULL,
         "one document with the pose at each sweep"},
    };
    const struct arguments arguments = {
        .command = "map",
        .operands = "FILE...",
        .description = description,
        .examples = "  tandem map -c lab.yaml --pair r1 -o room journal/\n"
                    "  tandem map -c lab.yaml --pair r1 --side virtual --range 2 -o room "
                    "day.jsonl\n",
        .exit_status = "no sweep can be used, the place is too large, or a file cannot be read "
                       "or written",
        ARGUMENT_ROWS(rows)};
    const int code = arguments_parse(&arguments, argc, argv);
    if (code != ARGUMENTS_PARSED) {
        return code;
    }
    if (!r->prefix || !r->sweeps.pair) {
        return complain_exit(EXIT_USAGE, "map: %s is needed",
                             r->prefix ? "--pair ID" : "-o PREFIX");
    }
    return parse_size(r) ? ARGUMENTS_PARSED : EXIT_USAGE;
}

/* The pair's live map has the defaults of what the command line leaves open. */
static void complete_request(struct map_run *r, const struct live_map_params *live)
{
    struct map_request *q = &r->request;
    const bool has_live = live_map_wanted(live);
    r->sweeps.side = r->side ? (strcmp(r->side, "virtual") == 0 ? SIDE_VIRTUAL : SIDE_REAL)
                             : (enum side)live->builder;
    r->sweeps.source.pose = (enum sweep_pose)live->poses;
    memcpy(r->sweeps.source.angle, live->angle, sizeof live->angle);
    memcpy(r->sweeps.source.range, live->range, sizeof live->range);
    r->sweeps.every_us = r->every_s >= 0.0 ? lab_us(r->every_s) : has_live ? live->every_us : 0;
    q->cell_m = q->cell_m > 0.0 ? q->cell_m : has_live ? live->cell_m : 0.05;
    q->range_m = q->range_m > 0.0 ? q->range_m : has_live ? live->range_m : 12.0;
    if (has_live && !q->has_size) {
        q->has_size = true;
        q->x_min_m = live->x_min_m;
        q->y_min_m = live->y_min_m;
        q->x_max_m = live->x_max_m;
        q->y_max_m = live->y_max_m;
    }
}

int command_map(int argc, char **argv)
{
    struct map_run r = {.every_s = -1.0};
    int code = parse_words(&r, argc, argv);
    if (code != ARGUMENTS_PARSED) {
        return code;
    }
    if (!lab_argument_load("map", r.lab_path, &r.lab)) {
        return EXIT_USAGE;
    }
    const struct pair_params *pair =
        lab_find_params(r.lab.pairs, r.lab.pair_count, r.sweeps.pair);
    if (!pair) {
        code = complain_exit(EXIT_USAGE, "map: the lab file has no pair '%s'", r.sweeps.pair);
    } else {
        complete_request(&r, &pair->live_map);
        code = make_map(&r, argv + 1);
    }
    built_map_free(&r.built);
    sweeps_free(&r.sweeps);
    lab_file_free(&r.lab);
    return code;
}
