/* tests/support/servo_file.h - reads a recording of a position-commanded servo, and fits it. */
#ifndef TESTS_SUPPORT_SERVO_FILE_H
#define TESTS_SUPPORT_SERVO_FILE_H

#include "tests/support/check.h"

#include "identification/servo/servo_fit.h"

enum { SERVO_FILE_ROWS = 12000, SERVO_FILE_COLUMNS = 8 };

struct servo_file {
    size_t n;
    double t_s[SERVO_FILE_ROWS], command_rad[SERVO_FILE_ROWS], position_rad[SERVO_FILE_ROWS];
};

/* Reads t_s, JOINTcommand_rad and JOINTposition_rad up to a time; false if there is no file. */
static inline bool servo_file_read(struct servo_file *file, const char *path, const char *joint,
                                   double until_s)
{
    char line[1024];
    char names[2][64];
    size_t at[2] = {0, 0};
    size_t column = 0;
    FILE *in = fopen(path, "r");
    if (!in || !fgets(line, sizeof line, in)) {
        return false;
    }
    (void)snprintf(names[0], sizeof names[0], "%scommand_rad", joint);
    (void)snprintf(names[1], sizeof names[1], "%sposition_rad", joint);
    for (char *word = strtok(line, ",\r\n"); word; word = strtok(NULL, ",\r\n"), column++) {
        at[0] = strcmp(word, names[0]) == 0 ? column : at[0];
        at[1] = strcmp(word, names[1]) == 0 ? column : at[1];
    }
    file->n = 0;
    while (fgets(line, sizeof line, in) && file->n < SERVO_FILE_ROWS) {
        double value[SERVO_FILE_COLUMNS] = {0.0};
        char *next = line;
        for (size_t i = 0; i < column && i < SERVO_FILE_COLUMNS; i++) {
            value[i] = strtod(next, &next);
            next += *next == ',' ? 1 : 0;
        }
        if (value[0] <= until_s) {
            file->t_s[file->n] = value[0];
            file->command_rad[file->n] = value[at[0]];
            file->position_rad[file->n++] = value[at[1]];
        }
    }
    (void)fclose(in);
    return true;
}

static inline enum status servo_file_set(const struct servo_file *file, struct servo_set *set,
                                         struct servo_summary *summary, struct err *err)
{
    const struct servo_raw raw = {.n = file->n,
                                  .t_s = file->t_s,
                                  .command_rad = file->command_rad,
                                  .position_rad = file->position_rad,
                                  .part_count = 1,
                                  .part_start = {0, file->n}};
    return servo_set_make(&raw, set, summary, err);
}

static inline struct servo_fit servo_file_fit(const struct servo_file *file)
{
    struct servo_set set;
    struct servo_summary summary;
    struct servo_fit fit;
    CU_ASSERT_EQUAL_FATAL(servo_file_set(file, &set, &summary, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(servo_fit_run(&set, &summary, &fit), STATUS_OK);
    servo_judge_units(&fit, &summary);
    servo_set_free(&set);
    return fit;
}

static inline struct servo_check servo_file_check(const struct servo_file *file,
                                                  const struct servo_fit *fit)
{
    struct servo_set set;
    struct servo_summary summary;
    struct servo_check check;
    CU_ASSERT_EQUAL_FATAL(servo_file_set(file, &set, &summary, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(servo_check_run(&set, fit, &check), STATUS_OK);
    servo_set_free(&set);
    return check;
}

static inline bool servo_has_reason(const struct servo_fit *fit, enum reason_code code)
{
    for (size_t i = 0; i < fit->estimate.reason_count; i++) {
        if (fit->estimate.reason_codes[i] == code) {
            return true;
        }
    }
    return false;
}

static inline void servo_print(const char *name, const struct servo_fit *fit)
{
    const struct estimate *e = &fit->estimate;
    (void)printf("%s: %s, R2 %.5f, rmse %.3g rad, coloured %.4f, %s limit, %.0f steps\n", name,
                 estimate_verdict_name(e->verdict), fit->own.r2, fit->own.rmse_rad,
                 fit->coloured_ratio, servo_limit_name(fit->limit), (double)fit->steps);
    for (size_t i = 0; i < e->p; i++) {
        (void)printf("  %-24s %10.5g +- %.3g  %.5g .. %.5g\n", e->name[i], e->value[i],
                     e->se[i], e->lo[i], e->hi[i]);
    }
    for (size_t i = 0; i < e->reason_count; i++) {
        (void)printf("  because %s\n", e->reasons[i]);
    }
}

#endif
