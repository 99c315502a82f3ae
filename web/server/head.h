/* web/server/head.h - what of a request's head two readers may understand differently: where
 * its body ends, and whom it is for. Whoever stands before us, a proxy, may have read it the
 * other way, so such a request is refused and the connection closed (RFC 9112, 3.2 and 6.3;
 * request smuggling). Pure.
 *
 * libmicrohttpd before 1.0 ends every text at a NUL and appends a folded line to the name of
 * its header. It leaves the head where it received it, with NUL in place of the ends, so every
 * byte is accounted for here: what lies between two texts can only be their separator.
 */
#ifndef WEB_SERVER_HEAD_H
#define WEB_SERVER_HEAD_H

#include <stdbool.h>
#include <stddef.h>

/* What the headers are. All zero: none has been read yet, and where they lie is not looked at.
 */
struct head {
    unsigned hosts, lengths, encodings, authorizations;
    bool misnamed;          /* a name that is no token */
    bool unprintable;       /* a value with a control character */
    bool other_coding;      /* a Transfer-Encoding that is not "chunked" alone */
    bool torn;              /* bytes that belong to no text */
    const char *next, *end; /* where the next header begins, and the head ends */
};

/* The request line, and the head of so many bytes that begins with it. url_bytes: before it was
 * decoded. */
void head_begin(struct head *head, const char *method, const char *url, size_t url_bytes,
                const char *version, size_t bytes);

/* One more header; value may be NULL. */
void head_add(struct head *head, const char *name, const char *value);

/* What is wrong with it and what would be right, all headers having been noted; NULL: nothing.
 * version: "HTTP/1.1". */
const char *head_fault(const struct head *head, const char *version);

#endif
