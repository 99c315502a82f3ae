/* service/machine/machines_generate.c - `tandem machines generate`: writes machines as programs
 * in other languages, and tests for them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/random.h"
#include "service/machine/machine_code.h"
#include "service/machine/machine_list.h"
#include "service/machine/machine_steps.h"
#include "service/machine/machines_parts.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"

enum { TEST_CYCLES = 200, PATH_BYTES = 4096 };

struct given {
    const char *lang, *folder;
    int tests, seed;
    double period_s;
};

static FILE *open_file(const struct given *g, const struct machine *m, int test,
                       const char *end, char path[PATH_BYTES])
{
    char number[16] = "";
    if (test > 0) {
        (void)snprintf(number, sizeof number, "_%d", test);
    }
    (void)snprintf(path, PATH_BYTES, "%s/%s%s%s", g->folder, m->table.name, number, end);
    FILE *file = fopen(path, "w");
    if (!file) {
        (void)fprintf(stderr, "tandem: machines generate: ");
        perror(path);
    }
    return file;
}

static bool close_file(FILE *file, const char *path)
{
    const bool fine = ferror(file) == 0;
    if (fclose(file) != 0 || !fine) {
        (void)fprintf(stderr, "tandem: machines generate: ");
        perror(path);
        return false;
    }
    return true;
}

/* ---- random inputs ---- */

/* Draws near the numbers in a machine, because its behaviour changes there. */
static double draw_number(const struct machine *m, struct random_source *random)
{
    static const double common[] = {0.0, 1.0, 2.0, 3.0, 5.0, -1.0, 0.5};
    const struct expression_pool *pool = &m->draft.pool;
    const double kind = random_uniform(random);
    if (kind < 0.3) {
        return 4.0 * random_normal(random);
    }
    if (kind < 0.6) {
        return common[(size_t)(random_uniform(random) * (double)COUNT(common))];
    }
    const size_t at = (size_t)(random_uniform(random) * (double)pool->count);
    for (size_t i = 0; i < pool->count; i++) {
        const struct expression_node *n = &pool->nodes[(at + i) % pool->count];
        if (n->kind == EXPRESSION_CONSTANT && isfinite(n->number)) {
            return n->number + floor(3.0 * random_uniform(random)) - 1.0;
        }
    }
    return 0.0;
}

static void write_inputs(FILE *out, const struct machine *m, struct random_source *random)
{
    for (size_t k = 0; k < m->input_count; k++) {
        (void)fprintf(out, "%s%s", k > 0 ? "," : "", machine_name(m, m->inputs[k].name));
    }
    (void)fputs(m->input_count > 0 ? "\n" : "cycle\n", out);
    for (int i = 0; i < TEST_CYCLES; i++) {
        for (size_t k = 0; k < m->input_count; k++) {
            (void)fputs(k > 0 ? "," : "", out);
            if (random_uniform(random) < 0.0005) {
                (void)fputs("-", out);
            } else if (machine_type(m, m->inputs[k].name) == EXPRESSION_TRUTH) {
                (void)fputs(random_uniform(random) < 0.5 ? "0" : "1", out);
            } else {
                (void)fprintf(out, "%.17g", draw_number(m, random));
            }
        }
        (void)fprintf(out, m->input_count > 0 ? "\n" : "%d\n", i);
    }
}

static bool write_test(const struct given *g, const struct machine *m, int test)
{
    char inputs[PATH_BYTES];
    char trace[PATH_BYTES];
    struct random_source random = random_stream((uint64_t)g->seed, (uint64_t)test);
    FILE *file = open_file(g, m, test, ".inputs.csv", inputs);
    if (!file) {
        return false;
    }
    write_inputs(file, m, &random);
    if (!close_file(file, inputs)) {
        return false;
    }
    file = open_file(g, m, test, ".trace.csv", trace);
    if (!file) {
        return false;
    }
    const struct steps_options options = {
        .inputs = inputs, .period_us = llround(g->period_s * 1e6), .cycles = TEST_CYCLES};
    const int result = steps_run(&m, 1, &options, file, NULL);
    return close_file(file, trace) && result == EXIT_FINE;
}

static bool write_machine(const struct given *g, const struct code_language *language,
                          const struct machine *m)
{
    char path[PATH_BYTES] = "standard output";
    FILE *file = g->folder ? open_file(g, m, 0, language->end, path) : stdout;
    if (!file) {
        return false;
    }
    bool fine = code_write(file, language, m, llround(g->period_s * 1e6)) == STATUS_OK;
    (void)fputs(fine ? "" : "tandem: out of memory\n", stderr);
    fine = g->folder ? close_file(file, path) && fine : fine;
    for (int test = 1; fine && test <= g->tests; test++) {
        fine = write_test(g, m, test);
    }
    return fine;
}

static int generate_code(const struct given *g, char **paths)
{
    const struct code_language *language = code_languages;
    struct machine_list list = {0};
    int result = machine_list_load(&list, paths);
    while (strcmp(language->name, g->lang) != 0) {
        language++;
    }
    if (result == EXIT_FINE && !g->folder && (list.count != 1 || g->tests > 0)) {
        complain("machines generate: --out DIR was expected with %s",
                 g->tests > 0 ? "--test" : "several machines");
        result = EXIT_USAGE;
    }
    for (size_t i = 0; result == EXIT_FINE && i < list.count; i++) {
        result = write_machine(g, language, list.machines[i]) ? EXIT_FINE : EXIT_FAILED;
    }
    machine_list_free(&list);
    return result;
}

static const char description[] =
    "  Writes a machine of a file as a program: init, plan, update, write_outputs and a\n"
    "  monitor. plan() has a block for each arrow, in their order. In each cycle the program\n"
    "  does what Tandem's engine does: nothing has a value before it is set, and if no arrow\n"
    "  fires, or two do, it stops with an error.\n"
    "\n"
    "  c       C99, also for microcontrollers (-ffp-contract=off for equal last digits)\n"
    "  lua     a module for Lua 5.1 to 5.4, as in CoppeliaSim\n"
    "  python  a class\n"
    "  table   a table of Tandem's own engine, in C\n"
    "\n"
    "  --test also writes random inputs and their step tables. Each program makes the same\n"
    "  tables: `lua NAME.lua --test < NAME_1.inputs.csv`, the same with python3; C programs\n"
    "  are compiled with -DEFSM_TEST for that.\n";

int machines_generate(int argc, char **argv)
{
    struct given g = {.period_s = 0.025, .seed = 1};
    const struct argument rows[] = {
        {"lang", 0, ARGUMENT_TEXT, &g.lang, 0, 0, "c|lua|python|table", "the language"},
        {"out", 0, ARGUMENT_TEXT, &g.folder, 0, 0, "DIR",
         "where to write NAME.c and so on (standard output)"},
        {"test", 0, ARGUMENT_INTEGER, &g.tests, 0, 1000, "N",
         "write N files of random inputs and their step tables, too (0)"},
        {"period", 0, ARGUMENT_REAL, &g.period_s, 1e-6, 3600, "S",
         "from cycle to cycle in tests (0.025)"},
        {"seed", 0, ARGUMENT_INTEGER, &g.seed, 0, 2147483647, "N", "of the random inputs (1)"},
    };
    const struct arguments arguments = {
        .command = "machines generate",
        .purpose = "machines of files as C, Lua or Python",
        .operands = "FILE...",
        .description = description,
        .examples = "  tandem machines generate --lang lua counter.yaml > counter.lua\n",
        .exit_status = "a machine has errors, or a file could not be read or written",
        ARGUMENT_ROWS(rows)};
    const int result = arguments_parse(&arguments, argc, argv);
    if (result != ARGUMENTS_PARSED) {
        return result;
    }
    if (!g.lang) {
        return complain_exit(EXIT_USAGE,
                             "machines generate: --lang c, lua, python or table was expected");
    }
    return generate_code(&g, argv + 1);
}
