#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>

// Where the handler writes, and where it finds what it copies; all of it in one shared mapping.
// Everything that the handler touches is lock-free and was there before the fault.
static struct clinux_fault_record record;

// What each signal did before, such as the report of a sanitizer; it is done after ours.
static struct sigaction before[65];

static void write_down(int signal) {
    if (!record.signal) return;
    uint64_t none = 0;
    for (size_t i = 0; i < record.count; i++)
        clinux_store_relaxed(record.copies + i, clinux_load_relaxed(record.words + i));
    // The first fault counts; what it brings about on other threads does not.
    __atomic_compare_exchange_n(
        record.signal, &none, (uint64_t)signal, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void handle(int signal) {
    int saved = errno;
    write_down(signal);
    sigaction(signal, &before[signal], NULL);
    // Blocked until this returns, and then acted upon as before. A signal that was sent does not
    // come again by itself, as a fault does.
    raise(signal);
    errno = saved;
}

void clinux_fault_watch(const struct clinux_fault_record *where) { record = *where; }

void clinux_fault_forget(void) { record.signal = NULL; }

int clinux_fault_handle(const int32_t *signals, size_t count) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < count; i++) {
        if (signals[i] < 1 || signals[i] > 64) return -EINVAL;
        if (sigaction(signals[i], &action, &before[signals[i]]) < 0) return -errno;
    }
    return 0;
}

// A stack that ran over leaves no room for the handler. Kept by the thread itself: 64 KiB hold the
// registers of the largest processors.
int clinux_fault_stack(void) {
    static _Thread_local uint64_t memory[65536 / sizeof(uint64_t)];
    stack_t current;
    if (sigaltstack(NULL, &current) < 0) return -errno;
    // Somebody else's, such as a sanitizer's, who takes it down again.
    if (!(current.ss_flags & SS_DISABLE)) return 0;
    stack_t own = {.ss_sp = memory, .ss_size = sizeof memory};
    return sigaltstack(&own, NULL) < 0 ? -errno : 0;
}
