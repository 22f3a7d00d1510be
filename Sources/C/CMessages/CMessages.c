#include "CMessages.h"
