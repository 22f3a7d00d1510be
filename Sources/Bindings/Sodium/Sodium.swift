internal import CSodium

/// Sets the library up once per process, at the first use (`sodium_init` is thread-safe, and
/// answers 1 where another part of the process, such as libzmq, did it before).
///
/// It fails only where the kernel gives no random numbers, and then no key may be made at all.
let isReady: Bool = sodium_init() >= 0

/// Why a keyed digest cannot be made.
public enum SodiumError: Error, Sendable, Hashable {
    /// The kernel gives no random numbers.
    case unavailable
    /// The key has another length than `KeyedDigest.keyLength`.
    case keyLength(Int)
    /// No memory for the key.
    case outOfMemory
}
