/* Measures expressions: rows of a vessel from a file against those of the built-in model, in
 * blocks and one by one, a guard against C, and the time to read a file. Prints JSON lines. */
#include <stdbool.h>

#include "config/model/model_file.h"
#include "tests/bench/bench.h"

enum { BATCHES = 31, BLOCKS = 3000, GUARDS = 300000, MODELS = 20 };

static double nu[MODEL_AXES_MAX][MODEL_STRIDE], nu_dot[MODEL_AXES_MAX][MODEL_STRIDE];
static double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX][MODEL_STRIDE];

static void fill_motion(void)
{
    uint64_t state = 5;
    for (size_t a = 0; a < MODEL_AXES_MAX; a++) {
        for (size_t k = 0; k < MODEL_STRIDE; k++) {
            nu[a][k] = (double)bench_draw(&state) / 1e9 - 1.0;
            nu_dot[a][k] = (double)bench_draw(&state) / 1e9 - 1.0;
        }
    }
}

/* Medians, ns a row. */
static double time_blocks(const struct model *model)
{
    double batch[BATCHES];
    for (size_t b = 0; b < BATCHES; b++) {
        const double begun_s = bench_cpu_s();
        for (size_t i = 0; i < BLOCKS; i++) {
            model->rows_many(model, (const double(*)[MODEL_STRIDE])nu,
                             (const double(*)[MODEL_STRIDE])nu_dot, phi);
            nu[0][i % MODEL_BLOCK] += phi[0][0] * 1e-9;
        }
        batch[b] = (bench_cpu_s() - begun_s) / BLOCKS / MODEL_BLOCK * 1e9;
    }
    return bench_median(batch, BATCHES);
}

static double time_rows(const struct model *model)
{
    double batch[BATCHES];
    double out[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double at[MODEL_AXES_MAX] = {0.3, -0.2, 0.1};
    for (size_t b = 0; b < BATCHES; b++) {
        const double begun_s = bench_cpu_s();
        for (size_t i = 0; i < GUARDS; i++) {
            model->rows(model, NULL, at, at, out);
            at[0] += out[0] * 1e-9;
        }
        batch[b] = (bench_cpu_s() - begun_s) / GUARDS * 1e9;
    }
    return bench_median(batch, BATCHES);
}

static double time_forward(const struct model *model)
{
    static const double theta[] = {126.0, 121.0, 70.0, 26.0, 36.0, 36.0, 27.0, 99.0, 11.0};
    double batch[BATCHES];
    double at[MODEL_AXES_MAX] = {0.3, -0.2, 0.1};
    double rate[MODEL_AXES_MAX];
    for (size_t b = 0; b < BATCHES; b++) {
        const double begun_s = bench_cpu_s();
        for (size_t i = 0; i < GUARDS; i++) {
            model->forward(model, theta, NULL, at, at, rate);
            at[0] += rate[0] * 1e-9;
        }
        batch[b] = (bench_cpu_s() - begun_s) / GUARDS * 1e9;
    }
    return bench_median(batch, BATCHES);
}

static double time_guard(void)
{
    static const char guard[] = "b && C > 0 && t - B >= dT";
    static struct expression_pool pool;
    static struct expression_program program;
    double values[EXPRESSION_NAMES_MAX] = {0.0};
    double batch[BATCHES];
    double out = 0.0;
    double held = 0.0;
    size_t t_at = 0;
    uint16_t root = 0;
    void *memory = malloc(expression_compiler_bytes());
    pool.open = true;
    expression_pool_start(&pool);
    if (!memory || expression_parse(&pool, guard, sizeof guard - 1, &root, NULL) != STATUS_OK ||
        expression_compile(&pool, &root, NULL, 1, false, memory, &program, NULL) != STATUS_OK) {
        bench_fail("guard");
    }
    values[expression_find(&pool, "b")] = 1.0;
    values[expression_find(&pool, "C")] = 2.0;
    values[expression_find(&pool, "dT")] = 0.5;
    t_at = expression_find(&pool, "t");
    for (size_t b = 0; b < BATCHES; b++) {
        const double begun_s = bench_cpu_s();
        for (size_t i = 0; i < GUARDS; i++) {
            values[t_at] = (double)i;
            (void)expression_run(&program, values, UINT64_MAX, &out);
            held += out;
        }
        batch[b] = (bench_cpu_s() - begun_s) / GUARDS * 1e9;
    }
    free(memory);
    if (!(held > 0.0)) {
        bench_fail("guard never holds");
    }
    return bench_median(batch, BATCHES);
}

static double time_reading(const char *path)
{
    double batch[MODELS];
    for (size_t i = 0; i < MODELS; i++) {
        struct model_file *file = NULL;
        struct err_list errors = {0};
        const double begun_s = bench_cpu_s();
        if (option_file_load(&model_file, path, &file, &errors) != STATUS_OK) {
            bench_fail(errors.items[0].text);
        }
        batch[i] = (bench_cpu_s() - begun_s) * 1e3;
        model_file_free(file);
    }
    return bench_median(batch, MODELS);
}

int main(void)
{
    static const char path[] = TANDEM_SOURCE_DIR "/config/models/usv3.yaml";
    const struct model_row *row = NULL;
    struct err_list errors = {0};
    fill_motion();
    if (model_file_register(path, &row, &errors) != STATUS_OK) {
        bench_fail(errors.items[0].text);
    }
    const struct model *built_in = model_find("usv3");
    const double blocks[] = {time_blocks(row->model), time_blocks(built_in)};
    const double rows[] = {time_rows(row->model), time_rows(built_in)};
    (void)printf("{\"bench\":\"expression_block\",\"row_ns\":%.1f,\"built_in_ns\":%.1f,"
                 "\"ratio\":%.2f}\n",
                 blocks[0], blocks[1], blocks[0] / blocks[1]);
    (void)printf("{\"bench\":\"expression_row\",\"row_ns\":%.1f,\"built_in_ns\":%.1f,"
                 "\"ratio\":%.2f}\n",
                 rows[0], rows[1], rows[0] / rows[1]);
    const double forward[] = {time_forward(row->model), time_forward(built_in)};
    (void)printf("{\"bench\":\"expression_forward\",\"forward_ns\":%.1f,\"built_in_ns\":%.1f,"
                 "\"ratio\":%.2f}\n",
                 forward[0], forward[1], forward[0] / forward[1]);
    (void)printf("{\"bench\":\"expression_guard\",\"guard_ns\":%.1f}\n", time_guard());
    (void)printf("{\"bench\":\"model_file\",\"read_ms\":%.2f}\n", time_reading(path));
    return EXIT_SUCCESS;
}
