/* service/machine/machine_code.h - generates a machine as a program in another language.
 *
 * The program does in each cycle what the engine does: init, plan, update, write_outputs, and a
 * monitor that counts the arrows that fire (docs/model/machines.md). A test comes with it,
 * which reads inputs and prints the step table that `tandem machines run` prints.
 */
#ifndef SERVICE_MACHINE_MACHINE_CODE_H
#define SERVICE_MACHINE_MACHINE_CODE_H

#include "service/machine/code_text.h"
#include "twin/machine/machine.h"

struct code_language {
    const char *name, *end; /* "lua", ".lua" */
    /* period_us: cycle time in its test */
    void (*write)(FILE *out, const struct machine *machine, int64_t period_us);
};

extern const struct code_language code_languages[];
extern const size_t code_language_count;

/* --- for the generators --------------------------------------------------------------- */

struct code {
    FILE *out;
    const struct machine *machine;
    int64_t period_us;
    struct code_writer writer;
    struct code_names machine_name, states, inputs, variables, outputs;
};

/* Begin a program. words: names reserved by the language; states_words: names that no state may
 * have. */
struct code *code_start(FILE *out, const struct machine *machine, int64_t period_us,
                        const struct code_style *style, code_name *name,
                        const char *const *words, const char *const *states_words);

void code_print(const struct code *c, const char *format, ...) PRINTF_LIKE(2, 3);
/* Print access to a table element by its name as text: before["name"]behind. */
void code_print_key(const struct code *c, const char *before, uint8_t name, const char *behind);

/* Print the guard of an arc; below, one line "FROM -> TO: label" for a comment. */
void code_guard(const struct code *c, size_t arc);
void code_arc(const struct code *c, size_t arc);

/* A state's name in the language. */
const char *code_state(const struct code *c, size_t state);

/* Is the output no variable? Other outputs are among the variables. */
bool code_is_own(const struct code *c, size_t output);

/* Does the state, or one of its arcs, set outputs? */
bool code_has_outputs(const struct code *c, size_t state);
bool code_has_arcs(const struct code *c, size_t state);
bool code_uses_stack(const struct code *c);
bool code_uses(const struct code *c, enum expression_kind kind);

bool code_uses_time(const struct code *c);

/* Print the step table's header, without a line end. */
void code_header(FILE *out, const struct machine *machine);

/* For both generators of C: reserved words, and the helpers that the machine uses. */
extern const char *const code_c_words[];
extern const struct code_style code_c_style;
extern const char code_c_test[];
void code_c_helpers(const struct code *c);

void code_write_c(FILE *out, const struct machine *machine, int64_t period_us);
void code_write_lua(FILE *out, const struct machine *machine, int64_t period_us);
void code_write_python(FILE *out, const struct machine *machine, int64_t period_us);
void code_write_table(FILE *out, const struct machine *machine, int64_t period_us);

#endif
