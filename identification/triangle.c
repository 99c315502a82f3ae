#include "identification/triangle.h"

#include <math.h>
#include <string.h>

void triangle_start(struct triangle *t, size_t columns)
{
    t->columns = columns;
    t->waiting = 0;
    memset(t->r, 0, sizeof t->r);
}

/* Reflects column j of the block into r[j][j]. */
static void reflect(struct triangle *t, size_t j)
{
    const size_t n = t->waiting;
    double *v = t->block[j];
    double squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        squares += v[i] * v[i];
    }
    if (!(squares > 0.0)) {
        return;
    }
    const double alpha = t->r[j][j];
    const double beta = -copysign(sqrt(alpha * alpha + squares), alpha);
    const double lead = alpha - beta;
    const double factor = -lead / beta;
    t->r[j][j] = beta;
    for (size_t i = 0; i < n; i++) {
        v[i] /= lead;
    }
    for (size_t c = j + 1; c < t->columns; c++) {
        double *other = t->block[c];
        double dot = t->r[j][c];
        for (size_t i = 0; i < n; i++) {
            dot += v[i] * other[i];
        }
        dot *= factor;
        t->r[j][c] -= dot;
        for (size_t i = 0; i < n; i++) {
            other[i] -= dot * v[i];
        }
    }
}

void triangle_flush(struct triangle *t)
{
    for (size_t j = 0; j < t->columns; j++) {
        reflect(t, j);
    }
    t->waiting = 0;
}

void triangle_add(struct triangle *t, const double *row)
{
    for (size_t c = 0; c < t->columns; c++) {
        t->block[c][t->waiting] = row[c];
    }
    if (++t->waiting == TRIANGLE_BLOCK) {
        triangle_flush(t);
    }
}

double triangle_squares(const struct triangle *t, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < t->columns; i++) {
        double dot = 0.0;
        for (size_t c = i; c < t->columns; c++) {
            dot += t->r[i][c] * x[c];
        }
        sum += dot * dot;
    }
    return sum;
}
