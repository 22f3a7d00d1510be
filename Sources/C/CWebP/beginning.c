#include <webp/decode.h>

#include "CWebP.h"

// So many bytes are decoded before the caller is asked again whether to stop.
enum { STEP_BYTES = 1 << 14 };

static cwebp_status status_of(VP8StatusCode code) {
    switch (code) {
    case VP8_STATUS_OK:
    case VP8_STATUS_SUSPENDED:
        return CWEBP_FINE;
    case VP8_STATUS_OUT_OF_MEMORY:
        return CWEBP_NO_MEMORY;
    case VP8_STATUS_INVALID_PARAM:
        return CWEBP_INTERNAL;
    default:
        return CWEBP_CORRUPT;
    }
}

cwebp_status cwebp_read_header(cwebp_bytes file, cwebp_header *header) {
    WebPBitstreamFeatures features;
    VP8StatusCode code = WebPGetFeatures(file.bytes, file.count, &features);
    if (code != VP8_STATUS_OK)
        return status_of(code);
    *header = (cwebp_header){
        .width = features.width,
        .height = features.height,
        .has_alpha = features.has_alpha,
        .is_animated = features.has_animation,
    };
    return CWEBP_FINE;
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

static cwebp_status read_all(WebPIDecoder *decoder, cwebp_bytes file, cwebp_stop stop,
                             void *context) {
    VP8StatusCode code = VP8_STATUS_SUSPENDED;
    for (size_t count = 0; count < file.count && code == VP8_STATUS_SUSPENDED;) {
        if (stop(context))
            return CWEBP_STOPPED;
        count = file.count - count < STEP_BYTES ? file.count : count + STEP_BYTES;
        code = WebPIUpdate(decoder, file.bytes, count);
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
    cwebp_status status = read_all(decoder, file, stop, context);
    // NULL, and no row, before the first one.
    WebPIDecGetRGB(decoder, rows, NULL, NULL, NULL);
    WebPIDelete(decoder);
    return status == CWEBP_CORRUPT && *rows > 0 ? CWEBP_FINE : status;
}
