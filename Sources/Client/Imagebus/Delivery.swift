import Linux

/// How the bytes of images come to a client.
public enum Delivery: String, CaseIterable, Hashable, Sendable {
    /// Out of shared memory where `results/` can be opened for reading when the line connects, else
    /// in pieces; also in pieces what could not be read there: a result that was reused faster than
    /// it was copied, four times in a row.
    case automatic
    /// Out of shared memory only. A result that is reused faster than it can be copied, four times
    /// in a row, ends its load with `stale`.
    case mapped
    /// In pieces through the socket (PROTOCOL §10.1), for clients that share no memory with the
    /// stack, such as one in another container. A coordinator that knows no pieces ignores it.
    case pieces

    /// Whether a session asks for pieces of all its loads.
    func wantsPieces(resultsDirectory: String) -> Bool {
        switch self {
        case .automatic: !Self.canRead(resultsDirectory)
        case .mapped: false
        case .pieces: true
        }
    }

    /// The dot asks for both rights: to list the directory and to open what is in it.
    private static func canRead(_ directory: String) -> Bool {
        do throws(Errno) {
            let opened = try FileDescriptor.open("\(directory)/.", [.readOnly, .directory])
            try opened.close()
            return true
        } catch {
            return false
        }
    }
}
