/* twin/report/lag_picture.h - draws lags and other times as SVG: panels one above the other,
 * each with points, lines and a band.
 *
 * The picture works alone or within a page, whose text colour it takes. It has no style element
 * and no script, because a page's policy may forbid them. Equal data give equal bytes. It draws
 * what it is given and computes nothing but places. Pure.
 */
#ifndef TWIN_REPORT_LAG_PICTURE_H
#define TWIN_REPORT_LAG_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "logger/message/json_write.h"

enum { LAG_PICTURE_POINTS_MAX = 2000 };

/* Points with an x or y that is not finite are left out. */
struct lag_point {
    double x, y;
};

enum lag_mark {
    LAG_MARK_SIGN,   /* triangles: upwards and blue above zero, downwards and red below */
    LAG_MARK_CIRCLE, /* blue */
    LAG_MARK_CROSS,  /* red */
    LAG_MARK_LINE,   /* blue */
    LAG_MARK_DASHES  /* a red, broken line */
};

/* More than LAG_PICTURE_POINTS_MAX points are thinned: the least and the greatest y of each of
 * half as many intervals are drawn. */
struct lag_series {
    const char *name; /* in the legend; NULL: none */
    const struct lag_point *points;
    size_t count; /* in the order of x */
    enum lag_mark mark;
};

struct lag_panel {
    const char *x_label, *y_label; /* with units */
    const struct lag_series *series;
    size_t series_count;
    bool x_is_time;             /* x are Unix seconds: ticks show UTC */
    double band_low, band_high; /* drawn pale if low < high */
    double mark_y;              /* a broken line across, as the middle of a band; NaN: none */
};

struct lag_picture {
    const char *title, *description; /* for people who do not see it */
    const struct lag_panel *panels;
    size_t panel_count;
    bool embedded; /* within a page of HTML, which needs no name space */
};

/* A panel without points says so. */
void lag_picture_write(const struct lag_picture *picture, json_write_flush *output,
                       void *context);

#endif
