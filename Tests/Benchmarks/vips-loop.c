// Measures the cost of libvips alone: bytes of an image in memory → at most SIDE × SIDE → JPEG,
// PNG, WebP or AVIF bytes, repeatedly, in several single-threaded processes. No bus, no socket, no
// file.
//
//     vips-loop PHOTO SIDE jpeg|png|webp|avif QUALITY PROCESSES SECONDS [OUT]
//
// The calls are those of the general lane: the JPEG decoder shrinks as far as still covers the
// target size, an SVG is drawn at that size, and Lanczos 3 does the rest, row by row. Prints one
// JSON object and writes one result to OUT.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vips/vips.h>

enum { PROCESSES_MAX = 256, WARM_UP = 3 };

typedef struct {
    unsigned char *source;
    size_t source_bytes;
    int width, height, side, quality;
    const char *format, *loader;
} job;

typedef struct {
    double seconds;
    long runs;
} share;

static void fail(const char *what) {
    fprintf(stderr, "vips-loop: %s: %s\n", what, vips_error_buffer());
    exit(1);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// The largest size that fits into SIDE × SIDE.
static void fit(const job *work, int *width, int *height) {
    double factor = (double)work->side / VIPS_MAX(work->width, work->height);
    *width = (int)VIPS_RINT(work->width * factor);
    *height = (int)VIPS_RINT(work->height * factor);
}

static int save(const job *work, VipsImage *image, void **bytes, size_t *count) {
    if (!strcmp(work->format, "png"))
        return vips_pngsave_buffer(image, bytes, count, "compression", 1, "filter",
                                   VIPS_FOREIGN_PNG_FILTER_SUB, "strip", TRUE, NULL);
    if (!strcmp(work->format, "webp"))
        return vips_webpsave_buffer(image, bytes, count, "Q", work->quality, "strip", TRUE, NULL);
    if (!strcmp(work->format, "avif")) // Effort 1 is libaom's speed 8.
        return vips_heifsave_buffer(image, bytes, count, "Q", work->quality, "compression",
                                    VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "effort", 1, "strip", TRUE,
                                    NULL);
    return vips_jpegsave_buffer(image, bytes, count, "Q", work->quality, "strip", TRUE, NULL);
}

// The factor by which a JPEG decoder may shrink each side.
static int shrink_for(const job *work, int width, int height) {
    int shrink = 8;
    while (shrink > 1 && (work->width / shrink < width || work->height / shrink < height))
        shrink /= 2;
    return shrink;
}

static VipsImage *decode(const job *work, int width, int height) {
    VipsImage *image;
    int result;
    if (strstr(work->loader, "Jpeg"))
        result = vips_jpegload_buffer(work->source, work->source_bytes, &image, "access",
                                      VIPS_ACCESS_SEQUENTIAL, "shrink",
                                      shrink_for(work, width, height), NULL);
    else if (strstr(work->loader, "Svg"))
        result = vips_svgload_buffer(work->source, work->source_bytes, &image, "scale",
                                     (double)width / work->width, NULL);
    else {
        image = vips_image_new_from_buffer(work->source, work->source_bytes, "", "access",
                                           VIPS_ACCESS_SEQUENTIAL, NULL);
        result = image ? 0 : -1;
    }
    if (result)
        fail("decode");
    return image;
}

static void run(const job *work, void **bytes, size_t *count) {
    VipsImage *decoded, *small;
    int width, height;
    fit(work, &width, &height);
    decoded = decode(work, width, height);
    if (vips_resize(decoded, &small, (double)width / decoded->Xsize, "vscale",
                    (double)height / decoded->Ysize, "kernel", VIPS_KERNEL_LANCZOS3, NULL))
        fail("resize");
    if (save(work, small, bytes, count))
        fail("encode");
    g_object_unref(small);
    g_object_unref(decoded);
}

static share loop(const job *work, double seconds) {
    void *bytes;
    size_t count;
    for (int i = 0; i < WARM_UP; i++) {
        run(work, &bytes, &count);
        g_free(bytes);
    }
    share done = {0, 0};
    double begin = seconds_now();
    while (done.seconds < seconds) {
        run(work, &bytes, &count);
        g_free(bytes);
        done.runs++;
        done.seconds = seconds_now() - begin;
    }
    return done;
}

static size_t write_one(const job *work, const char *path) {
    void *bytes;
    size_t count;
    run(work, &bytes, &count);
    if (path && !g_file_set_contents(path, bytes, (gssize)count, NULL))
        fail(path);
    g_free(bytes);
    return count;
}

static void read_source(job *work, const char *path) {
    VipsImage *image;
    if (!g_file_get_contents(path, (gchar **)&work->source, &work->source_bytes, NULL))
        fail(path);
    image = vips_image_new_from_buffer(work->source, work->source_bytes, "", NULL);
    work->loader = vips_foreign_find_load_buffer(work->source, work->source_bytes);
    if (!image || !work->loader)
        fail(path);
    work->width = image->Xsize;
    work->height = image->Ysize;
    g_object_unref(image);
}

int main(int count, char **argument) {
    if (count < 7 || count > 8) {
        fputs("usage: vips-loop PHOTO SIDE FORMAT QUALITY PROCESSES SECONDS [OUT]\n", stderr);
        return 64;
    }
    int processes = atoi(argument[5]);
    double seconds = strtod(argument[6], NULL);
    job work = {.side = atoi(argument[2]), .format = argument[3], .quality = atoi(argument[4])};
    share *shares = mmap(NULL, PROCESSES_MAX * sizeof *shares, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (processes < 1 || processes > PROCESSES_MAX || work.side < 1 || shares == MAP_FAILED)
        return 64;
    for (int i = 0; i < processes; i++) {
        if (fork())
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (vips_init(argument[0]))
            fail("start");
        vips_concurrency_set(1);
        vips_cache_set_max(0);
        read_source(&work, argument[1]);
        shares[i] = loop(&work, seconds);
        _exit(0);
    }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    if (failed)
        return 1;
    double rps = 0, milliseconds = 0;
    for (int i = 0; i < processes; i++) {
        rps += (double)shares[i].runs / shares[i].seconds;
        milliseconds += shares[i].seconds * 1e3 / (double)shares[i].runs / processes;
    }
    if (vips_init(argument[0]))
        fail("start");
    read_source(&work, argument[1]);
    size_t bytes = write_one(&work, count == 8 ? argument[7] : NULL);
    printf("{\"rps\": %.2f, \"mean_ms\": %.3f, \"bytes\": %zu}\n", rps, milliseconds, bytes);
    return 0;
}
