/* service/machine/machine_code.h - a machine as a program in another language.
 *
 * What comes out does in each cycle what the engine does: init, plan, update, write_outputs,
 * and a monitor that counts the arrows that fire (docs/model/machines.md). With a test of its
 * own, which reads inputs and prints the step table that `tandem machines run` prints.
 */
#ifndef SERVICE_MACHINE_MACHINE_CODE_H
#define SERVICE_MACHINE_MACHINE_CODE_H

#include "service/machine/code_text.h"
#include "twin/machine/machine.h"

struct code_language {
    const char *name, *end; /* "lua", ".lua" */
    /* period_us: of its test */
    void (*write)(FILE *out, const struct machine *machine, int64_t period_us);
};

extern const struct code_language code_languages[];
extern const size_t code_language_count;

/* --- for the languages ------------------------------------------------------------------- */

struct code {
    FILE *out;
    const struct machine *machine;
    int64_t period_us;
    struct code_writer writer;
    struct code_names machine_name, states, inputs, variables, outputs;
};

/* Names in the language: words of its own that no name may be; states_words: none either. */
struct code *code_start(FILE *out, const struct machine *machine, int64_t period_us,
                        const struct code_style *style, code_name *name,
                        const char *const *words, const char *const *states_words);

void code_print(const struct code *c, const char *format, ...) PRINTF_LIKE(2, 3);
/* An element of a table, by its name as text: before["name"]behind. */
void code_print_key(const struct code *c, const char *before, uint8_t name, const char *behind);

/* The guard of an arc; one line "FROM -> TO: label" for a comment. */
void code_guard(const struct code *c, size_t arc);
void code_arc(const struct code *c, size_t arc);

/* Its name in the language. */
const char *code_state(const struct code *c, size_t state);

/* An output that is no variable: those stand among the variables. */
bool code_is_own(const struct code *c, size_t output);

/* The state has outputs of its own or of its arcs. */
bool code_has_outputs(const struct code *c, size_t state);
bool code_has_arcs(const struct code *c, size_t state);
bool code_uses_stack(const struct code *c);
bool code_uses(const struct code *c, enum expression_kind kind);

bool code_uses_time(const struct code *c);

/* The step table's header, without a line end. */
void code_header(FILE *out, const struct machine *machine);

/* Of C, for both that are C: with the helpers that the machine uses. */
extern const char *const code_c_words[];
extern const struct code_style code_c_style;
extern const char code_c_test[];
void code_c_helpers(const struct code *c);

void code_write_c(FILE *out, const struct machine *machine, int64_t period_us);
void code_write_lua(FILE *out, const struct machine *machine, int64_t period_us);
void code_write_python(FILE *out, const struct machine *machine, int64_t period_us);
void code_write_table(FILE *out, const struct machine *machine, int64_t period_us);

#endif
