/* tandem identify - fits a model to recorded data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/commands.h"
#include "service/csv_file.h"
#include "service/identify.h"
#include "twin/base/status.h"

static const char help[] =
    "usage: tandem identify --model NAME [OPTION]... FILE.csv...\n"
    "\n"
    "Fits a model to recorded data and says how far the numbers may be trusted: standard\n"
    "errors, 95 % intervals, which terms the data determine and which recording is missing.\n"
    "Several files are fitted together; '-' is standard input.\n"
    "\n"
    "  --model NAME            what to fit, see below\n"
    "  --method METHOD         how to fit; each model has its own\n"
    "  --columns ROLE=NAME,... which columns to read, where they are not called as the roles\n"
    "  --side real|virtual     whose laps to take where a file holds both (default real)\n"
    "  --validate FILE.csv     also predict this recording, which takes no part in the fit; "
    "may\n"
    "                          be given several times where a model says so\n"
    "  --biases                also fit a constant effort per axis (dynamics)\n"
    "  --json                  print the result as one JSON document and nothing else\n"
    "\n"
    "Files are CSV with a header line, SI units, decimal points. A unit in brackets is part "
    "of\n"
    "a column's name: lap1[s] is lap1_s. Lines that begin with '#' are remarks.\n";

static const char help_end[] =
    "\n"
    "exit status: 0 there is a result (read its verdict), 1 the data cannot be read, 2 wrong\n"
    "usage\n";

static void print_help(void)
{
    (void)fputs(help, stdout);
    for (size_t i = 0; i < identify_model_count; i++) {
        (void)printf("\nmodel %s\n%s", identify_models[i]->name, identify_models[i]->help);
    }
    (void)fputs(help_end, stdout);
}

static int complain(const char *what, const char *subject, const char *right)
{
    (void)fprintf(stderr, "tandem: identify: %s '%s', %s\n", what, subject, right);
    return EXIT_USAGE;
}

/* An option and where its value goes. */
struct option {
    const char *name;
    const char **value;
};

static int answer(enum status st, const struct err *err)
{
    if (st != STATUS_OK) {
        csv_file_complain(err);
        return st == STATUS_E_ARG ? EXIT_USAGE : EXIT_FAILED;
    }
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
}

static int run_model(const char *name, const struct identify_request *request)
{
    const struct identify_model *model = name ? identify_find_model(name) : NULL;
    struct err err = {0};
    if (!name) {
        (void)fputs("tandem: identify: which model? --model NAME, see "
                    "'tandem identify --help'\n",
                    stderr);
        return EXIT_USAGE;
    }
    if (request->file_count == 0) {
        (void)fputs("tandem: identify: no file to read, see 'tandem identify --help'\n",
                    stderr);
        return EXIT_USAGE;
    }
    if (!model) {
        return complain("unknown model", name, "'tandem identify --help' lists them");
    }
    enum status st = identify_check(model, request, &err);
    if (st == STATUS_OK) {
        st = model->run(model, request, stdout, &err);
    }
    return answer(st, &err);
}

static bool hold_out(const char *file, struct identify_request *request)
{
    if (request->validate_count == IDENTIFY_HELD_OUT_MAX) {
        (void)complain("too many recordings to hold out at", file, "16 are the limit");
        return false;
    }
    request->validate[request->validate_count++].path = file;
    return true;
}

/* Options without a value. */
static bool take_flag(const char *word, struct identify_request *request)
{
    if (strcmp(word, "--json") == 0) {
        request->json = true;
        return true;
    }
    if (strcmp(word, "--biases") == 0) {
        request->biases = true;
        return true;
    }
    return false;
}

static size_t find_option(const struct option *options, size_t n, const char *word)
{
    size_t k = 0;
    while (k < n && strcmp(options[k].name, word) != 0) {
        k++;
    }
    return k;
}

/* Words to options; false when the answer is given already, with the exit status. */
static bool take_words(int argc, char **argv, const struct option *options, size_t count,
                       struct identify_input *files, struct identify_request *request,
                       int *code)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        const size_t k = find_option(options, count, word);
        *code = EXIT_USAGE;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help();
            *code = fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
            return false;
        }
        if (k < count) {
            if (++i == argc) {
                (void)complain("no value after", word, "see 'tandem identify --help'");
                return false;
            }
            *options[k].value = argv[i];
            if (strcmp(word, "--validate") == 0 && !hold_out(argv[i], request)) {
                return false;
            }
        } else if (word[0] != '-' || word[1] == '\0') {
            files[request->file_count++].path = argv[i];
        } else if (!take_flag(word, request)) {
            (void)complain("unknown option", word, "see 'tandem identify --help'");
            return false;
        }
    }
    return true;
}

static int identify(int argc, char **argv, struct identify_input *files)
{
    struct identify_request request = {.side = "real", .files = files};
    const char *model = NULL;
    const char *columns = NULL;
    const char *held_out = NULL;
    const struct option options[] = {
        {"--model", &model},       {"--method", &request.method}, {"--columns", &columns},
        {"--side", &request.side}, {"--validate", &held_out},
    };
    struct err err = {0};
    int code = EXIT_USAGE;
    if (!take_words(argc, argv, options, COUNT(options), files, &request, &code)) {
        return code;
    }
    if (columns && identify_take_columns(columns, &request, &err) != STATUS_OK) {
        csv_file_complain(&err);
        return EXIT_USAGE;
    }
    return run_model(model, &request);
}

int command_identify(int argc, char **argv)
{
    struct identify_input *files = calloc((size_t)argc + 1, sizeof *files);
    if (!files) {
        (void)fputs("tandem: identify: no memory\n", stderr);
        return EXIT_FAILED;
    }
    const int code = identify(argc, argv, files);
    free(files);
    return code;
}
