// libavif's encoder, by libaom, and its decoder, by dav1d, without its versioned structures.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CAVIF_FINE = 0,
    CAVIF_STOPPED,
    CAVIF_REFUSED,
    CAVIF_NO_MEMORY,
    CAVIF_INTERNAL,
    // Of what is decoded only.
    CAVIF_CORRUPT,
    CAVIF_UNSUPPORTED,
} cavif_status;

typedef enum {
    CAVIF_GREY = 0,
    CAVIF_420,
    // Decoded only.
    CAVIF_422,
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
    // 8, 10 or 12 bits of a sample; with more than 8, pixels have samples of 16.
    int depth;
    // Numbers of ITU-T H.273; 0: those of sRGB.
    int primaries;
    int transfer;
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

// What a file says of an image, as it is stored.
typedef struct {
    int width;
    int height;
    int depth;
    // CAVIF_GREY, CAVIF_420, CAVIF_422 or CAVIF_444.
    cavif_chroma chroma;
    int has_alpha;
    int has_profile;
    // ITU-T H.273; 2 where nothing is said.
    int primaries;
    int transfer;
    int matrix;
    int is_limited;
    // Where chroma lies: 0 is not said, 1 beside the left of its luma, 2 with the first of it.
    int siting;
    // A part of it is displayed. Where that is possible, the next four say which: else they are 0.
    int is_cropped;
    int crop_x;
    int crop_y;
    int crop_width;
    int crop_height;
    // Quarters, anticlockwise.
    int turns;
    // After the turns: 0 not, 1 top and bottom are exchanged, 2 left and right.
    int mirrored;
} cavif_picture;

// reader.c: the images of one file, decoded by dav1d on this thread alone.
typedef struct cavif_reader cavif_reader;

typedef enum {
    CAVIF_PRIMARY_ITEM = 0,
    CAVIF_TRACKS,
} cavif_source;

// Bytes that libavif reads in place of those that the file has there.
typedef struct {
    size_t offset;
    cavif_bytes bytes;
} cavif_patch;

typedef struct {
    cavif_source source;
    cavif_bytes file;
    const cavif_patch *patches;
    size_t patch_count;
    // Of each image that the file states.
    uint32_t pixels_max;
    uint32_t frames_max;
} cavif_input;

// The bytes stay as long as the reader.
typedef struct {
    cavif_picture picture;
    // 1 of a primary item.
    int frames;
    cavif_bytes profile;
    // From the header of its TIFF on; `Exif` and two zeros may be in front.
    cavif_bytes exif;
    cavif_bytes xmp;
} cavif_header;

// Reads no more than the header, of which a part of the file is enough. The file is read until a
// call returns: each call gets the same bytes, which may lie somewhere else.
cavif_status cavif_open(const cavif_input *input, cavif_reader **reader, cavif_header *header,
                        int *code);
// That frame, from 0 on, and those before it that it needs; `stop` is asked before each. What was
// found now may be other than what the header said.
cavif_status cavif_decode(cavif_reader *reader, cavif_bytes file, int frame, cavif_stop stop,
                          void *context, cavif_picture *picture, int *code);
// The image that was decoded last, whole and not turned: 3 bands, or 4 with alpha, not
// premultiplied, rows without padding. Samples of more than 8 bits are the highest of 16.
cavif_status cavif_copy_pixels(const cavif_reader *reader, int bands, uint8_t *pixels, size_t count,
                               int *code);
// The same image: the samples of one plane of 8 bits.
void cavif_copy_plane(const cavif_reader *reader, int plane, uint8_t *target, size_t stride);
void cavif_close(cavif_reader *reader);
