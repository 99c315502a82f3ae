/* base/expression/expression_program.h - expressions compiled for fast repeated evaluation.
 *
 * Equal terms are computed once, constants at compile time. The same code runs on one set of
 * values (expression_run(), which reads only the names that it needs) or on a block of values
 * at once (expression_run_block(), which computes both branches and selects one). Nothing is
 * allocated. Code only jumps forward, so the run time is bounded by its length.
 *
 * Truth values are 1.0 and 0.0. Numbers are IEEE doubles: a division by zero gives infinity or
 * NaN. The only fault is a missing value. Pure.
 */
#ifndef BASE_EXPRESSION_EXPRESSION_PROGRAM_H
#define BASE_EXPRESSION_EXPRESSION_PROGRAM_H

#include "base/expression/expression.h"

enum {
    EXPRESSION_CODE_MAX = 2048,
    EXPRESSION_CONSTANTS_MAX = 128,
    EXPRESSION_REGISTERS_MAX = 96,
    EXPRESSION_OUTPUTS_MAX = 256,
    EXPRESSION_BLOCK = 64,
    EXPRESSION_STRIDE = EXPRESSION_BLOCK + 8 /* doubles between columns of a block */
};

struct expression_code {
    uint8_t operation;
    uint8_t to, a, b, c; /* registers */
    uint16_t at;         /* index of a name, constant or output, or jump target */
};

struct expression_program { /* All zero is an empty program, which computes nothing. */
    bool whole;             /* all names have values and live in registers */
    size_t count, constant_count, register_count, output_count;
    double constants[EXPRESSION_CONSTANTS_MAX];
    struct expression_code code[EXPRESSION_CODE_MAX + 1]; /* all zero: the end */
};

/* Scratch memory of the compiler: large, and not needed after compiling. */
struct expression_compiler;
size_t expression_compiler_bytes(void);

/* Compiles the program that computes nodes roots [count] into outputs places [count] (NULL: 0,
 * 1 …).
 *   whole   in       all names will have values: for expression_run_whole() and blocks
 *   memory  scratch  expression_compiler_bytes(), aligned as by malloc()
 * STATUS_E_FULL if the program is too long. */
MUST_USE enum status expression_compile(const struct expression_pool *pool,
                                        const uint16_t *roots, const uint16_t *places,
                                        size_t count, bool whole, void *memory,
                                        struct expression_program *program, struct err *err);

enum { EXPRESSION_ALL_THERE = -1 };

/* Computes the outputs.
 *   values   in   [names of the pool]; a truth value is true unless it is 0
 *   there    in   bit i: name i has a value
 *   outputs  out  at the places given to expression_compile()
 * Returns EXPRESSION_ALL_THERE, or the name that was read and has no value; outputs are then
 * incomplete. */
int expression_run(const struct expression_program *program, const double *values,
                   uint64_t there, double *outputs);

/* Does the same if every name has a value. The caller stores the values in the register file
 * [EXPRESSION_FILE], from EXPRESSION_REGISTERS_MAX on; the registers before are overwritten. */
enum { EXPRESSION_FILE = EXPRESSION_REGISTERS_MAX + EXPRESSION_NAMES_MAX };
void expression_run_whole(const struct expression_program *program, double *registers,
                          double *outputs);

/* Does the same for a block, by columns: values [EXPRESSION_NAMES_MAX] of EXPRESSION_BLOCK
 * numbers each (any pointer for names that are not used), outputs of EXPRESSION_STRIDE numbers
 * each. Every name has values. */
void expression_run_block(const struct expression_program *program, const double *const *values,
                          double (*outputs)[EXPRESSION_STRIDE]);

/* Computes one operation on numbers (truth values as above), for other evaluators. */
double expression_apply(enum expression_kind kind, double a, double b, double c);

#endif
