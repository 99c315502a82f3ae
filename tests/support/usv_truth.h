/* tests/support/usv_truth.h - recordings of vessels: read from the golden files, or drawn
 * around their noise-free columns. */
#ifndef TESTS_SUPPORT_USV_TRUTH_H
#define TESTS_SUPPORT_USV_TRUTH_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "identification/data/data_set.h"
#include "identification/model/usv3.h"

enum { USV_SAMPLES = 1500 };

/* Measurement noise of the golden files: u, v, r. */
static const double usv_noise_sd[3] = {0.03, 0.0125, 0.009};

struct usv_record {
    double t_s[USV_SAMPLES];
    double tau[3][USV_SAMPLES];
    double measured[3][USV_SAMPLES];
    double truth[3][USV_SAMPLES];
};

/* The data set on top of a record; borrowed. */
static inline struct data_set usv_set(const struct usv_record *record)
{
    struct data_set set = {.axes = 3,
                           .n = USV_SAMPLES,
                           .dt_s = 0.1,
                           .t_s = record->t_s,
                           .run_count = 1,
                           .run_start = {0, USV_SAMPLES}};
    for (size_t i = 0; i < 3; i++) {
        set.nu[i] = record->measured[i];
        set.tau[i] = record->tau[i];
    }
    return set;
}

/* Rows of tests/golden/usv_<name>.csv; -1 when there is no such file. */
static inline int usv_read(const char *name, struct usv_record *record)
{
    char path[512];
    char line[512];
    size_t k = 0;
    (void)snprintf(path, sizeof path, "%s/tests/golden/usv_%s.csv", TANDEM_SOURCE_DIR, name);
    FILE *in = fopen(path, "r");
    if (!in) {
        return -1;
    }
    while (k < USV_SAMPLES && fgets(line, sizeof line, in)) {
        double x[10];
        char *at = line;
        if (line[0] == '#') {
            continue;
        }
        for (size_t i = 0; i < 10; i++) {
            x[i] = strtod(at, &at);
            at += *at == ',';
        }
        record->t_s[k] = x[0];
        for (size_t i = 0; i < 3; i++) {
            record->tau[i][k] = x[1 + i];
            record->measured[i][k] = x[4 + i];
            record->truth[i][k] = x[7 + i];
        }
        k++;
    }
    (void)fclose(in);
    return (int)k;
}

static inline double usv_uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = *state;
    x = (x ^ (x >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
    x ^= x >> 32;
    return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

static inline double usv_normal(uint64_t *state)
{
    const double radius = sqrt(-2.0 * log(usv_uniform(state)));
    return radius * cos(6.283185307179586 * usv_uniform(state));
}

/* Draw measurements around the truth. */
static inline void usv_measure(struct usv_record *record, uint64_t *state)
{
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        for (size_t i = 0; i < 3; i++) {
            record->measured[i][k] = record->truth[i][k] + usv_noise_sd[i] * usv_normal(state);
        }
    }
}

/* Simulates the truth again: from rest, under the record's efforts delay_s late and additional
 * forces [n][3] (NULL: none). */
static inline void usv_drive(struct usv_record *record, const double *theta, double delay_s,
                             double (*force)[3])
{
    enum { FINE = 20 };
    double nu[3] = {0.0, 0.0, 0.0};
    double pose[3] = {0.0, 0.0, 0.0};
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        for (size_t i = 0; i < 3; i++) {
            record->truth[i][k] = nu[i];
        }
        for (size_t f = 0; f < FINE; f++) {
            const double late_s = 0.1 * ((double)k + ((double)f + 0.5) / FINE) - delay_s;
            double tau[3] = {0.0, 0.0, 0.0};
            for (size_t i = 0; i < 3 && late_s >= 0.0; i++) {
                tau[i] = record->tau[i][(size_t)(late_s / 0.1)] + (force ? force[k][i] : 0.0);
            }
            model_step(&usv3_model, theta, nu, pose, tau, NULL, 0.1 / FINE);
        }
    }
}

#endif
