/* service/machine/machine_code.h - generates a machine as a program in another language.
 *
 * The program does in each cycle what the engine does: init, plan, update, write_outputs, and a
 * monitor that counts the arrows that fire (docs/model/machines.md). A test comes with it,
 * which reads inputs and prints the step table that `tandem machines run` prints.
 *
 * A language is one row of code_languages.c and one template, template/NAME.txt. A template is
 * the program itself with tags:
 *
 *   {{name}}               a value
 *   {{#list}}...{{/}}      once for each member of a list
 *   {{?name}}...{{/}}      if the flag is set, or the list has a member
 *   {{!name}}...{{/}}      if not
 *   {{|}}                  in front of what applies otherwise
 *   {{>name}}              another template
 *
 * A tag alone on its line, other than a value, leaves no line. Values, flags and lists are
 * members of the innermost object of code_document() that has them; the flag `first` is set for
 * the first member of a list.
 */
#ifndef SERVICE_MACHINE_MACHINE_CODE_H
#define SERVICE_MACHINE_MACHINE_CODE_H

#include "service/machine/code_text.h"
#include "twin/machine/machine.h"

struct code_language {
    const char *name, *end; /* "lua", ".lua" */
    const unsigned char *template;
    const struct code_style *style;
    /* Reserved words, NULL-terminated; or NULL. No state may have the name of a state word. */
    const char *const *words, *const *states_words;
    const char *time, *elapsed;
    /* Templates: reads an input or a variable, and asks whether it has a value. */
    const char *read, *has;
};

extern const struct code_language code_languages[];
extern const size_t code_language_count;

/* period_us: cycle time in the program's test. STATUS_E_NOMEM. */
MUST_USE enum status code_write(FILE *out, const struct code_language *language,
                                const struct machine *machine, int64_t period_us);

/* Returns the machine as the document that gives tags their meaning: texts and numbers are
 * values, truths and lists are flags, lists are lists. NULL without memory. Free it with
 * json_decref(). */
struct json_t *code_document(const struct code_language *language,
                             const struct machine *machine, int64_t period_us);

/* The files of template/, made by cmake/embed.cmake. */
extern const unsigned char code_template_c[], code_template_c_helpers[], code_template_c_test[],
    code_template_lua[], code_template_python[], code_template_table[];

#endif
