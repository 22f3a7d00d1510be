// A decoder whose header has been read, ready to decode planes or rows.
#pragma once

#include "source.h"

struct cjpeg_decoder {
    struct jpeg_decompress_struct jpeg; // must be first: libjpeg passes its address
    cjpeg_guard guard;
    cjpeg_source source;
    int scans_max;
};
