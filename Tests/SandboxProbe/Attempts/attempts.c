#define _GNU_SOURCE
#include "SandboxAttempts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef const struct attempt_context *context;

#define CALL(...) (syscall(__VA_ARGS__) < 0 ? errno : 0)
#define ATTEMPT(name) static int name(context c)
#define UNUSED (void)c

static int opened(long descriptor) {
    if (descriptor < 0) return errno;
    close((int)descriptor);
    return 0;
}

// The result of a fork that was not denied: the child exits.
static int forked(long child) {
    if (child < 0) return errno;
    if (child == 0) _exit(0);
    waitpid((pid_t)child, NULL, 0);
    return 0;
}

// MARK: - sockets

ATTEMPT(socket_inet) { UNUSED; return opened(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0)); }
ATTEMPT(socket_inet_datagrams) {
    UNUSED;
    return opened(syscall(SYS_socket, AF_INET, SOCK_DGRAM, 0));
}
ATTEMPT(socket_inet6) { UNUSED; return opened(syscall(SYS_socket, AF_INET6, SOCK_STREAM, 0)); }
ATTEMPT(socket_netlink) { UNUSED; return opened(syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0)); }
ATTEMPT(socket_packet) { UNUSED; return opened(syscall(SYS_socket, AF_PACKET, SOCK_RAW, 0)); }
ATTEMPT(socket_vsock) { UNUSED; return opened(syscall(SYS_socket, AF_VSOCK, SOCK_STREAM, 0)); }
ATTEMPT(socket_algorithm) {
    UNUSED;
    return opened(syscall(SYS_socket, AF_ALG, SOCK_SEQPACKET, 0));
}
// The kernel ignores the upper half of the register.
ATTEMPT(socket_inet_in_disguise) {
    UNUSED;
    return opened(syscall(SYS_socket, 0x100000000L | AF_INET, SOCK_STREAM, 0));
}
ATTEMPT(socket_pair) {
    UNUSED;
    int pair[2];
    return CALL(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
}
ATTEMPT(listen_to_others) { UNUSED; return CALL(SYS_listen, 0, 1); }

// MARK: - programs and processes

ATTEMPT(run_program) {
    UNUSED;
    char *const none[] = {NULL};
    return CALL(SYS_execve, "/nowhere/at/all", none, none);
}
ATTEMPT(run_descriptor) {
    UNUSED;
    char *const none[] = {NULL};
    return CALL(SYS_execveat, -1, "", none, none, AT_EMPTY_PATH);
}
ATTEMPT(fork_process) { UNUSED; return forked(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }
ATTEMPT(fork_in_namespace) {
    UNUSED;
    return forked(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}
ATTEMPT(trace_victim) {
    int error = CALL(SYS_ptrace, PTRACE_ATTACH, c->victim, 0, 0);
    if (error == 0) {
        waitpid(c->victim, NULL, __WALL);
        syscall(SYS_ptrace, PTRACE_DETACH, c->victim, 0, 0);
    }
    return error;
}
ATTEMPT(read_victim) {
    char byte;
    struct iovec to = {&byte, 1}, from = {&byte, 1};
    return CALL(SYS_process_vm_readv, c->victim, &to, 1, &from, 1, 0);
}
ATTEMPT(write_victim) {
    char byte = 0;
    struct iovec from = {&byte, 1}, to = {&byte, 1};
    return CALL(SYS_process_vm_writev, c->victim, &from, 1, &to, 1, 0);
}
ATTEMPT(signal_victim) { return CALL(SYS_kill, c->victim, 0); }
ATTEMPT(signal_everybody) { UNUSED; return CALL(SYS_kill, -1, 0); }
ATTEMPT(signal_thread_of_victim) { return CALL(SYS_tgkill, c->victim, c->victim, 0); }
ATTEMPT(signal_thread_by_number) { return CALL(SYS_tkill, c->victim, 0); }
ATTEMPT(queue_signal) {
    siginfo_t info = {.si_code = SI_QUEUE};
    return CALL(SYS_rt_sigqueueinfo, c->victim, SIGCONT, &info);
}
ATTEMPT(hold_victim) { return opened(syscall(SYS_pidfd_open, c->victim, 0)); }
ATTEMPT(take_descriptor) { UNUSED; return CALL(SYS_pidfd_getfd, 0, 0, 0); }
ATTEMPT(limit_victim) {
    struct rlimit limit = {1, 1};
    return CALL(SYS_prlimit64, c->victim, RLIMIT_CPU, &limit, NULL);
}
ATTEMPT(raise_own_limit) {
    UNUSED;
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    return CALL(SYS_prlimit64, 0, RLIMIT_FSIZE, &limit, NULL);
}
ATTEMPT(own_descriptor_signals_victim) { return CALL(SYS_fcntl, 0, F_SETOWN, c->victim); }

// MARK: - the system

ATTEMPT(mount_something) { UNUSED; return CALL(SYS_mount, "none", "/nowhere", "tmpfs", 0, NULL); }
ATTEMPT(unshare_user) { UNUSED; return CALL(SYS_unshare, CLONE_NEWUSER); }
ATTEMPT(unshare_network) { UNUSED; return CALL(SYS_unshare, CLONE_NEWNET); }
ATTEMPT(enter_namespace) { UNUSED; return CALL(SYS_setns, -1, 0); }
ATTEMPT(load_bpf) {
    UNUSED;
    char attributes[128] = {0};
    return CALL(SYS_bpf, 0, attributes, sizeof attributes);
}
ATTEMPT(set_up_io_uring) {
    UNUSED;
    struct io_uring_params parameters = {0};
    return opened(syscall(SYS_io_uring_setup, 1, &parameters));
}
ATTEMPT(read_keys) { UNUSED; return CALL(SYS_keyctl, 0, -3, 0); }
ATTEMPT(count_events) { UNUSED; return CALL(SYS_perf_event_open, NULL, 0, -1, -1, 0); }
ATTEMPT(handle_faults) { UNUSED; return opened(syscall(SYS_userfaultfd, O_CLOEXEC)); }
ATTEMPT(make_memory_file) { UNUSED; return opened(syscall(SYS_memfd_create, "m", 0)); }
ATTEMPT(be_dumped) { UNUSED; return CALL(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0); }
ATTEMPT(control_terminal) { UNUSED; return CALL(SYS_ioctl, 0, 0x5412, ""); }
ATTEMPT(change_root) { UNUSED; return CALL(SYS_chroot, "/"); }

// MARK: - files

static int open_file(const char *path, int flags) {
    return opened(syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600));
}
static int make_file(const char *path) {
    int error = open_file(path, O_RDWR | O_CREAT | O_EXCL);
    if (error == 0) unlink(path);
    return error;
}

ATTEMPT(open_passwd) { UNUSED; return open_file("/etc/passwd", O_RDONLY); }
ATTEMPT(open_own_memory) { UNUSED; return open_file("/proc/self/mem", O_RDWR); }
ATTEMPT(list_root) { UNUSED; return open_file("/", O_RDONLY | O_DIRECTORY); }
ATTEMPT(write_to_temporary) {
    UNUSED;
    return make_file("/tmp/imagebus-sandbox-probe");
}
ATTEMPT(write_to_input) { return open_file(c->input_file, O_RDWR); }
ATTEMPT(make_in_input) { return make_file(c->input_new); }
ATTEMPT(remove_input) { return CALL(SYS_unlinkat, AT_FDCWD, c->input_file, 0); }
ATTEMPT(read_foreign) { return open_file(c->foreign_file, O_RDONLY); }
ATTEMPT(write_to_foreign) { return open_file(c->foreign_file, O_RDWR); }
ATTEMPT(make_in_foreign) { return make_file(c->foreign_new); }
ATTEMPT(read_secret) { return open_file(c->admin_secret, O_RDONLY); }
ATTEMPT(remove_foreign) { return CALL(SYS_unlinkat, AT_FDCWD, c->foreign_file, 0); }
ATTEMPT(make_directory_in_own) {
    int error = CALL(SYS_mkdirat, AT_FDCWD, c->own_new, 0700);
    if (error == 0) rmdir(c->own_new);
    return error;
}
ATTEMPT(make_link_in_own) {
    int error = CALL(SYS_symlinkat, "/", AT_FDCWD, c->own_new);
    if (error == 0) unlink(c->own_new);
    return error;
}
ATTEMPT(make_node_in_own) {
    int error = CALL(SYS_mknodat, AT_FDCWD, c->own_new, S_IFIFO | 0600, 0);
    if (error == 0) unlink(c->own_new);
    return error;
}
ATTEMPT(rename_own) {
    int error = CALL(SYS_renameat2, AT_FDCWD, c->own_file, AT_FDCWD, c->own_other, 0);
    if (error == 0) rename(c->own_other, c->own_file);
    return error;
}
ATTEMPT(link_own_to_foreign) {
    return CALL(SYS_linkat, AT_FDCWD, c->own_file, AT_FDCWD, c->foreign_new, 0);
}
ATTEMPT(change_mode_of_own) { return CALL(SYS_fchmodat, AT_FDCWD, c->own_file, 0777); }
ATTEMPT(open_own_to_all) {
    int descriptor = open(c->own_file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return 0;
    int error = CALL(SYS_fchmod, descriptor, 0666);
    close(descriptor);
    return error;
}
ATTEMPT(give_own_away) { return CALL(SYS_fchownat, AT_FDCWD, c->own_file, 1, 1, 0); }
ATTEMPT(truncate_by_path) { return CALL(SYS_truncate, c->own_file, 0); }

static const struct attempt attempts[] = {
    {"socket-inet", socket_inet},
    {"socket-inet-datagrams", socket_inet_datagrams},
    {"socket-inet6", socket_inet6},
    {"socket-netlink", socket_netlink},
    {"socket-packet", socket_packet},
    {"socket-vsock", socket_vsock},
    {"socket-algorithm", socket_algorithm},
    {"socket-inet-in-disguise", socket_inet_in_disguise},
    {"socketpair", socket_pair},
    {"listen", listen_to_others},
    {"execve", run_program},
    {"execveat", run_descriptor},
    {"fork", fork_process},
    {"fork-in-namespace", fork_in_namespace},
    {"ptrace", trace_victim},
    {"process-vm-readv", read_victim},
    {"process-vm-writev", write_victim},
    {"kill-other", signal_victim},
    {"kill-everybody", signal_everybody},
    {"tgkill-other", signal_thread_of_victim},
    {"tkill", signal_thread_by_number},
    {"sigqueue-other", queue_signal},
    {"pidfd-open", hold_victim},
    {"pidfd-getfd", take_descriptor},
    {"prlimit-other", limit_victim},
    {"prlimit-raise", raise_own_limit},
    {"fcntl-owner", own_descriptor_signals_victim},
    {"mount", mount_something},
    {"unshare-user", unshare_user},
    {"unshare-network", unshare_network},
    {"setns", enter_namespace},
    {"bpf", load_bpf},
    {"io-uring-setup", set_up_io_uring},
    {"keyctl", read_keys},
    {"perf-event-open", count_events},
    {"userfaultfd", handle_faults},
    {"memfd-create", make_memory_file},
    {"prctl-dumpable", be_dumped},
    {"ioctl-terminal", control_terminal},
    {"chroot", change_root},
    {"open-etc-passwd", open_passwd},
    {"open-own-memory", open_own_memory},
    {"list-root", list_root},
    {"write-tmp", write_to_temporary},
    {"write-input-arena", write_to_input},
    {"make-in-input-arena", make_in_input},
    {"remove-from-input-arena", remove_input},
    {"read-foreign-arena", read_foreign},
    {"write-foreign-arena", write_to_foreign},
    {"make-in-foreign-arena", make_in_foreign},
    {"remove-from-foreign-arena", remove_foreign},
    {"read-admin-secret", read_secret},
    {"mkdir-in-own-arena", make_directory_in_own},
    {"symlink-in-own-arena", make_link_in_own},
    {"mknod-in-own-arena", make_node_in_own},
    {"rename-own", rename_own},
    {"link-own-to-foreign", link_own_to_foreign},
    {"chmod-own", change_mode_of_own},
    {"fchmod-own-to-all", open_own_to_all},
    {"chown-own", give_own_away},
    {"truncate-own", truncate_by_path},
};
const struct attempt *attempts_first(void) { return attempts; }
const size_t attempt_count = sizeof attempts / sizeof *attempts;

// The child exits at the end of a pipe: the kernel's notification of a parent's death is a signal,
// which the scope of the parent's sandbox blocks.
int32_t attempt_start_victim(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    pid_t child = fork();
    if (child != 0) {
        close(ends[0]);
        return child < 0 ? -errno : child;
    }
    close(ends[1]);
    close(STDOUT_FILENO);
    char byte;
    ssize_t count = read(ends[0], &byte, 1);
    _exit(count == 0 ? 0 : 1);
}

int attempt_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int error = connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ? errno : 0;
    close(descriptor);
    return error;
}
