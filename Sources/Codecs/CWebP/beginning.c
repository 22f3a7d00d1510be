#include <string.h>
#include <webp/decode.h>

#include "CWebP.h"

// The number of bytes decoded between calls of `stop`.
enum { STEP_BYTES = 1 << 14 };
// The limit of chunks before the pixels: the format has five kinds, each permitted once.
enum { CHUNKS_MAX = 256 };
enum { FILE_HEADER_BYTES = 12, CHUNK_HEADER_BYTES = 8 };

static cwebp_status status_of(VP8StatusCode code) {
    switch (code) {
    case VP8_STATUS_OK:
    case VP8_STATUS_SUSPENDED:
        return CWEBP_OK;
    case VP8_STATUS_OUT_OF_MEMORY:
        return CWEBP_NO_MEMORY;
    case VP8_STATUS_INVALID_PARAM:
        return CWEBP_INTERNAL;
    default:
        return CWEBP_CORRUPT;
    }
}

static size_t chunk_bytes(const uint8_t *chunk) {
    const uint8_t *size = chunk + 4;
    size_t count = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    return CHUNK_HEADER_BYTES + count + (count & 1);
}

static int has_pixels(const uint8_t *chunk) {
    return !memcmp(chunk, "VP8 ", 4) || !memcmp(chunk, "VP8L", 4) || !memcmp(chunk, "ANMF", 4);
}

// `start` receives the offset of the pixel chunk, or the end of the bytes if it's missing.
static cwebp_status find_pixels(cwebp_bytes file, size_t *start) {
    if (file.count < FILE_HEADER_BYTES || memcmp(file.bytes, "RIFF", 4) ||
        memcmp(file.bytes + 8, "WEBP", 4))
        return CWEBP_CORRUPT;
    *start = FILE_HEADER_BYTES;
    for (int chunks = 0; file.count - *start >= CHUNK_HEADER_BYTES; chunks++) {
        if (has_pixels(file.bytes + *start))
            return CWEBP_OK;
        if (chunks == CHUNKS_MAX)
            return CWEBP_TOO_LARGE;
        size_t count = chunk_bytes(file.bytes + *start);
        if (count > file.count - *start)
            break;
        *start += count;
    }
    *start = file.count;
    return CWEBP_OK;
}

cwebp_status cwebp_read_header(cwebp_bytes file, cwebp_header *header) {
    WebPBitstreamFeatures features;
    size_t start;
    cwebp_status status = find_pixels(file, &start);
    if (status != CWEBP_OK)
        return status;
    VP8StatusCode code = WebPGetFeatures(file.bytes, file.count, &features);
    if (code != VP8_STATUS_OK)
        return status_of(code);
    *header = (cwebp_header){
        .width = features.width,
        .height = features.height,
        .has_alpha = features.has_alpha,
        .is_animated = features.has_animation,
    };
    return CWEBP_OK;
}

static int configure(WebPDecoderConfig *config, cwebp_bytes file, int width, int height, int bands,
                     uint8_t *pixels) {
    if (!WebPInitDecoderConfig(config) ||
        WebPGetFeatures(file.bytes, file.count, &config->input) != VP8_STATUS_OK)
        return 0;
    if (width != config->input.width || height != config->input.height) {
        config->options.use_scaling = 1;
        config->options.scaled_width = width;
        config->options.scaled_height = height;
    }
    config->output.colorspace = bands == 4 ? MODE_RGBA : MODE_RGB;
    config->output.is_external_memory = 1;
    config->output.u.RGBA.rgba = pixels;
    config->output.u.RGBA.stride = width * bands;
    config->output.u.RGBA.size = (size_t)width * (size_t)height * (size_t)bands;
    return 1;
}

// Until the first row is complete, libwebp restarts from the beginning with every call: all chunks
// before the pixels, and the header data of a lossless image. So the first step goes up to the
// pixels, and each further one doubles the number of pixel bytes until there is a row.
static cwebp_status read_all(WebPIDecoder *decoder, cwebp_bytes file, cwebp_stop stop,
                             void *context, int *rows) {
    VP8StatusCode code = VP8_STATUS_SUSPENDED;
    size_t start, step = STEP_BYTES;
    cwebp_status status = find_pixels(file, &start);
    if (status != CWEBP_OK)
        return status;
    for (size_t count = start; count < file.count && code == VP8_STATUS_SUSPENDED;) {
        if (stop(context))
            return CWEBP_CANCELLED;
        if (*rows > 0)
            step = STEP_BYTES;
        else if (count > start)
            step = count - start;
        count = file.count - count < step ? file.count : count + step;
        code = WebPIUpdate(decoder, file.bytes, count);
        // Returns NULL and no row before the first one.
        WebPIDecGetRGB(decoder, rows, NULL, NULL, NULL);
    }
    return status_of(code);
}

cwebp_status cwebp_read_beginning(cwebp_bytes file, int width, int height, int bands,
                                  uint8_t *pixels, cwebp_stop stop, void *context, int *rows) {
    *rows = 0;
    WebPDecoderConfig config;
    if (!configure(&config, file, width, height, bands, pixels))
        return CWEBP_CORRUPT;
    WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
    if (!decoder)
        return CWEBP_NO_MEMORY;
    cwebp_status status = read_all(decoder, file, stop, context, rows);
    WebPIDelete(decoder);
    return status == CWEBP_CORRUPT && *rows > 0 ? CWEBP_OK : status;
}
