#include "service/identify/identify_curves.h"

#include <math.h>

#include "base/errors/status.h"

/* Scale of a column's residuals; 1 if there are none. */
static double find_scale(const struct curve_set *set, const struct curve_column *column)
{
    double sum = 0.0;
    size_t n = 0;
    for (size_t k = 0; column->residual && k < set->n; k++) {
        if (isfinite(column->residual[k])) {
            sum += column->residual[k] * column->residual[k];
            n++;
        }
    }
    return sum > 0.0 ? sqrt(sum / (double)n) : 1.0;
}

/* Returns the sample of from .. end - 1 with the largest residual of all columns; the first one
 * if none is known. */
static size_t find_worst(const struct curve_set *set, const double *scale, size_t from,
                         size_t end)
{
    size_t worst = from;
    double most = 0.0;
    for (size_t k = from; k < end; k++) {
        for (size_t i = 0; i < set->column_count; i++) {
            const double *residual = set->column[i].residual;
            const double size = residual ? fabs(residual[k]) / scale[i] : 0.0;
            if (size > most) {
                most = size;
                worst = k;
            }
        }
    }
    return worst;
}

/* Chooses samples, and where runs begin among them. */
struct curve_choice {
    size_t every, n, run_count;
    size_t at[2 * CURVE_POINTS_MAX], run[CURVE_POINTS_MAX];
};

static void choose_samples(const struct curve_set *set, struct curve_choice *choice)
{
    double scale[CURVE_COLUMNS_MAX];
    for (size_t i = 0; i < set->column_count; i++) {
        scale[i] = find_scale(set, &set->column[i]);
    }
    *choice = (struct curve_choice){.every = set->n / CURVE_POINTS_MAX + 1};
    for (size_t r = 0; r < set->run_count && r < CURVE_POINTS_MAX; r++) {
        const size_t end = set->run_start[r + 1];
        choice->run[choice->run_count++] = choice->n;
        for (size_t k = set->run_start[r]; k < end && choice->n < COUNT(choice->at);
             k += choice->every) {
            const size_t last = k + choice->every < end ? k + choice->every : end;
            choice->at[choice->n++] = find_worst(set, scale, k, last);
        }
    }
}

static void write_values(struct json_writer *w, const char *key, const double *values,
                         const struct curve_choice *choice)
{
    JSON_LIST(w, key, size_t i = 0; i < choice->n; i++) {
        json_write_float(w, NULL, (float)values[choice->at[i]]);
    }
}

static void write_quantity(struct json_writer *w, const struct curve_column *column,
                           const struct curve_choice *choice)
{
    JSON_OPEN(w, column->name, JSON("words", column->words));
    write_values(w, "measured", column->values, choice);
    JSON_LIST(w, "modelled", size_t i = 0; i < choice->n; i++) {
        const size_t k = choice->at[i];
        json_write_float(w, NULL, (float)(column->values[k] - column->residual[k]));
    }
    json_write_close(w);
}

void identify_curves_write(struct json_writer *w, const struct curve_set *set)
{
    struct curve_choice choice;
    choose_samples(set, &choice);
    JSON_OPEN(w, NULL, JSON("part", set->part), JSON("name", set->name),
              JSON("samples", set->n), JSON("every", choice.every));
    JSON_LIST(w, "runs", size_t r = 0; r < choice.run_count; r++) {
        json_write_int(w, NULL, (int64_t)choice.run[r]);
    }
    JSON_LIST(w, "t_s", size_t i = 0; set->t_s && i < choice.n; i++) {
        json_write_float(w, NULL, (float)(set->t_s[choice.at[i]] - set->t_s[0]));
    }
    JSON_MAP(w, "inputs", size_t i = 0; i < set->column_count; i++) {
        if (!set->column[i].residual) {
            JSON_OPEN(w, set->column[i].name, JSON("words", set->column[i].words));
            write_values(w, "values", set->column[i].values, &choice);
            json_write_close(w);
        }
    }
    JSON_MAP(w, "axes", size_t i = 0; i < set->column_count; i++) {
        if (set->column[i].residual) {
            write_quantity(w, &set->column[i], &choice);
        }
    }
    json_write_close(w);
}
