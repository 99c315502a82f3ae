/* The value of a constant that a recording supports: the right one where it is determined, a
 * warning where another one fits as well and changes the result, none where it does not. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "config/model/model_file.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/variant_choice.h"

enum { N_MAX = 2000, FINE = 20 };

static const char drag[] = "model: drag_n\nvelocities: {w: m/s}\nefforts: {F: N}\n"
                           "constants: {n: 1}\nvariants: {n: [0.5, 1, 2]}\n"
                           "parameters: {m: {sign: positive}, c: {sign: not_negative}}\n"
                           "equations: [\"m*w' + c*abs(w)^n*w = F\"]\n";

struct recording {
    double t[N_MAX], w[N_MAX], f[N_MAX];
    struct data_raw raw;
};

/* 2 w' + |w|^power w = F by midpoint steps. */
static void record_run(struct recording *r, size_t n, double power, double sd, double least,
                       double most)
{
    struct random_source draws = random_stream(n, 4);
    double w = 1.0;
    size_t until = 0;
    for (size_t k = 0; k < n; k++) {
        r->f[k] = k < until ? r->f[k - 1] : random_between(&draws, least, most);
        until = k < until ? until : k + (size_t)random_between(&draws, 10.0, 40.0);
        double noise = -6.0;
        for (int i = 0; i < 12; i++) {
            noise += random_between(&draws, 0.0, 1.0);
        }
        r->t[k] = 0.05 * (double)k;
        r->w[k] = w + sd * noise;
        for (int i = 0; i < FINE; i++) {
            const double h = 0.05 / FINE;
            const double half = w + 0.25 * h * (r->f[k] - pow(fabs(w), power) * w);
            w += 0.5 * h * (r->f[k] - pow(fabs(half), power) * half);
        }
    }
    r->raw = (struct data_raw){.axes = 1, .n = n, .t_s = r->t, .part_count = 1};
    r->raw.part_start[1] = n;
    r->raw.nu[0] = r->w;
    r->raw.tau[0] = r->f;
}

static void test_choice(void)
{
    static struct recording r;
    static const struct {
        const char *row;
        size_t n;
        double power, sd, least, most;
        size_t chosen;
        bool doubted;
    } rows[] = {
        {"told", 2000, 1.0, 0.01, 1.0, 6.0, 1, false},
        {"reported, the outermost", 2000, 2.0, 0.01, 1.0, 6.0, 2, false},
        {"hardly anything changes", 300, 1.0, 0.05, 3.8, 4.2, 3, true},
    };
    struct model_file *file = NULL;
    struct err_list errors = {0};
    CU_ASSERT_EQUAL_FATAL(
        option_file_parse(&model_file, drag, sizeof drag - 1, "drag", &file, &errors),
        STATUS_OK);
    const struct variant_list list = {file->row.variant, file->row.variants,
                                      file->row.variant_count};
    CHECK_TEXT("name", list.name, "n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct data_table table;
        struct data_summary summary;
        struct dynamics_fit fit;
        struct variant_choice variants = {.count = 0};
        struct dynamics_options options = dynamics_options_defaults();
        options.delay_max_s = 0.0;
        record_run(&r, rows[i].n, rows[i].power, rows[i].sd, rows[i].least, rows[i].most);
        CHECK_INT(rows[i].row, data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
        CHECK_INT(rows[i].row,
                  dynamics_estimate(file->row.variants[0].model, &table.set,
                                    DYNAMICS_OUTPUT_ERROR, &options, &fit),
                  STATUS_OK);
        CHECK_INT(rows[i].row,
                  variant_choice_select(&list, &table.set, &options, &fit, &variants),
                  STATUS_OK);
        fit.estimate.verdict = ESTIMATE_PASS;
        fit.estimate.reason_count = fit.estimate.advice_count = 0;
        variant_choice_judge(&list, &variants, &fit);
        (void)printf("%s: %s\n", rows[i].row, fit.estimate.reasons[0]);
        CHECK_INT(rows[i].row, variants.count, 3);
        CHECK_INT(rows[i].row, fit.estimate.verdict,
                  rows[i].doubted ? ESTIMATE_MARGINAL : ESTIMATE_PASS);
        CHECK(rows[i].row, rows[i].doubted == (variants.other != variants.chosen));
        if (!rows[i].doubted) {
            CHECK_INT(rows[i].row, variants.chosen, rows[i].chosen);
            CHECK_NEAR(rows[i].row, fit.estimate.value[0], 2.0, 0.02, 0.0);
            CHECK_NEAR(rows[i].row, fit.estimate.value[1], 1.0, 0.01, 0.0);
        }
        data_table_free(&table);
    }
    model_file_free(file);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("variants", NULL, NULL);
    CU_add_test(suite, "choice", test_choice);
    return check_run();
}
