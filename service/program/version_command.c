/* service/program/version_command.c - `tandem version`: the versions of the program and its
 * libraries. */
#include <stdio.h>

#include <MQTTAsync.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <microhttpd.h>
#include <sqlite3.h>
#include <yaml.h>

#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/version.h"

static const char *paho_version(void)
{
    for (const MQTTAsync_nameValue *row = MQTTAsync_getVersionInfo(); row && row->name; row++) {
        if (row->value && row->value[0] >= '0' && row->value[0] <= '9') {
            return row->value;
        }
    }
    return "?";
}

struct version {
    const char *name, *text;
};

static void write_members(const void *versions, struct json_writer *w)
{
    for (const struct version *v = versions; v->name; v++) {
        json_write_text(w, v->name, v->text);
    }
}

int command_version(int argc, char **argv)
{
    bool json = false;
    const struct argument rows[] = {
        {"json", 0, ARGUMENT_FLAG, &json, 0, 0, NULL, "one JSON document"}};
    const struct arguments arguments = {
        .command = "version",
        .operands = "",
        .description =
            "  Prints the version of the program, and of the libraries it runs with.\n",
        .exit_status = "never",
        ARGUMENT_ROWS(rows)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    const struct version versions[] = {{"tandem", TANDEM_VERSION},
                                       {"paho", paho_version()},
                                       {"libmicrohttpd", MHD_get_version()},
                                       {"gsl", gsl_version},
                                       {"jansson", JANSSON_VERSION},
                                       {"sqlite", sqlite3_libversion()},
                                       {"libyaml", yaml_get_version_string()},
                                       {NULL, NULL}};
    if (json) {
        json_file_print(stdout, write_members, versions);
        return EXIT_FINE;
    }
    for (const struct version *v = versions; v->name; v++) {
        (void)printf("%s %s%s", v->name, v->text, v == versions || !v[1].name ? "\n" : ", ");
    }
    return EXIT_FINE;
}
