#include "service/identify/identify_head.h"

enum status identify_fail_fit(enum status st, const char *where, struct err *err)
{
    return st == STATUS_OK ? st
                           : err_set(err, st, FAULT_FIT_FAILED, where, "the fit failed: %s",
                                     status_name(st));
}

enum status identify_fail_check(enum status st, struct err *err)
{
    return st == STATUS_OK ? st
                           : err_set(err, st, FAULT_FIT_FAILED, "data", "the check failed: %s",
                                     status_name(st));
}
