// libwebp's encoder and its decoder of bytes that arrive, without its versioned structures.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CWEBP_FINE = 0,
    CWEBP_TOO_LARGE,
    CWEBP_STOPPED,
    CWEBP_REFUSED,
    CWEBP_NO_MEMORY,
    CWEBP_INTERNAL,
    CWEBP_CORRUPT,
} cwebp_status;

typedef struct {
    int width;
    int height;
    int quality;
    int method;
    int is_lossless;
    // Of a lossless image: 100 changes no pixel.
    int near_lossless;
    int alpha_quality;
    int sharp_yuv;
} cwebp_encoding;

// Takes all `count` bytes and answers non-zero, or ends the encoding with CWEBP_REFUSED.
typedef int (*cwebp_sink)(void *context, const uint8_t *bytes, size_t count);
// Asked about once for every percent; non-zero ends the encoding with CWEBP_STOPPED.
typedef int (*cwebp_stop)(void *context);
typedef struct {
    cwebp_sink sink;
    cwebp_stop stop;
    void *context;
} cwebp_callbacks;

// Y of width × height, U and V of half of each, rounded up; limited range. Not lossless.
cwebp_status cwebp_encode_planes(cwebp_encoding encoding, const uint8_t *const *planes,
                                 const int *strides, cwebp_callbacks callbacks, int *code);
// 3 or 4 interleaved bands. `code` gets libwebp's number of the error.
cwebp_status cwebp_encode_pixels(cwebp_encoding encoding, const uint8_t *pixels, int stride,
                                 int bands, cwebp_callbacks callbacks, int *code);

// animate.c: frames of one size one after the other, 4 interleaved bands each.
typedef struct cwebp_animation cwebp_animation;
// NULL where there is no memory. `loops` 0: without end.
cwebp_animation *cwebp_animation_new(cwebp_encoding encoding, int loops);
// The next frame, shown from `milliseconds` on; `callbacks` are asked for their `stop` alone.
cwebp_status cwebp_animation_add(cwebp_animation *animation, const uint8_t *pixels, int stride,
                                 int milliseconds, cwebp_callbacks callbacks, int *code);
// The file, whose last frame is shown until `milliseconds`, in one piece.
cwebp_status cwebp_animation_finish(cwebp_animation *animation, int milliseconds,
                                    cwebp_callbacks callbacks);
void cwebp_animation_free(cwebp_animation *animation);

typedef struct {
    const uint8_t *bytes;
    // 0: nothing.
    size_t count;
} cwebp_bytes;
// The image of a file with these chunks beside it, in one piece. EXIF begins with its TIFF.
cwebp_status cwebp_enclose(cwebp_bytes file, cwebp_bytes profile, cwebp_bytes exif, cwebp_bytes xmp,
                           cwebp_sink sink, void *context);

// beginning.c
typedef struct {
    int width;
    int height;
    int has_alpha;
    int is_animated;
} cwebp_header;
// CWEBP_CORRUPT also where the header is not there as a whole; CWEBP_TOO_LARGE where more than 256
// chunks stand in front of the pixels.
cwebp_status cwebp_read_header(cwebp_bytes file, cwebp_header *header);
// Writes the rows that `file`, a still image, has, and leaves the others as they are: 3 or 4 bands,
// without padding, scaled to `width` × `height`. `rows` gets how many they are; what is corrupt
// behind a row ends the reading.
cwebp_status cwebp_read_beginning(cwebp_bytes file, int width, int height, int bands,
                                  uint8_t *pixels, cwebp_stop stop, void *context, int *rows);
