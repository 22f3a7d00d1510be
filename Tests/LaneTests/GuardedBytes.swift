import Glibc

/// Memory between two inaccessible pages: a read outside crashes the process, even in libraries
/// without sanitizer instrumentation.
final class GuardedBytes {
    /// The bytes, as close to one of the guard pages as possible.
    let bytes: UnsafeMutableRawBufferPointer
    private let mapping: UnsafeMutableRawPointer
    private let length: Int

    /// - Parameter isAtEnd: whether the last byte, or the first one, lies at a page's edge.
    init?(_ count: Int, isAtEnd: Bool) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let inner = (count + page - 1) / page * page
        length = inner + 2 * page
        guard
            let mapping = mmap(nil, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            mapping != MAP_FAILED
        else { return nil }
        self.mapping = mapping
        guard mprotect(mapping + page, inner, PROT_READ | PROT_WRITE) == 0 else {
            munmap(mapping, length)
            return nil
        }
        bytes = UnsafeMutableRawBufferPointer(
            start: mapping + page + (isAtEnd ? inner - count : 0), count: count)
    }

    deinit {
        munmap(mapping, length)
    }
}
