// libzmq for Swift. Each shim returns a value >= 0 or -errno, so that nothing can run between the
// call and reading errno.
#pragma once

#include <errno.h>
#include <zmq.h>

static inline int czmq_result(int result) { return result < 0 ? -zmq_errno() : result; }

static inline int czmq_ctx_term(void *context) { return czmq_result(zmq_ctx_term(context)); }

static inline int czmq_socket(void *context, int type, void **socket) {
    *socket = zmq_socket(context, type);
    return *socket == NULL ? -zmq_errno() : 0;
}
static inline int czmq_close(void *socket) { return czmq_result(zmq_close(socket)); }
static inline int czmq_bind(void *socket, const char *endpoint) {
    return czmq_result(zmq_bind(socket, endpoint));
}
static inline int czmq_connect(void *socket, const char *endpoint) {
    return czmq_result(zmq_connect(socket, endpoint));
}
static inline int czmq_set(void *socket, int option, const void *value, size_t size) {
    return czmq_result(zmq_setsockopt(socket, option, value, size));
}
static inline int czmq_get(void *socket, int option, void *value, size_t *size) {
    return czmq_result(zmq_getsockopt(socket, option, value, size));
}
static inline int czmq_monitor(void *socket, const char *endpoint, int events) {
    return czmq_result(zmq_socket_monitor(socket, endpoint, events));
}

static inline int czmq_send(void *socket, const void *bytes, size_t count, int flags) {
    return czmq_result(zmq_send(socket, bytes, count, flags));
}
static inline int czmq_msg_init_size(zmq_msg_t *message, size_t count) {
    return czmq_result(zmq_msg_init_size(message, count));
}
static inline int czmq_msg_send(zmq_msg_t *message, void *socket, int flags) {
    return czmq_result(zmq_msg_send(message, socket, flags));
}
static inline int czmq_msg_recv(zmq_msg_t *message, void *socket, int flags) {
    return czmq_result(zmq_msg_recv(message, socket, flags));
}
static inline int czmq_msg_source(const zmq_msg_t *message) {
    return czmq_result(zmq_msg_get(message, ZMQ_SRCFD));
}
