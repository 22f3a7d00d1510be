#include <avif/avif.h>
#include <stdio.h>
#include <string.h>

#include "CAVIF.h"

static cavif_status status_of(avifResult result) {
    switch (result) {
    case AVIF_RESULT_OK:
        return CAVIF_OK;
    case AVIF_RESULT_OUT_OF_MEMORY:
        return CAVIF_NO_MEMORY;
    default:
        return CAVIF_INTERNAL;
    }
}

static avifPixelFormat format_of(cavif_chroma chroma) {
    switch (chroma) {
    case CAVIF_GRAY:
        return AVIF_PIXEL_FORMAT_YUV400;
    case CAVIF_420:
        return AVIF_PIXEL_FORMAT_YUV420;
    default:
        return AVIF_PIXEL_FORMAT_YUV444;
    }
}

// Attaches the metadata; libavif copies it.
static void enclose(avifImage *image, cavif_encoding encoding) {
    if (encoding.profile.count > 0) {
        avifImageSetProfileICC(image, encoding.profile.bytes, encoding.profile.count);
        image->colorPrimaries = AVIF_COLOR_PRIMARIES_UNSPECIFIED;
        image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED;
    }
    if (encoding.exif.count > 0)
        avifImageSetMetadataExif(image, encoding.exif.bytes, encoding.exif.count);
    if (encoding.xmp.count > 0)
        avifImageSetMetadataXMP(image, encoding.xmp.bytes, encoding.xmp.count);
}

// JPEG planes use BT.601; HDR content (BT.2100) uses the matrix of BT.2020.
static avifMatrixCoefficients matrix_of(cavif_encoding encoding) {
    if (encoding.is_identity)
        return AVIF_MATRIX_COEFFICIENTS_IDENTITY;
    return encoding.primaries ? AVIF_MATRIX_COEFFICIENTS_BT2020_NCL
                              : AVIF_MATRIX_COEFFICIENTS_BT601;
}

// The colors are sRGB unless code points or a profile state otherwise.
static avifImage *image_new(cavif_encoding encoding) {
    avifImage *image = avifImageCreate((uint32_t)encoding.width, (uint32_t)encoding.height,
                                       (uint32_t)encoding.depth, format_of(encoding.chroma));
    if (!image)
        return NULL;
    image->yuvRange = AVIF_RANGE_FULL;
    image->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
    image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    if (encoding.primaries) {
        image->colorPrimaries = (avifColorPrimaries)encoding.primaries;
        image->transferCharacteristics = (avifTransferCharacteristics)encoding.transfer;
    }
    image->matrixCoefficients = matrix_of(encoding);
    enclose(image, encoding);
    return image;
}

// libaom receives the quantizer as a constant quality; 0 for both bounds makes it lossless.
static void set_quantizer(avifEncoder *encoder, int quantizer, int *least, int *most,
                          const char *usage_key, const char *level_key) {
    *least = 0;
    *most = quantizer == 0 ? AVIF_QUANTIZER_LOSSLESS : AVIF_QUANTIZER_WORST_QUALITY;
    if (quantizer == 0)
        return;
    char level[8];
    snprintf(level, sizeof level, "%d", quantizer);
    avifEncoderSetCodecSpecificOption(encoder, usage_key, "q");
    avifEncoderSetCodecSpecificOption(encoder, level_key, level);
}

static avifEncoder *encoder_new(cavif_encoding encoding) {
    avifEncoder *encoder = avifEncoderCreate();
    if (!encoder)
        return NULL;
    encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
    encoder->maxThreads = 1;
    encoder->speed = encoding.speed;
    set_quantizer(encoder, encoding.quantizer, &encoder->minQuantizer, &encoder->maxQuantizer,
                  "color:end-usage", "color:cq-level");
    set_quantizer(encoder, encoding.alpha_quantizer, &encoder->minQuantizerAlpha,
                  &encoder->maxQuantizerAlpha, "alpha:end-usage", "alpha:cq-level");
    return encoder;
}

// libaom encodes the whole image in one uninterruptible call.
static cavif_status write_image(const avifImage *image, avifEncoder *encoder,
                                cavif_callbacks callbacks, int *code) {
    if (callbacks.stop(callbacks.context))
        return CAVIF_CANCELLED;
    avifResult result = avifEncoderAddImage(encoder, image, 1, AVIF_ADD_IMAGE_FLAG_SINGLE);
    if (result == AVIF_RESULT_OK && callbacks.stop(callbacks.context))
        return CAVIF_CANCELLED;
    avifRWData file = AVIF_DATA_EMPTY;
    if (result == AVIF_RESULT_OK)
        result = avifEncoderFinish(encoder, &file);
    *code = (int)result;
    cavif_status status = status_of(result);
    if (status == CAVIF_OK && !callbacks.sink(callbacks.context, file.data, file.size))
        status = CAVIF_REFUSED;
    avifRWDataFree(&file);
    return status;
}

static cavif_status encode_image(const avifImage *image, cavif_encoding encoding,
                                 cavif_callbacks callbacks, int *code) {
    avifEncoder *encoder = encoder_new(encoding);
    if (!encoder)
        return CAVIF_NO_MEMORY;
    cavif_status status = write_image(image, encoder, callbacks, code);
    avifEncoderDestroy(encoder);
    return status;
}

// The encoder never writes to an image; its structure merely lacks the const.
static void lend_planes(avifImage *image, const uint8_t *const *planes, const int *strides) {
    for (int i = 0; i < (image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3); i++) {
        image->yuvPlanes[i] = (uint8_t *)planes[i];
        image->yuvRowBytes[i] = (uint32_t)strides[i];
    }
    image->imageOwnsYUVPlanes = AVIF_FALSE;
}

// Copies the planes, since libaom reads V with the stride of U.
static cavif_status copy_planes(avifImage *image, const uint8_t *const *planes,
                                const int *strides) {
    if (avifImageAllocatePlanes(image, AVIF_PLANES_YUV) != AVIF_RESULT_OK)
        return CAVIF_NO_MEMORY;
    int halves = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420;
    for (int i = 0; i < 3; i++) {
        int shift = i == 0 ? 0 : halves;
        size_t width = (image->width + shift) >> shift, height = (image->height + shift) >> shift;
        for (size_t y = 0; y < height; y++)
            memcpy(image->yuvPlanes[i] + y * image->yuvRowBytes[i],
                   planes[i] + y * (size_t)strides[i], width);
    }
    return CAVIF_OK;
}

cavif_status cavif_encode_planes(cavif_encoding encoding, const uint8_t *const *planes,
                                 const int *strides, cavif_callbacks callbacks, int *code) {
    *code = AVIF_RESULT_UNKNOWN_ERROR;
    if (encoding.is_identity)
        return CAVIF_INTERNAL;
    avifImage *image = image_new(encoding);
    if (!image)
        return CAVIF_NO_MEMORY;
    cavif_status taken = CAVIF_OK;
    if (encoding.chroma == CAVIF_GRAY || strides[1] == strides[2])
        lend_planes(image, planes, strides);
    else
        taken = copy_planes(image, planes, strides);
    if (taken != CAVIF_OK) {
        avifImageDestroy(image);
        return taken;
    }
    cavif_status status = encode_image(image, encoding, callbacks, code);
    avifImageDestroy(image);
    return status;
}

static int is_opaque(cavif_encoding encoding, const uint8_t *pixels, int stride) {
    int bytes = encoding.depth > 8 ? 2 : 1;
    for (int y = 0; y < encoding.height; y++) {
        const uint8_t *row = pixels + (size_t)y * (size_t)stride;
        // All bytes of an alpha sample of 1 are 255.
        for (int x = 0; x < encoding.width; x++)
            for (int byte = 3 * bytes; byte < 4 * bytes; byte++)
                if (row[4 * bytes * x + byte] != UINT8_MAX)
                    return 0;
    }
    return 1;
}

static avifResult take_pixels(avifImage *image, const uint8_t *pixels, int stride, int bands,
                              int ignores_alpha) {
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.depth = image->depth > 8 ? 16 : 8;
    rgb.format = bands == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.ignoreAlpha = ignores_alpha ? AVIF_TRUE : AVIF_FALSE;
    rgb.pixels = (uint8_t *)pixels;
    rgb.rowBytes = (uint32_t)stride;
    return avifImageRGBToYUV(image, &rgb);
}

cavif_status cavif_encode_pixels(cavif_encoding encoding, const uint8_t *pixels, int stride,
                                 int bands, cavif_callbacks callbacks, int *has_alpha, int *code) {
    *code = AVIF_RESULT_UNKNOWN_ERROR;
    *has_alpha = bands == 4 && !is_opaque(encoding, pixels, stride);
    avifImage *image = image_new(encoding);
    if (!image)
        return CAVIF_NO_MEMORY;
    avifResult result = take_pixels(image, pixels, stride, bands, !*has_alpha);
    *code = (int)result;
    cavif_status status = result == AVIF_RESULT_OK
                              ? encode_image(image, encoding, callbacks, code)
                              : status_of(result);
    avifImageDestroy(image);
    return status;
}
