#include "service/evidence/compare_plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/tool/json_file.h"
#include "twin/report/lag_picture.h"

static int compare_points(const void *a, const void *b)
{
    const double x = ((const struct lag_point *)a)->x;
    const double y = ((const struct lag_point *)b)->x;
    return x < y ? -1 : x > y;
}

/* Fills the curve of the share of commands up to each lag, and returns its points. */
static size_t fill_distribution(const struct recorded_pair *pair, struct lag_point *points)
{
    size_t n = 0;
    for (size_t i = 0; i < pair->count; i++) {
        if (isfinite(pair->commands[i].time_s[TIME_LAG])) {
            points[n++].x = pair->commands[i].time_s[TIME_LAG];
        }
    }
    qsort(points, n, sizeof *points, compare_points);
    for (size_t i = 0; i < n; i++) {
        points[i].y = (double)(i + 1) / (double)n;
    }
    return n;
}

static enum status write_picture(const char *path, const char *id,
                                 const struct lag_panel *panels, size_t count, struct err *err)
{
    char title[128];
    const struct lag_picture picture = {
        .title = title,
        .description = "Lag is the real lap less the virtual one. The table of tandem compare "
                       "has the numbers.",
        .panels = panels,
        .panel_count = count};
    (void)snprintf(title, sizeof title, "Lags of %s in two recordings", id);
    FILE *out = fopen(path, "w");
    if (out) {
        lag_picture_write(&picture, json_file_flush, out);
    }
    const bool failed = !out || ferror(out);
    if ((out && fclose(out) != 0) || failed) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, path, "cannot be written: %s",
                       strerrordesc_np(errno));
    }
    return STATUS_OK;
}

static enum status draw_matched(const char *path, const char *id, const struct recorded_pair *a,
                                const struct recorded_pair *b, const struct comparison *c,
                                struct lag_point *points, struct err *err)
{
    const struct rank_shift *s = &c->shift[TIME_LAG].shift;
    const size_t n = c->alignment.count;
    struct lag_point *in_a = points;
    struct lag_point *in_b = points + n;
    struct lag_point *both = points + 2 * n;
    for (size_t i = 0; i < n; i++) {
        const struct match m = c->alignment.matches[i];
        const double x = (double)(i + 1);
        in_a[i] = (struct lag_point){x, a->commands[m.a].time_s[TIME_LAG]};
        in_b[i] = (struct lag_point){x, b->commands[m.b].time_s[TIME_LAG]};
        both[i] = (struct lag_point){x, in_b[i].y - in_a[i].y};
    }
    const struct lag_series lags[] = {{"lag in A", in_a, n, LAG_MARK_CIRCLE},
                                      {"lag in B", in_b, n, LAG_MARK_CROSS}};
    const struct lag_series difference = {"B - A", both, n, LAG_MARK_SIGN};
    const struct lag_panel panels[] = {
        {"matched command", "lag_s", lags, 2, false, 0.0, 0.0, (double)NAN},
        {"matched command", "difference of the lags, s, with the 95 % interval of its middle",
         &difference, 1, false, s->lo, s->hi, s->value}};
    return write_picture(path, id, panels, COUNT(panels), err);
}

static enum status draw_unmatched(const char *path, const char *id,
                                  const struct recorded_pair *a, const struct recorded_pair *b,
                                  struct lag_point *points, struct err *err)
{
    const size_t n_a = fill_distribution(a, points);
    struct lag_point *rest = points + n_a;
    const struct lag_series shares[] = {
        {"A", points, n_a, LAG_MARK_LINE},
        {"B", rest, fill_distribution(b, rest), LAG_MARK_DASHES}};
    const struct lag_panel panel = {
        "lag_s", "share of commands up to this lag", shares, 2, false, 0.0, 0.0, (double)NAN};
    return write_picture(path, id, &panel, 1, err);
}

enum status compare_plot(const char *path, const char *id, const struct recorded_pair *a,
                         const struct recorded_pair *b, const struct comparison *c,
                         struct err *err)
{
    struct lag_point *points =
        malloc((a->count + b->count + 3 * c->alignment.count + 1) * sizeof *points);
    if (!points) {
        return err_no_memory(err, path, "out of memory");
    }
    const enum status status = c->alignment.rule == ALIGNED_NOT
                                   ? draw_unmatched(path, id, a, b, points, err)
                                   : draw_matched(path, id, a, b, c, points, err);
    free(points);
    return status;
}
