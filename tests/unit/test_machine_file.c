/* Machines from text: diagnostics line by line; the meaning of valid parts; and a machine is
 * written as it was read. */
#include "tests/support/check.h"

#include "config/machine/machine_file.h"
#include "tests/support/scratch.h"

static struct machine_file *parse_text(const char *text)
{
    struct machine_file *file = NULL;
    CU_ASSERT_EQUAL_FATAL(machine_file_parse(text, strlen(text), "m.yaml", false, &file),
                          STATUS_OK);
    return file;
}

/* All diagnostics, a line each: code and place, without the sentence. */
static void list_diagnostics(const struct machine_file *file, char *out, size_t size)
{
    FILE *stream = fmemopen(out, size, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    (void)machine_file_print_diagnostics(file, stream);
    (void)fclose(stream);
    for (char *at = strstr(out, ": "); at; at = strstr(at, ": ")) {
        memmove(at, at + strcspn(at, "\n"), strlen(at + strcspn(at, "\n")) + 1);
    }
}

#define HEAD   "machine: M\ninputs: {b: truth, x: number}\nvariables: {C: number}\n"
#define START  "initial: A\nstates:\n"
#define ONE(s) HEAD START "  A:\n    arcs:\n" s
#define LOOP   "    - {to: A}\n"

/* clang-format off */
static const struct {
    const char *row, *text, *listed;
} rows[] = {
    {"fine", ONE(LOOP), ""},
    {"empty", "",
     "E-FILE  m.yaml:1:1\n"},
    {"no name", "inputs: {}\n" START "  A:\n    arcs:\n" LOOP,
     "E-FILE  m.yaml:1:1\n"},
    {"name", "machine: a b\ninputs: {}\n" START "  A:\n    arcs:\n" LOOP,
     "E-NAME  m.yaml:1:10\n"},
    {"empty names", "machine: ''\ninitial: ''\nstates:\n  A:\n    arcs:\n    - {to: ''}\n",
     "E-FILE  m.yaml:1:10\n"
     "E-FILE  m.yaml:2:10\n"
     "E-FILE  m.yaml:6:12\n"},
    {"keys without a value", "constants:\noutputs:\nstart:\n" HEAD START
     "  A:\n    outputs:\n    arcs:\n    - {to: B, do: , push: }\n  B:\n    final: true\n    arcs:\n", ""},
    {"unknown key", "machine: M\ninput: {}\n" START "  A:\n    arcs:\n" LOOP,
     "E-FILE  m.yaml:2:1\n"},
    {"no state", "machine: M\ninitial: A\nstates: {}\n",
     "E-NO-STATE  m.yaml:1:10\n"
     "E-NO-SUCH-STATE  m.yaml:2:10\n"},
    {"no start", "machine: M\nstates:\n  A:\n    arcs:\n" LOOP,
     "E-NO-START  m.yaml:1:10\n"},
    {"state name", HEAD "initial: A\nstates:\n  A:\n    arcs:\n" LOOP "  b c:\n    final: true\n",
     "E-STATE-NAME  m.yaml:9:3\n"},
    {"to nowhere", ONE("    - {to: B}\n"),
     "E-NO-SUCH-STATE  m.yaml:8:7\n"},
    {"no to", ONE("    - {when: b}\n"),
     "E-FILE  m.yaml:8:7\n"},
    {"port", "machine: M\ninputs: {b: flag}\n" START "  A:\n    arcs:\n" LOOP,
     "E-FILE  m.yaml:2:13\n"},
    {"port of a function's name", "machine: M\noutputs: {log: false}\n" START "  A:\n    arcs:\n" LOOP, ""},
    {"port of a word", "machine: M\ninputs: {elapsed: number, or: truth}\n" START "  A:\n    arcs:\n" LOOP,
     "E-NAME  m.yaml:2:10\n"
     "E-NAME  m.yaml:2:27\n"},
    {"expression", ONE("    - {when: b and x >, to: A}\n"),
     "E-EXPR  m.yaml:8:14\n"},
    {"type", ONE("    - {when: b + 1 > 2, to: A}\n"),
     "E-TYPE  m.yaml:8:7\n"},
    {"name that there is not", ONE("    - {when: bb, to: A}\n"),
     "E-NAME  m.yaml:8:7\n"},
    {"input found", "machine: M\n" START "  A:\n    arcs:\n    - {when: b, to: A}\n    - {when: '!b', to: A}\n",
     "note  M\n"},
    {"incomplete", ONE("    - {when: b && x > 3, to: A}\n"),
     "E-INCOMPLETE  m.yaml:6:3\n"},
    {"otherwise", "otherwise: stay\n" ONE("    - {when: b && x > 3, to: A}\n"), ""},
    {"overlap", ONE("    - {when: x >= 0, to: A}\n    - {when: x <= 0, do: ['C+ = 0'], to: A}\n"),
     "E-OVERLAP  m.yaml:9:7\n"},
    {"never", ONE("    - {when: x > 3 && x < 1, to: A}\n" LOOP),
     "W-NEVER  m.yaml:8:7\n"},
    {"mealy", "outputs: {e: false}\n" ONE("    - {when: b, do: [e = true], to: A}\n    - {when: '!b', do: [e = "
     "x > 1], to: A}\n"),
     "E-MEALY  m.yaml:9:7\n"
     "E-MEALY  m.yaml:10:7\n"},
    {"mealy state", "outputs: {e: 0}\n" HEAD START "  A:\n    outputs: [e = x]\n    arcs:\n" LOOP,
     "E-MEALY  m.yaml:7:3\n"},
    {"conflict", ONE("    - {do: ['C+ = 1', 'C+ = 2'], to: A}\n"),
     "E-CONFLICT  m.yaml:8:7\n"},
    {"no conflict", ONE("    - {do: ['C+ = 1', 'C+ = 1'], to: A}\n"), ""},
    {"state and arc", "outputs: {e: 0}\n" HEAD START "  A:\n    outputs: [e = 1]\n    arcs:\n    - {do: [e = "
     "1], to: A}\n",
     "E-CONFLICT  m.yaml:7:3\n"},
    {"at once", ONE("    - {do: [C = 1], to: A}\n"),
     "E-AT-ONCE  m.yaml:8:7\n"},
    {"variable and output", "outputs: {C: number}\n" ONE("    - {do: ['C+ = 1'], to: A}\n"), ""},
    {"input assigned", ONE("    - {do: ['x+ = 1'], to: A}\n"),
     "E-INPUT-ASSIGNED  m.yaml:8:7\n"},
    {"output read", "outputs: {e: 0}\n" ONE("    - {when: e > 0, to: A}\n" LOOP),
     "E-OUTPUT-READ  m.yaml:9:7\n"},
    {"sum", ONE("    - {do: ['C += 1'], to: A}\n"),
     "note  M\n"},
    {"sum by name", "start: ['C+ = 0']\n" ONE("    - {do: ['C += C + 1'], to: A}\n"), ""},
    {"no assignment", ONE("    - {do: [go], to: A}\n"),
     "E-ACTION  m.yaml:8:13\n"},
    {"delayed in a state", HEAD START "  A:\n    outputs: ['C+ = 1']\n    arcs:\n" LOOP,
     "E-STATE-TEXT  m.yaml:7:15\n"},
    {"undefined", ONE("    - {when: C > 0, to: A}\n    - {when: C <= 0, to: A}\n"),
     "E-UNDEFINED  m.yaml:8:7\n"},
    {"a count of nothing", ONE("    - {do: ['C+ = C + 1'], to: A}\n"),
     "E-UNDEFINED  m.yaml:8:7\n"},
    {"a circle", HEAD START "  A:\n    arcs:\n    - {do: ['C+ = C + 1'], to: B}\n  B:\n    arcs:\n" LOOP,
     "E-UNDEFINED  m.yaml:8:7\n"},
    {"on one path", ONE("    - {when: b, do: ['C+ = 0'], to: A}\n    - {when: '!b', do: ['C+ = C + 1'], to: A}\n"),
     "W-UNDEFINED  m.yaml:9:7\n"},
    {"in one branch", ONE("    - {do: ['C+ = if(b, 0, C + 1)'], to: A}\n"),
     "W-UNDEFINED  m.yaml:8:7\n"},
    {"in both branches", ONE("    - {do: ['C+ = if(b, C, C + 1)'], to: A}\n"),
     "E-UNDEFINED  m.yaml:8:7\n"},
    {"output", "outputs: {e: 0}\n" HEAD START "  A:\n    outputs: [e = C]\n    arcs:\n" LOOP,
     "E-UNDEFINED  m.yaml:7:3\n"},
    {"output of one path", "outputs: {e: 0}\n" HEAD START "  A:\n    outputs: [e = C]\n    arcs:\n"
     "    - {do: ['C+ = 1'], to: A}\n",
     "W-UNDEFINED  m.yaml:7:3\n"},
    {"output asks", "outputs: {e: 0}\n" HEAD START "  A:\n    outputs: ['e = if(defined(C), C, 0)']\n    arcs:\n" LOOP, ""},
    {"start", "start: ['C+ = D', 'D+ = x + 1']\nvariables: {C: number, D: number}\n"
     "machine: M\ninputs: {x: number}\n" START "  A:\n    arcs:\n" LOOP,
     "E-UNDEFINED  m.yaml:5:10\n"
     "E-UNDEFINED  m.yaml:5:10\n"},
    {"start in order", "start: ['D+ = 1', 'C+ = D']\nvariables: {C: number, D: number}\n"
     "machine: M\ninputs: {x: number}\n" START "  A:\n    arcs:\n" LOOP, ""},
    {"defined", ONE("    - {when: defined(C) && C > 0, to: A}\n    - {when: '!(defined(C) && C > 0)', do: ['C+ "
     "= 1'], to: A}\n"), ""},
    {"unreachable, sink", HEAD START "  A:\n    arcs:\n" LOOP "  B: {}\n",
     "E-SINK  m.yaml:9:3\n"
     "E-UNREACHABLE  m.yaml:9:3\n"},
    {"final", HEAD START "  A:\n    final: true\n    arcs:\n" LOOP,
     "E-FINAL  m.yaml:6:3\n"},
    {"stack", ONE("    - {empty: true, to: top}\n"),
     "E-STACK  m.yaml:8:7\n"},
    {"stack empty", ONE("    - {pop: 1, to: A}\n"),
     "W-STACK-EMPTY  m.yaml:8:7\n"},
    {"never popped", ONE("    - {when: b, push: [A], to: A}\n    - {when: '!b', empty: true, to: A}\n"),
     "W-NEVER-POPPED  m.yaml\n"
     "W-STACK-FULL  m.yaml:8:7\n"},
    {"open output", "outputs: {e: truth}\n" ONE(LOOP),
     "W-OUTPUT-OPEN  m.yaml:7:3\n"},
    {"livelock", "clocked: false\n" HEAD START "  A:\n    arcs:\n    - {to: B}\n  B:\n    arcs:\n    - {to: A}\n",
     "W-LIVELOCK  m.yaml:9:7\n"
     "W-LIVELOCK  m.yaml:12:7\n"},
    {"name alike", "machine: M\nvariables: {Count: number}\nstart: [Count+ = 0]\n" START
     "  A:\n    arcs:\n    - {when: Cuont > 0, to: A}\n    - {when: Cuont <= 0, do: ['Count+ = 1'], to: A}\n",
     "W-NAME  m.yaml\n"
     "note  M\n"},
    /* Forms that share a name: reported only with values for which it is so. */
    {"shared, complete", ONE("    - {when: x > 3, to: A}\n    - {when: 2*x <= 6, to: A}\n"), ""},
    {"shared, exact by one form", ONE("    - {when: x - t > 3, to: A}\n    - {when: 't - x >= -3', to: A}\n"), ""},
    {"after", ONE("    - {when: after(2), to: A}\n    - {when: elapsed < 2, to: A}\n"), ""},
    {"constants", "constants: {N: 5, on: true}\n" ONE("    - {when: x > N + 1, to: A}\n    - {when: on && x <= "
     "6, to: A}\n"), ""},
};
/* clang-format on */

static void test_diagnostics(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char listed[4096] = "";
        struct machine_file *file = parse_text(rows[i].text);
        list_diagnostics(file, listed, sizeof listed);
        CHECK_TEXT(rows[i].row, listed, rows[i].listed);
        machine_file_free(file);
    }
}

/* ---- as it was read ---- */

static void print_text(const struct machine_file *file, char *out, size_t size)
{
    FILE *stream = fmemopen(out, size, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    machine_yaml_print(file->machines[0], stream);
    (void)fclose(stream);
}

/* Everything there is, in the form in which it is written; long lines are broken at 110. */
/* clang-format off */
static const char whole[] =
    "machine: Whole\n"
    "purpose: 'it''s a: b, and a sentence that is so long that it has to be broken where a line has got to be "
     "as long\n"
    "  as that'\n"
    "clocked: false\n"
    "otherwise: stay\n"
    "constants:\n  K: 0.1\n  L: 1.0e-07\n  M: 1000000.0\n  'on': true\n"
    "inputs:\n  b: truth\n  y: number\n"
    "variables:\n  C: number\n"
    "outputs:\n  e: false\n  f: 2.5\n  g: truth\n"
    "initial: 'ON'\n"
    "start:\n- C+ = -1\n"
    "states:\n"
    "  'ON':\n"
    "    outputs:\n    - g = C > 2^(-1)\n"
    "    arcs:\n"
    "    - when: b && y * 2 / 3 > 1000000 && (y < 12345.678 || y < 22345.678 || y < 32345.678 || y < 42345.678 "
     "|| y <\n"
    "        52345.678)\n"
    "      do:\n      - C+ = C - 1\n      - e = true\n"
    "      pop: 2\n"
    "      push:\n      - END\n      - 'ON'\n"
    "      waits: false\n"
    "      to: top\n"
    "    - when: '!b'\n"
    "      empty: true\n"
    "      to: END\n"
    "  END:\n"
    "    final: true\n"
    "  n: {}\n";
/* clang-format on */

static void test_print(void)
{
    char text[8192] = "";
    char again[8192] = "";
    struct machine_file *file = parse_text(whole);
    print_text(file, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, whole);
    machine_file_free(file);
    for (size_t i = 0; i < COUNT(rows); i++) {
        file = parse_text(rows[i].text);
        if (!strstr(rows[i].listed, "E-")) {
            memset(text, 0, sizeof text);
            memset(again, 0, sizeof again);
            print_text(file, text, sizeof text);
            struct machine_file *second = parse_text(text);
            print_text(second, again, sizeof again);
            CHECK_TEXT(rows[i].row, again, text);
            machine_file_free(second);
        }
        machine_file_free(file);
    }
}

/* A list of files next to it; an unreadable one is reported. */
static void test_list(void)
{
    char folder[SCRATCH_MAX];
    char path[128];
    char listed[1024] = "";
    struct machine_file *file = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(scratch_template(folder, "machine_file")));
    (void)snprintf(path, sizeof path, "%s/one.yaml", folder);
    FILE *out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    (void)fputs(whole, out);
    (void)fclose(out);
    (void)snprintf(path, sizeof path, "%s/list.yaml", folder);
    out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    (void)fputs("machines: [one.yaml, two.yaml]\n", out);
    (void)fclose(out);
    CU_ASSERT_EQUAL_FATAL(machine_file_load(path, false, &file), STATUS_OK);
    list_diagnostics(file, listed, sizeof listed);
    CHECK_INT("list", file->count, 1);
    CHECK_TEXT("list", file->names[0], "one.yaml");
    CHECK("list", strstr(listed, "E-FILE  list.yaml\n"));
    machine_file_free(file);
    CU_ASSERT_EQUAL(remove(path), 0);
    (void)snprintf(path, sizeof path, "%s/one.yaml", folder);
    CU_ASSERT_EQUAL(remove(path), 0);
    CU_ASSERT_EQUAL(remove(folder), 0);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("machine files", NULL, NULL);
    CU_add_test(suite, "told", test_diagnostics);
    CU_add_test(suite, "print", test_print);
    CU_add_test(suite, "list", test_list);
    return check_run();
}
