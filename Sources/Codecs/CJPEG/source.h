#pragma once

#include "guard.h"

// A source of bytes in memory that fails at their end. libjpeg's jpeg_mem_src appends an
// end-of-image marker instead, so that a truncated file yields gray rather than an error. That's
// only right for the beginning of a file that's still being received.
typedef struct {
    struct jpeg_source_mgr manager; // must be first: libjpeg passes its address
    // Whether to append an end-of-image marker.
    int may_end;
    // Whether it was appended, and libjpeg's position then: the scan, from 1, and the number of
    // rows of MCUs before it.
    int has_ended;
    int scan;
    JDIMENSION rows;
} cjpeg_source;

// Leaves `may_end` unchanged.
void cjpeg_set_source(j_decompress_ptr jpeg, cjpeg_source *source, const void *bytes, size_t count);
