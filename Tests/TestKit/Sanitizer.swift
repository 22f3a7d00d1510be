import Glibc

/// What the tests were compiled with.
public enum Sanitizer {
    /// The thread sanitizer: memory and time say nothing then.
    public static let isThread = dlsym(nil, "__tsan_init") != nil
}
