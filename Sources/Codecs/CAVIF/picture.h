// Returns the properties of a decoder's current image.
#pragma once

#include <avif/avif.h>

#include "CAVIF.h"

cavif_picture cavif_describe(const avifDecoder *decoder);
int cavif_has_planes(const avifImage *image);
