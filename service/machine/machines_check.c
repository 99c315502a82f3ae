/* service/machine/machines_check.c - `tandem machines check`: reports faults of machine files
 * with their places. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text/names.h"
#include "config/machine/machine_file.h"
#include "service/machine/machines_parts.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"

struct check {
    bool json, strict, words;
    size_t errors, warnings;
    json_t *list; /* list of diagnostics; NULL: print them as lines */
};

/* null means "not given". */
static json_t *number_or_null(unsigned number)
{
    return number > 0 ? json_integer((json_int_t)number) : json_null();
}

static int add_diagnostic(struct check *c, const char *file, const char *machine,
                          const struct machine_diagnostic *d)
{
    const char *severity =
        names_text(&machine_severity_names, (size_t)machine_severity_of(d->code));
    return json_array_append_new(
        c->list,
        json_pack("{s:s, s:s*, s:s, s:s, s:o, s:o, s:o, s:s}", "file", file, "machine", machine,
                  "code", d->code, "severity", severity, "line", number_or_null(d->line),
                  "column", number_or_null(d->column), "place",
                  d->place[0] ? json_string(d->place) : json_null(), "text", d->text));
}

static int add_list(struct check *c, const char *file, const char *machine,
                    const struct machine_diagnostics *problems)
{
    int failed = 0;
    for (size_t i = 0; i < problems->count; i++) {
        failed |= add_diagnostic(c, file, machine, &problems->items[i]);
    }
    return failed;
}

static int add_file(struct check *c, const struct machine_file *file)
{
    int failed = add_list(c, file->name, NULL, &file->problems);
    for (size_t i = 0; i < file->count; i++) {
        const struct machine_draft *d = &file->machines[i]->draft;
        failed |= add_list(c, file->names[i], d->name, &d->diagnostics);
    }
    return failed;
}

static int check_file(struct check *c, const char *path)
{
    struct machine_file *file = NULL;
    if (machine_file_load(path, c->words, &file) != STATUS_OK) {
        (void)fputs("tandem: machines check: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    c->errors += machine_file_count(file, MACHINE_ERROR);
    c->warnings += machine_file_count(file, MACHINE_WARNING);
    int result = EXIT_FINE;
    if (c->list) {
        result = add_file(c, file) == 0 ? EXIT_FINE : EXIT_FAILED;
    } else if (machine_file_print_diagnostics(file, stdout) == 0) {
        (void)fprintf(stderr, "%s: fine\n", path);
    }
    machine_file_free(file);
    return result;
}

static int print_json(const struct check *c)
{
    json_t *document = json_pack("{s:I, s:I, s:O}", "errors", (json_int_t)c->errors, "warnings",
                                 (json_int_t)c->warnings, "diagnostics", c->list);
    const bool fine =
        document && json_dumpf(document, stdout, JSON_INDENT(1) | JSON_ENSURE_ASCII) == 0;
    (void)puts("");
    json_decref(document);
    return fine ? EXIT_FINE : EXIT_FAILED;
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
        .rows = rows,
        .row_count = COUNT(rows)};
    int result = arguments_parse(&arguments, argc, argv);
    if (result != ARGUMENTS_PARSED) {
        return result;
    }
    c.list = c.json ? json_array() : NULL;
    result = EXIT_FINE;
    for (char **path = argv + 1; *path && result == EXIT_FINE; path++) {
        result = check_file(&c, *path);
    }
    if (result == EXIT_FINE && c.json) {
        result = print_json(&c);
    }
    json_decref(c.list);
    if (fflush(stdout) != 0 && result == EXIT_FINE) {
        perror("tandem machines check: standard output");
        result = EXIT_FAILED;
    }
    const bool refused = c.errors > 0 || (c.strict && c.warnings > 0);
    return result == EXIT_FINE && refused ? EXIT_FAILED : result;
}
