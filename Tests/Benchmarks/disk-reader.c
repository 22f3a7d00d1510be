// Requests a fixed number of images of scripts/disk-bench from an HTTP server, on a number of
// keep-alive connections, and prints the latencies.
//
//     disk-reader PORT CONNECTIONS FIRST COUNT ENTRIES in-order|random
//
// Every byte is compared with the output of Tests/DiskBench/Images.swift, after the time is taken.
// In random order each image must be in the cache: others are counted as misses.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static int port, is_random;
static long first, count, entries;
static atomic_long next_index, byte_count, error_count, miss_count;
static double *milliseconds;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

// SplitMix64: the same numbers in each run.
static long drawn(unsigned long index) {
    unsigned long mixed = (index + 1) * 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return (mixed ^ (mixed >> 31)) % entries;
}

static int connected(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int number = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(number, (struct sockaddr *)&address, sizeof address) < 0) {
        perror("connect");
        exit(1);
    }
    return number;
}

// Returns the size of one body and outputs its start, or returns -1 if it's incomplete.
static long answer(int server, char *buffer, size_t room, char **body) {
    size_t filled = 0;
    char *end = NULL;
    while (!end) {
        ssize_t got = read(server, buffer + filled, room - 1 - filled);
        if (got <= 0) return -1;
        filled += got;
        buffer[filled] = 0;
        end = strstr(buffer, "\r\n\r\n");
    }
    *body = end + 4;
    char *length = strcasestr(buffer, "\r\nContent-Length:");
    if (strncmp(buffer, "HTTP/1.1 200", 12) || !length || length > end) return -1;
    long count = atol(length + 17);
    if (count < 16 || (size_t)(*body - buffer) + count > room) return -1;
    while (buffer + filled < *body + count) {
        ssize_t got = read(server, buffer + filled, *body + count - (buffer + filled));
        if (got <= 0) return -1;
        filled += got;
    }
    return count;
}

// A body starts with zeros in place of its number; every other byte encodes its size class.
static int is_right(const char *body, long count, long number) {
    static const char none[8];
    return !memcmp(body, none, 8) && (unsigned char)body[8] == number * 97 % 256 &&
           !memcmp(body + 8, body + 9, count - 9);
}

static void *run(void *unused) {
    (void)unused;
    size_t room = 1 << 20;
    char *buffer = malloc(room), request[256];
    int server = connected();
    for (;;) {
        long index = atomic_fetch_add(&next_index, 1);
        if (index >= count) break;
        long number = is_random ? drawn(index) : first + index;
        int length = snprintf(
            request, sizeof request, "GET /%ld/%ld.jpg HTTP/1.1\r\nHost: images\r\n\r\n",
            number * 97 % 256, number);
        char *body = buffer;
        double began = now();
        long bytes =
            write(server, request, length) == length ? answer(server, buffer, room, &body) : -1;
        milliseconds[index] = now() - began;
        if (bytes < 0 || !is_right(body, bytes, number)) {
            atomic_fetch_add(&error_count, 1);
            close(server);
            server = connected();
            continue;
        }
        atomic_fetch_add(&byte_count, bytes);
        char *hit = strstr(buffer, "\r\nX-Cached: HIT\r\n");
        if (is_random && (!hit || hit > body)) atomic_fetch_add(&miss_count, 1);
    }
    close(server);
    free(buffer);
    return NULL;
}

static int smaller(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv) {
    if (argc != 7 || (count = atol(argv[4])) < 1 || atoi(argv[2]) < 1 || atoi(argv[2]) > 64) {
        fprintf(stderr, "see scripts/disk-bench\n");
        return 64;
    }
    port = atoi(argv[1]), first = atol(argv[3]), entries = atol(argv[5]);
    is_random = !strcmp(argv[6], "random");
    milliseconds = calloc(count, sizeof *milliseconds);
    pthread_t threads[64];
    double began = now();
    for (int index = 0; index < atoi(argv[2]); index++)
        pthread_create(&threads[index], NULL, run, NULL);
    for (int index = 0; index < atoi(argv[2]); index++) pthread_join(threads[index], NULL);
    double seconds = (now() - began) / 1e3;
    qsort(milliseconds, count, sizeof *milliseconds, smaller);
    printf(
        "{\"rps\": %.2f, \"p50_ms\": %.4f, \"p99_ms\": %.4f, \"max_ms\": %.4f, "
        "\"errors\": %ld, \"misses\": %ld, \"bytes\": %ld}\n",
        count / seconds, milliseconds[count / 2], milliseconds[count * 99 / 100],
        milliseconds[count - 1], atomic_load(&error_count),
        atomic_load(&miss_count), atomic_load(&byte_count));
    return error_count > 0;
}
