/* config/lab_check.h - what a lab file must fulfil beyond the range of each single value. */
#ifndef CONFIG_LAB_CHECK_H
#define CONFIG_LAB_CHECK_H

#include "config/lab_file.h"

/* 1 to 31 of A-Z a-z 0-9 _ and -: it becomes a level of MQTT topics and of HTTP paths. */
bool lab_check_id(const char *id);

/* Report what does not fit together: in the file beside its pairs, in one pair's options or in
 * those of all pairs. */
void lab_check_file(const struct option_reading *reading, const struct lab_file *lab);
void lab_check_pair(const struct option_reading *reading, const struct lab_pair *pair);

/* Also reads the texts of following. */
void lab_check_following(const struct option_reading *reading, struct pair_following_params *p);

/* Read the texts of following: parameters by name, limits, noise, a known vessel; and check the
 * gains. STATUS_E_RANGE with err: where is the key ("limits"). */
MUST_USE enum status following_text_parse(struct pair_following_params *p, struct err *err);

/* What the pairs demand of the journal. */
void lab_check_journal(const struct option_reading *reading, const struct lab_file *lab,
                       const struct pair_params *pairs, size_t pair_count);

#endif
