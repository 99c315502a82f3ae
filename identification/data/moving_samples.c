#include "identification/data/moving_samples.h"

#include <math.h>
#include <string.h>

#include "identification/data/data_thresholds.def"

enum { REST_MIN = 3 };

static bool is_at_rest(const struct data_set *set, size_t k)
{
    bool still = true;
    for (size_t a = 0; a < set->axes; a++) {
        still = still && fabs(set->nu[a][k]) <= MOVING_NOISE_RATIO * set->noise_sd[a];
    }
    return still;
}

/* Returns the end of the moving piece that begins at k, limited to `end`: the beginning of a
 * rest. */
static size_t find_rest(const struct data_set *set, size_t k, size_t end)
{
    size_t still = 0;
    while (k < end && still < REST_MIN) {
        still = is_at_rest(set, k) ? still + 1 : 0;
        k++;
    }
    return still == REST_MIN ? k - REST_MIN : k;
}

static void copy_piece(const struct data_set *set, size_t from, size_t n, double *columns,
                       size_t room, struct data_set *moving)
{
    const size_t at = moving->n;
    double *to = columns;
    memcpy(to + at, set->t_s + from, n * sizeof *to);
    moving->t_s = to;
    for (size_t a = 0; a < set->axes; a++) {
        const double *const of[] = {set->nu[a], set->tau[a], set->pose[a]};
        const double **const into[] = {&moving->nu[a], &moving->tau[a], &moving->pose[a]};
        moving->recorded[a] = NULL;
        for (size_t c = 0; c < 3; c++) {
            to += room;
            if (of[c]) {
                memcpy(to + at, of[c] + from, n * sizeof *to);
                *into[c] = to;
            }
        }
    }
    moving->n += n;
    moving->run_start[++moving->run_count] = moving->n;
}

static void copy_run(const struct data_set *set, size_t run, double *columns,
                     struct data_set *moving)
{
    const size_t end = set->run_start[run + 1];
    size_t k = set->run_start[run];
    while (k < end && moving->run_count < DATA_RUNS_MAX) {
        const size_t rest = find_rest(set, k, end);
        if (rest >= k + DATA_RUN_MIN) {
            moving->run_part[moving->run_count] = set->run_part[run];
            memcpy(moving->run_commands[moving->run_count], set->run_commands[run],
                   sizeof set->run_commands[run]);
            copy_piece(set, k, rest - k, columns, set->n, moving);
        }
        for (k = rest; k < end && is_at_rest(set, k); k++) {
        }
    }
}

enum status moving_samples_copy(const struct data_set *set, struct data_set *moving,
                                gsl_vector **memory)
{
    struct data_set out = *set;
    gsl_vector *columns = gsl_vector_alloc((1 + 3 * set->axes) * set->n);
    if (!columns) {
        return STATUS_E_NOMEM;
    }
    out.n = out.run_count = 0;
    out.gap_s = NULL;
    for (size_t run = 0; run < set->run_count; run++) {
        copy_run(set, run, columns->data, &out);
    }
    if (out.run_count == 0) {
        gsl_vector_free(columns);
        return STATUS_E_EMPTY;
    }
    *moving = out;
    *memory = columns;
    return STATUS_OK;
}
