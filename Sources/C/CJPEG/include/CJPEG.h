// libjpeg-turbo in planes, without its macros and types, so that Swift can import it.
//
// libjpeg reports errors with longjmp. Every jump starts and ends inside these functions: no frame
// of the caller lies between, and the caller's callbacks have returned before a jump begins.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CJPEG_FINE = 0,
    CJPEG_CORRUPT,
    CJPEG_UNSUPPORTED,
    CJPEG_STOPPED,
    CJPEG_REFUSED,
    CJPEG_NO_MEMORY,
    CJPEG_INTERNAL,
} cjpeg_status;

enum { CJPEG_TEXT_MAX = 200, CJPEG_COMPONENTS_MAX = 10 };

// What went wrong: the text is libjpeg's, or ours where libjpeg was content.
typedef struct {
    cjpeg_status status;
    char text[CJPEG_TEXT_MAX];
} cjpeg_failure;

// Asked on every row of MCUs; non-zero ends the work with CJPEG_STOPPED.
typedef int (*cjpeg_stop)(void *context);

// decode.c
typedef struct cjpeg_decoder cjpeg_decoder;

typedef enum { CJPEG_COLOUR_OTHER = 0, CJPEG_COLOUR_GREY, CJPEG_COLOUR_YCBCR } cjpeg_colour;

typedef struct {
    int width;
    int height;
    int components;
    int precision;
    cjpeg_colour colour;
    int is_progressive;
    int is_arithmetic;
    int has_many_scans;
    int has_profile;
    // What must be held until the last scan is read; 0 where one scan has everything.
    size_t coefficient_bytes;
} cjpeg_header;

typedef struct {
    int horizontal;
    int vertical;
} cjpeg_sampling;

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
    // For the coefficients of files with many scans; 0 sets no limit.
    long memory_max;
    // Whether the bytes may be the beginning of a file: an end is invented behind them, what is
    // missing is grey, and each interval that has nothing may warn of it.
    int takes_beginning;
} cjpeg_limits;

// Reads the header. NULL with the reason in `failure`; the bytes must outlive the decoder.
cjpeg_decoder *cjpeg_open(const void *bytes, size_t count, cjpeg_limits limits,
                          cjpeg_header *header, cjpeg_failure *failure);
cjpeg_sampling cjpeg_sampling_of(const cjpeg_decoder *decoder, int component);
// `eighths` of the size in each direction, 1 to 8. After it, `cjpeg_plane_of` answers.
cjpeg_status cjpeg_select_planes(cjpeg_decoder *decoder, int eighths, cjpeg_failure *failure);
cjpeg_plane cjpeg_plane_of(const cjpeg_decoder *decoder, int component);
// Samples of the first plane for each of the others, as base 2 logarithms. 0, or -1 where there are
// no others, or they differ, or the number is no power of 2.
int cjpeg_chroma_log2(const cjpeg_decoder *decoder, int *horizontal, int *vertical);
// Once. `bases` and `strides`: one for each component; a plane has `padded_height` rows of at
// least `padded_width` bytes.
cjpeg_status cjpeg_decode(cjpeg_decoder *decoder, uint8_t *const *bases, const size_t *strides,
                          cjpeg_stop stop, void *context, cjpeg_failure *failure);
void cjpeg_close(cjpeg_decoder *decoder);

// rows.c: pixels as libvips makes them: grey, RGB, or CMYK that is not inverted.
typedef struct {
    int width;
    int height;
    int bands;
} cjpeg_size;

// How much of an image the bytes held: all of it is known of a file that lacks nothing but its end
// of image.
typedef enum { CJPEG_NOT_ARRIVED = 0, CJPEG_ARRIVED_IN_PART, CJPEG_ARRIVED } cjpeg_arrival;

// In place of `cjpeg_select_planes`: what is decoded then.
cjpeg_status cjpeg_select_rows(cjpeg_decoder *decoder, int eighths, cjpeg_size *size,
                               cjpeg_failure *failure);
// Once. The first columns and rows, so many of those that there are, without padding between rows.
// `arrival` gets how much of the image the bytes held.
cjpeg_status cjpeg_decode_rows(cjpeg_decoder *decoder, uint8_t *pixels, int columns, int rows,
                               cjpeg_stop stop, void *context, cjpeg_arrival *arrival,
                               cjpeg_failure *failure);

// encode.c
typedef struct {
    int width;
    int height;
    // 1: grey. 3: YCbCr; the first has `horizontal` × `vertical` samples for each of the others'.
    int components;
    int horizontal;
    int vertical;
    int quality;
    int is_progressive;
    int optimises_coding;
} cjpeg_encoding;

// Memory for at least `minimum` more bytes, its size in `count`; NULL ends the encoding with
// CJPEG_REFUSED. All of the memory given before is full by then.
typedef uint8_t *(*cjpeg_next)(void *context, size_t minimum, size_t *count);

// `bases` and `strides`: planes without any padding. `written` is the sum of all bytes.
cjpeg_status cjpeg_encode(cjpeg_encoding encoding, const uint8_t *const *bases,
                          const size_t *strides, cjpeg_next next, cjpeg_stop stop, void *context,
                          size_t *written, cjpeg_failure *failure);
