#include <stdio.h>

#include <MQTTAsync.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <microhttpd.h>
#include <sqlite3.h>
#include <yaml.h>

#include "service/tool/arguments.h"
#include "service/tool/commands.h"
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

int command_version(int argc, char **argv)
{
    const struct arguments arguments = {
        .command = "version",
        .operands = "",
        .description =
            "  Prints the version of the program, and of the libraries it runs with.\n",
        .exit_status = "never"};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    (void)printf("tandem %s\n", TANDEM_VERSION);
    (void)printf("paho %s, libmicrohttpd %s, gsl %s, jansson %s, sqlite %s, libyaml %s\n",
                 paho_version(), MHD_get_version(), gsl_version, JANSSON_VERSION,
                 sqlite3_libversion(), yaml_get_version_string());
    return EXIT_FINE;
}
