#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

int clinux_thread_start(
    uint64_t *thread, size_t stack_bytes, void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) return -error;
    if (stack_bytes != 0) error = pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_t started = 0;
    if (error == 0) error = pthread_create(&started, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    *thread = (uint64_t)started;
    return -error;
}

int clinux_thread_join(uint64_t thread) { return -pthread_join((pthread_t)thread, NULL); }

int clinux_thread_detach(uint64_t thread) { return -pthread_detach((pthread_t)thread); }

void clinux_thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }

int clinux_thread_nice(int value) {
    return setpriority(PRIO_PROCESS, 0, value) == 0 ? 0 : -errno;
}

size_t clinux_thread_ordinal(void) {
    static _Atomic size_t asked;
    static _Thread_local size_t ordinal;
    if (ordinal == 0) ordinal = atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) + 1;
    return ordinal - 1;
}
