/* web/resources/contract.h - web/openapi.yaml as JSON, made at build time by cmake/yaml_json.c.
 */
#ifndef WEB_RESOURCES_CONTRACT_H
#define WEB_RESOURCES_CONTRACT_H

#include <stddef.h>

extern const unsigned char openapi_json[]; /* [openapi_json_bytes] */
extern const size_t openapi_json_bytes;

#endif
