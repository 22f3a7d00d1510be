#include "source.h"

#include <jerror.h>

static void on_start(j_decompress_ptr jpeg) {
    (void)jpeg;
}

static boolean on_empty(j_decompress_ptr jpeg) {
    ERREXIT(jpeg, JERR_INPUT_EOF);
    return FALSE;
}

static void on_skip(j_decompress_ptr jpeg, long count) {
    if (count <= 0)
        return;
    if ((size_t)count > jpeg->src->bytes_in_buffer)
        ERREXIT(jpeg, JERR_INPUT_EOF);
    jpeg->src->next_input_byte += count;
    jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void on_end(j_decompress_ptr jpeg) {
    (void)jpeg;
}

void cjpeg_set_source(j_decompress_ptr jpeg, struct jpeg_source_mgr *source, const void *bytes,
                      size_t count) {
    source->init_source = on_start;
    source->fill_input_buffer = on_empty;
    source->skip_input_data = on_skip;
    source->resync_to_restart = jpeg_resync_to_restart;
    source->term_source = on_end;
    source->next_input_byte = bytes;
    source->bytes_in_buffer = count;
    jpeg->src = source;
}
