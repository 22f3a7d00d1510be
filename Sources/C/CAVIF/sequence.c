#include <avif/avif.h>
#include <stdlib.h>

#include "CAVIF.h"
#include "decoder.h"

struct cavif_sequence {
    avifDecoder *decoder;
    avifIO io;
    // For the time of a call.
    const uint8_t *bytes;
    size_t count;
};

// What is asked for behind the end is not there; libavif finds out that it is less.
static avifResult read_bytes(avifIO *io, uint32_t flags, uint64_t offset, size_t size,
                             avifROData *out) {
    const cavif_sequence *sequence = io->data;
    if (flags || offset > sequence->count)
        return AVIF_RESULT_IO_ERROR;
    size_t left = sequence->count - (size_t)offset;
    out->data = sequence->bytes + offset;
    out->size = size < left ? size : left;
    return AVIF_RESULT_OK;
}

static cavif_status status_of(avifResult result) {
    switch (result) {
    case AVIF_RESULT_OK:
        return CAVIF_FINE;
    case AVIF_RESULT_OUT_OF_MEMORY:
        return CAVIF_NO_MEMORY;
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_REFORMAT_FAILED:
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
        return CAVIF_UNSUPPORTED;
    default:
        return CAVIF_CORRUPT;
    }
}

static void lend(cavif_sequence *sequence, const uint8_t *bytes, size_t count) {
    sequence->bytes = bytes;
    sequence->count = count;
}

static avifResult open_decoder(cavif_sequence *sequence, uint32_t pixels_max,
                               uint32_t frames_max) {
    avifDecoder *decoder = cavif_decoder_new(AVIF_DECODER_SOURCE_TRACKS, pixels_max);
    if (!decoder)
        return AVIF_RESULT_OUT_OF_MEMORY;
    sequence->decoder = decoder;
    decoder->imageCountLimit = frames_max;
    // libavif copies what it reads. Without a hint of its size a file may end early.
    sequence->io = (avifIO){.read = read_bytes, .data = sequence};
    avifDecoderSetIO(decoder, &sequence->io);
    return avifDecoderParse(decoder);
}

cavif_status cavif_sequence_open(const uint8_t *bytes, size_t count, uint32_t pixels_max,
                                 uint32_t frames_max, cavif_sequence **sequence,
                                 cavif_picture *picture, int *frames, cavif_bytes *profile,
                                 int *code) {
    *sequence = NULL;
    cavif_sequence *made = calloc(1, sizeof *made);
    if (!made)
        return CAVIF_NO_MEMORY;
    lend(made, bytes, count);
    avifResult result = open_decoder(made, pixels_max, frames_max);
    lend(made, NULL, 0);
    *code = (int)result;
    if (result != AVIF_RESULT_OK) {
        cavif_sequence_close(made);
        return status_of(result);
    }
    *sequence = made;
    *picture = cavif_describe(made->decoder);
    *frames = made->decoder->imageCount;
    const avifRWData *icc = &made->decoder->image->icc;
    *profile = (cavif_bytes){.bytes = icc->data, .count = icc->size};
    return CAVIF_FINE;
}

// Goes on from the frame that is there, where none that can be begun with is nearer.
static cavif_status go_to(avifDecoder *decoder, int frame, cavif_stop stop, void *context,
                          int *code) {
    if (frame < 0 || frame >= decoder->imageCount)
        return CAVIF_CORRUPT;
    int first = (int)avifDecoderNearestKeyframe(decoder, (uint32_t)frame);
    int must_begin = decoder->imageIndex > frame || decoder->imageIndex < first;
    while (must_begin || decoder->imageIndex != frame) {
        if (stop(context))
            return CAVIF_STOPPED;
        avifResult result = must_begin ? avifDecoderNthImage(decoder, (uint32_t)first)
                                       : avifDecoderNextImage(decoder);
        *code = (int)result;
        if (result != AVIF_RESULT_OK)
            return status_of(result);
        must_begin = 0;
    }
    return cavif_has_planes(decoder->image) ? CAVIF_FINE : CAVIF_CORRUPT;
}

cavif_status cavif_sequence_decode(cavif_sequence *sequence, const uint8_t *bytes, size_t count,
                                   int frame, cavif_stop stop, void *context,
                                   cavif_picture *picture, int *code) {
    *code = AVIF_RESULT_OK;
    lend(sequence, bytes, count);
    cavif_status status = go_to(sequence->decoder, frame, stop, context, code);
    lend(sequence, NULL, 0);
    if (status == CAVIF_FINE)
        *picture = cavif_describe(sequence->decoder);
    return status;
}

// To the top of 16 bits, where libheif has them too.
static void raise_samples(uint16_t *samples, size_t count, unsigned depth) {
    for (size_t i = 0; i < count; i++)
        samples[i] = (uint16_t)(samples[i] << (16 - depth));
}

cavif_status cavif_sequence_copy(const cavif_sequence *sequence, int bands, uint8_t *pixels,
                                 size_t count, int *code) {
    const avifImage *image = sequence->decoder->image;
    size_t bytes = image->depth > 8 ? 2 : 1, row = image->width * (size_t)bands * bytes;
    *code = AVIF_RESULT_OK;
    if (bands < 3 || bands > 4 || row > UINT32_MAX || count != row * image->height)
        return CAVIF_INTERNAL;
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = bands == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.pixels = pixels;
    rgb.rowBytes = (uint32_t)row;
    avifResult result = avifImageYUVToRGB(image, &rgb);
    *code = (int)result;
    if (result == AVIF_RESULT_OK && bytes == 2)
        raise_samples((uint16_t *)(void *)pixels, count / 2, image->depth);
    return status_of(result);
}

void cavif_sequence_close(cavif_sequence *sequence) {
    if (!sequence)
        return;
    if (sequence->decoder)
        avifDecoderDestroy(sequence->decoder);
    free(sequence);
}
