/* logger/storage/mcap_lines.h - the journal lines of an MCAP file that `tandem export` wrote.
 *
 * Messages that a replay made (entries and alarms) are left out.
 */
#ifndef LOGGER_STORAGE_MCAP_LINES_H
#define LOGGER_STORAGE_MCAP_LINES_H

#include "base/errors/err.h"

/* Copies the lines of the file at *fd into a temporary file without a name, and replaces *fd by
 * it, at its beginning; the old one is closed. If the MCAP file is cut, the last line is a
 * beginning of one without its end. path: for errors. On failure *fd stays.
 *
 * STATUS_E_PARSE: it is damaged or compressed, or a ROS 2 bag, which has no such lines.
 * STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status mcap_lines_convert(int *fd, const char *path, struct err *err);

#endif
