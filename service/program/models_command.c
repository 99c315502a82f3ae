/* service/program/models_command.c - `tandem models`: prints models of motion, built in or from
 * files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/model/model_file.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/document_page.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_argument.h"

enum { TEXT_MAX = 4096, CHOSEN_MAX = 64 };

/* A model, and its file when it has one. */
struct choice {
    const struct model_row *row;
    struct model_file *file; /* NULL: it is built in */
};

static const char *sign_text(enum model_sign sign)
{
    return sign == MODEL_POSITIVE       ? "positive"
           : sign == MODEL_NOT_NEGATIVE ? "not_negative"
                                        : "any";
}

static const char *show_node(const struct model_file *file, uint16_t node, char out[TEXT_MAX])
{
    (void)expression_print(&file->pool, node, out, TEXT_MAX);
    return out;
}

/* Returns side 0 or 1 of an equation, as in the file. */
static uint16_t side_of(const struct model_file *file, size_t i, size_t side)
{
    return file->pool.nodes[file->equations[i]].arguments[side];
}

/* ---- the document ---- */

static void write_equations(struct json_writer *w, const struct model_file *file)
{
    const struct model_terms *t = &file->terms;
    char text[TEXT_MAX];
    JSON_LIST(w, "equations", size_t i = 0; i < t->names.axes; i++) {
        const struct {
            const char *key;
            uint16_t node;
        } parts[] = {{"left", side_of(file, i, 0)},
                     {"right", side_of(file, i, 1)},
                     {"known", t->known[i]},
                     {"driven", t->driven[i]}};
        JSON_OPEN(w, NULL, JSON("effort", file->effort[i].symbol));
        for (size_t k = 0; k < COUNT(parts); k++) {
            json_write_text(w, parts[k].key, show_node(file, parts[k].node, text));
        }
        JSON_MAP(w, "rows", size_t k = 0; k < t->names.parameters; k++) {
            if (t->phi[i][k] != 0) {
                json_write_text(w, file->parameter[k].symbol,
                                show_node(file, t->phi[i][k], text));
            }
        }
        json_write_close(w);
    }
    JSON_MAP(w, "kinematics", size_t i = 0; i < t->names.poses; i++) {
        json_write_text(w, file->pose[i].symbol, show_node(file, t->kinematics[i], text));
    }
}

static void write_model(struct json_writer *w, const struct choice *c)
{
    const struct model *model = c->row->model;
    char hash[20];
    JSON_LIST(w, "axes", size_t a = 0; a < model->axis_count; a++) {
        const struct model_axis *axis = &model->axes[a];
        JSON_WRITE_OBJECT(w, NULL, JSON("velocity", axis->velocity),
                          JSON("effort", axis->effort));
    }
    /* A robot in the plane may have a pose more than velocities. */
    JSON_LIST(w, "pose", size_t i = 0; i < model_pose_count(model); i++) {
        json_write_text(w, NULL, i < model->axis_count ? model->axes[i].pose : model->heading);
    }
    JSON_LIST(w, "parameters", size_t k = 0; k < model->parameter_count; k++) {
        const struct model_parameter *p = &model->parameters[k];
        JSON_WRITE_OBJECT(w, NULL, JSON("name", p->name), JSON("symbol", p->symbol),
                          JSON("unit", p->unit), JSON("sign", sign_text(p->sign)),
                          JSON("help", p->help), JSON("words", p->words));
    }
    JSON_WRITE(w, JSON("varying_inertia", model->varying_inertia),
               JSON_WHOLE("variants", c->row->variant_count));
    if (c->file) {
        (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)model->hash);
        json_write_text(w, "hash", hash);
        write_equations(w, c->file);
    }
}

/* The choices end with one without a row. */
static void write_models(const void *choices, struct json_writer *w)
{
    JSON_LIST(w, "models", const struct choice *c = choices; c->row; c++) {
        JSON_OPEN(w, NULL, JSON("name", c->row->name), JSON("words", c->row->words),
                  JSON_BOOL("built_in", !c->file));
        if (c->row->model) {
            write_model(w, c);
        }
        json_write_close(w);
    }
}

/* ---- TeX ---- */

static void print_tex(const struct model_file *file)
{
    const size_t axes = file->terms.names.axes;
    char text[TEXT_MAX];
    (void)puts("\\begin{aligned}");
    for (size_t i = 0; i < axes; i++) {
        for (size_t side = 0; side < 2; side++) {
            (void)expression_print_tex(&file->pool, side_of(file, i, side), text, sizeof text);
            (void)printf("%s%s", side > 0 ? " &= " : "", text);
        }
        (void)puts(i + 1 < axes ? " \\\\" : "");
    }
    (void)puts("\\end{aligned}");
}

/* ---- the command ---- */

/* All faults of a file go to stderr. */
static int choose_model(const char *word, struct choice *choice)
{
    struct err_list errors = {0};
    char guess[EDIT_GUESS_MAX];
    *choice = (struct choice){.row = NULL};
    if (!model_file_is_path(word)) {
        choice->row = model_row_find(word);
        return choice->row
                   ? EXIT_FINE
                   : complain_exit(EXIT_USAGE,
                                   "models: no model '%s'%s, 'tandem models' lists them", word,
                                   model_row_guess(word, guess));
    }
    if (option_file_load(&model_file, word, &choice->file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_FAILED;
    }
    choice->row = &choice->file->row;
    return EXIT_FINE;
}

static void list_models(void)
{
    for (size_t i = 0; model_row_at(i); i++) {
        (void)printf("%-32s %s\n", model_row_at(i)->name, model_row_at(i)->words);
    }
}

struct forms {
    bool check, json, tex;
};

static int show_models(const struct choice *choices, size_t count, const struct forms *forms)
{
    if (forms->json) {
        json_file_print(stdout, write_models, choices);
        return EXIT_FINE;
    }
    for (size_t i = 0; i < count && !forms->check; i++) {
        const struct choice one[] = {choices[i], {.row = NULL}};
        if (forms->tex && !choices[i].file) {
            return complain_exit(EXIT_USAGE,
                                 "models: %s is built in: its equations are in docs/model/",
                                 choices[i].row->name);
        }
        if (forms->tex) {
            (void)fputs(i > 0 ? "\n" : "", stdout);
            print_tex(choices[i].file);
            continue;
        }
        if (document_page_print(stdout, write_models, one) != STATUS_OK) {
            return complain_exit(EXIT_FAILED, "models: not enough memory");
        }
        (void)fputs(choices[i].file ? "" : choices[i].row->help, stdout);
    }
    return EXIT_FINE;
}

static const char description[] =
    "  Prints models of motion: axes, parameters and, for models from files, the equations\n"
    "  and the term of each parameter. Identification and following use these models. NAME\n"
    "  is a built-in model. FILE.yaml has equations of your own, linear in their parameters\n"
    "  (docs/model/model_files.md). All faults of a file go to standard error, with line and\n"
    "  column. Without operands it lists all names.\n";

int command_models(int argc, char **argv)
{
    struct forms forms = {.check = false};
    struct choice choices[CHOSEN_MAX + 1] = {{.row = NULL}};
    size_t count = 0;
    const struct argument rows[] = {
        {"check", 0, ARGUMENT_FLAG, &forms.check, 0, 0, NULL,
         "print nothing for a model without faults"},
        {"json", 0, ARGUMENT_FLAG, &forms.json, 0, 0, NULL, "one JSON document"},
        {"tex", 0, ARGUMENT_FLAG, &forms.tex, 0, 0, NULL, "a file's equations as TeX"},
    };
    const struct arguments arguments = {
        .command = "models",
        .operands = "[NAME|FILE.yaml]...",
        .description = description,
        .examples = "  tandem models --check motor.yaml\n",
        .exit_status = "a file is no model, or the output could not be written",
        ARGUMENT_ROWS(rows),
        .words = &(const struct argument_words){NULL, model_argument_name},
        .word_count = 1};
    int result = arguments_parse(&arguments, argc, argv);
    if (result != ARGUMENTS_PARSED) {
        return result;
    }
    if (forms.check && (forms.json || forms.tex)) {
        return complain_exit(EXIT_USAGE,
                             "models: --check prints faults only: neither --json nor --tex was "
                             "expected");
    }
    result = EXIT_FINE;
    for (char **word = argv + 1; *word; word++) {
        if (word - argv > CHOSEN_MAX) {
            complain("models: %d at once are the most", CHOSEN_MAX);
            result = EXIT_USAGE;
            break;
        }
        const int chosen = choose_model(*word, &choices[count]);
        count += chosen == EXIT_FINE ? 1 : 0;
        result = chosen > result ? chosen : result;
    }
    if (!argv[1] && !forms.json) {
        list_models();
    } else if (result == EXIT_FINE) {
        for (size_t i = 0; !argv[1] && model_row_at(i) && count < CHOSEN_MAX; i++) {
            choices[count++] = (struct choice){.row = model_row_at(i)};
        }
        result = show_models(choices, count, &forms);
    }
    for (size_t i = 0; i < count; i++) {
        model_file_free(choices[i].file);
    }
    return result;
}
