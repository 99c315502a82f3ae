/* service/daemon/alarm_webhook.h - posts each new alarm to the address alarms.webhook.url.
 *
 * The body is the alarm as on MQTT. Two headers let the receiver check who sent it, and when:
 *
 *     Tandem-Time: 1795154400
 *     Tandem-Signature: sha256=HEX
 *
 * HEX is the HMAC-SHA256 of "TIME.BODY" with the first line of alarms.webhook.key_file as key.
 * Only an answer 2xx counts as delivered. A redirect is not followed: its target was not
 * configured. After a failure the alarm is sent again, with a new time, after 1 s, then after
 * twice as long, a minute at most. An answer 4xx, except 408, 425 and 429, refuses this alarm,
 * which is then dropped.
 *
 * Bound: ALARM_WEBHOOK_WAITING_MAX alarms wait in memory, the oldest are dropped and counted.
 * At the end each that waits is sent once more, for ALARM_WEBHOOK_END_MS at most and until the
 * first failure; the others are dropped, and the log has their number. Neither the address
 * beyond its host nor the key is ever logged.
 */
#ifndef SERVICE_DAEMON_ALARM_WEBHOOK_H
#define SERVICE_DAEMON_ALARM_WEBHOOK_H

#include "base/errors/err.h"
#include "config/labfile/lab_file.h"

struct alarm_webhook;

enum { ALARM_WEBHOOK_WAITING_MAX = 1000, ALARM_WEBHOOK_END_MS = 2000 };

struct alarm_webhook_counts {
    uint64_t delivered;
    uint64_t failed;  /* attempts */
    uint64_t dropped; /* refused by the receiver, no room, or not delivered at the end */
    uint64_t waiting; /* now, the one being sent included */
};

/* Reads the key and starts the thread. *out NULL on STATUS_OK: no address is given.
 * STATUS_E_NOMEM, STATUS_E_IO. */
MUST_USE enum status alarm_webhook_start(const struct lab_file *file,
                                         struct alarm_webhook **out, struct err *err);
/* Reads the key again. *changed: it is another one, which signs from now on. Without STATUS_OK
 * the previous one does. NULL is allowed. STATUS_E_IO. */
MUST_USE enum status alarm_webhook_renew_key(struct alarm_webhook *webhook,
                                             const struct lab_file *file, bool *changed,
                                             struct err *err);
/* Ends the thread within ALARM_WEBHOOK_END_MS and about a second. NULL is allowed. */
void alarm_webhook_stop(struct alarm_webhook *webhook);

/* Any thread: copies the alarm's JSON, and never waits for the network. NULL: nothing happens.
 */
void alarm_webhook_offer(struct alarm_webhook *webhook, const char *json, size_t bytes);

/* Any thread; all zero for NULL. */
void alarm_webhook_read_counts(struct alarm_webhook *webhook, struct alarm_webhook_counts *out);

#endif
