/* service/identify/identify_curves.h - measured and modelled quantities sample by sample, for
 * charts over time and against each input.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_CURVES_H
#define SERVICE_IDENTIFY_IDENTIFY_CURVES_H

#include <stddef.h>

#include "logger/message/json_write.h"

enum { CURVE_POINTS_MAX = 800, CURVE_COLUMNS_MAX = 16 };

/* A quantity of a recording. */
struct curve_column {
    const char *name, *words; /* "u_mps"; "surge speed", NULL: the name says it */
    const double *values;     /* [n] */
    const double *residual;   /* [n] measured - modelled, NaN: not known; NULL: an input */
};

/* A recording as columns; borrowed. */
struct curve_set {
    const char *part, *name; /* "recording" or "held_out"; the file */
    size_t n;
    const double *t_s; /* [n]; NULL: rows are numbered */
    size_t run_count;
    const size_t *run_start; /* [run_count + 1] */
    size_t column_count;
    struct curve_column column[CURVE_COLUMNS_MAX];
};

/* Write an object. A long recording is cut into stretches of equal length. The sample with the
 * largest residual represents its stretch, so that no peak is lost. */
void identify_curves_write(struct json_writer *w, const struct curve_set *set);

#endif
