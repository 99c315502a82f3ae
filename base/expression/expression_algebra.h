/* base/expression/expression_algebra.h - expressions made of others: the factors of unknowns,
 * derivatives. By their structure, without rearranging: a factor is computed as it was written.
 * Pure.
 */
#ifndef BASE_EXPRESSION_EXPRESSION_ALGEBRA_H
#define BASE_EXPRESSION_EXPRESSION_ALGEBRA_H

#include "base/expression/expression.h"

/* These leave out zeros and ones. */
uint16_t expression_add(struct expression_pool *pool, uint16_t a, uint16_t b);
uint16_t expression_subtract(struct expression_pool *pool, uint16_t a, uint16_t b);
uint16_t expression_multiply(struct expression_pool *pool, uint16_t a, uint16_t b);
uint16_t expression_divide(struct expression_pool *pool, uint16_t a, uint16_t b);
uint16_t expression_negate(struct expression_pool *pool, uint16_t a);

/* node as the sum over unknowns of factor times unknown, and the rest:
 *
 *   unknowns  in   [count] names of the pool
 *   what      in   what messages call them: "unknowns"
 *   factors   out  [count], 0 where an unknown does not stand in node
 *   rest      out  what has none
 *
 * Sums, products with one unknown, and quotients by what has none are taken apart; anything
 * else that an unknown stands in is STATUS_E_PARSE, with err: column and text. */
MUST_USE enum status expression_split(struct expression_pool *pool, uint16_t node,
                                      const uint8_t *variables, size_t count, const char *what,
                                      uint16_t *factors, uint16_t *rest, struct err *err);

/* d node / d name. STATUS_E_PARSE, with err: column and text, where there is none. Where a
 * function has a kink (abs, sign, min, max, clamp, if) it is that of the side it is on. */
MUST_USE enum status expression_differentiate(struct expression_pool *pool, uint16_t node,
                                              uint8_t name, uint16_t *out, struct err *err);

#endif
