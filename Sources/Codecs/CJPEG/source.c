#include "source.h"

#include <jerror.h>

static void on_start(j_decompress_ptr jpeg) {
    (void)jpeg;
}

static const JOCTET end_of_image[] = {0xFF, JPEG_EOI};

static cjpeg_source *source_of(j_decompress_ptr jpeg) {
    return (cjpeg_source *)jpeg->src;
}

static boolean on_empty(j_decompress_ptr jpeg) {
    cjpeg_source *source = source_of(jpeg);
    if (!source->may_end)
        ERREXIT(jpeg, JERR_INPUT_EOF);
    if (!source->has_ended) {
        source->has_ended = 1;
        source->scan = jpeg->input_scan_number;
        source->rows = jpeg->input_iMCU_row;
    }
    source->manager.next_input_byte = end_of_image;
    source->manager.bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

static void on_skip(j_decompress_ptr jpeg, long count) {
    if (count <= 0)
        return;
    if ((size_t)count > jpeg->src->bytes_in_buffer) {
        on_empty(jpeg);
        return;
    }
    jpeg->src->next_input_byte += count;
    jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void on_end(j_decompress_ptr jpeg) {
    (void)jpeg;
}

void cjpeg_set_source(j_decompress_ptr jpeg, cjpeg_source *source, const void *bytes,
                      size_t count) {
    source->manager = (struct jpeg_source_mgr){
        .next_input_byte = bytes,
        .bytes_in_buffer = count,
        .init_source = on_start,
        .fill_input_buffer = on_empty,
        .skip_input_data = on_skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = on_end,
    };
    jpeg->src = &source->manager;
}
