/* service/tool/model_argument.h - the model that a command is given: by name, or as a file. */
#ifndef SERVICE_TOOL_MODEL_ARGUMENT_H
#define SERVICE_TOOL_MODEL_ARGUMENT_H

#include "config/model/model_file.h"

/* Where *word names a file, the model in it is taken in (model_file_register()), and *word
 * becomes its name. What is wrong with it, all of it, goes to stderr; then false. */
MUST_USE bool model_argument_load(const char *command, const char **word);

#endif
