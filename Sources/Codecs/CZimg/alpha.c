#include "CZimg.h"

// Maps 255 to 65,535.
enum { WIDEN = 257 };

// Premultiplied colors have 16 bits: with 8, colors of nearly transparent pixels would be lost.
void czimg_premultiply(const uint8_t *pixels, size_t pixel_stride, uint16_t *const *planes,
                       const size_t *strides, size_t width, size_t height, int bands) {
    int last = bands - 1;
    for (size_t y = 0; y < height; y++) {
        const uint8_t *in = pixels + y * pixel_stride;
        for (int band = 0; band < bands; band++) {
            uint16_t *out = (uint16_t *)((uint8_t *)planes[band] + y * strides[band]);
            for (size_t x = 0; x < width; x++) {
                uint32_t alpha = band == last ? 255 : in[x * bands + last];
                out[x] = (uint16_t)((in[x * bands + band] * alpha * WIDEN + 127) / 255);
            }
        }
    }
}

// Colors are clamped: the negative lobes of a filter can make one brighter than its alpha permits.
void czimg_unpremultiply(const uint16_t *const *planes, const size_t *strides, uint8_t *pixels,
                         size_t pixel_stride, size_t width, size_t height, int bands) {
    int last = bands - 1;
    for (size_t y = 0; y < height; y++) {
        uint8_t *out = pixels + y * pixel_stride;
        const uint16_t *alpha =
            (const uint16_t *)((const uint8_t *)planes[last] + y * strides[last]);
        for (int band = 0; band < bands; band++) {
            const uint16_t *in =
                (const uint16_t *)((const uint8_t *)planes[band] + y * strides[band]);
            for (size_t x = 0; x < width; x++) {
                uint32_t whole = band == last ? UINT16_MAX : alpha[x];
                uint32_t value = whole ? (in[x] * 255u + whole / 2) / whole : 0;
                out[x * bands + band] = (uint8_t)(value > 255 ? 255 : value);
            }
        }
    }
}
