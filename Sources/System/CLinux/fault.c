#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

// The addresses that the handler copies from and writes to, all in one shared mapping. Everything
// the handler touches is lock-free and was set up before the fault.
static struct clinux_fault_record record;
// Only the first fault is recorded, not its consequences on other threads.
static bool is_written;

// The previous action of each signal, such as a sanitizer's report, which runs after ours. No such
// handler may keep the process alive.
static struct sigaction before[65];

static void write_down(int signal) {
    uint64_t *place = __atomic_load_n(&record.signal, __ATOMIC_ACQUIRE);
    if (!place || __atomic_exchange_n(&is_written, true, __ATOMIC_ACQ_REL)) return;
    uint64_t first = clinux_load_acquire(record.words);
    for (size_t i = 0; i < record.count; i++)
        clinux_store_relaxed(record.copies + i, clinux_load_acquire(record.words + i));
    // Another thread was changing them, so the copies are inconsistent.
    if (clinux_load_relaxed(record.words) != first)
        for (size_t i = 0; i < record.count; i++) clinux_store_relaxed(record.copies + i, 0);
    clinux_store_release(place, (uint64_t)signal);
}

static void handle(int signal, siginfo_t *info, void *context) {
    int saved = errno;
    write_down(signal);
    const struct sigaction *former = &before[signal];
    if (former->sa_flags & SA_SIGINFO)
        former->sa_sigaction(signal, info, context);
    else if (former->sa_handler != SIG_DFL && former->sa_handler != SIG_IGN)
        former->sa_handler(signal);
    // Unlike a fault, a signal that was sent doesn't recur on return, which the Swift runtime's
    // handler relies on. So it's sent again: blocked until this returns, it then ends the process
    // with the same information for a core dump.
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigaction(signal, &normal, NULL);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info) < 0) raise(signal);
    errno = saved;
}

void clinux_fault_watch(const struct clinux_fault_record *where) {
    clinux_fault_forget();
    record.words = where->words;
    record.copies = where->copies;
    record.count = where->count;
    __atomic_store_n(&is_written, false, __ATOMIC_RELAXED);
    __atomic_store_n(&record.signal, where->signal, __ATOMIC_RELEASE);
}

void clinux_fault_forget(void) { __atomic_store_n(&record.signal, NULL, __ATOMIC_RELEASE); }

int clinux_fault_handle(const int32_t *signals, size_t count) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < count; i++) {
        if (signals[i] < 1 || signals[i] > 64) return -EINVAL;
        if (sigaction(signals[i], &action, &before[signals[i]]) < 0) return -errno;
    }
    return 0;
}

// A stack overflow leaves no space for the handler, so each thread has an alternate stack. 64 KiB
// hold the registers of the largest processors.
int clinux_fault_stack(void) {
    static _Thread_local uint64_t memory[65536 / sizeof(uint64_t)];
    stack_t current;
    if (sigaltstack(NULL, &current) < 0) return -errno;
    // Belongs to other code, such as a sanitizer, which removes it again.
    if (!(current.ss_flags & SS_DISABLE)) return 0;
    stack_t own = {.ss_sp = memory, .ss_size = sizeof memory};
    return sigaltstack(&own, NULL) < 0 ? -errno : 0;
}
