#pragma once
#include <microhttpd.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>

// MHD_start_daemon and the two functions that look into a daemon or a connection are variadic,
// which Swift does not import.

// Listens on a free port of 127.0.0.1 with a thread for each connection; NULL where that fails.
static inline struct MHD_Daemon *cmicrohttpd_start(
    MHD_AccessHandlerCallback answer, void *context,
    void *(*began)(void *context, const char *target, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback ended, unsigned int connections_max,
    unsigned int idle_seconds_max) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL,
        NULL, answer, context, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_URI_LOG_CALLBACK, began, context, MHD_OPTION_NOTIFY_COMPLETED, ended, context,
        MHD_OPTION_CONNECTION_LIMIT, connections_max, MHD_OPTION_CONNECTION_TIMEOUT,
        idle_seconds_max, MHD_OPTION_END);
}

// The port that the system chose; 0 where it is not known.
static inline uint16_t cmicrohttpd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

// The socket of a connection, or -1.
static inline int cmicrohttpd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

// POLLRDHUP of <linux/poll.h>: the peer has closed its side. <poll.h> shows it to _GNU_SOURCE only.
#define CMICROHTTPD_PEER_LEFT 0x2000

// A descriptor that becomes readable with cmicrohttpd_open, or -1.
static inline int cmicrohttpd_gate(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline void cmicrohttpd_open(int gate) { eventfd_write(gate, 1); }

// Waits; 1 once the gate is open, 0 when the peer at the other end of the socket has left.
static inline int cmicrohttpd_wait(int gate, int socket) {
    struct pollfd entries[] = {{gate, POLLIN, 0}, {socket, CMICROHTTPD_PEER_LEFT, 0}};
    int count;
    do count = poll(entries, 2, -1); while (count < 0 && errno == EINTR);
    return count > 0 && entries[0].revents != 0;
}
