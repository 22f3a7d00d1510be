#include <webp/encode.h>

#include "CWebP.h"

static int on_bytes(const uint8_t *bytes, size_t count, const WebPPicture *picture) {
    const cwebp_callbacks *callbacks = picture->custom_ptr;
    return callbacks->sink(callbacks->context, bytes, count);
}

static int on_progress(int percent, const WebPPicture *picture) {
    (void)percent;
    const cwebp_callbacks *callbacks = picture->custom_ptr;
    return !callbacks->stop(callbacks->context);
}

static cwebp_status status_of(WebPEncodingError error) {
    switch (error) {
    case VP8_ENC_OK:
        return CWEBP_OK;
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
        return CWEBP_NO_MEMORY;
    case VP8_ENC_ERROR_BAD_DIMENSION:
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
    case VP8_ENC_ERROR_PARTITION_OVERFLOW:
    case VP8_ENC_ERROR_FILE_TOO_BIG:
        return CWEBP_TOO_LARGE;
    case VP8_ENC_ERROR_BAD_WRITE:
        return CWEBP_REFUSED;
    case VP8_ENC_ERROR_USER_ABORT:
        return CWEBP_CANCELLED;
    default:
        return CWEBP_INTERNAL;
    }
}

static int prepare(cwebp_encoding encoding, cwebp_callbacks *callbacks, WebPConfig *config,
                   WebPPicture *picture) {
    if (!WebPPictureInit(picture) ||
        !WebPConfigPreset(config, WEBP_PRESET_DEFAULT, (float)encoding.quality))
        return -1;
    config->method = encoding.method;
    config->lossless = encoding.is_lossless;
    config->near_lossless = encoding.near_lossless;
    config->alpha_quality = encoding.alpha_quality;
    config->use_sharp_yuv = encoding.sharp_yuv;
    picture->width = encoding.width;
    picture->height = encoding.height;
    picture->writer = on_bytes;
    picture->progress_hook = on_progress;
    picture->custom_ptr = callbacks;
    return 0;
}

static cwebp_status finish(WebPPicture *picture, int is_fine, int *code) {
    *code = is_fine ? VP8_ENC_OK : picture->error_code;
    cwebp_status status = status_of((WebPEncodingError)*code);
    WebPPictureFree(picture);
    return is_fine || status != CWEBP_OK ? status : CWEBP_INTERNAL;
}

cwebp_status cwebp_encode_planes(cwebp_encoding encoding, const uint8_t *const *planes,
                                 const int *strides, cwebp_callbacks callbacks, int *code) {
    WebPConfig config;
    WebPPicture picture;
    *code = VP8_ENC_ERROR_INVALID_CONFIGURATION;
    if (encoding.is_lossless || prepare(encoding, &callbacks, &config, &picture))
        return CWEBP_INTERNAL;
    // libwebp only writes to a picture that has transparent pixels to clear.
    picture.y = (uint8_t *)planes[0];
    picture.u = (uint8_t *)planes[1];
    picture.v = (uint8_t *)planes[2];
    picture.y_stride = strides[0];
    picture.uv_stride = strides[1];
    return finish(&picture, WebPEncode(&config, &picture), code);
}

cwebp_status cwebp_encode_pixels(cwebp_encoding encoding, const uint8_t *pixels, int stride,
                                 int bands, cwebp_callbacks callbacks, int *code) {
    WebPConfig config;
    WebPPicture picture;
    *code = VP8_ENC_ERROR_INVALID_CONFIGURATION;
    if (prepare(encoding, &callbacks, &config, &picture))
        return CWEBP_INTERNAL;
    // The encoder computes sharp chroma from the original pixels; otherwise chroma is reduced here.
    picture.use_argb = encoding.is_lossless || encoding.sharp_yuv;
    int is_fine = bands == 4 ? WebPPictureImportRGBA(&picture, pixels, stride)
                             : WebPPictureImportRGB(&picture, pixels, stride);
    if (is_fine && callbacks.stop(callbacks.context)) {
        is_fine = 0;
        picture.error_code = VP8_ENC_ERROR_USER_ABORT;
    }
    return finish(&picture, is_fine && WebPEncode(&config, &picture), code);
}
