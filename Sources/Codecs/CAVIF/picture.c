#include <avif/avif.h>

#include "CAVIF.h"
#include "picture.h"

static cavif_chroma chroma_of(avifPixelFormat format) {
    switch (format) {
    case AVIF_PIXEL_FORMAT_YUV420:
        return CAVIF_420;
    case AVIF_PIXEL_FORMAT_YUV422:
        return CAVIF_422;
    case AVIF_PIXEL_FORMAT_YUV444:
        return CAVIF_444;
    default:
        return CAVIF_GRAY;
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

int cavif_has_planes(const avifImage *image) {
    int count = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3;
    for (int i = 0; i < count; i++)
        if (!image->yuvPlanes[i])
            return 0;
    return image->yuvFormat != AVIF_PIXEL_FORMAT_NONE;
}
