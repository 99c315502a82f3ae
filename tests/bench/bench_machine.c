/* Measures machines from files: a guard, a cycle of the shipped ones on random inputs, and the
 * share of a core that 200 of them use at 40 Hz. Prints JSON lines. */
#include "config/machine/machine_file.h"
#include "tests/bench/bench.h"
#include "twin/machine/machine_run.h"

enum { BATCHES = 31, CYCLES = 5000 };

/* Inputs that change, truths and numbers alike. */
static void draw_inputs(struct machine_run *run, uint64_t *state)
{
    for (size_t i = 0; i < run->machine->input_count; i++) {
        run->in.value[i] = bench_draw(state) % 4 == 0 ? 1.0 : 0.0;
    }
}

static double time_cycles(struct machine_run *run)
{
    const struct machine *machine = run->machine;
    double batch[BATCHES];
    uint64_t state = 3;
    for (size_t b = 0; b < BATCHES; b++) {
        double spent_s = 0.0;
        machine_run_start(run, machine, 0);
        run->in.there = UINT64_MAX;
        for (int64_t k = 0; k < CYCLES; k++) {
            draw_inputs(run, &state);
            const double begun_s = bench_cpu_s();
            for (int64_t i = 0; i < 8; i++) { /* the clock costs more than a cycle */
                const int64_t t_us = (8 * k + i) * 25000;
                machine_run_outputs(run, t_us);
                machine_run_plan(run, t_us);
                machine_run_update(run, t_us);
            }
            spent_s += bench_cpu_s() - begun_s;
            if (!efsm_is_active(&machine->table, &run->m)) {
                machine_run_start(run, machine, 8 * k * 25000);
                run->in.there = UINT64_MAX;
            }
        }
        batch[b] = spent_s / CYCLES / 8 * 1e9;
    }
    return bench_median(batch, BATCHES);
}

static double time_guard(struct machine_run *run)
{
    const struct machine *machine = run->machine;
    double batch[BATCHES];
    uint8_t undefined = EFSM_NO_CELL;
    size_t held = 0;
    size_t arc = 0;
    while (arc + 1 < machine->table.arc_count && !machine->table.arcs[arc].guard) {
        arc++;
    }
    const struct efsm_view view = {.now = &run->m,
                                   .in = &run->in,
                                   .arc = &machine->table.arcs[arc],
                                   .undefined = &undefined};
    for (size_t b = 0; b < BATCHES; b++) {
        const double begun_s = bench_cpu_s();
        for (size_t k = 0; k < 100000; k++) {
            run->in.value[0] = (double)(k & 1U);
            held += machine_guard(&view);
        }
        batch[b] = (bench_cpu_s() - begun_s) / 100000 * 1e9;
    }
    return held > 0 ? bench_median(batch, BATCHES) : 0.0;
}

int main(void)
{
    static const char *const names[] = {"counter", "plans", "drive", "l0main"};
    struct machine_run *run = calloc(1, sizeof *run);
    for (size_t i = 0; run && i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        struct machine_file *file = NULL;
        (void)snprintf(path, sizeof path, "%s/config/machines/%s.yaml", TANDEM_SOURCE_DIR,
                       names[i]);
        if (machine_file_load(path, false, &file) != STATUS_OK ||
            machine_file_count(file, MACHINE_ERROR) > 0) {
            bench_fail(path);
        }
        machine_run_start(run, file->machines[0], 0);
        run->in.there = UINT64_MAX;
        const double guard_ns = time_guard(run);
        const double cycle_ns = time_cycles(run);
        (void)printf("{\"bench\":\"machine\",\"machine\":\"%s\",\"guard_ns\":%.1f,"
                     "\"cycle_ns\":%.1f,\"core_of_200_at_40_hz\":%.5f}\n",
                     names[i], guard_ns, cycle_ns, 200 * 40 * cycle_ns * 1e-9);
        machine_file_free(file);
    }
    free(run);
    return EXIT_SUCCESS;
}
