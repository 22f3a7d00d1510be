#pragma once
#include <microhttpd.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// MHD_start_daemon and the functions that query a daemon or a connection are variadic, which Swift
// doesn't import.

// Returns the socket of a connection, or -1.
static inline int cmicrohttpd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

typedef struct cmicrohttpd_limits {
    unsigned int connections, idle_seconds;
    size_t head_bytes;
} cmicrohttpd_limits;

// The callbacks of a server, all with the same context.
typedef struct cmicrohttpd_calls {
    MHD_AccessHandlerCallback answer;
    void *(*began)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback ended;
    MHD_NotifyConnectionCallback connected;
    // Decides whether to accept a connection; otherwise it's closed at once.
    MHD_AcceptPolicyCallback accepts;
    // Called when a request fails.
    MHD_LogCallback failed;
    void *context;
} cmicrohttpd_calls;

// Leaves an encoded target as it is: only the target as written is used.
static inline size_t cmicrohttpd_keep_encoded(void *context, struct MHD_Connection *connection,
                                              char *text) {
    (void)context, (void)connection;
    return strlen(text);
}

// Serves connections of a listening socket, which it owns from then on. Returns NULL on failure.
//
// MHD_OPTION_STRICT_FOR_CLIENT isn't used: with it, 0.9.75 closes the connection silently if a
// target contains a space, answers twice if Host is missing, and still accepts spaces before a
// colon. Requests are validated by our own code instead.
static inline struct MHD_Daemon *cmicrohttpd_start_evented(int socket, cmicrohttpd_limits limits,
                                                           cmicrohttpd_calls calls) {
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)calls.failed, calls.context},
        {MHD_OPTION_LISTEN_SOCKET, socket, NULL},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)calls.began, calls.context},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)cmicrohttpd_keep_encoded, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)calls.ended, calls.context},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)calls.connected, calls.context},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)limits.connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)limits.idle_seconds, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)limits.head_bytes, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
                            calls.accepts, calls.context, calls.answer, calls.context,
                            MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// Returns the per-connection pointer stored by the `connected` callback, or NULL.
static inline void *cmicrohttpd_kept(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

// Returns the size of a head in bytes, from its method to the end of its empty line.
static inline size_t cmicrohttpd_head_bytes(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

// Sends the last bytes of a connection and shuts it down in both directions, so that libmicrohttpd
// can't send any more. Pending input is read first, since otherwise a reset would discard the
// answer.
static inline void cmicrohttpd_end_with(int socket, const void *bytes, size_t count) {
    char rest[4096];
    send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(socket, SHUT_WR);
    for (int i = 0; i < 16; i++)
        if (recv(socket, rest, sizeof rest, MSG_DONTWAIT) <= 0) break;
    shutdown(socket, SHUT_RD);
}

// Returns the epoll descriptor that's readable when the server has work to do, or -1.
static inline int cmicrohttpd_epoll(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

// Returns the number of open connections, including suspended ones.
static inline unsigned int cmicrohttpd_connections(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info == NULL ? 0 : info->num_connections;
}

// Returns the address of a connection's peer, or NULL.
static inline const struct sockaddr *cmicrohttpd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

// Outputs the 16 bytes of an IPv6 or IPv4-mapped address. Returns 0 for any other family.
static inline int cmicrohttpd_address(const struct sockaddr *peer, unsigned char bytes[16]) {
    static const unsigned char mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    switch (peer->sa_family) {
    case AF_INET:
        memcpy(bytes, mapped, sizeof mapped);
        memcpy(bytes + 12, &((const struct sockaddr_in *)peer)->sin_addr, 4);
        return 1;
    case AF_INET6:
        memcpy(bytes, &((const struct sockaddr_in6 *)peer)->sin6_addr, 16);
        return 1;
    default:
        return 0;
    }
}

// Returns the port of a listening TCP socket, or 0.
static inline uint16_t cmicrohttpd_port_of(int socket) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    if (getsockname(socket, (struct sockaddr *)&storage, &length) != 0 ||
        (storage.ss_family != AF_INET && storage.ss_family != AF_INET6))
        return 0;
    return ntohs(storage.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&storage)->sin6_port
                                               : ((struct sockaddr_in *)&storage)->sin_port);
}

// Returns the monotonic time in milliseconds.
static inline int64_t cmicrohttpd_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Ends a connection as if the peer had; the socket still belongs to its owner.
static inline void cmicrohttpd_end(int socket) { shutdown(socket, SHUT_RDWR); }

// Does the same and discards unsent data when the socket is closed.
static inline void cmicrohttpd_abort(int socket) {
    struct linger now = {1, 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    cmicrohttpd_end(socket);
}

// The offset of `tcpi_bytes_acked` in `struct tcp_info` of <linux/tcp.h>. The structure of
// <netinet/tcp.h> ends before it, and the two headers can't be combined.
#define CMICROHTTPD_ACKED_OFFSET 120

// Returns the number of bytes the peer has received over the connection's lifetime, or -1 if the
// system doesn't report it, as for a Unix socket.
static inline int64_t cmicrohttpd_taken(int socket) {
    unsigned char info[CMICROHTTPD_ACKED_OFFSET + sizeof(int64_t)];
    socklen_t length = sizeof info;
    int64_t taken = 0;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &length) != 0 || length < sizeof info)
        return -1;
    memcpy(&taken, info + CMICROHTTPD_ACKED_OFFSET, sizeof taken);
    return taken;
}

// Limits the unsent bytes that the system buffers per connection of a listening socket, in addition
// to those in flight. No effect for a Unix socket.
static inline void cmicrohttpd_limit_unsent(int socket, int bytes) {
    setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

// Returns the socket that a server listens on, or -1.
static inline int cmicrohttpd_listening(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD);
    return info == NULL ? -1 : info->listen_fd;
}

// Drops TCP segments that would open a connection to a listening socket: those with SYN among their
// flags, which are in byte 13.
static inline void cmicrohttpd_refuse(int socket) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xFFFFFFFF),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static inline void cmicrohttpd_refuse_no_more(int socket) {
    int none = 0;
    setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none);
}

// Returns a set of descriptors that's readable when one of them has an event, or -1.
static inline int cmicrohttpd_set(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int cmicrohttpd_set_add(int set, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}

// Watches a connection only for the peer's disconnect, until it's closed.
static inline int cmicrohttpd_watch(int set, int socket, void *of) {
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data = {.ptr = of}};
    return epoll_ctl(set, EPOLL_CTL_ADD, socket, &event);
}

// Outputs the connections whose peers have disconnected since the last call, at most `most`.
// Returns their number.
static inline int cmicrohttpd_left(int set, void **of, int most) {
    struct epoll_event events[64];
    int count = epoll_wait(set, events, most < 64 ? most : 64, 0);
    for (int i = 0; i < count; i++)
        of[i] = events[i].data.ptr;
    return count < 0 ? 0 : count;
}

static inline int cmicrohttpd_errno(void) { return errno; }

// The size of a date as text, with its final zero.
#define CMICROHTTPD_DATE_BYTES 30

// Outputs the current time as a Date header has it (RFC 9110, section 5.6.7).
static inline void cmicrohttpd_date(char text[CMICROHTTPD_DATE_BYTES]) {
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    snprintf(text, CMICROHTTPD_DATE_BYTES, "%s, %02d %s %04d %02d:%02d:%02d GMT",
             days[utc.tm_wday], utc.tm_mday, months[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour,
             utc.tm_min, utc.tm_sec);
}

// Returns the milliseconds after which a server must run, or -1 if only its descriptor matters.
static inline long long cmicrohttpd_due(struct MHD_Daemon *daemon) {
    MHD_UNSIGNED_LONG_LONG milliseconds = 0;
    return MHD_get_timeout(daemon, &milliseconds) == MHD_YES ? (long long)milliseconds : -1;
}
