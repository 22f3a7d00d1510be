// What libavif says of the image that a decoder has.
#pragma once

#include <avif/avif.h>

#include "CAVIF.h"

cavif_picture cavif_describe(const avifDecoder *decoder);
int cavif_has_planes(const avifImage *image);
