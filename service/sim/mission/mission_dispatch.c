#include "service/sim/mission/mission_dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"

enum mission_file_kind mission_file_kind_of(const char *path)
{
    const char *tried = NULL;
    size_t bytes = 0;
    char word[sizeof "vessel"] = "";
    char *text = text_file_read(path, TREE_BYTES_MAX, &bytes, &tried);
    struct tree tree = {0};
    struct err_list errors = {0};
    if (text && tree_parse(text, bytes, path, &tree, &errors) == STATUS_OK) {
        (void)snprintf(word, sizeof word, "%s",
                       tree_scalar(&tree, tree_child(&tree, TREE_ROOT, "kind")));
    }
    tree_finish(&tree);
    free(text);
    return strcmp(word, mission_file_course.name) == 0 ? MISSION_FILE_VESSEL
           : strcmp(word, "arm") == 0                  ? MISSION_FILE_ARM
                                                       : MISSION_FILE_WHEELS;
}

static int run_files(const struct mission_file_row *row, const struct mission_arguments *a,
                     void *run, struct lab_file *lab)
{
    struct err_list errors = {0};
    const char *pair = NULL;
    const bool has_lab = a->plan || lab_argument_load("mission", a->lab_path, lab);
    const bool read = option_file_load(row->file, a->mission_path, run, &errors) == STATUS_OK;
    err_list_print(&errors, stderr);
    if (!has_lab || !read) {
        return EXIT_USAGE;
    }
    if (a->plan) {
        return row->print_plan(run, a) ? EXIT_FINE : EXIT_FAILED;
    }
    if (!mission_choose_pair(lab, a->lab_path, a->pair, row->pair(run), row->needs_link,
                             &pair)) {
        return EXIT_USAGE;
    }
    return row->carry_out(run, a, lab, pair) ? EXIT_FINE : EXIT_FAILED;
}

int mission_file_run(const struct mission_file_row *row, const struct mission_arguments *a)
{
    struct lab_file lab = {0};
    void *run = calloc(1, row->bytes);
    if (!run) {
        complain("mission: not enough memory");
        return EXIT_FAILED;
    }
    const int exit_status = run_files(row, a, run, &lab);
    lab_file_free(&lab);
    free(run);
    return exit_status;
}
