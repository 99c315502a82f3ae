#include "service/tool/lab_argument.h"

#include <stdio.h>

#include "config/options/option_file.h"
#include "service/tool/commands.h"

bool lab_argument_load(const char *command, const char *path, struct lab_file *lab)
{
    struct err_list errors = {0};
    if (!path) {
        return complain("%s: the lab file is missing, write '-c LAB.yaml'", command);
    }
    if (lab_file_load(path, lab, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return false;
    }
    if (lab->teams.warnings) {
        err_list_print(lab->teams.warnings, stderr);
    }
    return true;
}
