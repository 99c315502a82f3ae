/* service/experiments/paper.h - what was published about an experiment, beside which its result
 * is told: a map of maps of numbers, as in `paper: {rmse: {u: 0.1}}`.
 */
#ifndef SERVICE_EXPERIMENTS_PAPER_H
#define SERVICE_EXPERIMENTS_PAPER_H

#include "base/names.h"
#include "config/option_file.h"

struct paper {
    const struct names *rows, *columns;
    double *values;           /* [rows->count][stride]; NaN: not published */
    size_t stride;            /* >= columns->count */
    double least;             /* a number below it is a fault; -HUGE_VAL: none is */
    const char *row_fault;    /* said of a key that names no row, or holds no map … */
    const char *column_fault; /* … of one that names no column; the key follows */
};

/* Read the file's key `paper` into paper->values. */
void paper_read(const struct option_reading *reading, const struct paper *paper);

#endif
