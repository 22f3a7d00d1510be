import Glibc

/// A zero-terminated array of C strings, as exec wants it.
final class CStringList {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) throws(Errno) {
        for string in strings { _ = try checked(path: string) }
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() {
            pointers.advanced(by: index).initialize(to: strdup(string))
        }
        pointers.advanced(by: count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}
