#include <string.h>

#include "decoder.h"

cjpeg_status cjpeg_select_rows(cjpeg_decoder *decoder, int eighths, cjpeg_size *size,
                               cjpeg_failure *failure) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    *failure = (cjpeg_failure){CJPEG_OK, ""};
    decoder->guard.failure = failure;
    if (setjmp(decoder->guard.escape))
        return failure->status;
    jpeg->scale_num = (unsigned)eighths;
    jpeg->scale_denom = DCTSIZE;
    jpeg_calc_output_dimensions(jpeg);
    *size = (cjpeg_size){
        .width = (int)jpeg->output_width,
        .height = (int)jpeg->output_height,
        .bands = jpeg->output_components,
    };
    return CJPEG_OK;
}

// Whether there is anything to show: a row of MCUs in the first scan, or any later scan.
static int has_shown(const cjpeg_source *source) {
    return !source->has_ended || source->scan > 1 || source->rows > 0;
}

// Whether every coefficient arrived at full precision. If the file has its own end-of-image marker
// that's known already. Arithmetic decoding doesn't detect the end of its data.
static int has_all_scans(const struct jpeg_decompress_struct *jpeg) {
    if (jpeg->arith_code)
        return 0;
    if (!jpeg->progressive_mode)
        return jpeg->input_scan_number * jpeg->comps_in_scan >= jpeg->num_components;
    for (int i = 0; i < jpeg->num_components; i++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (jpeg->coef_bits[i][k] != 0)
                return 0;
    return 1;
}

static int is_whole(const cjpeg_decoder *decoder) {
    return decoder->source.has_ended && !decoder->guard.lacks_data &&
           has_all_scans(&decoder->jpeg);
}

// Adobe's programs store CMYK inverted, as light instead of ink.
static int is_inverted(const struct jpeg_decompress_struct *jpeg) {
    return jpeg->out_color_space == JCS_CMYK && jpeg->saw_Adobe_marker;
}

static void invert(uint8_t *samples, size_t count) {
    for (size_t i = 0; i < count; i++)
        samples[i] = (uint8_t)(255 - samples[i]);
}

static void read_rows(struct jpeg_decompress_struct *jpeg, uint8_t *pixels, size_t row_bytes,
                      int rows) {
    size_t whole = (size_t)jpeg->output_width * (size_t)jpeg->output_components;
    JSAMPROW line = jpeg->mem->alloc_large((j_common_ptr)jpeg, JPOOL_IMAGE, whole);
    for (int y = 0; y < rows; y++) {
        if (jpeg_read_scanlines(jpeg, &line, 1) == 0)
            cjpeg_fail((j_common_ptr)jpeg, CJPEG_INTERNAL, "no rows where some are left");
        if (is_inverted(jpeg))
            invert(line, row_bytes);
        memcpy(pixels + (size_t)y * row_bytes, line, row_bytes);
    }
}

cjpeg_status cjpeg_decode_rows(cjpeg_decoder *decoder, uint8_t *pixels, int columns, int rows,
                               cjpeg_stop stop, void *context, cjpeg_arrival *arrival,
                               cjpeg_failure *failure) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    *failure = (cjpeg_failure){CJPEG_OK, ""};
    decoder->guard.failure = failure;
    decoder->guard.stop = stop;
    decoder->guard.context = context;
    if (setjmp(decoder->guard.escape))
        return failure->status;
    jpeg_start_decompress(jpeg);
    if (columns > (int)jpeg->output_width || rows > (int)jpeg->output_height)
        cjpeg_fail((j_common_ptr)jpeg, CJPEG_INTERNAL, "more rows than there are");
    read_rows(jpeg, pixels, (size_t)columns * (size_t)jpeg->output_components, rows);
    *arrival = is_whole(decoder)               ? CJPEG_ARRIVED
               : has_shown(&decoder->source) ? CJPEG_ARRIVED_IN_PART
                                               : CJPEG_NOT_ARRIVED;
    return CJPEG_OK;
}
