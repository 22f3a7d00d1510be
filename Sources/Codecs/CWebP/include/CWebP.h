// libwebp's encoder and incremental decoder, without its versioned structures.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The values are those of CodecError.Kind.
typedef enum {
    CWEBP_OK = 0,
    CWEBP_TOO_LARGE = 3,
    CWEBP_CANCELLED = 4,
    CWEBP_REFUSED = 5,
    CWEBP_NO_MEMORY = 6,
    CWEBP_INTERNAL = 7,
    CWEBP_CORRUPT = 1,
} cwebp_status;

typedef struct {
    int width;
    int height;
    int quality;
    int method;
    int is_lossless;
    // Lossless only: 100 changes no pixels.
    int near_lossless;
    int alpha_quality;
    int sharp_yuv;
} cwebp_encoding;

// Consumes all `count` bytes and returns non-zero, or ends the encoding with CWEBP_REFUSED.
typedef int (*cwebp_sink)(void *context, const uint8_t *bytes, size_t count);
// Called about once per percent; non-zero ends the encoding with CWEBP_CANCELLED.
typedef int (*cwebp_stop)(void *context);
typedef struct {
    cwebp_sink sink;
    cwebp_stop stop;
    void *context;
} cwebp_callbacks;

// Y of width × height, U and V of half of each, rounded up; limited range. Not for lossless.
cwebp_status cwebp_encode_planes(cwebp_encoding encoding, const uint8_t *const *planes,
                                 const int *strides, cwebp_callbacks callbacks, int *code);
// 3 or 4 interleaved bands. `code` receives libwebp's error number.
cwebp_status cwebp_encode_pixels(cwebp_encoding encoding, const uint8_t *pixels, int stride,
                                 int bands, cwebp_callbacks callbacks, int *code);

// animate.c: frames of the same size, with 4 interleaved bands each.
typedef struct cwebp_animation cwebp_animation;
// Returns NULL if memory is short. `loops` 0 means endlessly.
cwebp_animation *cwebp_animation_new(cwebp_encoding encoding, int loops);
// Adds the next frame, shown from `milliseconds` on; of `callbacks` only `stop` is used.
cwebp_status cwebp_animation_add(cwebp_animation *animation, const uint8_t *pixels, int stride,
                                 int milliseconds, cwebp_callbacks callbacks, int *code);
// Writes the file at once; its last frame is shown until `milliseconds`.
cwebp_status cwebp_animation_finish(cwebp_animation *animation, int milliseconds,
                                    cwebp_callbacks callbacks);
void cwebp_animation_free(cwebp_animation *animation);

typedef struct {
    const uint8_t *bytes;
    // 0 means none.
    size_t count;
} cwebp_bytes;
// Writes a file's image with these metadata chunks at once. EXIF starts with its TIFF header.
cwebp_status cwebp_enclose(cwebp_bytes file, cwebp_bytes profile, cwebp_bytes exif, cwebp_bytes xmp,
                           cwebp_sink sink, void *context);

// beginning.c
typedef struct {
    int width;
    int height;
    int has_alpha;
    int is_animated;
} cwebp_header;
// Returns CWEBP_CORRUPT also for an incomplete header, CWEBP_TOO_LARGE if more than 256 chunks
// precede the pixels.
cwebp_status cwebp_read_header(cwebp_bytes file, cwebp_header *header);
// Writes the rows that `file`, a still image, contains, and leaves the others unchanged: 3 or 4
// bands without padding, scaled to `width` × `height`. `rows` receives their number. Decoding ends
// at damaged data after a row.
cwebp_status cwebp_read_beginning(cwebp_bytes file, int width, int height, int bands,
                                  uint8_t *pixels, cwebp_stop stop, void *context, int *rows);
