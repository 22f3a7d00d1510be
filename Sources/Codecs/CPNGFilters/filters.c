#include "CPNGFilters.h"

#include <string.h>

// Written for auto-vectorization: no branches, 16-bit arithmetic, and separate code for the first
// pixel, which has no left neighbor.

enum { SUB = 1, UP = 2, PAETH = 4 };

void cpng_filter_none(const uint8_t *row, size_t count, uint8_t *out) {
    out[0] = 0;
    memcpy(out + 1, row, count);
}

static uint64_t cost(const uint8_t *bytes, size_t count) {
    uint64_t sum = 0;
    for (size_t start = 0; start < count;) {
        // A part is short enough to be summed in 32 bits.
        size_t end = count - start < (1 << 20) ? count : start + (1 << 20);
        uint32_t part = 0;
        for (size_t i = start; i < end; i++) {
            uint8_t value = bytes[i];
            uint8_t negative = (uint8_t)-value;
            part += value < negative ? value : negative;
        }
        sum += part;
        start = end;
    }
    return sum;
}

static void sub(const uint8_t *restrict row, size_t count, size_t step, uint8_t *restrict out) {
    out[0] = SUB;
    memcpy(out + 1, row, step);
    for (size_t i = step; i < count; i++) out[1 + i] = (uint8_t)(row[i] - row[i - step]);
}

static void up(const uint8_t *restrict row, const uint8_t *restrict above, size_t count,
               uint8_t *restrict out) {
    out[0] = UP;
    for (size_t i = 0; i < count; i++) out[1 + i] = (uint8_t)(row[i] - above[i]);
}

static inline int16_t magnitude(int16_t value) { return value < 0 ? (int16_t)-value : value; }

static void paeth(const uint8_t *restrict row, const uint8_t *restrict above, size_t count,
                  size_t step, uint8_t *restrict out) {
    out[0] = PAETH;
    for (size_t i = 0; i < step; i++) out[1 + i] = (uint8_t)(row[i] - above[i]);
    for (size_t i = step; i < count; i++) {
        int16_t left = row[i - step], top = above[i], corner = above[i - step];
        int16_t to_left = magnitude((int16_t)(top - corner));
        int16_t to_top = magnitude((int16_t)(left - corner));
        int16_t to_corner = magnitude((int16_t)(left + top - 2 * corner));
        int16_t vertical = to_top <= to_corner ? top : corner;
        int16_t is_left = (to_left <= to_top) & (to_left <= to_corner);
        int16_t nearest = is_left ? left : vertical;
        out[1 + i] = (uint8_t)(row[i] - nearest);
    }
}

void cpng_filter_adaptive(const uint8_t *restrict row, const uint8_t *restrict above, size_t count,
                          size_t step, uint8_t *restrict out, uint8_t *restrict scratch) {
    paeth(row, above, count, step, out);
    uint64_t best = cost(out + 1, count);
    sub(row, count, step, scratch);
    uint64_t other = cost(scratch + 1, count);
    if (other < best) {
        memcpy(out, scratch, 1 + count);
        best = other;
    }
    up(row, above, count, scratch);
    if (cost(scratch + 1, count) < best) memcpy(out, scratch, 1 + count);
}
