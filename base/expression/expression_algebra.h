/* base/expression/expression_algebra.h - symbolic operations on expressions: splitting into
 * factors of decision variables, and derivatives.
 *
 * Both follow the structure of the tree without rearranging, so that a factor is computed
 * exactly as it was written. Pure.
 */
#ifndef BASE_EXPRESSION_EXPRESSION_ALGEBRA_H
#define BASE_EXPRESSION_EXPRESSION_ALGEBRA_H

#include "base/expression/expression.h"

/* These leave out zeros and ones. */
uint16_t expression_add(struct expression_pool *pool, uint16_t a, uint16_t b);
uint16_t expression_subtract(struct expression_pool *pool, uint16_t a, uint16_t b);
uint16_t expression_divide(struct expression_pool *pool, uint16_t a, uint16_t b);
uint16_t expression_negate(struct expression_pool *pool, uint16_t a);

/* Splits node into the sum of factor times decision variable, and a rest:
 *   unknowns  in   [count] names of the pool
 *   what      in   their name in messages: "unknowns"
 *   factors   out  [count], 0 for a variable that node does not contain
 *   rest      out  the part without decision variables
 * Sums, products with one variable, and quotients with a divisor free of variables are split.
 * STATUS_E_PARSE, with err: column and text, for any other use of a variable. */
MUST_USE enum status expression_split(struct expression_pool *pool, uint16_t node,
                                      const uint8_t *variables, size_t count, const char *what,
                                      uint16_t *factors, uint16_t *rest, struct err *err);

/* Derivative of node with respect to name. STATUS_E_PARSE, with err: column and text, if there
 * is none. At a kink (abs, sign, min, max, clamp, if) it is the derivative of the present
 * side. */
MUST_USE enum status expression_differentiate(struct expression_pool *pool, uint16_t node,
                                              uint8_t name, uint16_t *out, struct err *err);

#endif
