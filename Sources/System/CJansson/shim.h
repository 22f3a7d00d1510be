// jansson for Swift.
#pragma once

#include <jansson.h>
