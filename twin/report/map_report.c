#include "twin/report/map_report.h"

#include <math.h>
#include <stdio.h>

#include "base/numbers/constants.h"
#include "base/numbers/hash.h"

static void write_pose(struct json_writer *w, const char *key, bool known,
                       const struct plane_pose *at)
{
    const double nan = (double)NAN;
    const double pose[] = {at->x_m, at->y_m, at->yaw_rad}, none[] = {nan, nan, nan};
    json_write_numbers(w, key, known ? pose : none, 3);
}

static void write_robot(struct json_writer *w, enum side side, const struct live_map *map)
{
    const struct live_map_robot *r = &map->robot[side];
    const struct map_track *t = &r->track;
    const struct pose_belief *b = &t->belief;
    const double nan = (double)NAN;
    const double sd[] = {sqrt(b->cov[0][0]), sqrt(b->cov[1][1]), sqrt(b->cov[2][2])};
    const double unknown[] = {nan, nan, nan};
    struct plane_pose there = t->odometry;
    const bool known = live_map_locate(map, side, &there, &there);
    JSON_BLOCK(w, side_name(side), true)
    {
        JSON_WRITE(w, JSON("added", r->added), JSON("early", r->early),
                   JSON_COUNTS("matched", &scan_outcome_names, t->outcomes),
                   JSON_COUNTS("refused", &sweep_refusal_names, r->collector.refused),
                   JSON("share", known && t->match.rays > 0 ? t->match.share : nan));
        write_pose(w, "stated", known, &t->odometry);
        write_pose(w, "pose", known, &b->at);
        json_write_numbers(w, "sd", known ? sd : unknown, 3);
        JSON_WRITE(w,
                   JSON("drift_m", known ? hypot(t->odometry.x_m - b->at.x_m,
                                                 t->odometry.y_m - b->at.y_m)
                                         : nan),
                   JSON("drift_rad",
                        known ? remainder(t->odometry.yaw_rad - b->at.yaw_rad, 2.0 * PI) : nan),
                   JSON("largest_correction_m", t->largest_m),
                   JSON("largest_correction_rad", t->largest_rad));
    }
}

void map_report(struct json_writer *w, const struct live_map *map,
                const struct live_map_params *p)
{
    const struct grid_place place = live_map_place(p);
    const size_t cells = place.width * place.height;
    const int8_t *odds = live_map_odds(map);
    const struct grid_extent *e = &map->extent;
    const double box[] = {place.x_min_m + place.cell_m * e->x_begin,
                          place.y_min_m + place.cell_m * e->y_begin,
                          place.x_min_m + place.cell_m * e->x_end,
                          place.y_min_m + place.cell_m * e->y_end};
    uint64_t count[GRID_STATE_COUNT] = {0};
    char hash[24];
    for (size_t i = 0; i < cells; i++) {
        count[grid_state_of(odds[i])]++;
    }
    (void)snprintf(hash, sizeof hash, "%016llx",
                   (unsigned long long)hash_bytes(HASH_START, odds, cells));
    JSON_WRITE(w, JSON("cell_m", place.cell_m),
               JSON_TWO("origin_m", place.x_min_m, place.y_min_m),
               JSON_WHOLE("width", place.width), JSON_WHOLE("height", place.height),
               JSON("builder", side_name((enum side)p->builder)), JSON("sweeps", map->sweeps),
               JSON_OBJECT("cells", JSON("unknown", count[GRID_STATE_UNKNOWN]),
                           JSON("free", count[GRID_STATE_FREE]),
                           JSON("occupied", count[GRID_STATE_OCCUPIED])),
               e->x_end > 0 ? JSON_NUMBERS("known_m", box, 4) : JSON_NULL("known_m"),
               JSON("cells_hash", hash), JSON_OF(map, apart_m, apart_rad));
    JSON_MAP(w, "robots", int side = 0; side < SIDE_COUNT; side++)
    {
        write_robot(w, (enum side)side, map);
    }
}
