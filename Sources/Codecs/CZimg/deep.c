#include "CZimg.h"

static uint16_t *row_of(uint16_t *plane, size_t stride, size_t y) {
    return (uint16_t *)((uint8_t *)plane + y * stride);
}

static const uint16_t *const_row_of(const uint16_t *plane, size_t stride, size_t y) {
    return (const uint16_t *)((const uint8_t *)plane + y * stride);
}

// The rounded product of fractions of 65,535.
static uint16_t product(uint32_t left, uint32_t right) {
    return (uint16_t)(((uint64_t)left * right + UINT16_MAX / 2) / UINT16_MAX);
}

static uint16_t quotient(uint32_t value, uint32_t by) {
    uint64_t whole = by ? ((uint64_t)value * UINT16_MAX + by / 2) / by : 0;
    return (uint16_t)(whole > UINT16_MAX ? UINT16_MAX : whole);
}

void czimg_deinterleave_deep(const uint16_t *pixels, size_t pixel_stride, uint16_t *const *planes,
                             const size_t *strides, size_t width, size_t height, int bands,
                             int premultiplies) {
    for (size_t y = 0; y < height; y++) {
        const uint16_t *in = const_row_of(pixels, pixel_stride, y);
        for (int band = 0; band < bands; band++) {
            uint16_t *out = row_of(planes[band], strides[band], y);
            if (premultiplies && band < bands - 1)
                for (size_t x = 0; x < width; x++)
                    out[x] = product(in[x * bands + band], in[x * bands + bands - 1]);
            else
                for (size_t x = 0; x < width; x++)
                    out[x] = in[x * bands + band];
        }
    }
}

void czimg_interleave_deep(const uint16_t *const *planes, const size_t *strides, uint16_t *pixels,
                           size_t pixel_stride, size_t width, size_t height, int bands,
                           int unpremultiplies) {
    for (size_t y = 0; y < height; y++) {
        uint16_t *out = row_of(pixels, pixel_stride, y);
        const uint16_t *alpha = const_row_of(planes[bands - 1], strides[bands - 1], y);
        for (int band = 0; band < bands; band++) {
            const uint16_t *in = const_row_of(planes[band], strides[band], y);
            if (unpremultiplies && band < bands - 1)
                for (size_t x = 0; x < width; x++)
                    out[x * bands + band] = quotient(in[x], alpha[x]);
            else
                for (size_t x = 0; x < width; x++)
                    out[x * bands + band] = in[x];
        }
    }
}
