#include <stdlib.h>
#include <string.h>

#include "decoder.h"

// A row of MCUs has at most 4 blocks of 8 rows in each component.
enum { ROWS_MAX = 4 * DCTSIZE };

static void on_progress(j_common_ptr jpeg) {
    const cjpeg_decoder *decoder = (const cjpeg_decoder *)jpeg;
    if (decoder->jpeg.input_scan_number > decoder->scans_max)
        cjpeg_fail(jpeg, CJPEG_UNSUPPORTED, "more scans than permitted");
    cjpeg_ask(jpeg);
}

static size_t coefficient_bytes(const struct jpeg_decompress_struct *jpeg) {
    size_t blocks = 0;
    for (int i = 0; i < jpeg->num_components; i++) {
        const jpeg_component_info *part = &jpeg->comp_info[i];
        size_t h = (size_t)part->h_samp_factor, v = (size_t)part->v_samp_factor;
        blocks += ((part->width_in_blocks + h - 1) / h * h) *
                  ((part->height_in_blocks + v - 1) / v * v);
    }
    return blocks * sizeof(JBLOCK);
}

static cjpeg_color color_of(const struct jpeg_decompress_struct *jpeg) {
    if (jpeg->jpeg_color_space == JCS_GRAYSCALE && jpeg->num_components == 1)
        return CJPEG_COLOR_GRAY;
    if (jpeg->jpeg_color_space == JCS_YCbCr && jpeg->num_components == 3)
        return CJPEG_COLOR_YCBCR;
    return CJPEG_COLOR_OTHER;
}

static void describe(const struct jpeg_decompress_struct *jpeg, cjpeg_header *header) {
    int has_many_scans = jpeg->progressive_mode || jpeg->comps_in_scan < jpeg->num_components;
    *header = (cjpeg_header){
        .width = (int)jpeg->image_width,
        .height = (int)jpeg->image_height,
        .components = jpeg->num_components,
        .color = color_of(jpeg),
        .coefficient_bytes = has_many_scans ? coefficient_bytes(jpeg) : 0,
    };
}

cjpeg_decoder *cjpeg_open(const void *bytes, size_t count, cjpeg_limits limits,
                          cjpeg_header *header, cjpeg_failure *failure) {
    cjpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) {
        *failure = (cjpeg_failure){CJPEG_NO_MEMORY, "no memory for a decoder"};
        return NULL;
    }
    decoder->scans_max = limits.scans_max;
    decoder->guard.failure = failure;
    decoder->guard.passes_warnings = limits.takes_beginning;
    decoder->source.may_end = limits.takes_beginning;
    decoder->jpeg.err = cjpeg_guard_errors(&decoder->guard);
    if (setjmp(decoder->guard.escape)) {
        cjpeg_close(decoder);
        return NULL;
    }
    jpeg_create_decompress(&decoder->jpeg);
    decoder->jpeg.mem->max_memory_to_use = limits.memory_max;
    decoder->guard.progress.progress_monitor = on_progress;
    decoder->jpeg.progress = &decoder->guard.progress;
    cjpeg_set_source(&decoder->jpeg, &decoder->source, bytes, count);
    jpeg_read_header(&decoder->jpeg, TRUE);
    describe(&decoder->jpeg, header);
    return decoder;
}

void cjpeg_close(cjpeg_decoder *decoder) {
    jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder);
}

// libjpeg can output raw planes of such files, but neither libjpeg nor libvips decodes their
// pixels.
static int has_fractional_sampling(const struct jpeg_decompress_struct *jpeg) {
    for (int i = 0; i < jpeg->num_components; i++)
        if (jpeg->max_h_samp_factor % jpeg->comp_info[i].h_samp_factor ||
            jpeg->max_v_samp_factor % jpeg->comp_info[i].v_samp_factor)
            return 1;
    return 0;
}

cjpeg_status cjpeg_select_planes(cjpeg_decoder *decoder, int eighths, cjpeg_failure *failure) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    *failure = (cjpeg_failure){CJPEG_OK, ""};
    decoder->guard.failure = failure;
    if (setjmp(decoder->guard.escape))
        return failure->status;
    cjpeg_color color = color_of(jpeg);
    if (color == CJPEG_COLOR_OTHER)
        cjpeg_fail((j_common_ptr)jpeg, CJPEG_UNSUPPORTED, "neither gray nor YCbCr");
    if (has_fractional_sampling(jpeg))
        cjpeg_fail((j_common_ptr)jpeg, CJPEG_UNSUPPORTED, "fractional sampling");
    jpeg->raw_data_out = TRUE;
    jpeg->out_color_space = color == CJPEG_COLOR_GRAY ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg->scale_num = (unsigned)eighths;
    jpeg->scale_denom = DCTSIZE;
    jpeg_calc_output_dimensions(jpeg);
    return CJPEG_OK;
}

// The samples per row of MCUs in each direction, to which the planes' sizes are proportional.
static int columns_of(const jpeg_component_info *part) {
    return part->h_samp_factor * part->DCT_scaled_size;
}

static int rows_of(const jpeg_component_info *part) {
    return part->v_samp_factor * part->DCT_scaled_size;
}

static size_t round_up(size_t number, size_t unit) {
    return (number + unit - 1) / unit * unit;
}

typedef struct {
    size_t width;
    size_t height;
} extent;

// The size that libjpeg writes: whole blocks.
static extent written_of(const jpeg_component_info *part) {
    size_t block = (size_t)part->DCT_scaled_size;
    return (extent){part->width_in_blocks * block, part->height_in_blocks * block};
}

// The same, rounded up so that each sample of a smaller plane has all of its samples here: blocks
// of one sample, at an eighth of the size, may end in the middle of a chroma sample.
static extent padded_of(const struct jpeg_decompress_struct *jpeg,
                        const jpeg_component_info *part) {
    extent padded = written_of(part);
    for (int i = 0; i < jpeg->num_components; i++) {
        const jpeg_component_info *other = &jpeg->comp_info[i];
        int h = columns_of(part) / columns_of(other), v = rows_of(part) / rows_of(other);
        padded.width = round_up(padded.width, h > 1 ? (size_t)h : 1);
        padded.height = round_up(padded.height, v > 1 ? (size_t)v : 1);
    }
    return padded;
}

cjpeg_plane cjpeg_plane_of(const cjpeg_decoder *decoder, int component) {
    const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    const jpeg_component_info *part = &jpeg->comp_info[component];
    // Per component: chroma of a subsampled file is upsampled if that's free.
    double columns = (double)jpeg->image_width * columns_of(part);
    double rows = (double)jpeg->image_height * rows_of(part);
    extent padded = padded_of(jpeg, part);
    return (cjpeg_plane){
        .width = (int)part->downsampled_width,
        .height = (int)part->downsampled_height,
        .padded_width = (int)padded.width,
        .padded_height = (int)padded.height,
        .active_width = columns / (jpeg->max_h_samp_factor * DCTSIZE),
        .active_height = rows / (jpeg->max_v_samp_factor * DCTSIZE),
    };
}

// Points libjpeg to the rows of one row of MCUs. Rows beyond the last block aren't written but need
// a valid address.
static void aim(const struct jpeg_decompress_struct *jpeg, int component, size_t mcu_row,
                uint8_t *base, size_t stride, JSAMPROW spare, JSAMPROW *rows) {
    const jpeg_component_info *part = &jpeg->comp_info[component];
    size_t count = (size_t)rows_of(part);
    size_t end = written_of(part).height;
    for (size_t i = 0; i < count; i++) {
        size_t y = mcu_row * count + i;
        rows[i] = y < end ? base + y * stride : spare;
    }
}

static size_t widest(const struct jpeg_decompress_struct *jpeg) {
    size_t width = 0;
    for (int i = 0; i < jpeg->num_components; i++) {
        size_t written = written_of(&jpeg->comp_info[i]).width;
        width = written > width ? written : width;
    }
    return width;
}

static void read_planes(struct jpeg_decompress_struct *jpeg, uint8_t *const *bases,
                        const size_t *strides) {
    JSAMPROW rows[3][ROWS_MAX];
    JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
    JSAMPROW spare = jpeg->mem->alloc_large((j_common_ptr)jpeg, JPOOL_IMAGE, widest(jpeg));
    JDIMENSION lines = (JDIMENSION)(jpeg->max_v_samp_factor * jpeg->min_DCT_scaled_size);
    for (size_t mcu_row = 0; jpeg->output_scanline < jpeg->output_height; mcu_row++) {
        for (int i = 0; i < jpeg->num_components; i++)
            aim(jpeg, i, mcu_row, bases[i], strides[i], spare, rows[i]);
        if (jpeg_read_raw_data(jpeg, planes, lines) == 0)
            cjpeg_fail((j_common_ptr)jpeg, CJPEG_INTERNAL, "no rows where some are left");
    }
}

// Fills the padding beyond the blocks by repeating the last column and row, so that no old memory
// content remains in a plane, which might be another picture.
static void pad(const struct jpeg_decompress_struct *jpeg, int component, uint8_t *base,
                size_t stride) {
    const jpeg_component_info *part = &jpeg->comp_info[component];
    extent written = written_of(part), padded = padded_of(jpeg, part);
    for (size_t y = 0; padded.width > written.width && y < written.height; y++) {
        uint8_t *end = base + y * stride + written.width;
        memset(end, end[-1], padded.width - written.width);
    }
    for (size_t y = written.height; y < padded.height; y++)
        memcpy(base + y * stride, base + (written.height - 1) * stride, padded.width);
}

cjpeg_status cjpeg_decode(cjpeg_decoder *decoder, uint8_t *const *bases, const size_t *strides,
                          cjpeg_stop stop, void *context, cjpeg_failure *failure) {
    *failure = (cjpeg_failure){CJPEG_OK, ""};
    decoder->guard.failure = failure;
    decoder->guard.stop = stop;
    decoder->guard.context = context;
    if (setjmp(decoder->guard.escape))
        return failure->status;
    jpeg_start_decompress(&decoder->jpeg);
    read_planes(&decoder->jpeg, bases, strides);
    for (int i = 0; i < decoder->jpeg.num_components; i++)
        pad(&decoder->jpeg, i, bases[i], strides[i]);
    // The rest of the file isn't read, as in libvips: all pixels are complete.
    return CJPEG_OK;
}
