/* config/labfile/lab_secrets.h - the files that a lab file names by which somebody is known: token,
 * password, certificates, keys. */
#ifndef CONFIG_LABFILE_LAB_SECRETS_H
#define CONFIG_LABFILE_LAB_SECRETS_H

#include "config/labfile/lab_file.h"

enum { LAB_TOKEN_MIN = 16, LAB_TOKEN_MAX = 511 /* characters of the token */ };

/* Whether those that are in use are there, hold something, and are kept from others: a secret
 * that everybody on the machine can read is none. Every fault goes into *errors, with the file
 * and what would be right. STATUS_OK without faults, else STATUS_E_ARG. */
MUST_USE enum status lab_secrets_check(const struct lab_file *lab, struct err_list *errors);

#endif
