/* cmake/contract.h - fills in what web/openapi.yaml leaves out because a table or a rule has
 * it.
 *
 * Schemas: what has properties is an object and has no others. A member whose name ends in `?`
 * is optional, all others are required.
 *
 * Routes: the rows of web/resource/routes.def give parameters of paths, tags, security and the
 * responses that all routes of a kind have. {schema, example} of a body or response is its
 * content as application/json, of an error as application/problem+json; an error needs neither.
 *
 * Codes of faults: base/errors/fault.def. What web/openapi.yaml says itself wins.
 */
#ifndef CMAKE_CONTRACT_H
#define CMAKE_CONTRACT_H

#include <jansson.h>
#include <stdbool.h>

/* Returns false without memory. */
bool contract_complete(json_t *contract);

#endif
