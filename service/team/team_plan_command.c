/* service/team/team_plan_command.c - tandem team plan: an order of a team's tasks with start
 * times, so that nobody waits. It only shows. */
#include <stdio.h>
#include <stdlib.h>

#include "service/team/team_command.h"
#include "service/team/team_inputs.h"
#include "service/team/team_plan_study.h"
#include "service/tool/commands.h"
#include "service/tool/document_page.h"

static int show_plan(struct team_inputs *in, const struct team_plan_request *request, bool json)
{
    struct team_plan_study *study = NULL;
    struct err_list errors = {0};
    if (team_plan_study_make(&in->settings, in->tp, request, &study, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_FAILED;
    }
    const bool shown = document_page_show(json, team_plan_study_write, study);
    free(study);
    return shown ? EXIT_FINE : EXIT_FAILED;
}

static bool load_plan(const struct team_inputs_options *options, const char *path,
                      struct team_inputs *in)
{
    struct err err = {0};
    return team_inputs_load(options, path, in) &&
           (team_plan_study_check(&in->settings.params, path, &err) == STATUS_OK ||
            complain_err(&err));
}

int team_plan_command(int argc, char **argv)
{
    struct team_inputs_options options;
    int draws = TEAM_PLAN_DRAWS;
    int seed = 1;
    double spread = 20.0;
    bool json = false;
    team_inputs_options_init(&options, "team plan");
    /* clang-format off */
    const struct argument rows[] = {
        {"spread", 0, ARGUMENT_REAL, &spread, 0, 99, "PERCENT",
         "durations of a draw lie within this of the predicted (20)"},
        {"draws", 0, ARGUMENT_INTEGER, &draws, 0, 1000000, "N", "plays of the plan with other durations (200)"},
        {"seed", 0, ARGUMENT_INTEGER, &seed, 0, 2147483647, "N", "the same seed gives the same figures (1)"},
        TEAM_INPUTS_ARGUMENTS(&options),
        {"json", 0, ARGUMENT_FLAG, &json, 0, 0, NULL, "one JSON document"},
    };
    const struct arguments arguments = {
        .command = "team plan",
        .purpose = "an order and start times of a team's tasks, so that nobody waits",
        .operands = "FILE",
        .description =
            "  Gives each task under 'plan' of the team in FILE a start time, by the predicted\n"
            "  durations: by list scheduling, with 8 tasks or fewer the shortest plan. Its length\n"
            "  stands next to a lower bound. Then come tasks that need one place at the same time, and\n"
            "  how often somebody waits when durations differ. It changes nothing\n"
            "  (docs/model/teams.md).\n",
        .examples = "  tandem team plan config/examples/class4_plan.yaml\n"
                    "  tandem team plan lab.yaml --from journal/ --set R1.speed=+10%\n",
        .exit_status = "a task has no duration, or does not end",
        ARGUMENT_ROWS(rows)};
    /* clang-format on */
    int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    const struct team_plan_request request = {
        .draws = (size_t)draws, .spread = spread / 100.0, .seed = (uint64_t)seed};
    struct team_inputs in = {0};
    exit_status =
        load_plan(&options, argv[1], &in) ? show_plan(&in, &request, json) : EXIT_USAGE;
    team_inputs_free(&in);
    return exit_status;
}
