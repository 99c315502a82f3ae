#include "logger/message/record.h"

ENUM_NAMES(verdict, VERDICT_COUNT, VERDICTS(NAMES_TEXT));
ENUM_NAMES(alarm_type, ALARM_TYPE_COUNT, ALARM_TYPES(NAMES_TEXT));
