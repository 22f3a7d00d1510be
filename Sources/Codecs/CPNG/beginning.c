#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "CPNG.h"

// The number of bytes passed to libpng at a time: libpng may copy them together with bytes it kept.
enum { STEP_BYTES = 1 << 16 };

// The size of a chunk without its data.
enum { SIGNATURE_BYTES = 8, CHUNK_BYTES = 12 };

typedef struct {
    cpng_form form;
    uint8_t *pixels;
    cpng_stop stop;
    void *context;
    int passes;
    int rows;
    int is_complete;
    cpng_failure *failure;
} reader;

static _Noreturn void fail(png_structp png, cpng_failure *failure, cpng_status status,
                           const char *text) {
    failure->status = status;
    strncpy(failure->text, text, CPNG_TEXT_MAX - 1);
    failure->text[CPNG_TEXT_MAX - 1] = 0;
    png_longjmp(png, 1);
}

static void on_error(png_structp png, png_const_charp text) {
    reader *reader = png_get_error_ptr(png);
    fail(png, reader->failure, CPNG_CORRUPT, text);
}

static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

static size_t row_bytes(cpng_form form) {
    return (size_t)form.width * (size_t)form.bands * (size_t)form.bytes_per_band;
}

static int fits(png_structp png, png_infop info, cpng_form form) {
    return png_get_image_width(png, info) == (png_uint_32)form.width &&
           png_get_image_height(png, info) == (png_uint_32)form.height &&
           png_get_channels(png, info) == form.bands &&
           png_get_bit_depth(png, info) == 8 * form.bytes_per_band &&
           png_get_rowbytes(png, info) == row_bytes(form);
}

static void on_info(png_structp png, png_infop info) {
    reader *reader = png_get_progressive_ptr(png);
    png_set_expand(png);
    if (png_get_bit_depth(png, info) == 16)
        png_set_swap(png);
    reader->passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (!fits(png, info, reader->form))
        fail(png, reader->failure, CPNG_MISFIT, "another image than its header says");
}

// `row` is NULL if a pass doesn't change it.
static void on_row(png_structp png, png_bytep row, png_uint_32 y, int pass) {
    reader *reader = png_get_progressive_ptr(png);
    if (reader->stop(reader->context))
        fail(png, reader->failure, CPNG_CANCELLED, "stopped by the caller");
    if (y >= (png_uint_32)reader->form.height)
        return;
    int place = (int)y + 1;
    reader->is_complete = pass == reader->passes - 1 && place == reader->form.height;
    if (!row)
        return;
    png_progressive_combine_row(png, reader->pixels + y * row_bytes(reader->form), row);
    if (place > reader->rows)
        reader->rows = place;
}

// Other chunks don't affect pixels and may be large.
static void pass_other_chunks(png_structp png) {
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
}

static size_t number_at(const uint8_t *bytes) {
    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
}

// Returns the offset after the last chunk of the first run of pixel chunks; the rest is unused.
static size_t end_of_pixels(const uint8_t *bytes, size_t count) {
    size_t offset = SIGNATURE_BYTES;
    int has_pixels = 0;
    while (offset + CHUNK_BYTES <= count) {
        int is_of_pixels = !memcmp(bytes + offset + 4, "IDAT", 4);
        if (has_pixels && !is_of_pixels)
            return offset;
        has_pixels = is_of_pixels;
        offset += CHUNK_BYTES + number_at(bytes + offset);
    }
    return count;
}

static void read_all(png_structp png, png_infop info, reader *reader, const uint8_t *bytes,
                     size_t count) {
    pass_other_chunks(png);
    png_set_progressive_read_fn(png, reader, on_info, on_row, NULL);
    size_t end = end_of_pixels(bytes, count);
    for (size_t offset = 0; offset < end; offset += STEP_BYTES) {
        size_t left = end - offset;
        // libpng never writes to the bytes; its parameter merely lacks the const.
        png_process_data(png, info, (png_bytep)bytes + offset,
                         left < STEP_BYTES ? left : STEP_BYTES);
    }
}

static cpng_status status_of(const reader *reader) {
    cpng_status status = reader->failure->status;
    return status == CPNG_CORRUPT && reader->rows > 0 ? CPNG_OK : status;
}

// A separate function, so that no local variable of the caller changes between setjmp and longjmp.
static void read_guarded(png_structp png, png_infop info, reader *reader, const uint8_t *bytes,
                         size_t count) {
    if (setjmp(png_jmpbuf(png)) == 0)
        read_all(png, info, reader, bytes, count);
}

cpng_status cpng_read_beginning(const void *bytes, size_t count, cpng_form form, uint8_t *pixels,
                                cpng_stop stop, void *context, int *rows, int *is_whole,
                                cpng_failure *failure) {
    *failure = (cpng_failure){CPNG_OK, ""};
    reader reader = {.form = form, .pixels = pixels, .stop = stop, .context = context,
                     .passes = 1, .failure = failure};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (info)
        read_guarded(png, info, &reader, bytes, count);
    else
        failure->status = CPNG_NO_MEMORY;
    png_destroy_read_struct(&png, &info, NULL);
    *rows = reader.rows;
    *is_whole = reader.is_complete && failure->status == CPNG_OK;
    return status_of(&reader);
}
