/* config/following_text.h - what the lab file says of following in texts: parameters by name,
 * limits, noise, a known vessel. */
#ifndef CONFIG_FOLLOWING_TEXT_H
#define CONFIG_FOLLOWING_TEXT_H

#include "base/err.h"
#include "twin/pair/pair_params.h"

/* Read the texts and check the gains. STATUS_E_RANGE with err: where is the key ("limits"). */
MUST_USE enum status following_text_parse(struct pair_following_params *p, struct err *err);

#endif
