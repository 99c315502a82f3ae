/* identification/numeric/bet.h - tests that may be read after every unit: is a rise proved to
 * be below a margin, or above it?
 *
 * u are the rises of units of commands. y = margin - u, cut to +-clip. A bet on y > 0 (or on
 * y < 0) multiplies its capital by 1 + side lambda y after each unit; lambda depends on earlier
 * units only. If the mean of y has the other sign, the capital is a supermartingale: whatever
 * the noise, it ever reaches 1 / alpha with a probability of at most alpha (Ville). Three bets
 * share the capital. Correlation of neighbours lowers the capital (docs/compare.md).
 *
 * Capitals are logarithms: log_e. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_BET_H
#define IDENTIFICATION_NUMERIC_BET_H

#include <stdbool.h>
#include <stddef.h>

enum { BETS = 3 };

/* A unit and what was bet on it. */
struct bet_unit {
    double x;            /* its rise */
    double lambda[BETS]; /* as it was bet */
    double variance;     /* before it */
    double inflation;    /* after it */
};

struct bet {
    double margin, clip;
    double side; /* +1: on a rise below the margin; -1: above */
    bool serial; /* allow for correlation of neighbours */
    size_t n;
    double sum, squares, products, first, previous; /* of y */
    double inflation; /* of the variance of the mean, by correlation; >= 1 */
    double log[BETS], penalty[BETS];
};

void bet_start(struct bet *bet, double margin, double clip, int side, bool serial);
/* Adds a unit and returns log_e. unit: written; NULL: not. */
double bet_add(struct bet *bet, double x, struct bet_unit *unit);
double bet_log_e(const struct bet *bet);

/* The same on a rise above the margin, which also starts again every BET_RESTART units: it finds
 * what gets worse later. late[bet_late_max(n)] belongs to the caller. */
struct bet_fail {
    struct bet first;
    struct bet *late;
    size_t late_count;
    double log_e;
    size_t since; /* first unit of the bet that has the largest part of the capital */
};

size_t bet_late_max(size_t n);
void bet_fail_start(struct bet_fail *fail, double margin, double clip, bool serial,
                    struct bet *late);
void bet_fail_add(struct bet_fail *fail, double x);

/* The mean rise of n >= 1 units, each cut to +-clip around it. */
double bet_rise(const struct bet_unit *units, size_t n, double clip);

/* The least rise that the units rule out at the level alpha, at any of them; side -1: the
 * greatest from below. NaN: none. */
double bet_bound(const struct bet_unit *units, size_t n, double clip, double alpha, int side);

/* Number of further units until the bet passes, if the rise stays as it is; 0: not known, the
 * rise is too close to the margin or beyond. */
size_t bet_more(const struct bet *bet, double rise, double alpha);

/* The least log_e that is rejected when log_e[n] are tests of several hypotheses, and any false
 * rejection may have the probability alpha (closed testing with the mean of e values). */
double bet_merge(const double *log_e, size_t n, double alpha);

#endif
