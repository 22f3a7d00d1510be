// Measures how close a small image comes to the best possible reduction of the large one: decodes
// PHOTO at full size, reduces it to the size of the images with its own Lanczos 3 implementation,
// so that neither side judges itself, and compares all bytes of all channels. That reduction at
// quality 80 is compared as well: the best that a JPEG of this quality can reach.
//
//     psnr PHOTO PICTURE...
//
// Prints one JSON object: decibels by the path of the image ("q80" for the reduction itself).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <vips/vips.h>

enum { BANDS = 3, LOBES = 3 };

typedef struct {
    double *values;
    int width, height;
} plane;

static void fail(const char *what) {
    fprintf(stderr, "psnr: %s: %s\n", what, vips_error_buffer());
    exit(1);
}

static void *memory(size_t bytes) {
    void *block = malloc(bytes);
    if (!block)
        fail("memory");
    return block;
}

static VipsImage *open_image(const char *path) {
    VipsImage *image = vips_image_new_from_file(path, NULL), *colour, *bands;
    if (!image || vips_colourspace(image, &colour, VIPS_INTERPRETATION_sRGB, NULL) ||
        vips_extract_band(colour, &bands, 0, "n", BANDS, NULL))
        fail(path);
    g_object_unref(image);
    g_object_unref(colour);
    return bands;
}

static double lanczos(double x) {
    if (fabs(x) < 1e-9)
        return 1;
    if (fabs(x) >= LOBES)
        return 0;
    return LOBES * sin(G_PI * x) * sin(G_PI * x / LOBES) / (G_PI * G_PI * x * x);
}

// Reduces rows to this many columns and transposes the result, so that a second call reduces the
// columns and restores the orientation.
static plane reduce(plane from, int columns) {
    plane to = {memory(sizeof(double) * BANDS * columns * from.height), from.height, columns};
    double scale = (double)from.width / columns;
    double *weights = memory(sizeof(double) * (size_t)(2 * LOBES * scale + 3));
    for (int column = 0; column < columns; column++) {
        double centre = (column + 0.5) * scale, sum = 0;
        int first = VIPS_MAX(0, (int)floor(centre - LOBES * scale));
        int last = VIPS_MIN(from.width - 1, (int)ceil(centre + LOBES * scale));
        for (int x = first; x <= last; x++)
            sum += weights[x - first] = lanczos((x + 0.5 - centre) / scale);
        for (int y = 0; y < from.height; y++)
            for (int band = 0; band < BANDS; band++) {
                const double *row = from.values + (size_t)y * from.width * BANDS + band;
                double value = 0;
                for (int x = first; x <= last; x++)
                    value += weights[x - first] * row[x * BANDS];
                to.values[((size_t)column * from.height + y) * BANDS + band] = value / sum;
            }
    }
    free(weights);
    return to;
}

static VipsImage *reference(VipsImage *photo, int width, int height) {
    size_t count;
    unsigned char *bytes = vips_image_write_to_memory(photo, &count);
    plane full = {memory(count * sizeof(double)), photo->Xsize, photo->Ysize};
    for (size_t i = 0; i < count; i++)
        full.values[i] = bytes[i];
    plane narrow = reduce(full, width), small = reduce(narrow, height);
    count = (size_t)width * height * BANDS;
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)VIPS_CLIP(0, lround(small.values[i]), 255);
    VipsImage *image = vips_image_new_from_memory_copy(bytes, count, width, height, BANDS,
                                                       VIPS_FORMAT_UCHAR);
    image->Type = VIPS_INTERPRETATION_sRGB;
    free(full.values);
    free(narrow.values);
    free(small.values);
    g_free(bytes);
    return image;
}

static double decibels(VipsImage *wanted, VipsImage *image) {
    size_t length, other;
    unsigned char *a = vips_image_write_to_memory(wanted, &length);
    unsigned char *b = vips_image_write_to_memory(image, &other);
    if (!a || !b || length != other)
        fail("compare");
    double sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += (double)(a[i] - b[i]) * (a[i] - b[i]);
    g_free(a);
    g_free(b);
    return 10 * log10(255.0 * 255.0 * (double)length / sum);
}

static double of_quality_80(VipsImage *wanted) {
    void *bytes;
    size_t count;
    VipsImage *again;
    if (vips_jpegsave_buffer(wanted, &bytes, &count, "Q", 80, "strip", TRUE, NULL) ||
        vips_jpegload_buffer(bytes, count, &again, NULL))
        fail("q80");
    double value = decibels(wanted, again);
    g_object_unref(again);
    g_free(bytes);
    return value;
}

int main(int count, char **argument) {
    if (count < 3) {
        fputs("usage: psnr PHOTO PICTURE...\n", stderr);
        return 64;
    }
    if (vips_init(argument[0]))
        fail("start");
    VipsImage *photo = open_image(argument[1]), *wanted = NULL;
    for (int i = 2; i < count; i++) {
        VipsImage *image = open_image(argument[i]);
        if (!wanted) {
            wanted = reference(photo, image->Xsize, image->Ysize);
            printf("{\"q80\": %.2f", of_quality_80(wanted));
        }
        if (image->Xsize == wanted->Xsize && image->Ysize == wanted->Ysize)
            printf(", \"%s\": %.2f", argument[i], decibels(wanted, image));
        else
            fprintf(stderr, "psnr: %s has %d x %d pixels, the first one %d x %d\n", argument[i],
                    image->Xsize, image->Ysize, wanted->Xsize, wanted->Ysize);
        g_object_unref(image);
    }
    puts("}");
    g_object_unref(wanted);
    g_object_unref(photo);
    return 0;
}
