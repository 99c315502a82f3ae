#include "logger/storage/journal_tail.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers/lab_time.h"
#include "logger/message/message.h"

enum { BLOCK_BYTES = 64 * 1024 };

static bool read_block(int fd, int64_t at, size_t bytes, char block[BLOCK_BYTES])
{
    const ssize_t got = pread(fd, block, bytes, (off_t)at);
    errno = got >= 0 ? EIO : errno;
    return got == (ssize_t)bytes;
}

static int64_t read_stamp(const char *line, size_t bytes)
{
    static const char head[] = "{\"tst\":\"";
    enum { HEAD_BYTES = sizeof head - 1, STAMP_BYTES = 27 };
    return bytes >= HEAD_BYTES + STAMP_BYTES && memcmp(line, head, HEAD_BYTES) == 0
               ? message_parse_time(line + HEAD_BYTES, STAMP_BYTES)
               : LAB_TIME_NONE;
}

/* Returns where the last line begins that is older than the newest by within_us; -1: errno. */
static int64_t find_window(int fd, int64_t size, int64_t within_us, char block[BLOCK_BYTES])
{
    int64_t newest_us = LAB_TIME_NONE;
    for (int64_t at = size; at > 0;) {
        const size_t bytes = at < BLOCK_BYTES ? (size_t)at : BLOCK_BYTES;
        at -= (int64_t)bytes;
        if (!read_block(fd, at, bytes, block)) {
            return -1;
        }
        for (size_t i = bytes; i-- > 0;) {
            const bool begins = i > 0 ? block[i - 1] == '\n' : at == 0;
            const int64_t t_us = begins ? read_stamp(block + i, bytes - i) : LAB_TIME_NONE;
            newest_us = newest_us == LAB_TIME_NONE ? t_us : newest_us;
            if (t_us != LAB_TIME_NONE && t_us < newest_us - within_us) {
                return at + (int64_t)i;
            }
        }
    }
    return 0;
}

int64_t journal_tail_end(int fd, int64_t size, int64_t within_us)
{
    char block[BLOCK_BYTES];
    int64_t at = find_window(fd, size, within_us, block);
    int64_t end = at;
    while (at >= 0 && at < size) {
        const size_t bytes = size - at < BLOCK_BYTES ? (size_t)(size - at) : BLOCK_BYTES;
        if (!read_block(fd, at, bytes, block)) {
            return -1;
        }
        const char *hole = memchr(block, '\0', bytes);
        const char *line = memrchr(block, '\n', hole ? (size_t)(hole - block) : bytes);
        end = line ? at + (line - block) + 1 : end;
        if (hole) {
            return end;
        }
        at += (int64_t)bytes;
    }
    return at;
}
