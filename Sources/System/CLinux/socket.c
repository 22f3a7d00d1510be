#define _GNU_SOURCE
#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int name_socket(struct sockaddr_un *address, const char *path) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) return -ENAMETOOLONG;
    strcpy(address->sun_path, path);
    return 0;
}

static int closing(int descriptor) {
    int error = errno;
    close(descriptor);
    return -error;
}

int clinux_socket_listen(const char *path, uint32_t mode, int waiting_max) {
    struct sockaddr_un address;
    int error = name_socket(&address, path);
    if (error < 0) return error;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    // bind creates the file with the socket's current mode, less the umask.
    if (fchmod(descriptor, (mode_t)mode) < 0) return closing(descriptor);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0)
        return closing(descriptor);
    if (listen(descriptor, waiting_max) < 0) return closing(descriptor);
    return descriptor;
}

int clinux_socket_accept(int descriptor) {
    int accepted = accept4(descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return accepted < 0 ? -errno : accepted;
}

int64_t clinux_socket_send(int descriptor, const void *buffer, size_t count) {
    ssize_t done = send(descriptor, buffer, count, MSG_NOSIGNAL);
    return done < 0 ? -errno : done;
}

int clinux_socket_connect(const char *path) {
    struct sockaddr_un address;
    int error = name_socket(&address, path);
    if (error < 0) return error;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0)
        return closing(descriptor);
    return descriptor;
}

int clinux_socket_shutdown(int descriptor) {
    return shutdown(descriptor, SHUT_RDWR) < 0 ? -errno : 0;
}

int clinux_tcp_listen(const char *address, uint16_t port, int waiting_max) {
    struct sockaddr_storage storage = {0};
    struct sockaddr_in *four = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&storage;
    socklen_t length = sizeof *four;
    if (inet_pton(AF_INET, address, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
    } else if (inet_pton(AF_INET6, address, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        length = sizeof *six;
    } else {
        return -EINVAL;
    }
    int descriptor =
        socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    if (descriptor < 0) return -errno;
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(descriptor, (struct sockaddr *)&storage, length) < 0 ||
        listen(descriptor, waiting_max) < 0)
        return closing(descriptor);
    return descriptor;
}

int clinux_stream_port(int descriptor) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    if (getsockname(descriptor, (struct sockaddr *)&storage, &length) < 0) return -errno;
    switch (storage.ss_family) {
    case AF_INET: return ntohs(((struct sockaddr_in *)&storage)->sin_port);
    case AF_INET6: return ntohs(((struct sockaddr_in6 *)&storage)->sin6_port);
    case AF_UNIX: return 0;
    default: return -EAFNOSUPPORT;
    }
}
