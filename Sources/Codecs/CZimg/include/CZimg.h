// zimg's graphs for 8-bit and 16-bit planes, without its versioned structures, and conversions
// between planes and interleaved bands.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CZIMG_TEXT_MAX = 200, CZIMG_PLANES_MAX = 3, CZIMG_ALIGNMENT = 64 };

typedef enum { CZIMG_GRAY = 0, CZIMG_YCBCR, CZIMG_RGB } czimg_family;
// The position of a chroma sample relative to its luma samples; the values are those of
// ChromaSiting.
typedef enum { CZIMG_SITED_CENTER = 0, CZIMG_SITED_LEFT, CZIMG_SITED_TOP_LEFT } czimg_siting;
// For YCbCr.
typedef enum { CZIMG_BT601 = 0, CZIMG_BT709 } czimg_matrix;
typedef enum { CZIMG_BILINEAR = 0, CZIMG_BICUBIC, CZIMG_LANCZOS } czimg_filter;

typedef struct {
    uint32_t width;
    uint32_t height;
    czimg_family family;
    // Base 2 logarithms; only YCbCr is subsampled.
    uint32_t horizontal_log2;
    uint32_t vertical_log2;
    int is_limited;
    // 1, or 2 in native byte order.
    uint32_t bytes;
    czimg_matrix matrix;
    czimg_siting siting;
    // The part that contains the picture; input only.
    double left;
    double top;
    double active_width;
    double active_height;
} czimg_format;

typedef struct {
    czimg_filter filter;
    // Lanczos: taps. Bicubic: b and c.
    double a;
    double b;
} czimg_resampling;

// The values are those of CodecError.Kind.
typedef enum {
    CZIMG_OK = 0,
    CZIMG_CANCELLED = 4,
    CZIMG_UNSUPPORTED = 2,
    CZIMG_NO_MEMORY = 6,
    CZIMG_INTERNAL = 7,
} czimg_status;

typedef struct {
    czimg_status status;
    char text[CZIMG_TEXT_MAX];
} czimg_failure;

// The instructions that zimg may use. Automatic: those of this processor, up to AVX2.
typedef enum {
    CZIMG_AUTOMATIC = 0,
    CZIMG_PORTABLE,
    CZIMG_SSE,
    CZIMG_SSE2,
    CZIMG_AVX,
    CZIMG_F16C,
    CZIMG_AVX2,
    CZIMG_AVX512_SKX,
    CZIMG_AVX512_CLX,
    CZIMG_AVX512_PMC,
    CZIMG_AVX512_SNC,
} czimg_code;
// cpu.c: whether this processor and its operating system can run such code.
int czimg_has_code(czimg_code code);

// Contains its scratch memory, so it processes one image at a time.
typedef struct czimg_graph czimg_graph;

// Returns NULL with the reason in `failure`. The processor must support `code`.
czimg_graph *czimg_build(czimg_format from, czimg_format to, czimg_resampling luma,
                         czimg_resampling chroma, czimg_code code, czimg_failure *failure);
size_t czimg_scratch_bytes(const czimg_graph *graph);
void czimg_free(czimg_graph *graph);

typedef struct {
    const uint8_t *base[CZIMG_PLANES_MAX];
    size_t stride[CZIMG_PLANES_MAX];
} czimg_source;

typedef struct {
    uint8_t *base[CZIMG_PLANES_MAX];
    size_t stride[CZIMG_PLANES_MAX];
} czimg_target;

// Called before rows are read; non-zero ends processing with CZIMG_CANCELLED. May be NULL.
typedef int (*czimg_stop)(void *context);
czimg_status czimg_process(const czimg_graph *graph, const czimg_source *from,
                           const czimg_target *to, czimg_stop stop, void *context,
                           czimg_failure *failure);

// interleave.c: `planes` and `strides` have one element for each of 1 to 4 bands. There are
// portable and AVX2 loops; any `code` other than portable uses AVX2 if the processor supports it.
void czimg_deinterleave(const uint8_t *pixels, size_t pixel_stride, uint8_t *const *planes,
                        const size_t *strides, size_t width, size_t height, int bands,
                        czimg_code code);
void czimg_interleave(const uint8_t *const *planes, const size_t *strides, uint8_t *pixels,
                      size_t pixel_stride, size_t width, size_t height, int bands,
                      czimg_code code);

// alpha.c: 2 or 4 bands, the last of which is alpha, and 16-bit planes with premultiplied colors.
// Strides are in bytes.
void czimg_premultiply(const uint8_t *pixels, size_t pixel_stride, uint16_t *const *planes,
                       const size_t *strides, size_t width, size_t height, int bands);
void czimg_unpremultiply(const uint16_t *const *planes, const size_t *strides, uint8_t *pixels,
                         size_t pixel_stride, size_t width, size_t height, int bands);

// deep.c: the same for 16-bit bands and planes; with `premultiplies` colors are multiplied by the
// last band, which is alpha, and with `unpremultiplies` divided by it.
void czimg_deinterleave_deep(const uint16_t *pixels, size_t pixel_stride, uint16_t *const *planes,
                             const size_t *strides, size_t width, size_t height, int bands,
                             int premultiplies);
void czimg_interleave_deep(const uint16_t *const *planes, const size_t *strides, uint16_t *pixels,
                           size_t pixel_stride, size_t width, size_t height, int bands,
                           int unpremultiplies);
