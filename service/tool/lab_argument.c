#include "service/tool/lab_argument.h"

#include <stdio.h>

#include "config/model/model_file.h"
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

bool model_argument_load(const char *command, const char **word)
{
    const struct model_row *row = NULL;
    struct err_list errors = {0};
    if (!model_file_is_path(*word)) {
        return true;
    }
    if (model_file_register(*word, &row, &errors) != STATUS_OK) {
        complain("%s: %s is no model:", command, *word);
        err_list_print(&errors, stderr);
        return false;
    }
    *word = row->name;
    return true;
}

const char *model_argument_name(size_t i)
{
    return i < model_row_count ? model_rows[i]->name : NULL;
}
