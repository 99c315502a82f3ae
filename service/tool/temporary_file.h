/* service/tool/temporary_file.h - a file without a name, which vanishes with the process. */
#ifndef SERVICE_TOOL_TEMPORARY_FILE_H
#define SERVICE_TOOL_TEMPORARY_FILE_H

#include <stdio.h>

#include "base/errors/err.h"

/* Open one for writing and reading: in $TMPDIR, or else in /var/tmp or /tmp, or in memory if
 * none of these can be written. NULL: *err has the reason. */
FILE *temporary_file_open(struct err *err);

/* Report by errno that the file cannot be "made", "written" or "read": STATUS_E_IO. */
enum status temporary_file_fail(const char *what, struct err *err);

#endif
