#include "identification/spectrum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_linalg.h>

enum { P = DYNAMICS_P_MAX };

/* Singular values below this share of the largest count as zero. */
static const double RANK_RATIO = 1e-9;
/* A parameter with more than this of its (scaled) direction in the null space is free. */
static const double NULL_PART = 1e-4;

/* One over the scale of an entry; 0 where there is none. */
static double shrink(const double *left, const double *right, size_t i, size_t j)
{
    const double scale = (left ? left[i] : 1.0) * right[j];
    return scale > 0.0 ? 1.0 / scale : 0.0;
}

static void find_inverse(const double *u, const double *left, const double *right,
                         struct spectrum *out)
{
    const size_t p = out->p;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++) {
            double sum = 0.0;
            for (size_t k = 0; k < out->rank; k++) {
                sum += out->v[j * p + k] * u[i * p + k] / out->s[k];
            }
            out->inverse[j * p + i] = sum * shrink(left, right, i, j);
        }
    }
}

/* By rotations, which are exact to the last digit of small values; where they go round in a
 * circle, as they do once in some hundred matrices, by bidiagonals. */
static int decompose(const double *m, size_t p, double *u, struct spectrum *out)
{
    double room[P];
    gsl_matrix_view a = gsl_matrix_view_array(u, p, p);
    gsl_matrix_view v = gsl_matrix_view_array(out->v, p, p);
    gsl_vector_view s = gsl_vector_view_array(out->s, p);
    gsl_vector_view work = gsl_vector_view_array(room, p);
    memcpy(u, m, p * p * sizeof *u);
    if (gsl_linalg_SV_decomp_jacobi(&a.matrix, &v.matrix, &s.vector) == 0) {
        return 0;
    }
    memcpy(u, m, p * p * sizeof *u);
    return gsl_linalg_SV_decomp(&a.matrix, &v.matrix, &s.vector, &work.vector);
}

enum status spectrum_find(const double *m, size_t p, const double *left, const double *right,
                          struct spectrum *out)
{
    double scaled[P * P];
    double u[P * P];
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < p; j++) {
            scaled[i * p + j] = m[i * p + j] * shrink(left, right, i, j);
            if (!isfinite(scaled[i * p + j])) {
                return STATUS_E_MATH;
            }
        }
    }
    if (decompose(scaled, p, u, out) != 0) {
        return STATUS_E_MATH;
    }
    out->p = p;
    out->rank = 0;
    while (out->rank < p && out->s[out->rank] > RANK_RATIO * out->s[0]) {
        out->rank++;
    }
    out->condition = out->rank == p ? out->s[0] / out->s[p - 1] : (double)INFINITY;
    find_inverse(u, left, right, out);
    return STATUS_OK;
}

static size_t largest_entry(const double *x, size_t p)
{
    size_t most = 0;
    for (size_t i = 1; i < p; i++) {
        most = fabs(x[i]) > fabs(x[most]) ? i : most;
    }
    return most;
}

/* A basis of the null space made readable by elimination: each direction has a parameter of its
 * own. */
static size_t eliminate(const struct spectrum *spectrum, double direction[P][P])
{
    const size_t p = spectrum->p;
    const size_t count = p - spectrum->rank;
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < p; i++) {
            direction[k][i] = spectrum->v[i * p + spectrum->rank + k];
        }
    }
    for (size_t k = 0; k < count; k++) {
        const size_t pivot = largest_entry(direction[k], p);
        const double lead = direction[k][pivot];
        for (size_t i = 0; i < p; i++) {
            direction[k][i] /= lead;
        }
        for (size_t o = 0; o < count; o++) {
            const double factor = direction[o][pivot];
            for (size_t i = 0; i < p && o != k; i++) {
                direction[o][i] -= factor * direction[k][i];
            }
        }
    }
    return count;
}

static void append(char *text, size_t *used, const char *before, const char *word)
{
    if (*used < DYNAMICS_TEXT_MAX) {
        const int n = snprintf(text + *used, DYNAMICS_TEXT_MAX - *used, "%s%s", before, word);
        *used += n > 0 ? (size_t)n : 0;
    }
}

/* "surge_mass_kg, sway_mass_kg in the ratio 1 : 0.964"; a name alone when it is one. */
static void name_direction(const struct model *model, const double *scaled, const double *norm,
                           size_t p, char *text)
{
    double value[P];
    size_t part[P];
    size_t parts = 0;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < p; i++) {
        if (!(fabs(scaled[i]) < NULL_PART)) {
            value[parts] = norm[i] > 0.0 ? scaled[i] / norm[i] : scaled[i];
            part[parts++] = i;
        }
    }
    for (size_t k = 0; k < parts; k++) {
        char name[64];
        append(text, &used, k == 0 ? "" : ", ",
               dynamics_parameter_name(model, part[k], name, sizeof name));
    }
    for (size_t k = 0; k < parts && parts > 1; k++) {
        char number[32];
        (void)snprintf(number, sizeof number, "%.3g", value[k] / value[0]);
        append(text, &used, k == 0 ? " in the ratio " : " : ", number);
    }
}

void null_directions_find(const struct model *model, const struct spectrum *spectrum,
                          const double *norm, struct dynamics_fit *fit, bool *free_parameter)
{
    double direction[P][P];
    const size_t count = eliminate(spectrum, direction);
    fit->null_count = 0;
    for (size_t i = 0; i < spectrum->p; i++) {
        free_parameter[i] = false;
        for (size_t k = 0; k < count; k++) {
            free_parameter[i] = free_parameter[i] || fabs(direction[k][i]) > NULL_PART;
        }
    }
    for (size_t k = 0; k < count && k < DYNAMICS_NULLS_MAX; k++) {
        name_direction(model, direction[k], norm, spectrum->p, fit->nulls[k]);
        fit->null_count++;
    }
}
