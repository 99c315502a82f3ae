/* web/server/head.h - checks a request's head for ambiguity: the end of its body, and its
 * target host. A proxy before us may have read it differently (request smuggling). So an
 * ambiguous request is refused and the connection closed (RFC 9112, 3.2 and 6.3). Pure.
 *
 * libmicrohttpd before 1.0 ends every text at a NUL and appends a folded line to its header's
 * name. It leaves the head in its buffer, with NUL in place of the ends. So every byte is
 * accounted for here: bytes between two texts can only be their separator.
 */
#ifndef WEB_SERVER_HEAD_H
#define WEB_SERVER_HEAD_H

#include <stdbool.h>
#include <stddef.h>

/* State of the check. All zero: no header was read yet, and positions are not checked. */
struct head {
    unsigned hosts, lengths, encodings, authorizations, origins;
    bool misnamed;          /* a name that is no token */
    bool unprintable;       /* a value with a control character */
    bool other_coding;      /* a Transfer-Encoding other than "chunked" */
    bool torn;              /* bytes that belong to no text */
    const char *next, *end; /* start of the next header, end of the head */
};

/* Begin with the request line; the head has head_bytes and begins with it. url_bytes: length
 * before decoding. */
void head_begin(struct head *head, const char *method, const char *url, size_t url_bytes,
                const char *version, size_t bytes);

/* Add a header; value may be NULL. */
void head_add(struct head *head, const char *name, const char *value);

/* The fault, and what would be right, after all headers were added; NULL: none. version:
 * "HTTP/1.1". */
const char *head_fault(const struct head *head, const char *version);

#endif
