#include "service/commands.h"
