// One plain function for each libvips operation in use: no variadics, no GObject macros, no libvips
// types, so that Swift can import it.
//
// Every function returns 0, or -1 with the reason in libvips' error buffer. An out-parameter is set
// to NULL first and holds a new reference only if 0 is returned.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct _VipsImage *cvips_image;

// library.c, modules.c, permits.c
typedef void (*cvips_log)(int level, const char *domain, const char *message);
int cvips_start(cvips_log log);
// Permits the loader of that name, such as `pngload_buffer`; all are blocked at the start. If
// libvips has it in a module, the module is loaded first: `module` is its name, such as `heif`, or
// NULL. Returns -1 with an empty error buffer if this libvips doesn't have it.
int cvips_permit_loader(const char *name, const char *module);
// Does the same for a saver that libvips doesn't trust, such as `jxlsave_target`; others aren't
// blocked.
int cvips_permit_saver(const char *name, const char *module);
void cvips_set_concurrency(int threads);
size_t cvips_memory_in_use(void);
int cvips_files_in_use(void);
// Returns the text of the error buffer and clears it. Free it with `cvips_free`.
char *cvips_take_error(void);
void cvips_forget_errors(void);
void cvips_free(void *memory);
void cvips_unref(cvips_image image);

// load.c: the bytes must outlive the image. Decoding a damaged or truncated file fails when pixels
// are computed. `name` is a permitted loader's; options are its numeric ones, such as `shrink`.
typedef struct {
    const char *name;
    double value;
} cvips_option;
// `may_end`: decode the available pixels of a truncated file.
int cvips_load(const char *name, const void *bytes, size_t count, int may_end,
               const cvips_option *options, size_t option_count, cvips_image *out);

// memory.c
// Bands of 1 or 2 `bytes` per sample, in rows without padding; the pixels must outlive the image.
// `is_cmyk`: whether four bands are CMYK.
int cvips_wrap(const void *pixels, size_t count, int width, int height, int bands, int bytes,
               int is_cmyk, cvips_image *out);
// Zeros that use no memory; bands of 1 or 2 `bytes` per sample.
int cvips_blank(int width, int height, int bands, int bytes, cvips_image *out);
// Computes all pixels once, into memory owned by the new image.
int cvips_copy_memory(cvips_image in, cvips_image *out);
// Returns all pixels, computing them first unless they are in memory; valid as long as the image.
// NULL on error.
const void *cvips_pixels(cvips_image in, size_t *count);
// Computes all pixels and writes them to `pixels`, which holds exactly `count` bytes.
int cvips_write(cvips_image in, void *pixels, size_t count);

// header.c
// The values are those of VipsHeader.Color and VipsHeader.Samples.
typedef enum {
    CVIPS_COLOR_OTHER = 0,
    CVIPS_COLOR_GRAY,
    CVIPS_COLOR_GRAY16,
    CVIPS_COLOR_RGB,
    CVIPS_COLOR_RGB16,
    CVIPS_COLOR_CMYK,
} cvips_color;
typedef enum {
    CVIPS_SAMPLES_OTHER = 0,
    // Unsigned 8 or 16 bits.
    CVIPS_SAMPLES_WHOLE,
    CVIPS_SAMPLES_REAL,
} cvips_samples;
typedef struct {
    int width;
    int height;
    int bands;
    int bytes_per_band;
    cvips_samples samples;
    int pages;
    // The EXIF orientation; 0 if EXIF has none.
    int orientation;
    int has_alpha;
    int interlaced;
    cvips_color color;
} cvips_header;
void cvips_read_header(cvips_image image, cvips_header *header);
// The embedded ICC profile, owned by the image; NULL if there is none.
const void *cvips_profile(cvips_image image, size_t *count);
// The XMP packet, likewise.
const void *cvips_xmp(cvips_image image, size_t *count);
// EXIF and IPTC as stored by libvips, possibly preceded by the file's marker or resource header.
const void *cvips_exif(cvips_image image, size_t *count);
const void *cvips_iptc(cvips_image image, size_t *count);
// The text field of that name, owned by the image, such as `exif-ifd0-Make`; NULL if it's absent.
const char *cvips_text(cvips_image image, const char *name);
// The integer field of that name, or `otherwise` if it's absent.
int cvips_number(cvips_image image, const char *name, int otherwise);
// The total size of all texts and opaque values that came with the pixels.
size_t cvips_metadata_bytes(cvips_image image);

// resample.c
// Lanczos 3; factors are at least 1. A box filter is applied first if the factor is above 2 ×
// `gap`.
int cvips_reduce_h(cvips_image in, double factor, double gap, cvips_image *out);
int cvips_reduce_v(cvips_image in, double factor, double gap, cvips_image *out);
// Bicubic, for factors from about 1. The result is exactly `width` × `height`; its top left corner
// is at `left`, `top` of `in`, in fractions of a pixel.
int cvips_enlarge(cvips_image in, double horizontal, double vertical, double left, double top,
                  int width, int height, cvips_image *out);
// 8-bit sRGB with alpha, reduced to exactly `width` × `height`, or unchanged if it has that size.
int cvips_miniature(cvips_image in, int width, int height, cvips_image *out);

// geometry.c
int cvips_extract(cvips_image in, int left, int top, int width, int height, cvips_image *out);
// The area outside `in` is filled with `background`, one value per band.
int cvips_embed(cvips_image in, int left, int top, int width, int height,
                const double *background, int bands, cvips_image *out);
// The area outside `in` is filled according to `edge`: 0 repeats the edge pixels, 1 repeats `in`, 2
// mirrors `in`.
int cvips_extend(cvips_image in, int left, int top, int width, int height, int edge,
                 cvips_image *out);
// `quarters` clockwise: 1, 2 or 3.
int cvips_rotate(cvips_image in, int quarters, cvips_image *out);
int cvips_flip_horizontal(cvips_image in, cvips_image *out);
int cvips_flip_vertical(cvips_image in, cvips_image *out);

// color.c
// 8 bits, or 16 if `is_deep`.
int cvips_to_srgb(cvips_image in, int is_deep, cvips_image *out);
int cvips_to_gray(cvips_image in, int is_deep, cvips_image *out);
// The first `count` bands of `in`.
int cvips_first_bands(cvips_image in, int count, cvips_image *out);
// Uses the embedded profile, relative colorimetric unless perceptual, keeping 8 or 16 bits.
int cvips_profile_to_srgb(cvips_image in, int is_perceptual, cvips_image *out);
// For three 8-bit bands that are JFIF Y, Cb and Cr.
int cvips_ycbcr_to_srgb(cvips_image in, cvips_image *out);

// hdr.c
typedef struct {
    // SMPTE ST 2084 if non-zero, otherwise ARIB STD-B67.
    int is_pq;
    // The integer sample that represents 1.
    double whole;
    // The luminance of SDR white, and for HLG of the display, in candela per square meter.
    double white;
    double peak;
    // Rows of linear sRGB red, green and blue as combinations of the image's, and luminance.
    double to_srgb[9];
    double luminance[3];
} cvips_hdr;
// 8-bit or 16-bit sRGB. Values brighter than SDR white or outside the sRGB gamut are clipped.
int cvips_hdr_to_srgb(cvips_image in, cvips_hdr hdr, int is_deep, cvips_image *out);
// Widens to the full 16-bit range: `whole` becomes 65,535.
int cvips_widen(cvips_image in, double whole, cvips_image *out);
// Reduces full-range 16-bit samples to 8 bits.
int cvips_narrow(cvips_image in, cvips_image *out);

// alpha.c
int cvips_flatten(cvips_image in, double red, double green, double blue, cvips_image *out);
int cvips_add_alpha(cvips_image in, cvips_image *out);
// Converts premultiplied colors to straight alpha, rounded to the format of `in`.
int cvips_unpremultiply(cvips_image in, cvips_image *out);

// save.c: pages of `page_height` rows, each shown for its delay in milliseconds; `plays` 0 means
// endlessly.
int cvips_animated(cvips_image in, int page_height, const int *delays, int count, int plays,
                   cvips_image *out);
// Composites `over` with its alpha multiplied by `opacity` (0 to 1) over `in` at `left`, `top`. It
// must lie within `in`. The result is 8-bit sRGB, with alpha if `in` has it.
int cvips_overlay(cvips_image in, cvips_image over, int left, int top, double opacity,
                  cvips_image *out);

// pixels.c: 8-bit samples. Alpha is kept, or weights the colors when pixels are combined.
// Outputs 3 colors, or with 1 row gray, each as a sum of the 3 colors of `in`: 3 factors and an
// offset per row. With `in_lab`, the 3 rows are those of CIELAB (D65).
int cvips_mix(cvips_image in, const double *terms, int rows, int in_lab, cvips_image *out);
// Maps each color sample through a table of 256 entries.
int cvips_map(cvips_image in, const uint8_t *curve, cvips_image *out);
int cvips_blur(cvips_image in, double sigma, cvips_image *out);
// The image plus `amount` times its difference from a blurred copy.
int cvips_unsharp(cvips_image in, double sigma, double amount, cvips_image *out);
// Squares of one color, starting at the top left corner.
int cvips_pixelate(cvips_image in, int side, cvips_image *out);
// Rotates counterclockwise about the center onto a transparent canvas. `in` must have alpha.
int cvips_turn(cvips_image in, double radians, int width, int height, cvips_image *out);
// The most salient region of that size, or with `by_entropy` the one with the highest entropy.
int cvips_smart_crop(cvips_image in, int width, int height, int by_entropy, cvips_image *out);

// save.c: `write` consumes all `count` bytes and returns 0; any other value ends the save.
typedef int (*cvips_sink)(void *context, const void *bytes, size_t count);
typedef struct {
    int quality;
    int progressive;
    int optimise_coding;
    int subsampling;
    int strip;
} cvips_jpeg_options;
typedef struct {
    // The base 2 logarithm of the number of colors; 0 means no palette.
    int bits;
    int quality;
    double dither;
} cvips_palette;
typedef struct {
    int compression;
    int filter_bits;
    int interlace;
    cvips_palette palette;
    int strip;
} cvips_png_options;
typedef struct {
    int quality;
    int lossless;
    int effort;
    int strip;
} cvips_webp_options;
typedef struct {
    // The base 2 logarithm of the number of colors.
    int bits;
    double dither;
    int effort;
    int interlace;
} cvips_gif_options;
typedef struct {
    int quality;
    int lossless;
    int effort;
    int strip;
} cvips_jxl_options;
int cvips_save_jpeg(cvips_image in, cvips_jpeg_options options, cvips_sink sink, void *context);
int cvips_save_png(cvips_image in, cvips_png_options options, cvips_sink sink, void *context);
int cvips_save_webp(cvips_image in, cvips_webp_options options, cvips_sink sink, void *context);
int cvips_save_gif(cvips_image in, cvips_gif_options options, cvips_sink sink, void *context);
// Compressed with deflate. `predicts` stores each sample as the difference from the previous one.
// The output is written at once.
int cvips_save_tiff(cvips_image in, int predicts, int strip, cvips_sink sink, void *context);
int cvips_save_jxl(cvips_image in, cvips_jxl_options options, cvips_sink sink, void *context);

// enclose.c: attaches copies of this metadata to the same pixels; NULL means none. Savers that
// don't strip metadata write it.
typedef struct {
    const void *bytes;
    size_t count;
} cvips_bytes;
int cvips_enclose(cvips_image in, cvips_bytes profile, cvips_bytes xmp, cvips_image *out);
// Attaches the EXIF of `from`: the raw bytes and a text per entry.
int cvips_enclose_exif(cvips_image in, cvips_image from, cvips_image *out);
// Sets a numeric header field.
int cvips_state(cvips_image in, const char *name, int number, cvips_image *out);

// progress.c: `stop` is called while pixels of `image` or of images derived from it are computed.
// If it returns non-zero, the computation fails with a text that contains "killed". `release` is
// called once with `context` when the image is destroyed.
typedef int (*cvips_stop)(void *context);
typedef void (*cvips_release)(void *context);
void cvips_watch(cvips_image image, cvips_stop stop, void *context, cvips_release release);
