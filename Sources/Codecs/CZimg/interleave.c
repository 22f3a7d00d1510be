#include <string.h>

#include "CZimg.h"

#define INLINE static inline __attribute__((always_inline))

// One loop per number of bands: a fixed number lets the compiler vectorize it.
INLINE void split2(const uint8_t *restrict in, uint8_t *restrict a, uint8_t *restrict b,
                   size_t width) {
    for (size_t x = 0; x < width; x++) {
        a[x] = in[2 * x];
        b[x] = in[2 * x + 1];
    }
}

INLINE void split3(const uint8_t *restrict in, uint8_t *restrict a, uint8_t *restrict b,
                   uint8_t *restrict c, size_t width) {
    for (size_t x = 0; x < width; x++) {
        a[x] = in[3 * x];
        b[x] = in[3 * x + 1];
        c[x] = in[3 * x + 2];
    }
}

INLINE void split4(const uint8_t *restrict in, uint8_t *restrict a, uint8_t *restrict b,
                   uint8_t *restrict c, uint8_t *restrict d, size_t width) {
    for (size_t x = 0; x < width; x++) {
        a[x] = in[4 * x];
        b[x] = in[4 * x + 1];
        c[x] = in[4 * x + 2];
        d[x] = in[4 * x + 3];
    }
}

INLINE void join2(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict out,
                  size_t width) {
    for (size_t x = 0; x < width; x++) {
        out[2 * x] = a[x];
        out[2 * x + 1] = b[x];
    }
}

INLINE void join3(const uint8_t *restrict a, const uint8_t *restrict b,
                  const uint8_t *restrict c, uint8_t *restrict out, size_t width) {
    for (size_t x = 0; x < width; x++) {
        out[3 * x] = a[x];
        out[3 * x + 1] = b[x];
        out[3 * x + 2] = c[x];
    }
}

INLINE void join4(const uint8_t *restrict a, const uint8_t *restrict b,
                  const uint8_t *restrict c, const uint8_t *restrict d, uint8_t *restrict out,
                  size_t width) {
    for (size_t x = 0; x < width; x++) {
        out[4 * x] = a[x];
        out[4 * x + 1] = b[x];
        out[4 * x + 2] = c[x];
        out[4 * x + 3] = d[x];
    }
}

INLINE void split(const uint8_t *pixels, size_t pixel_stride, uint8_t *const *planes,
                  const size_t *strides, size_t width, size_t height, int bands) {
    for (size_t y = 0; y < height; y++) {
        const uint8_t *in = pixels + y * pixel_stride;
        uint8_t *row[4] = {0};
        for (int i = 0; i < bands; i++)
            row[i] = planes[i] + y * strides[i];
        switch (bands) {
        case 1:
            memcpy(row[0], in, width);
            break;
        case 2:
            split2(in, row[0], row[1], width);
            break;
        case 3:
            split3(in, row[0], row[1], row[2], width);
            break;
        default:
            split4(in, row[0], row[1], row[2], row[3], width);
        }
    }
}

INLINE void join(const uint8_t *const *planes, const size_t *strides, uint8_t *pixels,
                 size_t pixel_stride, size_t width, size_t height, int bands) {
    for (size_t y = 0; y < height; y++) {
        uint8_t *out = pixels + y * pixel_stride;
        const uint8_t *row[4] = {0};
        for (int i = 0; i < bands; i++)
            row[i] = planes[i] + y * strides[i];
        switch (bands) {
        case 1:
            memcpy(out, row[0], width);
            break;
        case 2:
            join2(row[0], row[1], out, width);
            break;
        case 3:
            join3(row[0], row[1], row[2], out, width);
            break;
        default:
            join4(row[0], row[1], row[2], row[3], out, width);
        }
    }
}

// The loops are compiled twice: without AVX2's byte shuffles, those for 2 to 4 bands take up to
// twenty times as long.
static void split_portably(const uint8_t *pixels, size_t pixel_stride, uint8_t *const *planes,
                           const size_t *strides, size_t width, size_t height, int bands) {
    split(pixels, pixel_stride, planes, strides, width, height, bands);
}

static void join_portably(const uint8_t *const *planes, const size_t *strides, uint8_t *pixels,
                          size_t pixel_stride, size_t width, size_t height, int bands) {
    join(planes, strides, pixels, pixel_stride, width, height, bands);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
#else
#define AVX2
#endif

AVX2 static void split_by_avx2(const uint8_t *pixels, size_t pixel_stride, uint8_t *const *planes,
                               const size_t *strides, size_t width, size_t height, int bands) {
    split(pixels, pixel_stride, planes, strides, width, height, bands);
}

AVX2 static void join_by_avx2(const uint8_t *const *planes, const size_t *strides,
                              uint8_t *pixels, size_t pixel_stride, size_t width, size_t height,
                              int bands) {
    join(planes, strides, pixels, pixel_stride, width, height, bands);
}

static int takes_avx2(czimg_code code) {
    return code != CZIMG_PORTABLE && czimg_has_code(CZIMG_AVX2);
}

void czimg_deinterleave(const uint8_t *pixels, size_t pixel_stride, uint8_t *const *planes,
                        const size_t *strides, size_t width, size_t height, int bands,
                        czimg_code code) {
    (takes_avx2(code) ? split_by_avx2 : split_portably)(pixels, pixel_stride, planes, strides,
                                                         width, height, bands);
}

void czimg_interleave(const uint8_t *const *planes, const size_t *strides, uint8_t *pixels,
                      size_t pixel_stride, size_t width, size_t height, int bands,
                      czimg_code code) {
    (takes_avx2(code) ? join_by_avx2 : join_portably)(planes, strides, pixels, pixel_stride,
                                                       width, height, bands);
}
