#include <avif/avif.h>
#include <string.h>

#include "CAVIF.h"
#include "decoder.h"

static cavif_chroma chroma_of(avifPixelFormat format) {
    switch (format) {
    case AVIF_PIXEL_FORMAT_YUV420:
        return CAVIF_420;
    case AVIF_PIXEL_FORMAT_YUV422:
        return CAVIF_422;
    case AVIF_PIXEL_FORMAT_YUV444:
        return CAVIF_444;
    default:
        return CAVIF_GREY;
    }
}

static int mirrored(const avifImage *image) {
    if (!(image->transformFlags & AVIF_TRANSFORM_IMIR))
        return 0;
    return image->imir.mode == 0 ? 1 : 2;
}

static void find_crop(const avifImage *image, cavif_picture *picture) {
    avifCropRect part;
    avifDiagnostics reasons = {0};
    if (!avifCropRectConvertCleanApertureBox(&part, &image->clap, image->width, image->height,
                                             image->yuvFormat, &reasons))
        return;
    picture->crop_x = (int)part.x;
    picture->crop_y = (int)part.y;
    picture->crop_width = (int)part.width;
    picture->crop_height = (int)part.height;
}

cavif_picture cavif_describe(const avifDecoder *decoder) {
    const avifImage *image = decoder->image;
    cavif_picture picture = {
        .width = (int)image->width,
        .height = (int)image->height,
        .depth = (int)image->depth,
        .chroma = chroma_of(image->yuvFormat),
        .has_alpha = decoder->alphaPresent,
        .has_profile = image->icc.size > 0,
        .primaries = image->colorPrimaries,
        .transfer = image->transferCharacteristics,
        .matrix = image->matrixCoefficients,
        .is_limited = image->yuvRange == AVIF_RANGE_LIMITED,
        .siting = image->yuvChromaSamplePosition,
        .is_cropped = (image->transformFlags & AVIF_TRANSFORM_CLAP) != 0,
        .turns = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0,
        .mirrored = mirrored(image),
    };
    if (picture.is_cropped)
        find_crop(image, &picture);
    return picture;
}

// What a file may leave out, others do not miss either.
avifDecoder *cavif_decoder_new(avifDecoderSource source, uint32_t pixels_max) {
    avifDecoder *decoder = avifDecoderCreate();
    if (!decoder)
        return NULL;
    decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
    decoder->maxThreads = 1;
    decoder->requestedSource = source;
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    decoder->ignoreExif = AVIF_TRUE;
    decoder->ignoreXMP = AVIF_TRUE;
    if (pixels_max < decoder->imageSizeLimit)
        decoder->imageSizeLimit = pixels_max;
    return decoder;
}

cavif_decoder *cavif_open(const uint8_t *bytes, size_t count, uint32_t pixels_max,
                          cavif_picture *picture, int *code) {
    *code = AVIF_RESULT_OUT_OF_MEMORY;
    avifDecoder *decoder = cavif_decoder_new(AVIF_DECODER_SOURCE_PRIMARY_ITEM, pixels_max);
    if (!decoder)
        return NULL;
    avifResult result = avifDecoderSetIOMemory(decoder, bytes, count);
    if (result == AVIF_RESULT_OK)
        result = avifDecoderParse(decoder);
    *code = (int)result;
    if (result != AVIF_RESULT_OK) {
        avifDecoderDestroy(decoder);
        return NULL;
    }
    *picture = cavif_describe(decoder);
    return decoder;
}

int cavif_has_planes(const avifImage *image) {
    int count = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3;
    for (int i = 0; i < count; i++)
        if (!image->yuvPlanes[i])
            return 0;
    return image->yuvFormat != AVIF_PIXEL_FORMAT_NONE;
}

cavif_status cavif_decode(cavif_decoder *decoder, cavif_picture *picture, int *code) {
    avifResult result = avifDecoderNextImage(decoder);
    *code = (int)result;
    if (result == AVIF_RESULT_OUT_OF_MEMORY)
        return CAVIF_NO_MEMORY;
    if (result != AVIF_RESULT_OK || !cavif_has_planes(decoder->image))
        return CAVIF_INTERNAL;
    *picture = cavif_describe(decoder);
    return CAVIF_FINE;
}

void cavif_copy_plane(const cavif_decoder *decoder, int plane, uint8_t *target, size_t stride) {
    const avifImage *image = decoder->image;
    int across = plane > 0 && image->yuvFormat != AVIF_PIXEL_FORMAT_YUV444;
    int down = plane > 0 && image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420;
    size_t width = (image->width + across) >> across, height = (image->height + down) >> down;
    for (size_t y = 0; y < height; y++)
        memcpy(target + y * stride, image->yuvPlanes[plane] + y * image->yuvRowBytes[plane], width);
}

void cavif_close(cavif_decoder *decoder) {
    avifDecoderDestroy(decoder);
}
