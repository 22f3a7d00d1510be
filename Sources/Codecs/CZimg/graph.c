#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zimg.h>

#include "CZimg.h"

struct czimg_graph {
    zimg_filter_graph *filters;
    void *scratch;
    size_t scratch_bytes;
};

// zimg encodes the kind of an error in the bits above its number.
enum { KIND_MASK = ~0x3FF };

static void explain(czimg_failure *failure) {
    int code = zimg_get_last_error(failure->text, sizeof failure->text);
    failure->text[sizeof failure->text - 1] = 0;
    zimg_clear_last_error();
    if (code == ZIMG_ERROR_OUT_OF_MEMORY)
        failure->status = CZIMG_NO_MEMORY;
    else if (code == ZIMG_ERROR_USER_CALLBACK_FAILED)
        failure->status = CZIMG_CANCELLED;
    else if (code > 0 && code & KIND_MASK)
        failure->status = CZIMG_UNSUPPORTED;
    else
        failure->status = CZIMG_INTERNAL;
}

static zimg_color_family_e family_of(czimg_family family) {
    switch (family) {
    case CZIMG_YCBCR:
        return ZIMG_COLOR_YUV;
    case CZIMG_RGB:
        return ZIMG_COLOR_RGB;
    default:
        return ZIMG_COLOR_GREY;
    }
}

// Primaries and transfer are passed through unchanged.
static zimg_matrix_coefficients_e matrix_of(czimg_family family, czimg_matrix matrix) {
    switch (family) {
    case CZIMG_YCBCR:
        return matrix == CZIMG_BT709 ? ZIMG_MATRIX_BT709 : ZIMG_MATRIX_ST170_M;
    case CZIMG_RGB:
        return ZIMG_MATRIX_RGB;
    default:
        return ZIMG_MATRIX_UNSPECIFIED;
    }
}

static zimg_chroma_location_e location_of(czimg_siting siting) {
    switch (siting) {
    case CZIMG_SITED_LEFT:
        return ZIMG_CHROMA_LEFT;
    case CZIMG_SITED_TOP_LEFT:
        return ZIMG_CHROMA_TOP_LEFT;
    default:
        return ZIMG_CHROMA_CENTER;
    }
}

static zimg_image_format describe(czimg_format from) {
    zimg_image_format format;
    zimg_image_format_default(&format, ZIMG_API_VERSION);
    format.width = from.width;
    format.height = from.height;
    format.pixel_type = from.bytes == 2 ? ZIMG_PIXEL_WORD : ZIMG_PIXEL_BYTE;
    format.depth = 8 * from.bytes;
    format.color_family = family_of(from.family);
    format.matrix_coefficients = matrix_of(from.family, from.matrix);
    format.subsample_w = from.horizontal_log2;
    format.subsample_h = from.vertical_log2;
    format.pixel_range = from.is_limited ? ZIMG_RANGE_LIMITED : ZIMG_RANGE_FULL;
    format.chroma_location = location_of(from.siting);
    return format;
}

static zimg_resample_filter_e filter_of(czimg_filter filter) {
    switch (filter) {
    case CZIMG_BILINEAR:
        return ZIMG_RESIZE_BILINEAR;
    case CZIMG_BICUBIC:
        return ZIMG_RESIZE_BICUBIC;
    default:
        return ZIMG_RESIZE_LANCZOS;
    }
}

static int takes_parameters(czimg_filter filter) {
    return filter == CZIMG_BICUBIC || filter == CZIMG_LANCZOS;
}

#if defined(__x86_64__)
static zimg_cpu_type_e code_of_x86(czimg_code code) {
    switch (code) {
    case CZIMG_SSE:
        return ZIMG_CPU_X86_SSE;
    case CZIMG_SSE2:
        return ZIMG_CPU_X86_SSE2;
    case CZIMG_AVX:
        return ZIMG_CPU_X86_AVX;
    case CZIMG_F16C:
        return ZIMG_CPU_X86_F16C;
    case CZIMG_AVX2:
        return ZIMG_CPU_X86_AVX2;
    case CZIMG_AVX512_SKX:
        return ZIMG_CPU_X86_AVX512_SKX;
    case CZIMG_AVX512_CLX:
        return ZIMG_CPU_X86_AVX512_CLX;
    case CZIMG_AVX512_PMC:
        return ZIMG_CPU_X86_AVX512_PMC;
    case CZIMG_AVX512_SNC:
        return ZIMG_CPU_X86_AVX512_SNC;
    default:
        return ZIMG_CPU_AUTO;
    }
}
#endif

// Automatic is ZIMG_CPU_AUTO, never ZIMG_CPU_AUTO_64B, which adds AVX-512: with that, zimg 3.0.4
// reads columns that are 16 positions off when reducing by 2.0 to 2.2.
static zimg_cpu_type_e code_of(czimg_code code) {
    if (code == CZIMG_PORTABLE)
        return ZIMG_CPU_NONE;
#if defined(__x86_64__)
    return code_of_x86(code);
#else
    return ZIMG_CPU_AUTO;
#endif
}

static zimg_graph_builder_params parameters(czimg_resampling luma, czimg_resampling chroma,
                                            czimg_code code) {
    zimg_graph_builder_params params;
    zimg_graph_builder_params_default(&params, ZIMG_API_VERSION);
    params.cpu_type = code_of(code);
    params.resample_filter = filter_of(luma.filter);
    params.filter_param_a = takes_parameters(luma.filter) ? luma.a : NAN;
    params.filter_param_b = luma.filter == CZIMG_BICUBIC ? luma.b : NAN;
    params.resample_filter_uv = filter_of(chroma.filter);
    params.filter_param_a_uv = takes_parameters(chroma.filter) ? chroma.a : NAN;
    params.filter_param_b_uv = chroma.filter == CZIMG_BICUBIC ? chroma.b : NAN;
    return params;
}

// Builds the filters and allocates scratch memory; whatever is missing after a failure stays NULL.
static int prepare(czimg_graph *graph, const zimg_image_format *in, const zimg_image_format *out,
                   const zimg_graph_builder_params *params, czimg_failure *failure) {
    graph->filters = zimg_filter_graph_build(in, out, params);
    size_t need = 0;
    if (!graph->filters || zimg_filter_graph_get_tmp_size(graph->filters, &need)) {
        explain(failure);
        return -1;
    }
    graph->scratch_bytes = (need / CZIMG_ALIGNMENT + 1) * CZIMG_ALIGNMENT;
    graph->scratch = aligned_alloc(CZIMG_ALIGNMENT, graph->scratch_bytes);
    if (!graph->scratch) {
        *failure = (czimg_failure){CZIMG_NO_MEMORY, "no scratch memory"};
        return -1;
    }
    return 0;
}

czimg_graph *czimg_build(czimg_format from, czimg_format to, czimg_resampling luma,
                         czimg_resampling chroma, czimg_code code, czimg_failure *failure) {
    zimg_image_format in = describe(from), out = describe(to);
    in.active_region.left = from.left;
    in.active_region.top = from.top;
    in.active_region.width = from.active_width;
    in.active_region.height = from.active_height;
    zimg_graph_builder_params params = parameters(luma, chroma, code);
    czimg_graph *graph = calloc(1, sizeof *graph);
    if (!graph) {
        *failure = (czimg_failure){CZIMG_NO_MEMORY, "no memory for a graph"};
        return NULL;
    }
    if (prepare(graph, &in, &out, &params, failure)) {
        czimg_free(graph);
        return NULL;
    }
    return graph;
}

size_t czimg_scratch_bytes(const czimg_graph *graph) {
    return graph->scratch_bytes;
}

void czimg_free(czimg_graph *graph) {
    zimg_filter_graph_free(graph->filters);
    free(graph->scratch);
    free(graph);
}

typedef struct {
    czimg_stop stop;
    void *context;
} asking;

static int on_rows(void *user, unsigned row, unsigned left, unsigned right) {
    (void)row, (void)left, (void)right;
    const asking *ask = user;
    return ask->stop(ask->context);
}

czimg_status czimg_process(const czimg_graph *graph, const czimg_source *from,
                           const czimg_target *to, czimg_stop stop, void *context,
                           czimg_failure *failure) {
    zimg_image_buffer_const in = {.version = ZIMG_API_VERSION};
    zimg_image_buffer out = {.version = ZIMG_API_VERSION};
    for (int i = 0; i < CZIMG_PLANES_MAX; i++) {
        in.plane[i].data = from->base[i];
        in.plane[i].stride = (ptrdiff_t)from->stride[i];
        in.plane[i].mask = ZIMG_BUFFER_MAX;
        out.plane[i].data = to->base[i];
        out.plane[i].stride = (ptrdiff_t)to->stride[i];
        out.plane[i].mask = ZIMG_BUFFER_MAX;
    }
    asking ask = {stop, context};
    failure->status = CZIMG_OK;
    if (zimg_filter_graph_process(graph->filters, &in, &out, graph->scratch,
                                  stop ? on_rows : NULL, &ask, NULL, NULL))
        explain(failure);
    return failure->status;
}
