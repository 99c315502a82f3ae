/* cmake/machine_diagrams.c - build tool: prints every state machine as Graphviz text.
 *
 *     machine_diagrams OUT.dot
 *
 * Digraphs follow one another, as `tandem machines --dot` prints each; Graphviz makes the
 * dashboard's diagrams of them. It is a separate program because tandem embeds its output.
 */
#include <stdio.h>
#include <stdlib.h>

#include "twin/machines.h"

static int write_machine(FILE *out, const struct efsm_table *table)
{
    const size_t size = efsm_dot(table, -1, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text) {
        return EXIT_FAILURE;
    }
    (void)efsm_dot(table, -1, text, size);
    const int result = fputs(text, out) >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    free(text);
    return result;
}

int main(int argc, char **argv)
{
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    int result = out ? EXIT_SUCCESS : EXIT_FAILURE;
    for (size_t i = 0; result == EXIT_SUCCESS && i < machine_count; i++) {
        result = write_machine(out, machines[i]);
    }
    if (out && fclose(out) != 0) {
        result = EXIT_FAILURE;
    }
    if (result != EXIT_SUCCESS) {
        (void)fputs("machine_diagrams: OUT.dot could not be written\n", stderr);
    }
    return result;
}
