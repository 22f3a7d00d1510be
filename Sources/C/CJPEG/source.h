#pragma once

#include "guard.h"

// Bytes in memory that end where they end: libjpeg's own jpeg_mem_src answers a read behind the end
// with an invented end of image, so that a file that was cut off gives grey instead of an error.
// That is right only for the beginning of a file that still arrives.
typedef struct {
    struct jpeg_source_mgr manager; // first: libjpeg hands out its address
    // Whether an end of image is invented.
    int may_end;
    // Whether it was, and where libjpeg was then: the scan, from 1 on, and rows of MCUs before it.
    int has_ended;
    int scan;
    JDIMENSION rows;
} cjpeg_source;

// `may_end` is left as it is.
void cjpeg_set_source(j_decompress_ptr jpeg, cjpeg_source *source, const void *bytes, size_t count);
