import Glibc

/// The one way to the kernel: repeats `call` while a signal interrupts it.
///
/// `call` returns a value >= 0, or -errno (CLinux's convention).
@discardableResult
func syscall<Value: SignedInteger>(_ call: () -> Value) throws(Errno) -> Value {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = Int32(truncatingIfNeeded: -result)
        if number != EINTR { throw Errno(rawValue: number) }
    }
}

/// Hands a path to C; a path with a zero byte would name another file there.
///
/// Throws `Errno.invalidArgument` for a zero byte.
func checked(path: String) throws(Errno) -> String {
    if path.utf8.contains(0) { throw .invalidArgument }
    return path
}
