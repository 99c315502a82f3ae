/* service/tool/model_argument.h - loads the model that a command is given: by name, or as a
 * file. */
#ifndef SERVICE_TOOL_MODEL_ARGUMENT_H
#define SERVICE_TOOL_MODEL_ARGUMENT_H

#include "config/model/model_file.h"

/* If *word names a file, its model is registered (model_file_register()), and *word becomes the
 * model's name. All faults go to stderr; then false. */
MUST_USE bool model_argument_load(const char *command, const char **word);

/* Names of models for the completion of a shell; NULL after the last one. */
const char *model_argument_name(size_t i);

#endif
