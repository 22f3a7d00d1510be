#ifndef CPNGFILTERS_H
#define CPNGFILTERS_H

#include <stddef.h>
#include <stdint.h>

// One row of a PNG, filtered (PNG 1.2, 6): `row` has `count` bytes, `above` as many of the row
// before it, or zeros for the first; `step` is the bytes of a pixel. The filter's number and the
// filtered bytes go to `out`, which has room for 1 + `count`.

// The row as it is, after the number 0.
void cpng_filter_none(const uint8_t *row, size_t count, uint8_t *out);

// The filter whose bytes, as signed numbers, have the smallest sum of magnitudes (PNG 1.2, 9.6),
// of Sub, Up and Paeth. `scratch` has room for 1 + `count`.
void cpng_filter_adaptive(const uint8_t *restrict row, const uint8_t *restrict above, size_t count,
                          size_t step, uint8_t *restrict out, uint8_t *restrict scratch);

#endif
