/* service/tool/other_names.h - names that people know for what has another name here. */
#ifndef SERVICE_TOOL_OTHER_NAMES_H
#define SERVICE_TOOL_OTHER_NAMES_H

#include "base/text/edit_distance.h"

/* Works like edit_guess_try(), also with other names for it: "ur5" means "arm6". */
void other_names_try(struct edit_guess *guess, const char *text, const char *name);

#endif
