// Measures the cost of ZeroMQ alone: a ROUTER in another process answers each request of a DEALER
// with frames of given sizes over a Unix socket. Nothing is parsed or looked up.
//
//     router-echo ENDPOINT REQUEST_BYTES REPLY_BYTES IN_FLIGHT SECONDS
//
// Each message is a header of 8 bytes and a body of the given size. Prints one JSON object. The
// client sends the next request when a reply arrives.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { HEADER_BYTES = 8, BODY_MAX = 1 << 20, SAMPLES_MAX = 1 << 22, WARM_UP = 2000 };

static char body[BODY_MAX];

static void fail(const char *what) {
    fprintf(stderr, "router-echo: %s: %s\n", what, zmq_strerror(errno));
    exit(1);
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void *open_socket(int type) {
    void *context = zmq_ctx_new();
    void *socket = context ? zmq_socket(context, type) : NULL;
    int limit = 0;
    if (!socket || zmq_setsockopt(socket, ZMQ_SNDHWM, &limit, sizeof limit) ||
        zmq_setsockopt(socket, ZMQ_RCVHWM, &limit, sizeof limit))
        fail("socket");
    return socket;
}

static void send_frames(void *socket, size_t bytes) {
    if (zmq_send(socket, "IBUS\1\0\0", HEADER_BYTES, ZMQ_SNDMORE) < 0 ||
        zmq_send(socket, body, bytes, 0) < 0)
        fail("send");
}

// Receives the header and the body into the caller's memory.
static void receive_frames(void *socket) {
    char header[HEADER_BYTES];
    static char received[BODY_MAX];
    if (zmq_recv(socket, header, sizeof header, 0) < 0 ||
        zmq_recv(socket, received, sizeof received, 0) < 0)
        fail("receive");
}

static void serve(const char *endpoint, size_t reply_bytes) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    void *socket = open_socket(ZMQ_ROUTER);
    if (zmq_bind(socket, endpoint))
        fail("bind");
    for (;;) {
        char identity[256];
        int length = zmq_recv(socket, identity, sizeof identity, 0);
        if (length < 0)
            fail("receive");
        receive_frames(socket);
        if (zmq_send(socket, identity, (size_t)length, ZMQ_SNDMORE) < 0)
            fail("send");
        send_frames(socket, reply_bytes);
    }
}

static int ascending(const void *a, const void *b) {
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

static void measure(void *socket, size_t request_bytes, size_t in_flight, double seconds) {
    float *samples = malloc(SAMPLES_MAX * sizeof *samples);
    double *sent = calloc(in_flight, sizeof *sent);
    if (!samples || !sent)
        fail("memory");
    // A ROUTER answers one DEALER in order, so a reply belongs to the oldest request.
    for (size_t i = 0; i < in_flight; i++) {
        sent[i] = microseconds();
        send_frames(socket, request_bytes);
    }
    size_t received = 0, count = 0;
    double begin = 0, now = 0;
    while (received < WARM_UP || now - begin < seconds * 1e6) {
        receive_frames(socket);
        now = microseconds();
        if (received >= WARM_UP && count < SAMPLES_MAX)
            samples[count++] = (float)(now - sent[received % in_flight]);
        sent[received % in_flight] = now;
        if (++received == WARM_UP)
            begin = now;
        send_frames(socket, request_bytes);
    }
    double rps = (double)(received - WARM_UP) / ((now - begin) / 1e6), sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += samples[i];
    qsort(samples, count, sizeof *samples, ascending);
    printf("{\"rps\": %.1f, \"mean_us\": %.2f, \"p50_us\": %.2f, \"p99_us\": %.2f}\n", rps,
           sum / (double)count, samples[count / 2], samples[count * 99 / 100]);
}

int main(int count, char **argument) {
    if (count != 6) {
        fputs("usage: router-echo ENDPOINT REQUEST_BYTES REPLY_BYTES IN_FLIGHT SECONDS\n", stderr);
        return 64;
    }
    size_t request_bytes = strtoul(argument[2], NULL, 10);
    size_t reply_bytes = strtoul(argument[3], NULL, 10);
    size_t in_flight = strtoul(argument[4], NULL, 10);
    if (request_bytes > BODY_MAX || reply_bytes > BODY_MAX || !in_flight)
        return 64;
    pid_t server = fork();
    if (server < 0)
        fail("fork");
    if (!server)
        serve(argument[1], reply_bytes);
    void *socket = open_socket(ZMQ_DEALER);
    if (zmq_connect(socket, argument[1]))
        fail("connect");
    measure(socket, request_bytes, in_flight, strtod(argument[5], NULL));
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return 0;
}
