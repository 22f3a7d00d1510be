// libavif's encoder (with libaom) and decoder (with dav1d), without its versioned structures.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The values are those of CodecError.Kind.
typedef enum {
    CAVIF_OK = 0,
    CAVIF_CANCELLED = 4,
    CAVIF_REFUSED = 5,
    CAVIF_NO_MEMORY = 6,
    CAVIF_INTERNAL = 7,
    // Decoding only.
    CAVIF_CORRUPT = 1,
    CAVIF_UNSUPPORTED = 2,
} cavif_status;

// The values are those of PlaneSubsampling.
typedef enum {
    CAVIF_GRAY = 0,
    CAVIF_420,
    // Decoding only.
    CAVIF_422,
    CAVIF_444,
} cavif_chroma;

typedef struct {
    const uint8_t *bytes;
    // 0 means none.
    size_t count;
} cavif_bytes;

typedef struct {
    int width;
    int height;
    cavif_chroma chroma;
    // 0 (lossless for the planes) to 63 (coarsest), for color and alpha.
    int quantizer;
    int alpha_quantizer;
    // libavif's speed, 0 (slow) to 9 (fast).
    int speed;
    // Bits per sample: 8, 10 or 12. With more than 8, input pixels have 16-bit samples.
    int depth;
    // ITU-T H.273 code points; 0 means those of sRGB.
    int primaries;
    int transfer;
    // For pixels only: store RGB unchanged. `chroma` must be CAVIF_444 and `quantizer` 0.
    int is_identity;
    // Metadata. The profile defines the colors; without one they are sRGB.
    cavif_bytes profile;
    cavif_bytes exif;
    cavif_bytes xmp;
} cavif_encoding;

// Consumes all `count` bytes and returns non-zero, or ends the encoding with CAVIF_REFUSED.
typedef int (*cavif_sink)(void *context, const uint8_t *bytes, size_t count);
// Called before and after libaom encodes; non-zero ends the encoding with CAVIF_CANCELLED.
typedef int (*cavif_stop)(void *context);
typedef struct {
    cavif_sink sink;
    cavif_stop stop;
    void *context;
} cavif_callbacks;

// One plane for CAVIF_GRAY, otherwise three; BT.601, full range. They are used in place unless the
// last two have different strides.
cavif_status cavif_encode_planes(cavif_encoding encoding, const uint8_t *const *planes,
                                 const int *strides, cavif_callbacks callbacks, int *code);
// 3 or 4 interleaved bands with straight alpha. `has_alpha` is set if a pixel isn't opaque, in
// which case the file has alpha. `code` receives libavif's error number.
cavif_status cavif_encode_pixels(cavif_encoding encoding, const uint8_t *pixels, int stride,
                                 int bands, cavif_callbacks callbacks, int *has_alpha, int *code);

// The stored properties of an image.
typedef struct {
    int width;
    int height;
    int depth;
    // CAVIF_GRAY, CAVIF_420, CAVIF_422 or CAVIF_444.
    cavif_chroma chroma;
    int has_alpha;
    int has_profile;
    // ITU-T H.273 code points; 2 if unspecified.
    int primaries;
    int transfer;
    int matrix;
    int is_limited;
    // ChromaSiting: 0 unspecified, 1 at the left luma samples, 2 at the top left luma sample.
    int siting;
    // Whether only a part is displayed. The next four values are that part, or 0 if it's invalid.
    int is_cropped;
    int crop_x;
    int crop_y;
    int crop_width;
    int crop_height;
    // Counterclockwise quarter turns.
    int turns;
    // AVIFPicture.Mirroring, applied after the turns: 0 none, 1 top and bottom swapped, 2 left and
    // right swapped.
    int mirrored;
} cavif_picture;

// reader.c: the images of one file, decoded by dav1d on the calling thread.
typedef struct cavif_reader cavif_reader;

typedef enum {
    CAVIF_PRIMARY_ITEM = 0,
    CAVIF_TRACKS,
} cavif_source;

// Bytes that libavif reads instead of those at `offset` of the file.
typedef struct {
    size_t offset;
    cavif_bytes bytes;
} cavif_patch;

typedef struct {
    cavif_source source;
    cavif_bytes file;
    const cavif_patch *patches;
    size_t patch_count;
    // Limit per image, applied to the stated size.
    uint32_t pixels_max;
    uint32_t frames_max;
} cavif_input;

// The bytes are valid as long as the reader.
typedef struct {
    cavif_picture picture;
    // 1 for a primary item.
    int frames;
    cavif_bytes profile;
    // Starts with its TIFF header, optionally preceded by `Exif` and two zeros.
    cavif_bytes exif;
    cavif_bytes xmp;
} cavif_header;

// Reads only the header, for which the beginning of the file suffices. The file is only used until
// a call returns: each call must pass the same content, possibly at another address.
cavif_status cavif_open(const cavif_input *input, cavif_reader **reader, cavif_header *header,
                        int *code);
// Decodes a frame, counted from 0, and the previous ones it depends on; `stop` is called before
// each. The resulting picture may differ from the header.
cavif_status cavif_decode(cavif_reader *reader, cavif_bytes file, int frame, cavif_stop stop,
                          void *context, cavif_picture *picture, int *code);
// The last decoded image, complete and not rotated: 3 bands, or 4 with straight alpha, in rows
// without padding. Samples with more than 8 bits are in the highest bits of 16.
cavif_status cavif_copy_pixels(const cavif_reader *reader, int bands, uint8_t *pixels, size_t count,
                               int *code);
// One 8-bit plane of the last decoded image.
void cavif_copy_plane(const cavif_reader *reader, int plane, uint8_t *target, size_t stride);
void cavif_close(cavif_reader *reader);
