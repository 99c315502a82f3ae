#include "logger/message/record.h"

ENUM_NAMES(verdict, VERDICT_COUNT, VERDICTS(NAMES_TEXT));
ENUM_NAMES(consistency, CONSISTENCY_COUNT, CONSISTENCIES(NAMES_TEXT));
ENUM_NAMES(entry_explained, ENTRY_EXPLAINED_COUNT, "undecided", "transport", "waiting",
           "motion", "pace", "not_explained", "clock");
ENUM_NAMES(entry_ambiguity, ENTRY_AMBIGUITY_COUNT, ENTRY_AMBIGUITIES(NAMES_TEXT));
NAMES(entry_filter_names, ENTRY_FILTER_COUNT, VERDICTS(NAMES_TEXT) "INCONSISTENT");
NAMES(alarm_type_names, ALARM_TYPE_COUNT, ALARM_TYPES(NAMES_TEXT));
NAMES(alarm_filter_names, ALARM_FILTER_COUNT, ALARM_TYPES(NAMES_TEXT) "storage", "team");

#define ALARM_CODE_TEXT(value, name, type) name,
ENUM_NAMES(alarm_code, ALARM_CODE_COUNT, ALARM_CODES(ALARM_CODE_TEXT));

enum alarm_type alarm_code_type(enum alarm_code code)
{
#define ALARM_CODE_TYPE(value, name, type) type,
    static const uint8_t types[] = {ALARM_CODES(ALARM_CODE_TYPE)};
    return (enum alarm_type)types[code];
}

const char *alarm_type_name(enum alarm_type type)
{
    return names_text(&alarm_filter_names, (size_t)type);
}
