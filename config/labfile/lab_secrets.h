/* config/labfile/lab_secrets.h - checks the secret files that a lab file names: token,
 * password, certificates, keys; prints a lab file without them. */
#ifndef CONFIG_LABFILE_LAB_SECRETS_H
#define CONFIG_LABFILE_LAB_SECRETS_H

#include <stdio.h>

#include "config/labfile/lab_file.h"

enum { LAB_TOKEN_MIN = 16, LAB_TOKEN_MAX = 511 /* characters of the token */ };

/* Check that the secret files in use exist, are not empty and are not readable by every user of
 * the machine. Every fault goes into *errors, with the file and what would be right. STATUS_OK
 * without faults, else STATUS_E_ARG. */
MUST_USE enum status lab_secrets_check(const struct lab_file *lab, struct err_list *errors);

/* The effective values as lab_file_print() prints them, without the places of secrets and the
 * names of users, for files that go to others. To be freed; NULL without memory. */
char *lab_secrets_public_text(const struct lab_file *lab);

#endif
