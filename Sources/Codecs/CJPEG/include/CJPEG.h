// libjpeg-turbo for planes, without its macros and types, so that Swift can import it.
//
// libjpeg reports errors with longjmp. Every jump starts and ends inside these functions: no frame
// of the caller is in between, and the caller's callbacks have returned before a jump begins.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The values are those of CodecError.Kind.
typedef enum {
    CJPEG_OK = 0,
    CJPEG_CORRUPT = 1,
    CJPEG_UNSUPPORTED = 2,
    CJPEG_CANCELLED = 4,
    CJPEG_REFUSED = 5,
    CJPEG_NO_MEMORY = 6,
    CJPEG_INTERNAL = 7,
} cjpeg_status;

enum { CJPEG_TEXT_MAX = 200, CJPEG_COMPONENTS_MAX = 10 };

// The error with libjpeg's text, or ours if libjpeg reported none.
typedef struct {
    cjpeg_status status;
    char text[CJPEG_TEXT_MAX];
} cjpeg_failure;

// Called for every row of MCUs; non-zero ends the work with CJPEG_CANCELLED.
typedef int (*cjpeg_stop)(void *context);

// decode.c
typedef struct cjpeg_decoder cjpeg_decoder;

// The values are those of JPEGHeader.Color.
typedef enum { CJPEG_COLOR_OTHER = 0, CJPEG_COLOR_GRAY, CJPEG_COLOR_YCBCR } cjpeg_color;

typedef struct {
    int width;
    int height;
    int components;
    cjpeg_color color;
    // Memory required until the last scan is read; 0 for a single-scan file.
    size_t coefficient_bytes;
} cjpeg_header;

typedef struct {
    int width;
    int height;
    int padded_width;
    int padded_height;
    double active_width;
    double active_height;
} cjpeg_plane;

typedef struct {
    int scans_max;
    // For the coefficients of multi-scan files; 0 means no limit.
    long memory_max;
    // Whether the bytes may be the beginning of a file: an end of image is appended, missing parts
    // are gray, and each empty interval may cause a warning.
    int takes_beginning;
} cjpeg_limits;

// Reads the header. Returns NULL with the reason in `failure`. The bytes must outlive the decoder.
cjpeg_decoder *cjpeg_open(const void *bytes, size_t count, cjpeg_limits limits,
                          cjpeg_header *header, cjpeg_failure *failure);
// Selects `eighths` of the size in each direction, 1 to 8. `cjpeg_plane_of` may be called
// afterwards.
cjpeg_status cjpeg_select_planes(cjpeg_decoder *decoder, int eighths, cjpeg_failure *failure);
cjpeg_plane cjpeg_plane_of(const cjpeg_decoder *decoder, int component);
// May be called once. `bases` and `strides` have one value per component; a plane has
// `padded_height` rows of at least `padded_width` bytes.
cjpeg_status cjpeg_decode(cjpeg_decoder *decoder, uint8_t *const *bases, const size_t *strides,
                          cjpeg_stop stop, void *context, cjpeg_failure *failure);
void cjpeg_close(cjpeg_decoder *decoder);

// rows.c: pixels as in libvips: gray, RGB, or CMYK that isn't inverted.
typedef struct {
    int width;
    int height;
    int bands;
} cjpeg_size;

// How much of an image the bytes contain. CJPEG_ARRIVED is only reported for a file that lacks
// nothing but its end-of-image marker. The values are those of ArrivedPixels.
typedef enum { CJPEG_NOT_ARRIVED = 0, CJPEG_ARRIVED_IN_PART, CJPEG_ARRIVED } cjpeg_arrival;

// Use instead of `cjpeg_select_planes`. Outputs the size that will be decoded.
cjpeg_status cjpeg_select_rows(cjpeg_decoder *decoder, int eighths, cjpeg_size *size,
                               cjpeg_failure *failure);
// May be called once. Decodes the first columns and rows, at most as many as there are, without
// padding between rows. `arrival` receives how much of the image the bytes contain.
cjpeg_status cjpeg_decode_rows(cjpeg_decoder *decoder, uint8_t *pixels, int columns, int rows,
                               cjpeg_stop stop, void *context, cjpeg_arrival *arrival,
                               cjpeg_failure *failure);

// encode.c
typedef struct {
    int width;
    int height;
    // 1 for gray, 3 for YCbCr. The first one has `horizontal` × `vertical` samples per sample of
    // the others.
    int components;
    int horizontal;
    int vertical;
    int quality;
    int is_progressive;
    int optimises_coding;
} cjpeg_encoding;

// Returns memory for at least `minimum` more bytes and its size in `count`. NULL ends the encoding
// with CJPEG_REFUSED. All memory returned before is full by then.
typedef uint8_t *(*cjpeg_next)(void *context, size_t minimum, size_t *count);

// `bases` and `strides` are planes without any padding. `written` receives the total size.
cjpeg_status cjpeg_encode(cjpeg_encoding encoding, const uint8_t *const *bases,
                          const size_t *strides, cjpeg_next next, cjpeg_stop stop, void *context,
                          size_t *written, cjpeg_failure *failure);
