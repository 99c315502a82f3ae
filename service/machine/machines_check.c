/* service/machine/machines_check.c - `tandem machines check`: reports faults of machine files
 * with their places. */
#include <stdio.h>
#include <string.h>

#include "base/text/names.h"
#include "config/machine/machine_file.h"
#include "service/machine/machines_parts.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"

struct check {
    bool json, strict, words;
    size_t errors, warnings;
    struct json_writer w; /* with json */
    char text[4096];
};

static void write_list(struct json_writer *w, const char *file, const char *machine,
                       const struct machine_diagnostics *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct machine_diagnostic *d = &problems->items[i];
        const size_t severity = (size_t)machine_severity_of(d->code);
        JSON_WRITE_OBJECT(w, NULL, JSON("file", file),
                          JSON_IF(machine, JSON("machine", machine)), JSON("code", d->code),
                          JSON("severity", names_text(&machine_severity_names, severity)),
                          d->line > 0 ? JSON("line", d->line) : JSON_NULL("line"),
                          d->column > 0 ? JSON("column", d->column) : JSON_NULL("column"),
                          JSON("place", d->place[0] ? d->place : NULL), JSON("text", d->text));
    }
}

static void write_file(struct json_writer *w, const struct machine_file *file)
{
    write_list(w, file->name, NULL, &file->problems);
    for (size_t i = 0; i < file->count; i++) {
        const struct machine_draft *d = &file->machines[i]->draft;
        write_list(w, file->names[i], d->name, &d->diagnostics);
    }
}

static int check_file(struct check *c, const char *path)
{
    struct machine_file *file = NULL;
    if (machine_file_load(path, c->words, &file) != STATUS_OK) {
        return complain_exit(EXIT_FAILED, "machines check: out of memory");
    }
    c->errors += machine_file_count(file, MACHINE_ERROR);
    c->warnings += machine_file_count(file, MACHINE_WARNING);
    if (c->json) {
        write_file(&c->w, file);
    } else if (machine_file_print_diagnostics(file, stdout) == 0) {
        (void)fprintf(stderr, "%s: fine\n", path);
    }
    machine_file_free(file);
    return EXIT_FINE;
}

static int check_files(struct check *c, char **paths)
{
    int result = EXIT_FINE;
    json_write_start(&c->w, c->text, sizeof c->text, json_file_flush, stdout);
    if (c->json) {
        json_write_object(&c->w, NULL);
        json_write_array(&c->w, "diagnostics");
    }
    for (; *paths && result == EXIT_FINE; paths++) {
        result = check_file(c, *paths);
    }
    if (c->json) {
        json_write_close(&c->w);
        JSON_WRITE(&c->w, JSON("errors", c->errors), JSON("warnings", c->warnings));
        json_write_close(&c->w);
        (void)json_write_end(&c->w);
        (void)puts("");
    }
    return result;
}

static const char description[] =
    "  Each FILE holds a machine, as text or as a drawing, or names others. It is read and\n"
    "  checked, and all faults are reported at once: a code, the place in the file, what is\n"
    "  wrong and what to do. Errors (E-) keep a machine from being run, warnings (W-) and\n"
    "  notes (N-, note) do not. In each state exactly one guard must hold for all inputs;\n"
    "  inputs for which none or several hold are shown. Nothing is printed on standard output\n"
    "  about a machine without faults.\n";

int machines_check(int argc, char **argv)
{
    struct check c = {.json = false};
    const struct argument rows[] = {
        {"words", 0, ARGUMENT_FLAG, &c.words, 0, 0, NULL,
         "words become names: of inputs in labels that are no conditions, and of states"},
        {"strict", 0, ARGUMENT_FLAG, &c.strict, 0, 0, NULL, "exit status 1 on warnings, too"},
        {"json", 0, ARGUMENT_FLAG, &c.json, 0, 0, NULL, "one JSON document"},
    };
    const struct arguments arguments = {
        .command = "machines check",
        .purpose = "check machine files and report faults with their places",
        .operands = "FILE...",
        .description = description,
        .examples = "  tandem machines check counter.yaml\n"
                    "  tandem machines check --words sketch.drawio\n",
        .exit_status = "there are errors, or with --strict warnings",
        ARGUMENT_ROWS(rows)};
    int result = arguments_parse(&arguments, argc, argv);
    if (result != ARGUMENTS_PARSED) {
        return result;
    }
    result = check_files(&c, argv + 1);
    const bool refused = c.errors > 0 || (c.strict && c.warnings > 0);
    return result == EXIT_FINE && refused ? EXIT_FAILED : result;
}
