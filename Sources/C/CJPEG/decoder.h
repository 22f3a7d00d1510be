// The decoder whose header was read, of which planes or rows are made.
#pragma once

#include "source.h"

struct cjpeg_decoder {
    struct jpeg_decompress_struct jpeg; // first: libjpeg hands out its address
    cjpeg_guard guard;
    cjpeg_source source;
    int scans_max;
};
