#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
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
    // The file that bind makes has the mode that the socket has by then, less the umask.
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
