/* cmake/model_list.c - build tool: lists the models that can be identified, as a module of the
 * dashboard.
 *
 *     model_list OUT.js
 *
 * It prints rows of identification/model/models.h: the name, what is found, and the kind of
 * recording that the model is fitted to.
 */
#include <stdio.h>
#include <stdlib.h>

#include "identification/model/models.h"

static const char *const data[MODEL_DATA_COUNT] = {[MODEL_OF_MOTION] = "motion",
                                                   [MODEL_OF_MOVES] = "moves",
                                                   [MODEL_OF_COMMANDS] = "moves",
                                                   [MODEL_OF_WHEELS] = "wheels"};

int main(int argc, char **argv)
{
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!out) {
        (void)fputs("model_list: OUT.js could not be written\n", stderr);
        return EXIT_FAILURE;
    }
    (void)fputs("// What can be identified: made from Tandem's table of models.\n\n"
                "export const MODELS = [\n",
                out);
    for (size_t i = 0; i < model_row_count; i++) {
        const struct model_row *row = model_rows[i];
        (void)fprintf(out, "    {name: \"%s\", words: \"%s\", data: \"%s\"},\n", row->name,
                      row->words, data[row->data]);
    }
    (void)fputs("];\n", out);
    return fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
