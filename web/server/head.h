/* web/server/head.h - what of a request's head two readers may understand differently: where
 * its body ends, and whom it is for. Whoever stands before us, a proxy, may have read it the
 * other way, so such a request is refused and the connection closed (RFC 9112, 3.2 and 6.3;
 * request smuggling). Pure.
 */
#ifndef WEB_SERVER_HEAD_H
#define WEB_SERVER_HEAD_H

#include <stdbool.h>

/* What the headers are. All zero: none has been read yet. */
struct head {
    unsigned hosts, lengths, encodings;
    bool misnamed;     /* a name that is no token */
    bool other_coding; /* a Transfer-Encoding that is not "chunked" alone */
};

/* One more header; value may be NULL. */
void head_note(struct head *head, const char *name, const char *value);

/* What is wrong with it and what would be right, all headers having been noted; NULL: nothing.
 * version: "HTTP/1.1". */
const char *head_fault(const struct head *head, const char *version);

#endif
