#ifndef CPNGFILTERS_H
#define CPNGFILTERS_H

#include <stddef.h>
#include <stdint.h>

// Filters one row of a PNG (PNG 1.2, 6). `row` has `count` bytes, `above` as many of the previous
// row, or zeros for the first one; `step` is the number of bytes per pixel. The filter number and
// the filtered bytes are written to `out`, which has space for 1 + `count` bytes.

// Copies the row unchanged after filter number 0.
void cpng_filter_none(const uint8_t *row, size_t count, uint8_t *out);

// Uses whichever of Sub, Up and Paeth has the smallest sum of magnitudes of its bytes as signed
// numbers (PNG 1.2, 9.6). `scratch` has space for 1 + `count` bytes.
void cpng_filter_adaptive(const uint8_t *restrict row, const uint8_t *restrict above, size_t count,
                          size_t step, uint8_t *restrict out, uint8_t *restrict scratch);

#endif
