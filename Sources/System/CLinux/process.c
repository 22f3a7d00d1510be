#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESULT(call) ((call) < 0 ? -errno : 0)

int clinux_poll(int descriptor, bool for_writing, int milliseconds) {
    struct pollfd item = {.fd = descriptor, .events = for_writing ? POLLOUT : POLLIN};
    int ready = poll(&item, 1, milliseconds);
    if (ready < 0) return -errno;
    return item.revents & POLLNVAL ? -EBADF : ready;
}

static void collect(sigset_t *set, const int32_t *signals, size_t count) {
    sigemptyset(set);
    for (size_t i = 0; i < count; i++) sigaddset(set, signals[i]);
}

int clinux_signals_block(const int32_t *signals, size_t count) {
    sigset_t set;
    collect(&set, signals, count);
    return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int clinux_signal_ignore(int signal) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    return RESULT(sigaction(signal, &action, NULL));
}

int clinux_signalfd(const int32_t *signals, size_t count) {
    sigset_t set;
    collect(&set, signals, count);
    int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_signalfd_read(int descriptor, struct clinux_signal *signal) {
    struct signalfd_siginfo info;
    ssize_t done = read(descriptor, &info, sizeof info);
    if (done < 0) return -errno;
    if (done != sizeof info) return -EIO;
    signal->number = (int32_t)info.ssi_signo;
    signal->sender = (int32_t)info.ssi_pid;
    signal->uid = info.ssi_uid;
    signal->status = info.ssi_status;
    return 0;
}

int clinux_eventfd(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_timerfd(void) {
    int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_timerfd_set(int descriptor, uint64_t nanoseconds) {
    struct itimerspec when = {
        .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
    return RESULT(timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &when, NULL));
}

int clinux_pidfd_open(int pid) {
    int descriptor = pidfd_open(pid, 0);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_pidfd_signal(int descriptor, int signal) {
    return RESULT(pidfd_send_signal(descriptor, signal, NULL, 0));
}

int clinux_wait(int pid, bool blocking, struct clinux_exit *result) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | (blocking ? 0 : WNOHANG)) < 0) return -errno;
    if (info.si_pid == 0) return 0;
    result->exited = info.si_code == CLD_EXITED;
    result->signalled = info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
    result->dumped = info.si_code == CLD_DUMPED;
    result->value = info.si_status;
    return 1;
}

int clinux_wait_peek(void) {
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0) return -errno;
    return info.si_pid;
}

int clinux_kill(int pid, int signal) { return RESULT(kill(pid, signal)); }

int clinux_parent_death_signal(int signal) { return RESULT(prctl(PR_SET_PDEATHSIG, signal)); }

const int clinux_rlimit_nproc = RLIMIT_NPROC;

int clinux_limit_get(int resource, uint64_t *soft, uint64_t *hard) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) < 0) return -errno;
    *soft = limit.rlim_cur;
    *hard = limit.rlim_max;
    return 0;
}

int clinux_limit_set(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
    return RESULT(setrlimit(resource, &limit));
}

int clinux_map_blocks(size_t bytes) {
    return mallopt(M_MMAP_THRESHOLD, (int)bytes) == 1 ? 0 : -EINVAL;
}

int clinux_processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) < 0) return -errno;
    return CPU_COUNT(&set);
}

int clinux_peer(int descriptor, struct clinux_credentials *credentials) {
    struct ucred raw;
    socklen_t size = sizeof raw;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &raw, &size) < 0) return -errno;
    credentials->pid = raw.pid;
    credentials->uid = raw.uid;
    credentials->gid = raw.gid;
    return 0;
}

void clinux_flush_output(void) {
    if (ftrylockfile(stdout) != 0) return;
    fflush(stdout);
    funlockfile(stdout);
}
