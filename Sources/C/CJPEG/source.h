#pragma once

#include "guard.h"

// Bytes in memory that end where they end: libjpeg's own jpeg_mem_src answers a read behind the end
// with an invented end of image, so that a file that was cut off gives grey instead of an error.
void cjpeg_set_source(j_decompress_ptr jpeg, struct jpeg_source_mgr *source, const void *bytes,
                      size_t count);
