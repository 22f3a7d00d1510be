#include <avif/avif.h>
#include <stdlib.h>
#include <string.h>

#include "CAVIF.h"
#include "picture.h"

struct cavif_reader {
    avifDecoder *decoder;
    avifIO io;
    // Only valid during a call.
    cavif_bytes file;
    cavif_patch *patches;
    size_t patch_count;
    // The last bytes read if patches overlap them.
    uint8_t *patched;
};

static cavif_status status_of(avifResult result) {
    switch (result) {
    case AVIF_RESULT_OK:
        return CAVIF_OK;
    case AVIF_RESULT_OUT_OF_MEMORY:
        return CAVIF_NO_MEMORY;
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_REFORMAT_FAILED:
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NO_AV1_ITEMS_FOUND:
        return CAVIF_UNSUPPORTED;
    default:
        return CAVIF_CORRUPT;
    }
}

static int overlaps(cavif_patch patch, size_t offset, size_t size) {
    return patch.offset < offset + size && offset < patch.offset + patch.bytes.count;
}

static void apply(cavif_patch patch, size_t offset, size_t size, uint8_t *target) {
    for (size_t i = 0; i < patch.bytes.count; i++) {
        size_t place = patch.offset + i;
        if (place >= offset && place - offset < size)
            target[place - offset] = patch.bytes.bytes[i];
    }
}

static avifResult read_patched(cavif_reader *reader, size_t offset, avifROData *out) {
    int is_patched = 0;
    for (size_t i = 0; i < reader->patch_count; i++)
        is_patched |= overlaps(reader->patches[i], offset, out->size);
    if (!is_patched)
        return AVIF_RESULT_OK;
    free(reader->patched);
    reader->patched = malloc(out->size);
    if (!reader->patched)
        return AVIF_RESULT_OUT_OF_MEMORY;
    memcpy(reader->patched, out->data, out->size);
    for (size_t i = 0; i < reader->patch_count; i++)
        apply(reader->patches[i], offset, out->size, reader->patched);
    out->data = reader->patched;
    return AVIF_RESULT_OK;
}

// Reads beyond the end are shortened, which libavif detects. libavif copies what it keeps.
static avifResult read_bytes(avifIO *io, uint32_t flags, uint64_t offset, size_t size,
                             avifROData *out) {
    cavif_reader *reader = io->data;
    if (flags || offset > reader->file.count)
        return AVIF_RESULT_IO_ERROR;
    size_t left = reader->file.count - (size_t)offset;
    out->data = reader->file.bytes + offset;
    out->size = size < left ? size : left;
    return read_patched(reader, (size_t)offset, out);
}

// libavif allocates a grid of this size whatever its item states, so a larger one is refused before
// its tiles are decoded.
static avifResult bound_grid(avifDecoder *decoder) {
    uint32_t limit = decoder->imageSizeLimit;
    uint64_t area = (uint64_t)decoder->image->width * decoder->image->height;
    if (area == 0 || area >= limit)
        return AVIF_RESULT_OK;
    decoder->imageSizeLimit = (uint32_t)area;
    avifResult result = avifDecoderReset(decoder);
    decoder->imageSizeLimit = limit;
    return result;
}

// The hint isn't the file's size, since the file may be incomplete. libavif allocates the size
// stated by an item and aborts if it can't, so an item is limited to the default file size or to
// this file's size, whichever is larger. Samples of a track are read first and then copied.
static uint64_t size_hint(const cavif_input *input) {
    const uint64_t item_bytes_max = 64 << 20;
    if (input->source == CAVIF_TRACKS)
        return 0;
    return input->file.count > item_bytes_max ? input->file.count : item_bytes_max;
}

// Not strict: other readers accept files that lack these boxes, too.
static avifResult parse(cavif_reader *reader, const cavif_input *input, int wants_metadata) {
    avifDecoder *decoder = avifDecoderCreate();
    if (!decoder)
        return AVIF_RESULT_OUT_OF_MEMORY;
    if (reader->decoder)
        avifDecoderDestroy(reader->decoder);
    reader->decoder = decoder;
    decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
    decoder->maxThreads = 1;
    decoder->requestedSource = input->source == CAVIF_TRACKS ? AVIF_DECODER_SOURCE_TRACKS
                                                             : AVIF_DECODER_SOURCE_PRIMARY_ITEM;
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    decoder->ignoreExif = decoder->ignoreXMP = wants_metadata ? AVIF_FALSE : AVIF_TRUE;
    decoder->imageCountLimit = input->frames_max;
    if (input->pixels_max < decoder->imageSizeLimit)
        decoder->imageSizeLimit = input->pixels_max;
    reader->io = (avifIO){.read = read_bytes, .data = reader, .sizeHint = size_hint(input)};
    avifDecoderSetIO(decoder, &reader->io);
    avifResult result = avifDecoderParse(decoder);
    if (result != AVIF_RESULT_OK || input->source == CAVIF_TRACKS)
        return result;
    return bound_grid(decoder);
}

// Keeps dav1d from allocating frames much larger than the file states. The tiles of a grid may be
// somewhat larger than the whole.
static void limit_frames(avifDecoder *decoder) {
    uint64_t area = (uint64_t)decoder->image->width * decoder->image->height;
    uint64_t limit = 4 * area + (1 << 20);
    if (limit < decoder->imageSizeLimit)
        decoder->imageSizeLimit = (uint32_t)limit;
}

static cavif_bytes bytes_of(const avifRWData *data) {
    return (cavif_bytes){.bytes = data->data, .count = data->size};
}

static avifResult open_reader(cavif_reader *reader, const cavif_input *input) {
    reader->patches = calloc(input->patch_count + 1, sizeof *reader->patches);
    if (!reader->patches)
        return AVIF_RESULT_OUT_OF_MEMORY;
    for (size_t i = 0; i < input->patch_count; i++) {
        cavif_patch patch = input->patches[i];
        uint8_t *copy = malloc(patch.bytes.count + 1);
        if (!copy)
            return AVIF_RESULT_OUT_OF_MEMORY;
        memcpy(copy, patch.bytes.bytes, patch.bytes.count);
        patch.bytes.bytes = copy;
        reader->patches[reader->patch_count++] = patch;
    }
    reader->file = input->file;
    avifResult result = parse(reader, input, 1);
    // Damaged metadata doesn't make the image unusable.
    if (result != AVIF_RESULT_OK && result != AVIF_RESULT_OUT_OF_MEMORY)
        result = parse(reader, input, 0);
    reader->file = (cavif_bytes){0};
    return result;
}

cavif_status cavif_open(const cavif_input *input, cavif_reader **reader, cavif_header *header,
                        int *code) {
    *reader = NULL;
    cavif_reader *made = calloc(1, sizeof *made);
    if (!made)
        return CAVIF_NO_MEMORY;
    avifResult result = open_reader(made, input);
    *code = (int)result;
    if (result != AVIF_RESULT_OK) {
        cavif_close(made);
        return status_of(result);
    }
    avifDecoder *decoder = made->decoder;
    limit_frames(decoder);
    *reader = made;
    *header = (cavif_header){
        .picture = cavif_describe(decoder),
        .frames = input->source == CAVIF_TRACKS ? decoder->imageCount : 1,
        .profile = bytes_of(&decoder->image->icc),
        .exif = bytes_of(&decoder->image->exif),
        .xmp = bytes_of(&decoder->image->xmp),
    };
    return CAVIF_OK;
}

// Continues from the current frame unless a key frame is nearer.
static cavif_status go_to(avifDecoder *decoder, int frame, cavif_stop stop, void *context,
                          int *code) {
    if (frame < 0 || frame >= decoder->imageCount)
        return CAVIF_CORRUPT;
    int first = (int)avifDecoderNearestKeyframe(decoder, (uint32_t)frame);
    int must_begin = decoder->imageIndex > frame || decoder->imageIndex < first;
    while (must_begin || decoder->imageIndex != frame) {
        if (stop(context))
            return CAVIF_CANCELLED;
        avifResult result = must_begin ? avifDecoderNthImage(decoder, (uint32_t)first)
                                       : avifDecoderNextImage(decoder);
        *code = (int)result;
        if (result != AVIF_RESULT_OK)
            return status_of(result);
        must_begin = 0;
    }
    return cavif_has_planes(decoder->image) ? CAVIF_OK : CAVIF_CORRUPT;
}

cavif_status cavif_decode(cavif_reader *reader, cavif_bytes file, int frame, cavif_stop stop,
                          void *context, cavif_picture *picture, int *code) {
    *code = AVIF_RESULT_OK;
    reader->file = file;
    cavif_status status = go_to(reader->decoder, frame, stop, context, code);
    reader->file = (cavif_bytes){0};
    if (status == CAVIF_OK)
        *picture = cavif_describe(reader->decoder);
    return status;
}

// Shifts samples to the top of 16 bits, as libheif does.
static void raise_samples(uint16_t *samples, size_t count, unsigned depth) {
    for (size_t i = 0; i < count; i++)
        samples[i] = (uint16_t)(samples[i] << (16 - depth));
}

cavif_status cavif_copy_pixels(const cavif_reader *reader, int bands, uint8_t *pixels, size_t count,
                               int *code) {
    const avifImage *image = reader->decoder->image;
    size_t bytes = image->depth > 8 ? 2 : 1, row = image->width * (size_t)bands * bytes;
    *code = AVIF_RESULT_OK;
    if (bands < 3 || bands > 4 || row > UINT32_MAX || count != row * image->height)
        return CAVIF_INTERNAL;
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    // libyuv's conversion factors have so few bits that blue in BT.709 is off by 3 on average.
    rgb.avoidLibYUV = AVIF_TRUE;
    rgb.format = bands == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.pixels = pixels;
    rgb.rowBytes = (uint32_t)row;
    avifResult result = avifImageYUVToRGB(image, &rgb);
    *code = (int)result;
    if (result == AVIF_RESULT_OK && bytes == 2)
        raise_samples((uint16_t *)(void *)pixels, count / 2, image->depth);
    return status_of(result);
}

void cavif_copy_plane(const cavif_reader *reader, int plane, uint8_t *target, size_t stride) {
    const avifImage *image = reader->decoder->image;
    int across = plane > 0 && image->yuvFormat != AVIF_PIXEL_FORMAT_YUV444;
    int down = plane > 0 && image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420;
    size_t width = (image->width + across) >> across, height = (image->height + down) >> down;
    for (size_t y = 0; y < height; y++)
        memcpy(target + y * stride, image->yuvPlanes[plane] + y * image->yuvRowBytes[plane], width);
}

void cavif_close(cavif_reader *reader) {
    if (!reader)
        return;
    if (reader->decoder)
        avifDecoderDestroy(reader->decoder);
    for (size_t i = 0; i < reader->patch_count; i++)
        free((void *)reader->patches[i].bytes.bytes);
    free(reader->patches);
    free(reader->patched);
    free(reader);
}
