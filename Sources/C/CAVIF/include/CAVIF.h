// libavif's encoder, by libaom, without its versioned structures.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CAVIF_FINE = 0,
    CAVIF_STOPPED,
    CAVIF_REFUSED,
    CAVIF_NO_MEMORY,
    CAVIF_INTERNAL,
} cavif_status;

typedef enum {
    CAVIF_GREY = 0,
    CAVIF_420,
    CAVIF_444,
} cavif_chroma;

typedef struct {
    const uint8_t *bytes;
    // 0: nothing.
    size_t count;
} cavif_bytes;

typedef struct {
    int width;
    int height;
    cavif_chroma chroma;
    // 0 to 63: how coarse colours are, and alpha; 0 loses nothing of the planes.
    int quantizer;
    int alpha_quantizer;
    // libavif's: 0 slow to 9 fast.
    int speed;
    // Pixels alone: RGB is stored as it is. `chroma` is CAVIF_444 and `quantizer` 0.
    int is_identity;
    // What goes beside the colours. They are those of the profile, or of sRGB where there is none.
    cavif_bytes profile;
    cavif_bytes exif;
    cavif_bytes xmp;
} cavif_encoding;

// Takes all `count` bytes and answers non-zero, or ends the encoding with CAVIF_REFUSED.
typedef int (*cavif_sink)(void *context, const uint8_t *bytes, size_t count);
// Asked before and after libaom encodes; non-zero ends the encoding with CAVIF_STOPPED.
typedef int (*cavif_stop)(void *context);
typedef struct {
    cavif_sink sink;
    cavif_stop stop;
    void *context;
} cavif_callbacks;

// One plane for CAVIF_GREY, else three; BT.601, full range. They are read where they lie, unless
// the last two have different strides.
cavif_status cavif_encode_planes(cavif_encoding encoding, const uint8_t *const *planes,
                                 const int *strides, cavif_callbacks callbacks, int *code);
// 3 or 4 interleaved bands, not premultiplied. `has_alpha` gets whether a pixel is not opaque: the
// file has alpha then. `code` gets libavif's number of the error.
cavif_status cavif_encode_pixels(cavif_encoding encoding, const uint8_t *pixels, int stride,
                                 int bands, cavif_callbacks callbacks, int *has_alpha, int *code);
