#include <stdlib.h>
#include <string.h>

#include "guard.h"

// A row of MCUs has at most 2 blocks of 8 rows in each component.
enum { ROWS_MAX = 2 * DCTSIZE, PLANES_MAX = 3, OUTPUT_MIN = 4096 };

typedef struct {
    struct jpeg_compress_struct jpeg;
    cjpeg_guard guard;
    struct jpeg_destination_mgr destination;
    cjpeg_next next;
    void *context;
    size_t given;
} encoder;

static void take_memory(j_compress_ptr jpeg) {
    encoder *own = (encoder *)jpeg;
    size_t count = 0;
    uint8_t *memory = own->next(own->context, OUTPUT_MIN, &count);
    if (!memory || !count) {
        own->destination.free_in_buffer = 0;
        cjpeg_fail((j_common_ptr)jpeg, CJPEG_REFUSED, "the sink gave no memory");
    }
    own->given += count;
    own->destination.next_output_byte = memory;
    own->destination.free_in_buffer = count;
}

static boolean on_full(j_compress_ptr jpeg) {
    take_memory(jpeg);
    return TRUE;
}

static void on_end(j_compress_ptr jpeg) {
    (void)jpeg;
}

static void set_up(encoder *own, cjpeg_encoding encoding) {
    struct jpeg_compress_struct *jpeg = &own->jpeg;
    jpeg_create_compress(jpeg);
    jpeg->progress = &own->guard.progress;
    jpeg->dest = &own->destination;
    own->destination.init_destination = take_memory;
    own->destination.empty_output_buffer = on_full;
    own->destination.term_destination = on_end;
    jpeg->image_width = (JDIMENSION)encoding.width;
    jpeg->image_height = (JDIMENSION)encoding.height;
    jpeg->input_components = encoding.components;
    jpeg->in_color_space = encoding.components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, encoding.quality, TRUE);
    jpeg->comp_info[0].h_samp_factor = encoding.horizontal;
    jpeg->comp_info[0].v_samp_factor = encoding.vertical;
    jpeg->optimize_coding = encoding.optimises_coding ? TRUE : FALSE;
    jpeg->raw_data_in = TRUE;
    if (encoding.is_progressive)
        jpeg_simple_progression(jpeg);
}

// One component to be passed to libjpeg, which requires whole blocks.
typedef struct {
    const uint8_t *base;
    size_t stride;
    size_t width;
    size_t height;
    size_t padded_width;
    size_t rows; // per row of MCUs
    // For one row of MCUs, if the width isn't a multiple of a block's.
    JSAMPARRAY scratch;
} component;

static component component_of(encoder *own, int index, const uint8_t *base, size_t stride) {
    const jpeg_component_info *part = &own->jpeg.comp_info[index];
    component result = {
        .base = base,
        .stride = stride,
        .width = part->downsampled_width,
        .height = part->downsampled_height,
        .padded_width = (size_t)part->width_in_blocks * DCTSIZE,
        .rows = (size_t)part->v_samp_factor * DCTSIZE,
    };
    if (result.width < result.padded_width)
        result.scratch = own->jpeg.mem->alloc_sarray((j_common_ptr)&own->jpeg, JPOOL_IMAGE,
                                                     (JDIMENSION)result.padded_width,
                                                     (JDIMENSION)result.rows);
    return result;
}

// Collects the rows of one row of MCUs, repeating the last column and row. Rows of whole blocks are
// used in place.
static void gather(const component *part, size_t mcu_row, JSAMPROW *rows) {
    for (size_t i = 0; i < part->rows; i++) {
        size_t y = mcu_row * part->rows + i;
        y = y < part->height ? y : part->height - 1;
        const uint8_t *row = part->base + y * part->stride;
        if (part->scratch) {
            memcpy(part->scratch[i], row, part->width);
            memset(part->scratch[i] + part->width, row[part->width - 1],
                   part->padded_width - part->width);
            row = part->scratch[i];
        }
        rows[i] = (JSAMPROW)row; // libjpeg only reads it
    }
}

static void write_planes(encoder *own, const uint8_t *const *bases, const size_t *strides) {
    struct jpeg_compress_struct *jpeg = &own->jpeg;
    component parts[PLANES_MAX];
    JSAMPROW rows[PLANES_MAX][ROWS_MAX];
    JSAMPARRAY planes[PLANES_MAX] = {rows[0], rows[1], rows[2]};
    for (int i = 0; i < jpeg->num_components; i++)
        parts[i] = component_of(own, i, bases[i], strides[i]);
    JDIMENSION lines = (JDIMENSION)(jpeg->max_v_samp_factor * DCTSIZE);
    for (size_t mcu_row = 0; jpeg->next_scanline < jpeg->image_height; mcu_row++) {
        for (int i = 0; i < jpeg->num_components; i++)
            gather(&parts[i], mcu_row, rows[i]);
        if (jpeg_write_raw_data(jpeg, planes, lines) == 0)
            cjpeg_fail((j_common_ptr)jpeg, CJPEG_INTERNAL, "rows were not taken");
    }
}

cjpeg_status cjpeg_encode(cjpeg_encoding encoding, const uint8_t *const *bases,
                          const size_t *strides, cjpeg_next next, cjpeg_stop stop, void *context,
                          size_t *written, cjpeg_failure *failure) {
    *failure = (cjpeg_failure){CJPEG_OK, ""};
    encoder *own = calloc(1, sizeof *own);
    if (!own) {
        *failure = (cjpeg_failure){CJPEG_NO_MEMORY, "no memory for an encoder"};
        return failure->status;
    }
    own->guard.failure = failure;
    own->guard.stop = stop;
    own->guard.context = context;
    own->guard.progress.progress_monitor = cjpeg_ask;
    own->next = next;
    own->context = context;
    own->jpeg.err = cjpeg_guard_errors(&own->guard);
    if (!setjmp(own->guard.escape)) {
        set_up(own, encoding);
        jpeg_start_compress(&own->jpeg, TRUE);
        write_planes(own, bases, strides);
        jpeg_finish_compress(&own->jpeg);
        *written = own->given - own->destination.free_in_buffer;
    }
    jpeg_destroy_compress(&own->jpeg);
    free(own);
    return failure->status;
}
