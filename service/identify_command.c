/* tandem identify - fits a model to recorded data. */
#include <stdio.h>
#include <string.h>

#include "service/commands.h"
#include "service/identify.h"
#include "twin/base/status.h"

struct model {
    const char *name;
    int (*run)(const struct identify_request *request);
    const char *const *roles;
    const char *help;
};

static const struct model models[] = {
    {"travel_time", identify_travel_time, identify_travel_time_roles,
     identify_travel_time_help},
    {"usv3", identify_usv3, identify_usv3_roles, identify_usv3_help},
    {"diffdrive", identify_diffdrive, identify_diffdrive_roles, identify_diffdrive_help},
    {"first_order", identify_first_order, identify_first_order_roles,
     identify_first_order_help},
    {"first_order_deadband", identify_first_order_deadband, identify_first_order_roles,
     identify_first_order_deadband_help},
};

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
    for (size_t i = 0; i < COUNT(models); i++) {
        (void)printf("\nmodel %s\n%s", models[i].name, models[i].help);
    }
    (void)fputs(help_end, stdout);
}

const char *identify_column(const struct identify_request *request, const char *role)
{
    for (size_t i = 0; i < request->column_count; i++) {
        if (strcmp(request->columns[i].role, role) == 0) {
            return request->columns[i].column;
        }
    }
    return NULL;
}

static int complain(const char *what, const char *subject, const char *right)
{
    (void)fprintf(stderr, "tandem: identify: %s '%s', %s\n", what, subject, right);
    return EXIT_USAGE;
}

/* "a=b,c=d" into request->columns; false with a message on anything else. */
static bool take_columns(const char *text, struct identify_request *request)
{
    while (*text) {
        const size_t n = strcspn(text, ",");
        const char *equals = memchr(text, '=', n);
        if (request->column_count == IDENTIFY_COLUMNS_MAX) {
            (void)complain("too many columns at", text, "32 are the limit");
            return false;
        }
        struct identify_column *column = &request->columns[request->column_count];
        const size_t role = equals ? (size_t)(equals - text) : 0;
        if (role == 0 || role >= sizeof column->role || n - role - 1 == 0 ||
            n - role - 1 >= sizeof column->column) {
            (void)complain("--columns cannot read", text, "write role=name,role=name");
            return false;
        }
        memcpy(column->role, text, role);
        column->role[role] = '\0';
        memcpy(column->column, equals + 1, n - role - 1);
        column->column[n - role - 1] = '\0';
        request->column_count++;
        text += n + (text[n] == ',');
    }
    return true;
}

/* An option and where its value goes. */
struct option {
    const char *name;
    const char **value;
};

static bool check_roles(const struct model *model, const struct identify_request *request)
{
    for (size_t i = 0; i < request->column_count; i++) {
        bool known = false;
        for (const char *const *role = model->roles; *role; role++) {
            known = known || strcmp(*role, request->columns[i].role) == 0;
        }
        if (!known) {
            (void)complain("unknown role", request->columns[i].role,
                           "'tandem identify --help' lists them");
            return false;
        }
    }
    return true;
}

static int run_model(const char *name, const struct identify_request *request)
{
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
    if (strcmp(request->side, "real") != 0 && strcmp(request->side, "virtual") != 0) {
        return complain("unknown side", request->side, "real and virtual are known");
    }
    for (size_t i = 0; i < COUNT(models); i++) {
        if (strcmp(models[i].name, name) == 0) {
            return check_roles(&models[i], request) ? models[i].run(request) : EXIT_USAGE;
        }
    }
    return complain("unknown model", name, "'tandem identify --help' lists them");
}

static bool hold_out(const char *file, struct identify_request *request)
{
    if (request->validate_count == IDENTIFY_HELD_OUT_MAX) {
        (void)complain("too many recordings to hold out at", file, "16 are the limit");
        return false;
    }
    request->validate[request->validate_count++] = file;
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

int command_identify(int argc, char **argv)
{
    struct identify_request request = {.side = "real"};
    const char *model = NULL;
    const char *columns = NULL;
    const char *held_out = NULL;
    const struct option options[] = {
        {"--model", &model},       {"--method", &request.method}, {"--columns", &columns},
        {"--side", &request.side}, {"--validate", &held_out},
    };
    /* File names are moved to the front of argv, which is ours to write. */
    request.files = argv;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        const size_t k = find_option(options, COUNT(options), word);
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help();
            return fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
        }
        if (k < COUNT(options)) {
            if (++i == argc) {
                return complain("no value after", word, "see 'tandem identify --help'");
            }
            *options[k].value = argv[i];
            if (options[k].value == &held_out && !hold_out(held_out, &request)) {
                return EXIT_USAGE;
            }
        } else if (word[0] != '-' || word[1] == '\0') {
            argv[request.file_count++] = argv[i];
        } else if (!take_flag(word, &request)) {
            return complain("unknown option", word, "see 'tandem identify --help'");
        }
    }
    return columns && !take_columns(columns, &request) ? EXIT_USAGE
                                                       : run_model(model, &request);
}
