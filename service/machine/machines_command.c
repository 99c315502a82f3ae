/* service/machine/machines_command.c - `tandem machines`: prints state machines, built in or
 * from files, as tables, JSON, YAML or Graphviz, and runs the subcommands for machine files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/edit_distance.h"
#include "service/machine/machine_list.h"
#include "service/machine/machines_parts.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "twin/machines.h"

static void print_states(const struct efsm_table *table)
{
    (void)printf("  states    ");
    for (size_t i = 0; i < table->state_count; i++) {
        (void)printf("%s%s%s%s", i == 0 ? "" : ", ", table->states[i].name,
                     i == table->initial ? " (initial)" : "",
                     table->states[i].final ? " (final)" : "");
    }
    (void)printf("\n");
    for (size_t i = 0; i < table->cell_count; i++) {
        (void)printf("%s%s", i == 0 ? "  variables " : ", ", table->cells[i]);
    }
    (void)printf("%s", table->cell_count > 0 ? "\n" : "");
}

static void print_stack_words(const struct efsm_table *table, const struct efsm_arc *arc)
{
    if (arc->empties) {
        (void)printf("; empty");
    }
    if (arc->pops > 0) {
        (void)printf("; pop %d", arc->pops);
    }
    for (size_t i = 0; i < arc->push_count; i++) {
        (void)printf("%s%s", i == 0 ? "; push " : ", ", efsm_state_name(table, arc->push[i]));
    }
}

static void print_table(const struct efsm_table *table)
{
    int from_width = 4;
    int to_width = 2;

    for (size_t i = 0; i < table->arc_count; i++) {
        const int from = (int)strlen(efsm_state_name(table, table->arcs[i].from));
        const int to = (int)strlen(efsm_state_name(table, table->arcs[i].to));
        from_width = from > from_width ? from : from_width;
        to_width = to > to_width ? to : to_width;
    }
    (void)printf("%s - %s\n", table->name, table->purpose);
    print_states(table);
    (void)printf("  %-*s  %-*s  %-5s  %s\n", from_width, "from", to_width, "to", "",
                 "condition / assignments");
    for (size_t i = 0; i < table->arc_count; i++) {
        const struct efsm_arc *arc = &table->arcs[i];
        (void)printf("  %-*s  %-*s  %-5s  %s", from_width, efsm_state_name(table, arc->from),
                     to_width, efsm_state_name(table, arc->to), arc->waits ? "waits" : "",
                     arc->label);
        print_stack_words(table, arc);
        (void)printf("\n");
    }
}

static void write_arc(struct json_writer *w, const struct efsm_table *table,
                      const struct efsm_arc *arc)
{
    JSON_OPEN(w, NULL, JSON("from", efsm_state_name(table, arc->from)),
              JSON("to", arc->to == EFSM_POP ? NULL : efsm_state_name(table, arc->to)),
              JSON("label", arc->label), JSON_BOOL("waits", arc->waits),
              JSON_BOOL("empties", arc->empties), JSON_WHOLE("pops", arc->pops));
    JSON_LIST(w, "push", size_t k = 0; k < arc->push_count; k++) {
        json_write_text(w, NULL, efsm_state_name(table, arc->push[k]));
    }
    json_write_close(w);
}

static void write_table(struct json_writer *w, const struct efsm_table *table)
{
    JSON_OPEN(w, NULL, JSON("name", table->name), JSON("purpose", table->purpose),
              JSON("initial", efsm_state_name(table, table->initial)));
    JSON_LIST(w, "variables", size_t i = 0; i < table->cell_count; i++) {
        json_write_text(w, NULL, table->cells[i]);
    }
    JSON_LIST(w, "states", size_t i = 0; i < table->state_count; i++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("name", table->states[i].name),
                          JSON_BOOL("final", table->states[i].final));
    }
    JSON_LIST(w, "arcs", size_t i = 0; i < table->arc_count; i++) {
        write_arc(w, table, &table->arcs[i]);
    }
    json_write_close(w);
}

struct shown {
    const struct efsm_table *const *tables;
    size_t count;
};

static void write_tables(const void *what, struct json_writer *w)
{
    const struct shown *shown = what;
    JSON_LIST(w, "machines", size_t i = 0; i < shown->count; i++) {
        write_table(w, shown->tables[i]);
    }
}

static int print_json(const struct efsm_table *const *tables, size_t n)
{
    json_file_print(stdout, write_tables, &(const struct shown){tables, n});
    return EXIT_FINE;
}

static int print_dot(const struct efsm_table *table)
{
    const size_t size = efsm_dot(table, -1, NULL, 0) + 1;
    char *text = malloc(size);

    if (!text) {
        (void)fputs("tandem machines: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    (void)efsm_dot(table, -1, text, size);
    (void)fputs(text, stdout);
    free(text);
    return EXIT_FINE;
}

static int print_tables(const struct efsm_table *const *tables, size_t n, bool names_only)
{
    for (size_t i = 0; i < n; i++) {
        if (names_only) {
            (void)puts(tables[i]->name);
        } else {
            (void)printf("%s", i == 0 ? "" : "\n");
            print_table(tables[i]);
        }
    }
    return EXIT_FINE;
}

static int refuse_argument(const char *what, const char *argument)
{
    (void)fprintf(stderr, "tandem machines: %s '%s', the machines are:", what, argument);
    for (size_t i = 0; i < machine_count; i++) {
        (void)fprintf(stderr, " %s", machines[i]->name);
    }
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    for (size_t i = 0; i < machine_count; i++) {
        edit_guess_try(&guess, argument, machines[i]->name);
    }
    (void)fprintf(stderr, "%s; see 'tandem machines --help'\n", edit_guess_text(&guess, meant));
    return EXIT_USAGE;
}

/* ---- choice of machines and format --------------------------------------------------- */

struct forms {
    bool dot, json, list, yaml, drawio, svg;
};

struct choice {
    size_t count;
    const struct efsm_table *tables[MACHINE_LIST_MAX];
    struct machine_list files;
};

/* A word is a machine's name, or a file that stands for all of its machines. */
static int choose_word(struct choice *c, const char *word)
{
    const size_t before = c->files.count;
    if (machine_file_is_path(word)) {
        const int result = machine_list_add(&c->files, word);
        for (size_t i = before; i < c->files.count && c->count < MACHINE_LIST_MAX; i++) {
            c->tables[c->count++] = &c->files.machines[i]->table;
        }
        return result;
    }
    const struct efsm_table *table = machine_find(word);
    if (!table || c->count == MACHINE_LIST_MAX) {
        return refuse_argument(table ? "too many names at" : "no machine", word);
    }
    c->tables[c->count++] = table;
    return EXIT_FINE;
}

static int print_yaml(const struct choice *c)
{
    for (size_t i = 0; i < c->files.count; i++) {
        (void)fputs(i > 0 ? "---\n" : "", stdout);
        machine_yaml_print(c->files.machines[i], stdout);
    }
    return EXIT_FINE;
}

static int print_drawio(const struct choice *c)
{
    const struct machine *drawn[MACHINE_LIST_MAX];
    for (size_t i = 0; i < c->files.count; i++) {
        drawn[i] = c->files.machines[i];
    }
    drawing_write_file(drawn, c->files.count, stdout);
    return EXIT_FINE;
}

/* A drawn machine is printed in its own layout. */
static int print_svg(const struct choice *c)
{
    const struct machine_file *file = c->files.files[0];
    if (c->count != 1 || !file->drawings[0]) {
        return refuse_argument(c->count != 1 ? "exactly one machine of a drawing goes with"
                                             : "a machine that was written has no layout, take "
                                               "--dot in place of",
                               "--svg");
    }
    machine_file_print_svg(file, 0, NULL, stdout);
    return EXIT_FINE;
}

/* Returns the second requested format, or NULL. */
static const char *find_second_form(const struct forms *forms)
{
    const struct {
        bool wanted;
        const char *name;
    } all[] = {{forms->dot, "--dot"},   {forms->json, "--json"},     {forms->list, "--list"},
               {forms->yaml, "--yaml"}, {forms->drawio, "--drawio"}, {forms->svg, "--svg"}};
    size_t count = 0;
    for (size_t i = 0; i < COUNT(all); i++) {
        count += all[i].wanted ? 1 : 0;
        if (all[i].wanted && count == 2) {
            return all[i].name;
        }
    }
    return NULL;
}

static int print_choice(const struct choice *c, const struct forms *forms)
{
    const struct efsm_table *const *chosen = c->count > 0 ? c->tables : machines;
    const size_t count = c->count > 0 ? c->count : machine_count;
    const char *second = find_second_form(forms);
    if (second) {
        return refuse_argument("one form of output only, not also", second);
    }
    if (forms->dot && c->count != 1) {
        return refuse_argument("exactly one NAME goes with", "--dot");
    }
    if ((forms->yaml || forms->drawio || forms->svg) &&
        (c->count == 0 || c->files.count != c->count)) {
        return refuse_argument("machines of files go with", forms->yaml     ? "--yaml"
                                                            : forms->drawio ? "--drawio"
                                                                            : "--svg");
    }
    return forms->dot      ? print_dot(chosen[0])
           : forms->json   ? print_json(chosen, count)
           : forms->yaml   ? print_yaml(c)
           : forms->drawio ? print_drawio(c)
           : forms->svg    ? print_svg(c)
                           : print_tables(chosen, count, forms->list);
}

static const struct argument_action actions[] = {
    {"check", machines_check}, {"run", machines_run}, {"generate", machines_generate}};

static const char *machine_name_at(size_t i)
{
    return i < machine_count ? machines[i]->name : NULL;
}

static const char description[] =
    "  Prints state machines: Tandem's controllers, which run from these same tables, or\n"
    "  machines of your own (docs/tutorials/machines.md). NAME is the name of a machine, in\n"
    "  any case; FILE has machines of your own. Without operands it prints all of Tandem's.\n"
    "\n"
    "  check FILE...     check machine files and report faults with their places\n"
    "  run FILE...       run machines over inputs, step by step\n"
    "  generate FILE...  generate programs from machines, in C, Lua or Python\n"
    "\n"
    "  'tandem machines check --help' and so on have details.\n"
    "\n"
    "  In a table, the label of an arc is \"condition / assignments\". The arc fires in a "
    "cycle\n"
    "  in which the condition holds; C+ = x sets the next value of C. \"waits\": after this "
    "arc\n"
    "  nothing changes without input. \"pop n\" removes n states from the stack, \"empty\" "
    "all;\n"
    "  \"push A, B\" adds A, then B on top. The target \"(top of the stack)\" is the state\n"
    "  removed from there.\n";

int command_machines(int argc, char **argv)
{
    struct forms forms = {.dot = false};
    struct choice choice = {.count = 0};
    const struct argument rows[] = {
        {"dot", 0, ARGUMENT_FLAG, &forms.dot, 0, 0, NULL, "one machine as Graphviz text"},
        {"json", 0, ARGUMENT_FLAG, &forms.json, 0, 0, NULL,
         "one JSON document, with all fields"},
        {"list", 0, ARGUMENT_FLAG, &forms.list, 0, 0, NULL, "the names only, one a line"},
        {"yaml", 0, ARGUMENT_FLAG, &forms.yaml, 0, 0, NULL, "those of files as text"},
        {"drawio", 0, ARGUMENT_FLAG, &forms.drawio, 0, 0, NULL,
         "those of files as a drawing of draw.io"},
        {"svg", 0, ARGUMENT_FLAG, &forms.svg, 0, 0, NULL,
         "one that was drawn, as SVG, in its own layout"},
    };
    const struct arguments arguments = {
        .command = "machines",
        .operands = "[NAME|FILE]...",
        .description = description,
        .examples = "  tandem machines --dot executive | dot -Tsvg\n"
                    "  tandem machines check counter.yaml\n",
        .exit_status = "a file has errors, or the output could not be written",
        ARGUMENT_ROWS(rows),
        .actions = actions,
        .action_count = COUNT(actions),
        .words = &(const struct argument_words){NULL, machine_name_at},
        .word_count = 1};
    int result = arguments_parse(&arguments, argc, argv);
    if (result != ARGUMENTS_PARSED) {
        return result;
    }
    result = EXIT_FINE;
    for (char **word = argv + 1; *word && result != EXIT_USAGE; word++) {
        const int chosen = choose_word(&choice, *word);
        result = chosen > result ? chosen : result;
    }
    if (result == EXIT_FINE || (result == EXIT_FAILED && choice.count > 0)) {
        const int shown = print_choice(&choice, &forms);
        result = shown > result ? shown : result;
    }
    machine_list_free(&choice.files);
    return result;
}
