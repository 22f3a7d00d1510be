// What decoders of one image and of many have in common.
#pragma once

#include <avif/avif.h>

#include "CAVIF.h"

// NULL without memory.
avifDecoder *cavif_decoder_new(avifDecoderSource source, uint32_t pixels_max);
cavif_picture cavif_describe(const avifDecoder *decoder);
int cavif_has_planes(const avifImage *image);
