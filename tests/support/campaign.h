/* tests/support/campaign.h - a study of tests/stat: many draws of known truth, and a table of
 * what came out.
 *
 * A study begins with campaign_open(). Each row of its table is one record: campaign_row(), its
 * cells, campaign_end(). The record is printed, and appended to the file TANDEM_CAMPAIGN where
 * that is set, as
 *
 *     study  table  row  seed  runs  name=count/of ...  name=value ...
 *
 * with tabs between. The name of a value ends with its unit. tests/campaign/campaign.py stores
 * these records. */
#ifndef TESTS_SUPPORT_CAMPAIGN_H
#define TESTS_SUPPORT_CAMPAIGN_H

#include "tests/support/check.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum { CAMPAIGN_BYTES = 4096, CAMPAIGN_NAME_WIDTH = 38 };

static struct {
    const char *study;
    unsigned seed;
    size_t runs;               /* draws a row: TANDEM_RUNS, or the default of the study */
    char head[CAMPAIGN_BYTES]; /* column names that were printed last */
    /* The row that is being made: */
    char names[CAMPAIGN_BYTES];
    char values[CAMPAIGN_BYTES];
    char record[CAMPAIGN_BYTES];
} campaign;

/* runs_max 0: no maximum. Returns the suite that takes the study's tests; check_run() ends it.
 */
static inline CU_pSuite campaign_open(const char *study, unsigned seed, size_t runs,
                                      size_t runs_max)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        exit(EXIT_FAILURE);
    }
    campaign.study = study;
    campaign.seed = check_seed(seed);
    campaign.runs = check_runs(runs, runs_max > 0 ? runs_max : SIZE_MAX);
    return CU_add_suite(study, NULL, NULL);
}

__attribute__((format(printf, 2, 3))) static inline void
campaign_append(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(text + used, CAMPAIGN_BYTES - used, format, list);
    va_end(list);
    CU_ASSERT_FATAL(length >= 0 && (size_t)length < CAMPAIGN_BYTES - used);
}

/* runs: how many draws the row rests on. */
__attribute__((format(printf, 3, 4))) static inline void
campaign_row(const char *table, size_t runs, const char *format, ...)
{
    char row[128];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(row, sizeof row, format, list);
    va_end(list);
    campaign.names[0] = campaign.values[0] = campaign.record[0] = '\0';
    campaign_append(campaign.names, "%-*s %6s", CAMPAIGN_NAME_WIDTH, table, "runs");
    campaign_append(campaign.values, "%-*s %6zu", CAMPAIGN_NAME_WIDTH, row, runs);
    campaign_append(campaign.record, "%s\t%s\t%s\t%u\t%zu", campaign.study, table, row,
                    campaign.seed, runs);
}

static inline void campaign_cell(const char *name, const char *text)
{
    const int width = strlen(name) > 9 ? (int)strlen(name) : 9;
    campaign_append(campaign.names, "  %*s", width, name);
    campaign_append(campaign.values, "  %*s", width, text);
    campaign_append(campaign.record, "\t%s=%s", name, text);
}

/* In `count` of `of` draws it was so. */
static inline void campaign_count(const char *name, size_t count, size_t of)
{
    char text[48];
    (void)snprintf(text, sizeof text, "%zu/%zu", count, of);
    campaign_cell(name, text);
}

static inline void campaign_value(const char *name, double value)
{
    char text[48];
    const bool is_whole = !(fabs(value - rint(value)) > 0.0);
    (void)snprintf(text, sizeof text, is_whole ? "%.0f" : "%.4g", value);
    campaign_cell(name, text);
}

static inline void campaign_end(void)
{
    const char *path = getenv("TANDEM_CAMPAIGN");
    if (strcmp(campaign.head, campaign.names) != 0) {
        (void)printf("\n%s\n", campaign.names);
        memcpy(campaign.head, campaign.names, sizeof campaign.head);
    }
    (void)printf("%s\n", campaign.values);
    (void)fflush(stdout);
    if (path) {
        FILE *to = fopen(path, "a");
        CU_ASSERT_PTR_NOT_NULL_FATAL(to);
        const bool written = fprintf(to, "%s\n", campaign.record) > 0;
        CU_ASSERT_FATAL(fclose(to) == 0 && written);
    }
}

/* Levels are for 200 draws; a share of fewer wanders by some standard errors more. */
static inline double campaign_slack(double share)
{
    return campaign.runs >= 200 ? 0.0
                                : 3.0 * sqrt(share * (1.0 - share) / (double)campaign.runs);
}

/* With the true share `share`, one study in 1000 or more gives a count as low as this one
 * (campaign_is_enough), or as high (campaign_is_few). */
static inline bool campaign_is_enough(size_t count, size_t of, double share)
{
    return gsl_cdf_binomial_P((unsigned)count, share, (unsigned)of) >= 0.001;
}

static inline bool campaign_is_few(size_t count, size_t of, double share)
{
    return count == 0 || gsl_cdf_binomial_Q((unsigned)count - 1, share, (unsigned)of) >= 0.001;
}

#endif
