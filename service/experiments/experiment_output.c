#include "service/experiments/experiment_output.h"

#include <math.h>

#include "service/cli/json_file.h"

void experiment_output_json(const struct experiment_output *output, const void *study,
                            FILE *out)
{
    json_file_print(out, output->members, study);
}

enum status experiment_output_write(const struct experiment_output *output, const void *study,
                                    const struct experiment_places *to, struct err *err)
{
    enum status status = STATUS_OK;
    if (to->json) {
        experiment_output_json(output, study, stdout);
    } else {
        output->page(study, stdout);
    }
    if (fflush(stdout) != 0) {
        return err_set(err, STATUS_E_IO, "standard output", 0, 0, "cannot be written");
    }
    if (to->csv_folder) {
        status =
            csv_tables_write(to->csv_folder, output->tables, output->table_count, study, err);
    }
    if (status == STATUS_OK && to->plot_path) {
        status = gnuplot_draw(output->script, study, to->plot_path, err);
    }
    return status;
}

const char *experiment_cell(double value, int digits, char style,
                            char cell[EXPERIMENT_CELL_BYTES])
{
    if (!isfinite(value)) {
        (void)snprintf(cell, EXPERIMENT_CELL_BYTES, "-");
    } else if (style == 'g') {
        (void)snprintf(cell, EXPERIMENT_CELL_BYTES, "%.*g", digits, value);
    } else {
        (void)snprintf(cell, EXPERIMENT_CELL_BYTES, "%.*f", digits, value);
    }
    return cell;
}

void experiment_title(const char *name, const char *purpose, FILE *out)
{
    (void)fprintf(out, "%s%s%s\n", name, purpose[0] ? ": " : "", purpose);
}
