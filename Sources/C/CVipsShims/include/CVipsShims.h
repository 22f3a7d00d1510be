// One plain function per libvips operation that the project uses: no variadics, no GObject macros,
// no libvips types, so that Swift can import it.
//
// Rules that every function keeps: it answers 0, or -1 with the reason in libvips' error buffer;
// an out-parameter is set to NULL first and holds a new reference only after 0.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct _VipsImage *cvips_image;

// library.c, modules.c, permits.c
typedef void (*cvips_log)(int level, const char *domain, const char *message);
int cvips_start(cvips_log log);
// Lets the loader of that name through, such as `pngload_buffer`; all are blocked at the start.
// Where libvips has it in a module, that is loaded first: `module` is its name, such as `heif`, or
// NULL. -1 where this libvips does not have it; nothing is in the error buffer then.
int cvips_permit_loader(const char *name, const char *module);
// The same of a saver that libvips does not trust, such as `jxlsave_target`; others are free.
int cvips_permit_saver(const char *name, const char *module);
void cvips_set_concurrency(int threads);
size_t cvips_memory_in_use(void);
int cvips_files_in_use(void);
// The text of the error buffer, which is emptied. Free with `cvips_free`.
char *cvips_take_error(void);
void cvips_forget_errors(void);
void cvips_free(void *memory);
void cvips_unref(cvips_image image);

// load.c: the bytes must outlive the image. A damaged or short file fails when pixels are made.
// `name` is that of a loader that was permitted; options are its numbers, such as `shrink`.
typedef struct {
    const char *name;
    double value;
} cvips_option;
// `may_end`: of a file that ends early the pixels are made that are there.
int cvips_load(const char *name, const void *bytes, size_t count, int may_end,
               const cvips_option *options, size_t option_count, cvips_image *out);

// memory.c
// Bands of 1 or 2 `bytes`, rows without padding; the pixels must outlive the image. `is_cmyk`: what
// four bands are.
int cvips_wrap(const void *pixels, size_t count, int width, int height, int bands, int bytes,
               int is_cmyk, cvips_image *out);
// Zeros that take no memory; bands of 1 or 2 `bytes`.
int cvips_blank(int width, int height, int bands, int bytes, cvips_image *out);
// Makes all pixels once, into memory that the new image owns.
int cvips_copy_memory(cvips_image in, cvips_image *out);
// All pixels, made first unless they are in memory: as long as the image lives. NULL for an error.
const void *cvips_pixels(cvips_image in, size_t *count);
// Makes all pixels and writes them to `pixels`, which holds exactly `count` bytes.
int cvips_write(cvips_image in, void *pixels, size_t count);

// header.c
typedef enum {
    CVIPS_COLOUR_OTHER = 0,
    CVIPS_COLOUR_GREY,
    CVIPS_COLOUR_GREY16,
    CVIPS_COLOUR_RGB,
    CVIPS_COLOUR_RGB16,
    CVIPS_COLOUR_CMYK,
} cvips_colour;
typedef enum {
    CVIPS_SAMPLES_OTHER = 0,
    // 8 or 16 bits without a sign.
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
    // Of EXIF; 0 where that says nothing.
    int orientation;
    int has_alpha;
    int interlaced;
    cvips_colour colour;
} cvips_header;
void cvips_read_header(cvips_image image, cvips_header *header);
// The embedded ICC profile, owned by the image; NULL without one.
const void *cvips_profile(cvips_image image, size_t *count);
// The XMP packet, likewise.
const void *cvips_xmp(cvips_image image, size_t *count);
// EXIF and IPTC as libvips keeps them: what of a file comes before them may be in front.
const void *cvips_exif(cvips_image image, size_t *count);
const void *cvips_iptc(cvips_image image, size_t *count);
// The text of that name, owned by the image, such as `exif-ifd0-Make`; NULL without one.
const char *cvips_text(cvips_image image, const char *name);
// The whole number of that name; `otherwise` without one.
int cvips_number(cvips_image image, const char *name, int otherwise);
// Bytes of all texts and opaque values that came with the pixels.
size_t cvips_metadata_bytes(cvips_image image);

// resample.c
// Lanczos 3; factors are at least 1; a box filter first where the factor is above 2 × `gap`.
int cvips_reduce_h(cvips_image in, double factor, double gap, cvips_image *out);
int cvips_reduce_v(cvips_image in, double factor, double gap, cvips_image *out);
// Bicubic, for factors from about 1 on; the result is exactly `width` × `height`, and its top left
// corner is at `left`, `top` of `in`, in fractions of a pixel.
int cvips_enlarge(cvips_image in, double horizontal, double vertical, double left, double top,
                  int width, int height, cvips_image *out);
// sRGB of 8 bits with alpha, made smaller to exactly `width` × `height`, or left as it is where it
// has that size.
int cvips_miniature(cvips_image in, int width, int height, cvips_image *out);

// geometry.c
int cvips_extract(cvips_image in, int left, int top, int width, int height, cvips_image *out);
// What lies outside `in` gets `background`, one value for each band.
int cvips_embed(cvips_image in, int left, int top, int width, int height,
                const double *background, int bands, cvips_image *out);
// What lies outside `in` repeats, by `edge`: 0 the pixels of its edge, 1 `in`, 2 `in` mirrored.
int cvips_extend(cvips_image in, int left, int top, int width, int height, int edge,
                 cvips_image *out);
// `quarters` clockwise: 1, 2 or 3.
int cvips_rotate(cvips_image in, int quarters, cvips_image *out);
int cvips_flip_horizontal(cvips_image in, cvips_image *out);
int cvips_flip_vertical(cvips_image in, cvips_image *out);

// colour.c
// 8 bits, or 16 where `is_deep`.
int cvips_to_srgb(cvips_image in, int is_deep, cvips_image *out);
int cvips_to_grey(cvips_image in, int is_deep, cvips_image *out);
// The first `count` bands of those that `in` has.
int cvips_first_bands(cvips_image in, int count, cvips_image *out);
// By the embedded profile, relative colorimetric unless perceptual; 8 or 16 bits as the input has
// them.
int cvips_profile_to_srgb(cvips_image in, int is_perceptual, cvips_image *out);
// Of three bands of 8 bits that are Y, Cb and Cr as in JFIF.
int cvips_ycbcr_to_srgb(cvips_image in, cvips_image *out);

// hdr.c
typedef struct {
    // SMPTE ST 2084, else ARIB STD-B67.
    int is_pq;
    // The number in the samples that is 1.
    double whole;
    // The light of SDR white in candela per square metre, and of the display for HLG.
    double white;
    double peak;
    // Rows of linear red, green and blue of sRGB in those of the image, and these in luminance.
    double to_srgb[9];
    double luminance[3];
} cvips_hdr;
// sRGB of 8 bits, or of 16; what is brighter than SDR white, or no colour of sRGB, is cut off.
int cvips_hdr_to_srgb(cvips_image in, cvips_hdr hdr, int is_deep, cvips_image *out);
// The same image in 16 bits all of which are used: `whole` becomes 65,535.
int cvips_widen(cvips_image in, double whole, cvips_image *out);
// 16 bits, all of which are used, in 8.
int cvips_narrow(cvips_image in, cvips_image *out);

// alpha.c
int cvips_flatten(cvips_image in, double red, double green, double blue, cvips_image *out);
int cvips_add_alpha(cvips_image in, cvips_image *out);
// Colours as they are without the alpha of the last band, rounded to the format of `in`.
int cvips_unpremultiply(cvips_image in, cvips_image *out);

// save.c: pages of `page_height` rows, shown for so many milliseconds each; `plays` 0: without end.
int cvips_animated(cvips_image in, int page_height, const int *delays, int count, int plays,
                   cvips_image *out);
// `over`, of which `opacity` (0 to 1) is left, blended over `in` at `left`, `top`, within which it
// lies. sRGB of 8 bits, with alpha where `in` has it.
int cvips_overlay(cvips_image in, cvips_image over, int left, int top, double opacity,
                  cvips_image *out);

// pixels.c: samples of 8 bits; alpha stays, or weighs the colours where several pixels become one.
// Each of 3 colours, or (1 row) grey, as a sum of the 3 of `in`: 3 factors a row.
int cvips_mix(cvips_image in, const double *factors, int rows, cvips_image *out);
// Each sample of a colour by a table of 256.
int cvips_map(cvips_image in, const uint8_t *curve, cvips_image *out);
int cvips_blur(cvips_image in, double sigma, cvips_image *out);
// Twice the image without what a blur of it shows.
int cvips_unsharp(cvips_image in, double sigma, cvips_image *out);
// Squares of one colour, from the top left corner on.
int cvips_pixelate(cvips_image in, int side, cvips_image *out);
// Turned counter-clockwise about its centre, on a transparent canvas. `in` has alpha.
int cvips_turn(cvips_image in, double radians, int width, int height, cvips_image *out);
// The part of a size that is most striking, or (`by_entropy`) shows most.
int cvips_smart_crop(cvips_image in, int width, int height, int by_entropy, cvips_image *out);

// save.c: `write` takes all `count` bytes and answers 0, or ends the save with another value.
typedef int (*cvips_sink)(void *context, const void *bytes, size_t count);
typedef struct {
    int quality;
    int progressive;
    int optimise_coding;
    int subsampling;
    int strip;
} cvips_jpeg_options;
typedef struct {
    // The power of two that is the number of colours; 0: no palette.
    int bits;
    int quality;
    double dither;
    int effort;
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
    // The power of two that is the number of colours.
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
// Deflated; `predicts`: each sample as the difference to the one before it. In one piece.
int cvips_save_tiff(cvips_image in, int predicts, int strip, cvips_sink sink, void *context);
int cvips_save_jxl(cvips_image in, cvips_jxl_options options, cvips_sink sink, void *context);

// enclose.c: the same pixels with copies of these beside them; NULL: none of that sort. Savers that
// do not strip write them.
typedef struct {
    const void *bytes;
    size_t count;
} cvips_bytes;
int cvips_enclose(cvips_image in, cvips_bytes profile, cvips_bytes xmp, cvips_image *out);
// The same pixels with the EXIF of `from`: its bytes, and a text for each entry.
int cvips_enclose_exif(cvips_image in, cvips_image from, cvips_image *out);
// The same pixels with a number in the header.
int cvips_state(cvips_image in, const char *name, int number, cvips_image *out);

// progress.c: `stop` is called as pixels of `image`, or of what is made from it, are computed; when
// it answers non-zero, the computation fails with a text that says "killed". `release` is called
// once with `context`, when the image goes.
typedef int (*cvips_stop)(void *context);
typedef void (*cvips_release)(void *context);
void cvips_watch(cvips_image image, cvips_stop stop, void *context, cvips_release release);
