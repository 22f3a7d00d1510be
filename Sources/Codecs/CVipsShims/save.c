#include <vips/vips.h>

#include "CVipsShims.h"

typedef struct {
    cvips_sink sink;
    void *context;
} destination;

static gint64 pass_on(VipsTargetCustom *target, const void *bytes, gint64 count, gpointer data) {
    (void)target;
    destination *to = data;
    return to->sink(to->context, bytes, (size_t)count) ? -1 : count;
}

static VipsTarget *target_new(destination *to) {
    VipsTargetCustom *target = vips_target_custom_new();
    g_signal_connect(target, "write", G_CALLBACK(pass_on), to);
    return VIPS_TARGET(target);
}

int cvips_save_jpeg(cvips_image in, cvips_jpeg_options options, cvips_sink sink, void *context) {
    destination to = {sink, context};
    VipsTarget *target = target_new(&to);
    int result = vips_jpegsave_target(
        in, target, "Q", options.quality, "interlace", options.progressive, "optimize_coding",
        options.optimise_coding, "subsample_mode", options.subsampling, "strip", options.strip,
        NULL);
    g_object_unref(target);
    return result;
}

int cvips_save_png(cvips_image in, cvips_png_options options, cvips_sink sink, void *context) {
    destination to = {sink, context};
    VipsTarget *target = target_new(&to);
    int result =
        options.palette.bits
            ? vips_pngsave_target(in, target, "compression", options.compression, "filter",
                                  options.filter_bits, "interlace", options.interlace, "palette",
                                  TRUE, "bitdepth", options.palette.bits, "Q",
                                  options.palette.quality, "dither", options.palette.dither,
                                  "effort", 7, "strip", options.strip, NULL)
            : vips_pngsave_target(in, target, "compression", options.compression, "filter",
                                  options.filter_bits, "interlace", options.interlace, "strip",
                                  options.strip, NULL);
    g_object_unref(target);
    return result;
}

int cvips_save_webp(cvips_image in, cvips_webp_options options, cvips_sink sink, void *context) {
    destination to = {sink, context};
    VipsTarget *target = target_new(&to);
    int result = vips_webpsave_target(in, target, "Q", options.quality, "lossless",
                                      options.lossless, "effort", options.effort, "strip",
                                      options.strip, NULL);
    g_object_unref(target);
    return result;
}

int cvips_animated(cvips_image in, int page_height, const int *delays, int count, int plays,
                   cvips_image *out) {
    *out = NULL;
    if (vips_copy(in, out, NULL))
        return -1;
    // The copy is new and not shared yet, so its header may be modified.
    vips_image_set_int(*out, VIPS_META_PAGE_HEIGHT, page_height);
    vips_image_set_int(*out, "loop", plays);
    vips_image_set_array_int(*out, "delay", delays, count);
    return 0;
}

int cvips_save_gif(cvips_image in, cvips_gif_options options, cvips_sink sink, void *context) {
    destination to = {sink, context};
    VipsTarget *target = target_new(&to);
    int result = vips_gifsave_target(in, target, "bitdepth", options.bits, "dither", options.dither,
                                     "effort", options.effort, "interlace", options.interlace,
                                     "strip", TRUE, NULL);
    g_object_unref(target);
    return result;
}

// libtiff seeks back in its output, which a sink can't do.
int cvips_save_tiff(cvips_image in, int predicts, int strip, cvips_sink sink, void *context) {
    void *bytes = NULL;
    size_t count = 0;
    if (vips_tiffsave_buffer(in, &bytes, &count, "compression",
                             VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE, "predictor",
                             predicts ? VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL
                                      : VIPS_FOREIGN_TIFF_PREDICTOR_NONE,
                             "strip", strip, NULL))
        return -1;
    int result = sink(context, bytes, count);
    g_free(bytes);
    if (result)
        vips_error("tiffsave", "the sink takes no bytes");
    return result ? -1 : 0;
}

int cvips_save_jxl(cvips_image in, cvips_jxl_options options, cvips_sink sink, void *context) {
    destination to = {sink, context};
    VipsTarget *target = target_new(&to);
    int result = vips_jxlsave_target(in, target, "Q", options.quality, "lossless",
                                     options.lossless, "effort", options.effort, "strip",
                                     options.strip, NULL);
    g_object_unref(target);
    return result;
}
