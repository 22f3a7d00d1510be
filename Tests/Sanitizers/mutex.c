/* Tells the thread sanitizer of Swift's Mutex.
 *
 * Taking a free one, and leaving one that nobody waits for, is inlined, so the sanitizer sees it.
 * A thread that has to wait takes it in Swift's library; one that others wait for is left there,
 * too. That library is not compiled with the sanitizer. This one is loaded before it and stands in
 * for those two functions: each calls Swift's and says what it has done.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

/* Absent in programs without the sanitizer, which the tests start. */
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

typedef SWIFT void Lock(uint32_t thread, SELF void *mutex);
typedef SWIFT void Unlock(SELF void *mutex);

static Lock *swiftLock;
static Unlock *swiftUnlock;

SWIFT void lockSlow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void unlockSlow(SELF void *mutex) __asm__(UNLOCK);

__attribute__((constructor)) static void find(void) {
    swiftLock = (Lock *)dlsym(RTLD_NEXT, LOCK);
    swiftUnlock = (Unlock *)dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT void lockSlow(uint32_t thread, SELF void *mutex) {
    swiftLock(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlockSlow(SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    swiftUnlock(mutex);
}
