/* service/tool/lab_argument.h - loads the lab file, or the model's file, that a command is
 * given. */
#ifndef SERVICE_TOOL_LAB_ARGUMENT_H
#define SERVICE_TOOL_LAB_ARGUMENT_H

#include "config/labfile/lab_file.h"

/* Read and check it; path NULL: none was given. All faults go to stderr.
 *
 *   command  in   name for messages, "serve"
 *   lab      out  written on true only, then to be freed with lab_file_free()
 */
MUST_USE bool lab_argument_load(const char *command, const char *path, struct lab_file *lab);

/* If *word names a file, its model is registered (model_file_register()), and *word becomes the
 * model's name. All faults go to stderr; then false. */
MUST_USE bool model_argument_load(const char *command, const char **word);

/* Names of models for the completion of a shell; NULL after the last one. */
const char *model_argument_name(size_t i);

#endif
