/* logger/storage/journal_error.h - the operating system's errors in words. */
#ifndef LOGGER_STORAGE_JOURNAL_ERROR_H
#define LOGGER_STORAGE_JOURNAL_ERROR_H

/* What an errno means. Never NULL; unlike strerror() safe in threads. */
const char *journal_error_text(int error);

#endif
