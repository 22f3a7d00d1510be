// Measures the cost of libvips alone per frame of an animation: bytes in memory → RGBA pixels in
// memory, repeatedly, in several single-threaded processes.
//
//     vips-pages FILE each|all PROCESSES SECONDS
//
// each: loads every page by its number, as for a single frame. all: loads all pages at once as one
// tall image. Prints one JSON object: frames per second.
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

enum { PROCESSES_MAX = 256 };

static unsigned char *source;
static size_t source_bytes;

static void fail(const char *what) {
    fprintf(stderr, "vips-pages: %s: %s\n", what, vips_error_buffer());
    exit(1);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static VipsImage *open_pages(int first, int count) {
    VipsImage *image = vips_image_new_from_buffer(source, source_bytes, "", "page", first, "n",
                                                  count, NULL);
    if (!image)
        fail("open");
    return image;
}

static void read_pages(int first, int count) {
    VipsImage *image = open_pages(first, count);
    size_t bytes;
    void *pixels = vips_image_write_to_memory(image, &bytes);
    if (!pixels)
        fail("read");
    g_free(pixels);
    g_object_unref(image);
}

static double frames_a_second(int pages, int all, double seconds) {
    long frames = 0;
    double begin = seconds_now(), lasted = 0;
    while (lasted < seconds) {
        if (all)
            read_pages(0, -1);
        for (int page = 0; !all && page < pages; page++)
            read_pages(page, 1);
        frames += pages;
        lasted = seconds_now() - begin;
    }
    return (double)frames / lasted;
}

int main(int count, char **argument) {
    if (count != 5) {
        fputs("usage: vips-pages FILE each|all PROCESSES SECONDS\n", stderr);
        return 64;
    }
    int all = !strcmp(argument[2], "all"), processes = atoi(argument[3]);
    double *rates = mmap(NULL, PROCESSES_MAX * sizeof *rates, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (processes < 1 || processes > PROCESSES_MAX || rates == MAP_FAILED)
        return 64;
    if (!g_file_get_contents(argument[1], (gchar **)&source, &source_bytes, NULL))
        return 66;
    for (int i = 0; i < processes; i++) {
        if (fork())
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (vips_init(argument[0]))
            fail("start");
        vips_concurrency_set(1);
        vips_cache_set_max(0);
        VipsImage *header = open_pages(0, 1);
        int pages = vips_image_get_n_pages(header);
        g_object_unref(header);
        rates[i] = frames_a_second(pages, all, strtod(argument[4], NULL));
        _exit(0);
    }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    if (failed)
        return 1;
    double rps = 0;
    for (int i = 0; i < processes; i++)
        rps += rates[i];
    printf("{\"rps\": %.2f}\n", rps);
    return 0;
}
