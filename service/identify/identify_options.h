/* service/identify/identify_options.h - the table of all that an identification can be asked,
 * one row each.
 *
 * From it come the options of `tandem identify` and their help, the query parameters of POST
 * /api/v1/identify and their limits, and which of them are for which sort of model.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_OPTIONS_H
#define SERVICE_IDENTIFY_IDENTIFY_OPTIONS_H

#include "service/cli/arguments.h"
#include "service/identify/identify_request.h"

struct identify_option {
    struct argument argument; /* of the command line, its value yet unset; no name: not there */
    const char *query;        /* name over HTTP; NULL: not there */
    size_t longest;           /* characters of a text over HTTP */
    unsigned data;            /* bits 1 << enum model_data: for these */
    size_t at;                /* of its value in struct identify_request */
};

enum { IDENTIFY_OPTION_COUNT = 16 };

extern const struct identify_option identify_options[IDENTIFY_OPTION_COUNT];

/* The options of the command line, which put their values into the request; their count. */
size_t identify_options_arguments(struct identify_request *request,
                                  struct argument rows[IDENTIFY_OPTION_COUNT]);

/* The place of an option's value in a request. */
void *identify_option_value(const struct identify_option *option,
                            struct identify_request *request);

/* Whether something else is asked than if nothing had been said. */
bool identify_option_given(const struct identify_option *option,
                           const struct identify_request *request);

#endif
