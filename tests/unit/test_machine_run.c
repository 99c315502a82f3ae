/* Machines of files on the engine: golden step tables, networks, faults in words, and the
 * machines that Tandem ships, arc for arc those that it runs. */
#include "tests/support/check.h"
#include "tests/support/efsm_check.h"

#include "config/machine/machine_file.h"
#include "service/machine/machine_steps.h"
#include "service/tool/commands.h"
#include "twin/machines.h"

#define GOLDEN  TANDEM_SOURCE_DIR "/tests/golden/machines/"
#define SHIPPED TANDEM_SOURCE_DIR "/config/machines/"

/* A file whose machines have programs, also where guards are not complete: a run finds that. */
static struct machine_file *load_file(const char *path)
{
    struct machine_file *file = NULL;
    CU_ASSERT_EQUAL_FATAL(machine_file_load(path, false, &file), STATUS_OK);
    CU_ASSERT_FATAL(file->count > 0);
    void *memory = malloc(machine_compile_bytes());
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    for (size_t i = 0; i < file->count; i++) {
        const enum status st = machine_compile(file->machines[i], memory);
        CHECK(path, st == STATUS_OK || st == STATUS_E_FULL);
    }
    free(memory);
    return file;
}

static struct machine_file *parse_text(const char *text)
{
    struct machine_file *file = NULL;
    CU_ASSERT_EQUAL_FATAL(machine_file_parse(text, strlen(text), "test.yaml", false, &file),
                          STATUS_OK);
    if (machine_file_count(file, MACHINE_ERROR) > 0) {
        (void)machine_file_print_diagnostics(file, stdout);
    }
    CHECK_INT(text, machine_file_count(file, MACHINE_ERROR), 0);
    CU_ASSERT_FATAL(file->count > 0);
    return file;
}

static char *read_whole(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    const size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    (void)fclose(file);
    return text;
}

/* ---- golden step tables ---- */

static void test_traces(void)
{
    static const struct {
        const char *machine, *trace;
        int64_t cycles;
    } rows[] = {
        {"counter.Counter", "counter", 12},  {"counter_loose.Counter", "counter_loose", 12},
        {"plans.Plans", "plans_nominal", 8}, {"plans.Plans", "plans_skip_abort", 8},
        {"plans.Plans", "plans_empty", 4},   {"sweep.Sweep", "sweep", 40},
        {"link.Link", "link", 34},           {"f01_incomplete.F", "f01_incomplete", 4},
        {"f02_overlap.F", "f02_overlap", 4}, {"f06_undefined.F", "f06_undefined", 2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[512];
        char inputs[512];
        char *got = NULL;
        size_t bytes = 0;
        (void)snprintf(path, sizeof path, "%s%s.yaml", GOLDEN, rows[i].machine);
        (void)snprintf(inputs, sizeof inputs, "%s%s.inputs.csv", GOLDEN, rows[i].trace);
        struct machine_file *file = load_file(path);
        const struct machine *machine = file->machines[0];
        const struct steps_options options = {inputs, 25000, 1000};
        FILE *out = open_memstream(&got, &bytes);
        CHECK_INT(rows[i].trace, steps_run(&machine, 1, &options, out, NULL), EXIT_FINE);
        (void)fclose(out);
        (void)snprintf(path, sizeof path, "%s%s.trace.csv", GOLDEN, rows[i].trace);
        const char *want = read_whole(path);
        CHECK(rows[i].trace, strcmp(got, want) == 0);
        free(got);
        machine_file_free(file);
    }
}

/* State and output of both, as the golden file has them. */
static void test_network(void)
{
    struct machine_file *file = load_file(SHIPPED "handshake.yaml");
    CU_ASSERT_EQUAL_FATAL(file->count, 2);
    struct machine_run *runs = calloc(2, sizeof *runs);
    char got[4096] = "";
    const uint8_t active = machine_find_output(file->machines[0], "active");
    const uint8_t ready = machine_find_output(file->machines[1], "ready");
    for (size_t i = 0; i < 2; i++) {
        machine_run_start(&runs[i], file->machines[i], 0);
    }
    for (int64_t t_us = 0; t_us < 9; t_us++) {
        machine_run_outputs(&runs[0], t_us);
        machine_run_outputs(&runs[1], t_us);
        const size_t used = strlen(got);
        (void)snprintf(got + used, sizeof got - used, "%s/%.0f|%s/%.0f\n",
                       efsm_state_name(&file->machines[0]->table, runs[0].m.state),
                       runs[0].out.value[active],
                       efsm_state_name(&file->machines[1]->table, runs[1].m.state),
                       runs[1].out.value[ready]);
        for (size_t i = 0; i < 2; i++) {
            runs[i].in.there = 1;
            runs[i].in.value[0] = runs[1 - i].out.value[i == 0 ? ready : active];
            machine_run_plan(&runs[i], t_us);
        }
        machine_run_update(&runs[0], t_us);
        machine_run_update(&runs[1], t_us);
    }
    CHECK("handshake", strcmp(got, read_whole(GOLDEN "handshake.trace.txt")) == 0);

    /* The same, connected by names. */
    const struct machine *const both[] = {file->machines[0], file->machines[1]};
    const struct steps_options options = {NULL, 25000, 9};
    char *table = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&table, &bytes);
    CHECK_INT("connected", steps_run(both, 2, &options, out, NULL), EXIT_FINE);
    (void)fclose(out);
    CHECK("header", strstr(table, "cycle,t,Master.state,Master.active,Master.stack") == table);
    CHECK("working", strstr(table, "\n2,0.050000000000000003,SUB,1,,2,SUB,1,A1,0,,2,A2,1\n"));
    CHECK("the end", strstr(table, "\n6,0.14999999999999999,END,0,,,END,1,IDLE,0,,1,IDLE,1\n"));
    free(table);
    free(runs);
    machine_file_free(file);
}

/* ---- faults, in words ---- */

/* Run a machine that has the inputs a and b, truths, until its end; the last fault. */
static size_t run_text(const char *text, const char *inputs, char words[512],
                       uint8_t fired[MACHINE_ARCS_MAX])
{
    struct machine_file *file = parse_text(text);
    struct machine_run *run = calloc(1, sizeof *run);
    size_t count = 0;
    machine_run_start(run, file->machines[0], 0);
    for (int64_t k = 0; inputs[2 * k] && inputs[2 * k + 1]; k++) {
        for (size_t i = 0; i < 2; i++) {
            run->in.there = (run->in.there & ~(UINT64_C(1) << i)) |
                            (uint64_t)(inputs[2 * k + (int64_t)i] != '-') << i;
            run->in.value[i] = inputs[2 * k + (int64_t)i] == '1';
        }
        machine_run_plan(run, k * 1000000);
        count = machine_run_fired(run, k * 1000000, fired);
        machine_run_update(run, k * 1000000);
    }
    efsm_describe_fault(&file->machines[0]->table, &run->m, words, 512);
    if (!words[0]) {
        (void)snprintf(words, 512, "%s",
                       efsm_state_name(&file->machines[0]->table, run->m.state));
    }
    free(run);
    machine_file_free(file);
    return count;
}

#define HEAD "machine: M\ninputs: {a: truth, b: truth}\n"

static void test_faults(void)
{
    static const struct {
        const char *row, *text, *inputs, *words;
    } rows[] = {
        {"an input that is not connected",
         HEAD "initial: S\nstates:\n  S:\n    arcs:\n    - {when: a && b, to: S}\n"
              "    - {when: '!(a && b)', to: S}\n",
         "1011-1", "M: UNDEFINED in S at 2 s: 'a && b' read a, which has no value yet"},
        {"an input that is not read need not be there",
         HEAD "initial: S\nstates:\n  S:\n    arcs:\n    - {when: a && b, to: S}\n"
              "    - {when: '!(a && b)', to: S}\n",
         "0-0-", "S"},
        {"asked first",
         HEAD "initial: S\nstates:\n  S:\n    arcs:\n    - {when: defined(a) && a, to: T}\n"
              "    - {when: '!(defined(a) && a)', to: S}\n  T: {final: true}\n",
         "-0-0", "S"},
        {"it stays",
         HEAD
         "otherwise: stay\ninitial: S\nstates:\n  S:\n    arcs:\n    - {when: a && b, to: T}\n"
         "  T: {final: true}\n",
         "001001", "S"},
        {"after a while",
         HEAD "initial: S\nstates:\n  S:\n    arcs:\n    - {when: after(3), to: T}\n"
              "    - {when: '!after(3)', to: S}\n  T: {final: true}\n",
         "00000000", "T"},
    };
    uint8_t fired[MACHINE_ARCS_MAX];
    char words[512];
    for (size_t i = 0; i < COUNT(rows); i++) {
        (void)run_text(rows[i].text, rows[i].inputs, words, fired);
        CHECK_TEXT(rows[i].row, words, rows[i].words);
    }
}

static void test_stack_words(void)
{
    char path[] = GOLDEN "plans_empty.inputs.csv";
    char words[512];
    struct machine_file *file = load_file(GOLDEN "plans.Plans.yaml");
    struct machine_run *run = calloc(1, sizeof *run);
    static const char *const events[] = {"plan1", "next", "next", "skip"};
    machine_run_start(run, file->machines[0], 0);
    for (size_t k = 0; k < COUNT(events); k++) {
        run->in.there = 15;
        memset(run->in.value, 0, sizeof run->in.value);
        run->in.value[machine_find_input(file->machines[0], events[k])] = 1.0;
        machine_run_plan(run, (int64_t)k * 25000);
        machine_run_update(run, (int64_t)k * 25000);
    }
    efsm_describe_fault(&file->machines[0]->table, &run->m, words, sizeof words);
    CHECK_TEXT(path, words,
               "Plans: STACK_EMPTY in P1_3 at 0.075 s: 'skip && !abort' pops more states than "
               "the 1 on the stack");
    CHECK_INT("no such input", machine_find_input(file->machines[0], "nosuch"), MACHINE_NONE);
    free(run);
    machine_file_free(file);
}

/* All arcs that fire at once are reported, not only the two that the engine stores. */
static void test_all_fired(void)
{
    struct machine_file *file = NULL;
    uint8_t fired[MACHINE_ARCS_MAX];
    static const char text[] =
        HEAD "initial: S\nstates:\n  S:\n    arcs:\n    - {when: a, to: S}\n"
             "    - {when: b, to: S}\n    - {when: a || b, to: S}\n"
             "    - {when: a && b, to: S}\n    - {when: '!a', to: S}\n";
    CU_ASSERT_EQUAL_FATAL(machine_file_parse(text, strlen(text), "t.yaml", false, &file),
                          STATUS_OK);
    void *memory = malloc(machine_compile_bytes());
    CHECK_INT("errors", machine_compile(file->machines[0], memory), STATUS_E_FULL);
    struct machine_run *run = calloc(1, sizeof *run);
    machine_run_start(run, file->machines[0], 0);
    run->in.there = 3;
    run->in.value[0] = run->in.value[1] = 1.0;
    machine_run_plan(run, 0);
    CHECK_INT("four", machine_run_fired(run, 0, fired), 4);
    CHECK_INT("the last", fired[3], 3);
    machine_run_update(run, 0);
    CHECK_INT("and then none", machine_run_fired(run, 1, fired), 0);
    machine_run_outputs(run, 1);
    CHECK_INT("a sink reports nothing", run->out.there, 0);
    free(run);
    free(memory);
    machine_file_free(file);
}

/* ---- shipped machines ---- */

static void compare_arcs(const char *name, const struct efsm_table *own,
                         const struct efsm_table *file)
{
    char row[128];
    CHECK_TEXT(name, file->purpose, own->purpose);
    CHECK_INT(name, file->state_count, own->state_count);
    CHECK_INT(name, file->arc_count, own->arc_count);
    CHECK_TEXT(name, efsm_state_name(file, file->initial), efsm_state_name(own, own->initial));
    for (size_t s = 0; s < own->state_count; s++) {
        CHECK_TEXT(name, efsm_state_name(file, (uint8_t)s), own->states[s].name);
    }
    /* State by state, in order: in a file arcs belong to their states. */
    for (size_t s = 0; s < own->state_count; s++) {
        size_t k = 0;
        for (size_t i = 0; i < own->arc_count && own->arc_count == file->arc_count; i++) {
            const struct efsm_arc *a = &own->arcs[i];
            if (a->from != s) {
                continue;
            }
            while (k < file->arc_count && file->arcs[k].from != s) {
                k++;
            }
            (void)snprintf(row, sizeof row, "%s, %s: %s", name, own->states[s].name, a->label);
            CU_ASSERT_FATAL(k < file->arc_count);
            CHECK_TEXT(row, efsm_state_name(file, file->arcs[k].to),
                       efsm_state_name(own, a->to));
            CHECK_INT(row, file->arcs[k].waits, a->waits);
            CHECK_INT(row, file->arcs[k].empties, a->empties);
            CHECK_INT(row, file->arcs[k].pops, a->pops);
            CHECK_INT(row, file->arcs[k].push_count, a->push_count);
            k++;
        }
    }
}

static void test_shipped(void)
{
    static const char *const names[] = {"counter", "plans", "smartlog",   "link",
                                        "l0main",  "drive", "l0firmware", "handshake"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[512];
        (void)snprintf(path, sizeof path, "%s%s.yaml", SHIPPED, names[i]);
        struct machine_file *file = load_file(path);
        CHECK_INT(names[i], machine_file_count(file, MACHINE_ERROR), 0);
        CHECK_INT(names[i], machine_file_count(file, MACHINE_WARNING),
                  strcmp(names[i], "plans") == 0);
        for (size_t k = 0; k < file->count; k++) {
            const char *wrong = efsm_check_table(&file->machines[k]->table);
            CHECK_TEXT(names[i], wrong ? wrong : "", "");
        }
        const struct efsm_table *own = machine_find(names[i]);
        if (own) {
            compare_arcs(names[i], own, &file->machines[0]->table);
        }
        CHECK(names[i], (own != NULL) == (i >= 2 && i <= 4));
        machine_file_free(file);
    }
}

/* The text of a machine of a file, to be freed. */
static char *print_machine(const char *name, const char *end)
{
    char path[512];
    char *text = NULL;
    size_t bytes = 0;
    (void)snprintf(path, sizeof path, "%s%s%s", SHIPPED, name, end);
    struct machine_file *file = load_file(path);
    CHECK_INT(path, machine_file_count(file, MACHINE_ERROR), 0);
    FILE *out = open_memstream(&text, &bytes);
    machine_yaml_print(file->machines[0], out);
    (void)fclose(out);
    machine_file_free(file);
    return text;
}

/* A shipped drawing is the same machine. */
static void test_drawings(void)
{
    static const char *const names[] = {"counter", "plans", "smartlog",  "link",
                                        "l0main",  "drive", "l0firmware"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char *text = print_machine(names[i], ".yaml");
        char *drawing = print_machine(names[i], ".drawio");
        CHECK(names[i], strlen(text) > 100 && strcmp(text, drawing) == 0);
        free(text);
        free(drawing);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("machines of files", NULL, NULL);
    CU_ADD_TEST(suite, test_traces);
    CU_ADD_TEST(suite, test_network);
    CU_ADD_TEST(suite, test_faults);
    CU_ADD_TEST(suite, test_stack_words);
    CU_ADD_TEST(suite, test_all_fired);
    CU_ADD_TEST(suite, test_shipped);
    CU_ADD_TEST(suite, test_drawings);
    return check_run();
}
