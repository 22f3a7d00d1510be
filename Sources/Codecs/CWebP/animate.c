#include <stdlib.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "CWebP.h"

struct cwebp_animation {
    cwebp_encoding encoding;
    WebPAnimEncoder *encoder;
    WebPConfig config;
    // Those of the current call; their context is invalid after it returns.
    cwebp_callbacks callbacks;
    int is_stopped;
};

// The encoder creates its own pictures of parts of a frame. They keep `user_data`, and those that
// outlive a frame are encoded again in the end.
static int on_progress(int percent, const WebPPicture *picture) {
    (void)percent;
    cwebp_animation *animation = picture->user_data;
    const cwebp_callbacks *callbacks = &animation->callbacks;
    if (callbacks->stop && callbacks->stop(callbacks->context))
        animation->is_stopped = 1;
    return !animation->is_stopped;
}

cwebp_animation *cwebp_animation_new(cwebp_encoding encoding, int loops) {
    cwebp_animation *animation = calloc(1, sizeof *animation);
    WebPAnimEncoderOptions options;
    if (!animation)
        return NULL;
    animation->encoding = encoding;
    if (WebPAnimEncoderOptionsInit(&options) &&
        WebPConfigPreset(&animation->config, WEBP_PRESET_DEFAULT, (float)encoding.quality)) {
        options.anim_params.loop_count = loops;
        animation->config.method = encoding.method;
        animation->config.lossless = encoding.is_lossless;
        animation->config.near_lossless = encoding.near_lossless;
        animation->config.alpha_quality = encoding.alpha_quality;
        animation->config.use_sharp_yuv = encoding.sharp_yuv;
        animation->encoder = WebPAnimEncoderNew(encoding.width, encoding.height, &options);
    }
    if (animation->encoder)
        return animation;
    free(animation);
    return NULL;
}

static cwebp_status failure(const cwebp_animation *animation, int code) {
    if (animation->is_stopped)
        return CWEBP_CANCELLED;
    switch (code) {
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
        return CWEBP_NO_MEMORY;
    case VP8_ENC_ERROR_BAD_DIMENSION:
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
    case VP8_ENC_ERROR_PARTITION_OVERFLOW:
    case VP8_ENC_ERROR_FILE_TOO_BIG:
        return CWEBP_TOO_LARGE;
    default:
        return CWEBP_INTERNAL;
    }
}

cwebp_status cwebp_animation_add(cwebp_animation *animation, const uint8_t *pixels, int stride,
                                 int milliseconds, cwebp_callbacks callbacks, int *code) {
    WebPPicture picture;
    *code = VP8_ENC_ERROR_INVALID_CONFIGURATION;
    if (!WebPPictureInit(&picture))
        return CWEBP_INTERNAL;
    animation->callbacks = callbacks;
    picture.use_argb = 1;
    picture.width = animation->encoding.width;
    picture.height = animation->encoding.height;
    picture.progress_hook = on_progress;
    picture.user_data = animation;
    int is_fine = WebPPictureImportRGBA(&picture, pixels, stride) &&
                  WebPAnimEncoderAdd(animation->encoder, &picture, milliseconds,
                                     &animation->config);
    animation->callbacks = (cwebp_callbacks){0};
    *code = picture.error_code;
    WebPPictureFree(&picture);
    return is_fine ? CWEBP_OK : failure(animation, *code);
}

cwebp_status cwebp_animation_finish(cwebp_animation *animation, int milliseconds,
                                    cwebp_callbacks callbacks) {
    WebPData made;
    WebPDataInit(&made);
    cwebp_status status = CWEBP_OK;
    // If all frames are identical, they become one, which is also encoded as a still image.
    animation->callbacks = callbacks;
    int is_fine = WebPAnimEncoderAdd(animation->encoder, NULL, milliseconds, NULL) &&
                  WebPAnimEncoderAssemble(animation->encoder, &made);
    animation->callbacks = (cwebp_callbacks){0};
    if (!is_fine)
        status = failure(animation, VP8_ENC_OK);
    else if (!callbacks.sink(callbacks.context, made.bytes, made.size))
        status = CWEBP_REFUSED;
    WebPDataClear(&made);
    return status;
}

void cwebp_animation_free(cwebp_animation *animation) {
    WebPAnimEncoderDelete(animation->encoder);
    free(animation);
}
