#include "service/machine/machine_steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/tool/commands.h"
#include "service/tool/csv_file.h"

/* The source of an input: a column of the file, or another machine's output. */
struct source {
    size_t machine; /* STEPS_MACHINES_MAX: a column instead */
    size_t place;
};

struct column {
    const char *name;
    enum expression_type type;
    size_t column; /* index in the file */
    bool there;
    double value;
};

struct steps {
    const struct steps_options *options;
    FILE *out;
    size_t count, column_count;
    int64_t cycle;
    bool ended, faulty, unfit;
    struct machine_run runs[STEPS_MACHINES_MAX];
    struct source sources[STEPS_MACHINES_MAX][MACHINE_PORTS_MAX];
    struct column columns[STEPS_MACHINES_MAX * MACHINE_PORTS_MAX];
    uint8_t fired[STEPS_MACHINES_MAX][MACHINE_ARCS_MAX];
    size_t fired_count[STEPS_MACHINES_MAX];
    uint64_t arc_counts[STEPS_MACHINES_MAX][MACHINE_ARCS_MAX];
    bool seen[STEPS_MACHINES_MAX][EFSM_STATES_MAX];
};

/* ---- connections between machines ---------------------------------------------------- */

/* An output and the input that it feeds must have one type. */
static void check_types(struct steps *s, const struct machine *m, const char *name,
                        enum expression_type wanted, enum expression_type given)
{
    if (wanted != given && !s->unfit) {
        complain("machines: %s of %s is a %s, but a %s elsewhere", name, m->table.name,
                 wanted == EXPRESSION_TRUTH ? "truth" : "number",
                 given == EXPRESSION_TRUTH ? "truth" : "number");
        s->unfit = true;
    }
}

static struct source find_source(struct steps *s, size_t i, size_t input)
{
    const struct machine *m = s->runs[i].machine;
    const char *name = machine_name(m, m->inputs[input].name);
    const enum expression_type type = machine_type(m, m->inputs[input].name);
    for (size_t k = 0; k < s->count; k++) {
        const uint8_t output =
            k == i ? MACHINE_NONE : machine_find_output(s->runs[k].machine, name);
        if (output != MACHINE_NONE) {
            const struct machine *from = s->runs[k].machine;
            check_types(s, m, name, type, machine_type(from, from->outputs[output].name));
            return (struct source){k, output};
        }
    }
    for (size_t c = 0; c < s->column_count; c++) {
        if (strcmp(s->columns[c].name, name) == 0) {
            check_types(s, m, name, type, s->columns[c].type);
            return (struct source){STEPS_MACHINES_MAX, c};
        }
    }
    s->columns[s->column_count] = (struct column){.name = name, .type = type};
    return (struct source){STEPS_MACHINES_MAX, s->column_count++};
}

static void connect_machines(struct steps *s, const struct machine *const *machines)
{
    for (size_t i = 0; i < s->count; i++) {
        machine_run_start(&s->runs[i], machines[i], 0);
        s->seen[i][s->runs[i].m.state] = true;
    }
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < machines[i]->input_count; k++) {
            s->sources[i][k] = find_source(s, i, k);
        }
    }
}

/* ---- a cycle ---- */

static void set_inputs(struct steps *s, size_t i)
{
    struct machine_in *in = &s->runs[i].in;
    in->there = 0;
    for (size_t k = 0; k < s->runs[i].machine->input_count; k++) {
        const struct source *from = &s->sources[i][k];
        const bool column = from->machine == STEPS_MACHINES_MAX;
        const struct machine_out *out = column ? NULL : &s->runs[from->machine].out;
        const bool there =
            column ? s->columns[from->place].there : (out->there >> from->place & 1U) != 0;
        in->there |= (uint64_t)there << k;
        in->value[k] = column ? s->columns[from->place].value : out->value[from->place];
    }
}

static void write_value(FILE *out, bool there, double value)
{
    if (!there) {
        (void)fputs(",-", out);
    } else if (isnan(value)) {
        (void)fputs(",nan", out);
    } else {
        (void)fprintf(out, ",%.17g", value);
    }
}

static void write_before(const struct steps *s, size_t i)
{
    const struct machine *m = s->runs[i].machine;
    const struct efsm *now = &s->runs[i].m;
    (void)fprintf(s->out, ",%s", efsm_state_name(&m->table, now->state));
    for (size_t k = 0; k < m->variable_count; k++) {
        write_value(s->out, (now->defined >> k & 1U) != 0, now->cell[k]);
    }
    for (size_t k = 0; k < m->output_count; k++) {
        if (m->outputs[k].variable == MACHINE_NONE) {
            write_value(s->out, (s->runs[i].out.there >> k & 1U) != 0, s->runs[i].out.value[k]);
        }
    }
    (void)fputc(',', s->out);
    for (size_t k = 0; k < now->depth; k++) {
        (void)fprintf(s->out, k > 0 ? " %s" : "%s", efsm_state_name(&m->table, now->stack[k]));
    }
    (void)fputc(',', s->out);
    for (size_t k = 0; k < s->fired_count[i]; k++) {
        (void)fprintf(s->out, k > 0 ? " %u" : "%u", s->fired[i][k]);
    }
}

static void write_after(const struct steps *s, size_t i)
{
    const struct efsm *now = &s->runs[i].m;
    (void)fprintf(s->out, ",%s,%d", efsm_state_name(&s->runs[i].machine->table, now->state),
                  now->blocked);
}

/* Counts fired arcs. The run ends on a fault, or when no machine is active any more. */
static void count_fired(struct steps *s)
{
    bool active = false;
    for (size_t i = 0; i < s->count; i++) {
        const struct efsm *m = &s->runs[i].m;
        const bool fault = m->state >= EFSM_INCOMPLETE;
        if (s->fired_count[i] == 1 && !fault) {
            s->arc_counts[i][s->fired[i][0]]++;
        }
        if (!fault) {
            s->seen[i][m->state] = true;
        }
        s->faulty |= fault;
        active |= efsm_is_active(&s->runs[i].machine->table, m);
    }
    s->ended = s->faulty || !active;
}

/* Each row shows the next state, so rows are written around the update. */
static void run_cycle(struct steps *s)
{
    const int64_t t_us = s->cycle * s->options->period_us;
    for (size_t i = 0; i < s->count; i++) {
        machine_run_outputs(&s->runs[i], t_us);
    }
    (void)fprintf(s->out, "%" PRId64, s->cycle);
    write_value(s->out, true, (double)t_us / 1e6);
    for (size_t c = 0; c < s->column_count; c++) {
        write_value(s->out, s->columns[c].there, s->columns[c].value);
    }
    for (size_t i = 0; i < s->count; i++) {
        set_inputs(s, i);
        machine_run_plan(&s->runs[i], t_us);
        s->fired_count[i] = machine_run_fired(&s->runs[i], t_us, s->fired[i]);
    }
    for (size_t i = 0; i < s->count; i++) {
        write_before(s, i);
        machine_run_update(&s->runs[i], t_us);
        write_after(s, i);
    }
    (void)fputc('\n', s->out);
    s->cycle++;
    count_fired(s);
}

/* ---- the file ---- */

void steps_write_columns(const struct machine *m, const char *before, FILE *out)
{
    static const char *const last[] = {"stack", "arcs", "next", "blocked"};
    (void)fprintf(out, ",%sstate", before);
    for (size_t k = 0; k < m->variable_count; k++) {
        (void)fprintf(out, ",%s%s", before, machine_name(m, m->variables[k].name));
    }
    for (size_t k = 0; k < m->output_count; k++) {
        if (m->outputs[k].variable == MACHINE_NONE) {
            (void)fprintf(out, ",%s%s", before, machine_name(m, m->outputs[k].name));
        }
    }
    for (size_t k = 0; k < COUNT(last); k++) {
        (void)fprintf(out, ",%s%s", before, last[k]);
    }
}

static void write_header(const struct steps *s)
{
    char before[MACHINE_NAME_MAX + 2] = "";
    (void)fputs("cycle,t", s->out);
    for (size_t c = 0; c < s->column_count; c++) {
        (void)fprintf(s->out, ",%s", s->columns[c].name);
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct machine *m = s->runs[i].machine;
        if (s->count > 1) {
            (void)snprintf(before, sizeof before, "%s.", m->table.name);
        }
        steps_write_columns(m, before, s->out);
    }
    (void)fputc('\n', s->out);
}

static enum status read_header(void *context, const struct csv *csv, struct err *err)
{
    struct steps *s = context;
    for (size_t c = 0; c < s->column_count; c++) {
        const enum status st = csv_require(csv, s->columns[c].name, &s->columns[c].column, err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    return STATUS_OK;
}

/* Reads a value; "" and "-" mean none. */
static enum status read_value(const struct csv *csv, struct column *c, struct err *err)
{
    const char *text = csv_text(csv, c->column);
    c->there = text[0] != '\0' && strcmp(text, "-") != 0;
    c->value = 0.0;
    if (!c->there) {
        return STATUS_OK;
    }
    if (c->type != EXPRESSION_TRUTH) {
        return csv_number(csv, c->column, &c->value, err);
    }
    if (strcmp(text, "1") == 0 || strcmp(text, "true") == 0) {
        c->value = 1.0;
    } else if (strcmp(text, "0") != 0 && strcmp(text, "false") != 0) {
        return csv_error(csv, c->column, err, FAULT_BOOLEAN_EXPECTED,
                         "this is a truth: 0, 1, true, false or nothing");
    }
    return STATUS_OK;
}

static enum status read_row(void *context, const struct csv *csv, struct err *err)
{
    struct steps *s = context;
    for (size_t c = 0; c < s->column_count; c++) {
        const enum status st = read_value(csv, &s->columns[c], err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    run_cycle(s);
    return s->ended || s->cycle >= s->options->cycles ? STATUS_E_STALE : STATUS_OK;
}

static int run_file(struct steps *s)
{
    struct err err = {0};
    const struct csv_source source = {.path = s->options->inputs};
    const struct csv_lines lines = {.header = read_header, .row = read_row, .context = s};
    const enum status st = csv_file_read(&source, &lines, NULL, &err);
    if (st != STATUS_OK && st != STATUS_E_STALE) {
        csv_file_complain(&err);
        return EXIT_FAILED;
    }
    return EXIT_FINE;
}

static int run_alone(struct steps *s)
{
    if (s->column_count > 0) {
        (void)fprintf(stderr, "tandem: machines run: no --inputs: a CSV file with");
        for (size_t c = 0; c < s->column_count; c++) {
            (void)fprintf(stderr, "%s%s", c > 0 ? ", " : " ", s->columns[c].name);
        }
        (void)fprintf(stderr, " was expected, a row a cycle\n");
        return EXIT_USAGE;
    }
    while (!s->ended && s->cycle < s->options->cycles) {
        run_cycle(s);
    }
    return EXIT_FINE;
}

/* ---- what was seen ------------------------------------------------------------------- */

static void report_coverage(const struct steps *s, size_t i, FILE *report)
{
    const struct machine *m = s->runs[i].machine;
    const struct efsm_table *table = &m->table;
    size_t arcs = 0;
    size_t states = 0;
    for (size_t k = 0; k < table->arc_count; k++) {
        arcs += s->arc_counts[i][k] > 0;
    }
    for (size_t k = 0; k < table->state_count; k++) {
        states += s->seen[i][k];
    }
    (void)fprintf(report, "%s: %" PRId64 " cycles, %zu of %zu arcs taken, %zu of %zu states\n",
                  table->name, s->cycle, arcs, table->arc_count, states, table->state_count);
    for (size_t k = 0; k < table->arc_count; k++) {
        const struct efsm_arc *arc = &table->arcs[k];
        if (s->arc_counts[i][k] == 0) {
            (void)fprintf(report, "  never: %zu %s -> %s: %s\n", k,
                          efsm_state_name(table, arc->from), efsm_state_name(table, arc->to),
                          arc->label);
        }
    }
    for (size_t k = 0; k < table->state_count; k++) {
        if (!s->seen[i][k]) {
            (void)fprintf(report, "  never in %s\n", table->states[k].name);
        }
    }
}

static void report_faults(const struct steps *s)
{
    char words[512];
    for (size_t i = 0; i < s->count; i++) {
        efsm_describe_fault(&s->runs[i].machine->table, &s->runs[i].m, words, sizeof words);
        if (words[0]) {
            complain("%s", words);
        }
    }
}

int steps_run(const struct machine *const *machines, size_t count,
              const struct steps_options *options, FILE *out, FILE *report)
{
    struct steps *s = calloc(1, sizeof *s);
    if (!s) {
        return complain_exit(EXIT_FAILED, "out of memory");
    }
    s->options = options;
    s->out = out;
    s->count = count;
    connect_machines(s, machines);
    if (!s->unfit && (options->inputs || s->column_count == 0)) {
        write_header(s);
    }
    int result = s->unfit ? EXIT_FAILED : options->inputs ? run_file(s) : run_alone(s);
    for (size_t i = 0; report && result == EXIT_FINE && i < count; i++) {
        report_coverage(s, i, report);
    }
    if (report && s->faulty) {
        report_faults(s);
        result = EXIT_FAILED;
    }
    free(s);
    return result;
}
