/* base/expression/expression_program.h - expressions made ready to be computed often.
 *
 * Equal terms are computed once, constants beforehand. The same code is run for one set of
 * values (expression_run(): what need not be known is not read) or for a block of them at once
 * (expression_run_block(): all is computed, and the branch that counts is taken). Nothing is
 * allocated, and time is bounded by the length: code goes forward only.
 *
 * Truths are 1.0 and 0.0. Numbers are IEEE doubles: a quotient by zero is infinite or NaN, and
 * nothing is a fault but a value that is not there. Pure.
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
    EXPRESSION_STRIDE = EXPRESSION_BLOCK + 8 /* from one column of a block to the next */
};

struct expression_code {
    uint8_t operation;
    uint8_t to, a, b, c; /* registers */
    uint16_t at;         /* a name, a constant, an output or where to go on */
};

struct expression_program { /* all zero is empty: it computes nothing */
    bool whole;             /* all names have values: they are registers, too */
    size_t count, constant_count, register_count, output_count;
    double constants[EXPRESSION_CONSTANTS_MAX];
    struct expression_code code[EXPRESSION_CODE_MAX + 1]; /* all zero: the end */
};

/* What compiling needs beside the program: large, and nothing afterwards. */
struct expression_compiler;
size_t expression_compiler_bytes(void);

/* The program that computes nodes roots [count] into outputs places [count] (NULL: 0, 1 …).
 *
 *   whole   in       all names will have values: for expression_run_whole() and blocks
 *   memory  scratch  expression_compiler_bytes(), aligned as by malloc()
 *
 * STATUS_E_FULL when it would be too long. */
MUST_USE enum status expression_compile(const struct expression_pool *pool,
                                        const uint16_t *roots, const uint16_t *places,
                                        size_t count, bool whole, void *memory,
                                        struct expression_program *program, struct err *err);

enum { EXPRESSION_ALL_THERE = -1 };

/* Compute it.
 *
 *   values   in   [names of the pool]; truths are not 0 when they are true
 *   there    in   bit i: name i has a value
 *   outputs  out  at the places that were asked for
 *
 * Returns EXPRESSION_ALL_THERE, or the name that was read and has no value; outputs are then
 * incomplete. */
int expression_run(const struct expression_program *program, const double *values,
                   uint64_t there, double *outputs);

/* The same of a program for values that are all there: they stand among the registers
 * [EXPRESSION_FILE], from EXPRESSION_REGISTERS_MAX on; those before are used up. */
enum { EXPRESSION_FILE = EXPRESSION_REGISTERS_MAX + EXPRESSION_NAMES_MAX };
void expression_run_whole(const struct expression_program *program, double *registers,
                          double *outputs);

/* The same of a block, by columns: values [EXPRESSION_NAMES_MAX], each of EXPRESSION_BLOCK
 * numbers (any for names that do not stand in it); outputs of EXPRESSION_STRIDE numbers each.
 * All have values. */
void expression_run_block(const struct expression_program *program, const double *const *values,
                          double (*outputs)[EXPRESSION_STRIDE]);

/* One operation of numbers (truths as above), for who computes an expression otherwise. */
double expression_apply(enum expression_kind kind, double a, double b, double c);

#endif
