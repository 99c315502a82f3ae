/* service/program/config_command.c - tandem config: checks a lab file, or prints documents made
 * from the key tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"
#include "config/options/option_file.h"
#include "config/options/tree.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_argument.h"

/* JSON has fewer forms of a number than YAML: 007, .5 and +3 are written as 7, 0.5 and 3. One
 * that no double holds is a text, because few readers of JSON accept it. */
static void write_scalar(struct json_writer *w, const char *key, const struct tree *tree,
                         uint32_t node)
{
    const char *text = tree_text(tree, node);
    const char *end = text + strlen(text);
    double number = 0.0;
    const bool plain = tree->nodes[node].plain;
    const bool word = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    const bool finite = number_scan(text, end, &number) == end && isfinite(number);
    if (option_is_empty(tree, node)) {
        json_write_null(w, key);
    } else if (plain && (word || (finite && number_scan_json(text, end, &number) == end))) {
        json_write_raw(w, key, text, strlen(text));
    } else if (plain && finite) {
        json_write_real(w, key, number);
    } else {
        json_write_text(w, key, text);
    }
}

/* Trees are at most TREE_DEPTH_MAX deep. */
static void write_node(struct json_writer *w, const char *key, const struct tree *tree,
                       uint32_t node)
{
    const bool map = tree->nodes[node].kind == TREE_MAP;
    if (tree->nodes[node].kind == TREE_SCALAR) {
        write_scalar(w, key, tree, node);
        return;
    }
    (map ? json_write_object : json_write_array)(w, key);
    for (uint32_t child = tree->nodes[node].first; child != TREE_NONE;
         child = tree->nodes[child].next) {
        write_node(w, map ? tree_key(tree, child) : NULL, tree, child);
    }
    json_write_close(w);
}

/* Prints the values as JSON: the same that lab_file_print() prints as YAML. */
static bool print_json(const struct lab_file *lab)
{
    char *text = NULL;
    size_t bytes = 0;
    char buffer[4096];
    struct tree tree = {0};
    struct err_list errors = {0};
    struct json_writer w;
    FILE *yaml = open_memstream(&text, &bytes);
    if (!yaml) {
        return false;
    }
    lab_file_print(lab, yaml);
    const bool read =
        fclose(yaml) == 0 && tree_parse(text, bytes, "the values", &tree, &errors) == STATUS_OK;
    if (read) {
        json_write_start(&w, buffer, sizeof buffer, json_file_flush, stdout);
        write_node(&w, NULL, &tree, TREE_ROOT);
        (void)json_write_end(&w);
        (void)fputc('\n', stdout);
    }
    err_list_print(&errors, stderr);
    tree_finish(&tree);
    free(text);
    return read;
}

static int check_file(const char *path, bool json)
{
    struct lab_file lab = {0};
    bool printed = true;
    if (!lab_argument_load("config", path, &lab)) {
        return EXIT_USAGE;
    }
    if (json) {
        printed = print_json(&lab);
    } else {
        lab_file_print(&lab, stdout);
    }
    lab_file_free(&lab);
    return printed ? EXIT_FINE : EXIT_FAILED;
}

int command_config(int argc, char **argv)
{
    bool docs = false;
    bool schema = false;
    bool json = false;
    const struct argument rows[] = {
        {"docs", 0, ARGUMENT_FLAG, &docs, 0, 0, NULL,
         "print the reference of all keys (Markdown)"},
        {"schema", 0, ARGUMENT_FLAG, &schema, 0, 0, NULL, "print the JSON Schema of lab files"},
        {"json", 0, ARGUMENT_FLAG, &json, 0, 0, NULL,
         "print the effective values as one JSON document"},
    };
    const struct arguments arguments = {.command = "config",
                                        .operands = "[LAB.yaml]",
                                        .description =
                                            "  Checks a lab file and prints its effective "
                                            "values, which are a lab file again. It\n"
                                            "  reports all faults at once: tandem: "
                                            "file:line:column: what is wrong, what would be\n"
                                            "  right. --docs and --schema print documents made "
                                            "from the table of all keys instead.\n",
                                        .exit_status = "the output could not be written",
                                        ARGUMENT_ROWS(rows)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    const char *path = argv[1];
    if (docs + schema + (path != NULL) != 1 || (json && !path)) {
        return complain_exit(EXIT_USAGE,
                             "config: one lab file is wanted, see 'tandem config --help'");
    }
    if (path) {
        return check_file(path, json);
    }
    if (docs) {
        lab_file_print_docs(stdout);
    }
    const bool fine = docs || lab_file_print_schema(stdout) == STATUS_OK;
    return fine ? EXIT_FINE : EXIT_FAILED;
}
