#include "web/server/host.h"

#include <string.h>
#include <strings.h>

#include "web/http/address.h"

enum { HOST_MAX = 254 };

static const char SEPARATORS[] = ", ";

bool host_names_are_valid(const char *names)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789.-, ";
    return strspn(names, allowed) == strlen(names);
}

/* Host without port and brackets; false when it is none. */
static bool read_name(const char *host, char name[HOST_MAX])
{
    const bool bracketed = host[0] == '[';
    const char *begin = host + (bracketed ? 1 : 0);
    const size_t n = strcspn(begin, bracketed ? "]" : ":");
    const char *rest = begin + n;
    if (bracketed && *rest++ != ']') {
        return false;
    }
    if (n == 0 || n >= HOST_MAX ||
        (*rest != '\0' &&
         (*rest != ':' || strspn(rest + 1, "0123456789") != strlen(rest + 1)))) {
        return false;
    }
    memcpy(name, begin, n);
    name[n] = '\0';
    return true;
}

static bool is_listed(const char *name, const char *names)
{
    const size_t n = strlen(name);
    for (const char *p = names; *p;) {
        p += strspn(p, SEPARATORS);
        const size_t length = strcspn(p, SEPARATORS);
        if (length == n && strncasecmp(p, name, n) == 0) {
            return true;
        }
        p += length;
    }
    return false;
}

bool host_is_ours(const char *host, const struct sockaddr *listening, const char *names)
{
    char name[HOST_MAX];
    struct sockaddr_storage address;
    socklen_t bytes = 0;
    if (!read_name(host, name)) {
        return false;
    }
    if (address_parse(name, 0, &address, &bytes)) {
        const struct sockaddr *given = (const struct sockaddr *)&address;
        return address_is_loopback(given) || address_is_any(listening) ||
               address_is_same(given, listening);
    }
    return strcasecmp(name, "localhost") == 0 || is_listed(name, names);
}
