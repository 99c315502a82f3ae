/* config/lab_check.h - what a lab file must fulfil beyond the range of each single value. */
#ifndef CONFIG_LAB_CHECK_H
#define CONFIG_LAB_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "config/lab_options.h"

/* 1 to 31 of A-Z a-z 0-9 _ and -: it becomes a level of MQTT topics and of HTTP paths. */
bool lab_check_id(const char *id);

/* Is this address reachable from this machine only? */
bool lab_check_is_loopback(const char *address);

/* Report what does not fit together. given: see option_read(). */
void lab_check_file(struct option_reader *r, const struct lab_file *lab, const uint32_t *given);
void lab_check_pair(struct option_reader *r, const char *shown,
                    const struct pair_params *params, const uint32_t *given);

/* What the pairs demand of the journal. */
/* Also reads the texts of following. */
void lab_check_following(struct option_reader *r, const char *shown,
                         struct pair_following_params *p, const uint32_t *given);
void lab_check_journal(struct option_reader *r, const struct lab_file *lab,
                       const struct pair_params *pairs, size_t pair_count,
                       const uint32_t *given);

#endif
