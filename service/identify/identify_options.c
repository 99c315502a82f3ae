#include "service/identify/identify_options.h"

#include <stddef.h>

#include "twin/models/model.h"

enum {
    MOTION = 1 << MODEL_OF_MOTION,
    MOVES = 1 << MODEL_OF_MOVES,
    WHEELS = 1 << MODEL_OF_WHEELS,
    ALL = MOTION | MOVES | WHEELS
};

enum { WORD = 31, LIST = 1023, NAME = 99 };

#define AT(member) offsetof(struct identify_request, member)

/* clang-format off */
const struct identify_option identify_options[IDENTIFY_OPTION_COUNT] = {
    /* name, letter, kind, -, min, max, placeholder, help; query, longest, data, at */
    {{"model", 'm', ARGUMENT_TEXT, NULL, 0, 0, "NAME",
     "what to fit, see above (needed)"}, "model", WORD, ALL, AT(model)},
    {{"method", 0, ARGUMENT_TEXT, NULL, 0, 0, "METHOD",
     "how to fit; each model has its own (auto)"}, "method", WORD, MOTION | MOVES, AT(method)},
    {{"columns", 0, ARGUMENT_TEXT, NULL, 0, 0, "ROLE=NAME,...",
     "columns to read, where they are not called as the roles"}, "columns", LIST, ALL, AT(column_words)},
    {{"side", 0, ARGUMENT_TEXT, NULL, 0, 0, "real|virtual",
     "whose laps or telemetry to take where there are both (real)"}, "side", WORD, ALL, AT(side)},
    {{"journal", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "files are journals; else seen from what they begin with"}, NULL, 0, MOTION, AT(journal)},
    {{"pair", 0, ARGUMENT_TEXT, NULL, 0, 0, "ID",
     "whose telemetry, where a journal has several"}, "pair", WORD, MOTION, AT(pair)},
    {{"validate", 0, ARGUMENT_LIST, NULL, 0, 0, "FILE",
     "also predict this recording, which takes no part in the fit; may be given several times"},
     NULL, 0, ALL, AT(held_out)},
    {{"biases", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "also fit a constant effort per axis (motion)"}, "biases", 0, MOTION, AT(biases)},
    {{"delay-max", 0, ARGUMENT_REAL, NULL, 0, 10, "S",
     "longest delay from effort to velocity to look for, up to 10, 0 for none (by the recording; motion)"},
     "delay_max_s", 0, MOTION, AT(delay_max_s)},
    {{"robust", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "look past samples that lie far from what the others say, and count them (motion)"},
     "robust", 0, MOTION, AT(robust)},
    {{"ridge", 0, ARGUMENT_REAL, NULL, 0, 1e6, "SHARE",
     "draw estimates of linear methods to zero, by this share of each column's square (0; motion)"},
     "ridge", 0, MOTION, AT(ridge)},
    {{"heading-m", 0, ARGUMENT_REAL, NULL, 0, 100, "M",
     "weigh a radian of heading like so many metres of position; 0: by the spread of what is left (odometry)"},
     "heading_m", 0, WHEELS, AT(heading_m)},
    {{"current", 0, ARGUMENT_TEXT, NULL, 0, 0, "SET",
     "compare with the parameters in use: NAME=VALUE,... by name or symbol, delay_s too, or a JSON file with "
     "\"values\" as --json prints (motion)"}, "current", LIST, MOTION, AT(current)},
    {{"plot", 0, ARGUMENT_TEXT, NULL, 0, 0, "FILE.svg",
     "draw measured against simulated, and what is left, as SVG; needs gnuplot (motion)"},
     NULL, 0, MOTION, AT(plot)},
    {{"json", 0, ARGUMENT_FLAG, NULL, 0, 0, NULL,
     "print the result as one JSON document and nothing else"}, NULL, 0, ALL, AT(json)},
    {{NULL, 0, ARGUMENT_TEXT, NULL, 0, 0, NULL, "what the recording is called"}, "name", NAME, ALL, AT(name)},
};
/* clang-format on */

void *identify_option_value(const struct identify_option *option,
                            struct identify_request *request)
{
    return (char *)request + option->at;
}

size_t identify_options_arguments(struct identify_request *request,
                                  struct argument rows[IDENTIFY_OPTION_COUNT])
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT(identify_options); i++) {
        if (identify_options[i].argument.name) {
            rows[count] = identify_options[i].argument;
            rows[count++].value = identify_option_value(&identify_options[i], request);
        }
    }
    return count;
}

bool identify_option_given(const struct identify_option *option,
                           const struct identify_request *request)
{
    const struct identify_request nothing = identify_request_defaults();
    const void *value = (const char *)request + option->at;
    const void *usual = (const char *)&nothing + option->at;
    switch (option->argument.kind) {
    case ARGUMENT_TEXT:
        return *(const char *const *)value != NULL;
    case ARGUMENT_FLAG:
        return *(const bool *)value;
    case ARGUMENT_LIST:
        return ((const struct argument_list *)value)->count > 0;
    case ARGUMENT_REAL:
    case ARGUMENT_INTEGER:
        break;
    }
    return *(const double *)value > *(const double *)usual;
}
