#include "service/team/team_inputs.h"

#include <stdio.h>
#include <stdlib.h>

#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"

void team_inputs_options_init(struct team_inputs_options *o, const char *command)
{
    *o = (struct team_inputs_options){
        .command = command, .side = "real", .settings = {.room = TEAM_INPUTS_SETTINGS_MAX}};
    o->settings.texts = o->setting;
}

static bool load_team(const struct team_inputs_options *o, const char *path,
                      struct team_inputs *in)
{
    struct err_list errors = {0};
    if (lab_file_load_teams(path, &in->file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return false;
    }
    char names[TEAM_SETTINGS_NAMES_MAX];
    const struct team_params *p = team_settings_choose(&in->file, o->team, names);
    if (!p) {
        return complain("%s: %s%s", path, names[0] ? "--team is one of " : "no team is in it",
                        names);
    }
    const enum status status =
        team_settings_make(p, o->settings.texts, o->settings.count, &in->settings, &errors);
    err_list_print(&errors, stderr);
    if (status != STATUS_OK) {
        return false;
    }
    in->tp = team_settings_predict(&in->settings);
    return in->tp || complain("out of memory");
}

/* Loads the lab of a recording: the one named, or the file with the team if that is a lab
 * file. */
static bool load_lab(const struct team_inputs_options *o, const char *path,
                     struct team_inputs *in, const struct lab_file **lab)
{
    struct err_list ignored = {0};
    *lab = NULL;
    if (o->lab) {
        *lab = &in->lab;
        return lab_argument_load(o->command, o->lab, &in->lab);
    }
    if (lab_file_load(path, &in->lab, &ignored) == STATUS_OK) {
        *lab = &in->lab;
    }
    return true;
}

static bool load_journal(const struct team_inputs_options *o, const char *path,
                         struct team_inputs *in)
{
    const enum side side = (enum side)names_value(&side_names, o->side);
    const struct lab_file *lab = NULL;
    struct err err = {0};
    return load_lab(o, path, in, &lab) &&
           (team_measured_read(in->tp, lab, o->journal, side, &in->measured, &err) ==
                STATUS_OK ||
            complain_err(&err));
}

bool team_inputs_load(const struct team_inputs_options *o, const char *path,
                      struct team_inputs *in)
{
    if (!load_team(o, path, in) || (o->journal && !load_journal(o, path, in))) {
        return false;
    }
    team_settings_apply(&in->settings, in->tp);
    return true;
}

void team_inputs_free(struct team_inputs *in)
{
    free(in->tp);
    team_measured_free(&in->measured);
    team_settings_free(&in->settings);
    lab_file_free(&in->lab);
    team_file_free(&in->file);
}
